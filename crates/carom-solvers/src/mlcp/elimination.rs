//! Mixed LCP: elimination.

use super::Mlcp;
use crate::error::SolveError;
use crate::parameters::MlcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Mixed LCP: elimination.
#[derive(Clone, Debug)]
pub struct Elimination {
    tolerance: f64,
}

impl Elimination {
    /// A solver with these parameters.
    pub fn new(params: &MlcpSolverParams) -> Self {
        Elimination { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Mlcp> for Elimination {
    fn name(&self) -> &'static str {
        "elimination"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Mlcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "elimination", reason: "not written", alternatives: "auto" })
    }
}
