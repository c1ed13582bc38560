//! Any number of 3D rigid bodies as one system with contiguous arrays.
//!
//! Coordinates of a body: centre of mass (x, y, z) in the world frame, unit quaternion (w, i, j, k) from body to world.
//! Velocities: linear in the world frame, angular ω in the body frame. Then M = diag(m I₃, J) is constant and
//!
//! ```text
//! m v̇ = m g,     J ω̇ = −ω × J ω,     ẋ = v,     q̇ = ½ q ⊗ (0, ω).
//! ```

use super::coordinates::BodyParts;
use super::{BodyFrame, Coordinates, Instant, JacobianFactors, Scratch, System, Wrench, spatial_frame};
use crate::error::{ModelError, NonFinite};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Coordinates per body.
pub const N_Q: usize = 7;
/// Velocities per body.
pub const N_V: usize = 6;

const COORDINATES: BodyParts = &[("x", "m"), ("y", "m"), ("z", "m"), ("qw", ""), ("qx", ""), ("qy", ""), ("qz", "")];
const VELOCITIES: BodyParts = &[("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"), ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s")];

/// What a body is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidBody {
    /// Name, unique in the model.
    pub name: String,
    /// Mass \[kg\], positive.
    pub mass: f64,
    /// Inertia about the centre of mass in the body frame [kg m²], symmetric positive definite, physical.
    pub inertia: Matrix3<f64>,
}

/// A set of rigid bodies under uniform gravity.
#[derive(Clone, Debug)]
pub struct RigidBodies {
    names: Arc<[String]>,
    masses: Vec<f64>,
    inertias: Vec<Matrix3<f64>>,
    gravity: Vector3<f64>,
    isotropic: Vec<bool>,
    affine: bool,
}

impl RigidBodies {
    /// Builds the set; gravity in m/s².
    ///
    /// # Errors
    /// Non-positive or non-finite mass, inertia that no body can have (triangle inequality of the principal moments),
    /// duplicate names.
    pub fn new(bodies: Vec<RigidBody>, gravity: Vector3<f64>) -> Result<Self, ModelError> {
        let mut system = RigidBodies {
            names: Arc::default(),
            masses: Vec::with_capacity(bodies.len()),
            inertias: Vec::with_capacity(bodies.len()),
            gravity,
            isotropic: Vec::with_capacity(bodies.len()),
            affine: true,
        };
        if let Some(value) = gravity.iter().find(|x| !x.is_finite()) {
            return Err(ModelError::OutOfRange { what: "gravity".into(), value: *value, expected: "a finite number is needed" });
        }
        check_names(bodies.iter().map(|body| body.name.as_str()))?;
        let mut names = Vec::with_capacity(bodies.len());
        for body in bodies {
            check_mass(&body.name, body.mass)?;
            check_inertia(&body.name, &body.inertia)?;
            let isotropic = body.inertia == Matrix3::from_diagonal_element(body.inertia[(0, 0)]);
            system.affine &= isotropic;
            system.isotropic.push(isotropic);
            names.push(body.name);
            system.masses.push(body.mass);
            system.inertias.push(body.inertia);
        }
        system.names = names.into();
        Ok(system)
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// There are no bodies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Names must differ.
pub(super) fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), ModelError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(ModelError::DuplicateName { what: "body", name: name.to_owned() });
        }
    }
    Ok(())
}

/// A mass must be positive and finite.
pub(super) fn check_mass(body: &str, mass: f64) -> Result<(), ModelError> {
    if mass > 0.0 && mass.is_finite() {
        return Ok(());
    }
    Err(ModelError::OutOfRange {
        what: format!("mass of body \"{body}\""),
        value: mass,
        expected: "a positive, finite mass [kg] is needed",
    })
}

/// Principal moments must be positive and satisfy the triangle inequality, up to round-off (thin bodies reach equality).
pub(super) fn check_inertia(body: &str, inertia: &Matrix3<f64>) -> Result<(), ModelError> {
    let symmetric = (inertia - inertia.transpose()).amax() <= 1e-12 * inertia.amax();
    let moments = if inertia.iter().all(|x| x.is_finite()) { inertia.symmetric_eigenvalues() } else { Vector3::repeat(f64::NAN) };
    let sum = moments.sum();
    let physical = moments.iter().all(|&m| m > 0.0 && m <= sum - m + 1e-9 * sum);
    if symmetric && physical {
        return Ok(());
    }
    Err(ModelError::Inertia { body: body.to_owned(), moments: [moments[0], moments[1], moments[2]] })
}

