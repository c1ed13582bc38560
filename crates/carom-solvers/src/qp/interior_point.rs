//! Convex QP: interior-point.

use super::ConvexQp;
use crate::error::SolveError;
use crate::parameters::QpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Convex QP: interior-point.
#[derive(Clone, Debug)]
pub struct InteriorPoint {
    tolerance: f64,
}

impl InteriorPoint {
    /// A solver with these parameters.
    pub fn new(params: &QpSolverParams) -> Self {
        InteriorPoint { tolerance: params.tolerance }
    }
}

impl OneStepSolver<ConvexQp> for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &ConvexQp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "interior-point", reason: "not written", alternatives: "auto" })
    }
}
