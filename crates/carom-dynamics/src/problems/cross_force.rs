//! A point of 1 kg that slides on a plane with friction while a constant force f pulls across: the direction of slip turns.
//!
//! With c = μ g the slip velocity u obeys u̇ = f − c u/|u|. In polar form, θ from f to u and s = tan(θ/2), n = c/f:
//!
//! ```text
//! |u| = K sⁿ/sin θ = K sⁿ⁻¹(1 + s²)/2
//! t   = K/(2f) [sⁿ⁻¹/(n−1) + sⁿ⁺¹/(n+1)]            (from s₀ down to s)
//! x   = K²/(4f) [s²ⁿ⁻²/(2n−2) − s²ⁿ⁺²/(2n+2)]        along f
//! y   = K²/(2f) [s²ⁿ⁻¹/(2n−1) + s²ⁿ⁺¹/(2n+1)]        across
//! ```
//!
//! from dr/dθ = r (c − f cos θ)/(f sin θ). Where c > f the point stops at T = (c|u₀| + f·u₀)/(c² − f²), since c|u| + f·u falls at the constant rate
//! c² − f², in the direction of f, and sticks. Near the stop θ ∝ (T − t)^{1/(n−1)}: smooth where 1/(n − 1) is a whole number (n = 1.5 or 2). Where
//! c < f it slides for ever.

use super::bouncing_ball::GRAVITY;
use super::{Problem, Solution, add_contact, bisect};
use crate::error::ModelError;
use crate::laws::ContactLaw;
use crate::model::Model;
use crate::state::State;
use crate::systems::Linear;

/// Friction coefficient.
pub const FRICTION: f64 = 0.3;
/// Slip velocity at the start \[m/s\]: along the force, across it.
pub const START: [f64; 2] = [-1.0, 2.0];

/// The problem with n = c/f, which is positive and neither 1/2 nor 1, up to 1.5 s.
///
/// # Errors
/// Of a ratio that makes no finite force.
pub fn problem(ratio: f64) -> Result<Problem, ModelError> {
    let force = FRICTION * GRAVITY / ratio;
    let names = ["x", "y", "z"].map(String::from).to_vec();
    let mass = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let system = Linear::new(names, mass, vec![0.0; 9], vec![0.0; 9])?.with_force(vec![force, 0.0, -GRAVITY])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    add_contact(&mut model, "plane", &["z", "x", "y"], &[], ContactLaw::coulomb(FRICTION, 0.0))?;
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![START[0], START[1], 0.0], ..State::default() };
    Ok(Problem { model, state, end: 1.5, solution: Solution::Exact(Box::new(move |t| exact(ratio, t))) })
}

/// Time at which the point stops \[s\]; infinite where c ≤ f.
#[must_use]
pub fn stop(ratio: f64) -> f64 {
    let c = FRICTION * GRAVITY;
    let f = c / ratio;
    if f >= c { f64::INFINITY } else { (c * START[0].hypot(START[1]) + f * START[0]) / (c * c - f * f) }
}

fn exact(n: f64, t: f64) -> (Vec<f64>, Vec<f64>) {
    let f = FRICTION * GRAVITY / n;
    let theta = START[1].atan2(START[0]);
    let s0 = (0.5 * theta).tan();
    let k = START[0].hypot(START[1]) * theta.sin() / s0.powf(n);
    let time = |s: f64| k / (2.0 * f) * (s.powf(n - 1.0) / (n - 1.0) + s.powf(n + 1.0) / (n + 1.0));
    let way = |s: f64| {
        let (a, b) = (2.0 * n - 1.0, 2.0 * n + 1.0);
        let x = k * k / (4.0 * f) * (s.powf(a - 1.0) / (a - 1.0) - s.powf(b + 1.0) / (b + 1.0));
        [x, k * k / (2.0 * f) * (s.powf(a) / a + s.powf(b) / b)]
    };
    // t grows as s falls; at the end of a slip that stops, s = 0
    let s = if t >= stop(n) { 0.0 } else { bisect(-700.0, s0.ln(), |log| time(s0) - time(log.exp()) - t).exp() };
    let (from, to) = (way(s0), way(s));
    let speed = 0.5 * k * s.powf(n - 1.0);
    (vec![from[0] - to[0], from[1] - to[1], 0.0], vec![speed * (1.0 - s * s), speed * 2.0 * s, 0.0])
}
