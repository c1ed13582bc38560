//! Rigid bodies whose orientation is given by other coordinates than a unit quaternion.
//!
//! Velocities are those of [`RigidBodies`] (linear in the world frame, ω in the body frame), so M and F are the same; only the coordinates
//! and q̇ = T(q) v differ, see [`RotationCoordinates`]. Steps turn on the group and convert back, R⁺ = R exp(Θ), so the motion is that of
//! the quaternion up to round-off, also through the singularities of angles.
//!
//! When to use: where the orientation is wanted or constrained in angles, or for comparison with models that are. Quaternions are cheaper and
//! have contacts; these bodies have none.

use super::rigid_bodies::{N_V, RigidBodies, RigidBody, angular};
use super::rotation_coordinates::RotationCoordinates;
use super::{BodyFrame, Coordinate, Coordinates, Instant, JacobianFactors, Scratch, System, Wrench, spatial_frame};
use crate::error::{ModelError, NonFinite};
use nalgebra::{UnitQuaternion, Vector3};
use std::ops::Range;
use std::sync::Arc;

/// A set of rigid bodies under uniform gravity with one kind of rotation coordinates.
#[derive(Clone, Debug)]
pub struct ParametrisedBodies {
    bodies: RigidBodies,
    names: Arc<[String]>,
    weights: Vec<Vector3<f64>>,
    rotation: RotationCoordinates,
}

impl ParametrisedBodies {
    /// Builds the set; gravity in m/s².
    ///
    /// # Errors
    /// As [`RigidBodies::new`].
    pub fn new(bodies: Vec<RigidBody>, rotation: RotationCoordinates, gravity: Vector3<f64>) -> Result<Self, ModelError> {
        let names = bodies.iter().map(|body| body.name.clone()).collect();
        let weights = bodies.iter().map(|body| gravity * body.mass).collect();
        Ok(ParametrisedBodies { bodies: RigidBodies::new(bodies, gravity)?, names, weights, rotation })
    }

    /// The coordinates of a body with its centre of mass and orientation, angles between −π and π.
    #[must_use]
    pub fn coordinates_at(&self, centre: &Vector3<f64>, orientation: &UnitQuaternion<f64>) -> Vec<f64> {
        let mut q = vec![0.0; self.n_q()];
        q[..3].copy_from_slice(centre.as_slice());
        self.rotation.write(orientation, &[0.0; 9], &mut q[3..]);
        q
    }

    /// Coordinates per body.
    fn n_q(&self) -> usize {
        3 + self.rotation.len()
    }

    fn rotation_part<'a>(&self, q: &'a [f64], body: usize) -> &'a [f64] {
        &q[body * self.n_q() + 3..(body + 1) * self.n_q()]
    }

    fn orientation(&self, q: &[f64], body: usize) -> UnitQuaternion<f64> {
        self.rotation.rotation(self.rotation_part(q, body))
    }

    fn centre(&self, q: &[f64], body: usize) -> Vector3<f64> {
        Vector3::from_column_slice(&q[body * self.n_q()..body * self.n_q() + 3])
    }
}

impl System for ParametrisedBodies {
    fn coordinates(&self) -> Coordinates {
        let parts: Vec<_> = [("x", "m"), ("y", "m"), ("z", "m")].iter().chain(self.rotation.names()).collect();
        let of_body = |name: &String| parts.iter().map(|(part, unit)| Coordinate::new(format!("{name}.{part}"), *unit)).collect::<Vec<_>>();
        self.names.iter().flat_map(of_body).collect()
    }

    fn velocities(&self) -> Coordinates {
        self.bodies.velocities()
    }

    fn block_sizes(&self) -> Vec<usize> {
        self.bodies.block_sizes()
    }

    fn mass_is_constant(&self) -> bool {
        true
    }

    fn is_affine(&self) -> bool {
        self.bodies.is_affine()
    }

    fn mass(&self, t: f64, q: &[f64], mass: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.bodies.mass(t, q, mass, scratch)
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        if self.rotation == RotationCoordinates::Rodrigues {
            for (body, name) in self.names.iter().enumerate() {
                let at_limit =
                    |reason: String| NonFinite { what: format!("the orientation of \"{name}\", which {reason},"), value: f64::INFINITY };
                self.rotation.check(self.rotation_part(q, body)).map_err(at_limit)?;
            }
        }
        self.bodies.force(t, q, v, force, scratch)
    }

    fn add_jacobians(&self, at: Instant<'_>, factors: JacobianFactors, matrix: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.bodies.add_jacobians(at, factors, matrix, scratch)
    }

    fn energy(&self, t: f64, q: &[f64], v: &[f64], scratch: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        let potential = self.weights.iter().enumerate().map(|(body, weight)| -weight.dot(&self.centre(q, body))).sum();
        // the kinetic energy depends on the velocities only; the quaternion of nothing stands for the coordinates
        let kinetic = self.bodies.energy(t, &vec![0.0; 7 * self.names.len()], v, scratch)?.0;
        Ok((kinetic, potential))
    }

