//! The order in which a sweep visits the blocks.

use crate::random::SplitMix64;
use serde::{Deserialize, Serialize};

/// The order of the blocks in a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweepOrder {
    /// As in the problem. Good where neighbours follow each other.
    #[default]
    Given,
    /// One random order per solve: where the given order favours a direction that should not be.
    ShuffledOnce,
    /// A new random order in each sweep. Robust against orders that cycle; sweeps are not accelerated, as each is another map.
    Shuffled,
    /// There and back in each sweep: keeps symmetries of the problem, for two passes per sweep.
    Symmetric,
}

/// A sequence of visits for the next sweep.
#[derive(Clone, Debug, Default)]
pub(super) struct Visits {
    order: Vec<usize>,
    random: SplitMix64,
}

impl Visits {
    /// Prepares the sweeps of one solve over n blocks. The same seed gives the same orders.
    pub fn begin(&mut self, kind: SweepOrder, n: usize, seed: u64) {
        self.random = SplitMix64::new(seed);
        self.order.clear();
        self.order.extend(0..n);
        match kind {
            SweepOrder::Given | SweepOrder::Shuffled => {}
            SweepOrder::ShuffledOnce => self.shuffle(),
            SweepOrder::Symmetric => self.order.extend((0..n.saturating_sub(1)).rev()),
        }
    }

    /// The blocks of the next sweep, in their order.
    pub(crate) fn next_sweep(&mut self, kind: SweepOrder) -> &[usize] {
        if kind == SweepOrder::Shuffled {
            self.shuffle();
        }
        &self.order
    }

    /// Fisher and Yates.
    fn shuffle(&mut self) {
        for k in (1..self.order.len()).rev() {
            let other = (self.random.bits() % (k as u64 + 1)) as usize;
            self.order.swap(k, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweeps(kind: SweepOrder, n: usize, seed: u64) -> [Vec<usize>; 2] {
        let mut visits = Visits::default();
        visits.begin(kind, n, seed);
        [visits.next_sweep(kind).to_vec(), visits.next_sweep(kind).to_vec()]
    }

    #[test]
    fn each_order_visits_every_block() {
        let identity: Vec<usize> = (0..20).collect();
        let sorted = |order: &[usize]| {
            let mut order = order.to_vec();
            order.sort_unstable();
            order
        };
        assert_eq!(sweeps(SweepOrder::Given, 20, 1), [identity.clone(), identity.clone()]);
        let [first, second] = sweeps(SweepOrder::ShuffledOnce, 20, 1);
        assert!(first == second && first != identity && sorted(&first) == identity);
        let [first, second] = sweeps(SweepOrder::Shuffled, 20, 1);
        assert!(first != second && sorted(&first) == identity && sorted(&second) == identity);
        assert_eq!(sweeps(SweepOrder::Symmetric, 3, 1)[1], [0, 1, 2, 1, 0]);
        assert_eq!(sweeps(SweepOrder::Symmetric, 0, 1)[0], [0; 0]);
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(sweeps(SweepOrder::Shuffled, 20, 7), sweeps(SweepOrder::Shuffled, 20, 7));
        assert_ne!(sweeps(SweepOrder::Shuffled, 20, 7), sweeps(SweepOrder::Shuffled, 20, 8));
    }
}
