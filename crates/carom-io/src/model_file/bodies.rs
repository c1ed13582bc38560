//! Bodies and their shapes in a model file.

use super::error::suggestion;
use super::materials::Materials;
use super::numbers::{Must, Reader};
use super::rotation_coordinates::{parametrised, rotation_coordinates};
use super::schema::{BodySchema, RotationSchema, ShapeSchema};
use super::value::Value;
use carom_collision::{Collider, Detector, Shape};
use carom_dynamics::systems::{ParametrisedBodies, RigidBodies, RigidBody};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use std::ops::Range;
use toml::Spanned;

/// A system with its initial coordinates and velocities.
pub(super) struct Placed<S> {
    pub system: S,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
}

/// Names must differ and be usable in formulas.
pub(super) fn check_names<'a>(reader: &mut Reader<'_>, names: impl Iterator<Item = &'a Spanned<String>>, what: &str) {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        let text = name.get_ref();
        if text.is_empty() {
            reader.wrong(name.span(), format!("a {what} has an empty name"), "give it a name");
        }
        if !seen.insert(text) {
            reader.wrong(name.span(), format!("the name \"{text}\" of a {what} is given twice"), "give each its own name");
        }
    }
}

/// The `[[body]]` entries: the moving ones as one system, all with a shape in a detector.
pub(super) struct SpatialBodies {
    pub moving: Option<Placed<RigidBodies>>,
    /// Bodies with other rotation coordinates than quaternions, by those coordinates.
    pub others: Vec<Placed<ParametrisedBodies>>,
    pub detector: Option<Detector>,
}

/// Reads bodies and builds the system and the detector.
pub(super) fn spatial(
    reader: &mut Reader<'_>,
    sections: &[Spanned<BodySchema>],
    materials: Materials,
    gravity: Vector3<f64>,
) -> Option<SpatialBodies> {
    check_names(reader, sections.iter().map(|s| &s.get_ref().name), "body");
    let (mut bodies, mut spans, mut q, mut v, mut colliders) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut shapes, mut others) = (Vec::new(), Vec::new());
    for section in sections {
        let s = section.get_ref();
        let Some(mut body) = read_body(reader, section, &materials) else { continue };
        if let Some(kind) = rotation_coordinates(reader, s) {
            others.push((kind, s.name.get_ref().clone(), section.span(), body));
            continue;
        }
        let index = (!s.fixed).then_some(bodies.len() as u32);
        if let Some(shape) = body.shape.take() {
            let mut collider = Collider::new(s.name.get_ref().clone(), index, shape);
            (collider.translation, collider.rotation) =
                if s.fixed { (body.position, body.orientation) } else { (-body.centre, UnitQuaternion::identity()) };
            collider.material = body.material;
            shapes.push(s.shape.as_ref().map_or(section.span(), Spanned::span));
            colliders.push(collider);
        }
        if !s.fixed {
            let (x, r) = (body.position + body.orientation * body.centre, body.orientation);
            q.extend_from_slice(&[x.x, x.y, x.z, r.w, r.i, r.j, r.k]);
            v.extend_from_slice(&body.state_velocity());
            bodies.push(RigidBody { name: s.name.get_ref().clone(), mass: body.mass, inertia: body.inertia });
            spans.push(section.span());
        }
    }
    if !reader.mistakes.is_empty() {
        return None;
    }
    let moving = match bodies.is_empty() {
        true => None,
        false => {
            let system = RigidBodies::new(bodies, gravity).map_err(|e| {
                reader.mistakes.push(super::Diagnostic::new(spans.first().cloned(), e.to_string()));
            });
            Some(Placed { system: system.ok()?, q, v })
        }
    };
    let detector = match colliders.is_empty() || moving.is_none() {
        true => None,
        false => match Detector::new(colliders, materials.list, materials.pairs) {
            Ok(detector) => Some(detector),
            Err(error) => {
                reader.mistakes.push(super::Diagnostic::new(shapes.first().cloned(), error.to_string()));
                return None;
            }
        },
    };
    let others = parametrised(reader, others, gravity)?;
    Some(SpatialBodies { moving, others, detector })
}

