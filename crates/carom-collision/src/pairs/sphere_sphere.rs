//! Sphere against sphere: gap = |a − b| − r_a − r_b.

use super::{Overlap, PairPoint};
use nalgebra::Vector3;

/// Appends the one contact point. Concentric spheres separate along +z.
pub(super) fn collide(a: (&Vector3<f64>, f64), b: (&Vector3<f64>, f64), margin: f64, points: &mut Vec<PairPoint>) -> Overlap {
    touch_balls(0, a, b, margin, points);
    Overlap::degenerate_if(a.0 == b.0)
}

/// The contact of two balls under a given feature number; also the ends and cores of capsules.
pub(super) fn touch_balls(
    feature: u32,
    (centre_a, radius_a): (&Vector3<f64>, f64),
    (centre_b, radius_b): (&Vector3<f64>, f64),
    margin: f64,
    points: &mut Vec<PairPoint>,
) {
    let offset = centre_a - centre_b;
    let distance = offset.norm();
    let gap = distance - (radius_a + radius_b);
    if gap <= margin {
        let normal = if distance > 0.0 { offset / distance } else { Vector3::z() };
        points.push(PairPoint { feature, point: centre_b + normal * (radius_b + 0.5 * gap), normal, gap });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(a: [f64; 3], ra: f64, b: [f64; 3], rb: f64, margin: f64) -> Option<PairPoint> {
        let mut points = Vec::new();
        collide((&Vector3::from(a), ra), (&Vector3::from(b), rb), margin, &mut points);
        points.pop()
    }

    #[test]
    fn hand_values() {
        // 3-4-0 triangle: distance 5, radii 1 and 3.5 leave a gap of 0.5; roundings only.
        let p = one([3.0, 4.0, 0.0], 1.0, [0.0; 3], 3.5, 1.0).unwrap();
        assert!((p.gap - 0.5).abs() < 1e-14);
        assert!((p.normal - Vector3::new(0.6, 0.8, 0.0)).norm() < 1e-14);
        assert!((p.point - 3.75 * p.normal).norm() < 1e-14);
        assert!(one([3.0, 4.0, 0.0], 1.0, [0.0; 3], 3.5, 0.4).is_none());
    }

    #[test]
    fn concentric_spheres_have_a_definite_normal() {
        let p = one([1.0, 2.0, 3.0], 0.5, [1.0, 2.0, 3.0], 0.25, 0.0).unwrap();
        assert_eq!((p.normal, p.gap), (Vector3::z(), -0.75));
        assert_eq!(p.point, Vector3::new(1.0, 2.0, 3.0 + 0.25 - 0.375));
    }
}
