//! Shapes in the plane and prescribed motions in a model file.

use super::Diagnostic;
use super::bodies::size;
use super::error::suggestion;
use super::numbers::{Must, Reader};
use super::schema::{MotionSchema, PlanarShapeSchema};
use super::value::Value;
use carom_collision::planar::{Chain, Motion, MotionSource, OutlineError, PlanarShape, Polygon, Sides};
use nalgebra::Vector2;
use std::sync::Arc;
use toml::Spanned;

/// Keys that each kind of shape takes.
const SHAPES: [(&str, &[&str]); 8] = [
    ("disk", &["radius"]),
    ("capsule", &["radius", "length"]),
    ("box", &["size"]),
    ("polygon", &["vertices"]),
    ("chain", &["vertices", "closed", "side"]),
    ("compound", &["parts"]),
    ("segment", &["ends"]),
    ("half-plane", &["normal"]),
];

/// One convex piece or chain of a body or an obstacle, and its place in the body's frame.
#[derive(Clone)]
pub(super) struct Part {
    pub shape: PlanarShape,
    pub position: Vector2<f64>,
    pub angle: f64,
}

/// Reads the shape of a planar body or an obstacle: one part, or several of a compound or a polygon that is not convex.
pub(super) fn shape(reader: &mut Reader<'_>, section: &Spanned<PlanarShapeSchema>, owner: &str) -> Option<Vec<Part>> {
    for (key, value) in [("position", &section.get_ref().position), ("angle", &section.get_ref().angle)] {
        if let Some(value) = value {
            let help = format!("give the `{key}` of \"{owner}\" beside its shape");
            reader.wrong(value.span(), format!("only the parts of a compound have a `{key}`"), help);
            return None;
        }
    }
    if section.get_ref().kind.get_ref() == "compound" { compound(reader, section, owner) } else { single(reader, section, owner) }
}

fn compound(reader: &mut Reader<'_>, section: &Spanned<PlanarShapeSchema>, owner: &str) -> Option<Vec<Part>> {
    check_keys(reader, section)?;
    let help = "give `parts = [{ kind = …, position = [x, y], angle = … }, …]`";
    let list = match &section.get_ref().parts {
        None => {
            reader.wrong(section.span(), format!("the compound \"{owner}\" has no parts"), help);
            return None;
        }
        Some(parts) if parts.get_ref().is_empty() => {
            reader.wrong(parts.span(), format!("the compound \"{owner}\" has no parts"), help);
            return None;
        }
        Some(parts) => parts.get_ref(),
    };
    let mut found = Vec::new();
    for part in list {
        let s = part.get_ref();
        if s.kind.get_ref() == "compound" {
            reader.wrong(s.kind.span(), "a part of a compound is a compound", "list its parts with the others");
            return None;
        }
        let position = reader.vector_or_zero::<2>(s.position.as_ref(), &format!("the position of a part of \"{owner}\""))?;
        let angle = reader.number_or(s.angle.as_ref(), 0.0, &format!("the angle of a part of \"{owner}\""), Must::BeFinite)?;
        for piece in single(reader, part, owner)? {
            if matches!(piece.shape, PlanarShape::HalfPlane { .. } | PlanarShape::Segment { .. }) {
                let help = "use disks, capsules, boxes, polygons and chains";
                reader.wrong(s.kind.span(), format!("a part of a compound is a {}", piece.shape.name()), help);
                return None;
            }
            found.push(Part { position: Vector2::from(position), angle, ..piece });
        }
    }
    Some(found)
}

/// Refuses kinds that are not known and keys that the kind does not take.
fn check_keys(reader: &mut Reader<'_>, section: &Spanned<PlanarShapeSchema>) -> Option<()> {
    let s = section.get_ref();
    let kind = s.kind.get_ref().as_str();
    let Some((_, keys)) = SHAPES.iter().find(|(name, _)| *name == kind) else {
        let names: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
        reader.wrong(s.kind.span(), format!("there is no planar shape \"{kind}\""), suggestion(kind, &names));
        return None;
    };
    let span = |value: &Option<Spanned<Value>>| value.as_ref().map(Spanned::span);
    let given = [
        ("radius", span(&s.radius)),
        ("length", span(&s.length)),
        ("size", span(&s.size)),
        ("vertices", span(&s.vertices)),
        ("closed", s.closed.as_ref().map(Spanned::span)),
        ("side", s.side.as_ref().map(Spanned::span)),
        ("ends", span(&s.ends)),
        ("normal", span(&s.normal)),
        ("parts", s.parts.as_ref().map(Spanned::span)),
    ];
    for (key, span) in given {
        if let Some(span) = span
            && !keys.contains(&key)
        {
            reader.wrong(span, format!("a {kind} has no `{key}`"), format!("it takes: {}", keys.join(", ")));
            return None;
        }
    }
    Some(())
}

