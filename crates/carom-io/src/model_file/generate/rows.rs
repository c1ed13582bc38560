//! Rows of dominoes, and chains of jointed links.

use super::super::numbers::{Must, Reader};
use super::super::value::Value;
use super::template::Template;
use super::{MAX_BODIES, Making};
use crate::model_file::schema::JointSchema;
use carom_collision::Shape;
use nalgebra::{Rotation3, UnitQuaternion, Vector2, Vector3};
use std::f64::consts::TAU;
use toml::Spanned;

/// Dominoes of `size` [thickness, width, height] along a polyline or an arc of a circle, `spacing` apart along the way; `push` is the angular
/// velocity with which the first one tips forward over its lower front edge.
pub(super) fn dominoes(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let [thickness, width, height] = making.size(reader, "give `size = [thickness, width, height]` of a domino [m]")?;
    let spacing = making.positive(reader, s.spacing.as_ref(), "spacing")?;
    if spacing <= thickness {
        let message = format!("a spacing of {spacing} m from middle to middle leaves no room for a thickness of {thickness} m");
        reader.wrong(s.spacing.as_ref().map(Spanned::span), message, "give a larger spacing");
        return None;
    }
    let push = reader.number_or(s.push.as_ref(), 0.0, "the push", Must::BeFinite)?;
    let places = match (&s.path, &s.radius) {
        (Some(path), None) => {
            if let Some(value) = s.angle.as_ref().or(s.from.as_ref()) {
                reader.wrong(value.span(), "`angle` and `from` belong to a circle", "give `radius` instead of `path`");
                return None;
            }
            along_path(reader, making, path, spacing)?
        }
        (None, Some(radius)) => {
            let radius = making.positive(reader, Some(radius), "radius")?;
            let angle = reader.number_or(s.angle.as_ref(), TAU, "the angle", Must::BePositive)?;
            let from = reader.number_or(s.from.as_ref(), 0.0, "the angle of the first domino", Must::BeFinite)?;
            along_circle(reader, making, (radius, from, angle), spacing)?
        }
        _ => return making.missing(reader, "path", "give `path = [[x, y], …]` [m], or `radius` (and `from`, `angle`) of a circle"),
    };
    let domino = template.with_shape(reader, Shape::Box { half_extents: Vector3::new(thickness, width, height) / 2.0 })?;
    for (k, (place, direction)) in places.into_iter().enumerate() {
        let ahead = Vector3::new(direction.x, direction.y, 0.0);
        let mut body = domino.clone();
        if k == 0 {
            // ω = push (z × d), about the edge at half a thickness ahead and half a height below
            let spin = Vector3::z().cross(&ahead) * push;
            body.angular_velocity += spin;
            body.velocity += spin.cross(&(Vector3::z() * (height / 2.0) - ahead * (thickness / 2.0)));
        }
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), direction.y.atan2(direction.x));
        making.push(body, Vector3::new(place.x, place.y, height / 2.0), turn);
    }
    Some(())
}

type Place = (Vector2<f64>, Vector2<f64>);

fn along_path(reader: &mut Reader<'_>, making: &Making<'_>, path: &Spanned<Value>, spacing: f64) -> Option<Vec<Place>> {
    let points: Vec<Vector2<f64>> = match path.get_ref() {
        Value::List(points) if points.len() >= 2 => {
            points.iter().map(|p| reader.entries::<2>(p, path.span(), "a point of the path").map(Vector2::from)).collect::<Option<_>>()?
        }
        _ => {
            reader.wrong(path.span(), "the path is not a list of at least two points", "give `path = [[x, y], [x, y], …]` [m]");
            return None;
        }
    };
    let lengths: Vec<f64> = points.windows(2).map(|p| (p[1] - p[0]).norm()).collect();
    if let Some(k) = lengths.iter().position(|length| *length == 0.0) {
        reader.wrong(path.span(), format!("points {} and {} of the path are the same", k + 1, k + 2), "leave one out");
        return None;
    }
    let n = number_along(reader, making, lengths.iter().sum(), spacing)?;
    let (mut segment, mut before, mut places) = (0, 0.0, Vec::with_capacity(n));
    for k in 0..n {
        let way = k as f64 * spacing;
        while segment + 1 < lengths.len() && way > before + lengths[segment] {
            before += lengths[segment];
            segment += 1;
        }
        let direction = (points[segment + 1] - points[segment]) / lengths[segment];
        places.push((points[segment] + direction * (way - before), direction));
    }
    Some(places)
}

