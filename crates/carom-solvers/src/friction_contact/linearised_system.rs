//! The linear system of a step of the nonsmooth Newton methods.

use super::block_equation::BlockEquation;
use super::scaled::Scaled;
use crate::linear::{DenseLu, SparseLu};
use crate::matrix::SparseMatrix;

/// Assembles and solves (E + B ρ (W + α I)) d = −F.
///
/// Open blocks, with F = r, have d = −r and leave the system. Small or full matrices are factored by dense LU, others by sparse LU.
#[derive(Clone, Debug, Default)]
pub(super) struct LinearisedSystem {
    is_dense: bool,
    dense: DenseLu,
    sparse: SparseLu,
    matrix: SparseMatrix,
    /// First row of a block in the system; `OPEN` for blocks outside it.
    positions: Vec<usize>,
    right_hand_side: Vec<f64>,
}

const OPEN: usize = usize::MAX;

/// Rows up to which the dense factorisation is always the faster one.
const SMALL: usize = 60;

/// Part of the entries that are stored above which a matrix counts as full: its factors will be.
const FULL: f64 = 0.2;

/// The weights of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    /// ρ: F is a function of r and ρ u.
    pub rho: f64,
    /// α, added to the diagonal of W.
    pub alpha: f64,
}

impl LinearisedSystem {
    /// Chooses the factorisation.
    pub fn prepare(&mut self, scaled: &Scaled) {
        let n = scaled.q.len();
        self.is_dense = n <= SMALL || scaled.w.values().len() as f64 > FULL * (n * n) as f64;
    }

    /// Writes the step d and its image W d; false when they are not finite.
    pub fn solve(&mut self, scaled: &Scaled, equations: &[BlockEquation], weights: Weights, step: (&mut [f64], &mut [f64])) -> bool {
        let (direction, image) = step;
        let n = self.place(scaled, equations);
        direction.fill(0.0);
        for (block, equation) in equations.iter().enumerate().filter(|(_, e)| e.is_open) {
            for (k, f) in scaled.rows(block).zip(equation.f) {
                direction[k] = -f;
            }
        }
        // d is known on the open blocks: the image with zeros elsewhere.
        scaled.w.multiply(direction, image);
        self.assemble(scaled, equations, weights, image, n);
        if self.is_dense {
            self.dense.factor();
            self.dense.solve(&mut self.right_hand_side);
        } else {
            self.sparse.factor(&self.matrix);
            self.sparse.solve(&mut self.right_hand_side);
        }
        for (block, &at) in self.positions.iter().enumerate().filter(|(_, at)| **at != OPEN) {
            let rows = scaled.rows(block);
            let len = rows.len();
            direction[rows].copy_from_slice(&self.right_hand_side[at..at + len]);
        }
        scaled.w.multiply(direction, image);
        direction.iter().chain(&*image).all(|x| x.is_finite())
    }

    /// Gives the blocks that are not open their rows; returns the number of rows.
    fn place(&mut self, scaled: &Scaled, equations: &[BlockEquation]) -> usize {
        let mut n = 0;
        self.positions.clear();
        for (block, equation) in equations.iter().enumerate() {
            self.positions.push(if equation.is_open { OPEN } else { n });
            n += if equation.is_open { 0 } else { scaled.rows(block).len() };
        }
        n
    }

