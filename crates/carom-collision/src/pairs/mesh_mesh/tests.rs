//! Tests of surfaces on surfaces.

use super::*;
use crate::pairs::{Geometry, collide};
use crate::shapes::Shape;
use nalgebra::{Unit, UnitQuaternion};

fn next(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
}

fn mesh(vertices: Vec<Vector3<f64>>, triangles: Vec<[u32; 3]>) -> Geometry {
    Geometry::new(&Shape::Mesh { vertices: vertices.into(), triangles: triangles.into() }).unwrap()
}

/// A box whose faces are divided into n × n cells of two triangles.
fn cuboid(half: Vector3<f64>, n: u32) -> Geometry {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let (u, v) = if sign > 0.0 { ((axis + 1) % 3, (axis + 2) % 3) } else { ((axis + 2) % 3, (axis + 1) % 3) };
            let start = vertices.len() as u32;
            for k in 0..(n + 1) * (n + 1) {
                let mut p = Vector3::zeros();
                p[axis] = sign * half[axis];
                p[u] = half[u] * (f64::from(2 * (k % (n + 1))) / f64::from(n) - 1.0);
                p[v] = half[v] * (f64::from(2 * (k / (n + 1))) / f64::from(n) - 1.0);
                vertices.push(p);
            }
            for k in 0..n * n {
                let a = start + k / n * (n + 1) + k % n;
                triangles.extend([[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]);
            }
        }
    }
    let made = mesh(vertices, triangles);
    assert!(made.surface.as_ref().unwrap().closed);
    made
}

/// A floor at z = 0 of cells moved sideways at random.
fn floor(n: u32, cell: f64, disorder: f64) -> Geometry {
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
    mesh(vertices, triangles)
}

/// A prism along y over an outline in the x-z plane given as convex parts, counter-clockwise seen from −y, that share whole edges.
fn prism(outline: &[[f64; 2]], parts: &[&[u32]], half_width: f64) -> Geometry {
    let n = outline.len() as u32;
    let mut vertices: Vec<_> = outline.iter().map(|p| Vector3::new(p[0], -half_width, p[1])).collect();
    vertices.extend(outline.iter().map(|p| Vector3::new(p[0], half_width, p[1])));
    let mut triangles = Vec::new();
    for part in parts {
        for k in 1..part.len() - 1 {
            triangles.push([part[0], part[k], part[k + 1]]);
            triangles.push([n + part[0], n + part[k + 1], n + part[k]]);
        }
    }
    for k in 0..n {
        let next = (k + 1) % n;
        triangles.extend([[k, n + k, n + next], [k, n + next, next]]);
    }
    let made = mesh(vertices, triangles);
    assert!(made.surface.as_ref().unwrap().closed, "not closed");
    made
}

/// Floor 4 wide and 1 deep with its top at z = 0, walls 1 wide and 1 high at both sides: free from x = −2 to 2.
fn tray() -> Geometry {
    let outline = [[-3.0, -1.0], [3.0, -1.0], [3.0, 1.0], [2.0, 1.0], [2.0, 0.0], [-2.0, 0.0], [-2.0, 1.0], [-3.0, 1.0]];
    prism(&outline, &[&[0, 1, 4, 5], &[1, 2, 3, 4], &[0, 5, 6, 7]], 2.0)
}

/// An angle: foot 2 wide and 0.5 high, leg 0.5 wide and 2 high, its corner at the origin.
fn angle() -> Geometry {
    let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 0.5], [0.5, 0.5], [0.5, 2.0], [0.0, 2.0]];
    prism(&outline, &[&[0, 1, 2, 3], &[0, 3, 4, 5]], 1.0)
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::new(Vector3::new(x, y, z), UnitQuaternion::identity())
}

fn points_of(a: (&Geometry, &Pose), b: (&Geometry, &Pose), margin: f64) -> Vec<PairPoint> {
    let mut points = Vec::new();
    collide(a, b, margin, &mut crate::pairs::Scratch::default(), &mut points);
    points
}

fn lowest(points: &[PairPoint]) -> Option<PairPoint> {
    points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)).copied()
}

