//! A block on an incline that is shaken horizontally with the acceleration a = A sin ωt, in the frame of the incline.
//!
//! Coordinates: x up the slope, y along its normal \[m\]. Per unit mass the block feels −g sin α − a cos α along the slope and presses on it with
//! N = g cos α − a sin α > 0. It sticks while a_u ≤ a ≤ a_d and slides in the direction σ = ±1 with
//!
//! ```text
//! ẍ = C + D a,      C = −g (sin α + σμ cos α),   D = −cos α + σμ sin α
//! a_d = g (μ cos α − sin α)/(cos α + μ sin α),     a_u = −g (μ cos α + sin α)/(cos α − μ sin α)
//! ```
//!
//! so that velocity and position are known in closed form; the times at which a slip ends are roots of the velocity, found by bisection. Two
//! cases: on the steep incline the slip down reverses at once, on the flat one the block sticks twice in each period.

use super::bouncing_ball::GRAVITY;
use super::{Problem, Solution, add_contact, bisect};
use crate::error::ModelError;
use crate::laws::ContactLaw;
use crate::model::Model;
use crate::report::EventKind;
use crate::state::State;
use crate::systems::Linear;
use std::f64::consts::PI;

/// A case: an incline and its friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Incline {
    /// α \[rad\].
    pub angle: f64,
    /// μ.
    pub friction: f64,
}

/// Down, up, rest in each period.
pub const STEEP: Incline = Incline { angle: PI / 18.0, friction: 0.4 };
/// Down, rest, up, rest in each period.
pub const FLAT: Incline = Incline { angle: PI / 36.0, friction: 0.5 };
/// A \[m/s²\].
pub const AMPLITUDE: f64 = 8.0;
/// ω \[rad/s\].
pub const FREQUENCY: f64 = 2.0 * PI;

/// A phase of the motion from `start` on: at rest, or sliding in the direction σ.
#[derive(Clone, Copy, Debug)]
struct Phase {
    start: f64,
    x: f64,
    direction: f64,
}

/// Three and a quarter periods from rest.
///
/// # Errors
/// None for the two cases.
pub fn problem(case: Incline) -> Result<Problem, ModelError> {
    let (sin, cos) = case.angle.sin_cos();
    let zero = || vec![0.0; 4];
    let system = Linear::new(vec!["x".into(), "y".into()], vec![1.0, 0.0, 0.0, 1.0], zero(), zero())?
        .with_force(vec![-GRAVITY * sin, -GRAVITY * cos])?
        .with_excitation(
            &["-a*cos(alpha)*sin(w*t)".into(), "a*sin(alpha)*sin(w*t)".into()],
            &[("a".into(), AMPLITUDE), ("alpha".into(), case.angle), ("w".into(), FREQUENCY)],
        )?;
    let mut model = Model::new(vec![Box::new(system)])?;
    add_contact(&mut model, "incline", &["y", "x"], &[], ContactLaw::coulomb(case.friction, 0.0))?;
    let end = 3.25 * 2.0 * PI / FREQUENCY;
    let (phases, _) = history(case, end);
    let exact = move |t: f64| {
        let phase = phases.iter().rev().find(|phase| phase.start <= t).unwrap_or(&phases[0]);
        let (x, v) = along(case, phase, t);
        (vec![x, 0.0], vec![v, 0.0])
    };
    let state = State { t: 0.0, q: vec![0.0; 2], v: vec![0.0; 2], ..State::default() };
    Ok(Problem { model, state, end, solution: Solution::Exact(Box::new(exact)) })
}

/// Times of the transitions up to `end` \[s\] and what they are.
#[must_use]
pub fn transitions(case: Incline, end: f64) -> Vec<(f64, EventKind)> {
    history(case, end).1
}

fn shake(t: f64) -> f64 {
    AMPLITUDE * (FREQUENCY * t).sin()
}

/// (a_u, a_d): the accelerations between which the block can stick.
fn limits(case: Incline) -> (f64, f64) {
    let ((sin, cos), mu) = (case.angle.sin_cos(), case.friction);
    (-GRAVITY * (mu * cos + sin) / (cos - mu * sin), GRAVITY * (mu * cos - sin) / (cos + mu * sin))
}

/// (x, ẋ) at time t of a phase.
fn along(case: Incline, phase: &Phase, t: f64) -> (f64, f64) {
    if phase.direction == 0.0 {
        return (phase.x, 0.0);
    }
    let ((sin, cos), mu, w) = (case.angle.sin_cos(), phase.direction * case.friction, FREQUENCY);
    let (c, d) = (-GRAVITY * (sin + mu * cos), AMPLITUDE * (mu * sin - cos));
    let tau = t - phase.start;
    let (s0, c0) = (w * phase.start).sin_cos();
    let (s, c1) = (w * t).sin_cos();
    (phase.x + 0.5 * c * tau * tau + d / w * c0 * tau - d / (w * w) * (s - s0), c * tau - d / w * (c1 - c0))
}

fn history(case: Incline, end: f64) -> (Vec<Phase>, Vec<(f64, EventKind)>) {
    let (up, down) = limits(case);
    let period = 2.0 * PI / FREQUENCY;
    let direction_at = |t: f64| {
        if shake(t) > down {
            -1.0
        } else if shake(t) < up {
            1.0
        } else {
            0.0
        }
    };
    let mut phases = vec![Phase { start: 0.0, x: 0.0, direction: 0.0 }];
    let mut list = Vec::new();
    loop {
        let phase = phases[phases.len() - 1];
        let t = if phase.direction == 0.0 {
            // first time after the start at which a leaves [a_u, a_d]: a rises through a_d, or falls through a_u
            let (rise, fall) = ((down / AMPLITUDE).asin() / FREQUENCY, (PI - (up / AMPLITUDE).asin()) / FREQUENCY);
            let next = |first: f64| first + period * ((phase.start - first) / period).ceil().max(0.0);
            next(rise).min(next(fall))
        } else {
            // the velocity grows from zero, falls, and vanishes within a period: the first sign change on a fine grid, then bisection
            let speed = |t: f64| phase.direction * along(case, &phase, t).1;
            let step = period / 1000.0;
            let after = (1..2000).map(|k| phase.start + f64::from(k) * step).find(|&t| speed(t) < 0.0).unwrap_or(f64::INFINITY);
            if after.is_finite() { bisect(after - step, after, speed) } else { after }
        };
        if t > end {
            return (phases, list);
        }
        let x = along(case, &phase, t).0;
        // just after t: a slip that begins leaves the interval of sticking there
        let direction = direction_at(t + 1e-9);
        let kind = match (phase.direction == 0.0, direction == 0.0) {
            (true, _) => EventKind::StickToSlip,
            (false, true) => EventKind::SlipToStick,
            (false, false) => EventKind::SlipReversed,
        };
        list.push((t, kind));
        phases.push(Phase { start: t, x, direction });
    }
}
