//! Accelerated projected gradient on the convex relaxation.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Accelerated projected gradient on the convex relaxation.
#[derive(Clone, Debug)]
pub struct ProjectedGradient {
    tolerance: f64,
}

impl ProjectedGradient {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        ProjectedGradient { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for ProjectedGradient {
    fn name(&self) -> &'static str {
        "projected-gradient"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "projected-gradient", reason: "not written", alternatives: "auto" })
    }
}
