//! The exact solution of one block whose impulse lies in a ball.

use crate::cones::{norm_squared, project_ball};

/// Solves −(W r + q) ∈ N_B(r), |r| ≤ radius, for two or three rows; `r` holds the current impulse and receives the solution.
///
/// For symmetric W this is the minimum of ½ rᵀ W r + qᵀ r over the ball: r = −(W + λ)⁻¹ q with λ = 0 where that is inside, and else with λ > 0 such that
/// |r| = radius, found by Newton's method on 1/|r(λ)| − 1/radius, which is concave: it converges from λ = 0 without overshooting. [Moré & Sorensen, *Computing a
/// trust region step*, SIAM J. Sci. Stat. Comput. 4, 1983]. What is not symmetric in W acts through the last impulse.
pub(super) fn solve(radius: f64, w: &[f64], q: &[f64], r: &mut [f64]) {
    let n = q.len();
    let (mut a, mut b) = ([0.0; 9], [0.0; 3]);
    for i in 0..n {
        b[i] = q[i];
        for j in 0..n {
            a[i * n + j] = 0.5 * (w[i * n + j] + w[j * n + i]);
            b[i] += 0.5 * (w[i * n + j] - w[j * n + i]) * r[j];
        }
    }
    let (a, b) = (&a[..n * n], &b[..n]);
    let trace: f64 = a.iter().step_by(n + 1).sum();
    if radius == 0.0 || !(trace > 0.0 && trace.is_finite()) {
        return project_ball(radius, r);
    }
    // rows without inertia: a little, so that the factor exists
    let mut lambda = 0.0;
    for _ in 0..MAX_STEPS {
        let Some(l) = cholesky(a, n, lambda) else {
            lambda = if lambda == 0.0 { f64::EPSILON * trace } else { 2.0 * lambda };
            continue;
        };
        let mut x = [0.0; 3];
        x[..n].iter_mut().zip(b).for_each(|(x, b)| *x = -b);
        lower_solve(&l, n, &mut x);
        upper_solve(&l, n, &mut x);
        let size = norm_squared(&x[..n]).sqrt();
        r.copy_from_slice(&x[..n]);
        if size <= radius * (1.0 + ROUNDING) {
            return project_ball(radius, r);
        }
        lower_solve(&l, n, &mut x);
        lambda += size * size / norm_squared(&x[..n]) * (size - radius) / radius;
    }
    project_ball(radius, r);
}

/// Newton steps at most; quadratic, and a handful in practice.
const MAX_STEPS: usize = 100;

/// |r| may be so far outside before it is moved to the surface.
const ROUNDING: f64 = 1e-15;

/// L of A + λ = L Lᵀ; none when it is not positive definite.
fn cholesky(a: &[f64], n: usize, lambda: f64) -> Option<[f64; 9]> {
    let mut l = [0.0; 9];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let x = a[i * n + j] - sum;
            if i == j {
                let pivot = x + lambda;
                if pivot.is_nan() || pivot <= f64::EPSILON * a[i * n + i] {
                    return None;
                }
                l[i * n + i] = pivot.sqrt();
            } else {
                l[i * n + j] = x / l[j * n + j];
            }
        }
    }
    Some(l)
}

fn lower_solve(l: &[f64; 9], n: usize, x: &mut [f64; 3]) {
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
        x[i] = (x[i] - sum) / l[i * n + i];
    }
}

fn upper_solve(l: &[f64; 9], n: usize, x: &mut [f64; 3]) {
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
        x[i] = (x[i] - sum) / l[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cones::Block;

    #[test]
    fn the_law_holds_inside_and_on_the_surface() {
        let w = [2.0, 0.3, -0.2, 0.3, 1.0, 0.4, -0.2, 0.4, 0.5];
        for (radius, q) in [(10.0, [1.0, -0.5, 0.2]), (0.3, [1.0, -0.5, 0.2]), (1e-6, [-3.0, 2.0, 1.0]), (0.0, [1.0, 1.0, 1.0])] {
            let mut r = [0.1, 0.0, 0.0];
            solve(radius, &w, &q, &mut r);
            let u: Vec<f64> = (0..3).map(|i| q[i] + (0..3).map(|j| w[3 * i + j] * r[j]).sum::<f64>()).collect();
            let error = Block::Ball { dim: 3, radius }.natural_map_squared(&r, &u, 1.0);
            assert!(error.sqrt() < 1e-14, "{radius}: {r:?} {u:?}"); // roundings of numbers about one
        }
    }

    #[test]
    fn rows_without_inertia_do_not_stop_it() {
        let mut r = [0.0; 2];
        solve(0.5, &[1.0, 0.0, 0.0, 0.0], &[-0.2, -1.0], &mut r);
        assert!(r.iter().all(|x| x.is_finite()) && norm_squared(&r).sqrt() <= 0.5 + 1e-15, "{r:?}");
    }
}
