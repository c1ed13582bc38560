//! Friction of sliding contacts in the equations of motion.
//!
//! ```text
//! M a = F + Hᵀλ,     H = G_N − μ(‖u_T‖) Σ_k d_k G_Tk,     d = s u_T/‖u_T‖,     s = sign(u_T · d₀)
//! ```
//!
//! Haddouni2015 eq. (2.1): the normal forces of sliding contacts bring their friction along, so that the KKT matrix is not symmetric. d₀ is the
//! direction at the start of the step. In the plane d = d₀ = ±1; in space s keeps the field smooth where the slip passes through zero, so that
//! the end of the slip can be found as a root. While the slip is round-off d = d₀: it is about to begin.

use super::closed_contact::{Interactions, Role};
use super::equations::{Equations, at};
use super::motion_point::MotionPoint;
use super::row_layout::RowLayout;
use crate::error::{IntegrationError, NonFinite};
use crate::relations::Rows;
use crate::systems::{Instant, Scratch};

/// A slip below this part of the velocities it is the sum of is round-off.
pub(super) const ROUND_OFF: f64 = 1e-12;

/// How a contact slides at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slip {
    /// d.
    pub direction: [f64; 2],
    /// s: −1 beyond the end of the slip.
    pub forward: f64,
    /// Friction force per normal force, opposed to the slip: μ d, or its generalisation.
    pub resistance: [f64; 2],
}

/// Work arrays of an evaluation.
pub(super) struct SlipWork<'a> {
    /// G of all rows of a contact.
    pub block: &'a mut Vec<f64>,
    pub scratch: &'a mut Scratch,
}

/// M, F, G at the place of the constraints, G at the place of the forces, and r.
pub(super) struct FrictionSystem<'a> {
    pub mass: &'a [f64],
    pub force: &'a [f64],
    pub g: &'a [f64],
    pub h: &'a mut [f64],
    pub right: &'a [f64],
}

impl Interactions<'_> {
    /// The slip of a sliding contact, by its number among the interactions; `work.block` holds G of all its rows afterwards. A slip up to
    /// `threshold` is none. `None` for contacts that do not slide.
    pub(super) fn slip(&self, i: usize, at: Instant<'_>, threshold: f64, work: &mut SlipWork<'_>) -> Result<Option<Slip>, NonFinite> {
        let Some(contact) = self.closed_at(i).filter(|contact| contact.slides()) else { return Ok(None) };
        let (Role::Sliding { direction: start }, Some(law)) = (contact.role, contact.interaction.law().contact()) else { return Ok(None) };
        let relation = self.relation(i);
        let (n, velocities, n_tangents) = (relation.n_rows(), relation.velocities(), contact.n_tangents());
        let (mut bias, mut u, mut terms) = ([0.0; 6], [0.0; 2], 0.0);
        work.block.clear();
        work.block.resize(n * velocities.len(), 0.0);
        relation.jacobian(at.t, at.q, Rows { jacobian: work.block, bias: &mut bias[..n] }, work.scratch)?;
        for k in 0..n_tangents {
            u[k] = bias[k + 1];
            terms += u[k].abs();
            for (g, &j) in work.block[(k + 1) * velocities.len()..].iter().zip(velocities) {
                u[k] += g * at.v[j];
                terms += (g * at.v[j]).abs();
            }
        }
        let speed = u[0].hypot(u[1]);
        let (mut direction, mut forward) = (start, 1.0);
        if n_tangents == 2 && speed > threshold.max(ROUND_OFF * terms) {
            forward = if u[0] * start[0] + u[1] * start[1] < 0.0 { -1.0 } else { 1.0 };
            direction = u.map(|u| forward * u / speed);
        }
        Ok(Some(Slip { direction, forward, resistance: law.friction.sliding_resistance(speed, direction) }))
    }

    /// Turns the values of G in a layout into those of H: in the rows of sliding contacts the friction is added.
    pub(super) fn add_friction(
        &self,
        rows: &RowLayout,
        at: Instant<'_>,
        threshold: f64,
        values: &mut [f64],
        work: &mut SlipWork<'_>,
    ) -> Result<(), NonFinite> {
        for item in rows.items().iter().filter(|item| item.interaction >= self.n_of_model()) {
            let Some(slip) = self.slip(item.interaction, at, threshold, work)? else { continue };
            let interaction = self.get(item.interaction);
            let width = interaction.columns().len();
            let (normal, tangents) = work.block.split_at_mut(width);
            for (tangent, resistance) in tangents.chunks_exact(width).zip(slip.resistance) {
                normal.iter_mut().zip(tangent).for_each(|(n, t)| *n -= resistance * t);
            }
            // of a sliding contact the normal alone is a row
            interaction.spread(normal, &mut values[item.values()]);
        }
        Ok(())
    }
}

impl Equations<'_> {
    /// Some closed contact slides with friction.
    #[must_use]
    pub fn slides(&self) -> bool {
        self.interactions.slides()
    }

    /// What of friction acts among these equations, in words; `None` where nothing does.
    #[must_use]
    pub fn friction(&self) -> Option<&'static str> {
        match () {
            () if self.slides() => Some("contacts that slide with friction"),
            () if self.interactions.has_loads() => Some("bounds that follow the load of a joint"),
            () if self.interactions.has_balls() => Some("friction of several rows"),
            () => None,
        }
    }

    /// Solves M a = F + Hᵀλ, G a = r, where `h` holds G at the instant and is turned into H.
    pub(super) fn solve_with_friction(
        &mut self,
        instant: Instant<'_>,
        system: FrictionSystem<'_>,
        a: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), IntegrationError> {
        let FrictionSystem { mass, force, g, h, right } = system;
        if let Some(mut shared) = self.shared.take() {
            let done = shared.solve(self, instant, (mass, force, g, right), a, lambda);
            self.shared = Some(shared);
            return done;
        }
        let mut work = SlipWork { block: &mut self.block, scratch: &mut self.scratch };
        self.interactions.add_friction(&self.rows, instant, self.slip_threshold, h, &mut work).map_err(at(instant.t))?;
        self.factorise_kkt(instant.t, mass, g, Some(h))?;
        self.kkt.solve(self.model.systems().layout(), &self.rows, force, right, a, lambda);
        Ok(())
    }

    /// Takes the directions of slip at a point, the start of a step, for those from which the next ones are told: friction opposes the slip there also where the step
    /// before has gone beyond the end of the slip.
    pub(crate) fn update_directions(&mut self, point: &MotionPoint) -> Result<(), IntegrationError> {
        self.update_pushes(point)?;
        if !self.slides() {
            return Ok(());
        }
        let MotionPoint { t, q, v, .. } = point;
        let n = self.interactions.n_of_model();
        for k in 0..self.interactions.closed().len() {
            let mut work = SlipWork { block: &mut self.block, scratch: &mut self.scratch };
            if let Some(slip) = self.interactions.slip(n + k, Instant { t: *t, q, v }, self.slip_threshold, &mut work).map_err(at(*t))? {
                self.interactions.set_direction(k, slip.direction.map(|d| slip.forward * d));
            }
        }
        Ok(())
    }
}
