//! The mixed linear complementarity problem: equations with free unknowns and complementarity together.

mod elimination;
mod enumeration;
mod equilibrated;
mod lemke;
mod newton_fischer_burmeister;
mod parameters;
mod pgs;
mod reduction;

pub use elimination::Elimination;
pub use enumeration::Enumeration;
pub use lemke::Lemke;
pub use newton_fischer_burmeister::NewtonFischerBurmeister;
pub use parameters::MlcpSolverParams;
pub use pgs::Pgs;

use crate::Solution;
use crate::best_iterate::Judge;
use crate::cones::norm_squared;
use crate::error::{SolveError, check_finite, check_size};
use crate::matrix::{DenseMatrix, Matrix};
use crate::report::{SolveReport, SolveStatus};

/// w = M z + q with w_i = 0 and z_i free on equality rows, 0 ≤ w_i ⊥ z_i ≥ 0 on the others. In a [`Solution`], z is `r` and w is
/// `u`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mlcp {
    /// M, square.
    pub m: Matrix,
    /// q.
    pub q: Vec<f64>,
    /// True for the equality rows.
    pub is_equality: Vec<bool>,
}

impl Mlcp {
    /// The problem with a row-major dense M.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] unless M has as many rows and columns as q has entries.
    pub fn dense(m: Vec<f64>, q: Vec<f64>, is_equality: Vec<bool>) -> Result<Self, SolveError> {
        let n = q.len();
        check_size("M", n * n, m.len())?;
        Ok(Mlcp { m: DenseMatrix::new(n, n, m)?.into(), q, is_equality })
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

    /// The natural map, w_i on equality rows and min(z_i, w_i) on the others, relative to max(|q|, |z|, |w|) as for the LCP.
    pub fn residual(&self, z: &[f64], w: &[f64]) -> f64 {
        self.residual_in_unit(z, w, 1.0)
    }

    /// s = mean of the diagonal of M over the complementarity rows, or 1 when that is not positive: there z and w are
    /// compared with each other, and only there.
    pub fn mass_scale(&self) -> f64 {
        let rows = || (0..self.n()).filter(|&i| !self.is_equality[i]);
        let sum: f64 = rows().map(|i| self.m.get(i, i)).sum();
        let mean = sum / rows().count() as f64;
        if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
    }

    /// The residual in the unit of z that gives a mean diagonal of one: the judge of convergence.
    pub fn residual_normalised(&self, z: &[f64], w: &[f64]) -> f64 {
        self.residual_in_unit(z, w, self.mass_scale())
    }

    fn residual_in_unit(&self, z: &[f64], w: &[f64], scale: f64) -> f64 {
        let natural = |((z, w), equality): ((&f64, &f64), &bool)| if *equality { *w } else { (scale * z).min(*w) };
        let error: f64 = z.iter().zip(w).zip(&self.is_equality).map(|row| natural(row).powi(2)).sum();
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
        check_size("is_equality", self.n(), self.is_equality.len())?;
        self.m.check_finite("M")?;
        check_finite("q", &self.q)
    }

    /// Replaces negative z_i of the complementarity rows by zero.
    fn project(&self, z: &mut [f64]) {
        z.iter_mut().zip(&self.is_equality).filter(|(_, equality)| !**equality).for_each(|(z, _)| *z = z.max(0.0));
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

impl Judge for Mlcp {
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
        let problem = Mlcp::dense(vec![4.0, 0.0, 0.0, 4.0], vec![-4.0, 3.0], vec![true, false]).unwrap();
        // z = (−0.5, 0): w = (−6, 3); the equation is 6 off, the largest norm |w| = √45.
        let z = [-0.5, 0.0];
        let mut w = [0.0; 2];
        problem.velocity(&z, &mut w);
        assert_eq!(w, [-6.0, 3.0]);
        assert!((problem.residual(&z, &w) - 6.0 / 45f64.sqrt()).abs() < 1e-15); // one rounding
        assert_eq!(problem.mass_scale(), 4.0);
    }

    #[test]
    fn wrong_sizes_are_refused() {
        let problem = Mlcp::dense(vec![1.0; 4], vec![0.0; 2], vec![true]).unwrap();
        assert!(matches!(problem.validate(), Err(SolveError::SizeMismatch { what: "is_equality", .. })));
        assert!(Mlcp::dense(vec![1.0; 4], vec![0.0], vec![true]).is_err());
    }
}
