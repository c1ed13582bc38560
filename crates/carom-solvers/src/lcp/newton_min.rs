//! Newton on the min map.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Newton on the min map.
#[derive(Clone, Debug)]
pub struct NewtonMin {
    tolerance: f64,
}

impl NewtonMin {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        NewtonMin { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for NewtonMin {
    fn name(&self) -> &'static str {
        "newton-min"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "newton-min", reason: "not written", alternatives: "auto" })
    }
}
