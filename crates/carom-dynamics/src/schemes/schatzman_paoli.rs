//! two-step scheme in positions with restitution in the projected mean: convergence is proved for it.

use super::{Orders, Scheme, StepReport};
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`SchatzmanPaoli`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchatzmanPaoliParams {}

impl SchatzmanPaoliParams {
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
pub struct SchatzmanPaoli {
    /// Its settings.
    pub params: SchatzmanPaoliParams,
}

impl Scheme for SchatzmanPaoli {
    fn name(&self) -> &'static str {
        "schatzman-paoli"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 1 }
    }

    fn step(&self, _: &Model, _: &mut State, _: &mut StepMemory, _: f64) -> Result<StepReport, StepError> {
        todo!()
    }
}
