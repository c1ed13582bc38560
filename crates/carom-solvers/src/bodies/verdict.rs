//! Velocities of the contacts at a solution, and its residual, in pieces of fixed size: the sums do not depend on the number of threads.

use super::{BodyProblem, BodySolution, GROUND, Measure};
use crate::cones::{Block, norm_squared};
use rayon::prelude::*;

/// Contacts of a piece.
const PIECE: usize = 1024;

impl BodyProblem {
    /// The residual in kilograms, as [`crate::FrictionContact::residual`], of a solution with its velocities.
    #[must_use]
    pub fn residual(&self, solution: &BodySolution) -> f64 {
        let mut total = Measure::default();
        for (first, u) in (0..).step_by(PIECE).zip(solution.velocities.chunks(PIECE)) {
            total.add(&self.measure_piece(first, &solution.impulses[first..first + u.len()], u));
        }
        self.add_rows(solution, &mut total);
        total.residual()
    }

    /// Writes the velocities of the contacts that follow from those of the bodies; returns the residual as [`BodyProblem::residual`] does. `parts` is room to work.
    pub(super) fn judge(&self, solution: &mut BodySolution, parts: &mut Vec<Measure>) -> f64 {
        let BodySolution { impulses, velocities, bodies, .. } = solution;
        parts.clear();
        parts.resize(self.contacts.len().div_ceil(PIECE), Measure::default());
        let velocity = |body: u32| if body == GROUND { [0.0; 6] } else { bodies[body as usize] };
        let pieces = velocities.par_chunks_mut(PIECE).zip(&mut *parts).enumerate();
        pieces.for_each(|(k, (velocities, part))| {
            let first = k * PIECE;
            for (u, contact) in velocities.iter_mut().zip(&self.contacts[first..]) {
                *u = contact.local(&velocity(contact.bodies[0]), &velocity(contact.bodies[1]));
            }
            *part = self.measure_piece(first, &impulses[first..first + velocities.len()], velocities);
        });
        let mut total = Measure::default();
        parts.iter().for_each(|part| total.add(part));
        self.add_rows(solution, &mut total);
        total.residual()
    }

    /// Parts of the residual of the contacts from `first` on with these impulses and velocities.
    fn measure_piece(&self, first: usize, impulses: &[[f64; 3]], velocities: &[[f64; 3]]) -> Measure {
        let free = |body: u32| if body == GROUND { [0.0; 6] } else { self.velocities[body as usize] };
        let mut total = Measure::default();
        for ((contact, r), u) in self.contacts[first..].iter().zip(impulses).zip(velocities) {
            total.error += Block::Coulomb3 { mu: contact.friction }.natural_map_squared(r, u, 1.0);
            total.impulse += norm_squared(r);
            total.velocity += norm_squared(u);
            total.free += norm_squared(&contact.local(&free(contact.bodies[0]), &free(contact.bodies[1])));
        }
        total
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
