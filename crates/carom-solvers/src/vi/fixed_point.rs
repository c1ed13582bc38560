//! Variational inequality: fixed-point.

use super::VariationalInequality;
use crate::error::SolveError;
use crate::parameters::ViSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Variational inequality: fixed-point.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    tolerance: f64,
}

impl FixedPoint {
    /// A solver with these parameters.
    pub fn new(params: &ViSolverParams) -> Self {
        FixedPoint { tolerance: params.tolerance }
    }
}

impl OneStepSolver<VariationalInequality> for FixedPoint {
    fn name(&self) -> &'static str {
        "fixed-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &VariationalInequality, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "fixed-point", reason: "not written", alternatives: "auto" })
    }
}
