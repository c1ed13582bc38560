//! Adaptive time-stepping: errors against tolerances, orders, work, accumulations of impacts.

use crate::support::{Done, Keep, distance, fitted_order, run};
use carom_dynamics::StepMemory;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::{Problem, Solution, bouncing_ball, chain_of_balls, impact_oscillator, pendulum, sliding_block};
use carom_dynamics::schemes::{MoreauJeanParams, SchemeParams};
use carom_dynamics::strategies::adaptive::Control;
use carom_dynamics::strategies::{Adaptive, AdaptiveParams, AdaptiveReport, Continue, Ending, Observers, OnFailure, Outcome, Strategy};
use carom_solvers::FrictionSolverParams;

fn settings(params: AdaptiveParams, end: f64) -> Adaptive {
    Adaptive {
        scheme: SchemeParams::default().build(),
        params,
        integrator: IntegratorParams::default(),
        first_step: None,
        end,
        on_failure: OnFailure::Stop,
        record_every: 1,
        record_interval: None,
    }
}

fn try_run(problem: &Problem, settings: &Adaptive) -> (Outcome, Done) {
    let (mut state, mut keep) = (problem.state.clone(), Keep::default());
    let solver = FrictionSolverParams { tolerance: 1e-13, ..FrictionSolverParams::default() };
    let mut memory = StepMemory::new(&problem.model, &solver).unwrap();
    let mut watch = |_: &_| Continue::Yes;
    let outcome = settings.run(&problem.model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    let certificate = outcome.certificate.clone();
    (outcome, Done { state, certificate, keep })
}

fn run_adaptive(problem: &Problem, settings: &Adaptive) -> Done {
    let (outcome, done) = try_run(problem, settings);
    assert!(matches!(outcome.ending, Ending::Finished), "{:?}", outcome.ending);
    done
}

fn report(done: &Done) -> AdaptiveReport {
    done.certificate.adaptive.unwrap()
}

/// L¹ error of the positions where the motion is known at all times, the error at the end otherwise.
fn error(problem: &Problem, done: &Done) -> f64 {
    match &problem.solution {
        Solution::Exact(exact) => {
            let of = |i: usize| distance(&done.keep.frames[i].q, &exact(done.keep.frames[i].t).0);
            let frames = &done.keep.frames;
            (1..frames.len()).map(|i| (frames[i].t - frames[i - 1].t) * 0.5 * (of(i) + of(i - 1))).sum()
        }
        Solution::AtEnd(q, _) => distance(&done.state.q, q),
    }
}

#[test]
fn explore() {
    let ball = |restitution: f64, end: f64| Problem { end, ..bouncing_ball::problem(restitution).unwrap() };
    for (name, problem) in [
        ("ball 0.8", ball(0.8, 4.0)),
        ("ball 0.5", ball(0.5, 2.0)),
        ("osc A", impact_oscillator::separated().unwrap()),
        ("osc B", impact_oscillator::accumulating().unwrap()),
        ("block", sliding_block::problem().unwrap()),
        ("chain", chain_of_balls::problem().unwrap()),
        ("pendulum", pendulum::by_angle().unwrap()),
        ("cartesian", pendulum::cartesian().unwrap()),
    ] {
        for control in [Control::Halving, Control::Extrapolation, Control::HighOrder] {
            for tolerance in [1e-3, 1e-4, 1e-5, 1e-6] {
                let params = AdaptiveParams { control, tolerance, min_step: 1e-7, ..AdaptiveParams::default() };
                let clock = std::time::Instant::now();
                let done = run_adaptive(&problem, &settings(params, problem.end));
                let r = report(&done);
                println!("{name:10} {control:?} {tolerance:.0e} error {:.1e} end v {:.1e} pen {:.1e} {r:?} {:.2?} ee {:.1e}", error(&problem, &done), done.state.v[0],
                    done.certificate.max_penetration, clock.elapsed(), done.certificate.energy_error());
            }
        }
    }
}
