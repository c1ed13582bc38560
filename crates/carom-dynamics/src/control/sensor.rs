//! Sensors that measure at instants.

use super::clock::Clock;
use super::signals::{Function, Sight};
use crate::error::NonFinite;
use crate::systems::{Scratch, SystemSet};
use carom_solvers::random::SplitMix64;
use std::ops::Range;

/// A sampled sensor; places are numbers of coordinates.
#[derive(Clone, Debug)]
pub(super) struct Sensor {
    pub measure: Function,
    pub clock: Clock,
    pub place: usize,
    /// Measurements that have not arrived, one after the other in a ring.
    pub waiting: Range<usize>,
    pub delay: f64,
    pub noise: f64,
    pub seed: u64,
    pub quantum: f64,
}

impl Sensor {
    /// When measurements arrive.
    pub(crate) fn arrivals(&self) -> Clock {
        self.clock.later(self.delay)
    }

    /// Takes over the measurement that arrives at `t`, if one does.
    pub(crate) fn arrive(&self, t: f64, q: &mut [f64]) {
        if let (false, Some(k)) = (self.waiting.is_empty(), self.arrivals().tick(t)) {
            q[self.place] = q[self.waiting.start + k as usize % self.waiting.len()];
        }
    }

    /// Measures at `t`, if it is an instant of the sensor: where to write the value, and the value.
    pub fn measure(&self, systems: &SystemSet, at: &Sight<'_>, scratch: &mut Scratch) -> Result<Option<(usize, f64)>, NonFinite> {
        let Some(k) = self.clock.tick(at.t) else { return Ok(None) };
        self.measure.evaluate(systems, at, scratch)?;
        let mut value = scratch.outputs[0];
        if self.noise > 0.0 {
            value += self.noise * gaussian(self.seed, k);
        }
        if self.quantum > 0.0 {
            value = self.quantum * (value / self.quantum).round();
        }
        let place = if self.waiting.is_empty() { self.place } else { self.waiting.start + k as usize % self.waiting.len() };
        Ok(Some((place, value)))
    }
}

/// Number k of the standard normal sequence of a seed, by the method of Box and Muller: the same whatever was drawn before.
fn gaussian(seed: u64, k: u64) -> f64 {
    let mut random = SplitMix64::from_number(seed, 2 * k);
    let (radius, angle) = (1.0 - random.uniform(), std::f64::consts::TAU * random.uniform());
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

#[cfg(test)]
mod tests {
    use super::gaussian;

    /// Mean and variance of n numbers deviate by 1/√n and √(2/n) from 0 and 1; four times that is left out of 1e4 times.
    #[test]
    fn noise_is_normal_and_reproducible() {
        let n = 20_000_u64;
        let all: Vec<f64> = (0..n).map(|k| gaussian(7, k)).collect();
        let mean = all.iter().sum::<f64>() / n as f64;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        let inside = all.iter().filter(|x| x.abs() < 1.0).count() as f64 / n as f64;
        assert!(mean.abs() < 4.0 / (n as f64).sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 4.0 * (2.0 / n as f64).sqrt(), "{variance}");
        assert!((inside - 0.682_69).abs() < 4.0 * (0.682_69 * 0.317_31 / n as f64).sqrt(), "{inside}");
        assert_eq!(gaussian(7, 123).to_bits(), all[123].to_bits());
        assert_ne!(gaussian(8, 123), all[123]);
    }
}
