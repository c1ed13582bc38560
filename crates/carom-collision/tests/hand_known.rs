//! Contact points and motions of surfaces whose values are known by hand.

use carom_collision::{Collider, Detector, Material, Motion, MotionSource, PairLaws, Shape};
use carom_dynamics::detection::{ContactDetector, ContactPoint};
use carom_dynamics::systems::Instant;
use nalgebra::{UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;

/// Body 0 of a shape with a pose, above the plane z = 0 that moves: its contact points and the detector.
fn above_ground(
    shape: Shape,
    (place, turn): (Vector3<f64>, UnitQuaternion<f64>),
    motion: MotionSource,
    t: f64,
) -> (Vec<ContactPoint>, Detector) {
    let plane = Collider::new("ground", None, Shape::Plane { normal: Vector3::z() });
    let ground = Collider { motion: Some(Box::new(Motion::new("ground", motion).unwrap())), ..plane };
    let colliders = vec![Collider::new("body", Some(0), shape), ground];
    let mut detector = Detector::new(colliders, vec![Material::default()], PairLaws::new()).unwrap();
    let q = [place.x, place.y, place.z, turn.w, turn.i, turn.j, turn.k];
    let mut contacts = Vec::new();
    detector.detect(Instant { t, q: &q, v: &[0.0; 6] }, 0.01, &mut contacts).unwrap();
    (contacts, detector)
}

#[test]
fn a_capsule_that_lies_on_a_plane_rests_on_both_ends() {
    let lying = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
    let place = Vector3::new(0.5, -0.2, 0.1);
    let (contacts, _) = above_ground(Shape::Capsule { radius: 0.1, half_length: 0.3 }, (place, lying), MotionSource::default(), 0.0);
    let mut ends: Vec<f64> = contacts.iter().map(|contact| contact.point.x).collect();
    ends.sort_by(f64::total_cmp);
    assert_eq!(ends.len(), 2);
    for (end, exact) in ends.into_iter().zip([0.2, 0.8]) {
        assert!((end - exact).abs() < 1e-15, "{end}"); // rounding of the turn
    }
    for contact in contacts {
        let on_ground = (contact.point - Vector3::new(contact.point.x, -0.2, 0.0)).norm();
        assert!(contact.gap.abs() < 1e-15 && on_ground < 1e-15 && contact.normal == Vector3::z(), "{contact:?}");
    }
}

#[test]
fn the_ground_turns_and_its_surface_spins_on_it() {
    let mut motion = MotionSource::default();
    (motion.formulas[3], motion.formulas[7]) = (Some("2*t + t^2".into()), Some("3*t".into()));
    let pose = (Vector3::new(0.5, 0.0, 0.1), UnitQuaternion::identity());
    let (contacts, detector) = above_ground(Shape::Sphere { radius: 0.1 }, pose, motion, 0.5);
    // the angle grows at 2 + 2t, the surface spins at 3t on it, both about z
    let [rate, change] = detector.surface_rotation(1);
    assert!((rate - Vector3::new(0.0, 0.0, 3.0 + 1.5)).norm() < 1e-15 && (change - Vector3::new(0.0, 0.0, 2.0 + 3.0)).norm() < 1e-15);
    // at the arm 0.5 along x
    let surface = contacts[0].surface.unwrap();
    assert!((surface.velocity - Vector3::new(0.0, 4.5 * 0.5, 0.0)).norm() < 1e-15, "{surface:?}");
}
