//! Time per step of Moreau–Jean on small models and its growth with the number of free bodies.
//!
//! `cargo bench -p carom-dynamics`. Each figure is the best of five repetitions.

use carom_dynamics::problems::{bouncing_ball, free_bodies, impact_oscillator, pendulum, woodpecker};
use carom_dynamics::recording::NoRecorder;
use carom_dynamics::schemes::{MoreauJean, Scheme};
use carom_dynamics::strategies::{Continue, Ending, Observers, OnFailure, Strategy, TimeStepping};
use carom_dynamics::{Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;
use std::time::Instant;

fn main() {
    println!("{:<44}{:>12}", "through Scheme::step", "µs/step");
    let ball = bouncing_ball::problem(0.9).expect("model");
    row("bouncing ball, h = 5 ms, 10 s", steps(&ball.model, &ball.state, 0.005, 2000));
    row(
        "bouncing ball at rest on the floor",
        steps(&ball.model, &State { t: 0.0, q: vec![0.0], v: vec![0.0], ..State::default() }, 0.005, 2000),
    );
    let toy = woodpecker::problem().expect("model");
    row("woodpecker, h = 20 µs, 0.3 s", steps(&toy.model, &toy.state, 2e-5, 15_000));
    let oscillator = impact_oscillator::separated().expect("model");
    row("impact oscillator A, h = 1 ms", steps(&oscillator.model, &oscillator.state, 1e-3, 10_000));
    let angle = pendulum::by_angle().expect("model");
    row("pendulum by angle, h = 1 ms", steps(&angle.model, &angle.state, 1e-3, 10_000));
    let cartesian = pendulum::cartesian().expect("model");
    row("pendulum by constraint, h = 1 ms", steps(&cartesian.model, &cartesian.state, 1e-3, 10_000));

    println!("\n{:<44}{:>12}", "through Strategy::run, with certificate", "µs/step");
    row("bouncing ball, h = 5 ms, 10 s", run(&ball.model, &ball.state, 0.005, 10.0));
    row("woodpecker, h = 20 µs, 0.3 s", run(&toy.model, &toy.state, 2e-5, 0.3));

    println!("\n{:<44}{:>12}{:>16}", "free tumbling bodies", "µs/step", "ns/body/step");
    for n in [100, 1000, 10_000] {
        let (model, state) = free_bodies::lattice(n).expect("model");
        let time = steps(&model, &state, 1e-3, 200_000 / n);
        println!("{n:<44}{:>12.3}{:>16.1}", 1e6 * time, 1e9 * time / n as f64);
    }
}

fn row(name: &str, time: f64) {
    println!("{name:<44}{:>12.4}", 1e6 * time);
}

/// Seconds per step over `n` steps.
fn steps(model: &Model, start: &State, h: f64, n: usize) -> f64 {
    let scheme = MoreauJean::default();
    let once = || {
        let (mut state, mut memory) = (start.clone(), StepMemory::new(model, &FrictionSolverParams::default()).expect("solver"));
        let clock = Instant::now();
        for _ in 0..n {
            let report = scheme.step(model, &mut state, &mut memory, h).expect("step");
            assert!(report.converged());
        }
        clock.elapsed().as_secs_f64() / n as f64
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Seconds per step of a whole run without recording.
fn run(model: &Model, start: &State, h: f64, end: f64) -> f64 {
    let strategy = TimeStepping {
        scheme: Box::new(MoreauJean::default()),
        step: h,
        end,
        on_failure: OnFailure::Stop,
        record_every: 0,
        record_interval: None,
    };
    let once = || {
        let (mut state, mut memory) = (start.clone(), StepMemory::new(model, &FrictionSolverParams::default()).expect("solver"));
        let clock = Instant::now();
        let mut watch = |_: &_| Continue::Yes;
        let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut NoRecorder, watch: &mut watch });
        assert!(matches!(outcome.ending, Ending::Finished));
        clock.elapsed().as_secs_f64() / outcome.certificate.steps as f64
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}
