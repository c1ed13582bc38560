//! `[[actuator]]`.

use super::super::components::choose;
use super::super::error::{Diagnostic, suggestion};
use super::super::joints::{joint_name, source as joint_source};
use super::super::numbers::Reader;
use super::super::schema::Schema;
use super::schema::ActuatorSchema;
use super::{clock, limits};
use carom_dynamics::Model;
use carom_dynamics::control::{ActuatorSource, ActuatorTarget, JointEffort};
use carom_dynamics::forces::{ForceSource, LoadAxes, LoadKind, LoadSource};
use carom_dynamics::relations::JointAxis;
use nalgebra::Vector3;
use toml::Spanned;

/// Reads an actuator; forces on bodies and joints are added by [`attach`].
pub(super) fn actuator(reader: &mut Reader<'_>, section: &Spanned<ActuatorSchema>) -> Option<ActuatorSource> {
    let s = section.get_ref();
    let what = format!("the actuator \"{}\"", s.name.get_ref());
    let clock = clock(reader, s.period.as_ref(), s.phase.as_ref(), &what)?;
    let limits = limits(reader, s.limits.as_ref(), &what)?;
    let targets = [("coordinate", &s.coordinate), ("input", &s.input), ("state", &s.state), ("body", &s.body), ("joint", &s.joint)];
    let given: Vec<(&str, &Spanned<String>)> = targets.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))).collect();
    if let [_, (key, second), ..] = given.as_slice() {
        reader.wrong(second.span(), format!("{what} has a `{key}` and acts elsewhere too"), "give each target an actuator of its own");
        return None;
    }
    let on_body = [
        ("force", s.force.as_ref().map(Spanned::span)),
        ("torque", s.torque.as_ref().map(Spanned::span)),
        ("point", s.point.as_ref().map(Spanned::span)),
        ("axes", s.axes.as_ref().map(Spanned::span)),
    ];
    if let (None, Some((key, span))) = (&s.body, on_body.into_iter().find_map(|(key, span)| Some((key, span?)))) {
        reader.wrong(span, format!("{what} has a `{key}` but no body"), "it belongs to an actuator with `body`");
        return None;
    }
    if let (None, Some(along)) = (&s.joint, &s.along) {
        reader.wrong(along.span(), format!("{what} has `along` but no joint"), "it belongs to an actuator with `joint`");
        return None;
    }
    if let (true, None) = (s.body.is_some() || s.joint.is_some(), clock) {
        let help = "give it in seconds: what acts on a body or a joint is held between samples; on a `coordinate` it may be continuous";
        reader.wrong(section.span(), format!("{what} has no `period`"), help);
        return None;
    }
    let target = match given.first() {
        Some(("coordinate", name)) => ActuatorTarget::Velocity(name.get_ref().clone()),
        Some(("input", name)) => ActuatorTarget::Input(name.get_ref().clone()),
        Some(("state", name)) => ActuatorTarget::Rate(name.get_ref().clone()),
        _ => ActuatorTarget::Value,
    };
    let unit = s.unit.as_ref().map_or_else(String::new, |unit| unit.get_ref().clone());
    Some(ActuatorSource { name: s.name.get_ref().clone(), unit, signal: s.signal.get_ref().clone(), limits, clock, target })
}

/// Adds the forces on bodies and joints; `q` is the initial state.
pub(in super::super) fn attach(reader: &mut Reader<'_>, model: &mut Model, schema: &Schema, q: &[f64]) {
    for section in &schema.actuators {
        let s = section.get_ref();
        if let Some(body) = &s.body {
            on_body(reader, model, section, body, q);
        } else if let Some(joint) = &s.joint {
            on_joint(reader, model, schema, (section, joint), q);
        }
    }
}

fn on_body(reader: &mut Reader<'_>, model: &mut Model, section: &Spanned<ActuatorSchema>, body: &Spanned<String>, q: &[f64]) {
    let s = section.get_ref();
    let what = format!("the actuator \"{}\"", s.name.get_ref());
    let (kind, direction) = match (&s.force, &s.torque) {
        (Some(force), None) => (LoadKind::Force, force),
        (None, Some(torque)) => (LoadKind::Torque, torque),
        _ => {
            let help = "give `force = [x, y, z]` or `torque = [x, y, z]`, the direction, which the signal multiplies";
            return reader.wrong(section.span(), format!("{what} needs either a `force` or a `torque`"), help);
        }
    };
    let Some([x, y, z]) = reader.vector::<3>(direction, &format!("the direction of {what}")) else { return };
    let Some(axes) = choose(reader, s.axes.as_ref(), "axes", &["world", "body"]) else { return };
    let point = match &s.point {
        Some(point) => match reader.vector::<3>(point, &format!("the point of {what}")) {
            Some(point) => Some(Vector3::from(point)),
            None => return,
        },
        None => None,
    };
    let source = ForceSource::Load(LoadSource {
        kind,
        body: body.get_ref().clone(),
        point,
        axes: if axes == "body" { LoadAxes::Body } else { LoadAxes::World },
        components: [x, y, z].map(|factor| format!("{factor:e}*actuator.{}", s.name.get_ref())),
        parameters: Vec::new(),
    });
    if let Err(error) = model.add_force(&format!("actuator {}", s.name.get_ref()), &source, q) {
        reader.mistakes.push(Diagnostic::new(body.span(), error.to_string()));
    }
}

fn on_joint(
    reader: &mut Reader<'_>,
    model: &mut Model,
    schema: &Schema,
    (section, joint): (&Spanned<ActuatorSchema>, &Spanned<String>),
    q: &[f64],
) {
    let s = section.get_ref();
    let names: Vec<String> = schema.joints.iter().enumerate().map(|(i, joint)| joint_name(joint.get_ref(), i)).collect();
    let Some(index) = names.iter().position(|name| name == joint.get_ref()) else {
        let listed: Vec<&str> = names.iter().map(String::as_str).collect();
        return reader.wrong(joint.span(), format!("there is no joint \"{}\"", joint.get_ref()), suggestion(joint.get_ref(), &listed));
    };
    let Some((source, _)) = joint_source(reader, model, schema, &schema.joints[index], &names[index]) else { return };
    let axis = match s.along.as_ref().map(|along| along.get_ref().as_str()) {
        None if source.kind.turns() => JointAxis::Turn,
        None | Some("slide") => JointAxis::Slide,
        Some("turn") => JointAxis::Turn,
        Some("second-turn") => JointAxis::SecondTurn,
        Some(other) => {
            let span = s.along.as_ref().map_or(section.span(), Spanned::span);
            return reader.wrong(span, format!("`along` is \"{other}\""), suggestion(other, &["turn", "second-turn", "slide"]));
        }
    };
    let name = format!("actuator {}", s.name.get_ref());
    let place = model.systems().coordinates().position(&format!("actuator.{}", s.name.get_ref()));
    let added = model.joint_coordinate(&name, &source, axis, q).and_then(|coordinate| match place {
        Some(place) => model.add_force_element(&name, Box::new(JointEffort::new(Box::new(coordinate), place))),
        None => Ok(()),
    });
    if let Err(error) = added {
        reader.mistakes.push(Diagnostic::new(joint.span(), error.to_string()));
    }
}
