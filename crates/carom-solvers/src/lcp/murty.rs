//! Least-index principal pivoting of Murty.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Least-index principal pivoting of Murty.
#[derive(Clone, Debug)]
pub struct Murty {
    tolerance: f64,
}

impl Murty {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Murty { tolerance: params.tolerance }
    }
}

impl OneStepSolver<Lcp> for Murty {
    fn name(&self) -> &'static str {
        "murty"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &Lcp, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "murty", reason: "not written", alternatives: "auto" })
    }
}
