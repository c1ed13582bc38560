//! The size of the next step.

use crate::integrators::{Controller, IntegratorParams};

/// Chooses step sizes from error estimates.
///
/// ```text
/// h_new = h · clip(s · err^{−1/k} , f_min, f_max)                      standard, k the order of the local error estimate
/// h_new = h · clip(s · err^{−0.7/k} · err_before^{0.4/k}, f_min, f_max)   PI
/// ```
///
/// Haddouni2015 eq. (2.120) with the exponent of the local error; the PI form after Hairer & Wanner, *Solving Ordinary Differential
/// Equations II*, section IV.2.
#[derive(Clone, Debug, PartialEq)]
pub struct StepController {
    controller: Controller,
    safety: f64,
    shrink: f64,
    growth: f64,
    before: f64,
    refused: bool,
}

impl StepController {
    /// A controller with these settings.
    #[must_use]
    pub fn new(params: &IntegratorParams) -> Self {
        StepController {
            controller: params.controller,
            safety: params.safety,
            shrink: params.max_shrink,
            growth: params.max_growth,
            before: 1.0,
            refused: false,
        }
    }

    /// Factor of the next step after an error estimate (1 = the tolerance) of this order. Does not grow right after a refusal.
    pub fn factor(&mut self, error: f64, order: usize) -> f64 {
        let k = order as f64;
        let accepted = error <= 1.0;
        // an error of zero asks for the largest growth
        let error = error.max(1e-14);
        let factor = match self.controller {
            Controller::Pi if accepted => self.safety * error.powf(-0.7 / k) * self.before.powf(0.4 / k),
            Controller::Pi | Controller::Standard => self.safety * error.powf(-1.0 / k),
        };
        let growth = if self.refused || !accepted { 1.0 } else { self.growth };
        self.refused = !accepted;
        if accepted {
            self.before = error.max(1e-4);
        }
        if factor.is_finite() { factor.clamp(self.shrink, growth) } else { self.shrink }
    }

    /// Factor after a step that failed without an estimate.
    pub fn failed(&mut self) -> f64 {
        self.refused = true;
        0.25
    }
}
