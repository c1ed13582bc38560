//! Force elements: Jacobians and potentials against differences, action and reaction, refusals.

use carom_dynamics::forces::{
    BushingSource, DragSource, ForceElement, ForcePart, ForceSource, LinearSpring, LoadAxes, LoadKind, LoadSource, PointSpringSource,
    Sense, SpringSource,
};
use carom_dynamics::relations::{JointAxis, JointKind, JointPlacement, JointSource};
use carom_dynamics::systems::{
    Instant, JacobianFactors, Lagrangian, LagrangianText, PlanarBodies, PlanarBody, RigidBodies, RigidBody, Scratch, System, Tree,
    TreeBody, TreeJoint,
};
use carom_dynamics::{Model, ModelError};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

fn rigid(name: &str) -> RigidBody {
    RigidBody { name: name.into(), mass: 1.5, inertia: Matrix3::from_diagonal(&Vector3::new(1.0, 1.2, 1.5)) }
}

/// A formula system (a), two rigid bodies, a planar one, and a tree of two links, all in motion.
pub fn crowd() -> (Model, Vec<f64>, Vec<f64>) {
    let text = LagrangianText { coordinates: vec!["a".into()], kinetic: "a_dot^2/2".into(), ..LagrangianText::default() };
    let link = |name: &str, parent: Option<&str>, x: f64, axis: Vector3<f64>| TreeBody {
        body: rigid(name),
        parent: parent.map(Into::into),
        joint: TreeJoint::Revolute,
        position: Vector3::new(x + 0.4, 0.1, 0.2),
        orientation: UnitQuaternion::identity(),
        point: Vector3::new(x, 0.0, 0.0),
        axis,
    };
    let tree = Tree::new(
        vec![link("upper", None, 2.0, Vector3::z()), link("lower", Some("upper"), 2.8, Vector3::new(0.3, 1.0, 0.2))],
        Vector3::zeros(),
    );
    let parts: Vec<Box<dyn System>> = vec![
        Box::new(Lagrangian::new(&text).unwrap()),
        Box::new(RigidBodies::new(vec![rigid("first"), rigid("second")], Vector3::zeros()).unwrap()),
        Box::new(PlanarBodies::new(vec![PlanarBody { name: "disk".into(), mass: 0.7, inertia: 0.3 }], [0.0; 2]).unwrap()),
        Box::new(tree.unwrap()),
    ];
    let (r, s) = (UnitQuaternion::from_euler_angles(0.2, -0.5, 0.9), UnitQuaternion::from_euler_angles(-1.0, 0.3, 0.4));
    let q =
        [&[0.3][..], &[0.1, 0.2, 0.3, s.w, s.i, s.j, s.k], &[-0.4, 0.5, 0.6, r.w, r.i, r.j, r.k], &[1.0, -0.6, 0.7], &[0.4, -0.3]].concat();
    let v = (0..18).map(|i| (1.3 * i as f64).sin()).collect();
    (Model::new(parts).unwrap(), q, v)
}

/// The force of an element alone.
fn force(model: &Model, element: &dyn ForceElement, (q, v): (&[f64], &[f64]), part: ForcePart) -> Vec<f64> {
    let mut force = vec![0.0; v.len()];
    element.add_force(model.systems(), Instant { t: 0.4, q, v }, part, &mut force, &mut Scratch::default()).unwrap();
    force
}

fn moved(model: &Model, q: &[f64], w: &[f64], factor: f64) -> Vec<f64> {
    let (w, mut to): (Vec<f64>, _) = (w.iter().map(|w| factor * w).collect(), q.to_vec());
    model.systems().advance(q, &w, &mut to);
    to
}

