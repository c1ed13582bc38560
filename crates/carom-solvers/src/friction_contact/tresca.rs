//! Fixed point on the friction bounds.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Fixed point on the friction bounds.
#[derive(Clone, Debug)]
pub struct Tresca {
    tolerance: f64,
}

impl Tresca {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Tresca { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for Tresca {
    fn name(&self) -> &'static str {
        "tresca"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "tresca", reason: "not written", alternatives: "auto" })
    }
}
