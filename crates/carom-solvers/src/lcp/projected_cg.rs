//! Projected conjugate gradients.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Projected conjugate gradients.
#[derive(Clone, Debug)]
pub struct ProjectedCg {
    tolerance: f64,
}

impl ProjectedCg {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        ProjectedCg { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for ProjectedCg {
    fn name(&self) -> &'static str {
        "projected-cg"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "projected-cg", reason: "not written", alternatives: "auto" })
    }
}
