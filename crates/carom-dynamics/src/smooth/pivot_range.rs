//! How near to singular positions the stages of a step are.
//!
//! Near a singular position the smallest pivot of W grows with the square of the distance, and explicit stages, which are off the constraints by
//! O(h²), get errors that grow with its inverse: a stage that happens to lie much closer to the position than the step is long spoils a motion that is
//! smooth. Such steps are taken with another size.

/// The smallest and the largest of the smallest relative pivots met since the beginning of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PivotRange {
    smallest: f64,
    largest: f64,
}

/// Positions with larger pivots are not near a singular one: no angle to the other rows is below 0.03 rad.
const NEAR: f64 = 1e-3;

/// A stage at a tenth of the distance of others is an unlucky one (the pivot goes with the square of the distance). With the step size left free by the stages of
/// usual methods, sizes without such a stage are easily found.
const UNLUCKY: f64 = 1e-2;

impl Default for PivotRange {
    fn default() -> Self {
        PivotRange { smallest: f64::INFINITY, largest: 0.0 }
    }
}

impl PivotRange {
    /// Takes a pivot into the range.
    pub fn include(&mut self, pivot: f64) {
        self.smallest = self.smallest.min(pivot);
        self.largest = self.largest.max(pivot);
    }

    /// One stage lies much nearer to a singular position than others.
    pub fn is_unlucky(&self) -> bool {
        self.smallest < NEAR && self.smallest < UNLUCKY * self.largest
    }
}
