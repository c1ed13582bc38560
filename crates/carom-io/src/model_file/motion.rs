//! Prescribed motion of fixed bodies in space, and running surfaces.
//!
//! ```toml
//! [[body]]
//! fixed = true
//! motion = { z = "0.1*sin(5*t)" }                                          # displacement [m]
//! motion = { angle = "2*t", axis = [0, 0, 1], centre = [0, 0, 0] }         # turn [rad] about a point of the world; default: its position
//! surface = { velocity = ["1", 0, 0] }                                     # conveyor belt, in the frame of the body [m/s]
//! surface = { spin = "2", axis = [0, 1, 0], centre = [0, 0, 0] }           # drum, about a point in the frame of the body [rad/s]
//! ```

use super::motors::formula_of_time;
use super::numbers::Reader;
use super::schema::{BodyMotionSchema, SurfaceSchema};
use super::shapes::Part;
use super::value::Value;
use carom_collision::motion::{MotionError, PARTS};
use carom_collision::{Motion, MotionSource};
use nalgebra::Vector3;
use std::ops::Range;
use toml::Spanned;

/// The motion of a fixed body, with what its surface does in the frame of the body.
#[derive(Clone, Debug)]
pub(super) struct BodyMotion {
    source: MotionSource,
    /// Where the formulas stand, in their order.
    places: [Range<usize>; 8],
}

/// What an entry says about motion.
pub(super) struct MotionKeys<'a> {
    pub name: &'a str,
    pub fixed: bool,
    pub motion: Option<&'a Spanned<BodyMotionSchema>>,
    pub surface: Option<&'a Spanned<SurfaceSchema>>,
}

impl BodyMotion {
    /// Reads `motion` and `surface` of a body at `position`; `Some(None)` where there is neither.
    pub fn read(reader: &mut Reader<'_>, s: &MotionKeys<'_>, position: Vector3<f64>) -> Option<Option<Self>> {
        let (name, before) = (s.name, reader.mistakes.len());
        let given = [("motion", s.motion.map(Spanned::span)), ("surface", s.surface.map(Spanned::span))];
        for (key, span) in given.iter().filter(|_| !s.fixed) {
            if let Some(span) = span {
                let help = format!("remove it, or add `fixed = true`: only fixed bodies have a `{key}`");
                reader.wrong(span.clone(), format!("the moving body \"{name}\" has a `{key}`"), help);
            }
        }
        let source = MotionSource { centre: Some(position), parameters: reader.parameters.clone(), ..MotionSource::default() };
        let mut motion = BodyMotion { source, places: Default::default() };
        if let Some(section) = s.motion {
            motion.read_motion(reader, section, name);
        }
        if let Some(section) = s.surface {
            motion.read_surface(reader, section, name);
        }
        if reader.mistakes.len() > before {
            return None;
        }
        if given.iter().all(|(_, span)| span.is_none()) {
            return Some(None);
        }
        motion.check(reader, name).then_some(Some(motion))
    }

    fn read_motion(&mut self, reader: &mut Reader<'_>, section: &Spanned<BodyMotionSchema>, name: &str) {
        let s = section.get_ref();
        for (part, value) in [&s.x, &s.y, &s.z, &s.angle].into_iter().enumerate() {
            self.take(reader, part, value.as_ref(), &format!("`{}` of the motion of \"{name}\"", PARTS[part]));
        }
        if self.source.formulas.iter().all(Option::is_none) {
            let help = "give `x`, `y`, `z` [m] or `angle` [rad] as formulas of t";
            reader.wrong(section.span(), format!("the motion of \"{name}\" says nothing"), help);
        }
        if let (Some(place), None) = (s.axis.as_ref().or(s.centre.as_ref()), &s.angle) {
            let message = format!("the motion of \"{name}\" has an axis or centre but no angle");
            reader.wrong(place.span(), message, "give `angle` [rad] as a formula of t, or remove it");
        }
        if let Some(axis) = direction(reader, s.axis.as_ref(), &format!("the axis of the motion of \"{name}\"")) {
            self.source.axis = axis;
        }
        if let Some(value) = &s.centre {
            let centre = reader.vector::<3>(value, &format!("the centre of the motion of \"{name}\""));
            self.source.centre = centre.map(Vector3::from).or(self.source.centre);
        }
    }

