//! How runs end: step counts, interruption, failures, recorded frames.

use crate::support::Keep;
use carom_dynamics::problems::bouncing_ball;
use carom_dynamics::report::EventKind;
use carom_dynamics::schemes::{MoreauJean, MoreauJeanParams};
use carom_dynamics::strategies::{Continue, Ending, Observers, OnFailure, Outcome, Progress, Strategy, TimeStepping};
use carom_dynamics::systems::{Lagrangian, LagrangianText};
use carom_dynamics::{Model, RunError, State, StepMemory};
use carom_solvers::FrictionSolverParams;

fn run(model: &Model, state: &mut State, settings: &TimeStepping, watch: &mut dyn FnMut(&Progress) -> Continue) -> (Outcome, Keep) {
    let (mut keep, mut memory) = (Keep::default(), StepMemory::new(model, &FrictionSolverParams::default()).unwrap());
    let outcome = settings.run(model, state, &mut memory, Observers { recorder: &mut keep, watch });
    (outcome, keep)
}

fn settings(step: f64, end: f64) -> TimeStepping {
    TimeStepping {
        scheme: Box::new(MoreauJean::default()),
        step,
        end,
        on_failure: OnFailure::Stop,
        record_every: 10,
        record_interval: None,
    }
}

/// The first and the last state are recorded, the end time is met exactly, the last step is shortened.
#[test]
fn frames_and_times() {
    let problem = bouncing_ball::problem(0.9).unwrap();
    for (step, end, frames, steps) in [(0.01, 1.0, 11, 100), (0.01, 0.255, 4, 26), (0.3, 0.1, 2, 1), (0.01, 0.0, 1, 0), (0.1, 0.3, 2, 3)] {
        let mut state = problem.state.clone();
        let (outcome, keep) = run(&problem.model, &mut state, &settings(step, end), &mut |_| Continue::Yes);
        assert!(matches!(outcome.ending, Ending::Finished));
        assert_eq!((keep.frames.len(), outcome.certificate.steps, keep.finished), (frames, steps, 1), "{step} {end}");
        assert_eq!((keep.frames[0].t, keep.frames[frames - 1].t, state.t), (0.0, end, end));
    }
    assert!(settings(0.0, 1.0).validate(0.0).is_err() && settings(f64::NAN, 1.0).validate(0.0).is_err());
    assert!(settings(0.1, 1.0).validate(2.0).is_err() && settings(0.1, 1.0).validate(0.0).is_ok());
}

/// Frames at an interval are the ends of the steps that reach their times; a multiple of the step gives the frames of `every`.
#[test]
fn frames_at_an_interval() {
    let problem = bouncing_ball::problem(0.9).unwrap();
    let times = |every: usize, interval: Option<f64>| {
        let settings = TimeStepping { record_every: every, record_interval: interval, ..settings(0.01, 0.255) };
        let (_, keep) = run(&problem.model, &mut problem.state.clone(), &settings, &mut |_| Continue::Yes);
        keep.frames.iter().map(|frame| frame.t).collect::<Vec<f64>>()
    };
    assert_eq!(times(0, Some(0.05)), times(5, None));
    // due at 0.033, 0.066, …: the first end of a step at or after each
    let expected = [0.0, 0.04, 0.07, 0.10, 0.14, 0.17, 0.20, 0.24, 0.255];
    let found = times(0, Some(0.033));
    assert_eq!(found.len(), expected.len(), "{found:?}");
    // times are sums of steps, rounded
    assert!(found.iter().zip(expected).all(|(t, expected)| (t - expected).abs() < 1e-12), "{found:?}");
    // shorter than a step: every step; both: either is enough
    assert_eq!(times(0, Some(0.004)), times(1, None));
    assert_eq!(times(10, Some(0.05)), times(5, None));
    assert!(TimeStepping { record_interval: Some(0.0), ..settings(0.1, 1.0) }.validate(0.0).is_err());
}

#[test]
fn a_stopped_run_keeps_its_last_state() {
    let problem = bouncing_ball::problem(0.9).unwrap();
    let mut state = problem.state.clone();
    let mut watch = |progress: &Progress| if progress.step == 37 { Continue::Stop } else { Continue::Yes };
    let (outcome, keep) = run(&problem.model, &mut state, &settings(0.01, 1.0), &mut watch);
    assert!(matches!(outcome.ending, Ending::Interrupted));
    assert_eq!((outcome.certificate.steps, keep.finished), (37, 1));
    assert!((keep.frames.last().unwrap().t - 0.37).abs() < 1e-12);
}

/// Each bounce closes and opens the contact once.
#[test]
fn contact_events_are_told() {
    let problem = bouncing_ball::problem(0.9).unwrap();
    let (_, keep) = run(&problem.model, &mut problem.state.clone(), &settings(0.005, 2.5), &mut |_| Continue::Yes);
    let kinds: Vec<EventKind> = keep.events.iter().map(|e| e.kind).collect();
    let (closed, opened) = (EventKind::ContactClosed, EventKind::ContactOpened);
    assert_eq!(kinds, [closed, opened, closed, opened, closed, opened]);
    assert!(keep.events.iter().all(|e| e.name == "floor"));
    assert!((keep.events[2].t - 1.270).abs() < 1e-12 && (keep.events[2].impulse - 7.597_845).abs() < 1e-10);
}

