//! The method of Hilber, Hughes & Taylor for constrained motion: see `alpha_family.rs` for the step.
//!
//! ```text
//! a_{n+1} = (1 + α) A_{n+1} − α A_n,     γ = ½ − α,     β = (1 − α)²/4            −1/3 ≤ α ≤ 0
//! ```
//!
//! Haddouni2015 eq. (2.51) with the range and the force at t_{n+1} + α h put right. α = 0 is Newmark's method (¼, ½); more negative values damp
//! high frequencies more.
//!
//! When to use it: where results are to be compared with structural codes; generalized-α damps slow motion less for the same damping of fast
//! motion. Order 2 in positions, velocities and multipliers for α < 0.

use super::alpha_family::{AlphaCoefficients, AlphaMethod};
use super::registry::{IntegratorEntry, Orders};
use super::{Formulation, IntegratorParams};

/// The method.
pub(super) const HHT: IntegratorEntry = IntegratorEntry {
    name: "hht",
    summary: "Hilber, Hughes & Taylor: implicit, order 2, damps high frequencies; generalized-alpha is the better choice",
    formulations: &[Formulation::Index3, Formulation::Index2],
    choices: &[],
    default_order: None,
    has_estimate: true,
    knows_friction: false,
    orders: |params| Orders {
        multiplier: (params.hht_alpha < 0.0 || params.formulation() != Formulation::Index3).then_some(2.0),
        ..Orders::all(2.0)
    },
    build: |params| Box::new(AlphaMethod::new("hht", coefficients(params), params)),
};

fn coefficients(params: &IntegratorParams) -> AlphaCoefficients {
    let alpha = params.hht_alpha;
    AlphaCoefficients { mass: 0.0, force: -alpha, beta: 0.25 * (1.0 - alpha) * (1.0 - alpha), gamma: 0.5 - alpha }
}
