//! Parameters of the solvers of quadratic programs.

use crate::error::SolveError;
use crate::kinds::QpSolverKind;
use crate::parameters::{check_limits, plain_params};
use serde::{Deserialize, Serialize};

plain_params! {
    /// Parameters of a solver of quadratic programs.
    QpSolverParams, QpSolverKind, 1e-10, 10_000 {}
}

impl QpSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)
    }
}
