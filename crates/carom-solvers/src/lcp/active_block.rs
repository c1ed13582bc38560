//! Linear systems on the active rows of a complementarity problem.

use crate::linear::{DenseLu, RankRevealingLu, SparseLu};
use crate::matrix::{Matrix, SparseMatrix};

/// M_AA x_A = b_A for a set A of rows, x = 0 elsewhere.
///
/// Dense M: LU of the small matrix. Sparse M: sparse LU of M with the rows and columns outside A replaced by those of the
/// identity, so that the pattern, and with it the order that keeps the factors sparse, is the same for all A.
/// Where M_AA is singular, elimination with complete pivoting gives a basic solution.
///
/// Cost: one factorisation per set, dense 2k³/3 or sparse; each solve is refined once.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveBlock {
    active: Vec<usize>,
    is_active: Vec<bool>,
    dense: DenseLu,
    sparse: SparseLu,
    masked: SparseMatrix,
    rank_revealing: RankRevealingLu,
    is_rank_revealing: bool,
    values: Vec<f64>,
    right_side: Vec<f64>,
    residual: Vec<f64>,
}

/// A solution with a larger relative residual than this is that of a singular matrix.
const RESIDUAL_TOLERANCE: f64 = 1e-8;

/// A solution this many times larger than the right side belongs to a singular matrix (unit diagonal assumed).
const GROWTH_LIMIT: f64 = 1e12;

/// Singular sparse blocks up to this size are solved as dense ones: 8 MB and a second.
const DENSE_LIMIT: usize = 1000;

impl ActiveBlock {
    /// Factors M_AA.
    pub fn factor(&mut self, m: &Matrix, is_active: &[bool]) {
        self.is_active.clear();
        self.is_active.extend_from_slice(is_active);
        self.active.clear();
        self.active.extend((0..is_active.len()).filter(|&i| is_active[i]));
        self.is_rank_revealing = false;
        match m {
            Matrix::Dense(m) => {
                let k = self.active.len();
                let values = self.dense.reset(k);
                for (row, &i) in self.active.iter().enumerate() {
                    let entries = m.row(i);
                    for (column, &j) in self.active.iter().enumerate() {
                        values[column * k + row] = entries[j];
                    }
                }
                self.dense.factor();
            }
            Matrix::Sparse(m) => {
                mask(m, is_active, &mut self.masked);
                self.sparse.factor(&self.masked);
            }
        }
    }

    /// Replaces b by x; entries outside the set become zero. False when M_AA is singular: then x is a basic solution, which
    /// satisfies the independent equations only, or zero where the block is sparse and too large for that.
    pub fn solve(&mut self, m: &Matrix, b: &mut [f64]) -> bool {
        if self.active.is_empty() {
            b.fill(0.0);
            return true;
        }
        b.iter_mut().zip(&self.is_active).for_each(|(b, active)| *b = if *active { *b } else { 0.0 });
        self.right_side.clear();
        self.right_side.extend_from_slice(b);
        let size = largest(b);
        if !self.is_rank_revealing {
            self.solve_once(m, b);
            let residual = self.evaluate(m, b);
            if residual <= RESIDUAL_TOLERANCE * size && largest(b) <= GROWTH_LIMIT * size {
                self.refine(m, b, residual);
                return true;
            }
            self.factor_rank_revealing(m);
        }
        if self.active.len() > DENSE_LIMIT && matches!(m, Matrix::Sparse(_)) {
            b.fill(0.0);
            return false;
        }
        b.copy_from_slice(&self.right_side);
        self.solve_once(m, b);
        let residual = self.evaluate(m, b);
        self.refine(m, b, residual);
        false
    }

    /// One step of iterative refinement, taken back unless the residual falls.
    fn refine(&mut self, m: &Matrix, b: &mut [f64], before: f64) {
        let mut correction = std::mem::take(&mut self.residual);
        self.solve_once(m, &mut correction);
        b.iter_mut().zip(&correction).for_each(|(b, c)| *b += c);
        self.residual.resize(b.len(), 0.0);
        let after = self.evaluate(m, b);
        if after > before || !after.is_finite() {
            b.iter_mut().zip(&correction).for_each(|(b, c)| *b -= c);
        }
    }

