//! What the bodies of an entry have in common, and what is drawn for each.

use super::super::bodies::{Body, Surfaces, read_orientation};
use super::super::masses::{MassKeys, MassRule, read_rule};
use super::super::motion::{BodyMotion, MotionKeys};
use super::super::numbers::Reader;
use super::super::schema::ShapeSchema;
use super::super::shapes::{Part, read_parts};
use super::super::value::Value;
use super::keys::{Drawn, GenerateSchema, Kind, TemplateSchema};
use carom_collision::{Groups, MassProperties, Shape};
use carom_solvers::random::SplitMix64;
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use std::f64::consts::TAU;
use std::ops::Range;
use toml::Spanned;

/// The word for an orientation that is drawn.
const RANDOM: &str = "random";

/// What the bodies of an entry have in common.
pub(super) struct Template<'a> {
    name: &'a str,
    span: Range<usize>,
    keys: Option<&'a Spanned<TemplateSchema>>,
    shape: TemplateShape,
    /// `None` for bodies that do not move.
    mass: Option<MassRule>,
    material: u32,
    groups: Groups,
    /// `None` where it is drawn.
    orientation: Option<UnitQuaternion<f64>>,
    velocity: Vector3<f64>,
    angular_velocity: Vector3<f64>,
    /// Of bodies that do not move otherwise.
    motion: Option<BodyMotion>,
}

enum TemplateShape {
    /// The arrangement gives it.
    Given,
    Same(Vec<Part>, Option<MassProperties>),
    /// Sizes lie between those of two shapes of one kind.
    Between(Box<[Part; 2]>),
}

impl<'a> Template<'a> {
    /// Reads the keys of `body`; `origin` is where the whole is, about which it turns unless its motion says otherwise.
    pub fn read(
        reader: &mut Reader<'_>,
        section: &'a Spanned<GenerateSchema>,
        kind: &Kind,
        surfaces: &Surfaces<'_>,
        origin: Vector3<f64>,
    ) -> Option<Self> {
        let s = section.get_ref();
        let name = s.name.as_ref().map_or(kind.bodies, |name| name.get_ref().as_str());
        let (span, keys, fixed) = (s.body.as_ref().map_or_else(|| section.span(), Spanned::span), s.body.as_ref(), kind.fixed);
        let t = keys.map(Spanned::get_ref);
        let shape = match (t.and_then(|t| t.shape.as_ref()), kind.takes_shape) {
            (Some(shape), true) => read_shape(reader, shape, name),
            (None, false) => Some(TemplateShape::Given),
            (Some(shape), false) => {
                let help = "remove it: the kind gives the shapes of its bodies";
                reader.wrong(shape.span(), format!("the bodies of a {} have their own shape", kind.name), help);
                None
            }
            (None, true) => {
                let help = "give `body = { shape = { kind = \"sphere\", radius = { min = 0.05, max = 0.1 } }, density = 1000 }`";
                reader.wrong(span.clone(), format!("\"{name}\" has no shape"), help);
                None
            }
        };
        let material = surfaces.materials.find(reader, t.and_then(|t| t.material.as_ref()));
        let groups = surfaces.groups.read(reader, t.and_then(|t| t.groups.as_ref()), t.and_then(|t| t.collides_with.as_ref()));
        let value = |pick: fn(&TemplateSchema) -> Option<&Spanned<Value>>| t.and_then(pick);
        let (velocity, spin) = (value(|t| t.velocity.as_ref()), value(|t| t.angular_velocity.as_ref()));
        let orientation = match (value(|t| t.orientation.as_ref()), t.and_then(|t| t.rotation.as_ref())) {
            (Some(word), None) if *word.get_ref() == Value::Formula(RANDOM.to_owned()) => Some(None),
            (orientation, rotation) => read_orientation(reader, orientation, rotation, name).map(Some),
        };
        let motion = t.map_or(Some(None), |t| read_motion(reader, t, kind, (name, origin)));
        if fixed {
            let foreign = [
                ("velocity", velocity),
                ("angular_velocity", spin),
                ("mass", value(|t| t.mass.as_ref())),
                ("density", value(|t| t.density.as_ref())),
                ("centre", value(|t| t.centre.as_ref())),
                ("inertia", value(|t| t.inertia.as_ref())),
                ("orientation", value(|t| t.orientation.as_ref())),
            ];
            if let Some((key, Some(value))) = foreign.into_iter().find(|(_, value)| value.is_some()) {
                reader.wrong(value.span(), format!("the {} does not move, but has a {key}", kind.name), format!("remove `{key}`"));
                return None;
            }
        }
        let velocity = reader.vector_or_zero::<3>(velocity, &format!("the velocity of \"{name}\""));
        let angular_velocity = reader.vector_or_zero::<3>(spin, &format!("the angular velocity of \"{name}\""));
        let mut template = Template {
            name,
            span,
            keys,
            shape: shape?,
            mass: None,
            material: material?,
            groups: groups?,
            orientation: orientation?,
            velocity: velocity?.into(),
            angular_velocity: angular_velocity?.into(),
            motion: motion?,
        };
        if !fixed {
            let keys = template.mass_keys();
            let rule = read_rule(reader, &keys)?;
            if let TemplateShape::Same(parts, known) = &template.shape
                && known.is_none()
            {
                let found = rule.apply(reader, &keys, parts)?;
                template.shape = TemplateShape::Same(parts.clone(), Some(found));
            }
            template.mass = Some(rule);
        }
        Some(template)
    }

