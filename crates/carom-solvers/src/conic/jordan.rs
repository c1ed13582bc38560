//! The Jordan algebra of one Lorentz cone, on slices (x_0, x_1…).
//!
//! [Alizadeh & Goldfarb, *Second-order cone programming*, 2003]

use crate::cones::norm_squared;

/// xᵀz.
#[inline]
pub(super) fn dot(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| a * b).sum()
}

/// Spectral values x_0 − |x_1|, x_0 + |x_1|.
#[inline]
pub(super) fn eigenvalues(x: &[f64]) -> [f64; 2] {
    let tail = norm_squared(&x[1..]).sqrt();
    [x[0] - tail, x[0] + tail]
}

/// det x = x_0² − |x_1|², as a product so that it keeps its digits near the boundary.
#[inline]
pub(super) fn determinant(x: &[f64]) -> f64 {
    let [a, b] = eigenvalues(x);
    a * b
}

/// out = x ∘ z = (xᵀz, x_0 z_1 + z_0 x_1).
#[inline]
pub(super) fn product(x: &[f64], z: &[f64], out: &mut [f64]) {
    out[0] = dot(x, z);
    for k in 1..x.len() {
        out[k] = x[0] * z[k] + z[0] * x[k];
    }
}

/// out = y with x ∘ y = b, for x inside the cone:
///
///   y_0 = (x_0 b_0 − x_1ᵀb_1)/det x,   y_1 = (b_1 − y_0 x_1)/x_0.
#[inline]
pub(super) fn divide(x: &[f64], b: &[f64], out: &mut [f64]) {
    let y = (x[0] * b[0] - dot(&x[1..], &b[1..])) / determinant(x);
    for k in 1..x.len() {
        out[k] = (b[k] - y * x[k]) / x[0];
    }
    out[0] = y;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The idempotents c± = ½(1, ±x_1/|x_1|) of x with a tail.
    fn frame(x: &[f64; 3]) -> [[f64; 3]; 2] {
        let size = x[1].hypot(x[2]);
        [[0.5, -0.5 * x[1] / size, -0.5 * x[2] / size], [0.5, 0.5 * x[1] / size, 0.5 * x[2] / size]]
    }

    fn times(x: &[f64; 3], z: &[f64; 3]) -> [f64; 3] {
        let mut out = [0.0; 3];
        product(x, z, &mut out);
        out
    }

    fn assert_near(a: &[f64], b: &[f64]) {
        for (x, y) in a.iter().zip(b) {
            assert!((x - y).abs() < 1e-14, "{a:?} {b:?}"); // roundings of numbers about one
        }
    }

    #[test]
    fn jordan_identities_hold() {
        let (x, z) = ([2.0, 0.7, -1.1], [0.4, 1.3, 0.2]);
        assert_near(&times(&x, &z), &times(&z, &x));
        assert_near(&times(&x, &[1.0, 0.0, 0.0]), &x);
        // Not associative, yet x² ∘ (x ∘ z) = x ∘ (x² ∘ z).
        let square = times(&x, &x);
        assert_near(&times(&square, &times(&x, &z)), &times(&x, &times(&square, &z)));
        // x² − 2 x_0 x + det x e = 0.
        let det = determinant(&x);
        let zero: Vec<f64> = (0..3).map(|k| square[k] - 2.0 * x[0] * x[k] + if k == 0 { det } else { 0.0 }).collect();
        assert_near(&zero, &[0.0; 3]);
    }

    #[test]
    fn spectral_formulas_hold() {
        let x = [2.0, 0.7, -1.1];
        let [low, high] = eigenvalues(&x);
        let [c, d] = frame(&x);
        assert_near(&times(&c, &c), &c);
        assert_near(&times(&c, &d), &[0.0; 3]);
        assert_near(&(0..3).map(|k| low * c[k] + high * d[k]).collect::<Vec<_>>(), &x);
        assert_near(&(0..3).map(|k| low * low * c[k] + high * high * d[k]).collect::<Vec<_>>(), &times(&x, &x));
        assert_near(&[determinant(&x)], &[low * high]);
    }

    #[test]
    fn division_undoes_the_product() {
        let (x, y) = ([2.0, 0.7, -1.1], [0.4, 1.3, 0.2]);
        let mut back = [0.0; 3];
        divide(&x, &times(&x, &y), &mut back);
        assert_near(&back, &y);
        // The half-line: plain numbers.
        let mut quotient = [0.0];
        divide(&[4.0], &[3.0], &mut quotient);
        assert_eq!(quotient, [0.75]);
    }
}
