//! Which constraint rows are independent.
//!
//! ```text
//! S W S,   W = G M⁻¹ Gᵀ,   S = diag(W)^{−1/2}
//! ```
//!
//! is eliminated symmetrically; the pivot of a row is then sin² of the angle, in the mass metric, between the row and the span of the rows taken
//! before it. A row whose pivot is below [`SMALLEST_SHARE`] is redundant. Few rows are taken by the largest pivot (Cholesky factorisation with
//! diagonal pivoting: Higham, *Accuracy and Stability of Numerical Algorithms*, section 10.3); many in the order that keeps the factors
//! sparse, by rows along the elimination tree (Davis, *Algorithm 849: a concise sparse Cholesky factorization package*, 2005). Differs from
//! there in that redundant rows are left out while it goes on, so that the factor is that of the kept rows.
//!
//! Cost: n³/3 flops when dense, about ten factorisations of the motion's own W when sparse. Made at the beginning and when rows have become dependent.

use super::row_layout::RowLayout;
use super::sharing::Sharing;
use crate::block_diagonal::{BlockFactor, BlockLayout};
use carom_solvers::linear::BlockPattern;

/// Largest pivot of a redundant row: an angle of 1e-5 rad to the others. Positions given to six digits leave redundant rows closer than
/// that, and honest rows are further away except within 1e-5 rad of a singular position.
pub const SMALLEST_SHARE: f64 = 1e-10;

/// Up to this many rows the largest pivot is taken; the dense matrix then has at most 40 000 entries.
const LARGEST_DENSE: usize = 200;

/// The rows that were found redundant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowSelection {
    /// Redundant rows: (name of the constraint, row within it).
    pub redundant: Vec<(String, usize)>,
    /// The rows in use are others than before.
    pub changed: bool,
}

impl RowSelection {
    /// Number of redundant rows.
    #[must_use]
    pub fn n_redundant(&self) -> usize {
        self.redundant.len()
    }
}

/// For each row whether it is independent of those taken before it; the first `preferred` rows are taken before the others. `mass` must be
/// factorised.
pub(super) fn independent_rows(layout: &BlockLayout, rows: &RowLayout, mass: &BlockFactor, g: &[f64], preferred: usize) -> Vec<bool> {
    let mut w = ScaledComplement::new(layout, rows, mass, g);
    if rows.n_rows() <= LARGEST_DENSE {
        return w.largest_pivots(preferred);
    }
    // a stable sort: nothing moves where all rows are preferred
    w.order.sort_by_key(|&row| row >= preferred);
    w.along_the_tree()
}

/// The entries of S W S by rows.
struct ScaledComplement {
    n: usize,
    /// First entry of each row.
    starts: Vec<usize>,
    entries: Vec<(usize, f64)>,
    /// Rows in an order that keeps factors sparse.
    order: Vec<usize>,
}

impl ScaledComplement {
    fn new(layout: &BlockLayout, rows: &RowLayout, mass: &BlockFactor, g: &[f64]) -> Self {
        let (mut sharing, mut pattern, mut response) = (Sharing::default(), BlockPattern::default(), vec![0.0; g.len()]);
        sharing.update(layout, rows);
        let items = rows.items();
        pattern.compute(items.len(), |item| sharing.others(item));
        for item in items {
            for first in (0..item.rows.len()).map(|k| item.first + k * item.width) {
                for &(block, column) in rows.touched(item) {
                    let span = first + column as usize..first + column as usize + layout.size(block as usize);
                    mass.solve_block(layout, block as usize, &g[span.clone()], &mut response[span]);
                }
            }
        }
        let mut w = ScaledComplement { n: rows.n_rows(), starts: vec![0], entries: Vec::new(), order: Vec::new() };
        let (mut block, mut diagonal) = (Vec::new(), vec![0.0; w.n]);
        for (i, item) in items.iter().enumerate() {
            for a in 0..item.rows.len() {
                for pair in sharing.pairs(i) {
                    let other = &items[sharing.other(pair)];
                    let n = other.rows.len();
                    block.resize(item.rows.len() * n, 0.0);
                    sharing.write_pair(pair, (item, g), (other, &response), &mut block, n);
                    w.entries.extend(other.rows.clone().zip(block[a * n..(a + 1) * n].iter().copied()));
                    if other.rows.start == item.rows.start {
                        diagonal[item.rows.start + a] = block[a * n + a];
                    }
                }
                w.starts.push(w.entries.len());
            }
        }
        // a row of zeros keeps its zero pivot and is redundant
        let scale: Vec<f64> = diagonal.iter().map(|&d| if d > 0.0 && d.is_finite() { 1.0 / d.sqrt() } else { 0.0 }).collect();
        for i in 0..w.n {
            for (j, x) in &mut w.entries[w.starts[i]..w.starts[i + 1]] {
                *x *= scale[i] * scale[*j];
            }
        }
        w.order.extend(pattern.order.iter().flat_map(|&item| items[item].rows.clone()));
        w
    }

    fn row(&self, i: usize) -> &[(usize, f64)] {
        &self.entries[self.starts[i]..self.starts[i + 1]]
    }

