//! What a run with located events records.

use super::account::Exchanged;
use super::motion::Motion;
use super::run::Run;
use crate::assembly::at_time;
use crate::error::RunError;
use crate::recording::{ContactRecord, Source};
use crate::report::{Energy, StepReport};
use crate::smooth::MotionPoint;
use crate::state::State;
use crate::systems::Instant;
use nalgebra::Vector3;

impl<'m> Run<'_, 'm> {
    /// Energies exchanged in the step just taken; frames of constant interval within it are told on the way.
    pub(super) fn exchange(
        &mut self,
        motion: &mut Motion<'m>,
        (from, to): (f64, f64),
        moving: bool,
        taken: &StepReport,
    ) -> Result<Exchanged, RunError> {
        let (mut sum, mut from) = (Exchanged::default(), from);
        while let Some(t) = self.frames.before(to) {
            sum += self.account.between(motion, from, t, moving)?;
            let mut inside = std::mem::take(&mut self.inside);
            inside.copy_from(motion.integration.point());
            motion.integration.interpolate_point(t, &mut inside)?;
            let state = inside.state();
            let (kinetic, potential) = self.journal.energy(&state, self.memory)?;
            let last = self.journal.certificate.last;
            let energy = Energy {
                kinetic,
                potential,
                work: last.work + sum.work,
                dissipated_friction: last.dissipated_friction + sum.friction,
                ..last
            };
            self.collect(motion, &inside)?;
            self.journal.frame_of((self.steps, &state), self.memory, &self.records, energy, Some(taken))?;
            self.inside = inside;
            from = t;
        }
        sum += self.account.between(motion, from, to, moving)?;
        Ok(sum)
    }

    /// Records the state reached.
    pub fn frame(&mut self, motion: &mut Motion<'m>, state: &State) -> Result<(), RunError> {
        let point = motion.integration.point().clone();
        self.collect(motion, &point)?;
        self.recorded = self.steps;
        self.journal.frame_of((self.steps, state), self.memory, &self.records, self.journal.certificate.last, None)
    }

    /// The closed contacts at a point, for a frame.
    pub(super) fn collect(&mut self, motion: &mut Motion<'m>, point: &MotionPoint) -> Result<(), RunError> {
        let equations = motion.integration.equations();
        let counted = equations.statistics;
        equations.contact_forces(point, &mut self.forces)?;
        equations.constraint_forces(point, &mut self.journal.forces)?;
        equations.effort_forces(point, &mut self.effort_forces)?;
        equations.statistics = counted;
        self.records.clear();
        let at = Instant { t: point.t, q: &point.q, v: &point.v };
        for (&c, f) in motion.closed.iter().zip(&self.forces) {
            let (mut velocity, mut force) = ([0.0; 6], [0.0; 6]);
            velocity[..3].copy_from_slice(&motion.contacts.velocity(c, at).map_err(at_time(at.t))?);
            force[..3].copy_from_slice(f);
            let (point, normal) = motion.contacts.geometry(c, at.t, at.q);
            self.records.push(ContactRecord {
                source: motion.contacts.source(c),
                dim: 1 + motion.contacts.n_tangents(c),
                gap: motion.contacts.gap(c, at.t, at.q).map_err(at_time(at.t))?,
                velocity,
                impulse: [0.0; 6],
                force,
                mode: motion.modes[c],
                point,
                normal,
            });
        }
        for e in 0..self.effort_forces.len() {
            self.record_effort(motion, e, self.effort_forces[e], at)?;
        }
        Ok(())
    }

    /// An effort between bounds, for a frame.
    fn record_effort(&mut self, motion: &mut Motion<'m>, e: usize, f: [f64; 3], at: Instant<'_>) -> Result<(), RunError> {
        let i = motion.efforts[e].interaction;
        let interaction = &self.model.interactions()[i];
        let relation = interaction.relation();
        let (mut velocity, mut force, mut g) = ([0.0; 6], [0.0; 6], [0.0; 6]);
        velocity[..3].copy_from_slice(&motion.integration.equations().effort_velocity(e, at).map_err(at_time(at.t))?);
        relation.position(at.t, at.q, &mut g[..relation.n_rows()], &mut self.memory.scratch).map_err(at_time(at.t))?;
        velocity[0] -= interaction.law().bounded().map_or(0.0, |law| law.gain * g[0]);
        force[..3].copy_from_slice(&f);
        self.records.push(ContactRecord {
            source: Source::Interaction(i as u32),
            dim: relation.n_rows(),
            gap: g[0],
            velocity,
            impulse: [0.0; 6],
            force,
            mode: motion.effort_mode(e),
            point: Vector3::zeros(),
            normal: Vector3::zeros(),
        });
        Ok(())
    }
}
