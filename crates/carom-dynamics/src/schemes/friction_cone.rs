//! The friction cone of the schemes that come with a polyhedral one.

use crate::error::ModelError;
use carom_solvers::friction_contact::PolyhedralParams;
use carom_solvers::{FrictionSolverKind, FrictionSolverParams};
use serde::{Deserialize, Serialize};

/// Which friction cone the one-step problems of a scheme have. In the plane both are the same cone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrictionCone {
    /// The pyramid {n c_n + D β : β ≥ 0, Σβ ≤ μ c_n} over a regular polygon of directions, as an LCP by Lemke's method
    /// [Haddouni2015, eqs. 2.26 and 2.28]. Friction in space is off by up to π/facets in direction. Dense: up to some 30 contacts in space.
    #[default]
    Polyhedral,
    /// Coulomb's cone itself [Anitescu1998, eqs. 19–22], by the solver `auto`.
    Exact,
}

impl FrictionCone {
    /// The solver that has this cone; `kind` is that of the polyhedral one.
    pub(super) fn solver(self, kind: FrictionSolverKind, facets: usize) -> Option<FrictionSolverParams> {
        match self {
            FrictionCone::Polyhedral => {
                Some(FrictionSolverParams { kind, polyhedral: PolyhedralParams { facets }, ..FrictionSolverParams::default() })
            }
            FrictionCone::Exact => None,
        }
    }
}

/// Checks the number of facets.
pub(super) fn check_facets(facets: usize) -> Result<(), ModelError> {
    if (4..=64).contains(&facets) && facets.is_multiple_of(2) {
        return Ok(());
    }
    let expected = "an even number from 4 to 64 is needed (contacts in the plane have their two directions whatever it is)";
    Err(ModelError::OutOfRange { what: "facets".into(), value: facets as f64, expected })
}
