//! Which constraints share mass blocks, and the entries of W = G M⁻¹ Hᵀ between them.

use super::row_layout::{RowItem, RowLayout};
use crate::block_diagonal::{BlockLayout, dot};
use std::ops::Range;

/// Mass blocks, next to each other in both, that two items share: their first column in the rows of each, and their size.
#[derive(Clone, Copy, Debug)]
struct Shared {
    column: u32,
    other_column: u32,
    size: u32,
}

/// For each constraint the constraints that share a mass block with it, itself among them: the pattern of W. Found once per row layout;
/// cost O(pairs).
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    /// (touched blocks and rows) of the layout it was found for.
    touched: Vec<(u32, u32)>,
    dims: Vec<usize>,
    /// First pair of each item.
    starts: Vec<usize>,
    /// Pairs: the other item, and the first of the shared blocks.
    pairs: Vec<(u32, u32)>,
    shared: Vec<Shared>,
}

impl Sharing {
    /// Finds the pairs unless the layout is the same as before; true when they were found anew.
    pub fn update(&mut self, layout: &BlockLayout, rows: &RowLayout) -> bool {
        let items = rows.items();
        let same = self.dims.len() == items.len()
            && self.touched == rows.all_touched()
            && self.dims.iter().zip(items).all(|(&dim, item)| dim == item.rows.len());
        if same && !self.starts.is_empty() {
            return false;
        }
        self.touched.clear();
        self.touched.extend_from_slice(rows.all_touched());
        self.dims.clear();
        self.dims.extend(items.iter().map(|item| item.rows.len()));
        let mut by_block = vec![Vec::new(); layout.n_blocks()];
        for (i, item) in items.iter().enumerate() {
            rows.touched(item).iter().for_each(|&(block, _)| by_block[block as usize].push(i as u32));
        }
        self.starts.clear();
        self.pairs.clear();
        self.shared.clear();
        let mut others: Vec<u32> = Vec::new();
        for item in items {
            others.clear();
            rows.touched(item).iter().for_each(|&(block, _)| others.extend(&by_block[block as usize]));
            others.sort_unstable();
            others.dedup();
            self.starts.push(self.pairs.len());
            for &j in &others {
                self.pairs.push((j, self.shared.len() as u32));
                self.push_shared(layout, rows.touched(item), rows.touched(&items[j as usize]));
            }
        }
        self.starts.push(self.pairs.len());
        self.pairs.push((0, self.shared.len() as u32));
        true
    }

    fn push_shared(&mut self, layout: &BlockLayout, one: &[(u32, u32)], other: &[(u32, u32)]) {
        let first = self.shared.len();
        for &(block, column) in one {
            let Some(&(_, other_column)) = other.iter().find(|(b, _)| *b == block) else { continue };
            let size = layout.size(block as usize) as u32;
            match self.shared[first..].last_mut() {
                Some(last) if last.column + last.size == column && last.other_column + last.size == other_column => last.size += size,
                _ => self.shared.push(Shared { column, other_column, size }),
            }
        }
    }

    /// Rows of each item.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The pairs of an item.
    #[inline]
    pub fn pairs(&self, item: usize) -> Range<usize> {
        self.starts[item]..self.starts[item + 1]
    }

    /// The other item of a pair.
    #[inline]
    pub fn other(&self, pair: usize) -> usize {
        self.pairs[pair].0 as usize
    }

    /// The items that share a block with this one, ascending.
    pub fn others(&self, item: usize) -> impl Iterator<Item = usize> + '_ {
        self.pairs(item).map(|pair| self.other(pair))
    }

    /// Number of entries of W between items that share a block.
    pub(crate) fn n_entries(&self) -> usize {
        (0..self.dims.len()).map(|i| self.dims[i] * self.others(i).map(|j| self.dims[j]).sum::<usize>()).sum()
    }

    /// Writes the entries of a pair, Σ over shared mass blocks of G_i (M⁻¹ H_jᵀ): entry (a, b) at a·stride + b.
    #[inline]
    pub(crate) fn write_pair(&self, pair: usize, of: (&RowItem, &[f64]), other: (&RowItem, &[f64]), out: &mut [f64], stride: usize) {
        let shared = &self.shared[self.pairs[pair].1 as usize..self.pairs[pair + 1].1 as usize];
        let ((item, g), (other, response)) = (of, other);
        let (left, right) = (&g[item.values()], &response[other.values()]);
        let n = other.rows.len();
        for (k, s) in shared.iter().enumerate() {
            let (i, j, size) = (s.column as usize, s.other_column as usize, s.size as usize);
            for (a, left) in left.chunks_exact(item.width).enumerate() {
                let (left, out) = (&left[i..i + size], &mut out[a * stride..a * stride + n]);
                for (out, right) in out.iter_mut().zip(right.chunks_exact(other.width)) {
                    let product = match (left, &right[j..j + size]) {
                        ([a0, a1, a2], [b0, b1, b2]) => a0 * b0 + a1 * b1 + a2 * b2,
                        ([a0, a1, a2, a3, a4, a5], [b0, b1, b2, b3, b4, b5]) => {
                            (a0 * b0 + a1 * b1 + a2 * b2) + (a3 * b3 + a4 * b4 + a5 * b5)
                        }
                        // two bodies in space
                        ([a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11], [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11]) => {
                            let first = (a0 * b0 + a1 * b1 + a2 * b2) + (a3 * b3 + a4 * b4 + a5 * b5);
                            let second = (a6 * b6 + a7 * b7 + a8 * b8) + (a9 * b9 + a10 * b10 + a11 * b11);
                            first + second
                        }
                        (left, right) => dot(left, right),
                    };
                    *out = if k == 0 { product } else { *out + product };
                }
            }
        }
    }
}
