//! Contacts in joints, couplings of joints and points on curves: derivatives by differences.

use crate::joints::{N_V, PAIRS, advance, check_derivatives, displaced, in_plane, jacobian_at, position, source, systems};
use carom_dynamics::ModelError;
use carom_dynamics::relations::{
    CurveSource, JointContact, JointCoordinate, JointCoupling, JointKind, JointPlacement, JointSource, PointOnCurve, Relation,
};
use carom_dynamics::systems::{FrameId, Scratch, SystemSet};
use nalgebra::Vector3;

fn gap(relation: &dyn Relation, q: &[f64]) -> f64 {
    let mut g = vec![0.0; relation.n_rows()];
    relation.position(0.0, q, &mut g, &mut Scratch::default()).unwrap();
    g[0]
}

/// The eccentricities here are tens of centimetres, so derivatives of all orders are of the order of ten.
#[test]
fn derivatives_of_clearances_by_differences() {
    let (systems, q0) = (systems(), position());
    let (q, v) = displaced(&systems, &q0, 0.3);
    for bodies in PAIRS {
        let planar = in_plane(bodies);
        let source = source(JointKind::Revolute, bodies, planar);
        let journal = JointContact::journal("pin", &source, (0.02, 0.15), 2, &systems, &q0).unwrap();
        assert_eq!(journal.n_rows(), if planar { 2 } else { 3 });
        assert!((gap(&journal, &q0) - 0.02).abs() < 1e-15);
        check_derivatives(&format!("journal {bodies:?}"), &journal, 1, &systems, &q, &v, 50.0);
        let ball = JointContact::ball("ball", &source, (0.02, 0.15), true, &systems, &q0).unwrap();
        check_derivatives(&format!("ball {bodies:?}"), &ball, 1, &systems, &q, &v, 50.0);
        let rope = JointContact::rope("rope", &crate::joints::source(JointKind::Distance, bodies, planar), 2.0, &systems, &q0).unwrap();
        assert_eq!(rope.n_rows(), 1);
        check_derivatives(&format!("rope {bodies:?}"), &rope, 1, &systems, &q, &v, 1.0);
        if planar {
            let source = crate::joints::source(JointKind::Prismatic, bodies, true);
            for (i, corner) in JointContact::slider("slider", &source, [0.3, 0.2], 0.01, true, &systems, &q0).unwrap().iter().enumerate() {
                assert!((gap(corner, &q0) - 0.01).abs() < 1e-15);
                check_derivatives(&format!("corner {i} {bodies:?}"), corner, 1, &systems, &q, &v, 1.0);
            }
        }
    }
}

/// Bodies that move together as one feel nothing in any row, whatever the eccentricity: forces and moments of a contact are in balance.
#[test]
fn rigid_motion_is_no_relative_motion() {
    let (systems, q0) = (systems(), position());
    let (q, _) = displaced(&systems, &q0, 0.3);
    let source = source(JointKind::Revolute, ["p", "r"], true);
    let journal = JointContact::journal("pin", &source, (0.5, 0.15), 1, &systems, &q0).unwrap();
    // both planar bodies turn about the origin: v = ω × x
    let mut v = vec![0.0; N_V];
    for body in 0..2 {
        (v[3 * body], v[3 * body + 1], v[3 * body + 2]) = (-q[3 * body + 1], q[3 * body], 1.0);
    }
    let g = jacobian_at(&journal, &q);
    for row in g.chunks_exact(journal.velocities().len()) {
        let u: f64 = journal.velocities().iter().zip(row).map(|(&k, g)| g * v[k]).sum();
        assert!(u.abs() < 1e-15, "{u}");
    }
}

#[test]
fn refuses_contacts_that_overlap_or_have_no_size() {
    let (systems, q0) = (systems(), position());
    let rope = |length: f64| JointContact::rope("rope", &source(JointKind::Distance, ["a", "b"], false), length, &systems, &q0);
    for (length, word) in [(1.0, "further apart"), (0.0, "positive"), (f64::NAN, "positive")] {
        match rope(length) {
            Err(ModelError::Joint { reason, .. }) => assert!(reason.contains(word), "{reason}"),
            _ => panic!("{length} is too short"),
        }
    }
}

