//! Normal and tangential problems in turn.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Normal and tangential problems in turn.
#[derive(Clone, Debug)]
pub struct Panagiotopoulos {
    tolerance: f64,
}

impl Panagiotopoulos {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Panagiotopoulos { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for Panagiotopoulos {
    fn name(&self) -> &'static str {
        "panagiotopoulos"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "panagiotopoulos", reason: "not written", alternatives: "auto" })
    }
}
