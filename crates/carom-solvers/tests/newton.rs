//! The nonsmooth Newton methods: convergence, its order, and honesty where it fails.

use crate::generate::{Difficulty, Random, from_jacobian, random, stack_of_cubes, suite};
use crate::support::{params, solve};
use carom_solvers::friction_contact::{NewtonLineSearch, NonsmoothNewtonParams};
use carom_solvers::{
    Block, FrictionContact, FrictionSolverParams, Solution, SolveError, SolveReport, SolveStatus, friction_contact_solver,
};

const KINDS: [&str; 3] = ["newton-alart-curnier", "newton-jean-moreau", "newton-fischer-burmeister"];

fn solve_with(params: &FrictionSolverParams, problem: &FrictionContact, solution: &mut Solution) -> SolveReport {
    friction_contact_solver(params).unwrap().solve(problem, solution).unwrap()
}

/// Blocks of all kinds; those with rolling resistance only where the cone may be any.
fn all_kinds(with_rolling: bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    for dim in 1..=6 {
        blocks.extend([Block::Bilateral { dim }, Block::Unilateral, Block::Coulomb2 { mu: 0.5 }]);
        blocks.extend([Block::Coulomb3 { mu: 0.3 }, Block::Coulomb3 { mu: 0.0 }, Block::Rolling { mu: 0.4, rolling: 0.0 }]);
        if with_rolling {
            blocks.push(Block::Rolling { mu: 0.4, rolling: 0.2 });
        }
    }
    blocks
}

/// Point masses in a row, each bound to the next by a contact in a frame of its own: W is block tridiagonal and of full rank.
fn chain(n: usize, mu: f64, seed: u64) -> FrictionContact {
    let mut random = Random::new(seed);
    let dof = 3 * n;
    let mut g = vec![0.0; 3 * n * dof];
    for contact in 0..n {
        for row in 0..3 {
            for axis in 0..3 {
                let entry = random.signed() + if row == axis { 1.5 } else { 0.0 };
                g[(3 * contact + row) * dof + 3 * contact + axis] = entry;
                if contact > 0 {
                    g[(3 * contact + row) * dof + 3 * (contact - 1) + axis] = -entry;
                }
            }
        }
    }
    let v = random.vector(dof);
    from_jacobian(vec![Block::Coulomb3 { mu }; n], &g, &vec![1.0; dof], &v)
}

#[test]
fn easy_problems_take_few_steps_and_hard_ones_an_honest_answer() {
    for kind in KINDS {
        for (name, difficulty, problem) in suite() {
            let (report, solution) = solve(kind, &problem);
            assert_eq!(report.solver, kind);
            if difficulty == Difficulty::Easy {
                assert!(report.is_converged() && report.iterations <= 20, "{kind} on '{name}': {report:?}");
            }
            let judge = problem.residual_normalised(&solution.r, &solution.u);
            assert_eq!(report.is_converged(), judge <= 1e-10, "{kind} on '{name}': {report:?}");
            assert!(report.is_converged() || report.status == SolveStatus::Stalled, "{kind} on '{name}': {report:?}");
        }
    }
}

#[test]
fn full_rank_takes_few_steps() {
    for kind in KINDS {
        for seed in 0..4 {
            let mu = 0.2 * seed as f64;
            let mixed = all_kinds(!kind.contains("fischer"));
            let rows: usize = mixed.iter().map(Block::dim).sum();
            let problems = [
                ("spatial", random(100 + seed, vec![Block::Coulomb3 { mu }; 50], 160)),
                ("planar", random(200 + seed, vec![Block::Coulomb2 { mu }; 50], 110)),
                ("all kinds", random(300 + seed, mixed, rows + 10)),
                ("sparse", chain(50, mu, 400 + seed)),
            ];
            for (name, problem) in problems {
                let (report, mut solution) = solve(kind, &problem);
                // 4 to 12 steps are usual; 31 on a chain with μ = 0.6.
                assert!(report.is_converged() && report.iterations <= 50, "{kind}, {name} {seed}: {report:?}");
                let again = solve_with(&params(kind), &problem, &mut solution);
                assert_eq!((again.status, again.iterations), (SolveStatus::Converged, 0), "{kind}, {name} {seed}");
                for r in &mut solution.r {
                    *r *= 1.0 + 1e-6;
                }
                let near = solve_with(&params(kind), &problem, &mut solution);
                assert!(near.is_converged() && near.iterations <= 2, "{kind}, {name} {seed}: {near:?}");
            }
        }
    }
}

#[test]
fn convergence_is_quadratic_near_a_solution() {
    // Sliding contacts in space: the only modes whose equations are not linear.
    let problem = random(7, vec![Block::Coulomb3 { mu: 0.3 }; 12], 50);
    for kind in KINDS {
        let tight = FrictionSolverParams { tolerance: 1e-15, ..params(kind) };
        let mut exact = Solution::default();
        solve_with(&tight, &problem, &mut exact);
        let mut random = Random::new(8);
        let guess: Vec<f64> = exact.r.iter().map(|r| r * (1.0 + 2e-2 * random.signed())).collect();
        let errors: Vec<f64> = (1..=3)
            .map(|steps| {
                let mut solution = Solution { r: guess.clone(), u: Vec::new() };
                solve_with(&FrictionSolverParams { max_iterations: steps, ..tight.clone() }, &problem, &mut solution);
                solution.r.iter().zip(&exact.r).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
            })
            .collect();
        let order = (errors[2] / errors[1]).ln() / (errors[1] / errors[0]).ln();
        // From 1e-3 or so; α = 1e-9 and rounding stay far below the last of these errors or end the solve at it.
        assert!(errors[0] > 1e-8 && errors[1] < errors[0], "{kind}: {errors:?}");
        assert!(order > 1.7 || errors[2] < 1e-12, "{kind}: {errors:?}, order {order}");
    }
}

