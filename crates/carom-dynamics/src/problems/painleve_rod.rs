//! Painlevé's rod: a uniform rod of half-length l whose tip slides on a rough floor, the tip ahead.
//!
//! Coordinates: centre (x, y) and the angle a of the rod to the floor; the tip is at (x + l cos a, y − l sin a). With I = m l²/3, tip sliding to the
//! right, normal force λ and friction −μλ:
//!
//! ```text
//! g̈ = b + p λ,     p = [1 + 3 cos a (cos a − μ sin a)]/m,     b = l ȧ² sin a − g
//! ```
//!
//! p < 0 in an interval of angles where μ > 4/3. There, with b < 0, no sliding motion exists: the slip v ends at once by the impulse
//! p_N = W_NT v/(W_NN W_TT − W_NT²) = ¾ m v sin a cos a, an impact without collision. p = b = 0 are the singular points.
//! [Génot & Brogliato, Eur. J. Mech. A 18, 1999; Brogliato2002, §3.3]

use super::bouncing_ball::GRAVITY;
use crate::error::ModelError;
use crate::laws::{ContactLaw, Law};
use crate::model::Model;
use crate::relations::FormulaSource;
use crate::state::State;
use crate::systems::Linear;

/// Friction coefficient above the critical 4/3.
pub const FRICTION: f64 = 1.4;
/// Angles between which p < 0 for μ = 1.4 \[rad\]: tan a = (3μ ∓ √(9μ² − 16))/2.
pub const PARADOX: [f64; 2] = [0.970_155_415_988_279_2, 1.220_890_396_789_439];
/// Rate at the first singular point for μ = 1.4, √(g/(l sin a)) \[rad/s\].
pub const SINGULAR_RATE: f64 = 3.448_375_007_057_918;

/// The rod, m = 1 kg and l = 1 m, inelastic contact with the floor.
///
/// # Errors
/// Of a friction coefficient out of range.
pub fn model(friction: f64) -> Result<Model, ModelError> {
    let names = ["x", "y", "a"].map(String::from).to_vec();
    let mass = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 / 3.0];
    let system = Linear::new(names, mass, vec![0.0; 9], vec![0.0; 9])?.with_force(vec![0.0, -GRAVITY, 0.0])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    let rows = vec![("gap of \"tip\"".to_owned(), "y - sin(a)".to_owned()), ("tangent of \"tip\"".to_owned(), "x + cos(a)".to_owned())];
    model.add_formula("tip", &FormulaSource { rows, parameters: Vec::new() }, Law::Contact(ContactLaw::coulomb(friction, 0.0)))?;
    Ok(model)
}

/// The rod with its tip on the floor, sliding at `slip` [m/s], its angle growing at `rate` [rad/s].
#[must_use]
pub fn sliding(angle: f64, rate: f64, slip: f64) -> State {
    let (sin, cos) = angle.sin_cos();
    State { t: 0.0, q: vec![0.0, sin, angle], v: vec![slip + rate * sin, rate * cos, rate], ..State::default() }
}

/// (p, b) of g̈ = b + p λ while the tip slides to the right.
#[must_use]
pub fn coefficients(friction: f64, angle: f64, rate: f64) -> (f64, f64) {
    let (sin, cos) = angle.sin_cos();
    (1.0 + 3.0 * cos * (cos - friction * sin), rate * rate * sin - GRAVITY)
}

/// Normal impulse that ends the slip where no sliding motion exists [N·s].
#[must_use]
pub fn stopping_impulse(angle: f64, slip: f64) -> f64 {
    0.75 * slip * angle.sin() * angle.cos()
}
