//! LU factorisation of a matrix in blocks with symmetric pattern, by dense fronts.

use super::dense_front::{factor_front, factor_semidefinite_front};
use super::elimination_tree::{EliminationTree, Node, OUTSIDE};
use super::minimum_degree::BlockPattern;

/// P A = L U of a matrix whose values are not symmetric but whose pattern of blocks is, such as the matrices of Newton steps on contact problems.
/// [Duff & Reid, *The multifrontal solution of unsymmetric sets of linear equations*, SIAM J. Sci. Stat. Comput. 5, 1984]; differs in: pivots are
/// sought among the rows that a front eliminates and never delayed.
///
/// Half the work of an LU that pivots freely, and the order is found once for all subsets of the blocks. Cost: the flops of
/// [`Self::flops`] once, four per entry of the factors for a solve; storage is reused.
#[derive(Clone, Debug, Default)]
pub struct FrontalLu {
    /// The vector instructions of this machine. Products and sums are not fused, so that they do not change the result.
    arch: pulp::Arch,
    tree: EliminationTree,
    dims: Vec<usize>,
    /// First entry of each row of blocks, by number; (column, position in `values`) of each entry.
    entry_starts: Vec<usize>,
    entries: Vec<(usize, usize)>,
    /// The same by columns: (row, position in `values`).
    column_starts: Vec<usize>,
    column_entries: Vec<(usize, usize)>,
    values: Vec<f64>,
    /// Per front: the eliminated rows (pivots × size), then the columns below them (rest × pivots).
    factors: Vec<f64>,
    factor_starts: Vec<usize>,
    /// Row exchanges, by scalar row.
    exchanges: Vec<usize>,
    front: Vec<f64>,
    /// Contributions that wait for their parents, and where each begins.
    stack: Vec<f64>,
    waiting: Vec<(usize, usize)>,
    local: Vec<usize>,
    work: Vec<f64>,
    /// Least pivots, by scalar row; empty where pivots are sought.
    floors: Vec<f64>,
}

impl FrontalLu {
    /// Prepares for a matrix with the blocks of `dims[block] > 0` rows of the pattern, all entries zero.
    pub fn reset(&mut self, pattern: &BlockPattern, dims: &[usize]) {
        if self.dims != dims || self.tree.blocks.is_empty() {
            self.dims.clear();
            self.dims.extend_from_slice(dims);
            self.tree.compute(pattern, dims);
            self.list_entries(pattern);
        }
        self.values.fill(0.0);
    }

    /// Forgets the pattern.
    pub fn clear(&mut self) {
        self.dims.clear();
        self.tree.blocks.clear();
    }

    fn list_entries(&mut self, pattern: &BlockPattern) {
        let tree = &self.tree;
        let n = tree.blocks.len();
        self.entry_starts.clear();
        self.entry_starts.push(0);
        self.entries.clear();
        self.column_starts.clear();
        self.column_starts.resize(n + 1, 0);
        let mut position = 0;
        for i in 0..n {
            for &neighbour in pattern.neighbours(tree.blocks[i]) {
                let j = tree.number[neighbour];
                if j != OUTSIDE {
                    self.entries.push((j, position));
                    self.column_starts[j + 1] += 1;
                    position += tree.dim(i) * tree.dim(j);
                }
            }
            self.entry_starts.push(self.entries.len());
        }
        self.values.clear();
        self.values.resize(position, 0.0);
        for j in 0..n {
            self.column_starts[j + 1] += self.column_starts[j];
        }
        self.column_entries.clear();
        self.column_entries.resize(self.entries.len(), (0, 0));
        let next = &mut self.local;
        next.clear();
        next.extend_from_slice(&self.column_starts[..n]);
        for i in 0..n {
            for &(j, position) in &self.entries[self.entry_starts[i]..self.entry_starts[i + 1]] {
                self.column_entries[next[j]] = (i, position);
                next[j] += 1;
            }
        }
    }

    /// Number of scalar rows.
    pub fn n_rows(&self) -> usize {
        self.tree.n_rows()
    }

