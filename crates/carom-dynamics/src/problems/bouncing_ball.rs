//! A ball (a point of mass 1 kg) dropped from height 1 m on a floor at q = 0, restitution e.
//!
//! Exact: impacts at t_k = t_1 (1 + 2 Σ_{j=1}^{k−1} e^j), t_1 = √(2 q₀/g), with v⁺ = e^k √(2 g q₀); they accumulate at
//! t_1 (1 + e)/(1 − e), after which the ball rests.

use super::{Problem, Solution, add_stop};
use crate::error::ModelError;
use crate::model::Model;
use crate::state::State;
use crate::systems::Linear;

/// Acceleration of gravity used throughout the problems [m/s²].
pub const GRAVITY: f64 = 9.81;

/// The problem for a restitution coefficient in [0, 1).
///
/// # Errors
/// A restitution coefficient out of range.
pub fn problem(restitution: f64) -> Result<Problem, ModelError> {
    let system = Linear::new(vec!["y".into()], vec![1.0], vec![0.0], vec![0.0])?.with_force(vec![-GRAVITY])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    add_stop(&mut model, "floor", "y", restitution)?;
    let state = State { t: 0.0, q: vec![1.0], v: vec![0.0], ..State::default() };
    Ok(Problem { model, state, end: 4.0, solution: Solution::Exact(Box::new(move |t| exact(restitution, t))) })
}

/// (q, v) at time t.
fn exact(e: f64, t: f64) -> (Vec<f64>, Vec<f64>) {
    let first = (2.0 / GRAVITY).sqrt();
    if t < first {
        return (vec![1.0 - 0.5 * GRAVITY * t * t], vec![-GRAVITY * t]);
    }
    let zeno = if e < 1.0 { first * (1.0 + e) / (1.0 - e) } else { f64::INFINITY };
    if t >= zeno {
        return (vec![0.0], vec![0.0]);
    }
    let (mut impact, mut speed) = (first, e * GRAVITY * first);
    while impact + 2.0 * speed / GRAVITY <= t {
        impact += 2.0 * speed / GRAVITY;
        speed *= e;
    }
    let s = t - impact;
    (vec![speed * s - 0.5 * GRAVITY * s * s], vec![speed - GRAVITY * s])
}