/// A body as the file gives it.
pub(super) struct Body {
    pub shape: Option<Shape>,
    pub material: u32,
    pub mass: f64,
    /// Centre of mass in the file's body frame.
    pub centre: Vector3<f64>,
    pub inertia: Matrix3<f64>,
    pub position: Vector3<f64>,
    pub orientation: UnitQuaternion<f64>,
    pub velocity: Vector3<f64>,
    pub angular_velocity: Vector3<f64>,
}

impl Body {
    /// The file gives the velocity of the body's origin in the world frame; the state holds that of the centre of mass, and the angular
    /// velocity in the body frame.
    pub(super) fn state_velocity(&self) -> [f64; 6] {
        let r = self.orientation;
        let omega = r.inverse() * self.angular_velocity;
        let velocity = self.velocity + self.angular_velocity.cross(&(r * self.centre));
        [velocity.x, velocity.y, velocity.z, omega.x, omega.y, omega.z]
    }
}

fn read_body(reader: &mut Reader<'_>, section: &Spanned<BodySchema>, materials: &Materials) -> Option<Body> {
    let s = section.get_ref();
    let (name, before) = (s.name.get_ref(), reader.mistakes.len());
    let shape = s.shape.as_ref().and_then(|shape| read_shape(reader, shape, name, s.fixed));
    let material = materials.find(reader, s.material.as_ref());
    let position = reader.vector_or_zero::<3>(s.position.as_ref(), &format!("the position of \"{name}\""));
    let velocity = reader.vector_or_zero::<3>(s.velocity.as_ref(), &format!("the velocity of \"{name}\""));
    let spin = reader.vector_or_zero::<3>(s.angular_velocity.as_ref(), &format!("the angular velocity of \"{name}\""));
    let orientation = read_orientation(reader, s.orientation.as_ref(), s.rotation.as_ref(), name);
    if s.fixed {
        for (key, value) in
            [("velocity", &s.velocity), ("angular_velocity", &s.angular_velocity), ("mass", &s.mass), ("density", &s.density)]
        {
            if let Some(value) = value {
                reader.wrong(value.span(), format!("the fixed body \"{name}\" has a {key}"), format!("remove `{key}`, or `fixed = true`"));
            }
        }
        if s.shape.is_none() {
            reader.wrong(
                section.span(),
                format!("the fixed body \"{name}\" has no shape"),
                "give it a shape: nothing can touch it otherwise",
            );
        }
    }
    let (mass, centre, inertia) = if s.fixed {
        (0.0, Vector3::zeros(), Matrix3::zeros())
    } else if reader.mistakes.len() == before {
        read_mass(reader, section, shape.as_ref())?
    } else {
        return None;
    };
    if reader.mistakes.len() > before {
        return None;
    }
    let (position, velocity, angular_velocity) = (position?.into(), velocity?.into(), spin?.into());
    Some(Body { shape, material: material?, mass, centre, inertia, position, orientation: orientation?, velocity, angular_velocity })
}

/// The orientation from `orientation` or `rotation`.
pub(super) fn read_orientation(
    reader: &mut Reader<'_>,
    orientation: Option<&Spanned<Value>>,
    rotation: Option<&Spanned<RotationSchema>>,
    name: &str,
) -> Option<UnitQuaternion<f64>> {
    match (orientation, rotation) {
        (None, None) => Some(UnitQuaternion::identity()),
        (Some(value), None) => {
            let [w, x, y, z] = reader.vector::<4>(value, &format!("the orientation of \"{name}\""))?;
            let quaternion = Quaternion::new(w, x, y, z);
            match UnitQuaternion::try_new(quaternion, 1e-9) {
                Some(unit) => Some(unit),
                None => {
                    reader.wrong(
                        value.span(),
                        format!("the orientation of \"{name}\" is the zero quaternion"),
                        "no rotation is [1, 0, 0, 0]: (w, x, y, z)",
                    );
                    None
                }
            }
        }
        (None, Some(rotation)) => {
            let axis = Vector3::from(reader.vector::<3>(&rotation.get_ref().axis, "the rotation axis")?);
            let angle = reader.number(&rotation.get_ref().angle, "the rotation angle", Must::BeFinite)?;
            if axis.norm() == 0.0 {
                reader.wrong(rotation.get_ref().axis.span(), "the rotation axis is zero", "give a direction, such as [0, 0, 1]");
                return None;
            }
            Some(UnitQuaternion::from_scaled_axis(axis.normalize() * angle))
        }
        (Some(_), Some(rotation)) => {
            reader.wrong(rotation.span(), format!("\"{name}\" has both `orientation` and `rotation`"), "give one of them");
            None
        }
    }
}

