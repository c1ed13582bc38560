//! Variational inequalities, among them nonlinear complementarity problems.
//!
//! ```text
//!     x ∈ X,   F(x)ᵀ (y − x) ≥ 0  for all y ∈ X,   X = X₁ × X₂ × …,
//! ```
//!
//! X a product of simple closed convex sets ([`Set`]). With X = ℝⁿ₊ it is the nonlinear complementarity problem 0 ≤ F(x) ⊥ x ≥ 0, with
//! X = ℝⁿ a system of equations, with a box a mixed complementarity problem. In a [`Solution`], x is `r` and F(x) is `u`.
//!
//! ```
//! use carom_solvers::vi::{Closure, Set, VariationalInequality};
//! use carom_solvers::{Solution, ViSolverParams, vi_solver};
//!
//! // 0 ≤ x² − 4 ⊥ x ≥ 0.
//! let function = Closure::new(1, |x: &[f64], f: &mut [f64]| f[0] = x[0] * x[0] - 4.0);
//! let problem = VariationalInequality { function: Box::new(function), sets: vec![Set::NonNegative { dim: 1 }] };
//! let mut solution = Solution { r: vec![1.0], u: vec![] };
//! let report = vi_solver(&ViSolverParams::default())?.solve(&problem, &mut solution)?;
//! assert!(report.is_converged());
//! assert!((solution.r[0] - 2.0).abs() < 1e-9);
//! # Ok::<(), carom_solvers::SolveError>(())
//! ```

mod extragradient;
mod fixed_point;
mod function;
mod generalised_jacobian;
mod parameters;
mod projections;
mod semismooth_newton;
mod set;

pub use extragradient::Extragradient;
pub use fixed_point::FixedPoint;
pub use function::{Affine, Closure, VariationalFunction};
pub use parameters::ViSolverParams;
pub use semismooth_newton::SemismoothNewton;
pub use set::Set;

use crate::Solution;
use crate::cones::norm_squared;
use crate::error::{SolveError, check_finite, check_size};
use crate::report::{SolveReport, SolveStatus};

/// F(x)ᵀ (y − x) ≥ 0 for all y in X.
#[derive(Debug)]
pub struct VariationalInequality {
    /// F.
    pub function: Box<dyn VariationalFunction>,
    /// The factors of X, in the order of the components of x.
    pub sets: Vec<Set>,
}

impl VariationalInequality {
    /// Number of components of x.
    pub fn n(&self) -> usize {
        self.function.n()
    }

    /// f = F(x).
    pub fn velocity(&self, x: &[f64], f: &mut [f64]) {
        self.function.evaluate(x, f);
    }

    /// Moves x to the nearest point of X.
    pub fn project(&self, x: &mut [f64]) {
        let mut start = 0;
        for set in &self.sets {
            let end = start + set.dim();
            set.project(&mut x[start..end]);
            start = end;
        }
    }

    /// Error of x with f = F(x) already computed: the natural map
    ///
    ///   |x − P_X(x − F(x))| / max(|x|, |F(x)|, |F(x₀)|),   x₀ = P_X(0),
    ///
    /// where the division is left out when the largest norm is below machine precision, and F(x₀) where it is not finite. For an
    /// affine F on a cone, |F(x₀)| = |q| and this is the residual of [`Lcp`](crate::Lcp) and
    /// [`FrictionContact`](crate::FrictionContact). It depends on the units of x and F. Cost: one evaluation of F.
    pub fn residual(&self, x: &[f64], f: &[f64]) -> f64 {
        self.residual_in_unit(x, f, 1.0, self.reference_size())
    }

    /// The residual for s x in place of x, with s = [`VariationalFunction::slope`]: the judge of convergence.
    pub fn residual_normalised(&self, x: &[f64], f: &[f64]) -> f64 {
        self.residual_in_unit(x, f, self.slope(), self.reference_size())
    }

    /// s; 1 where the function gives none that is of use.
    pub(crate) fn slope(&self) -> f64 {
        let slope = self.function.slope();
        if slope > 0.0 && slope.is_finite() { slope } else { 1.0 }
    }

    /// |F(P_X(0))|, zero where it is not finite.
    pub(crate) fn reference_size(&self) -> f64 {
        let mut x = vec![0.0; self.n()];
        self.project(&mut x);
        let mut f = vec![0.0; self.n()];
        self.function.evaluate(&x, &mut f);
        let size = norm_squared(&f).sqrt();
        if size.is_finite() { size } else { 0.0 }
    }