/// The orientation of a body, from its coordinates.
#[inline]
#[must_use]
pub fn orientation(q: &[f64], body: usize) -> UnitQuaternion<f64> {
    let c = &q[body * N_Q..(body + 1) * N_Q];
    UnitQuaternion::new_unchecked(Quaternion::new(c[3], c[4], c[5], c[6]))
}

/// The centre of mass of a body, from its coordinates.
#[inline]
#[must_use]
pub fn centre(q: &[f64], body: usize) -> Vector3<f64> {
    Vector3::from_column_slice(&q[body * N_Q..body * N_Q + 3])
}

/// The angular velocity of a body in its own frame, from its velocities.
#[inline]
#[must_use]
pub fn angular(v: &[f64], body: usize) -> Vector3<f64> {
    Vector3::from_column_slice(&v[body * N_V + 3..(body + 1) * N_V])
}

/// Rate of the rotation vector Θ of R(t) = R₀ exp(Θ(t)) for the angular velocity ω in the body frame:
///
/// ```text
/// Θ̇ = ω + ½ Θ × ω + (1 − (θ/2) cot(θ/2))/θ² Θ × (Θ × ω),      θ = |Θ| < 2π
/// ```
#[must_use]
pub(crate) fn rotation_vector_rate(turn: &Vector3<f64>, omega: &Vector3<f64>) -> Vector3<f64> {
    let square = turn.norm_squared();
    // below 1e-4 rad² the next term of the series, θ⁴/30240, is under 1e-12 of the first
    let factor = if square < 1e-4 {
        1.0 / 12.0 + square / 720.0
    } else {
        let half = 0.5 * square.sqrt();
        (1.0 - half / half.tan()) / square
    };
    let cross = turn.cross(omega);
    omega + 0.5 * cross + factor * turn.cross(&cross)
}

/// The angular velocity in the body frame of R(t) = R₀ exp(Θ(t)), the inverse of [`rotation_vector_rate`]:
///
/// ```text
/// ω = Θ̇ − (1 − cos θ)/θ² Θ × Θ̇ + (θ − sin θ)/θ³ Θ × (Θ × Θ̇),      θ = |Θ|
/// ```
#[must_use]
pub(crate) fn angular_velocity_of_rate(turn: &Vector3<f64>, rate: &Vector3<f64>) -> Vector3<f64> {
    let square = turn.norm_squared();
    // below 1e-4 rad² the next terms of the series, θ⁴/720 and θ⁴/5040, are under 1e-10 of the first
    let (first, second) = if square < 1e-4 {
        (0.5 - square / 24.0 + square * square / 720.0, 1.0 / 6.0 - square / 120.0 + square * square / 5040.0)
    } else {
        let angle = square.sqrt();
        ((1.0 - angle.cos()) / square, (angle - angle.sin()) / (square * angle))
    };
    let cross = turn.cross(rate);
    rate - first * cross + second * turn.cross(&cross)
}

impl System for RigidBodies {
    fn coordinates(&self) -> Coordinates {
        Coordinates::of_bodies(&self.names, COORDINATES)
    }

    fn velocities(&self) -> Coordinates {
        Coordinates::of_bodies(&self.names, VELOCITIES)
    }

    fn block_sizes(&self) -> Vec<usize> {
        vec![3; 2 * self.len()]
    }

    fn mass_is_constant(&self) -> bool {
        true
    }

    fn is_affine(&self) -> bool {
        self.affine
    }

    fn mass(&self, _: f64, _: &[f64], mass: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        for ((block, m), inertia) in mass.chunks_exact_mut(18).zip(&self.masses).zip(&self.inertias) {
            block[..9].copy_from_slice(&[*m, 0.0, 0.0, 0.0, *m, 0.0, 0.0, 0.0, *m]);
            block[9..].copy_from_slice(inertia.as_slice()); // symmetric: row- and column-major agree
        }
        Ok(())
    }

