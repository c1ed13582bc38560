//! Elimination of the constraints from the problem of the contacts.
//!
//! ```text
//! u̇_B = 0:      λ_B = −W_BB⁻ (q_B + W_BC λ_C),      Ŵ = W_CC − W_CB W_BB⁻ W_BC,      q̂ = q_C − W_CB W_BB⁻ q_B
//! ```
//!
//! by Cholesky's factorisation with pivoting of W_BB in units of unit diagonal. Rows that depend on the others carry nothing.

use nalgebra::{DMatrix, DVector};

/// Pivots below this part of the row's own diagonal belong to rows that depend on the others.
const RANK_TOLERANCE: f64 = 1e-12;

/// What a contact's row may keep of its diagonal and still count as held by the constraints.
const HELD: f64 = 1e-13;

/// The contacts' part of W and q after elimination, and the way back.
pub(super) struct ConstraintElimination {
    /// Ŵ, row-major.
    pub w: Vec<f64>,
    /// q̂.
    pub q: Vec<f64>,
    /// Independent rows of the constraints.
    rows: Vec<usize>,
    /// L of W_RR = L Lᵀ over those rows.
    factor: DMatrix<f64>,
    /// L⁻¹ W_RC and L⁻¹ q_R.
    coupling: DMatrix<f64>,
    start: DVector<f64>,
}

impl ConstraintElimination {
    /// The first `n_constraint_rows` rows of the dense W (row-major) and of q are those of the constraints.
    pub fn new(w: &[f64], q: &[f64], n_constraint_rows: usize) -> Self {
        let n = q.len();
        let (rows, factor) = pivoted_cholesky(w, n, n_constraint_rows);
        let contacts = n - n_constraint_rows;
        let coupling = DMatrix::from_fn(rows.len(), contacts, |i, j| w[rows[i] * n + n_constraint_rows + j]);
        let start = DVector::from_fn(rows.len(), |i, _| q[rows[i]]);
        // the diagonal of L is positive
        let coupling = factor.solve_lower_triangular(&coupling).unwrap_or(coupling);
        let start = factor.solve_lower_triangular(&start).unwrap_or(start);
        let own = |i: usize, j: usize| w[(n_constraint_rows + i) * n + n_constraint_rows + j];
        let mut reduced = vec![0.0; contacts * contacts];
        for i in 0..contacts {
            for j in 0..=i {
                let value = 0.5 * (own(i, j) + own(j, i)) - coupling.column(i).dot(&coupling.column(j));
                (reduced[i * contacts + j], reduced[j * contacts + i]) = (value, value);
            }
        }
        for i in 0..contacts {
            if reduced[i * contacts + i] <= HELD * own(i, i) {
                for j in 0..contacts {
                    (reduced[i * contacts + j], reduced[j * contacts + i]) = (0.0, 0.0);
                }
            }
        }
        let q = (0..contacts).map(|i| q[n_constraint_rows + i] - coupling.column(i).dot(&start)).collect();
        ConstraintElimination { w: reduced, q, rows, factor, coupling, start }
    }

    /// λ_B that belongs to λ_C, written at the rows of the constraints in `out`.
    pub fn reaction(&self, contacts: &[f64], out: &mut [f64]) {
        let sum = &self.start + &self.coupling * DVector::from_column_slice(contacts);
        let reaction = self.factor.tr_solve_lower_triangular(&sum).unwrap_or(sum);
        for (&row, value) in self.rows.iter().zip(reaction.iter()) {
            out[row] = -value;
        }
    }
}

/// Independent rows among the first `n_rows` of a symmetric matrix of n rows, and L of their part; the largest pivot first.
fn pivoted_cholesky(w: &[f64], n: usize, n_rows: usize) -> (Vec<usize>, DMatrix<f64>) {
    let mut left: Vec<usize> = (0..n_rows).filter(|&i| w[i * n + i] > 0.0).collect();
    let mut pivots: Vec<f64> = (0..n_rows).map(|i| w[i * n + i]).collect();
    let mut chosen: Vec<usize> = Vec::with_capacity(left.len());
    // row i of L over the chosen columns, for all rows
    let mut lower = vec![0.0; n_rows * n_rows];
    while let Some((place, &row)) =
        left.iter().enumerate().max_by(|(_, a), (_, b)| (pivots[**a] / w[**a * n + **a]).total_cmp(&(pivots[**b] / w[**b * n + **b])))
    {
        if pivots[row] <= RANK_TOLERANCE * w[row * n + row] {
            break;
        }
        left.swap_remove(place);
        let (k, root) = (chosen.len(), pivots[row].sqrt());
        lower[row * n_rows + k] = root;
        for &other in &left {
            let known: f64 = (0..k).map(|j| lower[other * n_rows + j] * lower[row * n_rows + j]).sum();
            let value = (w[other * n + row] - known) / root;
            lower[other * n_rows + k] = value;
            pivots[other] -= value * value;
        }
        chosen.push(row);
    }
    let factor = DMatrix::from_fn(chosen.len(), chosen.len(), |i, j| if j <= i { lower[chosen[i] * n_rows + j] } else { 0.0 });
    (chosen, factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three equal constraint rows and one contact: u̇ = 0 at all of them, W of rank two.
    #[test]
    fn redundant_rows_are_left_out() {
        // G = (1, 0) three times, (1, 1) for the contact; M = 1; q = (2, 2, 2, 3)
        let g = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
        let w: Vec<f64> = (0..16).map(|k| g[k / 4][0] * g[k % 4][0] + g[k / 4][1] * g[k % 4][1]).collect();
        let elimination = ConstraintElimination::new(&w, &[2.0, 2.0, 2.0, 3.0], 3);
        assert_eq!((elimination.w, elimination.q), (vec![1.0], vec![1.0]));
        let elimination = ConstraintElimination::new(&w, &[2.0, 2.0, 2.0, 3.0], 3);
        let mut force = vec![0.0; 4];
        elimination.reaction(&[5.0], &mut force);
        assert_eq!(force.iter().sum::<f64>(), -7.0);
    }

    /// A contact along a constraint is held: its row of Ŵ is exactly zero.
    #[test]
    fn contacts_that_constraints_hold_do_not_move() {
        let w = [0.1, 0.3, 0.3, 0.9];
        let elimination = ConstraintElimination::new(&w, &[0.7, 2.1], 1);
        assert_eq!(elimination.w, [0.0]);
        assert!(elimination.q[0].abs() < 1e-15);
    }
}
