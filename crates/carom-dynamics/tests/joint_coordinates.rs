//! Coordinates of joints: their derivatives by differences, their values, their turns.

use crate::joints::{PAIRS, advance, check_derivatives, displaced, in_plane, position, source, systems};
use carom_dynamics::ModelError;
use carom_dynamics::relations::{Joint, JointAxis, JointCoordinate, JointKind, JointPlacement, JointSource, Relation};
use carom_dynamics::systems::Scratch;
use nalgebra::{Quaternion, UnitQuaternion, UnitVector3, Vector3};
use std::f64::consts::PI;

#[test]
fn derivatives_by_differences() {
    let (systems, q0) = (systems(), position());
    let (q, v) = displaced(&systems, &q0, 0.3);
    let mut checked = 0;
    for (axis, kind) in
        [(JointAxis::Turn, JointKind::Revolute), (JointAxis::Slide, JointKind::Prismatic), (JointAxis::Distance, JointKind::Distance)]
    {
        for bodies in PAIRS {
            let source = source(kind, bodies, in_plane(bodies));
            let coordinate = JointCoordinate::new("x", &source, axis, &systems, &q0).unwrap().with_offset(-1.5, 0.3);
            check_derivatives(&format!("{axis:?} {bodies:?}"), &coordinate, 1, &systems, &q, &v, 1.0);
            checked += 1;
        }
    }
    for (axis, kind) in [(JointAxis::Turn, JointKind::Universal), (JointAxis::SecondTurn, JointKind::Universal)] {
        for bodies in PAIRS.into_iter().filter(|bodies| !in_plane(*bodies)) {
            let coordinate = JointCoordinate::new("x", &source(kind, bodies, false), axis, &systems, &q0).unwrap().with_offset(-1.5, 0.3);
            check_derivatives(&format!("{axis:?} {bodies:?}"), &coordinate, 1, &systems, &q, &v, 1.0);
            checked += 1;
        }
    }
    for kind in [JointKind::Planar, JointKind::PointInPlane] {
        for bodies in PAIRS.into_iter().filter(|bodies| !in_plane(*bodies)) {
            let slip = Joint::slip("x", &source(kind, bodies, false), &systems, &q0).unwrap();
            check_derivatives(&format!("slip of {kind:?} {bodies:?}"), &slip, 2, &systems, &q, &v, 1.0);
            checked += 1;
        }
    }
    assert_eq!(checked, 3 * 11 + 4 * 8);
    assert!(Joint::slip("x", &source(JointKind::Revolute, ["a", "b"], false), &systems, &q0).is_err());
}

/// A body that is turned by θ₁ about the first axis of a universal joint and by θ₂ about the second has these angles.
#[test]
fn angles_of_a_universal_joint() {
    let (systems, q0) = (systems(), position());
    let source = source(JointKind::Universal, ["ground", "b"], false);
    let [first, second] =
        [JointAxis::Turn, JointAxis::SecondTurn].map(|axis| JointCoordinate::new("u", &source, axis, &systems, &q0).unwrap());
    let [a, b] = source.placement.axes.map(UnitVector3::new_normalize);
    // the coordinates of "b" begin after two planar bodies and "a"
    let place = 2 * 3 + 7 + 3;
    let start = UnitQuaternion::new_normalize(Quaternion::new(q0[place], q0[place + 1], q0[place + 2], q0[place + 3]));
    for (angle, other) in [(0.0, 0.0), (0.7, 0.0), (0.0, -1.2), (2.5, 0.4), (-1.1, -2.9)] {
        // the second axis turns with the first
        let turned = UnitQuaternion::from_axis_angle(&a, angle) * UnitQuaternion::from_axis_angle(&b, other) * start;
        let mut q = q0.clone();
        q[place..place + 4].copy_from_slice(&[turned.w, turned.i, turned.j, turned.k]);
        // roundings
        assert!((first.value(&q) - angle).abs() < 1e-14 && (second.value(&q) - other).abs() < 1e-14, "{angle} {other}");
    }
}

/// A planar body that turns and slides on its own has these angles and displacements; the angle stays within half a turn of its centre.
#[test]
fn values_of_angle_and_displacement() {
    let (systems, q0) = (systems(), position());
    let with = |kind, bodies: [Option<&str>; 2]| JointSource {
        kind,
        bodies: bodies.map(|b| b.map(str::to_owned)),
        placement: JointPlacement::at(Vector3::new(q0[0], q0[1], 0.0)).along(Vector3::x()).starting(0.25, -2.0),
    };
    let turned = |angle: f64, x: f64| {
        let mut w = vec![0.0; crate::joints::N_V];
        (w[0], w[2]) = (x, angle);
        advance(&systems, &q0, &w)
    };
    let turn = JointCoordinate::new("turn", &with(JointKind::Revolute, [None, Some("p")]), JointAxis::Turn, &systems, &q0).unwrap();
    let reverse = JointCoordinate::new("turn", &with(JointKind::Revolute, [Some("p"), None]), JointAxis::Turn, &systems, &q0).unwrap();
    let slide = JointCoordinate::new("slide", &with(JointKind::Prismatic, [None, Some("p")]), JointAxis::Slide, &systems, &q0).unwrap();
    for angle in [0.0, 1.0, -2.5, 3.0] {
        let expected = if angle == 3.0 { 3.25 - 2.0 * PI } else { angle + 0.25 };
        assert!((turn.value(&turned(angle, 0.0)) - expected).abs() < 1e-14, "{angle}");
        assert!((reverse.value(&turned(angle, 0.0)) - if angle == 3.0 { -2.75 } else { 0.25 - angle }).abs() < 1e-14);
    }
    let centred = turn.clone().with_centre(3.0);
    for angle in [0.0, 3.0, 5.5] {
        assert!((centred.value(&turned(angle, 0.0)) - (angle + 0.25)).abs() < 1e-14);
    }
    assert!((slide.value(&turned(0.0, 0.7)) + 1.3).abs() < 1e-15);
    // an upper limit at 1.5: g = 1.5 − x
    let mut g = [0.0];
    turn.with_offset(-1.0, 1.5).position(0.0, &turned(1.0, 0.0), &mut g, &mut Scratch::default()).unwrap();
    assert!((g[0] - 0.25).abs() < 1e-14);
}

#[test]
fn refuses_coordinates_that_joints_do_not_have() {
    let (systems, q) = (systems(), position());
    for (kind, axis, word) in [
        (JointKind::Prismatic, JointAxis::Turn, "no angle"),
        (JointKind::Revolute, JointAxis::Slide, "no displacement"),
        (JointKind::Revolute, JointAxis::SecondTurn, "no second angle"),
        (JointKind::Spherical, JointAxis::Distance, "no distance"),
    ] {
        match JointCoordinate::new("j", &source(kind, ["a", "b"], false), axis, &systems, &q) {
            Err(ModelError::Joint { reason, .. }) => assert!(reason.contains(word), "{reason}"),
            _ => panic!("{kind:?} has no {axis:?}"),
        }
    }
}