    /// |x| above which x only grows because nothing stops it: 1e8 |F(x₀)|/s beyond |x₀|, x₀ = P_X(0).
    ///
    /// The residual is relative to |x|; where there is no solution it falls below any tolerance when x grows.
    pub(crate) fn largest(&self, slope: f64, reference: f64) -> f64 {
        let mut x = vec![0.0; self.n()];
        self.project(&mut x);
        if reference > 0.0 { norm_squared(&x).sqrt() + 1e8 * reference / slope } else { f64::INFINITY }
    }

    /// s |x − P_X(x − F/s)| / max(s |x|, |F|, reference).
    pub(crate) fn residual_in_unit(&self, x: &[f64], f: &[f64], slope: f64, reference: f64) -> f64 {
        let mut z: Vec<f64> = x.iter().zip(f).map(|(x, f)| x - f / slope).collect();
        self.project(&mut z);
        let error: f64 = x.iter().zip(&z).map(|(x, z)| (x - z) * (x - z)).sum();
        let error = slope * error.sqrt();
        let size = (slope * norm_squared(x).sqrt()).max(norm_squared(f).sqrt()).max(reference);
        if size > f64::EPSILON { error / size } else { error }
    }

    /// Checks that the sets fill ℝⁿ and are not empty. F is checked by the solvers, at their first iterate.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] or [`SolveError::BadBlock`].
    pub fn validate(&self) -> Result<(), SolveError> {
        for (block, set) in self.sets.iter().enumerate() {
            if let Some((value, expected)) = set.fault() {
                return Err(SolveError::BadBlock { block, value, expected });
            }
        }
        check_size("sets", self.n(), self.sets.iter().map(Set::dim).sum())
    }

    /// Moves the guess to X, or to P_X(0) where F is not finite at the guess.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] where F is not finite there either.
    pub(crate) fn start(&self, solution: &mut Solution) -> Result<(), SolveError> {
        self.validate()?;
        solution.prepare(self.n());
        let Solution { r, u } = solution;
        self.project(r);
        self.velocity(r, u);
        if u.iter().all(|f| f.is_finite()) {
            return Ok(());
        }
        r.fill(0.0);
        self.project(r);
        self.velocity(r, u);
        check_finite("F(x)", u)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lcp::Lcp;
    use crate::matrix::DenseMatrix;

    #[test]
    fn an_lcp_has_the_same_residuals_in_both_forms() {
        let (m, q) = (vec![4.0, 1.0, -1.0, 2.0], vec![-4.0, 3.0]);
        let lcp = Lcp::dense(m.clone(), q.clone()).unwrap();
        let function = Affine::new(DenseMatrix::new(2, 2, m).unwrap().into(), q).unwrap();
        let problem = VariationalInequality { function: Box::new(function), sets: vec![Set::NonNegative { dim: 2 }] };
        for x in [[0.0, 0.0], [0.5, 0.1], [3.0, 0.0], [1e3, 2e3]] {
            let mut f = [0.0; 2];
            problem.velocity(&x, &mut f);
            // The same formula in another order of operations.
            assert!((problem.residual(&x, &f) - lcp.residual(&x, &f)).abs() < 1e-14);
            assert!((problem.residual_normalised(&x, &f) - lcp.residual_normalised(&x, &f)).abs() < 1e-14);
        }
    }

    #[test]
    fn sets_must_fill_the_space() {
        let function = || Box::new(Closure::new(3, |x: &[f64], f: &mut [f64]| f.copy_from_slice(x)));
        let short = VariationalInequality { function: function(), sets: vec![Set::NonNegative { dim: 2 }] };
        assert_eq!(short.validate(), Err(SolveError::SizeMismatch { what: "sets", expected: 3, found: 2 }));
        let bad =
            VariationalInequality { function: function(), sets: vec![Set::Free { dim: 2 }, Set::Interval { lower: 1.0, upper: 0.0 }] };
        assert!(matches!(bad.validate(), Err(SolveError::BadBlock { block: 1, .. })));
    }

    #[test]
    fn a_function_without_values_is_an_error_and_not_a_panic() {
        let nowhere = Closure::new(1, |_: &[f64], f: &mut [f64]| f[0] = f64::NAN);
        let problem = VariationalInequality { function: Box::new(nowhere), sets: vec![Set::Free { dim: 1 }] };
        let error = problem.start(&mut Solution::default()).unwrap_err();
        assert_eq!(error, SolveError::NotFinite { what: "F(x)", index: 0 });
    }
}
