//! Prescribed motion of obstacles in space, by formulas of time: lifts, shakers, turning paddles, conveyor belts, drums.
//!
//! The obstacle turns by an angle φ about a fixed axis a through a point c of the world and is displaced by d; besides, its surface may run
//! while its shape stays, with the velocity u and the angular velocity s about a point p, both in the frame of the shape:
//!
//! ```text
//! x(t) = c + d + R (x₀ − c),    R = exp(φ a),    Ω = φ̇ a,    r = x − c − d
//! w(x) = ḋ + Ω × r + w_s,       w_s = S (u + s × ρ),          ρ = Sᵀ (x − x_p)
//! dw/dt = d̈ + Ω̇ × r + Ω × (c − ḋ + S u) + S u̇ + (S ṡ + Ω × S s) × (x − x_p) + S s × (c − ẋ_p)
//! ```
//!
//! with S the orientation of the shape, x_p the place of p, and the rate at a point x that moves with the velocity c. Rows of a contact hold over
//! a step with the arms of its start, so that the point moves with the centre of body A: the velocities of the surface at several points are
//! then those of a rigid motion, and a body that rides on a turning obstacle does not creep.

use crate::pose::Pose;
use carom_dynamics::detection::SurfaceMotion;
use carom_dynamics::error::NonFinite;
use carom_dynamics::formula::{FormulaError, Graph, Scope, Tape, parse};
use nalgebra::{Unit, UnitQuaternion, Vector3};

/// Names of the formulas, in order: displacement \[m\], angle \[rad\], velocity of the surface \[m/s\] and its angular velocity \[rad/s\].
pub const PARTS: [&str; 8] = ["x", "y", "z", "angle", "surface x", "surface y", "surface z", "surface spin"];

/// The text of a motion; what is left out stays zero.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionSource {
    /// d, φ, u and |s| as formulas of `t` \[s\], in the order of [`PARTS`].
    pub formulas: [Option<String>; 8],
    /// a, of any length but zero.
    pub axis: Vector3<f64>,
    /// c \[m\]; the place of the shape where it is left out.
    pub centre: Option<Vector3<f64>>,
    /// Direction of s in the frame of the shape, of any length but zero.
    pub surface_axis: Vector3<f64>,
    /// p in the frame of the shape \[m\].
    pub surface_centre: Vector3<f64>,
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
}

impl Default for MotionSource {
    /// At rest, with axes along z.
    fn default() -> Self {
        MotionSource {
            formulas: Default::default(),
            axis: Vector3::z(),
            centre: None,
            surface_axis: Vector3::z(),
            surface_centre: Vector3::zeros(),
            parameters: Vec::new(),
        }
    }
}

/// What is wrong with a motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MotionError {
    /// A formula cannot be read.
    #[error("`{part}` of the motion: {source}")]
    Formula {
        /// Its name among [`PARTS`].
        part: &'static str,
        /// Why.
        source: FormulaError,
    },
    /// An axis is zero or a vector is not finite.
    #[error("`{what}` of the motion needs three finite numbers{}", if *.axis { ", not all zero" } else { "" })]
    Vector {
        /// Which.
        what: &'static str,
        /// It is an axis.
        axis: bool,
    },
}

/// A compiled motion.
#[derive(Clone, Debug)]
pub struct Motion {
    /// For messages.
    name: String,
    source: MotionSource,
    axis: Unit<Vector3<f64>>,
    surface_axis: Unit<Vector3<f64>>,
    /// All parts, their first derivatives, then the second ones of the first four; input t.
    tape: Tape,
}

/// Equal when made of the same text.
impl PartialEq for Motion {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.source == other.source
    }
}

/// How an obstacle moves at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionState {
    /// c + d.
    origin: Vector3<f64>,
    /// c.
    centre: Vector3<f64>,
    /// R.
    pub rotation: UnitQuaternion<f64>,
    /// ḋ and d̈.
    linear: [Vector3<f64>; 2],
    /// Ω \[rad/s\].
    pub rate: Vector3<f64>,
    /// Ω̇.
    rate_change: Vector3<f64>,
    /// u and u̇.
    belt: [Vector3<f64>; 2],
    /// s and ṡ.
    spin: [Vector3<f64>; 2],
    /// p.
    spin_centre: Vector3<f64>,
}

