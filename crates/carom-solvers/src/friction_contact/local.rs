//! Solution of one contact block, the others held fixed.

use super::{ball, local_newton, local_projection, local_rolling, one_contact_2d, one_contact_3d};
use crate::cones::Block;
use serde::{Deserialize, Serialize};

/// The way a sweep solves each of its blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalSolver {
    /// Formulas: cases in the plane, the quartic of sliding in space, a scalar equation around it with rolling resistance. The fastest
    /// and the most robust.
    #[default]
    Exact,
    /// Damped Newton steps on the Alart–Curnier equations of the block.
    Newton,
    /// Projections with a self-adaptive step: the classical choice, slow on blocks of bad condition.
    Projection,
}

/// A local solver with its limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalMethod {
    pub solver: LocalSolver,
    pub iterations: usize,
    pub tolerance: f64,
}

impl LocalMethod {
    /// Solves u = W r + q on one contact block; as [`solve_contact`].
    #[inline(always)]
    pub fn solve(&self, block: Block, w: &[f64], q: &[f64], r: &mut [f64]) {
        match self.solver {
            LocalSolver::Exact => solve_contact(block, w, q, r),
            LocalSolver::Newton => local_newton::solve(block, w, q, r, self.iterations, self.tolerance),
            LocalSolver::Projection => local_projection::solve(block, w, q, r, self.iterations, self.tolerance),
        }
    }
}

/// Solves u = W r + q on one contact block (not bilateral). `r` holds the current impulse and
/// receives the solution. Exact unless W is so degenerate that only fixed-point iterations remain;
/// always finite.
#[inline]
pub(crate) fn solve_contact(block: Block, w: &[f64], q: &[f64], r: &mut [f64]) {
    match (block, w, q, &mut *r) {
        (Block::Unilateral, &[w], &[q], [r]) => {
            if q >= 0.0 {
                *r = 0.0;
            } else if w > 0.0 && (q / w).is_finite() {
                *r = -q / w;
            } else {
                // A row without inertia cannot stop the approach; keep what is there.
                *r = r.max(0.0);
            }
        }
        (Block::Bounded { lower, upper }, &[w], &[q], [r]) => {
            let free = -q / w;
            // A row without inertia goes to the bound that opposes q, if there is one; otherwise it keeps what is there.
            let at_rest = if w > 0.0 && free.is_finite() {
                free
            } else if q > 0.0 && lower.is_finite() {
                lower
            } else if q < 0.0 && upper.is_finite() {
                upper
            } else {
                *r
            };
            *r = at_rest.max(lower).min(upper);
        }
        (Block::Coulomb2 { mu }, &[w0, w1, w2, w3], &[q0, q1], [r0, r1]) => {
            let w = [w0, w1, w2, w3];
            match one_contact_2d::solve(w, [q0, q1], mu, [*r0, *r1]) {
                Some(solution) => [*r0, *r1] = solution,
                None => fall_back(block, &w, q, r),
            }
        }
        (Block::Coulomb3 { mu }, w, &[q0, q1, q2], [r0, r1, r2]) => {
            if let Ok(w) = w.try_into() {
                match one_contact_3d::solve(w, [q0, q1, q2], mu, [*r0, *r1, *r2]) {
                    Some(solution) => [*r0, *r1, *r2] = solution,
                    None => fall_back(block, w, q, r),
                }
            }
        }
        (Block::Ball { radius, .. }, w, q, r) => ball::solve(radius, w, q, r),
        (Block::Spinning { .. }, w, q, r) => local_rolling::solve::<4>(block, w, q, r),
        (Block::Rolling { .. }, w, q, r) => local_rolling::solve::<5>(block, w, q, r),
        (Block::RollingSpinning { .. }, w, q, r) => local_rolling::solve::<6>(block, w, q, r),
        _ => debug_assert!(false, "block and arrays do not fit: {block:?}"),
    }
}

/// Iterations of the fallback; it serves blocks that have no solution or a degenerate one.
const FALLBACK_ITERATIONS: usize = 200;

#[cold]
fn fall_back(block: Block, w: &[f64], q: &[f64], r: &mut [f64]) {
    local_projection::solve(block, w, q, r, FALLBACK_ITERATIONS, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [LocalSolver; 3] = [LocalSolver::Exact, LocalSolver::Newton, LocalSolver::Projection];

    fn blocks() -> [Block; 8] {
        [
            Block::Unilateral,
            Block::Bounded { lower: -0.2, upper: 0.3 },
            Block::Bounded { lower: -5.0, upper: f64::INFINITY },
            Block::Coulomb2 { mu: 0.3 },
            Block::Coulomb3 { mu: 0.3 },
            Block::Spinning { mu: 0.3, spinning: 0.1 },
            Block::Rolling { mu: 0.3, rolling: 0.1 },
            Block::RollingSpinning { mu: 0.3, rolling: 0.1 },
        ]
    }

    #[test]
    fn a_block_without_inertia_stays_finite() {
        for block in blocks() {
            for solver in ALL {
                let dim = block.dim();
                let mut r = vec![0.5; dim];
                let method = LocalMethod { solver, iterations: 50, tolerance: 1e-12 };
                method.solve(block, &vec![0.0; dim * dim], &vec![-1.0; dim], &mut r);
                assert!(r.iter().all(|x| x.is_finite()), "{block:?} {solver:?} {r:?}");
            }
        }
    }

    #[test]
    fn all_ways_find_the_same_impulse() {
        // Diagonally dominant, not symmetric.
        for block in blocks() {
            let dim = block.dim();
            let w: Vec<f64> = (0..dim * dim)
                .map(|k| if k % (dim + 1) == 0 { 1.0 + 0.2 * k as f64 / dim as f64 } else { 0.2 * (k as f64).sin() })
                .collect();
            for slip in [0.01, 2.0] {
                let q: Vec<f64> = (0..dim).map(|k| if k == 0 { -1.0 } else { slip * (k as f64).cos() }).collect();
                let mut exact = vec![0.0; dim];
                solve_contact(block, &w, &q, &mut exact);
                for solver in ALL {
                    let mut r = vec![0.0; dim];
                    LocalMethod { solver, iterations: 2000, tolerance: 1e-13 }.solve(block, &w, &q, &mut r);
                    for (a, b) in exact.iter().zip(&r) {
                        assert!((a - b).abs() < 1e-11, "{block:?} {solver:?} {exact:?} {r:?}"); // tolerance 1e-13, conditioning below 1e2
                    }
                }
            }
        }
    }
}
