//! Adaptive steps of first-order and mixed models.

use crate::first_order::theta;
use crate::mixed_first_order::driven_mass;
use crate::support::{Done, Keep, distance};
use carom_dynamics::first_order::FirstOrderSource;
use carom_dynamics::integrators::IntegratorParams;
use carom_dynamics::problems::{FirstOrderProblem, add_stop, circuits, filippov};
use carom_dynamics::report::EventKind;
use carom_dynamics::strategies::adaptive::Control;
use carom_dynamics::strategies::{Adaptive, AdaptiveParams, Continue, Ending, Observers, OnFailure, Strategy};
use carom_dynamics::systems::{Coordinate, Linear};
use carom_dynamics::{Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

fn try_adaptive(model: &Model, state: &State, end: f64, weight: f64, params: AdaptiveParams) -> Result<Done, Ending> {
    let strategy = Adaptive {
        scheme: theta(weight, 1.0).build(),
        params,
        integrator: IntegratorParams::default(),
        first_step: None,
        end,
        on_failure: OnFailure::Stop,
        record_every: 1,
        record_interval: None,
    };
    let (mut state, mut keep) = (state.clone(), Keep::default());
    let mut memory = StepMemory::new(model, &FrictionSolverParams { tolerance: 1e-13, ..Default::default() }).unwrap();
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    match outcome.ending {
        Ending::Finished => Ok(Done { state, certificate: outcome.certificate, keep }),
        other => Err(other),
    }
}

fn adaptive(model: &Model, state: &State, end: f64, weight: f64, (control, tolerance): (Control, f64)) -> Done {
    let params = AdaptiveParams { control, tolerance, min_step: 1e-9, ..AdaptiveParams::default() };
    try_adaptive(model, state, end, weight, params).unwrap_or_else(|ending| panic!("{ending:?}"))
}

/// ẋ = −50 (x − cos t): a fast transient, then a slow motion. Steps grow by a large factor, and the error follows the tolerance.
#[test]
fn steps_follow_the_motion() {
    let source =
        FirstOrderSource { states: vec![Coordinate::new("x", "")], rates: vec!["-50*(x - cos(t))".into()], ..FirstOrderSource::default() };
    let problem = FirstOrderProblem::new(&source, &[0.0], 2.0).unwrap();
    let exact = |t: f64| (2500.0 * t.cos() + 50.0 * t.sin()) / 2501.0 - 2500.0 / 2501.0 * (-50.0 * t).exp();
    for control in [Control::Halving, Control::Extrapolation] {
        let mut errors = Vec::new();
        for tolerance in [1e-4, 1e-6] {
            let done = adaptive(&problem.model, &problem.state, 2.0, 0.5, (control, tolerance));
            let worst = done.keep.frames.iter().map(|frame| (frame.x[0] - exact(frame.t)).abs()).fold(0.0, f64::max);
            // local errors add up over a few times the time constant
            assert!(worst < 30.0 * tolerance, "{control:?}: {worst} at {tolerance}");
            errors.push(worst);
            let steps = done.certificate.adaptive.as_ref().unwrap();
            assert!(steps.largest > 10.0 * steps.smallest, "{steps:?}");
        }
        assert!(errors[0] > 10.0 * errors[1], "{control:?}: {errors:?}");
    }
}

/// A Filippov system that meets its surface, slides and leaves: both changes are seen and passed, and the motion is that of the exact solution to the sum of the tolerances.
#[test]
fn changes_of_pieces_are_passed_with_small_steps() {
    let problem = filippov::sliding().unwrap();
    for control in [Control::Halving, Control::Extrapolation] {
        let done = adaptive(&problem.model, &problem.state, problem.end, 1.0, (control, 1e-6));
        let exact = problem.exact.as_ref().unwrap()(problem.end);
        // each step is within 1e-6 (1 + |x|), |x| ≤ 7, and nothing damps the sum of the errors
        let bound = 8e-6 * done.certificate.steps as f64;
        assert!(distance(&done.state.x, &exact) < bound, "{control:?}: {:?} {exact:?} {bound}", done.state.x);
        let changes: Vec<f64> = done.keep.events.iter().filter(|e| e.kind == EventKind::ModeChanged).map(|e| e.t).collect();
        assert_eq!(changes.len(), 2, "{control:?}: {changes:?}");
        for (change, exact) in changes.iter().zip(filippov::TIMES) {
            assert!((change - exact).abs() < 1e-2, "{control:?}: {changes:?}");
        }
    }
}

/// The diode bridge of the reference, by adaptive steps: the same voltage and current to the tolerance.
#[test]
fn the_diode_bridge_is_reached_by_adaptive_steps() {
    let problem = circuits::diode_bridge().unwrap();
    let done = adaptive(&problem.model, &problem.state, 1e-3, 0.5, (Control::Halving, 1e-7));
    let fine = crate::support::run_scheme(&problem.model, &problem.state, 1e-3, 1e-8, &theta(0.5, 1.0));
    // volts of order 10: relative 1e-7 per step, some thousand steps, whose errors are damped by the load
    assert!(distance(&done.state.x, &fine.state.x) < 1e-3, "{:?} {:?}", done.state.x, fine.state.x);
    assert_eq!(done.certificate.unconverged, 0);
}

/// A ball lifted off a floor by a force that a state ramps up: mechanical and first-order errors are controlled together.
#[test]
fn mixed_models_take_adaptive_steps() {
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
    let params = AdaptiveParams { tolerance: 1e-7, min_step: 1e-9, max_step: Some(1e-2), ..AdaptiveParams::default() };
    let done = try_adaptive(&model, &start, 2.0, 0.5, params).unwrap();
    // while the ball rests steps are the longest, and lift-off may go unseen for half of a half of one: 10 (h/4)²/2 of speed over 1 s
    let bound = 5.0 * 2.5e-3_f64.powi(2) + 1e-7 * done.certificate.steps as f64;
    assert!((done.state.q[0] - 10.0 / 6.0).abs() < bound, "{:?} {bound}", done.state);
    assert!((done.state.x[0] - 20.0).abs() < 1e-9);
}

/// L i' = U − R i − k v, m v' = k i: fast current, slow speed, against the exact solution at the end.
#[test]
fn the_fast_and_the_slow_part_share_a_step() {
    let (model, start, exact) = driven_mass(0.005);
    let done = adaptive(&model, &start, 1.0, 0.5, (Control::Halving, 1e-6));
    // the sum of the tolerances of the steps, each 1e-6 (1 + |x|)
    let bound = 5e-6 * done.certificate.steps as f64;
    assert!((done.state.v[0] - exact[0]).abs() < bound && (done.state.x[0] - exact[1]).abs() < bound, "{:?} {exact:?}", done.state);
    let steps = done.certificate.adaptive.as_ref().unwrap();
    assert!(steps.largest > 5.0 * steps.smallest, "{steps:?}");
}

/// `high-order` integrates between contacts by a method of smooth mechanics, which knows no first-order states.
#[test]
fn high_order_control_is_refused() {
    let problem = circuits::diode_bridge().unwrap();
    let params = AdaptiveParams { control: Control::HighOrder, ..AdaptiveParams::default() };
    let refused = try_adaptive(&problem.model, &problem.state, 1e-3, 0.5, params).err().map(|ending| format!("{ending:?}")).unwrap();
    assert!(refused.contains("first-order systems"), "{refused}");
}