    fn mass_keys(&self) -> MassKeys<'a> {
        let t = self.keys.map(Spanned::get_ref);
        MassKeys {
            name: self.name,
            span: self.span.clone(),
            mass: t.and_then(|t| t.mass.as_ref()),
            density: t.and_then(|t| t.density.as_ref()),
            centre: t.and_then(|t| t.centre.as_ref()),
            inertia: t.and_then(|t| t.inertia.as_ref()),
        }
    }

    /// The next body, at the origin: sizes first, then the orientation.
    pub fn draw(&self, reader: &mut Reader<'_>, random: &mut SplitMix64) -> Option<Body> {
        let (parts, known) = match &self.shape {
            TemplateShape::Given => (Vec::new(), None),
            TemplateShape::Same(parts, known) => (parts.clone(), *known),
            TemplateShape::Between(ends) => (vec![between(ends, random)], None),
        };
        let mut body = self.with_parts(reader, parts, known)?;
        body.orientation = self.orientation.unwrap_or_else(|| random_rotation(random));
        Some(body)
    }

    /// A body whose shape the arrangement gives.
    pub fn with_shape(&self, reader: &mut Reader<'_>, shape: Shape) -> Option<Body> {
        if let Err(error) = shape.validate() {
            let message = format!("a shape of \"{}\": {error}", self.name);
            reader.mistakes.push(super::super::Diagnostic::new(self.span.clone(), message));
            return None;
        }
        let mut body = self.with_parts(reader, vec![Part::new(shape)], None)?;
        body.orientation = self.orientation.unwrap_or_else(UnitQuaternion::identity);
        Some(body)
    }

    /// A body of several convex pieces, each with its place.
    pub fn with_pieces(&self, reader: &mut Reader<'_>, parts: Vec<Part>) -> Option<Body> {
        if let Some(error) = parts.iter().find_map(|part| part.shape.validate().err()) {
            let message = format!("a piece of \"{}\": {error}", self.name);
            reader.mistakes.push(super::super::Diagnostic::new(self.span.clone(), message));
            return None;
        }
        self.with_parts(reader, parts, None)
    }

    fn with_parts(&self, reader: &mut Reader<'_>, parts: Vec<Part>, known: Option<MassProperties>) -> Option<Body> {
        let nothing = MassProperties { mass: 0.0, centre_of_mass: Vector3::zeros(), inertia: Matrix3::zeros() };
        let MassProperties { mass, centre_of_mass: centre, inertia } = match (known, &self.mass) {
            (Some(known), _) => known,
            (None, Some(rule)) => rule.apply(reader, &self.mass_keys(), &parts)?,
            (None, None) => nothing,
        };
        Some(Body {
            parts,
            material: self.material,
            groups: self.groups,
            mass,
            centre,
            inertia,
            position: Vector3::zeros(),
            orientation: UnitQuaternion::identity(),
            velocity: self.velocity,
            angular_velocity: self.angular_velocity,
            continuous: self.keys.is_some_and(|keys| keys.get_ref().continuous),
            motion: self.motion.clone(),
        })
    }
}

/// Reads `motion` and `surface`, which fixed bodies may have; `at` is the name and the origin of the whole.
fn read_motion(reader: &mut Reader<'_>, t: &TemplateSchema, kind: &Kind, at: (&str, Vector3<f64>)) -> Option<Option<BodyMotion>> {
    if let (Some(surface), "container") = (&t.surface, kind.name) {
        let help = "its sides have frames of their own: write them as [[body]], or move the container by `motion`";
        reader.wrong(surface.span(), "a container has no `surface`", help);
        return None;
    }
    let keys = MotionKeys { name: at.0, fixed: kind.fixed, motion: t.motion.as_ref(), surface: t.surface.as_ref() };
    BodyMotion::read(reader, &keys, at.1)
}

