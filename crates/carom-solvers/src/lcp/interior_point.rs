//! Predictor-corrector interior point method of Mehrotra.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Predictor-corrector interior point method of Mehrotra.
#[derive(Clone, Debug)]
pub struct InteriorPoint {
    tolerance: f64,
}

impl InteriorPoint {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        InteriorPoint { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "interior-point", reason: "not written", alternatives: "auto" })
    }
}
