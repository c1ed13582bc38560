//! Forces of contacts whose modes are known, and what is left of the laws.
//!
//! ```text
//! open:   λ = 0                         u̇_N ≥ 0
//! closed: u̇_N = 0                       λ_N ≥ 0
//! stick:  u̇ = 0                         ‖λ_T‖ ≤ μ λ_N
//! slip:   u̇_N = 0, u̇_T ∥ d, λ_T = −μ λ_N d     u̇_T·d ≥ 0, λ_N ≥ 0
//! efforts between bounds
//! held:   u̇ = 0                         lower ≤ λ ≤ upper, ‖λ‖ ≤ r
//! pushed: λ = lower, or upper           u̇ ≥ 0, or u̇ ≤ 0
//!         λ ‖u̇‖ = −r u̇                  of several rows
//! ```
//!
//! Linear but for the direction d of a slip that begins in space: Newton's method. Where contacts are redundant the shortest correction is taken,
//! from λ = 0 or from forces that satisfy the inequalities.

use super::force_problem::{Cone, ForceProblem, ZERO};
use super::mode_system::Equations;

/// Mode of a contact on accelerations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    Open,
    Closed,
    Stick,
    /// Slip begins along a unit vector; (±1, 0) in the plane.
    Slip([f64; 2]),
    /// An effort at its lower bound.
    AtLower,
    /// An effort at its upper bound.
    AtUpper,
    /// An effort of several rows, against the slip that begins.
    Against,
}

/// Forces with what they leave.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub x: Vec<f64>,
    pub u: Vec<f64>,
    /// [`violation`].
    pub violation: f64,
}

/// Forces that violate the laws by up to this part of the accelerations and forces at hand are a solution.
pub(super) const ACCEPT: f64 = 1e-9;

/// Steps of Newton's method, rounds of changed modes, projections in turn.
const STEPS: usize = 25;
const ROUNDS: usize = 12;
const TURNS: usize = 80;
/// By what parts cones are made smaller, one after the other, for points inside them; and what such a point may violate.
const SHRINK: [f64; 3] = [1e-2, 1e-4, 1e-6];
const EXACT: f64 = 1e-12;

/// Singular values below this part of the largest belong to redundant contacts.
pub(super) const RANK_TOLERANCE: f64 = 1e-11;

impl Candidate {
    /// These forces.
    pub fn new(problem: &ForceProblem, x: Vec<f64>) -> Self {
        let u = problem.accelerations(&x);
        let violation = violation(problem, &x, &u);
        Candidate { x, u, violation }
    }

    /// It is a solution.
    pub fn is_solution(&self) -> bool {
        self.violation <= ACCEPT
    }
}

/// Largest violation of the laws, relative to the accelerations and forces at hand.
pub(super) fn violation(problem: &ForceProblem, x: &[f64], u: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    for (k, cone) in problem.cones.iter().enumerate() {
        let rows = problem.rows(k);
        let (acceleration, force) = (problem.zero(k, x) / ZERO, problem.zero_force(k, x) / ZERO);
        let part = |value: f64, size: f64| if size > 0.0 { value / size } else { value };
        if cone.is_effort() {
            let (over, off) = effort_violation(*cone, &x[rows.clone()], &u[rows.clone()]);
            let speed = part(norm(&u[rows]), acceleration);
            worst = worst.max(part(over, force)).max(speed.min(part(off, force)));
            if !speed.is_finite() || over.is_nan() {
                return f64::INFINITY;
            }
            continue;
        }
        let (normal, lift) = (part(x[rows.start], force), part(u[rows.start], acceleration));
        worst = worst.max(-normal).max(-lift).max(normal.min(lift));
        if cone.dim() > 1 {
            let (tangent, slip) = (&x[rows.start + 1..rows.end], &u[rows.start + 1..rows.end]);
            let (bound, speed) = (cone.friction() * x[rows.start].max(0.0), norm(slip));
            worst = worst.max(part(norm(tangent) - bound, force));
            let off = tangent.iter().zip(slip).map(|(t, s)| (t + bound * s / speed).powi(2)).sum::<f64>().sqrt();
            if speed > 0.0 {
                worst = worst.max(part(speed, acceleration).min(part(off, force)));
            }
        }
        if !(normal.is_finite() && lift.is_finite()) {
            return f64::INFINITY;
        }
    }
    worst
}