/// Reads the shape with the least and with the largest sizes.
fn read_shape(reader: &mut Reader<'_>, section: &Spanned<ShapeSchema<Spanned<Drawn>>>, name: &str) -> Option<TemplateShape> {
    let s = section.get_ref();
    let sizes = [&s.radius, &s.size, &s.half_extents, &s.length, &s.height];
    let drawn = sizes.into_iter().flatten().find(|size| matches!(size.get_ref(), Drawn::Range { .. }));
    let least = read_parts(reader, &Spanned::new(section.span(), end(s, 0)), name, false)?;
    let Some(drawn) = drawn else { return Some(TemplateShape::Same(least, None)) };
    let most = read_parts(reader, &Spanned::new(section.span(), end(s, 1)), name, false)?;
    let mut ends = least.into_iter().zip(most);
    let (Some((least, most)), None) = (ends.next(), ends.next()) else {
        reader.wrong(drawn.span(), "the sizes of a compound cannot be drawn", "give numbers");
        return None;
    };
    if sizes_of(&least.shape).iter().zip(sizes_of(&most.shape)).any(|(a, b)| *a > b) {
        reader.wrong(drawn.span(), "`min` is larger than `max`", "swap them");
        return None;
    }
    Some(TemplateShape::Between(Box::new([least, most])))
}

/// The shape with one of the ends of its ranges.
fn end(s: &ShapeSchema<Spanned<Drawn>>, which: usize) -> ShapeSchema {
    let pick = |size: &Option<Spanned<Drawn>>| {
        size.as_ref().map(|size| {
            let value = match (size.get_ref(), which) {
                (Drawn::Fixed(value), _) | (Drawn::Range { min: value, .. }, 0) | (Drawn::Range { max: value, .. }, _) => value.clone(),
            };
            Spanned::new(size.span(), value)
        })
    };
    ShapeSchema {
        kind: s.kind.clone(),
        radius: pick(&s.radius),
        size: pick(&s.size),
        half_extents: pick(&s.half_extents),
        length: pick(&s.length),
        height: pick(&s.height),
        normal: s.normal.clone(),
        vertices: s.vertices.clone(),
        triangles: s.triangles.clone(),
        heights: s.heights.clone(),
        spacing: s.spacing.clone(),
        file: s.file.clone(),
        scale: s.scale.clone(),
        parts: s.parts.clone(),
        position: s.position.clone(),
        orientation: s.orientation.clone(),
        rotation: s.rotation.clone(),
    }
}

fn sizes_of(shape: &Shape) -> Vec<f64> {
    match shape {
        Shape::Sphere { radius } => vec![*radius],
        Shape::Box { half_extents } => half_extents.as_slice().to_vec(),
        Shape::Capsule { radius, half_length: length }
        | Shape::Cylinder { radius, half_length: length }
        | Shape::Cone { radius, half_height: length } => vec![*radius, *length],
        _ => Vec::new(),
    }
}

/// A shape with every size drawn by itself.
fn between(ends: &[Part; 2], random: &mut SplitMix64) -> Part {
    let mut draw = |a: f64, b: f64| a + (b - a) * random.uniform();
    let shape = match (&ends[0].shape, &ends[1].shape) {
        (Shape::Sphere { radius: a }, Shape::Sphere { radius: b }) => Shape::Sphere { radius: draw(*a, *b) },
        (Shape::Box { half_extents: a }, Shape::Box { half_extents: b }) => {
            Shape::Box { half_extents: Vector3::new(draw(a.x, b.x), draw(a.y, b.y), draw(a.z, b.z)) }
        }
        (Shape::Capsule { radius: a, half_length: l }, Shape::Capsule { radius: b, half_length: m }) => {
            Shape::Capsule { radius: draw(*a, *b), half_length: draw(*l, *m) }
        }
        (Shape::Cylinder { radius: a, half_length: l }, Shape::Cylinder { radius: b, half_length: m }) => {
            Shape::Cylinder { radius: draw(*a, *b), half_length: draw(*l, *m) }
        }
        (Shape::Cone { radius: a, half_height: l }, Shape::Cone { radius: b, half_height: m }) => {
            Shape::Cone { radius: draw(*a, *b), half_height: draw(*l, *m) }
        }
        (other, _) => other.clone(),
    };
    Part { shape, ..ends[0].clone() }
}

/// A rotation, uniform over all of them. [Shoemake, *Uniform random rotations*, Graphics Gems III, 1992]
fn random_rotation(random: &mut SplitMix64) -> UnitQuaternion<f64> {
    let (u, a, b) = (random.uniform(), TAU * random.uniform(), TAU * random.uniform());
    let (r, s) = ((1.0 - u).sqrt(), u.sqrt());
    UnitQuaternion::from_quaternion(Quaternion::new(s * b.cos(), r * a.sin(), r * a.cos(), s * b.sin()))
}

/// Corners of the box around a body's shapes in the frame of its arrangement, relative to its origin.
pub(super) fn bounds(body: &Body) -> (Vector3<f64>, Vector3<f64>) {
    let (mut lower, mut upper) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    for part in &body.parts {
        let (a, b) = part.shape.bounds(&(body.orientation * part.position), &(body.orientation * part.rotation));
        (lower, upper) = (lower.inf(&a), upper.sup(&b));
    }
    (lower, upper)
}

/// Radius of a ball about a body's origin that holds its shapes.
pub(super) fn reach(body: &Body) -> f64 {
    body.parts.iter().map(|part| part.position.norm() + part.shape.bounding_radius()).fold(0.0, f64::max)
}
