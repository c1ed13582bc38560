//! Moreau–Jean and projection iterated (GGL): no drift and no penetration beyond the tolerance.

use super::{Orders, Scheme, StepReport};
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`CombinedProjection`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CombinedProjectionParams {}

impl CombinedProjectionParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        Ok(())
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct CombinedProjection {
    /// Its settings.
    pub params: CombinedProjectionParams,
}

impl Scheme for CombinedProjection {
    fn name(&self) -> &'static str {
        "combined-projection"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 1 }
    }

    fn step(&self, _: &Model, _: &mut State, _: &mut StepMemory, _: f64) -> Result<StepReport, StepError> {
        todo!()
    }
}
