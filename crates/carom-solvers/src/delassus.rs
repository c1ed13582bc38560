//! The Delassus operator W = G M⁻¹ Gᵀ of a one-step problem, in block rows.
//!
//! Three representations: [`BlockSparse`], where contacts that share no body cost nothing;
//! [`DenseDelassus`], a plain row-major matrix with the block offsets beside it; and [`MatrixFree`], the bodies themselves.

pub use crate::block_sparse::BlockSparse;
use crate::dot::dot;
use crate::error::{SolveError, check_finite, check_size};
pub use crate::matrix_free::MatrixFree;

/// A square matrix in block rows.
#[derive(Clone, Debug)]
pub enum Delassus {
    /// All entries stored.
    Dense(DenseDelassus),
    /// Only the blocks that were pushed are stored.
    BlockSparse(BlockSparse),
    /// Products through the bodies; no entry of W is stored off the diagonal.
    MatrixFree(MatrixFree),
}

impl Delassus {
    /// Number of block rows.
    #[inline]
    pub fn n_blocks(&self) -> usize {
        match self {
            Delassus::Dense(w) => w.n_blocks(),
            Delassus::BlockSparse(w) => w.n_blocks(),
            Delassus::MatrixFree(w) => w.n_blocks(),
        }
    }

    /// False while rows of a block-sparse matrix remain to be finished, or blocks to be given a body.
    #[inline]
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Delassus::Dense(_) => true,
            Delassus::BlockSparse(w) => w.is_complete(),
            Delassus::MatrixFree(w) => w.is_complete(),
        }
    }

    /// Number of scalar rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        match self {
            Delassus::Dense(w) => w.n_rows(),
            Delassus::BlockSparse(w) => w.n_rows(),
            Delassus::MatrixFree(w) => w.n_rows(),
        }
    }

    /// First scalar row of a block; `offset(n_blocks())` is `n_rows()`.
    #[inline]
    pub fn offset(&self, block: usize) -> usize {
        match self {
            Delassus::Dense(w) => w.offset(block),
            Delassus::BlockSparse(w) => w.offset(block),
            Delassus::MatrixFree(w) => w.offset(block),
        }
    }

    /// The diagonal block, row-major.
    #[inline]
    pub fn diagonal(&self, block: usize) -> &[f64] {
        match self {
            Delassus::Dense(w) => w.diagonal(block),
            Delassus::BlockSparse(w) => w.diagonal(block),
            Delassus::MatrixFree(w) => w.diagonal(block),
        }
    }

    /// out = W r.
    pub fn multiply(&self, r: &[f64], out: &mut [f64]) {
        match self {
            Delassus::Dense(w) => w.multiply(r, out),
            Delassus::BlockSparse(w) => w.multiply(r, out),
            Delassus::MatrixFree(w) => w.multiply(r, out),
        }
    }

    /// out += Σ_{j≠i} W_ij r_j for block i: the step of a block Gauss–Seidel sweep.
    #[inline]
    pub fn add_off_diagonal(&self, block: usize, r: &[f64], out: &mut [f64]) {
        match self {
            Delassus::Dense(w) => w.add_off_diagonal(block, r, out),
            Delassus::BlockSparse(w) => w.add_off_diagonal(block, r, out),
            Delassus::MatrixFree(w) => w.add_off_diagonal(block, r, out),
        }
    }

    /// Writes the row-major matrix into `out`, reusing its storage.
    pub fn to_dense(&self, out: &mut Vec<f64>) {
        match self {
            Delassus::Dense(w) => {
                out.clear();
                out.extend_from_slice(w.values());
            }
            Delassus::BlockSparse(w) => w.to_dense(out),
            Delassus::MatrixFree(w) => w.to_dense(out),
        }
    }

    /// Checks that all entries are finite.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`].
    pub fn check_finite(&self) -> Result<(), SolveError> {
        match self {
            Delassus::Dense(w) => check_finite("W", w.values()),
            Delassus::BlockSparse(w) => check_finite("W", w.values()),
            Delassus::MatrixFree(w) => w.check_finite(),
        }
    }
}

