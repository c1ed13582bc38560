//! The scheme of Paoli and Schatzman against a published run and its own promises.

use crate::support::{Done, distance, fitted_order, run_scheme};
use carom_dynamics::problems::{bouncing_ball, pendulum};
use carom_dynamics::schemes::schatzman_paoli::{FirstStep, Penetration};
use carom_dynamics::schemes::{SchatzmanPaoliParams, SchemeParams};

fn scheme(penetration: Penetration, first_step: FirstStep) -> SchemeParams {
    SchemeParams::SchatzmanPaoli(SchatzmanPaoliParams { penetration, first_step, ..SchatzmanPaoliParams::default() })
}

/// The published bouncing ball (e = 0.9, h = 0.005): first contact at t = 0.455 with q = −1.59963750e-2, at rest in the end.
#[test]
fn published_bouncing_ball() {
    let problem = bouncing_ball::problem(0.9).unwrap();
    let done = run_scheme(&problem.model, &problem.state, 10.0, 0.005, &scheme(Penetration::TwoSteps, FirstStep::Euler));
    let first = done.keep.frames.iter().find(|f| f.impulse > 0.0).unwrap();
    assert!((first.t - 0.455).abs() < 1e-12 && (first.q[0] + 1.599_637_50e-2).abs() < 1e-12, "{first:?}");
    // published end: 6.3e-13
    assert!(done.state.q[0].abs() < 1e-12, "{:?}", done.state);
}

/// Longest run of consecutive positions outside.
fn longest_outside(done: &Done) -> usize {
    let outside = |f: &&crate::support::Kept| f.q[0] < -1e-12;
    let frames = &done.keep.frames;
    (0..frames.len()).map(|k| frames[k..].iter().take_while(outside).count()).max().unwrap()
}

/// Steps outside: two for the published scheme, one with the modification, over bounces at many phases of the step.
#[test]
fn steps_outside() {
    for (penetration, most) in [(Penetration::TwoSteps, 2), (Penetration::OneStep, 1)] {
        let mut longest = 0;
        for restitution in [0.3, 0.6, 0.9] {
            let problem = bouncing_ball::problem(restitution).unwrap();
            let done = run_scheme(&problem.model, &problem.state, 3.0, 0.0037, &scheme(penetration, FirstStep::Taylor));
            longest = longest.max(longest_outside(&done));
        }
        assert_eq!(longest, most, "{penetration:?}");
    }
}

/// Constraints are SHAKE's: satisfied at every step, positions of second order.
#[test]
fn constraints_hold_and_keep_the_order() {
    let problem = pendulum::cartesian().unwrap();
    let steps = [4e-3, 2e-3, 1e-3];
    let mut errors = Vec::new();
    for h in steps {
        let done = run_scheme(&problem.model, &problem.state, 1.0, h, &scheme(Penetration::TwoSteps, FirstStep::Taylor));
        assert!(done.certificate.max_constraint_violation < 1e-11, "{:?}", done.certificate);
        errors.push(distance(&done.state.q, &[-0.986_291_751_131_875_3, -0.165_010_853_125_541_17]));
    }
    let order = fitted_order(&steps, &errors);
    assert!((order - 2.0).abs() < 0.2, "{order} {errors:?}");
}
