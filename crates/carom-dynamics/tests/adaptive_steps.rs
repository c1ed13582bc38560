//! Adaptive time-stepping: errors against tolerances, orders, work, accumulations of impacts.

use crate::support::{Done, Keep, distance, fitted_order, run};
use carom_dynamics::StepMemory;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::{
    Problem, Solution, add_stop, bouncing_ball, chain_of_balls, impact_oscillator, pendulum, sliding_block, woodpecker,
};
use carom_dynamics::recording::NoRecorder;
use carom_dynamics::report::{AdaptiveReport, EventKind};
use carom_dynamics::schemes::{MoreauJean, MoreauJeanParams, Scheme, SchemeParams, check_scheme};
use carom_dynamics::strategies::adaptive::Control;
use carom_dynamics::strategies::{Adaptive, AdaptiveParams, Continue, Ending, Observers, OnFailure, Outcome, Strategy};
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
    let solver = FrictionSolverParams { tolerance: 1e-13, ..settings.scheme.solver().unwrap_or_default() };
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

const CONTROLS: [Control; 3] = [Control::Halving, Control::Extrapolation, Control::HighOrder];

fn ball(restitution: f64, end: f64) -> Problem {
    Problem { end, ..bouncing_ball::problem(restitution).unwrap() }
}

/// Oscillator A in closed form between its impacts, which are found by bisection; independent of everything under test.
struct OscillatorA {
    /// (t, x, v) after each impact, and at the start.
    pieces: Vec<(f64, f64, f64)>,
}

impl OscillatorA {
    const STOP: f64 = 0.3;

    fn new() -> Self {
        let mut known = OscillatorA { pieces: vec![(0.0, 0.0, 0.0)] };
        let mut t = 0.0;
        while t < 40.0 {
            t += 0.01;
            if known.at(t).0 > Self::STOP {
                let (mut open, mut closed) = (t - 0.01, t);
                for _ in 0..60 {
                    let middle = 0.5 * (open + closed);
                    if known.at(middle).0 > Self::STOP { closed = middle } else { open = middle }
                }
                let v = known.at(open).1;
                known.pieces.push((open, Self::STOP, -0.8 * v));
            }
        }
        known
    }

    /// ẍ + 2a ẋ + x = cos νt with a = 0.05, ν = 2.
    fn at(&self, t: f64) -> (f64, f64) {
        let &(t0, x0, v0) = self.pieces.iter().rev().find(|piece| piece.0 <= t).unwrap();
        let (a, nu) = (0.05_f64, 2.0_f64);
        let (p, q) = (1.0 - nu * nu, 2.0 * a * nu);
        let forced = |t: f64| {
            let (sine, cosine) = (nu * t).sin_cos();
            ((p * cosine + q * sine) / (p * p + q * q), nu * (q * cosine - p * sine) / (p * p + q * q))
        };
        let (w, s, (fx, fv)) = ((1.0 - a * a).sqrt(), t - t0, forced(t0));
        let (cosine, sine) = ((w * s).cos(), (w * s).sin());
        let first = x0 - fx;
        let second = (v0 - fv + a * first) / w;
        let decay = (-a * s).exp();
        let x = decay * (first * cosine + second * sine);
        let v = decay * w * (second * cosine - first * sine) - a * x;
        (x + forced(t).0, v + forced(t).1)
    }

    /// L¹ error of the positions of a run.
    fn error(&self, done: &Done) -> f64 {
        let frames = &done.keep.frames;
        let of = |i: usize| (frames[i].q[0] - self.at(frames[i].t).0).abs();
        (1..frames.len()).map(|i| (frames[i].t - frames[i - 1].t) * 0.5 * (of(i) + of(i - 1))).sum()
    }
}

