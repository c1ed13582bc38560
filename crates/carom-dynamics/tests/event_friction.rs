//! Located sticking and sliding against exact solutions, in the plane and in space.

use crate::located::{Located, final_modes, print_events, times};
use crate::support::distance;
use carom_dynamics::problems::{Problem, Solution, belt_oscillator, cross_force, oscillating_incline, sliding_block, spinning_sphere};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::report::{ContactMode, EventKind};
use carom_dynamics::systems::Linear;
use carom_dynamics::{ContactLaw, Law, Model, State};

/// Largest errors of positions and velocities over the run.
fn errors(problem: &Problem, how: &Located) -> (f64, f64, crate::support::Done) {
    let Solution::Exact(exact) = &problem.solution else { panic!() };
    let done = how.run(&problem.model, &problem.state, problem.end);
    let (mut q, mut v) = (0.0_f64, 0.0_f64);
    for frame in &done.keep.frames {
        let known = exact(frame.t);
        q = q.max(distance(&frame.q, &known.0));
        v = v.max(distance(&frame.v, &known.1));
    }
    (q, v, done)
}

/// The transitions of a contact that were located.
fn transitions(done: &crate::support::Done) -> Vec<(f64, EventKind)> {
    let counts = [EventKind::SlipToStick, EventKind::StickToSlip, EventKind::SlipReversed];
    done.keep.events.iter().filter(|event| counts.contains(&event.kind)).map(|event| (event.t, event.kind)).collect()
}

fn check(name: &str, problem: &Problem, exact: &[(f64, EventKind)], last: ContactMode, bound: f64) {
    for how in [Located::events(1e-11), Located::hybrid(1e-11)] {
        let (q, v, done) = errors(problem, &how);
        let strategy = if how.hybrid.is_some() { "hybrid" } else { "events" };
        let found = transitions(&done);
        println!("{name} {strategy}: q {q:.1e} v {v:.1e} {:?}", final_modes(&done));
        if how.hybrid.is_none() {
            let off = found.iter().zip(exact).map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
            println!("{} transitions, {off:.1e} s", found.len());
            if found.len() != exact.len() {
                print_events(&done);
            }
            let kinds = |list: &[(f64, EventKind)]| list.iter().map(|(_, kind)| *kind).collect::<Vec<_>>();
            assert_eq!(kinds(&found), kinds(exact), "{name}");
            assert!(off < 1e-10, "{name}: {off}");
        }
        // hybrid too: time-stepping is exact where the forces are constant, and takes steps of 1e-7 s and less elsewhere
        assert!(q < bound && v < bound, "{name} {strategy}: {q} {v}");
        assert_eq!(final_modes(&done), [last], "{name} {strategy}");
    }
}

#[test]
fn the_belt_oscillator_sticks_and_slips_when_it_should() {
    check("belt", &belt_oscillator::problem().unwrap(), &belt_oscillator::transitions(), ContactMode::Sliding, 1e-9);
}

#[test]
fn the_block_on_the_shaken_incline_slides_down_and_up() {
    for (name, case) in [("steep", oscillating_incline::STEEP), ("flat", oscillating_incline::FLAT)] {
        let problem = oscillating_incline::problem(case).unwrap();
        check(name, &problem, &oscillating_incline::transitions(case, problem.end), ContactMode::Sliding, 1e-9);
    }
}

#[test]
fn the_sliding_block_stops() {
    let stops = sliding_block::SPEED / (sliding_block::FRICTION * 9.81);
    check("block", &sliding_block::problem().unwrap(), &[(stops, EventKind::SlipToStick)], ContactMode::Sticking, 1e-10);
}

/// Gravity tilted by atan 0.49 and atan 0.51 with μ = 0.5: sticks, slides at g (sin − μ cos).
#[test]
fn the_friction_limit_is_sharp() {
    for (tangent, mode) in [(0.49, ContactMode::Sticking), (0.51, ContactMode::Sliding)] {
        let cos = 1.0 / f64::hypot(1.0, tangent);
        let (along, normal) = (9.81 * tangent * cos, 9.81 * cos);
        let mass = vec![8.0, 0.0, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0, 8.0];
        let system = Linear::new(["x", "y", "z"].map(String::from).to_vec(), mass, vec![0.0; 9], vec![0.0; 9]).unwrap();
        let system = system.with_force(vec![8.0 * along, 0.0, -8.0 * normal]).unwrap();
        let mut model = Model::new(vec![Box::new(system)]).unwrap();
        let rows = ["z", "x", "y"].map(|row| (format!("row {row}"), row.to_owned())).to_vec();
        model.add_formula("plane", &FormulaSource { rows, parameters: Vec::new() }, Law::Contact(ContactLaw::coulomb(0.5, 0.0))).unwrap();
        let state = State { t: 0.0, q: vec![0.0; 3], v: vec![0.0; 3], ..State::default() };
        for how in [Located::events(1e-10), Located::hybrid(1e-10)] {
            let done = how.run(&model, &state, 2.0);
            let exact = (along - 0.5 * normal).max(0.0) * 2.0;
            println!("{tangent}: {:?} {:.1e}", final_modes(&done), done.state.v[0] - exact);
            assert_eq!(final_modes(&done), [mode]);
            assert!((done.state.v[0] - exact).abs() < 1e-12 && (done.state.q[0] - exact).abs() < 1e-12, "{:?}", done.state);
            assert!(done.state.q[1].abs() < 1e-14 && done.state.q[2].abs() < 1e-14, "{:?}", done.state);
        }
    }
}

/// The ball with spin rolls from t* on, to 1e-10 s.
#[test]
fn the_ball_rolls_when_it_should() {
    let problem = spinning_sphere::problem().unwrap();
    check("sphere", &problem, &[(spinning_sphere::rolls(), EventKind::SlipToStick)], ContactMode::Sticking, 1e-10);
    let done = Located::events(1e-10).run(&problem.model, &problem.state, 1.0);
    assert!(distance(&done.state.v[..2], &[13.0 / 7.0, -4.0 / 7.0]) < 1e-11, "{:?}", done.state);
}

/// The direction of slip turns: the point under a cross force stops along the force and sticks, or slides for ever.
#[test]
fn the_slip_turns_under_a_cross_force() {
    for n in [1.5, 2.0] {
        let problem = cross_force::problem(n).unwrap();
        check("cross force", &problem, &[(cross_force::stop(n), EventKind::SlipToStick)], ContactMode::Sticking, 1e-9);
    }
    // θ ∝ √(T − t) at the stop: the motion is not smooth there, and the stop is taken at a slip below the threshold of 1e-8 m/s, which falls at 2 m/s²
    let problem = cross_force::problem(3.0).unwrap();
    let (q, v, done) = errors(&problem, &Located::events(1e-11));
    let stops = times(&done, EventKind::SlipToStick, "plane");
    println!("n = 3: q {q:.1e} v {v:.1e}, stop {:.1e}", stops[0] - cross_force::stop(3.0));
    assert!(stops.len() == 1 && (stops[0] - cross_force::stop(3.0)).abs() < 1e-8 && q < 1e-12 && v < 2e-8);
    check("slides for ever", &cross_force::problem(0.8).unwrap(), &[], ContactMode::Sliding, 1e-9);
}
