//! Forces of contacts whose modes are known, and what is left of the laws.
//!
//! ```text
//! open:   λ = 0                         u̇_N ≥ 0
//! closed: u̇_N = 0                       λ_N ≥ 0
//! stick:  u̇ = 0                         ‖λ_T‖ ≤ μ λ_N
//! slip:   u̇_N = 0, u̇_T ∥ d, λ_T = −μ λ_N d     u̇_T·d ≥ 0, λ_N ≥ 0
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
