//! The coefficients of a contact.

use super::{Cohesion, Friction, Restitution};
use crate::error::ModelError;
use carom_solvers::Block;
use serde::{Deserialize, Serialize};

/// The law of one contact: the pair's material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactLaw {
    /// Friction.
    pub friction: Friction,
    /// Normal restitution.
    pub restitution: Restitution,
    /// Tangential coefficient of restitution e_T ∈ [0, 1]: −(u_T⁺ + e_T u_T⁻) ∈ N_{D(μ p_N)}(p_T). 0 unless asked for.
    pub tangential_restitution: f64,
    /// Rolling resistance ρ: the moment about the tangents per normal force \[m\], ≥ 0: ‖p_M‖ ≤ ρ p_N. Contacts of bodies only.
    pub rolling: f64,
    /// Spinning resistance σ: the moment about the normal per normal force \[m\], ≥ 0: |p_S| ≤ σ p_N, a soft finger whose moment is not
    /// coupled to its friction. With rolling resistance (‖p_M‖/ρ)² + (p_S/σ)² ≤ p_N². Contacts of bodies only.
    pub spinning: f64,
    /// Cohesion.
    pub cohesion: Cohesion,
    /// Contact stiffness K \[N/m^η\] during impacts, positive, default 1. Only the impact law "energetic" uses it, and only ratios matter
    /// where all exponents are equal.
    pub stiffness: f64,
    /// Exponent η of the contact force K δ^η during impacts, ≥ 1, default 1; 3/2 is Hertz's. Only the impact law "energetic" uses it.
    pub exponent: f64,
}

impl Default for ContactLaw {
    fn default() -> Self {
        ContactLaw {
            friction: Friction::default(),
            restitution: Restitution::default(),
            tangential_restitution: 0.0,
            rolling: 0.0,
            spinning: 0.0,
            cohesion: Cohesion::None,
            stiffness: 1.0,
            exponent: 1.0,
        }
    }
}

impl ContactLaw {
    /// Coulomb friction μ and a constant coefficient of restitution e.
    #[must_use]
    pub fn coulomb(friction: f64, restitution: f64) -> Self {
        ContactLaw {
            friction: Friction::Coulomb { coefficient: friction },
            restitution: Restitution::Constant { coefficient: restitution },
            ..ContactLaw::default()
        }
    }

    /// The same with a tangential coefficient of restitution.
    #[must_use]
    pub fn with_tangential_restitution(self, coefficient: f64) -> Self {
        ContactLaw { tangential_restitution: coefficient, ..self }
    }

    /// The same with the stiffness and the exponent of the contact force during impacts.
    #[must_use]
    pub fn with_stiffness(self, stiffness: f64, exponent: f64) -> Self {
        ContactLaw { stiffness, exponent, ..self }
    }

    /// It acts along the normal only.
    #[must_use]
    pub fn is_frictionless(&self) -> bool {
        self.friction.is_none() && self.tangential_restitution == 0.0 && self.rolling == 0.0 && self.spinning == 0.0
    }

    /// Rows of a contact of bodies: (N), (N, T₁, T₂), with (S), (M₁, M₂) or (M₁, M₂, S) where there is spinning resistance, rolling
    /// resistance or both.
    #[must_use]
    pub fn rows(&self) -> usize {
        match (self.rolling > 0.0, self.spinning > 0.0) {
            (false, false) if self.is_frictionless() => 1,
            (false, false) => 3,
            (false, true) => 4,
            (true, false) => 5,
            (true, true) => 6,
        }
    }

    /// The cone of the one-step problem for `dim` rows at the sliding speed `slip` [m/s].
    #[must_use]
    pub fn block(&self, dim: usize, slip: f64) -> Block {
        self.block_with(dim, self.friction.at(slip))
    }

