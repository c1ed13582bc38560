//! When in the step the impulses of an island act, and so how far its bodies go.
//!
//! Islands are mass blocks that interactions with an impulse connect. An impulse that acts at the time τ of the step moves its bodies for h − τ:
//!
//! ```text
//! q_{k+1} = q_k ⊕ h T [(1 − w) v_k + w v_{k+1}],    w = 1 − τ/h
//! ```
//!
//! Contacts that were closed and stay so press all the time: w = 1/2, the θ-method. Where one contact rebounds and is alone, τ is the time at which
//! its gap is gone. Otherwise, where contacts close, all impulses act from the start, w = 1: then no gap closes further than its
//! condition allows.

use carom_solvers::bodies::Union;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// Union of mass blocks, with what happens in each island. Several threads may join and count; the result does not depend on their order.
#[derive(Debug, Default)]
pub(super) struct ImpulseTimes {
    blocks: Union,
    /// By root: contacts that carry, up to two; bits of the weight of the only one that closes, of some one otherwise, NaN where none does.
    carrying: Vec<AtomicU8>,
    weights: Vec<AtomicU64>,
}

impl ImpulseTimes {
    /// All blocks by themselves.
    pub fn reset(&mut self, n_blocks: usize) {
        self.blocks.reset(n_blocks);
        self.carrying.clear();
        self.carrying.resize_with(n_blocks, AtomicU8::default);
        self.weights.clear();
        self.weights.resize_with(n_blocks, || AtomicU64::new(f64::NAN.to_bits()));
    }

    /// Connects the blocks of an interaction that carries an impulse.
    pub fn join(&self, blocks: impl IntoIterator<Item = u32>) {
        let mut blocks = blocks.into_iter();
        let Some(first) = blocks.next() else { return };
        blocks.for_each(|other| self.blocks.join(first, other));
    }

    /// Counts a contact of a block's island; `closes` with the weight 1 − τ/h where it was open or approached. To be called when all are joined.
    pub fn count(&self, block: u32, closes: Option<f64>) {
        let root = self.blocks.root(block) as usize;
        // more than one are as good as two
        let _ = self.carrying[root].fetch_update(Relaxed, Relaxed, |n| (n < 2).then_some(n + 1));
        if let Some(weight) = closes {
            self.weights[root].store(weight.to_bits(), Relaxed);
        }
    }

    /// w of a block.
    pub fn weight(&self, block: u32) -> f64 {
        let root = self.blocks.root(block) as usize;
        let weight = f64::from_bits(self.weights[root].load(Relaxed));
        match self.carrying[root].load(Relaxed) {
            _ if weight.is_nan() => 0.5,
            1 => weight,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_what_closes() {
        let mut times = ImpulseTimes::default();
        times.reset(7);
        times.join([0, 1, 2]);
        times.join([4, 5]);
        times.count(2, None);
        times.count(4, Some(0.3));
        assert_eq!([0, 2, 3, 4, 5].map(|block| times.weight(block)), [0.5, 0.5, 0.5, 0.3, 0.3]);
        times.count(1, Some(0.7));
        assert_eq!(times.weight(0), 1.0);
    }
}
