//! Springs and dampers between two points of bodies, or of a body and the ground.
//!
//! ```text
//! d = x₂ − x₁,   l = |d|,   n = d/l,   l̇ = n·ḋ,      force −f(l, l̇, t) n on point 2, +f n on point 1
//! ```
//!
//! Conserves momentum and angular momentum; a spring without damping has the potential of its law and conserves energy. Jacobians are exact, the
//! turning of n with its tension (f/l)(I − n nᵀ) included.

use super::acting::{Motion, Pair, Place, check_force, point_force, point_wrenches};
use super::body_force::{ForceElement, ForcePart, StiffRowVisitor};
use super::spring_law::{Extension, SpringLaw, SpringSource};
use crate::error::{ModelError, NonFinite};
use crate::systems::{Instant, JacobianFactors, Scratch, SystemSet};
use nalgebra::{Matrix3, Vector3};

/// What a spring between two points is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSpringSource {
    /// Names of the two bodies; `None` is the ground.
    pub bodies: [Option<String>; 2],
    /// Its points in the world frame at the start \[m\]; the centre of a body if `None`, the origin of the ground.
    pub points: [Option<Vector3<f64>>; 2],
    /// The tension over the length; formulas use `length`, `rate` and `t`.
    pub law: SpringSource,
}

/// A spring between two points.
pub(super) struct PointSpring {
    name: String,
    pair: Pair,
    law: SpringLaw,
}

/// The line between the points.
struct Line {
    places: [Place; 2],
    motions: [Motion; 2],
    /// ḋ.
    rate: Vector3<f64>,
    length: f64,
    /// n, zero where the points coincide.
    direction: Vector3<f64>,
}

impl PointSpring {
    pub fn new(name: &str, source: &PointSpringSource, systems: &SystemSet, q: &[f64]) -> Result<Self, ModelError> {
        let pair = Pair::new(name, &source.bodies, source.points, systems, q)?;
        let places = pair.places(systems, q);
        let law = SpringLaw::new(name, &source.law, ["length", "rate"], (places[1].point - places[0].point).norm())?;
        Ok(PointSpring { name: name.to_owned(), pair, law })
    }

    fn line(&self, systems: &SystemSet, at: Instant<'_>) -> Line {
        let places = self.pair.places(systems, at.q);
        let motions = self.pair.motions(systems, at, &places);
        let separation = places[1].point - places[0].point;
        let length = separation.norm();
        let direction = if length > 0.0 { separation / length } else { Vector3::zeros() };
        Line { places, motions, rate: motions[1].velocity - motions[0].velocity, length, direction }
    }

    fn extension(line: &Line, t: f64) -> Extension {
        Extension { t, x: line.length, rate: line.direction.dot(&line.rate) }
    }

    /// The tension f; where the points coincide it has no direction, unless it vanishes there.
    fn tension(&self, line: &Line, t: f64, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        let f = self.law.force(Self::extension(line, t), scratch)?;
        if line.length == 0.0 && f != 0.0 && self.law.vanishes_at_zero().is_none() {
            return Err(NonFinite { what: format!("the direction of \"{}\", whose points coincide,", self.name), value: f64::NAN });
        }
        Ok(f)
    }
}

impl ForceElement for PointSpring {
    fn add_force(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        part: ForcePart,
        force: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let line = self.line(systems, at);
        let mut tension = self.tension(&line, at.t, scratch)?;
        if part == ForcePart::Applied {
            tension -= self.law.elastic(line.length);
        }
        let on_second = -tension * line.direction;
        check_force(&self.name, &on_second)?;
        self.pair.add_wrenches(systems, at.q, point_wrenches(&line.places, &on_second), force);
        Ok(())
    }

    fn potential(&self, systems: &SystemSet, _: f64, q: &[f64], _: &mut Scratch) -> Result<f64, NonFinite> {
        let places = self.pair.places(systems, q);
        Ok(self.law.potential((places[1].point - places[0].point).norm()))
    }

    fn is_applied(&self) -> bool {
        self.law.is_applied()
    }

    fn couples_bodies(&self) -> bool {
        self.pair.couples()
    }

    fn visit_jacobians(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(&[usize], &[f64]),
    ) -> Result<(), NonFinite> {
        let line = self.line(systems, at);
        let tension = self.tension(&line, at.t, scratch)?;
        let (by_length, by_rate) = self.law.slopes(Self::extension(&line, at.t), scratch)?;
        let along = line.direction * line.direction.transpose();
        let (by_separation, by_rate) = if line.length > 0.0 {
            let across = (Matrix3::identity() - along) / line.length;
            let swing = line.direction * (across * line.rate).transpose();
            (-(along * by_length + across * tension + swing * by_rate), -along * by_rate)
        } else {
            // f/l tends to k
            (Matrix3::identity() * -self.law.vanishes_at_zero().unwrap_or(0.0), Matrix3::zeros())
        };
        let on_second = -tension * line.direction;
        let (wrenches, responses) = point_force(&line.places, &line.motions, &on_second, (&by_separation, &by_rate));
        self.pair.write_jacobians(systems, at, factors, (&wrenches, &responses), scratch);
        visit(&self.pair.columns.velocities, &scratch.rows);
        Ok(())
    }

    /// l̇ = n·ḋ.
    fn visit_stiff_rows(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: StiffRowVisitor<'_>,
    ) -> Result<(), NonFinite> {
        let line = self.line(systems, at);
        let (by_length, by_rate) = self.law.slopes(Self::extension(&line, at.t), scratch)?;
        let stiffness = (factors.position * by_length + factors.velocity * by_rate).max(0.0);
        scratch.rows.clear();
        self.pair.push_row(systems, at.q, point_wrenches(&line.places, &line.direction), &mut scratch.rows);
        visit(&self.pair.columns.velocities, &scratch.rows, &[stiffness]);
        Ok(())
    }

    fn switches(&self) -> Vec<String> {
        self.law.switches().into_iter().map(|kink| format!("{kink} of \"{}\"", self.name)).collect()
    }

    fn switch_value(&self, systems: &SystemSet, at: Instant<'_>, switch: usize, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        let line = self.line(systems, at);
        Ok(self.law.switch_value(Self::extension(&line, at.t), switch, scratch))
    }
}
