//! The solvers of convex quadratic programs.

use crate::generate::Random;
use carom_solvers::{ConvexQp, DenseMatrix, Matrix, QpSolverParams, Solution, SolveReport, SparseMatrix, qp_solver};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const ALL: [&str; 2] = ["active-set", "interior-point"];
const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn solve_from(name: &str, qp: &ConvexQp, solution: &mut Solution) -> SolveReport {
    let params = QpSolverParams { kind: name.parse().unwrap(), ..Default::default() };
    let report = qp_solver(&params).unwrap().solve(qp, solution).unwrap();
    // What holds for any solver on any program.
    let what = format!("{name}: {report:?}");
    assert_eq!((solution.r.len(), solution.u.len()), (qp.n(), qp.n_rows()), "{what}");
    assert!(solution.r.iter().chain(&solution.u).all(|v| v.is_finite()), "{what}");
    assert_eq!(report.residual_normalised, qp.residual_normalised(&solution.r, &solution.u), "{what}");
    assert_eq!(report.is_converged(), report.residual_normalised <= 1e-10, "{what}");
    report
}

fn solve(name: &str, qp: &ConvexQp) -> (SolveReport, Solution) {
    let mut solution = Solution::default();
    (solve_from(name, qp, &mut solution), solution)
}

fn dense(rows: usize, columns: usize, values: &[f64]) -> Matrix {
    DenseMatrix::new(rows, columns, values.to_vec()).unwrap().into()
}

fn diagonal(d: &[f64]) -> Matrix {
    let entries: Vec<_> = d.iter().enumerate().map(|(i, d)| (i, i, *d)).collect();
    SparseMatrix::from_triplets(d.len(), d.len(), &entries).unwrap().into()
}

/// Both solvers find x and the multipliers y, to 1e-9 of the largest: the tolerance and some conditioning.
fn check(qp: &ConvexQp, x: &[f64], y: Option<&[f64]>) {
    for name in ALL {
        let (report, solution) = solve(name, qp);
        assert!(report.is_converged(), "{name}: {report:?}");
        let size = x.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
        for (a, b) in solution.r.iter().zip(x) {
            assert!((a - b).abs() < 1e-9 * size, "{name}: {:?} {x:?}", solution.r);
        }
        if let Some(y) = y {
            let size = y.iter().fold(1.0_f64, |s, y| s.max(y.abs()));
            for (a, b) in solution.u.iter().zip(y) {
                assert!((a - b).abs() < 1e-9 * size, "{name}: {:?} {y:?}", solution.u);
            }
        }
    }
}

#[test]
fn programs_known_by_hand() {
    let unit = diagonal(&[1.0, 1.0]);
    // No constraints: x = −c.
    check(&ConvexQp::new(unit.clone(), vec![1.0, -2.0]), &[-1.0, 2.0], Some(&[0.0, 0.0]));
    // The point of x₁ + x₂ = 2 closest to the origin.
    let line = dense(1, 2, &[1.0, 1.0]);
    let qp = ConvexQp::new(unit.clone(), vec![0.0; 2]).with_equalities(line.clone(), vec![2.0]);
    check(&qp, &[1.0, 1.0], Some(&[1.0, 0.0, 0.0]));
    // The same from above: x₁ + x₂ ≤ −2, multiplier −1.
    let qp = ConvexQp::new(unit.clone(), vec![0.0; 2]).with_inequalities(line.clone(), vec![FREE.0], vec![-2.0]);
    check(&qp, &[-1.0, -1.0], Some(&[-1.0, 0.0, 0.0]));
    // x₁ + x₂ = 2 with x₁ ≤ 0.5: x = (0.5, 1.5), y = 1.5 and −1 of the bound.
    let qp =
        ConvexQp::new(unit.clone(), vec![0.0; 2]).with_equalities(line.clone(), vec![2.0]).with_bounds(vec![FREE.0; 2], vec![0.5, FREE.1]);
    check(&qp, &[0.5, 1.5], Some(&[1.5, -1.0, 0.0]));
    // Nocedal & Wright's example 16.4: (x₁ − 1)² + (x₂ − 2.5)² with five inequalities; x = (1.4, 1.7).
    let g = dense(3, 2, &[1.0, -2.0, -1.0, -2.0, -1.0, 2.0]);
    let qp = ConvexQp::new(diagonal(&[2.0, 2.0]), vec![-2.0, -5.0])
        .with_inequalities(g, vec![-2.0, -6.0, -2.0], vec![FREE.1; 3])
        .with_bounds(vec![0.0; 2], vec![FREE.1; 2]);
    check(&qp, &[1.4, 1.7], Some(&[0.8, 0.0, 0.0, 0.0, 0.0]));
    // A variable fixed by its bounds.
    let qp = ConvexQp::new(unit, vec![0.0, -1.0]).with_bounds(vec![3.0, FREE.0], vec![3.0, FREE.1]);
    check(&qp, &[3.0, 1.0], Some(&[3.0, 0.0]));
}

