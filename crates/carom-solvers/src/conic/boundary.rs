//! How far a direction can be followed inside the cones.

use super::cone::ConeProduct;
use super::jordan::{determinant, dot};

/// The largest α with x + α d in K, for x inside; infinite where the direction never leaves. Free rows set no limit.
///
/// Per cone the smallest positive root of det(x + α d) = det x + 2 b α + det d α², b = x_0 d_0 − x_1ᵀd_1, in the form that
/// does not cancel: α = det x/(√(b² − det x det d) − b).
pub(crate) fn largest_step(cones: &ConeProduct, x: &[f64], d: &[f64]) -> f64 {
    cones.lorentz().map(|rows| step_in_cone(&x[rows.clone()], &d[rows])).fold(f64::INFINITY, f64::min)
}

fn step_in_cone(x: &[f64], d: &[f64]) -> f64 {
    let constant = determinant(x);
    let slope = x[0] * d[0] - dot(&x[1..], &d[1..]);
    // Not negative for x inside, whatever d; a half-line has a double root, where rounding may give either sign.
    let discriminant = (slope * slope - constant * determinant(d)).max(0.0);
    let denominator = discriminant.sqrt() - slope;
    if denominator > 0.0 { constant / denominator } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::super::cone::Cone;
    use super::*;

    #[test]
    fn steps_end_on_the_boundary() {
        let mut cones = ConeProduct::default();
        cones.push(Cone::Lorentz { dim: 3 });
        let x = [2.0, 0.5, -0.3];
        for d in [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 2.0, -1.0], [-0.5, 0.2, 0.1], [0.5, -0.6, 0.4]] {
            let step = largest_step(&cones, &x, &d);
            let end: Vec<f64> = x.iter().zip(d).map(|(x, d)| x + step * d).collect();
            assert!(end[0] > 0.0 && determinant(&end).abs() < 1e-13 * (1.0 + step * step), "{d:?} {step}"); // a few roundings
        }
        // Directions of the cone never leave it.
        assert_eq!(largest_step(&cones, &x, &[1.0, 0.6, 0.7]), f64::INFINITY);
        assert_eq!(largest_step(&cones, &x, &[0.0; 3]), f64::INFINITY);
    }

    #[test]
    fn half_lines_and_free_rows() {
        let mut cones = ConeProduct::default();
        cones.push(Cone::Lorentz { dim: 1 });
        cones.push(Cone::Free { dim: 2 });
        assert_eq!(largest_step(&cones, &[3.0, 0.0, 0.0], &[-2.0, -9.0, 9.0]), 1.5);
        // Products that are rounded: the square of x d and the product of their squares.
        for k in 1..100 {
            let (x, d) = (0.1 * f64::from(k), 0.7 * f64::from(k % 7 + 1));
            let step = largest_step(&cones, &[x, 0.0, 0.0], &[-d, 0.0, 0.0]);
            assert!((step - x / d).abs() < 1e-7 * x / d, "{x} {d} {step}"); // the root of a rounding
        }
        assert_eq!(largest_step(&cones, &[3.0, 0.0, 0.0], &[2.0, -9.0, 9.0]), f64::INFINITY);
    }
}
