//! The equations of Alart and Curnier and of Jean and Moreau: the normal law and a disk for each pair of tangents.
//!
//! ```text
//! F_N = r_N − (z_N)⁺,   F_T = r_T − P_{|·| ≤ μ ϱ}(z_T),   z = r − u,   F = u for a joint,   F = r − P_[lower, upper](z) for a bounded row,
//! ϱ = (z_N)⁺  (Alart–Curnier)   or   ϱ = (r_N)⁺  (Jean–Moreau).
//! ```
//!
//! [Alart & Curnier, *A mixed formulation for frictional contact problems prone to Newton like solution methods*, 1991;
//! Jean & Moreau, *Dynamics in the presence of unilateral contacts and dry friction*, 1987]; differ in: the penalty is 1, the
//! velocities being weighted beforehand, and rolling resistance has a disk of its own, |r_M| ≤ μ_r ϱ.

use super::block_equation::{BlockEquation, friction_disks};
use crate::cones::Block;

/// What the radius of the disks is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radius {
    /// μ (r_N − u_N)⁺.
    AlartCurnier,
    /// μ (r_N)⁺.
    JeanMoreau,
}

/// Writes F and its Jacobian at (r, u).
pub(super) fn linearise(block: Block, radius: Radius, r: &[f64], u: &[f64], out: &mut BlockEquation) {
    out.reset();
    if block.is_bilateral() {
        return out.set_velocity_rows(u, 0..r.len());
    }
    if let Some((lower, upper)) = block.bounds() {
        let trial = r[0] - u[0];
        let bound = trial.max(lower).min(upper);
        if bound == trial {
            return out.set_velocity_rows(u, 0..1);
        }
        out.set_impulse_rows(r, 0..1);
        out.f[0] = r[0] - bound;
        out.is_open = true;
        return;
    }
    let is_closed = r[0] > u[0];
    if is_closed {
        out.set_velocity_rows(u, 0..1);
    } else {
        out.set_impulse_rows(r, 0..1);
    }
    // ϱ with its derivatives by r_N and u_N.
    let (size, by_impulse, by_velocity) = match radius {
        Radius::AlartCurnier if is_closed => (r[0] - u[0], 1.0, -1.0),
        Radius::JeanMoreau if r[0] > 0.0 => (r[0], 1.0, 0.0),
        _ => (0.0, 0.0, 0.0),
    };
    out.is_open = !is_closed && size == 0.0;
    for (slope, rows) in friction_disks(block) {
        let bound = slope * size;
        if bound == 0.0 {
            out.set_impulse_rows(r, rows);
            continue;
        }
        let mut direction = [0.0; Block::MAX_DIM];
        for k in rows.clone() {
            direction[k] = r[k] - u[k];
        }
        let trial = rows.clone().map(|k| direction[k] * direction[k]).sum::<f64>().sqrt();
        if trial <= bound {
            out.set_velocity_rows(u, rows);
            continue;
        }
        for k in rows.clone() {
            direction[k] /= trial;
        }
        let dim = r.len();
        for i in rows.clone() {
            out.f[i] = r[i] - bound * direction[i];
            out.impulse[i * dim] = -slope * by_impulse * direction[i];
            out.velocity[i * dim] = -slope * by_velocity * direction[i];
            for j in rows.clone() {
                let identity = f64::from(u8::from(i == j));
                // The foot on the disk turns with z_T; in the plane the bracket is zero.
                let turn = bound / trial * (identity - direction[i] * direction[j]);
                out.impulse[i * dim + j] = identity - turn;
                out.velocity[i * dim + j] = turn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_equation::tests::{check_slopes, lawful_points};
    use super::*;

    const BOTH: [Radius; 2] = [Radius::AlartCurnier, Radius::JeanMoreau];

    #[test]
    fn they_vanish_where_the_laws_hold_and_only_there() {
        let mut equation = BlockEquation::default();
        for radius in BOTH {
            for (what, block, r, u) in lawful_points() {
                linearise(block, radius, &r, &u, &mut equation);
                let size = equation.f[..r.len()].iter().fold(0.0_f64, |s, f| s.max(f.abs()));
                assert!(size < 1e-15, "{radius:?}, {what}: {:?}", equation.f); // one rounding
                // Another velocity violates the law, unless the contact is open: then another impulse does.
                let mut moved = u.clone();
                moved[0] -= 0.6;
                linearise(block, radius, &r, &moved, &mut equation);
                let size = equation.f[..r.len()].iter().fold(0.0_f64, |s, f| s.max(f.abs()));
                assert!(size > 0.05, "{radius:?}, {what}: {:?}", equation.f);
            }
        }
    }

    #[test]
    fn only_open_contacts_are_told_to_be_open() {
        let mut equation = BlockEquation::default();
        for radius in BOTH {
            for (what, block, r, u) in lawful_points() {
                linearise(block, radius, &r, &u, &mut equation);
                assert_eq!(equation.is_open, what.contains("open"), "{radius:?}, {what}");
            }
        }
    }

    #[test]
    fn jacobians_are_slopes_in_every_mode() {
        let rolling = Block::Rolling { mu: 0.3, rolling: 0.2 };
        let points = [
            (Block::Bilateral { dim: 2 }, vec![1.0, 2.0], vec![0.3, -0.4]),
            (Block::Unilateral, vec![1.0], vec![0.3]),
            (Block::Unilateral, vec![-1.0], vec![0.3]),
            (Block::Bounded { lower: -0.5, upper: 0.6 }, vec![1.0], vec![0.1]),
            (Block::Bounded { lower: -0.5, upper: 0.6 }, vec![-0.2], vec![0.7]),
            (Block::Bounded { lower: -0.5, upper: 0.6 }, vec![0.2], vec![0.1]),
            (Block::Coulomb2 { mu: 0.3 }, vec![1.0, 0.2], vec![-0.1, 0.9]),
            (Block::Coulomb2 { mu: 0.3 }, vec![1.0, 0.2], vec![-0.1, 0.1]),
            (Block::Coulomb2 { mu: 0.3 }, vec![0.1, 0.2], vec![0.5, 0.1]),
            (Block::Coulomb3 { mu: 0.3 }, vec![1.0, 0.2, -0.4], vec![-0.1, 0.9, 0.5]),
            (Block::Coulomb3 { mu: 0.3 }, vec![1.0, 0.2, -0.1], vec![-0.1, 0.1, 0.0]),
            (Block::Coulomb3 { mu: 0.3 }, vec![-0.2, 0.2, -0.4], vec![-0.9, 0.9, 0.5]),
            (Block::Coulomb3 { mu: 0.0 }, vec![1.0, 0.2, -0.4], vec![-0.1, 0.9, 0.5]),
            (rolling, vec![1.0, 0.2, -0.4, 0.3, 0.2], vec![-0.1, 0.9, 0.5, -0.3, 0.4]),
            (rolling, vec![1.0, 0.2, -0.1, 0.3, 0.2], vec![-0.1, 0.1, 0.0, -0.3, 0.4]),
            (rolling, vec![1.0, 0.2, -0.4, 0.1, 0.0], vec![-0.1, 0.9, 0.5, 0.0, 0.05]),
        ];
        for radius in BOTH {
            for (block, r, u) in &points {
                let what = format!("{radius:?} {block:?}");
                check_slopes(&what, r, u, |r, u, out| linearise(*block, radius, r, u, out));
            }
        }
    }
}
