//! What is special about an overlap.

/// How well an overlap determines its normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overlap {
    /// Apart, or overlapping by less than a quarter of the thinner shape's smallest width.
    Regular,
    /// Deeper: the shortest way out may not be the way in.
    Deep,
    /// Several directions out are equally short; a definite one was taken.
    Degenerate,
}

/// Part of the smallest width beyond which an overlap is deep.
const DEEP: f64 = 0.25;

impl Overlap {
    /// Degenerate when asked, regular otherwise.
    pub(crate) fn degenerate_if(degenerate: bool) -> Self {
        if degenerate { Overlap::Degenerate } else { Overlap::Regular }
    }

    /// Deep if it is regular and its depth says so.
    pub(crate) fn or_deep(self, depth: f64, thinnest: f64) -> Self {
        if self == Overlap::Regular && depth > DEEP * thinnest { Overlap::Deep } else { self }
    }
}
