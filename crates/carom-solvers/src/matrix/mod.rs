//! Matrices of complementarity problems and quadratic programs: dense, or sparse in compressed rows.

mod dense;
mod sparse;

pub use dense::DenseMatrix;
pub use sparse::SparseMatrix;

use crate::error::{SolveError, check_finite};

/// A rectangular matrix.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// All entries stored.
    Dense(DenseMatrix),
    /// Only some entries stored.
    Sparse(SparseMatrix),
}

impl Default for Matrix {
    fn default() -> Self {
        Matrix::Dense(DenseMatrix::default())
    }
}

impl From<DenseMatrix> for Matrix {
    fn from(matrix: DenseMatrix) -> Self {
        Matrix::Dense(matrix)
    }
}

impl From<SparseMatrix> for Matrix {
    fn from(matrix: SparseMatrix) -> Self {
        Matrix::Sparse(matrix)
    }
}

impl Matrix {
    /// Number of rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        match self {
            Matrix::Dense(m) => m.n_rows(),
            Matrix::Sparse(m) => m.n_rows(),
        }
    }

    /// Number of columns.
    #[inline]
    pub fn n_columns(&self) -> usize {
        match self {
            Matrix::Dense(m) => m.n_columns(),
            Matrix::Sparse(m) => m.n_columns(),
        }
    }

    /// Stored entries, row after row.
    pub fn values(&self) -> &[f64] {
        match self {
            Matrix::Dense(m) => m.values(),
            Matrix::Sparse(m) => m.values(),
        }
    }

    /// The entry (i, j); zero where none is stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        match self {
            Matrix::Dense(m) => m.row(i)[j],
            Matrix::Sparse(m) => m.get(i, j),
        }
    }

    /// (row i) · x.
    #[inline]
    pub(crate) fn row_dot(&self, i: usize, x: &[f64]) -> f64 {
        match self {
            Matrix::Dense(m) => m.row(i).iter().zip(x).map(|(a, x)| a * x).sum(),
            Matrix::Sparse(m) => m.row(i).map(|(j, a)| a * x[j]).sum(),
        }
    }

    /// out += factor · (row i)ᵀ.
    #[inline]
    pub fn add_row(&self, i: usize, factor: f64, out: &mut [f64]) {
        match self {
            Matrix::Dense(m) => m.row(i).iter().zip(out).for_each(|(a, out)| *out += factor * a),
            Matrix::Sparse(m) => m.row(i).for_each(|(j, a)| out[j] += factor * a),
        }
    }

    /// out = A x.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.row_dot(i, x);
        }
    }

    /// out = Aᵀ x.
    pub(crate) fn multiply_transposed(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (i, x) in x.iter().enumerate() {
            self.add_row(i, *x, out);
        }
    }

    /// Writes the row-major matrix into `out`, reusing its storage.
    pub fn to_dense(&self, out: &mut Vec<f64>) {
        out.clear();
        match self {
            Matrix::Dense(m) => out.extend_from_slice(m.values()),
            Matrix::Sparse(m) => {
                out.resize(m.n_rows() * m.n_columns(), 0.0);
                for (i, row) in out.chunks_exact_mut(m.n_columns().max(1)).enumerate() {
                    m.row(i).for_each(|(j, a)| row[j] = a);
                }
            }
        }
    }

    /// Checks that all entries are finite.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] naming the matrix `what`.
    pub fn check_finite(&self, what: &'static str) -> Result<(), SolveError> {
        check_finite(what, self.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [[1, 0, 2], [0, 3, 0]] in both forms.
    fn both() -> [Matrix; 2] {
        [
            DenseMatrix::new(2, 3, vec![1.0, 0.0, 2.0, 0.0, 3.0, 0.0]).unwrap().into(),
            SparseMatrix::from_triplets(2, 3, &[(1, 1, 3.0), (0, 2, 0.5), (0, 0, 1.0), (0, 2, 1.5)]).unwrap().into(),
        ]
    }

    #[test]
    fn both_forms_are_the_same_matrix() {
        for m in both() {
            let mut out = [0.0; 2];
            m.multiply(&[1.0, 2.0, 3.0], &mut out);
            assert_eq!(out, [7.0, 6.0]);
            let mut out = [f64::NAN; 3];
            m.multiply_transposed(&[1.0, 2.0], &mut out);
            assert_eq!(out, [1.0, 6.0, 2.0]);
            let mut dense = Vec::new();
            m.to_dense(&mut dense);
            assert_eq!(dense, [1.0, 0.0, 2.0, 0.0, 3.0, 0.0]);
            assert_eq!((m.get(0, 2), m.get(1, 0)), (2.0, 0.0));
        }
    }
}
