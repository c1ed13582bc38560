//! The list of all solvers: one line each.

use crate::error::SolveError;
use crate::friction_contact::FrictionSolver;
use crate::lcp::LcpSolver;
use crate::parameters::{FrictionSolverKind, FrictionSolverParams, LcpSolverKind, LcpSolverParams};

/// The kind of one-step problem, with the solver of that kind to construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// [`FrictionContact`](crate::FrictionContact).
    FrictionContact(FrictionSolverKind),
    /// [`Lcp`](crate::Lcp).
    Lcp(LcpSolverKind),
}

/// One line of the registry.
#[derive(Clone, Copy, Debug)]
pub struct SolverEntry {
    /// Name, as in a model file.
    pub name: &'static str,
    /// The problem it solves and the constructor's kind.
    pub problem: ProblemKind,
    /// When to use it.
    pub summary: &'static str,
}

const fn friction(kind: FrictionSolverKind, name: &'static str, summary: &'static str) -> SolverEntry {
    SolverEntry { name, problem: ProblemKind::FrictionContact(kind), summary }
}

const fn lcp(kind: LcpSolverKind, name: &'static str, summary: &'static str) -> SolverEntry {
    SolverEntry { name, problem: ProblemKind::Lcp(kind), summary }
}

/// Every solver of the crate.
#[rustfmt::skip]
pub const SOLVERS: &[SolverEntry] = &[
    friction(FrictionSolverKind::Auto, "auto", "the default: eliminates joints, then sweeps, pivots or Newton steps by size and kind"),
    friction(FrictionSolverKind::Nsgs, "nsgs", "many contacts with friction, moderate mass ratios; cheap sweeps, warm start"),
    friction(FrictionSolverKind::ProximalNewton, "proximal-newton", "stacks, walls and other hyperstatic contacts to a tight tolerance; up to a few thousand rows"),
    friction(FrictionSolverKind::Lemke, "lemke", "few contacts, frictionless or planar, redundant or ill-conditioned; finite and exact"),
    friction(FrictionSolverKind::Pgs, "pgs", "many frictionless contacts where a moderate accuracy is enough"),
    lcp(LcpSolverKind::Lemke, "lemke", "small or degenerate LCP, up to a few hundred rows; detects rays"),
    lcp(LcpSolverKind::Pgs, "pgs", "large LCP with positive diagonal and a good guess"),
];

/// Constructs the friction contact solver the parameters name.
///
/// # Errors
/// [`SolveError::BadParameter`] for a parameter outside its range.
pub fn friction_contact_solver(params: &FrictionSolverParams) -> Result<FrictionSolver, SolveError> {
    params.validate()?;
    Ok(FrictionSolver::new(params))
}

/// Constructs the LCP solver the parameters name.
///
/// # Errors
/// [`SolveError::BadParameter`] for a parameter outside its range.
pub fn lcp_solver(params: &LcpSolverParams) -> Result<LcpSolver, SolveError> {
    params.validate()?;
    Ok(LcpSolver::new(params))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OneStepSolver;

    #[test]
    fn every_kind_has_a_line_with_its_own_name() {
        for &kind in FrictionSolverKind::ALL {
            let entry = SOLVERS.iter().find(|e| e.problem == ProblemKind::FrictionContact(kind)).expect("a line per kind");
            let params = FrictionSolverParams { kind, ..Default::default() };
            assert_eq!(entry.name, friction_contact_solver(&params).unwrap().name());
        }
        for &kind in LcpSolverKind::ALL {
            let entry = SOLVERS.iter().find(|e| e.problem == ProblemKind::Lcp(kind)).expect("a line per kind");
            let params = LcpSolverParams { kind, ..Default::default() };
            assert_eq!(entry.name, lcp_solver(&params).unwrap().name());
        }
    }
}
