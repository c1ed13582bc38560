//! Interior point method for the exact Coulomb law.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// Interior point method for the exact Coulomb law.
#[derive(Clone, Debug)]
pub struct InteriorPoint {
    tolerance: f64,
}

impl InteriorPoint {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        InteriorPoint { tolerance: params.tolerance }
    }
}

impl OneStepSolver<FrictionContact> for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "interior-point", reason: "not written", alternatives: "auto" })
    }
}

/// Settings of the interior point methods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InteriorPointParams {}

impl InteriorPointParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        Ok(())
    }
}
