//! Bodies and their shapes in a model file.

use super::generate::generate;
use super::groups::GroupNames;
use super::masses::{MassKeys, read_rule};
use super::materials::Materials;
use super::motion::{BodyMotion, MotionKeys};
use super::numbers::{Must, Reader};
use super::rotation_coordinates::{parametrised, rotation_coordinates};
use super::schema::{BodySchema, JointSchema, RotationSchema, Schema};
pub(super) use super::shapes::size;
use super::shapes::{Part, read_parts};
use super::value::Value;
use carom_collision::{Collider, Detector, Groups, MassProperties};
use carom_dynamics::systems::{ParametrisedBodies, RigidBodies, RigidBody};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use std::collections::{HashMap, HashSet};
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
    let mut seen = HashSet::new();
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

/// The `[[body]]` and `[[generate]]` entries: the moving ones as one system, all with a shape in a detector.
pub(super) struct SpatialBodies {
    pub moving: Option<Placed<RigidBodies>>,
    /// Bodies with other rotation coordinates than quaternions, by those coordinates.
    pub others: Vec<Placed<ParametrisedBodies>>,
    pub detector: Option<Detector>,
    /// Joints that were generated with their bodies.
    pub joints: Vec<Spanned<JointSchema>>,
    /// The bodies that do not move, with the numbers of their colliders.
    pub fixed: HashMap<String, Range<u32>>,
}

/// A body with its name and the place of the entry it comes from.
pub(super) struct Entry {
    pub name: String,
    pub fixed: bool,
    pub span: Range<usize>,
    pub body: Body,
}

/// Reads bodies and builds the system and the detector.
pub(super) fn spatial(reader: &mut Reader<'_>, schema: &Schema, materials: Materials, gravity: Vector3<f64>) -> Option<SpatialBodies> {
    let lists = schema.bodies.iter().map(|s| s.get_ref().groups.as_ref());
    let lists = lists.chain(schema.generate.iter().map(|s| s.get_ref().body.as_ref().and_then(|b| b.get_ref().groups.as_ref())));
    let groups = GroupNames::collect(reader, lists);
    let surfaces = Surfaces { materials: &materials, groups: &groups };
    check_names(reader, schema.bodies.iter().map(|s| &s.get_ref().name), "body");
    let (mut entries, mut others, mut joints) = (Vec::new(), Vec::new(), Vec::new());
    for section in &schema.bodies {
        let s = section.get_ref();
        let Some(body) = read_body(reader, section, &surfaces) else { continue };
        let name = s.name.get_ref().clone();
        match rotation_coordinates(reader, s) {
            Some(kind) => others.push((kind, name, section.span(), body)),
            None => entries.push(Entry { name, fixed: s.fixed, span: section.span(), body }),
        }
    }
    let n_written = entries.len();
    for section in &schema.generate {
        generate(reader, section, &surfaces, &mut entries, &mut joints);
    }
    check_generated(reader, schema, &entries[n_written..]);
    if !reader.mistakes.is_empty() {
        return None;
    }
    let mut fixed = HashMap::new();
    let (moving, detector) = assemble(reader, entries, &mut fixed, materials, gravity)?;
    let others = parametrised(reader, others, gravity)?;
    Some(SpatialBodies { moving, others, detector, joints, fixed })
}

/// Generated names must differ from each other and from the written ones.
fn check_generated(reader: &mut Reader<'_>, schema: &Schema, entries: &[Entry]) {
    let mut seen: HashSet<&str> = schema.bodies.iter().map(|s| s.get_ref().name.get_ref().as_str()).collect();
    if let Some(twice) = entries.iter().find(|entry| !seen.insert(&entry.name)) {
        let message = format!("the generated name \"{}\" is taken by another body", twice.name);
        reader.wrong(twice.span.clone(), message, "give this [[generate]] a `name` of its own: bodies are called by it and a number");
    }
}