    /// The cone of the one-step problem for `dim` rows with the friction coefficient `mu`.
    #[must_use]
    pub(crate) fn block_with(&self, dim: usize, mu: f64) -> Block {
        match dim {
            1 => Block::Unilateral,
            2 => Block::Coulomb2 { mu },
            3 => Block::Coulomb3 { mu },
            4 => Block::Spinning { mu, spinning: self.spinning },
            5 => Block::Rolling { mu, rolling: self.rolling },
            _ => Block::RollingSpinning { mu, rolling: self.rolling },
        }
    }

    /// Factor by which the row of the spin is stretched where there are six rows, σ/ρ, so that the ellipsoid of the moments becomes a ball; as
    /// [`Friction::stretch`].
    #[must_use]
    pub fn spin_stretch(&self) -> f64 {
        if self.rolling > 0.0 && self.spinning > 0.0 { self.spinning / self.rolling } else { 1.0 }
    }

    /// Restitution coefficient of a row at the normal velocity `u_normal` before the impact: e for the normal row, e_T for the first two
    /// tangents, 0 for rolling and spinning.
    #[must_use]
    pub(crate) fn restitution_of_row(&self, row: usize, u_normal: f64) -> f64 {
        match row {
            0 => self.restitution.at(u_normal),
            1 | 2 => self.tangential_restitution,
            _ => 0.0,
        }
    }

    /// Checks that a relation of `rows` rows has what the law acts on.
    ///
    /// # Errors
    /// [`ModelError::LawNeedsRows`].
    pub(crate) fn check_rows(&self, name: &str, rows: usize) -> Result<(), ModelError> {
        let wrong = |law, needed| Err(ModelError::LawNeedsRows { name: name.to_owned(), law, rows, needed });
        match (self.rolling > 0.0, self.spinning > 0.0) {
            (true, _) | (_, true) if rows != self.rows() => {
                wrong("rolling or spinning resistance", "rows for relative rotations, as contacts of bodies have them")
            }
            (false, false) if rows > 3 => wrong("contact without rolling or spinning resistance", "1 to 3 rows"),
            _ if matches!(self.friction, Friction::Elliptic { .. }) && rows < 3 => wrong("elliptic friction", "two tangents"),
            _ => Ok(()),
        }
    }

    /// Checks the coefficients; `name` is that of the contact.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the coefficient.
    pub fn validate(&self, name: &str) -> Result<(), ModelError> {
        self.friction.validate(name)?;
        self.restitution.validate(name)?;
        fraction_of_one("tangential restitution", name, self.tangential_restitution)?;
        not_negative("rolling resistance", name, self.rolling)?;
        not_negative("spinning resistance", name, self.spinning)?;
        self.cohesion.validate(name)?;
        let wrong = |what: &str, value, expected| Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected });
        if !(self.stiffness > 0.0 && self.stiffness.is_finite()) {
            return wrong("contact stiffness", self.stiffness, "a positive number is needed");
        }
        if !(self.exponent >= 1.0 && self.exponent.is_finite()) {
            return wrong("contact exponent", self.exponent, "a number ≥ 1 is needed");
        }
        match self.spinning > 0.0 && self.rolling > 0.0 {
            true => finite_ratio("ratio of spinning to rolling resistance", name, self.spinning / self.rolling),
            false => Ok(()),
        }
    }
}

/// Refuses a coefficient outside [0, 1].
pub(super) fn fraction_of_one(what: &str, name: &str, value: f64) -> Result<(), ModelError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected: "a number in [0, 1] is needed" })
}

/// Refuses a ratio that under- or overflows.
fn finite_ratio(what: &str, name: &str, value: f64) -> Result<(), ModelError> {
    if value.is_normal() {
        return Ok(());
    }
    Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected: "a ratio of ordinary size is needed" })
}

/// Refuses a negative coefficient.
pub(super) fn not_negative(what: &str, name: &str, value: f64) -> Result<(), ModelError> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected: "a number ≥ 0 is needed" })
}
