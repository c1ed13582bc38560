//! Gears, racks, ropes and points on curves in a model file.

use super::error::suggestion;
use super::joint_limits::{report, stop_law};
use super::joints::{bodies, joint_name, pair, source};
use super::numbers::{Must, Reader};
use super::schema::{JointSchema, Schema};
use super::{formulas, motors};
use carom_dynamics::relations::{CurveSource, JointContact, JointCoupling, JointKind, JointPlacement, JointSource, PointOnCurve};
use carom_dynamics::{Law, Model};
use nalgebra::Vector3;
use toml::Spanned;

/// Adds `[[joint]]` number `index` if it is a gear or a rack, after all other joints.
pub(super) fn coupling(
    reader: &mut Reader<'_>,
    model: &mut Model,
    schema: &Schema,
    section: &Spanned<JointSchema>,
    index: usize,
    q: &[f64],
) {
    let s = section.get_ref();
    let (kind, name) = (s.kind.get_ref().as_str(), joint_name(s, index));
    // what is wrong with the joints themselves has been said
    if !["gear", "rack"].contains(&kind) || !reader.mistakes.is_empty() {
        return;
    }
    let Some(parts) = joints(reader, model, schema, section, &name) else { return };
    let systems = model.shared_systems();
    let coupling = if kind == "gear" {
        let Some(ratio) = ratio(reader, section, &name) else { return };
        JointCoupling::gear(&name, [&parts[0], &parts[1]], ratio, &systems, q)
    } else {
        let Some(radius) = &s.radius else {
            reader.wrong(section.span(), format!("the rack \"{name}\" has no radius"), "give the `radius` of the pinion in metres");
            return;
        };
        let Some(radius) = reader.number(radius, &format!("the radius of \"{name}\""), Must::BeFinite) else { return };
        JointCoupling::rack(&name, [&parts[0], &parts[1]], radius, &systems, q)
    };
    let added = coupling.and_then(|coupling| model.add_interaction(&name, Box::new(coupling), Law::Bilateral));
    report(reader, added, section.span());
}

/// The two joints that a coupling names.
fn joints(reader: &mut Reader<'_>, model: &Model, schema: &Schema, section: &Spanned<JointSchema>, name: &str) -> Option<[JointSource; 2]> {
    let s = section.get_ref();
    let help = "give `joints = [\"…\", \"…\"]`, the names of two other joints";
    let Some(names) = &s.joints else {
        reader.wrong(section.span(), format!("\"{name}\" has no joints"), help);
        return None;
    };
    let [first, second] = names.get_ref().as_slice() else {
        reader.wrong(names.span(), format!("\"{name}\" couples {} joints", names.get_ref().len()), help);
        return None;
    };
    if let Some(bodies) = &s.bodies {
        reader.wrong(bodies.span(), format!("\"{name}\" couples joints, not bodies"), "remove `bodies`");
        return None;
    }
    let mut found = |wanted: &Spanned<String>| {
        let named = |(index, section): &(usize, &Spanned<JointSchema>)| joint_name(section.get_ref(), *index) == *wanted.get_ref();
        let Some((_, other)) = schema.joints.iter().enumerate().find(named) else {
            let known: Vec<String> =
                schema.joints.iter().enumerate().map(|(i, s)| joint_name(s.get_ref(), i)).filter(|n| n != name).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            reader.wrong(wanted.span(), format!("there is no joint \"{}\"", wanted.get_ref()), suggestion(wanted.get_ref(), &known));
            return None;
        };
        if JointKind::from_name(other.get_ref().kind.get_ref()).is_none() || other.get_ref().clearance.is_some() {
            let help = "couple revolute, cylindrical, planar, prismatic or screw joints without clearance";
            reader.wrong(wanted.span(), format!("the joint \"{}\" has no coordinate to couple", wanted.get_ref()), help);
            return None;
        }
        source(reader, model, schema, other, wanted.get_ref()).map(|(source, _)| source)
    };
    Some([found(first)?, found(second)?])
}

