//! The broad phase loses nothing and invents nothing.

use crate::scene::{Random, Scene};
use carom_collision::{Collider, Detector, Groups, Material, PairLaws, Shape};
use carom_dynamics::detection::{ContactDetector, ContactPoint, WORLD};
use carom_dynamics::systems::Instant;
use nalgebra::{UnitQuaternion, Vector3};

fn random_scene(random: &mut Random, n: usize) -> Scene {
    let mut scene = Scene::default();
    for k in 0..n {
        let r = random.within(0.2, 0.5);
        let shape = if k % 2 == 0 { Shape::Sphere { radius: r } } else { Shape::Box { half_extents: random.vector(0.2, 0.5) } };
        scene.add(shape, random.vector(-3.0, 3.0), random.rotation());
    }
    scene
}

/// All pairs, each with a detector of its own: no broad phase to speak of.
fn brute_force(scene: &Scene, horizon: f64) -> Vec<ContactPoint> {
    let (mut all, (q, v)) = (Vec::new(), scene.state());
    for i in 0..scene.colliders.len() {
        for j in i + 1..scene.colliders.len() {
            // A generous sieve by distance, which cannot hide a pair within the margin.
            let (a, b) = (scene.poses[i].0, scene.poses[j].0);
            if (a - b).norm() > 2.0 + 8.0 * horizon {
                continue;
            }
            let pair = vec![scene.colliders[i].clone(), scene.colliders[j].clone()];
            let mut detector = Detector::new(pair, vec![Material::default()], PairLaws::new()).unwrap();
            let mut contacts = Vec::new();
            detector.detect(Instant { t: 0.0, q: &q, v: &v }, horizon, &mut contacts).unwrap();
            for c in &mut contacts {
                assert_eq!((c.key.collider_a, c.key.collider_b), (0, 1));
                (c.key.collider_a, c.key.collider_b) = (i as u32, j as u32);
            }
            all.extend(contacts);
        }
    }
    all
}

#[test]
fn equals_brute_force_over_several_steps() {
    let mut random = Random(7);
    let mut scene = random_scene(&mut random, 300);
    for velocity in &mut scene.velocities {
        let (v, w) = (random.vector(-1.0, 1.0), random.vector(-1.0, 1.0));
        *velocity = [v.x, v.y, v.z, w.x, w.y, w.z];
    }
    let mut detector = scene.detector();
    let mut total = 0;
    for _ in 0..3 {
        let found = scene.detect_with(&mut detector, 0.02);
        // The same bits: the narrow phase is the same, only the search differs.
        assert_eq!(found, brute_force(&scene, 0.02));
        assert!(found.is_sorted_by(|a, b| a.key < b.key));
        total += found.len();
        for (position, _) in &mut scene.poses {
            *position += random.vector(-0.5, 0.5);
        }
    }
    assert!(total > 600, "{total} contacts are too few to tell");
}

/// Bodies that become faster within the step: what a search at their new velocities finds is found, at first or then.
#[test]
fn what_was_not_foreseen_is_found() {
    let mut random = Random(9);
    let (time, mut new) = (0.02, 0);
    for (n_faster, speed) in [(1, 3.0), (10, 40.0), (200, 5.0), (200, 100.0)] {
        let mut scene = random_scene(&mut random, 200);
        scene.add_fixed(Shape::Plane { normal: Vector3::z() }, Vector3::new(0.0, 0.0, -3.0), UnitQuaternion::identity());
        scene.add_fixed(Shape::Box { half_extents: Vector3::repeat(1.0) }, Vector3::zeros(), UnitQuaternion::identity());
        let mut detector = scene.detector();
        detector.set_skin(0.03);
        let first = scene.detect_with(&mut detector, 1.5 * time);
        // twice: what comes later is faster than as of the last search, whatever that was
        for _ in 0..2 {
            for velocity in &mut scene.velocities[..n_faster] {
                let (v, w) = (random.vector(-speed, speed), random.vector(-1.0, 1.0));
                *velocity = [v.x, v.y, v.z, w.x, w.y, w.z];
            }
            let (q, v) = scene.state();
            let mut later = Vec::new();
            detector.detect_unforeseen(Instant { t: 0.0, q: &q, v: &v }, time, &mut later).unwrap();
            let mut whole = scene.detector();
            whole.set_skin(0.0);
            // points of boxes depend on how far they are sought: pairs are compared
            let pair = |contact: &ContactPoint| (contact.key.collider_a, contact.key.collider_b);
            for contact in scene.detect_with(&mut whole, time) {
                let has_pair = |contacts: &[ContactPoint]| contacts.iter().any(|other| pair(other) == pair(&contact));
                assert!(has_pair(&first) || has_pair(&later), "{contact:?}");
                new += usize::from(!has_pair(&first));
            }
            // each once
            later.sort_by_key(|contact| contact.key);
            assert!(later.is_sorted_by(|a, b| a.key < b.key));
        }
    }
    assert!(new > 1000, "{new} contacts are too few to tell");
}

