//! Global form: interior-point.

use super::GlobalFrictionContact;
use crate::error::SolveError;
use crate::parameters::GlobalSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Global form: interior-point.
#[derive(Clone, Debug)]
pub struct InteriorPoint {
    tolerance: f64,
}

impl InteriorPoint {
    /// A solver with these parameters.
    pub fn new(params: &GlobalSolverParams) -> Self {
        InteriorPoint { tolerance: params.tolerance }
    }
}

impl OneStepSolver<GlobalFrictionContact> for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &GlobalFrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "interior-point", reason: "not written", alternatives: "auto" })
    }
}
