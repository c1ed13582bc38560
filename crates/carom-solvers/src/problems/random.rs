//! Random vectors that are the same everywhere.

use crate::random::SplitMix64;

/// A sequence of random numbers.
pub(super) struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(SplitMix64::new(seed))
    }

    pub fn vector(&mut self, size: f64) -> [f64; 3] {
        std::array::from_fn(|_| size * self.0.symmetric())
    }
}
