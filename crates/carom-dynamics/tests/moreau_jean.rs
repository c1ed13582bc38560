//! Moreau–Jean against published runs and exact solutions.

use crate::support::{distance, end_errors, fitted_order, run};
use carom_dynamics::problems::{bouncing_ball, free_bodies, pendulum, woodpecker};
use carom_dynamics::schemes::MoreauJeanParams;

/// Impulse steps of the published bouncing ball run (θ = 1/2, h = 0.005, e = 0.9): (t, q, v⁺, p).
#[test]
fn bouncing_ball_reproduces_the_published_impulse_steps() {
    let published = [
        (0.455, 5.633_874_999_998_808e-3, 3.973_05, 8.4366),
        (1.270, 4.640_612_5e-3, 3.575_745, 7.597_845),
        (2.005, 1.635_737_5e-4, 3.226_999_5, 6.861_604_5),
        (2.670, -7.446_656_375e-3, 2.922_840_45, 6.219_490_95),
    ];
    let problem = bouncing_ball::problem(0.9).unwrap();
    let done = run(&problem.model, &problem.state, 10.0, 0.005, MoreauJeanParams::default());
    let impulses: Vec<_> = done.keep.frames.iter().filter(|f| f.impulse > 0.0).take(4).collect();
    for ((t, q, v, p), frame) in published.iter().zip(impulses) {
        // the published digits end at 1e-12 relative; sums of 500 steps lose 1e-13
        assert!((frame.t - t).abs() < 1e-12 && (frame.q[0] - q).abs() < 1e-10, "{frame:?}");
        assert!((frame.v[0] - v).abs() < 1e-10 && (frame.impulse - p).abs() < 1e-10, "{frame:?}");
    }
    let last = done.keep.frames.last().unwrap();
    assert!((last.q[0] + 2.288_618e-5).abs() < 1e-11 && (last.impulse - 0.04905).abs() < 1e-12, "{last:?}");
}

/// End state of the published woodpecker run to 1e-9.
#[test]
fn woodpecker_reproduces_the_published_end_state() {
    let problem = woodpecker::problem().unwrap();
    let (q, v) = end_errors(&problem, 2e-5);
    assert!(q < 1e-9 && v < 1e-9, "{q} {v}");
}

/// θ = 1/2 is of second order in smooth motion: unconstrained pendulum, torque-free top.
#[test]
fn second_order_in_smooth_motion() {
    for (name, problem) in [("pendulum", pendulum::by_angle().unwrap()), ("top", free_bodies::symmetric_top().unwrap())] {
        let steps = [0.01, 0.005, 0.0025];
        let errors: Vec<(f64, f64)> = steps.iter().map(|&h| end_errors(&problem, h)).collect();
        let order_q = fitted_order(&steps, &errors.iter().map(|e| e.0).collect::<Vec<_>>());
        let order_v = fitted_order(&steps, &errors.iter().map(|e| e.1).collect::<Vec<_>>());
        assert!((order_q - 2.0).abs() < 0.2 && (order_v - 2.0).abs() < 0.2, "{name}: {order_q} {order_v}, {errors:?}");
    }
}

/// First order across impacts, in the L¹ norm of the position.
#[test]
fn first_order_across_impacts() {
    let problem = bouncing_ball::problem(0.8).unwrap();
    let carom_dynamics::problems::Solution::Exact(exact) = &problem.solution else { panic!() };
    let steps: Vec<f64> = (0..6).map(|k| 4e-3 / f64::from(1 << k)).collect();
    let errors: Vec<f64> = steps
        .iter()
        .map(|&h| {
            let done = run(&problem.model, &problem.state, problem.end, h, MoreauJeanParams::default());
            h * done.keep.frames.iter().map(|f| distance(&f.q, &exact(f.t).0)).sum::<f64>()
        })
        .collect();
    let order = fitted_order(&steps, &errors);
    assert!((order - 1.0).abs() < 0.2, "{order} {errors:?}");
}
