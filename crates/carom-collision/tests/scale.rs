//! Many bodies: threads, allocation, exclusions, warnings.

use crate::scene::{Random, Scene};
use carom_collision::{Collider, Shape};
use carom_dynamics::detection::{ContactDetector, ContactPoint, DetectionWarnings};
use carom_dynamics::systems::Instant;
use nalgebra::{UnitQuaternion, Vector3};

/// A lattice of spheres and boxes that touch, with small random displacements and velocities, over a floor and between walls.
fn pile(n: usize) -> Scene {
    let (mut random, mut scene) = (Random(3), Scene::default());
    scene.add_fixed(Shape::Plane { normal: Vector3::z() }, Vector3::zeros(), UnitQuaternion::identity());
    scene.add_fixed(Shape::Box { half_extents: Vector3::new(0.5, 50.0, 50.0) }, Vector3::new(-1.0, 0.0, 0.0), UnitQuaternion::identity());
    let side = (n as f64).cbrt().ceil() as usize;
    for k in 0..n {
        let place = Vector3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64).add_scalar(0.5);
        let shape = if k % 5 == 0 { Shape::Box { half_extents: Vector3::repeat(0.4) } } else { Shape::Sphere { radius: 0.5 } };
        scene.add(shape, place + random.vector(-0.05, 0.05), random.rotation());
        let v = random.vector(-1.0, 1.0);
        scene.velocities[k] = [v.x, v.y, v.z, 0.1, 0.2, 0.3];
    }
    scene
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let mut scene = pile(6000);
    let mut steps = Vec::new();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut detector = scene.detector();
        let found: Vec<Vec<ContactPoint>> = pool.install(|| {
            // the second call reuses the list of near pairs, the third one not
            let mut search = |horizon: f64| scene.detect_with(&mut detector, horizon);
            vec![search(1e-3), search(2e-3), search(0.2)]
        });
        assert!(found[0].len() > 6000 && found.iter().all(|contacts| contacts.is_sorted_by(|a, b| a.key < b.key)));
        steps.push(found);
    }
    assert!(steps.iter().all(|found| *found == steps[0]));
    // and whether warm or not
    let mut detector = scene.detector();
    scene.detect_with(&mut detector, 1e-3);
    for pose in &mut scene.poses {
        pose.0.z += 0.01;
    }
    let warm = scene.detect_with(&mut detector, 1e-3);
    assert_eq!(warm, scene.detect(1e-3));
}

#[test]
fn nothing_is_allocated_once_warm() {
    let mut scene = pile(500);
    let mut detector = scene.detector();
    let mut contacts = Vec::with_capacity(100_000);
    for round in 0..4 {
        let (q, v) = scene.state();
        let counted = allocation_counter::measure(|| {
            contacts.clear();
            detector.detect(Instant { t: 0.0, q: &q, v: &v }, 1e-2, &mut contacts).unwrap();
        });
        assert!(round < 1 || counted.count_total == 0, "{counted:?} in round {round}");
        // back and forth by enough for the near pairs to be searched anew
        for (k, pose) in scene.poses.iter_mut().enumerate() {
            pose.0.x += if (k + round) % 2 == 0 { 0.06 } else { -0.06 };
        }
        if round == 0 {
            // capacities of the pairs of both places
            let (q, v) = scene.state();
            detector.detect(Instant { t: 0.0, q: &q, v: &v }, 1e-1, &mut contacts).unwrap();
        }
    }
}

#[test]
fn excluded_bodies_never_meet() {
    let ball = || Shape::Sphere { radius: 1.0 };
    let mut scene = Scene::default();
    for x in [0.0, 1.5, 3.0] {
        scene.add(ball(), Vector3::new(x, 0.0, 0.5), UnitQuaternion::identity());
    }
    scene.add_fixed(Shape::Plane { normal: Vector3::z() }, Vector3::zeros(), UnitQuaternion::identity());
    let mut detector = scene.detector();
    let pairs = |contacts: &[ContactPoint]| contacts.iter().map(|c| (c.body_a, c.body_b)).collect::<Vec<_>>();
    const W: u32 = carom_dynamics::detection::WORLD;
    assert_eq!(pairs(&scene.detect_with(&mut detector, 0.0)), [(0, 1), (0, W), (1, 2), (1, W), (2, W)]);
    detector.exclude_pairs(&[(Some(1), Some(0)), (None, Some(2))]);
    assert_eq!(pairs(&scene.detect_with(&mut detector, 0.0)), [(0, W), (1, 2), (1, W)]);
    detector.exclude_pairs(&[(Some(1), Some(2))]);
    assert_eq!(pairs(&scene.detect_with(&mut detector, 0.0)), [(0, W), (1, W)]);
}

#[test]
fn what_is_doubtful_is_counted() {
    let mut scene = Scene::default();
    let ball = || Shape::Sphere { radius: 1.0 };
    scene.add_fixed(Shape::Plane { normal: Vector3::z() }, Vector3::zeros(), UnitQuaternion::identity());
    // as deep as half its radius, and a little deeper
    scene.add(ball(), Vector3::new(0.0, 0.0, 0.51), UnitQuaternion::identity());
    scene.add(ball(), Vector3::new(10.0, 0.0, 0.49), UnitQuaternion::identity());
    // 2.1 m and 1.9 m in a tenth of a second
    scene.add(ball(), Vector3::new(0.0, 0.0, 50.0), UnitQuaternion::identity());
    scene.add(ball(), Vector3::new(9.0, 0.0, 50.0), UnitQuaternion::identity());
    scene.velocities[2] = [0.0, 21.0, 0.0, 0.0, 0.0, 0.0];
    scene.velocities[3] = [0.0, 19.0, 0.0, 0.0, 0.0, 0.0];
    // so far that positions are rounded to 2⁻¹⁸ m and more
    scene.add(ball(), Vector3::new(0.0, 1e11, 50.0), UnitQuaternion::identity());
    scene.add(ball(), Vector3::new(1e200, 0.0, 1e306), UnitQuaternion::identity());
    // a second shape of a body that is counted
    scene.colliders.push(Collider::new("second", Some(4), ball()));
    let mut detector = scene.detector();
    scene.detect_with(&mut detector, 0.1);
    assert_eq!(detector.warnings(), DetectionWarnings { deep_overlaps: 1, degenerate: 0, fast_bodies: 1, far_bodies: 2 });
    scene.detect_with(&mut detector, 0.0);
    assert_eq!(detector.warnings().fast_bodies, 0);
}
