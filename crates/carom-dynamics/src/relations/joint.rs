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

use super::joint_row::{Arrangement, Curvature, JointRow, Motion, Pose};
use super::joint_source::{JointSource, build_rows};
use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::system_set::{FrameId, SystemSet};
use crate::systems::{BodyFrame, Scratch, Wrench};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// One body of a joint.
#[derive(Clone, Debug)]
struct Side {
    /// `None` for the ground.
    frame: Option<FrameId>,
    /// The joint's point in the frame \[m\].
    point: Vector3<f64>,
    /// First of the frame's velocities in [`Relation::velocities`], and their number.
    columns: (usize, usize),
}

/// A joint.
pub struct Joint {
    systems: Arc<SystemSet>,
    sides: [Side; 2],
    rows: Vec<JointRow>,
    velocities: Vec<usize>,
}

impl Joint {
    /// Builds a joint at the coordinates `q`; its points and axes are kept in the frames of the bodies.
    ///
    /// # Errors
    /// [`ModelError::Joint`]: a body that does not exist or is its own partner, axes that are zero, not perpendicular (universal) or not in
    /// the plane (planar), points that coincide (distance), a kind that does not exist in the plane.
    pub fn new(name: &str, source: &JointSource, systems: &Arc<SystemSet>, q: &[f64]) -> Result<Self, ModelError> {
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        let mut frames = [None; 2];
        for (frame, body) in frames.iter_mut().zip(&source.bodies) {
            if let Some(body) = body {
                let found = systems.find_frame(body);
                *frame = Some(found.ok_or_else(|| wrong(unknown_body(body, systems)))?);
            }
        }
        if frames[0] == frames[1] {
            return Err(wrong("it needs two different bodies, or a body and the ground".into()));
        }
        let planar = frames.iter().flatten().all(|&id| systems.is_planar(id));
        let poses = frames.map(|id| id.map_or_else(BodyFrame::default, |id| systems.frame(q, id)));
        let rows = build_rows(source.kind, &source.placement, &poses, planar).map_err(wrong)?;

        let ranges = frames.map(|id| id.map_or(0..0, |id| systems.frame_velocities(id)));
        let mut velocities: Vec<usize> = ranges.iter().cloned().flatten().collect();
        velocities.sort_unstable();
        velocities.dedup();
        let side = |i: usize| {
            let local = poses[i].orientation.inverse() * (source.placement.points[i] - poses[i].origin);
            let first = velocities.partition_point(|&v| v < ranges[i].start);
            Side { frame: frames[i], point: local, columns: (first, ranges[i].len()) }
        };
        Ok(Joint { systems: Arc::clone(systems), sides: [side(0), side(1)], rows, velocities })
    }

    #[inline]
    fn arrangement(&self, q: &[f64]) -> Arrangement {
        let mut points = [Vector3::zeros(); 2];
        let mut bodies = [Pose { rotation: Matrix3::identity(), arm: Vector3::zeros() }; 2];
        for ((side, body), point) in self.sides.iter().zip(&mut bodies).zip(&mut points) {
            let Some(id) = side.frame else {
                (body.arm, *point) = (side.point, side.point);
                continue;
            };
            let frame = self.systems.frame(q, id);
            body.rotation = frame.orientation.to_rotation_matrix().into_inner();
            body.arm = body.rotation * side.point;
            *point = frame.origin + body.arm;
        }
        Arrangement { bodies, separation: points[1] - points[0] }
    }

    /// A distance of zero has no direction.
    fn check(&self, at: &Arrangement) -> Result<(), NonFinite> {
        if matches!(self.rows[..], [JointRow::Distance(_)]) && at.separation.norm_squared() == 0.0 {
            return Err(NonFinite { what: "the direction of a distance joint whose points coincide".into(), value: f64::NAN });
        }
        Ok(())
    }