    fn advance(&self, q: &[f64], w: &[f64], q_next: &mut [f64]) {
        for (body, next) in q_next.chunks_exact_mut(self.n_q()).enumerate() {
            let centre = self.centre(q, body) + Vector3::from_column_slice(&w[body * N_V..body * N_V + 3]);
            next[..3].copy_from_slice(centre.as_slice());
            let turn = angular(w, body);
            if turn == Vector3::zeros() {
                next[3..].copy_from_slice(self.rotation_part(q, body));
            } else {
                let turned = self.orientation(q, body) * UnitQuaternion::from_scaled_axis(turn);
                let normal = UnitQuaternion::new_normalize(turned.into_inner());
                self.rotation.write(&normal, self.rotation_part(q, body), &mut next[3..]);
            }
        }
    }

    fn displacement_rate(&self, w: &[f64], v: &[f64], rate: &mut [f64]) {
        self.bodies.displacement_rate(w, v, rate);
    }

    fn velocity_of_rate(&self, w: &[f64], rate: &[f64], v: &mut [f64]) {
        self.bodies.velocity_of_rate(w, rate, v);
    }

    fn difference(&self, q: &[f64], q_to: &[f64], w: &mut [f64]) {
        for (body, w) in w.chunks_exact_mut(N_V).enumerate() {
            w[..3].copy_from_slice((self.centre(q_to, body) - self.centre(q, body)).as_slice());
            let turn = self.orientation(q, body).inverse() * self.orientation(q_to, body);
            w[3..].copy_from_slice(turn.scaled_axis().as_slice());
        }
    }

    fn frames(&self) -> Arc<[String]> {
        Arc::clone(&self.names)
    }

    fn frame_velocities(&self, frame: usize) -> Range<usize> {
        frame * N_V..(frame + 1) * N_V
    }

    fn frame(&self, q: &[f64], frame: usize) -> BodyFrame {
        BodyFrame { origin: self.centre(q, frame), orientation: self.orientation(q, frame) }
    }

    fn frame_jacobian(&self, q: &[f64], frame: usize, jacobian: &mut [f64]) {
        spatial_frame::write_jacobian(&self.orientation(q, frame), jacobian);
    }

    fn frame_velocity(&self, q: &[f64], v: &[f64], frame: usize) -> [f64; 6] {
        let omega = self.orientation(q, frame) * angular(v, frame);
        let v = &v[frame * N_V..];
        [v[0], v[1], v[2], omega.x, omega.y, omega.z]
    }

    fn add_frame_velocity_derivative(&self, q: &[f64], v: &[f64], frame: usize, factor: f64, matrix: &mut [f64]) {
        spatial_frame::add_velocity_derivative(&self.orientation(q, frame), &angular(v, frame), factor, matrix);
    }

    fn add_wrench_rows(&self, q: &[f64], frame: usize, wrenches: &[Wrench], rows: &mut [f64], stride: usize) {
        spatial_frame::add_wrench_rows(&self.orientation(q, frame), wrenches, rows, stride);
    }

    fn add_wrench_derivative(&self, q: &[f64], frame: usize, wrench: &Wrench, factor: f64, matrix: &mut [f64], stride: usize) {
        spatial_frame::add_wrench_derivative(&self.orientation(q, frame), wrench, factor, matrix, stride);
    }

    fn is_flat(&self) -> bool {
        false
    }

    fn velocities_of(&self, coordinate: usize) -> Range<usize> {
        let (body, part) = (coordinate / self.n_q(), coordinate % self.n_q());
        if part < 3 { body * N_V + part..body * N_V + part + 1 } else { body * N_V + 3..(body + 1) * N_V }
    }

    fn kinematic_row(&self, q: &[f64], coordinate: usize, row: &mut [f64]) {
        let (body, part) = (coordinate / self.n_q(), coordinate % self.n_q());
        match part {
            0..3 => row[0] = 1.0,
            _ => self.rotation.rate_row(self.rotation_part(q, body), part - 3, row),
        }
    }

    fn kinematic_bias(&self, q: &[f64], v: &[f64], coordinate: usize) -> f64 {
        let (body, part) = (coordinate / self.n_q(), coordinate % self.n_q());
        match part {
            0..3 => 0.0,
            _ => self.rotation.rate_bias(self.rotation_part(q, body), &angular(v, body), part - 3),
        }
    }

    fn file_velocities(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
        for (body, out) in out.chunks_exact_mut(N_V).enumerate() {
            out[3..].copy_from_slice((self.orientation(q, body) * angular(v, body)).as_slice());
        }
    }

    fn check_state(&self, q: &[f64]) -> Result<(), String> {
        for (body, name) in self.names.iter().enumerate() {
            self.rotation.check(self.rotation_part(q, body)).map_err(|reason| format!("the orientation of \"{name}\" {reason}"))?;
        }
        Ok(())
    }
}
