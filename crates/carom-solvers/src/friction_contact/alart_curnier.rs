//! The Alart–Curnier function of a block: zero where impulse and velocity satisfy its law.
//!
//!   F_N = r_N − (z_N)⁺,   F_T = r_T − P_{|·| ≤ μ (z_N)⁺}(z_T),   z = r − u,
//!
//! F = u for a joint and F = r − P_[lower, upper](z) for a bounded row. [Alart & Curnier, *A mixed formulation for frictional contact problems prone to
//! Newton like solution methods*, 1991]; differs in: the penalty is 1, the blocks being scaled beforehand.

use crate::cones::{Block, norm_squared};

/// What the linearised law of a block is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// F = r, the impulse vanishes; or F = r − b, it is at its bound b.
    Open,
    /// F = u: a joint, or a contact that neither opens nor slides.
    Fixed,
    /// F of a sliding contact.
    Sliding,
}

/// Writes F into `f` and returns which of its pieces applies.
#[inline]
pub(super) fn evaluate(block: Block, r: &[f64], u: &[f64], f: &mut [f64]) -> Mode {
    if block.is_bilateral() {
        f.copy_from_slice(u);
        return Mode::Fixed;
    }
    if let Some((lower, upper)) = block.bounds() {
        let trial = r[0] - u[0];
        let bound = trial.max(lower).min(upper);
        f[0] = r[0] - bound;
        return if bound == trial { Mode::Fixed } else { Mode::Open };
    }
    let normal = r[0] - u[0];
    if normal <= 0.0 {
        f.copy_from_slice(r);
        return Mode::Open;
    }
    f[0] = u[0];
    if r.len() == 1 {
        return Mode::Fixed;
    }
    let radius = block.friction() * normal;
    let (z, size) = trial(r, u);
    if size <= radius {
        f.copy_from_slice(u);
        return Mode::Fixed;
    }
    for (k, f) in f.iter_mut().enumerate().skip(1) {
        *f = r[k] - radius * z[k] / size;
    }
    Mode::Sliding
}

/// Newton's equations of a sliding contact, in the direction t = z_T/|z_T| and, in space, s across it:
///
///   du_N = −F_N,   dr_t = μ dr_N − F_t + μ F_N,   (1 − κ) dr_s + κ du_s = −F_s,   κ = μ z_N/|z_T|.
///
/// The second gives dr_t; the unknowns are dr_N and dr_s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sliding {
    mu: f64,
    t: [f64; 2],
    /// κ: how much of the slip's turning is left to the velocity.
    pub turn: f64,
}

impl Sliding {
    /// At (r, u) of a contact in [`Mode::Sliding`].
    #[inline]
    pub fn new(block: Block, r: &[f64], u: &[f64]) -> Self {
        let mu = block.friction();
        let (z, size) = trial(r, u);
        Sliding { mu, t: [z[1] / size, z[2] / size], turn: mu * (r[0] - u[0]) / size }
    }

    /// The part of dr that F alone determines.
    #[inline]
    pub(crate) fn known_step(&self, f: &[f64], dr: &mut [f64]) {
        let along: f64 = f[1..].iter().zip(self.t).map(|(f, t)| f * t).sum();
        dr[0] = 0.0;
        for (dr, t) in dr[1..].iter_mut().zip(self.t) {
            *dr = t * (self.mu * f[0] - along);
        }
    }

    /// Adds the part of dr that the unknowns x = (dr_N, dr_s) determine.
    #[inline]
    pub fn add_step(&self, x: &[f64], dr: &mut [f64]) {
        dr[0] += x[0];
        for (dr, t) in dr[1..].iter_mut().zip(self.t) {
            *dr += self.mu * t * x[0];
        }
        if let (&[_, x], [_, d1, d2]) = (x, dr) {
            *d1 -= self.t[1] * x;
            *d2 += self.t[0] * x;
        }
    }

    /// A row of a matrix that acts on dr => the row that acts on the unknowns.
    #[inline]
    pub(crate) fn reduce_row(&self, row: &[f64], out: &mut [f64]) {
        out[0] = row[0] + self.mu * row[1..].iter().zip(self.t).map(|(w, t)| w * t).sum::<f64>();
        if let (&[_, w1, w2], [_, out]) = (row, out) {
            *out = self.t[0] * w2 - self.t[1] * w1;
        }
    }

    /// The rows of du => the rows N and s, `len` entries each.
    #[inline]
    pub(crate) fn reduce_rows(&self, rows: &[f64], len: usize, out: &mut [f64]) {
        out[..len].copy_from_slice(&rows[..len]);
        if rows.len() == 3 * len {
            for k in 0..len {
                out[len + k] = self.t[0] * rows[2 * len + k] - self.t[1] * rows[len + k];
            }
        }
    }