/// A force that leaves the real numbers stops the run at its last finite state, with the formula's name and the time.
#[test]
fn non_finite_force_is_named() {
    let text = LagrangianText {
        coordinates: vec!["x".into()],
        kinetic: "x_dot^2/2".into(),
        forces: vec![("x".into(), "ln(1 - t)".into())],
        ..LagrangianText::default()
    };
    let model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    let mut state = State { t: 0.0, q: vec![0.0], v: vec![0.0], ..State::default() };
    let (outcome, keep) = run(&model, &mut state, &settings(0.01, 2.0), &mut |_| Continue::Yes);
    let Ending::Failed(error) = outcome.ending else { panic!("{:?}", outcome.ending) };
    let message = error.to_string();
    assert!(message.contains("the force formula on x") && message.contains("t = 0.99"), "{message}");
    assert!((keep.frames.last().unwrap().t - 0.99).abs() < 1e-9 && state.v[0].is_finite());
}

/// Newton's iteration that may not iterate enough is reported, warned about, or mended by halving the step.
#[test]
fn unconverged_steps_follow_the_policy() {
    let text = LagrangianText {
        coordinates: vec!["x".into()],
        kinetic: "x_dot^2/2".into(),
        potential: "5*x^4".into(),
        ..LagrangianText::default()
    };
    let model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    let outcome = |on_failure: OnFailure| {
        let params = MoreauJeanParams { newton_max_iterations: 2, newton_tolerance: 1e-9, ..MoreauJeanParams::default() };
        let settings = TimeStepping { scheme: Box::new(MoreauJean { params }), on_failure, ..settings(0.1, 1.0) };
        let mut state = State { t: 0.0, q: vec![1.0], v: vec![0.0], ..State::default() };
        let (outcome, keep) = run(&model, &mut state, &settings, &mut |_| Continue::Yes);
        (outcome, keep, state)
    };
    let (stopped, _, state) = outcome(OnFailure::Stop);
    assert!(matches!(stopped.ending, Ending::Failed(RunError::NotConverged { what: "Newton's iteration", .. })), "{:?}", stopped.ending);
    assert!(state.t < 1.0);
    let (warned, keep, _) = outcome(OnFailure::Warn);
    assert!(matches!(warned.ending, Ending::Finished));
    assert_eq!(warned.certificate.unconverged, keep.events.iter().filter(|e| e.kind == EventKind::SolveNotConverged).count());
    assert!(warned.certificate.unconverged > 0);
    let (halved, _, state) = outcome(OnFailure::HalveStep);
    assert!(matches!(halved.ending, Ending::Finished), "{:?}", halved.ending);
    let c = &halved.certificate;
    assert!(c.halved_steps > 0 && c.unconverged == 0 && state.t == 1.0, "{c:?}");
    // every halving replaces one step by two
    assert_eq!(c.steps, 10 + c.halved_steps);
}

/// A gap that leaves the real numbers ends the run at the state where it was found, not at an earlier one.
#[test]
fn non_finite_gap_keeps_the_last_state() {
    let text = LagrangianText { coordinates: vec!["x".into()], kinetic: "x_dot^2/2".into(), ..LagrangianText::default() };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    carom_dynamics::problems::add_stop(&mut model, "stop", "2 - sqrt(1 - x)", 0.0).unwrap();
    let mut state = State { t: 0.0, q: vec![0.0], v: vec![1.0], ..State::default() };
    let (outcome, keep) = run(&model, &mut state, &settings(0.125, 2.0), &mut |_| Continue::Yes);
    let Ending::Failed(error) = outcome.ending else { panic!("{:?}", outcome.ending) };
    assert!(error.to_string().contains("gap of \"stop\""), "{error}");
    // x = t: the gap is real up to x = 1 and its derivative infinite there
    assert_eq!((state.t, state.q[0]), (1.0, 1.0));
    assert_eq!(keep.frames.last().unwrap().q[0], 1.0);
}

/// A step that fails just when a contact closes: the last state is recorded without the contacts of the failed step.
#[test]
fn failure_while_a_contact_closes_records_the_last_state() {
    let text = LagrangianText {
        coordinates: vec!["x".into()],
        kinetic: "x_dot^2/2".into(),
        forces: vec![("x".into(), "0.001*sqrt(x + 0.001)".into())],
        ..LagrangianText::default()
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    carom_dynamics::problems::add_stop(&mut model, "floor", "x", 0.0).unwrap();
    let mut state = State { t: 0.0, q: vec![0.33], v: vec![-1.0], ..State::default() };
    let (outcome, keep) = run(&model, &mut state, &settings(0.1, 1.0), &mut |_| Continue::Yes);
    assert!(matches!(outcome.ending, Ending::Failed(_)), "{:?}", outcome.ending);
    let last = keep.frames.last().unwrap();
    assert!((last.t - 0.3).abs() < 1e-12 && last.q[0] == state.q[0] && last.impulse == 0.0, "{last:?}");
}
