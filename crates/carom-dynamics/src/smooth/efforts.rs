//! Efforts between bounds in the equations of motion.
//!
//! ```text
//! held      G v + b + k g = 0          a constraint of velocity, λ between the bounds
//! pushed    M a = F + Gᵀλ + …          λ at a bound: the lower one where u + k g > 0, the upper one where it is < 0;
//!                                      of several rows λ = −r d,  d = s u/‖u‖,  s = sign(u · d₀)
//! ```
//!
//! as the tangents of a sticking and of a sliding contact whose normal force is given. d₀ is the direction at the start of the step: of one row
//! d = d₀ = ±1, of several s keeps the field smooth where u passes through zero, so that the end of the slip can be found as a root. What bounds gain with
//! the load of a joint is added in [`super::loaded_efforts`].

use super::closed_contact::Interactions;
use super::equations::{Equations, at};
use super::motion_point::MotionPoint;
use super::row_layout::RowLayout;
use super::sliding::{ROUND_OFF, SlipWork};
use crate::error::{IntegrationError, NonFinite};
use crate::laws::BoundedLaw;
use crate::relations::Rows;
use crate::systems::{Instant, Scratch};

/// What an effort between bounds does until the next event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EffortRole {
    /// It holds its target.
    Held,
    /// It is at a bound.
    Pushed {
        /// Unit direction of u + k g, now or about to begin; `[±1, 0, 0]` of one row. Kept up to date while an integration goes on.
        direction: [f64; 3],
    },
}

/// An effort between bounds and its role.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Number of the interaction in the model.
    pub interaction: usize,
    /// What it does.
    pub role: EffortRole,
}

/// How an effort at a bound pushes at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Push {
    /// d.
    pub direction: [f64; 3],
    /// s: −1 beyond the end of the slip.
    pub forward: f64,
    /// λ without what a load adds; its first `rows` values.
    pub force: [f64; 3],
    /// Number of rows.
    pub rows: usize,
}

impl Interactions<'_> {
    /// The law of an effort, by its number among the interactions.
    pub(super) fn bounded(&self, i: usize) -> Option<&BoundedLaw> {
        self.get(i).law().bounded()
    }

    /// Writes G and b of all rows of an interaction; of a servo b + k g.
    pub(super) fn jacobian(&self, i: usize, (t, q): (f64, &[f64]), out: Rows<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        let (relation, Rows { jacobian, bias }) = (self.relation(i), out);
        relation.jacobian(t, q, Rows { jacobian, bias: &mut *bias }, scratch)?;
        if let Some(law) = self.bounded(i).filter(|law| law.gain != 0.0) {
            // a servo has one row
            let mut g = [0.0];
            relation.position(t, q, &mut g, scratch)?;
            bias[0] += law.gain * g[0];
        }
        Ok(())
    }

    /// What the servo's term adds to (dG/dt) v + db/dt of an interaction: k u; zero for all others.
    pub(super) fn servo_rate(&self, i: usize, at: Instant<'_>, work: &mut SlipWork<'_>) -> Result<f64, NonFinite> {
        let Some(law) = self.bounded(i).filter(|law| law.gain != 0.0) else { return Ok(0.0) };
        let relation = self.relation(i);
        let (velocities, mut bias) = (relation.velocities(), [0.0]);
        work.block.clear();
        work.block.resize(velocities.len(), 0.0);
        relation.jacobian(at.t, at.q, Rows { jacobian: work.block, bias: &mut bias }, work.scratch)?;
        Ok(law.gain * (bias[0] + work.block.iter().zip(velocities).map(|(g, &j)| g * at.v[j]).sum::<f64>()))
    }

    /// How effort e pushes; `work.block` holds its G afterwards. A slip up to `threshold` is none. `None` for one that holds its target.
    pub(super) fn push(&self, e: usize, at: Instant<'_>, threshold: f64, work: &mut SlipWork<'_>) -> Result<Option<Push>, NonFinite> {
        let Effort { interaction: i, role: EffortRole::Pushed { direction: start } } = self.efforts()[e] else { return Ok(None) };
        let Some(law) = self.bounded(i) else { return Ok(None) };
        let relation = self.relation(i);
        let (rows, velocities, mut u) = (relation.n_rows(), relation.velocities(), [0.0; 3]);
        work.block.clear();
        work.block.resize(rows * velocities.len(), 0.0);
        self.jacobian(i, (at.t, at.q), Rows { jacobian: work.block, bias: &mut u[..rows] }, work.scratch)?;
        let (mut direction, mut forward) = (start, 1.0);
        if rows > 1 {
            let mut terms = u.iter().map(|b| b.abs()).sum::<f64>();
            for (u, row) in u.iter_mut().zip(work.block.chunks_exact(velocities.len())) {
                for (g, &j) in row.iter().zip(velocities) {
                    *u += g * at.v[j];
                    terms += (g * at.v[j]).abs();
                }
            }
            let speed = length(&u);
            if speed > threshold.max(ROUND_OFF * terms) {
                forward = if u.iter().zip(start).map(|(u, d)| u * d).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
                direction = u.map(|u| forward * u / speed);
            }
        }
        let force = match rows {
            1 => [if direction[0] > 0.0 { law.lower } else { law.upper }, 0.0, 0.0],
            _ => direction.map(|d| -law.upper * d),
        };
        Ok(Some(Push { direction, forward, force, rows }))
    }

    /// Adds Gᵀλ of the efforts at their bounds, without what loads add.
    pub(super) fn add_pushes(&self, at: Instant<'_>, threshold: f64, force: &mut [f64], work: &mut SlipWork<'_>) -> Result<(), NonFinite> {
        for e in 0..self.efforts().len() {
            let Some(push) = self.push(e, at, threshold, work)? else { continue };
            self.add_force(e, &push.force[..push.rows], work.block, force);
        }
        Ok(())
    }

    /// f += Gᵀλ of effort e, with its G.
    pub(super) fn add_force(&self, e: usize, lambda: &[f64], jacobian: &[f64], force: &mut [f64]) {
        let velocities = self.relation(self.efforts()[e].interaction).velocities();
        for (lambda, row) in lambda.iter().zip(jacobian.chunks_exact(velocities.len())) {
            for (g, &j) in row.iter().zip(velocities) {
                force[j] += lambda * g;
            }
        }
    }
}

