//! Extragradient projections.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Extragradient projections.
#[derive(Clone, Debug)]
pub struct Extragradient {
    tolerance: f64,
}

impl Extragradient {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Extragradient { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for Extragradient {
    fn name(&self) -> &'static str {
        "extragradient"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "extragradient", reason: "not written", alternatives: "auto" })
    }
}
