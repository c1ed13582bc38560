//! The iterative LCP solvers and the default one: definite, redundant, degenerate, badly scaled, large, not symmetric and unsolvable problems.

use crate::generate::Random;
use carom_solvers::{Lcp, LcpSolverParams, Matrix, Solution, SolveError, SolveReport, SparseMatrix, lcp_solver};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Solvers that reach 1e-10 on any monotone problem here.
const ROBUST: [&str; 4] = ["auto", "newton-min", "newton-fischer-burmeister", "interior-point"];

/// All solvers of this file.
const ALL: [&str; 7] = ["auto", "newton-min", "newton-fischer-burmeister", "interior-point", "mangasarian", "projected-cg", "pgs"];

fn try_solve(name: &str, problem: &Lcp, guess: &[f64]) -> Result<(SolveReport, Solution), SolveError> {
    let params = LcpSolverParams { kind: name.parse().unwrap(), ..Default::default() };
    let mut solution = Solution { r: guess.to_vec(), u: Vec::new() };
    let report = lcp_solver(&params).unwrap().solve(problem, &mut solution)?;
    // What holds for any solver on any problem.
    let what = format!("{name}: {report:?}");
    assert!(solution.r.iter().all(|z| *z >= 0.0 && z.is_finite()), "{what}");
    let mut w = vec![0.0; problem.n()];
    problem.velocity(&solution.r, &mut w);
    assert_eq!(w, solution.u, "{what}");
    assert_eq!(report.residual_normalised, problem.residual_normalised(&solution.r, &solution.u), "{what}");
    assert_eq!(report.is_converged(), report.residual_normalised <= 1e-10, "{what}");
    Ok((report, solution))
}

fn solve(name: &str, problem: &Lcp) -> (SolveReport, Solution) {
    try_solve(name, problem, &[]).unwrap()
}

/// G Gᵀ of a random n × rank matrix G, with the rows scaled.
fn gram(random: &mut Random, n: usize, rank: usize, row_scale: impl Fn(usize) -> f64) -> Vec<f64> {
    let g: Vec<f64> = (0..n).flat_map(|i| random.vector(rank).into_iter().map(|x| x * row_scale(i)).collect::<Vec<_>>()).collect();
    (0..n * n).map(|k| (0..rank).map(|c| g[k / n * rank + c] * g[k % n * rank + c]).sum()).collect()
}

/// q with the solution z (positive where `is_active`), and w positive elsewhere.
fn with_solution(random: &mut Random, m: Vec<f64>, degenerate: bool) -> (Lcp, Vec<f64>) {
    let n = m.len().isqrt();
    let mut z = vec![0.0; n];
    let mut w = vec![0.0; n];
    for i in 0..n {
        match i % 3 {
            0 => z[i] = 1.5 + random.signed(),
            1 => w[i] = 1.5 + random.signed(),
            _ if degenerate => {}
            _ => z[i] = 1.5 + random.signed(),
        }
    }
    let q = (0..n).map(|i| w[i] - m[i * n..(i + 1) * n].iter().zip(&z).map(|(a, z)| a * z).sum::<f64>()).collect();
    (Lcp::dense(m, q).unwrap(), z)
}

/// A column of n beads: contact 0 with the ground, all falling at speed 1 or standing.
fn chain(n: usize, q: impl Fn(usize) -> f64) -> Lcp {
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, if i == 0 { 1.0 } else { 2.0 }));
        if i > 0 {
            entries.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
        }
    }
    Lcp { m: SparseMatrix::from_triplets(n, n, &entries).unwrap().into(), q: (0..n).map(q).collect() }
}

