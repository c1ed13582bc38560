//! The mass matrix with the stiffness of penalised contacts.

use super::GlobalFrictionContact;
use crate::linear::SparseLdlt;
use crate::matrix::SparseMatrix;

/// M + H P Hᵀ with a diagonal P, factored by sparse LDLᵀ.
///
/// Two coordinates are coupled where M couples them or where a contact touches both: the pattern is that of the bodies in
/// contact, not that of pairs of contacts. The order of elimination is kept as long as the pattern stays the same.
#[derive(Clone, Debug, Default)]
pub(super) struct AugmentedMass {
    /// Hᵀ.
    directions: SparseMatrix,
    /// Entries with column ≤ row.
    lower: SparseMatrix,
    ldlt: SparseLdlt,
    /// The row under construction, and its columns.
    row: Vec<f64>,
    columns: Vec<usize>,
    is_marked: Vec<bool>,
}

impl AugmentedMass {
    /// Takes the problem whose matrices are used by [`Self::factor`].
    pub fn prepare(&mut self, problem: &GlobalFrictionContact) {
        let n = problem.n_dof();
        self.directions = problem.h.transposed();
        self.row.clear();
        self.row.resize(n, 0.0);
        self.is_marked.clear();
        self.is_marked.resize(n, false);
    }

    /// Factors with these penalties, one for each row of contacts; false when a pivot vanishes.
    pub fn factor(&mut self, problem: &GlobalFrictionContact, penalties: &[f64]) -> bool {
        let n = problem.n_dof();
        self.lower.reset(n);
        for i in 0..n {
            self.columns.clear();
            for (j, m) in problem.m.row(i) {
                self.add(i, j, m);
            }
            for (contact, h) in problem.h.row(i) {
                for at in self.directions.row_starts()[contact]..self.directions.row_starts()[contact + 1] {
                    self.add(i, self.directions.columns()[at], h * penalties[contact] * self.directions.values()[at]);
                }
            }
            self.columns.sort_unstable();
            for &j in &self.columns {
                self.lower.push(j, self.row[j]);
                self.row[j] = 0.0;
                self.is_marked[j] = false;
            }
            self.lower.finish_row();
        }
        self.ldlt.factor(&self.lower)
    }

    #[inline]
    fn add(&mut self, i: usize, j: usize, value: f64) {
        if j <= i {
            if !self.is_marked[j] {
                self.is_marked[j] = true;
                self.columns.push(j);
            }
            self.row[j] += value;
        }
    }

    /// Replaces b by (M + H P Hᵀ)⁻¹ b.
    pub fn solve(&mut self, b: &mut [f64]) {
        self.ldlt.solve(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn penalties_stiffen_their_directions() {
        let problem = GlobalFrictionContact {
            m: SparseMatrix::from_triplets(3, 3, &[(0, 0, 2.0), (1, 1, 1.0), (2, 2, 4.0)]).unwrap(),
            h: SparseMatrix::from_triplets(3, 2, &[(0, 0, 1.0), (1, 0, -1.0), (2, 1, 2.0)]).unwrap(),
            ..Default::default()
        };
        let problem = GlobalFrictionContact { f: vec![0.0; 3], ..problem };
        let mut mass = AugmentedMass::default();
        mass.prepare(&problem);
        for p in [3.0, 0.5] {
            assert!(mass.factor(&problem, &[p, 1.0]));
            // [[2 + p, −p, 0], [−p, 1 + p, 0], [0, 0, 8]] · (1, 2, 3).
            let mut b = [2.0 - p, 2.0 + p, 24.0];
            mass.solve(&mut b);
            for (b, x) in b.iter().zip([1.0, 2.0, 3.0]) {
                assert!((b - x).abs() < 1e-14, "{b} {x}"); // a few roundings
            }
        }
    }
}
