//! What runs with located events do besides contacts: events of the user, times, kinks of forces, touches, accumulations that stop a run.

use crate::located::{Located, final_modes, print_events, times};
use carom_dynamics::events::Accumulation;
use carom_dynamics::problems::{add_stop, bouncing_ball, painleve_rod, sliding_block};
use carom_dynamics::report::{ContactMode, EventKind};
use carom_dynamics::strategies::Ending;
use carom_dynamics::systems::Linear;
use carom_dynamics::user_events::{Direction, EventAction, UserEvent};
use carom_dynamics::{Model, RunError, State};

const G: f64 = 9.81;

/// A point that moves along y under a force by formula.
fn point(force: &str) -> Model {
    let system = Linear::new(vec!["y".into()], vec![1.0], vec![0.0], vec![0.0]).unwrap();
    Model::new(vec![Box::new(system.with_excitation(&[force.to_owned()], &[]).unwrap())]).unwrap()
}

fn event(name: &str, formula: &str, direction: Direction, action: EventAction) -> UserEvent {
    UserEvent { name: name.into(), formula: formula.into(), parameters: Vec::new(), direction, action }
}

/// The ball is highest half way between its impacts; crossings of a height are seen in the direction asked for; the last event ends the run.
#[test]
fn events_of_the_user_are_located() {
    let mut problem = bouncing_ball::problem(0.8).unwrap();
    problem.model.add_event(event("top", "y_dot", Direction::Falling, EventAction::Record)).unwrap();
    problem.model.add_event(event("up", "y - 0.1", Direction::Rising, EventAction::Record)).unwrap();
    problem.model.add_event(event("late", "t > 2", Direction::Both, EventAction::Stop)).unwrap();
    let done = Located::events(1e-10).run(&problem.model, &problem.state, 4.0);
    print_events(&done);
    let first = (2.0 / G).sqrt();
    let tops = times(&done, EventKind::UserEvent, "top");
    assert_eq!(tops.len(), 3);
    assert!((tops[0] - 1.8 * first).abs() < 1e-12 && (tops[1] - (2.6 + 0.64) * first).abs() < 1e-12, "{tops:?}");
    // y = 0.8 g t₁ s − g s²/2
    let speed = 0.8 * G * first;
    let rise = (speed - (speed * speed - 0.2 * G).sqrt()) / G;
    let ups = times(&done, EventKind::UserEvent, "up");
    assert!(ups.len() == 3 && (ups[0] - first - rise).abs() < 1e-11, "{ups:?}");
    assert!((done.state.t - 2.0).abs() < 1e-12, "{}", done.state.t);
}

/// A load that jumps, given by a time and by a kink of the formula: steps end there, and the parabolas on both sides are exact.
#[test]
fn integrators_begin_anew_where_loads_jump() {
    let exact = |t: f64| if t < 1.0 { 0.5 * t * t } else { 0.5 + (t - 1.0) - (t - 1.0).powi(2) };
    for force in ["if(t < 1, 1, -2)", "1 - 3*step(t - 1)"] {
        let mut model = point(force);
        model.add_time_event("load", 0.4).unwrap();
        let done = Located::events(1e-6).run(&model, &State { t: 0.0, q: vec![0.0], v: vec![0.0], ..State::default() }, 2.3);
        assert!((done.state.q[0] - exact(2.3)).abs() < 1e-13, "{force}: {} instead of {}", done.state.q[0], exact(2.3));
        assert_eq!(times(&done, EventKind::TimeEvent, "load"), [0.4]);
        assert!(
            done.keep.frames.iter().any(|frame| (frame.t - 1.0).abs() < 1e-12) && done.certificate.steps < 30,
            "{}",
            done.certificate.steps
        );
    }
}

/// |y| as a force: the kink at y = 0 is passed without loss of order.
#[test]
fn kinks_of_forces_are_found() {
    // ÿ = −|y|/y … as sign(y): parabolas joined at y = 0, period 4 √(2 y₀) from y₀ = 1
    let model = point("-sign(y)");
    let end = 4.0 * 2.0_f64.sqrt();
    let done = Located::events(1e-6).run(&model, &State { t: 0.0, q: vec![1.0], v: vec![0.0], ..State::default() }, end);
    assert!((done.state.q[0] - 1.0).abs() < 1e-12 && done.state.v[0].abs() < 1e-12, "{:?}", done.state);
}

