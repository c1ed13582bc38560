//! The Fischer–Burmeister function of a contact on its second-order cone.
//!
//! ```text
//! φ(x, y) = x + y − (x² + y²)^{1/2},   x = (r_N, r_T/μ),   y = (û_N, μ u_T),   û_N = u_N + μ|u_T|,
//! ```
//!
//! with the square and the root of the Jordan algebra of the cone |x_T| ≤ x_N, in which r ∈ K and û ∈ K* become x and y of the same
//! self-dual cone and r·û = x·y. F = u for a joint; without friction F_N is the scalar function and F_T = r_T.
//! [Fukushima, Luo & Tseng, *Smoothing functions for second-order-cone complementarity problems*, 2002] for the function and its
//! spectral form; the element of the Jacobian where x² + y² is not invertible is the mean of the limits from both sides.
//!
//! With rolling or spinning resistance beside friction the cone is no second-order cone: not supported; nor is a moment of three components.

use super::block_equation::{BlockEquation, friction_disks};
use crate::cones::Block;
use std::ops::Range;

/// False for blocks whose set is not a second-order cone of at most three components.
pub(super) fn supports(block: Block) -> bool {
    match block {
        Block::RollingSpinning { rolling, .. } => rolling == 0.0,
        Block::Bounded { .. } | Block::Ball { .. } => false,
        _ => block.moments().is_none_or(|(slope, _)| slope == 0.0 || block.friction() == 0.0),
    }
}

/// Writes F and its Jacobian at (r, u).
pub(super) fn linearise(block: Block, r: &[f64], u: &[f64], out: &mut BlockEquation) {
    out.reset();
    if block.is_bilateral() {
        return out.set_velocity_rows(u, 0..r.len());
    }
    let (mut slope, mut tangents): (f64, Range<usize>) = (0.0, 1..1);
    for (bound, rows) in friction_disks(block) {
        if bound > 0.0 {
            (slope, tangents) = (bound, rows);
        } else {
            out.set_impulse_rows(r, rows);
        }
    }
    // Rows of the block that are components of x and y; missing ones stay zero and separate from the others.
    let place = |k: usize| if k == 0 { 0 } else { tangents.start + k - 1 };
    let size = 1 + tangents.len();
    let (mut x, mut y) = ([0.0; 3], [0.0; 3]);
    (x[0], y[0]) = (r[0], u[0]);
    for k in 1..size {
        (x[k], y[k]) = (r[place(k)] / slope, slope * u[place(k)]);
    }
    let slip = y[1].hypot(y[2]);
    y[0] += slip;
    let Function { value, by_x, by_y } = Function::new(x, y);
    let dim = r.len();
    for i in 0..size {
        out.f[place(i)] = value[i];
        let row = place(i) * dim;
        out.impulse[row] = by_x[i][0];
        out.velocity[row] = by_y[i][0];
        for j in 1..size {
            // d|y_T| = y_T·dy_T/|y_T|; the mean of its limits, zero, at rest.
            let turn = if slip > 0.0 { y[j] / slip } else { 0.0 };
            out.impulse[row + place(j)] = by_x[i][j] / slope;
            out.velocity[row + place(j)] = slope * (by_y[i][j] + by_y[i][0] * turn);
        }
    }
}

/// φ with its derivatives by x and y.
struct Function {
    value: [f64; 3],
    by_x: [[f64; 3]; 3],
    by_y: [[f64; 3]; 3],
}

/// Part of √λ₂ below which √λ₁ counts as zero: some roundings.
const DEGENERATE: f64 = 1e-14;

