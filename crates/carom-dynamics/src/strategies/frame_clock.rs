//! When frames of constant interval are due.

/// Counts frames at start + k · interval, so that round-off does not add up.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameClock {
    start: f64,
    interval: Option<f64>,
    /// Number of the next frame.
    next: usize,
}

impl FrameClock {
    /// For frames every `interval` seconds after `start`; `None`: there are none.
    pub fn new(start: f64, interval: Option<f64>) -> Self {
        FrameClock { start, interval, next: 1 }
    }

    /// Time of the next frame if it lies before t, not at t but for round-off; it is then taken as told.
    pub fn before(&mut self, t: f64) -> Option<f64> {
        let due = self.time().filter(|&time| time < t && !same_time(time, t));
        self.next += usize::from(due.is_some());
        due
    }

    /// A frame is due at t, or was before; it is then taken as told.
    pub(crate) fn is_due(&mut self, t: f64) -> bool {
        let due = self.time().is_some_and(|time| time < t || same_time(time, t));
        self.next += usize::from(due);
        due
    }

    fn time(&self) -> Option<f64> {
        self.interval.map(|interval| self.start + self.next as f64 * interval)
    }
}

/// Times that differ by round-off only.
pub(super) fn same_time(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::FrameClock;

    #[test]
    fn frames_are_due_once() {
        let mut clock = FrameClock::new(1.0, Some(0.1));
        assert!(!clock.is_due(1.05) && clock.before(1.1).is_none());
        assert!(clock.is_due(1.1) && !clock.is_due(1.1));
        assert_eq!(
            [clock.before(1.35), clock.before(1.35), clock.before(1.35)].map(|t| t.map(|t| (10.0 * t).round())),
            [Some(12.0), Some(13.0), None]
        );
        assert!(!FrameClock::new(0.0, None).is_due(5.0));
    }
}
