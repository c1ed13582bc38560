//! The impact at an event.

use super::ClosedSet;
use crate::error::{RunError, StepError};
use crate::impacts::{ImpactBlock, ImpactLaw, ImpactOutcome, ImpactProblem, Resolver};
use crate::laws::{Law, Restitution};
use carom_solvers::{Delassus, DenseDelassus, SolveError};

/// How an impact is resolved.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImpactSettings<'a> {
    /// Contacts that approach at most at this speed are at rest [m/s].
    pub rest: f64,
    /// Contacts taken with e = e_T = 0; those beyond the end of the list have their own coefficients.
    pub inelastic: &'a [bool],
    /// A contact that forces push into an impact although it does not approach: Painlevé's paradox.
    pub push: Option<usize>,
}

/// What an impact did.
#[derive(Clone, Debug)]
pub struct Impact {
    /// v⁺.
    pub velocity: Vec<f64>,
    /// Impulses, velocities and energies of all interactions: constraints first ([`ClosedSet::n_constraints`]), then the contacts.
    pub outcome: ImpactOutcome,
    /// u⁺ of the contacts [m/s].
    pub contact_velocity: Vec<[f64; 3]>,
    /// P of the contacts [N·s].
    pub impulse: Vec<[f64; 3]>,
    /// Work of moving constraints and obstacles \[J\], −Σ b P.
    pub work: f64,
}

/// Speed of approach from which the limit of an impact without collision is taken, relative to the slip.
const PUSH: f64 = 1e-5;

impl ClosedSet {
    /// Resolves the impact of the contacts that approach: M (v⁺ − v⁻) = Gᵀ P with the impact law of the model.
    ///
    /// With `push`, the impact without collision of a sliding contact for which no finite force exists
    /// ([`super::Verdict::Inconsistent`]): the limit of impacts at the speed of approach ε → 0. The slip is brought to rest, or reversed, by an
    /// impulse that does not vanish with ε. Two impacts, at ε and 2ε, are extrapolated: what is left of ε is of second order, and nothing where
    /// impulses are linear in u⁻, as with Newton's and Poisson's law. With the energetic law what its integration leaves is larger, some 1e-6 of the slip.
    ///
    /// # Errors
    /// Values that no problem can have. Not converging is told by the outcome.
    pub fn impact(&self, resolver: &mut Resolver, law: &ImpactLaw, how: &ImpactSettings<'_>) -> Result<Impact, RunError> {
        let (problem, rows) = self.impact_problem(how);
        let result = match how.push {
            Some(k) if k < self.n_contacts() => self.push_apart(resolver, law, problem, k),
            _ => resolver.resolve_above(&problem, law, how.rest),
        };
        let mut outcome = result.map_err(|source| StepError::Solve { t: self.t, source })?;
        // efforts between bounds do nothing in an instant, and keep their velocity where they are rigid
        let (mut impulses, mut velocities) = (vec![0.0; self.velocity.len()], self.velocity.clone());
        for ((&row, p), u) in rows.iter().zip(&outcome.impulses).zip(&outcome.velocity) {
            impulses[row] = *p;
            if row < self.first_effort_row() {
                velocities[row] = *u;
            }
        }
        (outcome.impulses, outcome.velocity) = (impulses, velocities);
        let mut velocity = self.v.clone();
        self.active.add_response(&self.layout, &outcome.impulses, &mut velocity);
        // −b of constraints, contacts and obstacles, G v of efforts
        let power = |(row, p): (usize, &f64)| {
            let of_effort = if row < self.first_effort_row() { 0.0 } else { self.active.velocity_start()[row] };
            (of_effort - self.active.bias()[row]) * p
        };
        let work = outcome.impulses.iter().enumerate().map(power).sum();
        let ImpactOutcome { velocity: local, impulses, .. } = &mut outcome;
        self.unstretch(local, impulses);
        let three = |values: &[f64], k: usize| {
            let mut out = [0.0; 3];
            out.iter_mut().zip(&values[self.rows(k)]).for_each(|(out, value)| *out = *value);
            out
        };
        let contact_velocity = (0..self.n_contacts()).map(|k| three(&outcome.velocity, k)).collect();
        let impulse = (0..self.n_contacts()).map(|k| three(&outcome.impulses, k)).collect();
        Ok(Impact { velocity, outcome, contact_velocity, impulse, work })
    }

