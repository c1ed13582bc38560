//! Cholesky factorisation of the active rows of a symmetric matrix, updated as rows come and go.

use super::active_block::mask;
use crate::linear::SparseLdlt;
use crate::matrix::{Matrix, SparseMatrix};

/// M_AA = L Lᵀ for a set A of rows of a symmetric M with unit diagonal, M_AA positive definite.
///
/// Dense M: a row comes by one triangular solve and goes by Givens rotations, each O(k²)
/// [Golub & Van Loan, *Matrix Computations*, updating matrix factorisations]. Sparse M: M with the rows outside A
/// replaced by those of the identity is factored again, in time proportional to the entries of the factor.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveCholesky {
    /// The rows of A in the order of the factor.
    active: Vec<usize>,
    is_active: Vec<bool>,
    /// Rows of L, packed one after another.
    factor: Vec<f64>,
    work: Vec<f64>,
    ldlt: SparseLdlt,
    masked: SparseMatrix,
    is_current: bool,
}

impl ActiveCholesky {
    /// The empty set.
    pub fn clear(&mut self, n: usize) {
        self.active.clear();
        self.is_active.clear();
        self.is_active.resize(n, false);
        self.factor.clear();
        self.is_current = false;
    }

    /// The rows of A, in no particular order.
    pub fn active(&self) -> &[usize] {
        &self.active
    }

    /// True for the rows of A.
    pub fn contains(&self, i: usize) -> bool {
        self.is_active[i]
    }

    /// Adds a row. For dense M, false and no change when what it adds to the diagonal (its Schur complement) is not above
    /// `smallest`; for sparse M that is left to the caller.
    pub fn insert(&mut self, m: &Matrix, i: usize, smallest: f64) -> bool {
        if let Matrix::Dense(m) = m {
            let row = m.row(i);
            self.work.clear();
            self.work.extend(self.active.iter().map(|&j| row[j]));
            self.solve_lower();
            let schur = row[i] - self.work.iter().map(|x| x * x).sum::<f64>();
            if schur <= smallest || schur.is_nan() {
                return false;
            }
            self.factor.extend_from_slice(&self.work);
            self.factor.push(schur.sqrt());
        }
        self.active.push(i);
        self.is_active[i] = true;
        self.is_current = false;
        true
    }

    /// Removes a row.
    pub fn remove(&mut self, m: &Matrix, i: usize) {
        let Some(at) = self.active.iter().position(|&j| j == i) else { return };
        if matches!(m, Matrix::Dense(_)) {
            self.rotate_out(at);
        }
        self.active.remove(at);
        self.is_active[i] = false;
        self.is_current = false;
    }

    /// Removes row `at` of L and makes the rest triangular again.
    fn rotate_out(&mut self, at: usize) {
        let k = self.active.len();
        let start = |i: usize| i * (i + 1) / 2;
        for c in at..k - 1 {
            let (a, b) = (self.factor[start(c + 1) + c], self.factor[start(c + 1) + c + 1]);
            let size = a.hypot(b);
            let (cos, sin) = (a / size, b / size);
            for i in c + 1..k {
                let (x, y) = (self.factor[start(i) + c], self.factor[start(i) + c + 1]);
                self.factor[start(i) + c] = cos * x + sin * y;
                self.factor[start(i) + c + 1] = cos * y - sin * x;
            }
        }
        for i in at..k - 1 {
            self.factor.copy_within(start(i + 1)..start(i + 1) + i + 1, start(i));
        }
        self.factor.truncate(start(k - 1));
    }

    /// work ← L⁻¹ work.
    fn solve_lower(&mut self) {
        let mut start = 0;
        for i in 0..self.work.len() {
            let row = &self.factor[start..start + i];
            let sum: f64 = row.iter().zip(&self.work).map(|(l, x)| l * x).sum();
            self.work[i] = (self.work[i] - sum) / self.factor[start + i];
            start += i + 1;
        }
    }

    /// Replaces b by M_AA⁻¹ b_A on A and zero elsewhere. Not finite where a sparse M_AA is singular.
    pub fn solve(&mut self, m: &Matrix, b: &mut [f64]) {
        if let Matrix::Sparse(m) = m {
            if !self.is_current {
                mask(m, &self.is_active, &mut self.masked);
                self.ldlt.factor(&self.masked);
                self.is_current = true;
            }
            b.iter_mut().zip(&self.is_active).for_each(|(b, active)| *b = if *active { *b } else { 0.0 });
            self.ldlt.solve(b);
            return;
        }
        self.work.clear();
        self.work.extend(self.active.iter().map(|&i| b[i]));
        self.solve_lower();
        for i in (0..self.work.len()).rev() {
            let start = i * (i + 1) / 2;
            let x = self.work[i] / self.factor[start + i];
            self.work[i] = x;
            let row = &self.factor[start..start + i];
            row.iter().zip(&mut self.work).for_each(|(l, y)| *y -= l * x);
        }
        b.fill(0.0);
        for (&i, x) in self.active.iter().zip(&self.work) {
            b[i] = *x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::DenseMatrix;

    /// A definite matrix with unit diagonal, in both forms.
    fn both(n: usize) -> [Matrix; 2] {
        let entry = |i: usize, j: usize| if i == j { 1.0 } else { 0.3 / (1.0 + i.abs_diff(j) as f64) };
        let values: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        let triplets: Vec<_> = values.iter().enumerate().map(|(k, a)| (k / n, k % n, *a)).collect();
        [DenseMatrix::new(n, n, values).unwrap().into(), SparseMatrix::from_triplets(n, n, &triplets).unwrap().into()]
    }

    #[test]
    fn rows_come_and_go() {
        for m in both(6) {
            let mut cholesky = ActiveCholesky::default();
            cholesky.clear(6);
            for i in [4, 0, 2, 5, 1] {
                assert!(cholesky.insert(&m, i, 1e-12));
            }
            for i in [0, 1] {
                cholesky.remove(&m, i);
            }
            assert!(cholesky.insert(&m, 3, 1e-12));
            let x = [0.0, 0.0, 1.0, -2.0, 3.0, 0.5];
            let mut b = [0.0; 6];
            m.multiply(&x, &mut b);
            cholesky.solve(&m, &mut b);
            for (b, x) in b.iter().zip(x) {
                assert!((b - x).abs() < 1e-14, "{b} {x}"); // a few roundings
            }
        }
    }

    #[test]
    fn a_dependent_row_is_refused() {
        let m = Matrix::from(DenseMatrix::new(2, 2, vec![1.0; 4]).unwrap());
        let mut cholesky = ActiveCholesky::default();
        cholesky.clear(2);
        assert!(cholesky.insert(&m, 0, 1e-12));
        assert!(!cholesky.insert(&m, 1, 1e-12));
        assert_eq!(cholesky.active(), [0]);
    }
}
