//! Sliding modes and twisting.
//!
//! ```text
//! sliding mode   u ∈ u_eq − k Sgn(s)                        s = 0 in finite time where k exceeds what disturbs ṡ
//! twisting       u ∈ −k₁ Sgn(σ) − k₂ Sgn(σ̇),  k₁ > k₂ > 0     σ = σ̇ = 0 in finite time
//! ```
//!
//! *Explicit*: the sign at the sample, held; after reaching the surface the motion jumps over it at every sample, an amplitude of the order of the period. *Implicit*: Sgn is the set-valued sign
//! at the end of the step, an unknown of the one-step problem: on the surface u is what keeps it there, s = 0 to round-off, whatever the step
//! [Acary, Brogliato, *Implicit Euler numerical scheme and chattering-free implementation of sliding mode systems*, Systems & Control Letters 59, 2010].

use crate::control::{Clock, ControllerSource, SetValuedSource};

/// A sliding mode; output `u`.
#[derive(Clone, Debug, PartialEq)]
pub struct SlidingSource {
    /// Name.
    pub name: String,
    /// s.
    pub surface: String,
    /// k, positive.
    pub gain: f64,
    /// u_eq; empty for none.
    pub equivalent: String,
}

impl SlidingSource {
    /// Sampled.
    #[must_use]
    pub fn explicit(&self, clock: Clock) -> ControllerSource {
        let equivalent = if self.equivalent.is_empty() { "0" } else { &self.equivalent };
        let output = format!("({equivalent}) - {:e}*sign(s)", self.gain);
        by_formula(&self.name, clock, vec![("s".into(), self.surface.clone())], output)
    }

    /// Solved with the step.
    #[must_use]
    pub fn implicit(&self) -> SetValuedSource {
        SetValuedSource { name: self.name.clone(), surfaces: vec![(self.surface.clone(), self.gain)], equivalent: self.equivalent.clone() }
    }
}

/// Twisting; output `u`.
#[derive(Clone, Debug, PartialEq)]
pub struct TwistingSource {
    /// Name.
    pub name: String,
    /// σ.
    pub surface: String,
    /// σ̇, as a formula.
    pub rate: String,
    /// k₁ and k₂.
    pub gains: [f64; 2],
}

impl TwistingSource {
    /// Sampled.
    #[must_use]
    pub fn explicit(&self, clock: Clock) -> ControllerSource {
        let [k1, k2] = self.gains;
        let locals = vec![("s".into(), self.surface.clone()), ("rate".into(), self.rate.clone())];
        by_formula(&self.name, clock, locals, format!("-{k1:e}*sign(s) - {k2:e}*sign(rate)"))
    }

    /// Solved with the step.
    #[must_use]
    pub fn implicit(&self) -> SetValuedSource {
        let surfaces = vec![(self.surface.clone(), self.gains[0]), (self.rate.clone(), self.gains[1])];
        SetValuedSource { name: self.name.clone(), surfaces, equivalent: String::new() }
    }
}

fn by_formula(name: &str, clock: Clock, locals: Vec<(String, String)>, output: String) -> ControllerSource {
    let outputs = vec![("u".into(), output)];
    ControllerSource { name: name.into(), clock: Some(clock), locals, outputs, ..ControllerSource::default() }
}
