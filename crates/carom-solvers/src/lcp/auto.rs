//! The default solver.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// The default solver.
#[derive(Clone, Debug)]
pub struct Auto {
    tolerance: f64,
}

impl Auto {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Auto { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "auto", reason: "not written", alternatives: "auto" })
    }
}
