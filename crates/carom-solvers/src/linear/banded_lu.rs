//! LU factorisation of a band matrix with partial pivoting.

/// P A = L U for a matrix with `lower` diagonals below and `upper` above the main one; a full matrix is
/// the band of n − 1. Row i is stored from column i − lower on, with room for the fill of
/// the row exchanges (`lower` more diagonals above).
/// [Golub & Van Loan, *Matrix Computations*, band Gaussian elimination with partial pivoting]; differs in:
/// rows, not columns, are contiguous, and [`PANEL`] pivots are applied in one pass over the rest.
///
/// Cost: 2 n lower (lower + upper) flops once, 2 n (2 lower + upper) per solve; storage is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct BandedLu {
    n: usize,
    lower: usize,
    upper: usize,
    stride: usize,
    values: Vec<f64>,
    /// Row exchanged with row k at step k.
    pivots: Vec<usize>,
}

/// Pivots eliminated together: the rows below are read and written once for all of them.
const PANEL: usize = 4;

impl BandedLu {
    /// The zero matrix of this shape.
    pub fn reset(&mut self, n: usize, lower: usize, upper: usize) {
        let last = n.saturating_sub(1);
        self.n = n;
        // Rows meet a whole panel at once, so that each is stored a little further to the left.
        self.lower = (lower + PANEL - 1).min(last);
        self.upper = upper.min(last);
        self.stride = n.min(2 * self.lower + self.upper + 1);
        self.values.clear();
        self.values.resize(n * self.stride, 0.0);
        self.pivots.clear();
        self.pivots.resize(n, 0);
    }

    /// First stored column of a row.
    #[inline]
    fn first(&self, row: usize) -> usize {
        row.saturating_sub(self.lower)
    }

    /// Columns `start..start + len` of a row, all inside the band.
    #[inline]
    pub fn row_mut(&mut self, row: usize, start: usize, len: usize) -> &mut [f64] {
        let at = row * self.stride + start - self.first(row);
        &mut self.values[at..at + len]
    }

    #[inline]
    fn at(&self, row: usize, column: usize) -> usize {
        row * self.stride + column - self.first(row)
    }

    /// Factors the matrix filled in since `reset`. A pivot that vanishes is replaced by machine precision.
    pub fn factor(&mut self) {
        let n = self.n;
        let mut k = 0;
        while k < n {
            let panel_end = (k + PANEL).min(n);
            let rows_end = (k + self.lower + 1).min(n);
            let columns_end = (k + self.lower + self.upper + 1).min(n);
            self.factor_panel(k, panel_end, rows_end, columns_end);
            self.update(k, panel_end, rows_end, columns_end);
            k = panel_end;
        }
    }

    /// Eliminates below the pivots of columns k..panel_end, inside these columns; exchanges whole rows.
    fn factor_panel(&mut self, k: usize, panel_end: usize, rows_end: usize, columns_end: usize) {
        for j in k..panel_end {
            let (mut pivot, mut size) = (j, -1.0);
            for i in j..rows_end {
                let candidate = self.values[self.at(i, j)].abs();
                if candidate > size {
                    (pivot, size) = (i, candidate);
                }
            }
            self.pivots[j] = pivot;
            if pivot != j {
                let len = columns_end - k;
                let (a, b) = (self.at(j, k), self.at(pivot, k));
                let (top, bottom) = self.values.split_at_mut(b);
                top[a..a + len].swap_with_slice(&mut bottom[..len]);
            }
            let diagonal = self.at(j, j);
            if size == 0.0 {
                self.values[diagonal] = f64::EPSILON;
            }
            let inverse = 1.0 / self.values[diagonal];
            for i in j + 1..rows_end {
                let at = self.at(i, j);
                let factor = self.values[at] * inverse;
                self.values[at] = factor;
                if factor != 0.0 {
                    for c in 1..panel_end - j {
                        self.values[at + c] -= factor * self.values[diagonal + c];
                    }
                }
            }
        }
    }

