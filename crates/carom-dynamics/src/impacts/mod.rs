//! Impacts: what the velocities become when contacts close.
//!
//! The coefficients belong to the contacts ([`crate::ContactLaw`]); what they mean, and what several contacts that close at once do to each
//! other, is the model's [`ImpactLaw`].

use serde::{Deserialize, Serialize};

/// The impact law of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum ImpactLaw {
    /// Newton's law at all contacts at once: u_N⁺ ≥ −e u_N⁻ with complementarity to the impulse. It is part of the one-step problem.
    #[default]
    Newton,
    /// Standard inelastic shock of Moreau: as Newton's with all coefficients zero, v⁺ the nearest admissible velocity to v⁻ in the kinetic
    /// metric \[Moreau1999, §8.3\].
    Inelastic,
}

impl ImpactLaw {
    /// All impact laws by name with one line on what each is for.
    pub const LIST: &'static [(&'static str, &'static str)] = &[
        ("newton", "simultaneous, ratio of normal velocities; the default"),
        ("inelastic", "standard inelastic shock: coefficients of restitution are not used"),
    ];

    /// Impacts are resolved before the step, by [`resolve`], not within the one-step problem.
    #[must_use]
    pub fn is_separate(&self) -> bool {
        match self {
            ImpactLaw::Newton | ImpactLaw::Inelastic => false,
        }
    }
}
