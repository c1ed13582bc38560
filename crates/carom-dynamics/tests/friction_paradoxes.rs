//! Painlevé's paradox and jammed wedges: every scheme with friction passes with bounded impulses and says what happened.

use crate::support::{Keep, run_scheme, try_scheme};
use carom_dynamics::problems::painleve_rod::{FRICTION, PARADOX, SINGULAR_RATE, coefficients, model, sliding, stopping_impulse};
use carom_dynamics::problems::{sliding_block, wedges, woodpecker};
use carom_dynamics::report::EventKind;
use carom_dynamics::schemes::{SchemeParams, check_scheme};
use carom_dynamics::strategies::{Continue, Ending, Observers, OnFailure, Outcome, Strategy, TimeStepping};
use carom_dynamics::{Model, RunError, State, StepMemory};
use carom_solvers::{FrictionSolverKind, FrictionSolverParams};
use std::f64::consts::FRAC_PI_4;

/// The schemes that know the laws of a model, with the variants that the tests of schemes run.
fn schemes(model: &Model) -> Vec<SchemeParams> {
    let known = |params: &SchemeParams| check_scheme(params.entry(), model).is_ok();
    crate::schemes::variants().into_iter().filter(known).collect()
}

fn paradoxes(keep: &Keep) -> Vec<(f64, f64)> {
    let of_kind = keep.events.iter().filter(|e| e.kind == EventKind::ImpactWithoutCollision);
    of_kind.inspect(|e| assert_eq!(e.name, "tip")).map(|e| (e.t, e.impulse)).collect()
}

/// p < 0 and b < 0: no sliding motion exists, and the slip ends at once by the impulse that is known, whatever the step.
#[test]
fn inconsistent_rod_stops_by_an_impact_without_collision() {
    let model = model(FRICTION).unwrap();
    for (angle, rate, slip) in [(1.1, 0.0, 1.0), (1.0, 1.0, 2.0), (1.2, -1.0, 3.0)] {
        let (p, b) = coefficients(FRICTION, angle, rate);
        assert!(p < 0.0 && b < 0.0 && (PARADOX[0]..PARADOX[1]).contains(&angle));
        let exact = stopping_impulse(angle, slip);
        for params in schemes(&model) {
            let errors: Vec<f64> = [2e-3, 1e-3, 5e-4]
                .map(|h| {
                    let done = run_scheme(&model, &sliding(angle, rate, slip), 10.0 * h, h, &params);
                    let told = paradoxes(&done.keep);
                    println!("{:16} a = {angle} h = {h:e}: {told:?}, exact {exact:.5}", params.entry().name);
                    assert_eq!(told.len(), 1, "{params:?} {h}");
                    (told[0].1 - exact).abs()
                })
                .to_vec();
            // what gravity adds in a step
            assert!(errors[2] < 0.02 && errors[2] < 0.6 * errors[1] && errors[1] < 0.6 * errors[0], "{params:?}: {errors:?}");
        }
    }
}

/// Sum of the normal impulses of a run up to 0.2 s, and the last angle.
fn total_impulse(model: &Model, start: &State, h: f64, params: &SchemeParams) -> (f64, f64) {
    let done = run_scheme(model, start, 0.2, h, params);
    let crosses = done.keep.frames.iter().any(|f| (PARADOX[0]..PARADOX[1]).contains(&f.q[2]));
    assert!(crosses && done.state.q[2] > PARADOX[1], "{params:?}");
    (done.keep.frames.iter().map(|f| f.impulse).sum(), done.state.q[2])
}

/// From outside the interval the rod is led to the singular point p = b = 0, crosses the interval there and lifts off. Where p is nearly zero, errors
/// of a velocity give impulses many times larger: with large steps they are bounded by what stops the slip, with small ones all schemes agree.
#[test]
fn rod_passes_the_singular_point_with_bounded_impulses() {
    let model = model(FRICTION).unwrap();
    for (angle, rate, slip) in [(0.8, 3.0, 8.0), (0.9, 3.2, 6.0), (0.95, SINGULAR_RATE, 4.0)] {
        assert!(angle < PARADOX[0] && coefficients(FRICTION, angle, rate).0 > 0.0);
        let start = sliding(angle, rate, slip);
        let reference = total_impulse(&model, &start, 2.5e-5, &SchemeParams::default());
        // what stops the slip at the angle where it takes most, and the weight
        let bound = stopping_impulse(FRAC_PI_4, slip) + 9.81 * 0.2;
        for params in schemes(&model) {
            // a step that does not converge is reported, and is no passage
            let coarse = [2e-3, 1e-3, 5e-4].map(|h| match try_scheme(&model, &start, 0.2, h, &params) {
                Ok(_) => total_impulse(&model, &start, h, &params).0,
                Err(Ending::Failed(RunError::NotConverged { .. })) if matches!(params, SchemeParams::ThetaGap(_)) => f64::NAN,
                Err(other) => panic!("{params:?}: {other:?}"),
            });
            // a scheme that lets contacts penetrate before they close needs smaller steps
            let h = if matches!(params, SchemeParams::Prox(_)) { 5e-6 } else { 5e-5 };
            let fine = total_impulse(&model, &start, h, &params);
            println!("{:16} a = {angle}: {coarse:.4?}, {fine:.4?}, reference {reference:.4?}", params.entry().name);
            assert!(coarse.iter().all(|&p| p < bound || p.is_nan()), "{params:?}: {coarse:?}");
            // 0.01 rad is 0.03 N·s; what schemes of several steps call the impulse of a step counts forces of the steps before
            assert!((fine.0 - reference.0).abs() < 0.1 && (fine.1 - reference.1).abs() < 0.01, "{params:?}: {fine:?}, {reference:?}");
        }
    }
}

