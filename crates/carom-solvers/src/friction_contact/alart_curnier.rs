//! The Alart–Curnier function of a block: zero where impulse and velocity satisfy its law.
//!
//!   F_N = r_N − (z_N)⁺,   F_T = r_T − P_{|·| ≤ μ (z_N)⁺}(z_T),   z = r − u,
//!
//! and F = u for a joint. [Alart & Curnier, *A mixed formulation for frictional contact problems prone to
//! Newton like solution methods*, 1991]; differs in: the penalty is 1, the blocks being scaled beforehand.

use crate::cones::{Block, norm_squared};

/// F and one element of its generalised Jacobian, dF = E dr + B du, of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linearisation {
    /// E, row-major; the first dim² entries.
    pub impulse: [f64; 9],
    /// B, row-major; the first dim² entries.
    pub velocity: [f64; 9],
}

/// What the linearised law of a block is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// F = r: the impulse vanishes.
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

/// The Jacobian of the sliding piece.
#[inline]
pub(super) fn linearise_sliding(block: Block, r: &[f64], u: &[f64]) -> Linearisation {
    let dim = block.dim();
    let mu = block.friction();
    let (z, size) = trial(r, u);
    let ratio = mu * (r[0] - u[0]) / size;
    let mut out = Linearisation { impulse: [0.0; 9], velocity: [0.0; 9] };
    out.velocity[0] = 1.0;
    for i in 1..dim {
        let t = z[i] / size;
        out.impulse[i * dim] = -mu * t;
        out.velocity[i * dim] = mu * t;
        for (j, z) in z.iter().enumerate().take(dim).skip(1) {
            let identity = f64::from(u8::from(i == j));
            // The disk's projection turns with z_T; in the plane the bracket is zero.
            let turn = ratio * (identity - t * z / size);
            out.impulse[i * dim + j] = identity - turn;
            out.velocity[i * dim + j] = turn;
        }
    }
    out
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
    fn the_jacobian_is_the_slope() {
        for (block, r, u) in [
            (Block::Coulomb2 { mu: 0.3 }, vec![1.0, 0.2], vec![-0.1, 0.9]),
            (Block::Coulomb3 { mu: 0.3 }, vec![1.0, 0.2, -0.4], vec![-0.1, 0.9, 0.5]),
        ] {
            let dim = block.dim();
            let slopes = linearise_sliding(block, &r, &u);
            let mut before = vec![0.0; dim];
            assert_eq!(evaluate(block, &r, &u, &mut before), Mode::Sliding);
            let step = 1e-7;
            for j in 0..dim {
                let (mut moved_r, mut moved_u) = (r.clone(), u.clone());
                moved_r[j] += step;
                moved_u[j] += step;
                let (mut by_r, mut by_u) = (vec![0.0; dim], vec![0.0; dim]);
                evaluate(block, &moved_r, &u, &mut by_r);
                evaluate(block, &r, &moved_u, &mut by_u);
                for i in 0..dim {
                    // Curvature times the step, and rounding over the step: both about 1e-7 and below.
                    let slope = |after: &[f64]| (after[i] - before[i]) / step;
                    assert!((slope(&by_r) - slopes.impulse[i * dim + j]).abs() < 1e-6, "{block:?} E {i} {j}");
                    assert!((slope(&by_u) - slopes.velocity[i * dim + j]).abs() < 1e-6, "{block:?} B {i} {j}");
                }
            }
        }
    }
}