/// Mass, centre of mass and inertia from `mass`, `density`, `inertia` and the shape.
fn read_mass(reader: &mut Reader<'_>, section: &Spanned<BodySchema>, shape: Option<&Shape>) -> Option<(f64, Vector3<f64>, Matrix3<f64>)> {
    let s = section.get_ref();
    let name = s.name.get_ref();
    let of_shape = |density: f64| shape.and_then(|shape| shape.mass_properties(density).ok());
    let properties = match (&s.mass, &s.density) {
        (Some(mass), None) => {
            let mass = reader.number(mass, &format!("the mass of \"{name}\""), Must::BePositive)?;
            // the inertia is proportional to the mass
            of_shape(1.0).map_or((mass, Vector3::zeros(), None), |p| (mass, p.centre_of_mass, Some(p.inertia * (mass / p.mass))))
        }
        (None, Some(density)) => {
            let value = reader.number(density, &format!("the density of \"{name}\""), Must::BePositive)?;
            match of_shape(value) {
                Some(p) => (p.mass, p.centre_of_mass, Some(p.inertia)),
                None => {
                    reader.wrong(
                        density.span(),
                        format!("\"{name}\" has a density but no shape with a volume"),
                        "give a shape, or `mass` and `inertia`",
                    );
                    return None;
                }
            }
        }
        (Some(_), Some(density)) => {
            reader.wrong(density.span(), format!("\"{name}\" has both mass and density"), "give one of them");
            return None;
        }
        (None, None) => {
            reader.wrong(
                section.span(),
                format!("the body \"{name}\" has no mass"),
                "give `mass` [kg], `density` [kg/m³], or `fixed = true`",
            );
            return None;
        }
    };
    let (mass, centre, from_shape) = properties;
    let inertia = match (&s.inertia, from_shape) {
        (Some(value), _) => {
            let inertia = Matrix3::from_row_slice(&reader.matrix(value, 3, &format!("the inertia of \"{name}\""))?);
            let span = value.span();
            let probe = RigidBody { name: name.clone(), mass, inertia };
            if let Err(error) = RigidBodies::new(vec![probe], Vector3::zeros()) {
                reader.mistakes.push(super::Diagnostic::new(span, error.to_string()));
                return None;
            }
            inertia
        }
        (None, Some(inertia)) => inertia,
        (None, None) => {
            reader.wrong(section.span(), format!("the body \"{name}\" has no inertia"), "give `inertia` [kg m²], or a shape with a volume");
            return None;
        }
    };
    Some((mass, centre, inertia))
}

/// Keys that each kind of shape takes.
const SHAPES: [(&str, &[&str]); 7] = [
    ("plane", &["normal"]),
    ("sphere", &["radius"]),
    ("box", &["size", "half_extents"]),
    ("capsule", &["radius", "length"]),
    ("cylinder", &["radius", "length"]),
    ("cone", &["radius", "height"]),
    ("convex", &["vertices"]),
];

