//! Sweeping processes with exact solutions.

use super::FirstOrderProblem;
use crate::error::ModelError;
use crate::first_order::{MovingSet, NamedSet, SweepingSource};
use crate::systems::Coordinate;

fn process(sets: Vec<NamedSet>, stiffness: Option<f64>) -> SweepingSource {
    let states = ["u1", "u2"].map(|name| Coordinate::new(name, "m")).to_vec();
    SweepingSource { states, sets, stiffness, ..SweepingSource::default() }
}

fn text(values: [&str; 2]) -> Vec<String> {
    values.map(str::to_owned).to_vec()
}

/// Distance of the half-plane's edge from the origin \[m\].
pub const DISTANCE: f64 = 0.25;
/// Place along the edge at the start \[m\].
pub const PLACE: f64 = 1.0;
/// Rate of turn \[rad/s\].
pub const TURN: f64 = 2.0;

/// A point pushed by a half-plane that turns about the origin, n(t)·u ≤ d with n = (cos ωt, sin ωt), from the edge. The edge pushes while the point lies ahead of the foot of the
/// perpendicular, and the point follows the involute of the circle of radius d:
///
/// ```text
/// u = d n + s τ,   s = s₀ − d ω t,   λ = ω s,   until s = 0;   then it stays
/// ```
///
/// `angle` is the angle of n as a formula of t, `"2*t"` for constant turning; `stiffness` that of the penalised process.
///
/// # Errors
/// A formula that cannot be read.
pub fn turning_edge(angle: &str, stiffness: Option<f64>) -> Result<FirstOrderProblem, ModelError> {
    let normal = vec![format!("cos({angle})"), format!("sin({angle})")];
    let set = MovingSet::HalfSpace { normal, offset: format!("{DISTANCE:e}") };
    let source = process(vec![NamedSet { name: "edge".into(), set, translation: Vec::new() }], stiffness);
    Ok(FirstOrderProblem::new(&source.system()?, &[DISTANCE, PLACE], 1.5)?.with_exact(involute))
}

/// Time at which the edge lets go: s = 0.
#[must_use]
pub fn release() -> f64 {
    PLACE / (DISTANCE * TURN)
}

fn involute(t: f64) -> Vec<f64> {
    let t = t.min(release());
    let ((sin, cos), s) = ((TURN * t).sin_cos(), PLACE - DISTANCE * TURN * t);
    vec![DISTANCE * cos - s * sin, DISTANCE * sin + s * cos]
}

/// Radius of the dragging disk \[m\].
pub const RADIUS: f64 = 0.5;

/// A point inside a disk that is carried along a line, a(t) = (t, 0): the play operator. From (0, h₀) on the rim the direction φ of the point from the centre turns as a
/// tractrix, tan(φ/2) = tan(φ₀/2) e^{−(t − t₀)/R}… measured from the rear, starting where the rim first pushes.
///
/// # Errors
/// None.
pub fn dragged_disk() -> Result<FirstOrderProblem, ModelError> {
    let set = MovingSet::Ball { centre: text(["0", "0"]), radius: format!("{RADIUS:e}") };
    let named = NamedSet { name: "disk".into(), set, translation: text(["t", "0"]) };
    let source = process(vec![named], None);
    // the rear of the rim is at angle π: ψ is measured from there, ψ₀ = π/2 at the start
    let exact = |t: f64| {
        let half = (std::f64::consts::FRAC_PI_4).tan() * (-t / RADIUS).exp();
        let psi = 2.0 * half.atan();
        vec![t - RADIUS * psi.cos(), RADIUS * psi.sin()]
    };
    Ok(FirstOrderProblem::new(&source.system()?, &[0.0, RADIUS], 2.0)?.with_exact(exact))
}

/// A point in a rectangle whose right side jumps in at t = 1 and whose top moves down from there: u = prox at the jump, then along.
///
/// # Errors
/// None.
pub fn jumping_rectangle() -> Result<FirstOrderProblem, ModelError> {
    let some = |text: &str| Some(text.to_owned());
    let set =
        MovingSet::Box { lower: vec![some("-1"), some("-1")], upper: vec![some("1 - 0.75*step(t - 1)"), some("1 - 0.5*max(t - 1, 0)")] };
    let source = process(vec![NamedSet { name: "wall".into(), set, translation: Vec::new() }], None);
    let exact = |t: f64| vec![if t >= 1.0 { 0.25 } else { 0.75 }, 0.9_f64.min(1.0 - 0.5 * (t - 1.0).max(0.0))];
    let mut problem = FirstOrderProblem::new(&source.system()?, &[0.75, 0.9], 2.0)?.with_exact(exact);
    problem.model.add_time_event("jump", 1.0)?;
    Ok(problem)
}