fn run_with(model: &Model, state: &State, params: &SchemeParams, kind: FrictionSolverKind) -> (Outcome, Keep, State) {
    let (mut state, mut keep) = (state.clone(), Keep::default());
    let solver = FrictionSolverParams { kind, max_iterations: 1000, ..FrictionSolverParams::default() };
    let mut memory = StepMemory::new(model, &solver).unwrap();
    let strategy =
        TimeStepping { scheme: params.build(), step: 1e-3, end: 0.1, on_failure: OnFailure::Warn, record_every: 1, record_interval: None };
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    (outcome, keep, state)
}

/// Runs a body in a wedge by all schemes and solvers: each ends with a status and finite numbers, schemes of one step
/// with bounded impulses. Returns their largest velocity at the end.
fn bounded(name: &str, model: &Model, state: &State, kinds: &[FrictionSolverKind], bound: f64) -> f64 {
    let mut fastest = 0.0_f64;
    for params in schemes(model) {
        for &kind in kinds {
            let (outcome, keep, end) = run_with(model, state, &params, kind);
            let largest = keep.frames.iter().fold(0.0, |m: f64, f| m.max(f.impulse));
            let c = &outcome.certificate;
            println!(
                "{name}: {:16} {:24} largest impulse {largest:.3e}, unconverged {}, residual {:.1e}, end {:?}",
                params.entry().name,
                kind.name(),
                c.unconverged,
                c.max_residual,
                end.v
            );
            let at = format!("{name}, {params:?}, {kind:?}");
            assert!(matches!(outcome.ending, Ending::Finished), "{at}: {:?}", outcome.ending);
            assert!(end.q.iter().chain(&end.v).all(|x| x.is_finite()) && largest.is_finite(), "{at}");
            // any stress of the contacts against each other is a solution, and does no work: how much of it there is depends on the solver, and for
            // schemes of several steps on the steps before; what these choose is of the size of the momentum
            let one_step = matches!(params, SchemeParams::MoreauJean(_) | SchemeParams::StewartTrinkle(_) | SchemeParams::AnitescuPotra(_));
            let modest = kind != FrictionSolverKind::InteriorPoint && c.unconverged == 0;
            assert!(!one_step || largest < if modest { bound } else { 1e7 }, "{at}: {largest}");
            // what did not converge is told
            let told = keep.events.iter().filter(|e| e.kind == EventKind::SolveNotConverged).count();
            assert_eq!(told, c.unconverged, "{at}");
            if one_step {
                assert!(c.contact_gain < 1e-2, "{at}: {c:?}");
                fastest = end.v.iter().fold(fastest, |m, v| m.max(v.abs()));
            }
        }
    }
    fastest
}

const SPATIAL: [FrictionSolverKind; 6] = [
    FrictionSolverKind::Auto,
    FrictionSolverKind::Nsgs,
    FrictionSolverKind::StewartTrinkle,
    FrictionSolverKind::InteriorPoint,
    FrictionSolverKind::NewtonAlartCurnier,
    FrictionSolverKind::Admm,
];

#[test]
fn particle_in_a_groove_whose_friction_cone_is_not_closed() {
    let at = |v: [f64; 3]| State { t: 0.0, q: vec![0.0, 0.0, 0.0], v: v.to_vec(), ..State::default() };
    let heavy = wedges::particle_in_groove(true).unwrap();
    for v in [[1.0, 0.0, 0.0], [1.0, 0.3, -0.5], [-2.0, -0.5, 0.1]] {
        bounded("groove", &heavy, &at(v), &SPATIAL, 20.0);
    }
    let light = wedges::particle_in_groove(false).unwrap();
    for v in [[1.0, 0.0, 0.0], [1.0, 0.0, -1e-9], [1.0, 1e-6, -1e-12]] {
        bounded("weightless", &light, &at(v), &SPATIAL, 20.0);
    }
}

#[test]
fn disc_jams_between_walls() {
    let half = 0.3_f64;
    let model = wedges::disc_between_walls(half, 0.5).unwrap();
    assert!(0.5 > half.tan());
    let height = wedges::RADIUS / half.sin();
    let kinds = [&SPATIAL[..], &[FrictionSolverKind::Lemke, FrictionSolverKind::Enumeration]].concat();
    for v in [[0.0, -1.0, 0.0], [0.3, -2.0, 5.0], [0.0, 0.0, 20.0]] {
        let state = State { t: 0.0, q: vec![0.0, height + 1e-3, 0.0], v: v.to_vec(), ..State::default() };
        let fastest = bounded("disc", &model, &state, &kinds, 40.0);
        assert!(fastest < 1e-4, "the disc is not jammed: {fastest}");
    }
}

/// No impact is told where there is none without a collision.
#[test]
fn ordinary_sliding_and_impacts_are_not_told_as_paradoxes() {
    let (block, toy) = (sliding_block::problem().unwrap(), woodpecker::problem().unwrap());
    let rod = model(0.9).unwrap();
    let cases = [(&block.model, &block.state, 1.0, 1e-3), (&toy.model, &toy.state, 0.1, 1e-4), (&rod, &sliding(1.1, 0.0, 2.0), 0.3, 1e-3)];
    for (model, state, end, step) in cases {
        for params in schemes(model) {
            let done = run_scheme(model, state, end, step, &params);
            let told = done.keep.events.iter().filter(|e| e.kind == EventKind::ImpactWithoutCollision).count();
            assert_eq!(told, 0, "{params:?}");
            assert!(!done.keep.events.is_empty());
        }
    }
}
