//! Sample instants.

use crate::error::ModelError;

/// Instants closer than this part of a period are the same: round-off of k · period.
const SAME: f64 = 1e-9;

/// The instants phase + k period, k = 0, 1, 2, …
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Time between samples \[s\], positive.
    pub period: f64,
    /// Time of the first sample \[s\].
    pub phase: f64,
}

impl Clock {
    /// Instants from t = 0 on.
    #[must_use]
    pub fn new(period: f64) -> Self {
        Clock { period, phase: 0.0 }
    }

    /// The same instants, later by a delay \[s\].
    #[must_use]
    pub fn later(self, delay: f64) -> Self {
        Clock { phase: self.phase + delay, ..self }
    }

    /// Checks the numbers; `what` has this clock.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self, what: &str) -> Result<(), ModelError> {
        if !(self.period > 0.0 && self.period.is_finite()) {
            let expected = "a positive, finite time [s] is needed; leave it out for continuous time";
            return Err(ModelError::OutOfRange { what: format!("period of {what}"), value: self.period, expected });
        }
        if !(self.phase >= 0.0 && self.phase.is_finite()) {
            let expected = "a finite time [s] ≥ 0 is needed";
            return Err(ModelError::OutOfRange { what: format!("phase of {what}"), value: self.phase, expected });
        }
        Ok(())
    }

    fn time(&self, k: f64) -> f64 {
        self.phase + k * self.period
    }

    fn tolerance(&self, t: f64) -> f64 {
        SAME * self.period + 4.0 * f64::EPSILON * t.abs()
    }

    /// Number of the sample at `t`, if there is one.
    #[must_use]
    pub fn tick(&self, t: f64) -> Option<u64> {
        let k = ((t - self.phase) / self.period).round();
        (k >= 0.0 && (t - self.time(k)).abs() <= self.tolerance(t)).then_some(k as u64)
    }

    /// The first instant after `t`.
    #[must_use]
    pub(crate) fn next_after(&self, t: f64) -> f64 {
        let mut k = ((t - self.phase) / self.period).floor().max(0.0);
        while self.time(k) <= t + self.tolerance(t) {
            k += 1.0;
        }
        self.time(k)
    }
}

impl Clock {
    /// The first instant after `t` that lies before `limit`, and is not `limit` but for round-off.
    #[must_use]
    pub(crate) fn next_between(&self, t: f64, limit: f64) -> Option<f64> {
        Some(self.next_after(t)).filter(|next| *next < limit - self.tolerance(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_found_whatever_the_round_off() {
        let clock = Clock { period: 0.1, phase: 0.03 };
        let mut t = 0.0;
        for k in 0..100_000_u64 {
            t = clock.next_after(t);
            assert_eq!(clock.tick(t), Some(k));
            assert_eq!(clock.tick(t + 0.01), None);
        }
        // 0.1 + 0.2 is not 0.3
        assert_eq!(Clock::new(0.1).tick(0.1 + 0.2), Some(3));
        assert_eq!(Clock { period: 1.0, phase: 2.0 }.tick(1.0), None);
        assert_eq!(Clock { period: 1.0, phase: 2.0 }.next_after(0.0), 2.0);
    }
}
