//! The laws that bind outputs y and multipliers λ.

use crate::error::ModelError;
use carom_solvers::vi::Set;

/// −y ∈ N_K(λ) for a simple convex set K.
#[derive(Clone, Debug, PartialEq)]
pub enum MultiplierLaw {
    /// K = ℝⁿ: y = 0.
    Equality,
    /// K = ℝⁿ₊: 0 ≤ y ⟂ λ ≥ 0 in every row.
    Complementarity,
    /// K = \[lower, upper\] in every row: y > 0 ⇒ λ = lower, y < 0 ⇒ λ = upper, between them y = 0. For (−1, 1) it is λ ∈ −Sgn(y).
    Relay {
        /// Lower bound.
        lower: f64,
        /// Upper bound, not below the lower one.
        upper: f64,
    },
    /// K = {λ : G λ ≤ g}.
    Polytope {
        /// G, one row per facet.
        facets: Vec<Vec<f64>>,
        /// g.
        bounds: Vec<f64>,
    },
    /// K = {λ : |λ| ≤ radius}: isotropic dry friction of known bound, a relay in several dimensions.
    Ball {
        /// Radius ≥ 0.
        radius: f64,
    },
    /// K = {λ = (λ₁, λ₂…) : |λ₂…| ≤ slope λ₁}: the second-order cone for slope 1.
    Cone {
        /// Slope > 0.
        slope: f64,
    },
}

impl MultiplierLaw {
    /// The laws by name, with one line on each, as `carom list laws` shows them.
    pub const LIST: &'static [(&'static str, &'static str)] = &[
        ("equality", "y = 0, λ free: algebraic equations of a first-order system"),
        ("complementarity", "0 ≤ y ⟂ λ ≥ 0: ideal diodes, the faces of a moving set"),
        (
            "relay",
            "λ between bounds, at the lower one while y > 0, at the upper one while y < 0, between them on y = 0: switches, sliding modes",
        ),
        ("polytope", "−y ∈ N_K(λ), K = {λ : G λ ≤ g}"),
        ("ball", "−y ∈ N_K(λ), K = {λ : |λ| ≤ radius}: isotropic friction of known bound"),
        ("cone", "−y ∈ N_K(λ), K = {λ : |λ₂…| ≤ slope λ₁}: second-order cone"),
    ];

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            MultiplierLaw::Equality => "equality",
            MultiplierLaw::Complementarity => "complementarity",
            MultiplierLaw::Relay { .. } => "relay",
            MultiplierLaw::Polytope { .. } => "polytope",
            MultiplierLaw::Ball { .. } => "ball",
            MultiplierLaw::Cone { .. } => "cone",
        }
    }

    /// λ is bounded: it cannot be an impulse, and no state jumps.
    #[must_use]
    pub(crate) fn is_bounded(&self) -> bool {
        matches!(self, MultiplierLaw::Relay { .. } | MultiplierLaw::Ball { .. })
    }

    /// The factors of K for `n` rows, those of the facets' multipliers included.
    pub(crate) fn sets(&self, n: usize) -> Vec<Set> {
        match self {
            MultiplierLaw::Equality => vec![Set::Free { dim: n }],
            MultiplierLaw::Complementarity => vec![Set::NonNegative { dim: n }],
            MultiplierLaw::Relay { lower, upper } => vec![Set::Interval { lower: *lower, upper: *upper }; n],
            MultiplierLaw::Polytope { facets, .. } => vec![Set::Free { dim: n }, Set::NonNegative { dim: facets.len() }],
            MultiplierLaw::Ball { radius } => vec![Set::Ball { radius: *radius, dim: n }],
            MultiplierLaw::Cone { slope } => vec![Set::SecondOrderCone { mu: *slope, dim: n }],
        }
    }

    /// Checks the numbers of the law of a relation with `n` rows.
    ///
    /// # Errors
    /// [`ModelError`] naming the relation.
    pub(crate) fn validate(&self, relation: &str, n: usize) -> Result<(), ModelError> {
        let out_of_range = |what: &str, value: f64, expected: &'static str| {
            Err(ModelError::OutOfRange { what: format!("{what} of \"{relation}\""), value, expected })
        };
        match self {
            MultiplierLaw::Equality | MultiplierLaw::Complementarity => Ok(()),
            MultiplierLaw::Relay { lower, upper } if !(lower.is_finite() && upper.is_finite() && lower <= upper) => {
                out_of_range("the lower bound", *lower, "two finite bounds are needed, the lower one not above the upper one")
            }
            MultiplierLaw::Ball { radius } if !(*radius >= 0.0 && radius.is_finite()) => {
                out_of_range("the radius", *radius, "a finite number ≥ 0 is needed")
            }
            MultiplierLaw::Cone { slope } if !(*slope > 0.0 && slope.is_finite()) => {
                out_of_range("the slope", *slope, "a finite number > 0 is needed")
            }
            MultiplierLaw::Polytope { facets, bounds } => {
                let what = |what: &str| format!("{what} of \"{relation}\"");
                if facets.is_empty() || bounds.len() != facets.len() {
                    let (expected, found) = (facets.len().max(1), bounds.len());
                    return Err(ModelError::WrongLength { what: what("the list of bounds"), expected, found });
                }
                match facets.iter().find(|facet| facet.len() != n) {
                    Some(facet) => Err(ModelError::WrongLength { what: what("a facet"), expected: n, found: facet.len() }),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
