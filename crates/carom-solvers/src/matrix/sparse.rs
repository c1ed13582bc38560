//! Compressed sparse rows.

use crate::error::SolveError;

/// The stored entries of each row, by increasing column.
///
/// Built from triplets, or row by row and rebuilt in the same storage:
///
/// ```
/// use carom_solvers::SparseMatrix;
/// let mut m = SparseMatrix::default();
/// m.reset(2);
/// m.push(0, 4.0);
/// m.finish_row();
/// m.push(0, 1.0);
/// m.push(1, 3.0);
/// m.finish_row();
/// assert_eq!((m.n_rows(), m.n_columns(), m.get(1, 0)), (2, 2, 1.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    n_columns: usize,
    /// First entry of each finished row, and the number of entries.
    row_starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Default for SparseMatrix {
    fn default() -> Self {
        SparseMatrix { n_columns: 0, row_starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }
}

impl SparseMatrix {
    /// Clears the matrix, keeping its storage, and sets the number of columns.
    pub fn reset(&mut self, n_columns: usize) {
        self.n_columns = n_columns;
        self.row_starts.clear();
        self.row_starts.push(0);
        self.columns.clear();
        self.values.clear();
    }

    /// Appends an entry to the current row. The columns of a row come in increasing order.
    ///
    /// # Panics
    /// In debug builds, when the order is not increasing or the column does not exist: errors of the
    /// calling program.
    #[inline]
    pub fn push(&mut self, column: usize, value: f64) {
        debug_assert!(column < self.n_columns);
        debug_assert!(self.columns[self.row_starts[self.row_starts.len() - 1]..].last().is_none_or(|&last| last < column));
        self.columns.push(column);
        self.values.push(value);
    }

    /// Ends the current row.
    pub fn finish_row(&mut self) {
        self.row_starts.push(self.columns.len());
    }

    /// Entries (row, column, value) in any order; those of the same place are added.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] for a row or column outside the matrix.
    pub fn from_triplets(n_rows: usize, n_columns: usize, entries: &[(usize, usize, f64)]) -> Result<Self, SolveError> {
        for &(i, j, _) in entries {
            if i >= n_rows {
                return Err(SolveError::SizeMismatch { what: "row index", expected: n_rows, found: i });
            }
            if j >= n_columns {
                return Err(SolveError::SizeMismatch { what: "column index", expected: n_columns, found: j });
            }
        }
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|&k| (entries[k].0, entries[k].1));
        let mut matrix = SparseMatrix::default();
        matrix.reset(n_columns);
        let mut entry = order.into_iter().peekable();
        for i in 0..n_rows {
            while let Some(k) = entry.next_if(|&k| entries[k].0 == i) {
                let (_, j, value) = entries[k];
                match matrix.columns[matrix.row_starts[i]..].last() {
                    Some(&last) if last == j => *matrix.values.last_mut().expect("a column has a value") += value,
                    _ => matrix.push(j, value),
                }
            }
            matrix.finish_row();
        }
        Ok(matrix)
    }

    /// Number of rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Number of columns.
    #[inline]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Stored entries, row after row.
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Stored entries, to be changed.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// First entry of each row, and the number of entries.
    #[inline]
    pub(crate) fn row_starts(&self) -> &[usize] {
        &self.row_starts
    }

    /// Columns of the stored entries, row after row.
    #[inline]
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// (column, value) of the stored entries of row i.
    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = self.row_starts[i]..self.row_starts[i + 1];
        self.columns[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }

    /// The entry (i, j); zero where none is stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let entries = self.row_starts[i]..self.row_starts[i + 1];
        match self.columns[entries.clone()].binary_search(&j) {
            Ok(k) => self.values[entries.start + k],
            Err(_) => 0.0,
        }
    }

    /// Aᵀ.
    pub(crate) fn transposed(&self) -> SparseMatrix {
        let mut starts = vec![0; self.n_columns + 1];
        for &j in &self.columns {
            starts[j + 1] += 1;
        }
        for j in 0..self.n_columns {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let mut out = SparseMatrix {
            n_columns: self.n_rows(),
            row_starts: starts,
            columns: vec![0; self.columns.len()],
            values: vec![0.0; self.values.len()],
        };
        for i in 0..self.n_rows() {
            for (j, value) in self.row(i) {
                out.columns[next[j]] = i;
                out.values[next[j]] = value;
                next[j] += 1;
            }
        }
        out
    }

    /// Largest |i − j| of a stored entry below and above the diagonal.
    pub(crate) fn bandwidths(&self) -> (usize, usize) {
        let (mut lower, mut upper) = (0, 0);
        for i in 0..self.n_rows() {
            for (j, _) in self.row(i) {
                lower = lower.max(i.saturating_sub(j));
                upper = upper.max(j.saturating_sub(i));
            }
        }
        (lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_twice_changes_nothing() {
        let m = SparseMatrix::from_triplets(2, 3, &[(0, 2, 1.0), (1, 0, 2.0), (1, 2, 3.0)]).unwrap();
        let t = m.transposed();
        assert_eq!((t.n_rows(), t.n_columns()), (3, 2));
        assert_eq!(t.row(2).collect::<Vec<_>>(), [(0, 1.0), (1, 3.0)]);
        assert_eq!(t.transposed(), m);
        assert_eq!(m.bandwidths(), (1, 2));
    }

    #[test]
    fn entries_outside_are_refused() {
        assert!(SparseMatrix::from_triplets(2, 2, &[(2, 0, 1.0)]).is_err());
        assert!(SparseMatrix::from_triplets(2, 2, &[(0, 2, 1.0)]).is_err());
    }
}
