//! Capsule against convex polyhedron: its core is a segment, and the pair of segment and polyhedron has closed formulas.
//!
//! A core over a face gives its two ends there, numbered 1 and 2; otherwise one point, numbered 0.

use super::PairPoint;
use super::convex_sphere::height_above;
use super::nearest_features::segment;
use super::preference::wins;
use super::segment::Segment;
use crate::polyhedron::{Plane, Polyhedron, View};
use crate::pose::Pose;
use nalgebra::Vector3;

/// Sine of the angle below which core and edge count as parallel.
const PARALLEL: f64 = 1e-6;
/// Roundings of heights, in the thickness.
const EXACT: f64 = 1e-13;

/// Appends the contact points; normals point to the capsule.
pub(super) fn collide(core: &Segment, radius: f64, (hull, pose): (&Polyhedron, &Pose), margin: f64, points: &mut Vec<PairPoint>) {
    let turn = |v: &Vector3<f64>| pose.rotation.tr_mul(v);
    let local = Segment { middle: turn(&(core.middle - pose.position)), half: turn(&core.half) };
    let first = points.len();
    touch(&local, radius, &hull.view(), margin, points);
    for p in &mut points[first..] {
        p.point = pose.apply(&p.point);
        p.normal = pose.rotation * p.normal;
    }
}

fn touch(core: &Segment, radius: f64, hull: &View<'_>, margin: f64, points: &mut Vec<PairPoint>) {
    let limit = margin + radius;
    let ends = [core.at(-1.0), core.at(1.0)];
    let lower_end = |plane: &Plane| plane.height(&ends[0]).min(plane.height(&ends[1]));
    let mut face = (0, f64::NEG_INFINITY);
    for (k, plane) in (0..).zip(hull.planes) {
        let height = lower_end(plane);
        if height > limit {
            return;
        }
        if height > face.1 {
            face = (k, height);
        }
    }
    let plane = hull.plane(face.0);
    let over = clip(core, hull, face.0);
    let lowest_over = over.map_or(f64::INFINITY, |(s, t)| plane.height(&core.at(s)).min(plane.height(&core.at(t))));
    if face.1 > 0.0 && lowest_over <= face.1 + EXACT * hull.shape.thickness {
        return touch_face(core, radius, plane, over, margin, points);
    }
    if face.1 <= 0.0 {
        let edge = best_edge(core, hull);
        match edge {
            Some((normal, height, s)) if wins((&normal, height), (&plane.normal, face.1), hull.shape.thickness) => {
                if height <= 0.0 {
                    return push(0, core.at(s), normal, height, radius, margin, points);
                }
            }
            // The core pierces the surface: out through the face.
            _ if over.is_some() => return touch_face(core, radius, plane, over, margin, points),
            _ => {
                let s = if plane.height(&ends[0]) <= plane.height(&ends[1]) { -1.0 } else { 1.0 };
                return push(0, core.at(s), plane.normal, face.1, radius, margin, points);
            }
        }
    }
    nearest(core, radius, hull, margin, points);
}

/// The nearest point of a core that is apart: an end, or a crossing with an edge.
fn nearest(core: &Segment, radius: f64, hull: &View<'_>, margin: f64, points: &mut Vec<PairPoint>) {
    let mut best = (f64::INFINITY, 0.0, Vector3::zeros());
    for s in [-1.0, 1.0] {
        if let Some((normal, height)) = height_above(hull, &core.at(s), radius + margin)
            && height < best.0
        {
            best = (height, s, normal);
        }
    }
    for edge in 0..hull.shape.edges.len() as u32 {
        let side = segment(hull, edge);
        let (s, t) = core.nearest_pair(&side);
        let away = core.at(s) - side.at(t);
        let distance = away.norm();
        if distance < best.0 * (1.0 - 1e-12) && distance > EXACT * hull.shape.thickness {
            best = (distance, s, away / distance);
        }
    }
    if best.0.is_finite() {
        push(0, core.at(best.1), best.2, best.0, radius, margin, points);
    }
}

/// The pair of core and edge that separates most: normal to the core, separation, place on the core.
fn best_edge(core: &Segment, hull: &View<'_>) -> Option<(Vector3<f64>, f64, f64)> {
    let mut best: Option<(Vector3<f64>, f64, f64)> = None;
    for (k, edge) in (0..).zip(&hull.shape.edges) {
        // The arc of the edge's normals meets the circle of the core's.
        let [c, d] = edge.faces.map(|f| hull.plane(f).normal.dot(&core.half));
        if c * d >= 0.0 {
            continue;
        }
        let side = segment(hull, k);
        let product = core.half.cross(&side.half);
        let length = product.norm();
        if length * length <= PARALLEL * PARALLEL * core.half.norm_squared() * side.half.norm_squared() {
            continue;
        }
        let normal = if product.dot(&(side.middle - hull.centre)) < 0.0 { product / -length } else { product / length };
        let separation = normal.dot(&(core.middle - side.middle));
        if best.is_none_or(|(_, x, _)| separation > x) {
            best = Some((normal, separation, core.nearest_pair(&side).0));
        }
    }
    best
}

