//! `[[sensor]]`, `[[controller]]` and `[[actuator]]`: the control part of a model.

mod actuators;
mod controllers;
mod ready;
pub(super) mod schema;

use super::numbers::{Must, Reader};
use super::schema::Schema;
use super::value::Value;
use carom_dynamics::Model;
use carom_dynamics::control::{Clock, ContactSensorSource, ControlSource, SensorSource};
use carom_dynamics::error::ModelError;
use schema::SensorSchema;
use std::ops::Range;
use toml::Spanned;

pub(super) use actuators::attach;

/// What the sections say; the model may not exist yet.
pub(super) fn source(reader: &mut Reader<'_>, schema: &Schema) -> Option<ControlSource> {
    let mut source = ControlSource { parameters: reader.parameters.clone(), ..ControlSource::default() };
    let before = reader.mistakes.len();
    for section in &schema.sensors {
        sensor(reader, section, &mut source);
    }
    for section in &schema.controllers {
        controllers::controller(reader, section, &mut source);
    }
    for section in &schema.actuators {
        source.actuators.extend(actuators::actuator(reader, section));
    }
    (reader.mistakes.len() == before).then_some(source)
}

/// Adds the control part to a model that has everything else but joints and forces.
pub(super) fn control(reader: &mut Reader<'_>, model: &mut Model, schema: &Schema, source: &ControlSource) {
    if !source.is_empty()
        && let Err(error) = model.set_control(source)
    {
        report(reader, schema, &error);
    }
}

/// Shows a mistake at its formula, or at the section that it names.
pub(super) fn report(reader: &mut Reader<'_>, schema: &Schema, error: &ModelError) {
    let sensors = schema.sensors.iter().filter_map(|s| s.get_ref().value.as_ref());
    let signals = schema.actuators.iter().map(|s| &s.get_ref().signal);
    let mut formulas: Vec<(Range<usize>, &str)> = sensors.chain(signals).map(|text| (text.span(), text.get_ref().as_str())).collect();
    formulas.extend(schema.controllers.iter().flat_map(|s| s.get_ref().formulas()));
    let message = error.to_string();
    let sensors = schema.sensors.iter().map(|s| ("sensor", &s.get_ref().name, s.span()));
    let controllers = schema.controllers.iter().map(|s| ("controller", &s.get_ref().name, s.span()));
    let actuators = schema.actuators.iter().map(|s| ("actuator", &s.get_ref().name, s.span()));
    let all: Vec<_> = sensors.chain(controllers).chain(actuators).collect();
    let in_full = all.iter().find(|(what, name, _)| message.contains(&format!("{what} \"{}\"", name.get_ref())));
    let named = in_full.or_else(|| all.iter().rev().find(|(_, name, _)| message.contains(&format!("\"{}\"", name.get_ref()))));
    let fallback = named.or(all.first()).map_or(0..0, |(_, _, span)| span.clone());
    super::formulas::report(reader, error, &formulas, fallback);
    let of_circuit = ["function `v`", "function `i`", "no `v.", "no `i."].iter().any(|words| message.contains(words));
    if let (true, true, Some(mistake)) = (schema.circuit.is_some(), of_circuit, reader.mistakes.last_mut()) {
        let help = "sensors and controllers see the states of a circuit, for example C1.v and L1.i: take the voltage from a capacitor, the current from a coil";
        mistake.help = Some(help.into());
    }
}

/// `period` and `phase`.
fn clock(reader: &mut Reader<'_>, period: Option<&Spanned<Value>>, phase: Option<&Spanned<Value>>, what: &str) -> Option<Option<Clock>> {
    let Some(period) = period else {
        if let Some(phase) = phase {
            reader.wrong(phase.span(), format!("{what} has a phase but no period"), "give `period` in seconds, or leave `phase` out");
            return None;
        }
        return Some(None);
    };
    let period = reader.number(period, &format!("the period of {what}"), Must::BePositive)?;
    let phase = reader.number_or(phase, 0.0, &format!("the phase of {what}"), Must::NotBeNegative)?;
    Some(Some(Clock { period, phase }))
}

/// `limits = [lower, upper]`, or one number for both sides.
fn limits(reader: &mut Reader<'_>, value: Option<&Spanned<Value>>, what: &str) -> Option<(f64, f64)> {
    let Some(value) = value else { return Some((f64::NEG_INFINITY, f64::INFINITY)) };
    let (lower, upper) = match value.get_ref() {
        Value::List(_) => {
            let [lower, upper] = reader.vector::<2>(value, &format!("the limits of {what}"))?;
            (lower, upper)
        }
        _ => {
            let most = reader.number(value, &format!("the limit of {what}"), Must::BePositive)?;
            (-most, most)
        }
    };
    if lower >= upper {
        reader.wrong(value.span(), format!("the limits of {what} are {lower} and {upper}"), "give the smaller one first");
        return None;
    }
    Some((lower, upper))
}

fn sensor(reader: &mut Reader<'_>, section: &Spanned<SensorSchema>, source: &mut ControlSource) {
    let s = section.get_ref();
    let what = format!("the sensor \"{}\"", s.name.get_ref());
    let name = s.name.get_ref().clone();
    let value = match (&s.value, &s.contact) {
        (Some(value), None) => value.get_ref().clone(),
        (None, Some(contact)) => {
            let others = [&s.period, &s.phase, &s.delay, &s.noise, &s.seed, &s.quantum, &s.initial];
            if let Some(other) = others.into_iter().flatten().next() {
                let help = "it knows its contact at every step: leave the key out, or measure its values by a second sensor with `value`";
                return reader.wrong(other.span(), format!("{what} is one of a contact"), help);
            }
            source.contact_sensors.push(ContactSensorSource { name, contact: contact.get_ref().clone() });
            return;
        }
        (Some(_), Some(contact)) => {
            return reader.wrong(contact.span(), format!("{what} has both `value` and `contact`"), "give one of them");
        }
        (None, None) => {
            let help = "give `value = \"…\"`, a formula, or `contact = \"…\"`, a contact by formula";
            return reader.wrong(section.span(), format!("{what} measures nothing"), help);
        }
    };
    let mut number = |value: &Option<Spanned<Value>>, key: &str, must: Must| {
        reader.number_or(value.as_ref(), 0.0, &format!("the {key} of {what}"), must)
    };
    let delay = number(&s.delay, "delay", Must::NotBeNegative);
    let noise = number(&s.noise, "noise", Must::NotBeNegative);
    let quantum = number(&s.quantum, "quantum", Must::NotBeNegative);
    let initial = number(&s.initial, "initial value", Must::BeFinite);
    let seed = s.seed.as_ref().map_or(Some(0), |seed| reader.count(seed, &format!("the seed of {what}"), (0, 1 << 53)));
    let clock = clock(reader, s.period.as_ref(), s.phase.as_ref(), &what);
    let (Some(delay), Some(noise), Some(quantum), Some(initial), Some(seed), Some(clock)) = (delay, noise, quantum, initial, seed, clock)
    else {
        return;
    };
    let unit = s.unit.as_ref().map_or_else(String::new, |unit| unit.get_ref().clone());
    source.sensors.push(SensorSource { name, unit, value, clock, delay, noise, seed: seed as u64, quantum, initial });
}
