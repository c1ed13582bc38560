//! Convex friction sets: what the friction impulse may be per unit of μ times the normal impulse.

/// A convex set F of friction impulses with 0 inside, k components.
///
/// All of them are {x : ψ(x) ≤ 0}, ψ(x) = Σ |x_i/a_i|^p − 1, with semi-axes a and an exponent p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrictionSet {
    /// No tangential component, k = 0: contact without friction.
    Point,
    /// |x| ≤ 1, k = 1: planar contact.
    Segment,
    /// |x| ≤ 1, k = 2: Coulomb's isotropic friction.
    Disk,
    /// (x₁/a₁)² + (x₂/a₂)² ≤ 1, k = 2: anisotropic friction, μ a₁ and μ a₂ along the tangents.
    Ellipse {
        /// Semi-axes a, no unit, > 0.
        axes: [f64; 2],
    },
    /// x₁² + x₂² + (x₃/b)² ≤ 1, k = 3: soft finger; the third component is the spin moment about the normal.
    SoftFinger {
        /// Semi-axis b of the moment, m, > 0.
        moment: f64,
    },
    /// |x₁/a₁|^p + |x₂/a₂|^p ≤ 1, k = 2: between a rhombus (p near 1) and a rectangle (p large).
    Superellipse {
        /// Semi-axes a, no unit, > 0.
        axes: [f64; 2],
        /// Exponent p, 1.2 to 20.
        exponent: f64,
    },
}

/// Range of exponents for which projections keep their digits.
const EXPONENTS: std::ops::RangeInclusive<f64> = 1.2..=20.0;

impl FrictionSet {
    /// Number of tangential components k.
    #[inline]
    pub fn dim(&self) -> usize {
        match self {
            FrictionSet::Point => 0,
            FrictionSet::Segment => 1,
            FrictionSet::Disk | FrictionSet::Ellipse { .. } | FrictionSet::Superellipse { .. } => 2,
            FrictionSet::SoftFinger { .. } => 3,
        }
    }

    /// The gauge g(x) = (Σ |x_i/a_i|^p)^{1/p}: the factor by which F must grow to reach x.
    pub fn gauge(&self, x: &[f64]) -> f64 {
        self.shape().gauge(x)
    }

    /// The support function max {xᵀ u : x ∈ F} = (Σ |a_i u_i|^{p'})^{1/p'}, 1/p + 1/p' = 1. By maximal dissipation a contact that
    /// slides at u dissipates μ r_N times this.
    pub fn support(&self, u: &[f64]) -> f64 {
        let Shape { axes, exponent, .. } = self.shape();
        let dual = exponent / (exponent - 1.0);
        let scaled = |k: usize| (axes[k] * u[k]).abs();
        let largest = (0..u.len()).map(scaled).fold(0.0, f64::max);
        if largest == 0.0 {
            return 0.0;
        }
        largest * (0..u.len()).map(|k| (scaled(k) / largest).powf(dual)).sum::<f64>().powf(1.0 / dual)
    }

    /// Moves z to the nearest point of radius · F.
    pub fn project(&self, radius: f64, z: &mut [f64]) {
        let foot = self.shape().foot(radius, z);
        z.copy_from_slice(&foot.x[..z.len()]);
    }

    /// What is wrong with the numbers of the set: the value, and what was expected.
    pub(super) fn fault(&self) -> Option<(f64, &'static str)> {
        let Shape { dim, axes, exponent } = self.shape();
        if let Some(axis) = axes[..dim].iter().find(|a| !(**a > 0.0 && a.is_finite())) {
            return Some((*axis, "a positive semi-axis"));
        }
        (!EXPONENTS.contains(&exponent)).then_some((exponent, "an exponent from 1.2 to 20"))
    }

    pub(super) fn shape(&self) -> Shape {
        let (axes, exponent) = match *self {
            FrictionSet::Point | FrictionSet::Segment | FrictionSet::Disk => ([1.0; 3], 2.0),
            FrictionSet::Ellipse { axes } => ([axes[0], axes[1], 1.0], 2.0),
            FrictionSet::SoftFinger { moment } => ([1.0, 1.0, moment], 2.0),
            FrictionSet::Superellipse { axes, exponent } => ([axes[0], axes[1], 1.0], exponent),
        };
        Shape { dim: self.dim(), axes, exponent }
    }
}

/// {Σ |x_i/a_i|^p ≤ 1}.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub dim: usize,
    /// a; the first `dim` count.
    pub axes: [f64; 3],
    /// p.
    pub exponent: f64,
}

/// The projection of a point on radius · F, with its slopes where the point lies outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foot {
    pub x: [f64; 3],
    pub is_outside: bool,
    /// dx/dz, row-major 3 × 3; the identity inside.
    pub by_point: [f64; 9],
    /// dx/d(radius); zero inside.
    pub by_radius: [f64; 3],
}

