//! The linear systems of a quadratic program in x and multipliers.

use super::ConvexQp;
use crate::linear::SparseLdlt;
use crate::matrix::{Matrix, SparseMatrix};

/// Solves, for some rows R of K,
///
/// ```text
///     (H + D) Δx − K_Rᵀ Δy = p
///     K_R Δx + E Δy = q
/// ```
///
/// with diagonal D, E ≥ 0, by a sparse LDLᵀ of the quasi-definite matrix with small shifts on both diagonals, and corrections by the
/// residual of the system without them: redundant rows and a semidefinite H are allowed where the system is consistent.
/// [Vanderbei, *Symmetric quasidefinite matrices*, 1995]
#[derive(Clone, Debug, Default)]
pub(super) struct KktSystem {
    matrix: SparseMatrix,
    ldlt: SparseLdlt,
    /// D, then R, then E: what was factored.
    diagonal: Vec<f64>,
    rows: Vec<usize>,
    slack: Vec<f64>,
    work: Vec<f64>,
    residual: Vec<f64>,
}

/// Shifts relative to the curvature and to |row|²/curvature: far above rounding and far below what matters, as corrections remove them.
pub(super) const SHIFTS: [f64; 2] = [1e-9, 1e-6];

/// Corrections by the residual; each gains a factor of shift over eigenvalue.
const CORRECTIONS: usize = 8;

impl KktSystem {
    /// Factors with D of length n, pairs (row, E) and the first of these shifts that works. False when none does.
    pub fn factor(&mut self, qp: &ConvexQp, diagonal: &[f64], rows: &[(usize, f64)], shifts: &[f64]) -> bool {
        self.diagonal.clear();
        self.diagonal.extend_from_slice(diagonal);
        self.rows.clear();
        self.rows.extend(rows.iter().map(|(row, _)| *row));
        self.slack.clear();
        self.slack.extend(rows.iter().map(|(_, slack)| *slack));
        shifts.iter().any(|&shift| {
            self.assemble(qp, shift);
            qp.n() == 0 || self.ldlt.factor(&self.matrix)
        })
    }

    /// The lower triangle [H + D + δ; K_R, −E − δ].
    fn assemble(&mut self, qp: &ConvexQp, shift: f64) {
        let n = qp.n();
        let curvature = qp.curvature_scale();
        self.matrix.reset(n + self.rows.len());
        for i in 0..n {
            let diagonal = qp.hessian.get(i, i) + self.diagonal[i] + shift * curvature;
            match &qp.hessian {
                Matrix::Dense(h) => push_nonzero(&mut self.matrix, h.row(i)[..i].iter().copied().enumerate()),
                Matrix::Sparse(h) => push_nonzero(&mut self.matrix, h.row(i).take_while(|(j, _)| *j < i)),
            }
            self.matrix.push(i, diagonal);
            self.matrix.finish_row();
        }
        let (m, k) = (qp.b.len(), qp.row_lower.len());
        for (at, &row) in self.rows.iter().enumerate() {
            let (matrix, index) = if row < m { (&qp.equalities, row) } else { (&qp.inequalities, row.saturating_sub(m)) };
            match matrix {
                _ if row >= m + k => self.matrix.push(row - m - k, 1.0),
                Matrix::Dense(a) => push_nonzero(&mut self.matrix, a.row(index).iter().copied().enumerate()),
                Matrix::Sparse(a) => push_nonzero(&mut self.matrix, a.row(index)),
            }
            let norm = qp.row_norm(row);
            self.matrix.push(n + at, -self.slack[at] - shift * norm * norm / curvature);
            self.matrix.finish_row();
        }
    }

