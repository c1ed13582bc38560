//! Filippov systems: vector fields on the two sides of a surface.
//!
//! ```text
//! ẋ = f⁺(t, x) where s(t, x) > 0,     ẋ = f⁻(t, x) where s(t, x) < 0
//! ```
//!
//! On the surface the motion is Filippov's: some convex combination of f⁺ and f⁻. With λ ∈ [−1, 1] and a relay on y = s it is ẋ = ½(1 − λ) f⁺ + ½(1 + λ) f⁻, λ = −1 above the surface, 1 below
//! it, between them on it: crossing, attractive sliding and repulsive sliding are the pieces of one law, and implicit time-stepping needs to know none of them.

use super::law::MultiplierLaw;
use super::source::{FirstOrderSource, RelationSource};
use crate::error::ModelError;

/// A switching surface with its two fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchSource {
    /// Name; its multiplier is called so.
    pub name: String,
    /// s(t, x).
    pub surface: String,
    /// f⁺: states and formulas; those that are not named are zero.
    pub above: Vec<(String, String)>,
    /// f⁻.
    pub below: Vec<(String, String)>,
}

impl FirstOrderSource {
    /// Adds the fields of a switch to the rates, and its law.
    ///
    /// # Errors
    /// [`ModelError::BadName`] for a state that does not exist.
    pub fn add_switch(&mut self, switch: &SwitchSource) -> Result<(), ModelError> {
        for (side, sign) in [(&switch.above, "-"), (&switch.below, "+")] {
            for (state, field) in side {
                let Some(i) = self.states.iter().position(|s| &s.name == state) else {
                    return Err(ModelError::BadName { what: "state of the system", name: state.clone() });
                };
                self.rates[i] = format!("({}) + 0.5*(1 {sign} {})*({field})", self.rates[i], switch.name);
            }
        }
        self.relations.push(RelationSource {
            name: switch.name.clone(),
            multipliers: vec![switch.name.clone()],
            outputs: vec![switch.surface.clone()],
            law: MultiplierLaw::Relay { lower: -1.0, upper: 1.0 },
            compliance: 0.0,
        });
        Ok(())
    }
}
