//! Disk against disk: gap = |a − b| − r_a − r_b.

use super::{PlanarPoint, WorldDisk};
use nalgebra::Vector2;

/// Appends the one contact point. Concentric disks separate along +y.
pub(super) fn collide(a: &WorldDisk, b: &WorldDisk, margin: f64, points: &mut Vec<PlanarPoint>) {
    let offset = a.centre - b.centre;
    let (squared, reach) = (offset.norm_squared(), a.radius + b.radius + margin);
    // most near pairs do not touch: the root is taken of those that do
    if squared > reach * reach {
        return;
    }
    let distance = squared.sqrt();
    let gap = distance - (a.radius + b.radius);
    if gap <= margin {
        let normal = if distance > 0.0 { offset / distance } else { Vector2::y() };
        points.push(PlanarPoint { feature: 0, point: b.centre + normal * (b.radius + 0.5 * gap), normal, gap });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(a: [f64; 2], ra: f64, b: [f64; 2], rb: f64, margin: f64) -> Option<PlanarPoint> {
        let mut points = Vec::new();
        collide(&WorldDisk { centre: a.into(), radius: ra }, &WorldDisk { centre: b.into(), radius: rb }, margin, &mut points);
        points.pop()
    }

    #[test]
    fn hand_values() {
        // a 3-4-5 triangle; roundings only
        let p = one([3.0, 4.0], 1.0, [0.0; 2], 3.5, 1.0).unwrap();
        assert!((p.gap - 0.5).abs() < 1e-14);
        assert!((p.normal - Vector2::new(0.6, 0.8)).norm() < 1e-14);
        assert!((p.point - 3.75 * p.normal).norm() < 1e-14);
        assert!(one([3.0, 4.0], 1.0, [0.0; 2], 3.5, 0.4).is_none());
    }

    #[test]
    fn concentric_disks_have_a_definite_normal() {
        let p = one([1.0, 2.0], 0.5, [1.0, 2.0], 0.25, 0.0).unwrap();
        assert_eq!((p.normal, p.gap), (Vector2::y(), -0.75));
    }
}
