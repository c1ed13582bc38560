//! Runs over the edges of piecewise constraints and contacts: forces, velocities and accelerations on both sides.

use crate::edges::pieces;
use crate::located::{Located, final_modes, print_events, times};
use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::error::RecordError;
use carom_dynamics::events::EventParams;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams};
use carom_dynamics::problems::Problem;
use carom_dynamics::problems::edges::{
    OnPath, SPEED, flight_from_edge, parabola_plane, parabola_plane_at, parabola_plane_edge, plane_parabola, plane_parabola_at,
};
use carom_dynamics::recording::{Frame, Recorder};
use carom_dynamics::relations::CornerLaw;
use carom_dynamics::report::{ContactMode, Event, EventKind};
use carom_dynamics::strategies::{Continue, Ending, EventDriven, Observers, Strategy};
use carom_dynamics::systems::Linear;
use carom_dynamics::{Law, Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

type Road = fn(Law) -> Problem;
type Exact = fn(f64) -> OnPath;

/// Keeps (q, v, λ) of the frames.
#[derive(Default)]
struct Forces(Vec<(Vec<f64>, Vec<f64>, f64)>);

impl Recorder for Forces {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        let force = frame.contacts.first().map_or_else(|| frame.forces.first().copied().unwrap_or(0.0), |contact| contact.force[0]);
        self.0.push((frame.q.to_vec(), frame.v.to_vec(), force));
        Ok(())
    }
    fn event(&mut self, _: &Event) -> Result<(), RecordError> {
        Ok(())
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}

/// Frames every 10 ms of a run by events at a tolerance of 1e-12.
fn forces(problem: &Problem) -> Vec<(Vec<f64>, Vec<f64>, f64)> {
    let (mut state, mut forces) = (problem.state.clone(), Forces::default());
    let mut memory = StepMemory::new(&problem.model, &FrictionSolverParams::default()).unwrap();
    let integrator = IntegratorParams { kind: IntegratorKind::Hem5, tolerance: 1e-12, ..IntegratorParams::default() };
    let strategy =
        EventDriven { integrator, events: EventParams::default(), end: problem.end, record_every: 0, record_interval: Some(0.01) };
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(&problem.model, &mut state, &mut memory, Observers { recorder: &mut forces, watch: &mut watch });
    assert!(matches!(outcome.ending, Ending::Finished), "{:?}", outcome.ending);
    forces.0.drain(..1);
    forces.0
}

/// λ, velocity and acceleration along the whole path against the exact ones (1e-8), as a constraint and as a contact; no bounce back.
#[test]
fn forces_and_velocities_jump_as_they_should_at_an_edge_of_curvature() {
    let paths: [(Road, Exact); 2] = [
        (|law| parabola_plane(law).unwrap(), parabola_plane_at),
        (|law| plane_parabola(SPEED, law).unwrap(), |x| plane_parabola_at(SPEED, x)),
    ];
    for (problem, exact) in paths {
        for law in [Law::Bilateral, Law::unilateral(0.0)] {
            let problem = problem(law);
            let frames = forces(&problem);
            assert!(frames.len() > 140 && frames.windows(2).all(|pair| pair[1].0[0] < pair[0].0[0]), "it goes on to the left");
            let (mut left, mut right) = (0, 0);
            // at the edge itself both sides are right
            for (q, v, force) in frames.iter().filter(|frame| frame.0[0].abs() > 1e-9) {
                let on = exact(q[0]);
                // slope of the road from the exact velocity
                let slope = on.velocity[1] / on.velocity[0];
                let a = [-slope * force, force - 9.81];
                *(if q[0] < 0.0 { &mut left } else { &mut right }) += 1;
                let errors =
                    [v[0] - on.velocity[0], v[1] - on.velocity[1], force - on.force, a[0] - on.acceleration[0], a[1] - on.acceleration[1]];
                assert!(errors.iter().all(|e| e.abs() < 1e-8), "at x = {}: {errors:?}", q[0]);
            }
            assert!(left > 30 && right > 30);
        }
    }
}

/// Both strategies cross the edge once, at the exact time, and end where the exact motion does.
#[test]
fn edges_are_crossed_at_their_time() {
    for law in [Law::Bilateral, Law::unilateral(0.0)] {
        let cases = [(parabola_plane(law).unwrap(), parabola_plane_edge()), (plane_parabola(SPEED, law).unwrap(), 1.0)];
        for (problem, edge) in cases {
            let (q, v) = problem.solution.at_end(problem.end);
            let done = Located::events(1e-12).run(&problem.model, &problem.state, problem.end);
            print_events(&done);
            let crossed = times(&done, EventKind::EdgeCrossed, "road");
            assert!(crossed.len() == 1 && (crossed[0] - edge).abs() < 1e-10, "{crossed:?}, {edge}");
            let event = done.keep.events.iter().find(|event| event.kind == EventKind::EdgeCrossed).unwrap();
            assert!(event.note.contains("the curvature jumps"), "{}", event.note);
            assert!((done.state.q[0] - q[0]).abs() < 1e-8 && (done.state.v[0] - v[0]).abs() < 1e-8, "{:?}, {q:?}", done.state);
            assert!(done.certificate.max_penetration < 1e-9 && done.certificate.energy_error().abs() < 1e-8);

            let done = Located::hybrid(1e-10).run(&problem.model, &problem.state, problem.end);
            print_events(&done);
            assert!(done.keep.events.iter().any(|event| event.kind == EventKind::ToTimeStepping && event.note.contains("edge")));
            assert!((done.state.q[0] - q[0]).abs() < 1e-5 && (done.state.v[0] - v[0]).abs() < 1e-5, "{:?}, {q:?}", done.state);
        }
    }
}

/// Too fast for the falling parabola: the ball leaves the road at the edge.
#[test]
fn a_fast_ball_leaves_the_road_at_the_edge() {
    let problem = flight_from_edge(4.0).unwrap();
    for how in [Located::events(1e-10), Located::hybrid(1e-10)] {
        let done = how.run(&problem.model, &problem.state, problem.end);
        print_events(&done);
        let (q, v) = problem.solution.at_end(problem.end);
        let tolerance = if how.hybrid.is_some() { 1e-5 } else { 1e-9 };
        assert_eq!(final_modes(&done), [ContactMode::Open]);
        for (found, exact) in done.state.q.iter().chain(&done.state.v).zip(q.iter().chain(&v)) {
            assert!((found - exact).abs() < tolerance, "{:?}, {q:?}, {v:?}", done.state);
        }
    }
}

/// A bead on a bent wire, z = 0 then z = x: Glocker's laws keep its speed, the impact law takes the part along the new normal.
#[test]
fn corners_follow_their_law() {
    for (corner, speed) in [(CornerLaw::TimeScaling, 2.0), (CornerLaw::Reflection, 2.0), (CornerLaw::Impact, 2.0_f64.sqrt())] {
        let zero = || vec![0.0; 4];
        let system = Linear::new(vec!["x".into(), "y".into()], vec![1.0, 0.0, 0.0, 1.0], zero(), zero()).unwrap();
        let mut model = Model::new(vec![Box::new(system)]).unwrap();
        let wire = model.piecewise(&pieces(&[("x < 0", "y"), ("x >= 0", "y - x")], corner)).unwrap();
        model.add_interaction("wire", Box::new(wire), Law::Bilateral).unwrap();
        let state = State { t: 0.0, q: vec![-1.0, 0.0], v: vec![2.0, 0.0], ..State::default() };
        let done = Located::events(1e-10).run(&model, &state, 1.0);
        print_events(&done);
        let half = speed / 2.0_f64.sqrt();
        assert!((done.state.v[0] - half).abs() < 1e-9 && (done.state.v[1] - half).abs() < 1e-9, "{corner:?}: {:?}", done.state);
        assert!((done.state.q[0] - 0.5 * half).abs() < 1e-9, "{corner:?}: {:?}", done.state);
        assert!(done.certificate.energy_error().abs() < 1e-9, "{}", done.certificate.energy_error());
    }
}
