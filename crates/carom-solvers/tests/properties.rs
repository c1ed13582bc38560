//! Properties of random problems.

use crate::generate::{Random, random};
use carom_solvers::{
    Block, Delassus, DenseDelassus, FrictionContact, FrictionSolverKind, FrictionSolverParams, Solution, SolveReport,
    friction_contact_solver,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(20_240_611), failure_persistence: None, ..ProptestConfig::default() }
}

fn solve(problem: &FrictionContact, tolerance: f64) -> (SolveReport, Solution) {
    let params = FrictionSolverParams { tolerance, ..Default::default() };
    let mut solution = Solution::default();
    let report = friction_contact_solver(&params).unwrap().solve(problem, &mut solution).unwrap();
    (report, solution)
}

/// Applies rows → P rows to W and q, with P given by its action on the row-major matrix's rows.
fn transformed(problem: &FrictionContact, p: &[Vec<f64>], blocks: Vec<Block>) -> FrictionContact {
    let n = problem.n_rows();
    let mut w = Vec::new();
    problem.w.to_dense(&mut w);
    let mut image = vec![0.0; n * n];
    for (i, row) in p.iter().enumerate() {
        for (j, column) in p.iter().enumerate() {
            image[i * n + j] = (0..n * n).map(|k| row[k / n] * w[k] * column[k % n]).sum();
        }
    }
    let q = p.iter().map(|row| row.iter().zip(&problem.q).map(|(a, b)| a * b).sum()).collect();
    let dims: Vec<usize> = blocks.iter().map(Block::dim).collect();
    let w = Delassus::Dense(DenseDelassus::new(image, &dims).unwrap());
    FrictionContact { w, q, blocks }
}

fn apply(p: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    p.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}

