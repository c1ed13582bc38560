//! One contact block by Newton's method on the Alart–Curnier equations.

use super::{local, local_projection};
use crate::cones::Block;

/// Solves u = W r + q on one contact block by damped Newton steps on
///
/// ```text
///   F_N = r_N − (z_N)⁺,   F_T = r_T − P_{|·| ≤ μ (z_N)⁺}(z_T),   z = r − ρ u,
/// ```
///
/// with the same equation for the moments of rolling resistance and ρ = 1/W_NN for the normal and 1/mean(diag) for each pair of
/// tangential rows. [Alart & Curnier, *A mixed formulation for frictional contact problems prone to Newton like solution methods*,
/// 1991]; differs in: a step is halved until |F| falls, and projections (`local_projection.rs`) take over where it does not.
///
/// When to use it: as a check of the exact formulas, and for blocks with rolling resistance where many sweeps from a good guess
/// make one or two steps enough. Cost: one LU of dim rows per step.
pub(super) fn solve(block: Block, w: &[f64], q: &[f64], r: &mut [f64], iterations: usize, tolerance: f64) {
    let dim = block.dim();
    if block.bounds().is_some() || block.radius().is_some() {
        return local::solve_contact(block, w, q, r);
    }
    if dim == 1 || block.is_bilateral() || q[0] >= 0.0 {
        r.fill(0.0); // an open contact, or one row that the last line below solves
        if dim == 1 && q[0] < 0.0 && w[0] > 0.0 {
            r[0] = -q[0] / w[0];
        }
        return;
    }
    let equations = Equations::new(block, w, q);
    let mut x = [0.0; N];
    x[..dim].copy_from_slice(r);
    if x[0] <= 0.0 {
        x = [0.0; N];
        x[0] = equations.penalty[0] * -q[0]; // the impulse without friction
    }
    let mut f = equations.evaluate(&x);
    let mut size = norm(&f);
    for _ in 0..iterations {
        if size <= tolerance * norm(&x).max(equations.penalty[0] * -q[0]) {
            break;
        }
        let Some(step) = equations.newton_step(&x, &f) else { break };
        let Some(next) = equations.damped(&x, &step, size) else { break };
        x = next;
        f = equations.evaluate(&x);
        size = norm(&f);
    }
    let solved = size <= tolerance.max(ROUNDING) * norm(&x).max(equations.penalty[0] * -q[0]);
    r.copy_from_slice(&x[..dim]);
    block.project(r);
    if !solved {
        local_projection::solve(block, w, q, r, PROJECTIONS, tolerance);
    }
}

const N: usize = Block::MAX_DIM;

/// Below this part of |r|, F is rounding.
const ROUNDING: f64 = 1e-13;

/// Projections where Newton's method fails: enough for a contraction of 0.9 to reach 1e-9.
const PROJECTIONS: usize = 200;

/// Halvings of a step before it is given up.
const HALVINGS: usize = 12;

/// Tangential rows, or those of a moment, with the bound |r| ≤ slope r_N.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    end: usize,
    slope: f64,
}

struct Equations<'a> {
    dim: usize,
    w: &'a [f64],
    q: &'a [f64],
    parts: [Part; 2],
    penalty: [f64; N],
}

impl<'a> Equations<'a> {
    fn new(block: Block, w: &'a [f64], q: &'a [f64]) -> Self {
        let dim = block.dim();
        let rolling = block.moments().map_or(0.0, |(slope, _)| slope);
        let parts = [Part { start: 1, end: dim.min(3), slope: block.friction() }, Part { start: dim.min(3), end: dim, slope: rolling }];
        let mut penalty = [0.0; N];
        for part in [Part { start: 0, end: 1, slope: 0.0 }].iter().chain(&parts) {
            let mean = (part.start..part.end).map(|k| w[k * dim + k]).sum::<f64>() / (part.end - part.start).max(1) as f64;
            let value = if mean > f64::MIN_POSITIVE && mean.is_finite() { 1.0 / mean } else { 1.0 };
            penalty[part.start..part.end].fill(value);
        }
        Equations { dim, w, q, parts, penalty }
    }

    /// z = r − ρ u.
    fn trial(&self, r: &[f64; N]) -> [f64; N] {
        let mut z = *r;
        for (k, (z, row)) in z.iter_mut().zip(self.w.chunks_exact(self.dim)).enumerate() {
            *z -= self.penalty[k] * (self.q[k] + row.iter().zip(r).map(|(w, r)| w * r).sum::<f64>());
        }
        z
    }

    /// F.
    fn evaluate(&self, r: &[f64; N]) -> [f64; N] {
        let z = self.trial(r);
        let normal = z[0].max(0.0);
        let mut f = *r;
        f[0] -= normal;
        for part in self.parts {
            let length = norm(&z[part.start..part.end]);
            let factor = if length > part.slope * normal { part.slope * normal / length } else { 1.0 };
            for k in part.start..part.end {
                f[k] -= factor * z[k];
            }
        }
        f
    }

