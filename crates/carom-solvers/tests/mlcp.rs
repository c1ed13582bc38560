//! Every registered solver of mixed LCPs meets every mixed LCP here.

use crate::generate::Random;
use carom_solvers::{
    LcpSolverKind, Matrix, Mlcp, MlcpSolverKind, MlcpSolverParams, Solution, SolveError, SolveReport, SolveStatus, SparseMatrix,
    mlcp_solver,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A problem and what the solvers owe it.
struct Case {
    name: &'static str,
    problem: Mlcp,
    is_feasible: bool,
    /// True when sweeps have a diagonal to divide by.
    has_diagonal: bool,
}

/// Bodies with masses, joints and contacts: unknowns (v, λ, p), equations M v − Gᵀλ − Hᵀp = M v₀ and G v = 0,
/// complementarity 0 ≤ H v ⊥ p ≥ 0. Always solvable: v = 0 is admissible.
fn mechanism(seed: u64, masses: &[f64], joints: usize, contacts: usize) -> Mlcp {
    let mut random = Random::new(seed);
    let dof = masses.len();
    let constraints = joints + contacts;
    let n = dof + constraints;
    let g = random.vector(constraints * dof);
    let v = random.vector(dof);
    let mut m = vec![0.0; n * n];
    let mut q = vec![0.0; n];
    for i in 0..dof {
        m[i * n + i] = masses[i];
        q[i] = -masses[i] * v[i];
        for c in 0..constraints {
            m[i * n + dof + c] = -g[c * dof + i];
            m[(dof + c) * n + i] = g[c * dof + i];
        }
    }
    Mlcp::dense(m, q, (0..n).map(|i| i < dof + joints).collect()).unwrap()
}

/// W = G Gᵀ + shift·I and q = G v for joints and contacts: the first `joints` rows are equations.
fn delassus(seed: u64, dof: usize, joints: usize, contacts: usize, shift: f64) -> Mlcp {
    let mut random = Random::new(seed);
    let n = joints + contacts;
    let g = random.vector(n * dof);
    let v = random.vector(dof);
    let row = |i: usize| &g[i * dof..(i + 1) * dof];
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let m = (0..n * n).map(|k| dot(row(k / n), row(k % n)) + if k / n == k % n { shift } else { 0.0 }).collect();
    let q = (0..n).map(|i| dot(row(i), &v)).collect();
    Mlcp::dense(m, q, (0..n).map(|i| i < joints).collect()).unwrap()
}

/// The same problem with its rows and columns multiplied by d.
fn rescaled(problem: &Mlcp, d: &[f64]) -> Mlcp {
    let n = problem.n();
    let m = (0..n * n).map(|k| problem.m.get(k / n, k % n) * d[k / n] * d[k % n]).collect();
    let q = problem.q.iter().zip(d).map(|(q, d)| q * d).collect();
    Mlcp::dense(m, q, problem.is_equality.clone()).unwrap()
}

fn sparse_form(problem: &Mlcp) -> Mlcp {
    let n = problem.n();
    let entries: Vec<_> = (0..n * n).map(|k| (k / n, k % n, problem.m.get(k / n, k % n))).filter(|e| e.2 != 0.0).collect();
    Mlcp { m: SparseMatrix::from_triplets(n, n, &entries).unwrap().into(), ..problem.clone() }
}

/// Repeats the first equation at the end of the problem, unknown and all.
fn with_repeated_row(problem: &Mlcp) -> Mlcp {
    let n = problem.n();
    let source = |i: usize| if i == n { 0 } else { i };
    let m = (0..(n + 1) * (n + 1)).map(|k| problem.m.get(source(k / (n + 1)), source(k % (n + 1)))).collect();
    let q = (0..=n).map(|i| problem.q[source(i)]).collect();
    Mlcp::dense(m, q, (0..=n).map(|i| problem.is_equality[source(i)]).collect()).unwrap()
}

fn cases() -> Vec<Case> {
    let case = |name, has_diagonal, problem| Case { name, problem, is_feasible: true, has_diagonal };
    let machine = mechanism(1, &[1.0, 2.0, 0.5, 1.0, 3.0, 1.0], 2, 4);
    let local = delassus(2, 9, 2, 4, 0.0);
    let spread: Vec<f64> = (0..local.n()).map(|i| 10f64.powi(2 * (i as i32 % 4) - 3)).collect();
    let mut only_equations = local.clone();
    only_equations.is_equality.fill(true);
    let mut no_equations = local.clone();
    no_equations.is_equality.fill(false);
    let mut contradiction = with_repeated_row(&local);
    contradiction.q[local.n()] += 1.0;
    // v = −1 is given, the contact needs v ≥ 0 and its impulse acts on nothing.
    let stuck = Mlcp::dense(vec![1.0, 0.0, 1.0, 0.0], vec![1.0, 0.0], vec![true, false]).unwrap();
    vec![
        case("mechanism", false, machine.clone()),
        case("sparse mechanism", false, sparse_form(&machine)),
        // More joints than coordinates.
        case("redundant mechanism", false, mechanism(3, &[1.0, 2.0, 1.0], 5, 3)),
        case("sparse redundant mechanism", false, sparse_form(&mechanism(3, &[1.0, 2.0, 1.0], 5, 3))),
        case("masses from 1e-4 to 1e4", false, mechanism(4, &[1e-4, 1e-2, 1.0, 1e2, 1e4], 1, 3)),
        case("joints and contacts", true, local.clone()),
        case("repeated joint", true, with_repeated_row(&local)),
        case("redundant contacts", true, delassus(5, 4, 2, 6, 0.0)),
        case("ill-scaled", true, rescaled(&local, &spread)),
        case("no equations", true, no_equations),
        case("only equations", true, only_equations),
        case("zero q", true, Mlcp { q: vec![0.0; local.n()], ..local.clone() }),
        case("empty", true, Mlcp::default()),
        Case { is_feasible: false, ..case("contradicting joints", true, contradiction) },
        Case { is_feasible: false, ..case("stuck", false, stuck) },
    ]
}

fn params(kind: MlcpSolverKind) -> MlcpSolverParams {
    MlcpSolverParams { kind, lcp: LcpSolverKind::Lemke, ..Default::default() }
}

/// What holds for any solver on any problem, converged or not.
fn check_honest(what: &str, problem: &Mlcp, solution: &Solution, report: &SolveReport) {
    let n = problem.n();
    assert_eq!((solution.r.len(), solution.u.len()), (n, n), "{what}");
    assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()), "{what}");
    let mut w = vec![0.0; n];
    problem.velocity(&solution.r, &mut w);
    assert_eq!(w, solution.u, "{what}: w is not M z + q");
    assert_eq!(report.residual_normalised, problem.residual_normalised(&solution.r, &w), "{what}");
    assert_eq!(report.residual, problem.residual(&solution.r, &w), "{what}");
    assert_eq!(report.is_converged(), report.residual_normalised <= 1e-10, "{what}: {report:?}");
}