/// By how much an effort is outside its bounds, and how far it is from the bound that its acceleration asks for.
fn effort_violation(cone: Cone, x: &[f64], u: &[f64]) -> (f64, f64) {
    match cone {
        Cone::Bounded { lower, upper } => ((lower - x[0]).max(x[0] - upper), if u[0] > 0.0 { x[0] - lower } else { upper - x[0] }),
        Cone::Ball { radius, .. } => {
            let speed = norm(u);
            let off = x.iter().zip(u).map(|(x, u)| if speed > 0.0 { (x + radius * u / speed).powi(2) } else { 0.0 });
            (norm(x) - radius, off.sum::<f64>().sqrt())
        }
        _ => (0.0, 0.0),
    }
}

/// Finds the modes of forces that nearly solve the problem, and the forces of those modes.
///
/// The shortest forces are preferred where they obey the laws; where contacts are redundant and they do not, those nearest to the given ones.
pub(super) fn polish(problem: &ForceProblem, x: Vec<f64>) -> Candidate {
    let start = Candidate::new(problem, x);
    let modes = identify(problem, &start.x, &start.u);
    polish_from(problem, start, modes)
}

/// The same from modes to begin with.
pub(super) fn polish_from(problem: &ForceProblem, start: Candidate, mut modes: Vec<Mode>) -> Candidate {
    let mut best = start;
    for _ in 0..ROUNDS {
        let shortest = solve_modes(problem, &modes, None, &best.x);
        if shortest.is_solution() {
            return tidy(problem, shortest);
        }
        if let Some(shared) = share_forces(problem, &modes, &shortest.x) {
            return tidy(problem, shared);
        }
        let near = solve_modes(problem, &modes, Some(&best.x), &best.x);
        let next = change_modes(problem, &modes, if near.violation <= shortest.violation { &near } else { &shortest });
        if near.violation < best.violation {
            best = near;
        }
        if best.is_solution() || next == modes {
            break;
        }
        modes = next;
    }
    tidy(problem, best)
}

/// Takes round-off out: no normal force pulls, and friction is at most μ times it.
fn tidy(problem: &ForceProblem, mut candidate: Candidate) -> Candidate {
    if !candidate.is_solution() {
        return candidate;
    }
    for (k, cone) in problem.cones.iter().enumerate() {
        let x = &mut candidate.x[problem.rows(k)];
        match *cone {
            Cone::Bounded { lower, upper } => x[0] = x[0].max(lower).min(upper),
            Cone::Ball { radius, .. } if norm(x) > radius => {
                let factor = radius / norm(x);
                x.iter_mut().for_each(|x| *x *= factor);
            }
            _ => {}
        }
        if cone.is_effort() {
            continue;
        }
        x[0] = x[0].max(0.0);
        let (size, bound) = (norm(&x[1..]), cone.friction() * x[0]);
        if size > bound {
            x[1..].iter_mut().for_each(|x| *x *= bound / size);
        }
    }
    candidate.u = problem.accelerations(&candidate.x);
    candidate
}

/// The modes of forces x with accelerations u, the nearer of the two sides of each law.
pub(super) fn identify(problem: &ForceProblem, x: &[f64], u: &[f64]) -> Vec<Mode> {
    let of_contact = |(k, cone): (usize, &Cone)| {
        let rows = problem.rows(k);
        let (zero, response) = (problem.zero(k, x), problem.response[k]);
        let (speed, force) = (u[rows.start], x[rows.start]);
        match *cone {
            Cone::Bounded { lower, .. } if speed > zero && speed > response * (force - lower) => return Mode::AtLower,
            Cone::Bounded { upper, .. } if -speed > zero && -speed > response * (upper - force) => return Mode::AtUpper,
            Cone::Ball { radius, .. } => {
                let (speed, margin) = (norm(&u[rows.clone()]), radius - norm(&x[rows]));
                return if speed > zero && speed > response * margin { Mode::Against } else { Mode::Stick };
            }
            Cone::Bounded { .. } => return Mode::Stick,
            _ => {}
        }
        if u[rows.start] > zero && u[rows.start] > response * x[rows.start] {
            return Mode::Open;
        }
        if cone.dim() == 1 {
            return Mode::Closed;
        }
        let (slip, tangent) = (&u[rows.start + 1..rows.end], &x[rows.start + 1..rows.end]);
        let margin = cone.friction() * x[rows.start] - norm(tangent);
        if norm(slip) > zero && norm(slip) > response * margin { Mode::Slip(unit(slip)) } else { Mode::Stick }
    };
    problem.cones.iter().enumerate().map(of_contact).collect()
}

