//! The simple closed convex sets whose product is the set of a variational inequality.

use crate::cones::{norm_squared, project_coulomb};

/// A closed convex set with a projection in closed form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Set {
    /// All of ℝ^dim: F = 0 there.
    Free {
        /// Number of components, ≥ 1.
        dim: usize,
    },
    /// x ≥ 0: 0 ≤ F ⊥ x ≥ 0, component by component.
    NonNegative {
        /// Number of components, ≥ 1.
        dim: usize,
    },
    /// lower ≤ x ≤ upper, one component; bounds may be infinite.
    Interval {
        /// Lower bound, −∞ for none.
        lower: f64,
        /// Upper bound, ≥ lower, ∞ for none.
        upper: f64,
    },
    /// |x_T| ≤ μ x_N with x = (x_N, x_T): the cone of Coulomb friction, the second-order cone for μ = 1.
    SecondOrderCone {
        /// Slope μ ≥ 0.
        mu: f64,
        /// Number of components, ≥ 1.
        dim: usize,
    },
    /// |x| ≤ radius.
    Ball {
        /// Radius ≥ 0.
        radius: f64,
        /// Number of components, ≥ 1.
        dim: usize,
    },
    /// x ≥ 0, Σ x = total.
    Simplex {
        /// The sum, > 0.
        total: f64,
        /// Number of components, ≥ 1.
        dim: usize,
    },
}

impl Set {
    /// Number of components.
    #[inline]
    pub fn dim(&self) -> usize {
        match *self {
            Set::Interval { .. } => 1,
            Set::Free { dim }
            | Set::NonNegative { dim }
            | Set::SecondOrderCone { dim, .. }
            | Set::Ball { dim, .. }
            | Set::Simplex { dim, .. } => dim,
        }
    }

    /// What is wrong with the numbers of the set: the value, and what was expected.
    pub(crate) fn fault(&self) -> Option<(f64, &'static str)> {
        if self.dim() == 0 {
            return Some((0.0, "at least one component"));
        }
        let not_negative = |x: f64| x >= 0.0 && x.is_finite();
        match *self {
            Set::Free { .. } | Set::NonNegative { .. } => None,
            Set::Interval { lower, upper } => {
                let holds = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
                (!holds).then_some((lower, "a lower bound not above the upper one"))
            }
            Set::SecondOrderCone { mu, .. } => (!not_negative(mu)).then_some((mu, "a slope >= 0")),
            Set::Ball { radius, .. } => (!not_negative(radius)).then_some((radius, "a radius >= 0")),
            Set::Simplex { total, .. } => (!(not_negative(total) && total > 0.0)).then_some((total, "a positive sum")),
        }
    }

    /// Moves z to the nearest point of the set.
    pub fn project(&self, z: &mut [f64]) {
        match *self {
            Set::Free { .. } => {}
            Set::NonNegative { .. } => z.iter_mut().for_each(|z| *z = z.max(0.0)),
            Set::Interval { lower, upper } => z[0] = z[0].max(lower).min(upper),
            Set::SecondOrderCone { mu, .. } => project_coulomb(mu, z),
            Set::Ball { radius, .. } => {
                let size = norm_squared(z).sqrt();
                if size > radius {
                    z.iter_mut().for_each(|z| *z *= radius / size);
                }
            }
            Set::Simplex { total, .. } => {
                let threshold = simplex_threshold(z, total);
                z.iter_mut().for_each(|z| *z = (*z - threshold).max(0.0));
            }
        }
    }

    /// An element of the generalised Jacobian of the projection at z, row-major, dim × dim.
    pub(crate) fn projection_slope(&self, z: &[f64], out: &mut [f64]) {
        let dim = self.dim();
        out.fill(0.0);
        match *self {
            Set::Free { .. } => out.iter_mut().step_by(dim + 1).for_each(|d| *d = 1.0),
            Set::NonNegative { .. } => {
                for (z, d) in z.iter().zip(out.iter_mut().step_by(dim + 1)) {
                    *d = f64::from(u8::from(*z > 0.0));
                }
            }
            Set::Interval { lower, upper } => out[0] = f64::from(u8::from(z[0] > lower && z[0] < upper)),
            Set::SecondOrderCone { mu, .. } => cone_slope(mu, z, out),
            Set::Ball { radius, .. } => {
                let size = norm_squared(z).sqrt();
                let (ratio, turned) = if size > radius { (radius / size, 1.0) } else { (1.0, 0.0) };
                for (i, row) in out.chunks_exact_mut(dim).enumerate() {
                    row[i] = ratio;
                    if turned > 0.0 {
                        row.iter_mut().zip(z).for_each(|(d, t)| *d -= ratio * (z[i] / size) * (t / size));
                    }
                }
            }
            Set::Simplex { total, .. } => {
                let threshold = simplex_threshold(z, total);
                let active = z.iter().filter(|z| **z > threshold).count().max(1) as f64;
                for (i, row) in out.chunks_exact_mut(dim).enumerate().filter(|(i, _)| z[*i] > threshold) {
                    for (d, z) in row.iter_mut().zip(z) {
                        *d = if *z > threshold { -1.0 / active } else { 0.0 };
                    }
                    row[i] += 1.0;
                }
            }
        }
    }
}

