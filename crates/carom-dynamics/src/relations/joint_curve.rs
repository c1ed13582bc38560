//! A point of one body on a curve of another, or of the ground: pins in curved slots, beads on wires, cams, roller coasters.
//!
//! With y the point in the frame of body 1 the rows are the distances gᵢ(y) from the curve (`curve.rs`): two in space, one in the plane. A row
//! is a force along ∇gᵢ at the point, so that
//!
//! ```text
//! ġ = ∇g·ẏ,   g̈ = ∇g·ÿ + ẏᵀ (∇∇g) ẏ
//! ```
//!
//! Cost: a search among 256 samples and a few evaluations of the curve's formulas, about 1 µs. Exact G, (dG/dt) v and curvature, tested by
//! differences.

pub use super::curve::CurveSource;
use super::curve::{Curve, Distance};
use super::joint_curve_slide::CurveSlide;
use super::joint_frames::JointFrames;
use super::joint_row::{Arrangement, Curvature, JointRow};
use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::systems::{Scratch, SystemSet, Wrench};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// A point of the second body on a curve in the frame of the first.
#[derive(Clone)]
pub struct PointOnCurve {
    frames: JointFrames,
    curve: Curve,
    rows: usize,
}

impl PointOnCurve {
    /// The `point` of the second body (in the world frame, at the coordinates `q`) stays on a curve given in the frame of the first (in the
    /// world where that is the ground).
    ///
    /// # Errors
    /// [`ModelError::Joint`]: bodies that do not exist, a curve that stands still or is not finite, a point that is not on it;
    /// [`ModelError::Formula`].
    pub fn new(
        name: &str,
        bodies: &[Option<String>; 2],
        point: Vector3<f64>,
        source: &CurveSource,
        systems: &Arc<SystemSet>,
        q: &[f64],
    ) -> Result<Self, ModelError> {
        let origin =
            bodies[0].as_ref().and_then(|body| systems.find_frame(body)).map_or_else(Vector3::zeros, |id| systems.frame(q, id).origin);
        let (frames, built) = JointFrames::new(name, bodies, &[origin, point], systems, q)?;
        let curve = Curve::new(name, source, built.planar)?;
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        let y = built.local(0, &(point - origin));
        let nearest = curve.nearest_point(&y, &mut Scratch::default()).map_err(|e| wrong(e.to_string()))?;
        let distance = (y - nearest).norm();
        // what decimal input can say, as for points of joints
        if distance.is_nan() || distance > 1e-9 * (1.0 + y.norm()) {
            let there = built.poses[0].orientation * nearest + origin;
            let place =
                if built.planar { format!("[{}, {}]", there.x, there.y) } else { format!("[{}, {}, {}]", there.x, there.y, there.z) };
            return Err(wrong(format!("its point is {distance:.3e} m off the curve; the nearest point of the curve is {place}")));
        }
        Ok(PointOnCurve { frames, curve, rows: if built.planar { 1 } else { 2 } })
    }

    /// The velocity along the curve, for friction: bounds with [`crate::JointLoad`] of all rows of this joint and μ as factor.
    #[must_use]
    pub fn slide(&self) -> CurveSlide {
        CurveSlide { frames: self.frames.clone(), curve: self.curve.clone() }
    }

    fn at(&self, q: &[f64], scratch: &mut Scratch) -> Result<(Arrangement, [Distance; 2]), NonFinite> {
        let at = self.frames.arrangement(q);
        let distances = self.curve.distances(&(at.bodies[0].rotation.transpose() * at.separation), scratch)?;
        Ok((at, distances))
    }
}

impl Relation for PointOnCurve {
    fn n_rows(&self) -> usize {
        self.rows
    }

    fn velocities(&self) -> &[usize] {
        self.frames.velocities()
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn position(&self, _: f64, q: &[f64], g: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let (_, distances) = self.at(q, scratch)?;
        g.iter_mut().zip(&distances).for_each(|(g, distance)| *g = distance.value);
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        let (at, distances) = self.at(q, scratch)?;
        let mut wrenches = [[Wrench::default(); 2]; 2];
        for (k, distance) in distances.iter().enumerate() {
            [wrenches[0][k], wrenches[1][k]] = JointRow::Normal(distance.gradient).wrenches(&at);
        }
        rows.jacobian.fill(0.0);
        rows.bias.fill(0.0);
        self.frames.add_rows(q, [&wrenches[0][..self.rows], &wrenches[1][..self.rows]], rows.jacobian);
        Ok(())
    }

    fn acceleration_bias(&self, _: f64, q: &[f64], v: &[f64], bias: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let (at, distances) = self.at(q, scratch)?;
        let motions = self.frames.motions(q, v, &at);
        let seen = motions[1].velocity - motions[0].velocity - motions[0].angular.cross(&at.separation);
        let rate = at.bodies[0].rotation.transpose() * seen;
        for (bias, distance) in bias.iter_mut().zip(&distances) {
            *bias = JointRow::Normal(distance.gradient).acceleration(&at, &motions) + rate.dot(&(distance.hessian * rate));
        }
        Ok(())
    }

    fn add_curvature(
        &self,
        _: f64,
        q: &[f64],
        lambda: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let (at, distances) = self.at(q, scratch)?;
        let (mut blocks, mut total): (Curvature, _) = ([[Matrix3::zeros(); 4]; 4], [Wrench::default(); 2]);
        let rotation = &at.bodies[0].rotation;
        // the point as body 1 sees it moves with (o₁, φ₁, o₂, φ₂)
        let (identity, reach, r2) = (Matrix3::identity(), at.separation.cross_matrix(), at.bodies[1].arm.cross_matrix());
        let seen = [-identity, reach, identity, -r2];
        for (&lambda, distance) in lambda.iter().zip(&distances) {
            let row = JointRow::Normal(distance.gradient);
            row.add_curvature(&at, lambda, &mut blocks);
            let hessian = rotation * distance.hessian * rotation.transpose() * lambda;
            for (blocks, left) in blocks.iter_mut().zip(&seen) {
                for (block, right) in blocks.iter_mut().zip(&seen) {
                    *block += left.transpose() * hessian * right;
                }
            }
            for (total, unit) in total.iter_mut().zip(row.wrenches(&at)) {
                total.force += lambda * unit.force;
                total.moment += lambda * unit.moment;
            }
        }
        self.frames.add_curvature(q, (&blocks, &total), factor, matrix, scratch);
        Ok(())
    }
}
