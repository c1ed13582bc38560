//! Circuits with ideal diodes and systems with relays, with published numbers.
//!
//! The diode bridge and the RLC circuit with a diode are examples of the Siconos platform (4.4.0): L = 10 mH, C = 1 µF, R = 1 kΩ, 10 V at the start; their reference numbers are those of its files.

use super::FirstOrderProblem;
use crate::error::ModelError;
use crate::first_order::source::LinearRelation;
use crate::first_order::{FirstOrderSource, MultiplierLaw};

/// Inductance \[H\].
pub const L: f64 = 1e-2;
/// Capacitance \[F\].
pub const C: f64 = 1e-6;
/// Resistance \[Ω\].
pub const R: f64 = 1e3;

/// (v, i) of the bridge at t = 4.999 ms with θ = 1/2, h = 1 µs.
pub const BRIDGE: [f64; 2] = [0.7863839107277327, -2.830718054146945e-3];

/// An LC oscillator that discharges over a bridge of four ideal diodes into a resistor; states v \[V\] and i \[A\], storage ½Cv² + ½Li².
///
/// # Errors
/// None for these parameters.
pub fn diode_bridge() -> Result<FirstOrderProblem, ModelError> {
    let relation = LinearRelation {
        multiplier: "d",
        rows: 4,
        b: &[0.0, 0.0, -1.0 / C, 1.0 / C, 0.0, 0.0, 0.0, 0.0],
        c: &[0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0],
        d: &[1.0 / R, 1.0 / R, -1.0, 0.0, 1.0 / R, 1.0 / R, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        law: MultiplierLaw::Complementarity,
    };
    let mut source = FirstOrderSource::linear(&["v", "i"], &[0.0, -1.0 / C, 1.0 / L, 0.0], relation);
    source.storage = vec![C, 0.0, 0.0, L];
    FirstOrderProblem::new(&source, &[10.0, 0.0], 5e-3)
}

/// v of the RLC circuit at t = 4.99 ms with θ = 0.500000001, h = 10 µs, as the platform computes it with this θ (its file, of another θ, differs by 1.3e-8).
pub const RLC_VOLTAGE: f64 = 2.64143897875;

/// A coil and a capacitor, and a resistor behind one ideal diode.
///
/// # Errors
/// None for these parameters.
pub fn rlc_diode() -> Result<FirstOrderProblem, ModelError> {
    let relation =
        LinearRelation { multiplier: "d", rows: 1, b: &[-1.0 / C, 0.0], c: &[-1.0, 0.0], d: &[R], law: MultiplierLaw::Complementarity };
    let mut source = FirstOrderSource::linear(&["v", "i"], &[0.0, -1.0 / C, 1.0 / L, 0.0], relation);
    source.storage = vec![C, 0.0, 0.0, L];
    FirstOrderProblem::new(&source, &[10.0, 0.0], 5e-3)
}

/// ẋ = −2 sgn(x) in two components from (1, −1): zero at t = 1/2, and from then on.
///
/// # Errors
/// None for these parameters.
pub fn relays() -> Result<FirstOrderProblem, ModelError> {
    let law = MultiplierLaw::Relay { lower: -1.0, upper: 1.0 };
    let relation = LinearRelation { multiplier: "s", rows: 2, b: &[2.0, 0.0, 0.0, 2.0], c: &[1.0, 0.0, 0.0, 1.0], d: &[0.0; 4], law };
    let source = FirstOrderSource::linear(&["x1", "x2"], &[0.0; 4], relation);
    let exact = |t: f64| vec![(1.0 - 2.0 * t).max(0.0), -(1.0 - 2.0 * t).max(0.0)];
    Ok(FirstOrderProblem::new(&source, &[1.0, -1.0], 1.0)?.with_exact(exact))
}

/// The third-order system of Brogliato2002 (46): 0 ≤ x₁ ⟂ λ ≥ 0 with λ on the third derivative of x₁, from (0, −1, 0).
///
/// # Errors
/// None.
pub fn third_order() -> Result<FirstOrderProblem, ModelError> {
    let a = [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let law = MultiplierLaw::Complementarity;
    let relation = LinearRelation { multiplier: "p", rows: 1, b: &[0.0, 0.0, 1.0], c: &[1.0, 0.0, 0.0], d: &[0.0], law };
    FirstOrderProblem::new(&FirstOrderSource::linear(&["x1", "x2", "x3"], &a, relation), &[0.0, -1.0, 0.0], 1.0)
}
