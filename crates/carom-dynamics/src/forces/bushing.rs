//! Bushings: linear springs and dampers over the six relative displacements of two frames.
//!
//! B₁, B₂ are the axes of the bushing as carried by either body, equal at the start, d the vector between its points. The coordinates are
//!
//! ```text
//! y = B₁ᵀ d,     θ = log(B₁ᵀ B₂),     ẏ = B₁ᵀ (ḋ − ω₁ × d),     θ̇ = D(θ) B₂ᵀ (ω₂ − ω₁),     D = I + ½ [θ] + β(θ) [θ]²
//! τ_y = −K_y y − C_y ẏ,     τ_θ = −K_θ θ − C_θ θ̇
//! ```
//!
//! with diagonal K, C in the axes of the bushing. The force on body 2 at its point is F = B₁ τ_y, the moment M = B₂ Dᵀ τ_θ; the reactions −F, acting
//! in the same line, and −M are on body 1. The elastic part is the gradient of ½ yᵀK_y y + ½ θᵀK_θ θ, also for large turns, and the damper takes
//! ẏᵀC_y ẏ + θ̇ᵀC_θ θ̇ ≥ 0. The rotation vector θ jumps where the bodies are half a turn apart: bushings are for less.
//!
//! D is the inverse of the right Jacobian of the exponential map; β = (1 − (θ/2) cot(θ/2))/θ², as in the rates of rotation vectors of rigid bodies.

use super::acting::{Motion, NO_RESPONSE, Pair, Place, Response};
use super::body_force::{ForceElement, ForcePart, StiffRowVisitor};
use crate::error::{ModelError, NonFinite};
use crate::systems::{BodyFrame, Instant, JacobianFactors, Scratch, SystemSet, Wrench};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

/// What a bushing is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct BushingSource {
    /// Names of the two bodies; `None` is the ground.
    pub bodies: [Option<String>; 2],
    /// Its point in the world frame at the start \[m\].
    pub point: Vector3<f64>,
    /// Its axes in the world frame at the start.
    pub axes: UnitQuaternion<f64>,
    /// K_y \[N/m\], ≥ 0.
    pub stiffness: Vector3<f64>,
    /// C_y \[N s/m\], ≥ 0.
    pub damping: Vector3<f64>,
    /// K_θ \[N m/rad\], ≥ 0.
    pub rotational_stiffness: Vector3<f64>,
    /// C_θ \[N m s/rad\], ≥ 0.
    pub rotational_damping: Vector3<f64>,
}

/// A bushing.
pub(super) struct Bushing {
    name: String,
    pair: Pair,
    /// The axes of the bushing in either frame.
    axes: [Matrix3<f64>; 2],
    source: BushingSource,
}

/// The bushing at an instant.
struct Deformed {
    places: [Place; 2],
    motions: [Motion; 2],
    /// B₁, B₂.
    axes: [Matrix3<f64>; 2],
    /// d, ḋ − ω₁ × d.
    separation: Vector3<f64>,
    slip: Vector3<f64>,
    y: Vector3<f64>,
    y_rate: Vector3<f64>,
    turn: Vector3<f64>,
    /// D.
    chart: Matrix3<f64>,
    /// B₂ᵀ (ω₂ − ω₁).
    spin: Vector3<f64>,
    turn_rate: Vector3<f64>,
}

impl Bushing {
    pub fn new(name: &str, source: &BushingSource, systems: &SystemSet, q: &[f64]) -> Result<Self, ModelError> {
        let pair = Pair::new(name, &source.bodies, [Some(source.point); 2], systems, q)?;
        let lists = [
            ("stiffness", source.stiffness),
            ("damping", source.damping),
            ("rotational stiffness", source.rotational_stiffness),
            ("rotational damping", source.rotational_damping),
        ];
        for (what, values) in lists {
            if let Some(&value) = values.iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
                return Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected: "numbers ≥ 0 are needed" });
            }
        }
        let axes = pair.ends.each_ref().map(|end| {
            let pose = end.frame.map_or_else(BodyFrame::default, |id| systems.frame(q, id));
            (pose.orientation.inverse() * source.axes).to_rotation_matrix().into_inner()
        });
        Ok(Bushing { name: name.to_owned(), pair, axes, source: source.clone() })
    }

    fn deformed(&self, systems: &SystemSet, at: Instant<'_>) -> Deformed {
        let places = self.pair.places(systems, at.q);
        let motions = self.pair.motions(systems, at, &places);
        let axes = [places[0].rotation * self.axes[0], places[1].rotation * self.axes[1]];
        let separation = places[1].point - places[0].point;
        let slip = motions[1].velocity - motions[0].velocity - motions[0].angular.cross(&separation);
        let turn = turn_between(&axes);
        let chart = Matrix3::identity() + turn.cross_matrix() * 0.5 + square(&turn) * series(turn.norm_squared()).0;
        let spin = axes[1].tr_mul(&(motions[1].angular - motions[0].angular));
        let (y, y_rate) = (axes[0].tr_mul(&separation), axes[0].tr_mul(&slip));
        Deformed { places, motions, axes, separation, slip, y, y_rate, turn, chart, spin, turn_rate: chart * spin }
    }

    /// (τ_y, τ_θ), or their damping parts.
    fn loads(&self, at: &Deformed, part: ForcePart) -> (Vector3<f64>, Vector3<f64>) {
        let s = &self.source;
        let elastic = f64::from(u8::from(part == ForcePart::All));
        let of = |k: &Vector3<f64>, c: &Vector3<f64>, x: &Vector3<f64>, rate: &Vector3<f64>| {
            -(k.component_mul(x) * elastic + c.component_mul(rate))
        };
        (of(&s.stiffness, &s.damping, &at.y, &at.y_rate), of(&s.rotational_stiffness, &s.rotational_damping, &at.turn, &at.turn_rate))
    }

    /// F and M on body 2.
    fn reactions(at: &Deformed, (of_y, of_turn): &(Vector3<f64>, Vector3<f64>)) -> (Vector3<f64>, Vector3<f64>) {
        (at.axes[0] * of_y, at.axes[1] * at.chart.tr_mul(of_turn))
    }
}

