//! Every registered LCP solver meets every LCP here.

use crate::generate::Random;
use carom_solvers::lcp::Lemke;
use carom_solvers::{
    Lcp, LcpSolverKind, LcpSolverParams, OneStepSolver, Solution, SolveError, SolveReport, SolveStatus, SparseMatrix, lcp_solver,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn lcp(m: Vec<f64>, q: Vec<f64>) -> Lcp {
    Lcp::dense(m, q).unwrap()
}

/// A problem and what the solvers owe it.
struct Case {
    name: &'static str,
    problem: Lcp,
    is_symmetric: bool,
    is_feasible: bool,
    /// Solvers without a theory for this matrix: they may stop above the tolerance, honestly.
    may_fail: &'static [&'static str],
}

/// G Gᵀ + shift·I for a random G with n rows and `rank` columns.
fn gram(random: &mut Random, n: usize, rank: usize, shift: f64) -> Vec<f64> {
    let g = random.vector(n * rank);
    let entry = |i: usize, j: usize| -> f64 { (0..rank).map(|c| g[i * rank + c] * g[j * rank + c]).sum() };
    (0..n * n).map(|k| entry(k / n, k % n) + if k / n == k % n { shift } else { 0.0 }).collect()
}

fn product(m: &[f64], x: &[f64]) -> Vec<f64> {
    m.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// −z″ + f with an obstacle, as a sparse matrix.
fn chain(n: usize) -> Lcp {
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 2.0));
        if i > 0 {
            entries.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
        }
    }
    let q = (0..n).map(|i| (0.7 * i as f64).sin() + 0.1).collect();
    Lcp { m: SparseMatrix::from_triplets(n, n, &entries).unwrap().into(), q }
}

fn dense_form(problem: &Lcp) -> Lcp {
    let mut m = Vec::new();
    problem.m.to_dense(&mut m);
    lcp(m, problem.q.clone())
}

/// Murty's lower triangular P-matrix (ones on the diagonal, twos below), whose path for Lemke is exponentially long.
fn exponential(n: usize) -> Lcp {
    let m = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 2.0 * f64::from(u8::from(k / n > k % n)) }).collect();
    let q = (0..n).map(|i| -(0..=i).map(|j| 2f64.powi((n - j) as i32)).sum::<f64>()).collect();
    lcp(m, q)
}

fn cases() -> Vec<Case> {
    let mut random = Random::new(31);
    let case = |name, problem| Case { name, problem, is_symmetric: true, is_feasible: true, may_fail: &[] };
    let definite = gram(&mut random, 5, 8, 0.1);
    let q = random.vector(5);
    let deficient = gram(&mut random, 6, 2, 0.0);
    // q = w − M z with z, w ≥ 0: feasible.
    let q_deficient = product(&deficient, &[0.3, 1.0, 0.0, 0.7, 0.2, 0.0]).iter().map(|x| -x).collect();
    // (z, w) = (1, 0, 0, 2, 0), (0, 0, 1, 0, 0): rows 2 and 5 have neither.
    let degenerate = gram(&mut random, 5, 8, 0.1);
    let q_degenerate = product(&degenerate, &[1.0, 0.0, 0.0, 2.0, 0.0]).iter().zip([0.0, 0.0, 1.0, 0.0, 0.0]).map(|(x, w)| w - x).collect();
    let wide: Vec<f64> = {
        let unit = gram(&mut random, 6, 9, 0.1);
        let d: Vec<f64> = (0..6).map(|i| 10f64.powf(0.8 * i as f64)).collect();
        unit.iter().enumerate().map(|(k, a)| a * d[k / 6] * d[k % 6]).collect()
    };
    // Kostreva's example: without the lexicographic rule Lemke's method cycles. Its symmetric part is semidefinite.
    let cycling = vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0];
    let p_matrix = vec![2.0, -1.0, 0.5, 1.5, 2.0, -1.0, -0.5, 1.0, 2.0];
    let not_sweeps = &["pgs", "projected-cg"];
    vec![
        case("definite", lcp(definite, q)),
        Case { may_fail: &["murty", "newton-min"], ..case("rank-deficient", lcp(deficient, q_deficient)) },
        case("degenerate", lcp(degenerate, q_degenerate)),
        Case { may_fail: &["newton-min"], ..case("ties", lcp(vec![1.0; 9], vec![-1.0; 3])) },
        case("zero q", lcp(vec![2.0, 1.0, 1.0, 2.0], vec![0.0; 2])),
        case("already solved", lcp(vec![2.0, 1.0, 1.0, 2.0], vec![1.0, 0.0])),
        case("diagonal from 1 to 1e8", lcp(wide, vec![-1.0, 1.0, -1.0, -1.0, 1.0, -1.0])),
        case("sparse chain", chain(12)),
        case("dense chain", dense_form(&chain(12))),
        Case { is_symmetric: false, ..case("P-matrix", lcp(p_matrix, vec![-1.0, -2.0, 0.5])) },
        Case { is_symmetric: false, may_fail: not_sweeps, ..case("cycling", lcp(cycling, vec![-1.0; 3])) },
        Case { is_symmetric: false, may_fail: not_sweeps, ..case("exponential", exponential(5)) },
        case("empty", lcp(vec![], vec![])),
        Case { is_feasible: false, ..case("infeasible", lcp(vec![1.0, -1.0, -1.0, 1.0], vec![-1.0; 2])) },
        Case { is_feasible: false, ..case("no matrix", lcp(vec![0.0], vec![-1.0])) },
    ]
}

