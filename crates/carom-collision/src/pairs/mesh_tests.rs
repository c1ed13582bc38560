//! Tests of solids on surfaces: flat triangulated floors feel like planes, edges and corners only where they are.

use super::*;
use crate::pairs::{Geometry, collide};
use crate::shapes::Shape;
use nalgebra::UnitQuaternion;
use std::sync::Arc;

fn next(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A floor at z = 0 of (n − 1)² cells with corners moved sideways at random and diagonals at random.
fn floor(n: u32, cell: f64, disorder: f64) -> Shape {
    let mut state = 7;
    let mut vertices = Vec::new();
    for k in 0..n * n {
        let inner = |i: u32| if i == 0 || i == n - 1 { 0.0 } else { disorder };
        let (i, j) = (k % n, k / n);
        let jitter = [inner(i) * (next(&mut state) - 0.5), inner(j) * (next(&mut state) - 0.5)];
        let middle = 0.5 * f64::from(n - 1);
        vertices.push(Vector3::new(f64::from(i) - middle + jitter[0], f64::from(j) - middle + jitter[1], 0.0) * cell);
    }
    let mut triangles = Vec::new();
    for k in 0..(n - 1) * (n - 1) {
        let a = k / (n - 1) * n + k % (n - 1);
        let [a, b, c, d] = [a, a + 1, a + n + 1, a + n];
        triangles.extend(if next(&mut state) < 0.5 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
    }
    Shape::Mesh { vertices: vertices.into(), triangles: triangles.into() }
}

fn points_of(solid: &Geometry, pose: &Pose, ground: &Geometry, place: &Pose, margin: f64) -> Vec<PairPoint> {
    let mut points = Vec::new();
    collide((solid, pose), (ground, place), margin, &mut crate::pairs::Scratch::default(), &mut points);
    points
}

fn origin() -> Pose {
    Pose::new(Vector3::zeros(), UnitQuaternion::identity())
}

#[test]
fn a_cube_slides_over_a_triangulated_floor_as_over_a_plane() {
    let cube = Geometry::new(&Shape::Box { half_extents: Vector3::repeat(0.5) }).unwrap();
    let plane = Geometry::new(&Shape::Plane { normal: Vector3::z() }).unwrap();
    for (disorder, cell) in [(0.0, 0.3), (0.6, 0.3), (0.5, 2.0)] {
        let ground = Geometry::new(&floor(21, cell, disorder)).unwrap();
        let mut numbers: Option<Vec<u32>> = None;
        for step in 0..200 {
            let t = f64::from(step);
            // Along a diagonal, turning slowly; at first exactly aligned with the cells.
            let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), if step < 50 { 0.0 } else { 0.01 * t });
            let gap = [-1e-4, 0.0, 1e-7][step as usize % 3];
            let pose = Pose::new(Vector3::new(0.01 * t - 1.0, 0.0075 * t - 0.8, 0.5 + gap), turn);
            let here = points_of(&cube, &pose, &ground, &origin(), 1e-6);
            let there = points_of(&cube, &pose, &plane, &origin(), 1e-6);
            assert_eq!(here.len(), 4, "step {step}: {here:?}");
            for p in &here {
                assert_eq!(p.normal, Vector3::z());
                let same = there.iter().map(|q| (q.point - p.point).norm()).fold(f64::INFINITY, f64::min);
                // The same corners, found through another frame: roundings of numbers near 1.
                assert!(same < 1e-14 && (p.gap - gap).abs() < 1e-15, "step {step}: off by {same}, gap {}", p.gap);
            }
            let features: Vec<u32> = here.iter().map(|p| p.feature).collect();
            assert_eq!(*numbers.get_or_insert(features.clone()), features, "step {step}");
        }
    }
}

#[test]
fn tilted_cubes_and_other_hulls_touch_as_on_a_plane() {
    let ground = Geometry::new(&floor(21, 0.3, 0.6)).unwrap();
    let mut state = 11;
    for _ in 0..300 {
        let points: Vec<_> = (0..10).map(|_| Vector3::from_fn(|_, _| next(&mut state) - 0.5)).collect();
        let hull = Geometry::new(&Shape::Convex { vertices: points.clone() }).unwrap();
        let axis = nalgebra::Unit::new_normalize(Vector3::from_fn(|_, _| next(&mut state) - 0.5));
        let turn = UnitQuaternion::from_axis_angle(&axis, 6.0 * next(&mut state));
        let low = points.iter().map(|p| (turn * p).z).fold(f64::INFINITY, f64::min);
        let pose = Pose::new(Vector3::new(next(&mut state), next(&mut state), -low - 1e-3), turn);
        let found = points_of(&hull, &pose, &ground, &origin(), 0.0);
        assert!(!found.is_empty());
        let deepest = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        assert!((deepest + 1e-3).abs() < 1e-14, "{deepest}");
        assert!(found.iter().all(|p| p.normal == Vector3::z()));
    }
}

