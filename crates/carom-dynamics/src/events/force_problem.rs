//! Forces of closed contacts that influence each other: u̇ = W x + q with a cone for each contact.
//!
//! A contact that slides has one row, its friction follows the normal force: the column of W is that of the normal less μ times those of the
//! tangents along its slip, so that W is not symmetric. A contact at rest has its normal and tangential rows and Coulomb's law on accelerations. An effort
//! between bounds whose velocity is zero has its rows and its bounds, −u̇ ∈ N(λ).

use carom_solvers::{Block, Delassus, DenseDelassus, FrictionContact, SolveError};
use std::ops::Range;

/// What binds acceleration and force of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cone {
    /// 0 ≤ u̇_N ⟂ λ_N ≥ 0.
    Smooth,
    /// The same, and the column holds friction.
    Sliding,
    /// At rest, one tangent.
    Plane { mu: f64 },
    /// At rest, two tangents.
    Space { mu: f64 },
    /// lower ≤ λ ≤ upper: u̇ = 0 between, ≥ 0 at the lower and ≤ 0 at the upper bound.
    Bounded { lower: f64, upper: f64 },
    /// ‖λ‖ ≤ radius over `dim` rows, at the radius against u̇.
    Ball { dim: usize, radius: f64 },
}

impl Cone {
    /// Number of rows.
    pub fn dim(self) -> usize {
        match self {
            Cone::Smooth | Cone::Sliding | Cone::Bounded { .. } => 1,
            Cone::Plane { .. } => 2,
            Cone::Space { .. } => 3,
            Cone::Ball { dim, .. } => dim,
        }
    }

    /// It is that of an effort between bounds.
    pub(crate) fn is_effort(self) -> bool {
        matches!(self, Cone::Bounded { .. } | Cone::Ball { .. })
    }

    /// μ of a contact at rest.
    pub fn friction(self) -> f64 {
        match self {
            Cone::Smooth | Cone::Sliding | Cone::Bounded { .. } | Cone::Ball { .. } => 0.0,
            Cone::Plane { mu } | Cone::Space { mu } => mu,
        }
    }

    fn block(self) -> Block {
        match self {
            Cone::Smooth | Cone::Sliding => Block::Unilateral,
            Cone::Plane { mu } => Block::Coulomb2 { mu },
            Cone::Space { mu } => Block::Coulomb3 { mu },
            Cone::Bounded { lower, upper } => Block::Bounded { lower, upper },
            Cone::Ball { dim, radius } => Block::Ball { dim, radius },
        }
    }

    /// Number of modes, for those that can be counted.
    fn modes(self) -> usize {
        match self {
            Cone::Smooth | Cone::Sliding => 2,
            Cone::Bounded { .. } => 3,
            Cone::Plane { .. } => 4,
            Cone::Space { .. } | Cone::Ball { .. } => usize::MAX,
        }
    }
}

/// u̇ = W x + q.
#[derive(Clone, Debug, Default)]
pub(super) struct ForceProblem {
    /// W, row-major.
    pub w: Vec<f64>,
    /// What adds up to the entries of W, in absolute values: columns of sliding contacts may cancel.
    pub terms: Vec<f64>,
    pub q: Vec<f64>,
    pub cones: Vec<Cone>,
    /// First row of each contact, and the number of rows.
    pub starts: Vec<usize>,
    /// W_NN of each contact without friction: what a normal force does.
    pub response: Vec<f64>,
    /// W_TN of each contact that slides along its slip, or the size of W_TN of one at rest, times μ.
    pub coupling: Vec<f64>,
    /// Size of the accelerations at hand, by contact.
    pub size: Vec<f64>,
}

/// An acceleration up to this part of those at hand is round-off.
pub(super) const ZERO: f64 = 1e-10;
/// The same relative to those of all contacts.
const ZERO_AMONG_ALL: f64 = 1e-13;
/// Most planar contacts at rest whose sides of slip are all looked at.
const MOST_SIDES: usize = 4;

impl ForceProblem {
    /// Number of contacts.
    pub fn n_contacts(&self) -> usize {
        self.cones.len()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.q.len()
    }

    /// Rows of a contact.
    pub fn rows(&self, k: usize) -> Range<usize> {
        self.starts[k]..self.starts[k + 1]
    }

