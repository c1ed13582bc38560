//! Block-diagonal square matrices: mass and iteration matrices of many independent systems.
//!
//! A set of N rigid bodies has 2 N blocks of size 3, a Lagrangian system one block of its size. Nothing over all
//! bodies is ever dense.

/// Sizes and places of the diagonal blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockLayout {
    /// First velocity index of each block, and the total at the end.
    pub rows: Vec<usize>,
    /// First value of each block in the contiguous array (row-major), and the total at the end.
    pub values: Vec<usize>,
}

impl BlockLayout {
    /// Layout of blocks of the given sizes, one after the other.
    #[must_use]
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> Self {
        let (mut rows, mut values) = (vec![0], vec![0]);
        for n in sizes {
            rows.push(rows[rows.len() - 1] + n);
            values.push(values[values.len() - 1] + n * n);
        }
        BlockLayout { rows, values }
    }

    /// Number of blocks.
    #[must_use]
    pub fn n_blocks(&self) -> usize {
        self.rows.len() - 1
    }

    /// Size of a block.
    #[must_use]
    pub fn size(&self, block: usize) -> usize {
        self.rows[block + 1] - self.rows[block]
    }

    /// Number of rows in all.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.rows[self.n_blocks()]
    }

    /// Number of values in all.
    #[must_use]
    pub fn n_values(&self) -> usize {
        self.values[self.n_blocks()]
    }

    /// Block that holds a row.
    #[must_use]
    pub(crate) fn block_of_row(&self, row: usize) -> usize {
        self.rows.partition_point(|&first| first <= row) - 1
    }

    /// y = A x.
    pub fn multiply(&self, values: &[f64], x: &[f64], y: &mut [f64]) {
        for b in 0..self.n_blocks() {
            let rows = self.rows[b]..self.rows[b + 1];
            multiply_block(&values[self.values[b]..self.values[b + 1]], &x[rows.clone()], &mut y[rows]);
        }
    }
}

/// y = A x for one row-major block.
#[inline]
pub(crate) fn multiply_block(a: &[f64], x: &[f64], y: &mut [f64]) {
    // the size of almost all blocks
    if let ([a00, a01, a02, a10, a11, a12, a20, a21, a22], [x0, x1, x2], [y0, y1, y2]) = (a, x, &mut *y) {
        *y0 = a00 * x0 + a01 * x1 + a02 * x2;
        *y1 = a10 * x0 + a11 * x1 + a12 * x2;
        *y2 = a20 * x0 + a21 * x1 + a22 * x2;
        return;
    }
    for (row, y) in a.chunks_exact(x.len()).zip(y.iter_mut()) {
        *y = dot(row, x);
    }
}

/// Scalar product.
#[inline]
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    // the size of almost all blocks; the same sum in the same order
    if let ([a0, a1, a2], [b0, b1, b2]) = (a, b) {
        return a0 * b0 + a1 * b1 + a2 * b2;
    }
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Replaces a matrix of 3 × 3 by the positive semidefinite part of its symmetric part, and one of another size, of formula systems, by zero: what is
/// added to a mass matrix then leaves it positive.
pub(crate) fn keep_positive_part(n: usize, values: &mut [f64]) {
    if values.iter().all(|x| *x == 0.0) {
        return;
    }
    if n != 3 {
        return values.fill(0.0);
    }
    let matrix = nalgebra::Matrix3::from_row_slice(values);
    let eigen = ((matrix + matrix.transpose()) * 0.5).symmetric_eigen();
    let kept = nalgebra::Matrix3::from_diagonal(&eigen.eigenvalues.map(|x| x.max(0.0)));
    // symmetric: rows are columns
    values.copy_from_slice((eigen.eigenvectors * kept * eigen.eigenvectors.transpose()).as_slice());
}

/// Blocks up to this size are inverted; larger ones are factorised P A = L U.
const LARGEST_INVERTED: usize = 6;

