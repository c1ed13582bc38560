//! Union of numbered things that touch, by several threads at once.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Sets of numbers, as trees whose roots have the smallest number of their set: the same, whoever joins what first.
#[derive(Debug, Default)]
pub struct Union {
    parent: Vec<AtomicU32>,
}

impl Union {
    /// All of n numbers by themselves.
    pub fn reset(&mut self, n: usize) {
        self.parent.clear();
        self.parent.extend((0..n as u32).map(AtomicU32::new));
    }

    /// The smallest number of the set of `i`.
    pub fn root(&self, mut i: u32) -> u32 {
        loop {
            let above = self.parent[i as usize].load(Relaxed);
            let next = self.parent[above as usize].load(Relaxed);
            if above == next {
                return above;
            }
            // i is no root and never will be: another thread may only write another one above it
            self.parent[i as usize].store(next, Relaxed);
            i = next;
        }
    }

    /// Joins the sets of two numbers.
    pub fn join(&self, mut a: u32, mut b: u32) {
        loop {
            (a, b) = (self.root(a), self.root(b));
            let (low, high) = (a.min(b), a.max(b));
            if low == high || self.parent[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return;
            }
        }
    }
}

impl Clone for Union {
    fn clone(&self) -> Self {
        Union { parent: self.parent.iter().map(|parent| AtomicU32::new(parent.load(Relaxed))).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Numbers with the same remainder, joined by all threads in any order.
    #[test]
    fn roots_are_the_smallest_numbers() {
        let (n, sets) = (100_000, 7);
        let mut union = Union::default();
        union.reset(n as usize);
        (0..n - sets).into_par_iter().for_each(|i| union.join(i + sets, i));
        assert!((0..n).all(|i| union.root(i) == i % sets));
        assert_eq!(union.clone().root(n - 1), (n - 1) % sets);
    }
}
