//! Variational inequalities: classics with known solutions, conformance of the registered solvers, properties.

use crate::generate::{Random, random};
use carom_solvers::vi::{Affine, Closure, Set, VariationalFunction};
use carom_solvers::{
    Block, DenseMatrix, FrictionSolverParams, Matrix, Solution, SolveReport, SparseMatrix, VariationalInequality, ViSolverKind,
    ViSolverParams, friction_contact_solver, vi_solver,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn affine(m: Vec<f64>, q: Vec<f64>, sets: Vec<Set>) -> VariationalInequality {
    let n = q.len();
    let m = DenseMatrix::new(n, n, m).unwrap();
    VariationalInequality { function: Box::new(Affine::new(m.into(), q).unwrap()), sets }
}

fn solve(kind: ViSolverKind, problem: &VariationalInequality, guess: Vec<f64>) -> (SolveReport, Solution) {
    let mut solution = Solution { r: guess, u: Vec::new() };
    let report = vi_solver(&ViSolverParams { kind, ..Default::default() }).unwrap().solve(problem, &mut solution).unwrap();
    (report, solution)
}

fn assert_near(what: &str, x: &[f64], exact: &[f64], tolerance: f64) {
    for (x, exact) in x.iter().zip(exact) {
        assert!((x - exact).abs() < tolerance, "{what}: {x} {exact}");
    }
}

/// The problem of Kojima and Shindo (1986), with its Jacobian.
#[derive(Debug)]
struct KojimaShindo;

impl VariationalFunction for KojimaShindo {
    fn n(&self) -> usize {
        4
    }

    fn evaluate(&self, x: &[f64], f: &mut [f64]) {
        let [a, b, c, d] = [x[0], x[1], x[2], x[3]];
        f[0] = 3.0 * a * a + 2.0 * a * b + 2.0 * b * b + c + 3.0 * d - 6.0;
        f[1] = 2.0 * a * a + a + b * b + 10.0 * c + 2.0 * d - 2.0;
        f[2] = 3.0 * a * a + a * b + 2.0 * b * b + 2.0 * c + 9.0 * d - 9.0;
        f[3] = a * a + 3.0 * b * b + 2.0 * c + 3.0 * d - 3.0;
    }

    fn jacobian(&self, x: &[f64], out: &mut Matrix) -> bool {
        let [a, b] = [x[0], x[1]];
        #[rustfmt::skip]
        let values = vec![
            6.0 * a + 2.0 * b, 2.0 * a + 4.0 * b, 1.0, 3.0,
            4.0 * a + 1.0, 2.0 * b, 10.0, 2.0,
            6.0 * a + b, a + 4.0 * b, 2.0, 9.0,
            2.0 * a, 6.0 * b, 2.0, 3.0,
        ];
        *out = DenseMatrix::new(4, 4, values).unwrap().into();
        true
    }
}

#[test]
fn newton_finds_the_solutions_of_kojima_and_shindo() {
    let problem = VariationalInequality { function: Box::new(KojimaShindo), sets: vec![Set::NonNegative { dim: 4 }] };
    let solutions = [[6f64.sqrt() / 2.0, 0.0, 0.0, 0.5], [1.0, 0.0, 3.0, 0.0]];
    let mut found = [0; 2];
    let mut random = Random::new(7);
    let mut guesses = vec![vec![0.0; 4], vec![1.0; 4], vec![1.0, 0.0, 1.0, 0.0], vec![1.0, 0.0, 0.0, 0.0], vec![100.0; 4]];
    guesses.extend((0..20).map(|_| random.vector(4).iter().map(|x| 2.0 * (x + 1.0)).collect()));
    for guess in guesses {
        let (report, solution) = solve(ViSolverKind::SemismoothNewton, &problem, guess.clone());
        assert!(report.is_converged(), "{guess:?} {report:?} {:?}", solution.r);
        let which = solutions.iter().position(|exact| {
            // The first solution is degenerate (x₂ = F₂ = 0), so that a residual of 1e-10 allows an error of its order over the slope.
            solution.r.iter().zip(exact).all(|(x, exact)| (x - exact).abs() < 1e-7)
        });
        found[which.unwrap_or_else(|| panic!("{guess:?} ended at {:?}", solution.r))] += 1;
    }
    assert!(found[0] > 0 && found[1] > 0, "{found:?}");
}

#[test]
fn a_triangular_lcp_has_one_component() {
    // M = 1 on the diagonal and 2 above, q = −1: x = (0, …, 0, 1). Lemke needs many pivots here, Newton none of them.
    let n = 12;
    let m = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 2.0 * f64::from(u8::from(k % n > k / n)) }).collect();
    let problem = affine(m, vec![-1.0; n], vec![Set::NonNegative { dim: n }]);
    let (report, solution) = solve(ViSolverKind::SemismoothNewton, &problem, Vec::new());
    assert!(report.is_converged(), "{report:?}");
    let mut exact = vec![0.0; n];
    exact[n - 1] = 1.0;
    assert_near("triangular", &solution.r, &exact, 1e-9); // the tolerance, M⁻¹ of order one
}

