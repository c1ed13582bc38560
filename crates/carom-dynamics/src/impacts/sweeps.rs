//! Normal impulses bounded from below with friction that follows them, by sweeps over the contacts.
//!
//! ```text
//! u = u₀ + W p,      p_N = c  or  0 ≤ u_N ⟂ p_N − c ≥ 0,      p_T maximises −u_T·p_T over ‖p_T‖ ≤ μ p_N
//! ```
//!
//! The set of p is a truncated cone, so the solvers of friction contact do not apply. Normal rows (a half-line) and tangential rows (a disk)
//! are solved exactly one after the other; rolling moments are one more disk.

use super::cluster::Cluster;

/// What the normal impulses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Normal {
    /// p_N = c.
    Given,
    /// p_N ≥ c.
    AtLeast,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct SweepReport {
    pub iterations: usize,
    /// Largest change of w_ii p_i in the last sweep relative to the largest velocity.
    pub change: f64,
    pub converged: bool,
}

/// Sweeps end when velocities change by less than this part of the largest.
const TOLERANCE: f64 = 1e-14;

/// Largest number of sweeps.
const MAX_SWEEPS: usize = 20_000;

/// Work arrays of the sweeps, with the impulses found last.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeps {
    pub p: Vec<f64>,
    u: Vec<f64>,
}

impl Sweeps {
    /// Solves; `least` holds c in the normal rows and zeros elsewhere. The result is in `p`.
    pub fn solve(&mut self, cluster: &Cluster, start: &[f64], least: &[f64], normal: Normal) -> SweepReport {
        self.p.clear();
        self.p.extend_from_slice(least);
        self.u.clear();
        for (i, u) in start.iter().enumerate() {
            self.u.push(u + cluster.row(i).iter().zip(least).map(|(w, p)| w * p).sum::<f64>());
        }
        let scale = start.iter().chain(&self.u).fold(0.0_f64, |s, u| s.max(u.abs()));
        let (mut iterations, mut change) = (0, f64::INFINITY);
        while iterations < MAX_SWEEPS && change > TOLERANCE * scale {
            change = 0.0;
            for contact in &cluster.contacts {
                let first = contact.rows.start;
                if normal == Normal::AtLeast {
                    let w = cluster.row(first)[first];
                    let p = (self.p[first] - self.u[first] / w).max(least[first]);
                    change = self.change(cluster, first, p, change);
                }
                for (rows, coefficient) in contact.disks() {
                    change = self.on_disk(cluster, first + rows.start, rows.len(), coefficient * self.p[first], change);
                }
            }
            iterations += 1;
        }
        let converged = change <= 1e-11 * scale;
        SweepReport { iterations, change: if scale > 0.0 { change / scale } else { 0.0 }, converged }
    }

    /// Sets p of a row; returns the larger of `change` and that of its velocity.
    fn change(&mut self, cluster: &Cluster, row: usize, p: f64, change: f64) -> f64 {
        let step = p - self.p[row];
        if step == 0.0 {
            return change;
        }
        self.p[row] = p;
        // W is symmetric: its row is its column
        for (u, w) in self.u.iter_mut().zip(cluster.row(row)) {
            *u += w * step;
        }
        change.max((cluster.row(row)[row] * step).abs())
    }

    /// Minimises ½ xᵀAx + bᵀx over ‖x‖ ≤ radius for the one or two rows from `first`.
    fn on_disk(&mut self, cluster: &Cluster, first: usize, dim: usize, radius: f64, change: f64) -> f64 {
        let a = |i: usize, j: usize| cluster.row(first + i)[first + j];
        if dim == 1 {
            let p = (self.p[first] - self.u[first] / a(0, 0)).clamp(-radius, radius);
            return self.change(cluster, first, p, change);
        }
        let (a, old) = ([a(0, 0), a(0, 1), a(1, 1)], [self.p[first], self.p[first + 1]]);
        let b = [self.u[first] - a[0] * old[0] - a[1] * old[1], self.u[first + 1] - a[1] * old[0] - a[2] * old[1]];
        let x = minimise_on_disk(a, b, radius);
        let change = self.change(cluster, first, x[0], change);
        self.change(cluster, first + 1, x[1], change)
    }
}

/// argmin ½ xᵀAx + bᵀx over ‖x‖ ≤ r, A = (a₀₀, a₀₁, a₁₁) positive definite: x = −(A + λI)⁻¹ b with λ ≥ 0 such that ‖x‖ ≤ r.
fn minimise_on_disk(a: [f64; 3], b: [f64; 2], radius: f64) -> [f64; 2] {
    let at = |shift: f64| {
        let (p, s, q) = (a[0] + shift, a[1], a[2] + shift);
        let det = p * q - s * s;
        [-(q * b[0] - s * b[1]) / det, -(p * b[1] - s * b[0]) / det]
    };
    let norm = |x: [f64; 2]| x[0].hypot(x[1]);
    let free = at(0.0);
    if radius <= 0.0 {
        return [0.0; 2];
    }
    if norm(free) <= radius {
        return free;
    }
    // 1/‖x(λ)‖ is nearly linear and concave in λ: Newton's iteration from 0 rises to the root
    let mut shift = 0.0;
    for _ in 0..60 {
        let x = at(shift);
        let size = norm(x);
        if size - radius <= 1e-15 * radius {
            break;
        }
        // dx/dλ = −(A + λI)⁻¹ x
        let (p, s, q) = (a[0] + shift, a[1], a[2] + shift);
        let det = p * q - s * s;
        let slope = -(x[0] * (q * x[0] - s * x[1]) + x[1] * (p * x[1] - s * x[0])) / det / size;
        shift += (size / radius - 1.0) * size / -slope;
    }
    let x = at(shift);
    let factor = radius / norm(x);
    [x[0] * factor, x[1] * factor]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the rim −(Ax + b) points outwards along x.
    #[test]
    fn minimisers_on_a_disk_satisfy_their_optimality_condition() {
        for (a, b) in [([2.0, 0.5, 1.0], [3.0, -1.0]), ([1.0, 0.0, 50.0], [0.1, 9.0]), ([4.0, 1.9, 1.0], [-5.0, 2.0])] {
            let x = minimise_on_disk(a, b, 0.3);
            let y = [-(a[0] * x[0] + a[1] * x[1] + b[0]), -(a[1] * x[0] + a[2] * x[1] + b[1])];
            assert!((x[0].hypot(x[1]) - 0.3).abs() < 1e-15);
            assert!((x[0] * y[1] - x[1] * y[0]).abs() < 1e-13 && x[0] * y[0] + x[1] * y[1] > 0.0, "{x:?} {y:?}");
        }
    }
}
