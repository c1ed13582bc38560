//! Principal pivoting of Cottle and Dantzig.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Principal pivoting of Cottle and Dantzig.
#[derive(Clone, Debug)]
pub struct PrincipalPivoting {
    tolerance: f64,
}

impl PrincipalPivoting {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        PrincipalPivoting { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for PrincipalPivoting {
    fn name(&self) -> &'static str {
        "principal-pivoting"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "principal-pivoting", reason: "not written", alternatives: "auto" })
    }
}