impl Motion {
    /// Reads and differentiates the formulas; `name` is that of the obstacle.
    ///
    /// # Errors
    /// The first formula that cannot be read; an axis that is zero.
    pub fn new(name: &str, source: MotionSource) -> Result<Self, MotionError> {
        let axis = |what, v: &Vector3<f64>| {
            let scaled = v / v.amax();
            Unit::try_new(scaled, 0.5).filter(|_| v.iter().all(|x| x.is_finite())).ok_or(MotionError::Vector { what, axis: true })
        };
        let (turning, running) = (axis("axis", &source.axis)?, axis("surface axis", &source.surface_axis)?);
        for (what, v) in [("centre", source.centre.unwrap_or_default()), ("surface centre", source.surface_centre)] {
            if !v.iter().all(|x| x.is_finite()) {
                return Err(MotionError::Vector { what, axis: false });
            }
        }
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        let t = graph.symbol("t");
        scope.symbol("t", t);
        for (name, value) in &source.parameters {
            scope.constant(name, *value);
        }
        let mut outputs = Vec::with_capacity(20);
        for (text, part) in source.formulas.iter().zip(PARTS) {
            let parsed = parse(&mut graph, text.as_deref().unwrap_or("0"), &scope);
            outputs.push(parsed.map_err(|source| MotionError::Formula { part, source })?);
        }
        for i in 0..12 {
            outputs.push(graph.derivative(outputs[i], t));
        }
        match Tape::compile(&graph, &[t], &outputs) {
            Ok(tape) => Ok(Motion { name: name.to_owned(), source, axis: turning, surface_axis: running, tape }),
            // the scope holds no symbol but t
            Err(error) => unreachable!("{error}"),
        }
    }

    /// The motion at time `t` of a shape that is placed at `place`; `registers` is room to work.
    ///
    /// # Errors
    /// [`NonFinite`] naming the obstacle and the formula.
    pub fn at(&self, t: f64, place: &Vector3<f64>, registers: &mut Vec<f64>) -> Result<MotionState, NonFinite> {
        let mut out = [0.0; 20];
        self.tape.evaluate(&[t], registers, &mut out);
        if let Some(i) = out.iter().position(|x| !x.is_finite()) {
            let derivative = ["", "the first derivative of ", "the second derivative of "][i / 8];
            return Err(NonFinite { what: format!("{derivative}the motion `{}` of \"{}\"", PARTS[i % 8], self.name), value: out[i] });
        }
        let vector = |first: usize| Vector3::from_column_slice(&out[first..first + 3]);
        let centre = self.source.centre.unwrap_or(*place);
        Ok(MotionState {
            origin: centre + vector(0),
            centre,
            rotation: UnitQuaternion::from_axis_angle(&self.axis, out[3]),
            linear: [vector(8), vector(16)],
            rate: self.axis.into_inner() * out[11],
            rate_change: self.axis.into_inner() * out[19],
            belt: [vector(4), vector(12)],
            spin: [self.surface_axis.into_inner() * out[7], self.surface_axis.into_inner() * out[15]],
            spin_centre: self.source.surface_centre,
        })
    }
}

impl MotionState {
    /// Where a point is that was at `x` in the model.
    pub(crate) fn apply(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.origin + self.rotation * (x - self.centre)
    }

    /// Velocity of the obstacle at a point, without that of its running surface.
    pub(crate) fn velocity_at(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.linear[0] + self.rate.cross(&(x - self.origin))
    }

    /// Velocity of the surface at a point of the shape at `pose`, and its rate of change at a point that moves with the velocity `c`.
    pub(crate) fn surface(&self, pose: &Pose, x: &Vector3<f64>, c: &Vector3<f64>) -> SurfaceMotion {
        let (r, axle) = (x - self.origin, pose.apply(&self.spin_centre));
        let arm = x - axle;
        let [u, u_change] = self.belt.map(|u| pose.rotation * u);
        let [s, s_change] = self.spin.map(|s| pose.rotation * s);
        let running = u + s.cross(&arm);
        SurfaceMotion {
            velocity: self.linear[0] + self.rate.cross(&r) + running,
            acceleration: self.linear[1]
                + self.rate_change.cross(&r)
                + self.rate.cross(&(c - self.linear[0] + u))
                + u_change
                + (s_change + self.rate.cross(&s)).cross(&arm)
                + s.cross(&(c - self.velocity_at(&axle))),
        }
    }

