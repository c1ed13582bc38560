//! Exact solution of one spatial contact with Coulomb friction, through the quartic of sliding.
//!
//! Take-off (r = 0, q_N ≥ 0) and stick (r = −W⁻¹q in the cone) are tested first. Sliding means
//! u_N = 0, u_T = −λ r_T with λ > 0 and |r_T| = μ r_N. Eliminating r_N by the first row,
//!
//!   S = W_TT − W_TN W_NT / W_NN,   b = q_T − W_TN q_N / W_NN,
//!   (S + λI) r_T = −b,             r_N = −(q_N + W_NT r_T) / W_NN,
//!
//! and writing (S + λI)⁻¹ = (adj S + λI)/D(λ) with D = λ² + λ tr S + det S, c = adj(S) b, the
//! condition |r_T| = μ r_N becomes, in units with W_NN = 1 and q_N = −1,
//!
//!   h(λ) = N(λ) − |c + λb|/μ = 0,   N(λ) = D r_N = λ² + (tr S + W_NT b) λ + det S + W_NT c.
//!
//! N² = |c + λb|²/μ² is the quartic of Bonnefon & Daviet, *Quartic formulation of Coulomb 3D frictional
//! contact* (Inria RT-0400, 2011). Here W need not be symmetric, and one root is found on h itself
//! (well conditioned) whenever the signs of the coefficients prove it is the only one.

use crate::polynomial::positive_roots;

/// Solves u = W r + q with (r, u) on the Coulomb graph; W row-major 3×3, components (N, T1, T2).
/// Where several solutions exist the sliding one nearest `guess` is kept.
///
/// `None` when W allows no solution this formula can find (W_NN = 0, indefinite blocks).
///
/// All of it is inlined where sweeps call it, which makes them a tenth faster.
#[inline(always)]
pub(super) fn solve(w: &[f64; 9], q: [f64; 3], mu: f64, guess: [f64; 3]) -> Option<[f64; 3]> {
    if q[0] >= 0.0 {
        return Some([0.0; 3]);
    }
    if w[0] <= 0.0 {
        return None;
    }
    let unit = -q[0] / w[0];
    if mu == 0.0 {
        return finite([unit, 0.0, 0.0]);
    }
    let reduced = Reduced::new(w, q);
    if let Some(r) = reduced.stick(mu) {
        return finite(r.map(|x| x * unit));
    }
    let slide = Slide::new(&reduced, mu);
    let start = reduced.slip_ratio(guess.map(|x| x / unit));
    let r = if slide.has_one_root() {
        slide.impulse(&reduced, mu, slide.only_root(start)?)
    } else {
        slide.nearest(&reduced, mu, guess.map(|x| x / unit))
    };
    finite(r?.map(|x| x * unit))
}

/// [`solve`] for callers that do not need it inlined.
pub(super) fn solve_apart(w: &[f64; 9], q: [f64; 3], mu: f64, guess: [f64; 3]) -> Option<[f64; 3]> {
    solve(w, q, mu, guess)
}

