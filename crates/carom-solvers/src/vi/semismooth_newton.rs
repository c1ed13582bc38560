//! Variational inequality: semismooth-newton.

use super::VariationalInequality;
use crate::error::SolveError;
use crate::parameters::ViSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Variational inequality: semismooth-newton.
#[derive(Clone, Debug)]
pub struct SemismoothNewton {
    tolerance: f64,
}

impl SemismoothNewton {
    /// A solver with these parameters.
    pub fn new(params: &ViSolverParams) -> Self {
        SemismoothNewton { tolerance: params.tolerance }
    }
}

impl OneStepSolver<VariationalInequality> for SemismoothNewton {
    fn name(&self) -> &'static str {
        "semismooth-newton"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &VariationalInequality, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "semismooth-newton", reason: "not written", alternatives: "auto" })
    }
}
