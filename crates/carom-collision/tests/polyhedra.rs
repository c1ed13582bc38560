//! Polyhedra through the detector: distances against parry, mass properties of compounds.

use crate::scene::{Random, Scene, looking};
use carom_collision::{Collider, MassProperties, Shape};
use carom_dynamics::detection::{ContactDetector, ContactPoint};
use carom_dynamics::systems::Instant;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use parry3d_f64::math::{Pose3, Rot3, Vector};
use parry3d_f64::query;
use parry3d_f64::shape::{Ball, Capsule, Cone, ConvexPolyhedron, Cuboid, Cylinder, Shape as ParryShape};

fn pose((p, r): &(Vector3<f64>, UnitQuaternion<f64>)) -> Pose3 {
    Pose3::from_parts(Vector::new(p.x, p.y, p.z), Rot3::from_xyzw(r.i, r.j, r.k, r.w))
}

fn hull(vertices: &[Vector3<f64>]) -> ConvexPolyhedron {
    let points: Vec<_> = vertices.iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
    ConvexPolyhedron::from_convex_hull(&points).expect("random points have a hull")
}

#[test]
fn distances_of_hulls_are_those_of_parry() {
    let mut random = Random(31);
    let mut apart = [0; 6];
    for round in 0..3_000 {
        // Every other hull lies beside its origin.
        let beside = if round % 2 == 0 { Vector3::zeros() } else { Vector3::new(0.7, 0.0, 0.2) };
        let vertices = |random: &mut Random| (0..12).map(|_| random.vector(-0.5, 0.5) + beside).collect::<Vec<_>>();
        let first = vertices(&mut random);
        let other = round % 6;
        let (half, radius) = (random.vector(0.1, 0.5), random.within(0.1, 0.3));
        let second = vertices(&mut random);
        let (shape, parry): (Shape, Box<dyn ParryShape>) = match other {
            0 => (Shape::Convex { vertices: second.clone() }, Box::new(hull(&second))),
            1 => (Shape::Box { half_extents: half }, Box::new(Cuboid::new(Vector::new(half.x, half.y, half.z)))),
            2 => (Shape::Sphere { radius }, Box::new(Ball::new(radius))),
            3 => (Shape::Capsule { radius, half_length: half.x }, Box::new(Capsule::new_z(half.x, radius))),
            4 => (Shape::Cylinder { radius, half_length: half.x }, Box::new(Cylinder::new(half.x, radius))),
            _ => (Shape::Cone { radius, half_height: half.x }, Box::new(Cone::new(half.x, radius))),
        };
        let mut scene = Scene::default();
        scene.add(Shape::Convex { vertices: first.clone() }, random.vector(-1.0, 1.0), random.rotation());
        scene.add(shape, random.vector(-1.0, 1.0), random.rotation());
        scene.velocities[0] = looking(10.0);
        let gap = scene.detect(1.0).iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        // parry's cylinders and cones stand along y.
        let upright = if other >= 4 { Rot3::from_rotation_x(std::f64::consts::FRAC_PI_2) } else { Rot3::IDENTITY };
        let mut second_pose = pose(&scene.poses[1]);
        second_pose.rotation *= upright;
        let distance = query::distance(&pose(&scene.poses[0]), &hull(&first), &second_pose, &*parry).unwrap().distance;
        if distance > 1e-6 {
            apart[other] += 1;
            // parry's iterations end at about 1e-7 here.
            assert!((gap - distance).abs() < 1e-5, "pair {other}: {gap} against {distance}");
        } else {
            assert!(gap <= 1e-6, "pair {other}: {gap} although they overlap");
        }
    }
    assert!(apart.iter().all(|&n| n > 100), "{apart:?}");
}

fn cube_mesh(half: f64) -> Shape {
    let sign = |bit: u32| if bit == 1 { half } else { -half };
    let vertices: Vec<_> = (0..8_u32).map(|k| Vector3::new(sign(k & 1), sign(k >> 1 & 1), sign(k >> 2))).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<_> = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Shape::Mesh { vertices: vertices.into(), triangles: triangles.into() }
}