    /// Replaces `right` = (p, q) by (Δx, Δy). Not finite when the factorisation was of no use.
    pub fn solve(&mut self, qp: &ConvexQp, right: &mut [f64]) {
        let n = qp.n();
        self.residual.clear();
        self.residual.extend_from_slice(right);
        self.work.clear();
        self.work.resize(right.len(), 0.0);
        let curvature = qp.curvature_scale();
        let mut previous = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            let size =
                self.residual.iter().enumerate().map(|(i, r)| if i < n { r / curvature } else { *r / qp.row_norm(self.rows[i - n]) });
            let size = size.fold(0.0_f64, |s, r| if r.is_finite() { s.max(r.abs()) } else { f64::INFINITY });
            if size == 0.0 || size > 0.5 * previous || size == f64::INFINITY {
                break;
            }
            previous = size;
            if n > 0 {
                self.ldlt.solve(&mut self.residual);
            }
            // The matrix is that of (Δx, −Δy).
            for (i, (sum, d)) in self.work.iter_mut().zip(&self.residual).enumerate() {
                *sum += if i < n { *d } else { -d };
            }
            self.compute_residual(qp, right);
        }
        right.copy_from_slice(&self.work);
    }

    /// residual = right − (system without shifts) · work.
    fn compute_residual(&mut self, qp: &ConvexQp, right: &[f64]) {
        let n = qp.n();
        let (dx, dy) = self.work.split_at(n);
        let (rx, ry) = self.residual.split_at_mut(n);
        qp.hessian.multiply(dx, rx);
        for i in 0..n {
            rx[i] = right[i] - rx[i] - self.diagonal[i] * dx[i];
        }
        for (at, &row) in self.rows.iter().enumerate() {
            qp.add_row(row, dy[at], rx);
            ry[at] = right[n + at] - qp.row_dot(row, dx) - self.slack[at] * dy[at];
        }
    }

    /// Moves (x, y) to a solution with the rows of `active` at these values and no multipliers elsewhere; the nearest one where there are several.
    pub(crate) fn solve_active(&mut self, qp: &ConvexQp, active: &[(usize, f64)], shift: f64, (x, y): (&mut [f64], &mut [f64])) -> bool {
        let n = qp.n();
        let rows: Vec<(usize, f64)> = active.iter().map(|(row, _)| (*row, 0.0)).collect();
        if !self.factor(qp, &vec![0.0; n], &rows, &[shift]) {
            return false;
        }
        let kept: Vec<f64> = active.iter().map(|(row, _)| y[*row]).collect();
        y.fill(0.0);
        active.iter().zip(kept).for_each(|((row, _), value)| y[*row] = value);
        let mut right = vec![0.0; n + active.len()];
        qp.hessian.multiply(x, &mut right[..n]);
        right[..n].iter_mut().zip(&qp.c).for_each(|(r, c)| *r = -*r - c);
        for (at, (row, value)) in active.iter().enumerate() {
            qp.add_row(*row, y[*row], &mut right[..n]);
            right[n + at] = value - qp.row_dot(*row, x);
        }
        self.solve(qp, &mut right);
        x.iter_mut().zip(&right).for_each(|(x, d)| *x += d);
        active.iter().zip(&right[n..]).for_each(|((row, _), d)| y[*row] += d);
        x.iter().chain(y.iter()).all(|v| v.is_finite())
    }
}

fn push_nonzero(matrix: &mut SparseMatrix, entries: impl Iterator<Item = (usize, f64)>) {
    for (j, a) in entries {
        if a != 0.0 {
            matrix.push(j, a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::DenseMatrix;

    #[test]
    fn redundant_rows_and_a_singular_hessian_are_solved() {
        // minimise ½x₁² with x₁ + x₂ = 2 written twice and x₂ = 1.5: x = (0.5, 1.5), multipliers 0.5 in sum, −0.5.
        let h = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.0, 0.0]).unwrap();
        let a = DenseMatrix::new(3, 2, vec![1.0, 1.0, 1.0, 1.0, 0.0, 1.0]).unwrap();
        let qp = ConvexQp::new(h, vec![0.0; 2]).with_equalities(a, vec![2.0, 2.0, 1.5]);
        let (mut x, mut y) = (vec![0.0; 2], vec![0.0; 5]);
        let active = [(0, 2.0), (1, 2.0), (2, 1.5)];
        assert!(KktSystem::default().solve_active(&qp, &active, SHIFTS[0], (&mut x, &mut y)));
        // Corrections converge to rounding over the shift of 1e-9 at worst.
        assert!((x[0] - 0.5).abs() < 1e-12 && (x[1] - 1.5).abs() < 1e-12, "{x:?}");
        assert!((y[0] - 0.25).abs() < 1e-6 && (y[1] - 0.25).abs() < 1e-6 && (y[2] + 0.5).abs() < 1e-12, "{y:?}");
    }
}