#[test]
fn every_line_search_and_weight_leads_to_the_same_solution() {
    let problem = random(31, vec![Block::Coulomb3 { mu: 0.2 }; 8], 40);
    for kind in KINDS {
        let (_, reference) = solve(kind, &problem);
        for line_search in [NewtonLineSearch::None, NewtonLineSearch::Armijo, NewtonLineSearch::GoldsteinPrice] {
            for (memory, regularisation, rho) in [(1, 0.0, 1.0), (10, 1e-9, 0.3), (3, 1e-6, 3.0)] {
                let newton = NonsmoothNewtonParams { line_search, memory, regularisation, rho };
                let mut solution = Solution::default();
                let report = solve_with(&FrictionSolverParams { newton: newton.clone(), ..params(kind) }, &problem, &mut solution);
                assert!(report.is_converged() && report.iterations <= 40, "{kind} {newton:?}: {report:?}");
                for (a, b) in solution.r.iter().zip(&reference.r) {
                    // Residual 1e-10 times the condition of W, below 1e3 here; with this friction the solution is unique.
                    assert!((a - b).abs() < 1e-7, "{kind} {newton:?}");
                }
            }
        }
    }
}

#[test]
fn redundant_contacts_are_solved_or_given_up() {
    for kind in KINDS {
        let mut solved = 0;
        for seed in 1..4 {
            let mut params = params(kind);
            params.max_iterations = 200;
            let problem = stack_of_cubes(8, seed, 0.0);
            let mut solution = Solution::default();
            let report = solve_with(&params, &problem, &mut solution);
            let is_honest = matches!(report.status, SolveStatus::Converged | SolveStatus::Stalled | SolveStatus::MaxIterations);
            assert!(is_honest && report.residual_normalised < 0.1, "{kind} {seed}: {report:?}");
            solved += usize::from(report.is_converged());
        }
        assert!(solved > 0, "{kind}");
    }
}

#[test]
fn what_cannot_be_solved_is_said() {
    // The second row has no inertia: W r + q stays at −1 there.
    let problem = from_jacobian(vec![Block::Unilateral; 2], &[1.0, 0.0], &[1.0], &[-1.0]);
    let problem = FrictionContact { q: vec![-1.0, -1.0], ..problem };
    for kind in KINDS {
        let (report, solution) = solve(kind, &problem);
        assert_eq!(report.status, SolveStatus::Stalled, "{kind}: {report:?}");
        assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()), "{kind}");
        let mut limited = params(kind);
        limited.time_limit = Some(1e-9);
        let report = solve_with(&limited, &problem, &mut Solution::default());
        assert_eq!((report.status, report.iterations), (SolveStatus::TimeLimit, 0), "{kind}");
        limited = FrictionSolverParams { max_iterations: 1, ..params(kind) };
        let problem = random(3, vec![Block::Coulomb3 { mu: 0.5 }; 6], 30);
        let report = solve_with(&limited, &problem, &mut Solution::default());
        assert_eq!((report.status, report.iterations), (SolveStatus::MaxIterations, 1), "{kind}");
    }
    let rolling = random(5, vec![Block::Rolling { mu: 0.3, rolling: 0.1 }; 2], 12);
    let mut solver = friction_contact_solver(&params("newton-fischer-burmeister")).unwrap();
    match solver.solve(&rolling, &mut Solution::default()) {
        Err(SolveError::Unsupported { solver, alternatives, .. }) => {
            assert_eq!(solver, "newton-fischer-burmeister");
            assert!(alternatives.contains("auto"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_are_checked() {
    let good = NonsmoothNewtonParams::default();
    for newton in [
        NonsmoothNewtonParams { memory: 0, ..good.clone() },
        NonsmoothNewtonParams { regularisation: -1.0, ..good.clone() },
        NonsmoothNewtonParams { rho: 0.0, ..good.clone() },
        NonsmoothNewtonParams { rho: f64::NAN, ..good },
    ] {
        assert!(FrictionSolverParams { newton: newton.clone(), ..Default::default() }.validate().is_err(), "{newton:?}");
    }
}

#[test]
fn a_guess_beyond_all_numbers_gives_finite_ones() {
    let problem = random(51, vec![Block::Coulomb3 { mu: 0.5 }; 4], 20);
    for kind in KINDS {
        let mut huge = Solution { r: vec![1e300; 12], u: Vec::new() };
        let report = solve_with(&params(kind), &problem, &mut huge);
        assert!(report.is_converged() || report.residual_normalised.is_finite(), "{kind}: {report:?}");
        assert!(huge.r.iter().chain(&huge.u).all(|x| x.is_finite()), "{kind}");
    }
}