/// Steps of the scalar equations; bisection alone needs 60.
const SCALAR_STEPS: usize = 100;

/// Relative change at which a scalar equation is solved: a few roundings.
const SCALAR_TOLERANCE: f64 = 4e-16;

impl Shape {
    fn gauge(&self, x: &[f64]) -> f64 {
        let ratio = |k: usize| (x[k] / self.axes[k]).abs();
        let largest = (0..self.dim).map(ratio).fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return largest;
        }
        largest * (0..self.dim).map(|k| (ratio(k) / largest).powf(self.exponent)).sum::<f64>().powf(1.0 / self.exponent)
    }

    /// The nearest point of radius · F to z. It satisfies, with t_i = |x_i|/(a_i radius) and a multiplier η ≥ 0,
    ///
    ///   x_i − z_i + η sign(x_i) t_i^{p−1}/a_i = 0,   Σ t_i^p = 1,
    ///
    /// the conditions of Kuhn and Tucker of maximal dissipation. η is the root of a decreasing function; the slopes follow by
    /// differentiating both lines.
    pub fn foot(&self, radius: f64, z: &[f64]) -> Foot {
        let mut foot = Foot { x: [0.0; 3], is_outside: true, by_point: [0.0; 9], by_radius: [0.0; 3] };
        let dim = self.dim;
        if radius.is_nan() || radius <= 0.0 {
            return foot;
        }
        // In units of the radius.
        let mut point = [0.0; 3];
        for k in 0..dim {
            point[k] = z[k] / radius;
        }
        if self.gauge(&point) <= 1.0 {
            foot.is_outside = false;
            foot.x[..dim].copy_from_slice(&z[..dim]);
            (0..dim).for_each(|k| foot.by_point[4 * k] = 1.0);
            return foot;
        }
        let (eta, t) = self.multiplier(&point);
        // g_i = sign t^{p−1}/a, H_i = 1 + η (p−1) t^{p−2}/a², D = Σ g²/H
        let p = self.exponent;
        let (mut normal, mut softness, mut sum) = ([0.0; 3], [0.0; 3], 0.0);
        for k in 0..dim {
            let a = self.axes[k];
            foot.x[k] = (radius * a * t[k]).copysign(z[k]);
            normal[k] = (t[k].powf(p - 1.0) / a).copysign(z[k]);
            softness[k] = 1.0 / (1.0 + eta * (p - 1.0) * t[k].powf(p - 2.0) / (a * a));
            sum += normal[k] * normal[k] * softness[k];
        }
        if sum.is_nan() || sum <= 0.0 {
            return foot;
        }
        for i in 0..dim {
            for j in 0..dim {
                foot.by_point[3 * i + j] = -normal[i] * softness[i] * normal[j] * softness[j] / sum;
            }
            foot.by_point[4 * i] += softness[i];
            foot.by_radius[i] = normal[i] * softness[i] / sum;
        }
        foot
    }

    /// η and t of a point outside, radius 1: root of (Σ t^p)^{−1/p} = 1 by Newton's method between bounds.
    fn multiplier(&self, point: &[f64; 3]) -> (f64, [f64; 3]) {
        let p = self.exponent;
        // t ≤ 1 at the root, where t a + (η/a) t^{p−1} = |z|: the component with t^p ≥ 1/dim bounds η.
        let (mut low, mut high) = (0.0, 0.0_f64);
        for (z, a) in point.iter().zip(&self.axes).take(self.dim) {
            high = high.max(z.abs() * a);
        }
        high *= (self.dim as f64).powf((p - 1.0) / p);
        let mut eta = 0.0;
        let mut t = [0.0; 3];
        for _ in 0..SCALAR_STEPS {
            let (mut sum, mut slope) = (0.0, 0.0);
            for k in 0..self.dim {
                let a = self.axes[k];
                t[k] = self.component(point[k].abs(), a, eta);
                let power = t[k].powf(p - 1.0);
                sum += t[k] * power;
                if t[k] > 0.0 {
                    slope -= p * power * (power / a) / (a + eta / a * (p - 1.0) * t[k].powf(p - 2.0));
                }
            }
            if sum >= 1.0 {
                low = eta
            } else {
                high = eta
            }
            // Newton on sum^{−1/p} − 1, nearly linear in η.
            let newton = eta + p * sum / slope * (1.0 - sum.powf(1.0 / p));
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            let is_last = (next - eta).abs() <= SCALAR_TOLERANCE * high || sum == 1.0;
            if is_last {
                break;
            }
            eta = next;
        }
        // Exactly on the boundary, so that friction never exceeds its bound by more than a rounding.
        let size = (0..self.dim).map(|k| t[k].powf(p)).sum::<f64>().powf(1.0 / p);
        t.iter_mut().for_each(|t| *t /= size);
        (eta, t)
    }

    /// The root t of t a + (η/a) t^{p−1} = size.
    fn component(&self, size: f64, a: f64, eta: f64) -> f64 {
        let p = self.exponent;
        if p == 2.0 || size == 0.0 {
            return size / (a + eta / a);
        }
        let (mut low, mut high) = (0.0, size / a);
        if eta > 0.0 {
            high = high.min((size * a / eta).powf(1.0 / (p - 1.0)));
        }
        let mut t = high;
        for _ in 0..SCALAR_STEPS {
            let power = t.powf(p - 1.0);
            let value = t * a + eta / a * power - size;
            if value > 0.0 {
                high = t
            } else {
                low = t
            }
            let newton = t - value / (a + eta / a * (p - 1.0) * t.powf(p - 2.0));
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - t).abs() <= SCALAR_TOLERANCE * t {
                break;
            }
            t = next;
        }
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets() -> Vec<FrictionSet> {
        vec![
            FrictionSet::Segment,
            FrictionSet::Disk,
            FrictionSet::Ellipse { axes: [1.0, 0.3] },
            FrictionSet::Ellipse { axes: [0.01, 5.0] },
            FrictionSet::SoftFinger { moment: 0.02 },
            FrictionSet::Superellipse { axes: [1.0, 0.5], exponent: 4.0 },
            FrictionSet::Superellipse { axes: [0.7, 1.0], exponent: 1.5 },
        ]
    }

    fn points(dim: usize) -> impl Iterator<Item = Vec<f64>> {
        (0..40).map(move |n| (0..dim).map(|k| 4.0 * (1.7 * f64::from(n) + 2.3 * k as f64 + 0.1).sin()).collect())
    }

    #[test]
    fn the_foot_is_the_nearest_point() {
        for set in sets() {
            for z in points(set.dim()) {
                let radius = 0.8;
                let mut x = z.clone();
                set.project(radius, &mut x);
                assert!(set.gauge(&x) <= radius * (1.0 + 1e-14), "{set:?} {z:?}"); // roundings
                // z − x is in the normal cone at x: the support function is reached there.
                let normal: Vec<f64> = z.iter().zip(&x).map(|(z, x)| z - x).collect();
                let reached: f64 = normal.iter().zip(&x).map(|(n, x)| n * x).sum();
                // The root has 15 digits; the products are about 1.
                assert!((radius * set.support(&normal) - reached).abs() < 1e-12, "{set:?} {z:?}");
            }
        }
    }

    #[test]
    fn slopes_are_those_of_the_projection() {
        for set in sets() {
            for z in points(set.dim()) {
                let (shape, radius, h) = (set.shape(), 0.8, 1e-6);
                let foot = shape.foot(radius, &z);
                if !foot.is_outside || z.iter().any(|z| z.abs() < 0.1) {
                    continue; // near an axis the curvature of the superellipse is large
                }
                for i in 0..set.dim() {
                    let by_radius = (shape.foot(radius + h, &z).x[i] - shape.foot(radius - h, &z).x[i]) / (2.0 * h);
                    // rounding over the step 1e-9, and h² times third derivatives of up to 1e4 (semi-axis 0.01)
                    assert!((by_radius - foot.by_radius[i]).abs() < 1e-6, "{set:?} {z:?}");
                    for j in 0..set.dim() {
                        let (mut ahead, mut behind) = (z.clone(), z.clone());
                        ahead[j] += h;
                        behind[j] -= h;
                        let slope = (shape.foot(radius, &ahead).x[i] - shape.foot(radius, &behind).x[i]) / (2.0 * h);
                        assert!((slope - foot.by_point[3 * i + j]).abs() < 1e-6, "{set:?} {z:?} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn gauge_and_support_by_hand() {
        let ellipse = FrictionSet::Ellipse { axes: [2.0, 0.5] };
        assert_eq!((ellipse.gauge(&[2.0, 0.0]), ellipse.gauge(&[0.0, 1.0])), (1.0, 2.0));
        assert_eq!((ellipse.support(&[3.0, 0.0]), ellipse.support(&[0.0, 2.0])), (6.0, 1.0));
        assert_eq!((ellipse.gauge(&[0.0; 2]), ellipse.support(&[0.0; 2])), (0.0, 0.0));
        let mut x = [5.0, 0.0];
        ellipse.project(1.0, &mut x);
        assert_eq!(x, [2.0, 0.0]);
        ellipse.project(0.0, &mut x);
        assert_eq!(x, [0.0, 0.0]);
    }

    #[test]
    fn faults_are_named() {
        assert!(sets().iter().all(|set| set.fault().is_none()));
        assert!(FrictionSet::Ellipse { axes: [1.0, 0.0] }.fault().is_some());
        assert!(FrictionSet::SoftFinger { moment: f64::NAN }.fault().is_some());
        assert!(FrictionSet::Superellipse { axes: [1.0; 2], exponent: 1.0 }.fault().is_some());
    }
}
