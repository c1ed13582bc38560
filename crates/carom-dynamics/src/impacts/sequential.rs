//! Impacts one after the other.
//!
//! One contact that approaches is resolved by Newton's law as if the others were open,
//!
//! ```text
//! u_N⁺ = −e u_N⁻ (with friction and e_T as in Newton's law),      u ← u + W_{·i} P_i,
//! ```
//!
//! then the next, until none approaches. Chains of equal elastic balls pass the velocity on as Newton's cradle does. The outcome depends on
//! the order where more than one contact approaches, and with e < 1 the sequence can be infinite: it ends when speeds of approach are below a
//! part of the first one. The energy never rises without friction.

use super::cluster::{Cluster, Path};
use super::newton::add_restitution;
use super::problem::{LocalProblem, Resolver};
use crate::error::ModelError;
use carom_solvers::SolveError;
use serde::{Deserialize, Serialize};

/// Which contact is hit next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SequenceOrder {
    /// That of the largest speed of approach; the first of them where several have it.
    #[default]
    LargestSpeed,
    /// The first one in the model's order.
    Index,
}

/// Settings of [`super::ImpactLaw::Sequential`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SequentialParams {
    /// Which contact is hit next. Default: the one of the largest speed of approach.
    pub order: SequenceOrder,
    /// Largest number of single impacts, default 10 000, ≥ 1. Where it is reached the step has not converged.
    pub max_impacts: usize,
    /// The sequence ends when no contact approaches faster than this part of the first speed of approach; dimensionless, default 1e-10,
    /// in (0, 1).
    pub tolerance: f64,
}

impl Default for SequentialParams {
    fn default() -> Self {
        SequentialParams { order: SequenceOrder::default(), max_impacts: 10_000, tolerance: 1e-10 }
    }
}

impl SequentialParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self) -> Result<(), ModelError> {
        if self.max_impacts == 0 {
            return Err(ModelError::OutOfRange { what: "max_impacts".into(), value: 0.0, expected: "at least 1 is needed" });
        }
        super::energetic::check_tolerance(self.tolerance)
    }
}

/// Impacts one after the other.
pub(super) fn sequential(resolver: &mut Resolver, cluster: &Cluster, params: &SequentialParams, path: &mut Path) -> Result<(), SolveError> {
    let least = params.tolerance * cluster.approach();
    let n = cluster.n_rows();
    while let Some((i, speed)) = next(cluster, path, params.order, least) {
        if path.sequence.len() == params.max_impacts {
            path.failed = true;
            path.residual = speed;
            break;
        }
        let contact = &cluster.contacts[i];
        let rows = contact.rows.clone();
        let mut q = path.u[rows.clone()].to_vec();
        add_restitution(&contact.law, &mut q);
        let w = rows.clone().flat_map(|row| cluster.row(row)[rows.clone()].iter().copied()).collect();
        let mut dp = vec![0.0; n];
        if contact.block.is_frictionless() && rows.len() == 1 {
            dp[rows.start] = -q[0] / cluster.row(rows.start)[rows.start];
            path.iterations += 1;
        } else {
            let p = resolver.solve(LocalProblem { w, q, blocks: &[contact.block] }, path)?;
            dp[rows].copy_from_slice(&p);
        }
        path.push(cluster, &dp);
        path.sequence.push(i as u32);
    }
    Ok(())
}

/// The contact to be hit next, with its speed of approach.
fn next(cluster: &Cluster, path: &Path, order: SequenceOrder, least: f64) -> Option<(usize, f64)> {
    let mut approaching = cluster.contacts.iter().map(|c| -path.u[c.rows.start]).enumerate().filter(|&(_, speed)| speed > least);
    match order {
        SequenceOrder::Index => approaching.next(),
        SequenceOrder::LargestSpeed => approaching.reduce(|best, other| if other.1 > best.1 { other } else { best }),
    }
}