    /// residual = b − M x on the set; returns its largest entry, infinite where x is not finite.
    fn evaluate(&mut self, m: &Matrix, x: &[f64]) -> f64 {
        self.residual.clear();
        self.residual.resize(x.len(), 0.0);
        let mut size = 0.0_f64;
        for &i in &self.active {
            let r = self.right_side[i] - m.row_dot(i, x);
            self.residual[i] = r;
            size = if r.is_finite() { size.max(r.abs()) } else { f64::INFINITY };
        }
        size
    }

    fn factor_rank_revealing(&mut self, m: &Matrix) {
        self.is_rank_revealing = true;
        let k = self.active.len();
        if k > DENSE_LIMIT && matches!(m, Matrix::Sparse(_)) {
            return;
        }
        self.values.clear();
        for &i in &self.active {
            self.values.extend(self.active.iter().map(|&j| m.get(i, j)));
        }
        self.rank_revealing.factor(k, &self.values);
    }

    fn solve_once(&mut self, m: &Matrix, b: &mut [f64]) {
        if matches!(m, Matrix::Sparse(_)) && !self.is_rank_revealing {
            self.sparse.solve(b);
            return;
        }
        self.values.clear();
        self.values.extend(self.active.iter().map(|&i| b[i]));
        if self.is_rank_revealing {
            self.rank_revealing.solve(&mut self.values);
        } else {
            self.dense.solve(&mut self.values);
        }
        for (&i, x) in self.active.iter().zip(&self.values) {
            b[i] = *x;
        }
    }
}

/// M with the rows and columns outside the set replaced by those of the identity, in the pattern of M and the diagonal.
pub(super) fn mask(m: &SparseMatrix, is_active: &[bool], out: &mut SparseMatrix) {
    let n = m.n_rows();
    out.reset(n);
    for (i, &active) in is_active.iter().enumerate() {
        let mut has_diagonal = false;
        for (j, a) in m.row(i) {
            if j > i && !has_diagonal {
                out.push(i, f64::from(u8::from(!active)));
            }
            has_diagonal |= j >= i;
            out.push(j, if active && is_active[j] { a } else { f64::from(u8::from(i == j)) });
        }
        if !has_diagonal {
            out.push(i, f64::from(u8::from(!active)));
        }
        out.finish_row();
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |s, x| if x.is_finite() { s.max(x.abs()) } else { f64::INFINITY })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::DenseMatrix;

    /// [[0, 9, 2], [9, 9, 9], [1, 9, 0]] in both forms, without its zeros in the sparse one.
    fn both() -> [Matrix; 2] {
        let entries = [(0, 1, 9.0), (0, 2, 2.0), (1, 0, 9.0), (1, 1, 9.0), (1, 2, 9.0), (2, 0, 1.0), (2, 1, 9.0)];
        let mut dense = vec![0.0; 9];
        entries.iter().for_each(|&(i, j, a)| dense[3 * i + j] = a);
        [DenseMatrix::new(3, 3, dense).unwrap().into(), SparseMatrix::from_triplets(3, 3, &entries).unwrap().into()]
    }

    #[test]
    fn only_active_rows_and_columns_count() {
        for m in both() {
            let mut block = ActiveBlock::default();
            block.factor(&m, &[true, false, true]);
            let mut b = [4.0, f64::NAN, 3.0];
            assert!(block.solve(&m, &mut b));
            assert_eq!(b, [3.0, 0.0, 2.0]);
        }
    }

    #[test]
    fn a_singular_block_gives_a_basic_solution() {
        let dense = Matrix::from(DenseMatrix::new(2, 2, vec![1.0; 4]).unwrap());
        let sparse = SparseMatrix::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)]).unwrap().into();
        for m in [dense, sparse] {
            let mut block = ActiveBlock::default();
            block.factor(&m, &[true; 2]);
            let mut b = [2.0, 2.0];
            assert!(!block.solve(&m, &mut b));
            assert_eq!((b[0] + b[1], b[0] * b[1]), (2.0, 0.0));
        }
    }
}