fn along_circle(reader: &mut Reader<'_>, making: &Making<'_>, (radius, from, angle): (f64, f64, f64), spacing: f64) -> Option<Vec<Place>> {
    let mut n = number_along(reader, making, radius * angle, spacing)?;
    let mut step = spacing / radius;
    if angle >= TAU {
        // a closed ring: as many as fit, evenly
        n -= 1;
        step = TAU / n.max(1) as f64;
    }
    let place = |k: usize| {
        let at = from + k as f64 * step;
        (Vector2::new(at.cos(), at.sin()) * radius, Vector2::new(-at.sin(), at.cos()))
    };
    Some((0..n).map(place).collect())
}

fn number_along(reader: &mut Reader<'_>, making: &Making<'_>, length: f64, spacing: f64) -> Option<usize> {
    let n = (length / spacing * (1.0 + 1e-12)).floor() + 1.0;
    if n <= MAX_BODIES as f64 {
        return Some(n as usize);
    }
    reader.wrong(making.span(), format!("\"{}\" would be {n} dominoes", making.name), "give a larger spacing");
    None
}

/// `count` links of `length` from `position` along `direction`, each jointed to the one before and the first to `anchor`.
pub(super) fn chain(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let count = making.number_of(reader, s.count.as_ref(), "count", 1)?;
    let length = making.positive(reader, s.length.as_ref(), "length")?;
    let direction = s.direction.as_ref().map_or(Some([0.0, 0.0, -1.0]), |value| reader.vector::<3>(value, "the direction"))?;
    let Some(direction) = Vector3::from(direction).try_normalize(1e-300) else {
        reader.wrong(s.direction.as_ref().map(Spanned::span), "the direction is zero", "give a direction, such as [0, 0, -1]");
        return None;
    };
    if let Some(joint) = &s.joint {
        let t = joint.get_ref();
        let foreign =
            [("name", t.name.is_some()), ("bodies", t.bodies.is_some()), ("point", t.point.is_some()), ("points", t.points.is_some())];
        if let Some((key, _)) = foreign.into_iter().find(|(_, given)| *given) {
            reader.wrong(joint.span(), format!("the joints of a chain have their own {key}"), format!("remove `{key}`"));
            return None;
        }
    }
    // links lie along z of their own frame
    let turn = Rotation3::rotation_between(&Vector3::z(), &direction);
    let turn = turn.unwrap_or_else(|| Rotation3::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
    let turn = UnitQuaternion::from_rotation_matrix(&turn);
    let anchor = s.anchor.as_ref().map_or("ground", |anchor| anchor.get_ref().as_str()).to_owned();
    let mut previous = anchor;
    for k in 0..count {
        let body = template.draw(reader, &mut making.random)?;
        making.push(body, direction * (length * (k as f64 + 0.5)), turn);
        let link = format!("{}{}", making.name, k + 1);
        if !previous.is_empty() {
            let joint = link_joint(making, k, [previous, link.clone()], making.position + direction * (length * k as f64))?;
            making.joints.push(joint);
        }
        previous = link;
    }
    Some(())
}

/// A joint of the chain from its template, spherical by default.
fn link_joint(making: &Making<'_>, k: usize, bodies: [String; 2], point: Vector3<f64>) -> Option<Spanned<JointSchema>> {
    let span = making.keys().joint.as_ref().map_or_else(|| making.span(), Spanned::span);
    let mut joint = match &making.keys().joint {
        Some(joint) => joint.get_ref().clone(),
        // all other keys are left out, whichever there are
        None => toml::from_str("kind = \"spherical\"").ok()?,
    };
    joint.kind =
        making.keys().joint.as_ref().map_or_else(|| Spanned::new(span.clone(), "spherical".to_owned()), |j| j.get_ref().kind.clone());
    let text = |text: String| Spanned::new(span.clone(), text);
    joint.name = Some(text(format!("{}_joint{}", making.name, k + 1)));
    joint.bodies = Some(Spanned::new(span.clone(), bodies.map(text).to_vec()));
    joint.point = Some(Spanned::new(span.clone(), Value::List(point.iter().map(|x| Value::Number(*x)).collect())));
    Some(Spanned::new(span, joint))
}
