//! Nonsmooth Newton methods.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// Nonsmooth Newton methods.
#[derive(Clone, Debug)]
pub struct NonsmoothNewton {
    tolerance: f64,
    name: &'static str,
}

impl NonsmoothNewton {
    /// A solver with these parameters.
    pub fn alart_curnier(params: &FrictionSolverParams) -> Self {
        NonsmoothNewton { tolerance: params.tolerance, name: "newton-alart-curnier" }
    }
    /// A solver with these parameters.
    pub fn jean_moreau(params: &FrictionSolverParams) -> Self {
        NonsmoothNewton { tolerance: params.tolerance, name: "newton-jean-moreau" }
    }
    /// A solver with these parameters.
    pub fn fischer_burmeister(params: &FrictionSolverParams) -> Self {
        NonsmoothNewton { tolerance: params.tolerance, name: "newton-fischer-burmeister" }
    }
}

impl OneStepSolver<FrictionContact> for NonsmoothNewton {
    fn name(&self) -> &'static str {
        self.name
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "newton-alart-curnier", reason: "not written", alternatives: "auto" })
    }
}

/// Settings of the nonsmooth Newton methods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NonsmoothNewtonParams {}

impl NonsmoothNewtonParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        Ok(())
    }
}
