//! Work and dissipation along the dense output of a step with closed contacts.

use super::motion::Motion;
use crate::error::{IntegrationError, RunError};
use crate::laws::BoundedRole;
use crate::model::Model;
use crate::relations::Rows;
use crate::smooth::MotionPoint;
use crate::strategies::work::{GAUSS, WorkMeter};
use crate::systems::{Instant, Scratch};
use std::ops::AddAssign;

/// Energies exchanged over a span of time \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Exchanged {
    /// Work of applied forces, moving constraints and moving obstacles.
    pub work: f64,
    /// Dissipated by friction.
    pub friction: f64,
}

impl AddAssign for Exchanged {
    fn add_assign(&mut self, other: Exchanged) {
        self.work += other.work;
        self.friction += other.friction;
    }
}

/// Integrates the power that enters the system and that friction takes,
///
/// ```text
/// P = F_applied·v + ∂V/∂t − ∂T/∂t − λᵀ b,     D = −Σ λ_T·u_T,
/// ```
///
/// the first terms by [`WorkMeter`], the sum λᵀ b over constraints and closed contacts with their friction: what moves does the work λᵀ G v = λᵀ (u − b). Of
/// efforts between bounds all power of motors is work; friction takes −λᵀ u, and what moves its surface does the work −λᵀ b.
pub(super) struct Account<'m> {
    model: &'m Model,
    free: WorkMeter<'m>,
    inside: MotionPoint,
    forces: Vec<[f64; 3]>,
    jacobian: Vec<f64>,
    explicit: Vec<f64>,
    scratch: Scratch,
}

impl<'m> Account<'m> {
    pub fn new(model: &'m Model) -> Self {
        Account {
            model,
            free: WorkMeter::new(model),
            inside: MotionPoint::default(),
            forces: Vec::new(),
            jacobian: Vec::new(),
            explicit: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Energies exchanged between two times within the last step; `moving`: a constraint moves in it.
    pub fn between(&mut self, motion: &mut Motion<'m>, from: f64, to: f64, moving: bool) -> Result<Exchanged, RunError> {
        if motion.closed.is_empty() && motion.efforts.is_empty() {
            let work = self.free.between(&mut motion.integration, from, to, moving)?;
            return Ok(Exchanged { work, friction: 0.0 });
        }
        let mut exchanged = Exchanged::default();
        let counted = motion.integration.statistics();
        for (node, weight) in GAUSS {
            let t = from + node * (to - from);
            self.inside.copy_from(motion.integration.point());
            motion.integration.interpolate_point(t, &mut self.inside)?;
            let power = self.power(motion, t)?;
            exchanged.work += weight * (to - from) * power.work;
            exchanged.friction += weight * (to - from) * power.friction;
        }
        motion.integration.equations().statistics = counted;
        Ok(exchanged)
    }

    fn power(&mut self, motion: &mut Motion<'m>, t: f64) -> Result<Exchanged, IntegrationError> {
        let located = |source| IntegrationError::NonFinite { t, source };
        let at = Instant { t, q: &self.inside.q, v: &self.inside.v };
        let mut power = Exchanged { work: self.free.applied_power(at)?, friction: 0.0 };
        // constraints
        let equations = motion.integration.equations();
        self.explicit.resize(equations.n_rows(), 0.0);
        self.jacobian.resize(equations.rows().n_values(), 0.0);
        equations.jacobian(t, at.q, &mut self.jacobian, &mut self.explicit)?;
        let n_interactions = self.model.interactions().len();
        let is_constraint = |i: usize| i < n_interactions && self.model.interactions()[i].is_bilateral();
        for item in equations.rows().items().iter().filter(|item| is_constraint(item.interaction)) {
            power.work -= item.rows.clone().map(|row| self.inside.lambda[row] * self.explicit[row]).sum::<f64>();
        }
        // efforts
        equations.effort_forces(&self.inside, &mut self.forces)?;
        for (effort, force) in motion.efforts.iter().zip(&self.forces) {
            let interaction = &self.model.interactions()[effort.interaction];
            let relation = equations.relation(effort.interaction);
            let (n, width) = (relation.n_rows(), relation.velocities().len());
            let mut bias = [0.0; 6];
            self.jacobian.clear();
            self.jacobian.resize(n * width, 0.0);
            relation.jacobian(t, at.q, Rows { jacobian: &mut self.jacobian, bias: &mut bias[..n] }, &mut self.scratch).map_err(located)?;
            let is_motor = interaction.law().bounded().is_some_and(|law| law.role == BoundedRole::Motor);
            for (k, row) in self.jacobian.chunks_exact(width).enumerate() {
                let moved: f64 = row.iter().zip(relation.velocities()).map(|(g, &j)| g * at.v[j]).sum();
                match is_motor {
                    true => power.work += force[k] * moved,
                    false => {
                        power.work -= force[k] * bias[k];
                        power.friction -= force[k] * (moved + bias[k]);
                    }
                }
            }
        }
        // contacts
        equations.contact_forces(&self.inside, &mut self.forces)?;
        for (&c, force) in motion.closed.iter().zip(&self.forces) {
            let interaction = motion.contacts.interaction(c);
            let relation = interaction.relation();
            let (n, width) = (relation.n_rows(), relation.velocities().len());
            let mut bias = [0.0; 6];
            self.jacobian.clear();
            self.jacobian.resize(n * width, 0.0);
            relation.jacobian(t, at.q, Rows { jacobian: &mut self.jacobian, bias: &mut bias[..n] }, &mut self.scratch).map_err(located)?;
            for (k, row) in self.jacobian.chunks_exact(width).enumerate().take(3) {
                let moved: f64 = row.iter().zip(relation.velocities()).map(|(g, &j)| g * at.v[j]).sum();
                power.work -= force[k] * bias[k];
                if k > 0 {
                    power.friction -= force[k] * (moved + bias[k]);
                }
            }
        }
        Ok(power)
    }
}