/// A ball that just reaches the ceiling touches it without an impact; two stops that are reached together make one impact.
#[test]
fn touches_are_told_and_simultaneous_impacts_are_one() {
    let mut model = point("-9.81");
    add_stop(&mut model, "ceiling", "1 - y", 0.5).unwrap();
    let state = State { t: 0.0, q: vec![0.0], v: vec![(2.0 * G).sqrt()], ..State::default() };
    let done = Located::events(1e-10).run(&model, &state, 0.8);
    print_events(&done);
    let grazing = times(&done, EventKind::Grazing, "ceiling");
    assert!(grazing.len() == 1 && (grazing[0] - (2.0 / G).sqrt()).abs() < 1e-6, "{grazing:?}");
    assert!(times(&done, EventKind::Impact, "ceiling").is_empty());

    let zero = || vec![0.0; 4];
    let system = Linear::new(vec!["x".into(), "y".into()], vec![1.0, 0.0, 0.0, 2.0], zero(), zero()).unwrap();
    let mut model = Model::new(vec![Box::new(system.with_force(vec![-G, -2.0 * G]).unwrap())]).unwrap();
    add_stop(&mut model, "left", "x", 0.5).unwrap();
    add_stop(&mut model, "right", "y", 0.5).unwrap();
    let done = Located::events(1e-10).run(&model, &State { t: 0.0, q: vec![1.0; 2], v: vec![0.0; 2], ..State::default() }, 0.8);
    let report = done.certificate.event_driven.unwrap();
    assert_eq!((report.impacts, report.counts.get("impact").copied()), (1, Some(2)), "{report:?}");
}

/// Asked for, an accumulation ends the run with its contact and time; a run that does not get on is stopped with an explanation.
#[test]
fn accumulations_and_stalls_are_explained() {
    let problem = bouncing_ball::problem(0.5).unwrap();
    let mut how = Located::events(1e-10);
    how.events.accumulation = Accumulation::Stop;
    match how.try_run(&problem.model, &problem.state, 4.0) {
        Err(Ending::Failed(error @ RunError::Accumulates { end, .. })) => {
            assert!((end - 3.0 * (2.0 / G).sqrt()).abs() < 1e-10, "{end}");
            assert!(error.to_string().contains("\"floor\"") && error.to_string().contains("hybrid"), "{error}");
        }
        other => panic!("{:?}", other.map(|done| done.state)),
    }
    let problem = bouncing_ball::problem(0.9).unwrap();
    let mut how = Located::events(1e-10);
    how.events.most_events = 20;
    match how.try_run(&problem.model, &problem.state, 10.0) {
        Err(Ending::Failed(error @ RunError::HeldUp { .. })) => assert!(error.to_string().contains("\"floor\""), "{error}"),
        other => panic!("{:?}", other.map(|done| done.state)),
    }
}

/// Painlevé's rod comes to where no force is possible: an impact without collision, recorded, and no energy from nothing.
#[test]
fn painleve_rod_has_an_impact_without_collision() {
    let model = painleve_rod::model(painleve_rod::FRICTION).unwrap();
    let (angle, slip) = (1.1, 2.0);
    for how in [Located::events(1e-9), Located::hybrid(1e-9)] {
        let done = how.run(&model, &painleve_rod::sliding(angle, 1.0, slip), 0.2);
        print_events(&done);
        assert_eq!(times(&done, EventKind::ImpactWithoutCollision, "tip"), [0.0]);
        let impact = done.keep.events.iter().find(|event| event.kind == EventKind::Impact).unwrap();
        assert!((impact.impulse - painleve_rod::stopping_impulse(angle, slip)).abs() < 1e-9, "{}", impact.impulse);
        assert!(done.certificate.energy_error().abs() < 1e-7, "{}", done.certificate.energy_error());
        assert!(done.certificate.max_penetration < 1e-8, "{}", done.certificate.max_penetration);
    }
}

/// The first frame tells what contacts do at the start.
#[test]
fn the_initial_frame_has_the_modes() {
    let problem = sliding_block::problem().unwrap();
    let done = Located::events(1e-8).run(&problem.model, &problem.state, problem.end);
    assert_eq!(done.keep.frames[0].modes, [ContactMode::Sliding]);
    assert_eq!((done.keep.frames[0].t, final_modes(&done)), (0.0, vec![ContactMode::Sticking]));
}
