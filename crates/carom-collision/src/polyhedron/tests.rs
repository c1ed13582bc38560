//! Tests of hulls: known solids, invariants on random points, nearly degenerate points.

use super::*;

fn next(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
}

/// What holds for every polyhedron, given the points that it must contain.
fn check(made: &Polyhedron, points: &[Vector3<f64>], tolerance: f64) {
    check_closed(made, points, tolerance);
    assert!(made.is_strictly_convex());
}

/// As [`check`], without asking that the surface bend outward by more than roundings.
fn check_closed(made: &Polyhedron, points: &[Vector3<f64>], tolerance: f64) {
    assert_eq!(made.vertices.len() + made.planes.len(), made.edges.len() + 2);
    for plane in &made.planes {
        assert!((plane.normal.norm() - 1.0).abs() < 1e-14);
        assert!(
            points.iter().all(|p| plane.height(p) <= tolerance),
            "a point outside by {:?}",
            points.iter().map(|p| plane.height(p)).fold(0.0, f64::max)
        );
    }
    for (k, edge) in (0..).zip(&made.edges) {
        for f in edge.faces {
            assert!(made.ring_edges(f).contains(&k));
            assert!(edge.ends.iter().all(|v| made.ring(f).contains(v)));
        }
    }
    for v in 0..made.vertices.len() as u32 {
        assert!(made.edges_at(v).len() >= 3);
    }
}

#[test]
fn a_cube_with_points_on_faces_and_edges() {
    let mut points = Vec::new();
    for i in 0..5 {
        for j in 0..5 {
            for k in 0..5 {
                points.push(Vector3::new(f64::from(i), f64::from(j), f64::from(k)) * 0.3);
            }
        }
    }
    let made = Polyhedron::hull(&points).unwrap();
    check(&made, &points, 1e-14);
    assert_eq!((made.vertices.len(), made.planes.len(), made.edges.len()), (8, 6, 12));
    // The same cube turned: roundings must not make further faces.
    let turn = nalgebra::UnitQuaternion::from_euler_angles(0.3, -0.7, 1.1);
    let turned: Vec<_> = points.iter().map(|p| turn * p + Vector3::new(10.0, 20.0, -5.0)).collect();
    let made = Polyhedron::hull(&turned).unwrap();
    check(&made, &turned, 1e-13);
    assert_eq!((made.vertices.len(), made.planes.len(), made.edges.len()), (8, 6, 12));
}

#[test]
fn a_prism_and_a_dodecahedron_have_whole_faces() {
    let prism: Vec<_> = (0..24)
        .flat_map(|k| {
            let (s, c) = (std::f64::consts::TAU * f64::from(k) / 24.0).sin_cos();
            [Vector3::new(c, s, 0.5), Vector3::new(c, s, -0.5)]
        })
        .collect();
    let made = Polyhedron::hull(&prism).unwrap();
    check(&made, &prism, 1e-14);
    assert_eq!((made.vertices.len(), made.planes.len()), (48, 26));
    let g = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut points = Vec::new();
    for s in 0..8 {
        let sign = |bit: u32| if s >> bit & 1 == 1 { 1.0 } else { -1.0 };
        points.push(Vector3::new(sign(0), sign(1), sign(2)));
        if s < 4 {
            points.push(Vector3::new(0.0, sign(0) / g, sign(1) * g));
            points.push(Vector3::new(sign(0) / g, sign(1) * g, 0.0));
            points.push(Vector3::new(sign(1) * g, 0.0, sign(0) / g));
        }
    }
    let made = Polyhedron::hull(&points).unwrap();
    check(&made, &points, 1e-14);
    assert_eq!((made.vertices.len(), made.planes.len(), made.edges.len()), (20, 12, 30));
    assert!((0..12).all(|f| made.ring(f).len() == 5));
}

#[test]
fn random_points_in_balls_cubes_and_thin_slabs() {
    let mut state = 5;
    for round in 0..200 {
        let n = 4 + (next(&mut state) * 60.0) as usize;
        let scale = if round % 3 == 0 { Vector3::new(1.0, 1.0, 1e-3) } else { Vector3::repeat(1.0) };
        let points: Vec<_> = (0..n)
            .map(|_| {
                let p = Vector3::from_fn(|_, _| next(&mut state) - 0.5);
                let p = if round % 2 == 0 { p.normalize() } else { p };
                p.component_mul(&scale)
            })
            .collect();
        let made = Polyhedron::hull(&points).unwrap();
        check(&made, &points, 1e-13);
        if round % 2 == 0 && round % 3 != 0 {
            // Points of a sphere are all corners, and no four of them lie in a plane.
            assert_eq!(made.vertices, points);
            assert_eq!(made.planes.len(), 2 * n - 4);
        }
    }
}

#[test]
fn nearly_degenerate_points_still_close() {
    // Coordinates of a lattice disturbed by roundings of different sizes.
    let mut state = 9;
    for exponent in -17..-4 {
        for _ in 0..10 {
            let noise = 10.0_f64.powi(exponent);
            let points: Vec<_> = (0..64)
                .map(|k| {
                    let p = Vector3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16));
                    p + Vector3::from_fn(|_, _| noise * (next(&mut state) - 0.5))
                })
                .collect();
            let made = Polyhedron::hull(&points).unwrap();
            check_closed(&made, &points, 1e-11 + 20.0 * noise);
            assert!(made.planes.len() >= 6);
        }
    }
}

#[test]
fn support_by_walking_equals_support_by_search() {
    let mut state = 3;
    let points: Vec<_> = (0..300).map(|_| Vector3::from_fn(|_, _| next(&mut state) - 0.5).normalize()).collect();
    let made = Polyhedron::hull(&points).unwrap();
    let view = made.view();
    let mut start = 0;
    for _ in 0..500 {
        let n = Vector3::from_fn(|_, _| next(&mut state) - 0.5);
        let (v, height) = view.lowest(&n, start);
        assert_eq!(height, made.vertices.iter().map(|p| n.dot(p)).fold(f64::INFINITY, f64::min));
        start = v;
    }
}

#[test]
fn a_box_has_the_numbers_of_the_box() {
    let half = Vector3::new(0.3, 0.5, 0.7);
    let made = Polyhedron::cuboid(&half);
    check(&made, &made.vertices, 1e-15);
    assert_eq!(made.vertices[5], Vector3::new(0.3, -0.5, 0.7));
    let mut other = Polyhedron::cuboid(&Vector3::repeat(1.0));
    other.set_cuboid(&half);
    assert_eq!(made, other);
}