/// A factorised block-diagonal matrix, ready to solve.
#[derive(Clone, Debug, Default)]
pub struct BlockFactor {
    values: Vec<f64>,
    /// Of blocks other than 1 × 1 and 3 × 3; empty where there are none.
    pivots: Vec<usize>,
    scratch: Vec<f64>,
}

/// A diagonal block without inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingularBlock {
    /// Number of the block.
    pub block: usize,
}

impl BlockFactor {
    /// Factorises `values` block by block. Cost O(Σ n³); allocates only when the layout grows.
    ///
    /// # Errors
    /// [`SingularBlock`] for a pivot that vanishes relative to its block or is not finite.
    pub fn factorise(&mut self, layout: &BlockLayout, values: &[f64]) -> Result<(), SingularBlock> {
        self.load(values);
        self.factorise_loaded(layout)
    }

    /// Takes the values of a matrix, to be changed before [`BlockFactor::factorise_loaded`]: the matrix needs no room of its own.
    pub(crate) fn load(&mut self, values: &[f64]) -> &mut [f64] {
        self.values.clear();
        self.values.extend_from_slice(values);
        &mut self.values
    }

    /// Factorises the matrix that was loaded.
    pub(crate) fn factorise_loaded(&mut self, layout: &BlockLayout) -> Result<(), SingularBlock> {
        for b in 0..layout.n_blocks() {
            let out = &mut self.values[layout.values[b]..layout.values[b + 1]];
            let ok = match layout.size(b) {
                1 => invert_1(out),
                3 => invert_3(out),
                n => {
                    // blocks of rigid bodies have no pivots
                    self.pivots.resize(layout.n_rows(), 0);
                    let pivots = &mut self.pivots[layout.rows[b]..layout.rows[b + 1]];
                    factorise_lu(out, n, pivots) && (n > LARGEST_INVERTED || invert_from_lu(out, n, pivots, &mut self.scratch))
                }
            };
            if !ok {
                return Err(SingularBlock { block: b });
            }
        }
        Ok(())
    }

    /// x ← A⁻¹ b restricted to one block.
    #[inline(always)]
    pub(crate) fn solve_block(&self, layout: &BlockLayout, block: usize, b: &[f64], x: &mut [f64]) {
        let a = &self.values[layout.values[block]..layout.values[block + 1]];
        let n = b.len();
        if n <= LARGEST_INVERTED {
            multiply_block(a, b, x);
        } else {
            solve_lu(a, n, &self.pivots[layout.rows[block]..layout.rows[block + 1]], b, x);
        }
    }

    /// x ← A⁻¹ b over all blocks.
    pub fn solve(&self, layout: &BlockLayout, b: &[f64], x: &mut [f64]) {
        for block in 0..layout.n_blocks() {
            let rows = layout.rows[block]..layout.rows[block + 1];
            self.solve_block(layout, block, &b[rows.clone()], &mut x[rows]);
        }
    }
}

fn invert_1(out: &mut [f64]) -> bool {
    let a = out[0];
    out[0] = 1.0 / a;
    a != 0.0 && out[0].is_finite()
}

fn invert_3(out: &mut [f64]) -> bool {
    let a: [f64; 9] = std::array::from_fn(|k| out[k]);
    if a[1] == 0.0 && a[2] == 0.0 && a[3] == 0.0 && a[5] == 0.0 && a[6] == 0.0 && a[7] == 0.0 {
        out.copy_from_slice(&[1.0 / a[0], 0.0, 0.0, 0.0, 1.0 / a[4], 0.0, 0.0, 0.0, 1.0 / a[8]]);
        return a[0] * a[4] * a[8] != 0.0 && out[0].is_finite() && out[4].is_finite() && out[8].is_finite();
    }
    match nalgebra::Matrix3::from_row_slice(&a).try_inverse() {
        Some(inverse) if inverse.iter().all(|x| x.is_finite()) => {
            out.copy_from_slice(inverse.transpose().as_slice());
            true
        }
        _ => false,
    }
}

