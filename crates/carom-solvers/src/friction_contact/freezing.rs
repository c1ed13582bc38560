//! Blocks that have come to rest are left out of some sweeps.

use crate::error::SolveError;
use crate::parameters::check;
use serde::{Deserialize, Serialize};

/// Settings of freezing: after some sweeps without change a block is left out for some sweeps. Saves time in large piles where most
/// contacts settle early; the judge always looks at all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FreezingParams {
    /// Sweeps in a row without change before a block is frozen. Default 3, nominal 1 to 20. 0 is an error.
    pub after: usize,
    /// Sweeps for which it stays frozen. Default 10, nominal 1 to 50. 0 is an error.
    pub duration: usize,
}

impl Default for FreezingParams {
    fn default() -> Self {
        FreezingParams { after: 3, duration: 10 }
    }
}

impl FreezingParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check(self.after > 0, "nsgs.freezing.after", self.after as f64, "at least 1")?;
        check(self.duration > 0, "nsgs.freezing.duration", self.duration as f64, "at least 1")
    }
}

/// Which blocks are frozen.
#[derive(Clone, Debug, Default)]
pub(super) struct Freezing {
    /// Per block: sweeps without change, and sweeps still to be left out.
    blocks: Vec<(usize, usize)>,
}

impl Freezing {
    /// No block is frozen.
    pub fn begin(&mut self, n: usize) {
        self.blocks.clear();
        self.blocks.resize(n, (0, 0));
    }

    /// True when the block is left out of this sweep.
    pub fn skips(&mut self, block: usize) -> bool {
        let left = &mut self.blocks[block].1;
        let frozen = *left > 0;
        *left = left.saturating_sub(1);
        frozen
    }

    /// Notes whether a visit changed the block.
    pub fn note(&mut self, params: FreezingParams, block: usize, changed: bool) {
        let (still, left) = &mut self.blocks[block];
        *still = if changed { 0 } else { *still + 1 };
        if *still >= params.after {
            // After the pause one sweep without change is enough to freeze it again.
            (*still, *left) = (params.after - 1, params.duration);
        }
    }

    /// Wakes all blocks; false when none was frozen.
    pub(crate) fn thaw(&mut self) -> bool {
        let frozen = self.blocks.iter().any(|b| b.1 > 0);
        self.blocks.fill((0, 0));
        frozen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_at_rest_sleeps_and_wakes() {
        let params = FreezingParams { after: 2, duration: 3 };
        let mut freezing = Freezing::default();
        freezing.begin(1);
        let mut visit = |changed: bool| {
            let skipped = freezing.skips(0);
            if !skipped {
                freezing.note(params, 0, changed);
            }
            skipped
        };
        // Changed, still, still; out for three sweeps; still, so out again.
        let skipped: Vec<bool> = [true, false, false, false, false, false, false, false].map(&mut visit).to_vec();
        assert_eq!(skipped, [false, false, false, true, true, true, false, true]);
        assert!(freezing.thaw());
        assert!(!freezing.thaw());
        assert!(!freezing.skips(0));
    }

    #[test]
    fn ranges_are_checked() {
        assert!(FreezingParams::default().validate().is_ok());
        assert!(FreezingParams { after: 0, duration: 1 }.validate().is_err());
        assert!(FreezingParams { after: 1, duration: 0 }.validate().is_err());
    }
}
