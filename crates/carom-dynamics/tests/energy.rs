//! The energy balance: exact where the scheme makes it so, never a gain with friction and e ≤ 1.

use crate::support::run;
use carom_dynamics::problems::{add_stop, bouncing_ball, impact_oscillator, woodpecker};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::schemes::MoreauJeanParams;
use carom_dynamics::systems::{Lagrangian, LagrangianText, Linear};
use carom_dynamics::{ContactLaw, Law, Model, State};

/// θ = 1/2, constant M, linear or quadratic potentials: kinetic + potential + dissipated = initial + work to round-off.
#[test]
fn balance_is_exact_for_linear_systems() {
    for (problem, h) in [
        (bouncing_ball::problem(0.8).unwrap(), 1e-3),
        (woodpecker::problem().unwrap(), 2e-5),
        (impact_oscillator::separated().unwrap(), 1e-2),
    ] {
        let done = run(&problem.model, &problem.state, problem.end, h, MoreauJeanParams::default());
        let c = &done.certificate;
        let scale = c.initial.kinetic.max(c.last.dissipated_impact + c.last.dissipated_friction).max(c.last.work.abs());
        // sums of 1e4 terms
        assert!(c.energy_error().abs() < 1e-12 * scale, "{:e} of {scale:e}", c.energy_error());
        assert!(c.last.dissipated_impact > 0.0);
    }
}

/// With contacts only (no work) the mechanical energy never rises, but for what the discrete Newton law allows on a
/// contact that is closed while it still separates: u⁺ = −e u⁻ with u⁻ > 0 lets p act over ½(1 − e) h u⁻. In the tail
/// of the accumulation u⁻ ≤ g h and p ≤ 2 m g h, so a step may gain at most (1 − e) m (g h)².
#[test]
fn energy_never_rises_through_contacts() {
    let problem = bouncing_ball::problem(0.9).unwrap();
    let done = run(&problem.model, &problem.state, 10.0, 5e-3, MoreauJeanParams::default());
    for pair in done.keep.frames.windows(2) {
        let allowed = if pair[0].v[0] > 0.0 && pair[1].impulse > 0.0 { 0.1 * (9.81_f64 * 5e-3).powi(2) } else { 1e-12 };
        assert!(pair[1].mechanical <= pair[0].mechanical + allowed, "{pair:?}");
    }
    // e = 1 conserves it
    let elastic = bouncing_ball::problem(1.0).unwrap();
    let done = run(&elastic.model, &elastic.state, 10.0, 5e-3, MoreauJeanParams::default());
    assert!((done.certificate.last.mechanical() - 9.81).abs() < 1e-11);
}

/// A moving floor y ≥ 0.1 sin 2πt carries a mass that stays on it: its work equals the change of mechanical energy, and
/// the mass moves as the floor does.
#[test]
fn moving_floor_does_work() {
    let system = Linear::new(vec!["y".into()], vec![2.0], vec![0.0], vec![0.0]).unwrap().with_force(vec![-2.0 * 9.81]).unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    add_stop(&mut model, "floor", "y - 0.1*sin(2*pi*t)", 0.0).unwrap();
    let rate = 0.2 * std::f64::consts::PI;
    let start = State { t: 0.0, q: vec![0.0], v: vec![rate], ..State::default() };
    let done = run(&model, &start, 0.25, 1e-4, MoreauJeanParams::default());
    // at t = 1/4 the floor is at its top, at rest
    assert!((done.state.q[0] - 0.1).abs() < 1e-4 && done.state.v[0].abs() < 1e-2, "{:?}", done.state);
    let c = &done.certificate;
    let gained = c.last.mechanical() - c.initial.mechanical();
    assert!((gained - (2.0 * 9.81 * 0.1 - rate * rate)).abs() < 2e-3, "{gained}");
    assert!((c.last.work - gained).abs() < 1e-3 && c.energy_error().abs() < 1e-11, "{} {gained} {}", c.last.work, c.energy_error());
}

/// A potential that depends on time: V = ½ k(t) x², dE/dt = ∂V/∂t; the balance error is of second order.
#[test]
fn explicit_time_in_the_potential_is_work() {
    let text = LagrangianText {
        coordinates: vec!["x".into()],
        kinetic: "x_dot^2/2".into(),
        potential: "(4 + sin(3*t))*x^2/2".into(),
        ..LagrangianText::default()
    };
    let model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    let start = State { t: 0.0, q: vec![1.0], v: vec![0.0], ..State::default() };
    let error = |h: f64| {
        let c = run(&model, &start, 2.0, h, MoreauJeanParams::default()).certificate;
        assert!(c.last.work.abs() > 1e-2);
        c.energy_error().abs()
    };
    let ratio = error(0.01) / error(0.005);
    assert!((ratio - 4.0).abs() < 0.4, "{ratio}");
}

/// A block pulled along a floor by a spring at constant speed: sticks, slips, and all work of the pull ends as friction
/// or stored energy. The friction force never exceeds μ N.
#[test]
fn stick_slip_dissipates_by_friction() {
    let text = LagrangianText {
        coordinates: vec!["x".into(), "y".into()],
        kinetic: "x_dot^2/2 + y_dot^2/2".into(),
        potential: "9.81*y".into(),
        forces: vec![("x".into(), "20*(0.5*t - x)".into())],
        ..LagrangianText::default()
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    let rows = vec![("gap of \"floor\"".into(), "y".into()), ("tangent of \"floor\"".into(), "x".into())];
    let law = Law::Contact(ContactLaw::coulomb(0.5, 0.0));
    model.add_formula("floor", &FormulaSource { rows, parameters: Vec::new() }, law).unwrap();
    let start = State { t: 0.0, q: vec![0.0; 2], v: vec![0.0; 2], ..State::default() };
    let done = run(&model, &start, 3.0, 1e-3, MoreauJeanParams::default());
    // it sticks while 20 · 0.5 t < 0.5 · 9.81, that is until t = 0.4905
    let slip = done.keep.frames.iter().find(|f| f.v[0].abs() > 1e-9).unwrap().t;
    assert!((slip - 0.4905).abs() < 2e-3, "{slip}");
    let c = &done.certificate;
    assert!(c.last.dissipated_friction > 1.0 && c.energy_error().abs() < 1e-10, "{c:?}");
}

/// Tangential restitution: a block that strikes the floor with e_T = 1 and much friction turns its sliding round.
#[test]
fn tangential_restitution_reverses_sliding() {
    let text =
        LagrangianText { coordinates: vec!["x".into(), "y".into()], kinetic: "x_dot^2/2 + y_dot^2/2".into(), ..LagrangianText::default() };
    let end = |tangential_restitution: f64| {
        let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
        let rows = vec![("gap".into(), "y".into()), ("tangent".into(), "x".into())];
        let law = Law::Contact(ContactLaw::coulomb(10.0, 1.0).with_tangential_restitution(tangential_restitution));
        model.add_formula("floor", &FormulaSource { rows, parameters: Vec::new() }, law).unwrap();
        let start = State { t: 0.0, q: vec![0.0, 0.05], v: vec![0.7, -1.0], ..State::default() };
        run(&model, &start, 0.1, 1e-3, MoreauJeanParams::default()).state.v
    };
    let (with, without) = (end(1.0), end(0.0));
    assert!((with[0] + 0.7).abs() < 1e-12 && (with[1] - 1.0).abs() < 1e-12, "{with:?}");
    assert!(without[0].abs() < 1e-12 && (without[1] - 1.0).abs() < 1e-12, "{without:?}");
}
