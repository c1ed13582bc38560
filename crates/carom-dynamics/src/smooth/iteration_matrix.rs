//! Square matrices of Newton iterations.

use carom_solvers::SparseMatrix;
use carom_solvers::linear::{RowLu, SparseLu};

/// Up to this size a matrix is dense: 2n³/3 flops with contiguous loops are then faster than a sparse elimination with pivoting.
const LARGEST_DENSE: usize = 150;

/// A pivot below this part of the largest entry counts as zero: such a matrix has no digit left in any norm.
const SMALLEST_PIVOT: f64 = f64::EPSILON * f64::EPSILON;

/// A square matrix that is assembled by adding entries, factorised and solved; storage and symbolic work are reused while the pattern stays.
///
/// Up to 150 rows: dense L U with partial pivoting. Beyond: sparse L U with partial pivoting; the order of elimination is found when an entry is
/// added that was never there before. Adding the same entries in the same order as the time before is fastest.
#[derive(Clone, Debug, Default)]
pub struct IterationMatrix {
    n: usize,
    dense: RowLu,
    sparse: SparseEntries,
    lu: SparseLu,
    probe: Vec<f64>,
}

impl IterationMatrix {
    /// Begins a matrix of n rows, all zero.
    pub fn reset(&mut self, n: usize) {
        if n != self.n {
            self.sparse = SparseEntries::default();
        }
        self.n = n;
        self.sparse.values.clear();
        if n <= LARGEST_DENSE {
            self.dense.reset(n);
        }
    }

    /// Adds to an entry.
    #[inline]
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        if self.n <= LARGEST_DENSE {
            self.dense.values_mut()[row * self.n + column] += value;
        } else {
            self.sparse.add(row, column, value);
        }
    }

    /// Factorises; false when the matrix is singular.
    pub fn factorise(&mut self) -> bool {
        if self.n > LARGEST_DENSE {
            if !self.lu.factor(self.sparse.gather(self.n)) {
                return false;
            }
            // a pivot of zero shows in the solutions
            self.probe.clear();
            self.probe.resize(self.n, 1.0);
            self.lu.solve(&mut self.probe);
            return self.probe.iter().all(|x| x.is_finite());
        }
        let largest = self.dense.values_mut().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let regular = (SMALLEST_PIVOT * largest).max(f64::MIN_POSITIVE)..=f64::MAX;
        self.dense.factor() && self.dense.pivots().all(|pivot| regular.contains(&pivot.abs()))
    }

    /// b ← A⁻¹ b.
    pub fn solve(&mut self, b: &mut [f64]) {
        if self.n > LARGEST_DENSE { self.lu.solve(b) } else { self.dense.solve(b) }
    }
}

/// Entries as they are added, and where they go in compressed rows.
#[derive(Clone, Debug, Default)]
struct SparseEntries {
    /// Places of the entries, in the order in which they were added, and the values added this time.
    places: Vec<(u32, u32)>,
    values: Vec<f64>,
    changed: bool,
    /// Position of each entry in the compressed rows.
    slots: Vec<usize>,
    matrix: SparseMatrix,
}

impl SparseEntries {
    #[inline]
    fn add(&mut self, row: usize, column: usize, value: f64) {
        let (place, k) = ((row as u32, column as u32), self.values.len());
        if self.places.get(k) != Some(&place) {
            self.places.truncate(k);
            self.places.push(place);
            self.changed = true;
        }
        self.values.push(value);
    }

    /// The matrix in compressed rows.
    fn gather(&mut self, n: usize) -> &SparseMatrix {
        if self.changed || self.slots.len() < self.values.len() {
            self.find_slots(n);
            self.changed = false;
        }
        let out = self.matrix.values_mut();
        out.fill(0.0);
        for (&slot, value) in self.slots.iter().zip(&self.values) {
            out[slot] += value;
        }
        &self.matrix
    }

    /// Compressed rows for all places, those of earlier matrices among them: a term that is zero for a while does not change the pattern.
    fn find_slots(&mut self, n: usize) {
        let mut all = self.places.clone();
        for i in 0..self.matrix.n_rows() {
            all.extend(self.matrix.row(i).map(|(j, _)| (i as u32, j as u32)));
        }
        // the diagonal is always there, so that no row is empty
        all.extend((0..n as u32).map(|i| (i, i)));
        all.sort_unstable();
        all.dedup();
        self.matrix.reset(n);
        let mut row = 0;
        for &(i, j) in &all {
            while row < i {
                self.matrix.finish_row();
                row += 1;
            }
            self.matrix.push(j as usize, 0.0);
        }
        self.matrix.finish_row();
        self.slots.clear();
        // every place is in `all`
        self.slots.extend(self.places.iter().map(|place| all.partition_point(|x| x < place)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assembles a band matrix of n rows with entries added twice, solves A x = A e, and returns the largest error.
    fn error(matrix: &mut IterationMatrix, n: usize, shift: usize) -> f64 {
        let entry = |i: usize, j: usize| if i == j { 0.5 } else { 1.0 / (1.0 + ((i * 7 + j * 3) % 5) as f64) };
        let columns = |i: usize| [i, (i + 1) % n, (i + shift) % n];
        matrix.reset(n);
        let mut b = vec![0.0; n];
        for (i, b) in b.iter_mut().enumerate() {
            for j in columns(i) {
                matrix.add(i, j, 0.25 * entry(i, j));
                matrix.add(i, j, 0.75 * entry(i, j));
                *b += entry(i, j) * (j as f64 + 1.0);
            }
            matrix.add(i, i, 3.0);
            *b += 3.0 * (i as f64 + 1.0);
        }
        assert!(matrix.factorise());
        matrix.solve(&mut b);
        b.iter().enumerate().map(|(i, x)| (x - (i as f64 + 1.0)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn dense_and_sparse_matrices_are_solved() {
        let mut matrix = IterationMatrix::default();
        for (n, shift) in [(5, 3), (150, 7), (151, 7), (151, 7), (151, 9), (400, 31), (20, 3), (151, 7)] {
            // diagonally dominant, x up to 400
            assert!(error(&mut matrix, n, shift) < 1e-11, "{n}");
        }
    }

    #[test]
    fn singular_matrices_are_refused() {
        for n in [3, 200] {
            let mut matrix = IterationMatrix::default();
            matrix.reset(n);
            (0..n - 1).for_each(|i| matrix.add(i, i, 1.0));
            assert!(!matrix.factorise(), "{n}");
        }
    }
}