fn wrenches(at: &Deformed, force: &Vector3<f64>, moment: &Vector3<f64>) -> [Wrench; 2] {
    let [first, second] = &at.places;
    [
        Wrench { force: -force, moment: -(first.arm + at.separation).cross(force) - moment },
        Wrench { force: *force, moment: second.arm.cross(force) + moment },
    ]
}

fn turn_between(axes: &[Matrix3<f64>; 2]) -> Vector3<f64> {
    let relative = Rotation3::from_matrix_unchecked(axes[0].tr_mul(&axes[1]));
    UnitQuaternion::from_rotation_matrix(&relative).scaled_axis()
}

/// [θ]².
fn square(turn: &Vector3<f64>) -> Matrix3<f64> {
    turn * turn.transpose() - Matrix3::from_diagonal_element(turn.norm_squared())
}

/// ∂θ/∂φ for small turns δφ in the world frame, of a rotation with the rotation vector θ: I − ½ [θ] + β [θ]².
pub(super) fn turn_of_vector(turn: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::identity() - turn.cross_matrix() * 0.5 + square(turn) * series(turn.norm_squared()).0
}

/// β and dβ/ds of s = θ².
fn series(s: f64) -> (f64, f64) {
    // below 1e-2 rad² the next terms are under 1e-15 of the first
    if s < 1e-2 {
        let beta = 1.0 / 12.0 + s * (1.0 / 720.0 + s * (1.0 / 30_240.0 + s * (1.0 / 1_209_600.0 + s / 47_900_160.0)));
        let slope = 1.0 / 720.0 + s * (1.0 / 15_120.0 + s * (1.0 / 403_200.0 + s / 11_975_040.0));
        return (beta, slope);
    }
    let half = 0.5 * s.sqrt();
    let (sin, cos) = half.sin_cos();
    let beta = (1.0 - half * cos / sin) / s;
    let slope = -(cos / sin - half / (sin * sin)) / (8.0 * half * s) - beta / s;
    (beta, slope)
}

/// ∂(x + ½ σ θ × x + β θ × (θ × x))/∂θ at constant x, for σ = ±1.
fn chart_derivative(turn: &Vector3<f64>, x: &Vector3<f64>, sign: f64) -> Matrix3<f64> {
    let (beta, slope) = series(turn.norm_squared());
    let twice = turn.cross(&turn.cross(x));
    let of_square = Matrix3::from_diagonal_element(turn.dot(x)) + turn * x.transpose() - x * turn.transpose() * 2.0;
    x.cross_matrix() * (-0.5 * sign) + of_square * beta + twice * turn.transpose() * (2.0 * slope)
}

impl ForceElement for Bushing {
    fn add_force(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        part: ForcePart,
        force: &mut [f64],
        _: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let deformed = self.deformed(systems, at);
        let (on_second, moment) = Self::reactions(&deformed, &self.loads(&deformed, part));
        super::acting::check_force(&self.name, &(on_second + moment))?;
        self.pair.add_wrenches(systems, at.q, wrenches(&deformed, &on_second, &moment), force);
        Ok(())
    }

    fn potential(&self, systems: &SystemSet, _: f64, q: &[f64], _: &mut Scratch) -> Result<f64, NonFinite> {
        let places = self.pair.places(systems, q);
        let axes = [places[0].rotation * self.axes[0], places[1].rotation * self.axes[1]];
        let (y, turn) = (axes[0].tr_mul(&(places[1].point - places[0].point)), turn_between(&axes));
        let s = &self.source;
        Ok(0.5 * (y.dot(&s.stiffness.component_mul(&y)) + turn.dot(&s.rotational_stiffness.component_mul(&turn))))
    }

