//! `[circuit]`: a netlist as the first-order part of the model.

use super::error::Diagnostic;
use super::first_order::held;
use super::numbers::{Must, Reader};
use super::schema::{CircuitSchema, Schema};
use super::sources::utf8;
use crate::netlist::{Netlist, read};
use carom_dynamics::Model;
use carom_dynamics::circuits::{Circuit, ElementKind};
use carom_dynamics::control::{ActuatorSource, ActuatorTarget, ControlSource};
use carom_dynamics::error::ModelError;
use carom_dynamics::first_order::FirstOrderSource;
use std::ops::Range;
use toml::Spanned;

/// Largest netlist in a file of its own \[bytes\].
const MAX_BYTES: u64 = 16 << 20;

/// The text of a netlist and where it stands.
struct Source<'a> {
    text: String,
    origin: Origin<'a>,
}

enum Origin<'a> {
    /// In the model file: the place of its first byte, or that of the whole value where TOML escapes move it.
    Inline(Option<usize>, Range<usize>),
    /// In a file, which the value names.
    File(&'a Spanned<String>),
}

/// Adds the circuit of the file to the model; gives the initial values of its states.
pub(super) fn circuit(reader: &mut Reader<'_>, model: &mut Model, schema: &Schema, control: &ControlSource) -> Option<Vec<f64>> {
    let section = schema.circuit.as_ref()?;
    let other = [schema.first_order.as_ref().map(Spanned::span), schema.sweeping.as_ref().map(Spanned::span)];
    if let Some(span) = other.into_iter().flatten().next() {
        let help = "a model has one first-order part: write the circuit as a system, or the system as sources of the circuit";
        reader.wrong(span, "both a circuit and another first-order system are given", help);
        return None;
    }
    let s = section.get_ref();
    let source = source(reader, section)?;
    let netlist = match read(&source.text, &reader.parameters) {
        Ok(netlist) => netlist,
        Err(mistakes) => {
            let told = mistakes.into_iter().map(|m| source.diagnostic(Some(m.span), &m.message, &m.help));
            reader.mistakes.extend(told);
            return None;
        }
    };
    let leak = reader.number_or(s.leak.as_ref(), Circuit::LEAK, "the leak", Must::NotBeNegative)?;
    let circuit = Circuit { elements: netlist.elements.clone(), leak, parameters: reader.parameters.clone() };
    let mut system = match circuit.system() {
        Ok(system) => system,
        Err(error) => {
            let place = error.element.map(|element| netlist.places[element].clone());
            reader.mistakes.push(source.diagnostic(place, &error.message, &error.help));
            return None;
        }
    };
    system.held = held(reader, &s.held)?;
    for (name, text) in &s.forces.0 {
        match circuit.formula(text.get_ref()) {
            Ok(formula) => system.forces.push((name.get_ref().clone(), formula)),
            Err(error) => reader.mistakes.push(Diagnostic::new(text.span(), error.message).help(error.help)),
        }
    }
    if let Err(error) = actuators(model, control, &mut system) {
        super::control::report(reader, schema, &error);
        return None;
    }
    if let Err(error) = model.set_first_order(&system) {
        report(reader, &error, (&source, &netlist), section);
        return None;
    }
    Some(circuit.initial_states())
}

/// Forces and rates of actuators act through the circuit's system, as through any other.
fn actuators(model: &Model, control: &ControlSource, system: &mut FirstOrderSource) -> Result<(), ModelError> {
    let acts = |actuator: &&ActuatorSource| matches!(actuator.target, ActuatorTarget::Velocity(_) | ActuatorTarget::Rate(_));
    let mut acting = control.actuators.iter().filter(acts).peekable();
    if acting.peek().is_none() || control.needs_first_order() {
        return Ok(());
    }
    for actuator in acting {
        let ActuatorTarget::Velocity(name) = &actuator.target else { continue };
        if model.systems().velocity_of_name(name).is_none() {
            let is_state = system.states.iter().any(|state| &state.name == name);
            let help = if is_state { format!(": it is a state of the circuit, write state = \"{name}\"") } else { String::new() };
            let reason = format!("there is no coordinate or velocity \"{name}\" to act on{help}");
            return Err(ModelError::Control { part: format!("actuator \"{}\"", actuator.name), reason });
        }
    }
    control.extend(system)
}

