//! Which fronts the elimination of a matrix with symmetric block pattern needs.

use super::minimum_degree::BlockPattern;

/// A set of consecutive blocks eliminated together in one dense front.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// First and one after the last of the blocks it eliminates.
    pub begin: usize,
    pub end: usize,
    /// The blocks it touches after them, in `EliminationTree::rows`.
    rows_begin: usize,
    rows_end: usize,
    /// Scalar size of the eliminated part and of the whole front.
    pub pivots: usize,
    pub size: usize,
}

/// The elimination tree of the blocks that take part, its fronts in the order in which they are eliminated.
/// [Liu, *The multifrontal method for sparse matrix solution*, SIAM Review 34, 1992]
///
/// Blocks are numbered 0, 1, … along a postorder of the tree, so that each front finds the contributions of its children
/// on the top of a stack.
#[derive(Clone, Debug, Default)]
pub(super) struct EliminationTree {
    /// Number of a block of the pattern; `OUTSIDE` where it takes no part.
    pub number: Vec<usize>,
    /// Block of the pattern of each number, and its size.
    pub blocks: Vec<usize>,
    dims: Vec<usize>,
    /// First scalar row of each number, and the number of rows.
    pub offsets: Vec<usize>,
    pub nodes: Vec<Node>,
    /// Number of children of each node.
    pub children: Vec<usize>,
    parent: Vec<usize>,
    work: Vec<usize>,
    lists: Vec<usize>,
    starts: Vec<usize>,
    /// Children of each block as linked lists: the first one, and the next after each.
    first: Vec<usize>,
    next: Vec<usize>,
    order: Vec<usize>,
    path: Vec<usize>,
    old: Vec<usize>,
}

/// A block that takes no part.
pub(super) const OUTSIDE: usize = usize::MAX;

/// Zeros, in scalars per pivot row, that may be added to a front in order to make it larger.
const PADDING: usize = 12;

impl EliminationTree {
    /// The tree for the blocks with `dims[block] > 0`.
    pub fn compute(&mut self, pattern: &BlockPattern, dims: &[usize]) {
        self.number_along(pattern.order.iter().copied().filter(|&block| dims[block] > 0), dims.len());
        self.find_parents(pattern);
        self.renumber_in_postorder(dims.len());
        self.dims.clear();
        self.offsets.clear();
        let mut offset = 0;
        for &block in &self.blocks {
            self.dims.push(dims[block]);
            self.offsets.push(offset);
            offset += dims[block];
        }
        self.offsets.push(offset);
        self.find_structures(pattern);
        self.gather_nodes();
    }

    /// Number of scalar rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// The blocks a front touches after those it eliminates, by increasing number.
    #[inline]
    pub fn rows(&self, node: &Node) -> &[usize] {
        &self.lists[node.rows_begin..node.rows_end]
    }

    #[inline]
    pub fn dim(&self, number: usize) -> usize {
        self.dims[number]
    }

    /// Flops of the factorisation.
    pub fn flops(&self) -> f64 {
        let of = |node: &Node| {
            let (m, k) = (node.size as f64, node.pivots as f64);
            // Σ 2 (m − p)² over the pivots p.
            2.0 * (k * m * m - k * k * m + k * k * k / 3.0)
        };
        self.nodes.iter().map(of).sum()
    }

    /// Entries of the factors.
    pub fn entries(&self) -> usize {
        self.nodes.iter().map(|node| node.pivots * (2 * node.size - node.pivots)).sum()
    }

    fn number_along(&mut self, order: impl Iterator<Item = usize>, n_blocks: usize) {
        self.number.clear();
        self.number.resize(n_blocks, OUTSIDE);
        self.blocks.clear();
        for block in order {
            self.number[block] = self.blocks.len();
            self.blocks.push(block);
        }
    }

    /// Liu's algorithm with path compression; `n` marks a root.
    fn find_parents(&mut self, pattern: &BlockPattern) {
        let n = self.blocks.len();
        self.parent.clear();
        self.parent.resize(n, n);
        let ancestor = &mut self.work;
        ancestor.clear();
        ancestor.resize(n, n);
        for i in 0..n {
            for &neighbour in pattern.neighbours(self.blocks[i]) {
                let mut j = self.number[neighbour];
                while j < i {
                    let next = ancestor[j];
                    ancestor[j] = i;
                    if next == n {
                        self.parent[j] = i;
                    }
                    j = next;
                }
            }
        }
    }

