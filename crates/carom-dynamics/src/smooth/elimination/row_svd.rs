//! Singular values of constraint rows by one-sided Jacobi rotations.
//!
//! ```text
//! Gᵀ J = V Σ,     J orthogonal,     V with orthonormal columns:     G = J Σ Vᵀ
//! ```
//!
//! Pairs of rows of G are rotated until all are at right angles: M. R. Hestenes, *Inversion of matrices by biorthogonalization and related
//! results*, Journal of the Society for Industrial and Applied Mathematics 6 (1958), 51–90. Accurate to round-off also for rows that repeat each other,
//! where the library's bidiagonal decomposition was seen to return factors that do not multiply to the matrix. Cost O(n m²) per sweep, five to ten
//! sweeps.

use super::RANK_TOLERANCE;
use nalgebra::{DMatrix, DVector};

/// Most sweeps over all pairs; convergence is quadratic, so more means values that are not finite.
const MAX_SWEEPS: usize = 60;

/// Rows whose cosine is below this are at right angles, up to the round-off of their product.
const ORTHOGONAL: f64 = 1e-15;

/// Columns below this part of the whole matrix are round-off, at no angle to anything.
const NOISE: f64 = 1e-14;

/// G = J Σ Vᵀ without the singular values that count as zero.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowSvd {
    /// J, m × rank.
    left: DMatrix<f64>,
    /// Singular values.
    values: Vec<f64>,
    /// V, n × rank.
    right: DMatrix<f64>,
}

impl RowSvd {
    /// Decomposes G; `None` when its values are not finite.
    pub fn new(rows: &DMatrix<f64>) -> Option<Self> {
        let m = rows.nrows();
        let (mut turned, mut left) = (rows.transpose(), DMatrix::identity(m, m));
        let noise = NOISE * NOISE * rows.norm_squared();
        let done = (0..MAX_SWEEPS).any(|_| {
            let mut clean = true;
            for i in 0..m {
                for j in i + 1..m {
                    clean &= !rotate(&mut turned, &mut left, (i, j), noise);
                }
            }
            clean
        });
        if !done || turned.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let norms: Vec<f64> = turned.column_iter().map(|c| c.norm()).collect();
        let largest = norms.iter().fold(0.0_f64, |a, &b| a.max(b));
        let kept: Vec<usize> = (0..m).filter(|&k| norms[k] > RANK_TOLERANCE * largest).collect();
        let mut right = turned.select_columns(&kept);
        let values: Vec<f64> = kept.iter().map(|&k| norms[k]).collect();
        for (mut column, sigma) in right.column_iter_mut().zip(&values) {
            column /= *sigma;
        }
        Some(RowSvd { left: left.select_columns(&kept), values, right })
    }

    /// The shortest x with G x = r in the least-squares sense: G⁺ r.
    pub fn solve(&self, r: &DVector<f64>) -> DVector<f64> {
        &self.right * self.scaled(self.left.tr_mul(r))
    }

    /// The shortest λ with Gᵀλ = f in the least-squares sense.
    pub(crate) fn solve_transposed(&self, f: &DVector<f64>) -> DVector<f64> {
        &self.left * self.scaled(self.right.tr_mul(f))
    }

    fn scaled(&self, mut x: DVector<f64>) -> DVector<f64> {
        x.iter_mut().zip(&self.values).for_each(|(x, sigma)| *x /= sigma);
        x
    }

    /// An orthonormal basis of the null space of G: the complement of V.
    pub(crate) fn null_space(&self) -> DMatrix<f64> {
        let (n, rank) = self.right.shape();
        // columns of zeros make Q square
        let q = self.right.clone().resize(n, n, 0.0).qr().q();
        q.columns(rank, n - rank).into_owned()
    }
}

/// Turns columns i and j to right angles; false when they are, or one is noise.
fn rotate(turned: &mut DMatrix<f64>, left: &mut DMatrix<f64>, (i, j): (usize, usize), noise: f64) -> bool {
    let (a, b) = (turned.column(i).norm_squared(), turned.column(j).norm_squared());
    let c = turned.column(i).dot(&turned.column(j));
    if c == 0.0 || a <= noise || b <= noise || c.abs() <= ORTHOGONAL * (a * b).sqrt() {
        return false;
    }
    // the smaller angle with tan 2φ = 2c/(b − a)
    let zeta = (b - a) / (2.0 * c);
    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = cosine * tangent;
    for matrix in [turned, left] {
        for k in 0..matrix.nrows() {
            let (x, y) = (matrix[(k, i)], matrix[(k, j)]);
            matrix[(k, i)] = cosine * x - sine * y;
            matrix[(k, j)] = sine * x + cosine * y;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that repeat each other, in other units too: the factors multiply to G, and the null space is one.
    #[test]
    fn decomposes_redundant_rows() {
        let mut seed = 0.3_f64;
        let mut random = || {
            seed = (seed * 997.0 + 0.123).fract();
            seed - 0.5
        };
        for _ in 0..200 {
            let base = DMatrix::from_fn(3, 6, |_, _| random());
            let mut rows = DMatrix::zeros(7, 6);
            rows.rows_mut(0, 3).copy_from(&base);
            rows.row_mut(3).copy_from(&base.row(1));
            rows.row_mut(4).copy_from(&(1000.0 * base.row(0)));
            rows.row_mut(5).copy_from(&(base.row(0) - base.row(2)));
            let svd = RowSvd::new(&rows).unwrap();
            let product = &svd.left * DMatrix::from_diagonal(&DVector::from_column_slice(&svd.values)) * svd.right.transpose();
            // round-off of the largest singular value, 1000, times the number of rotations
            assert!((product - &rows).amax() < 1e-11 && svd.values.len() == 3, "{:?}", svd.values);
            let basis = svd.null_space();
            assert!((&rows * &basis).amax() < 1e-11 && (basis.tr_mul(&basis) - DMatrix::identity(3, 3)).amax() < 1e-14);
            let x = DVector::from_fn(6, |_, _| random());
            let r = &rows * &x;
            // consistent right-hand sides are met, relative to their size of 1000
            assert!((&rows * svd.solve(&r) - r).amax() < 1e-10);
        }
        assert!(RowSvd::new(&DMatrix::from_element(2, 2, f64::NAN)).is_none());
    }
}
