//! Natural coordinates: the same mechanisms in three kinds of coordinates, and the constraints by differences.

use crate::joints::integrate;
use carom_dynamics::relations::{JointKind, JointPlacement, JointSource, Rows};
use carom_dynamics::systems::{
    Natural, NaturalBar, NaturalBody, NaturalPoint, NaturalVector, PlanarBodies, PlanarBody, RigidBodies, RigidBody, Scratch, System, Tree,
    TreeBody, TreeJoint,
};
use carom_dynamics::{Model, ModelError, State};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

fn point(name: &str, position: [f64; 3], fixed: bool) -> NaturalPoint {
    NaturalPoint { name: name.into(), position: position.into(), fixed }
}

/// Two bars of length 1 along x that hang on the origin, with centres of mass beside their lines.
fn chain() -> Natural {
    let bar = |name: &str, points| NaturalBar { name: name.into(), points, mass: 1.3, centre: [0.4, 0.2], inertia: 0.15 };
    Natural {
        planar: true,
        points: vec![point("o", [0.0; 3], true), point("a", [1.0, 0.0, 0.0], false), point("b", [2.0, 0.0, 0.0], false)],
        bars: vec![bar("upper", [0, 1]), bar("lower", [1, 2])],
        gravity: Vector3::new(0.0, -9.81, 0.0),
        ..Natural::default()
    }
}

fn model(natural: &Natural) -> (Model, Vec<f64>) {
    let mut model = Model::new(vec![Box::new(natural.system().unwrap())]).unwrap();
    natural.add_constraints(&mut model).unwrap();
    (model, natural.coordinates().unwrap())
}

/// The double pendulum in natural coordinates, with planar bodies and pins, and as a tree: the free end is at the same place.
#[test]
fn double_pendulum_moves_alike_in_three_kinds_of_coordinates() {
    let (end, n) = (0.5, 500);
    let (natural, q) = model(&chain());
    // both bars turn at 2 and −1 rad/s
    let (by_points, _) = integrate(&natural, &State { t: 0.0, q, v: vec![0.0, 2.0, 0.0, 1.0], ..State::default() }, end, n);

    let body = |name: &str| PlanarBody { name: name.into(), mass: 1.3, inertia: 0.15 };
    let mut pinned = Model::new(vec![Box::new(PlanarBodies::new(vec![body("u"), body("l")], [0.0, -9.81]).unwrap())]).unwrap();
    let q = vec![0.4, 0.2, 0.0, 1.4, 0.2, 0.0];
    let v = vec![-0.4, 0.8, 2.0, 0.2, 1.6, -1.0];
    for (name, bodies, x) in [("first", [None, Some("u")], 0.0), ("second", [Some("u"), Some("l")], 1.0)] {
        let placement = JointPlacement::at(Vector3::new(x, 0.0, 0.0));
        let bodies = bodies.map(|b: Option<&str>| b.map(str::to_owned));
        pinned.add_joint(name, &JointSource { kind: JointKind::Revolute, bodies, placement }, &q).unwrap();
    }
    let (by_bodies, _) = integrate(&pinned, &State { t: 0.0, q, v, ..State::default() }, end, n);

    let link = |name: &str, parent: Option<&str>, x: f64| TreeBody {
        body: RigidBody { name: name.into(), mass: 1.3, inertia: Matrix3::from_diagonal(&Vector3::new(0.1, 0.1, 0.15)) },
        parent: parent.map(str::to_owned),
        joint: TreeJoint::Revolute,
        position: Vector3::new(x + 0.4, 0.2, 0.0),
        orientation: UnitQuaternion::identity(),
        point: Vector3::new(x, 0.0, 0.0),
        axis: Vector3::z(),
    };
    let tree = Tree::new(vec![link("u", None, 0.0), link("l", Some("u"), 1.0)], Vector3::new(0.0, -9.81, 0.0)).unwrap();
    let relative = Model::new(vec![Box::new(tree.clone())]).unwrap();
    let (angles, _) = integrate(&relative, &State { t: 0.0, q: vec![0.0; 2], v: vec![2.0, -3.0], ..State::default() }, end, n);

    let tip = Vector3::new(0.6, -0.2, 0.0);
    let turned = UnitQuaternion::from_scaled_axis(Vector3::z() * by_bodies[5]);
    let of_bodies = Vector3::new(by_bodies[3], by_bodies[4], 0.0) + turned * tip;
    let frame = tree.frame(&angles, 1);
    let of_tree = frame.origin + frame.orientation * tip;
    let of_points = Vector3::new(by_points[2], by_points[3], 0.0);
    // rk4 with steps of 1 ms: local errors (1e-3 × rates of 10)⁵ over 500 steps
    assert!((of_points - of_bodies).norm() < 1e-8 && (of_points - of_tree).norm() < 1e-8, "{of_points} {of_bodies} {of_tree}");
    assert!((of_points - Vector3::new(2.0, 0.0, 0.0)).norm() > 0.1, "it has moved");
}

