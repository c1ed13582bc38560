//! Sphere against convex polyhedron: nearest point of the surface outside, nearest face inside.

use super::PairPoint;
use super::nearest_features::{is_over, segment};
use crate::polyhedron::{Polyhedron, View};
use crate::pose::Pose;
use nalgebra::Vector3;

/// Appends the one contact point; the normal points to the sphere. A centre inside leaves through the nearest face (of
/// equal ones the one with the smaller number).
pub(super) fn collide(centre: &Vector3<f64>, radius: f64, (hull, pose): (&Polyhedron, &Pose), margin: f64, points: &mut Vec<PairPoint>) {
    let local = pose.rotation.tr_mul(&(centre - pose.position));
    if let Some((normal, height)) = height_above(&hull.view(), &local, margin + radius) {
        let (gap, normal) = (height - radius, pose.rotation * normal);
        if gap <= margin {
            points.push(PairPoint { feature: 0, point: centre - normal * (height - 0.5 * gap), normal, gap });
        }
    }
}

/// Direction and signed distance of a point from the surface; `None` when farther than `limit`.
pub(super) fn height_above(hull: &View<'_>, point: &Vector3<f64>, limit: f64) -> Option<(Vector3<f64>, f64)> {
    let (face, height) = hull.largest_height(point);
    if height > limit {
        return None;
    }
    if height <= 0.0 || is_over(hull, face, point) {
        return Some((hull.plane(face).normal, height));
    }
    for (face, plane) in (0..).zip(hull.planes) {
        let height = plane.height(point);
        if height > 0.0 && is_over(hull, face, point) {
            return Some((plane.normal, height));
        }
    }
    // The nearest point lies on an edge that a face looking at the point has.
    let mut best = (f64::INFINITY, Vector3::zeros());
    for (k, edge) in (0..).zip(&hull.shape.edges) {
        if edge.faces.iter().all(|&f| hull.plane(f).height(point) <= 0.0) {
            continue;
        }
        let side = segment(hull, k);
        let away = point - side.at(side.nearest(point));
        let distance = away.norm();
        if distance < best.0 {
            best = (distance, away);
        }
    }
    // On the surface within roundings: the face decides.
    let normal = if best.0 > 1e-12 * hull.shape.thickness { best.1 / best.0 } else { hull.plane(face).normal };
    Some((normal, best.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::oriented_box::OrientedBox;
    use crate::pairs::sphere_box;
    use nalgebra::UnitQuaternion;

    #[test]
    fn a_box_as_hull_equals_the_box() {
        let half = Vector3::new(0.3, 0.5, 0.7);
        let hull = Polyhedron::hull(&Polyhedron::cuboid(&half).vertices).unwrap();
        let pose = Pose::new(Vector3::new(0.1, 0.2, -0.3), UnitQuaternion::from_euler_angles(0.4, -0.2, 1.0));
        let mut n = 0;
        for k in 0..4_000 {
            // A lattice of centres about and within the box.
            let step = |m: i32| f64::from(k / m % 16) * 0.137 - 1.05;
            let centre = Vector3::new(step(1), step(16), f64::from(k / 256) * 0.137 - 1.05);
            let (mut ours, mut exact) = (Vec::new(), Vec::new());
            collide(&centre, 0.3, (&hull, &pose), 0.2, &mut ours);
            sphere_box::collide(&centre, 0.3, &OrientedBox::new(&pose, &half), 0.2, &mut exact);
            assert_eq!(ours.len(), exact.len());
            if let (Some(p), Some(q)) = (ours.first(), exact.first()) {
                n += 1;
                assert!((p.gap - q.gap).abs() < 1e-14, "{p:?} {q:?}");
                assert!((p.normal - q.normal).norm() < 1e-13 && (p.point - q.point).norm() < 1e-13, "{p:?} {q:?}");
            }
        }
        assert!(n > 1_000);
    }
}
