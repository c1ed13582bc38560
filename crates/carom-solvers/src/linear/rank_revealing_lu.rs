//! LU factorisation with complete pivoting that stops at the numerical rank.

/// P D A D Q = L U with |L| ≤ 1 and D = diag(A)^(-1/2), so that rows of different units (angles and
/// lengths, heavy and light bodies) are compared fairly. The elimination stops when no pivot
/// exceeds `RANK_TOLERANCE` times the first one: redundant rows are normal in mechanics.
/// [Golub & Van Loan, *Matrix Computations*, Gaussian elimination with complete pivoting].
///
/// Cost: 2n³/3 once, 2n² per solve; no allocation when the storage is warm.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankRevealingLu {
    n: usize,
    rank: usize,
    lu: Vec<f64>,
    row_order: Vec<usize>,
    column_order: Vec<usize>,
    scale: Vec<f64>,
    work: Vec<f64>,
}

/// Pivots below this fraction of the largest are rounding residue: with unit diagonal the residue of
/// a dependent row is a few n·ε ≈ 1e-14, while a real mechanism close to a singular position
/// (angle 1e-5 rad) still has pivots of 1e-10.
const RANK_TOLERANCE: f64 = 1e-12;

impl RankRevealingLu {
    /// Factors the row-major n×n matrix `a`.
    pub fn factor(&mut self, n: usize, a: &[f64]) {
        self.n = n;
        self.scale.clear();
        self.scale.extend((0..n).map(|i| {
            let d = a[i * n + i].abs();
            if d > f64::MIN_POSITIVE { 1.0 / d.sqrt() } else { 1.0 }
        }));
        self.lu.clear();
        for i in 0..n {
            let scale = &self.scale;
            let row = &a[i * n..(i + 1) * n];
            self.lu.extend(row.iter().zip(scale).map(|(v, s)| v * s * scale[i]));
        }
        self.row_order.clear();
        self.row_order.extend(0..n);
        self.column_order.clear();
        self.column_order.extend(0..n);
        self.eliminate();
    }

    fn eliminate(&mut self) {
        let n = self.n;
        let mut pivot = largest(&self.lu, n);
        let threshold = RANK_TOLERANCE * pivot.2;
        self.rank = 0;
        for k in 0..n {
            let (row, column, size) = pivot;
            if size <= threshold || !size.is_finite() {
                return;
            }
            self.swap(k, row, column);
            self.rank = k + 1;
            // Update the trailing matrix and find the next pivot in the same pass.
            pivot = (k + 1, k + 1, 0.0);
            let (top, bottom) = self.lu.split_at_mut((k + 1) * n);
            let pivot_row = &top[k * n..];
            for (i, row) in bottom.chunks_exact_mut(n).enumerate() {
                let factor = row[k] / pivot_row[k];
                row[k] = factor;
                for j in k + 1..n {
                    row[j] -= factor * pivot_row[j];
                    if row[j].abs() > pivot.2 {
                        pivot = (k + 1 + i, j, row[j].abs());
                    }
                }
            }
        }
    }

    fn swap(&mut self, k: usize, row: usize, column: usize) {
        let n = self.n;
        if row != k {
            self.row_order.swap(k, row);
            let (top, bottom) = self.lu.split_at_mut(row * n);
            top[k * n..(k + 1) * n].swap_with_slice(&mut bottom[..n]);
        }
        if column != k {
            self.column_order.swap(k, column);
            for row in self.lu.chunks_exact_mut(n) {
                row.swap(k, column);
            }
        }
    }

    /// Number of independent rows found.
    #[cfg(test)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Replaces b by a solution of A x = b with the dependent unknowns set to zero. The dependent
    /// equations are ignored: they hold when b is in the range of A.
    pub fn solve(&mut self, b: &mut [f64]) {
        let (n, rank) = (self.n, self.rank);
        self.work.clear();
        let (row_order, scale) = (&self.row_order, &self.scale);
        self.work.extend(row_order[..rank].iter().map(|&i| b[i] * scale[i]));
        for i in 0..rank {
            let (known, rest) = self.work.split_at_mut(i);
            let row = &self.lu[i * n..];
            rest[0] -= row.iter().zip(known).map(|(l, y)| l * *y).sum::<f64>();
        }
        for i in (0..rank).rev() {
            let (head, known) = self.work.split_at_mut(i + 1);
            let row = &self.lu[i * n..(i + 1) * n];
            let sum: f64 = row[i + 1..].iter().zip(known).map(|(u, x)| u * *x).sum();
            head[i] = (head[i] - sum) / row[i];
        }
        b[..n].fill(0.0);
        for (&j, x) in self.column_order.iter().zip(&self.work) {
            b[j] = x * self.scale[j];
        }
    }
}

/// Position and size of the largest entry.
fn largest(a: &[f64], n: usize) -> (usize, usize, f64) {
    let mut best = (0, 0, 0.0);
    for (index, v) in a.iter().enumerate() {
        if v.abs() > best.2 {
            best = (index / n, index % n, v.abs());
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_regular_system() {
        let mut lu = RankRevealingLu::default();
        lu.factor(3, &[4.0, 1.0, 0.0, 2.0, 5.0, 1.0, 0.0, 3.0, 6.0]);
        assert_eq!(lu.rank(), 3);
        // A (1, -1, 2) = (3, -1, 9).
        let mut b = [3.0, -1.0, 9.0];
        lu.solve(&mut b);
        for (x, expected) in b.iter().zip([1.0, -1.0, 2.0]) {
            assert!((x - expected).abs() < 1e-14, "{b:?}"); // a few roundings
        }
    }

    #[test]
    fn redundant_rows_give_a_basic_solution() {
        // The same unit row twice, and a zero row.
        let mut lu = RankRevealingLu::default();
        lu.factor(3, &[1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(lu.rank(), 1);
        let mut b = [2.0, 2.0, 0.0];
        lu.solve(&mut b);
        assert_eq!(b[0] + b[1], 2.0);
        assert_eq!(b[0] * b[1], 0.0);
        assert_eq!(b[2], 0.0);
    }

    #[test]
    fn rounding_is_not_rank() {
        // Gram matrix of four rows in the plane: rank 2 up to rounding.
        let rows = [[0.1, 0.7], [0.3, -0.9], [1.1, 0.2], [-0.4, 0.6]];
        let gram: Vec<f64> = (0..16).map(|k| (0..2).map(|c| rows[k / 4][c] * rows[k % 4][c]).sum()).collect();
        let mut lu = RankRevealingLu::default();
        lu.factor(4, &gram);
        assert_eq!(lu.rank(), 2);
    }

    #[test]
    fn units_of_rows_do_not_change_the_rank() {
        let mut lu = RankRevealingLu::default();
        lu.factor(2, &[1e12, 0.0, 0.0, 1e-12]);
        assert_eq!(lu.rank(), 2);
    }
}
