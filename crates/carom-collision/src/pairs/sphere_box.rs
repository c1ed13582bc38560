//! Sphere against box: nearest point of the box outside, nearest face inside.

use super::oriented_box::OrientedBox;
use super::{Overlap, PairPoint};
use nalgebra::Vector3;

/// Faces whose depths differ by less than this fraction of the box are equally near.
const TIE: f64 = 1e-12;

/// Appends the one contact point. A centre inside the box leaves through the nearest face (of equal ones the one with
/// the smaller axis).
pub(super) fn collide(centre: &Vector3<f64>, radius: f64, target: &OrientedBox, margin: f64, points: &mut Vec<PairPoint>) -> Overlap {
    let local = target.axes.tr_mul(&(centre - target.centre));
    // What clamping to the box takes away: exactly zero in the coordinates that lie within.
    let outside = local - local.inf(&target.half).sup(&-target.half);
    let distance = outside.norm();
    let mut tied = false;
    let (local_normal, height) = if distance > 0.0 {
        (outside / distance, distance)
    } else {
        let depth = target.half - local.abs();
        let axis = depth.imin();
        let mut normal = Vector3::zeros();
        normal[axis] = if local[axis] < 0.0 { -1.0 } else { 1.0 };
        let tie = depth[axis] + TIE * target.half.max();
        tied = local[axis].abs() <= TIE * target.half.max() || depth.iter().filter(|d| **d <= tie).count() > 1;
        (normal, -depth[axis])
    };
    let gap = height - radius;
    if gap <= margin {
        let normal = target.axes * local_normal;
        points.push(PairPoint { feature: 0, point: centre - normal * (height - 0.5 * gap), normal, gap });
    }
    Overlap::degenerate_if(tied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;

    fn one(centre: [f64; 3], radius: f64, margin: f64) -> Option<PairPoint> {
        let target = OrientedBox { centre: Vector3::new(0.0, 0.0, 10.0), axes: Matrix3::identity(), half: Vector3::new(1.0, 2.0, 3.0) };
        let mut points = Vec::new();
        collide(&(Vector3::from(centre) + target.centre), radius, &target, margin, &mut points);
        points.pop()
    }

    #[test]
    fn face_edge_and_corner() {
        // Roundings of numbers near 13 throughout.
        let face = one([0.5, 0.0, 3.75], 0.5, 0.3).unwrap();
        assert!((face.gap - 0.25).abs() < 1e-14 && face.normal == Vector3::z());
        assert!((face.point - Vector3::new(0.5, 0.0, 13.125)).norm() < 1e-14);
        let edge = one([4.0, 0.0, 7.0], 1.0, 5.0).unwrap();
        assert!((edge.gap - 4.0).abs() < 1e-14);
        assert!((edge.normal - Vector3::new(0.6, 0.0, 0.8)).norm() < 1e-14);
        let corner = one([2.0, 4.0, 5.0], 1.0, 5.0).unwrap();
        assert!((corner.gap - 2.0).abs() < 1e-14);
        assert!((corner.normal - Vector3::new(1.0, 2.0, 2.0) / 3.0).norm() < 1e-14);
        assert!(one([2.0, 4.0, 5.0], 1.0, 1.9).is_none());
    }

    #[test]
    fn centre_inside_leaves_by_the_nearest_face() {
        let p = one([-0.75, 0.5, 0.5], 0.5, 0.0).unwrap();
        assert!((p.gap + 0.75).abs() < 1e-14 && p.normal == -Vector3::x());
        // Half way between the face x = −1 and the ball's far side x = −0.25.
        assert!((p.point - Vector3::new(-0.625, 0.5, 10.5)).norm() < 1e-14);
        let on_surface = one([0.0, 2.0, 0.0], 0.5, 0.0).unwrap();
        assert_eq!((on_surface.gap, on_surface.normal), (-0.5, Vector3::y()));
    }
}
