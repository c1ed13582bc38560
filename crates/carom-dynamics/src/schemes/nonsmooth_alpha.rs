//! generalized-α with impulses split off, velocity level or position and velocity levels (GGL): second order between impacts, flexible mechanisms.

use super::{Orders, Scheme, StepReport};
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`NonsmoothAlpha`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NonsmoothAlphaParams {}

impl NonsmoothAlphaParams {
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
pub struct NonsmoothAlpha {
    /// Its settings.
    pub params: NonsmoothAlphaParams,
}

impl Scheme for NonsmoothAlpha {
    fn name(&self) -> &'static str {
        "nonsmooth-alpha"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 1 }
    }

    fn step(&self, _: &Model, _: &mut State, _: &mut StepMemory, _: f64) -> Result<StepReport, StepError> {
        todo!()
    }
}
