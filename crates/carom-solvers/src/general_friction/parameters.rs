//! Settings of the solver of general friction.

use crate::error::SolveError;
use crate::parameters::check;
use serde::{Deserialize, Serialize};

/// Parameters of [`GeneralFrictionNewton`](super::GeneralFrictionNewton).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeneralFrictionParams {
    /// Largest accepted normalised residual, no unit. Default 1e-10, nominal 1e-14 to 1e-3; not positive or not finite is an error.
    pub tolerance: f64,
    /// Largest number of Newton steps. Default 2000, nominal 50 to 10 000. 0 is an error.
    pub max_iterations: usize,
    /// Longest time of a solve, s. Default none. Where it ends a solve, results depend on the speed of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
}

impl Default for GeneralFrictionParams {
    fn default() -> Self {
        GeneralFrictionParams { tolerance: 1e-10, max_iterations: 2000, time_limit: None }
    }
}

impl GeneralFrictionParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check(self.tolerance > 0.0 && self.tolerance.is_finite(), "tolerance", self.tolerance, "a positive number")?;
        check(self.max_iterations > 0, "max_iterations", self.max_iterations as f64, "at least 1")?;
        let limit = self.time_limit.unwrap_or(1.0);
        check(limit > 0.0, "time_limit", limit, "a positive number of seconds")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked() {
        let good = GeneralFrictionParams::default();
        assert!(good.validate().is_ok());
        assert!(GeneralFrictionParams { tolerance: 0.0, ..good.clone() }.validate().is_err());
        assert!(GeneralFrictionParams { max_iterations: 0, ..good.clone() }.validate().is_err());
        assert!(GeneralFrictionParams { time_limit: Some(-1.0), ..good }.validate().is_err());
    }
}
