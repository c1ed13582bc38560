//! One link of a tree: how its body hangs on its parent.
//!
//! With the joint's point at ρ from the parent's centre (turning with the parent), its translation s (in directions that turn with the
//! parent), and the body's centre at r from the joint (turning with the body),
//!
//! ```text
//! R_i = R_p C Q,     x_i = x_p + (ρ + s) + r,     ω_i = ω_p + ω_rel,     v_i = v_p + ω_p × (ρ + s) + ṡ + ω_i × r
//! α_i = α_p + ω_p × ω_rel,     a_i = a_p + α_p × (ρ + s) + ω_p × (ω_p × (ρ + s)) + 2 ω_p × ṡ + α_i × r + ω_i × (ω_i × r)
//! ```
//!
//! where accelerations are those at constant velocities, v̇ = 0. C is the body's orientation in its parent at zero coordinates, Q the
//! joint's rotation.

use super::tree_joint::TreeJoint;
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

/// A body of a tree with its joint; vectors in the frame that carries them.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub parent: Option<usize>,
    pub joint: TreeJoint,
    /// From the parent's centre of mass (the origin for the ground) to the joint, parent's frame \[m\].
    pub to_joint: Vector3<f64>,
    /// From the joint to the body's centre of mass, body frame \[m\].
    pub to_centre: Vector3<f64>,
    /// C: from the body to the parent at zero coordinates.
    pub turn: UnitQuaternion<f64>,
    /// Axis of the joint, body frame.
    pub axis: Vector3<f64>,
    /// First coordinate and velocity.
    pub q: usize,
    pub v: usize,
    pub mass: f64,
    pub inertia: Matrix3<f64>,
}

/// Where a body is.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkPose {
    pub centre: Vector3<f64>,
    pub orientation: UnitQuaternion<f64>,
}

impl LinkPose {
    pub const GROUND: LinkPose =
        LinkPose { centre: Vector3::new(0.0, 0.0, 0.0), orientation: UnitQuaternion::new_unchecked(Quaternion::new(1.0, 0.0, 0.0, 0.0)) };
}

/// How a body moves; accelerations at v̇ = 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkMotion {
    pub velocity: Vector3<f64>,
    pub angular: Vector3<f64>,
    pub acceleration: Vector3<f64>,
    pub angular_acceleration: Vector3<f64>,
}

/// A column of a joint: the angular velocity, and the velocity of the body's centre, of one unit of velocity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub angular: Vector3<f64>,
    pub linear: Vector3<f64>,
}

impl Link {
    /// Number of velocities of the joint.
    pub fn n_v(&self) -> usize {
        self.joint.n_velocities()
    }

    /// The quaternion of a joint that has one, at this place of its coordinates.
    pub fn quaternion(&self, q: &[f64]) -> UnitQuaternion<f64> {
        let at = self.q + self.joint.quaternion_at().unwrap_or(0);
        UnitQuaternion::new_unchecked(Quaternion::new(q[at], q[at + 1], q[at + 2], q[at + 3]))
    }

    /// Translation in the parent's directions at zero (times C), and rotation.
    fn joint_pose(&self, q: &[f64]) -> (Vector3<f64>, UnitQuaternion<f64>) {
        let c = &q[self.q..];
        let about = |angle: f64| UnitQuaternion::from_scaled_axis(self.axis * angle);
        match self.joint {
            TreeJoint::Fixed => (Vector3::zeros(), UnitQuaternion::identity()),
            TreeJoint::Revolute => (Vector3::zeros(), about(c[0])),
            TreeJoint::Prismatic => (self.axis * c[0], UnitQuaternion::identity()),
            TreeJoint::Cylindrical => (self.axis * c[0], about(c[1])),
            TreeJoint::Spherical => (Vector3::zeros(), self.quaternion(q)),
            TreeJoint::Floating => (Vector3::new(c[0], c[1], c[2]), self.quaternion(q)),
        }
    }

    /// The pose of the body from that of its parent.
    pub fn pose(&self, q: &[f64], parent: &LinkPose) -> LinkPose {
        let (shift, rotation) = self.joint_pose(q);
        let frame = parent.orientation * self.turn;
        let orientation = frame * rotation;
        let centre = parent.centre + parent.orientation * self.to_joint + frame * shift + orientation * self.to_centre;
        LinkPose { centre, orientation }
    }

    /// Column k of the joint.
    pub fn column(&self, k: usize, parent: &LinkPose, pose: &LinkPose) -> Column {
        let slide = |axis: Vector3<f64>| Column { angular: Vector3::zeros(), linear: parent.orientation * (self.turn * axis) };
        let turn = |axis: Vector3<f64>| {
            let angular = pose.orientation * axis;
            Column { angular, linear: angular.cross(&(pose.orientation * self.to_centre)) }
        };
        let unit = |k: usize| Vector3::from_fn(|i, _| f64::from(u8::from(i == k)));
        match (self.joint, k) {
            (TreeJoint::Prismatic, _) | (TreeJoint::Cylindrical, 0) => slide(self.axis),
            (TreeJoint::Floating, 0..3) => slide(unit(k)),
            (TreeJoint::Floating, _) => turn(unit(k - 3)),
            (TreeJoint::Spherical, _) => turn(unit(k)),
            (TreeJoint::Revolute | TreeJoint::Cylindrical | TreeJoint::Fixed, _) => turn(self.axis),
        }
    }

    /// The motion of the body from that of its parent.
    pub fn motion(&self, v: &[f64], parents: (&LinkPose, &LinkMotion), pose: &LinkPose) -> LinkMotion {
        let (parent, of_parent) = parents;
        let (mut relative, mut sliding) = (Vector3::zeros(), Vector3::zeros());
        for k in 0..self.n_v() {
            let column = self.column(k, parent, pose);
            if column.angular == Vector3::zeros() {
                sliding += column.linear * v[self.v + k];
            } else {
                relative += column.angular * v[self.v + k];
            }
        }
        let arm = pose.orientation * self.to_centre;
        let with_parent = pose.centre - parent.centre - arm;
        let angular = of_parent.angular + relative;
        let angular_acceleration = of_parent.angular_acceleration + of_parent.angular.cross(&relative);
        let carried = of_parent.angular.cross(&with_parent);
        let turning = angular.cross(&arm);
        LinkMotion {
            velocity: of_parent.velocity + carried + sliding + turning,
            angular,
            acceleration: of_parent.acceleration
                + of_parent.angular_acceleration.cross(&with_parent)
                + of_parent.angular.cross(&(carried + 2.0 * sliding))
                + angular_acceleration.cross(&arm)
                + angular.cross(&turning),
            angular_acceleration,
        }
    }

    /// Inertia about the centre of mass in the world frame.
    pub(crate) fn world_inertia(&self, pose: &LinkPose) -> Matrix3<f64> {
        let r = pose.orientation.to_rotation_matrix().into_inner();
        r * self.inertia * r.transpose()
    }
}