/// C and K of all elements of a model against central differences at a displaced configuration; F_elastic·w against the change of V along w.
fn check(model: &Model, q: &[f64], v: &[f64], what: &str) {
    let n = v.len();
    let drift: Vec<f64> = (0..n).map(|i| 0.2 * (2.1 * i as f64 + 0.5).cos()).collect();
    let q = moved(model, q, &drift, 1.0);
    let (mut scratch, at) = (Scratch::default(), Instant { t: 0.4, q: &q, v });
    for (_, element) in model.force_elements().iter() {
        let mut of = |velocity: f64, position: f64| {
            let mut matrix = vec![0.0; n * n];
            element
                .visit_jacobians(model.systems(), at, JacobianFactors { velocity, position }, &mut scratch, &mut |list, values| {
                    for (k, value) in values.iter().enumerate() {
                        matrix[list[k / list.len()] * n + list[k % list.len()]] += value;
                    }
                })
                .unwrap();
            matrix
        };
        let (damping, stiffness, mixed) = (of(1.0, 0.0), of(0.0, 1.0), of(0.3, 0.7));
        let largest = damping.iter().chain(&stiffness).fold(0.0_f64, |m, x| m.max(x.abs()));
        let epsilon = 1e-5;
        for j in 0..n {
            let unit: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
            let pair = |by_velocity: bool| {
                [1.0, -1.0].map(|sign| {
                    let faster: Vec<f64> = v.iter().zip(&unit).map(|(v, u)| v + sign * epsilon * u).collect();
                    let further = moved(model, &q, &unit, sign * epsilon);
                    force(model, element, if by_velocity { (&q, &faster) } else { (&further, v) }, ForcePart::All)
                })
            };
            for (matrix, by_velocity) in [(&damping, true), (&stiffness, false)] {
                let [plus, minus] = pair(by_velocity);
                for i in 0..n {
                    let difference = -(plus[i] - minus[i]) / (2.0 * epsilon);
                    let found = matrix[i * n + j];
                    // truncation ε²/6 times third derivatives, round-off 1e-15/ε, both relative to the largest entry
                    assert!((found - difference).abs() < 4e-9 * (1.0 + largest), "{what}: {by_velocity} {i} {j}: {found} {difference}");
                    let both = 0.3 * damping[i * n + j] + 0.7 * stiffness[i * n + j];
                    assert!((mixed[i * n + j] - both).abs() < 1e-11 * (1.0 + largest), "{what}: mixed {i} {j}");
                }
            }
        }
        assert!(largest > 1e-2, "{what}: nothing to compare");
        let (all, applied) = (force(model, element, (&q, v), ForcePart::All), force(model, element, (&q, v), ForcePart::Applied));
        let power: f64 = all.iter().zip(&applied).zip(&drift).map(|((all, applied), w)| (all - applied) * w).sum();
        let mut potential = |factor: f64| element.potential(model.systems(), 0.4, &moved(model, &q, &drift, factor), &mut scratch).unwrap();
        let change = (potential(epsilon) - potential(-epsilon)) / (2.0 * epsilon);
        assert!((power + change).abs() < 1e-8 * (1.0 + power.abs()), "{what}: F·w = {power}, −V' = {}", -change);
    }
}

fn check_source(source: &ForceSource, what: &str) {
    let (mut model, q, v) = crowd();
    model.add_force("it", source, &q).unwrap();
    check(&model, &q, &v, what);
}

/// Pairs of bodies of all systems, in both orders and with the ground.
const PAIRS: [[Option<&str>; 2]; 7] = [
    [Some("first"), Some("second")],
    [Some("second"), Some("first")],
    [None, Some("second")],
    [Some("disk"), Some("first")],
    [Some("disk"), None],
    [Some("upper"), Some("lower")],
    [Some("second"), Some("lower")],
];

fn names(pair: [Option<&str>; 2]) -> [Option<String>; 2] {
    pair.map(|name| name.map(Into::into))
}

#[test]
fn springs_between_all_systems() {
    let (first, second) = (Vector3::new(0.3, -0.2, 0.5), Vector3::new(1.1, 0.8, -0.4));
    for pair in PAIRS {
        for points in [[Some(first), Some(second)], [None, Some(second)]] {
            for law in [
                SpringSource::Linear(LinearSpring { preload: 0.7, ..LinearSpring::new(3.0, 0.9).with_rest(0.6) }),
                SpringSource::Linear(LinearSpring { sense: Sense::TensionOnly, ..LinearSpring::new(3.0, 0.05).with_rest(0.1) }),
                SpringSource::Linear(LinearSpring { sense: Sense::CompressionOnly, ..LinearSpring::new(3.0, 0.05).with_rest(5.0) }),
                SpringSource::Formula { text: "k*(length - 1)^3 + rate*length + sin(t)".into(), parameters: vec![("k".into(), 2.0)] },
            ] {
                check_source(&ForceSource::Spring(PointSpringSource { bodies: names(pair), points, law }), &format!("{pair:?}"));
            }
        }
    }
}

