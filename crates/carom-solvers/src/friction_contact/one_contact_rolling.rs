//! Exact solution of one spatial contact with Coulomb friction and rolling resistance.
//!
//! With the rows (N, T, M) a closed contact has u_N = 0, friction u_T = −λ_T r_T and rolling u_M = −λ_M r_M with
//!
//! ```text
//!   0 ≤ λ_T ⊥ μ r_N − |r_T| ≥ 0,      0 ≤ λ_M ⊥ μ_r r_N − |r_M| ≥ 0.
//! ```
//!
//! [the law: Acary & Bourrier, *Coulomb friction with rolling resistance as a cone complementarity problem*, 2021.] For a given λ = λ_M
//! the moments are eliminated,
//!
//! ```text
//!   r_M = −(W_MM + λ)⁻¹ (q_M + W_MC r_C),   C = (N, T),
//!   W' = W_CC − W_CM (W_MM + λ)⁻¹ W_MC,     q' = q_C − W_CM (W_MM + λ)⁻¹ q_M,
//! ```
//!
//! and what remains is a contact with friction only, solved by its quartic (`one_contact_3d.rs`). λ = 0 is rolling that sticks;
//! otherwise λ is the root of φ(λ) = μ_r r_N/|r_M| − 1, which is nearly linear: some 5 to 8 quartics. φ > 0 for large λ, so the
//! root can be bracketed.

use super::one_contact_3d;

/// Solves u = W r + q on the cone |r_T| ≤ μ r_N, |r_M| ≤ μ_r r_N; W row-major 5×5, components (N, T1, T2, M1, M2).
///
/// `None` when W allows no solution this way can find (W_NN = 0, indefinite blocks).
pub(super) fn solve(w: &[f64; 25], q: [f64; 5], slopes: [f64; 2], guess: [f64; 5]) -> Option<[f64; 5]> {
    let [mu, rolling] = slopes;
    if q[0] >= 0.0 {
        return Some([0.0; 5]);
    }
    let contact = Contact { w, q, mu, rolling };
    if rolling == 0.0 {
        let (w, q) = contact.without_moments();
        let [n, t1, t2] = one_contact_3d::solve_apart(&w, q, mu, [guess[0], guess[1], guess[2]])?;
        return Some([n, t1, t2, 0.0, 0.0]);
    }
    let smallest = contact.smallest_multiplier();
    let first = contact.evaluate(smallest, guess)?;
    if first.excess >= 0.0 {
        return Some(first.r); // rolling sticks
    }
    contact.root(smallest, first)
}

struct Contact<'a> {
    w: &'a [f64; 25],
    q: [f64; 5],
    mu: f64,
    rolling: f64,
}

/// The solution for a given multiplier λ and φ(λ).
#[derive(Clone, Copy)]
struct Trial {
    r: [f64; 5],
    excess: f64,
}

/// Evaluations of φ; bisection alone needs some 60 of them.
const EVALUATIONS: usize = 120;

impl Contact<'_> {
    fn without_moments(&self) -> ([f64; 9], [f64; 3]) {
        let w = self.w;
        ([w[0], w[1], w[2], w[5], w[6], w[7], w[10], w[11], w[12]], [self.q[0], self.q[1], self.q[2]])
    }

    /// 0, or where W_MM is singular a multiplier whose slip is rounding.
    fn smallest_multiplier(&self) -> f64 {
        let (a, b, c, d) = (self.w[18], self.w[19], self.w[23], self.w[24]);
        let size = a.abs() + d.abs();
        if a * d - b * c > 1e-14 * size * size {
            return 0.0;
        }
        let trace: f64 = self.w.iter().step_by(6).map(|x| x.abs()).sum();
        f64::EPSILON * if size > 0.0 { size } else { trace }
    }

    /// λ ↦ r and φ.
    fn evaluate(&self, lambda: f64, guess: [f64; 5]) -> Option<Trial> {
        let w = self.w;
        let (a, b, c, d) = (w[18] + lambda, w[19], w[23], w[24] + lambda);
        let determinant = a * d - b * c;
        if !(determinant > 0.0 && determinant.is_finite()) {
            return None;
        }
        let inverse = |x: f64, y: f64| [(d * x - b * y) / determinant, (a * y - c * x) / determinant];
        let free = inverse(self.q[3], self.q[4]);
        // (W_MM + λ)⁻¹ W_MC, column after column.
        let columns = [0, 1, 2].map(|j| inverse(w[15 + j], w[20 + j]));
        let (mut reduced, mut velocity) = self.without_moments();
        for i in 0..3 {
            let (by_first, by_second) = (w[5 * i + 3], w[5 * i + 4]);
            for (j, column) in columns.iter().enumerate() {
                reduced[3 * i + j] -= by_first * column[0] + by_second * column[1];
            }
            velocity[i] -= by_first * free[0] + by_second * free[1];
        }
        let [n, t1, t2] = one_contact_3d::solve_apart(&reduced, velocity, self.mu, [guess[0], guess[1], guess[2]])?;
        let moment = [0, 1].map(|k| -(free[k] + columns[0][k] * n + columns[1][k] * t1 + columns[2][k] * t2));
        let length = moment[0].hypot(moment[1]);
        let excess = if length > 0.0 { self.rolling * n / length - 1.0 } else { 1.0 };
        excess.is_finite().then_some(Trial { r: [n, t1, t2, moment[0], moment[1]], excess })
    }

    /// The root of φ above `low`, where it is negative, by regula falsi with the rule of Anderson and Björck.
    fn root(&self, low: f64, first: Trial) -> Option<[f64; 5]> {
        let (mut low, mut low_excess) = (low, first.excess);
        let mut high = f64::INFINITY;
        let mut high_excess = 0.0;
        let mut guess = first.r;
        // The root when W_MM is isotropic and not coupled: φ is linear, with φ(0) = first.excess.
        let mean = 0.5 * (self.w[18] + self.w[24]).abs();
        let mut lambda = -first.excess / (1.0 + first.excess) * (mean + low);
        let mut last = first;
        // Sign of φ at the last point: only an end that stays twice is scaled.
        let mut side = 0.0;
        for _ in 0..EVALUATIONS {
            if !(lambda > low && lambda < high) {
                lambda = if high.is_finite() { 0.5 * (low + high) } else { 4.0 * low + self.w[0].abs() };
            }
            last = self.evaluate(lambda, guess)?;
            guess = last.r;
            if last.excess.abs() <= 2.0 * f64::EPSILON || high - low < 2.0 * f64::EPSILON * high {
                break;
            }
            if last.excess < 0.0 {
                if side < 0.0 {
                    high_excess *= reduction(last.excess, low_excess);
                }
                (low, low_excess) = (lambda, last.excess);
            } else {
                if side > 0.0 {
                    low_excess *= reduction(last.excess, high_excess);
                }
                (high, high_excess) = (lambda, last.excess);
            }
            side = last.excess;
            lambda = if high.is_finite() {
                (low * high_excess - high * low_excess) / (high_excess - low_excess)
            } else {
                2.0 * lambda * (1.0 - low_excess) + self.w[0].abs() * f64::EPSILON
            };
        }
        let [n, t1, t2, m1, m2] = last.r;
        // On the edge exactly.
        let length = m1.hypot(m2);
        let factor = if length > 0.0 { self.rolling * n / length } else { 0.0 };
        let r = [n, t1, t2, factor * m1, factor * m2];
        r.iter().all(|x| x.is_finite()).then_some(r)
    }
}

