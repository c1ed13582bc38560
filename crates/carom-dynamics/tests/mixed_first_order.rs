//! Mechanical and first-order parts in one model.

use crate::first_order::theta;
use crate::support::{distance, run_scheme};
use carom_dynamics::first_order::{FirstOrderSource, MultiplierLaw, RelationSource};
use carom_dynamics::problems::belt_oscillator::{self, BELT, FRICTION, MASS, START, STIFFNESS};
use carom_dynamics::problems::{FirstOrderProblem, add_stop};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::schemes::{MoreauJeanParams, SchemeParams};
use carom_dynamics::systems::{Coordinate, Lagrangian, LagrangianText, Linear};
use carom_dynamics::{Law, Model, State};

fn relay(output: &str) -> RelationSource {
    RelationSource {
        name: "friction".into(),
        multipliers: vec!["s".into()],
        outputs: vec![output.into()],
        law: MultiplierLaw::Relay { lower: -1.0, upper: 1.0 },
        compliance: 0.0,
    }
}

/// The mass on the belt three times: friction as a contact, as a relay on a mechanical system, as a relay on a first-order one. The discrete equations are the same.
#[test]
fn a_relay_is_dry_friction() {
    let mechanical = belt_oscillator::problem().unwrap();
    let (h, end) = (1e-3, 3.0);
    let by_contact = run_scheme(&mechanical.model, &mechanical.state, end, h, &SchemeParams::MoreauJean(MoreauJeanParams::default())).state;
    let weight = format!("{:e}*s", FRICTION * MASS * 9.81);
    let spring = Linear::new(vec!["x".into()], vec![MASS], vec![0.0], vec![STIFFNESS]).unwrap();
    let mut model = Model::new(vec![Box::new(spring)]).unwrap();
    let source = FirstOrderSource {
        forces: vec![("x".into(), weight.clone())],
        relations: vec![relay(&format!("x_dot - {BELT:e}"))],
        ..FirstOrderSource::default()
    };
    model.set_first_order(&source).unwrap();
    let start = State { q: vec![START], v: vec![0.0], ..State::default() };
    let mixed = run_scheme(&model, &start, end, h, &theta(0.5, 1.0));
    let source = FirstOrderSource {
        states: ["x", "v"].map(|name| Coordinate::new(name, "")).to_vec(),
        rates: vec!["v".into(), format!("-{:e}*x + {weight}/{MASS:e}", STIFFNESS / MASS)],
        relations: vec![relay(&format!("v - {BELT:e}"))],
        ..FirstOrderSource::default()
    };
    let alone = FirstOrderProblem::new(&source, &[START, 0.0], end).unwrap();
    let first_order = run_scheme(&alone.model, &alone.state, end, h, &theta(0.5, 1.0)).state;
    // the contact is solved to 1e-13 and carries a weight that the relays have as a number
    assert!((mixed.state.q[0] - by_contact.q[0]).abs() < 1e-9, "{} {}", mixed.state.q[0], by_contact.q[0]);
    assert!((mixed.state.v[0] - by_contact.v[0]).abs() < 1e-8);
    assert!(distance(&first_order.x, &[mixed.state.q[0], mixed.state.v[0]]) < 1e-10, "{:?}", first_order.x);
    // and all are near the exact motion
    let carom_dynamics::problems::Solution::Exact(exact) = &mechanical.solution else { panic!() };
    assert!((mixed.state.q[0] - exact(end).0[0]).abs() < 2e-3);
}

/// A motor with an inductance drives a mass of 2 kg: L i' = 10 − 3 i − 1.5 v, 2 v' = 1.5 i, from rest; and the exact (v, i) after 1 s, by the
/// zero-order hold of the linear system.
pub fn driven_mass(inductance: f64) -> (Model, State, [f64; 2]) {
    let mass = Linear::new(vec!["x".into()], vec![2.0], vec![0.0], vec![0.0]).unwrap();
    let mut model = Model::new(vec![Box::new(mass)]).unwrap();
    let source = FirstOrderSource {
        states: vec![Coordinate::new("i", "A")],
        rates: vec!["10 - 3*i - 1.5*x_dot".into()],
        mass: vec![format!("{inductance:e}")],
        forces: vec![("x".into(), "1.5*i".into())],
        ..FirstOrderSource::default()
    };
    model.set_first_order(&source).unwrap();
    let start = State { q: vec![0.0], v: vec![0.0], x: vec![0.0], ..State::default() };
    let alone = FirstOrderSource {
        states: ["v", "i"].map(|name| Coordinate::new(name, "")).to_vec(),
        rates: vec!["0.75*i".into(), format!("(10 - 3*i - 1.5*v)/{inductance:e}")],
        ..FirstOrderSource::default()
    };
    let exact = FirstOrderProblem::new(&alone, &[0.0, 0.0], 1.0).unwrap();
    let exact = run_scheme(&exact.model, &exact.state, 1.0, 1e-3, &SchemeParams::ZeroOrderHold(Default::default())).state.x;
    (model, start, [exact[0], exact[1]])
}

