//! Mixed LCP: enumeration.

use super::Mlcp;
use crate::error::SolveError;
use crate::parameters::MlcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Mixed LCP: enumeration.
#[derive(Clone, Debug)]
pub struct Enumeration {
    tolerance: f64,
}

impl Enumeration {
    /// A solver with these parameters.
    pub fn new(params: &MlcpSolverParams) -> Self {
        Enumeration { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Mlcp> for Enumeration {
    fn name(&self) -> &'static str {
        "enumeration"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Mlcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "enumeration", reason: "not written", alternatives: "auto" })
    }
}
