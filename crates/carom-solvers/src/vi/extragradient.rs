//! Variational inequality: extragradient.

use super::VariationalInequality;
use crate::error::SolveError;
use crate::parameters::ViSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Variational inequality: extragradient.
#[derive(Clone, Debug)]
pub struct Extragradient {
    tolerance: f64,
}

impl Extragradient {
    /// A solver with these parameters.
    pub fn new(params: &ViSolverParams) -> Self {
        Extragradient { tolerance: params.tolerance }
    }
}

impl OneStepSolver<VariationalInequality> for Extragradient {
    fn name(&self) -> &'static str {
        "extragradient"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &VariationalInequality, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "extragradient", reason: "not written", alternatives: "auto" })
    }
}