    /// Flops of a factorisation.
    pub fn flops(&self) -> f64 {
        self.tree.flops()
    }

    /// Entries of the factors.
    pub fn storage(&self) -> usize {
        self.tree.entries()
    }

    /// First scalar row of a block, in the right-hand side and the solution.
    #[inline]
    pub fn offset(&self, block: usize) -> usize {
        self.tree.offsets[self.tree.number[block]]
    }

    /// Calls `fill(neighbour, entries)` for the row-major entries of each block in the row of `block`, in the order of the pattern.
    #[inline]
    pub fn fill_row(&mut self, block: usize, mut fill: impl FnMut(usize, &mut [f64])) {
        let i = self.tree.number[block];
        for &(j, position) in &self.entries[self.entry_starts[i]..self.entry_starts[i + 1]] {
            let len = self.tree.dim(i) * self.tree.dim(j);
            fill(self.tree.blocks[j], &mut self.values[position..position + len]);
        }
    }

    /// Factors the matrix filled in since `reset`. A pivot that vanishes is replaced by machine precision.
    pub fn factor(&mut self) {
        self.floors.clear();
        self.factor_fronts();
    }

    /// Factors a matrix whose symmetric part is positive semidefinite, without exchanges. A row whose pivot is not above `tolerance` times its
    /// diagonal entry depends on the rows before it: it is left out, its unknown is zero in every solution. Returns the number of such rows.
    pub(crate) fn factor_semidefinite(&mut self, tolerance: f64) -> usize {
        let tree = &self.tree;
        self.floors.clear();
        self.floors.resize(tree.n_rows(), 0.0);
        for number in 0..tree.blocks.len() {
            let (dim, row) = (tree.dim(number), self.entry_starts[number]..self.entry_starts[number + 1]);
            if let Some(&(_, position)) = self.entries[row].iter().find(|(column, _)| *column == number) {
                let diagonal = self.values[position..position + dim * dim].iter().step_by(dim + 1);
                let floors = &mut self.floors[tree.offsets[number]..];
                floors.iter_mut().zip(diagonal).for_each(|(floor, x)| *floor = tolerance * x.max(0.0));
            }
        }
        self.factor_fronts()
    }

    fn factor_fronts(&mut self) -> usize {
        let mut redundant = 0;
        self.factors.clear();
        self.factor_starts.clear();
        self.exchanges.clear();
        let n = self.n_rows();
        self.exchanges.extend(self.tree.nodes.iter().flat_map(|node| 0..node.pivots));
        debug_assert_eq!(self.exchanges.len(), n);
        self.stack.clear();
        self.waiting.clear();
        self.local.clear();
        self.local.resize(self.tree.blocks.len(), 0);
        for index in 0..self.tree.nodes.len() {
            let node = self.tree.nodes[index];
            self.assemble(index, &node);
            let (m, k) = (node.size, node.pivots);
            let first_row = self.tree.offsets[node.begin];
            let front = &mut self.front;
            if self.floors.is_empty() {
                let exchanges = &mut self.exchanges[first_row..first_row + k];
                self.arch.dispatch(|| factor_front(front, m, k, exchanges));
            } else {
                let floors = &self.floors[first_row..first_row + k];
                redundant += self.arch.dispatch(|| factor_semidefinite_front(front, m, k, floors));
            }
            self.factor_starts.push(self.factors.len());
            self.factors.extend_from_slice(&self.front[..k * m]);
            for row in self.front[k * m..].chunks_exact(m) {
                self.factors.extend_from_slice(&row[..k]);
            }
            if m > k {
                self.waiting.push((index, self.stack.len()));
                for row in self.front[k * m..].chunks_exact(m) {
                    self.stack.extend_from_slice(&row[k..]);
                }
            }
        }
        redundant
    }

    /// The pivots of the last factorisation: (block, row within the block, pivot), by columns of the matrix in the order of elimination.
    pub fn pivots(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.tree.nodes.iter().zip(&self.factor_starts).flat_map(move |(node, &start)| {
            let first = self.tree.offsets[node.begin];
            (node.begin..node.end).flat_map(move |number| {
                (0..self.tree.dim(number)).map(move |k| {
                    let p = self.tree.offsets[number] + k - first;
                    (self.tree.blocks[number], k, self.factors[start + p * (node.size + 1)])
                })
            })
        })
    }

