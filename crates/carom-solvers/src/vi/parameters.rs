//! Parameters of the solvers of variational inequalities.

use crate::error::SolveError;
use crate::friction_contact::ProjectionParams;
use crate::kinds::ViSolverKind;
use crate::parameters::{check_limits, plain_params};
use serde::{Deserialize, Serialize};

plain_params! {
    /// Parameters of a solver of variational inequalities.
    ViSolverParams, ViSolverKind, 1e-10, 10_000 {
        /// Settings of the methods by projection.
        projection: ProjectionParams = ProjectionParams::default(),
    }
}

impl ViSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)?;
        self.projection.validate()
    }
}
