//! Shapes of bodies in a model file: primitives, polyhedra, meshes from files, and compounds of several.

use super::bodies::read_orientation;
use super::error::suggestion;
use super::numbers::{Must, Reader};
use super::schema::ShapeSchema;
use super::shape_data;
use super::value::Value;
use carom_collision::Shape;
use nalgebra::{UnitQuaternion, Vector3};
use std::ops::Range;
use toml::Spanned;

/// One shape of a body and where it is in the body's frame.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub shape: Shape,
    pub position: Vector3<f64>,
    pub rotation: UnitQuaternion<f64>,
}

impl Part {
    /// A shape at the body's origin.
    pub fn new(shape: Shape) -> Self {
        Part { shape, position: Vector3::zeros(), rotation: UnitQuaternion::identity() }
    }
}

/// Keys that each kind of shape takes, besides `position`, `orientation` and `rotation`.
const SHAPES: [(&str, &[&str]); 10] = [
    ("plane", &["normal"]),
    ("sphere", &["radius"]),
    ("box", &["size", "half_extents"]),
    ("capsule", &["radius", "length"]),
    ("cylinder", &["radius", "length"]),
    ("cone", &["radius", "height"]),
    ("convex", &["vertices", "file", "scale"]),
    ("mesh", &["vertices", "triangles", "file", "scale"]),
    ("height-field", &["heights", "spacing", "file", "scale"]),
    ("compound", &["parts"]),
];

/// Reads a shape as its parts; a compound has several.
pub(super) fn read_parts(reader: &mut Reader<'_>, section: &Spanned<ShapeSchema>, body: &str, fixed: bool) -> Option<Vec<Part>> {
    let s = section.get_ref();
    if s.kind.get_ref() != "compound" {
        return Some(vec![read_part(reader, section, body, fixed)?]);
    }
    keys_fit(reader, s)?;
    let Some(parts) = s.parts.as_ref().filter(|parts| !parts.is_empty()) else {
        reader.wrong(section.span(), "the compound has no parts", "give `parts = [{ kind = \"…\", …, position = [x, y, z] }, …]`");
        return None;
    };
    if let Some(inner) = parts.iter().find(|part| part.get_ref().kind.get_ref() == "compound") {
        reader.wrong(inner.span(), "a part of a compound is a compound", "list all parts in one compound");
        return None;
    }
    let frame = place(reader, s, body)?;
    let parts: Vec<Option<Part>> = parts.iter().map(|part| read_part(reader, part, body, fixed)).collect();
    let parts = parts.into_iter().collect::<Option<Vec<Part>>>()?;
    let moved = |part: Part| Part { position: frame.0 + frame.1 * part.position, rotation: frame.1 * part.rotation, ..part };
    Some(parts.into_iter().map(moved).collect())
}

/// The shape's place in its body's frame.
fn place(reader: &mut Reader<'_>, s: &ShapeSchema, body: &str) -> Option<(Vector3<f64>, UnitQuaternion<f64>)> {
    let position = reader.vector_or_zero::<3>(s.position.as_ref(), &format!("the position of a shape of \"{body}\""));
    let rotation = read_orientation(reader, s.orientation.as_ref(), s.rotation.as_ref(), body);
    Some((position?.into(), rotation?))
}