/// The ratio of a gear: given, or by teeth.
fn ratio(reader: &mut Reader<'_>, section: &Spanned<JointSchema>, name: &str) -> Option<f64> {
    let s = section.get_ref();
    match (&s.ratio, &s.teeth) {
        (Some(value), None) => reader.number(value, &format!("the ratio of \"{name}\""), Must::BeFinite),
        (None, Some(value)) => {
            let [first, second] = reader.vector::<2>(value, &format!("the teeth of \"{name}\""))?;
            if [first, second].iter().any(|n| n.fract() != 0.0 || *n == 0.0) {
                let help = "give two whole numbers; those of a ring with teeth inside are negative";
                reader.wrong(value.span(), format!("the teeth of \"{name}\" are {first} and {second}"), help);
                return None;
            }
            Some(-second / first)
        }
        _ => {
            let help = "give `ratio` (turn of the first joint per turn of the second), or `teeth = [z1, z2]`";
            reader.wrong(section.span(), format!("the gear \"{name}\" has no ratio, or two"), help);
            None
        }
    }
}

/// Adds a rope: its length is that at the start unless given.
pub(super) fn rope(reader: &mut Reader<'_>, model: &mut Model, schema: &Schema, section: &Spanned<JointSchema>, name: &str, q: &[f64]) {
    let s = section.get_ref();
    let Some((bodies, planar)) = bodies(reader, model, schema, section, name) else { return };
    let points = pair(reader, (s.point.as_ref(), s.points.as_ref()), ("point", "points"), planar, (name, section.span()));
    let law = stop_law(reader, s, name);
    let (Some(points), Some(law)) = (points, law) else { return };
    let distance = (points[1] - points[0]).norm();
    let Some(length) = reader.number_or(s.length.as_ref(), distance, &format!("the length of \"{name}\""), Must::BePositive) else {
        return;
    };
    if s.length.is_none() && distance == 0.0 {
        reader.wrong(section.span(), format!("the rope \"{name}\" has no length"), "give `length` in metres, or two points apart");
        return;
    }
    let source = JointSource { kind: JointKind::Distance, bodies, placement: JointPlacement::at(points[0]).to(points[1]) };
    let rope = JointContact::rope(name, &source, length, &model.shared_systems(), q);
    let added = rope.and_then(|rope| model.add_interaction(name, Box::new(rope), Law::Contact(law)));
    report(reader, added, section.span());
}

/// Adds a point of the second body on a curve of the first.
pub(super) fn point_on_curve(
    reader: &mut Reader<'_>,
    model: &mut Model,
    schema: &Schema,
    section: &Spanned<JointSchema>,
    name: &str,
    q: &[f64],
) {
    let s = section.get_ref();
    let Some((bodies, planar)) = bodies(reader, model, schema, section, name) else { return };
    let (Some(formulas), Some(range)) = (&s.curve, &s.range) else {
        let help = "give `curve = [\"x(s)\", \"y(s)\", …]` and `range = [from, to]` of the parameter s, in the frame of the first body";
        reader.wrong(section.span(), format!("\"{name}\" has no curve or no range"), help);
        return;
    };
    let points = pair(reader, (s.point.as_ref(), None), ("point", "points"), planar, (name, section.span()));
    let range = reader.vector::<2>(range, &format!("the range of \"{name}\""));
    let (Some([_, point]), Some(range)) = (points, range) else { return };
    let point: Vector3<f64> = point;
    let source = CurveSource {
        formulas: formulas.get_ref().iter().map(|text| text.get_ref().clone()).collect(),
        parameter: s.parameter.as_ref().map_or_else(|| "s".to_owned(), |text| text.get_ref().clone()),
        range,
        constants: reader.parameters.clone(),
    };
    let joint = PointOnCurve::new(name, &bodies, point, &source, &model.shared_systems(), q);
    let added = joint.and_then(|joint| {
        let slide = joint.slide();
        model.add_interaction(name, Box::new(joint), Law::Bilateral).map(|()| slide)
    });
    match added {
        Ok(slide) => motors::curve_friction(reader, model, s, (name, if planar { 1 } else { 2 }), slide),
        Err(error) => {
            let places: Vec<_> = formulas.get_ref().iter().map(|text| (text.span(), text.get_ref().as_str())).collect();
            formulas::report(reader, &error, &places, section.span());
        }
    }
}
