//! linearly implicit velocity scheme, always solvable, Poisson's compression and decompression at impacts.

use super::{Orders, Scheme, StepReport};
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`AnitescuPotra`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnitescuPotraParams {}

impl AnitescuPotraParams {
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
pub struct AnitescuPotra {
    /// Its settings.
    pub params: AnitescuPotraParams,
}

impl Scheme for AnitescuPotra {
    fn name(&self) -> &'static str {
        "anitescu-potra"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 1 }
    }

    fn step(&self, _: &Model, _: &mut State, _: &mut StepMemory, _: f64) -> Result<StepReport, StepError> {
        todo!()
    }
}
