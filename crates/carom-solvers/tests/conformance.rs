//! Every registered solver meets every generated problem.

use crate::generate::{Difficulty, extended_suite, suite};
use carom_solvers::{
    FrictionContact, FrictionSolverKind, FrictionSolverParams, Solution, SolveError, SolveReport, SolveStatus, friction_contact_solver,
};

/// What holds for any solver on any problem, converged or not.
fn check_honest(what: &str, problem: &FrictionContact, solution: &Solution, report: &SolveReport) {
    let n = problem.n_rows();
    assert_eq!((solution.r.len(), solution.u.len()), (n, n), "{what}");
    assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()), "{what}");
    let mut u = vec![0.0; n];
    problem.velocity(&solution.r, &mut u);
    // u is computed by the same product: equal up to the order of summation.
    let size = 1.0 + u.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    for (a, b) in u.iter().zip(&solution.u) {
        assert!((a - b).abs() <= 1e-14 * size, "{what}: u is not W r + q");
    }
    let judge = problem.residual_normalised(&solution.r, &solution.u);
    assert!((judge - report.residual_normalised).abs() <= 1e-14, "{what}");
    let residual = problem.residual(&solution.r, &solution.u);
    assert!((residual - report.residual).abs() <= 1e-14, "{what}");
    assert_eq!(report.is_converged(), judge <= 1e-10, "{what}: {report:?}");
}

/// Solvers that converge on every problem they take that has a solution.
const ROBUST: [&str; 4] = ["auto", "admm", "lemke", "enumeration"];

/// Solvers of an approximate law, which may end as `Relaxed`.
const APPROXIMATE: [&str; 3] = ["projected-gradient", "stewart-trinkle", "anitescu-potra"];

#[test]
fn friction_contact_solvers() {
    for &kind in FrictionSolverKind::ALL {
        let params = FrictionSolverParams { kind, ..Default::default() };
        let mut solver = friction_contact_solver(&params).unwrap();
        let mut supported = 0;
        for (name, difficulty, problem) in extended_suite() {
            let what = format!("{} on '{name}'", kind.name());
            let mut solution = Solution::default();
            let report = match solver.solve(&problem, &mut solution) {
                Ok(report) => report,
                Err(SolveError::Unsupported { alternatives, .. }) => {
                    assert!(alternatives.contains("auto"), "{what}");
                    assert!(!problem.is_frictionless(), "{what}: frictionless is for all");
                    continue;
                }
                Err(error) => panic!("{what}: {error}"),
            };
            supported += 1;
            check_honest(&what, &problem, &solution, &report);
            assert!(report.status != SolveStatus::Relaxed || APPROXIMATE.contains(&kind.name()), "{what}: {report:?}");
            match difficulty {
                Difficulty::Easy => assert!(report.is_accepted(), "{what}: {report:?}"),
                Difficulty::Hard if ROBUST.contains(&kind.name()) => assert!(report.is_converged(), "{what}: {report:?}"),
                Difficulty::Hard => {}
                Difficulty::Hopeless => assert!(!report.is_converged(), "{what}: {report:?}"),
            }
            if report.is_converged() {
                // From its own solution a solver has little left to do and stays there.
                let before = solution.clone();
                let again = solver.solve(&problem, &mut solution).unwrap();
                assert!(again.is_converged(), "{what} again: {again:?}");
                if kind.name() == "nsgs" {
                    assert!(again.iterations <= 1, "{what} again: {again:?}");
                    for (a, b) in before.r.iter().zip(&solution.r) {
                        // One more sweep at most; projecting the cone's edge again is one rounding.
                        assert!((a - b).abs() <= 1e-8 * (1.0 + a.abs()), "{what}");
                    }
                }
            }
        }
        assert!(supported >= 8, "{} took {supported} problems only", kind.name());
    }
}

#[test]
fn sweeps_solve_most_hard_problems_too() {
    let params = FrictionSolverParams { kind: "nsgs".parse().unwrap(), ..Default::default() };
    let mut solver = friction_contact_solver(&params).unwrap();
    let mut failed = Vec::new();
    for (name, _, problem) in suite() {
        let report = solver.solve(&problem, &mut Solution::default()).unwrap();
        if !report.is_converged() {
            failed.push((name, report));
        }
    }
    // Mass ratios from 1e6 on are out of reach of Gauss–Seidel: its rate there is 1 − 1e-6 per sweep.
    assert!(failed.iter().all(|(name, _)| *name == "very heavy on light"), "{failed:?}");
}

#[test]
fn relaxation_changes_the_path_and_not_the_solution() {
    for relaxation in [0.6, 1.3] {
        for kind in ["nsgs", "pgs"] {
            let params = FrictionSolverParams { kind: kind.parse().unwrap(), relaxation, ..Default::default() };
            let mut solver = friction_contact_solver(&params).unwrap();
            for (name, difficulty, problem) in suite() {
                if difficulty != Difficulty::Easy {
                    continue;
                }
                if let Ok(report) = solver.solve(&problem, &mut Solution::default()) {
                    assert!(report.is_converged(), "{kind} on '{name}': {report:?}");
                }
            }
        }
    }
}

#[test]
fn wild_guesses_do_no_harm() {
    for &kind in FrictionSolverKind::ALL {
        let params = FrictionSolverParams { kind, ..Default::default() };
        let mut solver = friction_contact_solver(&params).unwrap();
        let (_, _, problem) = suite().swap_remove(0);
        for guess in [vec![f64::NAN; 6], vec![-1e3; 6], vec![1e3; 6], vec![1.0; 2]] {
            let mut solution = Solution { r: guess, u: Vec::new() };
            let report = solver.solve(&problem, &mut solution).unwrap();
            assert!(report.is_converged(), "{}: {report:?}", kind.name());
        }
    }
}