proptest! {
    #![proptest_config(config(2000))]

    /// The exact one-contact solution: residual at rounding for any q and μ in [0, 2].
    #[test]
    fn one_spatial_contact_is_exact(
        g in prop::collection::vec(-1.0..1.0_f64, 9),
        q in prop::array::uniform3(-1.0..1.0_f64),
        exponent in -3..4_i32,
        mu in prop_oneof![Just(0.0), 0.0..2.0_f64, 1e-6..1e-3_f64],
    ) {
        let scale = 10f64.powi(exponent);
        let entry = |i: usize, j: usize| {
            let product: f64 = (0..3).map(|k| g[3 * i + k] * g[3 * j + k]).sum();
            scale * (product + if i == j { 0.05 } else { 0.0 })
        };
        let w: Vec<f64> = (0..9).map(|k| entry(k / 3, k % 3)).collect();
        let block = Block::Coulomb3 { mu };
        let problem = FrictionContact {
            w: Delassus::Dense(DenseDelassus::new(w, &[3]).unwrap()),
            q: q.to_vec(),
            blocks: vec![block],
        };
        let (report, solution) = solve(&problem, 1e-12);
        prop_assert!(report.residual_normalised <= 1e-12, "{report:?} {solution:?}");
        let r = &solution.r;
        // In the cone up to one rounding of the norm.
        prop_assert!(r[1].hypot(r[2]) <= mu * r[0] * (1.0 + 1e-14) + 1e-300, "{r:?}");
    }

    /// The same for one planar contact.
    #[test]
    fn one_planar_contact_is_exact(
        g in prop::collection::vec(-1.0..1.0_f64, 4),
        q in prop::array::uniform2(-1.0..1.0_f64),
        mu in prop_oneof![Just(0.0), 0.0..2.0_f64],
    ) {
        let entry = |i: usize, j: usize| {
            g[2 * i] * g[2 * j] + g[2 * i + 1] * g[2 * j + 1] + if i == j { 0.05 } else { 0.0 }
        };
        let w: Vec<f64> = (0..4).map(|k| entry(k / 2, k % 2)).collect();
        let problem = FrictionContact {
            w: Delassus::Dense(DenseDelassus::new(w, &[2]).unwrap()),
            q: q.to_vec(),
            blocks: vec![Block::Coulomb2 { mu }],
        };
        let (report, _) = solve(&problem, 1e-12);
        prop_assert!(report.residual_normalised <= 1e-12, "{report:?}");
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// Rank-deficient problems: honest residual, impulses in their cones.
    #[test]
    fn reported_residual_is_recomputed_and_impulses_are_in_the_cone(
        seed in any::<u64>(),
        contacts in 2..7_usize,
        dof in 3..10_usize,
        mu in 0.0..0.8_f64,
    ) {
        let problem = random(seed, vec![Block::Coulomb3 { mu }; contacts], dof);
        let (report, solution) = solve(&problem, 1e-8);
        let mut u = vec![0.0; problem.n_rows()];
        problem.velocity(&solution.r, &mut u);
        let judge = problem.residual_normalised(&solution.r, &u);
        prop_assert!((judge - report.residual_normalised).abs() <= 1e-14);
        prop_assert_eq!(report.is_converged(), judge <= 1e-8);
        for r in solution.r.chunks_exact(3) {
            prop_assert!(r[1].hypot(r[2]) <= mu * r[0] * (1.0 + 1e-14) + 1e-300, "{:?}", r);
        }
    }

    /// Renumbering the contacts renumbers u. Small friction and full rank: the solution is unique.
    #[test]
    fn order_of_contacts_does_not_matter(seed in any::<u64>(), shift in 1..4_usize) {
        let blocks = vec![Block::Coulomb3 { mu: 0.1 }; 4];
        let problem = random(seed, blocks.clone(), 30);
        let n = problem.n_rows();
        let p: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| f64::from(u8::from((i + 3 * shift) % n == j))).collect())
            .collect();
        let (a, solution) = solve(&problem, 1e-11);
        let (b, permuted) = solve(&transformed(&problem, &p, blocks), 1e-11);
        prop_assert!(a.is_converged() && b.is_converged(), "{a:?} {b:?}");
        for (x, y) in apply(&p, &solution.u).iter().zip(&permuted.u) {
            prop_assert!((x - y).abs() < 1e-8, "{x} {y}"); // tolerance 1e-11, conditioning below 1e3
        }
    }

    /// Turning the tangent frames turns the tangent components of u.
    #[test]
    fn tangent_frames_do_not_matter(seed in any::<u64>()) {
        let blocks = vec![Block::Coulomb3 { mu: 0.1 }; 4];
        let problem = random(seed, blocks.clone(), 30);
        let mut angles = Random::new(seed ^ 1);
        let n = problem.n_rows();
        let mut p = vec![vec![0.0; n]; n];
        for c in 0..4 {
            let (sin, cos) = (3.0 * angles.signed()).sin_cos();
            let k = 3 * c;
            p[k][k] = 1.0;
            p[k + 1][k + 1] = cos;
            p[k + 1][k + 2] = sin;
            p[k + 2][k + 1] = -sin;
            p[k + 2][k + 2] = cos;
        }
        let (a, solution) = solve(&problem, 1e-11);
        let (b, turned) = solve(&transformed(&problem, &p, blocks), 1e-11);
        prop_assert!(a.is_converged() && b.is_converged(), "{a:?} {b:?}");
        for (x, y) in apply(&p, &solution.u).iter().zip(&turned.u) {
            prop_assert!((x - y).abs() < 1e-8, "{x} {y}"); // as above
        }
    }

    /// Where the solution is unique (full rank, small friction) every solver of the exact law finds the same u.
    #[test]
    fn all_solvers_agree_on_the_velocities(seed in any::<u64>(), mu in 0.0..0.3_f64, planar in any::<bool>()) {
        let block = if planar { Block::Coulomb2 { mu } } else { Block::Coulomb3 { mu } };
        let problem = random(seed, vec![block; 3], 24);
        let (reference, expected) = solve(&problem, 1e-11);
        prop_assert!(reference.is_converged(), "{reference:?}");
        for &kind in FrictionSolverKind::ALL {
            let params = FrictionSolverParams { kind, tolerance: 1e-10, ..Default::default() };
            let mut solution = Solution::default();
            let Ok(report) = friction_contact_solver(&params).unwrap().solve(&problem, &mut solution) else { continue };
            prop_assert!(report.is_accepted(), "{} {report:?}", kind.name());
            if report.is_converged() {
                for (x, y) in expected.u.iter().zip(&solution.u) {
                    prop_assert!((x - y).abs() < 1e-8, "{}: {x} {y}", kind.name()); // tolerance 1e-10, conditioning below 100
                }
            }
        }
    }

    /// A frictionless problem has one u: pivoting and sweeps agree on it.
    #[test]
    fn pivoting_and_sweeps_agree(seed in any::<u64>(), dof in 3..10_usize) {
        let problem = random(seed, vec![Block::Unilateral; 8], dof);
        let mut found = Vec::new();
        for kind in ["lemke", "nsgs"] {
            let params = FrictionSolverParams {
                kind: kind.parse().unwrap(),
                ..Default::default()
            };
            let mut solution = Solution::default();
            let mut solver = friction_contact_solver(&params).unwrap();
            let report = solver.solve(&problem, &mut solution).unwrap();
            if kind == "lemke" {
                prop_assert!(report.is_converged(), "{report:?}");
            }
            found.push((report, solution));
        }
        if found.iter().all(|(report, _)| report.is_converged()) {
            for (x, y) in found[0].1.u.iter().zip(&found[1].1.u) {
                // Residual ε allows an error of order √ε in u of a rank-deficient problem.
                prop_assert!((x - y).abs() < 1e-4, "{x} {y}");
            }
        }
    }
}
