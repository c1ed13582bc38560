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
        // an error of zero asks for the largest growth, one that is not a number for the smallest step
        let error = if error.is_nan() { f64::INFINITY } else { error.max(1e-14) };
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

    /// The error, of this order and the same at each step, after which steps change by this factor: what a method reports that asks for it.
    #[must_use]
    pub(crate) fn error_of_factor(params: &IntegratorParams, factor: f64, order: usize) -> f64 {
        let exponent = match params.controller {
            Controller::Standard => 1.0,
            Controller::Pi => 0.7 - 0.4,
        };
        (params.safety / factor).powf(order as f64 / exponent)
    }

    /// Factor after a step that failed without an estimate.
    pub fn failed(&mut self) -> f64 {
        self.refused = true;
        0.25
    }
}

#[cfg(test)]
mod tests {
    use super::StepController;
    use crate::integrators::{Controller, IntegratorParams};

    fn controller(controller: Controller) -> StepController {
        StepController::new(&IntegratorParams { controller, ..IntegratorParams::default() })
    }

    #[test]
    fn steps_follow_the_error_within_the_limits() {
        let mut standard = controller(Controller::Standard);
        // 0.9 · (1/32)^{−1/5} = 1.8
        assert!((standard.factor(1.0 / 32.0, 5) - 1.8).abs() < 1e-14);
        assert_eq!(standard.factor(0.0, 5), 5.0);
        assert!((standard.factor(32.0, 5) - 0.45).abs() < 1e-14);
        // right after a refusal it does not grow, then it may again
        assert_eq!(standard.factor(1e-9, 5), 1.0);
        assert_eq!(standard.factor(1e-9, 5), 5.0);
        assert_eq!(standard.factor(1e12, 5), 0.2);
        assert_eq!(standard.factor(f64::NAN, 5), 0.2);
    }

    #[test]
    fn errors_ask_for_factors() {
        for kind in [Controller::Standard, Controller::Pi] {
            let params = IntegratorParams { controller: kind, ..IntegratorParams::default() };
            let (mut controller, error) = (StepController::new(&params), StepController::error_of_factor(&params, 1.2, 3));
            controller.factor(error, 3);
            assert!((controller.factor(error, 3) - 1.2).abs() < 1e-14, "{kind:?}");
        }
    }

    #[test]
    fn pi_control_damps_by_the_error_before() {
        let mut pi = controller(Controller::Pi);
        // the error before the first is taken as 1
        assert!((pi.factor(0.5, 5) - 0.9 * 0.5_f64.powf(-0.14)).abs() < 1e-14);
        assert!((pi.factor(0.25, 5) - 0.9 * 0.25_f64.powf(-0.14) * 0.5_f64.powf(0.08)).abs() < 1e-14);
        // refused steps follow the last error alone
        assert!((pi.factor(2.0, 5) - 0.9 * 2.0_f64.powf(-0.2)).abs() < 1e-14);
    }
}