/// Part of the core over a face, as parameters.
fn clip(core: &Segment, hull: &View<'_>, face: u32) -> Option<(f64, f64)> {
    let ring = hull.shape.ring(face);
    let normal = hull.plane(face).normal;
    let (mut low, mut high) = (-1.0_f64, 1.0_f64);
    for k in 0..ring.len() {
        let (p, q) = (hull.vertex(ring[k]), hull.vertex(ring[if k + 1 < ring.len() { k + 1 } else { 0 }]));
        let inward = normal.cross(&(q - p));
        let (at_zero, slope) = (inward.dot(&(core.middle - p)), inward.dot(&core.half));
        if slope > 0.0 {
            low = low.max(-at_zero / slope);
        } else if slope < 0.0 {
            high = high.min(-at_zero / slope);
        } else if at_zero < 0.0 {
            return None;
        }
    }
    (low <= high).then_some((low, high))
}

fn touch_face(core: &Segment, radius: f64, plane: &Plane, over: Option<(f64, f64)>, margin: f64, points: &mut Vec<PairPoint>) {
    let Some((low, high)) = over else { return };
    for (feature, s) in [(1, low), (2, high)] {
        let p = core.at(s);
        push(feature, p, plane.normal, plane.height(&p), radius, margin, points);
        if high - low <= 1e-9 {
            break;
        }
    }
}

fn push(feature: u32, on_core: Vector3<f64>, normal: Vector3<f64>, height: f64, radius: f64, margin: f64, points: &mut Vec<PairPoint>) {
    let gap = height - radius;
    if gap <= margin {
        points.push(PairPoint { feature, point: on_core - normal * (height - 0.5 * gap), normal, gap });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::UnitQuaternion;

    fn one(half: Vector3<f64>, middle: [f64; 3], along: [f64; 3], radius: f64, margin: f64) -> Vec<PairPoint> {
        let hull = Polyhedron::cuboid(&half);
        let pose = Pose::new(Vector3::new(0.0, 0.0, 2.0), UnitQuaternion::identity());
        let core = Segment { middle: Vector3::from(middle) + pose.position, half: along.into() };
        let mut points = Vec::new();
        collide(&core, radius, (&hull, &pose), margin, &mut points);
        points
    }

    #[test]
    fn lying_on_a_face_crossing_an_edge_and_piercing() {
        let cube = Vector3::repeat(0.5);
        // Lying, partly over the rim: ends at −0.4 and 0.5.
        let lying = one(cube, [0.4, 0.1, 0.6], [0.8, 0.0, 0.0], 0.1, 1e-3);
        assert_eq!(lying.iter().map(|p| p.feature).collect::<Vec<_>>(), [1, 2]);
        assert!(lying.iter().all(|p| p.gap.abs() < 1e-15 && p.normal == Vector3::z()));
        assert!((lying[0].point.x + 0.4).abs() < 1e-15 && (lying[1].point.x - 0.5).abs() < 1e-15);
        // Across the edge x = z = 0.5 at 45°, 0.1 away from it.
        let off = 0.5 + 0.1 * 0.5_f64.sqrt();
        let crossing = one(cube, [off, 0.0, off], [0.3, 0.2, -0.3], 0.05, 0.06);
        assert_eq!(crossing.len(), 1);
        assert!((crossing[0].gap - 0.05).abs() < 1e-14);
        assert!((crossing[0].normal - Vector3::new(1.0, 0.0, 1.0).normalize()).norm() < 1e-13);
        // The core 0.1 inside the same edge.
        let off = 0.5 - 0.1 * 0.5_f64.sqrt();
        let inside = one(cube, [off, 0.0, off], [0.3, 0.2, -0.3], 0.05, 0.0);
        assert_eq!(inside.len(), 1);
        assert!((inside[0].gap + 0.15).abs() < 1e-14, "{inside:?}");
        // Standing upright with its end 0.2 in the face.
        let piercing = one(cube, [0.0, 0.0, 0.8], [0.0, 0.0, 0.5], 0.1, 0.0);
        assert!((piercing[0].gap + 0.3).abs() < 1e-14 && piercing[0].normal == Vector3::z());
    }

    #[test]
    fn never_nearer_and_never_farther_than_sampled() {
        let half = Vector3::new(0.3, 0.5, 0.4);
        let hull = Polyhedron::cuboid(&half);
        let mut apart = 0;
        for k in 0..2_000_u32 {
            let t = f64::from(k);
            let middle = Vector3::new((t * 0.37).sin(), (t * 0.53).cos(), (t * 0.71).sin());
            let along = Vector3::new((t * 0.91).cos(), (t * 0.29).sin(), (t * 0.17).cos()) * 0.4;
            let core = Segment { middle, half: along };
            let sampled = (0..=400)
                .filter_map(|i| height_above(&hull.view(), &core.at(f64::from(i) / 200.0 - 1.0), 10.0))
                .map(|(_, h)| h)
                .fold(f64::INFINITY, f64::min);
            let mut points = Vec::new();
            touch(&core, 0.1, &hull.view(), 10.0, &mut points);
            let lowest = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            assert!(!points.is_empty());
            if sampled > 1e-3 {
                apart += 1;
                // Sampling errs by the square of the spacing over the distance, at most by the spacing.
                assert!(lowest <= sampled - 0.1 + 1e-12 && lowest > sampled - 0.1 - 2e-3, "{lowest} against {sampled}");
            } else if sampled < 0.0 {
                assert!(lowest < -0.1 + 1e-12);
            }
        }
        assert!(apart > 1_000);
    }
}
