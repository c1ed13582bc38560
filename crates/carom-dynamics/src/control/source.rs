//! What a control system is made from: names, formulas, clocks.

use super::clock::Clock;
use super::model_based::ModelBasedSource;
use crate::systems::Coordinate;

/// The text of the control part of a model.
///
/// Formulas use `t`, parameters, coordinates and rates of the mechanical part (`x`, `x_dot`, `ball.vx`), states and multipliers of the first-order part, its
/// outputs as `MULTIPLIER.y`, sensors by name, outputs and states of controllers as `CONTROLLER.NAME`; a controller calls its own ones by `NAME` alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlSource {
    /// Constants of all formulas.
    pub parameters: Vec<(String, f64)>,
    /// Sensors by formula.
    pub sensors: Vec<SensorSource>,
    /// Sensors of contacts.
    pub contact_sensors: Vec<ContactSensorSource>,
    /// Laws that use the model's own equations.
    pub model_based: Vec<ModelBasedSource>,
    /// Controllers by formula.
    pub controllers: Vec<ControllerSource>,
    /// Set-valued laws, solved with the step.
    pub set_valued: Vec<SetValuedSource>,
    /// Actuators.
    pub actuators: Vec<ActuatorSource>,
}

/// A sensor by formula.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SensorSource {
    /// Name in formulas; `sensor.NAME` in records.
    pub name: String,
    /// Unit of the value.
    pub unit: String,
    /// What it measures.
    pub value: String,
    /// When; `None`: always, and without the faults below.
    pub clock: Option<Clock>,
    /// Time from measurement to arrival \[s\], ≥ 0.
    pub delay: f64,
    /// Standard deviation of white Gaussian noise, ≥ 0; sample k of a seed is always the same.
    pub noise: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// Step between readings, ≥ 0; 0 for none.
    pub quantum: f64,
    /// Reading before the first arrival.
    pub initial: f64,
}

/// A sensor of a contact by formula: `NAME.impacts`, how often it closed; `NAME.closed`, 1 while it stays closed (in time-stepping: it
/// carried in the last two steps); `NAME.force` \[N\], the mean normal force of the last step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactSensorSource {
    /// Name in formulas.
    pub name: String,
    /// The contact.
    pub contact: String,
}

/// A state of a controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateSource {
    /// Name in the controller's formulas.
    pub name: String,
    /// Value at the start.
    pub initial: f64,
    /// Value after a sample; `None`: changed by resets only. Of sampled controllers.
    pub update: Option<String>,
    /// Rate, of controllers in continuous time: the state then belongs to the first-order part.
    pub rate: Option<String>,
}

/// A controller by formula.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerSource {
    /// Name.
    pub name: String,
    /// When it acts; `None`: in continuous time.
    pub clock: Option<Clock>,
    /// What it remembers.
    pub states: Vec<StateSource>,
    /// Named subexpressions, each using earlier ones only.
    pub locals: Vec<(String, String)>,
    /// Outputs of all modes that do not give their own. They use locals, and earlier outputs.
    pub outputs: Vec<(String, String)>,
    /// Modes; the first is that of the start. None: one without name.
    pub modes: Vec<ModeSource>,
}

/// A mode of a controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModeSource {
    /// Name in records of its changes; its number, from 0, is `CONTROLLER.mode`.
    pub name: String,
    /// Subexpressions that differ in this mode: they must be among the controller's.
    pub locals: Vec<(String, String)>,
    /// Outputs that differ in this mode: they must be among the controller's.
    pub outputs: Vec<(String, String)>,
    /// Where it may go; the first guard that holds wins.
    pub transitions: Vec<TransitionSource>,
}

/// A change of mode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransitionSource {
    /// Name of the mode to go to.
    pub to: String,
    /// It is taken where this holds (a condition, or a formula that is positive).
    pub when: String,
    /// States and their values after it, as formulas of those before it.
    pub set: Vec<(String, String)>,
}

