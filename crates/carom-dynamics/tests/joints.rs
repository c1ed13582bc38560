//! Joints: their derivatives by differences, and mechanisms made of them against references.

use crate::support::distance;
use carom_dynamics::integrators::{Integration, IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::{bricard, mechanisms};
use carom_dynamics::relations::{Joint, JointKind, JointPlacement, JointSource, Relation, Rows};
use carom_dynamics::smooth::Equations;
use carom_dynamics::systems::{PlanarBodies, PlanarBody, RigidBodies, RigidBody, Scratch, System, SystemSet, Tree, TreeBody, TreeJoint};
use carom_dynamics::{Model, ModelError, State};
use nalgebra::{DMatrix, DVector, Matrix3, UnitQuaternion, Vector3};
use std::sync::Arc;

/// Two planar bodies, two in space and three in a tree.
pub const N_V: usize = 2 * 3 + 2 * 6 + 11;

pub fn systems() -> Arc<SystemSet> {
    let planar = |name: &str| PlanarBody { name: name.into(), mass: 1.0, inertia: 0.5 };
    let body = |name: &str| RigidBody { name: name.into(), mass: 1.0, inertia: Matrix3::from_diagonal(&Vector3::new(1.0, 1.2, 1.5)) };
    let link = |name: &str, parent: Option<&str>, joint| TreeBody {
        body: body(name),
        parent: parent.map(str::to_owned),
        joint,
        position: Vector3::new(0.2, 0.1, 0.9),
        orientation: UnitQuaternion::from_euler_angles(0.4, 0.1, -0.3),
        point: Vector3::new(-0.1, 0.3, 0.2),
        axis: Vector3::new(0.3, -0.5, 0.8),
    };
    let links = vec![
        link("c", None, TreeJoint::Floating),
        link("d", Some("c"), TreeJoint::Spherical),
        link("e", Some("d"), TreeJoint::Cylindrical),
    ];
    let parts: Vec<Box<dyn System>> = vec![
        Box::new(PlanarBodies::new(vec![planar("p"), planar("r")], [0.0; 2]).unwrap()),
        Box::new(RigidBodies::new(vec![body("a"), body("b")], Vector3::zeros()).unwrap()),
        Box::new(Tree::new(links, Vector3::zeros()).unwrap()),
    ];
    Arc::new(SystemSet::new(parts).unwrap())
}

pub fn position() -> Vec<f64> {
    let (r, s) = (UnitQuaternion::from_euler_angles(0.2, -0.5, 0.9), UnitQuaternion::from_euler_angles(-1.2, 0.3, 0.4));
    let planar = [0.1, 0.2, 0.7, -0.3, 0.5, -1.1];
    let bodies = [0.3, -0.7, 0.1, r.w, r.i, r.j, r.k, -0.4, 0.5, 0.6, s.w, s.i, s.j, s.k];
    let tree = [0.1, 0.2, -0.3, s.w, s.i, s.j, s.k, r.w, r.i, r.j, r.k, 0.4, -0.9];
    [&planar[..], &bodies[..], &tree[..]].concat()
}

pub fn source(kind: JointKind, bodies: [&str; 2], planar: bool) -> JointSource {
    let placement = JointPlacement::at(Vector3::new(0.4, 0.3, if planar { 0.0 } else { -0.2 }));
    let axis = if planar { Vector3::new(0.6, -0.8, 0.0) } else { Vector3::new(0.6, -0.8, 0.3) };
    let placement = match kind {
        JointKind::Universal => placement.along(axis).crossing(axis.cross(&Vector3::new(0.1, 0.2, 0.9))),
        JointKind::Distance => placement.to(Vector3::new(-0.5, 0.9, if planar { 0.0 } else { 0.7 })),
        _ => placement.along(axis).pitched(0.7),
    };
    let bodies = bodies.map(|name| (name != "ground").then(|| name.to_owned()));
    JointSource { kind, bodies, placement }
}

/// Pairs of bodies of every sort.
pub const PAIRS: [[&str; 2]; 11] = [
    ["a", "b"],
    ["b", "a"],
    ["ground", "b"],
    ["a", "ground"],
    ["p", "r"],
    ["r", "ground"],
    ["ground", "p"],
    ["a", "p"],
    ["e", "c"],
    ["d", "ground"],
    ["b", "e"],
];

/// The bodies (or the one that is not the ground) move in the plane.
pub fn in_plane(bodies: [&str; 2]) -> bool {
    bodies.iter().all(|b| ["p", "r", "ground"].contains(b))
}

/// q ⊕ w.
pub fn advance(systems: &SystemSet, q: &[f64], w: &[f64]) -> Vec<f64> {
    let mut next = q.to_vec();
    systems.advance(q, w, &mut next);
    next
}

/// A position near the first and a velocity.
pub fn displaced(systems: &SystemSet, q0: &[f64], by: f64) -> (Vec<f64>, Vec<f64>) {
    let w: Vec<f64> = (0..N_V).map(|i| by * (1.7 * i as f64 + 0.4).sin()).collect();
    (advance(systems, q0, &w), (0..N_V).map(|i| (2.3 * i as f64 + 1.1).cos()).collect())
}

/// G of a relation at q.
pub fn jacobian_at(relation: &dyn Relation, q: &[f64]) -> Vec<f64> {
    let (n, width) = (relation.n_rows(), relation.velocities().len());
    let (mut g, mut bias) = (vec![0.0; n * width], vec![0.0; n]);
    relation.jacobian(0.0, q, Rows { jacobian: &mut g, bias: &mut bias }, &mut Scratch::default()).unwrap();
    assert!(bias.iter().all(|&b| b == 0.0));
    g
}

/// Along q ⊕ ε v: dg/dε = G v for the first `positions` rows (tangents of contacts have no position), d(G v)/dε = (dG/dt) v for all (along
/// q ⊕ ε v the velocity in the chart changes at second order only); along each velocity d(Gᵀλ)/dε is a column of the curvature. `scale` is the
/// size of the third derivatives relative to one.
pub fn check_derivatives(what: &str, relation: &dyn Relation, positions: usize, systems: &SystemSet, q: &[f64], v: &[f64], scale: f64) {
    let (n, width, mut scratch) = (relation.n_rows(), relation.velocities().len(), Scratch::default());
    let mut position = |q: &[f64]| {
        let mut g = vec![0.0; n];
        relation.position(0.0, q, &mut g, &mut scratch).unwrap();
        g
    };
    let epsilon = 1e-4;
    let shifted = |factor: f64| advance(systems, q, &v.iter().map(|v| v * factor).collect::<Vec<_>>());
    let (plus, zero, minus) = (position(&shifted(epsilon)), position(q), position(&shifted(-epsilon)));
    let velocity = |g: &[f64]| -> Vec<f64> {
        g.chunks_exact(width).map(|row| relation.velocities().iter().zip(row).map(|(&k, g)| g * v[k]).sum()).collect()
    };
    let (rates, mut bias) = (velocity(&jacobian_at(relation, q)), vec![0.0; n]);
    relation.acceleration_bias(0.0, q, v, &mut bias, &mut scratch).unwrap();
    for i in 0..positions {
        let rate = rates[i];
        // truncation ε²/6 × third derivative (below 30) = 5e-8; round-off 1e-16/ε² = 1e-8
        assert!((rate - (plus[i] - minus[i]) / (2.0 * epsilon)).abs() < 1e-7 * scale, "{what} row {i}: {rate}");
        let second = (plus[i] - 2.0 * zero[i] + minus[i]) / (epsilon * epsilon);
        assert!((bias[i] - second).abs() < 1e-6 * scale, "{what} row {i}: {} {second}", bias[i]);
    }
    let (ahead, behind) = (velocity(&jacobian_at(relation, &shifted(1e-5))), velocity(&jacobian_at(relation, &shifted(-1e-5))));
    for i in 0..n {
        let second = (ahead[i] - behind[i]) / 2e-5;
        // truncation 1e-10 × third derivative, round-off 1e-16/1e-5
        assert!((bias[i] - second).abs() < 1e-8 * scale, "{what} row {i}: bias {} difference {second}", bias[i]);
    }
    let lambda: Vec<f64> = (0..n).map(|i| 1.0 + 0.7 * i as f64).collect();
    let force = |q: &[f64]| -> Vec<f64> {
        let g = jacobian_at(relation, q);
        (0..width).map(|j| (0..n).map(|i| g[i * width + j] * lambda[i]).sum()).collect()
    };
    let mut curvature = vec![0.0; width * width];
    relation.add_curvature(0.0, q, &lambda, 1.0, &mut curvature, &mut scratch).unwrap();
    for (j, &k) in relation.velocities().iter().enumerate() {
        let moved = |shift: f64| {
            let mut w = vec![0.0; v.len()];
            w[k] = shift;
            force(&advance(systems, q, &w))
        };
        let (plus, minus) = (moved(1e-5), moved(-1e-5));
        for i in 0..width {
            let (exact, difference) = (curvature[i * width + j], (plus[i] - minus[i]) / 2e-5);
            // truncation 1e-10 × third derivative (below 50), round-off 1e-15/1e-5 × |λ|
            assert!((exact - difference).abs() < 1e-8 * scale, "{what} curvature {i} {j}: {exact} {difference}");
        }
    }
}

/// Every kind between bodies of every sort, at a position that violates it.
#[test]
fn derivatives_by_differences() {
    let (systems, q0) = (systems(), position());
    let (q, v) = displaced(&systems, &q0, 0.3);
    let mut checked = 0;
    for (name, kind) in JointKind::NAMES {
        for bodies in PAIRS {
            let planar = in_plane(bodies);
            let joint = match Joint::new(name, &source(kind, bodies, planar), &systems, &q0) {
                Ok(joint) => joint,
                Err(ModelError::Joint { .. }) if planar => continue,
                Err(error) => panic!("{error}"),
            };
            // g = 0 where the joint was built, up to round-off of rotations
            let mut g = vec![1.0; joint.n_rows()];
            joint.position(0.0, &q0, &mut g, &mut Scratch::default()).unwrap();
            assert!(g.iter().all(|g| g.abs() < 1e-14), "{name} {bodies:?}");
            check_derivatives(&format!("{name} {bodies:?}"), &joint, joint.n_rows(), &systems, &q, &v, 1.0);
            checked += 1;
        }
    }
    // eleven kinds of eight spatial pairs; revolute, prismatic, fixed, distance, point-on-line of three planar pairs
    assert_eq!(checked, 11 * 8 + 5 * 3);
}

#[test]
fn refuses_what_is_no_joint() {
    let (systems, q) = (systems(), position());
    let refused = |source: JointSource, word: &str| match Joint::new("j", &source, &systems, &q) {
        Err(ModelError::Joint { joint, reason }) => assert!(joint == "j" && reason.contains(word), "{reason}"),
        _ => panic!("{source:?} should be refused for {word}"),
    };
    refused(source(JointKind::Revolute, ["a", "x"], false), "choose from: p, r, a, b, c, d, e");
    refused(source(JointKind::Revolute, ["a", "a"], false), "two different bodies");
    refused(source(JointKind::Spherical, ["p", "r"], true), "planar bodies have");
    let with = |kind, placement| JointSource { kind, bodies: [Some("a".into()), None], placement };
    let at = JointPlacement::at(Vector3::zeros());
    refused(with(JointKind::Revolute, at.along(Vector3::zeros())), "axis is zero");
    refused(with(JointKind::Universal, at), "perpendicular");
    refused(with(JointKind::Distance, at), "coincide");
    refused(with(JointKind::Fixed, at.to(Vector3::x())), "apart");
    refused(with(JointKind::Spherical, JointPlacement::at(Vector3::repeat(f64::NAN))), "finite");
    let planar = JointSource { bodies: [Some("p".into()), None], ..with(JointKind::Prismatic, at) };
    refused(planar, "plane");
    refused(with(JointKind::Screw, at), "pitch");
}

/// The slider-crank of planar bodies with pins and a guide follows the reference in angles.
#[test]
fn planar_slider_crank_follows_the_reference() {
    let body = |name: &str, inertia: f64| PlanarBody { name: name.into(), mass: 1.0, inertia };
    let bodies = vec![body("crank", 1.0 / 12.0), body("rod", 4.0 / 12.0), body("slider", 1.0)];
    let mut model = Model::new(vec![Box::new(PlanarBodies::new(bodies, [0.0, -9.81]).unwrap())]).unwrap();
    let q = vec![0.5, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0];
    let v = vec![0.0, 2.0, 4.0, 0.0, 2.0, -2.0, 0.0, 0.0, 0.0];
    let mut add = |name: &str, kind, bodies: [Option<&str>; 2], x: f64| {
        let placement = JointPlacement::at(Vector3::new(x, 0.0, 0.0)).along(Vector3::x());
        model.add_joint(name, &JointSource { kind, bodies: bodies.map(|b| b.map(str::to_owned)), placement }, &q).unwrap();
    };
    add("main pin", JointKind::Revolute, [None, Some("crank")], 0.0);
    add("crank pin", JointKind::Revolute, [Some("crank"), Some("rod")], 1.0);
    add("gudgeon pin", JointKind::Revolute, [Some("rod"), Some("slider")], 3.0);
    add("guide", JointKind::Prismatic, [None, Some("slider")], 3.0);
    let reference = &mechanisms::slider_crank().unwrap().references[1];
    let end = |n: usize| integrate(&model, &State { t: 0.0, q: q.clone(), v: v.clone(), ..State::default() }, reference.t, n);
    let error = |n: usize| {
        let (q, v) = end(n);
        distance(&[q[2], q[5], v[2], v[5]], &[reference.q[0], reference.q[1], reference.v[0], reference.v[1]])
    };
    let (coarse, fine) = (error(500), error(1000));
    // the error is that of rk4: fourth order, and below 1e-8 at 1 ms
    assert!(fine < 1e-8 && (coarse / fine).log2() > 3.7, "{coarse:e} {fine:e}");
}

/// (q, v) at the end of n steps of rk4.
pub fn integrate(model: &Model, state: &State, end: f64, n: usize) -> (Vec<f64>, Vec<f64>) {
    let kind = IntegratorKind::ALL.iter().copied().find(|kind| kind.name() == "rk4").unwrap();
    let params = IntegratorParams { kind, control: StepControl::Fixed, step: Some(end / n as f64), ..IntegratorParams::default() };
    let mut integration = Integration::new(model, state, &params).unwrap();
    while integration.point().t < end {
        integration.step(end).unwrap();
    }
    (integration.point().q.clone(), integration.point().v.clone())
}

/// M, F, dense G and (dG/dt) v of a model.
fn dense(model: &Model, q: &[f64], v: &[f64]) -> (DMatrix<f64>, DVector<f64>, DMatrix<f64>, DVector<f64>) {
    let mut equations = Equations::new(model);
    let (n, m) = (equations.n_v(), equations.n_rows());
    let layout = equations.layout();
    let mut values = vec![0.0; layout.n_values()];
    equations.mass(0.0, q, &mut values).unwrap();
    let mut mass = DMatrix::zeros(n, n);
    for b in 0..layout.n_blocks() {
        let (first, size) = (layout.rows[b], layout.size(b));
        let block = DMatrix::from_row_slice(size, size, &values[layout.values[b]..layout.values[b + 1]]);
        mass.view_mut((first, first), (size, size)).copy_from(&block);
    }
    let (mut force, mut bias) = (DVector::zeros(n), DVector::zeros(m));
    equations.force(0.0, q, v, force.as_mut_slice()).unwrap();
    equations.acceleration_bias(0.0, q, v, bias.as_mut_slice()).unwrap();
    let mut g = vec![0.0; equations.rows().n_values()];
    equations.jacobian(0.0, q, &mut g, &mut vec![0.0; m]).unwrap();
    let rows = equations.rows().clone();
    let mut jacobian = DMatrix::zeros(m, n);
    for j in 0..n {
        let unit = DVector::from_fn(n, |i, _| f64::from(u8::from(i == j)));
        let mut column = vec![0.0; m];
        rows.multiply(&g, unit.as_slice(), &mut column);
        jacobian.set_column(j, &DVector::from_vec(column));
    }
    (mass, force, jacobian, bias)
}

/// Accelerations with the multipliers of least norm, so that dependent rows do no harm.
pub fn accelerate(model: &Model, q: &[f64], v: &[f64]) -> DVector<f64> {
    let (mass, force, g, bias) = dense(model, q, v);
    let inverse = mass.try_inverse().unwrap();
    let complement = &g * &inverse * g.transpose();
    let right = -(&g * &inverse * &force) - bias;
    let lambda = complement.svd(true, true).solve(&right, 1e-9).unwrap();
    inverse * (force + g.transpose() * lambda)
}

/// The joints of Bricard's mechanism hold at the start, have rank 29, and the motion of the third joint is that of the reference.
#[test]
fn bricard_mechanism_has_one_dependent_row_and_follows_the_reference() {
    let problem = bricard::bricard().unwrap();
    let (model, state) = (&problem.model, &problem.state);
    let mut equations = Equations::new(model);
    let mut g = vec![1.0; equations.n_rows()];
    equations.constraints(0.0, &state.q, &mut g).unwrap();
    assert!(g.len() == 30 && g.iter().all(|g| g.abs() < 1e-15));
    assert!((bricard::third_joint(&state.q) - Vector3::new(1.0, -1.0, 0.0)).norm() < 1e-15);

    let (mass, _, jacobian, _) = dense(model, &state.q, &state.v);
    let complement = &jacobian * mass.try_inverse().unwrap() * jacobian.transpose();
    let mut values = complement.singular_values().as_slice().to_vec();
    values.sort_by(f64::total_cmp);
    // one singular value is round-off, the others are of the order of one
    assert!(values[0] < 1e-12 && values[1] > 1e-3, "{:?}", &values[..3]);
    assert_eq!(values.iter().filter(|&&s| s > 1e-9).count(), bricard::RANK);

    // rk4 of 200 steps: truncation about 1e-8, drift of the acceleration form as small
    let (q, _) = integrate_least_norm(model, state, problem.references[0].0, 200);
    let error = (bricard::third_joint(&q) - Vector3::from(problem.references[0].1)).norm();
    assert!(error < 1e-6, "{error:e}");
}

/// (q, v) at the end of n steps of rk4 with [`accelerate`].
pub fn integrate_least_norm(model: &Model, state: &State, end: f64, n: usize) -> (Vec<f64>, Vec<f64>) {
    let (h, systems) = (end / n as f64, model.systems());
    let (mut q, mut v) = (state.q.clone(), DVector::from_vec(state.v.clone()));
    for _ in 0..n {
        let (mut rates, mut accelerations): (Vec<DVector<f64>>, Vec<DVector<f64>>) = (Vec::new(), Vec::new());
        for c in [0.0, 0.5, 0.5, 1.0] {
            let (w, stage) = match (rates.last(), accelerations.last()) {
                (Some(rate), Some(a)) => (rate * (c * h), &v + a * (c * h)),
                _ => (DVector::zeros(v.len()), v.clone()),
            };
            let (mut moved, mut rate) = (q.clone(), w.clone());
            systems.advance(&q, w.as_slice(), &mut moved);
            systems.displacement_rate(w.as_slice(), stage.as_slice(), rate.as_mut_slice());
            rates.push(rate);
            accelerations.push(accelerate(model, &moved, stage.as_slice()));
        }
        let mean = |x: &[DVector<f64>]| (&x[0] + &x[1] * 2.0 + &x[2] * 2.0 + &x[3]) * (h / 6.0);
        let start = q.clone();
        systems.advance(&start, mean(&rates).as_slice(), &mut q);
        v += mean(&accelerations);
    }
    (q, v.as_slice().to_vec())
}
