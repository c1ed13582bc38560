//! The scaling of Nesterov and Todd.

use super::cone::ConeProduct;
use super::jordan::{determinant, dot};

/// The symmetric matrix G, one block per cone, that takes x and z to the same point:
///
/// ```text
///     G x = G⁻¹ z = λ,     G = β [w_0  w_1ᵀ; w_1  I + w_1 w_1ᵀ/(1 + w_0)],     G² = β² (2 w wᵀ − J),  J = diag(1, −1, …)
///     w = (z̄ + J x̄)/(2γ),  γ² = (1 + x̄ᵀz̄)/2,  β⁴ = det z/det x,     x̄ = x/√det x,  z̄ = z/√det z
/// ```
///
/// Both are automorphisms of the cone, so that directions scaled by G and G⁻¹ can be multiplied as in a symmetric problem.
/// [Nesterov & Todd, *Self-scaled barriers and interior-point methods for convex programming*, 1997; the formulas as in
/// Andersen, Roos & Terlaky, *On implementing a primal-dual interior-point method for conic quadratic optimization*, 2003]
/// Free rows have none: G is 0 there and λ = 0. Cost: O(rows); storage is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scaling {
    /// w of each cone; |w|² with the signs of J is 1.
    w: Vec<f64>,
    /// β of each factor of the product; 0 for free rows.
    beta: Vec<f64>,
    lambda: Vec<f64>,
}

impl Scaling {
    /// Computes the scaling of x and z, both inside the cones; false when rounding has put one of them outside.
    pub fn update(&mut self, cones: &ConeProduct, x: &[f64], z: &[f64]) -> bool {
        self.w.clear();
        self.w.resize(cones.n_rows(), 0.0);
        self.lambda.clear();
        self.lambda.resize(cones.n_rows(), 0.0);
        self.beta.clear();
        for (cone, rows) in cones.iter() {
            if cone.is_free() {
                self.beta.push(0.0);
                continue;
            }
            let (x, z) = (&x[rows.clone()], &z[rows.clone()]);
            let (det_x, det_z) = (determinant(x), determinant(z));
            if !(det_x > 0.0 && det_z > 0.0 && x[0] > 0.0 && z[0] > 0.0) {
                return false;
            }
            let (size_x, size_z) = (det_x.sqrt(), det_z.sqrt());
            let gamma = (0.5 * (1.0 + dot(x, z) / (size_x * size_z))).sqrt();
            let w = &mut self.w[rows];
            for k in 1..w.len() {
                w[k] = (z[k] / size_z - x[k] / size_x) / (2.0 * gamma);
            }
            // From wᵀJw = 1, which the sum of the first components keeps less well.
            w[0] = (1.0 + dot(&w[1..], &w[1..])).sqrt();
            self.beta.push((size_z / size_x).sqrt());
        }
        let mut lambda = std::mem::take(&mut self.lambda);
        self.apply(cones, x, &mut lambda);
        self.lambda = lambda;
        self.lambda.iter().all(|x| x.is_finite())
    }

    /// λ = G x = G⁻¹ z.
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// out = G x; 0 on free rows.
    pub fn apply(&self, cones: &ConeProduct, x: &[f64], out: &mut [f64]) {
        self.transform(cones, x, out, 1.0);
    }

    /// out = G⁻¹ z; 0 on free rows.
    pub(crate) fn apply_inverse(&self, cones: &ConeProduct, z: &[f64], out: &mut [f64]) {
        self.transform(cones, z, out, -1.0);
    }

    /// G or, with the sign −1, G⁻¹ = J G J/β².
    fn transform(&self, cones: &ConeProduct, x: &[f64], out: &mut [f64], sign: f64) {
        for ((cone, rows), &beta) in cones.iter().zip(&self.beta) {
            if cone.is_free() {
                out[rows].fill(0.0);
                continue;
            }
            let (x, w, out) = (&x[rows.clone()], &self.w[rows.clone()], &mut out[rows]);
            let size = if sign > 0.0 { beta } else { 1.0 / beta };
            let along = sign * dot(&w[1..], &x[1..]);
            out[0] = size * (w[0] * x[0] + along);
            let factor = sign * (x[0] + along / (1.0 + w[0]));
            for k in 1..x.len() {
                out[k] = size * (x[k] + factor * w[k]);
            }
        }
    }

