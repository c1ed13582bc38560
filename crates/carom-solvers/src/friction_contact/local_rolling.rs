//! One contact with rolling or spinning resistance, whatever it takes.

use super::{local_newton, local_projection, one_contact_rolling};
use crate::cones::{Block, norm_squared};

/// Solves u = W r + q on one contact with rolling or spinning resistance (D rows). Tries, until the natural map is rounding, and keeps the best of
///
/// 1. the formula of `one_contact_rolling.rs`, which is enough for all blocks but few in ten thousand;
/// 2. the same with friction and rolling in each other's place: the law is symmetric in them, the formula is not, where it jumps
///    between several solutions;
/// 3. Newton's method from the best of these;
/// 4. proximal iterations r ← solution with u = W r' + q + α (r' − r), where W is singular and the formula finds one of many impulses, not in
///    the cone;
/// 5. projections.
///
/// Always finite.
#[inline(never)]
pub(super) fn solve<const D: usize>(block: Block, w: &[f64], q: &[f64], r: &mut [f64]) {
    let (Ok(q), Ok(guess)) = (<[f64; D]>::try_from(q), <[f64; D]>::try_from(&*r)) else {
        debug_assert!(false, "block and arrays do not fit: {block:?}");
        return;
    };
    let slopes = [block.friction(), block.moments().map_or(0.0, |(slope, _)| slope)];
    let trace: f64 = w.iter().step_by(D + 1).sum();
    let scale = if trace > 0.0 { trace / D as f64 } else { 1.0 };
    let mut best = Best { block, w, q, scale, r: guess, error: f64::INFINITY };
    if !best.offer(one_contact_rolling::solve(w, q, slopes, guess)) && !best.offer(solve_swapped(slopes, w, q, guess)) {
        best.try_harder(slopes);
    }
    r.copy_from_slice(&best.r);
}

/// Error, relative to the largest of |q|, |r| and |u|, that is rounding.
const ROUNDING: f64 = 1e-13;

/// Newton steps of the third attempt, and projections of the last one.
const ITERATIONS: usize = 100;

/// Proximal iterations, with α a thousandth of the mean of diag W: each reduces the error a hundredfold or so.
const PROXIMAL: (usize, f64) = (30, 1e-3);

/// The best impulse so far.
struct Best<'a, const D: usize> {
    block: Block,
    w: &'a [f64],
    q: [f64; D],
    /// Mean of diag W, the unit of mass of the error.
    scale: f64,
    r: [f64; D],
    error: f64,
}

impl<const D: usize> Best<'_, D> {
    /// Keeps a better impulse; true when it is good.
    fn offer(&mut self, r: Option<[f64; D]>) -> bool {
        let Some(r) = r else { return false };
        let mut u = self.q;
        for (u, row) in u.iter_mut().zip(self.w.chunks_exact(D)) {
            *u += row.iter().zip(&r).map(|(w, r)| w * r).sum::<f64>();
        }
        let size = norm_squared(&self.q).max(norm_squared(&r) * self.scale * self.scale).max(norm_squared(&u)).sqrt();
        let error = self.block.natural_map_squared(&r, &u, self.scale).sqrt() / size.max(f64::MIN_POSITIVE);
        if error < self.error {
            (self.r, self.error) = (r, error);
        }
        error <= ROUNDING
    }

    #[cold]
    fn try_harder(&mut self, slopes: [f64; 2]) {
        let mut r = self.r;
        local_newton::solve(self.block, self.w, &self.q, &mut r, ITERATIONS, 0.1 * ROUNDING);
        if self.offer(Some(r)) {
            return;
        }
        let alpha = PROXIMAL.1 * self.scale;
        let mut shifted = [0.0; Block::MAX_DIM * Block::MAX_DIM];
        let w = &mut shifted[..D * D];
        w.copy_from_slice(self.w);
        w.iter_mut().step_by(D + 1).for_each(|x| *x += alpha);
        let mut r = self.r;
        for _ in 0..PROXIMAL.0 {
            let mut q = self.q;
            for (q, r) in q.iter_mut().zip(&r) {
                *q -= alpha * r;
            }
            match one_contact_rolling::solve(w, q, slopes, r) {
                Some(next) => r = next,
                None => break,
            }
            if self.offer(Some(r)) {
                return;
            }
        }
        let mut r = self.r;
        local_projection::solve(self.block, self.w, &self.q, &mut r, ITERATIONS, 0.0);
        self.offer(Some(r));
    }
}

/// The formula with the rows T and M exchanged, where there are as many of both.
#[cold]
fn solve_swapped<const D: usize>(slopes: [f64; 2], w: &[f64], q: [f64; D], guess: [f64; D]) -> Option<[f64; D]> {
    const ORDER: [usize; 5] = [0, 3, 4, 1, 2];
    if D != 5 {
        return None;
    }
    let swapped: [f64; 25] = std::array::from_fn(|k| w[5 * ORDER[k / 5] + ORDER[k % 5]]);
    let exchange = |x: &[f64; D]| std::array::from_fn::<f64, D, _>(|k| x[ORDER[k]]);
    let r = one_contact_rolling::solve(&swapped, exchange(&q), [slopes[1], slopes[0]], exchange(&guess))?;
    Some(exchange(&r))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanging_friction_and_rolling_changes_nothing() {
        let mut w = [0.0; 25];
        for (k, x) in w.iter_mut().enumerate() {
            *x = 0.2 * (k as f64 * 1.3).cos() + if k % 6 == 0 { 1.5 } else { 0.0 };
        }
        let q = [-1.0, 0.8, -0.7, 0.9, 0.4];
        let formula = one_contact_rolling::solve(&w, q, [0.4, 0.1], [0.0; 5]).unwrap();
        let swapped = solve_swapped([0.4, 0.1], &w, q, [0.0; 5]).unwrap();
        for (a, b) in formula.iter().zip(&swapped) {
            assert!((a - b).abs() < 1e-14, "{formula:?} {swapped:?}"); // roundings of numbers about one
        }
    }

    #[test]
    fn redundant_rows_are_solved() {
        // T and M are driven by the same two coordinates, W = G Gᵀ of rank 3: the load is shared as the cone allows.
        let g = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let w: [f64; 25] = std::array::from_fn(|k| (0..3).map(|c| g[k / 5][c] * g[k % 5][c]).sum());
        let q = [-1.0, 0.55, 0.0, 0.55, 0.0];
        let mut r = [0.0; 5];
        solve::<5>(Block::Rolling { mu: 0.5, rolling: 0.1 }, &w, &q, &mut r);
        // Sticks: r_T + r_M = −0.55 within 0.5 and 0.1.
        assert!((r[0] - 1.0).abs() < 1e-12 && (r[1] + r[3] + 0.55).abs() < 1e-12, "{r:?}"); // ROUNDING, impulses about one
        assert!(r[1].abs() <= 0.5 + 1e-12 && r[3].abs() <= 0.1 + 1e-12, "{r:?}");
    }
}