/// What holds for any solver on any problem, converged or not.
fn check_honest(what: &str, problem: &Lcp, solution: &Solution, report: &SolveReport, tolerance: f64) {
    let n = problem.n();
    assert_eq!((solution.r.len(), solution.u.len()), (n, n), "{what}");
    assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()), "{what}");
    let mut w = vec![0.0; n];
    problem.velocity(&solution.r, &mut w);
    assert_eq!(w, solution.u, "{what}: w is not M z + q");
    assert_eq!(report.residual_normalised, problem.residual_normalised(&solution.r, &w), "{what}");
    assert_eq!(report.residual, problem.residual(&solution.r, &w), "{what}");
    assert_eq!(report.is_converged(), report.residual_normalised <= tolerance, "{what}: {report:?}");
}

#[test]
fn lcp_solvers() {
    for &kind in LcpSolverKind::ALL {
        let mut solver = lcp_solver(&LcpSolverParams { kind, ..Default::default() }).unwrap();
        for case in cases() {
            let what = format!("{} on '{}'", kind.name(), case.name);
            let mut solution = Solution::default();
            let report = match solver.solve(&case.problem, &mut solution) {
                Ok(report) => report,
                Err(SolveError::Unsupported { alternatives, .. }) => {
                    assert!(!case.is_symmetric, "{what}: refused");
                    assert!(alternatives.contains("auto"), "{what}: {alternatives}");
                    continue;
                }
                Err(error) => panic!("{what}: {error}"),
            };
            check_honest(&what, &case.problem, &solution, &report, 1e-10);
            if !case.is_feasible {
                assert!(!report.is_converged(), "{what}: {report:?} {solution:?}");
                if matches!(kind.name(), "lemke" | "principal-pivoting" | "katzenelson") {
                    assert_eq!(report.status, SolveStatus::RayTermination, "{what}");
                }
                continue;
            }
            assert!(report.is_converged() || case.may_fail.contains(&kind.name()), "{what}: {report:?}");
            if report.is_converged() {
                // A solver starts from its guess: from the solution nothing is left to do.
                let before = solution.clone();
                let again = solver.solve(&case.problem, &mut solution).unwrap();
                assert!(again.is_converged(), "{what} again: {again:?}");
                for (a, b) in before.r.iter().zip(&solution.r) {
                    // Both meet the tolerance 1e-10; the solution of 'rank-deficient' may still slide along its set.
                    assert!((a - b).abs() <= 1e-8 * (1.0 + a.abs()) || case.name == "rank-deficient", "{what} again: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn methods_for_symmetric_matrices_refuse_others() {
    for kind in [LcpSolverKind::PrincipalPivoting, LcpSolverKind::ProjectedCg] {
        let mut solver = lcp_solver(&LcpSolverParams { kind, ..Default::default() }).unwrap();
        let error = solver.solve(&lcp(vec![1.0, 2.0, 0.0, 1.0], vec![-1.0; 2]), &mut Solution::default());
        assert!(matches!(error, Err(SolveError::Unsupported { .. })), "{}: {error:?}", kind.name());
    }
}

#[test]
fn wild_guesses_do_no_harm() {
    for &kind in LcpSolverKind::ALL {
        let mut solver = lcp_solver(&LcpSolverParams { kind, ..Default::default() }).unwrap();
        for problem in [chain(9), dense_form(&chain(9))] {
            for guess in [vec![f64::NAN; 9], vec![-1e3; 9], vec![1e3; 9], vec![1.0; 2]] {
                let mut solution = Solution { r: guess, u: Vec::new() };
                let report = solver.solve(&problem, &mut solution).unwrap();
                assert!(report.is_converged(), "{}: {report:?}", kind.name());
            }
        }
    }
}

#[test]
fn limits_are_kept() {
    // Sweeps look at the clock with their residual only.
    for &kind in LcpSolverKind::ALL.iter().filter(|kind| **kind != LcpSolverKind::Pgs) {
        let params = LcpSolverParams { kind, time_limit: Some(1e-9), ..Default::default() };
        let problem = chain(200);
        let mut solution = Solution::default();
        match lcp_solver(&params).unwrap().solve(&problem, &mut solution) {
            Ok(report) => {
                check_honest(kind.name(), &problem, &solution, &report, 1e-10);
                // A solver that checks once per iteration may be done in its first one.
                assert!(report.iterations <= 10, "{}: {report:?}", kind.name());
            }
            Err(error) => assert!(kind == LcpSolverKind::Enumeration, "{}: {error}", kind.name()),
        }
    }
}

#[test]
fn lemkes_path_of_the_exponential_example_is_long_and_ends() {
    let mut solver = lcp_solver(&LcpSolverParams { kind: LcpSolverKind::Lemke, ..Default::default() }).unwrap();
    for n in 2..9 {
        let report = solver.solve(&exponential(n), &mut Solution::default()).unwrap();
        assert!(report.is_converged(), "{report:?}");
        assert_eq!(report.iterations, 1 << n, "{n}");
    }
}

/// Solves by every kind that takes the problem and converges.
fn solve_by_all(problem: &Lcp, tolerance: f64) -> Vec<(LcpSolverKind, Solution)> {
    let mut found = Vec::new();
    for &kind in LcpSolverKind::ALL {
        let mut solver = lcp_solver(&LcpSolverParams { kind, tolerance, ..Default::default() }).unwrap();
        let mut solution = Solution::default();
        if let Ok(report) = solver.solve(problem, &mut solution) {
            check_honest(kind.name(), problem, &solution, &report, tolerance);
            if report.is_converged() {
                found.push((kind, solution));
            }
        }
    }
    found
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(20_240_611), failure_persistence: None, ..ProptestConfig::default() }
}

/// Pivoting methods, which owe a solution to every problem of these tests.
const EXACT: [LcpSolverKind; 4] =
    [LcpSolverKind::Lemke, LcpSolverKind::PrincipalPivoting, LcpSolverKind::Katzenelson, LcpSolverKind::Enumeration];

proptest! {
    #![proptest_config(config(60))]

    /// A symmetric definite M has one solution.
    #[test]
    fn solvers_agree_on_definite_problems(seed in any::<u64>(), n in 1..13_usize, scale in -4..5_i32) {
        let mut random = Random::new(seed);
        let scale = 10f64.powi(scale);
        let m: Vec<f64> = gram(&mut random, n, n + 2, 0.2).iter().map(|a| scale * a).collect();
        let problem = lcp(m, random.vector(n));
        let found = solve_by_all(&problem, 1e-12);
        for kind in EXACT.iter().chain([&LcpSolverKind::Murty, &LcpSolverKind::Pgs]) {
            prop_assert!(found.iter().any(|(k, _)| k == kind), "{kind:?} did not converge");
        }
        let (_, first) = &found[0];
        let size = first.r.iter().fold(0.0, |s: f64, z| s.max(z.abs())).max(1.0 / scale);
        for (kind, solution) in &found {
            for (a, b) in first.r.iter().zip(&solution.r) {
                // Residual 1e-12 and conditioning below 1e3.
                prop_assert!((a - b).abs() <= 1e-8 * size, "{kind:?}: {a} {b}");
            }
        }
    }

    /// Redundant rows: z is not unique, w is.
    #[test]
    fn solvers_agree_on_the_velocities_of_redundant_problems(seed in any::<u64>(), n in 2..11_usize, rank in 1..6_usize) {
        let mut random = Random::new(seed);
        let m = gram(&mut random, n, rank.min(n - 1), 0.0);
        let z: Vec<f64> = random.vector(n).iter().map(|x| x.max(0.0)).collect();
        let w: Vec<f64> = random.vector(n).iter().zip(&z).map(|(x, z)| if *z > 0.0 { 0.0 } else { x.max(0.0) }).collect();
        let q = product(&m, &z).iter().zip(&w).map(|(x, w)| w - x).collect();
        let problem = lcp(m, q);
        let found = solve_by_all(&problem, 1e-10);
        for kind in EXACT {
            prop_assert!(found.iter().any(|(k, _)| *k == kind), "{kind:?} did not converge");
        }
        for (kind, solution) in &found {
            for (a, b) in w.iter().zip(&solution.u) {
                // A residual of 1e-10 allows an error of its root in w of a singular problem; pivots are exact.
                let tolerance = if EXACT.contains(kind) { 1e-8 } else { 1e-4 };
                prop_assert!((a - b).abs() <= tolerance, "{kind:?}: {a} {b}");
            }
        }
    }

    /// Entries of any size, singular and indefinite matrices: an honest and finite answer.
    #[test]
    fn strange_problems_get_finite_answers(seed in any::<u64>(), n in 1..7_usize, is_symmetric in any::<bool>(), is_sparse in any::<bool>()) {
        let mut random = Random::new(seed);
        let mut pick = || [0.0, 1.0, -1.0, 0.5, 1e-8, -1e8, 1e8, 1e-60, 1e60, -1e60][((random.signed() + 1.0) * 5.0) as usize % 10];
        let mut entries = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let a = pick();
                if is_symmetric && j <= i {
                    entries.extend([(i, j, 0.5 * a), (j, i, 0.5 * a)]);
                } else if !is_symmetric {
                    entries.push((i, j, a));
                }
            }
        }
        let problem = Lcp { m: SparseMatrix::from_triplets(n, n, &entries).unwrap().into(), q: (0..n).map(|_| pick()).collect() };
        let problem = if is_sparse { problem } else { dense_form(&problem) };
        for &kind in LcpSolverKind::ALL {
            let mut solution = Solution { r: (0..n).map(|_| pick()).collect(), u: Vec::new() };
            let mut solver = lcp_solver(&LcpSolverParams { kind, max_iterations: 200, ..Default::default() }).unwrap();
            if let Ok(report) = solver.solve(&problem, &mut solution) {
                check_honest(kind.name(), &problem, &solution, &report, 1e-10);
            }
        }
    }

    /// Dense and sparse form of a band matrix, symmetric or not, have the same solution.
    #[test]
    fn dense_and_sparse_forms_agree(seed in any::<u64>(), n in 1..15_usize, skew in -0.5..0.5_f64) {
        let mut random = Random::new(seed);
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push((i, i, 2.5));
            if i > 0 {
                entries.extend([(i, i - 1, -1.0 + skew), (i - 1, i, -1.0 - skew)]);
            }
        }
        let sparse = Lcp { m: SparseMatrix::from_triplets(n, n, &entries).unwrap().into(), q: random.vector(n) };
        let (a, b) = (solve_by_all(&sparse, 1e-12), solve_by_all(&dense_form(&sparse), 1e-12));
        prop_assert_eq!(a.len(), b.len());
        for ((kind, a), (_, b)) in a.iter().zip(&b) {
            for (a, b) in a.r.iter().zip(&b.r) {
                prop_assert!((a - b).abs() <= 1e-9, "{kind:?}: {a} {b}"); // residual 1e-12, conditioning below 10
            }
        }
    }
}

#[test]
fn lemkes_path_ends_where_the_artificial_variable_may_leave() {
    // two variables leave at once at the end: if it were the other one, two more pivots
    let problem = lcp(vec![1.0, 2.0, 2.0, 1.0, 0.0, 2.0, -1.0, -1.0, 3.0], vec![-1.0; 3]);
    let params = LcpSolverParams { kind: LcpSolverKind::Lemke, ..Default::default() };
    let mut solver = Lemke::new(&params).with_covering_vector(vec![1.0, 2.0, 1.0]).unwrap();
    let report = solver.solve(&problem, &mut Solution::default()).unwrap();
    assert!(report.is_converged() && report.iterations == 3, "{report:?}");
}
