//! Controllers in a run with located events: samples are stops, guards are events.

use super::motion::Motion;
use super::run::Run;
use crate::assembly::at_time;
use crate::error::RunError;
use crate::state::State;
use crate::strategies::sampling;
use crate::user_events::Direction;

impl<'m> Run<'_, 'm> {
    /// Takes the guards that were met, and what is due at this instant.
    pub(super) fn control_event(&mut self, motion: &mut Motion<'m>, state: &mut State, crossed: &[usize]) -> Result<(), RunError> {
        let Some(control) = self.model.control() else { return Ok(()) };
        let (systems, located) = (self.model.systems(), at_time(state.t));
        let mut changed = false;
        for &event in crossed {
            if let (Some(guard), true) = (self.model.events()[event].guard(), Direction::Rising.counts(motion.fell(event))) {
                changed |= control.take_guard(systems, state, sampling::at_instant(self.memory), guard).map_err(&located)?;
            }
        }
        if control.is_due(state.t) {
            self.read_contacts(motion, state)?;
            control.sample(systems, state, sampling::at_instant(self.memory)).map_err(&located)?;
            changed = true;
        }
        if changed {
            self.take_over(motion, state)?;
        }
        Ok(())
    }

    /// After a step or an impact: sensors of contacts, modes whose guards hold, what is recorded.
    pub(super) fn follow_control(&mut self, motion: &mut Motion<'m>, state: &mut State) -> Result<(), RunError> {
        let Some(control) = self.model.control() else { return Ok(()) };
        self.read_contacts(motion, state)?;
        if control.settle(self.model.systems(), state, sampling::at_instant(self.memory)).map_err(at_time(state.t))? {
            return self.take_over(motion, state);
        }
        Ok(motion.integration.hold(&state.q, false)?)
    }

    /// The motion goes on with the held values of the state.
    fn take_over(&mut self, motion: &mut Motion<'m>, state: &State) -> Result<(), RunError> {
        sampling::tell(self.memory, &mut self.journal)?;
        motion.integration.hold(&state.q, true)?;
        self.mode_changed = true;
        motion.read_signs()
    }

    fn read_contacts(&mut self, motion: &mut Motion<'m>, state: &mut State) -> Result<(), RunError> {
        let Some(control) = self.model.control() else { return Ok(()) };
        let mut forces = std::mem::take(&mut self.forces);
        forces.clear();
        if !motion.closed.is_empty() {
            let point = motion.integration.point().clone();
            motion.integration.equations().contact_forces(&point, &mut forces)?;
        }
        control.note_contacts(state, |interaction| {
            let contact = motion.contacts.of_interaction(interaction)?;
            let k = motion.closed.iter().position(|&c| c == contact)?;
            forces.get(k).map(|force| force[0])
        });
        self.forces = forces;
        Ok(())
    }
}
