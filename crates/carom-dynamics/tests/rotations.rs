//! Rotation coordinates: rates by differences, and the same motion in all of them, through the singularities of angles.

use crate::joints::integrate;
use carom_dynamics::systems::{ParametrisedBodies, RigidBodies, RigidBody, RotationCoordinates, Scratch, System};
use carom_dynamics::{Model, State};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;

fn body(name: &str) -> RigidBody {
    RigidBody { name: name.into(), mass: 2.0, inertia: Matrix3::from_diagonal(&Vector3::new(1.0, 1.5, 2.2)) }
}

/// The twelve sequences of angles.
fn sequences() -> Vec<RotationCoordinates> {
    let mut all = Vec::new();
    for a in ["x", "y", "z"] {
        for b in ["x", "y", "z"] {
            for c in ["x", "y", "z"] {
                all.extend(RotationCoordinates::from_name(&format!("angles-{a}{b}{c}")));
            }
        }
    }
    assert_eq!(all.len(), 12);
    all
}

#[test]
fn names_are_known() {
    assert_eq!(RotationCoordinates::from_name("euler"), Some(RotationCoordinates::Angles([2, 0, 2])));
    assert_eq!(RotationCoordinates::from_name("cardan"), RotationCoordinates::from_name("angles-xyz"));
    for name in ["angles-xxz", "angles-xy", "angles-xyw", "quaternions", ""] {
        assert_eq!(RotationCoordinates::from_name(name), None);
    }
}

/// The rows of T and the bias (dT/dt) v agree with the motion q(ε) = q ⊕ εw at constant velocity w; `difference` undoes `advance`.
#[test]
fn kinematics_agree_with_advance() {
    for rotation in sequences().into_iter().chain([RotationCoordinates::Matrix, RotationCoordinates::Rodrigues]) {
        let system = ParametrisedBodies::new(vec![body("a")], rotation, Vector3::zeros()).unwrap();
        let q = system.coordinates_at(&Vector3::new(0.1, 0.2, 0.3), &UnitQuaternion::from_euler_angles(0.4, -0.7, 1.1));
        let (w, epsilon) = ([0.3, 0.1, -0.2, 0.5, -0.4, 0.8], 1e-4);
        let moved = |factor: f64| {
            let (mut next, step) = (q.clone(), w.map(|w| w * factor));
            system.advance(&q, &step, &mut next);
            next
        };
        let (plus, minus, far) = (moved(epsilon), moved(-epsilon), moved(1.0));
        for c in 0..q.len() {
            let range = system.velocities_of(c);
            let mut row = vec![0.0; range.len()];
            system.kinematic_row(&q, c, &mut row);
            let rate: f64 = row.iter().zip(&w[range]).map(|(a, b)| a * b).sum();
            // central differences with ε = 1e-4: truncation ε²/6 × third derivative (below 30), round-off 1e-16/1e-4 and 1e-16/1e-8
            assert!((rate - (plus[c] - minus[c]) / (2.0 * epsilon)).abs() < 1e-7, "{rotation:?} {c}");
            let second = (plus[c] - 2.0 * q[c] + minus[c]) / (epsilon * epsilon);
            assert!((system.kinematic_bias(&q, &w, c) - second).abs() < 1e-6, "{rotation:?} {c}");
        }
        let mut back = [0.0; 6];
        system.difference(&q, &far, &mut back);
        // round-off of a rotation
        assert!(back.iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-14), "{rotation:?} {back:?}");
    }
}

