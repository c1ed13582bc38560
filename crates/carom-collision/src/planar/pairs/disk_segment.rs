//! Disk against segment: gap = |c − p| − r with p the point of the segment nearest to the disk's centre, an end or between them.

use super::{PlanarPoint, WorldDisk};
use nalgebra::Vector2;

/// The side of a segment is one feature with its ends: a disk that rolls over an end keeps its impulse.
const FEATURE: u32 = 0;

/// Appends the one contact point. A centre on the segment separates to the left of it.
pub(super) fn collide(disk: &WorldDisk, [a, b]: [Vector2<f64>; 2], margin: f64, points: &mut Vec<PlanarPoint>) {
    let along = b - a;
    let fraction = ((disk.centre - a).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
    let left = Vector2::new(-along.y, along.x) / along.norm();
    disk.touch(FEATURE, &(a + along * fraction), margin, left, points);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(x: f64, y: f64) -> PlanarPoint {
        let mut points = Vec::new();
        let ends = [Vector2::new(0.0, 0.0), Vector2::new(2.0, 0.0)];
        collide(&WorldDisk { centre: Vector2::new(x, y), radius: 1.0 }, ends, 1.0, &mut points);
        points[0]
    }

    #[test]
    fn the_side_and_the_ends() {
        assert_eq!(one(0.5, 1.5), PlanarPoint { feature: 0, point: Vector2::new(0.5, 0.25), normal: Vector2::y(), gap: 0.5 });
        assert_eq!((one(0.5, -1.5).normal, one(0.5, -1.5).gap), (-Vector2::y(), 0.5));
        // beyond an end, on a 3-4-5 triangle; roundings only
        let p = one(2.0 + 0.9, 1.2);
        assert!((p.gap - 0.5).abs() < 1e-15 && (p.normal - Vector2::new(0.6, 0.8)).norm() < 1e-15);
        assert_eq!((one(1.0, 0.0).normal, one(1.0, 0.0).gap), (Vector2::y(), -1.0));
    }
}
