//! The factor of the rows of joints in W, sparse, with redundant rows left out.

use super::frontal_lu::FrontalLu;
use super::minimum_degree::BlockPattern;
use crate::block_sparse::BlockSparse;

/// A⁺ of the part A of a block-sparse matrix W = G M⁻¹ Gᵀ that belongs to some of its blocks: the bilateral rows, say.
///
/// W is positive semidefinite in its symmetric part, so that pivots come from the diagonal and the order of elimination is free: that of minimum degree,
/// found once per pattern. Chains and trees of joints are factored without fill: cost and storage are linear in the joints, and loops add what closes
/// them. Rows that depend on others are normal in mechanics; they are found by their pivots and left out, with unknowns that are zero.
#[derive(Debug, Default)]
pub struct BilateralFactor {
    pattern: BlockPattern,
    lu: FrontalLu,
    /// Sizes of the blocks inside.
    dims: Vec<usize>,
    /// The blocks inside by their numbers in W, and the other way round.
    inside: Vec<usize>,
    place: Vec<usize>,
    /// Columns of each row inside, one row after the other: the pattern that `pattern` holds.
    columns: Vec<usize>,
    starts: Vec<usize>,
    kept: (Vec<usize>, Vec<usize>, Vec<usize>),
    redundant: usize,
    work: Vec<f64>,
}

/// A pivot below this part of the diagonal entry is rounding residue of a dependent row. The residue is about n·ε ≈ 1e-14 and grows with the depth of
/// the elimination; a mechanism that is 1e-5 rad off a singular position still has 1e-10.
const RANK_TOLERANCE: f64 = 1e-11;

/// A block that is not inside.
const OUTSIDE: usize = usize::MAX;

impl BilateralFactor {
    /// Factors the rows and columns of the blocks that are `inside`. Nothing is allocated while the pattern stays the same.
    pub fn factor(&mut self, w: &BlockSparse, inside: impl Fn(usize) -> bool) {
        self.read_pattern(w, inside);
        if (&self.dims, &self.starts, &self.columns) != (&self.kept.0, &self.kept.1, &self.kept.2) {
            let (starts, columns) = (&self.starts, &self.columns);
            self.pattern.compute(self.dims.len(), |row| columns[starts[row]..starts[row + 1]].iter().copied());
            self.lu.clear();
            self.kept.0.clone_from(&self.dims);
            self.kept.1.clone_from(&self.starts);
            self.kept.2.clone_from(&self.columns);
        }
        self.lu.reset(&self.pattern, &self.dims);
        for (row, &block) in self.inside.iter().enumerate() {
            let mut stored = w.row(block).filter(|(column, _)| self.place[*column] != OUTSIDE);
            let n = self.starts[row + 1] - self.starts[row];
            let mut filled = 0;
            self.lu.fill_row(row, |_, target| {
                // entries that only the transposed row has come last and stay zero
                if filled < n
                    && let Some((_, values)) = stored.next()
                {
                    target.copy_from_slice(values);
                    filled += 1;
                }
            });
        }
        self.redundant = self.lu.factor_semidefinite(RANK_TOLERANCE);
    }

    fn read_pattern(&mut self, w: &BlockSparse, inside: impl Fn(usize) -> bool) {
        self.inside.clear();
        self.place.clear();
        self.dims.clear();
        for block in 0..w.n_blocks() {
            let is_inside = inside(block);
            self.place.push(if is_inside { self.inside.len() } else { OUTSIDE });
            if is_inside {
                self.inside.push(block);
                self.dims.push(w.offset(block + 1) - w.offset(block));
            }
        }
        self.columns.clear();
        self.starts.clear();
        self.starts.push(0);
        for &block in &self.inside {
            let columns = w.row(block).map(|(column, _)| self.place[column]).filter(|&column| column != OUTSIDE);
            self.columns.extend(columns);
            self.starts.push(self.columns.len());
        }
    }

