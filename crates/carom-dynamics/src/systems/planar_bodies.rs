//! Any number of planar rigid bodies as one system: coordinates and velocities (x, y, angle) per body.
//!
//! ```text
//! m ẍ = m g_x,     m ÿ = m g_y,     J φ̈ = 0
//! ```

use super::coordinates::BodyParts;
use super::rigid_bodies::{check_mass, check_names};
use super::{BodyFrame, Coordinates, Instant, JacobianFactors, Scratch, System, Wrench};
use crate::error::{ModelError, NonFinite};
use nalgebra::{UnitQuaternion, Vector3};
use std::ops::Range;
use std::sync::Arc;

const COORDINATES: BodyParts = &[("x", "m"), ("y", "m"), ("angle", "rad")];
const VELOCITIES: BodyParts = &[("vx", "m/s"), ("vy", "m/s"), ("omega", "rad/s")];

/// What a planar body is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanarBody {
    /// Name, unique in the model.
    pub name: String,
    /// Mass \[kg\], positive.
    pub mass: f64,
    /// Moment of inertia about the centre of mass [kg m²], positive.
    pub inertia: f64,
}

/// A set of planar bodies under uniform gravity.
#[derive(Clone, Debug)]
pub struct PlanarBodies {
    names: Arc<[String]>,
    /// Mass \[kg\] and moment of inertia [kg m²] of each.
    masses: Vec<(f64, f64)>,
    gravity: [f64; 2],
}

impl PlanarBodies {
    /// Builds the set; gravity (x, y) in m/s².
    ///
    /// # Errors
    /// Non-positive or non-finite mass or inertia, duplicate names, non-finite gravity.
    pub fn new(bodies: Vec<PlanarBody>, gravity: [f64; 2]) -> Result<Self, ModelError> {
        if let Some(value) = gravity.iter().find(|x| !x.is_finite()) {
            return Err(ModelError::OutOfRange { what: "gravity".into(), value: *value, expected: "a finite number is needed" });
        }
        check_names(bodies.iter().map(|body| body.name.as_str()))?;
        for body in &bodies {
            check_mass(&body.name, body.mass)?;
            if !(body.inertia > 0.0 && body.inertia.is_finite()) {
                let what = format!("inertia of body \"{}\"", body.name);
                return Err(ModelError::OutOfRange {
                    what,
                    value: body.inertia,
                    expected: "a positive, finite moment of inertia [kg m²] is needed",
                });
            }
        }
        let masses = bodies.iter().map(|body| (body.mass, body.inertia)).collect();
        Ok(PlanarBodies { masses, names: bodies.into_iter().map(|body| body.name).collect(), gravity })
    }
}

impl System for PlanarBodies {
    fn coordinates(&self) -> Coordinates {
        Coordinates::of_bodies(&self.names, COORDINATES)
    }

    fn velocities(&self) -> Coordinates {
        Coordinates::of_bodies(&self.names, VELOCITIES)
    }

    fn block_sizes(&self) -> Vec<usize> {
        vec![3; self.masses.len()]
    }

    fn mass_is_constant(&self) -> bool {
        true
    }

    fn is_affine(&self) -> bool {
        true
    }

    fn mass(&self, _: f64, _: &[f64], mass: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        for (block, &(m, inertia)) in mass.chunks_exact_mut(9).zip(&self.masses) {
            block.copy_from_slice(&[m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, inertia]);
        }
        Ok(())
    }

    fn force(&self, _: f64, _: &[f64], _: &[f64], force: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        for (f, (m, _)) in force.chunks_exact_mut(3).zip(&self.masses) {
            f.copy_from_slice(&[m * self.gravity[0], m * self.gravity[1], 0.0]);
        }
        Ok(())
    }

    fn add_jacobians(&self, _: Instant<'_>, _: JacobianFactors, _: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        Ok(())
    }

    fn energy(&self, _: f64, q: &[f64], v: &[f64], _: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for ((&(m, inertia), q), v) in self.masses.iter().zip(q.chunks_exact(3)).zip(v.chunks_exact(3)) {
            kinetic += 0.5 * (m * (v[0] * v[0] + v[1] * v[1]) + inertia * v[2] * v[2]);
            potential -= m * (self.gravity[0] * q[0] + self.gravity[1] * q[1]);
        }
        Ok((kinetic, potential))
    }

    fn n_planar_bodies(&self) -> usize {
        self.masses.len()
    }

    fn frames(&self) -> Arc<[String]> {
        Arc::clone(&self.names)
    }

    fn is_planar(&self) -> bool {
        true
    }

    fn frame_velocities(&self, frame: usize) -> Range<usize> {
        3 * frame..3 * frame + 3
    }

    fn frame(&self, q: &[f64], frame: usize) -> BodyFrame {
        let q = &q[3 * frame..];
        BodyFrame { origin: Vector3::new(q[0], q[1], 0.0), orientation: UnitQuaternion::from_scaled_axis(Vector3::z() * q[2]) }
    }

    fn frame_jacobian(&self, _: &[f64], _: usize, jacobian: &mut [f64]) {
        jacobian.fill(0.0);
        // v_x, v_y, ω_z of six rows of three
        for at in [0, 4, 17] {
            jacobian[at] = 1.0;
        }
    }

    fn frame_velocity(&self, _: &[f64], v: &[f64], frame: usize) -> [f64; 6] {
        let v = &v[3 * frame..];
        [v[0], v[1], 0.0, 0.0, 0.0, v[2]]
    }

    fn add_frame_velocity_derivative(&self, _: &[f64], _: &[f64], _: usize, _: f64, _: &mut [f64]) {}

    fn add_wrench_rows(&self, _: &[f64], _: usize, wrenches: &[Wrench], rows: &mut [f64], stride: usize) {
        for (wrench, row) in wrenches.iter().zip(rows.chunks_mut(stride)) {
            row[0] += wrench.force.x;
            row[1] += wrench.force.y;
            row[2] += wrench.moment.z;
        }
    }

    fn add_wrench_derivative(&self, _: &[f64], _: usize, _: &Wrench, _: f64, _: &mut [f64], _: usize) {}
}
