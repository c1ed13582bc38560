//! Mixed LCP: newton-fischer-burmeister.

use super::Mlcp;
use crate::error::SolveError;
use crate::parameters::MlcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Mixed LCP: newton-fischer-burmeister.
#[derive(Clone, Debug)]
pub struct NewtonFischerBurmeister {
    tolerance: f64,
}

impl NewtonFischerBurmeister {
    /// A solver with these parameters.
    pub fn new(params: &MlcpSolverParams) -> Self {
        NewtonFischerBurmeister { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Mlcp> for NewtonFischerBurmeister {
    fn name(&self) -> &'static str {
        "newton-fischer-burmeister"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Mlcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "newton-fischer-burmeister", reason: "not written", alternatives: "auto" })
    }
}
