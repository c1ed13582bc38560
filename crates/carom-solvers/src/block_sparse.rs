//! Block-sparse matrix: compressed rows of small dense blocks, contiguous in memory.

/// Compressed block rows of dense row-major blocks of varying sizes.
///
/// Built row by row, and rebuilt in the same storage at the next step:
///
/// ```
/// use carom_solvers::BlockSparse;
/// let mut w = BlockSparse::new();
/// w.reset(&[1, 2]);
/// w.push_block(0)[0] = 4.0;
/// w.finish_row();
/// w.push_block(1).copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
/// w.push_block(0).copy_from_slice(&[0.5, 0.5]);
/// w.finish_row();
/// assert_eq!((w.n_blocks(), w.n_rows()), (2, 3));
/// ```
#[derive(Clone, Debug)]
pub struct BlockSparse {
    /// First scalar row of each block, and the number of rows.
    offsets: Vec<usize>,
    /// First entry of each finished row, and the number of entries.
    row_starts: Vec<usize>,
    /// Block column of each entry.
    columns: Vec<usize>,
    /// Position in `values` of each entry.
    value_starts: Vec<usize>,
    /// Position in `values` of the diagonal block of each row.
    diagonals: Vec<usize>,
    values: Vec<f64>,
}

/// No diagonal block seen yet in the row under construction.
const MISSING: usize = usize::MAX;

impl Default for BlockSparse {
    fn default() -> Self {
        BlockSparse::new()
    }
}

