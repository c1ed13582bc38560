//! The settings of the sweeps: other ways to the same solution.

use crate::generate::{Difficulty, random, stack_of_cubes, suite};
use carom_solvers::friction_contact::{FreezingParams, LocalSolver, NsgsParams, SweepOrder};
use carom_solvers::{Block, FrictionContact, FrictionSolverParams, Solution, SolveReport, SolveStatus, friction_contact_solver};

fn params(nsgs: NsgsParams) -> FrictionSolverParams {
    FrictionSolverParams { kind: "nsgs".parse().unwrap(), nsgs, ..Default::default() }
}

fn solve(params: &FrictionSolverParams, problem: &FrictionContact) -> (SolveReport, Solution) {
    let mut solution = Solution::default();
    let report = friction_contact_solver(params).unwrap().solve(problem, &mut solution).unwrap();
    (report, solution)
}

/// Every setting but the default ones.
fn settings() -> Vec<NsgsParams> {
    let base = NsgsParams::default();
    let freezing = Some(FreezingParams::default());
    vec![
        NsgsParams { acceleration: false, ..base.clone() },
        NsgsParams { local: LocalSolver::Newton, ..base.clone() },
        NsgsParams { local: LocalSolver::Newton, local_iterations: 2, ..base.clone() },
        NsgsParams { local: LocalSolver::Projection, local_iterations: 1000, ..base.clone() },
        NsgsParams { local: LocalSolver::Projection, local_iterations: 3, acceleration: false, ..base.clone() },
        NsgsParams { order: SweepOrder::ShuffledOnce, seed: 5, ..base.clone() },
        NsgsParams { order: SweepOrder::Shuffled, seed: 5, ..base.clone() },
        NsgsParams { order: SweepOrder::Symmetric, ..base.clone() },
        NsgsParams { freezing, ..base.clone() },
        NsgsParams { freezing, order: SweepOrder::Shuffled, ..base },
    ]
}

#[test]
fn every_setting_solves_the_easy_problems() {
    for nsgs in settings() {
        let params = params(nsgs);
        for (name, difficulty, problem) in suite() {
            if difficulty == Difficulty::Easy {
                let (report, _) = solve(&params, &problem);
                assert!(report.is_converged(), "{:?} on '{name}': {report:?}", params.nsgs);
            }
        }
    }
}

#[test]
fn joints_are_found_in_every_order() {
    for seed in 0..4 {
        let blocks = vec![
            Block::Coulomb3 { mu: 0.3 },
            Block::Bilateral { dim: 2 },
            Block::Unilateral,
            Block::Bilateral { dim: 3 },
            Block::Coulomb2 { mu: 0.3 },
            Block::Rolling { mu: 0.3, rolling: 0.1 },
        ];
        let problem = random(300 + seed, blocks, 30);
        let (_, reference) = solve(&params(NsgsParams::default()), &problem);
        for nsgs in settings() {
            let (report, solution) = solve(&params(nsgs.clone()), &problem);
            assert!(report.is_converged(), "{nsgs:?} {report:?}");
            for (a, b) in reference.r.iter().zip(&solution.r) {
                assert!((a - b).abs() < 1e-7, "{nsgs:?}"); // both solve to 1e-10, conditioning below 1e3
            }
        }
    }
}

#[test]
fn the_seed_repeats_the_sweeps() {
    let problem = random(61, vec![Block::Coulomb3 { mu: 0.4 }; 6], 30);
    let with_seed = |seed| solve(&params(NsgsParams { order: SweepOrder::Shuffled, seed, ..Default::default() }), &problem);
    assert_eq!(with_seed(3).1, with_seed(3).1);
    assert_ne!(with_seed(3).1, with_seed(4).1);
}

#[test]
fn a_solver_used_again_forgets_the_settings_of_the_last_problem() {
    // The second solve of the same problem from zero must repeat the first, whatever lies between.
    let (first, second) = (random(62, vec![Block::Coulomb3 { mu: 0.4 }; 6], 30), random(63, vec![Block::Coulomb2 { mu: 0.4 }; 3], 9));
    for nsgs in settings() {
        let mut solver = friction_contact_solver(&params(nsgs.clone())).unwrap();
        let mut solve = |problem| {
            let mut solution = Solution::default();
            solver.solve(problem, &mut solution).unwrap();
            solution
        };
        let (a, _, b) = (solve(&first), solve(&second), solve(&first));
        assert_eq!(a, b, "{nsgs:?}");
    }
}

#[test]
fn the_time_limit_ends_the_sweeps() {
    let problem = stack_of_cubes(10, 1, 0.0);
    let params = FrictionSolverParams { time_limit: Some(1e-9), tolerance: 1e-14, ..params(NsgsParams::default()) };
    let (report, solution) = solve(&params, &problem);
    assert_eq!(report.status, SolveStatus::TimeLimit);
    assert_eq!(report.iterations, 1);
    assert_eq!(problem.residual_normalised(&solution.r, &solution.u), report.residual_normalised);
}

#[test]
fn settings_are_read_strictly_and_checked() {
    use serde::Deserialize;
    use serde::de::value::{Error, MapDeserializer};

    let read =
        |key: &'static str, value: &'static str| NsgsParams::deserialize(MapDeserializer::<_, Error>::new([(key, value)].into_iter()));
    assert_eq!(read("local", "projection").unwrap().local, LocalSolver::Projection);
    assert_eq!(read("order", "shuffled-once").unwrap().order, SweepOrder::ShuffledOnce);
    assert!(read("order", "ShuffledOnce").is_err());
    assert!(read("ordre", "given").is_err());

    let base = NsgsParams::default();
    assert!(base.validate().is_ok());
    for broken in [
        NsgsParams { local_iterations: 0, ..base.clone() },
        NsgsParams { local_tolerance: f64::NAN, ..base.clone() },
        NsgsParams { seed: u64::MAX, ..base.clone() },
        NsgsParams { freezing: Some(FreezingParams { after: 0, duration: 1 }), ..base.clone() },
    ] {
        assert!(friction_contact_solver(&params(broken.clone())).is_err(), "{broken:?}");
    }
}
