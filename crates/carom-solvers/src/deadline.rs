//! The end of a solve with a time limit.

use std::time::{Duration, Instant};

/// A moment at which a solve gives up; none where no limit was given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// No limit.
    #[cfg(test)]
    pub const NONE: Deadline = Deadline(None);

    /// `seconds` from now. Limits beyond what a clock can hold are none.
    pub fn after(seconds: Option<f64>) -> Self {
        let limit = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
        Deadline(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    /// Seconds that remain; none where there is no limit.
    pub fn remaining(&self) -> Option<f64> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()).as_secs_f64())
    }

    /// True once the moment has come. Free where there is no limit.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limit_ends() {
        assert!(!Deadline::after(None).is_over());
        assert!(!Deadline::after(Some(1e300)).is_over());
        assert!(!Deadline::after(Some(3600.0)).is_over());
        assert!(Deadline::after(Some(0.0)).is_over());
        assert_eq!(Deadline::after(None).remaining(), None);
        assert_eq!(Deadline::after(Some(0.0)).remaining(), Some(0.0));
    }
}
