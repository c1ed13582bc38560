//! L D Lᵀ of a symmetric, positive definite matrix within its envelope.

/// A = Uᵀ D U with unit upper triangular U, without pivoting: stable for positive definite matrices. Stored by full rows, so that all inner loops
/// run over contiguous values; each row is worked on only up to the last column that is not zero in it or in a row above, outside which the
/// factor is zero too. Cost: n w² flops with rows w wide, n³/3 when full; 4nw per solve; storage is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct SymmetricFactor {
    n: usize,
    values: Vec<f64>,
    row: Vec<f64>,
    /// Columns of each row end here; they do not fall from row to row.
    ends: Vec<usize>,
}

impl SymmetricFactor {
    /// The pattern of the matrices to come, until the next one: for each row, the end of its columns that may not be zero.
    pub(crate) fn set_pattern(&mut self, ends: impl Iterator<Item = usize>) {
        self.ends.clear();
        let mut most = 0;
        self.ends.extend(ends.map(|end| {
            most = most.max(end);
            most
        }));
    }

    /// A zero matrix of the pattern's size, row-major, of which the diagonal and what is right of it are to be filled.
    pub fn reset(&mut self) -> &mut [f64] {
        self.n = self.ends.len();
        self.values.clear();
        self.values.resize(self.n * self.n, 0.0);
        &mut self.values
    }

    /// Factorises what was filled in.
    pub fn factorise(&mut self) {
        let n = self.n;
        for (k, &end) in self.ends.iter().enumerate() {
            let (top, below) = self.values.split_at_mut((k + 1) * n);
            let pivot_row = &mut top[k * n + k..k * n + end];
            let inverse = 1.0 / pivot_row[0];
            // row k of D U is needed below beside that of U
            self.row.clear();
            self.row.extend_from_slice(&pivot_row[1..]);
            for x in &mut pivot_row[1..] {
                *x *= inverse;
            }
            let unit = &pivot_row[1..];
            for ((i, row), &factor) in below.chunks_exact_mut(n).enumerate().zip(unit) {
                if factor != 0.0 {
                    for (x, y) in row[k + 1 + i..end].iter_mut().zip(&self.row[i..]) {
                        *x -= factor * y;
                    }
                }
            }
        }
    }

    /// The diagonal D.
    pub fn pivots(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().step_by(self.n + 1).copied()
    }

    /// b ← A⁻¹ b.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for (k, &end) in self.ends.iter().enumerate() {
            let (done, rest) = b.split_at_mut(k + 1);
            for (x, u) in rest.iter_mut().zip(&self.values[k * n + k + 1..k * n + end]) {
                *x -= u * done[k];
            }
        }
        for (k, &end) in self.ends.iter().enumerate().rev() {
            let row = &self.values[k * n + k..k * n + end];
            let sum: f64 = row[1..].iter().zip(&b[k + 1..]).map(|(u, x)| u * x).sum();
            b[k] = b[k] / row[0] - sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix with an envelope that widens and narrows: the solution of A x = b, and no entry outside is read.
    #[test]
    fn an_envelope_is_factorised_like_a_full_matrix() {
        let ends = [2, 5, 3, 5, 7, 6, 7];
        let n = ends.len();
        // row sums keep it positive definite: 10 on the diagonal, at most 6 beside it
        let entry = |i: usize, j: usize| match (i.min(j), i.max(j)) {
            (i, j) if i == j => 10.0 + i as f64,
            (i, j) if j < ends[i] => ((3 * i + j) % 5) as f64 / 5.0 - 0.4,
            _ => 0.0,
        };
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 2.5).collect();
        let product: Vec<f64> = (0..n).map(|i| (0..n).map(|j| entry(i, j) * x[j]).sum()).collect();
        for pattern in [ends.to_vec(), vec![n; n]] {
            let (mut factor, mut b) = (SymmetricFactor::default(), product.clone());
            factor.set_pattern(pattern.into_iter());
            let values = factor.reset();
            (0..n * n).filter(|k| k % n >= k / n).for_each(|k| values[k] = entry(k / n, k % n));
            factor.factorise();
            factor.solve(&mut b);
            // a condition number of about 2
            assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-14), "{b:?}");
        }
    }
}