fn source<'a>(reader: &mut Reader<'_>, section: &'a Spanned<CircuitSchema>) -> Option<Source<'a>> {
    let s = section.get_ref();
    match (&s.netlist, &s.file) {
        (Some(netlist), None) => {
            let text = netlist.get_ref().clone();
            let origin = Origin::Inline(reader.place_of(netlist), netlist.span());
            Some(Source { text, origin })
        }
        (None, Some(file)) => {
            let bytes = reader.file(file, MAX_BYTES)?;
            match utf8(bytes, file.get_ref()) {
                Ok(text) => Some(Source { text, origin: Origin::File(file) }),
                Err(mistake) => {
                    reader.mistakes.push(mistake.at(file.span()));
                    None
                }
            }
        }
        _ => {
            let help = "give `netlist = '''…'''` with one element per line, or `file = \"….cir\"` in the model's folder";
            reader.wrong(section.span(), "a circuit has either `netlist` or `file`", help);
            None
        }
    }
}

impl Source<'_> {
    /// A mistake at a place of the netlist; at the whole of it without one.
    fn diagnostic(&self, place: Option<Range<usize>>, message: &str, help: &str) -> Diagnostic {
        match (&self.origin, place) {
            (Origin::Inline(Some(start), _), Some(place)) => Diagnostic::new(start + place.start..start + place.end, message).help(help),
            (Origin::Inline(None, span), Some(place)) => {
                let (line, column) = self.position(place.start);
                Diagnostic::new(span.clone(), format!("netlist, line {line}, column {column}: {message}")).help(help)
            }
            (Origin::File(name), Some(place)) => {
                let (line, column) = self.position(place.start);
                Diagnostic::new(name.span(), format!("{}:{line}:{column}: {message}", name.get_ref())).help(help)
            }
            (Origin::Inline(_, span), None) => Diagnostic::new(span.clone(), message).help(help),
            (Origin::File(name), None) => Diagnostic::new(name.span(), format!("{}: {message}", name.get_ref())).help(help),
        }
    }

    /// Line and column of a byte, from 1.
    fn position(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at];
        (before.matches('\n').count() + 1, before.chars().rev().take_while(|&c| c != '\n').count() + 1)
    }
}

/// Tells what the system says of a formula at the element that has it.
fn report(reader: &mut Reader<'_>, error: &ModelError, (source, netlist): (&Source<'_>, &Netlist), section: &Spanned<CircuitSchema>) {
    let message = error.to_string();
    let is_named = |name: &str| message.contains(&format!("{name}.value")) || message.contains(&format!("{name}.closed"));
    let Some(k) = netlist.elements.iter().position(|element| is_named(&element.name)) else {
        reader.mistakes.push(Diagnostic::new(section.span(), message));
        return;
    };
    let element = &netlist.elements[k];
    let formula = match &element.kind {
        ElementKind::VoltageSource { value } | ElementKind::CurrentSource { value } => value.as_str(),
        ElementKind::Switch { closed, .. } => closed.as_str(),
        _ => "",
    };
    // the formula's own error has its place in the formula, which stands as it is in the netlist
    let line = netlist.places[k].clone();
    let (place, told) = match (error, source.text[line.clone()].find(formula)) {
        (ModelError::Formula { text, error, .. }, Some(at)) if text == formula && !formula.is_empty() => {
            let start = line.start + at + error.span.start;
            (start..start.max(line.start + at + error.span.end).max(start + 1), error.to_string())
        }
        (ModelError::Formula { error, .. }, _) => (line, error.to_string()),
        _ => (line, message),
    };
    let help = "formulas use t, parameters, v(NODE), v(NODE, NODE) and i(ELEMENT)";
    reader.mistakes.push(source.diagnostic(Some(place), &format!("the formula of {}: {told}", element.name), help));
}
