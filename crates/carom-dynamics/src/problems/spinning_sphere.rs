//! A ball that slides obliquely with spin on a floor until friction makes it roll, by formulas.
//!
//! A homogeneous sphere (1 kg, radius r) has ω̇ = J⁻¹ × moment with J = 2 m r²/5, so that the rates ω_x, ω_y can stand for coordinates a, b; the contact
//! point moves at (ẋ − r ω_y, ẏ + r ω_x). Its direction is constant, its speed |u| falls at 7μg/2:
//!
//! ```text
//! rolls from  t* = 2|u|/(7 μ g),   with v = v₀ − 2u/7
//! ```
//!
//! With v = (3, 0) m/s, ω = (20, −10) rad/s, r = 0.1 m, μ = 0.3: u = (4, 2) m/s, t* = 0.434167 s, v = (13/7, −4/7) m/s.

use super::bouncing_ball::GRAVITY;
use super::{Problem, Solution, add_contact};
use crate::error::ModelError;
use crate::laws::ContactLaw;
use crate::model::Model;
use crate::state::State;
use crate::systems::Linear;

/// Radius \[m\].
pub const RADIUS: f64 = 0.1;
/// Friction coefficient.
pub const FRICTION: f64 = 0.3;
/// Velocity of the centre and spin at the start: ẋ, ẏ, ż \[m/s\], ω_x, ω_y \[rad/s\].
pub const START: [f64; 5] = [3.0, 0.0, 0.0, 20.0, -10.0];

/// The problem up to 1 s. Coordinates: x, y of the centre, gap z, integrals a, b of ω_x and ω_y.
///
/// # Errors
/// None for these parameters.
pub fn problem() -> Result<Problem, ModelError> {
    let inertia = 0.4 * RADIUS * RADIUS;
    let mut mass = vec![0.0; 25];
    [1.0, 1.0, 1.0, inertia, inertia].iter().enumerate().for_each(|(i, m)| mass[6 * i] = *m);
    let names = ["x", "y", "z", "a", "b"].map(String::from).to_vec();
    let system = Linear::new(names, mass, vec![0.0; 25], vec![0.0; 25])?.with_force(vec![0.0, 0.0, -GRAVITY, 0.0, 0.0])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    add_contact(&mut model, "floor", &["z", "x - r*b", "y + r*a"], &[("r", RADIUS)], ContactLaw::coulomb(FRICTION, 0.0))?;
    let state = State { t: 0.0, q: vec![0.0; 5], v: START.to_vec(), ..State::default() };
    Ok(Problem { model, state, end: 1.0, solution: Solution::Exact(Box::new(exact)) })
}

/// Time t* at which the ball begins to roll \[s\].
#[must_use]
pub fn rolls() -> f64 {
    let [ux, uy] = slip();
    2.0 * ux.hypot(uy) / (7.0 * FRICTION * GRAVITY)
}

/// Slip velocity at the start \[m/s\].
fn slip() -> [f64; 2] {
    [START[0] - RADIUS * START[4], START[1] + RADIUS * START[3]]
}

/// (q, v) at time t.
fn exact(t: f64) -> (Vec<f64>, Vec<f64>) {
    let ([ux, uy], tau) = (slip(), t.min(rolls()));
    let speed = ux.hypot(uy);
    let (dx, dy) = (-FRICTION * GRAVITY * ux / speed, -FRICTION * GRAVITY * uy / speed);
    // the force (dx, dy) at the contact point turns the ball by ω̇ = (dy, −dx)·r/J
    let spin = 1.0 / (0.4 * RADIUS);
    let rates = [dx, dy, 0.0, spin * dy, -spin * dx];
    let v: Vec<f64> = (0..5).map(|i| START[i] + rates[i] * tau).collect();
    let q = (0..5).map(|i| START[i] * tau + 0.5 * rates[i] * tau * tau + v[i] * (t - tau)).collect();
    (q, v)
}