    /// The problem of constraints, contacts and rigid efforts, and the rows of all that it has.
    fn impact_problem(&self, how: &ImpactSettings<'_>) -> (ImpactProblem, Vec<usize>) {
        let (mut blocks, mut rows, mut dims) = (Vec::with_capacity(self.active.items().len()), Vec::new(), Vec::new());
        let first_effort = self.active.items().len() - self.n_efforts;
        for (i, item) in self.active.items().iter().enumerate() {
            let dim = item.rows.len();
            let mut block = ImpactBlock { law: item.law, rows: rows.len()..rows.len() + dim, block: item.block };
            if i >= first_effort && !block.hold_rigid() {
                continue;
            }
            if let Law::Contact(law) = &mut block.law {
                let k = i - self.n_constraints;
                if how.inelastic.get(k).is_some_and(|inelastic| *inelastic) {
                    law.restitution = Restitution::default();
                    law.tangential_restitution = 0.0;
                }
                if crate::active_set::tangential_speed(self.velocity(k)) <= how.rest {
                    block.block = law.block(dim, 0.0);
                }
            }
            blocks.push(block);
            rows.extend(item.rows.clone());
            dims.push(dim);
        }
        // what rigid efforts are to keep counts as none
        let u = |&row: &usize| if row < self.first_effort_row() { self.active.velocity_start()[row] } else { 0.0 };
        let velocity = rows.iter().map(u).collect();
        (ImpactProblem { w: self.part_of_w(&rows, &dims), velocity, blocks }, rows)
    }

    fn first_effort_row(&self) -> usize {
        let items = self.active.items();
        items[..items.len() - self.n_efforts].last().map_or(0, |item| item.rows.end)
    }

    /// W of some rows, in blocks of these sizes.
    fn part_of_w(&self, rows: &[usize], dims: &[usize]) -> Delassus {
        if self.n_efforts == 0 {
            return self.w.clone();
        }
        let (mut dense, n) = (Vec::new(), self.velocity.len());
        self.w.to_dense(&mut dense);
        let values = rows.iter().flat_map(|&i| rows.iter().map(move |&j| i * n + j)).map(|at| dense[at]).collect();
        // a part of W is square, with these blocks
        DenseDelassus::new(values, dims).map_or_else(|_| self.w.clone(), Delassus::Dense)
    }

    /// The limit of impacts in which contact k approaches ever more slowly.
    fn push_apart(
        &self,
        resolver: &mut Resolver,
        law: &ImpactLaw,
        mut problem: ImpactProblem,
        k: usize,
    ) -> Result<ImpactOutcome, SolveError> {
        let rows = self.rows(k);
        let before = problem.velocity.clone();
        let approach = PUSH * crate::active_set::tangential_speed(&before[rows.clone()]);
        let draws = resolver.draws;
        let mut at = |factor: f64| {
            // both by the same choice, where the law is one
            resolver.draws = draws;
            problem.velocity[rows.start] = -factor * approach;
            resolver.resolve_above(&problem, law, 0.5 * approach)
        };
        let (mut near, far) = (at(1.0)?, at(2.0)?);
        for (near, far) in near.impulses.iter_mut().zip(&far.impulses) {
            *near += *near - far;
        }
        for (near, far) in near.dissipated.iter_mut().flatten().zip(far.dissipated.iter().flatten()) {
            *near += *near - far;
        }
        near.failed |= far.failed;
        near.residual = near.residual.max(far.residual);
        near.iterations += far.iterations;
        problem.w.multiply(&near.impulses, &mut near.velocity);
        near.velocity.iter_mut().zip(&before).for_each(|(after, before)| *after += before);
        Ok(near)
    }
}