#[test]
fn a_wall_beside_the_floor_takes_nothing_away() {
    // Two triangles of floor and two of a wall that rises at x = 1; all four corners are open.
    let vertices = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [1.0, -1.0, 1.0], [1.0, 1.0, 1.0]];
    let vertices: Vec<Vector3<f64>> = vertices.iter().map(|v| Vector3::from(*v)).collect();
    let triangles = vec![[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]];
    let corner = Geometry::new(&Shape::Mesh { vertices: vertices.into(), triangles: triangles.into() }).unwrap();
    let cube = Geometry::new(&Shape::Box { half_extents: Vector3::repeat(0.2) }).unwrap();
    let at = |x: f64| points_of(&cube, &Pose::new(Vector3::new(x, 0.7, 0.2), UnitQuaternion::identity()), &corner, &origin(), 1e-6);
    let free = at(0.5);
    assert!(free.len() == 4 && free.iter().all(|p| p.normal == Vector3::z() && p.gap.abs() < 1e-15), "{free:?}");
    let both = at(0.8);
    assert_eq!(both.iter().filter(|p| p.normal == Vector3::z()).count(), 4, "{both:?}");
    assert_eq!(both.iter().filter(|p| p.normal == -Vector3::x() && p.gap.abs() < 1e-15).count(), 4, "{both:?}");
}

#[test]
fn a_sunken_cube_keeps_its_contact() {
    // Deeper than the triangles are wide, up to beyond its centre.
    let cube = Geometry::new(&Shape::Box { half_extents: Vector3::repeat(0.1) }).unwrap();
    let ground = Geometry::new(&floor(41, 0.05, 0.5)).unwrap();
    for depth in [0.01, 0.05, 0.1, 0.15, 0.19] {
        let found =
            points_of(&cube, &Pose::new(Vector3::new(0.013, 0.027, 0.1 - depth), UnitQuaternion::identity()), &ground, &origin(), 0.0);
        assert!(!found.is_empty(), "depth {depth}");
        for p in &found {
            assert!(p.normal == Vector3::z() && (p.gap + depth).abs() < 1e-15, "{p:?}");
        }
    }
}

#[test]
fn a_sphere_rolls_over_edges_with_a_continuous_normal() {
    let ball = Geometry::new(&Shape::Sphere { radius: 0.4 }).unwrap();
    let ground = Geometry::new(&floor(21, 0.3, 0.6)).unwrap();
    for step in 0..2_000 {
        let t = f64::from(step);
        let found =
            points_of(&ball, &Pose::new(Vector3::new(0.001 * t - 1.0, 0.0, 0.4), UnitQuaternion::identity()), &ground, &origin(), 1e-6);
        assert_eq!(found.len(), 1, "step {step}: {found:?}");
        assert!(found[0].normal == Vector3::z() && found[0].gap.abs() < 1e-15);
    }
    // Over a ridge: the normal turns from one side to the other without a jump, and the gap is the distance.
    let vertices = [[-2.0, -1.0, -0.5], [-2.0, 1.0, -0.5], [0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [2.0, -1.0, -0.5], [2.0, 1.0, -0.5]];
    let vertices: Vec<Vector3<f64>> = vertices.iter().map(|v| Vector3::from(*v)).collect();
    let triangles = vec![[0, 2, 3], [0, 3, 1], [2, 4, 5], [2, 5, 3]];
    let ridge = Geometry::new(&Shape::Mesh { vertices: vertices.into(), triangles: triangles.into() }).unwrap();
    let mut last: Option<Vector3<f64>> = None;
    for step in -500..=500 {
        let x = 0.001 * f64::from(step);
        let found = points_of(&ball, &Pose::new(Vector3::new(x, 0.1, 0.45), UnitQuaternion::identity()), &ridge, &origin(), 0.2);
        let nearest = found.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)).unwrap();
        // Slopes of 1/4: the foot of the perpendicular is at the ridge while |x| < 0.45/4.
        let over_slope = x.abs() > 0.45 / 4.0;
        let distance = if over_slope { (0.45 + 0.25 * x.abs()) / 1.0625_f64.sqrt() } else { x.hypot(0.45) };
        assert!((nearest.gap - (distance - 0.4)).abs() < 1e-14, "{x}: {nearest:?}");
        assert_eq!(found.len(), 1, "{x}: {found:?}");
        if let Some(last) = last {
            assert!((nearest.normal - last).norm() < 0.001 / 0.44, "{x}: jump");
        }
        last = Some(nearest.normal);
    }
}

#[test]
fn a_capsule_lies_on_a_triangulated_floor() {
    let pill = Geometry::new(&Shape::Capsule { radius: 0.1, half_length: 0.5 }).unwrap();
    let ground = Geometry::new(&floor(21, 0.3, 0.6)).unwrap();
    for step in 0..100 {
        let t = f64::from(step);
        let lying = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 0.05 * t)
            * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
        let pose = Pose::new(Vector3::new(0.01 * t - 0.5, 0.0, 0.1), lying);
        let found = points_of(&pill, &pose, &ground, &origin(), 1e-6);
        assert_eq!(found.len(), 2, "step {step}: {found:?}");
        for p in &found {
            assert!(p.normal == Vector3::z() && p.gap.abs() < 1e-15 && ((p.point - pose.position).xy().norm() - 0.5).abs() < 1e-14);
        }
    }
}

