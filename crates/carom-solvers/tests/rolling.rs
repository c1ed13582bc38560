//! Contacts with rolling resistance: one ball on a plane by hand, and random problems.

use crate::generate::{Random, from_jacobian, random};
use carom_solvers::{
    Block, Delassus, DenseDelassus, FrictionContact, FrictionSolverParams, Solution, SolveReport, friction_contact_solver,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const KINDS: [&str; 2] = ["auto", "nsgs"];

fn solve(kind: &str, problem: &FrictionContact, tolerance: f64) -> (SolveReport, Solution) {
    let params = FrictionSolverParams { kind: kind.parse().unwrap(), tolerance, ..Default::default() };
    let mut solution = Solution::default();
    let report = friction_contact_solver(&params).unwrap().solve(problem, &mut solution).unwrap();
    (report, solution)
}

const MASS: f64 = 2.0;
const RADIUS: f64 = 0.1;
const INERTIA: f64 = 0.4 * MASS * RADIUS * RADIUS;
/// Speed at which the ball meets the plane; the normal impulse is MASS · FALL.
const FALL: f64 = 0.5;

/// A solid ball on the plane z = 0 with velocity v along x and angular velocity ω about y. The point of contact is at −R e_z, its
/// velocity v + ω × (−R e_z): slip (v_x − R ω_y, v_y + R ω_x).
fn ball(mu: f64, rolling: f64, v: f64, omega: f64) -> FrictionContact {
    let r = RADIUS;
    #[rustfmt::skip]
    let g = [
        0.0, 0.0, 1.0, 0.0, 0.0, 0.0,
        1.0, 0.0, 0.0, 0.0, -r, 0.0,
        0.0, 1.0, 0.0, r, 0.0, 0.0,
        0.0, 0.0, 0.0, 1.0, 0.0, 0.0,
        0.0, 0.0, 0.0, 0.0, 1.0, 0.0,
    ];
    let inverse_mass = [1.0 / MASS, 1.0 / MASS, 1.0 / MASS, 1.0 / INERTIA, 1.0 / INERTIA, 1.0 / INERTIA];
    from_jacobian(vec![Block::Rolling { mu, rolling }], &g, &inverse_mass, &[v, 0.0, -FALL, 0.0, omega, 0.0])
}

/// Impulses (N, along x, moment about y) and velocities after it (slip, ω) of the ball, from both solvers.
fn check_ball(problem: &FrictionContact, impulse: [f64; 3], slip: f64, omega: f64) {
    for kind in KINDS {
        let (report, solution) = solve(kind, problem, 1e-12);
        assert!(report.is_converged(), "{kind} {report:?}");
        let (r, u) = (&solution.r, &solution.u);
        let exact = [impulse[0], impulse[1], 0.0, 0.0, impulse[2], 0.0, slip, 0.0, 0.0, omega];
        for (x, exact) in r.iter().chain(u).zip(exact) {
            // Residual 1e-12 of numbers up to 30, times 1/W_MM and W_MM = 125.
            assert!((x - exact).abs() < 1e-10, "{kind} {r:?} {u:?} {exact}");
        }
    }
}

#[test]
fn a_push_below_both_bounds_leaves_the_ball_at_rest() {
    // Stops when R v ≤ μ_r FALL and v ≤ μ FALL: the friction is −m v, the moment balances its torque.
    let v = 0.05;
    check_ball(&ball(0.5, 0.02, v, 0.0), [MASS * FALL, -MASS * v, -RADIUS * MASS * v], 0.0, 0.0);
}

#[test]
fn a_ball_that_rolls_rolls_on_slower() {
    // ω = v/R and rolling saturates: M = −μ_r N; no slip afterwards asks for p = M R m/(I + m R²) = 5 M/(7 R).
    let (v, rolling) = (1.0, 0.01);
    let moment = -rolling * MASS * FALL;
    let friction = 5.0 / 7.0 * moment / RADIUS;
    let omega = (v + friction / MASS) / RADIUS;
    check_ball(&ball(0.5, rolling, v, v / RADIUS), [MASS * FALL, friction, moment], 0.0, omega);
}

#[test]
fn a_fast_ball_slides_and_rolls() {
    // Both saturate: p = −μ N, M = −μ_r N, ω⁺ = ω + (M − R p)/I.
    let (mu, rolling, v, omega) = (0.2, 0.01, 5.0, 10.0);
    let n = MASS * FALL;
    let after = omega + (RADIUS * mu * n - rolling * n) / INERTIA;
    let slip = v - mu * FALL - RADIUS * after;
    check_ball(&ball(mu, rolling, v, omega), [n, -mu * n, -rolling * n], slip, after);
}

#[test]
fn a_ball_in_glue_slides_without_turning() {
    // μ_r ≥ μ R: the moment R p needed to keep ω = 0 is within its bound.
    let (mu, rolling, v) = (0.2, 0.03, 5.0);
    let n = MASS * FALL;
    check_ball(&ball(mu, rolling, v, 0.0), [n, -mu * n, -RADIUS * mu * n], v - mu * FALL, 0.0);
}

#[test]
fn without_rolling_resistance_it_is_coulomb_friction() {
    let rolling = random(51, vec![Block::Rolling { mu: 0.4, rolling: 0.0 }; 2], 14);
    let n = rolling.n_rows();
    let mut w = Vec::new();
    rolling.w.to_dense(&mut w);
    let kept = [0, 1, 2, 5, 6, 7];
    let values = kept.iter().flat_map(|i| kept.map(|j| w[i * n + j])).collect();
    let plain = FrictionContact {
        w: Delassus::Dense(DenseDelassus::new(values, &[3, 3]).unwrap()),
        q: kept.map(|i| rolling.q[i]).to_vec(),
        blocks: vec![Block::Coulomb3 { mu: 0.4 }; 2],
    };
    let (a, with) = solve("nsgs", &rolling, 1e-12);
    let (b, without) = solve("nsgs", &plain, 1e-12);
    assert!(a.is_converged() && b.is_converged());
    for (k, i) in kept.into_iter().enumerate() {
        assert!((with.r[i] - without.r[k]).abs() < 1e-9, "{with:?} {without:?}"); // tolerance 1e-12, conditioning below 1e3
    }
}

#[test]
fn random_problems_of_full_rank_converge() {
    for seed in 0..40 {
        let mut numbers = Random::new(1000 + seed);
        let contacts = 2 + (seed % 5) as usize;
        let blocks =
            (0..contacts).map(|_| Block::Rolling { mu: 0.4 + 0.4 * numbers.signed(), rolling: 0.1 + 0.1 * numbers.signed() }).collect();
        let problem = random(seed, blocks, 8 * contacts);
        for kind in KINDS {
            let (report, _) = solve(kind, &problem, 1e-10);
            assert!(report.is_converged(), "{kind} {seed} {report:?}");
        }
    }
}

#[test]
fn small_rank_deficient_problems_converge() {
    let mut failed = Vec::new();
    for seed in 0..30 {
        let contacts = 2 + (seed % 3) as usize;
        let dof = 3 * contacts;
        let problem = random(100 + seed, vec![Block::Rolling { mu: 0.3, rolling: 0.1 }; contacts], dof);
        let (report, _) = solve("auto", &problem, 1e-10);
        if !report.is_converged() {
            failed.push((seed, report));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn blocks_of_all_sizes_and_joints_live_together() {
    for seed in 0..20 {
        let blocks = vec![
            Block::Bilateral { dim: 3 },
            Block::Unilateral,
            Block::Rolling { mu: 0.3, rolling: 0.05 },
            Block::Coulomb2 { mu: 0.5 },
            Block::Bilateral { dim: 1 },
            Block::Coulomb3 { mu: 0.6 },
            Block::Rolling { mu: 0.7, rolling: 0.2 },
        ];
        let problem = random(200 + seed, blocks, 36);
        for kind in KINDS {
            let (report, solution) = solve(kind, &problem, 1e-10);
            assert!(report.is_converged(), "{kind} {seed} {report:?}");
            let judge = problem.residual_normalised(&solution.r, &solution.u);
            assert!((judge - report.residual_normalised).abs() < 1e-14); // the same sums
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, rng_seed: RngSeed::Fixed(20_240_611), failure_persistence: None, ..ProptestConfig::default() })]

    /// One contact: residual at rounding for any velocity and any bounds.
    #[test]
    fn one_contact_is_exact(
        g in prop::collection::vec(-1.0..1.0_f64, 25),
        q in prop::array::uniform5(-1.0..1.0_f64),
        exponent in -3..4_i32,
        mu in prop_oneof![Just(0.0), 0.0..2.0_f64],
        rolling in prop_oneof![Just(0.0), 0.0..1.0_f64, 1e-6..1e-3_f64],
    ) {
        let scale = 10f64.powi(exponent);
        let entry = |i: usize, j: usize| {
            let product: f64 = (0..5).map(|k| g[5 * i + k] * g[5 * j + k]).sum();
            scale * (product + if i == j { 0.05 } else { 0.0 })
        };
        let w: Vec<f64> = (0..25).map(|k| entry(k / 5, k % 5)).collect();
        let block = Block::Rolling { mu, rolling };
        let problem =
            FrictionContact { w: Delassus::Dense(DenseDelassus::new(w, &[5]).unwrap()), q: q.to_vec(), blocks: vec![block] };
        let (report, solution) = solve("auto", &problem, 1e-12);
        prop_assert!(report.residual_normalised <= 1e-12, "{report:?} {solution:?}");
        let r = &solution.r;
        // In the cone up to one rounding of the norms.
        prop_assert!(r[1].hypot(r[2]) <= mu * r[0] * (1.0 + 1e-14) + 1e-300, "{r:?}");
        prop_assert!(r[3].hypot(r[4]) <= rolling * r[0] * (1.0 + 1e-14) + 1e-300, "{r:?}");
    }
}
