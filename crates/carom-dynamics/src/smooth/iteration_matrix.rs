//! Square matrices of Newton iterations.

use crate::block_diagonal::{factorise_lu, solve_lu};

/// A square matrix that is assembled by adding entries, factorised and solved; storage and symbolic work are reused while the pattern stays.
#[derive(Clone, Debug, Default)]
pub struct IterationMatrix {
    n: usize,
    values: Vec<f64>,
    pivots: Vec<usize>,
    work: Vec<f64>,
}

impl IterationMatrix {
    /// Begins a matrix of n rows, all zero.
    pub fn reset(&mut self, n: usize) {
        self.n = n;
        self.values.clear();
        self.values.resize(n * n, 0.0);
        self.pivots.resize(n, 0);
    }

    /// Adds to an entry.
    #[inline]
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.n + column] += value;
    }

    /// Factorises; false when the matrix is singular.
    pub fn factorise(&mut self) -> bool {
        factorise_lu(&mut self.values, self.n, &mut self.pivots)
    }

    /// b ← A⁻¹ b.
    pub fn solve(&mut self, b: &mut [f64]) {
        self.work.clear();
        self.work.extend_from_slice(b);
        solve_lu(&self.values, self.n, &self.pivots, &self.work, b);
    }
}