#[test]
fn definite_problems() {
    let mut random = Random::new(1);
    for n in [1, 2, 7, 40] {
        let m = gram(&mut random, n, 2 * n, |_| 1.0);
        let (problem, z) = with_solution(&mut random, m, false);
        for name in ALL {
            let (report, solution) = solve(name, &problem);
            assert!(report.is_converged(), "{name}, {n}: {report:?}");
            for (a, b) in solution.r.iter().zip(&z) {
                assert!((a - b).abs() < 1e-7, "{name}, {n}: {a} {b}"); // 1e-10 times a conditioning below 1e3
            }
        }
    }
}

#[test]
fn degenerate_problems() {
    let mut random = Random::new(2);
    for n in [3, 9, 30] {
        let m = gram(&mut random, n, 2 * n, |_| 1.0);
        let (problem, z) = with_solution(&mut random, m, true);
        for name in ALL {
            let (report, solution) = solve(name, &problem);
            assert!(report.is_converged(), "{name}, {n}: {report:?}");
            for (a, b) in solution.r.iter().zip(&z) {
                assert!((a - b).abs() < 1e-7, "{name}, {n}: {a} {b}"); // as above
            }
        }
    }
}

#[test]
fn redundant_problems() {
    let mut random = Random::new(3);
    for (n, rank) in [(3, 1), (8, 3), (20, 6), (60, 20)] {
        for degenerate in [false, true] {
            let m = gram(&mut random, n, rank, |_| 1.0);
            let (problem, _) = with_solution(&mut random, m, degenerate);
            for name in ROBUST {
                let (report, _) = solve(name, &problem);
                assert!(report.is_converged(), "{name}, {n} rows of rank {rank}: {report:?}");
            }
        }
    }
    // Sweeps and conjugate gradients need no factorisation.
    for name in ["projected-cg", "pgs", "mangasarian"] {
        let (report, _) = solve(name, &Lcp::dense(vec![1.0; 9], vec![-1.0; 3]).unwrap());
        assert!(report.is_converged(), "{name}: {report:?}");
    }
}

#[test]
fn easy_ends() {
    for name in ALL {
        for problem in [
            Lcp::default(),
            Lcp::dense(vec![2.0, 1.0, 1.0, 2.0], vec![0.0; 2]).unwrap(),
            Lcp::dense(vec![2.0, 1.0, 1.0, 2.0], vec![1.0, 0.0]).unwrap(),
            Lcp::dense(vec![0.0; 4], vec![1.0, 0.0]).unwrap(),
        ] {
            let (report, solution) = solve(name, &problem);
            assert!(report.is_converged() && report.iterations == 0, "{name}: {report:?}");
            assert!(solution.r.iter().all(|z| *z == 0.0), "{name}");
        }
    }
}

#[test]
fn rows_of_very_different_scale() {
    let mut random = Random::new(4);
    let n = 12;
    // Diagonal entries from 1e-4 to 1e4.
    let m = gram(&mut random, n, 2 * n, |i| 10f64.powf(4.0 * i as f64 / (n - 1) as f64 - 2.0));
    let (problem, _) = with_solution(&mut random, m, true);
    for name in ["auto", "newton-min", "newton-fischer-burmeister", "interior-point", "projected-cg", "pgs"] {
        let (report, _) = solve(name, &problem);
        assert!(report.is_converged(), "{name}: {report:?}");
    }
    // Another unit of mass or time changes nothing.
    let (Matrix::Dense(m), factor) = (&problem.m, 1e8) else { panic!("built dense") };
    let scaled = Lcp::dense(m.values().iter().map(|a| a * factor).collect(), problem.q.clone()).unwrap();
    for name in ROBUST {
        let (report, _) = solve(name, &scaled);
        assert!(report.is_converged(), "{name}: {report:?}");
    }
}

