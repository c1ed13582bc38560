//! Parameters of the solvers of the global form.

use crate::error::SolveError;
use crate::friction_contact::{AdmmParams, FrictionSolverParams, InteriorPointParams};
use crate::kinds::{FrictionSolverKind, GlobalSolverKind};
use crate::parameters::{check_limits, plain_params};
use serde::{Deserialize, Serialize};

plain_params! {
    /// Parameters of a solver of the global form.
    GlobalSolverParams, GlobalSolverKind, 1e-10, 10_000 {
        /// The solver of the local form after reduction. Default `"auto"`.
        local: FrictionSolverKind = FrictionSolverKind::Auto,
        /// Settings of ADMM.
        admm: AdmmParams = AdmmParams::default(),
        /// Settings of the interior point method.
        interior_point: InteriorPointParams = InteriorPointParams::default(),
    }
}

impl GlobalSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)?;
        self.admm.validate()?;
        self.interior_point.validate()
    }

    /// The same numbers for a solver of the local form.
    pub(crate) fn for_local(&self) -> FrictionSolverParams {
        FrictionSolverParams {
            kind: self.local,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            time_limit: self.time_limit,
            admm: self.admm.clone(),
            interior_point: self.interior_point.clone(),
            ..FrictionSolverParams::default()
        }
    }
}
