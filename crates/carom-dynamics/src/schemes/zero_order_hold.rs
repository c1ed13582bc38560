//! The zero-order hold of linear first-order systems: exact between samples.
//!
//! ```text
//! x_{k+1} = exp(h M⁻¹A) x_k + ∫₀ʰ exp(s M⁻¹A) ds M⁻¹ (a(t_k) + B λ),    y = C x_{k+1} + D λ + b(t_{k+1}),    −y ∈ N_K(λ)
//! ```
//!
//! Inputs are held at their values at t_k, multipliers are implicit and constant over the step. The motion is exact where inputs and multipliers are constant: sampled control of
//! a linear plant, whatever the step. Order 1 otherwise.

use super::{Orders, Scheme};
use crate::error::{ModelError, StepError};
use crate::first_order::require_degrees;
use crate::first_order_step::{Discretisation, check_linear_steps, make_consistent, step_linear};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`ZeroOrderHold`]: there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ZeroOrderHoldParams {}

/// The zero-order hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZeroOrderHold;

impl Scheme for ZeroOrderHold {
    fn name(&self) -> &'static str {
        "zero-order-hold"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 1 }
    }

    fn start(&self, model: &Model, state: &State, _memory: &mut StepMemory) -> Result<(), StepError> {
        let Some(set) = model.first_order() else { return Ok(()) };
        Ok(require_degrees(set, state, (1.0, 1.0))?)
    }

    fn begin(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<(), StepError> {
        let StepMemory { first_order, scratch, .. } = memory;
        let (Some(set), Some(memory)) = (model.first_order(), first_order) else { return Ok(()) };
        make_consistent(set, state, memory, scratch, h)?;
        match set.linear() {
            Some(parts) => check_linear_steps(set, parts, state.t, memory, (h, Discretisation::ZeroOrderHold)),
            None => Ok(()),
        }
    }

    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let (Some((set, parts)), Some(memory)) =
            (model.first_order().and_then(|set| Some((set, set.linear()?))), memory.first_order.as_mut())
        else {
            return Err(StepError::Refused(not_linear()));
        };
        step_linear(set, parts, state, memory, (h, Discretisation::ZeroOrderHold))
    }
}

fn not_linear() -> ModelError {
    ModelError::NotLinear { scheme: "zero-order-hold", why: "a formula is not, or depends on the mechanical part" }
}

/// Refuses systems that are not linear.
pub(super) fn check_linear(model: &Model) -> Result<(), ModelError> {
    match model.first_order() {
        Some(set) if set.linear().is_none() => Err(not_linear()),
        _ => Ok(()),
    }
}
