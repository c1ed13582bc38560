//! Polyhedral friction cones as an LCP.

use super::FrictionContact;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// Polyhedral friction cones as an LCP.
#[derive(Clone, Debug)]
pub struct Polyhedral {
    tolerance: f64,
    name: &'static str,
}

impl Polyhedral {
    /// A solver with these parameters.
    pub fn stewart_trinkle(params: &FrictionSolverParams) -> Self {
        Polyhedral { tolerance: params.tolerance, name: "stewart-trinkle" }
    }
    /// A solver with these parameters.
    pub fn anitescu_potra(params: &FrictionSolverParams) -> Self {
        Polyhedral { tolerance: params.tolerance, name: "anitescu-potra" }
    }
}

impl OneStepSolver<FrictionContact> for Polyhedral {
    fn name(&self) -> &'static str {
        self.name
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, _problem: &FrictionContact, _solution: &mut Solution) -> Result<SolveReport, SolveError> {
        Err(SolveError::Unsupported { solver: "stewart-trinkle", reason: "not written", alternatives: "auto" })
    }
}

/// Settings of the polyhedral cones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolyhedralParams {}

impl PolyhedralParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        Ok(())
    }
}
