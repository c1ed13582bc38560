//! A barrier for threads that meet every few microseconds.

use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

/// Spins before a waiting thread lets others run.
const SPINS: usize = 2000;

/// All of `n` threads wait for each other.
#[derive(Debug)]
pub(super) struct Barrier {
    n: usize,
    waiting: AtomicUsize,
    round: AtomicUsize,
}

impl Barrier {
    pub fn new(n: usize) -> Self {
        Barrier { n, waiting: AtomicUsize::new(0), round: AtomicUsize::new(0) }
    }

    /// Returns when all threads have called it.
    pub fn wait(&self) {
        if self.n == 1 {
            return;
        }
        let round = self.round.load(Acquire);
        if self.waiting.fetch_add(1, AcqRel) + 1 == self.n {
            self.waiting.store(0, Release);
            self.round.store(round.wrapping_add(1), Release);
            return;
        }
        spin_until(|| self.round.load(Acquire) != round);
    }
}

/// Waits for what another thread is about to do.
pub(super) fn spin_until(done: impl Fn() -> bool) {
    let mut spins = 0;
    while !done() {
        spins += 1;
        if spins > SPINS {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}