fn finite(r: [f64; 3]) -> Option<[f64; 3]> {
    r.iter().all(|x| x.is_finite()).then_some(r)
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// The contact after elimination of the normal row, in units with W_NN = 1 and q_N = −1.
struct Reduced {
    /// W_NT.
    coupling: [f64; 2],
    /// S, row-major.
    s: [f64; 4],
    b: [f64; 2],
    trace: f64,
    determinant: f64,
    /// Size of the entries of W_TT, against which digits of S are rounding.
    magnitude: f64,
}

impl Reduced {
    #[inline(always)]
    fn new(w: &[f64; 9], q: [f64; 3]) -> Self {
        let (scale, speed) = (1.0 / w[0], -1.0 / q[0]);
        let coupling = [w[1] * scale, w[2] * scale];
        let column = [w[3] * scale, w[6] * scale];
        let s = [
            w[4] * scale - column[0] * coupling[0],
            w[5] * scale - column[0] * coupling[1],
            w[7] * scale - column[1] * coupling[0],
            w[8] * scale - column[1] * coupling[1],
        ];
        Reduced {
            coupling,
            s,
            b: [q[1] * speed + column[0], q[2] * speed + column[1]],
            trace: s[0] + s[3],
            determinant: s[0] * s[3] - s[1] * s[2],
            magnitude: (w[4] + w[8]) * scale,
        }
    }

    /// adj(S) b.
    #[inline(always)]
    fn adjugate_b(&self) -> [f64; 2] {
        let (s, b) = (&self.s, self.b);
        [s[3] * b[0] - s[1] * b[1], s[0] * b[1] - s[2] * b[0]]
    }

    /// The sticking impulse if it lies in the cone. A singular S = rank one uses S⁺ = Sᵀ/|S|².
    #[inline(always)]
    fn stick(&self, mu: f64) -> Option<[f64; 3]> {
        let (s, b) = (&self.s, self.b);
        let t = if self.determinant > 1e-14 * self.magnitude * self.magnitude {
            self.adjugate_b().map(|c| -c / self.determinant)
        } else {
            let size = s.iter().map(|x| x * x).sum::<f64>();
            if size > (1e-14 * self.magnitude).powi(2) {
                [-(s[0] * b[0] + s[2] * b[1]) / size, -(s[1] * b[0] + s[3] * b[1]) / size]
            } else {
                [0.0; 2]
            }
        };
        let slip = [s[0] * t[0] + s[1] * t[1] + b[0], s[2] * t[0] + s[3] * t[1] + b[1]];
        let normal = 1.0 - dot(self.coupling, t);
        // A regular S leaves rounding only; a singular one leaves what it cannot reach.
        let sticks = dot(slip, slip) <= 1e-20 * dot(b, b);
        (sticks && normal >= 0.0 && dot(t, t) <= (mu * normal).powi(2)).then_some([normal, t[0], t[1]])
    }

    /// λ = −u_T·r_T/|r_T|² of an impulse: the start of the root search.
    #[inline(always)]
    fn slip_ratio(&self, r: [f64; 3]) -> f64 {
        let (s, b, t) = (&self.s, self.b, [r[1], r[2]]);
        let slip = [s[0] * t[0] + s[1] * t[1] + b[0], s[2] * t[0] + s[3] * t[1] + b[1]];
        -dot(slip, t) / dot(t, t)
    }
}

/// The sliding condition h(λ) = λ² + n₁λ + n₀ − |c + λb|/μ.
struct Slide {
    n1: f64,
    n0: f64,
    b: [f64; 2],
    c: [f64; 2],
    inverse_mu: f64,
    /// Coefficients of the quartic N² − |c + λb|²/μ², constant first.
    quartic: [f64; 5],
}

impl Slide {
    #[inline(always)]
    fn new(reduced: &Reduced, mu: f64) -> Self {
        let (b, c) = (reduced.b, reduced.adjugate_b());
        let n1 = reduced.trace + dot(reduced.coupling, b);
        let n0 = reduced.determinant + dot(reduced.coupling, c);
        let inverse_mu = 1.0 / mu;
        let k = inverse_mu * inverse_mu;
        let quartic = [n0 * n0 - k * dot(c, c), 2.0 * (n1 * n0 - k * dot(b, c)), n1 * n1 + 2.0 * n0 - k * dot(b, b), 2.0 * n1, 1.0];
        Slide { n1, n0, b, c, inverse_mu, quartic }
    }

    /// Descartes' rule: one change of sign, one positive root.
    #[inline(always)]
    fn has_one_root(&self) -> bool {
        let mut changes = 0;
        let mut positive = true;
        for c in [self.quartic[3], self.quartic[2], self.quartic[1], self.quartic[0]] {
            if (c >= 0.0) != positive {
                positive = !positive;
                changes += 1;
            }
        }
        changes == 1
    }

    /// h and its derivative.
    #[inline(always)]
    fn evaluate(&self, lambda: f64) -> (f64, f64) {
        let t = [self.c[0] + lambda * self.b[0], self.c[1] + lambda * self.b[1]];
        let size = dot(t, t).sqrt();
        let slope = if size > 0.0 { dot(t, self.b) / size } else { 0.0 };
        ((lambda + self.n1) * lambda + self.n0 - size * self.inverse_mu, 2.0 * lambda + self.n1 - slope * self.inverse_mu)
    }

    /// The root when there is only one: h < 0 before it and h > 0 beyond.
    #[inline(always)]
    fn only_root(&self, start: f64) -> Option<f64> {
        let mut low = 0.0;
        let mut high = f64::INFINITY;
        let mut lambda = start;
        if !(start > 0.0 && start.is_finite()) {
            // The root when S is isotropic and W_NT = 0: λ = |b|/μ − tr S/2.
            let radius = dot(self.b, self.b).sqrt() * self.inverse_mu;
            lambda = (radius - 0.5 * self.n1).max(0.5 * radius);
        }
        for _ in 0..200 {
            let (h, slope) = self.evaluate(lambda);
            if h == 0.0 {
                return Some(lambda);
            }
            if h < 0.0 {
                low = lambda;
            } else {
                high = lambda;
            }
            let newton = lambda - h / slope;
            let next = if newton > low && newton < high {
                newton
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                2.0 * lambda + f64::MIN_POSITIVE
            };
            if (next - lambda).abs() <= 2.0 * f64::EPSILON * lambda {
                return Some(next);
            }
            lambda = next;
        }
        lambda.is_finite().then_some(lambda)
    }

    /// The impulse of a root, put on the cone exactly; `None` off the branch r_N ≥ 0.
    #[inline(always)]
    fn impulse(&self, reduced: &Reduced, mu: f64, lambda: f64) -> Option<[f64; 3]> {
        let d = (lambda + reduced.trace) * lambda + reduced.determinant;
        if d <= 0.0 {
            return None;
        }
        let t = [-(self.c[0] + lambda * self.b[0]) / d, -(self.c[1] + lambda * self.b[1]) / d];
        let normal = 1.0 - dot(reduced.coupling, t);
        let size = dot(t, t).sqrt();
        if normal < 0.0 || size == 0.0 {
            return None;
        }
        let factor = mu * normal / size;
        Some([normal, t[0] * factor, t[1] * factor])
    }

    /// Among all sliding solutions the one nearest `guess`.
    #[cold]
    fn nearest(&self, reduced: &Reduced, mu: f64, guess: [f64; 3]) -> Option<[f64; 3]> {
        let mut best = None;
        let mut best_distance = f64::INFINITY;
        for &root in positive_roots(&self.quartic).as_slice() {
            let lambda = self.polish(root);
            let (h, _) = self.evaluate(lambda);
            // Roots of the quartic on the other branch (N < 0) leave h = −2|c + λb|/μ.
            let size = lambda * lambda + (self.n1 * lambda).abs() + self.n0.abs();
            if h.abs() > 1e-6 * size {
                continue;
            }
            if let Some(r) = self.impulse(reduced, mu, lambda) {
                let distance: f64 = (0..3).map(|i| (r[i] - guess[i]).powi(2)).sum();
                if distance < best_distance {
                    (best, best_distance) = (Some(r), distance);
                }
            }
        }
        best
    }

    /// Newton steps on h as long as they reduce it.
    fn polish(&self, mut lambda: f64) -> f64 {
        let (mut h, mut slope) = self.evaluate(lambda);
        for _ in 0..10 {
            let next = lambda - h / slope;
            let (next_h, next_slope) = self.evaluate(next);
            if !(next > 0.0 && next_h.abs() < h.abs()) {
                break;
            }
            (lambda, h, slope) = (next, next_h, next_slope);
        }
        lambda
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

    #[test]
    fn takes_off_sticks_and_slides() {
        let solve = |q| solve(&UNIT, q, 0.5, [0.0; 3]).unwrap();
        assert_eq!(solve([0.1, 5.0, 0.0]), [0.0; 3]);
        assert_eq!(solve([-1.0, 0.3, 0.4]), [1.0, -0.3, -0.4]);
        let r = solve([-1.0, 3.0, 4.0]);
        for (x, exact) in r.iter().zip([1.0, -0.3, -0.4]) {
            assert!((x - exact).abs() < 1e-15, "{r:?}"); // one rounding
        }
    }

    #[test]
    fn a_tangent_without_inertia_slides_or_stays() {
        let w = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let r = solve(&w, [-1.0, 0.0, 2.0], 0.5, [0.0; 3]).unwrap();
        assert!((r[0] - 0.5).abs() + r[1].abs() + (r[2] + 0.25).abs() < 1e-14, "{r:?}"); // roundings
        assert_eq!(solve(&w, [-1.0, 0.0, 0.0], 0.5, [0.0; 3]), Some([0.5, 0.0, 0.0]));
    }

    #[test]
    fn of_several_sliding_solutions_the_nearest_is_kept() {
        // Strong coupling and μ = 1: three solutions, among them (1.393, 0.898, −1.065) and
        // (50/11, 0, −50/11), which W and q satisfy exactly.
        let w = [1.35, 0.36, 1.13, 0.36, 0.7, -0.08, 1.13, -0.08, 1.24];
        let q = [-1.0, -2.0, 0.75];
        let far = solve(&w, q, 1.0, [4.6, 0.0, -4.6]).unwrap();
        let near = solve(&w, q, 1.0, [1.0, 1.0, -1.0]).unwrap();
        assert!((near[0] - 1.3928696592989).abs() < 1e-12, "{near:?}"); // digits of the reference
        for (x, exact) in far.iter().zip([50.0 / 11.0, 0.0, -50.0 / 11.0]) {
            // The root is 0.006 from its neighbour: conditioning about 1e3.
            assert!((x - exact).abs() < 1e-11, "{far:?}");
        }
    }

    #[test]
    fn reports_what_it_cannot_solve() {
        assert_eq!(solve(&[0.0; 9], [-1.0, 0.0, 0.0], 0.5, [0.0; 3]), None);
    }
}