    fn is_applied(&self) -> bool {
        self.source.damping != Vector3::zeros() || self.source.rotational_damping != Vector3::zeros()
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
        let now = self.deformed(systems, at);
        let loads = self.loads(&now, ForcePart::All);
        let (force, moment) = Self::reactions(&now, &loads);
        let of_force = self.force_response(&now, &force);
        let of_moment = self.moment_response(&now, &loads.1, &moment);
        let [first, second] = &now.places;
        let (lever_1, lever_2) = ((first.arm + now.separation).cross_matrix(), second.arm.cross_matrix());
        let mut responses: [[Response; 2]; 2] = [[NO_RESPONSE; 2]; 2];
        for o in 0..2 {
            for k in 0..4 {
                let (f, m) = (of_force[o][k], of_moment[o][k]);
                responses[0][o][0][k] = -f;
                responses[0][o][1][k] = -(lever_1 * f) - m;
                responses[1][o][0][k] = f;
                responses[1][o][1][k] = lever_2 * f + m;
            }
        }
        // the levers: δ(r₁ + d) = δx₂ − δx₁ − [r₂] δφ₂,   δr₂ = −[r₂] δφ₂
        let f = force.cross_matrix();
        responses[0][0][1][0] -= f;
        responses[0][1][1][0] += f;
        responses[0][1][1][1] -= f * lever_2;
        responses[1][1][1][1] += f * lever_2;
        self.pair.write_jacobians(systems, at, factors, (&wrenches(&now, &force, &moment), &responses), scratch);
        visit(&self.pair.columns.velocities, &scratch.rows);
        Ok(())
    }

    /// ẏ and θ̇.
    fn visit_stiff_rows(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: StiffRowVisitor<'_>,
    ) -> Result<(), NonFinite> {
        let (now, s) = (self.deformed(systems, at), &self.source);
        let of = |k: &Vector3<f64>, c: &Vector3<f64>| k * factors.position + c * factors.velocity;
        let (by_y, by_turn) = (of(&s.stiffness, &s.damping), of(&s.rotational_stiffness, &s.rotational_damping));
        scratch.rows.clear();
        for axis in 0..6 {
            let unit = |first: usize| Vector3::from_fn(|i, _| f64::from(u8::from(i + first == axis)));
            let (force, moment) = Self::reactions(&now, &(unit(0), unit(3)));
            self.pair.push_row(systems, at.q, wrenches(&now, &force, &moment), &mut scratch.rows);
        }
        visit(&self.pair.columns.velocities, &scratch.rows, &[by_y.x, by_y.y, by_y.z, by_turn.x, by_turn.y, by_turn.z]);
        Ok(())
    }
}

impl Bushing {
    /// ∂F by (δx, δφ, δẋ, δω) of either body.
    fn force_response(&self, at: &Deformed, force: &Vector3<f64>) -> [[Matrix3<f64>; 4]; 2] {
        let axes = at.axes[0];
        // δF = −K (δd + [d] δφ₁) − C (δe + [e] δφ₁) − [F] δφ₁ in the world frame, with e = ḋ − ω₁ × d
        let in_world = |k: &Vector3<f64>| axes * Matrix3::from_diagonal(k) * axes.transpose();
        let (k, c) = (in_world(&self.source.stiffness), in_world(&self.source.damping));
        let omega = at.motions.each_ref().map(|motion| motion.angular.cross_matrix());
        let arms = at.places.each_ref().map(|place| place.arm.cross_matrix());
        let (d, e) = (at.separation.cross_matrix(), at.slip.cross_matrix());
        let mut response = [[Matrix3::zeros(); 4]; 2];
        for (o, sign) in [-1.0, 1.0].into_iter().enumerate() {
            // δd = ±(δx − [r] δφ),   δe = ±(δẋ − [r] δω − [ω] [r] δφ) − [ω₁] δd
            let by_d = -(k - c * omega[0]) * sign;
            response[o] = [by_d, -(by_d * arms[o]) + c * omega[o] * arms[o] * sign, -c * sign, c * arms[o] * sign];
        }
        response[0][1] -= k * d + c * e + force.cross_matrix();
        // −δω₁ × d
        response[0][3] -= c * d;
        response
    }

    /// ∂M by (δx, δφ, δẋ, δω) of either body.
    fn moment_response(&self, at: &Deformed, load: &Vector3<f64>, moment: &Vector3<f64>) -> [[Matrix3<f64>; 4]; 2] {
        let axes = at.axes[1];
        let (k, c) = (Matrix3::from_diagonal(&self.source.rotational_stiffness), Matrix3::from_diagonal(&self.source.rotational_damping));
        // δθ = D B₂ᵀ (δφ₂ − δφ₁),   δθ̇ = D δs + S δθ,   δs = B₂ᵀ (δω₂ − δω₁ + [ω₂ − ω₁] δφ₂)
        let spin_slope = chart_derivative(&at.turn, &at.spin, 1.0);
        let load_slope = chart_derivative(&at.turn, load, -1.0);
        let onto = axes * at.chart.transpose();
        let by_turn = (axes * load_slope - onto * (k + c * spin_slope)) * at.chart * axes.transpose();
        let by_spin = -(onto * c * at.chart * axes.transpose());
        let relative = (at.motions[1].angular - at.motions[0].angular).cross_matrix();
        let zero = Matrix3::zeros();
        [[zero, -by_turn, zero, -by_spin], [zero, by_turn + by_spin * relative - moment.cross_matrix(), zero, by_spin]]
    }
}
