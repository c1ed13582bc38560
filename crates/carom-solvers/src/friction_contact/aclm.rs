//! Fixed point on the slip term.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Fixed point on the slip term.
#[derive(Clone, Debug)]
pub struct Aclm {
    tolerance: f64,
}

impl Aclm {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Aclm { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for Aclm {
    fn name(&self) -> &'static str {
        "aclm"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "aclm", reason: "not written", alternatives: "auto" })
    }
}