/// Rows that change with the coordinates are those of the end of the step: a pendulum by a constraint x² + y² = 1, beside a state that decays, swings like
/// φ̈ = −g sin φ.
#[test]
fn rows_of_constraints_follow_the_motion() {
    let text = LagrangianText {
        coordinates: vec!["x".into(), "y".into()],
        kinetic: "0.5*(x_dot^2 + y_dot^2)".into(),
        potential: "9.81*y".into(),
        ..LagrangianText::default()
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    let rod = FormulaSource { rows: vec![("equation of \"rod\"".into(), "x^2 + y^2 - 1".into())], parameters: Vec::new() };
    model.add_formula("rod", &rod, Law::Bilateral).unwrap();
    let source = FirstOrderSource { states: vec![Coordinate::new("z", "")], rates: vec!["-z".into()], ..FirstOrderSource::default() };
    model.set_first_order(&source).unwrap();
    let start = State { q: vec![1.0, 0.0], v: vec![0.0, 0.0], x: vec![1.0], ..State::default() };
    // from the horizontal by RK4 in small steps, exact to 1e-12
    let (mut phi, mut rate, h) = (std::f64::consts::FRAC_PI_2, 0.0_f64, 1e-4);
    for _ in 0..5000 {
        let f = |phi: f64| -9.81 * phi.sin();
        let k1 = (rate, f(phi));
        let k2 = (rate + 0.5 * h * k1.1, f(phi + 0.5 * h * k1.0));
        let k3 = (rate + 0.5 * h * k2.1, f(phi + 0.5 * h * k2.0));
        let k4 = (rate + h * k3.1, f(phi + h * k3.0));
        phi += h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
        rate += h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
    }
    let error = |step: f64| {
        let done = run_scheme(&model, &start, 0.5, step, &theta(0.5, 1.0)).state;
        assert!((done.x[0] - (-0.5_f64).exp()).abs() < step, "{done:?}");
        distance(&done.q, &[phi.sin(), -phi.cos()])
    };
    let (coarse, fine) = (error(2e-3), error(1e-3));
    // constraints on velocities with the rows of the end: first order, with accelerations of up to 3 g over half a second
    assert!(fine < 0.5 * 3.0 * 9.81 * 1e-3 && coarse > 1.7 * fine, "{coarse} {fine}");
}

/// The motor against the exact solution of the linear system.
#[test]
fn forces_follow_states_and_states_follow_velocities() {
    let (model, start, exact) = driven_mass(0.5);
    let mixed = run_scheme(&model, &start, 1.0, 1e-3, &theta(0.5, 1.0)).state;
    // θ = 1/2 with h = 1e-3 and rates of 6: (6e-3)²/12 of the values
    assert!((mixed.v[0] - exact[0]).abs() < 1e-5 && (mixed.x[0] - exact[1]).abs() < 1e-5, "{mixed:?} {exact:?}");
}

/// L i' = U − R i − k ω, J ω' = k i − load, with ½Li² as storage.
fn motor(inductance: f64, load: f64) -> Model {
    let rotor = Linear::new(vec!["angle".into()], vec![1e-4], vec![0.0], vec![0.0]).unwrap().with_force(vec![-load]).unwrap();
    let mut model = Model::new(vec![Box::new(rotor)]).unwrap();
    let source = FirstOrderSource {
        states: vec![Coordinate::new("i", "A")],
        rates: vec!["12 - 2*i - 0.05*angle_dot".into()],
        mass: vec![format!("{inductance:e}")],
        forces: vec![("angle".into(), "0.05*i".into())],
        storage: vec![inductance],
        ..FirstOrderSource::default()
    };
    model.set_first_order(&source).unwrap();
    model
}

/// A motor with a load: stored, lost in the resistance, supplied by the source and taken by the load add up to rounding; and each is that of the exact motion, to the order of the scheme.
#[test]
fn the_energy_of_a_motor_is_accounted() {
    let start = State { q: vec![0.0], v: vec![0.0], x: vec![0.0], ..State::default() };
    let end = 0.1;
    for (weight, order) in [(0.5, 2.0), (1.0, 1.0)] {
        let steps = [4e-4, 2e-4, 1e-4];
        let mut of_loss = Vec::new();
        for &h in &steps {
            let done = run_scheme(&motor(5e-3, 0.02), &start, end, h, &theta(weight, 1.0));
            let (c, last) = (&done.certificate, &done.certificate.last);
            let stored = 0.5 * 1e-4 * done.state.v[0].powi(2) + 0.5 * 5e-3 * done.state.x[0].powi(2);
            // the load is a potential force, 0.02 N·m times the angle
            assert!((last.mechanical() - stored - 0.02 * done.state.q[0]).abs() < 1e-13, "{last:?}");
            // rounding of a thousand steps; positions that move with the speed at θ make the potential of the load too large by (θ − ½) h Δv
            let of_load = 0.02 * (weight - 0.5) * h * done.state.v[0];
            assert!((c.energy_error() - of_load).abs() < 1e-12 * last.work, "{} {of_load} {last:?}", c.energy_error());
            of_loss.push(last.dissipated_friction);
        }
        // ∫ R i² dt of the exact motion: an augmented linear system, by a step that is small enough
        let exact = exact_loss(end);
        let errors: Vec<f64> = of_loss.iter().map(|loss| (loss - exact).abs()).collect();
        let fitted = crate::support::fitted_order(&steps, &errors);
        assert!((fitted - order).abs() < 0.2, "θ = {weight}: {fitted} {errors:?}");
    }
}

/// ∫ R i² dt by Simpson's rule on the zero-order hold, which is exact for this motor at its samples.
fn exact_loss(end: f64) -> f64 {
    let alone = FirstOrderSource {
        states: ["w", "i"].map(|name| Coordinate::new(name, "")).to_vec(),
        rates: vec!["(0.05*i - 0.02)/1e-4".into(), "(12 - 2*i - 0.05*w)/5e-3".into()],
        ..FirstOrderSource::default()
    };
    let problem = FirstOrderProblem::new(&alone, &[0.0, 0.0], end).unwrap();
    let h = 2e-5;
    let done = run_scheme(&problem.model, &problem.state, end, h, &SchemeParams::ZeroOrderHold(Default::default()));
    let power: Vec<f64> = done.keep.frames.iter().map(|frame| 2.0 * frame.x[1].powi(2)).collect();
    let weight = |k: usize| {
        if k == 0 || k + 1 == power.len() {
            1.0
        } else if k % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    power.iter().enumerate().map(|(k, p)| weight(k) * p).sum::<f64>() * h / 3.0
}

/// At its idle speed a motor takes no current: the terms U and k ω cancel, and what is left of the residual is their rounding, not a failure of Newton's method.
#[test]
fn a_motor_runs_at_its_idle_speed() {
    let start = State { q: vec![0.0], v: vec![0.0], x: vec![0.0], ..State::default() };
    for h in [1e-4, 1e-3, 1e-2] {
        let done = run_scheme(&motor(5e-3, 0.0), &start, 10.0, h, &theta(1.0, 1.0));
        assert!((done.state.v[0] - 240.0).abs() < 1e-9 && done.state.x[0].abs() < 1e-9, "{:?}", done.state);
        assert!(done.certificate.max_newton_residual <= 1e-12);
    }
}

/// A ball on a floor, lifted by a force that a first-order state ramps up: contact impulses and states in one problem. The force reaches the weight at t = 1.
#[test]
fn contacts_and_states_share_a_problem() {
    let ball = Linear::new(vec!["y".into()], vec![1.0], vec![0.0], vec![0.0]).unwrap().with_force(vec![-10.0]).unwrap();
    let mut model = Model::new(vec![Box::new(ball)]).unwrap();
    add_stop(&mut model, "floor", "y", 0.0).unwrap();
    let source = FirstOrderSource {
        states: vec![Coordinate::new("lift", "N")],
        rates: vec!["10".into()],
        forces: vec![("y".into(), "lift".into())],
        ..FirstOrderSource::default()
    };
    model.set_first_order(&source).unwrap();
    let start = State { q: vec![0.0], v: vec![0.0], x: vec![0.0], ..State::default() };
    let h = 1e-3;
    let at = |end: f64| run_scheme(&model, &start, end, h, &theta(0.5, 1.0)).state;
    assert!(at(0.9).q[0].abs() < 1e-12 && at(0.9).v[0].abs() < 1e-12);
    // then ÿ = 10 (t − 1): y = 10 (t − 1)³/6
    assert!((at(2.0).q[0] - 10.0 / 6.0).abs() < 1e-4, "{}", at(2.0).q[0]); // h of lift-off times the speed at the end
}