/// Keys that belong to another kind are mistakes.
fn keys_fit(reader: &mut Reader<'_>, s: &ShapeSchema) -> Option<()> {
    let kind = s.kind.get_ref().as_str();
    let Some((_, keys)) = SHAPES.iter().find(|(name, _)| *name == kind) else {
        let names: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
        reader.wrong(s.kind.span(), format!("there is no shape \"{kind}\""), suggestion(kind, &names));
        return None;
    };
    let span = |value: &Option<Spanned<Value>>| value.as_ref().map(Spanned::span);
    let given: [(&str, Option<Range<usize>>); 13] = [
        ("radius", span(&s.radius)),
        ("size", span(&s.size)),
        ("half_extents", span(&s.half_extents)),
        ("length", span(&s.length)),
        ("height", span(&s.height)),
        ("normal", span(&s.normal)),
        ("vertices", span(&s.vertices)),
        ("triangles", span(&s.triangles)),
        ("heights", span(&s.heights)),
        ("spacing", span(&s.spacing)),
        ("scale", span(&s.scale)),
        ("file", s.file.as_ref().map(Spanned::span)),
        ("parts", s.parts.as_ref().map(|parts| parts.first().map_or_else(|| s.kind.span(), Spanned::span))),
    ];
    for (key, place) in given {
        if let Some(place) = place
            && !keys.contains(&key)
        {
            reader.wrong(place, format!("a {kind} has no `{key}`"), format!("it takes: {}", keys.join(", ")));
            return None;
        }
    }
    Some(())
}

fn read_part(reader: &mut Reader<'_>, section: &Spanned<ShapeSchema>, body: &str, fixed: bool) -> Option<Part> {
    let s = section.get_ref();
    keys_fit(reader, s)?;
    let (span, kind) = (section.span(), s.kind.get_ref().as_str());
    let shape = match kind {
        "plane" | "height-field" if !fixed => {
            let message = format!("the moving body \"{body}\" has the shape of a {kind}");
            reader.wrong(span.clone(), message, "only fixed bodies can: add `fixed = true`");
            None
        }
        "plane" => {
            Some(Shape::Plane { normal: s.normal.as_ref().map_or(Some([0.0, 0.0, 1.0]), |n| reader.vector::<3>(n, "the normal"))?.into() })
        }
        "sphere" => Some(Shape::Sphere { radius: size(reader, s.radius.as_ref(), "radius", &span)? }),
        "box" => Some(read_box(reader, section)?),
        "capsule" | "cylinder" => {
            let radius = size(reader, s.radius.as_ref(), "radius", &span)?;
            let half_length = 0.5 * size(reader, s.length.as_ref(), "length", &span)?;
            Some(if kind == "capsule" { Shape::Capsule { radius, half_length } } else { Shape::Cylinder { radius, half_length } })
        }
        "cone" => {
            let radius = size(reader, s.radius.as_ref(), "radius", &span)?;
            Some(Shape::Cone { radius, half_height: 0.5 * size(reader, s.height.as_ref(), "height", &span)? })
        }
        "convex" => Some(shape_data::convex(reader, section)?),
        "mesh" => Some(shape_data::mesh(reader, section)?),
        _ => Some(shape_data::height_field(reader, section)?),
    }?;
    if let Err(error) = shape.validate() {
        reader.mistakes.push(super::Diagnostic::new(span, format!("the shape of \"{body}\": {error}")));
        return None;
    }
    let (position, rotation) = place(reader, s, body)?;
    Some(Part { shape, position, rotation })
}

fn read_box(reader: &mut Reader<'_>, section: &Spanned<ShapeSchema>) -> Option<Shape> {
    let s = section.get_ref();
    let (value, factor) = match (&s.size, &s.half_extents) {
        (Some(size), None) => (size, 0.5),
        (None, Some(half)) => (half, 1.0),
        _ => {
            reader.wrong(section.span(), "a box needs its edge lengths", "give `size = [x, y, z]` or `half_extents = [x, y, z]` [m]");
            return None;
        }
    };
    let edges = match value.get_ref() {
        Value::List(_) => reader.vector::<3>(value, "the size of the box")?,
        _ => [reader.number(value, "the size of the box", Must::BePositive)?; 3],
    };
    Some(Shape::Box { half_extents: Vector3::from(edges) * factor })
}

/// A length of a shape.
pub(super) fn size(reader: &mut Reader<'_>, value: Option<&Spanned<Value>>, key: &str, span: &Range<usize>) -> Option<f64> {
    match value {
        Some(value) => reader.number(value, &format!("the {key}"), Must::BePositive),
        None => {
            reader.wrong(span.clone(), format!("the shape has no {key}"), format!("give `{key}` [m]"));
            None
        }
    }
}
