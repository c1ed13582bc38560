//! Systems by formula, matrix and closure agree with each other and with hand-derived equations.

use crate::support::{distance, run};
use carom_dynamics::schemes::MoreauJeanParams;
use carom_dynamics::systems::{
    ClosureSystem, Instant, JacobianFactors, Lagrangian, LagrangianText, Linear, PlanarBodies, PlanarBody, Scratch, System,
};
use carom_dynamics::{Model, ModelError, State};

/// A double pendulum (m₁ = m₂ = l₁ = l₂ = 1, g = 9.81, angles from the vertical) with damping −0.1 ω₂ on the second angle.
fn double_pendulum() -> Lagrangian {
    Lagrangian::new(&LagrangianText {
        coordinates: vec!["a".into(), "b".into()],
        parameters: vec![("g".into(), 9.81)],
        kinetic: "a_dot^2 + b_dot^2/2 + a_dot*b_dot*cos(a - b)".into(),
        potential: "-2*g*cos(a) - g*cos(b)".into(),
        forces: vec![("b".into(), "-0.1*b_dot".into())],
    })
    .unwrap()
}

/// M and F of the double pendulum, derived by hand.
fn by_hand(q: &[f64], v: &[f64]) -> ([f64; 4], [f64; 2]) {
    let (c, s) = ((q[0] - q[1]).cos(), (q[0] - q[1]).sin());
    let mass = [2.0, c, c, 1.0];
    let force = [-s * v[1] * v[1] - 2.0 * 9.81 * q[0].sin(), s * v[0] * v[0] - 9.81 * q[1].sin() - 0.1 * v[1]];
    (mass, force)
}

#[test]
fn lagrangian_equals_hand_derivation() {
    let (system, mut scratch) = (double_pendulum(), Scratch::default());
    for (q, v) in [([0.3, -0.8], [1.1, 0.4]), ([2.0, 1.0], [-3.0, 2.5])] {
        let (mut mass, mut force) = ([0.0; 4], [0.0; 2]);
        system.mass(0.0, &q, &mut mass, &mut scratch).unwrap();
        system.force(0.0, &q, &v, &mut force, &mut scratch).unwrap();
        let (expected_mass, expected_force) = by_hand(&q, &v);
        assert!(distance(&mass, &expected_mass) < 1e-14 && distance(&force, &expected_force) < 1e-13);
    }
}

/// K = −∂F/∂q and C = −∂F/∂v by central differences.
#[test]
fn lagrangian_jacobians_by_differences() {
    let (system, mut scratch) = (double_pendulum(), Scratch::default());
    let (q, v, epsilon) = ([0.3, -0.8], [1.1, 0.4], 1e-6);
    for (factors, of_velocity) in [((1.0, 0.0), true), ((0.0, 1.0), false)] {
        let mut matrix = [0.0; 4];
        let factors = JacobianFactors { velocity: factors.0, position: factors.1 };
        system.add_jacobians(Instant { t: 0.0, q: &q, v: &v }, factors, &mut matrix, &mut scratch).unwrap();
        for j in 0..2 {
            let shifted = |shift: f64| {
                let (mut q, mut v) = (q, v);
                if of_velocity {
                    v[j] += shift
                } else {
                    q[j] += shift
                }
                by_hand(&q, &v).1
            };
            let (plus, minus) = (shifted(epsilon), shifted(-epsilon));
            for i in 0..2 {
                let difference = -(plus[i] - minus[i]) / (2.0 * epsilon);
                // round-off 1e-15/1e-6, truncation 1e-12
                assert!((matrix[2 * i + j] - difference).abs() < 1e-8, "{of_velocity} {i} {j}");
            }
        }
    }
}