#[test]
fn an_affine_inequality_on_a_box_is_solved_by_all() {
    // F = (2x + y − 4, x + 2y + z, y + 3z − 9, 2w) on [0, 1] × [−1, 1] × ℝ × [1, 5]: at x = 1, y = −1 only F₁ < 0 and F₂ > 0 may remain,
    // z = (9 − y)/3; there F₂ = 1 − 2 + 10/3 > 0, F₁ = 2 − 1 − 4 < 0, and w = 1 with F₄ = 2 > 0.
    #[rustfmt::skip]
    let m = vec![
        2.0, 1.0, 0.0, 0.0,
        1.0, 2.0, 1.0, 0.0,
        0.0, 1.0, 3.0, 0.0,
        0.0, 0.0, 0.0, 2.0,
    ];
    let sets = vec![
        Set::Interval { lower: 0.0, upper: 1.0 },
        Set::Interval { lower: -1.0, upper: 1.0 },
        Set::Free { dim: 1 },
        Set::Interval { lower: 1.0, upper: 5.0 },
    ];
    let problem = affine(m, vec![-4.0, 0.0, -9.0, 0.0], sets);
    for &kind in ViSolverKind::ALL {
        let (report, solution) = solve(kind, &problem, Vec::new());
        assert!(report.is_converged(), "{} {report:?}", kind.name());
        assert_near(kind.name(), &solution.r, &[1.0, -1.0, 10.0 / 3.0, 1.0], 1e-8); // tolerance 1e-10 of |F| ≈ 10, slopes ≥ 1
        assert_near(kind.name(), &solution.u, &[-3.0, 7.0 / 3.0, 0.0, 2.0], 1e-8);
    }
}

#[test]
fn a_contact_with_friction_is_an_inequality_on_a_cone() {
    // r ∈ K, û(r)ᵀ(s − r) ≥ 0 for all s ∈ K, with De Saxcé's û = u + (μ|u_T|, 0), u = W r + q.
    for (seed, mu) in [(71, 0.3), (72, 0.8), (73, 0.5), (74, 0.1)] {
        let contact = random(seed, vec![Block::Coulomb3 { mu }], 8);
        let mut exact = Solution::default();
        let params = FrictionSolverParams::default();
        assert!(friction_contact_solver(&params).unwrap().solve(&contact, &mut exact).unwrap().is_converged());
        for &kind in ViSolverKind::ALL {
            let contact = contact.clone();
            let function = Closure::new(3, move |r: &[f64], u: &mut [f64]| {
                contact.velocity(r, u);
                u[0] += mu * u[1].hypot(u[2]);
            });
            let problem = VariationalInequality { function: Box::new(function), sets: vec![Set::SecondOrderCone { mu, dim: 3 }] };
            let (report, solution) = solve(kind, &problem, Vec::new());
            assert!(report.is_converged(), "{seed} {} {report:?}", kind.name());
            assert_near(kind.name(), &solution.r, &exact.r, 1e-8); // two residuals of 1e-10, W well conditioned
        }
    }
}