#[test]
fn a_long_chain_sparse_and_dense() {
    let n = 1000;
    let falling = chain(n, |_| -1.0);
    let mut values = Vec::new();
    falling.m.to_dense(&mut values);
    let dense = Lcp::dense(values, falling.q.clone()).unwrap();
    for name in ROBUST {
        let (report, solution) = solve(name, &falling);
        assert!(report.is_converged(), "{name}: {report:?}");
        let (report, same) = solve(name, &dense);
        assert!(report.is_converged(), "{name}, dense: {report:?}");
        for (k, (a, b)) in solution.r.iter().zip(&same.r).enumerate() {
            // −z_{k−1} + 2z_k − z_{k+1} = 1, z_0 − z_1 = 1, z_n = 0: z_k = (n − k)(n + k + 1)/2, up to the tolerance times the conditioning 4n²/π².
            let exact = 0.5 * (n - k) as f64 * (n + k + 1) as f64;
            assert!((a - exact).abs() < 4e-5 * exact.max(1e3), "{name} {k}: {a} {exact}");
            assert!((a - b).abs() < 4e-5 * exact.max(1e3), "{name} {k}: {a} {b}");
        }
    }
    // Conjugate gradients need about n products.
    let (report, _) = solve("projected-cg", &chain(200, |_| -1.0));
    assert!(report.is_converged() && report.iterations < 2000, "{report:?}");
}

#[test]
fn a_sparse_matrix_that_is_no_band() {
    // A grid of 20 × 20 points in an order that scatters neighbours.
    let (side, mut entries) = (20, Vec::new());
    let at = |x: usize, y: usize| (x * side + y) * 97 % (side * side);
    for x in 0..side {
        for y in 0..side {
            entries.push((at(x, y), at(x, y), 4.0));
            for (a, b) in [(x + 1, y), (x, y + 1)] {
                if a < side && b < side {
                    entries.extend([(at(x, y), at(a, b), -1.0), (at(a, b), at(x, y), -1.0)]);
                }
            }
        }
    }
    let n = side * side;
    let mut random = Random::new(5);
    let problem = Lcp { m: SparseMatrix::from_triplets(n, n, &entries).unwrap().into(), q: random.vector(n) };
    let (_, reference) = solve("newton-min", &problem);
    for name in ALL {
        let (report, solution) = solve(name, &problem);
        assert!(report.is_converged(), "{name}: {report:?}");
        for (a, b) in solution.r.iter().zip(&reference.r) {
            assert!((a - b).abs() < 1e-6, "{name}: {a} {b}"); // 1e-10 · |q| ≈ 1e-9 times a conditioning of 180
        }
    }
}

#[test]
fn matrices_that_are_not_symmetric() {
    // P-matrices: one on which active sets cycle, and a definite one with a skew part.
    let cyclic = Lcp::dense(vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0], vec![-1.0; 3]).unwrap();
    let mut random = Random::new(6);
    let n = 15;
    let mut m = gram(&mut random, n, n + 5, |_| 1.0);
    for i in 0..n {
        for j in 0..i {
            let skew = 2.0 * random.signed();
            m[i * n + j] += skew;
            m[j * n + i] -= skew;
        }
    }
    let (skew, _) = with_solution(&mut random, m, true);
    for name in ["auto", "newton-min", "newton-fischer-burmeister", "interior-point"] {
        for problem in [&cyclic, &skew] {
            let (report, _) = solve(name, problem);
            assert!(report.is_converged(), "{name}: {report:?}");
        }
    }
    assert!(
        matches!(try_solve("projected-cg", &cyclic, &[]), Err(SolveError::Unsupported { alternatives, .. }) if alternatives.contains("auto"))
    );
}

