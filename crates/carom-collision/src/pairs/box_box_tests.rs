//! Tests of the box–box pair against an independent separating-axis search.

use super::*;
use crate::pairs::preference::ALIGNED;
use nalgebra::{Matrix3, Rotation3, UnitQuaternion};

/// splitmix64, for tests only.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn vector(&mut self, low: f64, high: f64) -> Vector3<f64> {
        Vector3::new(self.within(low, high), self.within(low, high), self.within(low, high))
    }

    fn rotation(&mut self) -> Matrix3<f64> {
        let axis = nalgebra::Unit::new_normalize(self.vector(-1.0, 1.0));
        *UnitQuaternion::from_axis_angle(&axis, self.within(0.0, 6.0)).to_rotation_matrix().matrix()
    }

    fn boxes(&mut self, spread: f64) -> (OrientedBox, OrientedBox) {
        let mut one =
            |spread: f64| OrientedBox { centre: self.vector(-spread, spread), axes: self.rotation(), half: self.vector(0.2, 1.2) };
        (one(spread), one(spread))
    }
}

/// Every axis with its separation, by projecting all corners: nothing shared with the code under test.
fn brute_force(a: &OrientedBox, b: &OrientedBox) -> Vec<(f64, Vector3<f64>)> {
    let mut axes: Vec<Vector3<f64>> = (0..3).flat_map(|k| [a.axis(k), b.axis(k)]).collect();
    for i in 0..3 {
        for j in 0..3 {
            let product = a.axis(i).cross(&b.axis(j));
            if product.norm() > 1e-6 {
                axes.push(product.normalize());
            }
        }
    }
    let range = |owner: &OrientedBox, axis: &Vector3<f64>| {
        let heights = (0..8).map(|c| owner.corner(c).dot(axis));
        heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), h| (lo.min(h), hi.max(h)))
    };
    axes.iter()
        .map(|axis| {
            let ((alo, ahi), (blo, bhi)) = (range(a, axis), range(b, axis));
            // A above B along the axis, or below.
            if alo - bhi > blo - ahi { (alo - bhi, *axis) } else { (blo - ahi, -axis) }
        })
        .collect()
}

#[test]
fn depth_and_normal_equal_brute_force() {
    // Both orders of 10⁵ pairs.
    let mut random = Random(1);
    let (mut preferred, mut penetrating) = (0, 0);
    for _ in 0..100_000 {
        let (a, b) = random.boxes(0.8);
        let axes = brute_force(&a, &b);
        let &(best, normal) = axes.iter().max_by(|x, y| x.0.total_cmp(&y.0)).unwrap();
        penetrating += u32::from(best < 0.0);
        let allowed = 2.1 * bias(true, best, smallest_half(&a, &b));
        for (first, second, sign) in [(&a, &b, 1.0), (&b, &a, -1.0)] {
            let (axis, _) = separating_axis(first, second, f64::INFINITY).unwrap();
            assert!(axis.separation <= best + 1e-12, "{} against {best}", axis.separation);
            let found = axis.normal * sign;
            if (found - normal).norm() < 1e-12 {
                assert!((axis.separation - best).abs() < 1e-12, "{} against {best}", axis.separation);
            } else {
                // Only a face of nearly the same direction is preferred, and then within the bias.
                preferred += 1;
                assert!(found.dot(&normal) > ALIGNED, "{found} instead of {normal}");
                assert!(axis.separation >= best - allowed, "{} against {best}", axis.separation);
            }
        }
    }
    // The comparison must not be vacuous.
    assert!(penetrating > 50_000 && preferred == 0, "{penetrating} penetrating, {preferred} by preference");
}