#[test]
fn a_saddle_point_is_for_the_extragradient() {
    // min over |x| ≤ 2, max over y ∈ simplex of yᵀ (A x): F = (Aᵀ y, −A x), monotone and nothing more. With the rows of A at 120°, every
    // point but x = 0 has a row with yᵀ A x > 0, and y = (⅓, ⅓, ⅓) makes Aᵀ y = 0.
    let half = 0.5 * 3f64.sqrt();
    let a = [[1.0, 0.0], [-0.5, half], [-0.5, -half]];
    let mut m = vec![0.0; 25];
    for (i, row) in a.iter().enumerate() {
        for (j, value) in row.iter().enumerate() {
            m[j * 5 + 2 + i] = *value;
            m[(2 + i) * 5 + j] = -value;
        }
    }
    let problem = affine(m, vec![0.0; 5], vec![Set::Ball { radius: 2.0, dim: 2 }, Set::Simplex { total: 1.0, dim: 3 }]);
    let guess = vec![1.0, 0.5, 0.8, 0.2, 0.0];
    for kind in [ViSolverKind::Extragradient, ViSolverKind::SemismoothNewton] {
        let (report, solution) = solve(kind, &problem, guess.clone());
        assert!(report.is_converged(), "{} {report:?}", kind.name());
        let third = 1.0 / 3.0;
        assert_near(kind.name(), &solution.r, &[0.0, 0.0, third, third, third], 1e-9); // tolerance 1e-10, slopes of order one
    }
    // One projection per iteration turns around the saddle, and says so.
    let (report, solution) = solve(ViSolverKind::FixedPoint, &problem, guess);
    assert!(!report.is_converged() && solution.r.iter().all(|x| x.is_finite()), "{report:?}");
}

/// Strongly monotone problems for all solvers.
fn suite() -> Vec<(&'static str, VariationalInequality)> {
    let mut random = Random::new(5);
    let mut monotone = |n: usize| -> (Vec<f64>, Vec<f64>) {
        // G Gᵀ/n + I plus a skew part.
        let (g, skew) = (random.vector(n * n), random.vector(n * n));
        let entry = |i: usize, j: usize| {
            let gram: f64 = (0..n).map(|k| g[i * n + k] * g[j * n + k]).sum::<f64>() / n as f64;
            gram + f64::from(u8::from(i == j)) + 0.5 * (skew[i * n + j] - skew[j * n + i])
        };
        ((0..n * n).map(|k| entry(k / n, k % n)).collect(), random.vector(n).iter().map(|q| 3.0 * q).collect())
    };
    let mut with = |sets: Vec<Set>| {
        let (m, q) = monotone(sets.iter().map(Set::dim).sum());
        affine(m, q, sets)
    };
    let one_of_each = vec![
        Set::NonNegative { dim: 2 },
        Set::Interval { lower: -0.1, upper: 0.2 },
        Set::Free { dim: 2 },
        Set::SecondOrderCone { mu: 0.4, dim: 3 },
        Set::Ball { radius: 0.3, dim: 2 },
        Set::Simplex { total: 1.0, dim: 3 },
    ];
    let tridiagonal: Vec<_> = (0..30_usize).flat_map(|i| [(i, i, 2.5), (i, (i + 1) % 30, -1.0), ((i + 1) % 30, i, -1.0)]).collect();
    let sparse: Matrix = SparseMatrix::from_triplets(30, 30, &tridiagonal).unwrap().into();
    let q = (0..30).map(|i| (f64::from(i)).sin()).collect();
    let cubic = Closure::new(3, |x: &[f64], f: &mut [f64]| {
        for i in 0..3 {
            f[i] = x[i] + x[i].powi(3) + 0.3 * x[(i + 1) % 3] - [3.0, -2.0, 0.5][i];
        }
    });
    vec![
        ("complementarity", with(vec![Set::NonNegative { dim: 8 }])),
        ("equations", with(vec![Set::Free { dim: 5 }])),
        ("cones", with(vec![Set::SecondOrderCone { mu: 0.5, dim: 3 }, Set::SecondOrderCone { mu: 1.0, dim: 4 }])),
        ("one of each", with(one_of_each)),
        ("a point", with(vec![Set::Ball { radius: 0.0, dim: 2 }, Set::Interval { lower: 3.0, upper: 3.0 }, Set::Free { dim: 1 }])),
        ("sparse", VariationalInequality { function: Box::new(Affine::new(sparse, q).unwrap()), sets: vec![Set::NonNegative { dim: 30 }] }),
        ("cubic", VariationalInequality { function: Box::new(cubic), sets: vec![Set::NonNegative { dim: 3 }] }),
        (
            "far from the origin",
            affine(vec![1e3, 0.0, 0.0, 2e3], vec![-1e9, 1e3], vec![Set::Interval { lower: 1e4, upper: 1e5 }, Set::Free { dim: 1 }]),
        ),
        ("nothing", affine(Vec::new(), Vec::new(), Vec::new())),
    ]
}

