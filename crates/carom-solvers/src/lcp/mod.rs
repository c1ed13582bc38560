//! The linear complementarity problem: w = M z + q, 0 ≤ w ⊥ z ≥ 0.

mod lemke;
mod pgs;

pub use lemke::Lemke;
pub use pgs::Pgs;

use crate::cones::norm_squared;
use crate::error::{SolveError, check_finite, check_size};
use crate::parameters::{LcpSolverKind, LcpSolverParams};
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// w = M z + q, 0 ≤ w ⊥ z ≥ 0. In a [`Solution`], z is `r` and w is `u`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lcp {
    /// Number of rows.
    pub n: usize,
    /// M, row-major.
    pub m: Vec<f64>,
    /// q.
    pub q: Vec<f64>,
}

impl Lcp {
    /// w = M z + q.
    pub fn velocity(&self, z: &[f64], w: &mut [f64]) {
        for (i, w) in w.iter_mut().enumerate() {
            let row = &self.m[i * self.n..(i + 1) * self.n];
            *w = self.q[i] + row.iter().zip(z).map(|(m, z)| m * z).sum::<f64>();
        }
    }

    /// |min(z, w)| / max(|q|, |z|, |w|): the natural map, relative as for friction contact.
    pub fn residual(&self, z: &[f64], w: &[f64]) -> f64 {
        self.residual_in_unit(z, w, 1.0)
    }

    /// s = mean(diag M), or 1 when that is not positive.
    pub fn mass_scale(&self) -> f64 {
        let sum: f64 = (0..self.n).map(|i| self.m[i * self.n + i]).sum();
        let mean = sum / self.n as f64;
        if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
    }

    /// The residual in the unit of z that gives mean(diag M) = 1: the judge of convergence.
    pub fn residual_normalised(&self, z: &[f64], w: &[f64]) -> f64 {
        self.residual_in_unit(z, w, self.mass_scale())
    }

    fn residual_in_unit(&self, z: &[f64], w: &[f64], scale: f64) -> f64 {
        let error: f64 = z.iter().zip(w).map(|(z, w)| (scale * z).min(*w).powi(2)).sum();
        let size = norm_squared(&self.q).max(norm_squared(z) * scale * scale).max(norm_squared(w)).sqrt();
        if size > f64::EPSILON { error.sqrt() / size } else { error.sqrt() }
    }

    /// Checks sizes and finiteness.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] or [`SolveError::NotFinite`].
    pub fn validate(&self) -> Result<(), SolveError> {
        check_size("M", self.n * self.n, self.m.len())?;
        check_size("q", self.n, self.q.len())?;
        check_finite("M", &self.m)?;
        check_finite("q", &self.q)
    }
}

/// A solver of linear complementarity problems.
#[derive(Clone, Debug)]
pub enum LcpSolver {
    /// Complementary pivoting.
    Lemke(Box<Lemke>),
    /// Projected Gauss–Seidel.
    Pgs(Pgs),
}

impl LcpSolver {
    /// The solver of the kind in `params`.
    pub(crate) fn new(params: &LcpSolverParams) -> Self {
        match params.kind {
            LcpSolverKind::Lemke => LcpSolver::Lemke(Box::new(Lemke::new(params))),
            LcpSolverKind::Pgs => LcpSolver::Pgs(Pgs::new(params)),
        }
    }

    /// Changes the tolerance, as a nested solve needs when its metric differs from the outer one.
    pub(crate) fn set_tolerance(&mut self, tolerance: f64) {
        match self {
            LcpSolver::Lemke(solver) => solver.tolerance = tolerance,
            LcpSolver::Pgs(solver) => solver.tolerance = tolerance,
        }
    }
}

impl OneStepSolver<Lcp> for LcpSolver {
    fn name(&self) -> &'static str {
        match self {
            LcpSolver::Lemke(solver) => solver.name(),
            LcpSolver::Pgs(solver) => solver.name(),
        }
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        match self {
            LcpSolver::Lemke(solver) => solver.solve(problem, solution),
            LcpSolver::Pgs(solver) => solver.solve(problem, solution),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residual_is_the_relative_natural_map() {
        let lcp = Lcp { n: 2, m: vec![4.0, 0.0, 0.0, 4.0], q: vec![-4.0, 3.0] };
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
        let lcp = Lcp { n: 2, m: vec![1.0; 4], q: vec![0.0] };
        assert!(matches!(lcp.validate(), Err(SolveError::SizeMismatch { what: "q", .. })));
    }
}
