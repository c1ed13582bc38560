//! Box against plane: every corner within the margin is a contact point, numbered by the corner.

use super::oriented_box::OrientedBox;
use super::{PairPoint, WorldPlane};

/// Appends the corners within the margin.
pub(super) fn collide(target: &OrientedBox, plane: &WorldPlane, margin: f64, points: &mut Vec<PairPoint>) {
    if plane.height(&target.centre) - target.reach(&plane.normal) > margin {
        return;
    }
    for corner in 0..8 {
        plane.touch(corner, target.corner(corner), margin, points);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix3, Rotation3, Vector3};

    #[test]
    fn flat_and_tilted() {
        let plane = WorldPlane { origin: Vector3::zeros(), normal: Vector3::z() };
        let mut target = OrientedBox { centre: Vector3::new(5.0, 0.0, 1.5), axes: Matrix3::identity(), half: Vector3::new(1.0, 2.0, 1.0) };
        let mut points = Vec::new();
        collide(&target, &plane, 0.6, &mut points);
        assert_eq!(points.iter().map(|p| (p.feature, p.gap)).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5)]);
        assert_eq!(points[3].point, Vector3::new(6.0, 2.0, 0.25));
        points.clear();
        collide(&target, &plane, 0.4, &mut points);
        assert!(points.is_empty());
        // Tilted by 0.1 about y: the corners at +x go down by sin 0.1.
        target.axes = *Rotation3::from_axis_angle(&Vector3::y_axis(), 0.1).matrix();
        collide(&target, &plane, 0.45, &mut points);
        assert_eq!(points.iter().map(|p| p.feature).collect::<Vec<_>>(), [1, 3]);
        let gap = 1.5 - 0.1_f64.cos() - 0.1_f64.sin();
        // A few roundings of numbers near 2.
        assert!(points.iter().all(|p| (p.gap - gap).abs() < 1e-14));
    }
}
