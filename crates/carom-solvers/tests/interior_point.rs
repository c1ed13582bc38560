//! The interior point method and the cone programs of ACLM.

use crate::generate::{Difficulty, column, from_jacobian, random, stack_of_cubes, suite};
use crate::support::{check_frictionless, check_velocities, params, solve, solve_with};
use carom_solvers::{Block, FrictionSolverParams, Solution, SolveError, SolveStatus, friction_contact_solver};

const KINDS: [&str; 2] = ["interior-point", "aclm"];

#[test]
fn the_suite_is_solved() {
    for kind in KINDS {
        let mut failed = Vec::new();
        for (name, difficulty, problem) in suite() {
            let (report, solution) = solve(kind, &problem);
            assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()), "{kind} on '{name}'");
            assert_eq!(report.is_converged(), report.residual_normalised <= 1e-10, "{kind} on '{name}': {report:?}");
            assert!(report.is_converged() || difficulty == Difficulty::Hard, "{kind} on '{name}': {report:?}");
            if !report.is_converged() {
                failed.push((name, report));
            }
        }
        let allowed = if kind == "interior-point" { 0 } else { 2 };
        assert!(failed.len() <= allowed, "{kind}: {failed:?}");
    }
}

#[test]
fn velocities_agree_with_sweeps() {
    let contact = |seed: u64| match seed % 3 {
        0 => Block::Coulomb2 { mu: 0.4 },
        1 => Block::Coulomb3 { mu: 0.3 },
        _ => Block::Unilateral,
    };
    for seed in 40..60 {
        let problem = random(seed, vec![contact(seed), contact(seed + 1), contact(seed + 2), contact(seed)], 20);
        check_velocities(&KINDS, &seed.to_string(), &problem);
    }
}

#[test]
fn without_friction_it_is_an_lcp() {
    check_frictionless(&KINDS);
}

#[test]
fn a_hyperstatic_stack_takes_few_steps() {
    for seed in 1..4 {
        let problem = stack_of_cubes(20, seed, 0.0);
        let (report, solution) = solve("interior-point", &problem);
        assert!(report.is_converged() && report.iterations <= 15, "{report:?}");
        let ground: f64 = solution.r[..12].iter().step_by(3).sum();
        assert!((ground - 20.0 * 9.81e-3).abs() < 1e-8, "{ground}"); // weight of the stack; residual 1e-10 relative to |r|
        let (report, _) = solve("aclm", &problem);
        assert!(report.is_converged() && report.iterations <= 60, "{report:?}");
    }
    // Pulled away below: sliding, sticking and opening contacts together, on a path that bends.
    for seed in [1, 3] {
        let (report, _) = solve("interior-point", &stack_of_cubes(10, seed, 1.0));
        assert!(report.is_converged() && report.iterations <= 120, "{report:?}");
    }
}

#[test]
fn masses_may_differ_a_million_times() {
    for kind in KINDS {
        let (report, solution) = solve(kind, &column(2, 1e6));
        assert!(report.is_converged(), "{kind} {report:?}");
        for (r, exact) in solution.r.iter().zip([1e6 + 1.0, 1e6]) {
            assert!((r - exact).abs() < 1e-3 * exact, "{kind} {r} {exact}"); // residual 1e-10 relative to |r|, conditioning 1e6
        }
    }
}

#[test]
fn a_solution_is_left_alone() {
    let problem = random(3, vec![Block::Coulomb3 { mu: 0.5 }; 3], 18);
    for kind in KINDS {
        let (_, mut solution) = solve(kind, &problem);
        let before = solution.r.clone();
        let report = friction_contact_solver(&params(kind)).unwrap().solve(&problem, &mut solution).unwrap();
        assert_eq!((report.status, report.iterations), (SolveStatus::Converged, 0), "{kind}");
        for (a, b) in before.iter().zip(&solution.r) {
            assert!((a - b).abs() <= 1e-15 * (1.0 + a.abs()), "{kind}"); // projected on the cone again
        }
    }
}

#[test]
fn a_squeezed_body_is_reported_as_such() {
    // Two walls that approach a body from both sides: no solution.
    let blocks = vec![Block::Coulomb2 { mu: 0.3 }; 2];
    let mut problem = from_jacobian(blocks, &[1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0], &[1.0, 1.0], &[0.0, 0.1]);
    problem.q[0] = -1.0;
    problem.q[2] = -1.0;
    for kind in KINDS {
        let (report, solution) = solve(kind, &problem);
        assert!(!report.is_converged(), "{kind} {report:?}");
        assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()), "{kind} {solution:?}");
    }
}

#[test]
fn limits_are_kept() {
    let problem = stack_of_cubes(6, 1, 0.3);
    for kind in KINDS {
        let (report, _) = solve_with(&FrictionSolverParams { max_iterations: 3, ..params(kind) }, &problem);
        assert_eq!((report.status, report.iterations), (SolveStatus::MaxIterations, 3), "{kind}");
        let (report, _) = solve_with(&FrictionSolverParams { time_limit: Some(1e-9), ..params(kind) }, &problem);
        assert_eq!(report.status, SolveStatus::TimeLimit, "{kind}");
    }
}

#[test]
fn rolling_resistance_with_friction_is_refused_with_a_way_out() {
    let problem = random(70, vec![Block::Rolling { mu: 0.4, rolling: 0.1 }], 8);
    for kind in KINDS {
        let error = friction_contact_solver(&params(kind)).unwrap().solve(&problem, &mut Solution::default()).unwrap_err();
        assert!(matches!(error, SolveError::Unsupported { alternatives, .. } if alternatives.contains("nsgs")), "{kind} {error}");
    }
}

#[test]
fn wild_guesses_do_no_harm() {
    let problem = random(1, vec![Block::Coulomb3 { mu: 0.3 }; 2], 12);
    for kind in KINDS {
        for guess in [vec![f64::NAN; 6], vec![-1e3; 6], vec![1e3; 6], vec![1.0; 2]] {
            let mut solution = Solution { r: guess, u: Vec::new() };
            let report = friction_contact_solver(&params(kind)).unwrap().solve(&problem, &mut solution).unwrap();
            assert!(report.is_converged(), "{kind}: {report:?}");
        }
    }
}
