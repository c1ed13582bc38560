//! LU factorisation of a dense matrix with partial pivoting.

use super::WorkMemory;
use faer::dyn_stack::MemStack;
use faer::linalg::lu::partial_pivoting::{factor, solve};
use faer::perm::PermRef;
use faer::{Conj, MatMut, MatRef, Par, Spec};

/// P A = L U. Cost: 2n³/3 flops once, 2n² per solve; storage is reused.
#[derive(Debug, Default)]
pub(crate) struct DenseLu {
    n: usize,
    /// L below the unit diagonal, U on and above it, column-major.
    values: Vec<f64>,
    rows: Vec<usize>,
    rows_inverse: Vec<usize>,
    work: WorkMemory,
}

impl DenseLu {
    /// A zero n × n matrix to be filled; column-major.
    pub fn reset(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.values.clear();
        self.values.resize(n * n, 0.0);
        &mut self.values
    }

    /// Factors what was filled in. A singular matrix shows in the solutions, which are then not finite.
    pub fn factor(&mut self) {
        let n = self.n;
        self.rows.resize(n, 0);
        self.rows_inverse.resize(n, 0);
        if n == 0 {
            return;
        }
        let matrix = MatMut::from_column_major_slice_mut(&mut self.values, n, n);
        let request = factor::lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Spec::default());
        let stack = MemStack::new(self.work.for_request(request));
        factor::lu_in_place(matrix, &mut self.rows, &mut self.rows_inverse, Par::Seq, stack, Spec::default());
    }

    /// Replaces b by A⁻¹ b.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        if n == 0 {
            return;
        }
        let lu = MatRef::from_column_major_slice(&self.values, n, n);
        let rows = PermRef::new_checked(&self.rows, &self.rows_inverse, n);
        let request = solve::solve_in_place_scratch::<usize, f64>(n, 1, Par::Seq);
        let stack = MemStack::new(self.work.for_request(request));
        let b = MatMut::from_column_major_slice_mut(b, n, 1);
        solve::solve_in_place_with_conj(lu, lu, rows, Conj::No, b, Par::Seq, stack);
    }
}

impl Clone for DenseLu {
    fn clone(&self) -> Self {
        DenseLu {
            n: self.n,
            values: self.values.clone(),
            rows: self.rows.clone(),
            rows_inverse: self.rows_inverse.clone(),
            work: WorkMemory::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_needs_pivots_is_solved() {
        // [[0, 2, 1], [1, 1, 0], [3, 0, 1]] · (1, 2, 3) = (7, 3, 6).
        let mut lu = DenseLu::default();
        lu.reset(3).copy_from_slice(&[0.0, 1.0, 3.0, 2.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
        lu.factor();
        let mut b = [7.0, 3.0, 6.0];
        lu.solve(&mut b);
        for (b, x) in b.iter().zip([1.0, 2.0, 3.0]) {
            assert!((b - x).abs() < 1e-14, "{b} {x}"); // a few roundings
        }
    }

    #[test]
    fn sizes_may_change_in_any_order() {
        let mut lu = DenseLu::default();
        for n in [64, 18, 70, 3, 16, 65] {
            let values = lu.reset(n);
            for k in 0..n {
                values[k * n + k] = 2.0;
                values[k * n + (k + 1) % n] = 1.0;
            }
            lu.factor();
            let mut b = vec![3.0; n];
            lu.solve(&mut b);
            assert!(b.iter().all(|x| (x - 1.0).abs() < 1e-13), "{n}: {b:?}"); // roundings of n eliminations
        }
    }

    #[test]
    fn an_empty_matrix_is_nothing_to_do() {
        let mut lu = DenseLu::default();
        lu.reset(0);
        lu.factor();
        lu.solve(&mut []);
    }
}
