//! The joints of an island as one block: sweeps from joint to joint carry news along a chain by one link each, a factor carries it at once.

use super::body::Inertia;
use super::rows::{RowSet, dot6, respond};

use crate::block_sparse::BlockSparse;
use crate::linear::BilateralFactor;

/// W_BB of the joints of an island and its sparse factor. Cost linear in the joints of chains and trees; redundant rows are left out.
#[derive(Debug, Default)]
pub(super) struct JointBlock {
    /// The joints among the items of the island.
    pub items: Vec<u32>,
    w: BlockSparse,
    factor: BilateralFactor,
    dims: Vec<usize>,
    /// For each body the joints on it: where they begin, and (joint, first row over the body).
    starts: Vec<u32>,
    on_body: Vec<(u32, u32)>,
    columns: Vec<u32>,
    seen: Vec<bool>,
}

impl JointBlock {
    /// Assembles and factors the joints among the rows of an island of `n_bodies`.
    pub fn factor(&mut self, rows: &RowSet, n_bodies: usize, inertias: &[Inertia]) {
        self.items.clear();
        self.items.extend((0..rows.items.len() as u32).filter(|&item| rows.items[item as usize].block.is_bilateral()));
        if self.items.is_empty() {
            return;
        }
        self.sort_by_body(rows, n_bodies);
        self.dims.clear();
        self.dims.extend(self.items.iter().map(|&item| rows.items[item as usize].rows.len()));
        self.w.reset(&self.dims);
        self.seen.clear();
        self.seen.resize(self.items.len(), false);
        for joint in 0..self.items.len() {
            let item = &rows.items[self.items[joint] as usize];
            self.columns.clear();
            for side in &rows.sides[item.sides.clone()] {
                for &(other, _) in on_body(&self.starts, &self.on_body, side.body) {
                    if !std::mem::replace(&mut self.seen[other as usize], true) {
                        self.columns.push(other);
                    }
                }
            }
            for &other in &self.columns {
                self.seen[other as usize] = false;
                let width = self.dims[other as usize];
                let block = self.w.push_block(other as usize);
                for side in &rows.sides[item.sides.clone()] {
                    let shared = on_body(&self.starts, &self.on_body, side.body).iter().filter(|(joint, _)| *joint == other);
                    for &(_, first) in shared {
                        let right = &rows.jacobian[first as usize..first as usize + width];
                        for (values, left) in block.chunks_exact_mut(width).zip(&rows.jacobian[side.first as usize..]) {
                            let response = respond(&inertias[side.body as usize], left);
                            values.iter_mut().zip(right).for_each(|(x, right)| *x += dot6(&response, right));
                        }
                    }
                }
            }
            self.w.finish_row();
        }
        self.factor.factor(&self.w, |_| true);
    }

    /// Counting sort of the joints by the bodies they act on.
    fn sort_by_body(&mut self, rows: &RowSet, n_bodies: usize) {
        self.starts.clear();
        self.starts.resize(n_bodies + 2, 0);
        let sides = |item: u32| &rows.sides[rows.items[item as usize].sides.clone()];
        for &item in &self.items {
            sides(item).iter().for_each(|side| self.starts[side.body as usize + 2] += 1);
        }
        for body in 2..self.starts.len() {
            self.starts[body] += self.starts[body - 1];
        }
        self.on_body.clear();
        self.on_body.resize(self.starts[n_bodies + 1] as usize, (0, 0));
        for (joint, &item) in self.items.iter().enumerate() {
            for side in sides(item) {
                let next = &mut self.starts[side.body as usize + 1];
                self.on_body[*next as usize] = (joint as u32, side.first);
                *next += 1;
            }
        }
    }

    /// Replaces u of the joints, one after the other, by W_BB⁺ u.
    pub fn solve(&mut self, u: &mut [f64]) {
        if !self.items.is_empty() {
            self.factor.solve(u);
        }
    }
}

fn on_body<'a>(starts: &[u32], list: &'a [(u32, u32)], body: u32) -> &'a [(u32, u32)] {
    &list[starts[body as usize] as usize..starts[body as usize + 1] as usize]
}
