//! Fixed point on the friction bounds.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::bounded_friction::{BoundLimits, BoundedFriction, Part, refuse_balls};
use super::elimination::Elimination;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// A reference, and for contacts with little friction: the bounds of friction μ r_N are fixed, the convex problem of all rows is solved, the bounds
/// are updated.
///
/// [Haslinger, *Approximation of the Signorini problem with friction, obeying the Coulomb law*, 1983]; differs in: the convex problem is
/// solved by sweeps only as well as the error of the bounds asks for. See `bounded_friction.rs` for the equations. The fixed point
/// contracts where friction couples the normal impulses little (μ below some 0.5 in a stack); it may cycle elsewhere.
/// Joints are eliminated first. Takes all laws, rolling resistance too. Cost: one pass over W per sweep; no allocation when warm.
#[derive(Clone, Debug)]
pub struct Tresca {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    elimination: Elimination,
    contacts: BoundedFriction,
}

impl Tresca {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Tresca {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            elimination: Elimination::new(),
            contacts: BoundedFriction::default(),
        }
    }
}

impl OneStepSolver<FrictionContact> for Tresca {
    fn name(&self) -> &'static str {
        "tresca"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        refuse_balls("tresca", problem)?;
        solution.prepare(problem.n_rows());
        let (deadline, max_sweeps, contacts) = (Deadline::after(self.time_limit), self.max_iterations, &mut self.contacts);
        let mut solve = |p: &FrictionContact, s: &mut Solution, tolerance| {
            contacts.solve("tresca", p, s, &[Part::Whole], BoundLimits { tolerance, max_sweeps, deadline })
        };
        if problem.blocks.iter().any(|block| block.is_bilateral()) {
            self.elimination.solve(problem, solution, self.tolerance, |p, s, t| Ok(solve(p, s, t)))
        } else {
            Ok(solve(problem, solution, self.tolerance))
        }
    }
}
