//! Row-major dense matrix.

use crate::error::{SolveError, check_size};

/// All entries, row after row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DenseMatrix {
    n_rows: usize,
    n_columns: usize,
    values: Vec<f64>,
}

impl DenseMatrix {
    /// Takes row-major entries.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] unless there are `n_rows` × `n_columns` of them.
    pub fn new(n_rows: usize, n_columns: usize, values: Vec<f64>) -> Result<Self, SolveError> {
        check_size("matrix", n_rows * n_columns, values.len())?;
        Ok(DenseMatrix { n_rows, n_columns, values })
    }

    /// Makes a zero matrix of this size in the same storage.
    pub fn reset(&mut self, n_rows: usize, n_columns: usize) {
        (self.n_rows, self.n_columns) = (n_rows, n_columns);
        self.values.clear();
        self.values.resize(n_rows * n_columns, 0.0);
    }

    /// Number of rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    #[inline]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// All entries, row-major.
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All entries, row-major, to be changed.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Row i.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// Row i, to be changed.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.n_columns..(i + 1) * self.n_columns]
    }
}
