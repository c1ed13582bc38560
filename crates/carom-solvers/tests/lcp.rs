//! Every registered LCP solver meets every LCP here.

use crate::generate::Random;
use carom_solvers::{Lcp, LcpSolverKind, LcpSolverParams, Solution, SolveStatus, lcp_solver};

fn lcp(m: Vec<f64>, q: Vec<f64>) -> Lcp {
    Lcp::dense(m, q).unwrap()
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
        ("definite", true, lcp(full, q_full)),
        ("rank-deficient", true, lcp(deficient, q_deficient)),
        ("ties", true, lcp(vec![1.0; 9], vec![-1.0; 3])),
        ("zero q", true, lcp(vec![2.0, 1.0, 1.0, 2.0], vec![0.0; 2])),
        ("infeasible", false, lcp(vec![1.0, -1.0, -1.0, 1.0], vec![-1.0; 2])),
        ("empty", true, lcp(vec![], vec![])),
    ]
}

#[test]
fn lcp_solvers() {
    for &kind in LcpSolverKind::ALL {
        let params = LcpSolverParams { kind, ..Default::default() };
        let mut solver = lcp_solver(&params).unwrap();
        for (name, feasible, problem) in lcps() {
            let what = format!("{} on '{name}'", kind.name());
            let mut solution = Solution::default();
            let report = solver.solve(&problem, &mut solution).unwrap();
            assert_eq!(report.is_converged(), feasible, "{what}: {report:?}");
            assert!(solution.r.iter().all(|z| *z >= 0.0 && z.is_finite()), "{what}");
            let judge = problem.residual_normalised(&solution.r, &solution.u);
            assert_eq!(report.residual_normalised, judge, "{what}");
            if !feasible && kind.name() == "lemke" {
                assert_eq!(report.status, SolveStatus::RayTermination, "{what}");
            }
        }
    }
}
