//! Global form: admm.

use super::GlobalFrictionContact;
use crate::error::SolveError;
use crate::parameters::GlobalSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Global form: admm.
#[derive(Clone, Debug)]
pub struct Admm {
    tolerance: f64,
}

impl Admm {
    /// A solver with these parameters.
    pub fn new(params: &GlobalSolverParams) -> Self {
        Admm { tolerance: params.tolerance }
    }
}

impl OneStepSolver<GlobalFrictionContact> for Admm {
    fn name(&self) -> &'static str {
        "admm"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &GlobalFrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "admm", reason: "not written", alternatives: "auto" })
    }
}