/// A law whose value is a set where its surface vanishes, solved with the step: −s ∈ N_\[−1, 1\](λ), so that λ = −sign(s) off the surface. Its output is
/// `NAME.u` = equivalent + Σ gain λ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetValuedSource {
    /// Name.
    pub name: String,
    /// Surfaces s with the gains of their relays: one for a sliding mode, two for twisting.
    pub surfaces: Vec<(String, f64)>,
    /// What is added to the relays; empty for nothing.
    pub equivalent: String,
}

/// Where an actuator acts.
#[derive(Clone, Debug, PartialEq)]
pub enum ActuatorTarget {
    /// A generalised force on a velocity, by its name or that of its coordinate.
    Velocity(String),
    /// An input of the first-order part that is held.
    Input(String),
    /// The rate of a state of the first-order part: it is added there.
    Rate(String),
    /// Nothing by itself: formulas elsewhere use `actuator.NAME`.
    Value,
}

/// An actuator: a signal, cut off, acting somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct ActuatorSource {
    /// Name; `actuator.NAME` in records.
    pub name: String,
    /// Unit of the signal.
    pub unit: String,
    /// The signal.
    pub signal: String,
    /// Least and largest value.
    pub limits: (f64, f64),
    /// When the signal is taken over and held; `None`: it is followed as it is.
    pub clock: Option<Clock>,
    /// Where it acts.
    pub target: ActuatorTarget,
}

impl ControllerSource {
    /// It acts in continuous time.
    #[must_use]
    pub(crate) fn is_continuous(&self) -> bool {
        self.clock.is_none()
    }

    /// States that are held between samples, in order.
    pub(super) fn held_states(&self) -> impl Iterator<Item = &StateSource> {
        self.states.iter().filter(|state| state.rate.is_none())
    }
}

impl SensorSource {
    /// Measurements under way at a time: those that have not arrived, and the next.
    pub(super) fn n_waiting(&self) -> usize {
        match self.clock {
            Some(clock) if self.delay > 0.0 => (self.delay / clock.period).ceil() as usize + 1,
            _ => 0,
        }
    }
}

impl ControlSource {
    /// There is nothing to control.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == ControlSource { parameters: self.parameters.clone(), ..ControlSource::default() }
    }

    /// Names, units and initial values of the held values, in their order in q.
    #[must_use]
    pub fn held_values(&self) -> Vec<(Coordinate, f64)> {
        let mut all = Vec::new();
        let mut add = |name: String, unit: &str, initial: f64| all.push((Coordinate::new(name, unit), initial));
        for sensor in &self.sensors {
            add(format!("sensor.{}", sensor.name), &sensor.unit, sensor.initial);
            for k in 0..sensor.n_waiting() {
                add(format!("sensor.{}.waiting{k}", sensor.name), &sensor.unit, sensor.initial);
            }
        }
        for sensor in &self.contact_sensors {
            add(format!("sensor.{}.impacts", sensor.name), "", 0.0);
            add(format!("sensor.{}.closed", sensor.name), "", 0.0);
            add(format!("sensor.{}.force", sensor.name), "N", 0.0);
        }
        for law in &self.model_based {
            for coordinate in &law.coordinates {
                add(format!("control.{}.{coordinate}", law.name), "", 0.0);
            }
        }
        for controller in &self.controllers {
            for state in controller.held_states() {
                add(format!("control.{}.{}", controller.name, state.name), "", state.initial);
            }
            for (output, _) in &controller.outputs {
                add(format!("control.{}.{output}", controller.name), "", 0.0);
            }
            if !controller.modes.is_empty() {
                add(format!("control.{}.mode", controller.name), "", 0.0);
            }
        }
        for law in &self.set_valued {
            add(format!("control.{}.u", law.name), "", 0.0);
        }
        for actuator in &self.actuators {
            add(format!("actuator.{}", actuator.name), &actuator.unit, 0.0);
        }
        all
    }
}
