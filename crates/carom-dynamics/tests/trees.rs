//! Relative coordinates: M and F against a derivation by energies, motion against bodies with joints, loops closed by a joint.

use crate::joints::{integrate, integrate_least_norm};
use crate::support::distance;
use carom_dynamics::relations::{JointKind, JointPlacement, JointSource};
use carom_dynamics::systems::{
    Instant, JacobianFactors, Lagrangian, LagrangianText, RigidBodies, RigidBody, Scratch, System, Tree, TreeBody, TreeJoint,
};
use carom_dynamics::{Model, ModelError, State};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

fn link(name: &str, parent: Option<&str>, joint: TreeJoint, position: [f64; 3], point: [f64; 3], axis: [f64; 3]) -> TreeBody {
    TreeBody {
        body: RigidBody { name: name.into(), mass: 1.3, inertia: Matrix3::from_diagonal(&Vector3::new(0.1, 0.12, 0.15)) },
        parent: parent.map(str::to_owned),
        joint,
        position: position.into(),
        orientation: UnitQuaternion::identity(),
        point: point.into(),
        axis: axis.into(),
    }
}

/// Two bars of length 1 that hang along −y and turn about z.
fn double_pendulum() -> Tree {
    let links = vec![
        link("a", None, TreeJoint::Revolute, [0.0, -0.5, 0.0], [0.0; 3], [0.0, 0.0, 2.0]),
        link("b", Some("a"), TreeJoint::Revolute, [0.0, -1.5, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]),
    ];
    Tree::new(links, Vector3::new(0.0, -9.81, 0.0)).unwrap()
}

#[test]
fn double_pendulum_equals_its_lagrangian() {
    let text = LagrangianText {
        coordinates: vec!["a".into(), "b".into()],
        parameters: vec![("m".into(), 1.3), ("J".into(), 0.15), ("g".into(), 9.81)],
        kinetic: "(m/4 + J)*a_dot^2/2 + m/2*(a_dot^2 + (a_dot + b_dot)^2/4 + a_dot*(a_dot + b_dot)*cos(b)) + J*(a_dot + b_dot)^2/2".into(),
        potential: "-m*g*cos(a)/2 - m*g*(cos(a) + cos(a + b)/2)".into(),
        forces: Vec::new(),
    };
    let (tree, lagrangian, mut scratch) = (double_pendulum(), Lagrangian::new(&text).unwrap(), Scratch::default());
    for (q, v) in [([0.3, -0.8], [1.1, 0.4]), ([2.0, 1.0], [-3.0, 2.5])] {
        let mut values = |system: &dyn System| {
            let (mut mass, mut force, mut matrix) = ([0.0; 4], [0.0; 2], [0.0; 4]);
            system.mass(0.0, &q, &mut mass, &mut scratch).unwrap();
            system.force(0.0, &q, &v, &mut force, &mut scratch).unwrap();
            let factors = JacobianFactors { velocity: 0.7, position: 0.3 };
            system.add_jacobians(Instant { t: 0.0, q: &q, v: &v }, factors, &mut matrix, &mut scratch).unwrap();
            let (kinetic, potential) = system.energy(0.0, &q, &v, &mut scratch).unwrap();
            (mass, force, matrix, [kinetic, potential])
        };
        let (a, b) = (values(&tree), values(&lagrangian));
        // round-off of terms up to 30
        assert!(distance(&a.0, &b.0) < 1e-14 && distance(&a.1, &b.1) < 1e-13 && distance(&a.3, &b.3) < 1e-13, "{a:?} {b:?}");
        // forward differences: 1.5e-8 times second derivatives below 30
        assert!(distance(&a.2, &b.2) < 1e-6, "{:?} {:?}", a.2, b.2);
    }
}