    /// d with F' d = −F; none where F' is singular.
    fn newton_step(&self, r: &[f64; N], f: &[f64; N]) -> Option<[f64; N]> {
        let (dim, z) = (self.dim, self.trial(r));
        let identity = |i: usize, j: usize| f64::from(u8::from(i == j));
        // dz = (I − ρ W) dr.
        let dz = |i: usize, j: usize| identity(i, j) - self.penalty[i] * self.w[i * dim + j];
        let mut a = [[0.0; N + 1]; N];
        for (i, row) in a.iter_mut().enumerate().take(dim) {
            for (j, entry) in row.iter_mut().enumerate().take(dim) {
                *entry = identity(i, j);
            }
            row[N] = -f[i];
        }
        if z[0] > 0.0 {
            for (j, entry) in a[0].iter_mut().enumerate().take(dim) {
                *entry -= dz(0, j);
            }
            for part in self.parts {
                let rows = part.start..part.end;
                let length = norm(&z[rows.clone()]);
                let slides = length > part.slope * z[0];
                for i in rows.clone() {
                    for (j, entry) in a[i].iter_mut().enumerate().take(dim) {
                        *entry -= if slides {
                            let direction = z[i] / length;
                            let along: f64 = rows.clone().map(|k| z[k] * dz(k, j)).sum::<f64>() / length;
                            part.slope * (direction * dz(0, j) + z[0] / length * (dz(i, j) - direction * along))
                        } else {
                            dz(i, j)
                        };
                    }
                }
            }
        }
        eliminate(&mut a, dim)
    }

    /// The first of r + d, r + d/2, … with a smaller |F|.
    fn damped(&self, r: &[f64; N], d: &[f64; N], size: f64) -> Option<[f64; N]> {
        let mut factor = 1.0;
        for _ in 0..HALVINGS {
            let mut next = *r;
            for k in 0..self.dim {
                next[k] += factor * d[k];
            }
            if norm(&self.evaluate(&next)) < size {
                return Some(next);
            }
            factor *= 0.5;
        }
        None
    }
}

/// Solves the rows [A | b] (b in the last column) with partial pivoting.
fn eliminate(a: &mut [[f64; N + 1]; N], dim: usize) -> Option<[f64; N]> {
    for k in 0..dim {
        let pivot = (k..dim).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        if a[pivot][k].abs() <= f64::MIN_POSITIVE {
            return None;
        }
        a.swap(k, pivot);
        let top = a[k];
        for row in &mut a[k + 1..dim] {
            let factor = row[k] / top[k];
            for (x, t) in row.iter_mut().zip(&top).skip(k) {
                *x -= factor * t;
            }
        }
    }
    let mut x = [0.0; N];
    for k in (0..dim).rev() {
        let sum: f64 = (k + 1..dim).map(|j| a[k][j] * x[j]).sum();
        x[k] = (a[k][N] - sum) / a[k][k];
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

fn norm(x: &[f64]) -> f64 {
    crate::cones::norm_squared(x).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::local::solve_contact;
    use super::*;

    #[test]
    fn it_agrees_with_the_exact_solution_in_all_modes() {
        let spatial = [2.0, 0.3, 0.1, 0.3, 1.0, 0.2, 0.1, 0.2, 1.5];
        let planar = [2.0, 0.3, 0.3, 1.0];
        let cases: [(Block, &[f64], &[f64]); 6] = [
            (Block::Unilateral, &[2.0], &[-1.0]),
            (Block::Coulomb2 { mu: 0.3 }, &planar, &[-1.0, 2.0]),
            (Block::Coulomb2 { mu: 0.3 }, &planar, &[-1.0, 0.01]),
            (Block::Coulomb3 { mu: 0.3 }, &spatial, &[-1.0, 2.0, -0.5]),
            (Block::Coulomb3 { mu: 0.8 }, &spatial, &[-1.0, 0.1, -0.1]),
            (Block::Coulomb3 { mu: 0.8 }, &spatial, &[0.1, 0.1, -0.1]),
        ];
        for (block, w, q) in cases {
            let (mut exact, mut newton) = (vec![0.0; q.len()], vec![0.0; q.len()]);
            solve_contact(block, w, q, &mut exact);
            solve(block, w, q, &mut newton, 50, 1e-14);
            for (a, b) in exact.iter().zip(&newton) {
                assert!((a - b).abs() < 1e-13, "{block:?} {exact:?} {newton:?}"); // the tolerance, impulses about one
            }
        }
    }

    #[test]
    fn the_step_is_that_of_the_slope() {
        // F(r + h e_j) ≈ F(r) + h F'_j: the step of the linear model solves it, so F' d + F = 0.
        let w =
            [2.0, 0.3, 0.1, 0.2, 0.0, 0.3, 1.0, 0.2, 0.1, 0.1, 0.1, 0.2, 1.5, 0.0, 0.2, 0.2, 0.1, 0.0, 3.0, 0.1, 0.0, 0.1, 0.2, 0.1, 2.0];
        let q = [-1.0, 2.0, -0.5, 1.0, 0.7];
        let equations = Equations::new(Block::Rolling { mu: 0.3, rolling: 0.1 }, &w, &q);
        let r = [0.6, -0.1, 0.05, -0.02, -0.03, 0.0];
        let f = equations.evaluate(&r);
        let d = equations.newton_step(&r, &f).unwrap();
        let h = 1e-7;
        let mut moved = r;
        for k in 0..5 {
            moved[k] += h * d[k];
        }
        for (after, before) in equations.evaluate(&moved).iter().zip(&f) {
            // Curvature times the step, and rounding over the step: both about 1e-7 and below.
            assert!(((after - before) / h + before).abs() < 1e-5, "{after} {before}");
        }
    }
}
