//! The frames of the two bodies of a joint: where they are, how they move, and how wrenches on them become rows of G and curvature.

use super::joint_row::{Arrangement, Curvature, Motion, Pose};
use crate::error::ModelError;
use crate::systems::{BodyFrame, FrameId, Scratch, SystemSet, Wrench};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// One body of a joint.
#[derive(Clone, Debug)]
struct Side {
    /// `None` for the ground.
    frame: Option<FrameId>,
    /// The joint's point in the frame \[m\].
    point: Vector3<f64>,
    /// First of the frame's velocities in the relation's, and their number.
    columns: (usize, usize),
}

/// The frames of two bodies, each with a point of the joint.
#[derive(Clone)]
pub(super) struct JointFrames {
    systems: Arc<SystemSet>,
    sides: [Side; 2],
    velocities: Vec<usize>,
}

/// The bodies of a joint where it is built.
pub(super) struct Built {
    /// Frames of the bodies.
    pub poses: [BodyFrame; 2],
    /// Both bodies (or the one that is not the ground) move in the plane.
    pub planar: bool,
}

impl Built {
    /// A world direction in the frame of a body.
    pub fn local(&self, body: usize, x: &Vector3<f64>) -> Vector3<f64> {
        self.poses[body].orientation.inverse() * x
    }
}

impl JointFrames {
    /// Finds the bodies and keeps the `points` (world frame) in their frames.
    pub fn new(
        name: &str,
        bodies: &[Option<String>; 2],
        points: &[Vector3<f64>; 2],
        systems: &Arc<SystemSet>,
        q: &[f64],
    ) -> Result<(Self, Built), ModelError> {
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        let mut frames = [None; 2];
        for (frame, body) in frames.iter_mut().zip(bodies) {
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
        let side =
            |i: usize| Side { frame: frames[i], point: poses[i].orientation.inverse() * (points[i] - poses[i].origin), columns: (0, 0) };
        let mut found = JointFrames { systems: Arc::clone(systems), sides: [side(0), side(1)], velocities: Vec::new() };
        let mut velocities = found.own_velocities();
        velocities.sort_unstable();
        velocities.dedup();
        found.set_velocities(velocities);
        Ok((found, Built { poses, planar }))
    }

    /// Velocities of the model on which the frames depend, frame by frame.
    pub(crate) fn own_velocities(&self) -> Vec<usize> {
        self.sides.iter().filter_map(|side| side.frame).flat_map(|id| self.systems.frame_velocities(id)).collect()
    }

    /// Columns of the rows from now on: ascending velocities of the model that contain those of the frames.
    pub(crate) fn set_velocities(&mut self, velocities: Vec<usize>) {
        for side in &mut self.sides {
            let range = side.frame.map_or(0..0, |id| self.systems.frame_velocities(id));
            side.columns = (velocities.partition_point(|&v| v < range.start), range.len());
        }
        self.velocities = velocities;
    }

    /// Columns of the rows.
    pub fn velocities(&self) -> &[usize] {
        &self.velocities
    }

    #[inline]
    pub fn arrangement(&self, q: &[f64]) -> Arrangement {
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

    /// Velocities and accelerations (at v̇ = 0) of the joint's points and bodies.
    pub fn motions(&self, q: &[f64], v: &[f64], at: &Arrangement) -> [Motion; 2] {
        [0, 1].map(|i| {
            let Some(id) = self.sides[i].frame else { return Motion::default() };
            let (split, arm) = (|x: [f64; 6]| (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5])), at.bodies[i].arm);
            let (velocity, angular) = split(self.systems.frame_velocity(q, v, id));
            let (acceleration, angular_acceleration) = split(self.systems.frame_bias(q, v, id));
            let turning = angular.cross(&arm);
            Motion {
                angular,
                angular_acceleration,
                velocity: velocity + turning,
                acceleration: acceleration + angular_acceleration.cross(&arm) + angular.cross(&turning),
            }
        })
    }

    /// Adds the rows of G that belong to wrenches on either body, over [`JointFrames::velocities`].
    pub fn add_rows(&self, q: &[f64], wrenches: [&[Wrench]; 2], jacobian: &mut [f64]) {
        for (side, wrenches) in self.sides.iter().zip(wrenches) {
            if let Some(id) = side.frame {
                self.systems.add_wrench_rows(q, id, wrenches, &mut jacobian[side.columns.0..], self.velocities.len());
            }
        }
    }

    /// Adds c (Jᵀ (∂W/∂x) J + (∂Jᵀ/∂q) W) with the wrenches W and the blocks of their derivatives, over [`JointFrames::velocities`].
    pub fn add_curvature(
        &self,
        q: &[f64],
        (blocks, total): (&Curvature, &[Wrench; 2]),
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let stride = self.velocities.len();
        let Scratch { inputs, outputs, registers, .. } = scratch;
        for (jacobian, side) in [&mut *inputs, &mut *outputs].into_iter().zip(&self.sides) {
            jacobian.resize(6 * side.columns.1, 0.0);
            if let Some(id) = side.frame {
                self.systems.frame_jacobian(q, id, jacobian);
            }
        }
        for ((side, wrench), at_column) in self.sides.iter().zip(total).zip([0, 1]) {
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
