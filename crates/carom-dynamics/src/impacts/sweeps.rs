//! Normal impulses bounded from below with friction that follows them, by sweeps over the contacts.
//!
//! ```text
//! u = u₀ + W p,      p_N = c  or  0 ≤ u_N ⟂ p_N − c ≥ 0,      p_T maximises −u_T·p_T over ‖p_T‖ ≤ μ p_N
//! ```
//!
//! The set of p is a truncated cone, so the solvers of friction contact do not apply. Normal rows (a half-line) and tangential rows (a disk)
//! are solved exactly one after the other; rolling moments are one more disk.

use super::cluster::Cluster;
use nalgebra::{Matrix3, Vector3};

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

    /// Minimises ½ xᵀAx + bᵀx over ‖x‖ ≤ radius for the one to three rows from `first`.
    fn on_disk(&mut self, cluster: &Cluster, first: usize, dim: usize, radius: f64, change: f64) -> f64 {
        if dim == 1 {
            let p = (self.p[first] - self.u[first] / cluster.row(first)[first]).clamp(-radius, radius);
            return self.change(cluster, first, p, change);
        }
        // rows that are not there: a unit diagonal and b = 0 give x = 0
        let entry = |i: usize, j: usize| if i.max(j) < dim { cluster.row(first + i)[first + j] } else { f64::from(u8::from(i == j)) };
        let a = Matrix3::from_fn(entry);
        let value = |values: &[f64], i: usize| if i < dim { values[first + i] } else { 0.0 };
        let old = Vector3::from_fn(|i, _| value(&self.p, i));
        let b = Vector3::from_fn(|i, _| value(&self.u, i)) - a * old;
        let x = minimise_on_ball(a, b, radius);
        (0..dim).fold(change, |change, i| self.change(cluster, first + i, x[i], change))
    }
}

/// argmin ½ xᵀAx + bᵀx over ‖x‖ ≤ r, A positive definite: x = −(A + λI)⁻¹ b with λ ≥ 0 such that ‖x‖ ≤ r.
fn minimise_on_ball(a: Matrix3<f64>, b: Vector3<f64>, radius: f64) -> Vector3<f64> {
    if radius <= 0.0 {
        return Vector3::zeros();
    }
    // 1/‖x(λ)‖ is nearly linear and concave in λ: Newton's iteration from 0 rises to the root
    let mut shift = 0.0;
    let mut x = Vector3::zeros();
    for _ in 0..60 {
        let Some(inverse) = (a + Matrix3::from_diagonal_element(shift)).try_inverse() else { break };
        x = -(inverse * b);
        let size = x.norm();
        if size - radius <= 1e-15 * radius {
            break;
        }
        // dx/dλ = −(A + λI)⁻¹ x
        let slope = x.dot(&(inverse * x)) / size;
        shift += (size / radius - 1.0) * size / slope;
    }
    let size = x.norm();
    if size > radius { x * (radius / size) } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the rim −(Ax + b) points outwards along x; inside it is zero.
    #[test]
    fn minimisers_on_a_ball_satisfy_their_optimality_condition() {
        let a = Matrix3::new(2.0, 0.5, 0.1, 0.5, 1.0, -0.2, 0.1, -0.2, 50.0);
        for b in [Vector3::new(3.0, -1.0, 0.5), Vector3::new(0.1, 9.0, -20.0), Vector3::new(-5.0, 2.0, 0.0)] {
            let x = minimise_on_ball(a, b, 0.3);
            let y = -(a * x + b);
            assert!((x.norm() - 0.3).abs() < 1e-15 && x.cross(&y).norm() < 1e-13 && x.dot(&y) > 0.0, "{x} {y}");
            let free = minimise_on_ball(a, b, 100.0);
            assert!((a * free + b).norm() < 1e-13);
        }
    }
}
