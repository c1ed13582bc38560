//! Fast bodies through the detector: their motion is followed on request, and they are counted otherwise.

use crate::scene::Scene;
use carom_collision::{Detector, Shape};
use carom_dynamics::detection::{ContactDetector, ContactPoint, DetectionWarnings, WORLD};
use nalgebra::{UnitQuaternion, Vector3};

/// A ball of 1 cm that flies along x at 600 m/s towards a wall of 2 mm, which is at the origin and 1 m high and wide.
fn bullet(start: Vector3<f64>, continuous: bool) -> (Scene, Detector) {
    let mut scene = Scene::default();
    scene.add(Shape::Sphere { radius: 0.01 }, start, UnitQuaternion::identity());
    scene.velocities[0] = [600.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    scene.add_fixed(Shape::Box { half_extents: Vector3::new(0.001, 0.5, 0.5) }, Vector3::zeros(), UnitQuaternion::identity());
    scene.colliders[0].continuous = continuous;
    let detector = scene.detector();
    (scene, detector)
}

fn found(scene: &Scene, detector: &mut Detector, horizon: f64) -> (Vec<ContactPoint>, DetectionWarnings) {
    let contacts = scene.detect_with(detector, horizon);
    (contacts, detector.warnings())
}

#[test]
fn a_bullet_is_followed_on_request() {
    // 6 m in a hundredth of a second; the wall is 3 m away, less the radius and half the thickness
    let start = Vector3::new(-3.0, 0.2, -0.1);
    let (scene, mut detector) = bullet(start, true);
    let (contacts, warnings) = found(&scene, &mut detector, 0.01);
    assert_eq!(warnings, DetectionWarnings::default());
    let [contact] = &contacts[..] else { panic!("{contacts:?}") };
    assert!((contact.gap - (3.0 - 0.011)).abs() < 1e-8 && (contact.normal + Vector3::x()).norm() < 1e-12, "{contact:?}");
    // the lever arm is the bullet's own
    assert!((contact.point - (start + Vector3::new(0.01, 0.0, 0.0))).norm() < 1e-7, "{contact:?}");
    assert_eq!((contact.body_a, contact.body_b), (0, WORLD));
    // not reached within the horizon, nor past the edge, nor on the way back
    assert_eq!(found(&scene, &mut detector, 0.004).0.len(), 0);
    let (scene, mut detector) = bullet(Vector3::new(-3.0, 0.52, 0.0), true);
    assert_eq!(found(&scene, &mut detector, 0.01).0.len(), 0);
    let (mut scene, mut detector) = bullet(start, true);
    scene.velocities[0][0] = -600.0;
    assert_eq!(found(&scene, &mut detector, 0.01).0.len(), 0);
    // either of the two may ask
    let (mut scene, _) = bullet(start, false);
    scene.colliders[1].continuous = true;
    assert_eq!(found(&scene, &mut scene.detector(), 0.01).0, contacts);
}

#[test]
fn a_bullet_is_counted_otherwise() {
    let (scene, mut detector) = bullet(Vector3::new(-3.0, 0.2, -0.1), false);
    assert_eq!(found(&scene, &mut detector, 0.01).1, DetectionWarnings { fast_bodies: 1, ..DetectionWarnings::default() });
    assert_eq!(found(&scene, &mut detector, 1e-5).1, DetectionWarnings::default());
}

#[test]
fn what_touches_stays_touching() {
    // A disc that slides and spins fast on the ground, on a thin plate, and turning away from both.
    for lift in [0.0, 0.4, -0.4] {
        let mut scene = Scene::default();
        scene.add(Shape::Cylinder { radius: 0.1, half_length: 0.005 }, Vector3::new(0.0, 0.0, 0.005), UnitQuaternion::identity());
        scene.velocities[0] = [50.0, 0.0, lift, 0.0, 0.0, 300.0];
        scene.add_fixed(
            Shape::Box { half_extents: Vector3::new(5.0, 5.0, 0.001) },
            Vector3::new(0.0, 0.0, -0.001),
            UnitQuaternion::identity(),
        );
        scene.colliders[0].continuous = true;
        let contacts = scene.detect(0.01);
        assert!(contacts.len() >= 3, "{lift} {contacts:?}");
        assert!(contacts.iter().all(|c| c.gap.abs() < 1e-12 && c.normal == Vector3::z()), "{lift} {contacts:?}");
    }
}

#[test]
fn a_turning_rod_is_followed() {
    // A rod of 2 m about its middle at 200 rad/s: 2 rad in a hundredth of a second, past a ball at 60 degrees.
    let mut scene = Scene::default();
    let along_x = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
    scene.add(Shape::Capsule { radius: 0.01, half_length: 1.0 }, Vector3::zeros(), along_x);
    // body frame: −x is the world's z
    scene.velocities[0] = [0.0, 0.0, 0.0, -200.0, 0.0, 0.0];
    let place = std::f64::consts::FRAC_PI_3;
    scene.add_fixed(Shape::Sphere { radius: 0.02 }, Vector3::new(0.8 * place.cos(), 0.8 * place.sin(), 0.0), UnitQuaternion::identity());
    scene.colliders[0].continuous = true;
    let contacts = scene.detect(0.01);
    let [contact] = &contacts[..] else { panic!("{contacts:?}") };
    // the rod hits from below, at the angle where its side touches: sin(60° − φ) = 0.03/0.8
    let at = place - (0.03_f64 / 0.8).asin();
    assert!((contact.normal - Vector3::new(at.sin(), -at.cos(), 0.0)).norm() < 1e-5, "{contact:?}");
}