    /// A row of W.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.w[i * self.n_rows()..(i + 1) * self.n_rows()]
    }

    /// u̇.
    pub fn accelerations(&self, x: &[f64]) -> Vec<f64> {
        (0..self.n_rows()).map(|i| self.q[i] + self.row(i).iter().zip(x).map(|(w, x)| w * x).sum::<f64>()).collect()
    }

    /// Accelerations of contact k up to this are zero, where the forces are x.
    pub fn zero(&self, k: usize, x: &[f64]) -> f64 {
        let of_forces = |k: usize| {
            let n = self.n_rows();
            let terms = |i: usize| self.terms[i * n..(i + 1) * n].iter().zip(x).map(|(w, x)| (w * x).abs()).sum::<f64>();
            self.rows(k).map(terms).fold(self.size[k], f64::max)
        };
        let largest = self.size.iter().copied().fold(0.0, f64::max);
        ZERO * of_forces(k) + ZERO_AMONG_ALL * largest
    }

    /// Normal forces of contact k up to this are zero.
    pub(crate) fn zero_force(&self, k: usize, x: &[f64]) -> f64 {
        let largest = self.starts[..self.n_contacts()].iter().fold(0.0_f64, |size, &i| size.max(x[i].abs()));
        let by_acceleration = if self.response[k] > 0.0 { self.zero(k, x) / self.response[k] } else { 0.0 };
        by_acceleration.max(ZERO * largest)
    }

    /// Friction could make a normal force press the contact further in, w_NN ≤ μ w_NT.
    pub(crate) fn is_doubtful(&self, k: usize) -> bool {
        self.response[k] - self.coupling[k] <= ZERO * self.response[k] && self.coupling[k] > 0.0
    }

    /// Solutions need not exist or be unique: a contact is doubtful, or W of several contacts, sliding as they do or may begin to, is not positive on all
    /// normal forces.
    pub(crate) fn may_be_paradoxical(&self) -> bool {
        if (0..self.n_contacts()).any(|k| self.is_doubtful(k)) {
            return true;
        }
        let resting: Vec<usize> = (0..self.n_contacts()).filter(|&k| matches!(self.cones[k], Cone::Plane { .. })).collect();
        if self.n_contacts() < 2 || resting.len() > MOST_SIDES || (resting.is_empty() && !self.cones.contains(&Cone::Sliding)) {
            return false;
        }
        (0..1_usize << resting.len()).any(|sides| {
            self.is_indefinite(|k| match resting.iter().position(|&other| other == k) {
                Some(place) if sides >> place & 1 == 1 => -self.cones[k].friction(),
                Some(_) => self.cones[k].friction(),
                None => 0.0,
            })
        })
    }

    /// The symmetric part of W over normal forces is, each with `friction(k)` times it along its tangent.
    fn is_indefinite(&self, friction: impl Fn(usize) -> f64) -> bool {
        let (n, starts) = (self.n_rows(), &self.starts[..self.n_contacts()]);
        let unit: Vec<f64> = starts.iter().map(|&i| self.w[i * n + i]).map(|w| if w > 0.0 { 1.0 / w.sqrt() } else { 1.0 }).collect();
        let full = nalgebra::DMatrix::from_fn(starts.len(), starts.len(), |a, b| {
            let (row, j) = (self.row(starts[a]), starts[b]);
            let along = match friction(b) {
                0.0 => 0.0,
                friction => friction * row[j + 1],
            };
            (row[j] + along) * unit[a] * unit[b]
        });
        (0.5 * (&full + full.transpose())).symmetric_eigenvalues().min() < -ZERO
    }

    /// Number of combinations of modes; the largest number where they cannot be counted.
    pub fn combinations(&self) -> usize {
        self.cones.iter().fold(1, |product: usize, cone| product.saturating_mul(cone.modes()))
    }

    /// The same for the solvers.
    pub fn friction_contact(&self) -> Result<FrictionContact, SolveError> {
        let dims: Vec<usize> = self.cones.iter().map(|cone| cone.dim()).collect();
        let w = Delassus::Dense(DenseDelassus::new(self.w.clone(), &dims)?);
        Ok(FrictionContact { w, q: self.q.clone(), blocks: self.cones.iter().map(|cone| cone.block()).collect() })
    }

    /// The problem of some of the contacts, the others being open; their rows here.
    pub fn part(&self, contacts: &[usize]) -> (ForceProblem, Vec<usize>) {
        let rows: Vec<usize> = contacts.iter().flat_map(|&k| self.rows(k)).collect();
        let mut part = ForceProblem { starts: vec![0], ..ForceProblem::default() };
        for &k in contacts {
            part.cones.push(self.cones[k]);
            part.starts.push(part.starts[part.starts.len() - 1] + self.cones[k].dim());
            part.response.push(self.response[k]);
            part.coupling.push(self.coupling[k]);
            part.size.push(self.size[k]);
        }
        part.q = rows.iter().map(|&i| self.q[i]).collect();
        let n = self.n_rows();
        let entries = |from: &[f64]| -> Vec<f64> { rows.iter().flat_map(|&i| rows.iter().map(move |&j| from[i * n + j])).collect() };
        (part.w, part.terms) = (entries(&self.w), entries(&self.terms));
        (part, rows)
    }

    /// Contacts that influence each other, in the order of their first.
    pub(crate) fn clusters(&self) -> Vec<Vec<usize>> {
        let n = self.n_contacts();
        let linked = |a: usize, b: usize| {
            let any = |a: usize, b: usize| self.rows(a).any(|i| self.row(i)[self.rows(b)].iter().any(|w| *w != 0.0));
            any(a, b) || any(b, a)
        };
        let (mut list, mut seen) = (Vec::new(), vec![false; n]);
        for first in 0..n {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            let (mut cluster, mut next) = (vec![first], 0);
            while next < cluster.len() {
                let here = cluster[next];
                for (k, seen) in seen.iter_mut().enumerate() {
                    if !*seen && linked(here, k) {
                        *seen = true;
                        cluster.push(k);
                    }
                }
                next += 1;
            }
            cluster.sort_unstable();
            list.push(cluster);
        }
        list
    }
}
