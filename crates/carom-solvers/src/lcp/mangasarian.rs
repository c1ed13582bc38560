//! Newton on Mangasarian's equation form.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Newton on Mangasarian's equation form.
#[derive(Clone, Debug)]
pub struct Mangasarian {
    tolerance: f64,
}

impl Mangasarian {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Mangasarian { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for Mangasarian {
    fn name(&self) -> &'static str {
        "mangasarian"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "mangasarian", reason: "not written", alternatives: "auto" })
    }
}
