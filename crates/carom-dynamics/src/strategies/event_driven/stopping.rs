//! The end of a slip in space.
//!
//! In the plane the slip vanishes where its sign changes. In space the two components vanish together only in the exact motion; what is integrated to a tolerance
//! passes the origin at a distance of the tolerance, and a slip that is smaller has no direction. So a slip that falls below what the integrator
//! resolves,
//!
//! ```text
//! Σ_j |G_Tj| (atol + rtol |v_j|),      at least τ_T
//! ```
//!
//! has vanished: it is projected to zero, and the acceleration problem tells whether the contact sticks or which way it slides on. Efforts of several rows
//! stop in the same way.

use super::motion::Motion;
use super::watch::Function;
use crate::error::{IntegrationError, RunError};
use crate::interactions::Interaction;
use crate::relations::Rows;
use crate::report::ContactMode;
use crate::smooth::EffortRole;
use crate::state::State;

impl Motion<'_> {
    /// Sliding contacts in space whose slip fell in the last step, to less than the integrator resolves.
    pub(super) fn lost_slips(&mut self) -> Result<Vec<Function>, RunError> {
        let mut lost = self.lost_pushes()?;
        if !self.closed.iter().any(|&c| self.slides_in_space(c)) {
            return Ok(lost);
        }
        let (before, now) = (self.integration.previous().state(), self.state());
        for k in 0..self.closed.len() {
            let contact = self.closed[k];
            if self.slides_in_space(contact) && self.is_lost(contact, &now)? && self.slip(contact, &now)? < self.slip(contact, &before)? {
                lost.push(Function::Slip { contact, direction: self.directions[contact] });
            }
        }
        Ok(lost)
    }

    /// The same of efforts of several rows that push.
    fn lost_pushes(&mut self) -> Result<Vec<Function>, RunError> {
        let mut lost = Vec::new();
        for effort in 0..self.efforts.len() {
            let EffortRole::Pushed { direction } = self.efforts[effort].role else { continue };
            if !self.has_several_rows(effort) {
                continue;
            }
            let (before, now) = (self.integration.previous().state(), self.state());
            if self.effort_is_lost(effort, &now)? && self.effort_speed(effort, &now)? < self.effort_speed(effort, &before)? {
                lost.push(Function::Turn { effort, direction });
            }
        }
        Ok(lost)
    }

    fn has_several_rows(&self, effort: usize) -> bool {
        self.model.interactions()[self.efforts[effort].interaction].relation().n_rows() > 1
    }

    /// The effort has several rows and moves more slowly than the integrator resolves.
    pub(super) fn effort_is_lost(&mut self, effort: usize, state: &State) -> Result<bool, RunError> {
        let interaction = &self.model.interactions()[self.efforts[effort].interaction];
        Ok(self.has_several_rows(effort) && self.effort_speed(effort, state)? <= self.resolved(interaction, 0, state)?)
    }

    /// The contact slides in space, more slowly than the integrator resolves.
    pub(super) fn is_lost(&mut self, contact: usize, state: &State) -> Result<bool, RunError> {
        Ok(self.slides_in_space(contact) && self.slip(contact, state)? <= self.resolved_slip(contact, state)?)
    }

    /// Speed of slip [m/s].
    pub(super) fn slip(&mut self, contact: usize, state: &State) -> Result<f64, IntegrationError> {
        let [_, u1, u2] = self.velocity(contact, state)?;
        Ok(u1.hypot(u2))
    }

    fn slides_in_space(&self, contact: usize) -> bool {
        self.modes[contact] == ContactMode::Sliding && self.contacts.n_tangents(contact) == 2
    }

    /// The slip that the integrator resolves [m/s].
    fn resolved_slip(&mut self, contact: usize, state: &State) -> Result<f64, IntegrationError> {
        let interaction = self.contacts.interaction(contact);
        self.resolved(&interaction, 1, state)
    }

    /// The velocity of an interaction's rows from `first` on that the integrator resolves [m/s].
    fn resolved(&mut self, interaction: &Interaction, first: usize, state: &State) -> Result<f64, IntegrationError> {
        let relation = interaction.relation();
        let (n, velocities) = (relation.n_rows(), relation.velocities());
        let (mut block, mut bias) = (vec![0.0; n * velocities.len()], vec![0.0; n]);
        let rows = Rows { jacobian: &mut block, bias: &mut bias };
        relation
            .jacobian(state.t, &state.q, rows, &mut self.scratch)
            .map_err(|source| IntegrationError::NonFinite { t: state.t, source })?;
        let (absolute, relative) = self.tolerances;
        let error =
            |row: &[f64]| -> f64 { row.iter().zip(velocities).map(|(g, &j)| g.abs() * (absolute + relative * state.v[j].abs())).sum() };
        Ok(block.chunks_exact(velocities.len()).skip(first).take(3).map(error).fold(self.settings.slip, f64::max))
    }
}
