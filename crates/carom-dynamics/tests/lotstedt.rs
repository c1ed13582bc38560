//! Lötstedt's scheme: orders with constraints, with persistent contact and across impacts.

use crate::support::{distance, fitted_order, run_scheme};
use carom_dynamics::problems::{Problem, impact_oscillator, pendulum, sliding_block};
use carom_dynamics::schemes::{LotstedtParams, SchemeParams};

fn errors(problem: &Problem, steps: &[f64], order: usize) -> Vec<f64> {
    let params = SchemeParams::Lotstedt(LotstedtParams { order, ..LotstedtParams::default() });
    let (q, _) = problem.solution.at_end(problem.end);
    let end = |h: &f64| run_scheme(&problem.model, &problem.state, problem.end, *h, &params).state.q;
    steps.iter().map(|h| distance(&end(h), &q)).collect()
}

/// The pendulum by constraint, and a block that slides all the time: as declared, 1 and 2.
#[test]
fn orders_with_constraints_and_closed_contacts() {
    let steps = [4e-3, 2e-3, 1e-3, 5e-4];
    let sliding = Problem { end: 0.5, ..sliding_block::problem().unwrap() };
    for (name, problem) in [("pendulum", pendulum::cartesian().unwrap()), ("sliding", sliding)] {
        for order in [1, 2] {
            let errors = errors(&problem, &steps, order);
            let fitted = fitted_order(&steps, &errors);
            assert!((fitted - order as f64).abs() < 0.2, "{name}, order {order}: {fitted} {errors:?}");
        }
    }
}

/// Thirteen well separated impacts: the declared first order (two steps of order 1 follow each of them).
#[test]
fn separated_impacts() {
    let problem = impact_oscillator::separated().unwrap();
    let steps = [8e-3, 4e-3, 2e-3, 1e-3];
    let errors = errors(&problem, &steps, 2);
    let fitted = fitted_order(&steps, &errors);
    assert!(fitted > 0.7 && errors[3] < 1e-3, "{fitted} {errors:?}");
}
