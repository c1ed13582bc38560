//! LU factorisation of a dense matrix stored by rows.

use super::dense_front::factor_front;
use crate::dot::dot;

/// P A = L U with partial pivoting of a row-major matrix: a single dense front.
///
/// Use it for matrices of up to a few hundred rows that are filled by rows; large ones are faster by blocks. Cost: 2n³/3 flops once, 2n² per
/// solve; storage is reused.
#[derive(Clone, Debug, Default)]
pub struct RowLu {
    /// The vector instructions of this machine.
    arch: pulp::Arch,
    n: usize,
    values: Vec<f64>,
    exchanges: Vec<usize>,
}

impl RowLu {
    /// A zero n × n matrix to be filled; row-major.
    pub fn reset(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.values.clear();
        self.values.resize(n * n, 0.0);
        &mut self.values
    }

    /// The matrix being filled; its factors after [`Self::factor`].
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Factors what was filled in; false when a pivot vanished. It was then replaced by machine precision.
    pub fn factor(&mut self) -> bool {
        let n = self.n;
        self.exchanges.clear();
        self.exchanges.resize(n, 0);
        let (values, exchanges) = (&mut self.values, &mut self.exchanges);
        self.arch.dispatch(|| factor_front(values, n, n, exchanges))
    }

    /// The pivots of the last factorisation, by columns.
    pub fn pivots(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().step_by(self.n + 1).copied()
    }

    /// Replaces b by A⁻¹ b.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for (k, &row) in self.exchanges.iter().enumerate() {
            b.swap(k, row);
        }
        for i in 1..n {
            let (done, rest) = b.split_at_mut(i);
            rest[0] -= dot(&self.values[i * n..i * n + i], done);
        }
        for i in (0..n).rev() {
            let (rest, done) = b.split_at_mut(i + 1);
            let row = &self.values[i * n..(i + 1) * n];
            rest[i] = (rest[i] - dot(&row[i + 1..], done)) / row[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_of_all_small_sizes_are_solved() {
        let mut lu = RowLu::default();
        for n in [0_usize, 1, 2, 3, 4, 5, 8, 13, 40] {
            // not symmetric, with zeros on the diagonal, so that rows must be exchanged
            let entry = |i: usize, j: usize| {
                if i == j { 0.0 } else { ((7 * i + 3 * j + i * j) % 11) as f64 - 5.0 + if j == i + 1 { 20.0 } else { 0.0 } }
            };
            let entry = |i: usize, j: usize| {
                if n == 1 {
                    2.0
                } else if i + 1 == n && j == 0 {
                    20.0
                } else {
                    entry(i, j)
                }
            };
            let a = lu.reset(n);
            (0..n * n).for_each(|k| a[k] = entry(k / n, k % n));
            assert!(lu.factor());
            let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| entry(i, j) * (j as f64 + 1.0)).sum()).collect();
            lu.solve(&mut b);
            for (k, x) in b.iter().enumerate() {
                assert!((x - (k as f64 + 1.0)).abs() < 1e-11, "n = {n}: {x}"); // condition numbers up to about 1e3, x up to 40
            }
        }
    }

    #[test]
    fn a_vanishing_pivot_is_seen() {
        let mut lu = RowLu::default();
        lu.reset(2).copy_from_slice(&[1.0, 2.0, 2.0, 4.0]);
        assert!(!lu.factor());
    }
}