    fn renumber_in_postorder(&mut self, n_blocks: usize) {
        let n = self.blocks.len();
        self.clear_children();
        for i in (0..n).rev() {
            self.next[i] = self.first[self.parent[i]];
            self.first[self.parent[i]] = i;
        }
        self.order.clear();
        self.path.clear();
        let mut at = self.first[n];
        loop {
            while at != n {
                self.path.push(at);
                at = self.first[at];
            }
            let Some(done) = self.path.pop() else { break };
            self.order.push(done);
            at = self.next[done];
        }
        // `work` becomes the new number of each old one; the root n stays.
        let renumbered = &mut self.work;
        renumbered.clear();
        renumbered.resize(n + 1, n);
        for (new, &old) in self.order.iter().enumerate() {
            renumbered[old] = new;
        }
        self.old.clone_from(&self.parent);
        for (parent, &old) in self.parent.iter_mut().zip(&self.order) {
            *parent = renumbered[self.old[old]];
        }
        self.old.clone_from(&self.blocks);
        for (block, &old) in self.blocks.iter_mut().zip(&self.order) {
            *block = self.old[old];
        }
        self.number.clear();
        self.number.resize(n_blocks, OUTSIDE);
        for (number, &block) in self.blocks.iter().enumerate() {
            self.number[block] = number;
        }
    }

    fn clear_children(&mut self) {
        let n = self.blocks.len();
        for (list, len) in [(&mut self.first, n + 1), (&mut self.next, n)] {
            list.clear();
            list.resize(len, n);
        }
    }

    /// For each block the later blocks its front touches: its own neighbours and what its children leave.
    fn find_structures(&mut self, pattern: &BlockPattern) {
        let n = self.blocks.len();
        self.clear_children();
        let (child, sibling) = (&mut self.first, &mut self.next);
        let seen = &mut self.work;
        seen.clear();
        seen.resize(n, n);
        self.starts.clear();
        self.starts.push(0);
        self.lists.clear();
        for j in 0..n {
            let begin = self.lists.len();
            for &neighbour in pattern.neighbours(self.blocks[j]) {
                let i = self.number[neighbour];
                if i != OUTSIDE && i > j && seen[i] != j {
                    seen[i] = j;
                    self.lists.push(i);
                }
            }
            let mut c = child[j];
            while c != n {
                for k in self.starts[c]..self.starts[c + 1] {
                    let i = self.lists[k];
                    if i > j && seen[i] != j {
                        seen[i] = j;
                        self.lists.push(i);
                    }
                }
                c = sibling[c];
            }
            self.lists[begin..].sort_unstable();
            self.starts.push(self.lists.len());
            sibling[j] = child[self.parent[j]];
            child[self.parent[j]] = j;
        }
    }

    /// Joins a block to the next one when that is its parent and the fronts nearly agree.
    fn gather_nodes(&mut self) {
        let n = self.blocks.len();
        self.nodes.clear();
        let scalar =
            |tree: &Self, j: usize| -> usize { tree.lists[tree.starts[j]..tree.starts[j + 1]].iter().map(|&i| tree.dims[i]).sum() };
        let mut begin = 0;
        let mut below = if n > 0 { scalar(self, 0) } else { 0 };
        let mut padded = 0;
        for j in 0..n {
            let next_below = if j + 1 < n { scalar(self, j + 1) } else { 0 };
            if j + 1 < n && self.parent[j] == j + 1 {
                let pivots = self.offsets[j + 1] - self.offsets[begin];
                padded += (next_below + self.dims[j + 1] - below) * pivots;
                if padded <= PADDING * (pivots + self.dims[j + 1]) {
                    below = next_below;
                    continue;
                }
            }
            let pivots = self.offsets[j + 1] - self.offsets[begin];
            self.nodes.push(Node {
                begin,
                end: j + 1,
                rows_begin: self.starts[j],
                rows_end: self.starts[j + 1],
                pivots,
                size: pivots + below,
            });
            (begin, below, padded) = (j + 1, next_below, 0);
        }
        self.count_children();
    }

    fn count_children(&mut self) {
        let node_of = &mut self.work;
        node_of.clear();
        for (index, node) in self.nodes.iter().enumerate() {
            node_of.resize(node.end, index);
        }
        self.children.clear();
        self.children.resize(self.nodes.len(), 0);
        for node in &self.nodes {
            if let Some(&parent) = self.lists[node.rows_begin..node.rows_end].first() {
                self.children[node_of[parent]] += 1;
            }
        }
    }
}
