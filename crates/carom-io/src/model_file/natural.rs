//! Mechanisms in natural coordinates in a model file.

use super::bodies::{Placed, check_names};
use super::error::suggestion;
use super::numbers::{Must, Reader};
use super::schema::{NaturalBarSchema, NaturalBodySchema, NaturalSchema};
use super::value::Value;
use carom_dynamics::systems::{Linear, Natural, NaturalBar, NaturalBody, NaturalPoint, NaturalVector};
use nalgebra::{Matrix3, Vector3};
use toml::Spanned;

/// The `[natural]` system, and what it was made of.
pub(super) fn natural(
    reader: &mut Reader<'_>,
    section: &Spanned<NaturalSchema>,
    gravity: Vector3<f64>,
) -> Option<(Placed<Linear>, Natural)> {
    let s = section.get_ref();
    let named = s.points.iter().map(|p| &p.get_ref().name).chain(s.vectors.iter().map(|v| &v.get_ref().name));
    check_names(reader, named, "point or vector");
    check_names(reader, s.bars.iter().map(|b| &b.get_ref().name).chain(s.bodies.iter().map(|b| &b.get_ref().name)), "bar or body");
    let mut natural = Natural { planar: s.planar, gravity, ..Natural::default() };
    let mut v = Vec::new();
    for point in &s.points {
        let p = point.get_ref();
        let name = p.name.get_ref();
        let position = vector(reader, Some(&p.position), s.planar, &format!("the position of \"{name}\""))?;
        let velocity = vector(reader, p.velocity.as_ref(), s.planar, &format!("the velocity of \"{name}\""))?;
        match (&p.velocity, p.fixed) {
            (Some(value), true) => {
                reader.wrong(value.span(), format!("the fixed point \"{name}\" has a velocity"), "remove it, or `fixed = true`")
            }
            (_, true) => {}
            (_, false) => v.extend(velocity.iter().take(if s.planar { 2 } else { 3 })),
        }
        natural.points.push(NaturalPoint { name: name.clone(), position, fixed: p.fixed });
    }
    for vector in &s.vectors {
        let (u, span) = (vector.get_ref(), vector.span());
        if s.planar {
            reader.wrong(span, "there are no vectors in the plane", "describe the body by two points");
            return None;
        }
        let direction = reader.vector::<3>(&u.direction, &format!("the direction of \"{}\"", u.name.get_ref()))?.into();
        v.extend(reader.vector_or_zero::<3>(u.velocity.as_ref(), &format!("the velocity of \"{}\"", u.name.get_ref()))?);
        natural.vectors.push(NaturalVector { name: u.name.get_ref().clone(), direction });
    }
    for bar in &s.bars {
        let bar = read_bar(reader, bar.get_ref(), &natural)?;
        natural.bars.push(bar);
    }
    for body in &s.bodies {
        let body = read_body(reader, body.get_ref(), &natural)?;
        natural.bodies.push(body);
    }
    if !reader.mistakes.is_empty() {
        return None;
    }
    let built = natural.system().and_then(|system| Ok((system, natural.coordinates()?)));
    match built {
        Ok((system, q)) => Some((Placed { system, q, v }, natural)),
        Err(error) => {
            reader.mistakes.push(super::Diagnostic::new(section.span(), error.to_string()));
            None
        }
    }
}

fn vector(reader: &mut Reader<'_>, value: Option<&Spanned<Value>>, planar: bool, what: &str) -> Option<Vector3<f64>> {
    match planar {
        true => reader.vector_or_zero::<2>(value, what).map(|[x, y]| Vector3::new(x, y, 0.0)),
        false => reader.vector_or_zero::<3>(value, what).map(Vector3::from),
    }
}

/// Two names as numbers in a list.
fn two(reader: &mut Reader<'_>, names: &Spanned<Vec<Spanned<String>>>, known: &[&str], what: &str) -> Option<[usize; 2]> {
    let [first, second] = names.get_ref().as_slice() else {
        reader.wrong(names.span(), format!("{} {what}s are given", names.get_ref().len()), format!("give two {what}s"));
        return None;
    };
    let mut found = [0; 2];
    for (found, name) in found.iter_mut().zip([first, second]) {
        let Some(number) = known.iter().position(|other| other == name.get_ref()) else {
            reader.wrong(name.span(), format!("there is no {what} \"{}\"", name.get_ref()), suggestion(name.get_ref(), known));
            return None;
        };
        *found = number;
    }
    Some(found)
}

fn read_bar(reader: &mut Reader<'_>, s: &NaturalBarSchema, natural: &Natural) -> Option<NaturalBar> {
    let name = s.name.get_ref();
    let known: Vec<&str> = natural.points.iter().map(|p| p.name.as_str()).collect();
    let points = two(reader, &s.points, &known, "point")?;
    let mass = reader.number(&s.mass, &format!("the mass of \"{name}\""), Must::BePositive)?;
    let length = (natural.points[points[1]].position - natural.points[points[0]].position).norm();
    let centre = match &s.centre {
        None => [0.5 * length, 0.0],
        Some(value) if natural.planar => reader.vector::<2>(value, &format!("the centre of \"{name}\""))?,
        Some(value) => [reader.number(value, &format!("the centre of \"{name}\""), Must::BeFinite)?, 0.0],
    };
    // a uniform thin rod
    let uniform = mass * length * length / 12.0;
    let inertia = match &s.inertia {
        None => uniform,
        Some(value) => reader.number(value, &format!("the inertia of \"{name}\""), Must::BePositive)?,
    };
    Some(NaturalBar { name: name.clone(), points, mass, centre, inertia })
}

fn read_body(reader: &mut Reader<'_>, s: &NaturalBodySchema, natural: &Natural) -> Option<NaturalBody> {
    let name = s.name.get_ref();
    let points: Vec<&str> = natural.points.iter().map(|p| p.name.as_str()).collect();
    let vectors: Vec<&str> = natural.vectors.iter().map(|v| v.name.as_str()).collect();
    let points = two(reader, &s.points, &points, "point")?;
    let vectors = two(reader, &s.vectors, &vectors, "vector")?;
    let mass = reader.number(&s.mass, &format!("the mass of \"{name}\""), Must::BePositive)?;
    let centre = reader.vector::<3>(&s.centre, &format!("the centre of \"{name}\""))?.into();
    let inertia = Matrix3::from_row_slice(&reader.matrix(&s.inertia, 3, &format!("the inertia of \"{name}\""))?);
    Some(NaturalBody { name: name.clone(), points, vectors, mass, centre, inertia })
}
