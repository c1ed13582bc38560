//! Mechanical and first-order parts in one model.

use crate::first_order::theta;
use crate::support::{distance, run_scheme};
use carom_dynamics::first_order::{FirstOrderSource, MultiplierLaw, RelationSource};
use carom_dynamics::problems::belt_oscillator::{self, BELT, FRICTION, MASS, START, STIFFNESS};
use carom_dynamics::problems::{FirstOrderProblem, add_stop};
use carom_dynamics::schemes::{MoreauJeanParams, SchemeParams};
use carom_dynamics::systems::{Coordinate, Linear};
use carom_dynamics::{Model, State};

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

/// A motor with an inductance drives a mass: L i' = U − R i − k v, m v' = k i. Against the exact solution of the linear system.
#[test]
fn forces_follow_states_and_states_follow_velocities() {
    let mass = Linear::new(vec!["x".into()], vec![2.0], vec![0.0], vec![0.0]).unwrap();
    let mut model = Model::new(vec![Box::new(mass)]).unwrap();
    let source = FirstOrderSource {
        states: vec![Coordinate::new("i", "A")],
        rates: vec!["10 - 3*i - 1.5*x_dot".into()],
        mass: vec!["0.5".into()],
        forces: vec![("x".into(), "1.5*i".into())],
        ..FirstOrderSource::default()
    };
    model.set_first_order(&source).unwrap();
    let start = State { q: vec![0.0], v: vec![0.0], x: vec![0.0], ..State::default() };
    let alone = FirstOrderSource {
        states: ["v", "i"].map(|name| Coordinate::new(name, "")).to_vec(),
        rates: vec!["0.75*i".into(), "20 - 6*i - 3*v".into()],
        ..FirstOrderSource::default()
    };
    let exact = FirstOrderProblem::new(&alone, &[0.0, 0.0], 1.0).unwrap();
    let exact = run_scheme(&exact.model, &exact.state, 1.0, 1e-3, &SchemeParams::ZeroOrderHold(Default::default())).state.x;
    let mixed = run_scheme(&model, &start, 1.0, 1e-3, &theta(0.5, 1.0)).state;
    // θ = 1/2 with h = 1e-3 and rates of 6: (6e-3)²/12 of the values
    assert!((mixed.v[0] - exact[0]).abs() < 1e-5 && (mixed.x[0] - exact[1]).abs() < 1e-5, "{mixed:?} {exact:?}");
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
