//! Planar contacts by enumeration of their modes.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Planar contacts by enumeration of their modes.
#[derive(Clone, Debug)]
pub struct Enumeration {
    tolerance: f64,
}

impl Enumeration {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Enumeration { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for Enumeration {
    fn name(&self) -> &'static str {
        "enumeration"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "enumeration", reason: "not written", alternatives: "auto" })
    }
}
