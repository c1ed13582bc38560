//! Final contact modes do not depend on tolerances and thresholds.

use crate::located::{Located, final_modes};
use carom_dynamics::problems::{
    Problem, Solution, belt_oscillator, bouncing_ball, chain_of_balls, cross_force, impact_oscillator, oscillating_incline,
    seven_body_contacts, slider_crank_clearance, sliding_block, spinning_sphere,
};
use carom_dynamics::report::ContactMode;
use carom_dynamics::{Model, State};

/// A problem with its name and the modes in which it ends.
type Case = (&'static str, Problem, Vec<ContactMode>);

fn problems() -> Vec<Case> {
    use ContactMode::{Closed, Open, Sliding, Sticking};
    let until = |problem: Problem, end| Problem { end, ..problem };
    vec![
        ("ball, e = 0.5", until(bouncing_ball::problem(0.5).unwrap(), 2.0), vec![Closed]),
        ("ball, e = 0.8", until(bouncing_ball::problem(0.8).unwrap(), 5.0), vec![Closed]),
        ("oscillator A", impact_oscillator::separated().unwrap(), vec![Open]),
        ("oscillator B, at rest", impact_oscillator::accumulating().unwrap(), vec![Closed]),
        ("oscillator B, released", until(impact_oscillator::accumulating().unwrap(), 3.0), vec![Open]),
        ("chain of three balls", chain_of_balls::problem().unwrap(), vec![Closed; 3]),
        ("slider-crank", plain(slider_crank_clearance::model(0.0).unwrap(), 0.0105), vec![Closed, Closed, Open, Open]),
        ("slider-crank, rough", plain(slider_crank_clearance::model(0.01).unwrap(), 0.0115), vec![Sliding, Sliding, Open, Open]),
        ("block", sliding_block::problem().unwrap(), vec![Sticking]),
        ("belt", belt_oscillator::problem().unwrap(), vec![Sliding]),
        ("steep incline", oscillating_incline::problem(oscillating_incline::STEEP).unwrap(), vec![Sliding]),
        ("flat incline", oscillating_incline::problem(oscillating_incline::FLAT).unwrap(), vec![Sliding]),
        ("incline, at rest", until(oscillating_incline::problem(oscillating_incline::FLAT).unwrap(), 3.03), vec![Sticking]),
        ("sphere", spinning_sphere::problem().unwrap(), vec![Sticking]),
        ("cross force, n = 1.5", cross_force::problem(1.5).unwrap(), vec![Sticking]),
        ("cross force, n = 3", cross_force::problem(3.0).unwrap(), vec![Sticking]),
        ("cross force, n = 0.8", cross_force::problem(0.8).unwrap(), vec![Sliding]),
    ]
}

fn plain((model, state): (Model, State), end: f64) -> Problem {
    Problem { model, state, end, solution: Solution::AtEnd(Vec::new(), Vec::new()) }
}

fn seven(closed: &[(usize, ContactMode)]) -> Vec<ContactMode> {
    let mut modes = vec![ContactMode::Open; 15];
    closed.iter().for_each(|&(contact, mode)| modes[contact] = mode);
    modes
}

/// Runs all problems by both strategies at these tolerances, with thresholds × 0.1, 1, 10: all must end in the right modes.
fn check(problems: &[Case], tolerances: &[f64]) {
    let mut wrong = Vec::new();
    for (name, problem, modes) in problems {
        for hybrid in [false, true] {
            let mut line = String::new();
            for factor in [0.1, 1.0, 10.0] {
                for &tolerance in tolerances {
                    let how = if hybrid { Located::hybrid(tolerance) } else { Located::events(tolerance) };
                    let found = how.thresholds(factor).try_run(&problem.model, &problem.state, problem.end);
                    let right = found.as_ref().is_ok_and(|done| final_modes(done) == *modes);
                    line.push(if right { '+' } else { '-' });
                    if !right {
                        let found = found.map(|done| final_modes(&done));
                        wrong.push(format!("{name}, hybrid {hybrid}, thresholds × {factor}, {tolerance:e}: {found:?}"));
                    }
                }
                line.push(' ');
            }
            println!("{name:26} {:13} {line}", if hybrid { "hybrid" } else { "event-driven" });
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn final_modes_are_right_at_any_tolerance_and_threshold() {
    check(&problems(), &[1e-3, 1e-4, 1e-6, 1e-8, 1e-10]);
}

#[test]
fn final_modes_of_seven_bodies_are_right_at_any_tolerance_and_threshold() {
    use ContactMode::Sliding;
    let model = || seven_body_contacts::model().unwrap();
    let cases = [
        ("seven bodies, 8.5 ms", plain(model(), 0.0085), seven(&[(1, Sliding), (8, Sliding)])),
        ("seven bodies, 25 ms", plain(model(), seven_body_contacts::END), seven(&[(3, Sliding)])),
    ];
    check(&cases, &[1e-3, 1e-8]);
}
