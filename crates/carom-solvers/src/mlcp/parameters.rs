//! Parameters of the mixed LCP solvers.

use crate::error::SolveError;
use crate::kinds::{LcpSolverKind, MlcpSolverKind};
use crate::lcp::{LcpSolverParams, LemkeParams};
use crate::parameters::{check_limits, check_relaxation, plain_params};
use serde::{Deserialize, Serialize};

plain_params! {
    /// Parameters of a mixed LCP solver.
    MlcpSolverParams, MlcpSolverKind, 1e-10, 10_000 {
        /// Relaxation ω of projected Gauss–Seidel, in (0, 2). Default 1.
        relaxation: f64 = 1.0,
        /// The LCP solver after elimination. Default `"auto"`.
        lcp: LcpSolverKind = LcpSolverKind::Auto,
    }
}

impl MlcpSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)?;
        check_relaxation(self.relaxation)
    }

    /// The same numbers for the LCP solver of an inner problem.
    pub(crate) fn for_lcp(&self) -> LcpSolverParams {
        LcpSolverParams {
            kind: self.lcp,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            time_limit: self.time_limit,
            relaxation: self.relaxation,
            lemke: LemkeParams::default(),
        }
    }
}