impl Function {
    /// With w = x² + y² = λ₁ c₁ + λ₂ c₂, c = (1, ∓t)/2, the root is z = √λ₁ c₁ + √λ₂ c₂ and
    ///
    ///   λ₁ = |x₀t − x̄|² + |y₀t − ȳ|²,   λ₂ = |x₀t + x̄|² + |y₀t + ȳ|²,   dφ = dx + dy − L_z⁻¹ (L_x dx + L_y dy),
    ///
    /// sums of squares that lose no digits near the cone's edge; L_z has the eigenvectors c₁, c₂ and the normal of both.
    fn new(x: [f64; 3], y: [f64; 3]) -> Self {
        let mut t = [x[0] * x[1] + y[0] * y[1], x[0] * x[2] + y[0] * y[2]];
        let length = t[0].hypot(t[1]);
        t = if length > 0.0 { [t[0] / length, t[1] / length] } else { [1.0, 0.0] };
        let root = |sign: f64| {
            let part = |x: [f64; 3]| (x[0] * t[0] + sign * x[1]).powi(2) + (x[0] * t[1] + sign * x[2]).powi(2);
            (part(x) + part(y)).sqrt()
        };
        let (low, high) = (root(-1.0), root(1.0));
        let mut value = [0.0; 3];
        let z = [0.5 * (low + high), 0.5 * (high - low) * t[0], 0.5 * (high - low) * t[1]];
        for k in 0..3 {
            value[k] = x[k] + y[k] - z[k];
        }
        if high == 0.0 {
            // x = y = 0: the limit along x = y = εe.
            let part = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
            let diagonal = [[part, 0.0, 0.0], [0.0, part, 0.0], [0.0, 0.0, part]];
            return Function { value, by_x: diagonal, by_y: diagonal };
        }
        let slope = |x: [f64; 3]| {
            let mut out = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            for (root, sign) in [(low, -1.0), (high, 1.0)] {
                if root <= DEGENERATE * high {
                    continue;
                }
                // c (L_x c)ᵀ/√λ with c = (1, ±t).
                let c = [1.0, sign * t[0], sign * t[1]];
                let image = [x[0] + c[1] * x[1] + c[2] * x[2], x[1] + x[0] * c[1], x[2] + x[0] * c[2]];
                for i in 0..3 {
                    for j in 0..3 {
                        out[i][j] -= 0.5 / root * c[i] * image[j];
                    }
                }
            }
            // p (L_x p)ᵀ/z₀ with the normal p = (0, −t₂, t₁).
            let p = [-t[1], t[0]];
            let image = [p[0] * x[1] + p[1] * x[2], x[0] * p[0], x[0] * p[1]];
            for i in 0..2 {
                for j in 0..3 {
                    out[i + 1][j] -= p[i] * image[j] / z[0];
                }
            }
            out
        };
        Function { value, by_x: slope(x), by_y: slope(y) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_equation::tests::{check_slopes, lawful_points};
    use super::*;

    fn size(equation: &BlockEquation, dim: usize) -> f64 {
        equation.f[..dim].iter().fold(0.0_f64, |s, f| s.max(f.abs()))
    }

    #[test]
    fn it_vanishes_where_the_laws_hold_and_only_there() {
        let mut equation = BlockEquation::default();
        let mut points = lawful_points();
        points.retain(|(_, block, ..)| supports(*block));
        points.extend([
            (
                "no rolling resistance",
                Block::Rolling { mu: 0.5, rolling: 0.0 },
                vec![2.0, -0.6, 0.8, 0.0, 0.0],
                vec![0.0, 0.3, -0.4, 1.0, 2.0],
            ),
            ("no friction", Block::Rolling { mu: 0.0, rolling: 0.1 }, vec![2.0, 0.0, 0.0, 0.0, -0.2], vec![0.0, 0.3, -0.4, 0.0, 0.7]),
            ("edge of sticking", Block::Coulomb3 { mu: 0.5 }, vec![2.0, -0.6, 0.8], vec![0.0; 3]),
            ("edge of opening", Block::Coulomb3 { mu: 0.5 }, vec![0.0; 3], vec![0.0, 1.0, 0.2]),
            ("nothing", Block::Coulomb3 { mu: 0.5 }, vec![0.0; 3], vec![0.0; 3]),
        ]);
        for (what, block, r, u) in points {
            linearise(block, &r, &u, &mut equation);
            assert!(size(&equation, r.len()) < 1e-14, "{what}: {:?}", equation.f); // roundings of numbers about four
            assert!(equation.impulse.iter().chain(&equation.velocity).all(|x| x.is_finite()), "{what}");
            let mut moved = u.clone();
            moved[0] -= 0.6;
            linearise(block, &r, &moved, &mut equation);
            assert!(size(&equation, r.len()) > 0.05, "{what}: {:?}", equation.f);
        }
        assert!(!supports(Block::Rolling { mu: 0.5, rolling: 0.1 }));
    }

    #[test]
    fn jacobians_are_slopes_where_it_is_smooth() {
        let points = [
            (Block::Bilateral { dim: 3 }, vec![1.0, 2.0, 3.0], vec![0.3, -0.4, 0.1]),
            (Block::Unilateral, vec![1.0], vec![0.3]),
            (Block::Unilateral, vec![-1.0], vec![0.3]),
            (Block::Coulomb2 { mu: 0.3 }, vec![1.0, 0.2], vec![-0.1, 0.9]),
            (Block::Coulomb2 { mu: 0.3 }, vec![0.1, 0.2], vec![0.5, -0.1]),
            (Block::Coulomb3 { mu: 0.8 }, vec![1.0, 0.2, -0.4], vec![-0.1, 0.9, 0.5]),
            (Block::Coulomb3 { mu: 0.8 }, vec![-0.2, 0.2, -0.4], vec![-0.9, 0.9, 0.5]),
            (Block::Coulomb3 { mu: 0.8 }, vec![2.0, -0.96, 1.28], vec![0.0, 0.3, -0.4]),
            (Block::Coulomb3 { mu: 0.0 }, vec![1.0, 0.2, -0.4], vec![-0.1, 0.9, 0.5]),
            (Block::Rolling { mu: 0.8, rolling: 0.0 }, vec![1.0, 0.2, -0.4, 0.3, 0.2], vec![-0.1, 0.9, 0.5, -0.3, 0.4]),
            (Block::Rolling { mu: 0.0, rolling: 0.7 }, vec![1.0, 0.2, -0.4, 0.3, 0.2], vec![-0.1, 0.9, 0.5, -0.3, 0.4]),
        ];
        for (block, r, u) in &points {
            check_slopes(&format!("{block:?}"), r, u, |r, u, out| linearise(*block, r, u, out));
        }
    }

    #[test]
    fn the_degenerate_jacobian_is_the_mean_of_limits() {
        // x on the edge of the cone, y = 0: L_z is singular.
        let (x, y) = ([2.0, 1.2, 1.6], [0.0; 3]);
        let exact = Function::new(x, y);
        let [inside, outside] = [1e-7, -1e-7].map(|step| Function::new([x[0] + step, x[1], x[2]], y));
        for i in 0..3 {
            for j in 0..3 {
                // The slopes change by the step over |x| at most.
                assert!((exact.by_x[i][j] - 0.5 * (inside.by_x[i][j] + outside.by_x[i][j])).abs() < 1e-7, "{i} {j}");
                assert!((exact.by_y[i][j] - 0.5 * (inside.by_y[i][j] + outside.by_y[i][j])).abs() < 1e-7, "{i} {j}");
            }
        }
    }
}
