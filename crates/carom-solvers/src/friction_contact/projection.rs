//! Settings of the methods by projection.

use crate::error::SolveError;
use serde::{Deserialize, Serialize};

/// Settings of the methods by projection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectionParams {}

impl ProjectionParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        Ok(())
    }
}
