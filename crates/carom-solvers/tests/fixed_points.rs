//! Fixed points on the bounds of friction: Tresca and Panagiotopoulos.

use crate::generate::{Difficulty, from_jacobian, random, stack_of_cubes, suite, table};
use crate::support::{check_frictionless, check_velocities, params, solve, solve_with};
use carom_solvers::{Block, FrictionSolverParams, Solution, SolveStatus, friction_contact_solver};

const KINDS: [&str; 2] = ["tresca", "panagiotopoulos"];

#[test]
fn the_suite_is_taken_and_its_easy_part_solved() {
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
        assert!(failed.len() <= 3, "{kind}: {failed:?}");
    }
}

#[test]
fn velocities_agree_with_sweeps() {
    let contact = |seed: u64| match seed % 3 {
        0 => Block::Coulomb2 { mu: 0.3 },
        1 => Block::Coulomb3 { mu: 0.2 },
        _ => Block::Unilateral,
    };
    for seed in 40..55 {
        let problem = random(seed, vec![contact(seed), contact(seed + 1), contact(seed + 2)], 24);
        check_velocities(&KINDS, &seed.to_string(), &problem);
    }
}

#[test]
fn without_friction_it_is_an_lcp() {
    check_frictionless(&KINDS);
}

#[test]
fn a_table_slides_under_full_friction() {
    // As many feet as one likes carry the table; all slide forward at the edge of their cones.
    let problem = table(4, 0.2, 3.0);
    let (report, solution) = solve("tresca", &problem);
    assert!(report.is_converged(), "{report:?}");
    let (normal, tangent): (f64, f64) = (solution.r.iter().step_by(2).sum(), solution.r.iter().skip(1).step_by(2).sum());
    assert!((normal - 1.0).abs() < 1e-8 && (tangent + 0.2).abs() < 1e-8, "{normal} {tangent}"); // residual 1e-10, conditioning 1e2
}

#[test]
fn rolling_resistance_is_a_second_disk() {
    for seed in 70..75 {
        let problem = random(seed, vec![Block::Rolling { mu: 0.3, rolling: 0.1 }; 2], 24);
        for kind in KINDS {
            let (report, solution) = solve(kind, &problem);
            assert!(report.is_converged(), "{kind} {seed} {report:?}");
            for r in solution.r.chunks_exact(5) {
                // Admissible up to one rounding of the norm.
                assert!(r[1].hypot(r[2]) <= 0.3 * r[0] * (1.0 + 1e-14) && r[3].hypot(r[4]) <= 0.1 * r[0] * (1.0 + 1e-14), "{r:?}");
            }
        }
    }
}

#[test]
fn what_is_not_solved_is_said() {
    // Two walls that approach a body from both sides: no solution.
    let blocks = vec![Block::Coulomb2 { mu: 0.3 }; 2];
    let mut squeezed = from_jacobian(blocks, &[1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0], &[1.0, 1.0], &[0.0, 0.1]);
    squeezed.q[0] = -1.0;
    squeezed.q[2] = -1.0;
    let stack = stack_of_cubes(6, 1, 0.3);
    for kind in KINDS {
        let (report, solution) = solve(kind, &squeezed);
        assert!(!report.is_converged(), "{kind} {report:?}");
        assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()), "{kind} {solution:?}");
        let (report, _) = solve_with(&FrictionSolverParams { max_iterations: 5, ..params(kind) }, &stack);
        assert_eq!(report.status, SolveStatus::MaxIterations, "{kind}");
        assert!(report.iterations <= 5, "{kind} {report:?}");
        let (report, _) = solve_with(&FrictionSolverParams { time_limit: Some(1e-9), ..params(kind) }, &stack);
        assert_eq!(report.status, SolveStatus::TimeLimit, "{kind}");
    }
}

#[test]
fn a_solution_is_left_alone() {
    let problem = random(3, vec![Block::Coulomb3 { mu: 0.3 }; 3], 18);
    for kind in KINDS {
        let (_, mut solution) = solve(kind, &problem);
        let report = friction_contact_solver(&params(kind)).unwrap().solve(&problem, &mut solution).unwrap();
        assert_eq!((report.status, report.iterations), (SolveStatus::Converged, 0), "{kind}");
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
