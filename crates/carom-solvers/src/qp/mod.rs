//! The convex quadratic program.
//!
//! ```text
//!     minimise ½ xᵀH x + cᵀx   subject to   A x = b,   l ≤ G x ≤ h,   x_l ≤ x ≤ x_u
//! ```
//!
//! with H symmetric and positive semidefinite. All constraints are rows of K = [A; G; 1] with a lower and an upper bound each.

mod active_set;
mod factors;
mod interior_point;
mod kkt_system;
mod parameters;

pub use active_set::ActiveSet;
pub use interior_point::InteriorPoint;
pub use parameters::QpSolverParams;

use crate::Solution;
use crate::cones::norm_squared;
use crate::error::{SolveError, check_finite, check_size};
use crate::matrix::{DenseMatrix, Matrix};
use crate::report::{SolveReport, SolveStatus};

/// minimise ½ xᵀH x + cᵀx subject to A x = b, l ≤ G x ≤ h, x_l ≤ x ≤ x_u.
///
/// In a [`Solution`], `r` is x and `u` holds one multiplier y per row of K = [A; G; 1]: first those of the equalities, then of the
/// inequalities, then of the bounds of x. At a solution
///
/// ```text
///     H x + c = Kᵀ y,   y ≥ 0 where only the lower bound is reached, y ≤ 0 at the upper one, y = 0 between them
/// ```
///
/// ```
/// use carom_solvers::{ConvexQp, DenseMatrix, QpSolverParams, Solution, qp_solver};
/// // The point of x₁ + x₂ ≥ 2 closest to the origin.
/// let h = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0])?;
/// let g = DenseMatrix::new(1, 2, vec![1.0, 1.0])?;
/// let qp = ConvexQp::new(h, vec![0.0; 2]).with_inequalities(g, vec![2.0], vec![f64::INFINITY]);
/// let mut solution = Solution::default();
/// let report = qp_solver(&QpSolverParams::default())?.solve(&qp, &mut solution)?;
/// assert!(report.is_converged());
/// assert!((solution.r[0] - 1.0).abs() < 1e-9 && (solution.u[0] - 1.0).abs() < 1e-9);
/// # Ok::<(), carom_solvers::SolveError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConvexQp {
    /// H, n × n, symmetric, positive semidefinite.
    pub hessian: Matrix,
    /// c, of length n.
    pub c: Vec<f64>,
    /// A.
    pub equalities: Matrix,
    /// b, as long as A has rows.
    pub b: Vec<f64>,
    /// G.
    pub inequalities: Matrix,
    /// l, as long as G has rows; −∞ where there is none.
    pub row_lower: Vec<f64>,
    /// h, as long as G has rows; ∞ where there is none.
    pub row_upper: Vec<f64>,
    /// x_l, of length n; −∞ where there is none.
    pub lower: Vec<f64>,
    /// x_u, of length n; ∞ where there is none.
    pub upper: Vec<f64>,
}

/// Asymmetry of H that is rounding, relative to its largest entry.
const ASYMMETRY: f64 = 1e-10;

impl ConvexQp {
    /// The program without constraints.
    pub fn new(hessian: impl Into<Matrix>, c: Vec<f64>) -> Self {
        let n = c.len();
        let none: Matrix = DenseMatrix::new(0, n, Vec::new()).unwrap_or_default().into();
        ConvexQp {
            hessian: hessian.into(),
            c,
            equalities: none.clone(),
            b: Vec::new(),
            inequalities: none,
            row_lower: Vec::new(),
            row_upper: Vec::new(),
            lower: vec![f64::NEG_INFINITY; n],
            upper: vec![f64::INFINITY; n],
        }
    }

    /// The same with A x = b instead of its equalities.
    pub fn with_equalities(mut self, a: impl Into<Matrix>, b: Vec<f64>) -> Self {
        (self.equalities, self.b) = (a.into(), b);
        self
    }

    /// The same with l ≤ G x ≤ h instead of its inequalities.
    pub fn with_inequalities(mut self, g: impl Into<Matrix>, lower: Vec<f64>, upper: Vec<f64>) -> Self {
        (self.inequalities, self.row_lower, self.row_upper) = (g.into(), lower, upper);
        self
    }