#[test]
fn a_mesh_may_move_and_stand_on_a_plane() {
    let mut scene = Scene::default();
    scene.add(cube_mesh(0.5), Vector3::new(0.0, 0.0, 0.499), UnitQuaternion::identity());
    scene.add(Shape::Box { half_extents: Vector3::repeat(0.5) }, Vector3::new(0.1, 0.2, 1.498), UnitQuaternion::identity());
    scene.colliders.push(Collider::new("ground", None, Shape::Plane { normal: Vector3::z() }));
    let contacts = scene.detect(1e-3);
    // Four corners on the ground, four of the patch between the cubes; the box is first of the pair or second.
    assert_eq!(contacts.len(), 8, "{contacts:?}");
    assert!(contacts.iter().all(|c| (c.gap + 1e-3).abs() < 1e-14 && c.normal.z.abs() == 1.0));
    let between: Vec<_> = contacts.iter().filter(|c| c.point.z > 0.5).collect();
    // The mesh is A here: the normal points from the box above to it.
    assert!(between.len() == 4 && between.iter().all(|c| c.normal == -Vector3::z()), "{between:?}");
    // A can stands on a mesh.
    let mut scene = Scene::default();
    scene.add(Shape::Cylinder { radius: 0.1, half_length: 0.2 }, Vector3::new(0.3, 0.1, 1.199), UnitQuaternion::identity());
    scene.colliders.push(Collider::new("table", None, cube_mesh(1.0)));
    let contacts = scene.detect(1e-3);
    assert!(contacts.len() >= 3 && contacts.iter().all(|c| (c.gap + 1e-3).abs() < 1e-14 && c.normal == Vector3::z()), "{contacts:?}");
}

#[test]
fn meshes_meet_meshes_and_nothing_is_allocated_once_warm() {
    let mut scene = Scene::default();
    scene.add(cube_mesh(0.5), Vector3::new(0.1, 0.2, 1.499), UnitQuaternion::identity());
    scene.add(cube_mesh(0.5), Vector3::new(0.0, 0.0, 0.499), UnitQuaternion::identity());
    scene.colliders.push(Collider::new("table", None, cube_mesh(1.0)));
    scene.colliders[2].translation = Vector3::new(0.0, 0.0, -1.0);
    let mut detector = scene.detector();
    let mut contacts = Vec::with_capacity(64);
    let (q, v) = scene.state();
    for round in 0..3 {
        let counted = allocation_counter::measure(|| {
            contacts.clear();
            detector.detect(Instant { t: 0.0, q: &q, v: &v }, 1e-3, &mut contacts).unwrap();
        });
        assert!(round == 0 || counted.count_total == 0, "{counted:?}");
    }
    // Four corners on the table; the patch between the cubes is 0.9 by 0.8 m.
    let (lower, upper): (Vec<ContactPoint>, Vec<ContactPoint>) = contacts.iter().copied().partition(|c| c.point.z < 0.5);
    assert_eq!((lower.len(), upper.len()), (4, 4), "{contacts:?}");
    assert!(lower.iter().all(|c| (c.gap + 1e-3).abs() < 1e-14 && c.normal == Vector3::z()), "{lower:?}");
    assert!(upper.iter().all(|c| c.gap.abs() < 1e-14 && c.normal == Vector3::z()), "{upper:?}");
    let (xs, ys): (Vec<f64>, Vec<f64>) = upper.iter().map(|c| (c.point.x, c.point.y)).unzip();
    let width = |x: &[f64]| x.iter().fold(f64::MIN, |m, v| m.max(*v)) - x.iter().fold(f64::MAX, |m, v| m.min(*v));
    assert!((width(&xs) - 0.9).abs() < 1e-14 && (width(&ys) - 0.8).abs() < 1e-14, "{upper:?}");
}

#[test]
fn a_compound_weighs_as_the_whole() {
    // A box cut into two unequal boxes, seen from a turned frame.
    let turn = UnitQuaternion::from_euler_angles(0.3, -0.5, 0.9);
    let part = |h: Vector3<f64>, at: Vector3<f64>| (Shape::Box { half_extents: h }.mass_properties(3.0).unwrap(), turn * at, turn);
    let parts =
        [part(Vector3::new(0.1, 0.2, 0.3), Vector3::new(-0.3, 0.0, 0.0)), part(Vector3::new(0.3, 0.2, 0.3), Vector3::new(0.1, 0.0, 0.0))];
    let whole = Shape::Box { half_extents: Vector3::new(0.4, 0.2, 0.3) }.mass_properties(3.0).unwrap();
    let got = MassProperties::combine(&parts).unwrap();
    let rotation: Matrix3<f64> = *turn.to_rotation_matrix().matrix();
    // Some roundings of numbers near 1.
    assert!((got.mass - whole.mass).abs() < 1e-14 && got.centre_of_mass.norm() < 1e-14);
    assert!((got.inertia - rotation * whole.inertia * rotation.transpose()).norm() < 1e-14);
    assert_eq!(got.inertia, got.inertia.transpose());
    assert_eq!(MassProperties::combine(&[]), None);
}
