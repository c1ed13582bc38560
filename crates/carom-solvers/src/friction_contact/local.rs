//! Solution of one contact block, the others held fixed.

use super::{one_contact_2d, one_contact_3d};
use crate::cones::Block;

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
        (Block::Coulomb2 { mu }, &[w0, w1, w2, w3], &[q0, q1], [r0, r1]) => {
            let w = [w0, w1, w2, w3];
            match one_contact_2d::solve(w, [q0, q1], mu, [*r0, *r1]) {
                Some(solution) => [*r0, *r1] = solution,
                None => iterate(block, &w, q, r),
            }
        }
        (Block::Coulomb3 { mu }, w, &[q0, q1, q2], [r0, r1, r2]) => {
            if let Ok(w) = w.try_into() {
                match one_contact_3d::solve(w, [q0, q1, q2], mu, [*r0, *r1, *r2]) {
                    Some(solution) => [*r0, *r1, *r2] = solution,
                    None => iterate(block, w, q, r),
                }
            }
        }
        (Block::Rolling { .. }, w, q, r) if w.len() == 25 && q.len() == 5 => iterate(block, w, q, r),
        _ => debug_assert!(false, "block and arrays do not fit: {block:?}"),
    }
}

/// Iterations of the fallback; it serves blocks that have no solution or a degenerate one.
const FALLBACK_ITERATIONS: usize = 200;

/// Projected fixed point r ← P_K(r − ρ û(r)), ρ = 1/|W|_F; keeps the iterate with the smallest natural
/// map. [Acary & Brogliato, *Numerical Methods for Nonsmooth Dynamical Systems*, Springer 2008.]
#[cold]
fn iterate(block: Block, w: &[f64], q: &[f64], r: &mut [f64]) {
    let dim = block.dim();
    let size = w.iter().map(|x| x * x).sum::<f64>().sqrt();
    let step = if size > 0.0 { 1.0 / size } else { 1.0 };
    let scale = if size > 0.0 { size } else { 1.0 };
    let mut x = [0.0; Block::MAX_DIM];
    let mut u = [0.0; Block::MAX_DIM];
    let mut best = f64::INFINITY;
    x[..dim].copy_from_slice(r);
    r.fill(0.0);
    for _ in 0..FALLBACK_ITERATIONS {
        for i in 0..dim {
            u[i] = q[i] + (0..dim).map(|j| w[i * dim + j] * x[j]).sum::<f64>();
        }
        let error = block.natural_map_squared(&x[..dim], &u[..dim], scale);
        if error < best {
            best = error;
            r.copy_from_slice(&x[..dim]);
        }
        if error.is_nan() || size == 0.0 {
            return; // W = 0: iterating would only grow r without bound.
        }
        u[0] += block.slip_term(&u[..dim]);
        for i in 0..dim {
            x[i] -= step * u[i];
        }
        block.project(&mut x[..dim]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_without_inertia_stays_finite() {
        for block in [Block::Unilateral, Block::Coulomb2 { mu: 0.3 }, Block::Coulomb3 { mu: 0.3 }] {
            let dim = block.dim();
            let mut r = vec![0.5; dim];
            solve_contact(block, &vec![0.0; dim * dim], &vec![-1.0; dim], &mut r);
            assert!(r.iter().all(|x| x.is_finite()), "{block:?} {r:?}");
        }
    }

    #[test]
    fn the_fallback_solves_what_the_formula_solves() {
        let w = [2.0, 0.3, 0.1, 0.3, 1.0, 0.2, 0.1, 0.2, 1.5];
        let q = [-1.0, 2.0, -0.5];
        let block = Block::Coulomb3 { mu: 0.4 };
        let mut exact = [0.0; 3];
        solve_contact(block, &w, &q, &mut exact);
        let mut iterated = [0.0; 3];
        iterate(block, &w, &q, &mut iterated);
        for (a, b) in exact.iter().zip(iterated) {
            assert!((a - b).abs() < 1e-8, "{exact:?} {iterated:?}"); // rate about 0.7 per iteration
        }
    }
}
