//! A problem in units of its own for each block.

use crate::block_sparse::BlockSparse;
use crate::cones::Block;
use crate::delassus::{Delassus, DenseDelassus, MatrixFree};
use crate::friction_contact::FrictionContact;

/// The problem in y and v with r = s y, v = s u and a factor s per block such that mean(diag W_cc) = 1.
///
/// Most laws are cones, which do not see the factors; bounds are divided by them. Heavy and light bodies become comparable.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaled {
    /// s_i W_ij s_j.
    pub w: BlockSparse,
    /// s q.
    pub q: Vec<f64>,
    /// The law of each block, as in the problem but for the unit of bounds.
    pub blocks: Vec<Block>,
    /// The laws in the units of the problem.
    laws: Vec<Block>,
    factors: Vec<f64>,
    dims: Vec<usize>,
    /// Columns of the row being assembled.
    columns: Vec<usize>,
}

impl Scaled {
    /// Copies and scales a problem; storage is reused.
    pub fn build(&mut self, problem: &FrictionContact) {
        self.blocks.clear();
        self.laws.clone_from(&problem.blocks);
        self.factors.clear();
        self.dims.clear();
        self.q.clear();
        for (index, block) in problem.blocks.iter().enumerate() {
            let dim = block.dim();
            let trace: f64 = problem.w.diagonal(index).iter().step_by(dim + 1).sum();
            let factor = (dim as f64 / trace).sqrt();
            let factor = if factor > 0.0 && factor.is_finite() { factor } else { 1.0 };
            self.factors.push(factor);
            self.blocks.push(block.in_unit(factor));
            self.dims.push(dim);
            let rows = problem.w.offset(index)..problem.w.offset(index + 1);
            self.q.extend(problem.q[rows].iter().map(|q| factor * q));
        }
        self.w.reset(&self.dims);
        for row in 0..self.dims.len() {
            match &problem.w {
                Delassus::BlockSparse(w) => self.push_sparse_row(w, row),
                Delassus::Dense(w) => self.push_dense_row(w, row),
                Delassus::MatrixFree(w) => self.push_assembled_row(w, row),
            }
            self.w.finish_row();
        }
    }

    fn push_sparse_row(&mut self, w: &BlockSparse, row: usize) {
        for (column, values) in w.row(row) {
            let factor = self.factors[row] * self.factors[column];
            for (target, value) in self.w.push_block(column).iter_mut().zip(values) {
                *target = factor * value;
            }
        }
    }

    fn push_dense_row(&mut self, w: &DenseDelassus, row: usize) {
        let n = w.n_rows();
        for column in 0..self.dims.len() {
            let columns = w.offset(column)..w.offset(column + 1);
            let rows = w.offset(row)..w.offset(row + 1);
            if row != column && rows.clone().all(|i| w.values()[i * n..][columns.clone()].iter().all(|x| *x == 0.0)) {
                continue;
            }
            let factor = self.factors[row] * self.factors[column];
            let block = self.w.push_block(column);
            for (target, i) in block.chunks_exact_mut(columns.len()).zip(rows) {
                for (target, value) in target.iter_mut().zip(&w.values()[i * n..][columns.clone()]) {
                    *target = factor * value;
                }
            }
        }
    }

    fn push_assembled_row(&mut self, w: &MatrixFree, row: usize) {
        w.columns(row, &mut self.columns);
        for &column in &self.columns {
            let factor = self.factors[row] * self.factors[column];
            let block = self.w.push_block(column);
            w.add_block(row, column, block);
            block.iter_mut().for_each(|value| *value *= factor);
        }
    }

    /// Scalar rows of a block.
    #[inline]
    pub fn rows(&self, block: usize) -> std::ops::Range<usize> {
        self.w.offset(block)..self.w.offset(block + 1)
    }

    /// v = W y + q.
    pub fn velocity(&self, y: &[f64], v: &mut [f64]) {
        self.w.multiply(y, v);
        for (v, q) in v.iter_mut().zip(&self.q) {
            *v += q;
        }
    }

    /// u = v/s.
    pub(crate) fn restore_velocity(&self, v: &[f64], u: &mut [f64]) {
        self.scale_impulse(v, u);
    }

    /// y = r/s.
    pub(crate) fn scale_impulse(&self, r: &[f64], y: &mut [f64]) {
        for (block, factor) in self.factors.iter().enumerate() {
            for k in self.rows(block) {
                y[k] = r[k] / factor;
            }
        }
    }

    /// r = s y, moved to its cone.
    pub(crate) fn restore_impulse(&self, y: &[f64], r: &mut [f64]) {
        for (index, (law, factor)) in self.laws.iter().zip(&self.factors).enumerate() {
            let rows = self.rows(index);
            for k in rows.clone() {
                r[k] = factor * y[k];
            }
            law.project(&mut r[rows]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_undone_and_zero_blocks_left_out() {
        let values = vec![4.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 3.0, 0.0, 0.0, 9.0, 0.0, 0.0, 3.0, 0.0, 0.0];
        let problem = FrictionContact {
            w: Delassus::Dense(DenseDelassus::new(values, &[1, 2, 1]).unwrap()),
            q: vec![1.0, -2.0, 3.0, 4.0],
            blocks: vec![Block::Unilateral, Block::Coulomb2 { mu: 1.0 }, Block::Unilateral],
        };
        let mut scaled = Scaled::default();
        scaled.build(&problem);
        assert_eq!((scaled.w.diagonal(0), scaled.w.diagonal(1)), (&[1.0][..], &[1.0, 0.0, 0.0, 1.0][..]));
        // A block without inertia keeps its unit.
        assert_eq!(scaled.w.diagonal(2), [0.0]);
        assert_eq!(scaled.w.row(0).count(), 1);
        let r = [2.0, 3.0, -1.0, 0.5];
        let (mut y, mut v, mut back, mut u) = ([0.0; 4], [0.0; 4], [0.0; 4], [0.0; 4]);
        scaled.scale_impulse(&r, &mut y);
        scaled.restore_impulse(&y, &mut back);
        assert_eq!(back, r);
        scaled.velocity(&y, &mut v);
        problem.velocity(&r, &mut u);
        // s = 1/2, 1/3 and 1; a few roundings.
        for (v, u) in v.iter().zip([u[0] / 2.0, u[1] / 3.0, u[2] / 3.0, u[3]]) {
            assert!((v - u).abs() < 1e-14, "{v} {u}");
        }
    }
}
