//! Projections with a self-adaptive step.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Projections with a self-adaptive step.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    tolerance: f64,
}

impl FixedPoint {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        FixedPoint { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for FixedPoint {
    fn name(&self) -> &'static str {
        "fixed-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "fixed-point", reason: "not written", alternatives: "auto" })
    }
}