fn read_shape(reader: &mut Reader<'_>, section: &Spanned<ShapeSchema>, body: &str, fixed: bool) -> Option<Shape> {
    let s = section.get_ref();
    let kind = s.kind.get_ref().as_str();
    let Some((_, keys)) = SHAPES.iter().find(|(name, _)| *name == kind) else {
        let names: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
        reader.wrong(s.kind.span(), format!("there is no shape \"{kind}\""), suggestion(kind, &names));
        return None;
    };
    let given = [
        ("radius", &s.radius),
        ("size", &s.size),
        ("half_extents", &s.half_extents),
        ("length", &s.length),
        ("height", &s.height),
        ("normal", &s.normal),
        ("vertices", &s.vertices),
    ];
    for (key, value) in given {
        if let Some(value) = value
            && !keys.contains(&key)
        {
            reader.wrong(value.span(), format!("a {kind} has no `{key}`"), format!("it takes: {}", keys.join(", ")));
            return None;
        }
    }
    let span = section.span();
    let shape = match kind {
        "plane" if !fixed => {
            reader.wrong(
                span.clone(),
                format!("the moving body \"{body}\" has the shape of a plane"),
                "only fixed bodies can: add `fixed = true`",
            );
            None
        }
        "plane" => {
            Some(Shape::Plane { normal: s.normal.as_ref().map_or(Some([0.0, 0.0, 1.0]), |n| reader.vector::<3>(n, "the normal"))?.into() })
        }
        "sphere" => Some(Shape::Sphere { radius: size(reader, s.radius.as_ref(), "radius", &span)? }),
        "box" => {
            let (value, factor) = match (&s.size, &s.half_extents) {
                (Some(size), None) => (size, 0.5),
                (None, Some(half)) => (half, 1.0),
                _ => {
                    reader.wrong(span, "a box needs its edge lengths", "give `size = [x, y, z]` or `half_extents = [x, y, z]` [m]");
                    return None;
                }
            };
            let edges = match value.get_ref() {
                Value::List(_) => reader.vector::<3>(value, "the size of the box")?,
                _ => [reader.number(value, "the size of the box", Must::BePositive)?; 3],
            };
            Some(Shape::Box { half_extents: Vector3::from(edges) * factor })
        }
        "capsule" | "cylinder" => {
            let radius = size(reader, s.radius.as_ref(), "radius", &span)?;
            let half_length = 0.5 * size(reader, s.length.as_ref(), "length", &span)?;
            Some(if kind == "capsule" { Shape::Capsule { radius, half_length } } else { Shape::Cylinder { radius, half_length } })
        }
        "cone" => {
            let radius = size(reader, s.radius.as_ref(), "radius", &span)?;
            Some(Shape::Cone { radius, half_height: 0.5 * size(reader, s.height.as_ref(), "height", &span)? })
        }
        _ => Some(Shape::Convex { vertices: vertices(reader, s.vertices.as_ref(), &span)? }),
    }?;
    if let Err(error) = shape.validate() {
        reader.mistakes.push(super::Diagnostic::new(section.span(), format!("the shape of \"{body}\": {error}")));
        return None;
    }
    Some(shape)
}

pub(super) fn size(reader: &mut Reader<'_>, value: Option<&Spanned<Value>>, key: &str, span: &Range<usize>) -> Option<f64> {
    match value {
        Some(value) => reader.number(value, &format!("the {key}"), Must::BePositive),
        None => {
            reader.wrong(span.clone(), format!("the shape has no {key}"), format!("give `{key}` [m]"));
            None
        }
    }
}

fn vertices(reader: &mut Reader<'_>, value: Option<&Spanned<Value>>, span: &Range<usize>) -> Option<Vec<Vector3<f64>>> {
    let Some(value) = value else {
        reader.wrong(span.clone(), "the convex shape has no vertices", "give `vertices = [[x, y, z], …]` [m]");
        return None;
    };
    let Value::List(points) = value.get_ref() else {
        reader.wrong(value.span(), "the vertices are not a list", "give `vertices = [[x, y, z], …]` [m]");
        return None;
    };
    points.iter().map(|p| reader.vector::<3>(&Spanned::new(value.span(), p.clone()), "a vertex").map(Vector3::from)).collect()
}