#[test]
fn mlcp_solvers() {
    for &kind in MlcpSolverKind::ALL {
        let mut solver = mlcp_solver(&params(kind)).unwrap();
        for case in cases() {
            let what = format!("{} on '{}'", kind.name(), case.name);
            let mut solution = Solution::default();
            let report = match solver.solve(&case.problem, &mut solution) {
                Ok(report) => report,
                Err(SolveError::Unsupported { alternatives, .. }) => {
                    assert!(kind == MlcpSolverKind::Pgs && !case.has_diagonal, "{what}: refused");
                    assert!(alternatives.contains("elimination"), "{what}: {alternatives}");
                    continue;
                }
                Err(error) => panic!("{what}: {error}"),
            };
            check_honest(&what, &case.problem, &solution, &report);
            assert_eq!(report.is_converged(), case.is_feasible, "{what}: {report:?}");
            if case.name == "stuck" && matches!(kind, MlcpSolverKind::Lemke | MlcpSolverKind::Elimination) {
                assert_eq!(report.status, SolveStatus::RayTermination, "{what}");
            }
            if report.is_converged() {
                let before = solution.clone();
                let again = solver.solve(&case.problem, &mut solution).unwrap();
                assert!(again.is_converged() && again.iterations == 0, "{what} again: {again:?}");
                assert_eq!(before, solution, "{what} again");
            }
        }
    }
}

#[test]
fn elimination_takes_every_lcp_solver() {
    for &lcp in LcpSolverKind::ALL {
        let mut solver = mlcp_solver(&MlcpSolverParams { lcp, ..Default::default() }).unwrap();
        for problem in [mechanism(6, &[1.0, 2.0, 1.0, 0.5, 1.0], 2, 3), delassus(7, 9, 2, 4, 0.0)] {
            let mut solution = Solution::default();
            let report = solver.solve(&problem, &mut solution).unwrap();
            assert!(report.is_converged(), "{}: {report:?}", lcp.name());
        }
    }
}

