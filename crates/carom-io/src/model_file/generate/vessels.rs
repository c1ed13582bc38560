//! Vessels of revolution: drums, hoppers, and any other by its profile.
//!
//! The wall is one fixed body of convex pieces, `sides` around the axis for each segment of the profile. Its inside is a prism or a frustum
//! of a regular polygon that has the circle of the profile inscribed, so that the room is nowhere narrower than asked for; neighbours share
//! their corners to the last bit, so that it is tight.

use super::super::numbers::{Must, Reader};
use super::super::shapes::Part;
use super::super::value::Value;
use super::Making;
use super::template::Template;
use carom_collision::Shape;
use nalgebra::{UnitQuaternion, Vector2, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};
use toml::Spanned;

/// Pieces around the axis unless the file says.
const SIDES: usize = 32;
/// Most pieces around the axis.
const MOST_SIDES: usize = 10_000;
/// Least 1 + cos of the turn at a point of the profile: below, the mitre of the wall would be longer than ten times its thickness.
const SHARPEST: f64 = 0.02;

/// A surface of revolution about z by its `profile`, points (r, z) in the order in which the room lies to the left.
pub(super) fn vessel(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let help = "give `profile = [[r, z], …]` [m], at least two points, such that the room lies to the left of the way along them";
    let Some(value) = &s.profile else { return making.missing(reader, "profile", help) };
    let points: Vec<Vector2<f64>> = match value.get_ref() {
        Value::List(points) if points.len() >= 2 => points
            .iter()
            .map(|p| reader.entries::<2>(p, value.span(), "a point of the profile").map(Vector2::from))
            .collect::<Option<_>>()?,
        _ => {
            reader.wrong(value.span(), "the profile is not a list of at least two points", help);
            return None;
        }
    };
    check_profile(reader, value, &points)?;
    let largest = points.iter().map(|p| p.x).fold(0.0, f64::max);
    build(reader, making, template, Wall { profile: points, largest, turn: UnitQuaternion::identity() })
}

/// A closed drum about y: `radius` and `length` of the room inside.
pub(super) fn drum(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let radius = making.positive(reader, s.radius.as_ref(), "radius")?;
    let half = 0.5 * making.positive(reader, s.length.as_ref(), "length")?;
    let profile = [(0.0, -half), (radius, -half), (radius, half), (0.0, half)].map(|(r, z)| Vector2::new(r, z)).to_vec();
    // z to y
    let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), -FRAC_PI_2);
    build(reader, making, template, Wall { profile, largest: radius, turn })
}

/// A round bin of `radius` and `height` with an `orifice` (its radius) in a floor that rises outwards by `angle`.
pub(super) fn hopper(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let radius = making.positive(reader, s.radius.as_ref(), "radius")?;
    let height = making.positive(reader, s.height.as_ref(), "height")?;
    let orifice = making.positive(reader, s.orifice.as_ref(), "orifice")?;
    let angle = reader.number_or(s.angle.as_ref(), 0.0, "the angle of the floor", Must::NotBeNegative)?;
    if orifice >= radius {
        let message = format!("the orifice of radius {orifice} m is not smaller than the bin of radius {radius} m");
        reader.wrong(s.orifice.as_ref().map(Spanned::span), message, "give a smaller radius");
        return None;
    }
    if angle > 0.49 * PI {
        let message = format!("a floor that rises by {angle} rad is a wall");
        reader.wrong(s.angle.as_ref().map(Spanned::span), message, "give the angle against the horizontal [rad], at most 0.49 pi");
        return None;
    }
    let rise = (radius - orifice) * angle.tan();
    let profile = [(orifice, 0.0), (radius, rise), (radius, rise + height)].map(|(r, z)| Vector2::new(r, z)).to_vec();
    build(reader, making, template, Wall { profile, largest: radius, turn: UnitQuaternion::identity() })
}

/// The inside of a wall: points (r, z), the room to the left, and how the axis z is turned.
struct Wall {
    profile: Vec<Vector2<f64>>,
    largest: f64,
    turn: UnitQuaternion<f64>,
}

