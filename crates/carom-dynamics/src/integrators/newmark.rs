//! Newmark's method for constrained motion: see `alpha_family.rs` for the step, here with a = A.
//!
//! Haddouni2015 eq. (2.50); stable for γ ≥ ½ and β ≥ (γ + ½)²/4, of second order for γ = ½ only (the text prints both without these
//! corrections).
//!
//! When to use it: (β, γ) = (¼, ½) keeps the energy of linear systems and damps nothing: undamped oscillations over long times. For stiff
//! constrained mechanisms take generalized-α. With γ = ½ the multipliers of index 3 oscillate from step to step without damping and do not
//! converge (on the slider-crank their error stays above 10 N at every h), and where the directions of the constraints turn fast, as on the
//! heavy top, the oscillation grows until Newton's iteration fails: no order is declared for them, and the form by default is index 2.
//! Order 2 (γ = ½), 1 otherwise.

use super::alpha_family::{AlphaCoefficients, AlphaMethod};
use super::registry::{IntegratorEntry, Orders};
use super::{Formulation, IntegratorParams};

/// The method.
pub(super) const NEWMARK: IntegratorEntry = IntegratorEntry {
    name: "newmark",
    summary: "Newmark: implicit, order 2 for γ = 1/2, no damping; keeps the energy of linear systems",
    formulations: &[Formulation::Index2, Formulation::Index3, Formulation::Index1],
    choices: &[],
    default_order: None,
    has_estimate: true,
    knows_friction: false,
    orders,
    build: |params| {
        let (beta, gamma) = (params.newmark_beta, params.newmark_gamma);
        Box::new(AlphaMethod::new("newmark", AlphaCoefficients { mass: 0.0, force: 0.0, beta, gamma }, params))
    },
};

fn orders(params: &IntegratorParams) -> Orders {
    let trapezoidal = params.newmark_gamma == 0.5;
    let order = if trapezoidal { 2.0 } else { 1.0 };
    let oscillates = trapezoidal && params.formulation() == Formulation::Index3;
    Orders { multiplier: (!oscillates).then_some(order), ..Orders::all(order) }
}
