//! Watches that events do not hold up a run.

use crate::error::RunError;
use std::collections::VecDeque;

/// Events that fall into this part of the time span hold up a run when they are too many.
const SHORT: f64 = 1e-4;

/// The last events of a run.
#[derive(Clone, Debug)]
pub(in crate::strategies) struct ProgressGuard {
    times: VecDeque<f64>,
    most: usize,
    short: f64,
}

impl ProgressGuard {
    /// For a run of `span` seconds that may have `most` events in a ten-thousandth of it.
    pub fn new(most: usize, span: f64) -> Self {
        ProgressGuard { times: VecDeque::with_capacity(most), most, short: SHORT * span }
    }

    /// Takes an event in; true when the run is held up.
    pub(crate) fn is_held_up(&mut self, t: f64) -> bool {
        if self.times.len() == self.most {
            self.times.pop_front();
        }
        self.times.push_back(t);
        self.times.len() == self.most && self.times.front().is_some_and(|first| t - first < self.short)
    }

    /// Forgets what was.
    pub fn clear(&mut self) {
        self.times.clear();
    }

    /// The error of a run that is held up.
    pub fn error(&self, t: f64, contacts: String) -> RunError {
        RunError::HeldUp { t, events: self.most, within: self.short, contacts }
    }
}

#[cfg(test)]
mod tests {
    use super::ProgressGuard;

    #[test]
    fn too_many_events_in_a_short_time_hold_up_a_run() {
        let mut guard = ProgressGuard::new(10, 1.0);
        assert!((0..100).all(|k| !guard.is_held_up(f64::from(k) * 1e-3)));
        assert!((0..9).all(|_| !guard.is_held_up(1.0)));
        assert!(guard.is_held_up(1.0));
        guard.clear();
        assert!(!guard.is_held_up(1.0));
    }
}
