//! Projections with a fixed step per contact.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Projections with a fixed step per contact.
#[derive(Clone, Debug)]
pub struct DeSaxce {
    tolerance: f64,
}

impl DeSaxce {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        DeSaxce { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for DeSaxce {
    fn name(&self) -> &'static str {
        "de-saxce"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "de-saxce", reason: "not written", alternatives: "auto" })
    }
}
