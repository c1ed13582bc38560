//! LU factorisation of a sparse matrix.

use super::WorkMemory;
use super::sparse_pattern::SparsePattern;
use crate::matrix::SparseMatrix;
use faer::dyn_stack::MemStack;
use faer::sparse::linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::{Conj, MatMut, Par, Spec};

/// P A Q = L U with a column order that keeps the factors sparse (COLAMD) and partial pivoting.
///
/// The order is found when the pattern changes and kept as long as it stays the same.
#[derive(Default)]
pub struct SparseLu {
    /// That of the matrix the order was found for.
    pattern: SparsePattern,
    symbolic: Option<SymbolicLu<usize>>,
    numeric: NumericLu<usize, f64>,
    is_factored: bool,
    work: WorkMemory,
}

impl SparseLu {
    /// Factors a square matrix; false when it is exactly singular or too large.
    ///
    /// The compressed rows of A are the compressed columns of Aᵀ; it is Aᵀ that is factored.
    pub fn factor(&mut self, a: &SparseMatrix) -> bool {
        self.is_factored = false;
        if self.pattern.update(a) || self.symbolic.is_none() {
            self.symbolic = factorize_symbolic_lu(self.pattern.transposed(), LuSymbolicParams::default()).ok();
            // Factors of another size must not be reused: faer only lets their arrays grow.
            self.numeric = NumericLu::default();
        }
        let Some(symbolic) = &self.symbolic else {
            return false;
        };
        let matrix = self.pattern.matrix(a);
        let request = symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Spec::default());
        let stack = MemStack::new(self.work.for_request(request));
        self.is_factored = symbolic.factorize_numeric_lu(&mut self.numeric, matrix, Par::Seq, stack, Spec::default()).is_ok();
        self.is_factored
    }

    /// Replaces b by A⁻¹ b, or fills it with NaN when the last factorisation failed.
    pub fn solve(&mut self, b: &mut [f64]) {
        let (Some(symbolic), true) = (&self.symbolic, self.is_factored) else {
            b.fill(f64::NAN);
            return;
        };
        let n = b.len();
        let request = symbolic.solve_transpose_in_place_scratch::<f64>(1, Par::Seq);
        let stack = MemStack::new(self.work.for_request(request));
        let b = MatMut::from_column_major_slice_mut(b, n, 1);
        LuRef::new_unchecked(symbolic, &self.numeric).solve_transpose_in_place_with_conj(Conj::No, b, Par::Seq, stack);
    }
}

impl Clone for SparseLu {
    /// An empty factorisation: the factors are found again at the next use.
    fn clone(&self) -> Self {
        SparseLu::default()
    }
}

impl std::fmt::Debug for SparseLu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseLu").field("entries", &self.pattern.entries()).field("is_factored", &self.is_factored).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_is_not_symmetric_is_solved_again_and_again() {
        let mut lu = SparseLu::default();
        for scale in [1.0, 3.0] {
            // scale · [[0, 2, 1], [1, 1, 0], [3, 0, 1]] · (1, 2, 3) = scale · (7, 3, 6).
            let entries = [(0, 1, 2.0), (0, 2, 1.0), (1, 0, 1.0), (1, 1, 1.0), (2, 0, 3.0), (2, 2, 1.0)].map(|(i, j, a)| (i, j, scale * a));
            assert!(lu.factor(&SparseMatrix::from_triplets(3, 3, &entries).unwrap()));
            let mut b = [7.0, 3.0, 6.0].map(|b| scale * b);
            lu.solve(&mut b);
            for (b, x) in b.iter().zip([1.0, 2.0, 3.0]) {
                assert!((b - x).abs() < 1e-14, "{b} {x}"); // a few roundings
            }
        }
    }

    #[test]
    fn smaller_matrices_may_follow_larger_ones() {
        let mut lu = SparseLu::default();
        for n in [40, 3, 25, 2] {
            let entries: Vec<_> = (0..n).flat_map(|k| [(k, k, 2.0), (k, (k + 1) % n, 1.0)]).collect();
            assert!(lu.factor(&SparseMatrix::from_triplets(n, n, &entries).unwrap()));
            let mut b = vec![3.0; n];
            lu.solve(&mut b);
            assert!(b.iter().all(|x| (x - 1.0).abs() < 1e-13), "{n}: {b:?}"); // roundings of n eliminations
        }
    }

    #[test]
    fn a_singular_matrix_gives_no_solution() {
        let mut lu = SparseLu::default();
        lu.factor(&SparseMatrix::from_triplets(2, 2, &[(0, 0, 1.0), (1, 0, 1.0)]).unwrap());
        let mut b = [1.0, 2.0];
        lu.solve(&mut b);
        assert!(b.iter().any(|x| !x.is_finite()), "{b:?}");
    }
}
