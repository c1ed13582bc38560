//! Moving the whole scene rigidly changes nothing but the frame.

use crate::scene::{Random, Scene, looking};
use carom_collision::Shape;
use nalgebra::{UnitQuaternion, Vector3};

/// Contacts of a random scene before and after a rigid motion, compared key by key.
fn compare(shape: impl Fn(&mut Random) -> Shape, tolerance: f64, seed: u64) -> usize {
    let mut random = Random(seed);
    let mut scene = Scene::default();
    for _ in 0..120 {
        let shape = shape(&mut random);
        scene.add(shape, random.vector(-1.6, 1.6), random.rotation());
    }
    scene.add_fixed(Shape::Plane { normal: Vector3::new(0.0, 0.6, 0.8) }, Vector3::new(0.0, 0.0, -1.0), UnitQuaternion::identity());
    let n = scene.colliders.len() - 1;
    scene.velocities = vec![looking(0.05); n];
    let (shift, turn) = (Vector3::new(0.3, -0.7, 0.4), random.rotation());
    let mut moved = scene.clone();
    for (position, rotation) in &mut moved.poses {
        *position = turn * *position + shift;
        *rotation = turn * *rotation;
    }
    let ground = &mut moved.colliders[n];
    ground.translation = turn * ground.translation + shift;
    ground.rotation = turn * ground.rotation;
    // The velocities only widen the margin; turned or not, their size is the same.
    let (before, after) = (scene.detect(1.0), moved.detect(1.0));
    assert_eq!(before.len(), after.len(), "contacts lost or gained");
    for (a, b) in before.iter().zip(&after) {
        assert_eq!(a.key, b.key);
        assert!((a.gap - b.gap).abs() < tolerance, "{a:?} {b:?}");
        assert!((turn * a.normal - b.normal).norm() < tolerance, "{a:?} {b:?}");
        assert!((turn * a.point + shift - b.point).norm() < tolerance, "{a:?} {b:?}");
    }
    before.len()
}

#[test]
fn own_pairs_are_invariant_to_roundings() {
    let own = |random: &mut Random| loop {
        let shape = random.shape();
        if matches!(shape, Shape::Sphere { .. } | Shape::Box { .. }) {
            return shape;
        }
    };
    // Positions of size 2 turned by a rounded quaternion: 1e-15, amplified by at most 1e3 where edges meet flatly.
    for seed in 0..8 {
        let n = compare(own, 1e-12, seed);
        assert!(n > 100, "{n}");
    }
}

#[test]
fn capsules_are_invariant_to_roundings() {
    let capsule = |random: &mut Random| Shape::Capsule { radius: random.within(0.1, 0.3), half_length: random.within(0.2, 0.5) };
    for seed in 0..8 {
        let n = compare(capsule, 1e-12, seed);
        assert!(n > 100, "{n}");
    }
}
