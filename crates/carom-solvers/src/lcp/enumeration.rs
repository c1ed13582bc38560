//! Enumeration of the active sets.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Enumeration of the active sets.
#[derive(Clone, Debug)]
pub struct Enumeration {
    tolerance: f64,
}

impl Enumeration {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Enumeration { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for Enumeration {
    fn name(&self) -> &'static str {
        "enumeration"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "enumeration", reason: "not written", alternatives: "auto" })
    }
}
