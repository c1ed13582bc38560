//! From texts to the compiled control part.

use super::actuation::Actuation;
use super::automaton::{Automaton, Transition};
use super::clock::Clock;
use super::contact_sensor::ContactSensor;
use super::model_based::{ModelBased, ModelBasedKind, ModelBasedSource};
use super::order::order;
use super::sensor::Sensor;
use super::set::{Assignment, ControlSet, Controller};
use super::signals::Signals;
use super::source::{ActuatorSource, ActuatorTarget, ControlSource, ControllerSource, SensorSource, SetValuedSource};
use crate::error::ModelError;
use crate::first_order::FirstOrderSet;
use crate::formula::{Expr, Scope, is_reserved_name, is_valid_name};
use crate::interactions::Interaction;
use crate::systems::{StateFunction, SystemSet};
use crate::user_events::{Direction, EventAction, GuardId, ModelEvent, UserEvent};
use std::collections::HashSet;

/// What a control part acts on.
#[derive(Clone, Copy)]
pub(crate) struct Plant<'a> {
    pub systems: &'a SystemSet,
    pub first_order: Option<&'a FirstOrderSet>,
    pub interactions: &'a [Interaction],
}

/// The compiled control part, the forces of its actuators, and its guards as events.
pub(crate) struct Compiled {
    pub set: ControlSet,
    pub force: Option<Box<dyn crate::forces::ForceElement>>,
    pub guards: Vec<ModelEvent>,
}

/// Reads and compiles.
///
/// # Errors
/// [`ModelError`] naming the formula, name or number that is wrong.
pub(crate) fn compile(source: &ControlSource, plant: Plant<'_>) -> Result<Compiled, ModelError> {
    check_names(source)?;
    let signals = Signals::new(&source.parameters, plant.systems, plant.first_order);
    let mut compiler = Compiler { plant, signals, set: ControlSet::default(), guards: Vec::new(), places: Vec::new(), shown: Vec::new() };
    source.sensors.iter().try_for_each(|sensor| compiler.sensor(sensor))?;
    for sensor in &source.contact_sensors {
        compiler.contact_sensor(&sensor.name, &sensor.contact)?;
    }
    source.model_based.iter().try_for_each(|law| compiler.model_based(law))?;
    source.controllers.iter().try_for_each(|controller| compiler.declare(controller))?;
    for law in &source.set_valued {
        compiler.alias(&format!("{}.u", law.name), &format!("control.{}.u", law.name))?;
    }
    for i in order(&source.controllers)? {
        compiler.controller(&source.controllers[i])?;
    }
    source.set_valued.iter().try_for_each(|law| compiler.set_valued(law))?;
    let mut forces = Vec::new();
    source.actuators.iter().try_for_each(|actuator| compiler.actuator(actuator, &mut forces))?;
    Ok(compiler.finish(&forces))
}

struct Compiler<'a> {
    plant: Plant<'a>,
    signals: Signals,
    set: ControlSet,
    guards: Vec<ModelEvent>,
    /// What is recorded of continuous time.
    places: Vec<usize>,
    shown: Vec<(Expr, String)>,
}

/// A formula of a named part that cannot be used as it is.
fn wrong(part: String, reason: impl Into<String>) -> ModelError {
    ModelError::Control { part, reason: reason.into() }
}

/// Every part has a name of its own that formulas can use.
fn check_names(source: &ControlSource) -> Result<(), ModelError> {
    let sensors = source.sensors.iter().map(|s| ("sensor", &s.name)).chain(source.contact_sensors.iter().map(|s| ("sensor", &s.name)));
    let laws = source.model_based.iter().map(|s| &s.name).chain(source.controllers.iter().map(|s| &s.name));
    let laws = laws.chain(source.set_valued.iter().map(|s| &s.name)).map(|name| ("controller", name));
    let mut seen = HashSet::new();
    for (what, name) in sensors.chain(laws) {
        check_name(what, name)?;
        if !seen.insert(name) {
            return Err(ModelError::DuplicateName { what: "sensors or controller", name: name.clone() });
        }
    }
    let mut actuators = HashSet::new();
    for actuator in &source.actuators {
        check_name("actuator", &actuator.name)?;
        if !actuators.insert(&actuator.name) {
            return Err(ModelError::DuplicateName { what: "actuator", name: actuator.name.clone() });
        }
    }
    Ok(())
}