/// Largest distance of a point of the one list from the nearest of the other, with gap and normal.
fn difference(here: &[PairPoint], there: &[PairPoint]) -> f64 {
    let apart = |p: &PairPoint, q: &PairPoint| (p.point - q.point).norm() + (p.normal - q.normal).norm() + (p.gap - q.gap).abs();
    let far = |x: &[PairPoint], y: &[PairPoint]| {
        x.iter().map(|p| y.iter().map(|q| apart(p, q)).fold(f64::INFINITY, f64::min)).fold(0.0, f64::max)
    };
    if here.len() == there.len() { far(here, there).max(far(there, here)) } else { f64::INFINITY }
}

#[test]
fn a_cube_as_mesh_slides_over_a_floor_as_over_a_plane() {
    let solid = Geometry::new(&Shape::Box { half_extents: Vector3::repeat(0.5) }).unwrap();
    let plane = Geometry::new(&Shape::Plane { normal: Vector3::z() }).unwrap();
    for (cells, disorder, cell) in [(1, 0.0, 0.3), (3, 0.6, 0.3), (2, 0.5, 2.0)] {
        let (cube, ground) = (cuboid(Vector3::repeat(0.5), cells), floor(21, cell, disorder));
        let mut numbers: Option<Vec<u32>> = None;
        for step in 0..200 {
            let t = f64::from(step);
            let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), if step < 50 { 0.0 } else { 0.01 * t });
            let gap = [-1e-4, 0.0, 1e-7][step as usize % 3];
            let pose = Pose::new(Vector3::new(0.01 * t - 1.0, 0.0075 * t - 0.8, 0.5 + gap), turn);
            let here = points_of((&cube, &pose), (&ground, &at(0.0, 0.0, 0.0)), 1e-6);
            let there = points_of((&solid, &pose), (&plane, &at(0.0, 0.0, 0.0)), 1e-6);
            assert_eq!(here.len(), 4, "step {step}: {here:?}");
            // The same corners, found through another frame: roundings of numbers near 1.
            assert!(difference(&here, &there) < 1e-14, "step {step}: {here:?}");
            assert!(here.iter().all(|p| p.normal == Vector3::z()));
            let features: Vec<u32> = here.iter().map(|p| p.feature).collect();
            assert_eq!(*numbers.get_or_insert(features.clone()), features, "step {step}");
        }
    }
}

#[test]
fn a_tilted_cube_keeps_all_corners_within_reach() {
    let solid = Geometry::new(&Shape::Box { half_extents: Vector3::repeat(0.5) }).unwrap();
    let plane = Geometry::new(&Shape::Plane { normal: Vector3::z() }).unwrap();
    let (cube, ground) = (cuboid(Vector3::repeat(0.5), 1), floor(21, 0.3, 0.6));
    let mut state = 5;
    for round in 0..300 {
        let axis = Unit::new_normalize(Vector3::from_fn(|_, _| next(&mut state) - 0.5));
        let turn = UnitQuaternion::from_axis_angle(&axis, [1e-4, 1e-2, 1.0][round % 3] * next(&mut state));
        let low = (0..8).map(|k| (turn * Vector3::from_fn(|i, _| f64::from(k >> i & 1) - 0.5)).z).fold(f64::INFINITY, f64::min);
        let pose = Pose::new(Vector3::new(next(&mut state), next(&mut state), -low - 1e-4), turn);
        let here = points_of((&cube, &pose), (&ground, &at(0.0, 0.0, 0.0)), 5e-3);
        let there = points_of((&solid, &pose), (&plane, &at(0.0, 0.0, 0.0)), 5e-3);
        assert!(difference(&here, &there) < 1e-13, "round {round}: {here:?} {there:?}");
    }
}

