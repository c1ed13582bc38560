//! Exact solution of one planar contact with Coulomb friction, by enumeration.

/// Solves u = W r + q with (r, u) on the planar Coulomb graph, W row-major 2×2, components (N, T).
///
/// The three cases, tried in this order:
///
/// 1. take-off: r = 0 when q_N ≥ 0;
/// 2. stick: r = −W⁻¹ q when it lies in the cone;
/// 3. slide to either side s = ±1: r_T = s μ r_N, u_N = 0, s u_T ≤ 0, hence
///    r_N = −q_N / (W_NN + s μ W_NT). Where both sides are solutions the one nearest `guess` is kept.
///
/// `None` when W does not allow any of them (singular or not positive definite).
#[inline]
pub(super) fn solve(w: [f64; 4], q: [f64; 2], mu: f64, guess: [f64; 2]) -> Option<[f64; 2]> {
    if q[0] >= 0.0 {
        return Some([0.0; 2]);
    }
    let [nn, nt, tn, tt] = w;
    if nn <= 0.0 {
        return None;
    }
    if mu == 0.0 {
        return finite([-q[0] / nn, 0.0]);
    }
    let determinant = nn * tt - nt * tn;
    // Below this the digits of the determinant are rounding of its two products.
    if determinant > 1e-14 * nn * tt {
        let r = [-(tt * q[0] - nt * q[1]) / determinant, -(nn * q[1] - tn * q[0]) / determinant];
        if r[1].abs() <= mu * r[0] {
            return finite(r);
        }
    }
    let mut best = None;
    let mut best_distance = f64::INFINITY;
    for side in [-1.0, 1.0] {
        let stiffness = nn + side * mu * nt;
        if stiffness <= 0.0 {
            continue;
        }
        let normal = -q[0] / stiffness;
        let r = [normal, side * mu * normal];
        let slip = side * (tn * r[0] + tt * r[1] + q[1]);
        // At the edge of sticking the slip is zero up to the rounding of its terms.
        let rounding = 4.0 * f64::EPSILON * (tn * r[0]).abs().max((tt * r[1]).abs());
        let distance = (r[0] - guess[0]).powi(2) + (r[1] - guess[1]).powi(2);
        if slip <= rounding && (best.is_none() || distance < best_distance) {
            best = finite(r);
            best_distance = distance;
        }
    }
    best
}

fn finite(r: [f64; 2]) -> Option<[f64; 2]> {
    (r[0].is_finite() && r[1].is_finite()).then_some(r)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: [f64; 4] = [1.0, 0.0, 0.0, 1.0];

    #[test]
    fn takes_off_sticks_and_slides() {
        assert_eq!(solve(UNIT, [1.0, 5.0], 0.5, [0.0; 2]), Some([0.0, 0.0]));
        assert_eq!(solve(UNIT, [-1.0, 0.4], 0.5, [0.0; 2]), Some([1.0, -0.4]));
        assert_eq!(solve(UNIT, [-1.0, 3.0], 0.5, [0.0; 2]), Some([1.0, -0.5]));
        assert_eq!(solve(UNIT, [-1.0, -3.0], 0.5, [0.0; 2]), Some([1.0, 0.5]));
    }

    #[test]
    fn slides_where_the_tangent_has_no_inverse() {
        // W_TT = 0: the slip is given, friction follows it.
        let r = solve([2.0, 0.0, 0.0, 0.0], [-1.0, 3.0], 0.5, [0.0; 2]);
        assert_eq!(r, Some([0.5, -0.25]));
    }

    #[test]
    fn reports_what_it_cannot_solve() {
        assert_eq!(solve([0.0; 4], [-1.0, 0.0], 0.5, [0.0; 2]), None);
    }
}
