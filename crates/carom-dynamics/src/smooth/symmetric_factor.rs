//! L D Lᵀ of a dense, symmetric, positive definite matrix.

/// A = Uᵀ D U with unit upper triangular U, without pivoting: stable for positive definite matrices. Stored by rows, so that all inner loops run
/// over contiguous values. Cost: n³/3 flops once, 2n² per solve; storage is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct SymmetricFactor {
    n: usize,
    values: Vec<f64>,
    row: Vec<f64>,
}

impl SymmetricFactor {
    /// A zero n × n matrix, row-major, of which the diagonal and what is right of it are to be filled.
    pub fn reset(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.values.clear();
        self.values.resize(n * n, 0.0);
        &mut self.values
    }

    /// Factorises what was filled in.
    pub fn factorise(&mut self) {
        let n = self.n;
        for k in 0..n {
            let (top, below) = self.values.split_at_mut((k + 1) * n);
            let pivot_row = &mut top[k * n + k..];
            let inverse = 1.0 / pivot_row[0];
            // row k of D U is needed below beside that of U
            self.row.clear();
            self.row.extend_from_slice(&pivot_row[1..]);
            for x in &mut pivot_row[1..] {
                *x *= inverse;
            }
            let unit = &pivot_row[1..];
            for (i, row) in below.chunks_exact_mut(n).enumerate() {
                let factor = unit[i];
                if factor != 0.0 {
                    for (x, y) in row[k + 1 + i..].iter_mut().zip(&self.row[i..]) {
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
        for k in 0..n {
            let (done, rest) = b.split_at_mut(k + 1);
            for (x, u) in rest.iter_mut().zip(&self.values[k * n + k + 1..(k + 1) * n]) {
                *x -= u * done[k];
            }
        }
        for k in (0..n).rev() {
            let row = &self.values[k * n + k..(k + 1) * n];
            let sum: f64 = row[1..].iter().zip(&b[k + 1..]).map(|(u, x)| u * x).sum();
            b[k] = b[k] / row[0] - sum;
        }
    }
}
