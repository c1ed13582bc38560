//! The linear complementarity problem: w = M z + q, 0 ≤ w ⊥ z ≥ 0.

pub(crate) mod active_block;
mod active_cholesky;
mod active_system;
mod auto;
mod covering_vector;
mod descent;
mod enumeration;
mod interior_point;
mod katzenelson;
mod lemke;
mod mangasarian;
mod murty;
mod newton_fischer_burmeister;
mod newton_min;
mod parameters;
mod pgs;
mod polished_iterate;
mod principal_pivoting;
mod projected_cg;
mod proximal_pivoting;
pub(crate) mod subsets;
mod unit_diagonal;

pub use auto::Auto;
pub use covering_vector::CoveringVector;
pub use enumeration::Enumeration;
pub use interior_point::InteriorPoint;
pub use katzenelson::Katzenelson;
pub use lemke::{Lemke, LemkeParams};
pub use mangasarian::Mangasarian;
pub use murty::Murty;
pub use newton_fischer_burmeister::NewtonFischerBurmeister;
pub use newton_min::NewtonMin;
pub use parameters::LcpSolverParams;
pub use pgs::Pgs;
pub use principal_pivoting::PrincipalPivoting;
pub use projected_cg::ProjectedCg;

use crate::Solution;
use crate::best_iterate::Judge;
use crate::cones::norm_squared;
use crate::error::{SolveError, check_finite, check_size};
use crate::matrix::{DenseMatrix, Matrix};
use crate::report::{SolveReport, SolveStatus};

/// w = M z + q, 0 ≤ w ⊥ z ≥ 0. In a [`Solution`], z is `r` and w is `u`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lcp {
    /// M, square.
    pub m: Matrix,
    /// q.
    pub q: Vec<f64>,
}

impl Lcp {
    /// The problem with a row-major dense M.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] unless M has as many rows and columns as q has entries.
    pub fn dense(m: Vec<f64>, q: Vec<f64>) -> Result<Self, SolveError> {
        let n = q.len();
        check_size("M", n * n, m.len())?;
        Ok(Lcp { m: DenseMatrix::new(n, n, m)?.into(), q })
    }

    /// Number of rows.
    #[inline]
    pub fn n(&self) -> usize {
        self.q.len()
    }

    /// w = M z + q.
    pub fn velocity(&self, z: &[f64], w: &mut [f64]) {
        self.m.multiply(z, w);
        for (w, q) in w.iter_mut().zip(&self.q) {
            *w += q;
        }
    }

    /// |min(z, w)| / max(|q|, |z|, |w|): the natural map, relative as for friction contact.
    pub fn residual(&self, z: &[f64], w: &[f64]) -> f64 {
        self.residual_in_unit(z, w, 1.0)
    }

    /// s = mean(diag M), or 1 when that is not positive.
    pub fn mass_scale(&self) -> f64 {
        let sum: f64 = (0..self.n()).map(|i| self.m.get(i, i)).sum();
        let mean = sum / self.n() as f64;
        if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
    }

    /// The residual in the unit of z that gives mean(diag M) = 1: the judge of convergence.
    pub fn residual_normalised(&self, z: &[f64], w: &[f64]) -> f64 {
        self.residual_in_unit(z, w, self.mass_scale())
    }

    pub(crate) fn residual_in_unit(&self, z: &[f64], w: &[f64], scale: f64) -> f64 {
        let error: f64 = z.iter().zip(w).map(|(z, w)| (scale * z).min(*w).powi(2)).sum();
        let size = norm_squared(&self.q).max(norm_squared(z) * scale * scale).max(norm_squared(w)).sqrt();
        if size > f64::EPSILON { error.sqrt() / size } else { error.sqrt() }
    }

    /// Checks sizes and finiteness.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] or [`SolveError::NotFinite`].
    pub fn validate(&self) -> Result<(), SolveError> {
        check_size("M", self.n(), self.m.n_rows())?;
        check_size("M", self.n(), self.m.n_columns())?;
        self.m.check_finite("M")?;
        check_finite("q", &self.q)
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

impl Judge for Lcp {
    fn velocity(&self, z: &[f64], w: &mut [f64]) {
        self.velocity(z, w);
    }

    fn residual_normalised(&self, z: &[f64], w: &[f64]) -> f64 {
        self.residual_normalised(z, w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residual_is_the_relative_natural_map() {
        let lcp = Lcp::dense(vec![4.0, 0.0, 0.0, 4.0], vec![-4.0, 3.0]).unwrap();
        // z = (0.5, 0): w = (−2, 3), min = (−2, 0), largest norm |q| = 5.
        let z = [0.5, 0.0];
        let mut w = [0.0; 2];
        lcp.velocity(&z, &mut w);
        assert_eq!(w, [-2.0, 3.0]);
        assert_eq!(lcp.residual(&z, &w), 2.0 / 5.0);
        assert_eq!(lcp.mass_scale(), 4.0);
    }

    #[test]
    fn wrong_sizes_are_refused() {
        let mut lcp = Lcp::dense(vec![1.0; 4], vec![0.0; 2]).unwrap();
        lcp.q.push(0.0);
        assert!(matches!(lcp.validate(), Err(SolveError::SizeMismatch { what: "M", .. })));
        assert!(Lcp::dense(vec![1.0; 4], vec![0.0]).is_err());
    }
}
