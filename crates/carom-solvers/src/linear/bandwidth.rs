//! An order of the blocks of a matrix that keeps its band narrow.

use crate::block_sparse::BlockSparse;

/// The reverse Cuthill–McKee order of the blocks: neighbours of a block come close to it.
/// [Cuthill & McKee 1969; George 1971]. Cost: O(entries log entries); storage is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct BandOrder {
    /// Blocks in their new order.
    pub order: Vec<usize>,
    degree: Vec<usize>,
    seen: Vec<bool>,
}

impl BandOrder {
    /// Orders the blocks of `w`, whose pattern is symmetric.
    pub fn compute(&mut self, w: &BlockSparse) {
        let n = w.n_blocks();
        self.degree.clear();
        self.degree.extend((0..n).map(|block| w.row(block).count()));
        self.seen.clear();
        self.seen.resize(n, false);
        self.order.clear();
        while self.order.len() < n {
            let unseen = (0..n).filter(|&b| !self.seen[b]);
            let Some(start) = unseen.min_by_key(|&b| self.degree[b]) else { break };
            let begin = self.order.len();
            // The last block of a first pass is far from the others: a better start.
            let far = self.visit(w, start);
            for &block in &self.order[begin..] {
                self.seen[block] = false;
            }
            self.order.truncate(begin);
            self.visit(w, far);
        }
        self.order.reverse();
    }

    /// Appends the component of `start`, breadth first; returns the last block.
    fn visit(&mut self, w: &BlockSparse, start: usize) -> usize {
        self.seen[start] = true;
        self.order.push(start);
        let mut next = self.order.len() - 1;
        while next < self.order.len() {
            let begin = self.order.len();
            for (column, _) in w.row(self.order[next]) {
                if !self.seen[column] {
                    self.seen[column] = true;
                    self.order.push(column);
                }
            }
            let degree = &self.degree;
            self.order[begin..].sort_unstable_by_key(|&b| (degree[b], b));
            next += 1;
        }
        self.order[self.order.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_chain_gets_a_band_of_one() {
        let chain = [4, 0, 5, 2, 1, 3];
        let mut w = BlockSparse::new();
        w.reset(&[1; 6]);
        for block in 0..6 {
            let at = chain.iter().position(|&b| b == block).unwrap();
            for &neighbour in &chain[at.saturating_sub(1)..(at + 2).min(6)] {
                w.push_block(neighbour);
            }
            w.finish_row();
        }
        let mut order = BandOrder::default();
        order.compute(&w);
        let forward = order.order == chain;
        order.order.reverse();
        assert!(forward || order.order == chain, "{:?}", order.order);
    }
}
