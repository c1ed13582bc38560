//! Joints between bodies in a model file.

use super::error::suggestion;
use super::numbers::Reader;
use super::schema::{JointSchema, Schema};
use super::value::Value;
use carom_dynamics::Model;
use carom_dynamics::relations::{JointKind, JointPlacement, JointSource};
use nalgebra::Vector3;
use std::ops::Range;
use toml::Spanned;

/// What a file calls the world that does not move.
pub(super) const GROUND: &str = "ground";

/// Adds `[[joint]]` number `index`, placed at the initial coordinates.
pub(super) fn joint(reader: &mut Reader<'_>, model: &mut Model, schema: &Schema, section: &Spanned<JointSchema>, index: usize, q: &[f64]) {
    let s = section.get_ref();
    let name = s.name.as_ref().map_or_else(|| format!("joint {}", index + 1), |name| name.get_ref().clone());
    let Some(kind) = kind(reader, &s.kind) else { return };
    let Some((bodies, planar)) = bodies(reader, model, schema, &s.bodies, &name) else { return };
    let points = pair(reader, (s.point.as_ref(), s.points.as_ref()), ("point", "points"), planar, (&name, section.span()));
    let wants_axis = kind.n_axes() > 0 && !(planar && kind == JointKind::Revolute);
    let axes = match (wants_axis, s.axis.as_ref().or(s.axes.as_ref())) {
        (true, _) => pair(reader, (s.axis.as_ref(), s.axes.as_ref()), ("axis", "axes"), planar, (&name, section.span())),
        (false, None) => Some([Vector3::z(); 2]),
        (false, Some(value)) => {
            let what = if planar { format!("a {} joint in the plane", s.kind.get_ref()) } else { format!("a {} joint", s.kind.get_ref()) };
            reader.wrong(value.span(), format!("{what} has no axis"), "remove it");
            None
        }
    };
    let (Some(points), Some(axes)) = (points, axes) else { return };
    let source = JointSource { kind, bodies, placement: JointPlacement { points, axes, ..JointPlacement::at(Vector3::zeros()) } };
    if let Err(error) = model.add_joint(&name, &source, q) {
        reader.mistakes.push(super::Diagnostic::new(section.span(), error.to_string()));
        return;
    }
    if let Some(spring) = &s.spring {
        super::forces::joint_spring(reader, model, (&name, &source), spring, q);
    }
}

fn kind(reader: &mut Reader<'_>, name: &Spanned<String>) -> Option<JointKind> {
    let found = JointKind::from_name(name.get_ref());
    if found.is_none() {
        let names = JointKind::NAMES.map(|(name, _)| name);
        reader.wrong(name.span(), format!("there is no joint \"{}\"", name.get_ref()), suggestion(name.get_ref(), &names));
    }
    found
}

/// The two bodies (`None` for the ground and for fixed bodies), and whether the joint lies in the plane.
fn bodies(
    reader: &mut Reader<'_>,
    model: &Model,
    schema: &Schema,
    names: &Spanned<Vec<Spanned<String>>>,
    joint: &str,
) -> Option<([Option<String>; 2], bool)> {
    let [first, second] = names.get_ref().as_slice() else {
        let help = "give two names; \"ground\" is the world that does not move";
        reader.wrong(names.span(), format!("\"{joint}\" has {} bodies", names.get_ref().len()), help);
        return None;
    };
    let (mut found, mut planar) = ([None, None], true);
    for (found, name) in found.iter_mut().zip([first, second]) {
        let text = name.get_ref();
        let fixed = schema.bodies.iter().any(|body| body.get_ref().fixed && body.get_ref().name.get_ref() == text);
        match model.systems().find_frame(text) {
            _ if text == GROUND || fixed => {}
            Some(id) => {
                planar &= model.systems().is_planar(id);
                *found = Some(text.clone());
            }
            None => {
                let mut known = model.systems().frames();
                known.push(GROUND.to_owned());
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                reader.wrong(name.span(), format!("\"{joint}\" joins \"{text}\", which is no body"), suggestion(text, &known));
                return None;
            }
        }
    }
    Some((found, planar))
}

/// One vector for both bodies, or one for each; in the plane of two numbers.
fn pair(
    reader: &mut Reader<'_>,
    (one, two): (Option<&Spanned<Value>>, Option<&Spanned<Value>>),
    (key, keys): (&str, &str),
    planar: bool,
    (joint, span): (&str, Range<usize>),
) -> Option<[Vector3<f64>; 2]> {
    let mut vector = |value: &Spanned<Value>| {
        let what = format!("the {key} of \"{joint}\"");
        if planar {
            reader.vector::<2>(value, &what).map(|[x, y]| Vector3::new(x, y, 0.0))
        } else {
            reader.vector::<3>(value, &what).map(Vector3::from)
        }
    };
    match (one, two) {
        (Some(value), None) => vector(value).map(|x| [x; 2]),
        (None, Some(list)) => match list.get_ref() {
            Value::List(items) if items.len() == 2 => {
                let [first, second] = [0, 1].map(|i| vector(&Spanned::new(list.span(), items[i].clone())));
                Some([first?, second?])
            }
            _ => {
                reader.wrong(list.span(), format!("`{keys}` of \"{joint}\" is not a list of two"), "give one for each of the two bodies");
                None
            }
        },
        _ => {
            let help = format!("give `{key} = […]`, or `{keys} = [[…], […]]` with one for each body, in world coordinates");
            reader.wrong(span, format!("\"{joint}\" has no {key}, or two kinds of them"), help);
            None
        }
    }
}
