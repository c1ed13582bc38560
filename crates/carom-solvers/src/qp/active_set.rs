//! Convex QP: active-set.

use super::ConvexQp;
use crate::error::SolveError;
use crate::parameters::QpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Convex QP: active-set.
#[derive(Clone, Debug)]
pub struct ActiveSet {
    tolerance: f64,
}

impl ActiveSet {
    /// A solver with these parameters.
    pub fn new(params: &QpSolverParams) -> Self {
        ActiveSet { tolerance: params.tolerance }
    }
}

impl OneStepSolver<ConvexQp> for ActiveSet {
    fn name(&self) -> &'static str {
        "active-set"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &ConvexQp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "active-set", reason: "not written", alternatives: "auto" })
    }
}