#[test]
fn wild_guesses_do_no_harm() {
    let problem = delassus(8, 9, 2, 4, 0.1);
    for &kind in MlcpSolverKind::ALL {
        let mut solver = mlcp_solver(&params(kind)).unwrap();
        for guess in [vec![f64::NAN; 6], vec![-1e3; 6], vec![1e3; 6], vec![1.0; 2]] {
            let mut solution = Solution { r: guess, u: Vec::new() };
            let report = solver.solve(&problem, &mut solution).unwrap();
            assert!(report.is_converged(), "{}: {report:?}", kind.name());
        }
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(20_240_611), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(60))]

    /// Symmetric definite M: one solution, found by all.
    #[test]
    fn solvers_agree_on_definite_problems(seed in any::<u64>(), joints in 0..4_usize, contacts in 0..7_usize, is_sparse in any::<bool>()) {
        let problem = delassus(seed, joints + contacts + 2, joints, contacts, 0.2);
        let problem = if is_sparse { sparse_form(&problem) } else { problem };
        let mut first: Option<Solution> = None;
        for &kind in MlcpSolverKind::ALL {
            let mut solution = Solution::default();
            let params = MlcpSolverParams { tolerance: 1e-12, ..params(kind) };
            let report = mlcp_solver(&params).unwrap().solve(&problem, &mut solution).unwrap();
            prop_assert!(report.is_converged(), "{report:?}");
            let reference = first.get_or_insert_with(|| solution.clone());
            for (a, b) in reference.r.iter().zip(&solution.r) {
                // Residual 1e-12 and conditioning below 1e3.
                prop_assert!((a - b).abs() <= 1e-8 * (1.0 + a.abs()), "{kind:?}: {a} {b}");
            }
        }
    }

    /// Entries of any size, singular and indefinite matrices: an honest and finite answer.
    #[test]
    fn strange_problems_get_finite_answers(seed in any::<u64>(), n in 1..7_usize, is_sparse in any::<bool>()) {
        let mut random = Random::new(seed);
        let mut pick = || [0.0, 1.0, -1.0, 0.5, 1e-8, -1e8, 1e8, 1e-60, 1e60, -1e60][((random.signed() + 1.0) * 5.0) as usize % 10];
        let m = (0..n * n).map(|_| pick()).collect();
        let q = (0..n).map(|_| pick()).collect();
        let problem = Mlcp::dense(m, q, (0..n).map(|_| pick() > 0.0).collect()).unwrap();
        let problem = if is_sparse { sparse_form(&problem) } else { problem };
        for &kind in MlcpSolverKind::ALL {
            let mut solution = Solution { r: (0..n).map(|_| pick()).collect(), u: Vec::new() };
            let mut solver = mlcp_solver(&MlcpSolverParams { max_iterations: 200, ..params(kind) }).unwrap();
            if let Ok(report) = solver.solve(&problem, &mut solution) {
                check_honest(kind.name(), &problem, &solution, &report);
            }
        }
    }

    /// Mechanisms, redundant or not: the velocities are unique and found by all but the sweeps.
    #[test]
    fn solvers_agree_on_mechanisms(seed in any::<u64>(), dof in 1..7_usize, joints in 0..5_usize, contacts in 0..6_usize) {
        let masses: Vec<f64> = Random::new(seed ^ 1).vector(dof).iter().map(|x| 10f64.powf(*x)).collect();
        let problem = mechanism(seed, &masses, joints, contacts);
        let mut first: Option<Solution> = None;
        for kind in [MlcpSolverKind::Enumeration, MlcpSolverKind::Elimination, MlcpSolverKind::Lemke, MlcpSolverKind::NewtonFischerBurmeister] {
            for problem in [problem.clone(), sparse_form(&problem)] {
                let mut solution = Solution::default();
                let report = mlcp_solver(&params(kind)).unwrap().solve(&problem, &mut solution).unwrap();
                let form = if matches!(problem.m, Matrix::Sparse(_)) { "sparse" } else { "dense" };
                prop_assert!(report.is_converged(), "{form} {report:?}");
                let reference = first.get_or_insert_with(|| solution.clone());
                for (a, b) in reference.r[..dof].iter().zip(&solution.r) {
                    // A residual of 1e-10 allows an error of its root in the velocities of a redundant mechanism.
                    prop_assert!((a - b).abs() <= 1e-4, "{kind:?} {form}: {a} {b}");
                }
            }
        }
    }
}
