//! The function of a variational inequality.

use crate::error::{SolveError, check_finite, check_size};
use crate::matrix::Matrix;
use std::fmt;

/// F: ℝⁿ → ℝⁿ, with its Jacobian where that is known.
///
/// Solvers evaluate it at points of the set X and, with finite differences, a little outside. A value that is not finite is taken as
/// "not defined here": solvers shorten their step.
pub trait VariationalFunction: Send + fmt::Debug {
    /// n.
    fn n(&self) -> usize;

    /// f = F(x); both have length n.
    fn evaluate(&self, x: &[f64], f: &mut [f64]);

    /// Writes dF/dx at x into `out`, dense or sparse, n × n, and returns true; or returns false (the default): Newton's method
    /// then takes finite differences, n evaluations each time.
    fn jacobian(&self, x: &[f64], out: &mut Matrix) -> bool {
        let _ = (x, out);
        false
    }

    /// s, a typical slope |dF|/|dx|: the unit in which x and F are compared. Default 1; not positive counts as 1.
    fn slope(&self) -> f64 {
        1.0
    }
}

/// F(x) = M x + q.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    m: Matrix,
    q: Vec<f64>,
    slope: f64,
}

impl Affine {
    /// The function of a square M and q.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] unless M has as many rows and columns as q has entries, [`SolveError::NotFinite`].
    pub fn new(m: Matrix, q: Vec<f64>) -> Result<Self, SolveError> {
        let n = q.len();
        check_size("M", n, m.n_rows())?;
        check_size("M", n, m.n_columns())?;
        m.check_finite("M")?;
        check_finite("q", &q)?;
        let slope = (0..n).map(|i| m.get(i, i)).sum::<f64>() / n as f64;
        Ok(Affine { m, q, slope })
    }
}

impl VariationalFunction for Affine {
    fn n(&self) -> usize {
        self.q.len()
    }

    fn evaluate(&self, x: &[f64], f: &mut [f64]) {
        self.m.multiply(x, f);
        for (f, q) in f.iter_mut().zip(&self.q) {
            *f += q;
        }
    }

    fn jacobian(&self, _x: &[f64], out: &mut Matrix) -> bool {
        out.clone_from(&self.m);
        true
    }

    /// mean(diag M), the unit in which an LCP is judged.
    fn slope(&self) -> f64 {
        self.slope
    }
}

/// A function given as a closure f(x, out), without Jacobian.
pub struct Closure<C> {
    n: usize,
    function: C,
}

impl<C: Fn(&[f64], &mut [f64]) + Send> Closure<C> {
    /// The function of n variables.
    pub fn new(n: usize, function: C) -> Self {
        Closure { n, function }
    }
}

impl<C> fmt::Debug for Closure<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closure").field("n", &self.n).finish_non_exhaustive()
    }
}

impl<C: Fn(&[f64], &mut [f64]) + Send> VariationalFunction for Closure<C> {
    fn n(&self) -> usize {
        self.n
    }

    fn evaluate(&self, x: &[f64], f: &mut [f64]) {
        (self.function)(x, f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::DenseMatrix;

    #[test]
    fn an_affine_function_is_its_matrix() {
        let m: Matrix = DenseMatrix::new(2, 2, vec![1.0, 2.0, 3.0, 5.0]).unwrap().into();
        let affine = Affine::new(m.clone(), vec![10.0, 20.0]).unwrap();
        let mut f = [0.0; 2];
        affine.evaluate(&[1.0, -1.0], &mut f);
        assert_eq!((f, affine.slope()), ([9.0, 18.0], 3.0));
        let mut out = Matrix::default();
        assert!(affine.jacobian(&[0.0; 2], &mut out));
        assert_eq!(out, m);
        assert!(Affine::new(m, vec![0.0; 3]).is_err());
    }

    #[test]
    fn a_closure_has_no_jacobian() {
        let square = Closure::new(1, |x: &[f64], f: &mut [f64]| f[0] = x[0] * x[0]);
        let mut f = [0.0];
        square.evaluate(&[3.0], &mut f);
        assert_eq!(f, [9.0]);
        assert!(!square.jacobian(&[3.0], &mut Matrix::default()));
    }
}
