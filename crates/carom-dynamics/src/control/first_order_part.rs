//! What control adds to the first-order part of a model: states in continuous time, and laws that are solved with the step.
//!
//! Where a model has such a part, continuous signals act through it, so that states, multipliers, contacts and forces are unknowns of one problem.

use super::order::{order, renamed};
use super::source::{ActuatorSource, ActuatorTarget, ControlSource, ControllerSource};
use crate::error::ModelError;
use crate::first_order::{FirstOrderSource, MultiplierLaw, RelationSource};
use crate::systems::Coordinate;

impl ControlSource {
    /// It has states or laws that need a first-order part.
    #[must_use]
    pub fn needs_first_order(&self) -> bool {
        !self.set_valued.is_empty() || self.controllers.iter().any(|c| c.states.iter().any(|state| state.rate.is_some()))
    }

    /// Adds names, states, relays and forces to the source of the first-order part.
    ///
    /// # Errors
    /// [`ModelError`]: an algebraic loop, a target that does not exist.
    pub fn extend(&self, first_order: &mut FirstOrderSource) -> Result<(), ModelError> {
        let mut names = Vec::new();
        let mut alias = |short: String, long: String| names.push((short, long));
        for sensor in &self.sensors {
            let long = if sensor.clock.is_some() { format!("sensor.{}", sensor.name) } else { sensor.value.clone() };
            alias(sensor.name.clone(), long);
        }
        for sensor in &self.contact_sensors {
            for what in ["impacts", "closed", "force"] {
                alias(format!("{}.{what}", sensor.name), format!("sensor.{}.{what}", sensor.name));
            }
        }
        for law in &self.model_based {
            for c in &law.coordinates {
                alias(format!("{}.{c}", law.name), format!("control.{}.{c}", law.name));
            }
        }
        for i in order(&self.controllers)? {
            controller(&self.controllers[i], &mut alias, first_order);
        }
        for law in &self.set_valued {
            let multipliers: Vec<String> = (1..=law.surfaces.len()).map(|k| format!("{}.lambda{k}", law.name)).collect();
            let relays = multipliers.iter().zip(&law.surfaces).map(|(name, (_, gain))| format!("{gain:e}*{name}"));
            let offset = (!law.equivalent.is_empty()).then(|| format!("({})", law.equivalent));
            alias(format!("{}.u", law.name), relays.chain(offset).collect::<Vec<_>>().join(" + "));
            for (multiplier, (surface, _)) in multipliers.into_iter().zip(&law.surfaces) {
                first_order.relations.push(RelationSource {
                    name: multiplier.clone(),
                    multipliers: vec![multiplier],
                    outputs: vec![surface.clone()],
                    law: MultiplierLaw::Relay { lower: -1.0, upper: 1.0 },
                    compliance: 0.0,
                });
            }
        }
        self.actuators.iter().try_for_each(|actuator| act(actuator, first_order))?;
        // what the user named may use them
        names.append(&mut first_order.inputs);
        first_order.inputs = names;
        for (name, value) in &self.parameters {
            if !first_order.parameters.iter().any(|(other, _)| other == name) {
                first_order.parameters.push((name.clone(), *value));
            }
        }
        Ok(())
    }
}

/// Names of a controller, with its own ones written in full.
fn controller(source: &ControllerSource, alias: &mut impl FnMut(String, String), first_order: &mut FirstOrderSource) {
    let own = |word: &str| {
        let is_own = word == "mode" && !source.modes.is_empty()
            || source.states.iter().any(|state| state.name == word)
            || source.locals.iter().chain(&source.outputs).any(|(name, _)| name == word);
        is_own.then(|| format!("{}.{word}", source.name))
    };
    for state in &source.states {
        alias(format!("{}.{}", source.name, state.name), format!("control.{}.{}", source.name, state.name));
    }
    if !source.modes.is_empty() {
        alias(format!("{}.mode", source.name), format!("control.{}.mode", source.name));
    }
    if !source.is_continuous() {
        for (output, _) in &source.outputs {
            alias(format!("{}.{output}", source.name), format!("control.{}.{output}", source.name));
        }
        return;
    }
    for (is_local, (name, text)) in source.locals.iter().map(|x| (true, x)).chain(source.outputs.iter().map(|x| (false, x))) {
        let mut merged = renamed(text, own);
        for (k, mode) in source.modes.iter().enumerate().rev() {
            let given = if is_local { &mode.locals } else { &mode.outputs };
            if let Some((_, text)) = given.iter().find(|(other, _)| other == name) {
                merged = format!("if(control.{}.mode == {k}, {}, {merged})", source.name, renamed(text, own));
            }
        }
        alias(format!("{}.{name}", source.name), merged);
    }
    for state in &source.states {
        if let Some(rate) = &state.rate {
            first_order.states.push(Coordinate::new(format!("control.{}.{}", source.name, state.name), ""));
            first_order.rates.push(renamed(rate, own));
        }
    }
}

/// Continuous signals become forces and rates.
fn act(actuator: &ActuatorSource, first_order: &mut FirstOrderSource) -> Result<(), ModelError> {
    let signal = match actuator.clock {
        Some(_) => format!("actuator.{}", actuator.name),
        None => actuator.clamped(),
    };
    match &actuator.target {
        ActuatorTarget::Velocity(velocity) => first_order.forces.push((velocity.clone(), signal)),
        ActuatorTarget::Rate(state) => {
            let Some(i) = first_order.states.iter().position(|s| &s.name == state) else {
                let names = first_order.states.iter().map(|s| s.name.as_str());
                let near = crate::nearest::nearest(state, names).map_or_else(String::new, |best| format!("; did you mean \"{best}\"?"));
                let reason = format!("there is no state \"{state}\" of the first-order part{near}");
                return Err(ModelError::Control { part: format!("actuator \"{}\"", actuator.name), reason });
            };
            first_order.rates[i] = format!("({}) + ({signal})", first_order.rates[i]);
        }
        ActuatorTarget::Input(_) | ActuatorTarget::Value => {}
    }
    Ok(())
}

impl ActuatorSource {
    /// The signal between its limits.
    pub(super) fn clamped(&self) -> String {
        let (lower, upper) = self.limits;
        let mut text = self.signal.clone();
        if lower > f64::NEG_INFINITY {
            text = format!("max({text}, {lower:e})");
        }
        if upper < f64::INFINITY {
            text = format!("min({text}, {upper:e})");
        }
        text
    }
}