    /// Number of scalar rows inside.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.lu.n_rows()
    }

    /// Number of rows that were left out because they depend on others.
    #[must_use]
    pub fn n_redundant(&self) -> usize {
        self.redundant
    }

    /// Calls `visit` with each row that was left out, numbered as in [`BilateralFactor::solve`].
    pub fn visit_redundant(&self, mut visit: impl FnMut(usize)) {
        if self.redundant == 0 {
            return;
        }
        for (block, row, _) in self.lu.pivots().filter(|(.., pivot)| pivot.is_infinite()) {
            visit(self.dims[..block].iter().sum::<usize>() + row);
        }
    }

    /// Entries of the factors.
    #[must_use]
    pub fn storage(&self) -> usize {
        self.lu.storage()
    }

    /// Replaces b, the rows inside one block after the other, by A⁺ b: a solution whose redundant unknowns are zero, where b is in the range of A.
    pub fn solve(&mut self, b: &mut [f64]) {
        self.work.resize(self.lu.n_rows(), 0.0);
        let mut at = 0;
        for (row, &dim) in self.dims.iter().enumerate() {
            let place = self.lu.offset(row);
            self.work[place..place + dim].copy_from_slice(&b[at..at + dim]);
            at += dim;
        }
        self.lu.solve(&mut self.work);
        at = 0;
        for (row, &dim) in self.dims.iter().enumerate() {
            let place = self.lu.offset(row);
            b[at..at + dim].copy_from_slice(&self.work[place..place + dim]);
            at += dim;
        }
    }
}

impl Clone for BilateralFactor {
    /// An empty factor: it is found again at the next use.
    fn clone(&self) -> Self {
        BilateralFactor::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W of a chain of unit masses on a line: 2 on the diagonal, −1 beside it; with `closed` the last joint is there twice. Blocks of one row.
    fn chain(n: usize, doubled: bool) -> BlockSparse {
        let total = n + usize::from(doubled);
        let of = |k: usize| k.min(n - 1);
        let mut w = BlockSparse::new();
        w.reset(&vec![1; total]);
        for i in 0..total {
            for j in 0..total {
                match of(i).abs_diff(of(j)) {
                    0 => w.push_block(j)[0] = 2.0,
                    1 => w.push_block(j)[0] = -1.0,
                    _ => {}
                }
            }
            w.finish_row();
        }
        w
    }

    #[test]
    fn chains_are_factored_without_fill() {
        let storage = |n: usize| {
            let mut factor = BilateralFactor::default();
            factor.factor(&chain(n, false), |_| true);
            factor.storage() as f64 / n as f64
        };
        // fronts are padded by a constant per row
        assert!(storage(4000) < 1.05 * storage(200), "{} {}", storage(4000), storage(200));
    }

    #[test]
    fn redundant_rows_are_left_out() {
        let (n, w) = (30, chain(30, true));
        let mut factor = BilateralFactor::default();
        factor.factor(&w, |_| true);
        assert_eq!(factor.n_redundant(), 1);
        let mut left_out = Vec::new();
        factor.visit_redundant(|row| left_out.push(row));
        assert!(left_out == [n - 1] || left_out == [n], "{left_out:?}");
        // b = A x for x = 1, …, 1, ½, ½ is that of the plain chain and x = 1
        let mut b = vec![0.0; n + 1];
        (b[0], b[n - 1], b[n]) = (1.0, 1.0, 1.0);
        let kept = b.clone();
        factor.solve(&mut b);
        let mut back = vec![0.0; n + 1];
        w.multiply(&b, &mut back);
        // roundings times the condition number, about n²
        assert!(back.iter().zip(&kept).all(|(a, b)| (a - b).abs() < 1e-12), "{back:?}");
        assert!(b[n - 1] == 0.0 || b[n] == 0.0);
    }

    #[test]
    fn a_part_is_factored_by_itself() {
        let w = chain(5, false);
        let mut factor = BilateralFactor::default();
        for _ in 0..2 {
            factor.factor(&w, |block| block != 2);
            let mut b = [1.0, 0.0, 0.0, 3.0];
            factor.solve(&mut b);
            // [2 −1; −1 2]⁻¹ = [2 1; 1 2]/3
            for (x, expected) in b.iter().zip([2.0 / 3.0, 1.0 / 3.0, 1.0, 2.0]) {
                assert!((x - expected).abs() < 1e-15, "{b:?}"); // roundings
            }
        }
    }
}
