//! What an adaptive run tells about itself besides its certificate.

use serde::Serialize;

/// Steps of an adaptive run, and their sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AdaptiveReport {
    /// Steps that stand.
    pub accepted: usize,
    /// Steps that were tried and taken back: for their error, for a change of contact within them, or because they did not converge.
    pub rejected: usize,
    /// Of the accepted: those across changes of contact (impacts, closing and opening contacts, sticking that begins or ends).
    pub nonsmooth: usize,
    /// Of the accepted: those of the integrator of smooth motion.
    pub integrated: usize,
    /// Of the accepted: those at the smallest step.
    pub at_min_step: usize,
    /// Of these: those whose error is above the tolerance, or that did not converge and stand as the policy for failures asks.
    pub beyond_tolerance: usize,
    /// Steps of the scheme, those that were tried and those of halves included: the work.
    pub scheme_steps: usize,
    /// Smallest accepted step \[s\], those cut by the end or by a frame left out; zero before the first.
    pub smallest: f64,
    /// Largest accepted step \[s\].
    pub largest: f64,
}

impl AdaptiveReport {
    /// Takes in an accepted step; `cut`: its size was not chosen by the control.
    pub(crate) fn add_step(&mut self, h: f64, cut: bool) {
        self.accepted += 1;
        self.largest = self.largest.max(h);
        if !cut {
            self.smallest = if self.smallest == 0.0 { h } else { self.smallest.min(h) };
        }
    }
}