#[test]
fn history_does_not_matter() {
    let mut random = Random(8);
    let mut scene = random_scene(&mut random, 60);
    let mut warm = scene.detector();
    for _ in 0..5 {
        scene.detect_with(&mut warm, 0.0);
        for (position, rotation) in &mut scene.poses {
            *position = random.vector(-1.5, 1.5);
            *rotation = random.rotation();
        }
    }
    let expected = scene.detect(0.0);
    assert!(expected.len() > 50);
    assert_eq!(scene.detect_with(&mut warm, 0.0), expected);
    assert_eq!(scene.detect_with(&mut *warm.boxed_clone(), 0.0), expected);
    warm.rebuild();
    assert_eq!(scene.detect_with(&mut warm, 0.0), expected);
}

#[test]
fn who_meets_whom() {
    let ball = || Shape::Sphere { radius: 1.0 };
    let at = |x: f64| (Vector3::new(x, 0.0, 0.0), UnitQuaternion::identity());
    let mut scene = Scene::default();
    // Fixed first: the moving one must still be body A.
    scene.add_fixed(ball(), Vector3::zeros(), UnitQuaternion::identity());
    scene.add_fixed(ball(), Vector3::zeros(), UnitQuaternion::identity());
    scene.add(ball(), at(1.5).0, at(1.5).1);
    let contacts = scene.detect(0.0);
    assert_eq!(contacts.len(), 2, "fixed colliders do not meet each other");
    for (contact, fixed) in contacts.iter().zip([0, 1]) {
        assert_eq!((contact.body_a, contact.body_b), (0, WORLD));
        assert_eq!((contact.key.collider_a, contact.key.collider_b), (2, fixed));
        assert_eq!((contact.normal, contact.gap), (Vector3::x(), -0.5));
    }
    // A second collider on the same body does not meet the first.
    scene.colliders.push(Collider::new("second", Some(0), ball()));
    assert_eq!(scene.detect(0.0).len(), 4);
    // Groups: no bit in common in one direction is enough to stay apart.
    scene.colliders[2].groups = Groups { membership: 1, filter: u32::MAX };
    scene.colliders[0].groups = Groups { membership: u32::MAX, filter: 2 };
    let contacts = scene.detect(0.0);
    assert!(contacts.iter().all(|c| (c.key.collider_a, c.key.collider_b) != (2, 0)));
    assert_eq!(contacts.len(), 3);
}

#[test]
fn the_horizon_looks_ahead() {
    let mut scene = Scene::default();
    let ball = Shape::Sphere { radius: 0.5 };
    scene.add_fixed(Shape::Plane { normal: Vector3::z() * 3.0 }, Vector3::zeros(), UnitQuaternion::identity());
    scene.add(ball.clone(), Vector3::new(0.0, 0.0, 1.0), UnitQuaternion::identity());
    scene.add(ball, Vector3::new(0.0, 0.0, 2.25), UnitQuaternion::identity());
    scene.velocities = vec![[0.0, 0.0, -4.0, 0.0, 0.0, 0.0]; 2];
    // Same velocity: the two balls do not approach, however fast they fall.
    assert_eq!(scene.detect(0.1).len(), 0);
    assert_eq!(scene.detect(0.13).len(), 1);
    scene.velocities[1][2] = -7.0;
    let contacts = scene.detect(0.1);
    assert_eq!(contacts.len(), 1);
    assert_eq!((contacts[0].body_a, contacts[0].body_b, contacts[0].gap), (0, 1, 0.25));
    assert_eq!(contacts[0].normal, -Vector3::z());
    // Within the skin, 1e-6 of the radius, contacts show without any speed.
    scene.velocities = vec![[0.0; 6]; 2];
    scene.poses[0].0.z = 0.5 + 4e-7;
    assert_eq!(scene.detect(0.0).len(), 1);
    scene.poses[0].0.z = 0.5 + 6e-7;
    assert_eq!(scene.detect(0.0).len(), 0);
}