    /// Angular velocity of the surface and its rate.
    pub(crate) fn surface_rotation(&self, pose: &Pose) -> [Vector3<f64>; 2] {
        let [s, s_change] = self.spin.map(|s| pose.rotation * s);
        [self.rate + s, self.rate_change + s_change + self.rate.cross(&s)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Velocity and acceleration against differences of the place of a particle that rides on the surface.
    #[test]
    fn particles_of_the_surface() {
        let mut source =
            MotionSource { axis: Vector3::new(1.0, 2.0, -2.0), centre: Some(Vector3::new(0.3, -0.2, 0.1)), ..Default::default() };
        source.formulas = ["0.2*t^2", "sin(a*t)", "t", "t^2", "0.3*t", "0.1", "0", "1.5*t"].map(|text| Some(text.to_owned()));
        source.parameters = vec![("a".into(), 2.0)];
        (source.surface_axis, source.surface_centre) = (Vector3::new(0.0, 3.0, 4.0), Vector3::new(0.1, 0.2, 0.3));
        let motion = Motion::new("belt", source.clone()).unwrap();
        let (place, turn) = (Vector3::new(1.0, 2.0, 3.0), UnitQuaternion::from_euler_angles(0.3, -0.4, 0.9));
        let at = |t: f64| motion.at(t, &place, &mut Vec::new()).unwrap();
        let pose = |state: &MotionState| Pose::new(state.apply(&place), state.rotation * turn);
        // in the frame of the shape the particle obeys ρ̇ = u + s × ρ: a few steps of fourth order are exact enough
        let local = |from: f64, to: f64, start: Vector3<f64>| {
            let slope = |t: f64, x: &Vector3<f64>| {
                let s = Vector3::new(0.0, 0.6, 0.8) * (1.5 * t);
                Vector3::new(0.3 * t, 0.1, 0.0) + s.cross(&(x - source.surface_centre))
            };
            let h = to - from;
            let k1 = slope(from, &start);
            let k2 = slope(from + 0.5 * h, &(start + 0.5 * h * k1));
            let k3 = slope(from + 0.5 * h, &(start + 0.5 * h * k2));
            let k4 = slope(to, &(start + h * k3));
            start + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        };
        let (t, eps, start) = (0.7, 1e-4, Vector3::new(-0.4, 0.5, 0.2));
        let world = |to: f64| pose(&at(to)).apply(&local(t, to, start));
        let velocity = (world(t + eps) - world(t - eps)) / (2.0 * eps);
        let acceleration = (world(t + eps) - 2.0 * world(t) + world(t - eps)) / (eps * eps);
        // a point that rides along has the acceleration of the particle
        let found = at(t).surface(&pose(&at(t)), &world(t), &velocity);
        // truncation eps² times derivatives of some tens, round-off 1e-16/eps²
        assert!((found.velocity - velocity).norm() < 1e-6, "{found:?} {velocity}");
        assert!((found.acceleration - acceleration).norm() < 1e-6, "{found:?} {acceleration}");
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let with = |part: usize, text: &str| {
            let mut source = MotionSource::default();
            source.formulas[part] = Some(text.to_owned());
            source
        };
        assert!(matches!(Motion::new("lift", with(2, "q")), Err(MotionError::Formula { part: "z", .. })));
        let error = Motion::new("lift", with(1, "sqrt(t)")).unwrap().at(0.0, &Vector3::zeros(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.what, "the first derivative of the motion `y` of \"lift\"");
        let source = MotionSource { axis: Vector3::zeros(), ..MotionSource::default() };
        let error = Motion::new("lift", source).unwrap_err();
        assert_eq!(error.to_string(), "`axis` of the motion needs three finite numbers, not all zero");
    }
}