/// The system of the moving bodies and the detector of all that have shapes.
fn assemble(
    reader: &mut Reader<'_>,
    entries: Vec<Entry>,
    fixed_bodies: &mut HashMap<String, Range<u32>>,
    materials: Materials,
    gravity: Vector3<f64>,
) -> Option<(Option<Placed<RigidBodies>>, Option<Detector>)> {
    let n = entries.len();
    let (mut bodies, mut q, mut v) = (Vec::with_capacity(n), Vec::with_capacity(7 * n), Vec::with_capacity(6 * n));
    let (mut colliders, mut first, mut first_shape) = (Vec::with_capacity(n), None, None);
    for Entry { name, fixed, span, body } in entries {
        let index = (!fixed).then_some(bodies.len() as u32);
        if !body.parts.is_empty() {
            first_shape.get_or_insert(span.clone());
        }
        let n_parts = body.parts.len();
        if fixed {
            fixed_bodies.insert(name.clone(), colliders.len() as u32..(colliders.len() + n_parts) as u32);
        }
        for (k, part) in body.parts.iter().enumerate() {
            let part_name = if n_parts == 1 { name.clone() } else { format!("{name}.{}", k + 1) };
            let mut collider = Collider::new(part_name, index, part.shape.clone());
            (collider.translation, collider.rotation) = match fixed {
                true => (body.position + body.orientation * part.position, body.orientation * part.rotation),
                false => (part.position - body.centre, part.rotation),
            };
            (collider.material, collider.groups, collider.continuous) = (body.material, body.groups, body.continuous);
            if let Some(motion) = &body.motion {
                collider.motion = Some(Box::new(motion.of_part(reader, &name, part)?));
            }
            colliders.push(collider);
        }
        if !fixed {
            let (x, r) = (body.position + body.orientation * body.centre, body.orientation);
            q.extend_from_slice(&[x.x, x.y, x.z, r.w, r.i, r.j, r.k]);
            v.extend_from_slice(&body.state_velocity());
            bodies.push(RigidBody { name, mass: body.mass, inertia: body.inertia });
            first.get_or_insert(span);
        }
    }
    if bodies.is_empty() {
        return Some((None, None));
    }
    let mut wrong = |span: Option<Range<usize>>, message: String| reader.mistakes.push(super::Diagnostic::new(span, message));
    let system = RigidBodies::new(bodies, gravity).map_err(|e| wrong(first, e.to_string())).ok()?;
    let detector = match colliders.is_empty() {
        true => None,
        false => Some(Detector::new(colliders, materials.list, materials.pairs).map_err(|e| wrong(first_shape, e.to_string())).ok()?),
    };
    Some((Some(Placed { system, q, v }), detector))
}

/// What touches what, and how.
pub(super) struct Surfaces<'a> {
    pub materials: &'a Materials,
    pub groups: &'a GroupNames,
}

/// A body as the file gives it.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub parts: Vec<Part>,
    pub material: u32,
    pub groups: Groups,
    pub mass: f64,
    /// Centre of mass in the file's body frame.
    pub centre: Vector3<f64>,
    pub inertia: Matrix3<f64>,
    pub position: Vector3<f64>,
    pub orientation: UnitQuaternion<f64>,
    pub velocity: Vector3<f64>,
    pub angular_velocity: Vector3<f64>,
    pub continuous: bool,
    /// How a fixed body moves, and its surface.
    pub motion: Option<BodyMotion>,
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

fn read_body(reader: &mut Reader<'_>, section: &Spanned<BodySchema>, surfaces: &Surfaces<'_>) -> Option<Body> {
    let s = section.get_ref();
    let (name, before) = (s.name.get_ref(), reader.mistakes.len());
    let parts = s.shape.as_ref().map_or(Some(Vec::new()), |shape| read_parts(reader, shape, name, s.fixed));
    let material = surfaces.materials.find(reader, s.material.as_ref());
    let groups = surfaces.groups.read(reader, s.groups.as_ref(), s.collides_with.as_ref());
    let position = reader.vector_or_zero::<3>(s.position.as_ref(), &format!("the position of \"{name}\""));
    let velocity = reader.vector_or_zero::<3>(s.velocity.as_ref(), &format!("the velocity of \"{name}\""));
    let spin = reader.vector_or_zero::<3>(s.angular_velocity.as_ref(), &format!("the angular velocity of \"{name}\""));
    let orientation = read_orientation(reader, s.orientation.as_ref(), s.rotation.as_ref(), name);
    let keys = MotionKeys { name, fixed: s.fixed, motion: s.motion.as_ref(), surface: s.surface.as_ref() };
    let motion = position.map_or(Some(None), |position| BodyMotion::read(reader, &keys, Vector3::from(position)));
    if s.fixed {
        let foreign = [
            ("velocity", &s.velocity),
            ("angular_velocity", &s.angular_velocity),
            ("mass", &s.mass),
            ("density", &s.density),
            ("centre", &s.centre),
            ("inertia", &s.inertia),
        ];
        for (key, value) in foreign {
            if let Some(value) = value {
                reader.wrong(value.span(), format!("the fixed body \"{name}\" has a {key}"), format!("remove `{key}`, or `fixed = true`"));
            }
        }
        if s.shape.is_none() {
            let message = format!("the fixed body \"{name}\" has no shape");
            reader.wrong(section.span(), message, "give it a shape: nothing can touch it otherwise");
        }
    }
    if reader.mistakes.len() > before {
        return None;
    }
    let (parts, mut mass) = (parts?, MassProperties { mass: 0.0, centre_of_mass: Vector3::zeros(), inertia: Matrix3::zeros() });
    if !s.fixed {
        let keys = MassKeys {
            name,
            span: section.span(),
            mass: s.mass.as_ref(),
            density: s.density.as_ref(),
            centre: s.centre.as_ref(),
            inertia: s.inertia.as_ref(),
        };
        mass = read_rule(reader, &keys)?.apply(reader, &keys, &parts)?;
    }
    let MassProperties { mass, centre_of_mass: centre, inertia } = mass;
    let (position, velocity, angular_velocity) = (position?.into(), velocity?.into(), spin?.into());
    let (material, groups, orientation) = (material?, groups?, orientation?);
    Some(Body {
        parts,
        material,
        groups,
        mass,
        centre,
        inertia,
        position,
        orientation,
        velocity,
        angular_velocity,
        continuous: s.continuous,
        motion: motion?,
    })
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
