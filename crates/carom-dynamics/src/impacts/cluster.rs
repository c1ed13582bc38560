//! Contacts that can influence each other, with the constraints between them eliminated.

use super::problem::ImpactProblem;
use crate::laws::{ContactLaw, Law};
use carom_solvers::{Block, Delassus};
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

/// A contact of a cluster.
#[derive(Clone, Debug)]
pub(super) struct ClusterContact {
    pub law: ContactLaw,
    pub rows: Range<usize>,
    pub block: Block,
}

impl ClusterContact {
    /// The disks in which tangential impulses and moments lie: rows relative to the contact, radius per normal impulse.
    pub fn disks(&self) -> impl Iterator<Item = (Range<usize>, f64)> + use<> {
        self.block.disks().into_iter().flatten()
    }
}

/// u = u⁻ + W P over the rows of the contacts; W is dense, row-major.
#[derive(Clone, Debug, Default)]
pub(super) struct Cluster {
    pub w: Vec<f64>,
    pub start: Vec<f64>,
    pub contacts: Vec<ClusterContact>,
}

impl Cluster {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.start.len()
    }

    /// A row of W.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.w[i * self.n_rows()..(i + 1) * self.n_rows()]
    }

    /// Largest speed of approach \[m/s\].
    pub fn approach(&self) -> f64 {
        self.contacts.iter().fold(0.0_f64, |speed, c| speed.max(-self.start[c.rows.start]))
    }

    /// e of a contact at its speed of approach; contacts that do not approach by themselves take the largest of the cluster.
    pub fn restitution(&self, contact: &ClusterContact) -> f64 {
        let u = self.start[contact.rows.start];
        contact.law.restitution.at(if u < 0.0 { u } else { -self.approach() })
    }
}

/// The path of an impact so far: impulses, velocities, and the energy that each contact took, by normal and by tangential impulses.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    pub p: Vec<f64>,
    pub u: Vec<f64>,
    pub dissipated: Vec<[f64; 2]>,
    /// Contacts in the order in which they were hit, for laws that have one.
    pub sequence: Vec<u32>,
    pub iterations: usize,
    pub residual: f64,
    pub failed: bool,
}

impl Path {
    /// Before the impact.
    pub fn new(cluster: &Cluster) -> Self {
        Path {
            p: vec![0.0; cluster.n_rows()],
            u: cluster.start.clone(),
            dissipated: vec![[0.0; 2]; cluster.contacts.len()],
            ..Path::default()
        }
    }

    /// Adds impulses: u ← u + W dp. The energy taken, −½(u + u_old)·dp, adds up to the loss of kinetic energy exactly.
    pub fn push(&mut self, cluster: &Cluster, dp: &[f64]) {
        for (contact, taken) in cluster.contacts.iter().zip(&mut self.dissipated) {
            for (k, row) in contact.rows.clone().enumerate() {
                let change: f64 = cluster.row(row).iter().zip(dp).map(|(w, p)| w * p).sum();
                taken[usize::from(k > 0)] -= (self.u[row] + 0.5 * change) * dp[row];
                self.u[row] += change;
            }
        }
        for (p, dp) in self.p.iter_mut().zip(dp) {
            *p += dp;
        }
    }
}

/// Elimination of the constraints of a cluster: P_B = −W_BB⁺ (u_B⁻ + W_BC P_C).
pub(super) struct Elimination {
    /// Rows of the problem that are constraints, and those of the contacts, in the cluster's order.
    pub bilateral: Vec<usize>,
    pub contact: Vec<usize>,
    /// W_BB⁺ W_BC and W_BB⁺ u_B⁻.
    spread: DMatrix<f64>,
    stop: DVector<f64>,
}

/// Singular values below this part of the largest belong to redundant constraints.
const RANK_TOLERANCE: f64 = 1e-11;

impl Elimination {
    /// The contacts among `blocks` as a cluster, u_B⁺ = 0 at the constraints among them.
    pub fn new(problem: &ImpactProblem, dense: &[f64], blocks: &[usize]) -> (Self, Cluster) {
        let (mut bilateral, mut contact, mut contacts) = (Vec::new(), Vec::new(), Vec::new());
        for &b in blocks {
            let block = &problem.blocks[b];
            match block.law {
                Law::Bilateral => bilateral.extend(block.rows.clone()),
                // bounded forces do nothing in an instant
                Law::Bounded(_) => {}
                Law::Contact(law) => {
                    let rows = contact.len()..contact.len() + block.rows.len();
                    contacts.push(ClusterContact { law, rows, block: block.block });
                    contact.extend(block.rows.clone());
                }
            }
        }
        let n = problem.velocity.len();
        let part = |rows: &[usize], columns: &[usize]| DMatrix::from_fn(rows.len(), columns.len(), |i, j| dense[rows[i] * n + columns[j]]);
        let u = |rows: &[usize]| DVector::from_iterator(rows.len(), rows.iter().map(|&i| problem.velocity[i]));
        let mut w = part(&contact, &contact);
        let mut start = u(&contact);
        let (mut spread, mut stop) = (DMatrix::zeros(0, contact.len()), DVector::zeros(0));
        if !bilateral.is_empty() {
            let coupling = part(&bilateral, &contact);
            let svd = part(&bilateral, &bilateral).svd(true, true);
            let least = RANK_TOLERANCE * svd.singular_values.max();
            // both matrices of singular vectors were asked for
            spread = svd.solve(&coupling, least).unwrap_or_else(|_| DMatrix::zeros(bilateral.len(), contact.len()));
            stop = svd.solve(&u(&bilateral), least).unwrap_or_else(|_| DVector::zeros(bilateral.len()));
            w -= coupling.tr_mul(&spread);
            start -= coupling.tr_mul(&stop);
        }
        // symmetric to the last bit, so that energies are
        let n_c = contact.len();
        let values = (0..n_c * n_c).map(|k| 0.5 * (w[(k / n_c, k % n_c)] + w[(k % n_c, k / n_c)])).collect();
        let cluster = Cluster { w: values, start: start.iter().copied().collect(), contacts };
        (Elimination { bilateral, contact, spread, stop }, cluster)
    }

    /// Impulses of the cluster's contacts => those of all its rows.
    pub fn spread(&self, p: &[f64], out: &mut [f64]) {
        for (&row, p) in self.contact.iter().zip(p) {
            out[row] = *p;
        }
        if !self.bilateral.is_empty() {
            let reaction = &self.spread * DVector::from_column_slice(p) + &self.stop;
            for (&row, p) in self.bilateral.iter().zip(reaction.iter()) {
                out[row] = -p;
            }
        }
    }
}

/// Numbers of blocks that share entries of W, directly or through others; clusters in the order of their first block.
pub(super) fn clusters(w: &Delassus, dense: &[f64]) -> Vec<Vec<usize>> {
    let n = w.n_blocks();
    let mut parent: Vec<usize> = (0..n).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let n_rows = w.n_rows();
    for i in 0..n {
        for j in 0..i {
            let linked = (w.offset(i)..w.offset(i + 1))
                .any(|row| dense[row * n_rows + w.offset(j)..row * n_rows + w.offset(j + 1)].iter().any(|&x| x != 0.0));
            if linked {
                let (a, b) = (root(&mut parent, i), root(&mut parent, j));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut list: Vec<Vec<usize>> = vec![Vec::new(); n];
    for i in 0..n {
        let r = root(&mut parent, i);
        list[r].push(i);
    }
    list.retain(|cluster| !cluster.is_empty());
    list
}
