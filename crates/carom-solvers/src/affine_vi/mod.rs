//! Small affine variational inequalities, solved again and again with the same matrix.
//!
//! ```text
//!     r ∈ K,   u = W r + q,   −u ∈ N_K(r),   K = K₁ × K₂ × …
//! ```
//!
//! W is any square matrix. With K = ℝⁿ₊ this is the LCP, with K = ℝⁿ a linear system, with a box the mixed LCP of relays, with balls and cones a
//! second-order problem: the one-step problems of first-order systems. [`AffineViSolver`] guesses the pieces of the last solution first: where they
//! still hold, a solve is one back-substitution.
//!
//! ```
//! use carom_solvers::affine_vi::{AffineVi, AffineViSolver};
//! use carom_solvers::{Solution, vi::Set};
//!
//! // A relay: λ = −sign(u), u = 2 λ + 1: λ = −½ holds u = 0.
//! let problem = AffineVi { w: vec![2.0], q: vec![1.0], sets: vec![Set::Interval { lower: -1.0, upper: 1.0 }], generation: 0 };
//! let mut solution = Solution::default();
//! let report = AffineViSolver::new(1e-10)?.solve(&problem, &mut solution)?;
//! assert!(report.is_converged());
//! assert_eq!((solution.r[0], solution.u[0]), (-0.5, 0.0));
//! # Ok::<(), carom_solvers::SolveError>(())
//! ```

mod factors;
mod mixed_form;
mod natural_newton;
mod pieces;
mod solver;

pub use pieces::Piece;
pub use solver::AffineViSolver;

use crate::error::{SolveError, check_finite, check_size};
use crate::vi::Set;

/// Outputs below this fraction of the largest term of all rows are rounding: differences of such terms.
const ROUNDING: f64 = 1e-13;

/// −(W r + q) ∈ N_K(r).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AffineVi {
    /// W, row-major, n × n.
    pub w: Vec<f64>,
    /// q, of length n.
    pub q: Vec<f64>,
    /// The factors of K, in the order of the components.
    pub sets: Vec<Set>,
    /// Changes whenever W or the sets change: what was factored for another number is factored anew.
    pub generation: u64,
}

impl AffineVi {
    /// Number of components.
    #[inline]
    pub fn n(&self) -> usize {
        self.q.len()
    }

    /// u = W r + q.
    #[inline]
    pub fn velocity(&self, r: &[f64], u: &mut [f64]) {
        let n = self.n();
        for (i, u) in u.iter_mut().enumerate() {
            let row = &self.w[i * n..(i + 1) * n];
            *u = self.q[i] + row.iter().zip(r).map(|(w, r)| w * r).sum::<f64>();
        }
    }

    /// s = mean |diag W| over the rows that are no equations, or 1: the unit in which r and u are compared.
    pub fn scale(&self) -> f64 {
        let n = self.n();
        let (mut sum, mut count, mut row) = (0.0, 0.0, 0);
        for set in &self.sets {
            if !matches!(set, Set::Free { .. }) {
                sum += (row..row + set.dim()).map(|i| self.w[i * n + i].abs()).sum::<f64>();
                count += set.dim() as f64;
            }
            row += set.dim();
        }
        let mean = sum / count;
        if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
    }

    /// How far (r, u) is from a solution: the judge of convergence. `work` is overwritten.
    ///
    /// Over intervals, row by row: an output against the largest term of its own row, s_i = |q_i| + Σ |W_ij r_j|, a multiplier by what it does in the row where it weighs most, c_i = max_k |W_ki|/s_k,
    ///
    /// ```text
    ///     |u_i|/s_i on rows that are held,     min(u_i/s_i, c_i (r_i − lower)) where u_i > 0,     the same with the upper bound where u_i < 0
    /// ```
    ///
    /// and the largest of them counts, u_i less the rounding of the largest term of all. So a balance of microamperes is not lost beside a row of kilovolts. Where other sets take part: the natural map s |r − P_K(r − u/s)| relative to
    /// max(|q|, s |r|, |u|), that of [`crate::Lcp`] and [`crate::VariationalInequality`].
    pub fn residual_normalised(&self, r: &[f64], u: &[f64], work: &mut Vec<f64>) -> f64 {
        if self.has_pieces() { self.residual_by_rows(r, u, work) } else { self.residual_in_unit(r, u, self.scale(), work) }
    }