fn check_name(what: &'static str, name: &str) -> Result<(), ModelError> {
    if !is_valid_name(name) || is_reserved_name(name) || name == "t" || name.contains('.') {
        return Err(ModelError::BadName { what, name: name.to_owned() });
    }
    Ok(())
}

impl Compiler<'_> {
    /// Number of a held value.
    fn place(&self, name: &str) -> Result<usize, ModelError> {
        let found = self.plant.systems.coordinates().position(name);
        found.ok_or_else(|| {
            wrong(format!("\"{name}\""), "there is no held value of this name: add the system `HeldValues` of this source to the model")
        })
    }

    fn alias(&mut self, short: &str, long: &str) -> Result<usize, ModelError> {
        let place = self.place(long)?;
        let symbol = self.signals.coordinate(place);
        self.signals.scope.symbol(short, symbol);
        Ok(place)
    }

    fn add_clock(&mut self, clock: Clock) {
        if !self.set.clocks.contains(&clock) {
            self.set.clocks.push(clock);
        }
    }

    /// A value in continuous time is shown under the name of its held value.
    fn show(&mut self, long: &str, e: Expr) -> Result<(), ModelError> {
        let place = self.place(long)?;
        self.places.push(place);
        self.shown.push((e, format!("\"{long}\"")));
        Ok(())
    }

    fn sensor(&mut self, source: &SensorSource) -> Result<(), ModelError> {
        let part = format!("sensor \"{}\"", source.name);
        let (what, scope) = (format!("value of {part}"), self.signals.scope.clone());
        let e = self.signals.read(&what, &source.value, &scope)?;
        let expected = "a finite number ≥ 0 is needed";
        for (key, value) in [("delay", source.delay), ("noise", source.noise), ("quantum", source.quantum)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(ModelError::OutOfRange { what: format!("{key} of {part}"), value, expected });
            }
            if value > 0.0 && source.clock.is_none() {
                return Err(wrong(part, format!("{key} belongs to sampled sensors: give it a period [s]")));
            }
        }
        let long = format!("sensor.{}", source.name);
        let Some(clock) = source.clock else {
            self.signals.scope.constant(&source.name, e);
            return self.show(&long, e);
        };
        clock.validate(&part)?;
        let place = self.alias(&source.name, &long)?;
        let waiting = place + 1..place + 1 + source.n_waiting();
        self.add_clock(clock);
        self.add_clock(clock.later(source.delay));
        let measure = self.signals.function(&[e], vec![what]);
        let SensorSource { delay, noise, seed, quantum, .. } = *source;
        self.set.sensors.push(Sensor { measure, clock, place, waiting, delay, noise, seed, quantum });
        Ok(())
    }

    fn contact_sensor(&mut self, name: &str, contact: &str) -> Result<(), ModelError> {
        let interactions = self.plant.interactions;
        let Some(interaction) = interactions.iter().position(|i| i.is_contact() && i.name() == contact) else {
            let names = interactions.iter().filter(|i| i.is_contact()).map(Interaction::name);
            let near = crate::nearest::nearest(contact, names).map_or_else(String::new, |best| format!("; did you mean \"{best}\"?"));
            return Err(wrong(format!("sensor \"{name}\""), format!("there is no contact by formula \"{contact}\"{near}")));
        };
        let mut place = |what: &str| self.alias(&format!("{name}.{what}"), &format!("sensor.{name}.{what}"));
        let (impacts, closed, force) = (place("impacts")?, place("closed")?, place("force")?);
        self.set.contact_sensors.push(ContactSensor { interaction, contact: contact.to_owned(), impacts, closed, force });
        Ok(())
    }

    fn model_based(&mut self, source: &ModelBasedSource) -> Result<(), ModelError> {
        let part = format!("controller \"{}\"", source.name);
        if let Some(clock) = source.clock {
            clock.validate(&part)?;
            self.add_clock(clock);
        } else if self.plant.first_order.is_some() {
            let reason =
                "the model has a first-order part, where forces in continuous time are formulas, and this law is none: give it a `period`";
            return Err(wrong(part, reason));
        }
        let (systems, m) = (self.plant.systems, source.coordinates.len());
        let (gains, words) = match &source.kind {
            ModelBasedKind::ComputedTorque { proportional, derivative } => ([proportional, derivative], ["kp", "kd"]),
            ModelBasedKind::Passivity { slope, gain } => ([slope, gain], ["lambda", "gain"]),
        };
        for (list, word) in gains.into_iter().zip(words) {
            if list.len() != m {
                return Err(ModelError::WrongLength { what: format!("`{word}` of {part}"), expected: m, found: list.len() });
            }
        }
        if source.desired.len() != m {
            return Err(ModelError::WrongLength { what: format!("`desired` of {part}"), expected: m, found: source.desired.len() });
        }
        let (mut coordinates, mut velocities, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for name in &source.coordinates {
            let c = systems.coordinates().position(name).filter(|&c| systems.is_flat(c));
            let Some(c) = c else {
                let names: Vec<String> =
                    systems.coordinates().names().enumerate().filter(|(c, _)| systems.is_flat(*c)).map(|(_, name)| name).collect();
                let near = crate::nearest::nearest(name, names.iter().map(String::as_str))
                    .map_or_else(String::new, |best| format!("; did you mean \"{best}\"?"));
                return Err(wrong(part, format!("\"{name}\" is no coordinate whose rate is a velocity{near}")));
            };
            coordinates.push(c);
            velocities.push(systems.velocities_of(&[c])[0]);
            let (short, long) = (format!("{}.{name}", source.name), format!("control.{}.{name}", source.name));
            match source.clock {
                Some(_) => places.push(self.alias(&short, &long)?),
                None => {
                    let continuous = self.set.model_based.iter().filter(|law| law.clock.is_none());
                    let number = continuous.map(|law| law.places.len()).sum::<usize>() + places.len();
                    places.push(self.place(&long)?);
                    self.signals.declare_law(&short, number, places[places.len() - 1]);
                }
            }
        }
        let layout = systems.layout();
        for &j in &velocities {
            let block = layout.block_of_row(j);
            let missing = (layout.rows[block]..layout.rows[block + 1]).find(|i| !velocities.contains(i));
            if let Some(i) = missing {
                let reason = format!(
                    "{} is coupled to the others by the mass matrix: name it among the coordinates too",
                    systems.velocities().name(i)
                );
                return Err(wrong(part, reason));
            }
        }
        let (scope, t) = (self.signals.scope.clone(), self.signals.symbols.t);
        let mut all = vec![Vec::new(), Vec::new(), Vec::new()];
        for (name, text) in source.coordinates.iter().zip(&source.desired) {
            let mut e = self.signals.read(&format!("desired {name} of {part}"), text, &scope)?;
            for list in &mut all {
                list.push(e);
                e = self.signals.graph.derivative(e, t);
            }
        }
        let desired = self.signals.function(&all.concat(), vec![format!("the desired motion of {part}"); 3 * m]);
        let ModelBasedSource { clock, ref kind, .. } = *source;
        self.set.model_based.push(ModelBased { clock, kind: kind.clone(), coordinates, velocities, places, desired });
        Ok(())
    }

    /// Names of a controller for others: held values, which in continuous time are replaced by expressions later.
    fn declare(&mut self, source: &ControllerSource) -> Result<(), ModelError> {
        let part = format!("controller \"{}\"", source.name);
        if let Some(clock) = source.clock {
            clock.validate(&part)?;
            self.add_clock(clock);
        }
        let states = source.states.iter().map(|s| &s.name);
        let mut seen = HashSet::new();
        for name in states.chain(source.locals.iter().map(|(name, _)| name)).chain(source.outputs.iter().map(|(name, _)| name)) {
            check_name("part of a controller", name)?;
            if !seen.insert(name) || name == "mode" {
                return Err(wrong(part, format!("two of its states, locals and outputs are called \"{name}\" (`mode` is its mode)")));
            }
        }
        for state in &source.states {
            let reason = match (source.is_continuous(), &state.update, &state.rate) {
                (true, Some(_), _) => "has an update, but the controller no period: give a `rate`, or the controller a `period`",
                (false, _, Some(_)) => "has a rate, but the controller is sampled: give an `update`, or leave `period` out",
                _ => continue,
            };
            return Err(wrong(part, format!("the state \"{}\" {reason}", state.name)));
        }
        for state in source.held_states() {
            self.alias(&format!("{}.{}", source.name, state.name), &format!("control.{}.{}", source.name, state.name))?;
        }
        for state in source.states.iter().filter(|state| state.rate.is_some()) {
            let long = format!("control.{}.{}", source.name, state.name);
            let scope = self.signals.scope.clone();
            let symbol = self.signals.read(&long, &long, &scope)?;
            self.signals.scope.symbol(&format!("{}.{}", source.name, state.name), symbol);
        }
        for (output, _) in &source.outputs {
            self.alias(&format!("{}.{output}", source.name), &format!("control.{}.{output}", source.name))?;
        }
        if !source.modes.is_empty() {
            self.alias(&format!("{}.mode", source.name), &format!("control.{}.mode", source.name))?;
        }
        Ok(())
    }

    fn controller(&mut self, source: &ControllerSource) -> Result<(), ModelError> {
        let part = format!("controller \"{}\"", source.name);
        let mut scope = self.signals.scope.clone();
        let own = |name: &str| format!("{}.{name}", source.name);
        let held = source.states.iter().map(|s| s.name.as_str()).chain((!source.modes.is_empty()).then_some("mode"));
        for name in held {
            let symbol = self.signals.read(&own(name), &own(name), &scope)?;
            scope.symbol(name, symbol);
        }
        for mode in &source.modes {
            for (name, _) in mode.locals.iter().chain(&mode.outputs) {
                if !source.locals.iter().chain(&source.outputs).any(|(other, _)| other == name) {
                    let reason = format!(
                        "the mode \"{}\" gives \"{name}\", which is no local or output of the controller: give its default there",
                        mode.name
                    );
                    return Err(wrong(part, reason));
                }
            }
        }
        for (name, text) in &source.locals {
            let e = self.in_modes(source, (name, text), &scope, true)?;
            scope.constant(name, e);
        }
        let mut outputs = Vec::new();
        for (name, text) in &source.outputs {
            let e = self.in_modes(source, (name, text), &scope, false)?;
            scope.constant(name, e);
            outputs.push((name, e));
        }
        let number = self.set.controllers.len();
        let automaton = self.automaton(source, &scope, number)?;
        let action = match source.clock {
            None => {
                for (name, e) in outputs {
                    self.signals.scope.constant(&own(name), e);
                    self.show(&format!("control.{}.{name}", source.name), e)?;
                }
                None
            }
            Some(_) => Some(self.action(source, &outputs, &scope)?),
        };
        self.set.controllers.push(Controller { clock: source.clock, automaton, action });
        Ok(())
    }

    /// A local or output, which may differ from mode to mode.
    fn in_modes(
        &mut self,
        source: &ControllerSource,
        (name, text): (&String, &String),
        scope: &Scope,
        is_local: bool,
    ) -> Result<Expr, ModelError> {
        let what = format!("{name} of controller \"{}\"", source.name);
        let mut e = self.signals.read(&what, text, scope)?;
        for (k, mode) in source.modes.iter().enumerate().rev() {
            let given = if is_local { &mode.locals } else { &mode.outputs };
            let Some((_, text)) = given.iter().find(|(other, _)| other == name) else { continue };
            let here = self.signals.read(&format!("{what} in mode \"{}\"", mode.name), text, scope)?;
            let is_mode = self.signals.read("mode", &format!("mode == {k}"), scope)?;
            e = self.signals.graph.select(is_mode, here, e);
        }
        Ok(e)
    }

    fn action(&mut self, source: &ControllerSource, outputs: &[(&String, Expr)], scope: &Scope) -> Result<Assignment, ModelError> {
        let (mut places, mut values, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (name, e) in outputs {
            places.push(self.place(&format!("control.{}.{name}", source.name))?);
            values.push(*e);
            names.push(format!("\"control.{}.{name}\"", source.name));
        }
        for state in &source.states {
            let Some(update) = &state.update else { continue };
            places.push(self.place(&format!("control.{}.{}", source.name, state.name))?);
            values.push(self.signals.read(&format!("update of {} of controller \"{}\"", state.name, source.name), update, scope)?);
            names.push(format!("\"control.{}.{}\"", source.name, state.name));
        }
        Ok(Assignment { places, values: self.signals.function(&values, names) })
    }

    fn automaton(&mut self, source: &ControllerSource, scope: &Scope, number: usize) -> Result<Option<Automaton>, ModelError> {
        if source.modes.is_empty() {
            return Ok(None);
        }
        let part = format!("controller \"{}\"", source.name);
        let place = self.place(&format!("control.{}.mode", source.name))?;
        let mut modes = Vec::new();
        for (m, mode) in source.modes.iter().enumerate() {
            let mut transitions = Vec::new();
            for (k, transition) in mode.transitions.iter().enumerate() {
                let Some(to) = source.modes.iter().position(|other| other.name == transition.to) else {
                    let names: Vec<&str> = source.modes.iter().map(|mode| mode.name.as_str()).collect();
                    let reason = format!(
                        "the mode \"{}\" goes to \"{}\", which is none of its modes {}",
                        mode.name,
                        transition.to,
                        names.join(", ")
                    );
                    return Err(wrong(part, reason));
                };
                let what = format!("guard from \"{}\" to \"{}\" of {part}", mode.name, transition.to);
                let condition = self.signals.read(&what, &transition.when, scope)?;
                let margin = self.signals.graph.signed(condition);
                // a condition is 1 or 0; anything else holds where it is positive
                let holds = if margin == condition {
                    condition
                } else {
                    let half = self.signals.graph.constant(0.5);
                    self.signals.graph.sub(condition, half)
                };
                let guard = self.signals.function(&[holds], vec![format!("the {what}")]);
                let (mut places, mut values) = (Vec::new(), Vec::new());
                for (name, text) in &transition.set {
                    if !source.held_states().any(|state| &state.name == name) {
                        let reason = format!("a transition sets \"{name}\", which is no state that it holds: add it to `states`");
                        return Err(wrong(part, reason));
                    }
                    places.push(self.place(&format!("control.{}.{name}", source.name))?);
                    values.push(self.signals.read(&format!("value of {name} after the {what}"), text, scope)?);
                }
                let names = transition.set.iter().map(|(name, _)| format!("the value of {name} after the {what}")).collect();
                let values = self.signals.function(&values, names);
                if source.is_continuous() && self.signals.uses_law(margin) {
                    let reason = format!(
                        "the {what} uses the output of a law in continuous time: give that law a `period`, or write the guard in coordinates"
                    );
                    return Err(wrong(part, reason));
                }
                if source.is_continuous() && !self.signals.uses_first_order(margin) {
                    self.guard((number, m, k), margin, scope, what)?;
                }
                transitions.push(Transition { to, guard, places, values });
            }
            modes.push((mode.name.clone(), transitions));
        }
        Ok(Some(Automaton { name: source.name.clone(), place, modes }))
    }

    /// A guard as an event, for strategies that locate events: it can be met in its mode only.
    fn guard(&mut self, id: GuardId, margin: Expr, scope: &Scope, name: String) -> Result<(), ModelError> {
        let is_mode = self.signals.read("mode", &format!("mode == {}", id.1), scope)?;
        let never = self.signals.graph.constant(-1.0);
        let watched = self.signals.graph.select(is_mode, margin, never);
        let function = StateFunction::new(&mut self.signals.graph, watched, &self.signals.symbols);
        let source = UserEvent { name, direction: Direction::Rising, action: EventAction::Restart, ..UserEvent::default() };
        self.guards.push(ModelEvent::of_guard(source, function, id));
        Ok(())
    }

    fn set_valued(&mut self, source: &SetValuedSource) -> Result<(), ModelError> {
        let part = format!("controller \"{}\"", source.name);
        let scope = self.signals.scope.clone();
        let mut sum = match source.equivalent.as_str() {
            "" => self.signals.graph.constant(0.0),
            text => self.signals.read(&format!("equivalent control of {part}"), text, &scope)?,
        };
        for (k, (surface, gain)) in source.surfaces.iter().enumerate() {
            if !(*gain > 0.0 && gain.is_finite()) {
                let expected = "a positive, finite number is needed";
                return Err(ModelError::OutOfRange { what: format!("gain of {part}"), value: *gain, expected });
            }
            self.signals.read(&format!("surface of {part}"), surface, &scope)?;
            let name = format!("{}.lambda{}", source.name, k + 1);
            let lambda = self.signals.read(&name, &name, &scope)?;
            let gain = self.signals.graph.constant(*gain);
            let term = self.signals.graph.mul(gain, lambda);
            sum = self.signals.graph.add(sum, term);
        }
        self.signals.scope.constant(&format!("{}.u", source.name), sum);
        self.show(&format!("control.{}.u", source.name), sum)
    }

    fn actuator(&mut self, source: &ActuatorSource, forces: &mut Vec<(usize, Expr, String)>) -> Result<(), ModelError> {
        let part = format!("actuator \"{}\"", source.name);
        let (lower, upper) = source.limits;
        if lower >= upper || lower.is_nan() || upper.is_nan() {
            return Err(wrong(part, format!("its limits are {lower} and {upper}: the first must be smaller")));
        }
        let scope = self.signals.scope.clone();
        // the user's own text first, so that mistakes are shown in it
        let mut e = self.signals.read(&format!("signal of {part}"), &source.signal, &scope)?;
        for (bound, is_lower) in [(lower, true), (upper, false)] {
            if bound.is_finite() {
                let bound = self.signals.graph.constant(bound);
                e = if is_lower { self.signals.graph.max(e, bound) } else { self.signals.graph.min(e, bound) };
            }
        }
        let long = format!("actuator.{}", source.name);
        let place = self.place(&long)?;
        let mut acting = e;
        match source.clock {
            Some(clock) => {
                clock.validate(&part)?;
                self.add_clock(clock);
                let values = self.signals.function(&[e], vec![part.clone()]);
                self.set.actuators.push((clock, Assignment { places: vec![place], values }));
                acting = self.signals.coordinate(place);
            }
            None => self.show(&long, e)?,
        }
        match &source.target {
            ActuatorTarget::Velocity(name) if self.plant.first_order.is_none() => {
                let velocity = self.plant.systems.velocity_of_name(name).ok_or_else(|| {
                    let names: Vec<String> = self.plant.systems.velocities().names().collect();
                    let near = crate::nearest::nearest(name, names.iter().map(String::as_str))
                        .map_or_else(String::new, |best| format!("; did you mean \"{best}\"?"));
                    wrong(part, format!("there is no coordinate or velocity \"{name}\" to act on{near}"))
                })?;
                forces.push((velocity, acting, source.name.clone()));
            }
            ActuatorTarget::Input(name) => {
                let held = self.plant.first_order.map_or(&[][..], FirstOrderSet::held);
                let Some(input) = held.iter().position(|(other, _)| other == name) else {
                    let near = crate::nearest::nearest(name, held.iter().map(|(name, _)| name.as_str()));
                    let near = near.map_or_else(String::new, |best| format!("; did you mean \"{best}\"?"));
                    return Err(wrong(part, format!("the first-order part has no held input \"{name}\"{near}")));
                };
                self.set.inputs.push((place, input));
            }
            // these act through the first-order part, or through formulas elsewhere
            ActuatorTarget::Velocity(_) | ActuatorTarget::Rate(_) | ActuatorTarget::Value => {}
        }
        Ok(())
    }

    fn finish(mut self, forces: &[(usize, Expr, String)]) -> Compiled {
        if !self.shown.is_empty() {
            let (values, names): (Vec<Expr>, Vec<String>) = self.shown.drain(..).unzip();
            self.set.followed = Some(Assignment { places: self.places, values: self.signals.function(&values, names) });
        }
        let laws: Vec<ModelBased> = self.set.model_based.iter().filter(|law| law.clock.is_none()).cloned().collect();
        let force = (!forces.is_empty()).then(|| Box::new(Actuation::new(&mut self.signals, self.plant.systems, forces, laws)) as _);
        Compiled { set: self.set, force, guards: self.guards }
    }
}
