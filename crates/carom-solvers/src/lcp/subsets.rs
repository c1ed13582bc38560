//! Subsets in the order of their size.

/// All subsets of n ≤ 31 elements as bits of a number, the empty one first, each size in increasing order of the number.
/// [the next number with as many bits: Gosper, HAKMEM item 175, 1972]
#[derive(Clone, Debug)]
pub(crate) struct SubsetsBySize {
    n: u32,
    next: Option<u32>,
}

impl SubsetsBySize {
    /// The subsets of n elements.
    pub fn new(n: usize) -> Self {
        SubsetsBySize { n: n.min(31) as u32, next: Some(0) }
    }
}

impl Iterator for SubsetsBySize {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let current = self.next?;
        let end = 1_u32 << self.n;
        let following = if current == 0 {
            end
        } else {
            let lowest = current & current.wrapping_neg();
            let ripple = current + lowest;
            (((ripple ^ current) >> 2) / lowest) | ripple
        };
        self.next = if following < end {
            Some(following)
        } else {
            let size = current.count_ones() + 1;
            (size <= self.n).then(|| (1 << size) - 1)
        };
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subset_comes_once() {
        let found: Vec<u32> = SubsetsBySize::new(3).collect();
        assert_eq!(found, [0b000, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110, 0b111]);
        assert_eq!(SubsetsBySize::new(0).collect::<Vec<_>>(), [0]);
        let mut found: Vec<u32> = SubsetsBySize::new(10).collect();
        found.sort_unstable();
        assert!(found.into_iter().eq(0..1024));
    }
}