impl BlockSparse {
    /// The empty matrix.
    pub fn new() -> Self {
        BlockSparse {
            offsets: vec![0],
            row_starts: vec![0],
            columns: Vec::new(),
            value_starts: Vec::new(),
            diagonals: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Clears the matrix, keeping its storage, and sets the sizes of its blocks.
    pub fn reset(&mut self, dims: &[usize]) {
        self.offsets.clear();
        self.offsets.push(0);
        let mut offset = 0;
        for dim in dims {
            offset += dim;
            self.offsets.push(offset);
        }
        self.row_starts.clear();
        self.row_starts.push(0);
        self.columns.clear();
        self.value_starts.clear();
        self.diagonals.clear();
        self.diagonals.resize(dims.len(), MISSING);
        self.values.clear();
    }

    /// Appends a zero block to the current row and gives it to be filled, row-major.
    ///
    /// The columns of a row come in any order, each at most once; the diagonal is among them.
    ///
    /// # Panics
    /// When all rows are finished or `column` is not a block: errors of the calling program.
    pub fn push_block(&mut self, column: usize) -> &mut [f64] {
        let row = self.row_starts.len() - 1;
        let start = self.values.len();
        let len = self.dim(row) * self.dim(column);
        debug_assert!(!self.columns[self.row_starts[row]..].contains(&column), "block ({row}, {column}) pushed twice");
        if column == row {
            self.diagonals[row] = start;
        }
        self.columns.push(column);
        self.value_starts.push(start);
        self.values.resize(start + len, 0.0);
        &mut self.values[start..]
    }

    /// Ends the current row. A diagonal block that was not pushed is added as zero.
    pub fn finish_row(&mut self) {
        let row = self.row_starts.len() - 1;
        if self.diagonals[row] == MISSING {
            self.push_block(row);
        }
        self.row_starts.push(self.columns.len());
    }

    /// True when every row has been finished.
    #[inline]
    pub(crate) fn is_complete(&self) -> bool {
        self.row_starts.len() == self.offsets.len()
    }

    /// Number of block rows.
    #[inline]
    pub fn n_blocks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of scalar rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// First scalar row of a block; `offset(n_blocks())` is `n_rows()`.
    #[inline]
    pub fn offset(&self, block: usize) -> usize {
        self.offsets[block]
    }

    /// Number of rows of a block.
    #[inline]
    fn dim(&self, block: usize) -> usize {
        self.offsets[block + 1] - self.offsets[block]
    }

    /// The stored entries, block after block.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The diagonal block, row-major.
    #[inline]
    pub fn diagonal(&self, block: usize) -> &[f64] {
        let dim = self.dim(block);
        let start = self.diagonals[block];
        &self.values[start..start + dim * dim]
    }

    /// The diagonal block, to be changed.
    #[inline]
    pub fn diagonal_mut(&mut self, block: usize) -> &mut [f64] {
        let (dim, start) = (self.dim(block), self.diagonals[block]);
        &mut self.values[start..start + dim * dim]
    }

    /// The stored blocks of a block row: (block column, row-major block).
    #[inline]
    pub fn row(&self, block: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let rows = self.dim(block);
        let entries = self.row_starts[block]..self.row_starts[block + 1];
        let columns = &self.columns[entries.clone()];
        let starts = &self.value_starts[entries];
        columns.iter().zip(starts).map(move |(&column, &start)| {
            let len = rows * self.dim(column);
            (column, &self.values[start..start + len])
        })
    }

    /// out = W r.
    pub fn multiply(&self, r: &[f64], out: &mut [f64]) {
        for block in 0..self.n_blocks() {
            let out = &mut out[self.offsets[block]..self.offsets[block + 1]];
            out.fill(0.0);
            for (column, w) in self.row(block) {
                let r = &r[self.offsets[column]..self.offsets[column + 1]];
                add_product(w, r, out);
            }
        }
    }

    /// out += Σ_{j≠i} W_ij r_j for block i.
    #[inline]
    pub fn add_off_diagonal(&self, block: usize, r: &[f64], out: &mut [f64]) {
        for (column, w) in self.row(block) {
            if column != block {
                let r = &r[self.offsets[column]..self.offsets[column + 1]];
                add_product(w, r, out);
            }
        }
    }

    /// Writes the row-major matrix into `out`, reusing its storage.
    pub fn to_dense(&self, out: &mut Vec<f64>) {
        let n = self.n_rows();
        out.clear();
        out.resize(n * n, 0.0);
        for block in 0..self.n_blocks() {
            for (column, w) in self.row(block) {
                let (start, cols) = (self.offsets[column], self.dim(column));
                for (row, values) in (self.offsets[block]..).zip(w.chunks_exact(cols)) {
                    out[row * n + start..row * n + start + cols].copy_from_slice(values);
                }
            }
        }
    }
}

/// y += A x for a small row-major A, unrolled for the sizes of contacts.
#[inline]
fn add_product(a: &[f64], x: &[f64], y: &mut [f64]) {
    match (a, x, &mut *y) {
        (&[a0, a1, a2, a3, a4, a5, a6, a7, a8], &[x0, x1, x2], [y0, y1, y2]) => {
            *y0 += a0 * x0 + a1 * x1 + a2 * x2;
            *y1 += a3 * x0 + a4 * x1 + a5 * x2;
            *y2 += a6 * x0 + a7 * x1 + a8 * x2;
        }
        (&[a0, a1, a2, a3], &[x0, x1], [y0, y1]) => {
            *y0 += a0 * x0 + a1 * x1;
            *y1 += a2 * x0 + a3 * x1;
        }
        (&[a0], &[x0], [y0]) => *y0 += a0 * x0,
        _ => {
            for (row, y) in a.chunks_exact(x.len()).zip(y) {
                *y += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [[2, 0, 0], [1, 3, 4], [0, 5, 6]] in blocks of sizes 1 and 2, diagonal last in row 1.
    fn example() -> BlockSparse {
        let mut w = BlockSparse::new();
        w.reset(&[1, 2]);
        w.push_block(0)[0] = 2.0;
        w.finish_row();
        w.push_block(0).copy_from_slice(&[1.0, 0.0]);
        w.push_block(1).copy_from_slice(&[3.0, 4.0, 5.0, 6.0]);
        w.finish_row();
        w
    }

    #[test]
    fn products_agree_with_the_dense_matrix() {
        let w = example();
        let mut dense = Vec::new();
        w.to_dense(&mut dense);
        assert_eq!(dense, [2.0, 0.0, 0.0, 1.0, 3.0, 4.0, 0.0, 5.0, 6.0]);
        let mut out = [f64::NAN; 3];
        w.multiply(&[1.0, 2.0, 3.0], &mut out);
        assert_eq!(out, [2.0, 19.0, 28.0]);
        let mut out = [0.0; 2];
        w.add_off_diagonal(1, &[1.0, 2.0, 3.0], &mut out);
        assert_eq!(out, [1.0, 0.0]);
        assert_eq!(w.diagonal(1), &[3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn reset_forgets_the_old_matrix() {
        let mut w = example();
        w.reset(&[2]);
        assert!(!w.is_complete());
        w.finish_row();
        assert!(w.is_complete());
        assert_eq!(w.diagonal(0), &[0.0; 4]);
        assert_eq!(w.n_rows(), 2);
    }

    #[test]
    fn products_of_joint_blocks_use_the_general_path() {
        let mut y = [1.0, 1.0];
        add_product(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 1.0, 1.0], &mut y);
        assert_eq!(y, [7.0, 16.0]);
    }
}
