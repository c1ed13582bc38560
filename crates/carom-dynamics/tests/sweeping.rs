//! Sweeping processes and Filippov systems: exact solutions by time-stepping and by located events.

use crate::first_order::theta;
use crate::support::{Done, Keep, distance, fitted_order, run_scheme};
use carom_dynamics::events::EventParams;
use carom_dynamics::first_order::{MovingSet, NamedSet, SweepingSource};
use carom_dynamics::integrators::IntegratorParams;
use carom_dynamics::problems::{FirstOrderProblem, filippov, sweeping};
use carom_dynamics::report::EventKind;
use carom_dynamics::schemes::{SchemeParams, take_step};
use carom_dynamics::strategies::{Continue, Ending, EventDriven, Observers, Strategy};
use carom_dynamics::systems::Coordinate;
use carom_dynamics::{State, StepMemory};
use carom_solvers::FrictionSolverParams;

fn run(problem: &FirstOrderProblem, step: f64, params: &SchemeParams) -> Done {
    run_scheme(&problem.model, &problem.state, problem.end, step, params)
}

fn error_at_end(problem: &FirstOrderProblem, x: &[f64]) -> f64 {
    distance(x, &problem.exact.as_ref().unwrap()(problem.end))
}

pub fn located(problem: &FirstOrderProblem, tolerance: f64) -> Done {
    let integrator = IntegratorParams { tolerance, ..IntegratorParams::default() };
    let strategy = EventDriven { integrator, events: EventParams::default(), end: problem.end, record_every: 1, record_interval: None };
    let (mut state, mut keep) = (problem.state.clone(), Keep::default());
    let mut memory = StepMemory::new(&problem.model, &FrictionSolverParams::default()).unwrap();
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(&problem.model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    assert!(matches!(outcome.ending, Ending::Finished), "{:?}", outcome.ending);
    Done { state, certificate: outcome.certificate, keep }
}

/// Catching-up is of order 1 (Moreau1999 §4), its θ-version with θ = 1/2 of order 2 on a smooth contact.
#[test]
fn catching_up_converges_at_its_order() {
    for (params, expected) in [(theta(1.0, 1.0), 1.0), (theta(0.5, 0.5), 2.0)] {
        for problem in [sweeping::turning_edge("2*t", None).unwrap(), sweeping::dragged_disk().unwrap()] {
            // even numbers of steps: with θ = 1/2 a step is a reflection, whose error alternates
            let steps = [80.0, 160.0, 320.0, 640.0].map(|n| problem.end / n);
            let errors: Vec<f64> = steps.iter().map(|&h| error_at_end(&problem, &run(&problem, h, &params).state.x)).collect();
            let order = fitted_order(&steps, &errors);
            assert!((order - expected).abs() < 0.2, "{order} {errors:?}");
        }
    }
}

#[test]
fn a_jump_goes_to_the_nearest_point() {
    let problem = sweeping::jumping_rectangle().unwrap();
    // steps that meet the jump: catching-up is exact, since the sides move along the axes
    let done = run(&problem, 0.01, &theta(1.0, 1.0));
    assert!(error_at_end(&problem, &done.state.x) < 1e-14);
    let done = located(&problem, 1e-8);
    assert!(error_at_end(&problem, &done.state.x) < 1e-12, "{:?}", done.state.x);
    assert!(done.keep.events.iter().any(|e| e.kind == EventKind::StateJump && e.t == 1.0));
}

/// The edge lets go at a known time; the motion before it is integrated to the tolerance.
#[test]
fn located_events_follow_the_involute() {
    let mut problem = sweeping::turning_edge("2*t", None).unwrap();
    let done = located(&problem, 1e-10);
    assert!(error_at_end(&problem, &done.state.x) < 1e-8, "{:?}", done.state.x); // some hundred steps at 1e-10
    problem.end = 2.2;
    let done = located(&problem, 1e-10);
    let release = done.keep.events.iter().find(|e| e.kind == EventKind::ModeChanged && e.note.ends_with("free")).unwrap();
    assert!((release.t - sweeping::release()).abs() < 1e-8, "{}", release.t);
    assert!(error_at_end(&problem, &done.state.x) < 1e-8);
}

/// The path does not depend on the timing: C(φ(t)) with steps of t gives, step by step, the points of C(s) with steps of s = φ(t).
#[test]
fn the_path_is_independent_of_the_rate() {
    let plain = sweeping::turning_edge("2*t", None).unwrap();
    let turned = sweeping::turning_edge("2*(0.3*t + 0.2*t^3)", None).unwrap();
    let phi = |t: f64| 0.3 * t + 0.2 * t * t * t;
    let scheme = theta(1.0, 1.0).build();
    let walk = |problem: &FirstOrderProblem, times: &dyn Fn(usize) -> f64| {
        let mut memory = StepMemory::new(&problem.model, &FrictionSolverParams::default()).unwrap();
        let mut state = problem.state.clone();
        let mut path = Vec::new();
        for k in 1..=150 {
            let h = times(k) - state.t;
            take_step(&*scheme, &problem.model, &mut state, &mut memory, h).unwrap();
            state.t = times(k);
            path.push(state.x.clone());
        }
        path
    };
    let a = walk(&turned, &|k| 0.01 * k as f64);
    let b = walk(&plain, &|k| phi(0.01 * k as f64));
    for (a, b) in a.iter().zip(&b) {
        assert!(distance(a, b) < 1e-12, "{a:?} {b:?}");
    }
}

/// Two points in one moving disk never part: monotone normal cones (Moreau1999 (2)). And the play operator moves no faster, nor farther, than its set.
#[test]
fn solutions_do_not_part_and_move_no_faster_than_the_set() {
    let problem = sweeping::dragged_disk().unwrap();
    let other = FirstOrderProblem { state: State { x: vec![0.1, -0.3], ..State::default() }, ..sweeping::dragged_disk().unwrap() };
    let (h, scheme) = (0.01, theta(1.0, 1.0).build());
    let mut memories = [&problem, &other].map(|p| StepMemory::new(&p.model, &FrictionSolverParams::default()).unwrap());
    let mut states = [problem.state.clone(), other.state.clone()];
    let size = |a: &[f64], b: &[f64]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let mut apart = size(&states[0].x, &states[1].x);
    let mut length = 0.0;
    for _ in 0..200 {
        let before = states[0].x.clone();
        for ((state, memory), p) in states.iter_mut().zip(&mut memories).zip([&problem, &other]) {
            take_step(&*scheme, &p.model, state, memory, h).unwrap();
        }
        let now = size(&states[0].x, &states[1].x);
        assert!(now <= apart + 1e-13, "{now} {apart}"); // round-off
        apart = now;
        let moved = size(&states[0].x, &before);
        assert!(moved <= h + 1e-13); // |ȧ| = 1
        length += moved;
    }
    assert!(length <= 2.0);
}

/// The penalised process is off by 1/κ of the force.
#[test]
fn the_penalised_process_converges_to_the_process() {
    let stiffnesses = [1e2, 1e3, 1e4, 1e5];
    let h = 1e-4;
    let exact = run(&sweeping::turning_edge("2*t", None).unwrap(), h, &theta(1.0, 1.0)).state.x;
    let errors: Vec<f64> = stiffnesses
        .iter()
        .map(|&kappa| distance(&run(&sweeping::turning_edge("2*t", Some(kappa)).unwrap(), h, &theta(1.0, 1.0)).state.x, &exact))
        .collect();
    let order = fitted_order(&stiffnesses, &errors);
    assert!((order + 1.0).abs() < 0.1, "{order} {errors:?}");
}

/// The penalised process of two half-planes whose normals are 60° apart, carried along by `translation`.
fn corner(kappa: f64, translation: &[&str]) -> SweepingSource {
    let edge = |name: &str, normal: [&str; 2]| NamedSet {
        name: name.into(),
        set: MovingSet::HalfSpace { normal: normal.map(str::to_owned).to_vec(), offset: "0".into() },
        translation: translation.iter().map(|&a| a.to_owned()).collect(),
    };
    SweepingSource {
        states: ["x", "y"].map(|name| Coordinate::new(name, "m")).to_vec(),
        sets: vec![edge("one", ["1", "0"]), edge("other", ["0.5", "sqrt(3)/2"])],
        stiffness: Some(kappa),
        ..SweepingSource::default()
    }
}

/// Where the nearest point of the whole set is its corner, Yosida's process goes straight to it, u = e^(−κt) u₀: backward Euler gives u₀/(1 + κh)ᵏ to rounding. Penalties of single constraints would bend
/// the way and go up to 1.5 times as fast.
#[test]
fn the_penalised_process_goes_straight_to_a_corner() {
    let (kappa, h, start) = (20.0, 1e-3, [1.0, 1.0]);
    let problem = FirstOrderProblem::new(&corner(kappa, &[]).system().unwrap(), &start, 0.1).unwrap();
    let x = run(&problem, h, &theta(1.0, 1.0)).state.x;
    let discrete = (1.0 + kappa * h).powi(-100);
    // a hundred roundings
    assert!(distance(&x, &start.map(|u| u * discrete)) < 1e-13, "{x:?} {discrete}");
    let steps = [4e-3, 2e-3, 1e-3];
    let exact = start.map(|u| u * (-kappa * 0.1_f64).exp());
    let errors: Vec<f64> = steps.iter().map(|&h| distance(&run(&problem, h, &theta(1.0, 1.0)).state.x, &exact)).collect();
    let order = fitted_order(&steps, &errors);
    assert!((order - 1.0).abs() < 0.2, "{order} {errors:?}");
}

/// The corner moves with velocity a: the point follows at −a/κ from it, off the process by the order −1 of κ.
#[test]
fn the_penalised_process_follows_a_corner_at_a_distance_of_one_over_kappa() {
    let stiffnesses = [1e2, 1e3, 1e4];
    for kappa in stiffnesses {
        // −a = (1, 1) is in the cone of the normals (1, 0) and (1, √3)/2
        let problem = FirstOrderProblem::new(&corner(kappa, &["-t", "-t"]).system().unwrap(), &[0.0, 0.0], 1.0).unwrap();
        let x = run(&problem, 1e-2, &theta(1.0, 1.0)).state.x;
        // backward Euler is exact for a linear motion; what is left of the start is (1 + κh)⁻¹⁰⁰ < 1e-30 of 1/κ
        let exact = -1.0 + 1.0 / kappa;
        assert!(distance(&x, &[exact, exact]) < 1e-13, "{x:?} {exact}");
    }
}

/// The same for a corner between a disk and a line, whose nearest point is an unknown of its own.
#[test]
fn the_nearest_point_of_curved_sets_is_found() {
    let kappa = 20.0;
    let set = |name: &str, set: MovingSet| NamedSet { name: name.into(), set, translation: Vec::new() };
    let disk = MovingSet::Ball { centre: vec!["0".into(), "0".into()], radius: "1".into() };
    let line = MovingSet::HalfSpace { normal: vec!["0".into(), "1".into()], offset: "0".into() };
    let source = SweepingSource { sets: vec![set("disk", disk), set("line", line)], ..corner(kappa, &[]) };
    // beyond the corner (1, 0): its normals are (1, 0) and (0, 1)
    let problem = FirstOrderProblem::new(&source.system().unwrap(), &[2.0, 1.0], 0.1).unwrap();
    let x = run(&problem, 1e-3, &theta(1.0, 1.0)).state.x;
    let rest = (1.0 + kappa * 1e-3_f64).powi(-100);
    // Newton's tolerance of 1e-12 per step
    assert!(distance(&x, &[1.0 + rest, rest]) < 1e-10, "{x:?}");
    // beyond the disk alone: straight to the centre's side of the circle
    let problem = FirstOrderProblem::new(&source.system().unwrap(), &[1.2, -1.6], 0.1).unwrap();
    let x = run(&problem, 1e-3, &theta(1.0, 1.0)).state.x;
    let length = 1.0 + rest;
    assert!(distance(&x, &[0.6 * length, -0.8 * length]) < 1e-10, "{x:?}");
}

/// Meets the surface, slides, leaves: by implicit steps of order 1 with no chattering, by located events to the tolerance.
#[test]
fn a_filippov_system_slides() {
    let problem = filippov::sliding().unwrap();
    let steps = [0.02, 0.01, 0.005];
    let mut errors = Vec::new();
    for &h in &steps {
        let done = run(&problem, h, &theta(1.0, 1.0));
        errors.push(error_at_end(&problem, &done.state.x));
        // met and left: two changes, none between them
        let changes: Vec<f64> = done.keep.events.iter().filter(|e| e.kind == EventKind::ModeChanged).map(|e| e.t).collect();
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert!((changes[0] - 0.5).abs() <= 2.0 * h && (changes[1] - 2.0).abs() <= 2.0 * h, "{changes:?}");
    }
    let order = fitted_order(&steps, &errors);
    assert!((order - 1.0).abs() < 0.25, "{order} {errors:?}");
    let done = located(&problem, 1e-10);
    let changes: Vec<_> = done.keep.events.iter().filter(|e| e.kind == EventKind::ModeChanged).collect();
    assert_eq!(changes.len(), 2, "{changes:?}");
    for (event, time) in changes.iter().zip(filippov::TIMES) {
        assert!((event.t - time).abs() < 1e-9, "{event:?}");
    }
    assert_eq!((changes[0].note.as_str(), changes[1].note.as_str()), ("at the lower bound → sliding", "sliding → at the upper bound"));
    assert!(error_at_end(&problem, &done.state.x) < 1e-8, "{:?}", done.state.x);
}

/// A surface that is crossed is not stuck to; one that repels is left, and the choice is told.
#[test]
fn surfaces_are_crossed_or_left() {
    let crossed = FirstOrderProblem::new(&filippov::switched([["0", "-1"], ["0", "-2"]]).unwrap(), &[0.0, 0.5], 1.0).unwrap();
    let done = located(&crossed, 1e-8);
    assert!(distance(&done.state.x, &[0.0, -1.0]) < 1e-9, "{:?}", done.state.x);
    let repels = FirstOrderProblem::new(&filippov::switched([["0", "1"], ["0", "-1"]]).unwrap(), &[0.0, 0.0], 1.0).unwrap();
    let done = located(&repels, 1e-8);
    assert!((done.state.x[1].abs() - 1.0).abs() < 1e-9, "{:?}", done.state.x);
    assert!(done.keep.events.iter().any(|e| e.kind == EventKind::OutcomeChosen));
}
