//! Mixed LCP: pgs.

use super::Mlcp;
use crate::error::SolveError;
use crate::parameters::MlcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Mixed LCP: pgs.
#[derive(Clone, Debug)]
pub struct Pgs {
    tolerance: f64,
}

impl Pgs {
    /// A solver with these parameters.
    pub fn new(params: &MlcpSolverParams) -> Self {
        Pgs { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Mlcp> for Pgs {
    fn name(&self) -> &'static str {
        "pgs"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Mlcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "pgs", reason: "not written", alternatives: "auto" })
    }
}
