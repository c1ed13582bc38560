//! Kinks and jumps of formulas.

use super::met::Met;
use super::motion::Motion;
use super::watch::Function;
use crate::error::{IntegrationError, RunError};
use crate::systems::Instant;

/// Longest way across a switch \[s\]; where it is not enough the function only touches zero.
const FARTHEST: f64 = 1e-9;

impl Motion<'_> {
    /// The time up to which the next step should go, at most `limit`: not over a switch that is foreseen, whose jump the error control would only see by refusing
    /// steps.
    pub(super) fn before_switches(&mut self, limit: f64) -> Result<f64, RunError> {
        let point = self.integration.point();
        let at = Instant { t: point.t, q: &point.q, v: &point.v };
        let mut limit = limit;
        for (function, sign) in self.switches.iter().zip(&self.switch_signs) {
            let sample = function.sample(self.model, at, Some(&point.a), &mut self.scratch);
            let sample = sample.map_err(|source| IntegrationError::NonFinite { t: at.t, source })?.scaled(*sign);
            if let Some(rate) = sample.rate.filter(|rate| *rate < 0.0 && sample.value > 0.0) {
                let root = at.t - sample.value / rate;
                let before = root - 4.0 * f64::EPSILON * root.abs();
                if before > at.t + 16.0 * f64::EPSILON * at.t.abs() {
                    limit = limit.min(before);
                }
            }
        }
        Ok(limit)
    }

    /// Goes from just before the switches of formulas that were met to just beyond them, so that the first stage of the next step sees the new branch. The
    /// way is a few units in the last place of the time, the position follows the velocity.
    pub(crate) fn pass_switches(&mut self, met: &Met) -> Result<(), RunError> {
        let switches = met
            .functions
            .iter()
            .filter_map(|function| if let Function::Switch { function, .. } = function { Some(*function) } else { None });
        let switches: Vec<usize> = switches.collect();
        if switches.is_empty() {
            return Ok(());
        }
        let from = self.state();
        let mut state = from.clone();
        let mut way = 4.0 * f64::EPSILON * from.t.abs().max(1e-3);
        while way <= FARTHEST {
            let moved: Vec<f64> = from.v.iter().map(|v| way * v).collect();
            self.model.systems().advance(&from.q, &moved, &mut state.q);
            state.t = from.t + way;
            let at = Instant { t: state.t, q: &state.q, v: &state.v };
            let mut beyond = true;
            for &function in &switches {
                let sample = self.switches[function].sample(self.model, at, None, &mut self.scratch);
                let value = sample.map_err(|source| IntegrationError::NonFinite { t: at.t, source })?.value;
                beyond &= value * self.switch_signs[function] > 0.0;
            }
            if beyond {
                return Ok(self.integration.restart(&state)?);
            }
            way *= 4.0;
        }
        Ok(())
    }
}
