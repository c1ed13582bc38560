//! Limits of joints in a model file: stops, and the cone of a spherical joint.

use super::laws::{LawKeys, contact_law};
use super::numbers::{Must, Reader};
use super::schema::JointSchema;
use super::value::Value;
use carom_dynamics::relations::{JointAxis, JointCoordinate, JointSource, joint_limits};
use carom_dynamics::{ContactLaw, Law, Model, ModelError};
use std::f64::consts::PI;
use std::ops::Range;
use toml::Spanned;

/// Adds the limits of a joint that was just added to the model.
pub(super) fn limits(
    reader: &mut Reader<'_>,
    model: &mut Model,
    section: &Spanned<JointSchema>,
    (name, source): (&str, &JointSource),
    q: &[f64],
) {
    let s = section.get_ref();
    let Some(law) = stop_law(reader, s, name) else { return };
    let (turns, slides) = (source.kind.turns(), source.kind.slides());
    if let (Some(value), true) = (&s.limits, turns && slides) {
        let help = "it turns and slides: give `turn_limits = […]` in radians or `slide_limits = […]` in metres";
        reader.wrong(value.span(), format!("\"{name}\" does not say what its limits are of"), help);
        return;
    }
    let turn = s.turn_limits.as_ref().or(s.limits.as_ref().filter(|_| turns));
    let slide = s.slide_limits.as_ref().or(s.limits.as_ref().filter(|_| slides));
    let second = s.second_turn_limits.as_ref();
    let several = (turns && slides) || source.kind.turns_twice();
    for (axis, value, what) in
        [(JointAxis::Turn, turn, "turn"), (JointAxis::SecondTurn, second, "second turn"), (JointAxis::Slide, slide, "slide")]
    {
        let Some(value) = value else { continue };
        let Some(range) = range(reader, value, &format!("the limits of \"{name}\"")) else { continue };
        // where both have limits their names say which
        let name = if several { format!("{name} {what}") } else { name.to_owned() };
        let systems = model.shared_systems();
        let added = joint_limits(&name, source, axis, range, &systems, q).and_then(|limits| {
            limits.into_iter().try_for_each(|(name, limit)| model.add_interaction(&name, Box::new(limit), Law::Contact(law)))
        });
        report(reader, added, value.span());
    }
    if let Some(value) = &s.cone
        && let Some(angle) = reader.number(value, &format!("the cone of \"{name}\""), Must::BePositive)
    {
        if angle >= PI {
            reader.wrong(value.span(), format!("the cone of \"{name}\" has the half angle {angle}"), "give an angle below pi, in radians");
            return;
        }
        let cone = JointCoordinate::cone(name, source, angle, &model.shared_systems(), q);
        let added = cone.and_then(|cone| model.add_interaction(&format!("{name} cone"), Box::new(cone), Law::Contact(law)));
        report(reader, added, value.span());
    }
}

/// The law of stops: without friction.
pub(super) fn stop_law(reader: &mut Reader<'_>, s: &JointSchema, name: &str) -> Option<ContactLaw> {
    let keys = LawKeys {
        friction: None,
        restitution: s.restitution.as_ref(),
        tangential_restitution: None,
        rolling: None,
        spinning: None,
        cohesion: None,
        stiffness: None,
        exponent: None,
        materials: None,
    };
    contact_law(reader, name, &keys)
}

/// Shows what is wrong with a part of a joint.
pub(super) fn report(reader: &mut Reader<'_>, added: Result<(), ModelError>, span: Range<usize>) {
    if let Err(error) = added {
        reader.mistakes.push(super::Diagnostic::new(span, error.to_string()));
    }
}

/// Lower and upper limit; `inf` where there is none.
fn range(reader: &mut Reader<'_>, value: &Spanned<Value>, what: &str) -> Option<[f64; 2]> {
    let Value::List(items) = value.get_ref() else { return reader.vector::<2>(value, what) };
    let [lower, upper] = items.as_slice() else { return reader.vector::<2>(value, what) };
    let mut limit = |item: &Value| match item {
        Value::Number(x) if x.is_infinite() => Some(*x),
        item => reader.number(&Spanned::new(value.span(), item.clone()), what, Must::BeFinite),
    };
    let (lower, upper) = (limit(lower), limit(upper));
    Some([lower?, upper?])
}
