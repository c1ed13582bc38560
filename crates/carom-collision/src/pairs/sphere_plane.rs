//! Sphere against plane: gap = height of the centre − r.

use super::{PairPoint, WorldPlane};
use nalgebra::Vector3;

/// Appends the one contact point.
pub(super) fn collide(centre: &Vector3<f64>, radius: f64, plane: &WorldPlane, margin: f64, points: &mut Vec<PairPoint>) {
    touch_ball(0, centre, radius, plane, margin, points);
}

/// The contact of a ball with the plane under a given feature number; also the ends of capsules.
pub(super) fn touch_ball(feature: u32, centre: &Vector3<f64>, radius: f64, plane: &WorldPlane, margin: f64, points: &mut Vec<PairPoint>) {
    // The gap directly from the centre: subtracting the radius vector first would round twice.
    let height = plane.height(centre);
    let gap = height - radius;
    if gap <= margin {
        let point = centre - plane.normal * (height - 0.5 * gap);
        points.push(PairPoint { feature, point, normal: plane.normal, gap });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_values() {
        let plane = WorldPlane { origin: Vector3::new(0.0, 0.0, 1.0), normal: Vector3::new(0.6, 0.0, 0.8) };
        let mut points = Vec::new();
        collide(&Vector3::new(3.0, 7.0, 1.0), 1.5, &plane, 0.5, &mut points);
        // Height 1.8, gap 0.3; roundings only.
        assert!((points[0].gap - 0.3).abs() < 1e-14);
        assert!((points[0].point - Vector3::new(3.0 - 0.6 * 1.65, 7.0, 1.0 - 0.8 * 1.65)).norm() < 1e-14);
        points.clear();
        collide(&Vector3::new(3.0, 7.0, 1.0), 1.5, &plane, 0.2, &mut points);
        assert!(points.is_empty());
        // Also from far below: the half-space is solid.
        collide(&Vector3::new(0.0, 0.0, -9.0), 1.0, &plane, 0.0, &mut points);
        assert!((points[0].gap + 9.0).abs() < 1e-14);
    }
}