#[test]
fn the_closed_form_of_oscillator_a_meets_the_published_values() {
    let known = OscillatorA::new();
    assert_eq!(known.pieces.len(), 14);
    let (q, v) = impact_oscillator::separated().unwrap().solution.at_end(40.0);
    let end = known.at(40.0);
    assert!((end.0 - q[0]).abs() < 1e-12 && (end.1 - v[0]).abs() < 1e-12, "{end:?}");
    for (k, t) in impact_oscillator::SEPARATED_IMPACTS.iter().enumerate() {
        assert!((known.pieces[k + 1].0 - t).abs() < 1e-12);
    }
}

/// The error falls with the tolerance: about as fast as it where impacts dominate, by its power 2/3 where smooth motion of second order does. All
/// controls come to rest after accumulations, the step stays above the smallest, and few steps are needed.
#[test]
fn errors_follow_the_tolerance() {
    // least slopes of the error against the tolerance
    let cases = [
        ("ball, e = 0.8", ball(0.8, 4.0), false, 0.9),
        ("ball, e = 0.5", ball(0.5, 2.0), true, 0.9),
        ("oscillator A", impact_oscillator::separated().unwrap(), false, 0.6),
        ("oscillator B", impact_oscillator::accumulating().unwrap(), true, 0.9),
        ("chain of balls", chain_of_balls::problem().unwrap(), true, 0.9),
    ];
    let tolerances = [1e-3, 1e-4, 1e-5, 1e-6];
    println!("{:16} {:14} {:>6} {:>36} {:>28}", "problem", "control", "slope", "errors", "steps of the scheme");
    for (name, problem, rests, slope) in &cases {
        for control in CONTROLS {
            let min_step = 1e-7;
            let runs: Vec<Done> = tolerances
                .iter()
                .map(|&tolerance| {
                    let params = AdaptiveParams { control, tolerance, min_step, ..AdaptiveParams::default() };
                    run_adaptive(problem, &settings(params, problem.end))
                })
                .collect();
            let errors: Vec<f64> = runs.iter().map(|done| error(problem, done)).collect();
            let found = fitted_order(&tolerances, &errors);
            let shown: Vec<String> = errors.iter().map(|e| format!("{e:.1e}")).collect();
            let work: Vec<usize> = runs.iter().map(|done| report(done).scheme_steps).collect();
            println!("{name:16} {:14} {found:6.2} {:>36} {:>28}", format!("{control:?}"), shown.join(" "), format!("{work:?}"));
            // extrapolation passes impacts with the smallest step, whatever the tolerance: its error is bounded by that, too
            assert!(control == Control::Extrapolation || found > *slope, "{name}, {control:?}: slope {found}");
            for ((done, &tolerance), &error) in runs.iter().zip(&tolerances).zip(&errors) {
                let r = report(done);
                let floor = 100.0 * min_step;
                assert!(control != Control::Extrapolation || error < floor.max(10.0 * tolerance), "{name}, {tolerance}: {error}");
                assert!(r.smallest >= min_step * (1.0 - 1e-6), "{name}, {control:?}, {tolerance}: {r:?}");
                assert!(done.certificate.max_penetration < 2.0 * tolerance, "{name}, {control:?}, {tolerance}");
                assert!(r.accepted < 5000 && r.rejected < 1000, "{name}, {control:?}, {tolerance}: {r:?}");
                let speed = done.state.v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                assert!(!rests || speed < 10.0 * tolerance, "{name}, {control:?}, {tolerance}: speed {speed} at rest");
            }
        }
    }
}

