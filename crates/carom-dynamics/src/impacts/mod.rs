//! Impacts: what the velocities become when contacts close.
//!
//! The coefficients belong to the contacts ([`crate::ContactLaw`]); what they mean, and what several contacts that close at once do to each
//! other, is the model's [`ImpactLaw`]. With the mass matrix M(q) held, an impact takes v⁻ to v⁺ by impulses P at the closed contacts,
//!
//! ```text
//! M (v⁺ − v⁻) = Gᵀ P,      u⁺ = u⁻ + W P,      W = G M⁻¹ Gᵀ,
//! ```
//!
//! and the laws differ in what else they ask of (u⁻, u⁺, P). Newton's law and the inelastic one are part of the one-step problem of a scheme;
//! the others are resolved before the step ([`ImpactLaw::is_separate`]), whose contacts are then inelastic. All of them can be called on
//! their own: [`ImpactProblem`] and [`resolve`].
//!
//! Contacts that cannot influence each other (no chain of bodies, contacts and joints between them) are resolved apart, and those among which
//! none approaches are left alone. Joints and constraints are eliminated first, u_B⁺ = 0. An impact costs O(n³) at worst in the number of
//! contacts that can influence each other.
//!
//! To add a law: one file with its `Params` and a function of a cluster of contacts, a variant of [`ImpactLaw`] with its line in
//! [`ImpactLaw::LIST`]; the tables in `tests/impact_laws.rs` run it.

mod choice;
mod cluster;
mod energetic;
mod newton;
mod poisson;
mod problem;
mod sequential;
mod sweeps;

pub use choice::{ChoiceParams, PossibleOutcome};
pub use energetic::EnergeticParams;
pub use problem::{ImpactBlock, ImpactOutcome, ImpactProblem, Resolver, resolve};
pub use sequential::{SequenceOrder, SequentialParams};

use crate::error::ModelError;
use crate::laws::ContactLaw;
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
    /// Poisson's law: compression as an inelastic shock, then decompression in which at least e times the normal impulse of compression
    /// acts \[Pfeiffer & Glocker 1996; Anitescu1998, eqs. 27–28\].
    Poisson,
    /// One contact after the other by Newton's law until none approaches.
    Sequential(SequentialParams),
    /// Compliant contacts in the limit of infinite stiffness with energetic coefficients of restitution: Stronge's law for one contact, that
    /// of Liu, Zhao & Brogliato for several.
    Energetic(EnergeticParams),
    /// One of several laws, by chance with given probabilities, where several contacts are hit at once.
    Choice(ChoiceParams),
}

impl ImpactLaw {
    /// All impact laws by name with one line on what each is for.
    pub const LIST: &'static [(&'static str, &'static str)] = &[
        ("newton", "simultaneous, ratio of normal velocities; the default"),
        ("inelastic", "standard inelastic shock: coefficients of restitution are not used"),
        ("poisson", "simultaneous, ratio of normal impulses in compression and decompression; friction in both phases"),
        ("sequential", "one contact after the other by Newton's law, the fastest or the first one first: chains of hard balls"),
        (
            "energetic",
            "ratio of energies (Stronge; Liu, Zhao & Brogliato): waves in chains by stiffness and exponent, never creates energy",
        ),
        ("choice", "one of several laws by chance with given probabilities, seeded and recorded, where several contacts are hit at once"),
    ];

    /// Name in model files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let place = match self {
            ImpactLaw::Newton => 0,
            ImpactLaw::Inelastic => 1,
            ImpactLaw::Poisson => 2,
            ImpactLaw::Sequential(_) => 3,
            ImpactLaw::Energetic(_) => 4,
            ImpactLaw::Choice(_) => 5,
        };
        Self::LIST[place].0
    }

    /// Impacts are resolved before the step, by [`resolve`], not within the one-step problem.
    #[must_use]
    pub fn is_separate(&self) -> bool {
        !matches!(self, ImpactLaw::Newton | ImpactLaw::Inelastic)
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the setting.
    pub fn validate(&self) -> Result<(), ModelError> {
        match self {
            ImpactLaw::Newton | ImpactLaw::Inelastic | ImpactLaw::Poisson => Ok(()),
            ImpactLaw::Sequential(params) => params.validate(),
            ImpactLaw::Energetic(params) => params.validate(),
            ImpactLaw::Choice(params) => params.validate(),
        }
    }

    /// The law knows the coefficients of this contact: tangential restitution belongs to Newton's law alone.
    #[must_use]
    pub fn knows(&self, contact: &ContactLaw) -> bool {
        match self {
            ImpactLaw::Newton | ImpactLaw::Inelastic | ImpactLaw::Sequential(_) => true,
            ImpactLaw::Poisson | ImpactLaw::Energetic(_) => contact.tangential_restitution == 0.0,
            ImpactLaw::Choice(params) => params.outcomes.iter().all(|outcome| outcome.law.knows(contact)),
        }
    }
}
