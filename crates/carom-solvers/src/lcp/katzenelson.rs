//! Piecewise-linear homotopy of Katzenelson.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Piecewise-linear homotopy of Katzenelson.
#[derive(Clone, Debug)]
pub struct Katzenelson {
    tolerance: f64,
}

impl Katzenelson {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Katzenelson { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for Katzenelson {
    fn name(&self) -> &'static str {
        "katzenelson"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "katzenelson", reason: "not written", alternatives: "auto" })
    }
}