    fn force(&self, _: f64, _: &[f64], v: &[f64], force: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        for (body, f) in force.chunks_exact_mut(N_V).enumerate() {
            let linear = self.gravity * self.masses[body];
            f[..3].copy_from_slice(linear.as_slice());
            if self.isotropic[body] {
                f[3..].fill(0.0);
            } else {
                let omega = angular(v, body);
                f[3..].copy_from_slice((self.inertias[body] * omega).cross(&omega).as_slice());
            }
        }
        Ok(())
    }

    fn add_jacobians(&self, at: Instant<'_>, factors: JacobianFactors, matrix: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        for (body, block) in matrix.chunks_exact_mut(18).enumerate() {
            if self.isotropic[body] {
                continue;
            }
            // C = ∂(ω × Jω)/∂ω = [ω]J − [Jω]
            let (omega, inertia) = (angular(at.v, body), &self.inertias[body]);
            let c = omega.cross_matrix() * inertia - (inertia * omega).cross_matrix();
            for i in 0..3 {
                for j in 0..3 {
                    block[9 + 3 * i + j] += factors.velocity * c[(i, j)];
                }
            }
        }
        Ok(())
    }

    fn energy(&self, _: f64, q: &[f64], v: &[f64], _: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for (body, (m, inertia)) in self.masses.iter().zip(&self.inertias).enumerate() {
            let linear = Vector3::from_column_slice(&v[body * N_V..body * N_V + 3]);
            let omega = angular(v, body);
            kinetic += 0.5 * (m * linear.norm_squared() + omega.dot(&(inertia * omega)));
            potential -= m * self.gravity.dot(&centre(q, body));
        }
        Ok((kinetic, potential))
    }

    fn advance(&self, q: &[f64], w: &[f64], q_next: &mut [f64]) {
        for body in 0..self.len() {
            let (from, to) = (&q[body * N_Q..], &mut q_next[body * N_Q..(body + 1) * N_Q]);
            for i in 0..3 {
                to[i] = from[i] + w[body * N_V + i];
            }
            let turn = angular(w, body);
            let next = if turn == Vector3::zeros() {
                orientation(q, body)
            } else {
                // exact rotation by the mean angular velocity; one Newton step keeps |q| = 1 to round-off
                let next = (orientation(q, body) * UnitQuaternion::from_scaled_axis(turn)).into_inner();
                UnitQuaternion::new_unchecked(next * (1.5 - 0.5 * next.norm_squared()))
            };
            to[3..7].copy_from_slice(&[next.w, next.i, next.j, next.k]);
        }
    }

    fn displacement_rate(&self, w: &[f64], v: &[f64], rate: &mut [f64]) {
        rate.copy_from_slice(v);
        for body in 0..self.len() {
            let (turn, omega) = (angular(w, body), angular(v, body));
            rate[body * N_V + 3..(body + 1) * N_V].copy_from_slice(rotation_vector_rate(&turn, &omega).as_slice());
        }
    }

    fn velocity_of_rate(&self, w: &[f64], rate: &[f64], v: &mut [f64]) {
        v.copy_from_slice(rate);
        for body in 0..self.len() {
            let (turn, rate) = (angular(w, body), angular(rate, body));
            v[body * N_V + 3..(body + 1) * N_V].copy_from_slice(angular_velocity_of_rate(&turn, &rate).as_slice());
        }
    }

    fn difference(&self, q: &[f64], q_to: &[f64], w: &mut [f64]) {
        for body in 0..self.len() {
            for i in 0..3 {
                w[body * N_V + i] = q_to[body * N_Q + i] - q[body * N_Q + i];
            }
            let turn = orientation(q, body).inverse() * orientation(q_to, body);
            w[body * N_V + 3..(body + 1) * N_V].copy_from_slice(turn.scaled_axis().as_slice());
        }
    }

    fn frames(&self) -> Arc<[String]> {
        Arc::clone(&self.names)
    }

    fn frame_velocities(&self, frame: usize) -> Range<usize> {
        frame * N_V..(frame + 1) * N_V
    }

    fn frame(&self, q: &[f64], frame: usize) -> BodyFrame {
        BodyFrame { origin: centre(q, frame), orientation: orientation(q, frame) }
    }

    fn frame_jacobian(&self, q: &[f64], frame: usize, jacobian: &mut [f64]) {
        spatial_frame::write_jacobian(&orientation(q, frame), jacobian);
    }

    fn frame_velocity(&self, q: &[f64], v: &[f64], frame: usize) -> [f64; 6] {
        let omega = orientation(q, frame) * angular(v, frame);
        let v = &v[frame * N_V..];
        [v[0], v[1], v[2], omega.x, omega.y, omega.z]
    }

    fn add_frame_velocity_derivative(&self, q: &[f64], v: &[f64], frame: usize, factor: f64, matrix: &mut [f64]) {
        spatial_frame::add_velocity_derivative(&orientation(q, frame), &angular(v, frame), factor, matrix);
    }

    fn add_wrench_rows(&self, q: &[f64], frame: usize, wrenches: &[Wrench], rows: &mut [f64], stride: usize) {
        spatial_frame::add_wrench_rows(&orientation(q, frame), wrenches, rows, stride);
    }

    fn add_wrench_derivative(&self, q: &[f64], frame: usize, wrench: &Wrench, factor: f64, matrix: &mut [f64], stride: usize) {
        spatial_frame::add_wrench_derivative(&orientation(q, frame), wrench, factor, matrix, stride);
    }

    fn is_flat(&self) -> bool {
        false
    }

    fn velocities_of(&self, coordinate: usize) -> Range<usize> {
        let (body, part) = (coordinate / N_Q, coordinate % N_Q);
        if part < 3 { body * N_V + part..body * N_V + part + 1 } else { body * N_V + 3..(body + 1) * N_V }
    }

    fn kinematic_row(&self, q: &[f64], coordinate: usize, row: &mut [f64]) {
        let (body, part) = (coordinate / N_Q, coordinate % N_Q);
        if part < 3 {
            row[0] = 1.0;
            return;
        }
        // ½ q ⊗ (0, ω)
        let c = &q[body * N_Q + 3..(body + 1) * N_Q];
        let (w, x, y, z) = (0.5 * c[0], 0.5 * c[1], 0.5 * c[2], 0.5 * c[3]);
        let rows = [[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]];
        row.copy_from_slice(&rows[part - 3]);
    }

    fn kinematic_bias(&self, q: &[f64], v: &[f64], coordinate: usize) -> f64 {
        // ¼ q ⊗ (0, ω) ⊗ (0, ω) = −¼ |ω|² q
        let (body, part) = (coordinate / N_Q, coordinate % N_Q);
        if part < 3 { 0.0 } else { -0.25 * angular(v, body).norm_squared() * q[coordinate] }
    }

    fn kinematic_derivative(&self, q: &[f64], coordinate: usize, matrix: &mut [f64]) {
        matrix.fill(0.0);
        if coordinate % N_Q < 3 {
            return;
        }
        // ¼ q ⊗ (0, e_j) ⊗ (0, e_i) = −¼ δ_ij q + ½ T (e_j × e_i)
        let mut row = [0.0; 3];
        self.kinematic_row(q, coordinate, &mut row);
        for i in 0..3 {
            matrix[4 * i] = -0.25 * q[coordinate];
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            matrix[3 * j + i] = 0.5 * row[k];
            matrix[3 * i + j] = -0.5 * row[k];
        }
    }

    fn file_velocities(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
        for body in 0..self.len() {
            let omega = orientation(q, body) * angular(v, body);
            out[body * N_V + 3..(body + 1) * N_V].copy_from_slice(omega.as_slice());
        }
    }

    fn check_state(&self, q: &[f64]) -> Result<(), String> {
        for (body, name) in self.names.iter().enumerate() {
            let norm = orientation(q, body).into_inner().norm();
            if (norm - 1.0).abs() > 1e-9 {
                return Err(format!("the quaternion of body \"{name}\" has length {norm}, not 1"));
            }
        }
        Ok(())
    }

    fn n_rigid_bodies(&self) -> usize {
        self.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(name: &str, moments: [f64; 3]) -> RigidBody {
        RigidBody { name: name.into(), mass: 2.0, inertia: Matrix3::from_diagonal(&moments.into()) }
    }

    #[test]
    fn refuses_what_no_body_can_be() {
        let build = |b: RigidBody| RigidBodies::new(vec![b], Vector3::zeros()).map(|_| ());
        assert!(build(body("ok", [1.0, 1.0, 2.0])).is_ok());
        assert!(matches!(build(body("thin", [1.0, 1.0, 2.1])), Err(ModelError::Inertia { .. })));
        assert!(matches!(build(body("flat", [1.0, 0.0, 1.0])), Err(ModelError::Inertia { .. })));
        assert!(matches!(build(body("nan", [1.0, f64::NAN, 1.0])), Err(ModelError::Inertia { .. })));
        assert!(matches!(build(RigidBody { mass: -1.0, ..body("light", [1.0; 3]) }), Err(ModelError::OutOfRange { .. })));
        let twins = vec![body("a", [1.0; 3]), body("a", [1.0; 3])];
        assert!(matches!(RigidBodies::new(twins, Vector3::zeros()), Err(ModelError::DuplicateName { .. })));
    }

    /// The rows of T and the bias (dT/dt) v agree with the motion q(ε) = q ⊕ εw at constant velocity w.
    #[test]
    fn kinematics_agree_with_advance() {
        let bodies = RigidBodies::new(vec![body("a", [1.0, 1.5, 2.0])], Vector3::zeros()).unwrap();
        let r = UnitQuaternion::from_euler_angles(0.3, -0.7, 1.1);
        let q = [0.1, 0.2, 0.3, r.w, r.i, r.j, r.k];
        let (w, epsilon) = ([0.3, 0.1, -0.2, 0.5, -0.4, 0.8], 1e-4);
        let moved = |factor: f64| {
            let (mut next, step) = ([0.0; 7], w.map(|w| w * factor));
            bodies.advance(&q, &step, &mut next);
            next
        };
        let (plus, minus) = (moved(epsilon), moved(-epsilon));
        for c in 0..N_Q {
            let range = bodies.velocities_of(c);
            let mut row = vec![0.0; range.len()];
            bodies.kinematic_row(&q, c, &mut row);
            let rate: f64 = row.iter().zip(&w[range]).map(|(a, b)| a * b).sum();
            // central differences with ε = 1e-4: truncation 1e-9, round-off 1e-16/1e-4 and 1e-16/1e-8
            assert!((rate - (plus[c] - minus[c]) / (2.0 * epsilon)).abs() < 1e-8);
            let second = (plus[c] - 2.0 * q[c] + minus[c]) / (epsilon * epsilon);
            assert!((bodies.kinematic_bias(&q, &w, c) - second).abs() < 1e-7);
        }
    }

    /// C = −∂F/∂ω by central differences.
    #[test]
    fn gyroscopic_jacobian_by_differences() {
        let bodies = RigidBodies::new(vec![body("a", [1.0, 1.5, 2.0])], Vector3::new(0.0, 0.0, -9.81)).unwrap();
        let (q, v) = ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 3.0, -2.0, 1.0]);
        let mut scratch = Scratch::default();
        let mut matrix = [0.0; 18];
        let factors = JacobianFactors { velocity: 1.0, position: 0.0 };
        bodies.add_jacobians(Instant { t: 0.0, q: &q, v: &v }, factors, &mut matrix, &mut scratch).unwrap();
        for j in 0..3 {
            let mut force = |shift: f64| {
                let (mut moved, mut f) = (v, [0.0; 6]);
                moved[3 + j] += shift;
                bodies.force(0.0, &q, &moved, &mut f, &mut scratch).unwrap();
                f
            };
            let (plus, minus) = (force(1e-5), force(-1e-5));
            for i in 0..3 {
                let difference = -(plus[3 + i] - minus[3 + i]) / 2e-5;
                // the force is quadratic: central differences are exact up to round-off 1e-15/1e-5
                assert!((matrix[9 + 3 * i + j] - difference).abs() < 1e-9);
            }
        }
    }
}
