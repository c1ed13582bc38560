//! An order of elimination that keeps the factors of a matrix sparse.

use super::WorkMemory;
use faer::dyn_stack::MemStack;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

/// The pattern of the blocks of a matrix, made symmetric, and its approximate minimum degree order.
/// [Amestoy, Davis & Duff, *An approximate minimum degree ordering algorithm*, SIAM J. Matrix Anal. Appl. 17, 1996]
#[derive(Debug, Default)]
pub struct BlockPattern {
    /// First neighbour of each block, and their number.
    starts: Vec<usize>,
    /// The blocks in the row of a block as the matrix stores them, then those that only its column has.
    neighbours: Vec<usize>,
    /// Blocks in the order of elimination.
    pub order: Vec<usize>,
    inverse: Vec<usize>,
    upper_starts: Vec<usize>,
    upper: Vec<usize>,
    columns: Columns,
    seen: Vec<usize>,
    work: WorkMemory,
}

impl BlockPattern {
    /// Reads the pattern of a matrix of n × n blocks and finds the order; storage is reused. `row(block)` gives the columns of the stored blocks of
    /// a row, each once.
    pub fn compute<I: Iterator<Item = usize>>(&mut self, n: usize, row: impl Fn(usize) -> I) {
        self.read(n, &row);
        self.upper_starts.clear();
        self.upper_starts.push(0);
        self.upper.clear();
        for block in 0..n {
            let begin = self.upper.len();
            self.upper.extend(self.neighbours[self.starts[block]..self.starts[block + 1]].iter().filter(|&&other| other < block));
            self.upper[begin..].sort_unstable();
            self.upper_starts.push(self.upper.len());
        }
        self.order.clear();
        self.order.extend(0..n);
        self.inverse.clear();
        self.inverse.extend(0..n);
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.upper_starts, None, &self.upper);
        let stack = MemStack::new(self.work.for_request(amd::order_scratch::<usize>(n, self.upper.len())));
        // Without memory for the order the natural one remains.
        let _ = amd::order(&mut self.order, &mut self.inverse, pattern, amd::Control::default(), stack);
    }

    fn read<I: Iterator<Item = usize>>(&mut self, n: usize, row: impl Fn(usize) -> I) {
        self.starts.clear();
        self.starts.push(0);
        self.neighbours.clear();
        self.columns.read(n, &row);
        self.seen.clear();
        self.seen.resize(n, usize::MAX);
        for block in 0..n {
            for column in row(block) {
                self.seen[column] = block;
                self.neighbours.push(column);
            }
            let only_in_column = self.columns.of(block).iter().filter(|&&row| self.seen[row] != block);
            self.neighbours.extend(only_in_column);
            self.starts.push(self.neighbours.len());
        }
    }

    /// The blocks in the row or column of a block, itself among them; those of the row first, as the matrix has them.
    #[inline]
    pub fn neighbours(&self, block: usize) -> &[usize] {
        &self.neighbours[self.starts[block]..self.starts[block + 1]]
    }
}

/// Rows of the stored blocks of each column.
#[derive(Debug, Default)]
struct Columns {
    starts: Vec<usize>,
    rows: Vec<usize>,
    next: Vec<usize>,
}

impl Columns {
    fn of(&self, column: usize) -> &[usize] {
        &self.rows[self.starts[column]..self.starts[column + 1]]
    }

    fn read<I: Iterator<Item = usize>>(&mut self, n: usize, row: impl Fn(usize) -> I) {
        self.starts.clear();
        self.starts.resize(n + 1, 0);
        for block in 0..n {
            for column in row(block) {
                self.starts[column + 1] += 1;
            }
        }
        for k in 0..n {
            self.starts[k + 1] += self.starts[k];
        }
        self.next.clone_from(&self.starts);
        self.rows.clear();
        self.rows.resize(self.starts[n], 0);
        for block in 0..n {
            for column in row(block) {
                self.rows[self.next[column]] = block;
                self.next[column] += 1;
            }
        }
    }
}