    fn read_surface(&mut self, reader: &mut Reader<'_>, section: &Spanned<SurfaceSchema>, name: &str) {
        let s = section.get_ref();
        if s.velocity.is_none() && s.spin.is_none() {
            let help = "give `velocity = [x, y, z]` [m/s] or `spin` [rad/s] as numbers or formulas of t";
            reader.wrong(section.span(), format!("the surface of \"{name}\" says nothing"), help);
        }
        if let Some(value) = &s.velocity {
            let what = format!("the velocity of the surface of \"{name}\"");
            match value.get_ref() {
                Value::List(list) if list.len() == 3 => {
                    for (k, entry) in list.iter().enumerate() {
                        self.take(reader, 4 + k, Some(&Spanned::new(value.span(), entry.clone())), &what);
                    }
                }
                _ => reader.wrong(value.span(), format!("{what} is not a list of three"), "give `velocity = [x, y, z]` [m/s]"),
            }
        }
        self.take(reader, 7, s.spin.as_ref(), &format!("the spin of the surface of \"{name}\""));
        if let (Some(place), None) = (s.axis.as_ref().or(s.centre.as_ref()), &s.spin) {
            let message = format!("the surface of \"{name}\" has an axis or centre but no spin");
            reader.wrong(place.span(), message, "give `spin` [rad/s] as a formula of t, or remove it");
        }
        if let Some(axis) = direction(reader, s.axis.as_ref(), &format!("the axis of the surface of \"{name}\"")) {
            self.source.surface_axis = axis;
        }
        if let Some(centre) = reader.vector_or_zero::<3>(s.centre.as_ref(), &format!("the centre of the surface of \"{name}\"")) {
            self.source.surface_centre = centre.into();
        }
    }

    /// Takes in one formula.
    fn take(&mut self, reader: &mut Reader<'_>, part: usize, value: Option<&Spanned<Value>>, what: &str) {
        if let Some(value) = value {
            self.source.formulas[part] = formula_of_time(reader, value, what);
            self.places[part] = value.span();
        }
    }

    /// Whether the formulas can be read; says where not.
    fn check(&self, reader: &mut Reader<'_>, name: &str) -> bool {
        let Err(error) = Motion::new(name, self.source.clone()) else { return true };
        self.report(reader, name, &error);
        false
    }

    fn report(&self, reader: &mut Reader<'_>, name: &str, error: &MotionError) {
        let place = match error {
            MotionError::Formula { part, .. } => PARTS.iter().position(|other| other == part),
            MotionError::Vector { .. } => None,
        };
        match (error, place) {
            (MotionError::Formula { source, .. }, Some(k)) => {
                let text = self.source.formulas[k].as_deref().unwrap_or_default();
                reader.wrong_formula(self.places[k].clone(), &format!("the motion of \"{name}\""), text, source);
            }
            _ => reader.wrong(None, format!("the motion of \"{name}\": {error}"), "give finite numbers, and axes that are not zero"),
        }
    }

    /// The motion of one part of the body: what its surface does, seen from the frame of the part.
    pub fn of_part(&self, reader: &mut Reader<'_>, name: &str, part: &Part) -> Option<Motion> {
        let (mut source, back) = (self.source.clone(), part.rotation.inverse());
        source.surface_axis = back * source.surface_axis;
        source.surface_centre = back * (source.surface_centre - part.position);
        let belt = &self.source.formulas[4..7];
        if part.rotation.angle() > 0.0 && belt.iter().any(Option::is_some) {
            let turn = back.to_rotation_matrix();
            for row in 0..3 {
                let term = |k: usize| format!("({:?})*({})", turn[(row, k)], belt[k].as_deref().unwrap_or("0"));
                source.formulas[4 + row] = Some([term(0), term(1), term(2)].join(" + "));
            }
        }
        match Motion::new(name, source) {
            Ok(motion) => Some(motion),
            Err(error) => {
                self.report(reader, name, &error);
                None
            }
        }
    }
}

/// A direction, which must not be zero.
fn direction(reader: &mut Reader<'_>, value: Option<&Spanned<Value>>, what: &str) -> Option<Vector3<f64>> {
    let value = value?;
    let axis = Vector3::from(reader.vector::<3>(value, what)?);
    if axis.norm() == 0.0 {
        reader.wrong(value.span(), format!("{what} is zero"), "give a direction, such as [0, 0, 1]");
        return None;
    }
    Some(axis)
}