/// For the same error fixed steps need many times the work.
#[test]
fn work_and_precision() {
    println!("{:14} {:14} {:>9} {:>9} {:>12}", "problem", "control", "error", "steps", "fixed steps");
    for (name, problem) in [("ball, e = 0.8", ball(0.8, 4.0)), ("oscillator A", impact_oscillator::separated().unwrap())] {
        // fixed steps: halved until they are as good
        let fixed: Vec<(usize, f64)> = (0..7)
            .map(|k| {
                let step = 0.02 / f64::from(1 << k);
                let done = run(&problem.model, &problem.state, problem.end, step, MoreauJeanParams::default());
                (done.certificate.steps, error(&problem, &done))
            })
            .collect();
        for control in CONTROLS {
            let params = AdaptiveParams { control, tolerance: 1e-4, min_step: 1e-6, ..AdaptiveParams::default() };
            let done = run_adaptive(&problem, &settings(params, problem.end));
            let (error, r) = (error(&problem, &done), report(&done));
            // steps of HEM5 have five stages
            let work = r.scheme_steps + 5 * r.integrated;
            let enough = fixed.iter().find(|(_, fixed)| *fixed <= error).map(|(steps, _)| *steps);
            let shown = enough.map_or_else(|| format!("> {}", fixed[6].0), |steps| steps.to_string());
            println!("{name:14} {:14} {error:9.1e} {work:9} {shown:>12}", format!("{control:?}"));
            assert!(enough.is_none_or(|steps| steps > 5 * work), "{name}, {control:?}");
        }
    }
}

/// A tolerance that impacts cannot meet: the smallest step stands and is counted.
#[test]
fn steps_do_not_collapse_at_impacts() {
    for (problem, impacts) in
        [(ball(0.5, 2.0), 5), (impact_oscillator::accumulating().unwrap(), 3), (chain_of_balls::problem().unwrap(), 10)]
    {
        let params = AdaptiveParams { tolerance: 1e-9, min_step: 1e-5, ..AdaptiveParams::default() };
        let done = run_adaptive(&problem, &settings(params, problem.end));
        let r = report(&done);
        assert!(r.beyond_tolerance >= impacts && r.at_min_step >= r.beyond_tolerance, "{r:?}");
        assert!((r.smallest - 1e-5).abs() < 1e-16 && r.accepted < 20_000, "{r:?}");
        assert!(distance(&done.state.q, &problem.solution.at_end(problem.end).0) < 1e-4);
    }
}

/// Strong restitution: a hundred impacts, and rest after 8.58 s; contacts that stay closed are not excited by extrapolation.
#[test]
fn strong_restitution_comes_to_rest() {
    for control in CONTROLS {
        for tolerance in [1e-4, 1e-6] {
            let params = AdaptiveParams { control, tolerance, ..AdaptiveParams::default() };
            let done = run_adaptive(&ball(0.9, 10.0), &settings(params, 10.0));
            let r = report(&done);
            println!("{control:?} {tolerance:e} {:?} {:?} {r:?}", done.state.q, done.state.v);
            assert!(
                done.state.q[0].abs() < tolerance && done.state.v[0].abs() < 10.0 * tolerance,
                "{control:?}, {tolerance}: {:?}",
                done.state
            );
            assert!(r.accepted < 20_000 && r.scheme_steps < 60_000, "{control:?}, {tolerance}: {r:?}");
        }
    }
}

/// Constant steps, extrapolated.
fn constant(step: f64, end: f64, params: MoreauJeanParams) -> Adaptive {
    let control = AdaptiveParams {
        control: Control::Extrapolation,
        tolerance: 1e-1,
        min_step: step,
        max_step: Some(step),
        ..AdaptiveParams::default()
    };
    Adaptive { scheme: Box::new(MoreauJean { params }), first_step: Some(step), ..settings(control, end) }
}

/// Between changes of contact extrapolation raises the order: from 1 to 2 at θ = 1 and under constraints, from 2 to 4 for the symmetric scheme.
#[test]
fn extrapolation_raises_the_order() {
    let implicit = MoreauJeanParams { theta: 1.0, ..MoreauJeanParams::default() };
    let cases = [
        ("θ = 1", pendulum::by_angle().unwrap(), implicit, 2.0),
        ("θ = 1/2", pendulum::by_angle().unwrap(), MoreauJeanParams::default(), 4.0),
        ("constraint", pendulum::cartesian().unwrap(), MoreauJeanParams::default(), 2.0),
    ];
    for (name, problem, params, expected) in cases {
        let steps = [0.02, 0.01, 0.005, 0.0025];
        let (q, v) = problem.solution.at_end(problem.end);
        let ends: Vec<Done> = steps.iter().map(|&h| run_adaptive(&problem, &constant(h, problem.end, params))).collect();
        let of = |error: &dyn Fn(&Done) -> f64| fitted_order(&steps, &ends.iter().map(error).collect::<Vec<_>>());
        let orders = (of(&|done| distance(&done.state.q, &q)), of(&|done| distance(&done.state.v, &v)));
        println!("{name:12} {:.2} {:.2}", orders.0, orders.1);
        assert!(orders.0 > expected - 0.25 && orders.1 > expected - 0.25, "{name}: {orders:?}");
    }
}