/// A chain with every kind of joint as a tree and as bodies with joints: after 0.3 s of tumbling the bodies are at the same places, and the
/// energy is that of the start.
#[test]
fn chains_move_as_bodies_with_joints() {
    let gravity = Vector3::new(1.0, -2.0, -9.81);
    let hanging = vec![
        link("a", None, TreeJoint::Revolute, [0.5, 0.1, 0.0], [0.0; 3], [0.3, 1.0, -0.4]),
        link("b", Some("a"), TreeJoint::Spherical, [1.5, 0.3, 0.1], [1.0, 0.2, 0.0], [0.0; 3]),
        link("c", Some("b"), TreeJoint::Cylindrical, [2.2, 0.3, -0.4], [2.0, 0.4, 0.0], [1.0, 0.2, 0.1]),
        link("d", Some("a"), TreeJoint::Prismatic, [0.7, 1.0, 0.2], [0.6, 0.5, 0.0], [0.1, 1.0, 0.3]),
        link("e", Some("c"), TreeJoint::Fixed, [2.5, 0.1, -0.3], [2.4, 0.2, 0.0], [0.0; 3]),
    ];
    let flying = vec![
        link("a", None, TreeJoint::Floating, [0.5, 0.1, 0.0], [0.3, 0.0, 0.2], [0.0; 3]),
        link("b", Some("a"), TreeJoint::Revolute, [1.5, 0.3, 0.1], [1.0, 0.2, 0.0], [0.0, 0.6, 0.3]),
    ];
    for links in [hanging, flying] {
        let tree = Tree::new(links.clone(), gravity).unwrap();
        let zero: Vec<f64> = links.iter().flat_map(|l| l.joint.zero()).collect();
        let n_v = tree.velocities().len();
        let v: Vec<f64> = (0..n_v).map(|i| 1.5 * (1.9 * i as f64 + 0.3).sin()).collect();
        let (mut q_bodies, mut v_bodies) = (Vec::new(), Vec::new());
        for (i, l) in links.iter().enumerate() {
            q_bodies.extend_from_slice(&[l.position.x, l.position.y, l.position.z, 1.0, 0.0, 0.0, 0.0]);
            v_bodies.extend_from_slice(&tree.frame_velocity(&zero, &v, i));
        }
        let bodies = links.iter().map(|l| l.body.clone()).collect();
        let mut free = Model::new(vec![Box::new(RigidBodies::new(bodies, gravity).unwrap())]).unwrap();
        for l in &links {
            let kind = match l.joint {
                TreeJoint::Revolute => JointKind::Revolute,
                TreeJoint::Spherical => JointKind::Spherical,
                TreeJoint::Cylindrical => JointKind::Cylindrical,
                TreeJoint::Prismatic => JointKind::Prismatic,
                TreeJoint::Fixed => JointKind::Fixed,
                TreeJoint::Floating => continue,
            };
            let placement = JointPlacement::at(l.point).along(l.axis);
            let source = JointSource { kind, bodies: [l.parent.clone(), Some(l.body.name.clone())], placement };
            free.add_joint(&l.body.name, &source, &q_bodies).unwrap();
        }
        let relative = Model::new(vec![Box::new(tree.clone())]).unwrap();
        let start = State { t: 0.0, q: zero, v, ..State::default() };
        relative.check_state(&start).unwrap();
        let mut scratch = Scratch::default();
        let energy = |q: &[f64], v: &[f64], scratch: &mut Scratch| tree.energy(0.0, q, v, scratch).map(|(t, v)| t + v).unwrap();
        let before = energy(&start.q, &start.v, &mut scratch);
        let (q, v) = integrate(&relative, &start, 0.3, 600);
        let (q_free, v_free) = integrate(&free, &State { t: 0.0, q: q_bodies, v: v_bodies, ..State::default() }, 0.3, 600);
        for i in 0..links.len() {
            let (frame, other) =
                (tree.frame(&q, i), free.systems().frame(&q_free, free.systems().find_frame(&links[i].body.name).unwrap()));
            let velocity = tree.frame_velocity(&q, &v, i);
            // rk4 with steps of 0.5 ms: local errors (0.5e-3 × rates of 10)⁵ over 600 steps
            assert!((frame.origin - other.origin).norm() < 1e-9, "body {i}: {}", (frame.origin - other.origin).norm());
            assert!(frame.orientation.angle_to(&other.orientation) < 1e-7);
            assert!(distance(&velocity[..3], &v_free[6 * i..6 * i + 3]) < 1e-8, "{velocity:?}");
        }
        assert!((energy(&q, &v, &mut scratch) - before).abs() < 1e-8);
    }
}

