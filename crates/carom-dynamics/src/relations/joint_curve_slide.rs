//! The velocity of a point along the curve that it is held on: what friction in a point-on-curve joint acts on.
//!
//! ```text
//! u = t(y)·ẏ,   u̇ = t·ÿ + ẏᵀ (∇t) ẏ        y the point in the frame of body 1, t the direction of the curve at the nearest point
//! ```
//!
//! A force −λ on it acts along the curve at the point, with its reaction on body 1. Coulomb friction |λ| ≤ c + μ |R| follows the reaction R of the joint's own
//! rows, which are the normal and the binormal part of the force on the curve ([`crate::JointLoad`]: two rows in space, one in the plane).

use super::curve::Curve;
use super::joint_frames::JointFrames;
use super::joint_row::{Arrangement, Curvature, JointRow};
use super::{Relation, Rows};
use crate::error::NonFinite;
use crate::systems::{Scratch, Wrench};
use nalgebra::{Matrix3, Vector3};

/// The velocity of a point of the second body along a curve of the first: see [`super::PointOnCurve::slide`].
#[derive(Clone)]
pub struct CurveSlide {
    pub(super) frames: JointFrames,
    pub(super) curve: Curve,
}

impl CurveSlide {
    /// The arrangement, t and ∇t.
    fn at(&self, q: &[f64], scratch: &mut Scratch) -> Result<(Arrangement, Vector3<f64>, Matrix3<f64>), NonFinite> {
        let at = self.frames.arrangement(q);
        let (direction, slope) = self.curve.direction(&(at.bodies[0].rotation.transpose() * at.separation), scratch)?;
        Ok((at, direction, slope))
    }
}

impl Relation for CurveSlide {
    fn n_rows(&self) -> usize {
        1
    }

    fn velocities(&self) -> &[usize] {
        self.frames.velocities()
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn is_holonomic(&self) -> bool {
        false
    }

    fn position(&self, _: f64, _: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        g.fill(0.0);
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        let (at, direction, _) = self.at(q, scratch)?;
        let [first, second] = JointRow::Normal(direction).wrenches(&at);
        rows.jacobian.fill(0.0);
        rows.bias.fill(0.0);
        self.frames.add_rows(q, [&[first], &[second]], rows.jacobian);
        Ok(())
    }

    fn acceleration_bias(&self, _: f64, q: &[f64], v: &[f64], bias: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let (at, direction, slope) = self.at(q, scratch)?;
        let motions = self.frames.motions(q, v, &at);
        let seen = motions[1].velocity - motions[0].velocity - motions[0].angular.cross(&at.separation);
        let rate = at.bodies[0].rotation.transpose() * seen;
        bias[0] = JointRow::Normal(direction).acceleration(&at, &motions) + rate.dot(&(slope * rate));
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
        let (at, direction, slope) = self.at(q, scratch)?;
        let (mut blocks, mut total): (Curvature, _) = ([[Matrix3::zeros(); 4]; 4], [Wrench::default(); 2]);
        let (row, rotation) = (JointRow::Normal(direction), &at.bodies[0].rotation);
        row.add_curvature(&at, lambda[0], &mut blocks);
        // the point as body 1 sees it moves with (o₁, φ₁, o₂, φ₂)
        let (identity, reach, r2) = (Matrix3::identity(), at.separation.cross_matrix(), at.bodies[1].arm.cross_matrix());
        let seen = [-identity, reach, identity, -r2];
        let turn = rotation * slope * rotation.transpose() * lambda[0];
        for (blocks, left) in blocks.iter_mut().zip(&seen) {
            for (block, right) in blocks.iter_mut().zip(&seen) {
                *block += left.transpose() * turn * right;
            }
        }
        for (total, unit) in total.iter_mut().zip(row.wrenches(&at)) {
            total.force += lambda[0] * unit.force;
            total.moment += lambda[0] * unit.moment;
        }
        self.frames.add_curvature(q, (&blocks, &total), factor, matrix, scratch);
        Ok(())
    }
}
