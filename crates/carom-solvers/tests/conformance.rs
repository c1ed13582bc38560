//! Every registered solver meets every generated problem.

use crate::generate::{Difficulty, Random, suite};
use carom_solvers::registry::{ProblemKind, SOLVERS};
use carom_solvers::{
    FrictionContact, FrictionSolverParams, Lcp, LcpSolverParams, OneStepSolver, Solution, SolveError, SolveReport, SolveStatus,
    friction_contact_solver, lcp_solver,
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

#[test]
fn friction_contact_solvers() {
    for entry in SOLVERS {
        let ProblemKind::FrictionContact(kind) = entry.problem else {
            continue;
        };
        let params = FrictionSolverParams { kind, ..Default::default() };
        let mut solver = friction_contact_solver(&params).unwrap();
        let mut supported = 0;
        for (name, difficulty, problem) in suite() {
            let what = format!("{} on '{name}'", entry.name);
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
            let must_converge = difficulty == Difficulty::Easy || matches!(entry.name, "auto" | "lemke" | "proximal-newton");
            if must_converge {
                assert!(report.is_converged(), "{what}: {report:?}");
            }
            if report.is_converged() {
                // From its own solution a solver has little left to do and stays there.
                let before = solution.clone();
                let again = solver.solve(&problem, &mut solution).unwrap();
                assert!(again.is_converged(), "{what} again: {again:?}");
                if entry.name == "nsgs" {
                    assert!(again.iterations <= 1, "{what} again: {again:?}");
                    for (a, b) in before.r.iter().zip(&solution.r) {
                        // One more sweep at most; projecting the cone's edge again is one rounding.
                        assert!((a - b).abs() <= 1e-8 * (1.0 + a.abs()), "{what}");
                    }
                }
            }
        }
        assert!(supported >= 8, "{} took {supported} problems only", entry.name);
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
    // Mass ratio 1e6 is out of reach of Gauss–Seidel: its rate there is 1 − 1e-6 per sweep.
    assert!(failed.len() <= 1, "{failed:?}");
    assert!(failed.iter().all(|(name, _)| *name == "very heavy on light"), "{failed:?}");
}

#[test]
fn relaxation_changes_the_path_and_not_the_solution() {
    for relaxation in [0.6, 1.3] {
        for kind in ["nsgs", "pgs"] {
            let params = FrictionSolverParams { kind: kind.parse().unwrap(), relaxation, ..Default::default() };
            let mut solver = friction_contact_solver(&params).unwrap();
            for (name, difficulty, problem) in suite() {
                if difficulty == Difficulty::Hard {
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
    for entry in SOLVERS {
        let ProblemKind::FrictionContact(kind) = entry.problem else {
            continue;
        };
        let params = FrictionSolverParams { kind, ..Default::default() };
        let mut solver = friction_contact_solver(&params).unwrap();
        let (_, _, problem) = suite().swap_remove(0);
        for guess in [vec![f64::NAN; 6], vec![-1e3; 6], vec![1e3; 6], vec![1.0; 2]] {
            let mut solution = Solution { r: guess, u: Vec::new() };
            let report = solver.solve(&problem, &mut solution).unwrap();
            assert!(report.is_converged(), "{}: {report:?}", entry.name);
        }
    }
}

/// Named LCPs with positive semidefinite M; `true` when a solution exists.
fn lcps() -> Vec<(&'static str, bool, Lcp)> {
    let mut random = Random::new(31);
    let g = random.vector(5 * 8);
    let gram =
        |rank: usize, n: usize| -> Vec<f64> { (0..n * n).map(|k| (0..rank).map(|c| g[k / n * 8 + c] * g[k % n * 8 + c]).sum()).collect() };
    let image = |m: &[f64], n: usize| -> Vec<f64> { (0..n).map(|i| m[i * n..(i + 1) * n].iter().sum::<f64>() - 1.0).map(|x| -x).collect() };
    let full = gram(8, 5);
    let deficient = gram(2, 5);
    let q_full = image(&full, 5);
    let q_deficient = (0..5).map(|i| -deficient[i * 5..(i + 1) * 5].iter().sum::<f64>()).collect();
    vec![
        ("definite", true, Lcp { n: 5, m: full, q: q_full }),
        ("rank-deficient", true, Lcp { n: 5, m: deficient, q: q_deficient }),
        ("ties", true, Lcp { n: 3, m: vec![1.0; 9], q: vec![-1.0; 3] }),
        ("zero q", true, Lcp { n: 2, m: vec![2.0, 1.0, 1.0, 2.0], q: vec![0.0; 2] }),
        ("infeasible", false, Lcp { n: 2, m: vec![1.0, -1.0, -1.0, 1.0], q: vec![-1.0; 2] }),
        ("empty", true, Lcp { n: 0, m: vec![], q: vec![] }),
    ]
}

#[test]
fn lcp_solvers() {
    for entry in SOLVERS {
        let ProblemKind::Lcp(kind) = entry.problem else {
            continue;
        };
        let params = LcpSolverParams { kind, ..Default::default() };
        let mut solver = lcp_solver(&params).unwrap();
        for (name, feasible, problem) in lcps() {
            let what = format!("{} on '{name}'", entry.name);
            let mut solution = Solution::default();
            let report = solver.solve(&problem, &mut solution).unwrap();
            assert_eq!(report.is_converged(), feasible, "{what}: {report:?}");
            assert!(solution.r.iter().all(|z| *z >= 0.0 && z.is_finite()), "{what}");
            let judge = problem.residual_normalised(&solution.r, &solution.u);
            assert_eq!(report.residual_normalised, judge, "{what}");
            if !feasible && entry.name == "lemke" {
                assert_eq!(report.status, SolveStatus::RayTermination, "{what}");
            }
        }
    }
}
