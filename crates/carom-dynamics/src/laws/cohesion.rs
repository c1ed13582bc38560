//! Cohesion: contacts that pull.
//!
//! ```text
//! 0 ≤ u_N ⟂ p_N + h c ≥ 0   where the contact is closed,      p_N = −h c   where it is open and c > 0,
//! ‖p_T‖ ≤ μ (p_N + h c)     where it is closed
//! ```
//!
//! with the present pull c \[N\]. The zone is the initially rigid law with linear softening [Camacho & Ortiz, *Computational modelling of
//! impact damage in brittle materials*, Int. J. Solids Struct. 33, 1996, §3]; it differs in: normal opening only, and the pull stays
//! F β while the gap goes back instead of falling to zero with it. A cycle takes F δ²/(2 δ_c) ≥ 0, the whole opening F δ_c/2.

use super::contact_law::not_negative;
use crate::error::ModelError;
use serde::{Deserialize, Serialize};

/// The pull that a contact withstands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Cohesion {
    /// None: a contact only pushes.
    #[default]
    None,
    /// A constant pull c at all gaps up to `reach`, lost beyond and there again when the contact closes once more. Separation takes c · reach.
    Constant {
        /// c \[N\], ≥ 0.
        force: f64,
        /// Largest gap at which the contact pulls \[m\], ≥ 0. Default 1e-6: contacts whose gaps drift by rounding stay closed.
        #[serde(default = "reach")]
        reach: f64,
    },
    /// A bond that breaks for good: c = F β with the intensity of adhesion β = max(0, 1 − δ/δ_c) of the largest gap δ so far. Only contacts that
    /// exist when the run starts are bonded; those of formulas as far as their gap then leaves β.
    Zone {
        /// F \[N\], ≥ 0: the largest pull.
        strength: f64,
        /// δ_c \[m\], positive: the gap at which nothing is left. The energy is F δ_c/2.
        opening: f64,
    },
}

fn reach() -> f64 {
    1e-6
}

impl Cohesion {
    /// Present pull c \[N\] at the gap `gap`; `largest` is the largest gap that the contact has had, `None` where it is not bonded.
    #[must_use]
    pub fn pull(&self, gap: f64, largest: Option<f64>) -> f64 {
        match *self {
            Cohesion::None => 0.0,
            Cohesion::Constant { force, reach } => {
                if gap <= reach {
                    force
                } else {
                    0.0
                }
            }
            Cohesion::Zone { strength, .. } => strength * largest.map_or(0.0, |largest| self.intensity(largest)),
        }
    }

    /// Intensity of adhesion β ∈ [0, 1] of a zone whose largest gap is `largest`; 1 for all others.
    #[must_use]
    pub(crate) fn intensity(&self, largest: f64) -> f64 {
        match *self {
            Cohesion::Zone { opening, .. } => (1.0 - largest.max(0.0) / opening).clamp(0.0, 1.0),
            _ => 1.0,
        }
    }

    /// Largest gap at which the contact pulls \[m\].
    #[must_use]
    pub fn reach(&self) -> f64 {
        match *self {
            Cohesion::None => 0.0,
            Cohesion::Constant { reach, .. } => reach,
            Cohesion::Zone { opening, .. } => opening,
        }
    }

    /// Checks the coefficients; `name` is that of the contact.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self, name: &str) -> Result<(), ModelError> {
        match *self {
            Cohesion::None => Ok(()),
            Cohesion::Constant { force, reach } => {
                not_negative("cohesion", name, force)?;
                not_negative("reach of the cohesion", name, reach)
            }
            Cohesion::Zone { strength, opening } => {
                not_negative("strength of the cohesion", name, strength)?;
                if opening > 0.0 && opening.is_finite() {
                    return Ok(());
                }
                let what = format!("opening of the cohesion of \"{name}\"");
                Err(ModelError::OutOfRange { what, value: opening, expected: "a positive length [m] is needed" })
            }
        }
    }
}