    /// The block of G² of a factor of the product, row-major; 0 for free rows.
    pub fn squared(&self, cones: &ConeProduct, factor: usize, out: &mut [f64]) {
        let size = self.beta[factor] * self.beta[factor];
        let w = &self.w[cones.rows(factor)];
        let dim = w.len();
        for i in 0..dim {
            for j in 0..dim {
                let reflection = match (i == j, i == 0) {
                    (true, true) => -1.0,
                    (true, false) => 1.0,
                    _ => 0.0,
                };
                out[i * dim + j] = size * (2.0 * w[i] * w[j] + reflection);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cone::Cone;
    use super::*;

    fn example() -> (ConeProduct, [f64; 7], [f64; 7]) {
        let mut cones = ConeProduct::default();
        for cone in [Cone::Lorentz { dim: 3 }, Cone::Free { dim: 1 }, Cone::Lorentz { dim: 1 }, Cone::Lorentz { dim: 2 }] {
            cones.push(cone);
        }
        (cones, [2.0, 0.5, -1.2, 7.0, 0.25, 1.0, 0.9], [0.7, 0.3, 0.2, 0.0, 4.0, 3.0, 1.5])
    }

    fn assert_near(a: &[f64], b: &[f64]) {
        for (x, y) in a.iter().zip(b) {
            assert!((x - y).abs() < 1e-13, "{a:?} {b:?}"); // roundings of numbers below ten
        }
    }

    #[test]
    fn both_points_go_to_the_same_one() {
        let (cones, x, z) = example();
        let mut scaling = Scaling::default();
        assert!(scaling.update(&cones, &x, &z));
        let (mut a, mut b) = ([0.0; 7], [0.0; 7]);
        scaling.apply(&cones, &x, &mut a);
        scaling.apply_inverse(&cones, &z, &mut b);
        assert_near(&a, &b);
        assert_near(&a, scaling.lambda());
        // The complementarity is that of λ, which is inside.
        assert_near(&[cones.inner(&a, &a)], &[cones.inner(&x, &z)]);
        assert!(cones.lorentz().all(|rows| determinant(&a[rows.clone()]) > 0.0 && a[rows.start] > 0.0));
        // The half-line: λ = √(x z).
        assert_near(&[a[4]], &[1.0]);
    }

    #[test]
    fn the_square_takes_x_to_z() {
        let (cones, x, z) = example();
        let mut scaling = Scaling::default();
        assert!(scaling.update(&cones, &x, &z));
        let mut block = [0.0; 9];
        for factor in [0, 2, 3] {
            let rows = cones.rows(factor);
            let dim = rows.len();
            let multiply = |block: &[f64], v: &[f64]| -> Vec<f64> { block.chunks_exact(dim).map(|row| dot(row, v)).collect() };
            scaling.squared(&cones, factor, &mut block[..dim * dim]);
            assert_near(&multiply(&block[..dim * dim], &x[rows.clone()]), &z[rows.clone()]);
        }
        // G applied twice is G².
        let (direction, mut once, mut twice) = ([0.3, -1.0, 0.4, 5.0, -2.0, 0.1, 0.6], [0.0; 7], [0.0; 7]);
        scaling.apply(&cones, &direction, &mut once);
        scaling.apply(&cones, &once, &mut twice);
        scaling.squared(&cones, 0, &mut block);
        for i in 0..3 {
            assert_near(&[dot(&block[3 * i..3 * i + 3], &direction[..3])], &[twice[i]]);
        }
        scaling.apply_inverse(&cones, &once, &mut twice);
        assert_near(&twice[..3], &direction[..3]);
        assert_eq!(twice[3], 0.0);
    }

    #[test]
    fn points_outside_are_refused() {
        let (cones, mut x, z) = example();
        x[0] = 1.0;
        assert!(!Scaling::default().update(&cones, &x, &z));
    }
}
