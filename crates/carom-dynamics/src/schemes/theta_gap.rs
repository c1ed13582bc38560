//! θ-method with the contact condition on the discretised gap (θ, θ-Euler or modified θ): deformable bodies.

use super::{Orders, Scheme, StepReport};
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`ThetaGap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ThetaGapParams {}

impl ThetaGapParams {
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
pub struct ThetaGap {
    /// Its settings.
    pub params: ThetaGapParams,
}

impl Scheme for ThetaGap {
    fn name(&self) -> &'static str {
        "theta-gap"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 1 }
    }

    fn step(&self, _: &Model, _: &mut State, _: &mut StepMemory, _: f64) -> Result<StepReport, StepError> {
        todo!()
    }
}