/// Factor of the value at the end of the interval that stays, when the value at the other end went from `old` to `new`.
fn reduction(new: f64, old: f64) -> f64 {
    let m = 1.0 - new / old;
    if m > 0.0 { m } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cones::Block;

    /// Unit inertias without coupling.
    fn unit() -> [f64; 25] {
        let mut w = [0.0; 25];
        w.iter_mut().step_by(6).for_each(|x| *x = 1.0);
        w
    }

    #[test]
    fn friction_and_rolling_are_independent_without_coupling() {
        let solve = |q| solve(&unit(), q, [0.5, 0.1], [0.0; 5]).unwrap();
        assert_eq!(solve([0.1, 5.0, 0.0, 1.0, 0.0]), [0.0; 5]);
        assert_eq!(solve([-1.0, 0.3, 0.4, 0.03, 0.04]), [1.0, -0.3, -0.4, -0.03, -0.04]);
        // Both saturate: opposite to (3, 4) and to (0.6, −0.8).
        let r = solve([-1.0, 3.0, 4.0, 0.6, -0.8]);
        for (x, exact) in r.iter().zip([1.0, -0.3, -0.4, -0.06, 0.08]) {
            assert!((x - exact).abs() < 1e-15, "{r:?}"); // a rounding or two
        }
    }

    #[test]
    fn a_moment_without_inertia_follows_or_stays() {
        let mut w = unit();
        (w[18], w[24]) = (0.0, 0.0);
        let r = solve(&w, [-1.0, 0.0, 0.0, 2.0, 0.0], [0.5, 0.1], [0.0; 5]).unwrap();
        assert!((r[0] - 1.0).abs() + (r[3] + 0.1).abs() + r[4].abs() < 1e-14, "{r:?}"); // roundings
        let r = solve(&w, [-1.0, 0.0, 0.0, 0.0, 0.0], [0.5, 0.1], [0.0; 5]).unwrap();
        assert_eq!(r, [1.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_matrix_that_is_not_symmetric_is_solved() {
        let mut w = unit();
        for (k, x) in w.iter_mut().enumerate() {
            *x += 0.3 * (k as f64 * 1.7).sin();
        }
        let (mu, rolling) = (0.4, 0.05);
        let q = [-1.0, 0.8, -0.7, 0.9, 0.4];
        let r = solve(&w, q, [mu, rolling], [0.0; 5]).unwrap();
        let mut u = q;
        for (u, row) in u.iter_mut().zip(w.chunks_exact(5)) {
            *u += row.iter().zip(&r).map(|(w, r)| w * r).sum::<f64>();
        }
        let error = Block::Rolling { mu, rolling }.natural_map_squared(&r, &u, 1.0).sqrt();
        assert!(error < 1e-14, "{error} {r:?} {u:?}"); // roundings of numbers about one
    }

    #[test]
    fn reports_what_it_cannot_solve() {
        assert_eq!(solve(&[0.0; 25], [-1.0, 0.0, 0.0, 0.0, 0.0], [0.5, 0.1], [0.0; 5]), None);
    }
}
