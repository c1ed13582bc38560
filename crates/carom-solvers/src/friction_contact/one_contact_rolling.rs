//! Exact solution of one spatial contact with Coulomb friction and a resisting moment of one to three components.
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
use crate::cones::norm_squared;

/// Solves u = W r + q on the cone |r_T| ≤ μ r_N, |r_M| ≤ μ_r r_N; W row-major D×D, components (N, T1, T2, M…), D from 4 to 6.
///
/// `None` when W allows no solution this way can find (W_NN = 0, indefinite blocks).
pub(super) fn solve<const D: usize>(w: &[f64], q: [f64; D], slopes: [f64; 2], guess: [f64; D]) -> Option<[f64; D]> {
    let [mu, rolling] = slopes;
    if q[0] >= 0.0 {
        return Some([0.0; D]);
    }
    let contact = Contact { w, q, mu, rolling };
    if rolling == 0.0 {
        let (w, q) = contact.without_moments();
        let [n, t1, t2] = one_contact_3d::solve_apart(&w, q, mu, [guess[0], guess[1], guess[2]])?;
        return Some(join([n, t1, t2], [0.0; 3]));
    }
    let smallest = contact.smallest_multiplier();
    let first = contact.evaluate(smallest, guess)?;
    if first.excess >= 0.0 {
        return Some(first.r); // rolling sticks
    }
    contact.root(smallest, first)
}

/// Force and moment in the rows of the block.
fn join<const D: usize>(force: [f64; 3], moment: [f64; 3]) -> [f64; D] {
    std::array::from_fn(|k| if k < 3 { force[k] } else { moment[k - 3] })
}

struct Contact<'a, const D: usize> {
    w: &'a [f64],
    q: [f64; D],
    mu: f64,
    rolling: f64,
}

/// The solution for a given multiplier λ and φ(λ).
#[derive(Clone, Copy)]
struct Trial<const D: usize> {
    r: [f64; D],
    excess: f64,
}

/// W_MM + λ with its determinant; unused rows are those of the unit matrix.
struct Moments {
    a: [[f64; 3]; 3],
    determinant: f64,
}

impl Moments {
    /// From the last rows of a block of `dim`.
    fn new(w: &[f64], dim: usize, lambda: f64) -> Self {
        let n = dim - 3;
        let entry = |i: usize, j: usize| match (i < n && j < n, i == j) {
            (true, same) => w[(i + 3) * dim + j + 3] + if same { lambda } else { 0.0 },
            (false, same) => f64::from(u8::from(same)),
        };
        let a: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
        let plane = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        let determinant = if n < 3 {
            plane
        } else {
            a[2][2] * plane - a[1][2] * (a[0][0] * a[2][1] - a[0][1] * a[2][0]) + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])
        };
        Moments { a, determinant }
    }

    /// Cramer's rule.
    fn solve(&self, x: [f64; 3]) -> [f64; 3] {
        let a = &self.a;
        let minor = |i: usize, j: usize| {
            let (r, c) = ((i + 1) % 3, (j + 1) % 3);
            let (r2, c2) = ((i + 2) % 3, (j + 2) % 3);
            a[r][c] * a[r2][c2] - a[r][c2] * a[r2][c]
        };
        std::array::from_fn(|k| (minor(0, k) * x[0] + minor(1, k) * x[1] + minor(2, k) * x[2]) / self.determinant)
    }
}

/// Evaluations of φ; bisection alone needs some 60 of them.
const EVALUATIONS: usize = 120;

