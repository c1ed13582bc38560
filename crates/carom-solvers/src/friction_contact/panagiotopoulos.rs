//! Normal and tangential problems in turn.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::bounded_friction::{BoundLimits, BoundedFriction, Part, refuse_balls};
use super::elimination::Elimination;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// A reference, and for contacts whose normals and tangents are coupled little: the normal impulses are found with friction fixed, then friction
/// with its bounds μ r_N fixed, in turn.
///
/// [Panagiotopoulos, *A nonlinear programming approach to the unilateral contact and friction boundary value problem in the theory of elasticity*,
/// 1975]; differs in: both problems are solved by sweeps only as well as the error asks for. See `bounded_friction.rs` for the
/// equations. It contracts less often than `tresca`, whose problem sees the coupling.
/// Joints are eliminated first. Takes all laws, rolling resistance too. Cost: one pass over W per sweep; no allocation when warm.
#[derive(Clone, Debug)]
pub struct Panagiotopoulos {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    elimination: Elimination,
    contacts: BoundedFriction,
}

impl Panagiotopoulos {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Panagiotopoulos {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            elimination: Elimination::new(),
            contacts: BoundedFriction::default(),
        }
    }
}

impl OneStepSolver<FrictionContact> for Panagiotopoulos {
    fn name(&self) -> &'static str {
        "panagiotopoulos"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        refuse_balls("panagiotopoulos", problem)?;
        solution.prepare(problem.n_rows());
        let (deadline, max_sweeps, contacts) = (Deadline::after(self.time_limit), self.max_iterations, &mut self.contacts);
        let mut solve = |p: &FrictionContact, s: &mut Solution, tolerance| {
            contacts.solve("panagiotopoulos", p, s, &[Part::Normal, Part::Tangential], BoundLimits { tolerance, max_sweeps, deadline })
        };
        if problem.blocks.iter().any(|block| block.is_bilateral()) {
            self.elimination.solve(problem, solution, self.tolerance, |p, s, t| Ok(solve(p, s, t)))
        } else {
            Ok(solve(problem, solution, self.tolerance))
        }
    }
}
