//! A Filippov system that meets its surface, slides along it and leaves it, each at a known time.
//!
//! ```text
//! x₂ > 0:  ẋ = (1, −1),       x₂ < 0:  ẋ = (3, 2 − t),       from (0, 1/2)
//! ```
//!
//! The surface x₂ = 0 is met at t = 1/2. There ½(1 − λ)(−1) + ½(1 + λ)(2 − t) = 0 gives λ = (t − 1)/(3 − t), −1 ≤ λ ≤ 1 up to t = 2, and ẋ₁ = ½(1 − λ) + (3/2)(1 + λ) = 2 + λ. From t = 2 the motion
//! below points away: x₂ = −(t − 2)²/2, ẋ₁ = 3.

use super::FirstOrderProblem;
use crate::error::ModelError;
use crate::first_order::{FirstOrderSource, SwitchSource};
use crate::systems::Coordinate;

/// Times at which the surface is met and left \[s\].
pub const TIMES: [f64; 2] = [0.5, 2.0];

/// The system.
///
/// # Errors
/// None.
pub fn sliding() -> Result<FirstOrderProblem, ModelError> {
    let source = switched([["1", "-1"], ["3", "2 - t"]])?;
    Ok(FirstOrderProblem::new(&source, &[0.0, 0.5], 3.0)?.with_exact(exact))
}

/// A surface x₂ = 0 with these fields above and below it.
///
/// # Errors
/// Formulas that cannot be read.
pub fn switched([above, below]: [[&str; 2]; 2]) -> Result<FirstOrderSource, ModelError> {
    let names = ["x1", "x2"];
    let field = |texts: [&str; 2]| names.iter().zip(texts).map(|(name, text)| ((*name).to_owned(), text.to_owned())).collect();
    let mut source = FirstOrderSource {
        states: names.map(|name| Coordinate::new(name, "")).to_vec(),
        rates: vec!["0".to_owned(); 2],
        ..FirstOrderSource::default()
    };
    source.add_switch(&SwitchSource { name: "side".into(), surface: "x2".into(), above: field(above), below: field(below) })?;
    Ok(source)
}

fn exact(t: f64) -> Vec<f64> {
    let [met, left] = TIMES;
    if t <= met {
        return vec![t, 0.5 - t];
    }
    // ∫ (2 + (s − 1)/(3 − s)) ds = s − 2 ln(3 − s)
    let along = |t: f64| t - 2.0 * (3.0 - t).ln();
    if t <= left {
        return vec![met + along(t) - along(met), 0.0];
    }
    vec![met + along(left) - along(met) + 3.0 * (t - left), -0.5 * (t - left) * (t - left)]
}