#[test]
fn bushings_between_all_systems() {
    for pair in PAIRS {
        let source = BushingSource {
            bodies: names(pair),
            point: Vector3::new(0.4, -0.3, 0.8),
            axes: UnitQuaternion::from_euler_angles(0.3, 0.5, -0.2),
            stiffness: Vector3::new(2.0, 3.0, 4.0),
            damping: Vector3::new(0.3, 0.2, 0.1),
            rotational_stiffness: Vector3::new(1.0, 2.0, 1.5),
            rotational_damping: Vector3::new(0.2, 0.4, 0.3),
        };
        check_source(&ForceSource::Bushing(source), &format!("{pair:?}"));
    }
}

/// The rotation vector stays consistent for large turns: the same tests a radian and more from rest.
#[test]
fn bushings_far_from_rest() {
    let (mut model, q, v) = crowd();
    let source = BushingSource {
        bodies: names([Some("first"), Some("second")]),
        point: Vector3::new(0.4, -0.3, 0.8),
        axes: UnitQuaternion::identity(),
        stiffness: Vector3::new(2.0, 3.0, 4.0),
        damping: Vector3::new(0.3, 0.2, 0.1),
        rotational_stiffness: Vector3::new(1.0, 2.0, 1.5),
        rotational_damping: Vector3::new(0.2, 0.4, 0.3),
    };
    model.add_force("it", &ForceSource::Bushing(source), &q).unwrap();
    let mut w = vec![0.0; v.len()];
    w[4..7].copy_from_slice(&[0.9, -0.6, 0.4]);
    w[10..13].copy_from_slice(&[-0.5, 0.3, 0.8]);
    check(&model, &moved(&model, &q, &w, 1.0), &v, "far");
}

#[test]
fn loads_see_bodies_and_coordinates() {
    let formulas = [
        ["1.5", "-2", "0.5"],
        ["-3*x + 0.2*vy^2", "sin(t)*y - wz", "z*vx + rx*ry + 0.3*x"],
        ["first.x - second.x", "first.wx*second.vz + rz", "second.ry - 0.1*first.vx^2"],
        ["a*x", "a_dot^2 + disk.angle", "second.qw*lower.z + upper.vx*lower.angle"],
    ];
    for kind in [LoadKind::Force, LoadKind::Torque] {
        for axes in [LoadAxes::World, LoadAxes::Body] {
            for (body, point) in [("first", None), ("second", Some(Vector3::new(0.2, 0.4, -0.3))), ("disk", None), ("lower", None)] {
                for components in formulas {
                    let constant = components[0] == "1.5";
                    // nothing to compare: a force that does not depend on the state, or a planar body that feels no turn of it
                    if constant && (body == "disk" || body == "first" || kind == LoadKind::Torque) {
                        continue;
                    }
                    let (components, parameters) = (components.map(Into::into), Vec::new());
                    let source = LoadSource { kind, body: body.into(), point, axes, components, parameters };
                    check_source(&ForceSource::Load(source.clone()), &format!("{source:?}"));
                }
            }
        }
    }
}

#[test]
fn drag_with_wind() {
    let bodies = ["first", "disk", "second", "lower"].map(String::from).to_vec();
    let wind = Some(["2*z + t", "sin(x)*u", "0.3*y*x"].map(String::from));
    let parameters = vec![("u".into(), 1.5)];
    let source = DragSource { bodies, linear: 0.4, quadratic: 0.7, rotational: 0.3, rotational_quadratic: 0.2, wind, parameters };
    check_source(&ForceSource::Drag(source.clone()), "wind");
    check_source(&ForceSource::Drag(DragSource { wind: None, ..source }), "still");
}

#[test]
fn springs_on_joint_coordinates() {
    let spring = SpringSource::Linear(LinearSpring { preload: 0.2, ..LinearSpring::new(2.0, 0.3).with_rest(0.4) });
    let formula = SpringSource::Formula { text: "sin(coordinate) + rate^3 + t".into(), parameters: Vec::new() };
    for law in [&spring, &formula] {
        for (kind, axis) in [(JointKind::Revolute, JointAxis::Turn), (JointKind::Prismatic, JointAxis::Slide)] {
            for pair in [[Some("first"), Some("second")], [None, Some("first")], [Some("upper"), Some("second")]] {
                let (mut model, q, v) = crowd();
                let placement = JointPlacement::at(Vector3::new(0.2, 0.1, -0.3)).along(Vector3::new(1.0, 2.0, -0.5));
                let source = JointSource { kind, bodies: names(pair), placement };
                model.add_joint_spring("it", &source, axis, law, &q).unwrap();
                check(&model, &q, &v, &format!("{kind:?} {pair:?}"));
            }
        }
    }
}

