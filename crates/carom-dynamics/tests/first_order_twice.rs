//! The scheme of linear first-order systems, with its matrices made once, against Newton's iteration on the same equations; laws and jumps of one state
//! with exact solutions.

use crate::first_order::theta;
use crate::support::{Done, distance, run_scheme};
use crate::sweeping::located;
use carom_dynamics::first_order::source::LinearRelation;
use carom_dynamics::first_order::{FirstOrderSource, MultiplierLaw, RelationSource};
use carom_dynamics::problems::FirstOrderProblem;
use carom_dynamics::schemes::{EulerMoreauParams, Multipliers, SchemeParams};
use carom_dynamics::systems::Coordinate;

/// Two states that a law and sources drive, and a third one that touches nothing: its rate decides whether the whole is linear.
fn run(law: &MultiplierLaw, rate_of_third: &str, (weight, gamma): (f64, f64)) -> Done {
    let text = |formulas: &[&str]| formulas.iter().map(|formula| (*formula).to_owned()).collect::<Vec<_>>();
    let source = FirstOrderSource {
        states: ["x", "w", "z"].map(|name| Coordinate::new(name, "")).to_vec(),
        mass: text(&["2", "0.3", "0", "0.3", "1", "0", "0", "0", "1"]),
        rates: text(&["-3*x + 2*w + p + sin(5*t)", "-2*x - w + 0.5*p + 3*t^2", rate_of_third]),
        relations: vec![RelationSource {
            name: "law".into(),
            multipliers: text(&["p"]),
            outputs: text(&["x - 0.4*w + 0.2*p + 0.3*sin(20*t) - 0.1"]),
            law: law.clone(),
            compliance: 0.0,
        }],
        ..FirstOrderSource::default()
    };
    let problem = FirstOrderProblem::new(&source, &[0.3, -0.2, 1.0], 1.0).unwrap();
    assert_eq!(problem.model.first_order().unwrap().linear().is_some(), !rate_of_third.contains('^'));
    run_scheme(&problem.model, &problem.state, problem.end, 0.04, &theta(weight, gamma))
}

#[test]
fn matrices_made_once_are_newtons_equations() {
    let relay = MultiplierLaw::Relay { lower: -0.2, upper: 0.7 };
    for law in [MultiplierLaw::Equality, MultiplierLaw::Complementarity, relay] {
        for weights in [(0.5, 1.0), (1.0, 1.0), (0.5, 0.5), (0.7, 0.6)] {
            let (linear, newton) = (run(&law, "-z", weights), run(&law, "-z^3", weights));
            // 25 steps of the tolerance of the law, 1e-12, and of Newton's iteration
            let off = distance(&linear.state.x[..2], &newton.state.x[..2]);
            assert!(off < 1e-10, "{} {weights:?}: {off}", law.name());
            assert!(linear.certificate.unconverged == 0 && newton.certificate.unconverged == 0, "{} {weights:?}", law.name());
        }
    }
}

/// ẋ = λ with a law on y = x and the energy x²/2.
fn driven_by_its_law(law: MultiplierLaw, start: f64, end: f64) -> FirstOrderProblem {
    let relation = LinearRelation { multiplier: "p", rows: 1, b: &[1.0], c: &[1.0], d: &[0.0], law };
    let source = FirstOrderSource { storage: vec![1.0], ..FirstOrderSource::linear(&["x"], &[0.0], relation) };
    FirstOrderProblem::new(&source, &[start], end).unwrap()
}

#[test]
fn relays_have_two_bounds() {
    // at the lower bound while y > 0, at the upper one while y < 0
    for (start, exact) in [(1.0, 1.0 - 0.5 * 0.25), (-1.0, -1.0 + 0.5)] {
        let problem = driven_by_its_law(MultiplierLaw::Relay { lower: -0.25, upper: 1.0 }, start, 0.5);
        for params in [theta(1.0, 1.0), theta(0.5, 0.5)] {
            let done = run_scheme(&problem.model, &problem.state, problem.end, 0.01, &params);
            assert!((done.state.x[0] - exact).abs() < 1e-13, "{:?}", done.state.x); // 50 sums
        }
    }
}

#[test]
fn explicit_relays_on_their_surface_give_nothing() {
    let problem = driven_by_its_law(MultiplierLaw::Relay { lower: -1.0, upper: 1.0 }, 0.0, 0.05);
    let explicit = EulerMoreauParams { multipliers: Multipliers::Explicit, ..EulerMoreauParams::default() };
    let done = run_scheme(&problem.model, &problem.state, problem.end, 0.01, &SchemeParams::EulerMoreau(explicit));
    // five steps: with an even number a relay that gives ±1 by turns would be back
    assert_eq!(done.state.x, [0.0]);
}

#[test]
fn energy_that_a_jump_takes_is_booked() {
    // from x = −1 to the boundary of x ≥ 0 at once: x²/2 is lost there
    let done = located(&driven_by_its_law(MultiplierLaw::Complementarity, -1.0, 0.5), 1e-8);
    let certificate = &done.certificate;
    // the jump is a step of 1e-9 of the usual one
    assert!(done.state.x[0].abs() < 1e-8 && (certificate.last.dissipated_impact - 0.5).abs() < 1e-8, "{certificate:?}");
    assert!(certificate.energy_error().abs() < 1e-8, "{certificate:?}");
}
