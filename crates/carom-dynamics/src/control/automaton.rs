//! Modes of a controller: a hybrid automaton.

use super::signals::{Function, Sight};
use crate::error::NonFinite;
use crate::report::{Event, EventKind};
use crate::systems::{Scratch, SystemSet};

/// A change of mode.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    pub to: usize,
    /// Positive where it is to be taken.
    pub guard: Function,
    /// Held values that it sets, and what to.
    pub places: Vec<usize>,
    pub values: Function,
}

/// The modes of a controller with their transitions.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// The controller.
    pub name: String,
    /// Number of the coordinate that holds the mode.
    pub place: usize,
    pub modes: Vec<(String, Vec<Transition>)>,
}

impl Automaton {
    fn mode(&self, q: &[f64]) -> usize {
        (q[self.place].max(0.0).round() as usize).min(self.modes.len() - 1)
    }

    /// Takes the transitions whose guards hold, one after the other, each mode at most once; tells them.
    pub fn settle(
        &self,
        systems: &SystemSet,
        (at, q): (Sight<'_>, &mut Vec<f64>),
        scratch: &mut Scratch,
        events: &mut Vec<Event>,
    ) -> Result<bool, NonFinite> {
        let mut changed = false;
        for _ in 0..self.modes.len() {
            let mode = self.mode(q);
            let mut taken = None;
            for (k, transition) in self.modes[mode].1.iter().enumerate() {
                transition.guard.evaluate(systems, &Sight { q, ..at }, scratch)?;
                if scratch.outputs[0] > 0.0 {
                    taken = Some(k);
                    break;
                }
            }
            let Some(k) = taken else { break };
            self.take((mode, k), systems, (at, q), scratch, events)?;
            changed = true;
        }
        Ok(changed)
    }

    /// Takes a transition of the present mode, whether its guard holds or not; others are left alone.
    pub fn take(
        &self,
        (mode, k): (usize, usize),
        systems: &SystemSet,
        (at, q): (Sight<'_>, &mut Vec<f64>),
        scratch: &mut Scratch,
        events: &mut Vec<Event>,
    ) -> Result<bool, NonFinite> {
        if self.mode(q) != mode {
            return Ok(false);
        }
        let transition = &self.modes[mode].1[k];
        transition.values.evaluate(systems, &Sight { q, ..at }, scratch)?;
        for (&place, &value) in transition.places.iter().zip(&scratch.outputs) {
            q[place] = value;
        }
        q[self.place] = transition.to as f64;
        let note = format!("{} → {}", self.modes[mode].0, self.modes[transition.to].0);
        events.push(Event::new(at.t, EventKind::ModeChanged, format!("control.{}", self.name)).with_note(note));
        Ok(true)
    }
}
