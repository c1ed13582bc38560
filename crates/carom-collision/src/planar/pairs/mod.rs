//! Narrow phase in the plane: contact points of one pair of shapes, one file per pair.
//!
//! Every function appends the points with gap ≤ margin; the normal points from the second shape to the first.

mod disk_disk;
mod disk_half_plane;
mod disk_segment;

use super::placed::PlanarPose;
use super::shapes::PlanarShape;
use nalgebra::Vector2;

/// A contact point of a pair: normal from B to A, point half way between the surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlanarPoint {
    /// Number of the features that touch, the same from step to step.
    pub feature: u32,
    pub point: Vector2<f64>,
    pub normal: Vector2<f64>,
    pub gap: f64,
}

/// A disk in the world.
#[derive(Clone, Copy)]
struct WorldDisk {
    centre: Vector2<f64>,
    radius: f64,
}

impl WorldDisk {
    /// Appends the contact with a point of another surface, if it is within the margin; a centre on the point separates along `fallback`.
    fn touch(&self, feature: u32, target: &Vector2<f64>, margin: f64, fallback: Vector2<f64>, points: &mut Vec<PlanarPoint>) {
        let offset = self.centre - target;
        let distance = offset.norm();
        let gap = distance - self.radius;
        if gap <= margin {
            let normal = if distance > 0.0 { offset / distance } else { fallback };
            points.push(PlanarPoint { feature, point: target + normal * (0.5 * gap), normal, gap });
        }
    }
}

/// Appends the contact points of A, the shape of a body, and B with gap ≤ margin, in the order of their features.
pub(super) fn collide(
    (a, pose_a): (&PlanarShape, &PlanarPose),
    (b, pose_b): (&PlanarShape, &PlanarPose),
    margin: f64,
    points: &mut Vec<PlanarPoint>,
) {
    match (a, b) {
        (PlanarShape::Disk { radius }, PlanarShape::Disk { radius: other }) => {
            let other = WorldDisk { centre: pose_b.position, radius: *other };
            disk_disk::collide(&WorldDisk { centre: pose_a.position, radius: *radius }, &other, margin, points);
        }
        (PlanarShape::Disk { radius }, PlanarShape::Segment { ends }) => {
            let ends = ends.map(|end| pose_b.point(&end));
            disk_segment::collide(&WorldDisk { centre: pose_a.position, radius: *radius }, ends, margin, points);
        }
        (PlanarShape::Disk { radius }, PlanarShape::HalfPlane { normal }) => {
            let plane = (pose_b.position, pose_b.rotation * normal);
            disk_half_plane::collide(&WorldDisk { centre: pose_a.position, radius: *radius }, plane, margin, points);
        }
        // shapes of obstacles only: no body has them
        (PlanarShape::Segment { .. } | PlanarShape::HalfPlane { .. }, _) => {}
    }
}
