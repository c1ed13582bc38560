//! The global form: every solver on every generated problem, against the local form.

use crate::generate_global::{bodies, column, elastic_chain, sphere_packing, suite, tower};
use carom_solvers::{
    Block, FrictionContact, FrictionSolverKind, FrictionSolverParams, GlobalFrictionContact, GlobalSolverKind, GlobalSolverParams,
    Solution, SolveError, SolveReport, SolveStatus, SparseMatrix, friction_contact_solver, global_solver,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn solve_local(problem: &FrictionContact) -> Solution {
    let params = FrictionSolverParams { tolerance: 1e-12, ..Default::default() };
    let mut solution = Solution::default();
    friction_contact_solver(&params).unwrap().solve(problem, &mut solution).unwrap();
    solution
}

/// What holds for any solver on any problem, converged or not.
fn check_honest(what: &str, problem: &GlobalFrictionContact, solution: &Solution, report: &SolveReport) {
    let n = problem.n_rows();
    assert_eq!((solution.r.len(), solution.u.len()), (n, n), "{what}");
    assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()), "{what}");
    let v = problem.body_velocity(&solution.r).unwrap();
    let mut u = vec![0.0; n];
    problem.contact_velocity(&v, &mut u);
    // The same factorisation and products.
    assert_eq!(u, solution.u, "{what}: u does not belong to r");
    assert_eq!(problem.residual_normalised(&v, &solution.r, &u), report.residual_normalised, "{what}");
    assert_eq!(problem.residual(&v, &solution.r, &u), report.residual, "{what}");
    assert_eq!(report.is_converged(), report.residual_normalised <= 1e-10, "{what}: {report:?}");
}

#[test]
fn all_solvers_find_the_velocities_of_the_local_form() {
    for &kind in GlobalSolverKind::ALL {
        let mut solver = global_solver(&GlobalSolverParams { kind, ..Default::default() }).unwrap();
        let mut supported = 0;
        for (name, is_easy, problem) in suite() {
            let what = format!("{} on '{name}'", kind.name());
            let mut solution = Solution::default();
            let report = match solver.solve(&problem, &mut solution) {
                Ok(report) => report,
                Err(SolveError::Unsupported { alternatives, .. }) => {
                    assert!(alternatives.contains("auto") && kind.name() == "nsgs" && name.contains("elastic"), "{what}");
                    continue;
                }
                Err(error) => panic!("{what}: {error}"),
            };
            supported += 1;
            check_honest(&what, &problem, &solution, &report);
            assert!(report.is_converged() || !is_easy, "{what}: {report:?}");
            if report.is_converged() {
                let local = problem.to_local().unwrap();
                // Residual 1e-10 and condition below 1e3; where impulses are much larger than velocities, the residual is relative to them.
                let impulse = problem.mass_scale() * solution.r.iter().map(|r| r * r).sum::<f64>().sqrt();
                let allowed = 1e-7_f64.max(report.residual_normalised * impulse);
                for (a, b) in solution.u.iter().zip(solve_local(&local).u) {
                    assert!((a - b).abs() <= allowed, "{what}: {a} {b}");
                }
                // From its own solution a solver stays there.
                let again = solver.solve(&problem, &mut solution).unwrap();
                assert!(again.is_converged(), "{what} again: {again:?}");
            }
        }
        assert!(supported >= 18, "{} took {supported} problems only", kind.name());
    }
}

#[test]
fn hard_problems_converge_too() {
    let problems = [
        ("tower of 12", tower(12, 0.5)),
        ("column of 8, ratio 10", column(8, 10.0)),
        ("bodies of masses 1 to 1e6", bodies(41, 4, 100.0, vec![Block::Coulomb3 { mu: 0.4 }; 10])),
        ("long stiff chain", elastic_chain(42, 100, 100.0, 2, Block::Coulomb3 { mu: 0.4 })),
        ("packing", sphere_packing(1, 0.3)),
    ];
    for (name, problem) in problems {
        for kind in ["reduction", "admm", "interior-point"] {
            let params = GlobalSolverParams { kind: kind.parse().unwrap(), tolerance: 1e-8, ..Default::default() };
            let report = global_solver(&params).unwrap().solve(&problem, &mut Solution::default()).unwrap();
            assert!(report.is_converged(), "{kind} on '{name}': {report:?}");
        }
    }
}

/// One of the walls or the body must give way: no solution, and no solver claims one.
#[test]
fn a_body_between_closing_walls_has_no_solution() {
    let problem = GlobalFrictionContact {
        m: SparseMatrix::from_triplets(1, 1, &[(0, 0, 2.0)]).unwrap(),
        h: SparseMatrix::from_triplets(1, 2, &[(0, 0, 1.0), (0, 1, -1.0)]).unwrap(),
        f: vec![0.0],
        w: vec![-1.0; 2],
        blocks: vec![Block::Unilateral; 2],
    };
    for &kind in GlobalSolverKind::ALL {
        let params = GlobalSolverParams { kind, max_iterations: 2000, ..Default::default() };
        let mut solution = Solution::default();
        let report = global_solver(&params).unwrap().solve(&problem, &mut solution).unwrap();
        assert!(!report.is_converged(), "{}: {report:?} {solution:?}", kind.name());
        check_honest(kind.name(), &problem, &solution, &report);
    }
}

