//! Shapes in the plane and prescribed motions in a model file.

use super::Diagnostic;
use super::bodies::size;
use super::error::suggestion;
use super::numbers::Reader;
use super::schema::{MotionSchema, PlanarShapeSchema};
use super::value::Value;
use carom_collision::planar::{Motion, MotionSource, PlanarShape};
use nalgebra::Vector2;
use toml::Spanned;

/// Keys that each kind of shape takes.
const SHAPES: [(&str, &[&str]); 3] = [("disk", &["radius"]), ("segment", &["ends"]), ("half-plane", &["normal"])];

/// Reads the shape of a planar body or an obstacle.
pub(super) fn shape(reader: &mut Reader<'_>, section: &Spanned<PlanarShapeSchema>, owner: &str) -> Option<PlanarShape> {
    let s = section.get_ref();
    let kind = s.kind.get_ref().as_str();
    let Some((_, keys)) = SHAPES.iter().find(|(name, _)| *name == kind) else {
        let names: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
        reader.wrong(s.kind.span(), format!("there is no planar shape \"{kind}\""), suggestion(kind, &names));
        return None;
    };
    for (key, value) in [("radius", &s.radius), ("ends", &s.ends), ("normal", &s.normal)] {
        if let Some(value) = value
            && !keys.contains(&key)
        {
            reader.wrong(value.span(), format!("a {kind} has no `{key}`"), format!("it takes: {}", keys.join(", ")));
            return None;
        }
    }
    let shape = match kind {
        "disk" => PlanarShape::Disk { radius: size(reader, s.radius.as_ref(), "radius", &section.span())? },
        "segment" => PlanarShape::Segment { ends: ends(reader, section)? },
        _ => {
            let normal = s.normal.as_ref().map_or(Some([0.0, 1.0]), |n| reader.vector::<2>(n, "the normal"))?;
            PlanarShape::HalfPlane { normal: Vector2::from(normal) }
        }
    };
    if let Err(error) = shape.validate() {
        reader.mistakes.push(Diagnostic::new(section.span(), format!("the shape of \"{owner}\": {error}")));
        return None;
    }
    Some(shape)
}

fn ends(reader: &mut Reader<'_>, section: &Spanned<PlanarShapeSchema>) -> Option<[Vector2<f64>; 2]> {
    let help = "give `ends = [[x, y], [x, y]]` [m]";
    let Some(value) = &section.get_ref().ends else {
        reader.wrong(section.span(), "the segment has no ends", help);
        return None;
    };
    let Value::List(points) = value.get_ref() else {
        reader.wrong(value.span(), "the ends are not a list", help);
        return None;
    };
    let [a, b] = points.as_slice() else {
        reader.wrong(value.span(), format!("the segment has {} ends", points.len()), help);
        return None;
    };
    let mut point = |p: &Value| reader.vector::<2>(&Spanned::new(value.span(), p.clone()), "an end").map(Vector2::from);
    Some([point(a)?, point(b)?])
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
