//! Velocity constraints by formula, and constraints that depend on time.

use crate::support::{distance, fitted_order, run as run_moreau_jean};
use carom_dynamics::error::{IntegrationError, ModelError};
use carom_dynamics::integrators::{Integration, IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::laws::Law;
use carom_dynamics::relations::{FormulaSource, NonholonomicRelation, Relation, Rows};
use carom_dynamics::schemes::MoreauJeanParams;
use carom_dynamics::smooth::{AccelerationForm, MotionPoint, Projection};
use carom_dynamics::systems::{Lagrangian, LagrangianText, RigidBodies, RigidBody, Scratch, System, SystemSet};
use carom_dynamics::{Model, State};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::sync::Arc;

fn source(rows: &[&str], parameters: &[(&str, f64)]) -> FormulaSource {
    FormulaSource {
        rows: rows.iter().map(|row| ("velocity of \"test\"".to_owned(), (*row).to_owned())).collect(),
        parameters: parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
    }
}

fn lagrangian(coordinates: &[&str], kinetic: &str, potential: &str, forces: &[(&str, &str)]) -> Lagrangian {
    let text = LagrangianText {
        coordinates: coordinates.iter().map(|c| (*c).to_owned()).collect(),
        parameters: Vec::new(),
        kinetic: kinetic.to_owned(),
        potential: potential.to_owned(),
        forces: forces.iter().map(|(c, f)| ((*c).to_owned(), (*f).to_owned())).collect(),
    };
    Lagrangian::new(&text).unwrap()
}

fn run(model: &Model, state: &State, params: &IntegratorParams, t_end: f64) -> MotionPoint {
    let mut integration = Integration::new(model, state, params).unwrap();
    while integration.point().t < t_end {
        integration.step(t_end).unwrap();
    }
    integration.point().clone()
}

fn fixed(step: f64) -> IntegratorParams {
    IntegratorParams { kind: IntegratorKind::Rk4, control: StepControl::Fixed, step: Some(step), ..IntegratorParams::default() }
}

/// Slope of the incline times gravity \[m/s²\], and turning speed \[rad/s\] of the knife edge.
const PULL: f64 = 4.905;
const TURN: f64 = 1.5;

/// A blade on an incline that falls along x, at rest and turning at ω; m = 2 kg.
fn knife_edge() -> (Model, State) {
    let system = lagrangian(&["x", "y", "th"], "x_dot^2 + y_dot^2 + 0.05*th_dot^2", "-2*4.905*x", &[]);
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    model.add_velocity_formula("blade", &source(&["x_dot*sin(th) - y_dot*cos(th)"], &[])).unwrap();
    (model, State { t: 0.0, q: vec![0.0; 3], v: vec![0.0, 0.0, TURN], ..State::default() })
}

/// Its exact motion: the blade moves to and fro along itself with speed (γ/ω) sin ωt, so that
///
/// ```text
/// x = γ/(2ω²) sin² ωt,     y = γ/(2ω²) (ωt − ½ sin 2ωt),     λ = −2 m γ sin ωt
/// ```
fn knife_edge_solution(t: f64) -> ([f64; 3], [f64; 3], f64) {
    let (angle, speed) = (TURN * t, PULL / TURN * (TURN * t).sin());
    let scale = PULL / (2.0 * TURN * TURN);
    let q = [scale * angle.sin().powi(2), scale * (angle - 0.5 * (2.0 * angle).sin()), angle];
    (q, [speed * angle.cos(), speed * angle.sin(), TURN], -2.0 * 2.0 * PULL * angle.sin())
}

/// The blade slides across the incline and does not fall: rk4 with its order, in all forms.
#[test]
fn knife_edge_follows_its_exact_motion() {
    let (model, state) = knife_edge();
    let (q, v, lambda) = knife_edge_solution(3.0);
    for acceleration in [
        AccelerationForm::Multipliers,
        AccelerationForm::UdwadiaKalaba,
        AccelerationForm::MaggiKane,
        AccelerationForm::NullSpaceQr,
        AccelerationForm::NullSpaceSvd,
        AccelerationForm::CoordinatePartitioning,
    ] {
        let steps = [0.04, 0.02, 0.01];
        let ends = steps.map(|h| run(&model, &state, &IntegratorParams { acceleration, ..fixed(h) }, 3.0));
        for (what, errors) in [
            ("q", ends.each_ref().map(|end| distance(&end.q, &q))),
            ("v", ends.each_ref().map(|end| distance(&end.v, &v))),
            ("λ", ends.each_ref().map(|end| (end.lambda[0] - lambda).abs())),
        ] {
            let order = fitted_order(&steps, &errors);
            assert!((order - 4.0).abs() < 0.2, "{acceleration:?}, {what}: {order} {errors:?}");
        }
        assert!(distance(&ends[2].q, &q) < 1e-6, "{acceleration:?}: {:?}", ends[2].q);
    }
    let projected = run(&model, &state, &IntegratorParams { projection: Projection::Both, ..fixed(0.01) }, 3.0);
    let slip = projected.v[0] * projected.q[2].sin() - projected.v[1] * projected.q[2].cos();
    // round-off of velocities of size 3
    assert!(slip.abs() < 1e-14, "{slip}");
}

/// A small initial slip is taken away in the mass metric, a large one refused by name.
#[test]
fn initial_slip_is_projected_or_refused() {
    let (model, state) = knife_edge();
    let begin = |slip: f64| Integration::new(&model, &State { v: vec![0.3, slip, TURN], ..state.clone() }, &fixed(0.01));
    let integration = begin(5e-4).unwrap();
    let report = *integration.assembly();
    // the blade points along x and the masses of x and y are equal: y_dot alone changes, to zero
    assert_eq!((report.velocity_before, report.velocity_changed, report.moved), (5e-4, 5e-4, 0.0));
    assert!(integration.point().v == [0.3, 0.0, TURN] && report.velocity_after == 0.0, "{report:?}");
    let error = begin(0.1).err().unwrap().to_string();
    assert!(error.contains("initial velocity violates \"blade\" by -1.000e-1") && error.contains("velocity_bound"), "{error}");
}

/// Moreau–Jean imposes velocity rows at the end of its steps, by impulses that are constant over each: first order.
#[test]
fn knife_edge_by_moreau_jean() {
    let (model, state) = knife_edge();
    let steps = [0.02, 0.01, 0.005];
    let errors = steps.map(|h| {
        let done = run_moreau_jean(&model, &state, 3.0, h, MoreauJeanParams::default());
        // g has no meaning for these rows, and the velocities satisfy them to the solver's tolerance
        assert!(done.certificate.max_constraint_violation == 0.0);
        distance(&done.state.q, &knife_edge_solution(3.0).0)
    });
    let order = fitted_order(&steps, &errors);
    assert!((order - 1.0).abs() < 0.2, "{order} {errors:?}");
}

/// A solid ball rolls down an incline with 5/7 of the acceleration of sliding, whatever its orientation: world angular velocities are right.
#[test]
fn ball_rolls_without_slipping() {
    let (radius, mass, pull) = (0.2, 3.0, 2.0);
    let ball = RigidBody { name: "ball".into(), mass, inertia: Matrix3::from_diagonal_element(0.4 * mass * radius * radius) };
    let bodies = RigidBodies::new(vec![ball], Vector3::new(pull, 0.0, -9.0)).unwrap();
    let mut model = Model::new(vec![Box::new(bodies)]).unwrap();
    let rows = ["ball.vx - r*ball.wy", "ball.vy + r*ball.wx", "ball.vz"];
    model.add_velocity_formula("rolling", &source(&rows, &[("r", radius)])).unwrap();
    let r = UnitQuaternion::from_euler_angles(0.4, -1.0, 0.7);
    // rolling along y at 0.5 m/s with a spin about z: ω = (−0.5/r, 0, 2) in the world
    let omega = r.inverse() * Vector3::new(-0.5 / radius, 0.0, 2.0);
    let state = State {
        t: 0.0,
        q: vec![0.0, 0.0, radius, r.w, r.i, r.j, r.k],
        v: vec![0.0, 0.5, 0.0, omega.x, omega.y, omega.z],
        ..State::default()
    };
    let end = run(&model, &state, &fixed(2e-3), 1.0);
    // the centre accelerates constantly, which rk4 integrates exactly but for the round-off of 500 steps
    let a = pull * 5.0 / 7.0;
    assert!(distance(&end.q[..3], &[0.5 * a, 0.5, radius]) < 1e-13, "{:?}", end.q);
    assert!(distance(&end.v[..3], &[a, 0.5, 0.0]) < 1e-13, "{:?}", end.v);
    let mut file = vec![0.0; 6];
    model.systems().file_velocities(&end.q, &end.v, &mut file);
    // the orientation is of fourth order: 2e-10 with h |ω| = 0.015
    assert!(distance(&file[3..], &[-0.5 / radius, a / radius, 2.0]) < 1e-9, "{file:?}");
}

/// A pendulum that turns a wheel at twice its own speed: positions and velocities have different dependent sets. With the wheel's inertia J the
/// angle moves as θ̈ = −g sin θ/(1 + 4J).
#[test]
fn holonomic_and_nonholonomic_rows_together() {
    let system = lagrangian(&["x", "y", "wheel"], "(x_dot^2 + y_dot^2)/2 + 0.25*wheel_dot^2/2", "9.81*y", &[]);
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    model.add_formula("rod", &source(&["x^2 + y^2 - 1"], &[]), Law::Bilateral).unwrap();
    model.add_velocity_formula("gear", &source(&["wheel_dot - 2*(x*y_dot - y*x_dot)"], &[])).unwrap();
    let angle = Model::new(vec![Box::new(lagrangian(&["th"], "th_dot^2", "-9.81*cos(th)", &[]))]).unwrap();
    let minimal = run(&angle, &State { t: 0.0, q: vec![1.5], v: vec![0.5], ..State::default() }, &fixed(5e-4), 3.0);
    let (th, rate) = (minimal.q[0], minimal.v[0]);
    let (q, v) = ([th.sin(), -th.cos(), 2.0 * (th - 1.5)], [rate * th.cos(), rate * th.sin(), 2.0 * rate]);
    let state = State {
        t: 0.0,
        q: vec![1.5_f64.sin(), -1.5_f64.cos(), 0.0],
        v: vec![0.5 * 1.5_f64.cos(), 0.5 * 1.5_f64.sin(), 1.0],
        ..State::default()
    };
    for (acceleration, projection) in [
        (AccelerationForm::Multipliers, Projection::None),
        (AccelerationForm::Multipliers, Projection::Both),
        (AccelerationForm::CoordinatePartitioning, Projection::None),
        (AccelerationForm::MaggiKane, Projection::Velocity),
    ] {
        let end = run(&model, &state, &IntegratorParams { acceleration, projection, ..fixed(5e-4) }, 3.0);
        // both errors of rk4 with h = 5e-4 are about 1e-11
        assert!(distance(&end.q, &q) < 1e-10 && distance(&end.v, &v) < 1e-10, "{acceleration:?}, {projection:?}: {:?} {q:?}", end.q);
        if acceleration == AccelerationForm::CoordinatePartitioning || projection == Projection::Both {
            let (x, y) = (end.q[0], end.q[1]);
            let slip = end.v[2] - 2.0 * (x * end.v[1] - y * end.v[0]);
            // positions are left alone within 1e-14 of |∂g/∂q| = 2; round-off of velocities of size 4
            assert!((x * x + y * y - 1.0).abs() < 3e-14 && slip.abs() < 1e-13, "{acceleration:?}: {slip}");
        }
    }
}

/// A pendulum whose support moves as A sin Ωt, in Cartesian coordinates, against the equation of its angle.
#[test]
fn moving_support_agrees_with_the_angle() {
    let mut cartesian = Model::new(vec![Box::new(lagrangian(&["x", "y"], "(x_dot^2 + y_dot^2)/2", "9.81*y", &[]))]).unwrap();
    let rod = source(&["(x - a*sin(w*t))^2 + y^2 - 1"], &[("a", 0.3), ("w", 4.0)]);
    cartesian.add_formula("rod", &rod, Law::Bilateral).unwrap();
    let state = State { t: 0.0, q: vec![0.5_f64.sin(), -0.5_f64.cos()], v: vec![1.2, 0.0], ..State::default() };
    // θ̈ = −g sin θ + A Ω² sin Ωt cos θ
    let system = lagrangian(&["th"], "th_dot^2/2", "-9.81*cos(th)", &[("th", "0.3*16*sin(4*t)*cos(th)")]);
    let angle = Model::new(vec![Box::new(system)]).unwrap();
    let minimal = run(&angle, &State { t: 0.0, q: vec![0.5], v: vec![0.0], ..State::default() }, &fixed(1e-3), 2.0);
    let (th, rate) = (minimal.q[0], minimal.v[0]);
    let (support, speed) = (0.3 * 8.0_f64.sin(), 1.2 * 8.0_f64.cos());
    let (q, v) = ([support + th.sin(), -th.cos()], [speed + rate * th.cos(), rate * th.sin()]);
    for (acceleration, projection) in [
        (AccelerationForm::Multipliers, Projection::None),
        (AccelerationForm::Multipliers, Projection::Both),
        (AccelerationForm::CoordinatePartitioning, Projection::None),
        (AccelerationForm::NullSpaceSvd, Projection::None),
    ] {
        let end = run(&cartesian, &state, &IntegratorParams { acceleration, projection, ..fixed(1e-3) }, 2.0);
        // both errors of rk4 with h = 1e-3 are about 1e-11
        assert!(distance(&end.q, &q) < 1e-10 && distance(&end.v, &v) < 1e-10, "{acceleration:?}, {projection:?}: {:?} {q:?}", end.q);
    }
    // at rest the state violates the rate of the support by 2 x AΩ = 1.15 and is refused, with the name
    let at_rest = State { v: vec![0.0; 2], ..state };
    let error = Integration::new(&cartesian, &at_rest, &fixed(1e-3)).err().unwrap();
    assert!(matches!(&error, IntegrationError::InconsistentStart { what: "velocity", violations, .. } if violations.len() == 1), "{error}");
    assert!(error.to_string().contains("\"rod\" by -1.15"), "{error}");
}

/// Along q(ε) = q ⊕ ε v, t(ε) = t + ε: d(G v + b)/dε is the acceleration bias, and d(Gᵀλ)/dε the curvature times v.
#[test]
fn derivatives_by_differences() {
    let body = RigidBody { name: "top".into(), mass: 1.0, inertia: Matrix3::from_diagonal(&Vector3::new(1.0, 1.2, 1.5)) };
    let parts: Vec<Box<dyn System>> = vec![
        Box::new(lagrangian(&["a", "b"], "a_dot^2/2 + b_dot^2/2", "", &[])),
        Box::new(RigidBodies::new(vec![body], Vector3::zeros()).unwrap()),
    ];
    let systems = Arc::new(SystemSet::new(parts).unwrap());
    let r = UnitQuaternion::from_euler_angles(0.2, -0.5, 0.9);
    let q = [0.3, -0.7, 0.1, 0.2, 0.3, r.w, r.i, r.j, r.k];
    let v = [0.9, -0.4, 0.2, 0.3, -0.1, 0.4, 0.5, -0.6];
    let rows = ["a_dot*sin(b*t) + b^2*t", "top.wx*a - top.vy*cos(b) + exp(t)", "top.wz + top.qx*b_dot - top.x*top.wy"];
    let relation = NonholonomicRelation::new(&source(&rows, &[]), &systems).unwrap();
    let (n, width, lambda) = (3, relation.velocities().len(), [0.7, -1.3, 0.4]);
    let mut scratch = Scratch::default();
    // G v + b and Gᵀλ at a distance ε along the motion
    let mut at = |epsilon: f64| {
        let (mut moved, mut jacobian, mut u) = (q, vec![0.0; n * width], [0.0; 3]);
        systems.advance(&q, &v.map(|v| v * epsilon), &mut moved);
        relation.jacobian(0.4 + epsilon, &moved, Rows { jacobian: &mut jacobian, bias: &mut u }, &mut scratch).unwrap();
        let mut force = vec![0.0; width];
        for (row, (u, lambda)) in jacobian.chunks_exact(width).zip(u.iter_mut().zip(lambda)) {
            *u += row.iter().zip(relation.velocities()).map(|(g, &i)| g * v[i]).sum::<f64>();
            force.iter_mut().zip(row).for_each(|(f, g)| *f += lambda * g);
        }
        (u, force)
    };
    let (plus, minus) = (at(1e-5), at(-1e-5));
    // the first row depends on time: its part of ∂(Gᵀλ)/∂t is λ b cos(bt) at a_dot
    let explicit = 0.7 * q[1] * (q[1] * 0.4).cos();
    let (mut bias, mut curvature) = ([0.0; 3], vec![0.0; width * width]);
    relation.acceleration_bias(0.4, &q, &v, &mut bias, &mut scratch).unwrap();
    relation.add_curvature(0.4, &q, &lambda, 1.0, &mut curvature, &mut scratch).unwrap();
    for k in 0..n {
        // central differences: truncation 1e-10, round-off 1e-16/1e-5
        assert!((bias[k] - (plus.0[k] - minus.0[k]) / 2e-5).abs() < 1e-8, "{k}: {bias:?}");
    }
    for (k, row) in curvature.chunks_exact(width).enumerate() {
        let along: f64 = row.iter().zip(relation.velocities()).map(|(c, &i)| c * v[i]).sum();
        let time = if relation.velocities()[k] == 0 { explicit } else { 0.0 };
        assert!((along + time - (plus.1[k] - minus.1[k]) / 2e-5).abs() < 1e-8, "{k}: {along}");
    }
    let (mut jacobian, mut u, mut file) = (vec![0.0; n * width], [0.0; 3], [0.0; 8]);
    relation.jacobian(0.4, &q, Rows { jacobian: &mut jacobian, bias: &mut u }, &mut scratch).unwrap();
    systems.file_velocities(&q, &v, &mut file);
    let product: f64 = jacobian[width..2 * width].iter().zip(relation.velocities()).map(|(g, &i)| g * v[i]).sum();
    // the second row by hand, with the angular velocity in the world
    assert!((product - (file[5] * q[0] - file[3] * q[1].cos())).abs() < 1e-14);
    assert!(!relation.is_holonomic() && !relation.is_constant());
}

/// Rows that cannot be velocity constraints are refused in words.
#[test]
fn refuses_what_is_not_affine() {
    let parts: Vec<Box<dyn System>> = vec![Box::new(lagrangian(&["x", "y"], "x_dot^2/2 + y_dot^2/2", "", &[]))];
    let systems = Arc::new(SystemSet::new(parts).unwrap());
    let build = |row: &str| NonholonomicRelation::new(&source(&[row], &[]), &systems).map(|_| ());
    assert!(build("x_dot*sin(y) - 3*t").is_ok());
    for (row, rate) in [("x_dot^2 + y_dot", "x_dot"), ("x_dot*y_dot", "x_dot"), ("x + sin(y_dot)", "y_dot")] {
        let error = build(row).unwrap_err();
        assert!(matches!(&error, ModelError::NotAffine { rate: found, .. } if found == rate), "{row}: {error}");
        assert!(error.to_string().contains("not affine in the rates"));
    }
    assert!(matches!(build("x - y"), Err(ModelError::NoRate { .. })));
    assert!(matches!(build("z_dot"), Err(ModelError::Formula { .. })));
    let constant = NonholonomicRelation::new(&source(&["x_dot - 2*y_dot + 1"], &[]), &systems).unwrap();
    assert!(constant.is_constant());
}