#[test]
fn the_deepest_point_has_the_exact_depth() {
    // Boxes nearly level, stacked askew: whichever axis is best, the patch is whole and its lowest gap is the exact one.
    let mut random = Random(5);
    let (mut edges, mut whole, mut preferred) = (0, 0, 0);
    for round in 0..5_000 {
        let tilt = 10.0_f64.powf(random.within(-9.0, -1.5));
        let axis = nalgebra::Unit::new_normalize(random.vector(-1.0, 1.0));
        let spin = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), random.within(0.0, 6.0));
        let turn = UnitQuaternion::from_axis_angle(&axis, tilt) * spin;
        let a = OrientedBox { centre: random.vector(-0.4, 0.4), axes: *turn.to_rotation_matrix().matrix(), half: Vector3::repeat(0.5) };
        let b = OrientedBox { centre: Vector3::zeros(), axes: Matrix3::identity(), half: Vector3::repeat(0.5) };
        let lift = a.reach(&Vector3::z()) + 0.5 - a.centre.z - 1e-3;
        let a = OrientedBox { centre: a.centre + Vector3::z() * lift, ..a };
        let best = brute_force(&a, &b).iter().map(|x| x.0).fold(f64::NEG_INFINITY, f64::max);
        let mut points = Vec::new();
        collide(&a, &b, 0.2, &mut points);
        let lowest = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        let (axis, _) = separating_axis(&a, &b, 0.2).unwrap();
        edges += u32::from(matches!(axis.kind, Kind::Edges(..)));
        whole += u32::from(points.len() >= 3);
        if axis.separation > best - 1e-12 {
            assert!((lowest - best).abs() < 1e-12, "{round}, tilt {tilt}: {lowest} against {best}, {axis:?}");
        } else {
            // A face preferred to an axis within 1e-6 rad of it: the heights differ by that times the size.
            preferred += 1;
            assert!((lowest - best).abs() < 3e-6, "{round}, tilt {tilt}: {lowest} against {best}");
        }
    }
    assert!(edges > 100 && whole == 5_000 && preferred > 0, "{edges} by edges, {whole} with a whole patch, {preferred} by preference");
}

#[test]
fn swapping_the_boxes_turns_the_normal() {
    let mut random = Random(2);
    let (mut compared, mut near_ties) = (0, 0);
    for _ in 0..10_000 {
        let (a, b) = random.boxes(0.8);
        let (mut there, mut back) = (Vec::new(), Vec::new());
        collide(&a, &b, 0.05, &mut there);
        collide(&b, &a, 0.05, &mut back);
        let axes = |x: &OrientedBox, y: &OrientedBox| separating_axis(x, y, 0.05).map(|(axis, _)| axis.kind);
        let same_axis = match (axes(&a, &b), axes(&b, &a)) {
            (Some(Kind::FaceA(i)), Some(Kind::FaceB(j))) | (Some(Kind::FaceB(i)), Some(Kind::FaceA(j))) => i == j,
            (Some(Kind::Edges(i, j)), Some(Kind::Edges(k, l))) => (i, j) == (l, k),
            (None, None) => true,
            _ => false,
        };
        if !same_axis {
            // Faces of A and B of nearly one direction and equal within the bias: each order prefers its first box.
            near_ties += 1;
            continue;
        }
        compared += 1;
        assert_eq!(there.len(), back.len());
        for p in &there {
            let near = back.iter().map(|q| (q.point - p.point).norm() + (q.gap - p.gap).abs() + (q.normal + p.normal).norm());
            // Same formulas on the same numbers in another order: roundings only.
            assert!(near.fold(f64::INFINITY, f64::min) < 1e-12, "{p:?} not in {back:?}");
        }
    }
    assert!(compared > 9_990 && near_ties < 10, "{compared} compared, {near_ties} near ties");
}

#[test]
fn gaps_are_distances_of_surface_points() {
    // Every reported point lies on both surfaces after moving by half the gap; gaps of separate boxes are never less
    // than the separation. Tolerance: roundings of numbers near 3.
    let mut random = Random(3);
    let mut n_points = 0;
    for _ in 0..5_000 {
        let (a, b) = random.boxes(1.2);
        let mut points = Vec::new();
        collide(&a, &b, 0.3, &mut points);
        let best = brute_force(&a, &b).iter().map(|x| x.0).fold(f64::NEG_INFINITY, f64::max);
        let depth_inside = |owner: &OrientedBox, p: &Vector3<f64>| (owner.axes.tr_mul(&(p - owner.centre)).abs() - owner.half).max();
        for p in &points {
            n_points += 1;
            assert!((p.normal.norm() - 1.0).abs() < 1e-12 && p.gap <= 0.3);
            let (on_a, on_b) = (p.point + p.normal * (0.5 * p.gap), p.point - p.normal * (0.5 * p.gap));
            if best > 0.0 {
                assert!(depth_inside(&a, &on_a) < 1e-9 && depth_inside(&b, &on_b) < 1e-9, "{p:?}");
                assert!(p.gap >= best - 1e-12);
            } else {
                assert!(depth_inside(&a, &on_a).abs() < 1e-9 || depth_inside(&b, &on_b).abs() < 1e-9, "{p:?}");
            }
        }
        if best <= 0.0 {
            assert!(!points.is_empty(), "overlapping boxes without a contact: {a:?} {b:?}");
        }
    }
    assert!(n_points > 5_000);
}

