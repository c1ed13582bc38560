//! Tableaux of implicit Runge–Kutta methods.
//!
//! Radau IIA and Gauss: Hairer & Wanner, *Solving Ordinary Differential Equations II*, section IV.5. SDIRK of orders 2 and 3: Alexander,
//! *Diagonally implicit Runge–Kutta methods for stiff O.D.E.'s*, 1977. SDIRK of order 4 with an embedded method of order 3: Hairer &
//! Wanner, section IV.6.

/// Coefficients a_ij (row-major), weights b and nodes c, with a formula of lower order that estimates the error:
///
/// ```text
/// err = h (γ₀ ẏ_n + Σ_i d_i Ẏ_i)
/// ```
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ImplicitTableau {
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
    /// The last stage is the end of the step.
    pub stiffly_accurate: bool,
    /// Stages are solved one by one, not all together.
    pub diagonal: bool,
    /// γ of the filter (I − hγJ)⁻¹ that keeps the estimate bounded for stiff problems.
    pub filter: f64,
    /// γ₀.
    pub start_weight: f64,
    /// d.
    pub error_weights: Vec<f64>,
    /// Power of h with which the estimate vanishes.
    pub estimate_order: usize,
}

impl ImplicitTableau {
    /// Number of stages.
    pub(crate) fn n_stages(&self) -> usize {
        self.c.len()
    }

    /// Radau IIA of order 3 (two stages) or 5 (three).
    pub(crate) fn radau_iia(order: usize) -> Self {
        let r = 6.0_f64.sqrt();
        let (a, c, determinant) = match order {
            3 => (vec![5.0 / 12.0, -1.0 / 12.0, 3.0 / 4.0, 1.0 / 4.0], vec![1.0 / 3.0, 1.0], 1.0 / 6.0),
            _ => (
                vec![
                    (88.0 - 7.0 * r) / 360.0,
                    (296.0 - 169.0 * r) / 1800.0,
                    (-2.0 + 3.0 * r) / 225.0,
                    (296.0 + 169.0 * r) / 1800.0,
                    (88.0 + 7.0 * r) / 360.0,
                    (-2.0 - 3.0 * r) / 225.0,
                    (16.0 - r) / 36.0,
                    (16.0 + r) / 36.0,
                    1.0 / 9.0,
                ],
                vec![(4.0 - r) / 10.0, (4.0 + r) / 10.0, 1.0],
                1.0 / 60.0,
            ),
        };
        let b = a[a.len() - c.len()..].to_vec();
        Self::collocation(a, b, c, determinant)
    }

    /// Gauss of order 2, 4 or 6 (one, two or three stages).
    pub(crate) fn gauss(order: usize) -> Self {
        let (r3, r15) = (3.0_f64.sqrt(), 15.0_f64.sqrt());
        let (a, b, c, determinant) = match order {
            2 => (vec![0.5], vec![1.0], vec![0.5], 0.5),
            4 => (vec![0.25, 0.25 - r3 / 6.0, 0.25 + r3 / 6.0, 0.25], vec![0.5, 0.5], vec![0.5 - r3 / 6.0, 0.5 + r3 / 6.0], 1.0 / 12.0),
            _ => (
                vec![
                    5.0 / 36.0,
                    2.0 / 9.0 - r15 / 15.0,
                    5.0 / 36.0 - r15 / 30.0,
                    5.0 / 36.0 + r15 / 24.0,
                    2.0 / 9.0,
                    5.0 / 36.0 - r15 / 24.0,
                    5.0 / 36.0 + r15 / 30.0,
                    2.0 / 9.0 + r15 / 15.0,
                    5.0 / 36.0,
                ],
                vec![5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0],
                vec![0.5 - r15 / 10.0, 0.5, 0.5 + r15 / 10.0],
                1.0 / 120.0,
            ),
        };
        Self::collocation(a, b, c, determinant)
    }

