//! Global form: nsgs.

use super::GlobalFrictionContact;
use crate::error::SolveError;
use crate::parameters::GlobalSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Global form: nsgs.
#[derive(Clone, Debug)]
pub struct Nsgs {
    tolerance: f64,
}

impl Nsgs {
    /// A solver with these parameters.
    pub fn new(params: &GlobalSolverParams) -> Self {
        Nsgs { tolerance: params.tolerance }
    }
}

impl OneStepSolver<GlobalFrictionContact> for Nsgs {
    fn name(&self) -> &'static str {
        "nsgs"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &GlobalFrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "nsgs", reason: "not written", alternatives: "auto" })
    }
}