impl<const D: usize> Contact<'_, D> {
    fn without_moments(&self) -> ([f64; 9], [f64; 3]) {
        (std::array::from_fn(|k| self.w[D * (k / 3) + k % 3]), [self.q[0], self.q[1], self.q[2]])
    }

    /// Diagonal entry of W_MM.
    fn inertia(&self, k: usize) -> f64 {
        self.w[(k + 3) * (D + 1)]
    }

    /// 0, or where W_MM is singular a multiplier whose slip is rounding.
    fn smallest_multiplier(&self) -> f64 {
        let size: f64 = (0..D - 3).map(|k| self.inertia(k).abs()).sum();
        if Moments::new(self.w, D, 0.0).determinant > 1e-14 * size.powi(D as i32 - 3) {
            return 0.0;
        }
        let trace: f64 = self.w.iter().step_by(D + 1).map(|x| x.abs()).sum();
        f64::EPSILON * if size > 0.0 { size } else { trace }
    }

    /// λ ↦ r and φ.
    fn evaluate(&self, lambda: f64, guess: [f64; D]) -> Option<Trial<D>> {
        let (w, n) = (self.w, D - 3);
        let moments = Moments::new(w, D, lambda);
        if !(moments.determinant > 0.0 && moments.determinant.is_finite()) {
            return None;
        }
        let padded = |of: &dyn Fn(usize) -> f64| std::array::from_fn(|k| if k < n { of(k) } else { 0.0 });
        let free = moments.solve(padded(&|k| self.q[k + 3]));
        // (W_MM + λ)⁻¹ W_MC, column after column.
        let columns = [0, 1, 2].map(|j| moments.solve(padded(&|k| w[(k + 3) * D + j])));
        let (mut reduced, mut velocity) = self.without_moments();
        for i in 0..3 {
            let by_moment = &w[D * i + 3..D * (i + 1)];
            let along = |x: &[f64; 3]| by_moment.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
            for (j, column) in columns.iter().enumerate() {
                reduced[3 * i + j] -= along(column);
            }
            velocity[i] -= along(&free);
        }
        let [n, t1, t2] = one_contact_3d::solve_apart(&reduced, velocity, self.mu, [guess[0], guess[1], guess[2]])?;
        let moment = [0, 1, 2].map(|k| -(free[k] + columns[0][k] * n + columns[1][k] * t1 + columns[2][k] * t2));
        let length = norm_squared(&moment).sqrt();
        let excess = if length > 0.0 { self.rolling * n / length - 1.0 } else { 1.0 };
        excess.is_finite().then_some(Trial { r: join([n, t1, t2], moment), excess })
    }

    /// The root of φ above `low`, where it is negative, by regula falsi with the rule of Anderson and Björck.
    fn root(&self, low: f64, first: Trial<D>) -> Option<[f64; D]> {
        let (mut low, mut low_excess) = (low, first.excess);
        let mut high = f64::INFINITY;
        let mut high_excess = 0.0;
        let mut guess = first.r;
        // The root when W_MM is isotropic and not coupled: φ is linear, with φ(0) = first.excess.
        let mean = (0..D - 3).map(|k| self.inertia(k)).sum::<f64>().abs() / (D - 3) as f64;
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
        let mut r = last.r;
        // On the edge exactly.
        let length = norm_squared(&r[3..]).sqrt();
        let factor = if length > 0.0 { self.rolling * r[0] / length } else { 0.0 };
        r[3..].iter_mut().for_each(|m| *m *= factor);
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

    /// The natural map of the solution of a block that is diagonally dominant, not symmetric.
    fn error<const D: usize>(block: Block, slip: f64) -> f64 {
        let slopes = [block.friction(), block.moments().map_or(0.0, |(slope, _)| slope)];
        let w: Vec<f64> = (0..D * D).map(|k| 0.2 * (k as f64 * 1.7).sin() + f64::from(u8::from(k % (D + 1) == 0))).collect();
        let q: [f64; D] = std::array::from_fn(|k| if k == 0 { -1.0 } else { slip * (k as f64).cos() });
        let r = solve(&w, q, slopes, [0.0; D]).unwrap();
        let mut u = q;
        for (u, row) in u.iter_mut().zip(w.chunks_exact(D)) {
            *u += row.iter().zip(&r).map(|(w, r)| w * r).sum::<f64>();
        }
        block.natural_map_squared(&r, &u, 1.0).sqrt()
    }

    #[test]
    fn moments_of_one_and_three_components() {
        for slip in [0.01, 0.3, 3.0] {
            let spinning = error::<4>(Block::Spinning { mu: 0.4, spinning: 0.05 }, slip);
            let both = error::<6>(Block::RollingSpinning { mu: 0.4, rolling: 0.05 }, slip);
            assert!(spinning < 1e-13 && both < 1e-13, "{slip}: {spinning} {both}"); // roundings of numbers about one
        }
    }
}