fn build(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>, wall: Wall) -> Option<()> {
    let s = making.keys();
    let sides = match &s.sides {
        Some(value) => reader.count(value, &format!("`sides` of \"{}\"", making.name), (3, MOST_SIDES))?,
        None => SIDES,
    };
    let thickness = match &s.thickness {
        Some(_) => making.positive(reader, s.thickness.as_ref(), "thickness")?,
        None => 0.1 * wall.largest,
    };
    let place = |mut vertices: Vec<Vector3<f64>>| {
        let middle = vertices.iter().sum::<Vector3<f64>>() / vertices.len() as f64;
        vertices.iter_mut().for_each(|v| *v = wall.turn * (*v - middle));
        Part { position: wall.turn * middle, ..Part::new(Shape::Convex { vertices }) }
    };
    let parts = shell(&wall.profile, sides, thickness).into_iter().map(place).collect();
    let body = template.with_pieces(reader, parts)?;
    making.push_named(making.name.clone(), true, body);
    Some(())
}

/// Corners of the convex pieces of a wall.
fn shell(profile: &[Vector2<f64>], sides: usize, thickness: f64) -> Vec<Vec<Vector3<f64>>> {
    let outer = offset(profile, thickness);
    let (step, widen) = (2.0 * PI / sides as f64, 1.0 / (PI / sides as f64).cos());
    // between sides k − 1 and k; the inscribed circle touches the middle of each side
    let corner = |p: &Vector2<f64>, k: usize| {
        let angle = (k % sides) as f64 * step - 0.5 * step;
        Vector3::new(p.x * widen * angle.cos(), p.x * widen * angle.sin(), p.y)
    };
    let mut pieces = Vec::new();
    for (ends, outer) in profile.windows(2).zip(outer.windows(2)) {
        let section = [ends[0], ends[1], outer[1], outer[0]];
        let whole = ends[0].y == ends[1].y && (ends[0].x == 0.0 || ends[1].x == 0.0);
        // a flat end is one plate: nothing can catch on joints within it
        let ranges: Vec<Vec<usize>> = if whole { vec![(0..sides).collect()] } else { (0..sides).map(|k| vec![k, k + 1]).collect() };
        for range in ranges {
            let mut vertices: Vec<Vector3<f64>> = Vec::new();
            for vertex in range.iter().flat_map(|&k| section.iter().map(move |p| corner(p, k))) {
                if !vertices.contains(&vertex) {
                    vertices.push(vertex);
                }
            }
            pieces.push(vertices);
        }
    }
    pieces
}

/// The profile moved outwards by a thickness, with mitred corners; nothing crosses the axis.
fn offset(profile: &[Vector2<f64>], thickness: f64) -> Vec<Vector2<f64>> {
    let normals: Vec<Vector2<f64>> = profile.windows(2).map(|p| outward(&p[0], &p[1])).collect();
    let moved = |k: usize| {
        let (a, b) = (normals[k.saturating_sub(1)], normals[k.min(normals.len() - 1)]);
        let p = profile[k] + (a + b) * (thickness / (1.0 + a.dot(&b)));
        Vector2::new(p.x.max(0.0), p.y)
    };
    (0..profile.len()).map(moved).collect()
}

/// To the right of the way from `a` to `b`.
fn outward(a: &Vector2<f64>, b: &Vector2<f64>) -> Vector2<f64> {
    let along = (b - a).normalize();
    Vector2::new(along.y, -along.x)
}

fn check_profile(reader: &mut Reader<'_>, value: &Spanned<Value>, points: &[Vector2<f64>]) -> Option<()> {
    let mistake = points
        .iter()
        .position(|p| p.x < 0.0)
        .map(|k| (format!("point {} of the profile has the radius {}", k + 1, points[k].x), "points are [r, z], with r ≥ 0 from the axis"));
    let mistake = mistake.or_else(|| {
        let k = points.windows(2).position(|p| p[0] == p[1] || (p[0].x == 0.0 && p[1].x == 0.0))?;
        let message = format!("points {} and {} of the profile are the same, or both on the axis", k + 1, k + 2);
        Some((message, "leave one out: a wall needs a length and a radius"))
    });
    let mistake = mistake.or_else(|| {
        let turn = |p: &[Vector2<f64>]| 1.0 + outward(&p[0], &p[1]).dot(&outward(&p[1], &p[2]));
        let k = points.windows(3).position(|p| turn(p) < SHARPEST)?;
        Some((format!("the profile turns back at its point {}", k + 2), "make the turn less sharp, or write two vessels"))
    });
    let Some((message, help)) = mistake else { return Some(()) };
    reader.wrong(value.span(), message, help);
    None
}