#[test]
fn only_bounds() {
    let n = 30;
    let mut random = Random::new(1);
    let c: Vec<f64> = random.vector(n).iter().map(|c| 3.0 * c).collect();
    let x: Vec<f64> = c.iter().map(|c| (-c).clamp(-1.0, 0.5)).collect();
    check(&ConvexQp::new(diagonal(&vec![1.0; n]), c).with_bounds(vec![-1.0; n], vec![0.5; n]), &x, None);
}

#[test]
fn degenerate_and_redundant_constraints() {
    let unit = diagonal(&[1.0, 1.0]);
    // A vertex with four active rows in the plane, two of them without multiplier of their own.
    let g = dense(4, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
    let qp = ConvexQp::new(unit.clone(), vec![0.0; 2]).with_inequalities(g, vec![1.0, 1.0, 2.0, 3.0], vec![FREE.1; 4]);
    check(&qp, &[1.0, 1.0], None);
    // The same equality three times, once scaled.
    let a = dense(3, 2, &[1.0, 1.0, 1.0, 1.0, -2.0, -2.0]);
    check(&ConvexQp::new(unit.clone(), vec![0.0; 2]).with_equalities(a, vec![2.0, 2.0, -4.0]), &[1.0, 1.0], None);
    // A row that touches the minimum without pushing.
    let qp = ConvexQp::new(unit, vec![-1.0, -1.0]).with_inequalities(dense(1, 2, &[1.0, 1.0]), vec![FREE.0], vec![2.0]);
    check(&qp, &[1.0, 1.0], Some(&[0.0; 3]));
}

#[test]
fn semidefinite_and_linear_programs() {
    // ½(x₁ + x₂)² − (x₁ + x₂) with 0 ≤ x ≤ 0.7: x₁ + x₂ = 1, many solutions.
    let qp = ConvexQp::new(dense(2, 2, &[1.0; 4]), vec![-1.0; 2]).with_bounds(vec![0.0; 2], vec![0.7; 2]);
    for name in ALL {
        let (report, solution) = solve(name, &qp);
        assert!(report.is_converged(), "{name}: {report:?}");
        assert!((solution.r[0] + solution.r[1] - 1.0).abs() < 1e-9, "{name}: {solution:?}"); // the tolerance
    }
    // A linear program: maximise 3x + 2y with x + y ≤ 4, x + 3y ≤ 7, x ≤ 3, both ≥ 0: (3, 1).
    let g = dense(2, 2, &[1.0, 1.0, 1.0, 3.0]);
    let lp = ConvexQp::new(dense(2, 2, &[0.0; 4]), vec![-3.0, -2.0])
        .with_inequalities(g, vec![FREE.0; 2], vec![4.0, 7.0])
        .with_bounds(vec![0.0; 2], vec![3.0, FREE.1]);
    check(&lp, &[3.0, 1.0], Some(&[-2.0, 0.0, -1.0, 0.0]));
}

#[test]
fn programs_without_solution() {
    let unit = diagonal(&[1.0, 1.0]);
    let rows = dense(2, 2, &[1.0, 1.0, 1.0, 1.0]);
    let infeasible = [
        ConvexQp::new(unit.clone(), vec![1.0; 2]).with_equalities(rows.clone(), vec![1.0, 2.0]),
        ConvexQp::new(unit.clone(), vec![1.0; 2]).with_inequalities(rows.clone(), vec![1.0, FREE.0], vec![FREE.1, -1.0]),
        ConvexQp::new(unit, vec![0.0; 2]).with_equalities(dense(1, 2, &[1.0, 1.0]), vec![3.0]).with_bounds(vec![0.0; 2], vec![1.0; 2]),
        ConvexQp::new(diagonal(&[0.0, 0.0]), vec![1.0; 2]).with_inequalities(rows, vec![1.0, FREE.0], vec![FREE.1, -1.0]),
    ];
    for (k, qp) in infeasible.iter().enumerate() {
        assert_eq!(solve("active-set", qp).0.status.name(), "ray", "{k}");
        assert!(!solve("interior-point", qp).0.is_converged(), "{k}");
    }
    let unbounded = [
        ConvexQp::new(diagonal(&[0.0]), vec![-1.0]),
        ConvexQp::new(diagonal(&[1.0, 0.0]), vec![0.0, -1.0]).with_bounds(vec![0.0; 2], vec![FREE.1; 2]),
    ];
    for qp in &unbounded {
        for name in ALL {
            let report = solve(name, qp).0;
            assert!(!report.is_converged(), "{name}: {report:?}");
        }
    }
}

#[test]
fn nothing_to_do() {
    for name in ALL {
        let (report, solution) = solve(name, &ConvexQp::default());
        assert!(report.is_converged() && solution.r.is_empty(), "{name}: {report:?}");
        let (report, _) = solve(name, &ConvexQp::new(diagonal(&[0.0]), vec![0.0]));
        assert!(report.is_converged() && report.iterations == 0, "{name}: {report:?}");
    }
}

#[test]
fn a_solution_is_a_good_guess() {
    let qp = random_qp(7, 12, 3, 10, 1.0, 1.0);
    for name in ALL {
        let (_, mut solution) = solve(name, &qp);
        let before = solution.clone();
        let report = solve_from(name, &qp, &mut solution);
        assert!(report.is_converged() && report.iterations == 0, "{name}: {report:?}");
        assert_eq!(solution, before);
    }
    // With the active rows of a neighbour no row is dropped on the way.
    let (_, mut solution) = solve("active-set", &qp);
    let active = solution.u.iter().filter(|y| **y != 0.0).count();
    let mut next = qp.clone();
    next.c.iter_mut().for_each(|c| *c *= 1.001);
    let report = solve_from("active-set", &next, &mut solution);
    assert!(report.is_converged() && report.iterations <= active + 2, "{report:?}, {active} rows active");
}

/// A strictly convex program with a feasible point; `stiffness` and `length` change the units of H and of the rows.
fn random_qp(seed: u64, n: usize, equalities: usize, rows: usize, stiffness: f64, length: f64) -> ConvexQp {
    let mut random = Random::new(seed);
    let g = random.vector(n * (n + 3));
    let entry =
        |i: usize, j: usize| (0..n + 3).map(|c| g[i * (n + 3) + c] * g[j * (n + 3) + c]).sum::<f64>() + if i == j { 0.1 } else { 0.0 };
    let h: Vec<f64> = (0..n * n).map(|k| stiffness * entry(k / n, k % n)).collect();
    let c = random.vector(n).iter().map(|c| 5.0 * stiffness * c).collect();
    let inside = random.vector(n);
    let (a, k) = (random.vector(equalities * n), random.vector(rows * n));
    let values = |m: &[f64]| -> Vec<f64> {
        m.chunks_exact(n).map(|row| length * row.iter().zip(&inside).map(|(a, x)| a * x).sum::<f64>()).collect()
    };
    let (b, middle) = (values(&a), values(&k));
    let scaled = |m: &[f64]| m.iter().map(|a| length * a).collect::<Vec<_>>();
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for (i, v) in middle.iter().enumerate() {
        lower.push(if i % 3 == 0 { FREE.0 } else { v - length * random.signed().abs() });
        upper.push(if i % 3 == 1 { FREE.1 } else { v + length * random.signed().abs() });
    }
    let x_lower = inside.iter().enumerate().map(|(i, x)| if i % 2 == 0 { x - 0.5 } else { FREE.0 }).collect();
    let x_upper = inside.iter().enumerate().map(|(i, x)| if i % 4 == 0 { x + 0.2 } else { FREE.1 }).collect();
    ConvexQp::new(dense(n, n, &h), c)
        .with_equalities(dense(equalities, n, &scaled(&a)), b)
        .with_inequalities(dense(rows, n, &scaled(&k)), lower, upper)
        .with_bounds(x_lower, x_upper)
}

#[test]
fn a_large_sparse_program() {
    // A chain of springs pushed down on the obstacle x ≥ −0.3 (1 + sin): 2000 unknowns.
    let n = 2000;
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 2.001));
        if i > 0 {
            entries.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
        }
    }
    let h = SparseMatrix::from_triplets(n, n, &entries).unwrap();
    let lower = (0..n).map(|i| -0.3 * (1.0 + (0.01 * i as f64).sin())).collect();
    let qp = ConvexQp::new(h, vec![1e-3; n]).with_bounds(lower, vec![FREE.1; n]);
    let (report, solution) = solve("interior-point", &qp);
    assert!(report.is_converged() && report.iterations < 60, "{report:?}");
    assert!(solution.u.iter().any(|y| *y > 1e-4) && solution.u.iter().any(|y| *y == 0.0 || y.abs() < 1e-12));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, rng_seed: RngSeed::Fixed(20_240_611), failure_persistence: None, ..ProptestConfig::default() })]

    /// Both solvers meet the judge and agree on x, in any unit.
    #[test]
    fn strictly_convex_programs(
        seed in any::<u64>(), n in 1..15_usize, equalities in 0..4_usize, rows in 0..20_usize, stiffness in -6..7_i32, length in -3..4_i32,
    ) {
        let qp = random_qp(seed, n, equalities.min(n / 2), rows, 10f64.powi(stiffness), 10f64.powi(length));
        let (a, first) = solve("active-set", &qp);
        let (b, second) = solve("interior-point", &qp);
        prop_assert!(a.is_converged() && b.is_converged(), "{a:?} {b:?}");
        for (x, y) in first.r.iter().zip(&second.r) {
            prop_assert!((x - y).abs() < 1e-8, "{x} {y}"); // 1e-10 times |x| ≈ 3 and a conditioning of the active rows
        }
        // Convexity: no feasible direction towards the point known to be inside lowers the objective (checked through the multipliers).
        for row in 0..qp.n_rows() {
            let (lower, upper) = qp.bounds(row);
            prop_assert!(first.u[row] <= 1e-9 * 10f64.powi(stiffness) / 10f64.powi(length.min(0)) || lower.is_finite(), "sign of row {row}");
            prop_assert!(first.u[row] >= -1e-9 * 10f64.powi(stiffness) / 10f64.powi(length.min(0)) || upper.is_finite(), "sign of row {row}");
        }
    }

    /// Semidefinite programs with bounds on all unknowns: both objectives are the minimum.
    #[test]
    fn semidefinite_programs(seed in any::<u64>(), n in 2..12_usize, rank in 1..6_usize) {
        let mut random = Random::new(seed);
        let g = random.vector(n * rank);
        let h: Vec<f64> = (0..n * n).map(|k| (0..rank).map(|c| g[k / n * rank + c] * g[k % n * rank + c]).sum()).collect();
        let qp = ConvexQp::new(dense(n, n, &h), random.vector(n)).with_bounds(vec![-1.0; n], vec![1.0; n]);
        let value = |x: &[f64]| -> f64 {
            (0..n).map(|i| x[i] * (qp.c[i] + 0.5 * (0..n).map(|j| h[i * n + j] * x[j]).sum::<f64>())).sum()
        };
        let (a, first) = solve("active-set", &qp);
        let (b, second) = solve("interior-point", &qp);
        prop_assert!(a.is_converged() && b.is_converged(), "{a:?} {b:?}");
        let (f, g) = (value(&first.r), value(&second.r));
        prop_assert!((f - g).abs() < 1e-8, "{f} {g}"); // second order in a residual of 1e-10, first order in the bounds
    }
}