    fn motion(&self, side: usize, q: &[f64], v: &[f64], arm: &Vector3<f64>) -> Motion {
        let Some(id) = self.sides[side].frame else { return Motion::default() };
        let split = |x: [f64; 6]| (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
        let (velocity, angular) = split(self.systems.frame_velocity(q, v, id));
        let (acceleration, angular_acceleration) = split(self.systems.frame_bias(q, v, id));
        let turning = angular.cross(arm);
        Motion {
            angular,
            angular_acceleration,
            velocity: velocity + turning,
            acceleration: acceleration + angular_acceleration.cross(arm) + angular.cross(&turning),
        }
    }
}

fn unknown_body(body: &str, systems: &SystemSet) -> String {
    let names = systems.frames();
    match crate::nearest::nearest(body, names.iter().map(String::as_str)) {
        Some(best) => format!("there is no body \"{body}\"; did you mean \"{best}\"?"),
        None if names.is_empty() => format!("there is no body \"{body}\": this model has no bodies"),
        None => format!("there is no body \"{body}\"; choose from: {}", names.join(", ")),
    }
}

impl Relation for Joint {
    fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn velocities(&self) -> &[usize] {
        &self.velocities
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn position(&self, _: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        let at = self.arrangement(q);
        for (g, row) in g.iter_mut().zip(&self.rows) {
            *g = row.value(&at);
        }
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        let (at, stride) = (self.arrangement(q), self.velocities.len());
        self.check(&at)?;
        let mut wrenches = [[Wrench::default(); 6]; 2];
        for (k, row) in self.rows.iter().enumerate() {
            [wrenches[0][k], wrenches[1][k]] = row.wrenches(&at);
        }
        rows.jacobian.fill(0.0);
        rows.bias.fill(0.0);
        for (side, wrenches) in self.sides.iter().zip(&wrenches) {
            if let Some(id) = side.frame {
                self.systems.add_wrench_rows(q, id, &wrenches[..self.rows.len()], &mut rows.jacobian[side.columns.0..], stride);
            }
        }
        Ok(())
    }

    fn acceleration_bias(&self, _: f64, q: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        let at = self.arrangement(q);
        self.check(&at)?;
        let motions = [0, 1].map(|side| self.motion(side, q, v, &at.bodies[side].arm));
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
        let (at, stride) = (self.arrangement(q), self.velocities.len());
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
        let Scratch { inputs, outputs, registers, .. } = scratch;
        for (jacobian, side) in [&mut *inputs, &mut *outputs].into_iter().zip(&self.sides) {
            jacobian.resize(6 * side.columns.1, 0.0);
            if let Some(id) = side.frame {
                self.systems.frame_jacobian(q, id, jacobian);
            }
        }
        for ((side, wrench), at_column) in self.sides.iter().zip(&total).zip([0, 1]) {
            let Some(id) = side.frame else { continue };
            let jacobian = if at_column == 0 { &*inputs } else { &*outputs };
            let place = side.columns.0 * stride + side.columns.0;
            self.systems.add_wrench_derivative(q, id, wrench, factor, &mut matrix[place..], stride);
            for (to, onto) in self.sides.iter().zip([&*inputs, &*outputs]).enumerate() {
                let (row_side, left) = onto;
                // registers = (∂W/∂x) J, then matrix += Jᵀ registers
                let (n, m) = (row_side.columns.1, side.columns.1);
                registers.clear();
                registers.resize(6 * m, 0.0);
                for i in 0..6 {
                    for k in 0..6 {
                        let b = factor * blocks[2 * to + i / 3][2 * at_column + k / 3][(i % 3, k % 3)];
                        if b != 0.0 {
                            registers[i * m..(i + 1) * m].iter_mut().zip(&jacobian[k * m..(k + 1) * m]).for_each(|(r, j)| *r += b * j);
                        }
                    }
                }
                for k in 0..6 {
                    for i in (0..n).filter(|i| left[k * n + i] != 0.0) {
                        let row = &mut matrix[(row_side.columns.0 + i) * stride + side.columns.0..][..m];
                        row.iter_mut().zip(&registers[k * m..(k + 1) * m]).for_each(|(x, r)| *x += left[k * n + i] * r);
                    }
                }
            }
        }
        Ok(())
    }
}