/// Deepest or nearest point of boxes as meshes beside that of the boxes' own formulas, down to a twentieth of the smaller one's thickness. Where a
/// corner is nearer to an edge of the other than it is deep, the way out is not unique: among the overlaps drawn here one does not agree, by a
/// shallower point.
#[test]
fn cubes_as_meshes_touch_as_boxes() {
    let (half_a, half_b) = (Vector3::new(0.3, 0.25, 0.2), Vector3::repeat(0.5));
    let solid = |half: Vector3<f64>| Geometry::new(&Shape::Box { half_extents: half }).unwrap();
    let (box_a, box_b) = (solid(half_a), solid(half_b));
    let mut state = 21;
    let (mut apart, mut shallow, mut ambiguous) = (0, 0, 0);
    for cells in [1, 2] {
        let (mesh_a, mesh_b) = (cuboid(half_a, cells), cuboid(half_b, 3 - cells));
        for round in 0..6_000 {
            let axis = Unit::new_normalize(Vector3::from_fn(|_, _| next(&mut state) - 0.5));
            let turn = UnitQuaternion::from_axis_angle(&axis, 6.0 * next(&mut state));
            let pose = Pose::new(Vector3::from_fn(|_, _| 2.0 * next(&mut state) - 1.0), turn);
            let exact = points_of((&box_a, &pose), (&box_b, &at(0.0, 0.0, 0.0)), 0.02);
            let found = points_of((&mesh_a, &pose), (&mesh_b, &at(0.0, 0.0, 0.0)), 0.02);
            // Nothing lost, nothing invented.
            assert_eq!(exact.is_empty(), found.is_empty(), "{round}: {exact:?} {found:?}");
            let (Some(p), Some(q)) = (lowest(&exact), lowest(&found)) else { continue };
            // Roundings of numbers near 1; directions of nearest points are quotients of distances of 1e-4 and more.
            let same = (p.gap - q.gap).abs() < 1e-12 && (p.normal - q.normal).norm() < 1e-9;
            if p.gap > 0.0 {
                apart += 1;
                assert!(same, "{round}: {p:?} {q:?}");
            } else if p.gap > -0.01 {
                shallow += 1;
                ambiguous += u32::from(!same);
                assert!(same || q.gap > p.gap, "{round}: {p:?} {q:?}");
            }
        }
    }
    assert!(apart > 400 && shallow > 150 && ambiguous <= 1, "{apart} {shallow} {ambiguous}");
}

#[test]
fn an_angle_lies_in_a_tray() {
    let (angle, tray) = (angle(), tray());
    let origin = at(0.0, 0.0, 0.0);
    // In the middle: four corners of the foot on the floor.
    for gap in [-1e-4, 0.0, 1e-7] {
        let found = points_of((&angle, &at(-1.0, 0.2, gap)), (&tray, &origin), 1e-6);
        assert_eq!(found.len(), 4, "{gap}: {found:?}");
        assert!(found.iter().all(|p| p.normal == Vector3::z() && (p.gap - gap).abs() < 1e-15), "{found:?}");
    }
    // In the corner: four on the floor, four on the wall, up to its top; whichever way it has sunk.
    for (x, z) in [(0.0, 0.0), (-1e-5, 0.0), (0.0, -1e-5), (-2e-5, -1e-5), (-1e-5, -3e-5), (1e-7, 1e-7)] {
        let found = points_of((&angle, &at(-2.0 + x, 0.2, z)), (&tray, &origin), 1e-6);
        let (floor, wall): (Vec<PairPoint>, Vec<PairPoint>) = found.iter().partition(|p| p.normal == Vector3::z());
        assert_eq!((floor.len(), wall.len()), (4, 4), "{x} {z}: {found:?}");
        assert!(floor.iter().all(|p| (p.gap - z).abs() < 1e-15), "{x} {z}: {floor:?}");
        assert!(wall.iter().all(|p| p.normal == Vector3::x() && (p.gap - x).abs() < 1e-15), "{x} {z}: {wall:?}");
        let top = wall.iter().map(|p| p.point.z).fold(0.0, f64::max);
        assert!((top - 1.0).abs() < 1e-15, "{top}");
    }
    // Its notch over the wall's inner edge: the foot's underside lies on the wall's top, the leg's inner side touches nothing.
    let turned = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::PI);
    let hanging = Pose::new(Vector3::new(3.5, 0.0, 1.5), turned);
    let found = points_of((&angle, &hanging), (&tray, &origin), 1e-6);
    // Leg outside the wall from x = 3 on, notch at (3, 1): both faces of the notch touch.
    assert!(found.iter().any(|p| (p.normal - Vector3::z()).norm() < 1e-12 && p.gap.abs() < 1e-12), "{found:?}");
    assert!(found.iter().any(|p| (p.normal - Vector3::x()).norm() < 1e-12 && p.gap.abs() < 1e-12), "{found:?}");
    assert!(found.iter().all(|p| p.gap.abs() < 1e-12), "{found:?}");
}