/// A free asymmetric top whose middle angle runs through its singularity, and one that starts in it: the same motion as with a quaternion.
#[test]
fn motion_is_that_of_the_quaternion() {
    for rotation in sequences().into_iter().chain([RotationCoordinates::Matrix, RotationCoordinates::Rodrigues]) {
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let system = ParametrisedBodies::new(vec![body("a")], rotation, gravity).unwrap();
        let reference = Model::new(vec![Box::new(RigidBodies::new(vec![body("a")], gravity).unwrap())]).unwrap();
        let (singular, axis) = match rotation {
            RotationCoordinates::Angles([a, b, c]) => (if a == c { 0.0 } else { FRAC_PI_2 }, b),
            _ => (0.4, 1),
        };
        for (offset, tilt) in [(0.0, 0.0), (-0.3, 0.0), (0.0, 0.4), (-0.3, 1e-3)] {
            let r = match rotation {
                RotationCoordinates::Angles(_) => rotation.rotation(&[0.5, singular + offset, 0.0]),
                _ => UnitQuaternion::from_euler_angles(0.5, singular + offset, 0.0),
            };
            // about the middle axis, a principal one, alone or with the others too
            let mut v = vec![0.3, -0.2, 0.1, tilt, 2.0 * tilt, -tilt];
            v[3 + axis] = 2.0;
            let q = system.coordinates_at(&Vector3::zeros(), &r);
            let model = Model::new(vec![Box::new(system.clone())]).unwrap();
            let start = State { t: 0.0, q, v: v.clone(), ..State::default() };
            model.check_state(&start).unwrap();
            let (end, n) = (1.0, 200);
            let (q, v_end) = integrate(&model, &start, end, n);
            let quaternion = State { t: 0.0, q: vec![0.0, 0.0, 0.0, r.w, r.i, r.j, r.k], v, ..State::default() };
            let (q_reference, v_reference) = integrate(&reference, &quaternion, end, n);
            let frame = system.frame(&q, 0);
            let expected = reference.systems().frame(&q_reference, reference.systems().find_frame("a").unwrap());
            // the same steps on the group: round-off of 800 conversions
            let difference =
                (frame.orientation.to_rotation_matrix().into_inner() - expected.orientation.to_rotation_matrix().into_inner()).amax();
            assert!(difference < 1e-12 && (frame.origin - expected.origin).norm() < 1e-12, "{rotation:?} {difference:e}");
            assert!(v_end.iter().zip(&v_reference).all(|(a, b)| (a - b).abs() < 1e-13));
            if let (RotationCoordinates::Angles(_), 0.0) = (rotation, tilt) {
                // the middle angle grows evenly through the singularity, the others stay
                let expected = [0.5, singular + offset + 2.0, 0.0];
                assert!(q[3..].iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{rotation:?} {q:?}");
            }
            let mut scratch = Scratch::default();
            let energy = |q: &[f64], v: &[f64], scratch: &mut Scratch| system.energy(0.0, q, v, scratch).map(|(t, v)| t + v).unwrap();
            // rk4: (h ω)⁵ per step
            assert!((energy(&q, &v_end, &mut scratch) - energy(&start.q, &start.v, &mut scratch)).abs() < 1e-8);
        }
    }
}

#[test]
fn states_that_are_no_rotations_are_refused() {
    let check = |rotation, c: &[f64]| {
        let system = ParametrisedBodies::new(vec![body("a")], rotation, Vector3::zeros()).unwrap();
        system.check_state(&[&[0.0; 3], c].concat())
    };
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert!(check(RotationCoordinates::Matrix, &identity).is_ok());
    assert!(check(RotationCoordinates::Matrix, &identity.map(|x| -x)).unwrap_err().contains("rotation matrix"));
    assert!(check(RotationCoordinates::Matrix, &identity.map(|x| 1.01 * x)).unwrap_err().contains("rotation matrix"));
    assert!(check(RotationCoordinates::Rodrigues, &[0.0, 1e9, 0.0]).unwrap_err().contains("half a turn"));
    // on the way: a rotation at a constant rate reaches half a turn
    let system = ParametrisedBodies::new(vec![body("a")], RotationCoordinates::Rodrigues, Vector3::zeros()).unwrap();
    let mut q = vec![0.0; 6];
    system.advance(&[0.0; 6], &[0.0, 0.0, 0.0, std::f64::consts::PI, 0.0, 0.0], &mut q);
    let error = system.force(0.0, &q, &[0.0; 6], &mut [0.0; 6], &mut Scratch::default()).unwrap_err();
    assert!(error.what.contains("half a turn"), "{error}");
}