    /// The same with these bounds of x.
    pub fn with_bounds(mut self, lower: Vec<f64>, upper: Vec<f64>) -> Self {
        (self.lower, self.upper) = (lower, upper);
        self
    }

    /// Number of unknowns.
    #[inline]
    pub fn n(&self) -> usize {
        self.c.len()
    }

    /// Number of rows of K: equalities, inequalities and unknowns.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.b.len() + self.row_lower.len() + self.n()
    }

    /// Lower and upper bound of a row of K.
    pub fn bounds(&self, row: usize) -> (f64, f64) {
        let (m, k) = (self.b.len(), self.row_lower.len());
        if row < m {
            (self.b[row], self.b[row])
        } else if row < m + k {
            (self.row_lower[row - m], self.row_upper[row - m])
        } else {
            (self.lower[row - m - k], self.upper[row - m - k])
        }
    }

    /// (row of K) · x.
    pub(crate) fn row_dot(&self, row: usize, x: &[f64]) -> f64 {
        let (m, k) = (self.b.len(), self.row_lower.len());
        if row < m {
            self.equalities.row_dot(row, x)
        } else if row < m + k {
            self.inequalities.row_dot(row - m, x)
        } else {
            x[row - m - k]
        }
    }

    /// out += factor · (row of K)ᵀ.
    pub fn add_row(&self, row: usize, factor: f64, out: &mut [f64]) {
        let (m, k) = (self.b.len(), self.row_lower.len());
        if row < m {
            self.equalities.add_row(row, factor, out);
        } else if row < m + k {
            self.inequalities.add_row(row - m, factor, out);
        } else {
            out[row - m - k] += factor;
        }
    }

    /// |row of K|, or 1 for a row of zeros.
    pub(crate) fn row_norm(&self, row: usize) -> f64 {
        let (m, k) = (self.b.len(), self.row_lower.len());
        let norm = |matrix: &Matrix, i: usize| match matrix {
            Matrix::Dense(a) => norm_squared(a.row(i)),
            Matrix::Sparse(a) => a.row(i).map(|(_, v)| v * v).sum(),
        };
        let squared = if row < m {
            norm(&self.equalities, row)
        } else if row < m + k {
            norm(&self.inequalities, row - m)
        } else {
            1.0
        };
        if squared > 0.0 { squared.sqrt() } else { 1.0 }
    }

    /// Mean of the diagonal of H; where that vanishes (a linear program) the largest |c|, or 1.
    pub(crate) fn curvature_scale(&self) -> f64 {
        let mean = (0..self.n()).map(|i| self.hessian.get(i, i)).sum::<f64>() / self.n().max(1) as f64;
        let largest = self.c.iter().fold(0.0_f64, |s, c| s.max(c.abs()));
        [mean, largest].into_iter().find(|s| *s > 0.0 && s.is_finite()).unwrap_or(1.0)
    }

    /// The error of (x, y) in the units of the problem; see [`ConvexQp::residual_normalised`].
    pub fn residual(&self, x: &[f64], y: &[f64]) -> f64 {
        self.residual_in_units(x, y, 1.0, |_| 1.0)
    }

    /// The error of (x, y) with rows of K of unit length and mean(diag H) = 1: the judge of convergence. The largest of
    ///
    /// ```text
    ///     |H x + c − Kᵀ y|     / max(|c|, |H x|, |Kᵀ y|)                                  stationarity
    ///     |K x − P(K x)|       / max(|x|, |c|, |P(K x)|)                                  feasibility
    ///     |K x − P(K x − y)|   / max(|x|, |c|, |P(K x)|, |y|)                             complementarity
    /// ```
    ///
    /// where P projects on the bounds of the rows. Feasibility is not measured against y, which grows without limit where no x is feasible.
    pub fn residual_normalised(&self, x: &[f64], y: &[f64]) -> f64 {
        self.residual_in_units(x, y, self.curvature_scale(), |row| self.row_norm(row))
    }

    fn residual_in_units(&self, x: &[f64], y: &[f64], curvature: f64, norm: impl Fn(usize) -> f64) -> f64 {
        let n = self.n();
        let (mut hx, mut ky) = (vec![0.0; n], vec![0.0; n]);
        self.hessian.multiply(x, &mut hx);
        let c = norm_squared(&self.c).sqrt() / curvature;
        let (mut outside, mut open, mut inside, mut multipliers) = (0.0, 0.0, 0.0, 0.0);
        for (row, &y) in y.iter().enumerate() {
            let (unit, (lower, upper)) = (norm(row), self.bounds(row));
            let (value, y_unit) = (self.row_dot(row, x) / unit, y * unit / curvature);
            let (lower, upper) = (lower / unit, upper / unit);
            let nearest = project(value, lower, upper);
            outside += (value - nearest).powi(2);
            open += (value - project(value - y_unit, lower, upper)).powi(2);
            // Rows without bounds say nothing about the size of the problem.
            inside += if lower.is_finite() || upper.is_finite() { nearest.powi(2) } else { 0.0 };
            multipliers += y_unit.powi(2);
            if y != 0.0 {
                self.add_row(row, y, &mut ky);
            }
        }
        let stationarity = (0..n).map(|i| ((hx[i] + self.c[i] - ky[i]) / curvature).powi(2)).sum::<f64>().sqrt();
        let size = norm_squared(&hx).max(norm_squared(&ky)).sqrt() / curvature;
        let primal = c.max(f64::sqrt(inside)).max(norm_squared(x).sqrt());
        let relative = |error: f64, size: f64| if size > f64::EPSILON { error / size } else { error };
        let parts = [
            relative(stationarity, size.max(c)),
            relative(f64::sqrt(outside), primal),
            relative(f64::sqrt(open), primal.max(f64::sqrt(multipliers))),
        ];
        // Not a number counts as infinite.
        parts.into_iter().fold(0.0, |worst, part| if part.is_nan() { f64::INFINITY } else { f64::max(worst, part) })
    }

    /// Checks sizes, finiteness, the order of the bounds and the symmetry of H.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`], [`SolveError::NotFinite`], or [`SolveError::BadBlock`] naming the row of K with
    /// a bound that is no number or a lower one above the upper one, or the row of H that is not that of a symmetric positive semidefinite matrix.
    pub fn validate(&self) -> Result<(), SolveError> {
        let n = self.n();
        check_size("H", n, self.hessian.n_rows())?;
        check_size("H", n, self.hessian.n_columns())?;
        self.hessian.check_finite("H")?;
        check_finite("c", &self.c)?;
        for (what, matrix, rows) in [("A", &self.equalities, self.b.len()), ("G", &self.inequalities, self.row_lower.len())] {
            check_size(what, rows, matrix.n_rows())?;
            if rows > 0 {
                check_size(what, n, matrix.n_columns())?;
            }
            matrix.check_finite(what)?;
        }
        check_finite("b", &self.b)?;
        check_size("row upper bounds", self.row_lower.len(), self.row_upper.len())?;
        check_size("lower bounds", n, self.lower.len())?;
        check_size("upper bounds", n, self.upper.len())?;
        for row in 0..self.n_rows() {
            let (lower, upper) = self.bounds(row);
            let good = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
            if !good {
                return Err(SolveError::BadBlock { block: row, value: lower, expected: "a lower bound up to the upper one" });
            }
        }
        let largest = self.hessian.values().iter().fold(0.0_f64, |s, a| s.max(a.abs()));
        for i in 0..n {
            let asymmetry = match &self.hessian {
                Matrix::Dense(h) => {
                    h.row(i).iter().enumerate().find(|(j, a)| (**a - h.row(*j)[i]).abs() > ASYMMETRY * largest).map(|(_, a)| *a)
                }
                Matrix::Sparse(h) => h.row(i).find(|(j, a)| (a - h.get(*j, i)).abs() > ASYMMETRY * largest).map(|(_, a)| a),
            };
            if let Some(value) = asymmetry {
                return Err(SolveError::BadBlock { block: i, value, expected: "a symmetric H" });
            }
            let value = self.hessian.get(i, i);
            if value < 0.0 {
                return Err(SolveError::BadBlock { block: i, value, expected: "a diagonal of H without negative entries" });
            }
        }
        Ok(())
    }

    /// Gives the vectors of a solution their lengths and replaces an unusable guess by zero.
    pub(crate) fn prepare(&self, solution: &mut Solution) {
        let usable = |v: &[f64], n: usize| v.len() == n && v.iter().all(|x| x.is_finite());
        for (v, n) in [(&mut solution.r, self.n()), (&mut solution.u, self.n_rows())] {
            if !usable(v, n) {
                v.clear();
                v.resize(n, 0.0);
            }
        }
    }

    /// The report of a solution: both residuals, and `otherwise` unless the judge is satisfied.
    pub(crate) fn report(
        &self,
        solver: &'static str,
        solution: &Solution,
        iterations: usize,
        tolerance: f64,
        otherwise: SolveStatus,
    ) -> SolveReport {
        let residual_normalised = self.residual_normalised(&solution.r, &solution.u);
        SolveReport {
            status: SolveStatus::judged(residual_normalised, tolerance, otherwise),
            solver,
            iterations,
            residual: self.residual(&solution.r, &solution.u),
            residual_normalised,
        }
    }
}

