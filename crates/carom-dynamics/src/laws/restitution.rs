//! Coefficients of restitution: constant, or of the approach speed.

use super::contact_law::{fraction_of_one, not_negative};
use crate::error::ModelError;
use serde::{Deserialize, Serialize};

/// The normal coefficient of restitution e ∈ [0, 1] of a contact, no unit. Whether e is a ratio of velocities, impulses or energies is the
/// model's impact law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Restitution {
    /// e.
    Constant {
        /// e ∈ [0, 1].
        coefficient: f64,
    },
    /// e for approach speeds above `velocity`, 0 below: ends the tails of small impacts.
    Threshold {
        /// e ∈ [0, 1].
        coefficient: f64,
        /// Smallest speed of approach that rebounds [m/s], ≥ 0.
        velocity: f64,
    },
    /// e₀ min(1, (s/v₀)^(−n)) of the approach speed s; n = 1/4 for plastic indentation [Johnson, *Contact mechanics*, 1985, §11.5].
    PowerLaw {
        /// e₀ ∈ [0, 1].
        coefficient: f64,
        /// Speed up to which e = e₀ [m/s], positive.
        velocity: f64,
        /// n ≥ 0.
        exponent: f64,
    },
    /// max(0, 1 − a s^(1/5)) of the approach speed s: viscoelastic spheres, leading order
    /// [Ramírez, Pöschel, Brilliantov & Schwager, Phys. Rev. E 60, 1999].
    Viscoelastic {
        /// a [(s/m)^(1/5)], ≥ 0.
        coefficient: f64,
    },
}

impl Default for Restitution {
    fn default() -> Self {
        Restitution::Constant { coefficient: 0.0 }
    }
}

impl Restitution {
    /// e at the normal velocity `u` before the impact [m/s], negative when approaching.
    #[must_use]
    pub fn at(&self, u: f64) -> f64 {
        let speed = (-u).max(0.0);
        match *self {
            Restitution::Constant { coefficient } => coefficient,
            Restitution::Threshold { coefficient, velocity } => {
                if speed >= velocity {
                    coefficient
                } else {
                    0.0
                }
            }
            Restitution::PowerLaw { coefficient, velocity, exponent } => coefficient * (speed / velocity).max(1.0).powf(-exponent),
            Restitution::Viscoelastic { coefficient } => (1.0 - coefficient * speed.powf(0.2)).max(0.0),
        }
    }

    /// Checks the coefficients; `name` is that of the contact.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self, name: &str) -> Result<(), ModelError> {
        match *self {
            Restitution::Constant { coefficient } => fraction_of_one("restitution", name, coefficient),
            Restitution::Threshold { coefficient, velocity } => {
                fraction_of_one("restitution", name, coefficient)?;
                not_negative("restitution velocity", name, velocity)
            }
            Restitution::PowerLaw { coefficient, velocity, exponent } => {
                fraction_of_one("restitution", name, coefficient)?;
                not_negative("restitution exponent", name, exponent)?;
                if velocity > 0.0 && velocity.is_finite() {
                    return Ok(());
                }
                let what = format!("restitution velocity of \"{name}\"");
                Err(ModelError::OutOfRange { what, value: velocity, expected: "a positive number [m/s] is needed" })
            }
            Restitution::Viscoelastic { coefficient } => not_negative("restitution", name, coefficient),
        }
    }
}
