//! World pose of a collider.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

/// Position and orientation in the world frame, the orientation both as matrix and as quaternion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    pub position: Vector3<f64>,
    pub rotation: Matrix3<f64>,
    pub quaternion: UnitQuaternion<f64>,
}

impl Pose {
    pub fn new(position: Vector3<f64>, quaternion: UnitQuaternion<f64>) -> Self {
        Self { position, rotation: *quaternion.to_rotation_matrix().matrix(), quaternion }
    }

    /// World position of a point of the shape's frame.
    pub fn apply(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.position + self.rotation * point
    }

    /// The shape's third axis in the world frame.
    pub fn axis(&self) -> Vector3<f64> {
        self.rotation.column(2).into()
    }
}
