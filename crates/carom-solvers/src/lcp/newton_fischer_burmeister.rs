//! Newton on the Fischer–Burmeister function.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Newton on the Fischer–Burmeister function.
#[derive(Clone, Debug)]
pub struct NewtonFischerBurmeister {
    tolerance: f64,
}

impl NewtonFischerBurmeister {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        NewtonFischerBurmeister { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for NewtonFischerBurmeister {
    fn name(&self) -> &'static str {
        "newton-fischer-burmeister"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "newton-fischer-burmeister", reason: "not written", alternatives: "auto" })
    }
}