/// What acts between bodies gives no resultant and no moment.
#[test]
fn action_and_reaction() {
    let bodies = names([Some("first"), Some("second")]);
    let points = [Some(Vector3::new(0.3, -0.2, 0.5)), Some(Vector3::new(1.1, 0.8, -0.4))];
    let bushing = BushingSource {
        bodies: bodies.clone(),
        point: Vector3::new(0.4, -0.3, 0.8),
        axes: UnitQuaternion::from_euler_angles(0.3, 0.5, -0.2),
        stiffness: Vector3::new(2.0, 3.0, 4.0),
        damping: Vector3::new(0.3, 0.2, 0.1),
        rotational_stiffness: Vector3::new(1.0, 2.0, 1.5),
        rotational_damping: Vector3::new(0.2, 0.4, 0.3),
    };
    let law = SpringSource::Linear(LinearSpring::new(3.0, 0.9).with_rest(0.2));
    for source in [ForceSource::Spring(PointSpringSource { bodies, points, law }), ForceSource::Bushing(bushing)] {
        let (mut model, q, v) = crowd();
        model.add_force("it", &source, &q).unwrap();
        let q = moved(&model, &q, &[0.3; 18], 1.0);
        let element = model.force_elements().get(0).unwrap();
        let f = force(&model, element, (&q, &v), ForcePart::All);
        let mut sum = (Vector3::zeros(), Vector3::zeros());
        for (body, first) in [("first", 1), ("second", 7)] {
            let frame = model.systems().frame(&q, model.systems().find_frame(body).unwrap());
            let linear = Vector3::from_column_slice(&f[first..first + 3]);
            sum.0 += linear;
            sum.1 += frame.origin.cross(&linear) + frame.orientation * Vector3::from_column_slice(&f[first + 3..first + 6]);
            assert!(linear.norm() > 0.1);
        }
        assert!(sum.0.norm() < 1e-14 && sum.1.norm() < 1e-14, "{sum:?}");
    }
}

#[test]
fn refusals_say_what_is_wrong() {
    let (mut model, q, _) = crowd();
    let spring = |bodies: [Option<&str>; 2], law: LinearSpring| {
        ForceSource::Spring(PointSpringSource { bodies: names(bodies), points: [None; 2], law: SpringSource::Linear(law) })
    };
    let mut refuse = |source: &ForceSource, words: &str| {
        let error = model.add_force("it", source, &q).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    refuse(&spring([Some("frist"), None], LinearSpring::new(1.0, 0.0)), "did you mean \"first\"?");
    refuse(&spring([Some("first"), Some("first")], LinearSpring::new(1.0, 0.0)), "two different bodies");
    refuse(&spring([Some("first"), None], LinearSpring::new(-1.0, 0.0)), "stiffness of \"it\" = -1");
    refuse(&spring([Some("first"), None], LinearSpring::new(1.0, f64::NAN)), "damping of \"it\"");
    let rope = LinearSpring { sense: Sense::TensionOnly, ..LinearSpring::new(0.0, 1.0) };
    refuse(&spring([Some("first"), None], rope), "positive");
    let load = |text: &str| {
        let components = [text, "0", "0"].map(String::from);
        let (kind, body, axes) = (LoadKind::Force, "first".into(), LoadAxes::World);
        ForceSource::Load(LoadSource { kind, body, point: None, axes, components, parameters: Vec::new() })
    };
    refuse(&load("secnd.vx"), "second.vx");
    refuse(&load("first.qw_dot"), "first.qw_dot");
    refuse(
        &ForceSource::Drag(DragSource { bodies: vec!["first".into()], linear: -1.0, ..DragSource::default() }),
        "linear drag of \"it\" = -1",
    );
    model.add_force("it", &spring([Some("first"), None], LinearSpring::new(1.0, 0.0)), &q).unwrap();
    let again = model.add_force("it", &spring([Some("first"), None], LinearSpring::new(1.0, 0.0)), &q);
    assert!(matches!(again, Err(ModelError::DuplicateName { .. })), "{again:?}");
}
