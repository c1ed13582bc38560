//! One contact block by projections with a step that adapts itself.

use crate::cones::Block;

/// Solves u = W r + q on one contact block by
///
/// ```text
///   r ← P_K(r − ρ û(r)),   û = u + (μ|u_T| + …, 0),
/// ```
///
/// with ρ reduced until ρ |û(r') − û(r)| ≤ 0.9 |r' − r| and raised again where it is below 0.3.
/// [The step rule: Khobotov 1987 as used in Acary, Brémond & Huber, *On solving contact problems with Coulomb friction*, 2018;
/// the fixed point: De Saxcé & Feng, *The bipotential method*, 1998]
///
/// Starts from `r` and leaves the iterate with the smallest natural map there; ends when that is below `tolerance` times the
/// largest of |q| and |W||r|. Always finite. When to use it: blocks the exact formulas do not solve (singular, indefinite),
/// and as the reference the other local solvers are compared with. Cost: dim² flops per iteration, linear convergence.
#[cold]
pub(super) fn solve(block: Block, w: &[f64], q: &[f64], r: &mut [f64], iterations: usize, tolerance: f64) {
    let dim = block.dim();
    let size = w.iter().map(|x| x * x).sum::<f64>().sqrt();
    if !(size > 0.0 && size.is_finite()) {
        return; // W = 0: iterating would only grow r without bound.
    }
    let mut state = State { block, w, q, x: [0.0; N], u: [0.0; N] };
    state.x[..dim].copy_from_slice(r);
    block.project(&mut state.x[..dim]);
    state.update_velocity();
    let q_size = norm(&q[..dim]);
    let mut step = 1.0 / size;
    let mut best = f64::INFINITY;
    for _ in 0..iterations {
        let error = block.natural_map_squared(&state.x[..dim], &state.u[..dim], size).sqrt();
        if error < best {
            best = error;
            r.copy_from_slice(&state.x[..dim]);
        }
        if error.is_nan() || error <= tolerance * q_size.max(size * norm(&state.x[..dim])) {
            return;
        }
        step = state.advance(step);
    }
}

const N: usize = Block::MAX_DIM;

/// Largest accepted ratio ρ |û' − û|/|r' − r|: the map is then a contraction.
const LARGEST_RATIO: f64 = 0.9;

/// Ratio below which the step is raised for the next iteration.
const SMALLEST_RATIO: f64 = 0.3;

/// Factor of the changes of the step.
const SHRINK: f64 = 2.0 / 3.0;

/// Reductions of the step in one iteration; (2/3)⁴⁰ is 1e-7.
const REDUCTIONS: usize = 40;

struct State<'a> {
    block: Block,
    w: &'a [f64],
    q: &'a [f64],
    x: [f64; N],
    u: [f64; N],
}

impl State<'_> {
    fn update_velocity(&mut self) {
        let dim = self.block.dim();
        for ((u, row), q) in self.u.iter_mut().zip(self.w.chunks_exact(dim)).zip(self.q) {
            *u = q + row.iter().zip(&self.x).map(|(w, x)| w * x).sum::<f64>();
        }
    }

    /// û.
    fn modified_velocity(&self) -> [f64; N] {
        let mut u = self.u;
        u[0] += self.block.slip_term(&self.u[..self.block.dim()]);
        u
    }

    /// One projection; the step for the next one.
    fn advance(&mut self, mut step: f64) -> f64 {
        let dim = self.block.dim();
        let (x, u) = (self.x, self.modified_velocity());
        for _ in 0..REDUCTIONS {
            for k in 0..dim {
                self.x[k] = x[k] - step * u[k];
            }
            self.block.project(&mut self.x[..dim]);
            self.update_velocity();
            let after = self.modified_velocity();
            let (moved, turned) = (distance(&self.x, &x), distance(&after, &u));
            let ratio = step * turned / moved;
            if moved == 0.0 || !ratio.is_finite() {
                return step;
            }
            if ratio <= LARGEST_RATIO {
                return if ratio < SMALLEST_RATIO { step / SHRINK } else { step };
            }
            step *= SHRINK * (1.0 / ratio).min(1.0);
        }
        step
    }
}

fn norm(x: &[f64]) -> f64 {
    crate::cones::norm_squared(x).sqrt()
}

fn distance(a: &[f64; N], b: &[f64; N]) -> f64 {
    (0..N).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planar_contact_known_by_hand_is_reached() {
        // Unit masses, μ = 0.5: sliding at 3 the friction is 0.5, at 0.4 it holds.
        let w = [1.0, 0.0, 0.0, 1.0];
        for (slip, friction) in [(3.0, -0.5), (0.4, -0.4)] {
            let mut r = [0.0; 2];
            solve(Block::Coulomb2 { mu: 0.5 }, &w, &[-1.0, slip], &mut r, 500, 1e-13);
            // the tolerance of the iteration, times a contraction of about one half
            assert!((r[0] - 1.0).abs() + (r[1] - friction).abs() < 1e-12, "{slip} {r:?}");
        }
    }

    #[test]
    fn a_block_without_solution_stays_finite() {
        let mut r = [0.5, 0.1];
        solve(Block::Coulomb2 { mu: 0.5 }, &[0.0, 0.0, 0.0, 1.0], &[-1.0, 1.0], &mut r, 500, 1e-13);
        assert!(r.iter().all(|x| x.is_finite()), "{r:?}");
    }
}