    /// Applies the panel to the columns right of it.
    fn update(&mut self, k: usize, panel_end: usize, rows_end: usize, columns_end: usize) {
        let len = columns_end - panel_end;
        for j in k + 1..panel_end {
            for p in k..j {
                let factor = self.values[self.at(j, p)];
                let (source, target) = (self.at(p, panel_end), self.at(j, panel_end));
                let (top, bottom) = self.values.split_at_mut(target);
                for (y, x) in bottom[..len].iter_mut().zip(&top[source..source + len]) {
                    *y -= factor * x;
                }
            }
        }
        if panel_end - k < PANEL {
            return; // The last panel: nothing is left.
        }
        let starts: [usize; PANEL] = std::array::from_fn(|p| self.at(k + p, panel_end));
        let first_below = panel_end * self.stride;
        for i in panel_end..rows_end {
            let (factors_at, target) = (self.at(i, k), self.at(i, panel_end));
            let (top, bottom) = self.values.split_at_mut(first_below);
            let [p0, p1, p2, p3] = starts.map(|s| &top[s..s + len]);
            let row = &mut bottom[factors_at - first_below..target - first_below + len];
            let (factors, row) = row.split_at_mut(PANEL);
            let &mut [f0, f1, f2, f3] = factors else { return };
            if f0 == 0.0 && f1 == 0.0 && f2 == 0.0 && f3 == 0.0 {
                continue;
            }
            for ((((y, a), b), c), d) in row.iter_mut().zip(p0).zip(p1).zip(p2).zip(p3) {
                *y -= f0 * a + f1 * b + f2 * c + f3 * d;
            }
        }
    }

    /// Replaces b by the solution of A x = b.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for j in (0..n).step_by(PANEL) {
            // The exchanges of a panel moved its factors too, so all come before its elimination.
            let panel_end = (j + PANEL).min(n);
            for k in j..panel_end {
                b.swap(k, self.pivots[k]);
            }
            for k in j..panel_end {
                let x = b[k];
                let end = (j + self.lower + 1).min(n);
                for (i, b) in (k + 1..).zip(&mut b[k + 1..end]) {
                    *b -= self.values[self.at(i, k)] * x;
                }
            }
        }
        for i in (0..n).rev() {
            let end = (i + self.lower + self.upper + 1).min(n);
            let at = self.at(i, i);
            let row = &self.values[at..at + end - i];
            let sum: f64 = row[1..].iter().zip(&b[i + 1..end]).map(|(u, x)| u * x).sum();
            b[i] = (b[i] - sum) / row[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entry (i, j) of a matrix without structure inside its band; the diagonal is no good pivot.
    fn entry(i: usize, j: usize, lower: usize, upper: usize) -> f64 {
        let inside = j + lower >= i && i + upper >= j;
        if inside { ((7 * i + 13 * j) % 11) as f64 - 5.0 + if i == j { 0.01 } else { 0.1 } } else { 0.0 }
    }

    #[test]
    fn bands_of_all_shapes_are_solved() {
        let mut lu = BandedLu::default();
        for (n, lower, upper) in [(1, 0, 0), (3, 2, 2), (9, 0, 3), (9, 3, 0), (23, 2, 5), (23, 6, 1), (30, 29, 29), (31, 4, 4)] {
            lu.reset(n, lower, upper);
            let exact: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin() + 0.5).collect();
            let mut b = vec![0.0; n];
            for (i, b) in b.iter_mut().enumerate() {
                for (j, exact) in exact.iter().enumerate().take(i + upper + 1).skip(i.saturating_sub(lower)) {
                    lu.row_mut(i, j, 1)[0] = entry(i, j, lower, upper);
                    *b += entry(i, j, lower, upper) * exact;
                }
            }
            lu.factor();
            lu.solve(&mut b);
            for (x, exact) in b.iter().zip(&exact) {
                // Conditioning below 1e5 for these matrices, except the triangular bands.
                assert!((x - exact).abs() < 1e-6, "{n} {lower} {upper}: {x} {exact}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_gives_a_finite_answer() {
        let mut lu = BandedLu::default();
        lu.reset(2, 1, 1);
        for row in 0..2 {
            lu.row_mut(row, 0, 2).fill(1.0);
        }
        lu.factor();
        let mut b = [1.0, 1.0];
        lu.solve(&mut b);
        assert!(b.iter().all(|x| x.is_finite()));
    }
}