/// A body with skew vectors and an arbitrary inertia that hangs on a fixed point, against a tree with a spherical joint.
#[test]
fn spatial_body_moves_as_in_a_tree() {
    let inertia = Matrix3::new(0.3, 0.02, -0.01, 0.02, 0.25, 0.03, -0.01, 0.03, 0.2);
    let (centre, gravity) = (Vector3::new(0.4, 0.1, -0.2), Vector3::new(0.5, 0.0, -9.81));
    let natural = Natural {
        points: vec![point("o", [0.0; 3], true), point("a", [1.0, 0.2, 0.0], false)],
        vectors: [("u", [0.1, 1.0, 0.3]), ("w", [0.2, -0.1, 2.0])]
            .map(|(name, d)| NaturalVector { name: name.into(), direction: d.into() })
            .to_vec(),
        bodies: vec![NaturalBody { name: "top".into(), points: [0, 1], vectors: [0, 1], mass: 1.5, centre, inertia }],
        gravity,
        ..Natural::default()
    };
    let (by_points, q) = model(&natural);
    let omega = Vector3::new(1.0, -2.0, 3.0);
    let v: Vec<f64> = q.chunks(3).flat_map(|x| omega.cross(&Vector3::from_column_slice(x)).as_slice().to_vec()).collect();
    let mut scratch = Scratch::default();
    let start = State { t: 0.0, q: q.clone(), v, ..State::default() };
    by_points.check_state(&start).unwrap();
    let body = TreeBody {
        body: RigidBody { name: "top".into(), mass: 1.5, inertia },
        parent: None,
        joint: TreeJoint::Spherical,
        position: centre,
        orientation: UnitQuaternion::identity(),
        point: Vector3::zeros(),
        axis: Vector3::zeros(),
    };
    let tree = Tree::new(vec![body], gravity).unwrap();
    let turning = State { t: 0.0, q: TreeJoint::Spherical.zero(), v: omega.as_slice().to_vec(), ..State::default() };
    // the kinetic energy is the same to round-off
    let (kinetic, _) = by_points.energy(0.0, &start.q, &start.v, &mut scratch).unwrap();
    assert!((kinetic - tree.energy(0.0, &turning.q, &turning.v, &mut scratch).unwrap().0).abs() < 1e-14);
    let (q_end, _) = integrate(&by_points, &start, 0.5, 1000);
    let relative = Model::new(vec![Box::new(tree.clone())]).unwrap();
    let (turned, _) = integrate(&relative, &turning, 0.5, 1000);
    let rotation = tree.frame(&turned, 0).orientation;
    for (end, begin) in q_end.chunks(3).zip(q.chunks(3)) {
        let expected = rotation * Vector3::from_column_slice(begin);
        // rk4 with steps of 0.5 ms
        assert!((Vector3::from_column_slice(end) - expected).norm() < 1e-9, "{}", (Vector3::from_column_slice(end) - expected).norm());
    }
}

/// Along q + ε v: dg/dε = G v and d²g/dε² = (dG/dt) v exactly, g being quadratic; the curvature is ∂(Gᵀλ)/∂q.
#[test]
fn constraints_by_differences() {
    let (model, q) = model(&chain());
    let v = [0.3, -0.7, 0.9, 0.4];
    for interaction in model.interactions() {
        let (relation, mut scratch) = (interaction.relation(), Scratch::default());
        let mut position = |shift: f64| {
            let moved: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q + shift * v).collect();
            let mut g = [0.0];
            relation.position(0.0, &moved, &mut g, &mut scratch).unwrap();
            g[0]
        };
        let (plus, zero, minus) = (position(0.5), position(0.0), position(-0.5));
        let n = relation.velocities().len();
        let jacobian = |q: &[f64]| {
            let (mut g, mut b) = (vec![0.0; n], [0.0]);
            relation.jacobian(0.0, q, Rows { jacobian: &mut g, bias: &mut b }, &mut Scratch::default()).unwrap();
            g
        };
        let rate: f64 = jacobian(&q).iter().zip(relation.velocities()).map(|(g, &k)| g * v[k]).sum();
        let mut bias = [0.0];
        relation.acceleration_bias(0.0, &q, &v, &mut bias, &mut Scratch::default()).unwrap();
        // differences of a quadratic function are exact up to round-off
        assert!(zero.abs() < 1e-15 && (rate - (plus - minus)).abs() < 1e-14 && (bias[0] - 4.0 * (plus + minus - 2.0 * zero)).abs() < 1e-14);
        let mut curvature = vec![0.0; n * n];
        relation.add_curvature(0.0, &q, &[2.0], 1.0, &mut curvature, &mut Scratch::default()).unwrap();
        for (j, &k) in relation.velocities().iter().enumerate() {
            let mut moved = q.clone();
            moved[k] += 1.0;
            for (i, (a, b)) in jacobian(&moved).iter().zip(jacobian(&q)).enumerate() {
                assert!((curvature[i * n + j] - 2.0 * (a - b)).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn refuses_what_is_no_mechanism() {
    let refused = |natural: &Natural, word: &str| {
        let error = natural.system().unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    };
    let mut lonely = chain();
    lonely.points.push(point("c", [3.0, 0.0, 0.0], false));
    refused(&lonely, "without a bar");
    let mut short = chain();
    short.points[1].position = Vector3::zeros();
    refused(&short, "coincide");
    let mut light = chain();
    light.bars[0].mass = 0.0;
    refused(&light, "positive");
    let mut spatial = chain();
    spatial.planar = false;
    refused(&spatial, "lies on the bar");
    let bodies = RigidBodies::new(Vec::new(), Vector3::zeros()).unwrap();
    let mut other = Model::new(vec![Box::new(bodies)]).unwrap();
    assert!(matches!(chain().add_constraints(&mut other), Err(ModelError::NoCoordinate { .. })));
}