#[test]
fn limits_are_kept_and_wild_guesses_do_no_harm() {
    let problem = tower(2, 0.5);
    for &kind in GlobalSolverKind::ALL {
        let params = GlobalSolverParams { kind, ..Default::default() };
        for guess in [vec![f64::NAN; 24], vec![-1e3; 24], vec![1e3; 24], vec![1.0; 2]] {
            let mut solution = Solution { r: guess, u: Vec::new() };
            let report = global_solver(&params).unwrap().solve(&problem, &mut solution).unwrap();
            assert!(report.is_converged(), "{}: {report:?}", kind.name());
        }
        let local = "nsgs".parse().unwrap();
        let once = GlobalSolverParams { max_iterations: 1, local, ..params.clone() };
        let report = global_solver(&once).unwrap().solve(&problem, &mut Solution::default()).unwrap();
        assert_eq!((report.iterations, report.is_converged()), (1, false), "{}", kind.name());
        if kind.name() != "reduction" {
            let late = GlobalSolverParams { time_limit: Some(1e-9), ..params };
            let report = global_solver(&late).unwrap().solve(&problem, &mut Solution::default()).unwrap();
            assert_eq!(report.status, SolveStatus::TimeLimit, "{}", kind.name());
        }
    }
}

#[test]
fn malformed_problems_are_named() {
    let good = bodies(44, 2, 1.0, vec![Block::Coulomb2 { mu: 0.3 }; 2]);
    assert!(good.validate().is_ok());
    let broken = |change: &dyn Fn(&mut GlobalFrictionContact)| {
        let mut problem = good.clone();
        change(&mut problem);
        let expected = problem.validate().unwrap_err();
        for &kind in GlobalSolverKind::ALL {
            let mut solver = global_solver(&GlobalSolverParams { kind, ..Default::default() }).unwrap();
            assert_eq!(solver.solve(&problem, &mut Solution::default()).unwrap_err(), expected);
        }
        assert_eq!(problem.to_local().unwrap_err(), expected);
        assert_eq!(problem.to_matrix_free().unwrap_err(), expected);
        assert_eq!(problem.body_velocity(&[0.0; 4]).unwrap_err(), expected);
        expected
    };
    let mismatch = |what, expected, found| SolveError::SizeMismatch { what, expected, found };
    assert_eq!(broken(&|p| p.f.push(0.0)), mismatch("rows of M", 13, 12));
    assert_eq!(broken(&|p| p.w.push(0.0)), mismatch("columns of H", 5, 4));
    assert_eq!(broken(&|p| p.blocks.truncate(1)), mismatch("rows of the blocks", 4, 2));
    assert_eq!(broken(&|p| p.f[3] = f64::NAN), SolveError::NotFinite { what: "f", index: 3 });
    assert_eq!(broken(&|p| p.w[1] = f64::INFINITY), SolveError::NotFinite { what: "w", index: 1 });
    assert_eq!(broken(&|p| p.m.values_mut()[2] = f64::NAN), SolveError::NotFinite { what: "M", index: 2 });
    assert_eq!(broken(&|p| p.h.values_mut()[1] = f64::NAN), SolveError::NotFinite { what: "H", index: 1 });
    assert_eq!(broken(&|p| p.m.values_mut()[0] = -1.0), SolveError::NotDefinite { what: "M" });
    let mu = SolveError::BadBlock { block: 1, value: -0.5, expected: "a friction coefficient >= 0" };
    assert_eq!(broken(&|p| p.blocks[1] = Block::Coulomb2 { mu: -0.5 }), mu);
    assert_eq!(good.body_velocity(&[0.0; 3]).unwrap_err(), mismatch("r", 4, 3));
}

#[test]
fn nothing_at_all_is_solved() {
    for &kind in GlobalSolverKind::ALL {
        let mut solver = global_solver(&GlobalSolverParams { kind, ..Default::default() }).unwrap();
        let report = solver.solve(&GlobalFrictionContact::default(), &mut Solution::default()).unwrap();
        assert!(report.is_converged(), "{}: {report:?}", kind.name());
    }
}

