//! The forces of closed contacts.

use super::closed_contact::Role;
use super::equations::{Equations, at};
use super::motion_point::MotionPoint;
use super::row_layout::RowLayout;
use super::sliding::SlipWork;
use crate::error::IntegrationError;
use crate::systems::Instant;

impl Equations<'_> {
    /// Writes the forces (N, T₁, T₂) \[N\] of the closed contacts, in order, at a point with a and λ of the acceleration form. Those of sliding
    /// contacts have T = −μ N d. Where rows are redundant (see [`Equations::forces_are_unique`]) the forces are the shortest vector of those
    /// that give the motion. Not counted in the statistics.
    ///
    /// # Errors
    /// As [`Equations::accelerate`].
    pub fn contact_forces(&mut self, point: &MotionPoint, forces: &mut Vec<[f64; 3]>) -> Result<(), IntegrationError> {
        let statistics = self.statistics;
        let done = self.find_contact_forces(point, forces);
        self.statistics = statistics;
        done
    }

    /// Writes the multipliers of all rows of the bilateral interactions, the shortest vector where rows are redundant; zero for redundant ones while
    /// contacts slide. Not counted in the statistics.
    ///
    /// # Errors
    /// As [`Equations::accelerate`].
    pub(crate) fn constraint_forces(&mut self, point: &MotionPoint, forces: &mut [f64]) -> Result<(), IntegrationError> {
        let statistics = self.statistics;
        let mut all = vec![0.0; self.n_all_rows()];
        let done = match (&self.shared, &self.all_rows) {
            (Some(_), Some(layout)) => {
                for item in self.rows.items() {
                    let Some(whole) = layout.items().iter().find(|other| other.interaction == item.interaction) else { continue };
                    for (k, row) in item.selected.iter().zip(item.rows.clone()) {
                        let place = whole.selected.iter().position(|other| other == k);
                        place.into_iter().for_each(|place| all[whole.rows.start + place] = point.lambda[row]);
                    }
                }
                Ok(())
            }
            _ => self.multipliers_of_all(point, &mut all),
        };
        self.statistics = statistics;
        let n = forces.len().min(all.len());
        forces[..n].copy_from_slice(&all[..n]);
        done
    }

    fn find_contact_forces(&mut self, point: &MotionPoint, forces: &mut Vec<[f64; 3]>) -> Result<(), IntegrationError> {
        forces.clear();
        forces.resize(self.interactions.closed().len(), [0.0; 3]);
        let first = self.interactions.n_of_model();
        if self.forces_are_unique() {
            take(&self.rows, &point.lambda, first, forces);
        } else if self.shared.is_some() {
            let (mut a, mut lambda) = (vec![0.0; self.n_v()], vec![0.0; self.n_rows()]);
            self.accelerate(point.t, &point.q, &point.v, &mut a, &mut lambda)?;
            if let Some(shared) = &self.shared {
                let (rows, lambda) = shared.forces();
                take(rows, lambda, first, forces);
            }
        } else {
            let mut all = vec![0.0; self.n_all_rows()];
            self.multipliers_of_all(point, &mut all)?;
            take(self.all_rows.as_ref().unwrap_or(&self.rows), &all, first, forces);
        }
        self.add_friction_forces(point, forces)
    }

    /// T = −μ N d of the sliding contacts.
    fn add_friction_forces(&mut self, point: &MotionPoint, forces: &mut [[f64; 3]]) -> Result<(), IntegrationError> {
        let (first, instant) = (self.interactions.n_of_model(), Instant { t: point.t, q: &point.q, v: &point.v });
        for (k, force) in forces.iter_mut().enumerate() {
            if !matches!(self.interactions.closed()[k].role, Role::Sliding { .. }) {
                continue;
            }
            let mut work = SlipWork { block: &mut self.block, scratch: &mut self.scratch };
            if let Some(slip) = self.interactions.slip(first + k, instant, self.slip_threshold, &mut work).map_err(at(point.t))? {
                force[1] = -slip.resistance[0] * force[0];
                force[2] = -slip.resistance[1] * force[0];
            }
        }
        Ok(())
    }
}

/// Multipliers of the rows of a layout => forces of the contacts, which are numbered from `first`.
fn take(rows: &RowLayout, lambda: &[f64], first: usize, forces: &mut [[f64; 3]]) {
    for item in rows.items().iter().filter(|item| item.interaction >= first) {
        for (&k, row) in item.selected.iter().zip(item.rows.clone()) {
            forces[item.interaction - first][k] = lambda[row];
        }
    }
}
