//! Contacts of stacked boxes: exact polygons, numbers that last.

use crate::scene::{Random, Scene};
use carom_collision::Shape;
use carom_dynamics::detection::ContactPoint;
use nalgebra::{UnitQuaternion, Vector2, Vector3};

type Plane2 = Vector2<f64>;

fn rectangle(half: (f64, f64), centre: Plane2, yaw: f64) -> [Plane2; 4] {
    let (s, c) = yaw.sin_cos();
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| {
        let (x, y) = (x * half.0, y * half.1);
        centre + Plane2::new(c * x - s * y, s * x + c * y)
    })
}

/// Corners of the intersection of two convex polygons: corners of one inside the other and crossings of edges.
fn intersection(a: &[Plane2; 4], b: &[Plane2; 4]) -> Vec<Plane2> {
    let inside = |p: &Plane2, q: &[Plane2; 4]| (0..4).all(|k| (q[(k + 1) % 4] - q[k]).perp(&(p - q[k])) >= 0.0);
    let mut corners: Vec<_> = a.iter().filter(|p| inside(p, b)).copied().collect();
    corners.extend(b.iter().filter(|p| inside(p, a)));
    for i in 0..4 {
        for j in 0..4 {
            let (p, d) = (a[i], a[(i + 1) % 4] - a[i]);
            let (q, e) = (b[j], b[(j + 1) % 4] - b[j]);
            let w = d.perp(&e);
            let (s, t) = ((q - p).perp(&e) / w, (q - p).perp(&d) / w);
            if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
                corners.push(p + d * s);
            }
        }
    }
    corners
}

/// Area of the convex polygon spanned by points in any order.
fn area(points: &[Plane2]) -> f64 {
    let centre = points.iter().sum::<Plane2>() / points.len() as f64;
    let mut around: Vec<_> = points.iter().map(|p| p - centre).collect();
    around.sort_by(|p, q| p.y.atan2(p.x).total_cmp(&q.y.atan2(q.x)));
    (0..around.len()).map(|k| around[k].perp(&around[(k + 1) % around.len()])).sum::<f64>() / 2.0
}

fn two_boxes(lower: Vector3<f64>, upper: Vector3<f64>, offset: Vector3<f64>, yaw: f64) -> Scene {
    let mut scene = Scene::default();
    scene.add(Shape::Box { half_extents: lower }, Vector3::zeros(), UnitQuaternion::identity());
    let up = Vector3::new(0.0, 0.0, lower.z + upper.z) + offset;
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
    scene.add(Shape::Box { half_extents: upper }, up, turn);
    scene
}

fn flat(contacts: &[ContactPoint]) -> Vec<Plane2> {
    contacts.iter().map(|c| c.point.xy()).collect()
}

#[test]
fn the_contact_polygon_is_the_exact_overlap() {
    let mut random = Random(31);
    for k in 0..500 {
        let (lower, upper) = (random.vector(0.3, 1.0), random.vector(0.3, 1.0));
        let (x, y) = (random.within(-0.3, 0.3), random.within(-0.3, 0.3));
        let yaw = random.within(0.01, 0.3);
        let gap = if k % 2 == 0 { -1e-3 } else { 1e-7 };
        let contacts = two_boxes(lower, upper, Vector3::new(x, y, gap), yaw).detect(0.0);
        let expected =
            intersection(&rectangle((lower.x, lower.y), Plane2::zeros(), 0.0), &rectangle((upper.x, upper.y), Plane2::new(x, y), yaw));
        let found = flat(&contacts);
        assert_eq!(found.len(), expected.len(), "case {k}");
        for p in &expected {
            let nearest = found.iter().map(|q| (p - q).norm()).fold(f64::INFINITY, f64::min);
            // Crossings at angles of 0.01 and more: 1e-16 / 0.01 and some.
            assert!(nearest < 1e-12, "case {k}: {nearest}");
        }
        assert!((area(&found) - area(&expected)).abs() < 1e-12);
        for c in &contacts {
            assert_eq!((c.body_a, c.body_b), (0, 1));
            // Roundings of the height, near 2.
            assert!((c.gap - gap).abs() < 1e-14 && (c.normal + Vector3::z()).norm() < 1e-14);
            assert!((c.point.z - (lower.z + 0.5 * gap)).abs() < 1e-14);
        }
    }
}

#[test]
fn equal_boxes_flush_have_four_corners() {
    let half = Vector3::new(0.5, 0.4, 0.3);
    for gap in [0.0, -1e-9, 1e-9] {
        let contacts = two_boxes(half, half, Vector3::new(0.0, 0.0, gap), 0.0).detect(0.0);
        assert_eq!(contacts.len(), 4, "gap {gap}");
        assert!((area(&flat(&contacts)) - 0.8).abs() < 1e-12);
    }
}

#[test]
fn numbers_last_under_small_motions() {
    let mut random = Random(32);
    let half = Vector3::new(0.5, 0.5, 0.25);
    for (offset, yaw) in [((0.0, 0.0), 0.0), ((0.2, 0.1), 0.0), ((0.05, -0.1), 0.2)] {
        let mut rest = Scene::default();
        rest.add_fixed(Shape::Plane { normal: Vector3::z() }, Vector3::zeros(), UnitQuaternion::identity());
        for level in 0..4 {
            let height = 0.25 + 0.5 * f64::from(level);
            let odd = f64::from(level % 2);
            let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw * odd);
            rest.add(Shape::Box { half_extents: half }, Vector3::new(offset.0 * odd, offset.1 * odd, height), turn);
        }
        rest.velocities = vec![[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]; 4];
        let keys = |scene: &Scene| scene.detect(1e-3).iter().map(|c| c.key).collect::<Vec<_>>();
        let before = keys(&rest);
        assert!(before.len() >= 16);
        for _ in 0..200 {
            let mut moved = rest.clone();
            for (position, rotation) in &mut moved.poses {
                *position += random.vector(-1e-4, 1e-4);
                *rotation *= UnitQuaternion::new(random.vector(-1e-4, 1e-4));
            }
            let after = keys(&moved);
            // Flush corners may split in two, but no number disappears.
            assert!(before.iter().all(|k| after.contains(k)), "{before:?}\n{after:?}");
        }
    }
}

#[test]
fn a_stack_stands_on_all_its_corners_after_any_turn() {
    // Lose no contact when the whole stack is turned and the heights carry the roundings of the turn.
    let mut random = Random(33);
    let half = Vector3::new(0.5, 0.5, 0.5);
    for _ in 0..200 {
        let turn = random.rotation();
        let mut scene = Scene::default();
        scene.add_fixed(Shape::Plane { normal: Vector3::z() }, Vector3::zeros(), turn);
        for level in 0..5 {
            let height = turn * Vector3::new(0.0, 0.0, 0.5 + f64::from(level));
            scene.add(Shape::Box { half_extents: half }, height, turn);
        }
        let contacts = scene.detect(0.0);
        assert_eq!(contacts.len(), 20);
        // Roundings of heights near 5.
        assert!(contacts.iter().all(|c| c.gap.abs() < 1e-14));
    }
}