    /// Dense Cholesky factorisation that takes the row with the largest pivot next, among the first `preferred` ones as long as there are any.
    fn largest_pivots(&self, preferred: usize) -> Vec<bool> {
        let (n, mut end) = (self.n, preferred);
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            self.row(i).iter().for_each(|&(j, x)| a[i * n + j] = x);
        }
        let mut kept = vec![false; n];
        let mut column = vec![0.0; n];
        loop {
            let best =
                (0..end).filter(|&i| !kept[i]).fold((0, 0.0), |best, i| if a[i * n + i] > best.1 { (i, a[i * n + i]) } else { best });
            let (k, pivot) = best;
            if pivot <= SMALLEST_SHARE {
                if end == n {
                    return kept;
                }
                end = n;
                continue;
            }
            kept[k] = true;
            column.copy_from_slice(&a[k * n..(k + 1) * n]);
            for i in (0..n).filter(|&i| !kept[i] && column[i] != 0.0) {
                let factor = column[i] / pivot;
                for (x, y) in a[i * n..(i + 1) * n].iter_mut().zip(&column) {
                    *x -= factor * y;
                }
            }
        }
    }

    /// Sparse L D Lᵀ by rows: row k of L is found by a triangular solve along the paths of the elimination tree.
    fn along_the_tree(&self) -> Vec<bool> {
        const NONE: usize = usize::MAX;
        let n = self.n;
        let mut place = vec![0; n];
        self.order.iter().enumerate().for_each(|(k, &row)| place[row] = k);
        let (mut parent, mut seen, mut kept) = (vec![NONE; n], vec![NONE; n], vec![false; n]);
        let (mut pivots, mut x, mut columns) = (vec![0.0; n], vec![0.0; n], vec![Vec::<(usize, f64)>::new(); n]);
        let (mut path, mut reach) = (Vec::<usize>::new(), Vec::<usize>::new());
        for k in 0..n {
            (seen[k], pivots[k]) = (k, 0.0);
            reach.clear();
            for &(row, value) in self.row(self.order[k]) {
                let i = place[row];
                if i == k {
                    pivots[k] += value;
                }
                if i >= k {
                    continue;
                }
                x[i] += value;
                let mut node = i;
                path.clear();
                while seen[node] != k {
                    if parent[node] == NONE {
                        parent[node] = k;
                    }
                    seen[node] = k;
                    path.push(node);
                    node = parent[node];
                }
                // what reaches further along the tree is eliminated later: `reach` is read from its end
                reach.extend(path.iter().rev());
            }
            let mut row_of_l = Vec::with_capacity(reach.len());
            for &i in reach.iter().rev() {
                let value = std::mem::take(&mut x[i]);
                if !kept[i] || value == 0.0 {
                    continue;
                }
                for &(j, l) in &columns[i] {
                    x[j] -= l * value;
                }
                pivots[k] -= value * value / pivots[i];
                row_of_l.push((i, value / pivots[i]));
            }
            kept[k] = pivots[k] > SMALLEST_SHARE;
            if kept[k] {
                row_of_l.iter().for_each(|&(i, l)| columns[i].push((k, l)));
            }
        }
        let mut by_row = vec![false; n];
        self.order.iter().zip(&kept).for_each(|(&row, &kept)| by_row[row] = kept);
        by_row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of n random rows over neighbouring columns with a copy of every fifth row: both ways keep the rank, and the rows kept
    /// are independent.
    #[test]
    fn both_ways_keep_the_rank() {
        let (n_columns, mut seed) = (120, 0.3_f64);
        let mut random = || {
            seed = (seed * 997.0 + 0.123).fract();
            seed - 0.5
        };
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for k in 0..80 {
            let mut row = vec![0.0; n_columns];
            (k..k + 4).for_each(|j| row[j] = random());
            rows.push(row);
        }
        for k in (0..80).step_by(5).rev() {
            let sum: Vec<f64> = rows[k].iter().zip(&rows[k + 1]).map(|(a, b)| 3.0 * a - 0.5 * b).collect();
            rows.insert(k, sum);
        }
        let n = rows.len();
        let product = |i: usize, j: usize| rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum::<f64>();
        let mut w = ScaledComplement { n, starts: vec![0], entries: Vec::new(), order: (0..n).rev().collect() };
        for i in 0..n {
            let scaled = |j: usize| product(i, j) / (product(i, i) * product(j, j)).sqrt();
            w.entries.extend((0..n).map(|j| (j, scaled(j))).filter(|(_, x)| *x != 0.0));
            w.starts.push(w.entries.len());
        }
        for kept in [w.largest_pivots(n), w.largest_pivots(30), w.along_the_tree()] {
            assert_eq!(kept.iter().filter(|&&k| k).count(), 80);
            let matrix = nalgebra::DMatrix::from_fn(n, n_columns, |i, j| if kept[i] { rows[i][j] } else { 0.0 });
            assert_eq!(matrix.rank(1e-8), 80); // the smallest singular value of the independent rows is above 1e-3
        }
    }
}