fn cube_mesh() -> Shape {
    let vertices: Vec<_> =
        (0..8_u32).map(|k| Vector3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)).add_scalar(-0.5)).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<_> = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Shape::Mesh { vertices: Arc::from(vertices), triangles: Arc::from(triangles) }
}

#[test]
fn a_cube_as_mesh_touches_as_a_cube() {
    // Near the surface (shallow) the mesh must give the depth and normal of the convex pair, whatever touches what.
    let mesh = Geometry::new(&cube_mesh()).unwrap();
    let cube = Geometry::new(&Shape::Box { half_extents: Vector3::repeat(0.5) }).unwrap();
    let mut state = 21;
    let mut compared = 0;
    for round in 0..4_000 {
        let axis = nalgebra::Unit::new_normalize(Vector3::from_fn(|_, _| next(&mut state) - 0.5));
        let turn = UnitQuaternion::from_axis_angle(&axis, 6.0 * next(&mut state));
        let pose = Pose::new(Vector3::from_fn(|_, _| 2.6 * next(&mut state) - 1.3), turn);
        let small = Geometry::new(&Shape::Box { half_extents: Vector3::new(0.3, 0.25, 0.2) }).unwrap();
        let exact = points_of(&small, &pose, &cube, &origin(), 0.02);
        let found = points_of(&small, &pose, &mesh, &origin(), 0.02);
        // Nothing lost, nothing invented.
        assert_eq!(exact.is_empty(), found.is_empty(), "{round}: {exact:?} {found:?}");
        let lowest = |points: &[PairPoint]| points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)).copied();
        if let (Some(p), Some(q)) = (lowest(&exact), lowest(&found))
            && p.gap > -0.05
        {
            compared += 1;
            assert!((p.gap - q.gap).abs() < 1e-12 && (p.normal - q.normal).norm() < 1e-9, "{round}: {p:?} {q:?}");
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn a_height_field_is_ground() {
    let (n, spacing) = (31, [0.2, 0.2]);
    let slope = |x: f64| 0.25 * x;
    let heights: Vec<f64> = (0..n * n).map(|k| slope((f64::from(k % n) - 15.0) * 0.2)).collect();
    let field = Geometry::new(&Shape::HeightField { heights: heights.into(), columns: n as usize, spacing }).unwrap();
    let ball = Geometry::new(&Shape::Sphere { radius: 0.3 }).unwrap();
    let normal = Vector3::new(-0.25, 0.0, 1.0).normalize();
    for step in 0..500 {
        let x = 0.005 * f64::from(step) - 1.2;
        let centre = Vector3::new(x, 0.03, slope(x)) + normal * 0.3;
        let found = points_of(&ball, &Pose::new(centre, UnitQuaternion::identity()), &field, &origin(), 1e-6);
        assert_eq!(found.len(), 1, "{x}: {found:?}");
        assert!(found[0].gap.abs() < 1e-14 && (found[0].normal - normal).norm() < 1e-14);
    }
}

#[test]
fn a_vee_groove_touches_on_both_sides() {
    // Concave edge along y with slopes of 45°: a ball of radius r in it touches both, and a cube on its edge too.
    let vertices = [[-2.0, -2.0, 2.0], [-2.0, 2.0, 2.0], [0.0, -2.0, 0.0], [0.0, 2.0, 0.0], [2.0, -2.0, 2.0], [2.0, 2.0, 2.0]];
    let vertices: Vec<Vector3<f64>> = vertices.iter().map(|v| Vector3::from(*v)).collect();
    let triangles = vec![[0, 2, 3], [0, 3, 1], [2, 4, 5], [2, 5, 3]];
    let groove = Geometry::new(&Shape::Mesh { vertices: vertices.into(), triangles: triangles.into() }).unwrap();
    let ball = Geometry::new(&Shape::Sphere { radius: 0.5 }).unwrap();
    let height = 0.5 * 2.0_f64.sqrt();
    let found = points_of(&ball, &Pose::new(Vector3::new(0.0, 0.1, height), UnitQuaternion::identity()), &groove, &origin(), 1e-6);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|p| p.gap.abs() < 1e-15 && (p.normal.x.abs() - 0.5_f64.sqrt()).abs() < 1e-15));
    let cube = Geometry::new(&Shape::Box { half_extents: Vector3::repeat(0.5) }).unwrap();
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_4);
    let found = points_of(&cube, &Pose::new(Vector3::new(0.0, 0.1, height), turn), &groove, &origin(), 1e-6);
    // Four corners on each side.
    assert_eq!(found.len(), 8, "{found:?}");
    assert!(found.iter().all(|p| p.gap.abs() < 1e-14 && (p.normal.x.abs() - 0.5_f64.sqrt()).abs() < 1e-14));
}
