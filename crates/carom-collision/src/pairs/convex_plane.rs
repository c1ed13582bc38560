//! Convex hull against plane: every vertex of the hull within the margin, numbered by the vertex.

use super::{PairPoint, WorldPlane};
use crate::pose::Pose;
use nalgebra::Vector3;

/// Appends the vertices within the margin.
pub(super) fn collide(vertices: &[Vector3<f64>], pose: &Pose, plane: &WorldPlane, margin: f64, points: &mut Vec<PairPoint>) {
    for (vertex, feature) in vertices.iter().zip(0..) {
        plane.touch(feature, pose.apply(vertex), margin, points);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::UnitQuaternion;

    #[test]
    fn a_tetrahedron_on_its_face() {
        let vertices = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        let plane = WorldPlane { origin: Vector3::zeros(), normal: Vector3::z() };
        let pose = Pose::new(Vector3::new(0.0, 0.0, -0.25), UnitQuaternion::identity());
        let mut points = Vec::new();
        collide(&vertices, &pose, &plane, 0.0, &mut points);
        assert_eq!(points.iter().map(|p| (p.feature, p.gap)).collect::<Vec<_>>(), [(0, -0.25), (1, -0.25), (2, -0.25)]);
        assert_eq!(points[1].point, Vector3::new(1.0, 0.0, -0.125));
    }
}