/// τ with Σ (z − τ)⁺ = total. [Michelot, *A finite algorithm for finding the projection of a point onto the canonical simplex of ℝⁿ*, 1986]
fn simplex_threshold(z: &[f64], total: f64) -> f64 {
    let mut threshold = f64::NEG_INFINITY;
    // Each pass but the last drops at least one component.
    for _ in 0..=z.len() {
        let (sum, count) = z.iter().filter(|z| **z > threshold).fold((0.0, 0.0), |(sum, count), z| (sum + z, count + 1.0));
        let next = (sum - total) / count;
        if next.is_nan() || next <= threshold {
            break;
        }
        threshold = next;
    }
    threshold
}

/// Slope of the projection on {|z_T| ≤ μ z_N}; on the boundary of two cases the slope of the flatter one.
fn cone_slope(mu: f64, z: &[f64], out: &mut [f64]) {
    let dim = z.len();
    let tangent = norm_squared(&z[1..]).sqrt();
    if mu * tangent <= -z[0] {
        return;
    }
    if tangent <= mu * z[0] {
        out.iter_mut().step_by(dim + 1).for_each(|d| *d = 1.0);
        return;
    }
    let weight = 1.0 / (1.0 + mu * mu);
    let turn = mu * weight * (mu * tangent + z[0]) / tangent;
    out[0] = weight;
    for i in 1..dim {
        let t = z[i] / tangent;
        out[i] = mu * weight * t;
        out[i * dim] = mu * weight * t;
        for j in 1..dim {
            out[i * dim + j] = (mu * mu * weight - turn) * t * z[j] / tangent;
        }
        out[i * dim + i] += turn;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets with points of every piece of their projection.
    fn cases() -> Vec<(Set, Vec<Vec<f64>>)> {
        vec![
            (Set::Free { dim: 2 }, vec![vec![-1.0, 3.0]]),
            (Set::NonNegative { dim: 3 }, vec![vec![-1.0, 2.0, 0.5], vec![3.0, 1.0, -4.0]]),
            (Set::Interval { lower: -1.0, upper: 2.0 }, vec![vec![-3.0], vec![0.5], vec![4.0]]),
            (Set::Interval { lower: f64::NEG_INFINITY, upper: 2.0 }, vec![vec![-3.0], vec![4.0]]),
            (Set::SecondOrderCone { mu: 0.7, dim: 3 }, vec![vec![0.2, 1.0, -0.4], vec![3.0, 0.3, 0.2], vec![-3.0, 0.3, 1.0]]),
            (Set::Ball { radius: 2.0, dim: 3 }, vec![vec![0.2, 1.0, -0.4], vec![3.0, 0.3, -2.0]]),
            (Set::Simplex { total: 1.0, dim: 4 }, vec![vec![0.2, 1.0, -0.4, 0.6], vec![5.0, 0.3, 0.2, 0.1]]),
        ]
    }

    #[test]
    fn the_projection_stays_and_is_the_nearest_point() {
        for (set, points) in cases() {
            // P_X(z) is the point x of X with (z − x)ᵀ(y − x) ≤ 0 for all y in X; the projections of the other points are some y.
            for z in &points {
                let mut x = z.clone();
                set.project(&mut x);
                let mut again = x.clone();
                set.project(&mut again);
                for (x, again) in x.iter().zip(&again) {
                    assert!((x - again).abs() < 1e-14, "{set:?} {z:?}"); // roundings
                }
                for k in 0..50 {
                    let mut y: Vec<f64> = (0..z.len()).map(|i| 3.0 * (1.3 * f64::from(k) + 2.1 * i as f64).sin()).collect();
                    set.project(&mut y);
                    let product: f64 = (0..z.len()).map(|i| (z[i] - x[i]) * (y[i] - x[i])).sum();
                    assert!(product < 1e-13, "{set:?} {z:?} {product}"); // roundings of numbers about 10
                }
            }
        }
    }

    #[test]
    fn the_slope_is_that_of_the_projection() {
        for (set, points) in cases() {
            for z in points {
                let dim = z.len();
                let mut slope = vec![0.0; dim * dim];
                set.projection_slope(&z, &mut slope);
                let h = 1e-6;
                for j in 0..dim {
                    let (mut ahead, mut behind) = (z.clone(), z.clone());
                    ahead[j] += h;
                    behind[j] -= h;
                    set.project(&mut ahead);
                    set.project(&mut behind);
                    for i in 0..dim {
                        let difference = (ahead[i] - behind[i]) / (2.0 * h);
                        // rounding over the step, 1e-10, and the square of the step
                        assert!((difference - slope[i * dim + j]).abs() < 1e-8, "{set:?} {z:?} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn faults_are_named() {
        for set in [
            Set::Free { dim: 0 },
            Set::Interval { lower: 1.0, upper: 0.0 },
            Set::Interval { lower: f64::NAN, upper: 0.0 },
            Set::Interval { lower: f64::INFINITY, upper: f64::INFINITY },
            Set::SecondOrderCone { mu: -1.0, dim: 3 },
            Set::Ball { radius: f64::INFINITY, dim: 3 },
            Set::Simplex { total: 0.0, dim: 3 },
        ] {
            assert!(set.fault().is_some(), "{set:?}");
        }
        assert!(cases().iter().all(|(set, _)| set.fault().is_none()));
    }
}