/// The modes that the signs ask for.
fn change_modes(problem: &ForceProblem, modes: &[Mode], at: &Candidate) -> Vec<Mode> {
    let mut next = modes.to_vec();
    for (k, mode) in next.iter_mut().enumerate() {
        let (rows, cone) = (problem.rows(k), problem.cones[k]);
        let (zero, zero_force) = (problem.zero(k, &at.x), problem.zero_force(k, &at.x));
        let (x, u) = (&at.x[rows.clone()], &at.u[rows]);
        *mode = match (*mode, cone) {
            (Mode::Stick, Cone::Bounded { lower, .. }) if x[0] < lower - zero_force => Mode::AtLower,
            (Mode::Stick, Cone::Bounded { upper, .. }) if x[0] > upper + zero_force => Mode::AtUpper,
            (Mode::AtLower, _) if u[0] < -zero => Mode::Stick,
            (Mode::AtUpper, _) if u[0] > zero => Mode::Stick,
            (Mode::Stick, Cone::Ball { radius, .. }) if norm(x) > radius + zero_force => Mode::Against,
            (Mode::Against, _) if x.iter().zip(u).map(|(x, u)| x * u).sum::<f64>() > zero * norm(x) => Mode::Stick,
            (mode, _) => mode,
        };
        if cone.is_effort() {
            continue;
        }
        *mode = match *mode {
            Mode::Open if u[0] < -zero => match cone.dim() {
                1 => Mode::Closed,
                _ => Mode::Stick,
            },
            Mode::Closed | Mode::Stick | Mode::Slip(_) if x[0] < -zero_force => Mode::Open,
            Mode::Stick if norm(&x[1..]) > cone.friction() * x[0] + zero_force => {
                Mode::Slip(unit(&x[1..].iter().map(|x| -x).collect::<Vec<f64>>()))
            }
            Mode::Slip(d) if u[1..].iter().zip(d).map(|(u, d)| u * d).sum::<f64>() < -zero => Mode::Stick,
            other => other,
        };
    }
    next
}

/// The forces of these modes by the shortest corrections, from `start` or from zero; directions of slip start at those of the modes.
pub(super) fn solve_modes(problem: &ForceProblem, modes: &[Mode], start: Option<&[f64]>, guess: &[f64]) -> Candidate {
    let mut equations = Equations::new(problem, modes, start, guess);
    let mut best = equations.residual();
    for _ in 0..STEPS {
        let (force, directions) = (equations.force.clone(), equations.directions.clone());
        equations.step();
        let left = equations.residual();
        if left >= best || left.is_nan() {
            (equations.force, equations.directions) = (force, directions);
            break;
        }
        best = left;
    }
    Candidate::new(problem, equations.x())
}

/// Forces of redundant contacts that obey the inequalities too, where the shortest do not: projections in turn on cones that are a little smaller and on
/// the forces that belong to the modes, which end at a point inside the cones where there is one. Nothing where the forces are unique, or none is found.
fn share_forces(problem: &ForceProblem, modes: &[Mode], shortest: &[f64]) -> Option<Candidate> {
    let mut equations = Equations::new(problem, modes, Some(shortest), shortest);
    if equations.has_angles() {
        return None;
    }
    let size = Equations::new(problem, modes, None, shortest).residual();
    equations.step();
    if equations.is_regular() || equations.residual() > ACCEPT * size {
        return None;
    }
    let largest = norm(shortest);
    for shrink in SHRINK {
        for turn in 0..TURNS {
            equations.project(shrink, shrink * largest);
            equations.step();
            if turn % 8 == 7 {
                let candidate = Candidate::new(problem, equations.x());
                if candidate.violation <= EXACT {
                    return Some(candidate);
                }
            }
        }
    }
    None
}

/// Length.
pub(super) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The direction of one or two components; zero for zero.
pub(super) fn unit(x: &[f64]) -> [f64; 2] {
    let size = norm(x);
    let part = |k: usize| if size > 0.0 { x.get(k).map_or(0.0, |x| x / size) } else { 0.0 };
    [part(0), part(1)]
}
