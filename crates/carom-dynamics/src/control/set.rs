//! The control part of a model: what happens at sample instants and between steps.

use super::automaton::Automaton;
use super::clock::Clock;
use super::contact_sensor::ContactSensor;
use super::model_based::ModelBased;
use super::sensor::Sensor;
use super::signals::Function;
use crate::error::NonFinite;
use crate::report::Event;
use crate::state::State;
use crate::systems::{ModelBasedWork, Scratch, SystemSet};
use crate::user_events::GuardId;

pub use super::signals::Sight;

/// Some held values with the formulas that set them.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub places: Vec<usize>,
    pub values: Function,
}

impl Assignment {
    /// All values are computed before the first is written.
    fn carry_out(&self, systems: &SystemSet, at: Sight<'_>, q: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.values.evaluate(systems, &Sight { q, ..at }, scratch)?;
        for (&place, &value) in self.places.iter().zip(&scratch.outputs) {
            q[place] = value;
        }
        Ok(())
    }
}

/// A controller.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    /// `None`: continuous time.
    pub clock: Option<Clock>,
    pub automaton: Option<Automaton>,
    /// Outputs, then states; of sampled ones.
    pub action: Option<Assignment>,
}

/// The compiled control part; constant during a run.
#[derive(Clone, Debug, Default)]
pub struct ControlSet {
    pub(super) sensors: Vec<Sensor>,
    pub(super) contact_sensors: Vec<ContactSensor>,
    pub(super) model_based: Vec<ModelBased>,
    /// In the order in which they act.
    pub(super) controllers: Vec<Controller>,
    /// Actuators with clocks.
    pub(super) actuators: Vec<(Clock, Assignment)>,
    /// What is recorded of continuous time, and actuators that follow sampled signals.
    pub(super) followed: Option<Assignment>,
    /// Held values, and the held inputs of the first-order part that follow them.
    pub(super) inputs: Vec<(usize, usize)>,
    /// Clocks of everything, each once.
    pub(super) clocks: Vec<Clock>,
}

/// What control takes from the run at an instant.
pub(crate) struct AtInstant<'a> {
    /// What it reuses from instant to instant.
    pub work: &'a mut ControlWork,
    /// Work arrays of evaluations.
    pub scratch: &'a mut Scratch,
    /// Multipliers λ of the first-order part; empty where there is none.
    pub multipliers: &'a [f64],
    /// Its outputs y.
    pub outputs: &'a [f64],
}

/// What control reuses from instant to instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControlWork {
    model_based: ModelBasedWork,
    /// Transitions to be told.
    pub events: Vec<Event>,
}

impl ControlSet {
    /// The first sample instant after `t` that lies before `limit`.
    #[must_use]
    pub(crate) fn next_between(&self, t: f64, limit: f64) -> Option<f64> {
        self.clocks.iter().filter_map(|clock| clock.next_between(t, limit)).min_by(f64::total_cmp)
    }

    /// `t` is a sample instant.
    #[must_use]
    pub(crate) fn is_due(&self, t: f64) -> bool {
        self.clocks.iter().any(|clock| clock.tick(t).is_some())
    }

