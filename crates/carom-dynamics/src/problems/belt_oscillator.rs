//! A mass on a moving belt, held by a spring, with a constant coefficient of friction: both directions of slip, sticking, slip again.
//!
//! Coordinates: extension x of the spring and height y above the belt; the belt moves at V. With x₀ = μ m g/k and ω² = k/m the mass swings about +x₀
//! while it is slower than the belt and about −x₀ while it is faster. In the plane (x, ẋ/ω) these are circles; a phase ends where the circle
//! meets the line ẋ = V again, a distance d on the other side of its centre:
//!
//! ```text
//! slower:  from rest at X            (π + asin(V/(ωR)))/ω,   R = X − x₀
//!          from x₀ + d               (2π − 2 atan(dω/V))/ω
//! faster:  from −x₀ − d              2 atan(dω/V)/ω
//! sticks where |x| ≤ x₀, until x = x₀
//! ```
//!
//! Released at X = 0.7 m the mass goes over from slower to faster and back, sticks, and slides again. That last circle has the radius V/ω: it
//! touches the line ẋ = V after a full turn, 2π/ω later, where the problem ends being well posed; it is used up to 1 s after the last transition.

use super::bouncing_ball::GRAVITY;
use super::{Problem, Solution, add_contact};
use crate::error::ModelError;
use crate::laws::ContactLaw;
use crate::model::Model;
use crate::report::EventKind;
use crate::state::State;
use crate::systems::Linear;
use std::f64::consts::PI;

/// Mass \[kg\].
pub const MASS: f64 = 1.0;
/// Stiffness \[N/m\].
pub const STIFFNESS: f64 = 25.0;
/// Friction coefficient.
pub const FRICTION: f64 = 0.3;
/// Velocity of the belt \[m/s\].
pub const BELT: f64 = 0.2;
/// Extension at the start \[m\].
pub const START: f64 = 0.7;

/// Frequency ω = √(k/m) \[rad/s\].
const OMEGA: f64 = 5.0;
/// x₀ = μ m g/k \[m\].
const CENTRE: f64 = FRICTION * MASS * GRAVITY / STIFFNESS;

/// The problem up to 1 s after the last transition.
///
/// # Errors
/// None for these parameters.
pub fn problem() -> Result<Problem, ModelError> {
    let (mass, stiffness) = (vec![MASS, 0.0, 0.0, MASS], vec![STIFFNESS, 0.0, 0.0, 0.0]);
    let system = Linear::new(vec!["x".into(), "y".into()], mass, vec![0.0; 4], stiffness)?.with_force(vec![0.0, -MASS * GRAVITY])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    add_contact(&mut model, "belt", &["y", "x - belt*t"], &[("belt", BELT)], ContactLaw::coulomb(FRICTION, 0.0))?;
    let state = State { t: 0.0, q: vec![START, 0.0], v: vec![0.0; 2], ..State::default() };
    Ok(Problem { model, state, end: transitions()[3].0 + 1.0, solution: Solution::Exact(Box::new(exact)) })
}

/// Times of the transitions \[s\] and what they are.
#[must_use]
pub fn transitions() -> [(f64, EventKind); 4] {
    let h = BELT / OMEGA;
    let radius = START - CENTRE;
    let first = (PI + (h / radius).asin()) / OMEGA;
    let d = (radius * radius - h * h).sqrt() - 2.0 * CENTRE;
    let second = first + 2.0 * (d / h).atan() / OMEGA;
    let d = d - 2.0 * CENTRE;
    let third = second + (2.0 * PI - 2.0 * (d / h).atan()) / OMEGA;
    let fourth = third + d / BELT;
    [(first, EventKind::SlipReversed), (second, EventKind::SlipReversed), (third, EventKind::SlipToStick), (fourth, EventKind::StickToSlip)]
}

/// (q, v) at time t.
fn exact(t: f64) -> (Vec<f64>, Vec<f64>) {
    let times = transitions().map(|(time, _)| time);
    let (mut start, mut x, mut v) = (0.0, START, 0.0);
    for (phase, centre) in [Some(CENTRE), Some(-CENTRE), Some(CENTRE), None, Some(CENTRE)].into_iter().enumerate() {
        let end = times.get(phase).map_or(t, |&time| time.min(t));
        let tau = end - start;
        (x, v) = match centre {
            None => (x + BELT * tau, BELT),
            Some(c) => {
                let (sin, cos) = (OMEGA * tau).sin_cos();
                (c + (x - c) * cos + v / OMEGA * sin, v * cos - (x - c) * OMEGA * sin)
            }
        };
        start = end;
        if end == t {
            break;
        }
    }
    (vec![x, 0.0], vec![v, 0.0])
}