    /// The front of a node: its entries of the matrix and the contributions of its children.
    fn assemble(&mut self, index: usize, node: &Node) {
        let tree = &self.tree;
        let m = node.size;
        self.front.clear();
        self.front.resize(m * m, 0.0);
        let mut at = 0;
        for number in (node.begin..node.end).chain(tree.rows(node).iter().copied()) {
            self.local[number] = at;
            at += tree.dim(number);
        }
        for i in node.begin..node.end {
            for &(j, position) in &self.entries[self.entry_starts[i]..self.entry_starts[i + 1]] {
                if j >= node.begin {
                    let (row, column) = (self.local[i], self.local[j]);
                    add_block(&mut self.front, m, row, column, &self.values[position..], tree.dim(i), tree.dim(j));
                }
            }
            for &(j, position) in &self.column_entries[self.column_starts[i]..self.column_starts[i + 1]] {
                if j >= node.end {
                    let (row, column) = (self.local[j], self.local[i]);
                    add_block(&mut self.front, m, row, column, &self.values[position..], tree.dim(j), tree.dim(i));
                }
            }
        }
        for _ in 0..tree.children[index] {
            let Some((child, start)) = self.waiting.pop() else { return };
            let child = &tree.nodes[child];
            let size = child.size - child.pivots;
            let mut row_at = 0;
            for &i in tree.rows(child) {
                for a in 0..tree.dim(i) {
                    let source = &self.stack[start + (row_at + a) * size..][..size];
                    let target = &mut self.front[(self.local[i] + a) * m..][..m];
                    let mut column_at = 0;
                    for &j in tree.rows(child) {
                        let (dim, local) = (tree.dim(j), self.local[j]);
                        for (target, source) in target[local..local + dim].iter_mut().zip(&source[column_at..]) {
                            *target += source;
                        }
                        column_at += dim;
                    }
                }
                row_at += tree.dim(i);
            }
            self.stack.truncate(start);
        }
    }

    /// Replaces b, ordered by [`Self::offset`], by the solution of A x = b.
    pub fn solve(&mut self, b: &mut [f64]) {
        for (index, node) in self.tree.nodes.iter().enumerate() {
            let (m, k) = (node.size, node.pivots);
            let (top, below) = self.factors[self.factor_starts[index]..][..k * (2 * m - k)].split_at(k * m);
            let first = self.tree.offsets[node.begin];
            for p in 0..k {
                b.swap(first + p, first + self.exchanges[first + p]);
            }
            for p in 1..k {
                let sum: f64 = top[p * m..p * m + p].iter().zip(&b[first..first + p]).map(|(l, b)| l * b).sum();
                b[first + p] -= sum;
            }
            let (done, rest) = b.split_at_mut(first + k);
            let mut rows = below.chunks_exact(k);
            for &i in self.tree.rows(node) {
                let at = self.tree.offsets[i] - first - k;
                for target in &mut rest[at..at + self.tree.dim(i)] {
                    let Some(row) = rows.next() else { return };
                    *target -= row.iter().zip(&done[first..]).map(|(l, b)| l * b).sum::<f64>();
                }
            }
        }
        for (index, node) in self.tree.nodes.iter().enumerate().rev() {
            let (m, k) = (node.size, node.pivots);
            let top = &self.factors[self.factor_starts[index]..][..k * m];
            let first = self.tree.offsets[node.begin];
            self.work.clear();
            for &i in self.tree.rows(node) {
                self.work.extend_from_slice(&b[self.tree.offsets[i]..self.tree.offsets[i + 1]]);
            }
            for p in (0..k).rev() {
                let row = &top[p * m..(p + 1) * m];
                let inside: f64 = row[p + 1..k].iter().zip(&b[first + p + 1..first + k]).map(|(u, x)| u * x).sum();
                let outside: f64 = row[k..].iter().zip(&self.work).map(|(u, x)| u * x).sum();
                b[first + p] = (b[first + p] - inside - outside) / row[p];
            }
        }
    }
}