    /// Fills the matrix and the right-hand side −F − B ρ (image).
    fn assemble(&mut self, scaled: &Scaled, equations: &[BlockEquation], weights: Weights, image: &[f64], n: usize) {
        let Weights { rho, alpha } = weights;
        let values = self.dense.reset(if self.is_dense { n } else { 0 });
        self.matrix.reset(n);
        self.right_hand_side.clear();
        self.right_hand_side.resize(n, 0.0);
        let mut columns: Vec<(usize, usize, &[f64])> = Vec::new();
        for (block, equation) in equations.iter().enumerate().filter(|(_, e)| !e.is_open) {
            let (at, rows) = (self.positions[block], scaled.rows(block));
            let dim = rows.len();
            columns.clear();
            for (column, w) in scaled.w.row(block) {
                if self.positions[column] != OPEN {
                    columns.push((self.positions[column], scaled.rows(column).len(), w));
                }
            }
            columns.sort_unstable_by_key(|(across, ..)| *across);
            for i in 0..dim {
                let slopes = &equation.velocity[i * dim..(i + 1) * dim];
                for &(across, len, w) in &columns {
                    for j in 0..len {
                        let mut value = rho * slopes.iter().enumerate().map(|(k, b)| b * w[k * len + j]).sum::<f64>();
                        if across == at {
                            value += equation.impulse[i * dim + j] + rho * alpha * slopes[j];
                        }
                        if self.is_dense {
                            values[(across + j) * n + at + i] = value;
                        } else {
                            self.matrix.push(across + j, value);
                        }
                    }
                }
                self.matrix.finish_row();
                let through_open: f64 = slopes.iter().zip(&image[rows.clone()]).map(|(b, x)| b * x).sum();
                self.right_hand_side[at + i] = -equation.f[i] - rho * through_open;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_sparse::BlockSparse;
    use crate::cones::Block;
    use crate::friction_contact::FrictionContact;
    use crate::friction_contact::disk_equations::{Radius, linearise};

    #[test]
    fn both_factorisations_give_a_step_that_solves_the_linearised_equations() {
        // Rows of several kinds, one of them open, the columns of the first pushed in no order.
        let blocks = vec![Block::Coulomb3 { mu: 0.4 }, Block::Unilateral, Block::Coulomb2 { mu: 0.1 }, Block::Bilateral { dim: 2 }];
        let dims: Vec<usize> = blocks.iter().map(Block::dim).collect();
        let mut w = BlockSparse::new();
        w.reset(&dims);
        for row in 0..4 {
            for column in (0..4).rev() {
                let values = w.push_block(column);
                let columns = dims[column];
                for (k, value) in values.iter_mut().enumerate() {
                    let (i, j) = (k / columns, k % columns);
                    *value = if row == column && i == j { 2.0 } else { 0.1 * ((row + column) as f64 + (i + j) as f64 * 0.3).cos() };
                }
            }
            w.finish_row();
        }
        let q = vec![-1.0, 2.0, 0.5, 3.0, -0.5, 1.0, 0.3, -0.2];
        let problem = FrictionContact { w: w.into(), q, blocks };
        let mut scaled = Scaled::default();
        scaled.build(&problem);
        let y = [0.5, 0.1, -0.3, 0.2, 0.4, 0.1, 1.0, -2.0];
        let mut v = [0.0; 8];
        scaled.velocity(&y, &mut v);
        let weights = Weights { rho: 0.7, alpha: 0.01 };
        let mut equations = vec![BlockEquation::default(); 4];
        for (block, equation) in equations.iter_mut().enumerate() {
            let rows = scaled.rows(block);
            let weighted: Vec<f64> = v[rows.clone()].iter().map(|v| weights.rho * v).collect();
            linearise(scaled.blocks[block], Radius::AlartCurnier, &y[rows], &weighted, equation);
        }
        assert_eq!(equations.iter().map(|e| e.is_open).collect::<Vec<_>>(), [false, true, false, false]);
        for is_dense in [true, false] {
            let mut system = LinearisedSystem { is_dense, ..Default::default() };
            let (mut direction, mut image) = ([0.0; 8], [0.0; 8]);
            assert!(system.solve(&scaled, &equations, weights, (&mut direction, &mut image)));
            for (block, equation) in equations.iter().enumerate() {
                let rows = scaled.rows(block);
                let du: Vec<f64> = rows.clone().map(|k| weights.rho * (image[k] + weights.alpha * direction[k])).collect();
                for i in 0..rows.len() {
                    let left = equation.f[i] + equation.change(i, &direction[rows.clone()], &du);
                    assert!(left.abs() < 1e-13, "dense {is_dense}, block {block}, row {i}: {left}"); // roundings of a solve
                }
            }
        }
    }
}
