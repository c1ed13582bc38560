//! Cohesion: contacts that pull.

use super::contact_law::not_negative;
use crate::error::ModelError;
use serde::{Deserialize, Serialize};

/// The pull that a closed contact withstands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Cohesion {
    /// None: a contact only pushes.
    #[default]
    None,
    /// A closed contact withstands a constant pull c: p_N + h c ≥ 0, with the friction bound μ (p_N + h c). It is lost once the contact opens.
    Constant {
        /// c [N], ≥ 0.
        force: f64,
    },
}

impl Cohesion {
    /// Checks the coefficients; `name` is that of the contact.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self, name: &str) -> Result<(), ModelError> {
        match *self {
            Cohesion::None => Ok(()),
            Cohesion::Constant { force } => not_negative("cohesion", name, force),
        }
    }
}