/// Oscillator A, 13 impacts: positions in L¹ and the times of the impacts converge with the order of the integrator where h* = h^{p+1}, and no
/// faster than h* where that is longer.
#[test]
fn high_order_keeps_the_order_across_impacts() {
    let (problem, known) = (impact_oscillator::separated().unwrap(), OscillatorA::new());
    // method, its order where there is a choice, p of h*, largest step
    let methods = [
        (IntegratorKind::Sdirk, Some(2), 2.0, 0.04),
        (IntegratorKind::Sdirk, Some(3), 3.0, 0.08),
        (IntegratorKind::Rk4, None, 4.0, 0.1),
        (IntegratorKind::Dopri5, None, 5.0, 0.2),
        (IntegratorKind::Hem5, None, 5.0, 0.2),
        (IntegratorKind::Dopri5, None, 1.0, 0.05),
    ];
    println!("{:10} {:>2} {:>6} {:>6} errors", "", "p", "L¹", "times");
    for (kind, order, p, step) in methods {
        let steps: Vec<f64> = (0..4).map(|k| step / f64::from(1 << k)).collect();
        let runs: Vec<Done> = steps
            .iter()
            .map(|&h| {
                let params = AdaptiveParams {
                    control: Control::HighOrder,
                    // h* follows from the step alone
                    tolerance: 1e-1,
                    min_step: 1e-14,
                    event_order: Some(p as usize),
                    ..AdaptiveParams::default()
                };
                let integrator =
                    IntegratorParams { kind, order, control: StepControl::Fixed, step: Some(h), ..IntegratorParams::default() };
                run_adaptive(&problem, &Adaptive { integrator, ..settings(params, problem.end) })
            })
            .collect();
        let errors: Vec<f64> = runs.iter().map(|done| known.error(done)).collect();
        let late: Vec<f64> = runs
            .iter()
            .map(|done| {
                let closed = done.keep.events.iter().filter(|e| e.kind == EventKind::ContactClosed).map(|e| e.t);
                let times: Vec<f64> = closed.collect();
                assert_eq!(times.len(), 13, "{kind:?}");
                let exact: Vec<f64> = known.pieces[1..].iter().map(|piece| piece.0).collect();
                distance(&times, &exact)
            })
            .collect();
        let (of_positions, of_times) = (fitted_order(&steps, &errors), fitted_order(&steps, &late));
        let shown: Vec<String> = errors.iter().chain(&late).map(|e| format!("{e:.1e}")).collect();
        println!("{:10} {p:2} {of_positions:6.2} {of_times:6.2} {}", kind.name(), shown.join(" "));
        assert!(of_positions > p - 0.35 && of_times > p - 0.35, "{kind:?}: {of_positions} {of_times}");
        assert!(p > 1.0 || of_positions < 3.0, "{kind:?} with h* = h²: {of_positions}");
    }
}

/// The block stops and stays: all controls follow the change from sliding to sticking.
#[test]
fn friction_stops_the_block() {
    let problem = sliding_block::problem().unwrap();
    for control in CONTROLS {
        let params = AdaptiveParams { control, tolerance: 1e-6, ..AdaptiveParams::default() };
        let done = run_adaptive(&problem, &settings(params, problem.end));
        let (q, _) = problem.solution.at_end(problem.end);
        assert!(distance(&done.state.q, &q) < 2e-6 && done.state.v[0].abs() < 1e-9, "{control:?}: {:?}", done.state);
        assert!(done.certificate.energy_error().abs() < 1e-5, "{control:?}: {}", done.certificate.energy_error());
    }
}