impl Equations<'_> {
    /// Replaces the efforts between bounds; those that are held get rows after those of the bilateral interactions. An integration must be restarted or
    /// resumed afterwards.
    pub(crate) fn set_efforts(&mut self, efforts: Vec<Effort>) {
        if efforts.is_empty() && self.interactions.efforts().is_empty() {
            return;
        }
        self.interactions.set_efforts(efforts);
        self.use_rows(RowLayout::with_contacts(&self.interactions, |_, _| true));
        (self.all_rows, self.shared, self.rows_are_new) = (None, None, true);
    }

    /// The efforts between bounds.
    #[must_use]
    pub fn efforts(&self) -> &[Effort] {
        self.interactions.efforts()
    }

    /// u + k g of effort e \[m/s or rad/s\]; zero beyond its rows.
    ///
    /// # Errors
    /// [`NonFinite`].
    pub(crate) fn effort_velocity(&mut self, e: usize, at: Instant<'_>) -> Result<[f64; 3], NonFinite> {
        let Equations { interactions, block, scratch, .. } = self;
        let i = interactions.efforts()[e].interaction;
        let (relation, mut u) = (interactions.relation(i), [0.0; 3]);
        let (rows, velocities) = (relation.n_rows(), relation.velocities());
        block.clear();
        block.resize(rows * velocities.len(), 0.0);
        interactions.jacobian(i, (at.t, at.q), Rows { jacobian: block, bias: &mut u[..rows] }, scratch)?;
        for (u, row) in u.iter_mut().zip(block.chunks_exact(velocities.len())) {
            *u += row.iter().zip(velocities).map(|(g, &j)| g * at.v[j]).sum::<f64>();
        }
        Ok(u)
    }

    /// Writes λ \[N or N m\] of the efforts, in order, at a point with λ of the acceleration form. Where rows are redundant the forces are the shortest vector of
    /// those that give the motion. Not counted in the statistics.
    ///
    /// # Errors
    /// As [`Equations::accelerate`].
    pub(crate) fn effort_forces(&mut self, point: &MotionPoint, forces: &mut Vec<[f64; 3]>) -> Result<(), IntegrationError> {
        forces.clear();
        forces.resize(self.interactions.efforts().len(), [0.0; 3]);
        let instant = Instant { t: point.t, q: &point.q, v: &point.v };
        let mut all = Vec::new();
        // where contacts share their forces the rows in use carry
        if !self.forces_are_unique() && self.shared.is_none() {
            let statistics = self.statistics;
            all.resize(self.n_all_rows(), 0.0);
            self.multipliers_of_all(point, &mut all)?;
            self.statistics = statistics;
        }
        for (e, force) in forces.iter_mut().enumerate() {
            let Effort { interaction, role } = self.interactions.efforts()[e];
            if role == EffortRole::Held {
                let (rows, lambda) = match &self.all_rows {
                    Some(rows) if !all.is_empty() => (rows, &all),
                    _ => (&self.rows, &point.lambda),
                };
                for item in rows.items().iter().filter(|item| item.interaction == interaction) {
                    item.selected.iter().zip(item.rows.clone()).for_each(|(&k, row)| force[k] = lambda[row]);
                }
                continue;
            }
            let load = self.joint_load(interaction, &point.lambda)?;
            let mut work = SlipWork { block: &mut self.block, scratch: &mut self.scratch };
            if let Some(push) = self.interactions.push(e, instant, self.slip_threshold, &mut work).map_err(at(point.t))? {
                *force = push.force;
                force.iter_mut().zip(push.direction).for_each(|(x, d)| *x -= load * d);
            }
        }
        Ok(())
    }

    /// Takes the directions in which efforts of several rows push at a point, the start of a step, for those from which the next ones are told.
    pub(super) fn update_pushes(&mut self, point: &MotionPoint) -> Result<(), IntegrationError> {
        let instant = Instant { t: point.t, q: &point.q, v: &point.v };
        for e in 0..self.interactions.efforts().len() {
            let mut work = SlipWork { block: &mut self.block, scratch: &mut self.scratch };
            if let Some(push) = self.interactions.push(e, instant, self.slip_threshold, &mut work).map_err(at(point.t))? {
                self.interactions.set_push(e, push.direction.map(|d| push.forward * d));
            }
        }
        Ok(())
    }
}

/// Length of up to three components.
pub(super) fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