/// The nearest number of \[lower, upper\].
pub(crate) fn project(value: f64, lower: f64, upper: f64) -> f64 {
    value.max(lower).min(upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(n: usize) -> DenseMatrix {
        DenseMatrix::new(n, n, (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect()).unwrap()
    }

    #[test]
    fn the_residual_has_three_parts() {
        // minimise ½x² with 1 ≤ x: x = 1, y = 1.
        let qp = ConvexQp::new(unit(1), vec![0.0]).with_bounds(vec![1.0], vec![f64::INFINITY]);
        assert_eq!(qp.residual(&[1.0], &[1.0]), 0.0);
        assert_eq!(qp.residual(&[1.0], &[0.0]), 1.0); // stationarity |x|/|Hx|
        assert_eq!(qp.residual(&[0.5], &[0.5]), 0.5); // 1 − x, relative to P(x) = 1
        assert_eq!(qp.residual(&[2.0], &[2.0]), 0.5); // open by 1 with a multiplier, relative to x = 2
    }

    #[test]
    fn units_do_not_change_the_normalised_residual() {
        let qp = ConvexQp::new(unit(2), vec![-1.0, 0.5]).with_inequalities(
            DenseMatrix::new(1, 2, vec![1.0, 2.0]).unwrap(),
            vec![-1.0],
            vec![0.25],
        );
        let g = DenseMatrix::new(1, 2, vec![1e3, 2e3]).unwrap();
        let h = DenseMatrix::new(2, 2, vec![1e6, 0.0, 0.0, 1e6]).unwrap();
        let other = ConvexQp::new(h, vec![-1e6, 0.5e6]).with_inequalities(g, vec![-1e3], vec![250.0]);
        let (a, b) = (qp.residual_normalised(&[0.3, 0.1], &[-0.5, 0.0, 0.0]), other.residual_normalised(&[0.3, 0.1], &[-500.0, 0.0, 0.0]));
        assert!(a > 0.1 && (a - b).abs() < 1e-14, "{a} {b}"); // rounding
    }

    #[test]
    fn malformed_programs_are_refused() {
        let good = ConvexQp::new(unit(2), vec![0.0; 2]);
        assert!(good.validate().is_ok());
        assert!(good.clone().with_bounds(vec![0.0], vec![1.0]).validate().is_err());
        assert!(good.clone().with_bounds(vec![1.0, 0.0], vec![0.0, 1.0]).validate().is_err());
        assert!(good.clone().with_bounds(vec![f64::NAN, 0.0], vec![1.0; 2]).validate().is_err());
        assert!(good.clone().with_equalities(unit(3), vec![0.0; 3]).validate().is_err());
        let skew = DenseMatrix::new(2, 2, vec![1.0, 1.0, -1.0, 1.0]).unwrap();
        assert!(matches!(ConvexQp::new(skew, vec![0.0; 2]).validate(), Err(SolveError::BadBlock { block: 0, .. })));
    }
}