/// P A = L U in place with partial pivoting; false when a pivot vanishes.
pub(crate) fn factorise_lu(a: &mut [f64], n: usize, pivots: &mut [usize]) -> bool {
    let scale = a.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
        let pivot = a[p * n + k];
        if !pivot.is_finite() || pivot.abs() <= f64::EPSILON * f64::EPSILON * scale {
            return false;
        }
        pivots[k] = p;
        if p != k {
            for j in 0..n {
                a.swap(k * n + j, p * n + j);
            }
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / pivot;
            a[i * n + k] = factor;
            if factor != 0.0 {
                for j in k + 1..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
            }
        }
    }
    true
}

pub(crate) fn solve_lu(a: &[f64], n: usize, pivots: &[usize], b: &[f64], x: &mut [f64]) {
    x.copy_from_slice(b);
    for (k, &pivot) in pivots.iter().enumerate() {
        x.swap(k, pivot);
    }
    for i in 1..n {
        x[i] -= dot(&a[i * n..i * n + i], &x[..i]);
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - dot(&a[i * n + i + 1..(i + 1) * n], &x[i + 1..n])) / a[i * n + i];
    }
}

/// Replaces the LU factors by the inverse.
fn invert_from_lu(a: &mut [f64], n: usize, pivots: &[usize], scratch: &mut Vec<f64>) -> bool {
    scratch.clear();
    scratch.resize(n * n + 2 * n, 0.0);
    let (inverse, rest) = scratch.split_at_mut(n * n);
    let (unit, column) = rest.split_at_mut(n);
    for j in 0..n {
        unit.fill(0.0);
        unit[j] = 1.0;
        solve_lu(a, n, pivots, unit, column);
        for i in 0..n {
            inverse[i * n + j] = column[i];
        }
    }
    a.copy_from_slice(inverse);
    a.iter().all(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A x = b on blocks of sizes 1, 3 (diagonal and full), 5 (inverted) and 9 (LU): the residual is round-off.
    #[test]
    fn solves_blocks_of_all_kinds() {
        let layout = BlockLayout::new([1, 3, 3, 5, 9]);
        let mut seed = 1.0_f64;
        let mut values: Vec<f64> = (0..layout.n_values())
            .map(|_| {
                seed = (seed * 997.0 + 0.123).fract();
                seed - 0.5
            })
            .collect();
        for i in [2, 3, 4, 6, 7, 8] {
            values[i] = 0.0; // the first 3-block (values 1..10) is diagonal
        }
        values[5] = 2.0;
        let b: Vec<f64> = (0..layout.n_rows()).map(|i| i as f64 - 3.0).collect();
        let mut factor = BlockFactor::default();
        factor.factorise(&layout, &values).unwrap();
        let (mut x, mut back) = (vec![0.0; b.len()], vec![0.0; b.len()]);
        factor.solve(&layout, &b, &mut x);
        layout.multiply(&values, &x, &mut back);
        let largest = x.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
        for (left, right) in back.iter().zip(&b) {
            // condition numbers of these random blocks are below 1e3
            assert!((left - right).abs() < 1e-12 * largest, "{left} {right}");
        }
    }

    #[test]
    fn reports_the_singular_block() {
        let layout = BlockLayout::new([1, 2]);
        let error = BlockFactor::default().factorise(&layout, &[1.0, 1.0, 2.0, 2.0, 4.0]).unwrap_err();
        assert_eq!(error, SingularBlock { block: 1 });
    }

    #[test]
    fn finds_the_block_of_a_row() {
        let layout = BlockLayout::new([1, 3, 2]);
        let blocks: Vec<usize> = (0..6).map(|row| layout.block_of_row(row)).collect();
        assert_eq!(blocks, [0, 1, 1, 1, 2, 2]);
    }
}
