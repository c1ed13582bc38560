//! The generalized-α method of Chung & Hulbert for constrained motion: see `alpha_family.rs` for the step.
//!
//! ```text
//! α_m = (2ρ − 1)/(ρ + 1),   α_f = ρ/(ρ + 1),   γ = ½ − α_m + α_f,   β = ¼ (γ + ½)²            ρ = ρ∞ from 0 to 1
//! ```
//!
//! Haddouni2015 eq. (2.54). ρ is the factor per step of infinitely fast modes: 0 removes them at once, 1 keeps them.
//!
//! When to use it: stiff mechanisms (flexible parts, stiff springs) at moderate accuracy, where the step should follow the slow motion; long runs that
//! must not drift. Index 3 keeps positions at round-off and is the cheapest; index 2 keeps velocities and has the better multipliers at
//! small steps; GGL keeps both. Order 2 in positions, velocities and multipliers for ρ < 1 (at ρ = 1 the multipliers of index 3 oscillate
//! without damping and need not converge).

use super::Formulation;
use super::alpha_family::{AlphaCoefficients, AlphaMethod};
use super::registry::{IntegratorEntry, Orders};

/// The method.
pub(super) const GENERALIZED_ALPHA: IntegratorEntry = IntegratorEntry {
    name: "generalized-alpha",
    summary: "implicit, order 2, damps high frequencies as asked: stiff and flexible mechanisms",
    formulations: &[Formulation::Index3, Formulation::Index2, Formulation::Ggl],
    choices: &[],
    default_order: None,
    has_estimate: true,
    knows_friction: false,
    orders: |params| Orders {
        multiplier: (params.spectral_radius < 1.0 || params.formulation() != Formulation::Index3).then_some(2.0),
        ..Orders::all(2.0)
    },
    build: |params| Box::new(AlphaMethod::new("generalized-alpha", AlphaCoefficients::of_radius(params.spectral_radius), params)),
};
