//! Settings of adaptive time-stepping: `[simulation.adaptive]`.

use crate::error::ModelError;
use crate::integrators::{ErrorComponents, ErrorNorm, IntegratorParams, StepControl};
use serde::{Deserialize, Serialize};

/// How the step size is controlled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// One step against two of half its size; the halves are kept. For any model: the safe choice, and the default.
    #[default]
    Halving,
    /// As halving, with Richardson extrapolation where no contact changes; changes of contact are passed at the smallest step.
    Extrapolation,
    /// An integrator of smooth motion while all contacts are open, the scheme with the step h* at impacts, extrapolation under closed contacts.
    HighOrder,
}

impl Control {
    /// All of them by name, with one line on what each is for.
    pub const LIST: &'static [(&'static str, &'static str)] = &[
        ("halving", "one step against two halves, error of the positions: any model, any number of contacts; the default"),
        ("extrapolation", "Richardson extrapolation between changes of contact, the smallest step across them: few impacts, long contacts"),
        ("high-order", "an integrator of order p in free flight, the scheme with h* = h^(p+1) at impacts: few impacts, accuracy"),
    ];
}

/// Settings of [`Adaptive`](super::Adaptive).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveParams {
    /// How the step size is controlled. Default `halving`.
    pub control: Control,
    /// Tolerance of the local error of the positions \[m or rad\], absolute and relative unless those are given. Default 1e-5; from 1e-13 to
    /// 1e-1.
    pub tolerance: f64,
    /// Absolute tolerance \[m or rad\], positive.
    pub absolute_tolerance: Option<f64>,
    /// Relative tolerance, dimensionless; 0 for none.
    pub relative_tolerance: Option<f64>,
    /// Norm of the errors of the coordinates. Default `rms`.
    pub norm: ErrorNorm,
    /// Smallest step \[s\], positive. Default 1e-6. A step of this size stands whatever its error, and is counted. Steps that are cut by the
    /// end or by a frame may be shorter.
    pub min_step: f64,
    /// Largest step \[s\], not below the smallest. A limit is needed where contacts may close and open again within a step, as at thin
    /// obstacles.
    pub max_step: Option<f64>,
    /// Safety factor of the step control. Default 0.9; from 0.1 to 0.999.
    pub safety: f64,
    /// Largest factor by which a step shrinks at once. Default 0.2; from 0.01 to 0.9.
    pub max_shrink: f64,
    /// Largest factor by which a step grows at once. Default 5; from 1.1 to 100.
    pub max_growth: f64,
    /// p in h* = τ (h/τ)^{p+1} of `high-order`; the order of the integrator by default, from 1 to 12.
    pub event_order: Option<usize>,
    /// τ in h* = τ (h/τ)^{p+1} \[s\], positive. Default 1, so that h* = h^{p+1} with h in seconds: a time in which the motion changes.
    pub event_scale: f64,
}

impl Default for AdaptiveParams {
    fn default() -> Self {
        AdaptiveParams {
            control: Control::default(),
            tolerance: 1e-5,
            absolute_tolerance: None,
            relative_tolerance: None,
            norm: ErrorNorm::default(),
            min_step: 1e-6,
            max_step: None,
            safety: 0.9,
            max_shrink: 0.2,
            max_growth: 5.0,
            event_order: None,
            event_scale: 1.0,
        }
    }
}

impl AdaptiveParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the setting.
    pub fn validate(&self) -> Result<(), ModelError> {
        let check = |ok: bool, what: &str, value: f64, expected: &'static str| {
            if ok { Ok(()) } else { Err(ModelError::OutOfRange { what: format!("adaptive.{what}"), value, expected }) }
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        check((1e-13..=1e-1).contains(&self.tolerance), "tolerance", self.tolerance, "a number from 1e-13 to 1e-1 is needed")?;
        if let Some(tolerance) = self.absolute_tolerance {
            check(positive(tolerance), "absolute_tolerance", tolerance, "a positive, finite number is needed")?;
        }
        if let Some(tolerance) = self.relative_tolerance {
            check(tolerance >= 0.0 && tolerance.is_finite(), "relative_tolerance", tolerance, "a finite number ≥ 0 is needed")?;
        }
        check(positive(self.min_step), "min_step", self.min_step, "a positive, finite time [s] is needed")?;
        if let Some(step) = self.max_step {
            check(step >= self.min_step && step.is_finite(), "max_step", step, "a finite time [s] not below min_step is needed")?;
        }
        check((0.1..=0.999).contains(&self.safety), "safety", self.safety, "a number from 0.1 to 0.999 is needed")?;
        check((0.01..=0.9).contains(&self.max_shrink), "max_shrink", self.max_shrink, "a number from 0.01 to 0.9 is needed")?;
        check((1.1..=100.0).contains(&self.max_growth), "max_growth", self.max_growth, "a number from 1.1 to 100 is needed")?;
        if let Some(order) = self.event_order {
            check((1..=12).contains(&order), "event_order", order as f64, "a whole number from 1 to 12 is needed")?;
        }
        check(positive(self.event_scale), "event_scale", self.event_scale, "a positive, finite time [s] is needed")
    }

    /// The same limits for an integrator of smooth motion; what is asked of the integrator itself stays.
    pub(super) fn for_integrator(&self, integrator: &IntegratorParams) -> IntegratorParams {
        IntegratorParams {
            tolerance: self.tolerance,
            absolute_tolerance: self.absolute_tolerance,
            relative_tolerance: self.relative_tolerance,
            norm: self.norm,
            // a step cut for an event may be as small as round-off allows
            min_step: 0.0,
            max_step: self.max_step,
            safety: self.safety,
            max_shrink: self.max_shrink,
            max_growth: self.max_growth,
            ..integrator.clone()
        }
    }

    /// The settings of the step control of a scheme: errors of positions.
    pub(super) fn for_scheme(&self) -> IntegratorParams {
        let settings = self.for_integrator(&IntegratorParams::default());
        IntegratorParams { error_in: ErrorComponents::Positions, control: StepControl::Halving, ..settings }
    }
}
