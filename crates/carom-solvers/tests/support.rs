//! Solving by name, and checks that several solvers share.

use crate::generate::random;
use carom_solvers::{Block, FrictionContact, FrictionSolverParams, Solution, SolveReport, friction_contact_solver};

pub fn params(kind: &str) -> FrictionSolverParams {
    FrictionSolverParams { kind: kind.parse().unwrap(), ..Default::default() }
}

pub fn solve_with(params: &FrictionSolverParams, problem: &FrictionContact) -> (SolveReport, Solution) {
    let mut solution = Solution::default();
    let report = friction_contact_solver(params).unwrap().solve(problem, &mut solution).unwrap();
    (report, solution)
}

pub fn solve(kind: &str, problem: &FrictionContact) -> (SolveReport, Solution) {
    solve_with(&params(kind), problem)
}

/// Each kind converges and finds the velocities of the sweeps, where they are unique.
pub fn check_velocities(kinds: &[&str], what: &str, problem: &FrictionContact) {
    let (_, reference) = solve("nsgs", problem);
    for kind in kinds {
        let (report, solution) = solve(kind, problem);
        assert!(report.is_converged(), "{kind} {what} {report:?}");
        for (a, b) in solution.u.iter().zip(&reference.u) {
            // Both residuals are 1e-10 relative to |q| of about ten, times the conditioning of W, below 1e2.
            assert!((a - b).abs() < 1e-7, "{kind} {what}: {a} {b}");
        }
    }
}

/// Without friction each kind finds the impulses of Lemke's method.
pub fn check_frictionless(kinds: &[&str]) {
    for seed in 60..64 {
        let blocks = vec![Block::Unilateral, Block::Coulomb3 { mu: 0.0 }, Block::Coulomb2 { mu: 0.0 }, Block::Unilateral];
        let problem = random(seed, blocks, 16);
        let (exact, reference) = solve("lemke", &problem);
        assert!(exact.is_converged());
        for kind in kinds {
            let (report, solution) = solve(kind, &problem);
            assert!(report.is_converged(), "{kind} {seed} {report:?}");
            for (a, b) in solution.r.iter().zip(&reference.r) {
                assert!((a - b).abs() < 1e-7, "{kind} {seed}: {a} {b}"); // the tolerance times the conditioning
            }
        }
    }
}
