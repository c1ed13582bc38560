//! Parameters of the LCP solvers.

use super::lemke::LemkeParams;
use crate::error::SolveError;
use crate::kinds::LcpSolverKind;
use crate::parameters::{check_limits, check_relaxation, plain_params};
use serde::{Deserialize, Serialize};

plain_params! {
    /// Parameters of an LCP solver.
    LcpSolverParams, LcpSolverKind, 1e-10, 10_000 {
        /// Relaxation ω of projected Gauss–Seidel, no unit. Default 1, nominal 0.5 to 1.5. Outside (0, 2)
        /// it is an error. Other methods ignore it.
        relaxation: f64 = 1.0,
        /// Settings of Lemke's method.
        lemke: LemkeParams = LemkeParams::default(),
    }
}

impl LcpSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)?;
        check_relaxation(self.relaxation)
    }
}