#[test]
fn a_turned_or_swapped_scene_has_the_same_contacts() {
    let (angle, tray) = (angle(), tray());
    let mut state = 3;
    let poses = [at(-2.0, 0.2, 0.0), at(-2.0 - 1e-5, 0.2, -2e-5), at(-1.0, 1.5, -1e-4), at(-0.3, 0.0, 1e-4)];
    for (k, pose) in poses.iter().enumerate() {
        let still = points_of((&angle, pose), (&tray, &at(0.0, 0.0, 0.0)), 1e-3);
        assert!(still.len() >= 4, "{k}: {still:?}");
        for _ in 0..20 {
            let axis = Unit::new_normalize(Vector3::from_fn(|_, _| next(&mut state) - 0.5));
            let turn = UnitQuaternion::from_axis_angle(&axis, 6.0 * next(&mut state));
            let shift = Vector3::from_fn(|_, _| next(&mut state));
            let moved = Pose::new(turn * pose.position + shift, turn * pose.quaternion);
            let ground = Pose::new(shift, turn);
            let found = points_of((&angle, &moved), (&tray, &ground), 1e-3);
            let back: Vec<PairPoint> = found
                .iter()
                .map(|p| PairPoint { point: turn.inverse() * (p.point - shift), normal: turn.inverse() * p.normal, ..*p })
                .collect();
            assert!(difference(&still, &back) < 1e-13, "{k}: {still:?} {back:?}");
            let swapped = points_of((&tray, &ground), (&angle, &moved), 1e-3);
            let mirrored: Vec<PairPoint> = swapped.iter().map(|p| PairPoint { normal: -p.normal, ..*p }).collect();
            assert!(difference(&found, &mirrored) < 1e-13, "{k}: {found:?} {mirrored:?}");
            assert_eq!(found, points_of((&angle, &moved), (&tray, &ground), 1e-3));
        }
    }
}

#[test]
fn a_mesh_lies_on_a_height_field() {
    let (n, slope) = (21, 0.25);
    let heights: Vec<f64> = (0..n * n).map(|k| slope * (f64::from(k % n) - 10.0) * 0.2).collect();
    let field = Geometry::new(&Shape::HeightField { heights: heights.into(), columns: n as usize, spacing: [0.2, 0.2] }).unwrap();
    let normal = Vector3::new(-slope, 0.0, 1.0).normalize();
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -slope.atan());
    let cube = cuboid(Vector3::repeat(0.5), 2);
    for (step, gap) in [-1e-3, 0.0, 1e-4].into_iter().enumerate() {
        let pose = Pose::new(normal * (0.5 + gap) + Vector3::new(0.07, 0.03, 0.07 * slope), turn);
        for found in [
            points_of((&cube, &pose), (&field, &at(0.0, 0.0, 0.0)), 1e-3),
            points_of((&field, &at(0.0, 0.0, 0.0)), (&cube, &pose), 1e-3).iter().map(|p| PairPoint { normal: -p.normal, ..*p }).collect(),
        ] {
            assert_eq!(found.len(), 4, "{step}: {found:?}");
            assert!(found.iter().all(|p| (p.gap - gap).abs() < 1e-14 && (p.normal - normal).norm() < 1e-14), "{step}: {found:?}");
        }
    }
}

#[test]
fn a_mesh_inside_another_is_pushed_out() {
    let (small, large) = (cuboid(Vector3::repeat(0.1), 1), cuboid(Vector3::repeat(1.0), 1));
    let found = points_of((&small, &at(0.0, 0.0, 0.7)), (&large, &at(0.0, 0.0, 0.0)), 1e-6);
    let deepest = lowest(&found).unwrap();
    assert!((deepest.gap + 0.4).abs() < 1e-12 && (deepest.normal - Vector3::z()).norm() < 1e-12, "{found:?}");
}

#[test]
fn the_back_of_a_sheet_and_the_far_side_of_a_plate_are_not_touched() {
    // Below a one-sided floor, and below a thin plate: the cube's top is near, its bottom is behind the upper side.
    let cube = cuboid(Vector3::repeat(0.5), 1);
    let sheet = floor(11, 0.3, 0.5);
    let below = at(0.0, 0.0, -0.5 - 1e-4);
    assert_eq!(points_of((&cube, &below), (&sheet, &at(0.0, 0.0, 0.0)), 1e-2), []);
    let plate = cuboid(Vector3::new(2.0, 2.0, 0.005), 1);
    let found = points_of((&cube, &at(0.0, 0.0, -0.505 - 1e-4)), (&plate, &at(0.0, 0.0, 0.0)), 1e-2);
    assert!(found.len() == 4 && found.iter().all(|p| p.normal == -Vector3::z() && (p.gap - 1e-4).abs() < 1e-15), "{found:?}");
}