impl From<BlockSparse> for Delassus {
    fn from(w: BlockSparse) -> Self {
        Delassus::BlockSparse(w)
    }
}

impl From<MatrixFree> for Delassus {
    fn from(w: MatrixFree) -> Self {
        Delassus::MatrixFree(w)
    }
}

impl From<DenseDelassus> for Delassus {
    fn from(w: DenseDelassus) -> Self {
        Delassus::Dense(w)
    }
}

/// A dense matrix with block offsets. Constant once built: the diagonal blocks are copied aside so
/// that a sweep reads them contiguously.
#[derive(Clone, Debug)]
pub struct DenseDelassus {
    n: usize,
    values: Vec<f64>,
    offsets: Vec<usize>,
    diagonals: Vec<f64>,
    diagonal_starts: Vec<usize>,
}

impl DenseDelassus {
    /// Takes a row-major matrix and the sizes of its blocks.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] unless `values` has (Σ dims)² entries.
    pub fn new(values: Vec<f64>, dims: &[usize]) -> Result<Self, SolveError> {
        let n: usize = dims.iter().sum();
        check_size("W", n * n, values.len())?;
        let mut offsets = vec![0];
        let mut diagonals = Vec::new();
        let mut diagonal_starts = Vec::new();
        for (block, &dim) in dims.iter().enumerate() {
            let offset = offsets[block];
            diagonal_starts.push(diagonals.len());
            for row in offset..offset + dim {
                diagonals.extend_from_slice(&values[row * n + offset..row * n + offset + dim]);
            }
            offsets.push(offset + dim);
        }
        Ok(DenseDelassus { n, values, offsets, diagonals, diagonal_starts })
    }

    /// Number of block rows.
    pub fn n_blocks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of scalar rows.
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// First scalar row of a block.
    pub fn offset(&self, block: usize) -> usize {
        self.offsets[block]
    }

    /// All entries, row-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The diagonal block, row-major.
    pub fn diagonal(&self, block: usize) -> &[f64] {
        let dim = self.offsets[block + 1] - self.offsets[block];
        let start = self.diagonal_starts[block];
        &self.diagonals[start..start + dim * dim]
    }

    /// out = W r.
    pub fn multiply(&self, r: &[f64], out: &mut [f64]) {
        for (row, o) in self.values.chunks_exact(self.n.max(1)).zip(out) {
            *o = dot(row, r);
        }
    }

    /// out += Σ_{j≠i} W_ij r_j for block i.
    pub fn add_off_diagonal(&self, block: usize, r: &[f64], out: &mut [f64]) {
        let (start, end) = (self.offsets[block], self.offsets[block + 1]);
        for (row, o) in (start..end).zip(out) {
            let row = &self.values[row * self.n..(row + 1) * self.n];
            *o += dot(&row[..start], &r[..start]) + dot(&row[end..], &r[end..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense() -> DenseDelassus {
        DenseDelassus::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], &[1, 2]).unwrap()
    }

    #[test]
    fn dense_reads_back_its_blocks() {
        let w = dense();
        assert_eq!((w.n_blocks(), w.n_rows(), w.offset(1)), (2, 3, 1));
        assert_eq!(w.diagonal(1), &[5.0, 6.0, 8.0, 9.0]);
        let mut out = [0.0; 3];
        w.multiply(&[1.0, 0.0, -1.0], &mut out);
        assert_eq!(out, [-2.0, -2.0, -2.0]);
        let mut out = [10.0, 10.0];
        w.add_off_diagonal(1, &[1.0, 100.0, 100.0], &mut out);
        assert_eq!(out, [14.0, 17.0]);
    }

    #[test]
    fn dense_refuses_a_wrong_size() {
        assert_eq!(DenseDelassus::new(vec![0.0; 8], &[3]).unwrap_err(), SolveError::SizeMismatch { what: "W", expected: 9, found: 8 });
    }
}
