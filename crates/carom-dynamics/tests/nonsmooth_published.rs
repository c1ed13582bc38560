//! Published cases by the schemes that are of second order between impacts.

use crate::nonsmooth_second_order::{alpha, d1_minus};
use crate::support::run_scheme;
use carom_dynamics::problems::{bouncing_ball, slider_crank_clearance, woodpecker};
use carom_dynamics::schemes::AlphaLevel;

/// D⁻₁ on the bouncing ball, m = 1, q₀ = 1, e = 0.9, h = 5e-4: the published numbers of its first impact and of the force at the end.
#[test]
fn published_bouncing_ball() {
    let problem = bouncing_ball::problem(0.9).unwrap();
    let done = run_scheme(&problem.model, &problem.state, 10.0, 5e-4, &d1_minus());
    let frames = &done.keep.frames;
    let impact = frames.iter().find(|f| f.impulse > 0.0).unwrap();
    let expected = [(impact.t, 0.452), (impact.q[0], -2.11112e-3), (impact.v[0], 3.990708), (impact.impulse, 8.424828)];
    for (found, expected) in expected {
        // all digits that were printed; 904 steps of round-off
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }
    let last = &frames[frames.len() - 1];
    assert!((last.impulse / 5e-4 - 9.81).abs() < 1e-9 && last.v[0].abs() < 1e-12, "{last:?}");
}

/// Without friction: times of the first impacts, from event-driven references of 18 digits.
#[test]
fn slider_crank_impacts() {
    let (model, state) = slider_crank_clearance::model(0.0).unwrap();
    let (h, times) = (1e-5, [0.002_692_502_752_021_213, 0.005_607_797_868_070_891]);
    for params in [d1_minus(), alpha(AlphaLevel::Velocity, 0.8), alpha(AlphaLevel::PositionVelocity, 0.8)] {
        let done = run_scheme(&model, &state, 6e-3, h, &params);
        let impacts: Vec<f64> = done.keep.frames.iter().filter(|f| f.impulse > 0.0).map(|f| f.t).collect();
        println!("{impacts:?}");
        assert!((impacts[0] - times[0]).abs() <= h && (impacts[1] - times[1]).abs() <= 3.0 * h, "{params:?}: {impacts:?}");
        assert!(done.state.q[2].abs() < 1e-9, "the slider stays parallel: {}", done.state.q[2]);
    }
}

/// With friction, turns of the crank after 0.05 s against Moreau–Jean with the same step, 0.7636247 (all are of first order there).
#[test]
fn slider_crank_turns() {
    let (model, mut state) = slider_crank_clearance::model(0.01).unwrap();
    state.v[2] = -0.01;
    for params in [alpha(AlphaLevel::Velocity, 0.8), alpha(AlphaLevel::PositionVelocity, 0.8), d1_minus()] {
        let done = run_scheme(&model, &state, 0.05, 1e-5, &params);
        let (c, turns) = (&done.certificate, done.state.q[0] / std::f64::consts::TAU);
        println!("{turns} depth {:9.1e} gain {:9.1e} {params:?}", c.max_penetration, c.contact_gain);
        assert!((turns - 0.763_624_7).abs() < 5e-3, "{params:?}: {turns}");
    }
}

/// The woodpecker toy (impacts, friction, jamming in its sleeve) at the end of 0.3 s, against its published run by Moreau–Jean with the same step.
#[test]
fn woodpecker_descends() {
    let problem = woodpecker::problem().unwrap();
    let (q, _) = problem.solution.at_end(problem.end);
    for params in [alpha(AlphaLevel::Velocity, 0.8), alpha(AlphaLevel::PositionVelocity, 0.8), d1_minus()] {
        let done = run_scheme(&problem.model, &problem.state, problem.end, 2e-5, &params);
        let c = &done.certificate;
        println!("{:?} {q:?} gain {:9.1e} depth {:9.1e} {params:?}", done.state.q, c.contact_gain, c.max_penetration);
        // both are of first order in the times of impacts: 1 % of the descent, 0.0413 m
        assert!((done.state.q[0] - q[0]).abs() < 5e-4, "{params:?}: {:?}", done.state.q);
    }
}
