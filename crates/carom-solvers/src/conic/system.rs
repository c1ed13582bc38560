//! The linear systems of an interior point step.

use super::cone::ConeProduct;
use crate::linear::{BlockPattern, FrontalLu, SparseLdlt};
use crate::matrix::SparseMatrix;

/// (Q + D) x = b with a sparse symmetric positive semidefinite Q and a block D_c of any kind per cone.
///
/// Where D is symmetric and positive the factorisation is LDLᵀ, otherwise LU with pivots inside dense fronts. A multiple of the
/// identity ([`SHIFT`]) keeps the factors regular where rows of joints are redundant; refinement takes it out again.
#[derive(Debug, Default)]
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
    pattern: BlockPattern,
    lu: FrontalLu,
    dims: Vec<usize>,
    /// Rows of one cone, scattered: n entries each.
    scattered: Vec<f64>,
    /// The right-hand side in the order of the fronts.
    ordered: Vec<f64>,
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
        if !is_symmetric {
            self.find_pattern(q, cones);
        }
    }

    /// Which cones are coupled by Q.
    fn find_pattern(&mut self, q: &SparseMatrix, cones: &ConeProduct) {
        self.dims.clear();
        let mut cone_of = Vec::with_capacity(q.n_columns());
        for (index, (cone, _)) in cones.iter().enumerate() {
            self.dims.push(cone.dim());
            cone_of.resize(cone_of.len() + cone.dim(), index);
        }
        let (mut starts, mut columns) = (vec![0], Vec::new());
        let mut seen = vec![NONE; self.dims.len()];
        for (index, (_, rows)) in cones.iter().enumerate() {
            for (column, _) in rows.flat_map(|row| q.row(row)) {
                let other = cone_of[column];
                if seen[other] != index {
                    seen[other] = index;
                    columns.push(other);
                }
            }
            starts.push(columns.len());
        }
        self.pattern.compute(self.dims.len(), |index| columns[starts[index]..starts[index + 1]].iter().copied());
        self.lu.clear();
    }

    /// The blocks D of all factors, row-major one after another, to be filled before [`Self::factor`].
    pub(crate) fn blocks_mut(&mut self) -> &mut [f64] {
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
        if self.is_symmetric {
            return self.ldlt.factor(&self.matrix);
        }
        self.factor_by_fronts(cones);
        true
    }

    fn factor_by_fronts(&mut self, cones: &ConeProduct) {
        let n = self.matrix.n_columns();
        self.lu.reset(&self.pattern, &self.dims);
        let largest = self.dims.iter().copied().max().unwrap_or(0);
        self.scattered.clear();
        self.scattered.resize(largest * n, 0.0);
        for (index, (_, rows)) in cones.iter().enumerate() {
            for (i, row) in rows.clone().enumerate() {
                self.matrix.row(row).for_each(|(column, value)| self.scattered[i * n + column] = value);
            }
            let scattered = &self.scattered;
            self.lu.fill_row(index, |other, target| {
                let columns = cones.rows(other);
                for (i, target) in target.chunks_exact_mut(columns.len()).enumerate() {
                    target.copy_from_slice(&scattered[i * n + columns.start..i * n + columns.end]);
                }
            });
            for (i, row) in rows.enumerate() {
                self.matrix.row(row).for_each(|(column, _)| self.scattered[i * n + column] = 0.0);
            }
        }
        self.lu.factor();
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
        if self.is_symmetric {
            self.ldlt.solve(b);
            return;
        }
        self.ordered.resize(b.len(), 0.0);
        let mut start = 0;
        for (index, dim) in self.dims.iter().enumerate() {
            self.ordered[self.lu.offset(index)..][..*dim].copy_from_slice(&b[start..start + dim]);
            start += dim;
        }
        self.lu.solve(&mut self.ordered);
        let mut start = 0;
        for (index, dim) in self.dims.iter().enumerate() {
            b[start..start + dim].copy_from_slice(&self.ordered[self.lu.offset(index)..][..*dim]);
            start += dim;
        }
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
