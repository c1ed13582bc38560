//! Settings of the hybrid strategy: `[simulation.hybrid]`.

use crate::error::ModelError;
use serde::{Deserialize, Serialize};

/// Settings of [`Hybrid`](super::Hybrid) besides those of its events, integrator and scheme.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HybridParams {
    /// h_min: lower bound of the time-stepping step h* = τ (h/τ)^{p+1} \[s\], positive. Default 1e-7.
    pub min_step: f64,
    /// Upper bound of h* \[s\], not below the lower one. Default 1e-6: where the motion is a polynomial the integrator's steps say nothing about h*.
    pub max_step: f64,
    /// p in h*; the order of the integrator by default, from 1 to 12.
    pub event_order: Option<usize>,
    /// τ in h* \[s\], positive. Default 1, so that h* = h^{p+1} with h in seconds.
    pub event_scale: f64,
    /// What switches to time-stepping. Default: all of it.
    pub switch_on: SwitchOn,
    /// Steps of time-stepping in a row without an impact or a change of mode after which contacts count as settled. Default 5; at least 1.
    pub settled_steps: usize,
}

/// What switches the hybrid strategy to time-stepping (Haddouni2015 §4.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchOn {
    /// Two impacts of a contact at most h* apart.
    pub accumulation: bool,
    /// A tangential velocity that vanishes in the plane.
    pub slip: bool,
    /// Contacts in space that come to stick.
    pub sticking_in_space: bool,
    /// Edges of piecewise constraints and contacts.
    pub edges: bool,
}

impl Default for SwitchOn {
    fn default() -> Self {
        SwitchOn { accumulation: true, slip: true, sticking_in_space: true, edges: true }
    }
}

impl Default for HybridParams {
    fn default() -> Self {
        HybridParams {
            min_step: 1e-7,
            max_step: 1e-6,
            event_order: None,
            event_scale: 1.0,
            switch_on: SwitchOn::default(),
            settled_steps: 5,
        }
    }
}

impl HybridParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the setting.
    pub fn validate(&self) -> Result<(), ModelError> {
        let check = |ok: bool, what: &str, value: f64, expected: &'static str| {
            if ok { Ok(()) } else { Err(ModelError::OutOfRange { what: format!("hybrid.{what}"), value, expected }) }
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        check(positive(self.min_step), "min_step", self.min_step, "a positive, finite time [s] is needed")?;
        let bound = "a finite time [s] not below hybrid.min_step is needed";
        check(self.max_step >= self.min_step && self.max_step.is_finite(), "max_step", self.max_step, bound)?;
        check(positive(self.event_scale), "event_scale", self.event_scale, "a positive, finite time [s] is needed")?;
        if let Some(order) = self.event_order {
            check((1..=12).contains(&order), "event_order", order as f64, "a whole number from 1 to 12 is needed")?;
        }
        check(self.settled_steps >= 1, "settled_steps", self.settled_steps as f64, "a whole number of at least 1 is needed")
    }
}