/// A pendulum in Cartesian coordinates that hits a stop at x = −1/2 with e = 0.8: the energy left is known, E = −(1 − e²) g √3/2.
#[test]
fn constraints_hold_across_impacts() {
    let mut problem = pendulum::cartesian().unwrap();
    add_stop(&mut problem.model, "stop", "x + 0.5", 0.8).unwrap();
    let exact = -(1.0 - 0.64) * 9.81 * 0.75_f64.sqrt();
    for (tolerance, bound) in [(1e-5, 1e-3), (1e-7, 1e-5)] {
        let params = AdaptiveParams { control: Control::HighOrder, tolerance, min_step: 1e-9, ..AdaptiveParams::default() };
        let done = run_adaptive(&problem, &settings(params, 1.0));
        let c = &done.certificate;
        assert_eq!(report(&done).nonsmooth, 1);
        assert!((c.last.mechanical() - exact).abs() < bound, "{tolerance}: {} {exact}", c.last.mechanical());
        assert!(c.max_constraint_violation < bound && c.max_penetration < tolerance, "{c:?}");
    }
}

fn settings_of(scheme: Box<dyn Scheme>) -> Adaptive {
    Adaptive { scheme, ..settings(AdaptiveParams::default(), 1.0) }
}

/// Every scheme that can go on with another step, those that keep values of the step before too, under halving; the others are refused.
#[test]
fn every_scheme_can_be_controlled() {
    let mut worst = 0.0_f64;
    for params in SchemeParams::all() {
        for (name, problem) in [("ball", ball(0.5, 1.0)), ("inelastic", ball(0.0, 1.0)), ("block", sliding_block::problem().unwrap())] {
            if check_scheme(params.entry(), &problem.model).is_err() {
                continue;
            }
            let scheme = params.build();
            if !scheme.restarts() {
                let text = settings_of(scheme).validate(0.0).unwrap_err().to_string();
                assert!(text.contains("steps of varying size") && text.contains("moreau-jean"), "{text}");
                continue;
            }
            let control = AdaptiveParams { tolerance: 1e-5, ..AdaptiveParams::default() };
            let done = run_adaptive(&problem, &Adaptive { scheme: params.build(), ..settings(control, problem.end) });
            let error = distance(&done.state.q, &problem.solution.at_end(problem.end).0);
            println!("{:16} {name:10} {error:.1e} {:?}", params.entry().name, report(&done));
            worst = worst.max(error);
        }
    }
    assert!(worst < 1e-2, "{worst}");
}

/// Frames at a constant interval lie at their times, events are told once, and equal runs have equal bits.
#[test]
fn frames_events_and_repetition() {
    let problem = impact_oscillator::separated().unwrap();
    for control in CONTROLS {
        let params = AdaptiveParams { control, tolerance: 1e-5, ..AdaptiveParams::default() };
        let settings = Adaptive { record_every: 0, record_interval: Some(0.5), ..settings(params, problem.end) };
        let (one, two) = (run_adaptive(&problem, &settings), run_adaptive(&problem, &settings));
        let times: Vec<f64> = one.keep.frames.iter().map(|f| f.t).collect();
        let expected: Vec<f64> = (0..=80).map(|k| 0.5 * f64::from(k)).collect();
        assert!(times.len() == 81 && distance(&times, &expected) < 1e-12, "{control:?}: {times:?}");
        assert_eq!(one.keep.events.iter().filter(|e| e.kind == EventKind::ContactClosed).count(), 13, "{control:?}");
        assert_eq!(one.keep.events.iter().filter(|e| e.kind == EventKind::ContactOpened).count(), 13, "{control:?}");
        assert_eq!((one.state.q, one.state.v, one.certificate), (two.state.q, two.state.v, two.certificate), "{control:?}");
    }
}