    /// SDIRK of order 2, 3 or 4, all L-stable and stiffly accurate.
    pub(crate) fn sdirk(order: usize) -> Self {
        match order {
            2 => {
                let g = 1.0 - 0.5_f64.sqrt();
                Self::singly(vec![g, 0.0, 1.0 - g, g], vec![g, 1.0], 3)
            }
            3 => {
                // the root of g³ − 3g² + 3g/2 − 1/6 between 1/3 and 1/2, for which the method is L-stable
                let g = 0.435_866_521_508_459;
                let last = [-(6.0 * g * g - 16.0 * g + 1.0) / 4.0, (6.0 * g * g - 20.0 * g + 5.0) / 4.0];
                // stages of order 1 only: their errors O(h²) show in the estimate as O(h³)
                Self::singly(vec![g, 0.0, 0.0, (1.0 - g) / 2.0, g, 0.0, last[0], last[1], g], vec![g, (1.0 + g) / 2.0, 1.0], 3)
            }
            _ => {
                let rows: [&[f64]; 5] = [
                    &[0.25],
                    &[0.5, 0.25],
                    &[17.0 / 50.0, -1.0 / 25.0, 0.25],
                    &[371.0 / 1360.0, -137.0 / 2720.0, 15.0 / 544.0, 0.25],
                    &[25.0 / 24.0, -49.0 / 48.0, 125.0 / 16.0, -85.0 / 12.0, 0.25],
                ];
                let a = rows.iter().flat_map(|row| (0..5).map(|j| row.get(j).copied().unwrap_or(0.0))).collect();
                let embedded = [59.0 / 48.0, -17.0 / 96.0, 225.0 / 32.0, -85.0 / 12.0, 0.0];
                let error_weights = rows[4].iter().zip(embedded).map(|(b, e)| b - e).collect();
                let c = vec![0.25, 0.75, 11.0 / 20.0, 0.5, 1.0];
                Self { start_weight: 0.0, error_weights, ..Self::singly(a, c, 4) }
            }
        }
    }

    /// A collocation method. γ = γ₀ is the geometric mean (det A)^{1/s} of the eigenvalues of A, near the real one that the three stages of
    /// Radau IIA have; the estimate is the quadrature of order s with the weight γ₀ at the start, minus b (Hairer & Wanner, section IV.8).
    fn collocation(a: Vec<f64>, b: Vec<f64>, c: Vec<f64>, determinant: f64) -> Self {
        let s = c.len();
        let gamma = determinant.powf(1.0 / s as f64);
        let error_weights = difference_weights(&c, gamma);
        let stiffly_accurate = a[a.len() - s..] == b;
        ImplicitTableau {
            a,
            b,
            c,
            stiffly_accurate,
            diagonal: s == 1,
            filter: gamma,
            start_weight: gamma,
            error_weights,
            estimate_order: s + 1,
        }
    }

    fn singly(a: Vec<f64>, c: Vec<f64>, estimate_order: usize) -> Self {
        let (s, gamma) = (c.len(), a[0]);
        ImplicitTableau {
            b: a[a.len() - s..].to_vec(),
            stiffly_accurate: true,
            diagonal: true,
            filter: gamma,
            start_weight: gamma,
            error_weights: difference_weights(&c, gamma),
            estimate_order,
            a,
            c,
        }
    }
}

/// d with γ₀ p(0) + Σ d_i p(c_i) = 0 for all polynomials p of degree below s: −γ₀ times the Lagrange polynomials of c at 0.
fn difference_weights(c: &[f64], gamma: f64) -> Vec<f64> {
    (0..c.len()).map(|i| -gamma * lagrange(c, i, 0.0)).collect()
}

/// The i-th Lagrange polynomial of the nodes, at x.
pub(super) fn lagrange(nodes: &[f64], i: usize, x: f64) -> f64 {
    nodes.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, c)| (x - c) / (nodes[i] - c)).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Order conditions of quadrature, row sums, and what the error formula annihilates. Sums of at most 5 terms of size ≤ 8: round-off
    /// 1e-14.
    #[test]
    fn tableaux_meet_their_conditions() {
        let radau = [3, 5].map(|p| (p, ImplicitTableau::radau_iia(p)));
        let gauss = [2, 4, 6].map(|p| (p, ImplicitTableau::gauss(p)));
        let sdirk = [2, 3, 4].map(|p| (p, ImplicitTableau::sdirk(p)));
        for (order, t) in radau.into_iter().chain(gauss).chain(sdirk) {
            let s = t.n_stages();
            for i in 0..s {
                assert!((t.a[i * s..(i + 1) * s].iter().sum::<f64>() - t.c[i]).abs() < 1e-14, "row {i} of order {order}");
            }
            for k in 0..order {
                let moment: f64 = t.b.iter().zip(&t.c).map(|(b, c)| b * c.powi(k as i32)).sum();
                assert!((moment - 1.0 / (k + 1) as f64).abs() < 1e-14, "moment {k} of order {order}");
            }
            for k in 0..(t.estimate_order - 1).min(s) {
                let start = if k == 0 { t.start_weight } else { 0.0 };
                let moment: f64 = start + t.error_weights.iter().zip(&t.c).map(|(d, c)| d * c.powi(k as i32)).sum::<f64>();
                assert!(moment.abs() < 1e-14, "estimate of order {order}, degree {k}: {moment}");
            }
        }
    }
}