    /// Does what is due at the time of the state, in the order that [`crate::control`] gives.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn sample(&self, systems: &SystemSet, state: &mut State, at: AtInstant<'_>) -> Result<(), NonFinite> {
        let mut q = std::mem::take(&mut state.q);
        let done = self.sample_parts(systems, state, &mut q, at);
        state.q = q;
        self.write_inputs(state);
        done
    }

    fn sample_parts(&self, systems: &SystemSet, state: &State, q: &mut Vec<f64>, at: AtInstant<'_>) -> Result<(), NonFinite> {
        let AtInstant { work, scratch, multipliers, outputs } = at;
        let at = Sight { t: state.t, q: &[], v: &state.v, x: &state.x, multipliers, outputs, laws: &[] };
        let t = state.t;
        self.sensors.iter().for_each(|sensor| sensor.arrive(t, q));
        for sensor in &self.sensors {
            if let Some((place, value)) = sensor.measure(systems, &Sight { q, ..at }, scratch)? {
                q[place] = value;
            }
        }
        for law in self.model_based.iter().filter(|law| law.clock.is_none_or(|clock| clock.tick(t).is_some())) {
            law.act(systems, &Sight { q, ..at }, &mut work.model_based, scratch)?;
            law.write(&work.model_based, q);
        }
        for controller in &self.controllers {
            if controller.clock.is_some_and(|clock| clock.tick(t).is_none()) {
                continue;
            }
            if let Some(automaton) = &controller.automaton {
                automaton.settle(systems, (at, q), scratch, &mut work.events)?;
            }
            if let Some(action) = &controller.action {
                action.carry_out(systems, at, q, scratch)?;
            }
        }
        for (_, actuator) in self.actuators.iter().filter(|(clock, _)| clock.tick(t).is_some()) {
            actuator.carry_out(systems, at, q, scratch)?;
        }
        self.followed.as_ref().map_or(Ok(()), |followed| followed.carry_out(systems, at, q, scratch))
    }

    /// Notes a step of size `h` for the sensors of contacts, whose normal impulses \[N·s\] `impulse_of` gives by the number of the interaction.
    pub(crate) fn note_step(&self, state: &mut State, h: f64, impulse_of: impl Fn(usize) -> Option<f64>) {
        for sensor in &self.contact_sensors {
            sensor.after_step(impulse_of(sensor.interaction), h, &mut state.q);
        }
    }

    /// Notes an impact of a contact that was located.
    pub(crate) fn note_impact(&self, contact: &str, state: &mut State) {
        for sensor in self.contact_sensors.iter().filter(|sensor| sensor.contact == contact) {
            state.q[sensor.impacts] += 1.0;
        }
    }

    /// Notes whether contacts are closed, and their force \[N\], where events are located.
    pub(crate) fn note_contacts(&self, state: &mut State, force_of: impl Fn(usize) -> Option<f64>) {
        for sensor in &self.contact_sensors {
            let force = force_of(sensor.interaction);
            state.q[sensor.closed] = f64::from(u8::from(force.is_some()));
            state.q[sensor.force] = force.unwrap_or(0.0);
        }
    }

    /// Takes the transitions in continuous time whose guards hold, and brings what is recorded up to date. True: a mode changed.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn settle(&self, systems: &SystemSet, state: &mut State, at: AtInstant<'_>) -> Result<bool, NonFinite> {
        self.with_continuous(systems, state, at, None)
    }

    /// The same after a guard was met.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn take_guard(&self, systems: &SystemSet, state: &mut State, at: AtInstant<'_>, guard: GuardId) -> Result<bool, NonFinite> {
        self.with_continuous(systems, state, at, Some(guard))
    }

    fn with_continuous(
        &self,
        systems: &SystemSet,
        state: &mut State,
        at: AtInstant<'_>,
        guard: Option<GuardId>,
    ) -> Result<bool, NonFinite> {
        let mut q = std::mem::take(&mut state.q);
        let AtInstant { work, scratch, multipliers, outputs } = at;
        let at = Sight { t: state.t, q: &[], v: &state.v, x: &state.x, multipliers, outputs, laws: &[] };
        let mut parts = || {
            let mut changed = false;
            for law in self.model_based.iter().filter(|law| law.clock.is_none()) {
                law.act(systems, &Sight { q: &q, ..at }, &mut work.model_based, scratch)?;
                law.write(&work.model_based, &mut q);
            }
            if let Some((controller, mode, transition)) = guard
                && let Some(automaton) = &self.controllers[controller].automaton
            {
                changed |= automaton.take((mode, transition), systems, (at, &mut q), scratch, &mut work.events)?;
            }
            for controller in self.controllers.iter().filter(|controller| controller.clock.is_none()) {
                if let Some(automaton) = &controller.automaton {
                    changed |= automaton.settle(systems, (at, &mut q), scratch, &mut work.events)?;
                }
            }
            if let Some(followed) = &self.followed {
                followed.carry_out(systems, at, &mut q, scratch)?;
            }
            Ok(changed)
        };
        let done = parts();
        state.q = q;
        self.write_inputs(state);
        done
    }

    fn write_inputs(&self, state: &mut State) {
        for &(place, input) in &self.inputs {
            state.held[input] = state.q[place];
        }
    }
}