/// A pin in the middle of its bore: the gap is the clearance, and all rows are finite and of unit size.
#[test]
fn a_centred_pin_has_finite_rows() {
    let (systems, q0) = (systems(), position());
    let v = vec![1.0; N_V];
    for bodies in [["a", "b"], ["p", "r"]] {
        let source = source(JointKind::Revolute, bodies, in_plane(bodies));
        for contact in [
            JointContact::journal("pin", &source, (0.02, 0.0), 2, &systems, &q0).unwrap(),
            JointContact::ball("ball", &source, (0.02, 0.0), true, &systems, &q0).unwrap(),
        ] {
            assert!((gap(&contact, &q0) - 0.02).abs() < 1e-15);
            let mut bias = vec![f64::NAN; contact.n_rows()];
            contact.acceleration_bias(0.0, &q0, &v, &mut bias, &mut Scratch::default()).unwrap();
            assert!(bias.iter().all(|b| b.abs() < 10.0), "{bias:?}");
            assert!(jacobian_at(&contact, &q0).iter().all(|g| g.is_finite()));
        }
    }
}

#[test]
fn derivatives_of_couplings_and_cones_by_differences() {
    let (systems, q0) = (systems(), position());
    let (q, v) = displaced(&systems, &q0, 0.3);
    let couples = [
        (["ground", "a"], ["ground", "b"]),
        (["c", "a"], ["c", "b"]),
        (["p", "r"], ["ground", "p"]),
        (["e", "c"], ["d", "b"]),
        (["p", "r"], ["a", "e"]),
    ];
    for (first, second) in couples {
        let [turning, other] = [first, second].map(|bodies| source(JointKind::Revolute, bodies, in_plane(bodies)));
        let sliding = source(JointKind::Prismatic, second, in_plane(second));
        let gear = JointCoupling::gear("gear", [&turning, &other], -2.5, &systems, &q0).unwrap();
        let rack = JointCoupling::rack("rack", [&turning, &sliding], 0.3, &systems, &q0).unwrap();
        for (what, coupling) in [("gear", &gear), ("rack", &rack)] {
            assert!(gap(coupling, &q0).abs() < 1e-15);
            check_derivatives(&format!("{what} {first:?} {second:?}"), coupling, 1, &systems, &q, &v, 4.0);
        }
    }
    for bodies in [["a", "b"], ["d", "ground"], ["b", "e"]] {
        let cone = JointCoordinate::cone("cone", &source(JointKind::Spherical, bodies, false), 0.4, &systems, &q0).unwrap();
        // at the start the axes agree: (1 − cos α)/sin α = tan(α/2)
        assert!((gap(&cone, &q0) - 0.2_f64.tan()).abs() < 1e-14);
        check_derivatives(&format!("cone {bodies:?}"), &cone, 1, &systems, &q, &v, 4.0);
    }
}

/// A gear pair keeps its residual over any number of turns of either wheel, and a screw its thread.
#[test]
fn couplings_know_no_turns() {
    let (systems, q0) = (systems(), position());
    let pin = |body: &str| JointSource {
        kind: JointKind::Revolute,
        bodies: [None, Some(body.to_owned())],
        placement: JointPlacement::at(Vector3::zeros()),
    };
    let gear = JointCoupling::gear("gear", [&pin("p"), &pin("r")], -37.0 / 20.0, &systems, &q0).unwrap();
    for turns in [0.3, 1.0, 5.7, -123.4] {
        let mut w = vec![0.0; N_V];
        (w[2], w[5]) = (turns * -37.0 / 20.0 + 0.01, turns);
        let g = gap(&gear, &advance(&systems, &q0, &w));
        assert!((g - 0.01).abs() < 1e-12, "{turns}: {g}");
    }
    for (ratio, word) in [(std::f64::consts::PI, "teeth"), (0.0, "not zero"), (f64::NAN, "not zero")] {
        match JointCoupling::gear("gear", [&pin("p"), &pin("r")], ratio, &systems, &q0) {
            Err(ModelError::Joint { reason, .. }) => assert!(reason.contains(word), "{reason}"),
            _ => panic!("{ratio} is no ratio"),
        }
    }
}

fn curve(formulas: &[&str], range: [f64; 2]) -> CurveSource {
    CurveSource {
        formulas: formulas.iter().map(|&f| f.to_owned()).collect(),
        parameter: "s".into(),
        range,
        constants: vec![("a".into(), 0.8)],
    }
}