fn single(reader: &mut Reader<'_>, section: &Spanned<PlanarShapeSchema>, owner: &str) -> Option<Vec<Part>> {
    check_keys(reader, section)?;
    let s = section.get_ref();
    let kind = s.kind.get_ref().as_str();
    let outline = |reader: &mut Reader<'_>, error: OutlineError| {
        let span = s.vertices.as_ref().or(s.size.as_ref()).map_or(section.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, format!("the shape of \"{owner}\": {error}")));
    };
    let shapes = match kind {
        "disk" => vec![PlanarShape::Disk { radius: size(reader, s.radius.as_ref(), "radius", &section.span())? }],
        "capsule" => {
            let radius = size(reader, s.radius.as_ref(), "radius", &section.span());
            let length = size(reader, s.length.as_ref(), "length", &section.span());
            vec![PlanarShape::Capsule { radius: radius?, half_length: 0.5 * length? }]
        }
        "box" => {
            let Some(value) = &s.size else {
                reader.wrong(section.span(), "the box has no size", "give `size = [a, b]` [m], the full lengths along x and y");
                return None;
            };
            let sides = reader.vector::<2>(value, "the size")?;
            if let Some(side) = sides.iter().find(|x| **x <= 0.0) {
                reader.wrong(value.span(), format!("the size of the box has the side {side}"), "both sides must be positive");
                return None;
            }
            vec![PlanarShape::Polygon(Arc::new(Polygon::rectangle(sides).map_err(|e| outline(reader, e)).ok()?))]
        }
        "polygon" => {
            let vertices = points(reader, s.vertices.as_ref(), "vertices", section)?;
            let parts = Polygon::parts(&vertices).map_err(|e| outline(reader, e)).ok()?;
            parts.into_iter().map(|part| PlanarShape::Polygon(Arc::new(part))).collect()
        }
        "chain" => {
            let vertices = points(reader, s.vertices.as_ref(), "vertices", section)?;
            let sides = match s.side.as_ref().map(|side| (side.get_ref().as_str(), side.span())) {
                None | Some(("both", _)) => Sides::Both,
                Some(("left", _)) => Sides::Left,
                Some(("right", _)) => Sides::Right,
                Some((other, span)) => {
                    let help = suggestion(other, &["both", "left", "right"]);
                    reader.wrong(span, format!("a chain has no side \"{other}\""), help);
                    return None;
                }
            };
            let is_closed = s.closed.as_ref().is_some_and(|closed| *closed.get_ref());
            vec![PlanarShape::Chain(Arc::new(Chain::new(&vertices, is_closed, sides).map_err(|e| outline(reader, e)).ok()?))]
        }
        "segment" => {
            let ends = points(reader, s.ends.as_ref(), "ends", section)?;
            let [a, b] = ends.as_slice() else {
                let span = s.ends.as_ref().map_or(section.span(), Spanned::span);
                reader.wrong(span, format!("the segment has {} ends", ends.len()), "give `ends = [[x, y], [x, y]]` [m]");
                return None;
            };
            vec![PlanarShape::Segment { ends: [*a, *b] }]
        }
        _ => {
            let normal = s.normal.as_ref().map_or(Some([0.0, 1.0]), |n| reader.vector::<2>(n, "the normal"))?;
            vec![PlanarShape::HalfPlane { normal: Vector2::from(normal) }]
        }
    };
    for shape in &shapes {
        if let Err(error) = shape.validate() {
            reader.mistakes.push(Diagnostic::new(section.span(), format!("the shape of \"{owner}\": {error}")));
            return None;
        }
    }
    Some(shapes.into_iter().map(|shape| Part { shape, position: Vector2::zeros(), angle: 0.0 }).collect())
}

/// A list of points.
fn points(
    reader: &mut Reader<'_>,
    value: Option<&Spanned<Value>>,
    key: &str,
    section: &Spanned<PlanarShapeSchema>,
) -> Option<Vec<Vector2<f64>>> {
    let kind = section.get_ref().kind.get_ref();
    let more = if key == "ends" { "" } else { ", …" };
    let help = format!("give `{key} = [[x, y], [x, y]{more}]` [m]");
    let Some(value) = value else {
        reader.wrong(section.span(), format!("the {kind} has no {key}"), help);
        return None;
    };
    let Value::List(list) = value.get_ref() else {
        reader.wrong(value.span(), format!("the {key} are not a list"), help);
        return None;
    };
    let what = if key == "ends" { "an end" } else { "a vertex" };
    let mut point = |p: &Value| reader.vector::<2>(&Spanned::new(value.span(), p.clone()), what).map(Vector2::from);
    list.iter().map(&mut point).collect()
}

/// Reads the motion of an obstacle: displacements and a turn as formulas of `t` and the parameters.
pub(super) fn motion(reader: &mut Reader<'_>, section: &Spanned<MotionSchema>, owner: &str) -> Option<Motion> {
    let s = section.get_ref();
    let texts = [&s.x, &s.y, &s.angle];
    if texts.iter().all(|text| text.is_none()) {
        reader.wrong(
            section.span(),
            format!("the motion of \"{owner}\" says nothing"),
            "give `x`, `y` [m] or `angle` [rad] as formulas of t",
        );
        return None;
    }
    let formulas = texts.map(|text| text.as_ref().map(|text| text.get_ref().clone()));
    match Motion::new(owner, &MotionSource { formulas, parameters: reader.parameters.clone() }) {
        Ok(motion) => Some(motion),
        Err((part, error)) => {
            if let Some(text) = texts[part] {
                reader.wrong_formula(text.span(), &format!("the motion of \"{owner}\""), text.get_ref(), &error);
            }
            None
        }
    }
}
