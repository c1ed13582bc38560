//! Newton's law and the inelastic one at all contacts at once.
//!
//! ```text
//! K* ∋ û ⟂ P ∈ K,      û = (ũ_N + μ ‖ũ_T‖, ũ_T),      ũ_N = u_N⁺ + e min(u_N⁻, 0),      ũ_T = u_T⁺ + e_T u_T⁻
//! ```
//!
//! \[Acary2009, eq. 49; Moreau1999, §8.3\], e = e_T = 0 for the inelastic law. Contacts that do not approach have e = e_T = 0. Without
//! friction and with equal e the energy falls; with friction, or with unequal e, it can rise: Kane's double pendulum is the known example
//! \[Kane & Levinson 1985\].

use super::cluster::{Cluster, Path};
use super::problem::{LocalProblem, Resolver};
use carom_solvers::{Block, SolveError};

/// Newton's law.
pub(super) fn newton(resolver: &mut Resolver, cluster: &Cluster, path: &mut Path) -> Result<(), SolveError> {
    let mut q = cluster.start.clone();
    for contact in &cluster.contacts {
        add_restitution(&contact.law, &mut q[contact.rows.clone()]);
    }
    solve_and_push(resolver, cluster, q, path)
}

/// q = u⁻ => u⁻ + (e u_N⁻, e_T u_T⁻) for a contact that approaches.
pub(super) fn add_restitution(law: &crate::ContactLaw, q: &mut [f64]) {
    let normal = q[0];
    if normal < 0.0 {
        for (k, q) in q.iter_mut().enumerate() {
            *q *= 1.0 + law.restitution_of_row(k, normal);
        }
    }
}

/// The inelastic law.
pub(super) fn inelastic(resolver: &mut Resolver, cluster: &Cluster, path: &mut Path) -> Result<(), SolveError> {
    solve_and_push(resolver, cluster, path.u.clone(), path)
}

/// Solves W p + q in the cones of all contacts and takes p into the path.
pub(super) fn solve_and_push(resolver: &mut Resolver, cluster: &Cluster, q: Vec<f64>, path: &mut Path) -> Result<(), SolveError> {
    let blocks: Vec<Block> = cluster.contacts.iter().map(|c| c.block).collect();
    let p = resolver.solve(LocalProblem { w: cluster.w.clone(), q, blocks: &blocks }, path)?;
    path.push(cluster, &p);
    Ok(())
}