/// The same double pendulum by formula and by closures moves alike, and second order at θ needs M there.
#[test]
fn closure_system_moves_as_the_formula() {
    let closure = ClosureSystem::new(
        vec!["a".into(), "b".into()],
        |_, q, m| m.copy_from_slice(&by_hand(q, &[0.0; 2]).0),
        |_, q, v, f| f.copy_from_slice(&by_hand(q, v).1),
    )
    .with_potential(|_, q| -2.0 * 9.81 * q[0].cos() - 9.81 * q[1].cos())
    .with_applied_force(|_, _, v, f| f[1] -= 0.1 * v[1]);
    let start = State { t: 0.0, q: vec![1.0, 0.5], v: vec![0.0, 1.0], ..State::default() };
    let models: [Model; 2] = [Model::new(vec![Box::new(double_pendulum())]).unwrap(), Model::new(vec![Box::new(closure)]).unwrap()];
    let done = models.map(|model| run(&model, &start, 1.0, 1e-3, MoreauJeanParams::default()));
    // Newton's tolerance 1e-12 over 1000 steps
    assert!(distance(&done[0].state.q, &done[1].state.q) < 1e-8);
    let (work, other) = (done[0].certificate.last.work, done[1].certificate.last.work);
    assert!((work - other).abs() < 1e-8 && work < -1e-3, "{work} {other}");
}

#[test]
fn kinetic_energy_must_be_quadratic() {
    let text = |kinetic: &str| LagrangianText { coordinates: vec!["x".into()], kinetic: kinetic.into(), ..LagrangianText::default() };
    assert!(matches!(Lagrangian::new(&text("x_dot^3")), Err(ModelError::NotQuadratic { .. })));
    assert!(matches!(Lagrangian::new(&text("y_dot^2")), Err(ModelError::Formula { .. })));
    // a mass that is zero or negative is found at the initial state
    let model = Model::new(vec![Box::new(Lagrangian::new(&text("x*x_dot^2")).unwrap())]).unwrap();
    let state = |x: f64| State { t: 0.0, q: vec![x], v: vec![0.0], ..State::default() };
    assert!(model.check_state(&state(1.0)).is_ok());
    assert!(matches!(model.check_state(&state(-1.0)), Err(ModelError::MassNotPositive { .. })));
    assert!(matches!(model.check_state(&state(f64::NAN)), Err(ModelError::OutOfRange { .. })));
}

/// A damped oscillator ẍ + 0.2 ẋ + 4 x = 0 from its matrices: exact x(t) = e^{−0.1t} (cos ωt + 0.1/ω sin ωt), ω² = 3.99.
#[test]
fn linear_system_follows_the_exact_solution_at_second_order() {
    let system = Linear::new(vec!["x".into()], vec![1.0], vec![0.2], vec![4.0]).unwrap();
    let model = Model::new(vec![Box::new(system)]).unwrap();
    let start = State { t: 0.0, q: vec![1.0], v: vec![0.0], ..State::default() };
    let omega = 3.99_f64.sqrt();
    let exact = (-0.2_f64).exp() * ((2.0 * omega).cos() + 0.1 / omega * (2.0 * omega).sin());
    let error = |h: f64| (run(&model, &start, 2.0, h, MoreauJeanParams::default()).state.q[0] - exact).abs();
    let ratio = error(0.01) / error(0.005);
    assert!((ratio - 4.0).abs() < 0.1, "{ratio}");
}

/// Planar bodies fly on parabolas and turn evenly: θ = 1/2 integrates both exactly.
#[test]
fn planar_bodies_fly_exactly() {
    let body = |name: &str| PlanarBody { name: name.into(), mass: 2.0, inertia: 0.5 };
    let model = Model::new(vec![Box::new(PlanarBodies::new(vec![body("a"), body("b")], [0.0, -9.81]).unwrap())]).unwrap();
    let start = State { t: 0.0, q: vec![0.0, 1.0, 0.0, 5.0, 2.0, 0.3], v: vec![1.0, 2.0, 3.0, 0.0, 0.0, -1.0], ..State::default() };
    let done = run(&model, &start, 1.0, 0.01, MoreauJeanParams::default());
    let expected = [1.0, 3.0 - 4.905, 3.0, 5.0, 2.0 - 4.905, -0.7];
    assert!(distance(&done.state.q, &expected) < 1e-13, "{:?}", done.state.q);
    assert!(PlanarBodies::new(vec![body("a"), body("a")], [0.0; 2]).is_err());
    assert!(PlanarBodies::new(vec![PlanarBody { inertia: 0.0, ..body("a") }], [0.0; 2]).is_err());
}
