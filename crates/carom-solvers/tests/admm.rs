//! ADMM: convergence on all kinds of problems, with all settings, and honesty where it fails.

use crate::generate::{column, from_jacobian, random, stack_of_cubes, suite};
use carom_solvers::friction_contact::{AdmmAcceleration, AdmmBalancing, AdmmParams};
use carom_solvers::{
    Block, Delassus, DenseDelassus, FrictionContact, FrictionSolverParams, Solution, SolveReport, SolveStatus, friction_contact_solver,
};

fn solve_with(params: &FrictionSolverParams, problem: &FrictionContact, solution: &mut Solution) -> SolveReport {
    friction_contact_solver(params).unwrap().solve(problem, solution).unwrap()
}

fn params() -> FrictionSolverParams {
    FrictionSolverParams { kind: "admm".parse().unwrap(), ..Default::default() }
}

fn solve(problem: &FrictionContact) -> (SolveReport, Solution) {
    let mut solution = Solution::default();
    (solve_with(&params(), problem, &mut solution), solution)
}

fn all_kinds() -> Vec<Block> {
    let mut blocks = Vec::new();
    for dim in 1..=6 {
        blocks.extend([Block::Bilateral { dim }, Block::Unilateral, Block::Coulomb2 { mu: 0.5 }, Block::Coulomb3 { mu: 0.3 }]);
        blocks.extend([Block::Coulomb3 { mu: 0.0 }, Block::Rolling { mu: 0.4, rolling: 0.2 }, Block::Rolling { mu: 0.4, rolling: 0.0 }]);
    }
    blocks
}

#[test]
fn the_whole_suite_is_solved() {
    for (name, _, problem) in suite() {
        let (report, mut solution) = solve(&problem);
        // Its factorisation does not feel mass ratios, its penalty not the missing rank.
        assert!(report.is_converged() && report.iterations <= 500, "'{name}': {report:?}");
        assert!(problem.residual_normalised(&solution.r, &solution.u) <= 1e-10, "'{name}'");
        let again = solve_with(&params(), &problem, &mut solution);
        assert_eq!((again.status, again.iterations), (SolveStatus::Converged, 0), "'{name}'");
    }
}

#[test]
fn full_and_missing_rank_of_all_kinds_of_blocks() {
    let rows: usize = all_kinds().iter().map(Block::dim).sum();
    for seed in 0..3 {
        for (what, problem) in [
            ("spatial", random(100 + seed, vec![Block::Coulomb3 { mu: 0.4 }; 50], 160)),
            ("all kinds", random(300 + seed, all_kinds(), rows + 10)),
            ("all kinds, rank-deficient", random(400 + seed, all_kinds(), rows - 40)),
        ] {
            let (report, _) = solve(&problem);
            assert!(report.is_converged() && report.iterations <= 1000, "{what} {seed}: {report:?}");
        }
    }
    let (report, _) = solve(&column(3, 1e3));
    assert!(report.is_converged(), "{report:?}");
}

#[test]
fn a_stack_of_cubes_carries_its_weight() {
    let problem = stack_of_cubes(20, 1, 0.0);
    let (report, solution) = solve(&problem);
    assert!(report.is_converged() && report.iterations <= 2000, "{report:?}");
    // m g h of twenty cubes on the ground; residual 1e-10 relative to |r|, which is about 1.
    let ground: f64 = solution.r[..12].iter().step_by(3).sum();
    assert!((ground - 20.0 * 9.81e-3).abs() < 1e-7, "{ground}");
}

#[test]
fn all_settings_solve() {
    let problem = random(31, vec![Block::Coulomb3 { mu: 0.2 }; 8], 40);
    let (_, reference) = solve(&problem);
    for acceleration in [AdmmAcceleration::None, AdmmAcceleration::Nesterov, AdmmAcceleration::Anderson] {
        for balancing in [AdmmBalancing::None, AdmmBalancing::Residual, AdmmBalancing::Scaled] {
            for (rho, relaxation) in [(None, 1.0), (Some(1.0), 1.6), (Some(0.02), 0.8)] {
                let admm = AdmmParams { acceleration, balancing, rho, relaxation, ..Default::default() };
                let mut solution = Solution::default();
                let report = solve_with(&FrictionSolverParams { admm: admm.clone(), ..params() }, &problem, &mut solution);
                assert!(report.is_converged(), "{admm:?}: {report:?}");
                for (a, b) in solution.r.iter().zip(&reference.r) {
                    // Residual 1e-10 times the condition of W, below 1e3 here; with this friction the solution is unique.
                    assert!((a - b).abs() < 1e-7, "{admm:?}");
                }
            }
        }
    }
}

#[test]
fn a_matrix_that_is_not_symmetric_is_taken_as_it_is() {
    let problem = random(41, vec![Block::Coulomb3 { mu: 0.3 }; 5], 25);
    let mut w = Vec::new();
    problem.w.to_dense(&mut w);
    let n = problem.n_rows();
    for i in 0..n {
        for j in 0..i {
            w[i * n + j] += 1e-3;
            w[j * n + i] -= 1e-3;
        }
    }
    let problem = FrictionContact { w: Delassus::Dense(DenseDelassus::new(w, &[3; 5]).unwrap()), ..problem };
    let (report, _) = solve(&problem);
    assert!(report.is_converged() && report.iterations <= 200, "{report:?}");
}

#[test]
fn what_cannot_be_solved_is_said() {
    // The second row has no inertia: W r + q stays at −1 there.
    let problem = from_jacobian(vec![Block::Unilateral; 2], &[1.0, 0.0], &[1.0], &[-1.0]);
    let problem = FrictionContact { q: vec![-1.0, -1.0], ..problem };
    let (report, solution) = solve(&problem);
    assert!(!report.is_converged(), "{report:?}");
    assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()));
    let limited = FrictionSolverParams { time_limit: Some(1e-9), ..params() };
    let report = solve_with(&limited, &problem, &mut Solution::default());
    assert_eq!((report.status, report.iterations), (SolveStatus::TimeLimit, 0));
    let limited = FrictionSolverParams { max_iterations: 3, ..params() };
    let report = solve_with(&limited, &problem, &mut Solution::default());
    assert_eq!((report.status, report.iterations), (SolveStatus::MaxIterations, 3));
}

#[test]
fn settings_are_checked() {
    let good = AdmmParams::default();
    for admm in [
        AdmmParams { rho: Some(0.0), ..good.clone() },
        AdmmParams { balance_ratio: 0.5, ..good.clone() },
        AdmmParams { balance_factor: 1.0, ..good.clone() },
        AdmmParams { restart: 1.0, ..good.clone() },
        AdmmParams { relaxation: 2.0, ..good },
    ] {
        assert!(FrictionSolverParams { admm: admm.clone(), ..Default::default() }.validate().is_err(), "{admm:?}");
    }
}

#[test]
fn a_guess_beyond_all_numbers_gives_finite_ones() {
    let problem = random(51, vec![Block::Coulomb3 { mu: 0.5 }; 4], 20);
    let mut huge = Solution { r: vec![1e300; 12], u: Vec::new() };
    let report = solve_with(&params(), &problem, &mut huge);
    assert!(report.is_converged() || report.residual_normalised.is_finite(), "{report:?}");
    assert!(huge.r.iter().chain(&huge.u).all(|x| x.is_finite()));
}