#[test]
fn vi_solvers() {
    for &kind in ViSolverKind::ALL {
        let mut solver = vi_solver(&ViSolverParams { kind, ..Default::default() }).unwrap();
        for (name, problem) in suite() {
            let what = format!("{} on '{name}'", kind.name());
            for guess in [Vec::new(), vec![f64::NAN; problem.n()], vec![100.0; problem.n()], vec![-100.0; problem.n()]] {
                let mut solution = Solution { r: guess, u: Vec::new() };
                let report = solver.solve(&problem, &mut solution).unwrap();
                assert!(report.is_converged(), "{what}: {report:?}");
                assert_eq!(report.solver, kind.name());
                let mut f = vec![0.0; problem.n()];
                problem.velocity(&solution.r, &mut f);
                assert_eq!(f, solution.u, "{what}");
                assert_eq!(report.residual_normalised, problem.residual_normalised(&solution.r, &f), "{what}");
                assert_eq!(report.residual, problem.residual(&solution.r, &f), "{what}");
                // The result lies in X: projecting it is a rounding.
                let mut projected = solution.r.clone();
                problem.project(&mut projected);
                assert_near(&what, &projected, &solution.r, 1e-10); // numbers up to 1e5, roundings 1e-11
                let again = solver.solve(&problem, &mut solution).unwrap();
                assert!(again.is_converged() && again.iterations == 0, "{what} again: {again:?}");
            }
        }
    }
}

#[test]
fn limits_are_honoured() {
    for &kind in ViSolverKind::ALL {
        let (_, problem) = suite().swap_remove(3);
        let limited = ViSolverParams { kind, max_iterations: 1, ..Default::default() };
        let report = vi_solver(&limited).unwrap().solve(&problem, &mut Solution::default()).unwrap();
        assert_eq!((report.status.name(), report.iterations), ("max-iterations", 1), "{}", kind.name());
        let timed = ViSolverParams { kind, time_limit: Some(1e-12), ..Default::default() };
        let report = vi_solver(&timed).unwrap().solve(&problem, &mut Solution::default()).unwrap();
        assert_eq!(report.status.name(), "time-limit", "{}", kind.name());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, rng_seed: RngSeed::Fixed(20_240_612), failure_persistence: None, ..ProptestConfig::default() })]

    /// A strongly monotone affine inequality has one solution: all solvers find it.
    #[test]
    fn solvers_agree_on_monotone_problems(seed in any::<u64>(), exponent in -3..4_i32) {
        let mut random = Random::new(seed);
        let (g, skew) = (random.vector(100), random.vector(100));
        let scale = 10f64.powi(exponent);
        let entry = |i: usize, j: usize| {
            let gram: f64 = (0..10).map(|k| g[i * 10 + k] * g[j * 10 + k]).sum();
            scale * (gram + f64::from(u8::from(i == j)) + 0.5 * (skew[i * 10 + j] - skew[j * 10 + i]))
        };
        let m: Vec<f64> = (0..100).map(|k| entry(k / 10, k % 10)).collect();
        let sets = vec![
            Set::NonNegative { dim: 3 },
            Set::SecondOrderCone { mu: 0.6, dim: 3 },
            Set::Interval { lower: -0.2 / scale, upper: 0.1 / scale },
            Set::Free { dim: 1 },
            Set::Ball { radius: 0.2 / scale, dim: 2 },
        ];
        let problem = affine(m, random.vector(10), sets);
        let mut first: Option<Solution> = None;
        for &kind in ViSolverKind::ALL {
            let (report, solution) = solve(kind, &problem, Vec::new());
            prop_assert!(report.is_converged(), "{} {report:?}", kind.name());
            let first = first.get_or_insert_with(|| solution.clone());
            for (x, y) in first.r.iter().zip(&solution.r) {
                // tolerance 1e-10 times |q| ≤ 3 over the least eigenvalue (scale)
                prop_assert!(scale * (x - y).abs() < 1e-8, "{} {x} {y}", kind.name());
            }
        }
    }
}
