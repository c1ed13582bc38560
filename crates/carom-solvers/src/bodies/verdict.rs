//! Velocities of the contacts at a solution, and its residual, in pieces of fixed size: its sums do not depend on the number of threads.

use super::{BodyProblem, BodySolution, Measure};
use crate::cones::{Block, norm_squared};
use rayon::prelude::*;

/// Contacts of a piece.
const PIECE: usize = 1024;

impl BodyProblem {
    /// u of a contact (N, T1, T2) at a solution \[m/s\].
    #[must_use]
    pub fn velocity(&self, contact: usize, solution: &BodySolution) -> [f64; 3] {
        self.contacts[contact].velocity(&solution.bodies)
    }

    /// u of a contact without impulses \[m/s\].
    #[must_use]
    pub fn free_velocity(&self, contact: usize) -> [f64; 3] {
        self.contacts[contact].velocity(&self.velocities)
    }

    /// The residual of a solution in kilograms, as [`crate::FrictionContact::residual`].
    #[must_use]
    pub fn residual(&self, solution: &BodySolution) -> f64 {
        self.judge(solution, &mut Vec::new())
    }

    /// The same; `parts` is room to work.
    pub(super) fn judge(&self, solution: &BodySolution, parts: &mut Vec<Measure>) -> f64 {
        parts.clear();
        parts.resize(self.contacts.len().div_ceil(PIECE), Measure::default());
        let pieces = self.contacts.par_chunks(PIECE).zip(solution.impulses.par_chunks(PIECE)).zip(&mut *parts);
        pieces.for_each(|((contacts, impulses), part)| {
            for (contact, r) in contacts.iter().zip(impulses) {
                let u = contact.velocity(&solution.bodies);
                part.error += Block::Coulomb3 { mu: contact.friction }.natural_map_squared(r, &u, 1.0);
                part.impulse += norm_squared(r);
                part.velocity += norm_squared(&u);
                part.free += norm_squared(&contact.velocity(&self.velocities));
            }
        });
        let mut total = Measure::default();
        parts.iter().for_each(|part| total.add(part));
        self.add_rows(solution, &mut total);
        total.residual()
    }

    fn add_rows(&self, solution: &BodySolution, total: &mut Measure) {
        for rows in &self.rows {
            let range = rows.first_row as usize..rows.first_row as usize + rows.block.dim();
            let (r, u) = (&solution.row_impulses[range.clone()], &solution.row_velocities[range]);
            total.error += rows.block.natural_map_squared(r, u, 1.0);
            total.impulse += norm_squared(r);
            total.velocity += norm_squared(u);
        }
    }
}
