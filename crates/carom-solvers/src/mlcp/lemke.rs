//! Mixed LCP: lemke.

use super::Mlcp;
use crate::error::SolveError;
use crate::parameters::MlcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Mixed LCP: lemke.
#[derive(Clone, Debug)]
pub struct Lemke {
    tolerance: f64,
}

impl Lemke {
    /// A solver with these parameters.
    pub fn new(params: &MlcpSolverParams) -> Self {
        Lemke { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Mlcp> for Lemke {
    fn name(&self) -> &'static str {
        "lemke"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Mlcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "lemke", reason: "not written", alternatives: "auto" })
    }
}
