//! Bad input gives typed errors or no contacts, never a panic.

use crate::scene::{Random, Scene};
use carom_collision::{Collider, CollisionError, Detector, Material, PairLaws, Shape, ShapeError};
use carom_dynamics::detection::ContactDetector;
use carom_dynamics::laws::ContactLaw;
use carom_dynamics::systems::Instant;
use nalgebra::{UnitQuaternion, Vector3};

fn build(collider: Collider) -> Result<Detector, CollisionError> {
    Detector::new(vec![collider], vec![Material::default()], PairLaws::new())
}

#[test]
fn errors_name_the_culprit() {
    let ball = || Collider::new("ball", Some(0), Shape::Sphere { radius: 1.0 });
    let error = build(Collider::new("bad", Some(0), Shape::Sphere { radius: 0.0 })).err().unwrap();
    assert_eq!(
        error,
        CollisionError::Shape {
            collider: "bad".into(),
            source: ShapeError::NonPositive { shape: "sphere", quantity: "radius", value: 0.0 },
        }
    );
    assert_eq!(error.to_string(), "collider `bad`: radius of the sphere must be positive, not 0");
    let plane = Collider::new("floor", Some(3), Shape::Plane { normal: Vector3::z() });
    assert_eq!(build(plane).err(), Some(CollisionError::MovingPlane { collider: "floor".into(), body: 3 }));
    let mut stray = ball();
    stray.material = 1;
    assert!(matches!(build(stray).err(), Some(CollisionError::UnknownMaterial { material: 1, n_materials: 1, .. })));
    let mut lost = ball();
    lost.translation.y = f64::NAN;
    assert!(matches!(build(lost).err(), Some(CollisionError::Pose { .. })));
    let slippery = Material { friction: -1.0, ..Material::default() };
    let error = Detector::new(vec![], vec![slippery], PairLaws::new()).err();
    assert!(matches!(error, Some(CollisionError::Material { index: 0, .. })));
    let mut laws = PairLaws::new();
    laws.set(0, 5, ContactLaw::default()).unwrap();
    let error = Detector::new(vec![], vec![Material::default()], laws).err();
    assert_eq!(error, Some(CollisionError::UnknownPairMaterial { material: 5, n_materials: 1 }));
}

#[test]
fn laws_come_from_the_table_or_the_materials() {
    let mut scene = Scene::default();
    for x in [0.0, 1.0, 2.0] {
        scene.add(Shape::Sphere { radius: 0.6 }, Vector3::new(x, 0.0, 0.0), UnitQuaternion::identity());
    }
    scene.colliders[1].material = 1;
    let materials =
        vec![Material { friction: 0.25, restitution: 0.5, ..Material::default() }, Material { friction: 1.0, ..Material::default() }];
    let mut detector = Detector::new(scene.colliders.clone(), materials.clone(), PairLaws::new()).unwrap();
    let contacts = scene.detect_with(&mut detector, 0.0);
    assert_eq!(contacts.len(), 2);
    assert!(contacts.iter().map(|c| detector.laws()[c.law as usize]).all(|l| (l.friction.at(0.0), l.restitution.at(0.0)) == (0.5, 0.5)));
    let mut table = PairLaws::new();
    let sticky = ContactLaw::coulomb(9.0, 0.0);
    table.set(1, 0, sticky).unwrap();
    let mut detector = Detector::new(scene.colliders.clone(), materials, table).unwrap();
    let contacts = scene.detect_with(&mut detector, 0.0);
    assert!(contacts.iter().all(|c| detector.laws()[c.law as usize] == sticky));
    assert_eq!((detector.collider_name(2), detector.collider_name(9)), ("body 2", "?"));
}

#[test]
fn bad_states_silence_only_their_body() {
    let mut random = Random(21);
    let mut scene = Scene::default();
    for _ in 0..40 {
        let shape = random.shape();
        scene.add(shape, random.vector(-0.8, 0.8), random.rotation());
    }
    scene.add_fixed(Shape::Plane { normal: Vector3::z() }, Vector3::zeros(), UnitQuaternion::identity());
    let mut detector = scene.detector();
    let (q, v) = scene.state();
    let mut good = Vec::new();
    detector.detect(Instant { t: 0.0, q: &q, v: &v }, 1e-3, &mut good).unwrap();
    assert!(good.iter().any(|c| c.body_a == 5 || c.body_b == 5));
    let without_5: Vec<_> = good.iter().filter(|c| c.body_a != 5 && c.body_b != 5).copied().collect();
    for value in [f64::NAN, f64::INFINITY, 1e308] {
        for coordinate in 0..7 {
            let mut bad = q.clone();
            bad[35 + coordinate] = value;
            let mut contacts = Vec::new();
            detector.detect(Instant { t: 0.0, q: &bad, v: &v }, 1e-3, &mut contacts).unwrap();
            if value != 1e308 {
                assert_eq!(contacts, without_5, "coordinate {coordinate} = {value}");
            }
            assert!(contacts.iter().all(|c| c.gap.is_finite() && c.normal.iter().all(|x| x.is_finite())));
        }
        let mut bad = v.clone();
        bad[30] = value;
        let mut contacts = Vec::new();
        detector.detect(Instant { t: 0.0, q: &q, v: &bad }, 1e-3, &mut contacts).unwrap();
    }
    let mut zero_quaternion = q.clone();
    zero_quaternion[38..42].fill(0.0);
    let mut contacts = Vec::new();
    detector.detect(Instant { t: 0.0, q: &zero_quaternion, v: &v }, 1e-3, &mut contacts).unwrap();
    assert_eq!(contacts, without_5);
    // Too short a state: the bodies beyond it are silent.
    contacts.clear();
    detector.detect(Instant { t: 0.0, q: &[], v: &[] }, 1e-3, &mut contacts).unwrap();
    assert!(contacts.is_empty());
    detector.detect(Instant { t: 0.0, q: &q, v: &v }, f64::NAN, &mut contacts).unwrap();
    // And a good state afterwards is as good as before.
    contacts.clear();
    detector.detect(Instant { t: 0.0, q: &q, v: &v }, 1e-3, &mut contacts).unwrap();
    assert_eq!(contacts, good);
}

#[test]
fn every_pair_of_shapes_touches() {
    // Two shapes whose centres are at most 0.28 apart overlap: contacts, unit normals, gaps within the skin.
    let mut random = Random(22);
    for _ in 0..2_000 {
        let mut scene = Scene::default();
        for _ in 0..2 {
            let shape = random.shape();
            scene.add(shape, random.vector(-0.08, 0.08), random.rotation());
        }
        let kinds = [scene.colliders[0].shape.kind(), scene.colliders[1].shape.kind()];
        let contacts = scene.detect(0.0);
        // A random hull or a cone may be thin where the other shape is; all others hold a ball of 0.2 about the origin.
        if !kinds.contains(&"convex") && !kinds.contains(&"cone") {
            assert!(!contacts.is_empty(), "{kinds:?}");
        }
        for c in &contacts {
            // Unit to parry's rounding of a normalised vector.
            assert!((c.normal.norm() - 1.0).abs() < 1e-9 && c.gap <= 1e-6, "{kinds:?} {c:?}");
        }
        assert!(contacts.is_sorted_by(|a, b| a.key < b.key), "{kinds:?}");
    }
}