/// The whole local suite sees no difference between W assembled and W body by body.
#[test]
fn local_solvers_take_matrix_free_operators() {
    for (name, _, problem) in suite() {
        let (assembled, Ok(by_body)) = (problem.to_local().unwrap(), problem.to_matrix_free()) else {
            assert!(name.contains("elastic"), "{name}");
            continue;
        };
        assert!(by_body.validate().is_ok(), "{name}");
        assert!((assembled.mass_scale() - by_body.mass_scale()).abs() <= 1e-14 * assembled.mass_scale()); // order of summation
        for &kind in FrictionSolverKind::ALL {
            // Slow methods are compared where they are fast.
            let params = FrictionSolverParams { kind, max_iterations: 1000, ..Default::default() };
            let solve = |problem: &FrictionContact| {
                let mut solution = Solution::default();
                friction_contact_solver(&params).unwrap().solve(problem, &mut solution).map(|report| (report, solution))
            };
            let what = format!("{} on '{name}'", kind.name());
            match (solve(&assembled), solve(&by_body)) {
                (Ok((report, a)), Ok((other, b))) => {
                    let must_agree = matches!(kind.name(), "auto" | "lemke" | "proximal-newton");
                    assert!(!must_agree || report.is_converged() == other.is_converged(), "{what}: {report:?} {other:?}");
                    for (a, b) in a.u.iter().zip(&b.u).filter(|_| report.is_converged() && other.is_converged()) {
                        // Both at 1e-10 and of condition below 1e3; a residual relative to impulses of 1e6 in one of the problems.
                        assert!((a - b).abs() <= if name == "very heavy on light" { 1e-3 } else { 1e-7 }, "{what}: {a} {b}");
                    }
                }
                (Err(a), Err(b)) => assert_eq!(a, b, "{what}"),
                (a, b) => panic!("{what}: {a:?} {b:?}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        rng_seed: RngSeed::Fixed(20_240_612),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Rigid bodies with contacts of full rank: all solvers agree with each other and with the local form.
    #[test]
    fn random_bodies_are_solved_by_all(seed in any::<u64>(), n in 3..7_usize, mu in 0.0..0.4_f64) {
        let problem = bodies(seed, n, 2.0, vec![Block::Coulomb3 { mu }; n]);
        let local = problem.to_local().unwrap();
        let expected = solve_local(&local);
        for &kind in GlobalSolverKind::ALL {
            let mut solution = Solution::default();
            let report = global_solver(&GlobalSolverParams { kind, ..Default::default() }).unwrap().solve(&problem, &mut solution).unwrap();
            prop_assert!(report.is_converged(), "{} {report:?}", kind.name());
            let error = solution.u.iter().zip(&expected.u).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            prop_assert!(error <= 1e-7, "{} {error}", kind.name()); // residual 1e-10, condition below 1e3
        }
    }

    /// W, q and the products of the three forms are the same.
    #[test]
    fn forms_have_the_same_velocities(seed in any::<u64>(), n in 1..5_usize, contacts in 1..12_usize) {
        let kinds = [Block::Unilateral, Block::Coulomb2 { mu: 0.1 }, Block::Coulomb3 { mu: 0.2 }, Block::Bilateral { dim: 4 }];
        let problem = bodies(seed, n, 3.0, (0..contacts).map(|k| kinds[(k + seed as usize % 4) % 4]).collect());
        let (local, by_body) = (problem.to_local().unwrap(), problem.to_matrix_free().unwrap());
        let r: Vec<f64> = (0..problem.n_rows()).map(|k| (k % 5) as f64 - 2.0).collect();
        let v = problem.body_velocity(&r).unwrap();
        let mut u = [vec![0.0; r.len()], vec![0.0; r.len()], vec![0.0; r.len()]];
        problem.contact_velocity(&v, &mut u[0]);
        local.velocity(&r, &mut u[1]);
        by_body.velocity(&r, &mut u[2]);
        let size = u[0].iter().fold(1.0_f64, |s, x| s.max(x.abs()));
        for k in 0..r.len() {
            // Sums of some dozens of terms, divided by masses of condition below 1e2.
            prop_assert!((u[0][k] - u[1][k]).abs() <= 1e-12 * size && (u[1][k] - u[2][k]).abs() <= 1e-12 * size, "{u:?}");
        }
    }
}

/// Two bodies of one coordinate each, without contact forces: u = v, and M v = f.
fn two_free_bodies() -> GlobalFrictionContact {
    GlobalFrictionContact {
        m: SparseMatrix::from_triplets(2, 2, &[(0, 0, 2.0), (1, 1, 4.0)]).unwrap(),
        h: SparseMatrix::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]).unwrap(),
        f: vec![2.0, 8.0],
        w: vec![0.0; 2],
        blocks: vec![Block::Unilateral; 2],
    }
}

#[test]
fn the_mass_unit_is_the_mean_diagonal_of_w() {
    let problem = two_free_bodies();
    // W = diag(1/2, 1/4); without coupling of masses the global form knows it exactly
    assert_eq!(problem.mass_scale(), 0.375);
    // the local form factors M: a rounding of each entry
    assert!((problem.to_local().unwrap().mass_scale() - 0.375).abs() < 1e-15);
}

#[test]
fn the_residual_holds_the_equation_of_motion() {
    let (problem, r, u) = (two_free_bodies(), [0.0; 2], [1.0, 2.0]);
    assert_eq!(problem.residual_normalised(&[1.0, 2.0], &r, &u), 0.0);
    // momentum (2.02, 8) against forces (2, 8), relative to the larger of them; rounding of 0.01
    let found = problem.residual_normalised(&[1.01, 2.0], &r, &u);
    assert!((found - 0.02 / 2.02_f64.hypot(8.0)).abs() < 1e-15, "{found}");
}
