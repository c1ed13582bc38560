//! Global form: reduction.

use super::GlobalFrictionContact;
use crate::error::SolveError;
use crate::parameters::GlobalSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Global form: reduction.
#[derive(Clone, Debug)]
pub struct Reduction {
    tolerance: f64,
}

impl Reduction {
    /// A solver with these parameters.
    pub fn new(params: &GlobalSolverParams) -> Self {
        Reduction { tolerance: params.tolerance }
    }
}

impl OneStepSolver<GlobalFrictionContact> for Reduction {
    fn name(&self) -> &'static str {
        "reduction"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &GlobalFrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "reduction", reason: "not written", alternatives: "auto" })
    }
}