#[test]
fn boxes_apart_by_a_corner_have_the_exact_distance() {
    let unit =
        |x: f64, y: f64, z: f64| OrientedBox { centre: Vector3::new(x, y, z), axes: Matrix3::identity(), half: Vector3::repeat(0.5) };
    let one = |a: OrientedBox, b: OrientedBox, margin: f64| {
        let mut points = Vec::new();
        collide(&a, &b, margin, &mut points);
        points
    };
    // Corner to corner, offset (1, 2, 2)/10: distance 0.3; the largest separation is only 0.2.
    let points = one(unit(1.1, 1.2, 1.2), unit(0.0, 0.0, 0.0), 0.31);
    assert_eq!(points.len(), 1);
    assert!((points[0].gap - 0.3).abs() < 1e-15);
    assert!((points[0].normal - Vector3::new(1.0, 2.0, 2.0) / 3.0).norm() < 1e-14);
    assert!((points[0].point - Vector3::new(0.55, 0.6, 0.6)).norm() < 1e-15);
    assert!(one(unit(1.1, 1.2, 1.2), unit(0.0, 0.0, 0.0), 0.29).is_empty());
}

#[test]
fn crossed_edges_make_one_point() {
    // Two boxes turned by 45° about x and y: ridge on ridge, 0.1 into each other.
    let half = Vector3::repeat(0.5);
    let ridge = 0.5 * 2.0_f64.sqrt();
    let quarter = std::f64::consts::FRAC_PI_4;
    let lower = OrientedBox { centre: Vector3::zeros(), axes: *Rotation3::from_axis_angle(&Vector3::x_axis(), quarter).matrix(), half };
    let upper = OrientedBox {
        centre: Vector3::new(0.1, 0.2, 2.0 * ridge - 0.1),
        axes: *Rotation3::from_axis_angle(&Vector3::y_axis(), quarter).matrix(),
        half,
    };
    let mut points = Vec::new();
    collide(&upper, &lower, 0.0, &mut points);
    assert_eq!(points.len(), 1);
    // A few roundings of numbers near 1.
    assert!((points[0].gap + 0.1).abs() < 1e-14);
    assert!((points[0].normal - Vector3::z()).norm() < 1e-14);
    assert!((points[0].point - Vector3::new(0.1, 0.0, ridge - 0.05)).norm() < 1e-14);
}

/// A tumbling box meets another with a corner or edge that was not the nearest: all corners over faces are there, and edges that cross have the whole
/// patch of their faces.
#[test]
fn every_corner_over_a_face_within_the_margin_is_a_point() {
    let mut random = Random(7);
    let (mut corners, mut patches) = (0, 0);
    for _ in 0..5_000 {
        let (a, b) = random.boxes(1.2);
        let mut points = Vec::new();
        collide(&a, &b, 0.2, &mut points);
        for (owner, other, number) in [(&a, &b, corner_of_a as fn(u32) -> u32), (&b, &a, corner_of_b)] {
            for corner in 0..8 {
                let p = other.axes.tr_mul(&(owner.corner(corner) - other.centre));
                let outside = p.abs() - other.half;
                let k = outside.imax();
                let beside = outside[(k + 1) % 3].max(outside[(k + 2) % 3]);
                if !points.is_empty() && outside[k] > 0.0 && outside[k] <= 0.2 && beside < -2e-3 * smallest_half(&a, &b) {
                    corners += 1;
                    assert!(points.iter().any(|p| p.feature == number(corner)), "corner {corner} at {outside:?} not in {points:?}");
                }
            }
        }
        let axis = separating_axis(&a, &b, 0.2).map(|(axis, _)| axis);
        patches += u32::from(axis.is_some_and(|axis| matches!(axis.kind, Kind::Edges(..))) && points.len() > 2);
    }
    assert!(corners > 1_000 && patches > 300, "{corners} corners, {patches} patches about edges");
}