/// Nothing is allocated per step: a longer run of the same kind costs no more, but for the names of its events.
#[test]
fn steps_do_not_allocate() {
    let count = |problem: &Problem, control: Control, end: f64| {
        let params = AdaptiveParams { control, tolerance: 1e-6, ..AdaptiveParams::default() };
        let settings = Adaptive { record_every: 0, ..settings(params, end) };
        let mut state = problem.state.clone();
        let mut memory = StepMemory::new(&problem.model, &FrictionSolverParams::default()).unwrap();
        let mut events = 0;
        let counted = allocation_counter::measure(|| {
            let mut watch = |_: &_| Continue::Yes;
            let observers = Observers { recorder: &mut NoRecorder, watch: &mut watch };
            events = settings.run(&problem.model, &mut state, &mut memory, observers).certificate.events;
        });
        (counted.count_total, events as u64)
    };
    let (smooth, impacts) = (pendulum::by_angle().unwrap(), impact_oscillator::separated().unwrap());
    for control in [Control::Halving, Control::Extrapolation] {
        assert_eq!(count(&smooth, control, 2.0).0, count(&smooth, control, 4.0).0, "{control:?}");
        let (short, long) = (count(&impacts, control, 20.0), count(&impacts, control, 40.0));
        assert!(long.0 - short.0 <= long.1 - short.1, "{control:?}: {short:?} {long:?}");
    }
}

/// The woodpecker's impacts with friction at three contacts. The published state is that of fixed steps of 20 µs, first order.
#[test]
fn the_woodpecker_pecks() {
    let problem = woodpecker::problem().unwrap();
    let (q, _) = problem.solution.at_end(problem.end);
    for control in [Control::Halving, Control::Extrapolation] {
        let params = AdaptiveParams { control, tolerance: 1e-8, min_step: 1e-7, ..AdaptiveParams::default() };
        let done = run_adaptive(&problem, &settings(params, problem.end));
        println!("{control:?} {:.1e} {:?}", distance(&done.state.q, &q), report(&done));
        assert!(distance(&done.state.q, &q) < 5e-3);
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let good = AdaptiveParams::default();
    let cases = [
        ("tolerance", AdaptiveParams { tolerance: 0.0, ..good }),
        ("absolute_tolerance", AdaptiveParams { absolute_tolerance: Some(-1.0), ..good }),
        ("relative_tolerance", AdaptiveParams { relative_tolerance: Some(f64::NAN), ..good }),
        ("min_step", AdaptiveParams { min_step: 0.0, ..good }),
        ("max_step", AdaptiveParams { max_step: Some(1e-9), ..good }),
        ("safety", AdaptiveParams { safety: 1.0, ..good }),
        ("max_shrink", AdaptiveParams { max_shrink: 1.0, ..good }),
        ("max_growth", AdaptiveParams { max_growth: 1.0, ..good }),
        ("event_order", AdaptiveParams { event_order: Some(0), ..good }),
        ("event_scale", AdaptiveParams { event_scale: f64::INFINITY, ..good }),
    ];
    for (name, params) in cases {
        let text = settings(params, 1.0).validate(0.0).unwrap_err().to_string();
        assert!(text.contains(&format!("adaptive.{name} = ")) && text.contains("needed"), "{text}");
    }
    for (name, settings) in [
        ("step", Adaptive { first_step: Some(-1.0), ..settings(good, 1.0) }),
        ("record.interval", Adaptive { record_interval: Some(0.0), ..settings(good, 1.0) }),
        ("end", settings(good, -1.0)),
    ] {
        assert!(settings.validate(0.0).unwrap_err().to_string().starts_with(name));
        // a run with these settings ends with the same words
        let (outcome, _) = try_run(&ball(0.5, 1.0), &settings);
        assert!(matches!(outcome.ending, Ending::Failed(_)), "{name}");
    }
}