/// u along the curve, in the point s of the helix or ellipse, is t·ẏ with ẏ by differences of the positions of the bodies.
fn check_slide(
    joint: &PointOnCurve,
    ids: [Option<FrameId>; 2],
    (point, s): (Vector3<f64>, f64),
    (systems, q0, v): (&SystemSet, &[f64], &[f64]),
) {
    let slide = joint.slide();
    let frames = |q: &[f64]| ids.map(|id| id.map_or_else(Default::default, |id| systems.frame(q, id)));
    let [_, own] = frames(q0);
    let fixed = own.orientation.inverse() * (point - own.origin);
    let seen = |epsilon: f64| {
        let q = advance(systems, q0, &v.iter().map(|v| v * epsilon).collect::<Vec<_>>());
        let [first, second] = frames(&q);
        first.orientation.inverse() * (second.origin + second.orientation * fixed - first.origin)
    };
    let epsilon = 1e-4;
    let rate = (seen(epsilon) - seen(-epsilon)) / (2.0 * epsilon);
    let tangent = Vector3::new(-0.8 * s.sin(), s.cos(), if joint.n_rows() == 1 { 0.0 } else { 0.2 });
    let u: f64 = slide.velocities().iter().zip(jacobian_at(&slide, q0)).map(|(&k, g)| g * v[k]).sum();
    // central differences: third derivatives of about 10 times ε²/6
    assert!((u - tangent.normalize().dot(&rate)).abs() < 1e-7, "{u} {rate:?}");
}

/// Helices and ellipses of bodies of every sort, near the curve but not on it.
#[test]
fn derivatives_of_points_on_curves_by_differences() {
    let (systems, q0) = (systems(), position());
    let (q, v) = displaced(&systems, &q0, 0.02);
    let (helix, ellipse) =
        (curve(&["a*cos(s)", "sin(s)", "0.2*s"], [-6.0, 6.0]), curve(&["a*cos(s)", "sin(s)"], [0.0, std::f64::consts::TAU]));
    for bodies in PAIRS {
        let planar = in_plane(bodies);
        let (source, s) = if planar { (&ellipse, 2.1_f64) } else { (&helix, 0.7_f64) };
        let names = bodies.map(|name| (name != "ground").then(|| name.to_owned()));
        // the point of the curve in the world
        let frame = names[0].as_ref().map(|name| systems.frame(&q0, systems.find_frame(name).unwrap())).unwrap_or_default();
        let local = Vector3::new(0.8 * s.cos(), s.sin(), if planar { 0.0 } else { 0.2 * s });
        let point = frame.origin + frame.orientation * local;
        let joint = PointOnCurve::new("slot", &names, point, source, &systems, &q0).unwrap();
        assert_eq!(joint.n_rows(), if planar { 1 } else { 2 });
        assert!(gap(&joint, &q0).abs() < 1e-14);
        check_derivatives(&format!("curve {bodies:?}"), &joint, joint.n_rows(), &systems, &q, &v, 30.0);
        check_derivatives(&format!("along the curve {bodies:?}"), &joint.slide(), 0, &systems, &q, &v, 30.0);
        check_slide(&joint, names.clone().map(|name| name.and_then(|name| systems.find_frame(&name))), (point, s), (&systems, &q0, &v));
        match PointOnCurve::new("slot", &names, point + Vector3::x() * 1e-3, source, &systems, &q0) {
            Err(ModelError::Joint { reason, .. }) => assert!(reason.contains("off the curve; the nearest point"), "{reason}"),
            _ => panic!("the point is off the curve"),
        }
    }
    let names = [None, Some("p".to_owned())];
    let refused = |source: CurveSource, word: &str| match PointOnCurve::new("slot", &names, Vector3::zeros(), &source, &systems, &q0) {
        Err(error) => assert!(error.to_string().contains(word), "{error}"),
        Ok(_) => panic!("{source:?} is no curve"),
    };
    refused(curve(&["s"], [0.0, 1.0]), "2 are needed");
    refused(curve(&["s", "s"], [1.0, 1.0]), "increasing");
    refused(curve(&["s^2", "s^3"], [0.0, 1.0]), "stands still");
    refused(curve(&["s", "1/s"], [0.0, 1.0]), "curve");
    refused(curve(&["s", "b*s"], [0.0, 1.0]), "b");
}