/// front\[row.., column..\] += block, row-major.
#[inline]
fn add_block(front: &mut [f64], m: usize, row: usize, column: usize, block: &[f64], rows: usize, columns: usize) {
    for (a, source) in block.chunks_exact(columns).take(rows).enumerate() {
        let at = (row + a) * m + column;
        for (target, source) in front[at..at + columns].iter_mut().zip(source) {
            *target += source;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_sparse::BlockSparse;

    /// A matrix of blocks of sizes 1 to 3 on a ring with chords, diagonally heavy, not symmetric.
    fn example(n: usize) -> BlockSparse {
        let dims: Vec<usize> = (0..n).map(|k| 1 + k % 3).collect();
        let mut w = BlockSparse::new();
        w.reset(&dims);
        for (i, &dim) in dims.iter().enumerate() {
            let mut columns = vec![i, (i + 1) % n, (i + n - 1) % n, (i + 5) % n, (i + n - 5) % n];
            columns.sort_unstable();
            columns.dedup();
            for j in columns {
                let diagonal = i == j;
                for (k, x) in w.push_block(j).iter_mut().enumerate() {
                    *x = ((7 * i + 3 * j + 5 * k) % 11) as f64 / 11.0 - 0.4;
                    if diagonal && k % (dim + 1) == 0 {
                        *x += 4.0;
                    }
                }
            }
            w.finish_row();
        }
        w
    }

    fn check(w: &BlockSparse, dims: &[usize]) {
        let mut pattern = BlockPattern::default();
        pattern.compute(w.n_blocks(), |block| w.row(block).map(|(column, _)| column));
        let mut lu = FrontalLu::default();
        lu.reset(&pattern, dims);
        let inside: Vec<usize> = (0..dims.len()).filter(|&b| dims[b] > 0).collect();
        for &block in &inside {
            let mut row = w.row(block);
            lu.fill_row(block, |column, target| {
                let (_, values) = row.find(|(j, _)| *j == column).expect("an entry of the matrix");
                target.copy_from_slice(values);
            });
        }
        lu.factor();
        // b = A x for x = 1, 2, 3, … on the blocks inside.
        let (mut x, mut y) = (vec![0.0; w.n_rows()], vec![0.0; w.n_rows()]);
        for &block in &inside {
            (w.offset(block)..w.offset(block + 1)).for_each(|k| x[k] = k as f64 + 1.0);
        }
        w.multiply(&x, &mut y);
        let mut b = vec![0.0; lu.n_rows()];
        for &block in &inside {
            let at = lu.offset(block);
            b[at..at + dims[block]].copy_from_slice(&y[w.offset(block)..w.offset(block + 1)]);
        }
        lu.solve(&mut b);
        for &block in &inside {
            for (k, b) in (w.offset(block)..).zip(&b[lu.offset(block)..][..dims[block]]) {
                assert!((b - x[k]).abs() < 1e-11, "{b} {}", x[k]); // condition number below 100, x up to 100
            }
        }
    }

    #[test]
    fn a_sparse_matrix_is_solved_whole_and_in_parts() {
        let w = example(37);
        let dims: Vec<usize> = (0..37).map(|k| 1 + k % 3).collect();
        check(&w, &dims);
        let part: Vec<usize> = dims.iter().enumerate().map(|(k, &d)| if k % 4 == 1 { 0 } else { d }).collect();
        check(&w, &part);
        check(&w, &[0; 37]);
    }

    #[test]
    fn pivots_are_exchanged_inside_a_front() {
        let mut w = BlockSparse::new();
        w.reset(&[2, 1]);
        w.push_block(0).copy_from_slice(&[0.0, 1.0, 2.0, 0.0]);
        w.push_block(1).copy_from_slice(&[1.0, 0.0]);
        w.finish_row();
        w.push_block(0).copy_from_slice(&[1.0, 1.0]);
        w.push_block(1)[0] = 5.0;
        w.finish_row();
        check(&w, &[2, 1]);
    }
}
