//! The linear systems of an interior point step.

use super::cone::ConeProduct;
use crate::linear::{SparseLdlt, SparseLu};
use crate::matrix::SparseMatrix;

/// (Q + D) x = b with a sparse symmetric positive semidefinite Q and a block D_c of any kind per cone.
///
/// Where D is symmetric and positive the factorisation is LDLᵀ, otherwise LU with partial pivoting. A multiple of the
/// identity ([`SHIFT`]) keeps the factors regular where rows of joints are redundant; refinement takes it out again.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConicSystem {
    is_symmetric: bool,
    /// Q + D + shift; only the entries with column ≤ row where symmetric.
    matrix: SparseMatrix,
    /// Values of Q in the pattern of `matrix`.
    base: Vec<f64>,
    /// Position in the values of each entry of the diagonal blocks, factor after factor, row-major; [`NONE`] where not stored.
    positions: Vec<usize>,
    /// The blocks D, in the same order.
    blocks: Vec<f64>,
    ldlt: SparseLdlt,
    lu: SparseLu,
    rhs: Vec<f64>,
    correction: Vec<f64>,
}

/// Added to the diagonal, relative to a Q with diagonal entries about one: two digits above the rounding of the factors.
const SHIFT: f64 = 1e-13;

/// Refinements of a solution.
const REFINEMENTS: usize = 2;

/// An entry that is not stored.
const NONE: usize = usize::MAX;

impl ConicSystem {
    /// Takes Q, whose diagonal blocks are stored in full, and the kind of D that will follow.
    pub fn prepare(&mut self, q: &SparseMatrix, cones: &ConeProduct, is_symmetric: bool) {
        self.is_symmetric = is_symmetric;
        self.matrix.reset(q.n_columns());
        self.positions.clear();
        let mut entries = 0;
        for (cone, rows) in cones.iter() {
            let begin = self.positions.len();
            self.positions.resize(begin + rows.len() * rows.len(), NONE);
            for (i, row) in rows.clone().enumerate() {
                for (column, value) in q.row(row) {
                    if is_symmetric && column > row {
                        break;
                    }
                    if rows.contains(&column) {
                        self.positions[begin + i * cone.dim() + column - rows.start] = entries;
                    }
                    self.matrix.push(column, value);
                    entries += 1;
                }
                self.matrix.finish_row();
            }
        }
        self.base.clear();
        self.base.extend_from_slice(self.matrix.values());
        self.blocks.clear();
        self.blocks.resize(self.positions.len(), 0.0);
    }

    /// The blocks D of all factors, row-major one after another, to be filled before [`Self::factor`].
    pub fn blocks_mut(&mut self) -> &mut [f64] {
        &mut self.blocks
    }

    /// Factors; false where the matrix is singular.
    pub fn factor(&mut self, cones: &ConeProduct) -> bool {
        let values = self.matrix.values_mut();
        values.copy_from_slice(&self.base);
        for (&position, block) in self.positions.iter().zip(&self.blocks) {
            if position != NONE {
                values[position] += block;
            }
        }
        let mut begin = 0;
        for (cone, _) in cones.iter() {
            for k in 0..cone.dim() {
                let position = self.positions[begin + k * (cone.dim() + 1)];
                if position != NONE {
                    values[position] += SHIFT;
                }
            }
            begin += cone.dim() * cone.dim();
        }
        if self.is_symmetric { self.ldlt.factor(&self.matrix) } else { self.lu.factor(&self.matrix) }
    }

    /// Replaces b by the solution; false when it is not finite.
    pub fn solve(&mut self, q: &SparseMatrix, cones: &ConeProduct, b: &mut [f64]) -> bool {
        self.rhs.clear();
        self.rhs.extend_from_slice(b);
        self.solve_factored(b);
        for _ in 0..REFINEMENTS {
            let mut correction = std::mem::take(&mut self.correction);
            correction.clear();
            correction.extend_from_slice(&self.rhs);
            self.subtract_product(q, cones, b, &mut correction);
            self.solve_factored(&mut correction);
            for (b, correction) in b.iter_mut().zip(&correction) {
                *b += correction;
            }
            self.correction = correction;
        }
        b.iter().all(|x| x.is_finite())
    }

    fn solve_factored(&mut self, b: &mut [f64]) {
        if self.is_symmetric { self.ldlt.solve(b) } else { self.lu.solve(b) }
    }

    /// out −= (Q + D) x.
    fn subtract_product(&self, q: &SparseMatrix, cones: &ConeProduct, x: &[f64], out: &mut [f64]) {
        let mut begin = 0;
        for (_, rows) in cones.iter() {
            let dim = rows.len();
            for (i, row) in rows.clone().enumerate() {
                let own = &self.blocks[begin + i * dim..begin + (i + 1) * dim];
                let mut sum: f64 = q.row(row).map(|(column, value)| value * x[column]).sum();
                sum += own.iter().zip(&x[rows.clone()]).map(|(d, x)| d * x).sum::<f64>();
                out[row] -= sum;
            }
            begin += dim * dim;
        }
    }
}
