//! Poisson's law: a ratio of impulses.
//!
//! Compression is an inelastic shock, u^c = u⁻ + W P^c. In decompression, u⁺ = u^c + W P^d with
//!
//! ```text
//! 0 ≤ u_N⁺ ⟂ P_N^d − e P_N^c ≥ 0,      P_T^d maximises −u_T⁺·P_T over ‖P_T‖ ≤ μ P_N^d,
//! ```
//!
//! so that each contact gives back e times the normal impulse that it took, and more where it would be entered otherwise
//! \[Pfeiffer & Glocker, *Multibody dynamics with unilateral contacts*, 1996, ch. 8\]. Anitescu1998, eqs. 27–28, is the same but for the
//! bound of friction in decompression: there it is μ (P_N^d − e P_N^c), the impulse that is given back has none.
//!
//! Without friction and with equal e it is Newton's law. The energy can rise with unequal e and several contacts; with friction it rises
//! less often than under Newton's law, and not at one contact.

use super::cluster::{Cluster, Path};
use super::newton::{inelastic, solve_and_push};
use super::problem::Resolver;
use super::sweeps::Normal;
use carom_solvers::SolveError;

/// Poisson's law.
pub(super) fn poisson(resolver: &mut Resolver, cluster: &Cluster, path: &mut Path) -> Result<(), SolveError> {
    inelastic(resolver, cluster, path)?;
    let mut back = vec![0.0; cluster.n_rows()];
    for contact in &cluster.contacts {
        let first = contact.rows.start;
        back[first] = cluster.restitution(contact) * path.p[first];
    }
    if back.iter().all(|p| *p == 0.0) {
        return Ok(());
    }
    if cluster.contacts.iter().all(|c| c.block.is_frictionless()) {
        path.push(cluster, &back);
        return solve_and_push(resolver, cluster, path.u.clone(), path);
    }
    let report = resolver.sweeps.solve(cluster, &path.u, &back, Normal::AtLeast);
    path.iterations += report.iterations;
    path.residual = path.residual.max(report.change);
    path.failed |= !report.converged;
    path.push(cluster, &resolver.sweeps.p);
    Ok(())
}
