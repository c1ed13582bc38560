//! LDLᵀ factorisation of a sparse symmetric matrix.

use super::WorkMemory;
use super::sparse_pattern::SparsePattern;
use crate::matrix::SparseMatrix;
use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::sparse::linalg::cholesky::{CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky};
use faer::{Conj, MatMut, Par, Side, Spec};

/// P A Pᵀ = L D Lᵀ with an order that keeps L sparse (AMD) and without pivoting: for positive definite and quasi-definite
/// matrices. Cost about half of [`super::SparseLu`]. The order is kept as long as the pattern stays the same.
#[derive(Default)]
pub(crate) struct SparseLdlt {
    /// That of the matrix the order was found for.
    pattern: SparsePattern,
    symbolic: Option<SymbolicCholesky<usize>>,
    values: Vec<f64>,
    is_factored: bool,
    work: WorkMemory,
}

impl SparseLdlt {
    /// Factors a symmetric matrix of which only the entries with column ≤ row are read; false when a pivot vanishes.
    pub fn factor(&mut self, a: &SparseMatrix) -> bool {
        self.is_factored = false;
        // Compressed rows of the lower triangle are compressed columns of the upper one.
        if self.pattern.update(a) || self.symbolic.is_none() {
            let params = CholeskySymbolicParams::default();
            self.symbolic = factorize_symbolic_cholesky(self.pattern.transposed(), Side::Upper, SymmetricOrdering::Amd, params).ok();
        }
        let Some(symbolic) = &self.symbolic else {
            return false;
        };
        self.values.resize(symbolic.len_val(), 0.0);
        let matrix = self.pattern.matrix(a);
        let request = symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Spec::default());
        let stack = MemStack::new(self.work.for_request(request));
        let regularization = LdltRegularization {
            dynamic_regularization_signs: None,
            dynamic_regularization_delta: 0.0,
            dynamic_regularization_epsilon: 0.0,
        };
        let result =
            symbolic.factorize_numeric_ldlt(&mut self.values, matrix, Side::Upper, regularization, Par::Seq, stack, Spec::default());
        self.is_factored = result.is_ok();
        self.is_factored
    }

    /// Replaces b by A⁻¹ b, or fills it with NaN when the last factorisation failed.
    pub fn solve(&mut self, b: &mut [f64]) {
        let (Some(symbolic), true) = (&self.symbolic, self.is_factored) else {
            b.fill(f64::NAN);
            return;
        };
        let n = b.len();
        let request = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let stack = MemStack::new(self.work.for_request(request));
        let b = MatMut::from_column_major_slice_mut(b, n, 1);
        LdltRef::new(symbolic, &self.values).solve_in_place_with_conj(Conj::No, b, Par::Seq, stack);
    }
}

impl Clone for SparseLdlt {
    /// An empty factorisation: the factors are found again at the next use.
    fn clone(&self) -> Self {
        SparseLdlt::default()
    }
}

impl std::fmt::Debug for SparseLdlt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseLdlt")
            .field("entries", &self.pattern.entries())
            .field("is_factored", &self.is_factored)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definite_and_quasi_definite_matrices_are_solved() {
        // [[4, 1, 2], [1, 3, 0], [2, 0, ±5]] · (1, 2, 3).
        let mut ldlt = SparseLdlt::default();
        for corner in [5.0, -5.0] {
            let lower = [(0, 0, 4.0), (1, 0, 1.0), (1, 1, 3.0), (2, 0, 2.0), (2, 2, corner)];
            assert!(ldlt.factor(&SparseMatrix::from_triplets(3, 3, &lower).unwrap()));
            let mut b = [12.0, 7.0, 2.0 + 3.0 * corner];
            ldlt.solve(&mut b);
            for (b, x) in b.iter().zip([1.0, 2.0, 3.0]) {
                assert!((b - x).abs() < 1e-14, "{b} {x}"); // a few roundings
            }
        }
    }
}
