//! The matrix W + ρ I of ADMM and its factorisation.

use super::scaled::Scaled;
use crate::linear::{SparseLdlt, SparseLu};
use crate::matrix::SparseMatrix;

/// W + ρ I, factored once per ρ: by LDLᵀ where W is symmetric, by LU where it is not.
#[derive(Clone, Debug, Default)]
pub(super) struct ShiftedMatrix {
    /// The lower triangle where W is symmetric, else all of it, without ρ.
    matrix: SparseMatrix,
    /// The entries that are moved by ρ, with their values in W.
    diagonal: Vec<(usize, f64)>,
    is_symmetric: bool,
    ldlt: SparseLdlt,
    lu: SparseLu,
}

/// Asymmetry relative to the largest entry that is taken for rounding: what it changes in u is below any tolerance.
const ASYMMETRY: f64 = 1e-13;

impl ShiftedMatrix {
    /// Reads W.
    pub fn build(&mut self, scaled: &Scaled) {
        let mut full = SparseMatrix::default();
        full.reset(scaled.q.len());
        let mut columns: Vec<(usize, &[f64])> = Vec::new();
        for block in 0..scaled.blocks.len() {
            columns.clear();
            columns.extend(scaled.w.row(block));
            columns.sort_unstable_by_key(|(column, _)| *column);
            for i in 0..scaled.rows(block).len() {
                for (column, w) in &columns {
                    let across = scaled.rows(*column);
                    for (j, w) in across.clone().zip(&w[i * across.len()..]) {
                        full.push(j, *w);
                    }
                }
                full.finish_row();
            }
        }
        let transposed = full.transposed();
        let largest = full.values().iter().fold(0.0_f64, |s, w| s.max(w.abs()));
        self.is_symmetric = full.columns() == transposed.columns()
            && full.row_starts() == transposed.row_starts()
            && full.values().iter().zip(transposed.values()).all(|(a, b)| (a - b).abs() <= ASYMMETRY * largest);
        self.matrix = if self.is_symmetric { lower_triangle(&full) } else { full };
        self.diagonal.clear();
        for i in 0..self.matrix.n_rows() {
            let starts = self.matrix.row_starts();
            let row = starts[i]..starts[i + 1];
            // A diagonal block is always stored.
            if let Ok(at) = self.matrix.columns()[row.clone()].binary_search(&i) {
                self.diagonal.push((row.start + at, self.matrix.values()[row.start + at]));
            }
        }
    }

    /// Factors W + ρ I; false when that fails.
    pub fn factor(&mut self, rho: f64) -> bool {
        let values = self.matrix.values_mut();
        for &(at, w) in &self.diagonal {
            values[at] = w + rho;
        }
        if self.is_symmetric { self.ldlt.factor(&self.matrix) } else { self.lu.factor(&self.matrix) }
    }

    /// Replaces b by (W + ρ I)⁻¹ b.
    pub fn solve(&mut self, b: &mut [f64]) {
        if self.is_symmetric { self.ldlt.solve(b) } else { self.lu.solve(b) }
    }
}

fn lower_triangle(full: &SparseMatrix) -> SparseMatrix {
    let mut lower = SparseMatrix::default();
    lower.reset(full.n_columns());
    for i in 0..full.n_rows() {
        full.row(i).filter(|(j, _)| *j <= i).for_each(|(j, w)| lower.push(j, w));
        lower.finish_row();
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cones::Block;
    use crate::delassus::{Delassus, DenseDelassus};
    use crate::friction_contact::FrictionContact;

    #[test]
    fn both_factorisations_solve_for_every_shift() {
        for skew in [0.0, 0.25] {
            // Singular without the shift: rows 0 and 1 of the symmetric part are equal.
            let w = vec![1.0, 1.0 + skew, 0.0, 1.0 - skew, 1.0, 0.0, 0.0, 0.0, 1.0];
            let problem = FrictionContact {
                w: Delassus::Dense(DenseDelassus::new(w.clone(), &[1, 1, 1]).unwrap()),
                q: vec![0.0; 3],
                blocks: vec![Block::Unilateral; 3],
            };
            let mut scaled = Scaled::default();
            scaled.build(&problem);
            let mut matrix = ShiftedMatrix::default();
            matrix.build(&scaled);
            assert_eq!(matrix.is_symmetric, skew == 0.0);
            for rho in [0.5, 2.0] {
                assert!(matrix.factor(rho));
                let x = [1.0, -2.0, 3.0];
                let mut b: Vec<f64> = (0..3).map(|i| rho * x[i] + (0..3).map(|j| w[3 * i + j] * x[j]).sum::<f64>()).collect();
                matrix.solve(&mut b);
                for (b, x) in b.iter().zip(x) {
                    assert!((b - x).abs() < 1e-14, "{b} {x}"); // a few roundings
                }
            }
        }
    }
}