/// Bricard's mechanism as a chain of five revolute joints that a sixth closes: the reference is in these very angles.
#[test]
fn bricard_mechanism_in_relative_coordinates_follows_the_reference() {
    let joints = [
        ([0.0, 0.0, 0.0], [0.0, -1.0, 0.0]),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
        ([1.0, -1.0, 0.0], [1.0, 0.0, 0.0]),
        ([1.0, -1.0, 1.0], [0.0, -1.0, 0.0]),
        ([0.0, -1.0, 1.0], [0.0, 0.0, 1.0]),
        ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
    ];
    let mut links = Vec::new();
    for i in 0..5 {
        let (start, end) = (Vector3::from(joints[i].0), Vector3::from(joints[i + 1].0));
        let edges = (end - start).map(|x: f64| if x == 0.0 { 0.01 } else { 1.0 });
        let inertia = Matrix3::from_diagonal(&Vector3::new(edges.y + edges.z, edges.x + edges.z, edges.x + edges.y)) / 12.0;
        let parent = (i > 0).then(|| format!("rod{i}"));
        let name = format!("rod{}", i + 1);
        let mut rod = link(&name, parent.as_deref(), TreeJoint::Revolute, ((start + end) / 2.0).into(), joints[i].0, joints[i].1);
        rod.body = RigidBody { name, mass: 1.0, inertia };
        links.push(rod);
    }
    let mut model = Model::new(vec![Box::new(Tree::new(links, Vector3::new(0.0, -9.81, 0.0)).unwrap())]).unwrap();
    let placement = JointPlacement::at(joints[5].0.into()).along(joints[5].1.into());
    let closing = JointSource { kind: JointKind::Revolute, bodies: [Some("rod5".into()), None], placement };
    model.add_joint("closing", &closing, &[0.0; 5]).unwrap();
    let (q, v) = integrate_least_norm(&model, &State { t: 0.0, q: vec![0.0; 5], v: vec![0.0; 5], ..State::default() }, 1.0, 1000);
    let angles = [-1.0350284595180528, -0.4806211041772043, 1.035028459518042, 0.48062110417715653, 1.035028459518017];
    let rates = [-2.0364153809700287, -0.33893339921585214, 2.036415380969906, 0.33893339921582755, 2.036415380969924];
    // rk4 with steps of 1 ms; the acceleration form drifts by as much
    assert!(distance(&q, &angles) < 1e-8 && distance(&v, &rates) < 1e-8, "{q:?} {v:?}");
}

#[test]
fn refuses_what_is_no_tree() {
    let at = |parent: Option<&str>, joint, axis| link("a", parent, joint, [0.0; 3], [0.0; 3], axis);
    let refused = |links: Vec<TreeBody>, word: &str| match Tree::new(links, Vector3::zeros()) {
        Err(ModelError::Joint { reason, .. }) => assert!(reason.contains(word), "{reason}"),
        other => panic!("{other:?}"),
    };
    refused(vec![at(Some("b"), TreeJoint::Revolute, [1.0, 0.0, 0.0])], "not a body");
    refused(vec![at(None, TreeJoint::Revolute, [0.0; 3])], "axis is zero");
    refused(vec![at(None, TreeJoint::Fixed, [0.0; 3])], "fixed");
    refused(vec![at(None, TreeJoint::Revolute, [f64::NAN, 0.0, 1.0])], "finite");
    let twins = vec![at(None, TreeJoint::Spherical, [0.0; 3]); 2];
    assert!(matches!(Tree::new(twins, Vector3::zeros()), Err(ModelError::DuplicateName { .. })));
}
