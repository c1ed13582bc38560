//! Joints between the frames of two bodies, or of a body and the ground.
//!
//! A joint is a list of elementary equations between a point and directions of either body (see the table below); what a frame is and how it
//! moves its system says, so joints connect bodies of any systems: rigid and planar bodies, bodies of a tree.
//!
//! ```text
//! kind            space: rows                                plane: rows
//! spherical       3  points agree                            -
//! revolute        5  points agree, axes parallel             2  points agree (a pin)
//! universal       4  points agree, axes perpendicular        -
//! cylindrical     4  point on the axis, axes parallel        -
//! screw           5  cylindrical, slide bound to the turn    -
//! planar          3  point in the plane, axes parallel       -
//! point-in-plane  1  point in the plane across the axis      -
//! prismatic       5  cylindrical and no turn about the axis  2  point on the axis, no turn
//! fixed           6  points agree, no turn                   3
//! distance        1  points keep their distance              1
//! point-on-line   2  point on the axis                       1
//! ```
//!
//! The multipliers are the forces on the second body in the world frame for rows where points agree \[N\], moments for those of directions
//! \[N m\]. A joint between planar bodies (or one and the ground) has the rows of the plane, any other those of space.
//!
//! When to use: mechanisms with closed loops, or bodies that should stay free of each other's coordinates. Open chains are cheaper in a tree.
//! Cost: G of a revolute joint between rigid bodies is about 100 ns. Source: E. Haug, Computer Aided Kinematics and Dynamics of Mechanical
//! Systems, 1989, ch. 9; the second derivatives and the curvature are our own, tested by differences.

use super::joint_frames::JointFrames;
use super::joint_row::{Arrangement, Curvature, JointRow};
use super::joint_rows::{build_rows, slip_rows};
use super::joint_source::JointSource;
use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::systems::{Scratch, SystemSet, Wrench};
use nalgebra::Matrix3;
use std::sync::Arc;

/// A joint.
pub struct Joint {
    frames: JointFrames,
    rows: Vec<JointRow>,
}

impl Joint {
    /// Builds a joint at the coordinates `q`; its points and axes are kept in the frames of the bodies.
    ///
    /// # Errors
    /// [`ModelError::Joint`]: a body that does not exist or is its own partner, axes that are zero, not perpendicular (universal) or not in
    /// the plane (planar), points that coincide (distance), a kind that does not exist in the plane, a screw without pitch.
    pub fn new(name: &str, source: &JointSource, systems: &Arc<SystemSet>, q: &[f64]) -> Result<Self, ModelError> {
        let (frames, built) = JointFrames::new(name, &source.bodies, &source.placement.points, systems, q)?;
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        let rows = build_rows(source.kind, &source.placement, &built).map_err(wrong)?;
        Ok(Joint { frames, rows })
    }

    /// The displacements of the point of the second body across the axis of the first, two rows, of a joint that lies as `source` says and leaves them free: what
    /// friction in a planar joint or at a point in a plane acts on.
    ///
    /// # Errors
    /// As [`Joint::new`]; a kind of joint that does not slide across its axis.
    pub fn slip(name: &str, source: &JointSource, systems: &Arc<SystemSet>, q: &[f64]) -> Result<Self, ModelError> {
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        let (frames, built) = JointFrames::new(name, &source.bodies, &source.placement.points, systems, q)?;
        if !source.kind.slides_across() || built.planar {
            return Err(wrong("it does not slide across an axis; planar and point-in-plane joints in space do".into()));
        }
        Ok(Joint { frames, rows: slip_rows(&source.placement, &built).map_err(wrong)? })
    }

    /// A distance of zero has no direction.
    fn check(&self, at: &Arrangement) -> Result<(), NonFinite> {
        self.rows.iter().try_for_each(|row| row.check(at))
    }
}

impl Relation for Joint {
    fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn velocities(&self) -> &[usize] {
        self.frames.velocities()
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn position(&self, _: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        let at = self.frames.arrangement(q);
        for (g, row) in g.iter_mut().zip(&self.rows) {
            *g = row.value(&at);
        }
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        let at = self.frames.arrangement(q);
        self.check(&at)?;
        let mut wrenches = [[Wrench::default(); 6]; 2];
        for (k, row) in self.rows.iter().enumerate() {
            [wrenches[0][k], wrenches[1][k]] = row.wrenches(&at);
        }
        rows.jacobian.fill(0.0);
        rows.bias.fill(0.0);
        let n = self.rows.len();
        self.frames.add_rows(q, [&wrenches[0][..n], &wrenches[1][..n]], rows.jacobian);
        Ok(())
    }

    fn acceleration_bias(&self, _: f64, q: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        let at = self.frames.arrangement(q);
        self.check(&at)?;
        let motions = self.frames.motions(q, v, &at);
        for (bias, row) in bias.iter_mut().zip(&self.rows) {
            *bias = row.acceleration(&at, &motions);
        }
        Ok(())
    }

    /// Jᵀ (∂W/∂x) J + (∂Jᵀ/∂q) W with the wrenches W of the multipliers.
    fn add_curvature(
        &self,
        _: f64,
        q: &[f64],
        lambda: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let at = self.frames.arrangement(q);
        self.check(&at)?;
        let mut blocks: Curvature = [[Matrix3::zeros(); 4]; 4];
        let mut total = [Wrench::default(); 2];
        for (row, &lambda) in self.rows.iter().zip(lambda) {
            row.add_curvature(&at, lambda, &mut blocks);
            for (total, unit) in total.iter_mut().zip(row.wrenches(&at)) {
                total.force += lambda * unit.force;
                total.moment += lambda * unit.moment;
            }
        }
        self.frames.add_curvature(q, (&blocks, &total), factor, matrix, scratch);
        Ok(())
    }
}
