//! Contact laws: what binds the local velocity u and the impulse p of an interaction.
//!
//! The set of laws is closed: a new law is a new variant, and the compiler shows every scheme that must answer for it.

use carom_solvers::Block;
use serde::{Deserialize, Serialize};

/// The law of an interaction, with its impact law.
///
/// Notation: u = (u_N, u_T) local velocity, normal first, u_N > 0 when separating; p the impulse [N·s];
/// u⁻ before and u⁺ after the step or the impact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Law {
    /// Bilateral constraint: u⁺ = 0, p free.
    Bilateral,
    /// Frictionless unilateral contact with Newton's impact law: 0 ≤ u_N⁺ + e u_N⁻ ⟂ p_N ≥ 0.
    Unilateral {
        /// Newton's coefficient of restitution e ∈ [0, 1].
        restitution: f64,
    },
    /// Unilateral contact with Coulomb friction on the true cone ‖p_T‖ ≤ μ p_N, one or two tangent directions by the
    /// relation's dimension (2D or 3D):
    /// −(u_T⁺ + e_T u_T⁻) ∈ N_{D(μ p_N)}(p_T) with Newton's law on the normal part.
    Coulomb(ContactLaw),
}

/// Coefficients of a frictional contact: the pair's material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactLaw {
    /// Coulomb's friction coefficient μ ≥ 0.
    pub friction: f64,
    /// Newton's normal coefficient of restitution e ∈ [0, 1].
    pub restitution: f64,
    /// Tangential coefficient of restitution e_T ∈ [0, 1]; 0 unless asked for.
    pub tangential_restitution: f64,
}

impl Law {
    /// All laws by name with one line on what each is for, as `carom list laws` shows them.
    pub const LIST: [(&'static str, &'static str); 3] = [
        ("bilateral", "joint or constraint: u = 0, impulse free"),
        ("unilateral", "frictionless contact, Newton restitution e"),
        ("coulomb", "contact with Coulomb friction (2D and 3D, exact cone), Newton restitution, normal and tangential"),
    ];

    /// The cone of the one-step problem for an interaction of `dim` rows.
    #[must_use]
    pub fn block(&self, dim: usize) -> Block {
        match (self, dim) {
            (Law::Bilateral, _) => Block::Bilateral { dim },
            (Law::Unilateral { .. }, _) | (Law::Coulomb(_), 1) => Block::Unilateral,
            (Law::Coulomb(c), 2) => Block::Coulomb2 { mu: c.friction },
            (Law::Coulomb(c), _) => Block::Coulomb3 { mu: c.friction },
        }
    }

    /// Restitution coefficient of a row: e for the normal row of a contact, e_T for its tangent rows, 0 for constraints.
    #[must_use]
    pub fn restitution(&self, row: usize) -> f64 {
        match self {
            Law::Bilateral => 0.0,
            Law::Unilateral { restitution } => *restitution,
            Law::Coulomb(c) if row == 0 => c.restitution,
            Law::Coulomb(c) => c.tangential_restitution,
        }
    }
}