    /// −F and what `du` the known part of dr causes, on the rows N and s.
    #[inline]
    pub(crate) fn right_hand_side(&self, f: &[f64], du: &[f64], out: &mut [f64]) {
        out[0] = -f[0] - du[0];
        if let (&[_, f1, f2], &[_, u1, u2], [_, out]) = (f, du, out) {
            let across = |a: f64, b: f64| self.t[0] * b - self.t[1] * a;
            *out = -across(f1, f2) - self.turn * across(u1, u2);
        }
    }
}

/// z = r − u in the tangent components and |z_T|.
#[inline]
fn trial(r: &[f64], u: &[f64]) -> ([f64; 3], f64) {
    let mut z = [0.0; 3];
    for k in 1..r.len() {
        z[k] = r[k] - u[k];
    }
    (z, norm_squared(&z[1..]).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_vanishes_where_the_law_holds() {
        let block = Block::Coulomb3 { mu: 0.5 };
        let cases = [
            (Mode::Open, [0.0, 0.0, 0.0], [0.2, 1.0, 0.0]),
            (Mode::Fixed, [2.0, 0.5, -0.5], [0.0, 0.0, 0.0]),
            (Mode::Sliding, [2.0, -0.6, 0.8], [0.0, 0.3, -0.4]),
        ];
        for (mode, r, u) in cases {
            let mut f = [1.0; 3];
            assert_eq!(evaluate(block, &r, &u, &mut f), mode);
            assert!(f.iter().all(|x| x.abs() < 1e-15), "{mode:?} {f:?}"); // one rounding
        }
        let mut f = [1.0; 2];
        assert_eq!(evaluate(Block::Bilateral { dim: 2 }, &[3.0, 4.0], &[0.0, 0.0], &mut f), Mode::Fixed);
        assert_eq!(f, [0.0; 2]);
    }

    #[test]
    fn a_newton_step_of_the_sliding_piece_reduces_f_to_second_order() {
        // du = −F_N on the normal, and any du across: the step solves E dr + B du = −F.
        for (block, r, u) in [
            (Block::Coulomb2 { mu: 0.3 }, vec![1.0, 0.2], vec![-1e-4, 0.9]),
            (Block::Coulomb3 { mu: 0.3 }, vec![1.0, -0.21, -0.2], vec![-1e-4, 0.9, 0.5]),
        ] {
            let dim = block.dim();
            let mut f = vec![0.0; dim];
            let reach = |r: &[f64], u: &[f64], f: &mut [f64]| {
                assert_eq!(evaluate(block, r, u, f), Mode::Sliding);
                norm_squared(f).sqrt()
            };
            reach(&r, &u, &mut f);
            // A nearby point: only the part of F beyond the linear one may remain.
            let sliding = Sliding::new(block, &r, &u);
            let mut sizes = Vec::new();
            for step in [1e-2, 1e-3] {
                let (du_n, du_s, dr_n) = (0.3 * step, -0.7 * step, 0.4 * step);
                let s = [-sliding.t[1], sliding.t[0]];
                let mut du = vec![du_n; dim];
                let mut dr = vec![0.0; dim];
                // The linear model of F after (dr, du), from the equations with F moved to the right-hand side.
                let mut x = vec![dr_n; dim - 1];
                du[1..].iter_mut().zip(s).for_each(|(du, s)| *du = du_s * s);
                if dim == 3 {
                    x[1] = -0.2 * step;
                }
                let mut model = f.clone();
                model[0] += du_n;
                sliding.add_step(&x, &mut dr);
                if dim == 3 {
                    let across = (1.0 - sliding.turn) * x[1] + sliding.turn * du_s;
                    model[1..].iter_mut().zip(s).for_each(|(m, s)| *m += across * s);
                }
                model[1..].iter_mut().zip(sliding.t).for_each(|(m, t)| *m += sliding.mu * du_n * t);
                if dim == 2 {
                    du[1] = 0.0;
                }
                let moved: Vec<f64> = r.iter().zip(&dr).map(|(a, b)| a + b).collect();
                let speed: Vec<f64> = u.iter().zip(&du).map(|(a, b)| a + b).collect();
                let mut after = vec![0.0; dim];
                reach(&moved, &speed, &mut after);
                sizes.push(after.iter().zip(&model).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max));
            }
            // Second order: a hundredth at a tenth of the step, or rounding.
            assert!(sizes[1] <= 0.02 * sizes[0] + 1e-15, "{block:?} {sizes:?}");
        }
    }
}