    /// The residual of one row, the terms of all rows being in `sizes` and their rounding `slack`.
    fn row_residual(&self, i: usize, (lower, upper): (f64, f64), (r, u): (f64, f64), (sizes, slack): (&[f64], f64)) -> f64 {
        let n = self.n();
        let weight = || (0..n).fold(0.0_f64, |c, k| c.max(self.w[k * n + i].abs() / sizes[k].max(f64::MIN_POSITIVE)));
        let outside = (lower - r).max(r - upper).max(0.0);
        // what r may not be where u has this sign
        let off = if u > 0.0 { r - lower } else { upper - r };
        let of_output = (u.abs() - slack).max(0.0);
        let of_output = if of_output > 0.0 { of_output / sizes[i].max(f64::MIN_POSITIVE) } else { 0.0 };
        let held = match off > 0.0 && of_output > 0.0 {
            true if off.is_finite() => of_output.min(weight() * off),
            true => of_output,
            false => 0.0,
        };
        if outside > 0.0 { held.max(weight() * outside) } else { held }
    }

    /// The row with the largest residual; `None` where sets are no intervals.
    #[must_use]
    pub fn worst_row(&self, r: &[f64], u: &[f64]) -> Option<usize> {
        let (mut sizes, mut worst) = (Vec::new(), None);
        if self.has_pieces() {
            self.visit_rows(r, u, &mut sizes, &mut |i, residual| {
                if worst.is_none_or(|(_, most)| residual > most) {
                    worst = Some((i, residual));
                }
            });
        }
        worst.map(|(i, _)| i)
    }

    fn residual_by_rows(&self, r: &[f64], u: &[f64], sizes: &mut Vec<f64>) -> f64 {
        let mut worst = 0.0_f64;
        self.visit_rows(r, u, sizes, &mut |_, residual| worst = if residual.is_nan() { f64::INFINITY } else { worst.max(residual) });
        worst
    }

    /// Tells the residual of every row, where all sets are intervals.
    fn visit_rows(&self, r: &[f64], u: &[f64], sizes: &mut Vec<f64>, visit: &mut dyn FnMut(usize, f64)) {
        let n = self.n();
        sizes.clear();
        sizes.extend((0..n).map(|i| {
            let row = &self.w[i * n..(i + 1) * n];
            self.q[i].abs() + row.iter().zip(r).map(|(w, r)| (w * r).abs()).sum::<f64>()
        }));
        let slack = ROUNDING * sizes.iter().fold(0.0_f64, |m, s| m.max(*s));
        let mut start = 0;
        for set in &self.sets {
            let bounds = match *set {
                Set::NonNegative { .. } => (0.0, f64::INFINITY),
                Set::Interval { lower, upper } => (lower, upper),
                _ => (f64::NEG_INFINITY, f64::INFINITY),
            };
            for i in start..start + set.dim() {
                visit(i, self.row_residual(i, bounds, (r[i], u[i]), (sizes, slack)));
            }
            start += set.dim();
        }
    }

    pub(crate) fn residual_in_unit(&self, r: &[f64], u: &[f64], scale: f64, work: &mut Vec<f64>) -> f64 {
        work.clear();
        work.extend(r.iter().zip(u).map(|(r, u)| r - u / scale));
        self.project(work);
        let (mut error, mut largest_r, mut largest_u, mut largest_q) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..self.n() {
            // on a row that is held, u is the error itself: no difference of nearly equal numbers
            let natural = if work[i] == r[i] - u[i] / scale { u[i] } else { scale * (r[i] - work[i]) };
            error += natural * natural;
            largest_r += r[i] * r[i];
            largest_u += u[i] * u[i];
            largest_q += self.q[i] * self.q[i];
        }
        let size = f64::max(scale * scale * largest_r, f64::max(largest_u, largest_q)).sqrt();
        if size > f64::EPSILON { error.sqrt() / size } else { error.sqrt() }
    }

    /// Moves z to the nearest point of K.
    pub fn project(&self, z: &mut [f64]) {
        let mut start = 0;
        for set in &self.sets {
            let end = start + set.dim();
            set.project(&mut z[start..end]);
            start = end;
        }
    }

    /// All sets are intervals, finite or not: each row is on one of three pieces.
    pub fn has_pieces(&self) -> bool {
        self.sets.iter().all(|set| matches!(set, Set::Free { .. } | Set::NonNegative { .. } | Set::Interval { .. }))
    }

    /// Checks sizes, finiteness and sets.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`], [`SolveError::NotFinite`] or [`SolveError::BadBlock`].
    pub fn validate(&self) -> Result<(), SolveError> {
        check_size("W", self.n() * self.n(), self.w.len())?;
        check_size("sets", self.n(), self.sets.iter().map(Set::dim).sum())?;
        for (block, set) in self.sets.iter().enumerate() {
            if let Some((value, expected)) = set.fault() {
                return Err(SolveError::BadBlock { block, value, expected });
            }
        }
        check_finite("W", &self.w)?;
        check_finite("q", &self.q)
    }
}
