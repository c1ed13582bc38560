//! Textbook problems with sticking and sliding: time-stepping converges to their exact solutions, which shows that those are right whatever
//! locates their events.

use crate::support::{distance, fitted_order, run};
use carom_dynamics::problems::{Problem, Solution, belt_oscillator, cross_force, oscillating_incline, spinning_sphere};
use carom_dynamics::schemes::MoreauJeanParams;

/// Largest error of q over the run.
fn error(problem: &Problem, h: f64) -> f64 {
    let Solution::Exact(exact) = &problem.solution else { panic!() };
    let done = run(&problem.model, &problem.state, problem.end, h, MoreauJeanParams::default());
    done.keep.frames.iter().map(|f| distance(&f.q, &exact(f.t).0)).fold(0.0, f64::max)
}

#[test]
fn time_stepping_converges_to_the_exact_solutions() {
    let problems = [
        ("belt", belt_oscillator::problem()),
        ("steep incline", oscillating_incline::problem(oscillating_incline::STEEP)),
        ("flat incline", oscillating_incline::problem(oscillating_incline::FLAT)),
        ("cross force, n = 1.5", cross_force::problem(1.5)),
        ("cross force, n = 3", cross_force::problem(3.0)),
        ("cross force, n = 0.8", cross_force::problem(0.8)),
        ("sphere", spinning_sphere::problem()),
    ];
    for (name, problem) in problems {
        let problem = problem.unwrap();
        let steps = [4e-3, 2e-3, 1e-3, 5e-4].map(|h: f64| problem.end / (problem.end / h).round());
        let errors = steps.map(|h| error(&problem, h));
        let order = fitted_order(&steps, &errors);
        println!("{name:24} order {order:.2} errors {errors:?}");
        // first order at the transitions, second between them
        assert!(order > 0.9 && errors[3] < 2e-3, "{name}: {errors:?}");
    }
}

/// Known special values: the point under the cross force stops at 0.96… s where its slip has the direction of the force; the ball rolls from t*.
#[test]
fn transitions_are_where_the_formulas_say() {
    let problem = cross_force::problem(1.5).unwrap();
    let Solution::Exact(exact) = &problem.solution else { panic!() };
    let stop = cross_force::stop(1.5);
    let (_, v) = exact(stop - 1e-6);
    // θ ∝ (T − t)², |u| falls at c − f
    assert!((v[0] - (0.3 * 9.81) / 3.0 * 1e-6).abs() < 1e-12 && v[1].abs() < 1e-15, "{v:?}");
    assert!(cross_force::stop(0.8).is_infinite());
    let problem = spinning_sphere::problem().unwrap();
    let Solution::Exact(exact) = &problem.solution else { panic!() };
    let (_, v) = exact(1.0);
    assert!(distance(&v[..2], &[13.0 / 7.0, -4.0 / 7.0]) < 1e-14 && (v[0] - 0.1 * v[4]).abs() < 1e-14, "{v:?}");
    assert!((spinning_sphere::rolls() - 0.434_166_880_733_904).abs() < 1e-12, "{}", spinning_sphere::rolls());
    let times: Vec<f64> = belt_oscillator::transitions().iter().map(|(t, _)| *t).collect();
    println!("{times:?} {:?}", oscillating_incline::transitions(oscillating_incline::STEEP, 3.25));
    println!("{:?}", oscillating_incline::transitions(oscillating_incline::FLAT, 3.25));
    assert!(times.is_sorted());
}
