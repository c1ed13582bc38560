//! Final contact modes do not depend on tolerances and thresholds.

use crate::located::{Located, final_modes};
use carom_dynamics::events::ContactMode;
use carom_dynamics::problems::{
    Problem, Solution, belt_oscillator, bouncing_ball, chain_of_balls, cross_force, impact_oscillator, oscillating_incline,
    seven_body_contacts, slider_crank_clearance, sliding_block, spinning_sphere,
};

fn problems() -> Vec<(&'static str, Problem, Vec<ContactMode>)> {
    use ContactMode::{Closed, Open, Sliding, Sticking};
    let plain = |(model, state), end| Problem { model, state, end, solution: Solution::AtEnd(Vec::new(), Vec::new()) };
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
        ("seven bodies", plain(seven_body_contacts::model().unwrap(), 0.0085), seven(&[(1, Sliding), (8, Sliding)])),
        ("seven bodies, at the end", plain(seven_body_contacts::model().unwrap(), seven_body_contacts::END), seven(&[(3, Sliding)])),
    ]
}

fn seven(closed: &[(usize, ContactMode)]) -> Vec<ContactMode> {
    let mut modes = vec![ContactMode::Open; 15];
    closed.iter().for_each(|&(contact, mode)| modes[contact] = mode);
    modes
}

/// Tolerances 1e-3 … 1e-10, thresholds × 0.1, 1, 10, both strategies: all end in the right modes.
#[test]
fn final_modes_are_right_at_any_tolerance_and_threshold() {
    let mut wrong = Vec::new();
    for (name, problem, modes) in problems() {
        for hybrid in [false, true] {
            let mut line = String::new();
            for factor in [0.1, 1.0, 10.0] {
                for tolerance in [1e-3, 1e-4, 1e-6, 1e-8, 1e-10] {
                    let how = if hybrid { Located::hybrid(tolerance) } else { Located::events(tolerance) };
                    let right = match how.thresholds(factor).try_run(&problem.model, &problem.state, problem.end) {
                        Ok(done) if final_modes(&done) == modes => '+',
                        Ok(done) => {
                            wrong.push(format!("{name}, hybrid {hybrid}, thresholds × {factor}, {tolerance:e}: {:?}", final_modes(&done)));
                            '-'
                        }
                        Err(ending) => {
                            wrong.push(format!("{name}, hybrid {hybrid}, thresholds × {factor}, {tolerance:e}: {ending:?}"));
                            'E'
                        }
                    };
                    line.push(right);
                }
                line.push(' ');
            }
            println!("{name:26} {:13} {line}", if hybrid { "hybrid" } else { "event-driven" });
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