#[test]
fn problems_without_solution() {
    let two = Lcp::dense(vec![1.0, -1.0, -1.0, 1.0], vec![-1.0; 2]).unwrap();
    let nothing = Lcp::dense(vec![0.0; 4], vec![-1.0, 1.0]).unwrap();
    // A ring of contacts pressed from all sides: the rows of M add up to zero, those of q do not.
    let n = 50;
    let entries: Vec<(usize, usize, f64)> =
        (0..n).flat_map(|i| [(i, i, 2.0), (i, (i + 1) % n, -1.0), (i, (i + n - 1) % n, -1.0)]).collect();
    let ring = Lcp { m: SparseMatrix::from_triplets(n, n, &entries).unwrap().into(), q: vec![-1.0; n] };
    for name in ALL {
        for problem in [&two, &nothing, &ring] {
            for guess in [vec![], vec![1e13; problem.n()]] {
                let (report, _) = try_solve(name, problem, &guess).unwrap();
                assert!(!report.is_converged(), "{name}: {report:?}");
            }
        }
    }
    assert_eq!(solve("auto", &two).0.status.name(), "ray");
    assert_eq!(solve("auto", &ring).0.status.name(), "ray");
}

#[test]
fn a_solution_is_a_good_guess() {
    let mut random = Random::new(7);
    let m = gram(&mut random, 20, 40, |_| 1.0);
    let (mut problem, _) = with_solution(&mut random, m, false);
    for name in ALL {
        let (_, solution) = solve(name, &problem);
        let (report, again) = try_solve(name, &problem, &solution.r).unwrap();
        assert!(report.is_converged() && report.iterations <= 1, "{name}: {report:?}");
        assert_eq!(again, solution, "{name}");
    }
    // A little later the same rows are active: one step.
    let (_, solution) = solve("newton-min", &problem);
    problem.q.iter_mut().for_each(|q| *q += 1e-3 * random.signed());
    let (report, _) = try_solve("newton-min", &problem, &solution.r).unwrap();
    assert!(report.is_converged() && report.iterations == 1, "{report:?}");
}

#[test]
fn limits_are_kept() {
    let problem = chain(50, |i| (1.3 * i as f64).sin() - 0.2);
    for name in ALL {
        let params = LcpSolverParams { kind: name.parse().unwrap(), time_limit: Some(1e-12), ..Default::default() };
        let report = lcp_solver(&params).unwrap().solve(&problem, &mut Solution::default()).unwrap();
        assert_eq!(report.status.name(), "time-limit", "{name}: {report:?}");
        let params = LcpSolverParams { kind: name.parse().unwrap(), max_iterations: 1, ..Default::default() };
        let mut solution = Solution::default();
        let report = lcp_solver(&params).unwrap().solve(&problem, &mut solution).unwrap();
        assert!(!report.is_converged() && solution.r.iter().all(|z| z.is_finite()), "{name}: {report:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, rng_seed: RngSeed::Fixed(20_240_611), failure_persistence: None, ..ProptestConfig::default() })]

    /// Random monotone problems with a solution: any rank, any degeneracy, any unit, with a skew part or without.
    #[test]
    fn monotone_problems_are_solved(seed in any::<u64>(), n in 1..25_usize, rank in 1..30_usize, exponent in -6..7_i32, degenerate in any::<bool>(), skew in any::<bool>()) {
        let mut random = Random::new(seed);
        let unit = 10f64.powi(exponent);
        let mut m = gram(&mut random, n, rank, |_| unit.sqrt());
        if skew {
            for i in 0..n {
                for j in 0..i {
                    let s = unit * random.signed();
                    m[i * n + j] += s;
                    m[j * n + i] -= s;
                }
            }
        }
        let (problem, _) = with_solution(&mut random, m, degenerate);
        let failed: Vec<SolveReport> = ROBUST.iter().map(|name| solve(name, &problem).0).filter(|report| !report.is_converged()).collect();
        prop_assert!(failed.is_empty(), "{failed:?}");
    }

    /// Random matrices: whatever comes, results are finite and reports true (see `try_solve`).
    #[test]
    fn any_problem_ends(seed in any::<u64>(), n in 1..12_usize) {
        let mut random = Random::new(seed);
        let problem = Lcp::dense(random.vector(n * n), random.vector(n)).unwrap();
        for name in ALL {
            let _ = try_solve(name, &problem, &[]);
        }
    }
}
