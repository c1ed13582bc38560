//! Alternating direction method of multipliers.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// Alternating direction method of multipliers.
#[derive(Clone, Debug)]
pub struct Admm {
    tolerance: f64,
}

impl Admm {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Admm { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for Admm {
    fn name(&self) -> &'static str {
        "admm"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "admm", reason: "not written", alternatives: "auto" })
    }
}

/// Settings of ADMM.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdmmParams {}

impl AdmmParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        Ok(())
    }
}
