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
use nalgebra::{DMatrix, DVector};

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

/// Steps of Newton's method, rounds of changed modes.
const STEPS: usize = 25;
const ROUNDS: usize = 12;

/// Singular values below this part of the largest belong to redundant contacts.
const RANK_TOLERANCE: f64 = 1e-11;

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
    let mut best = Candidate::new(problem, x);
    let mut modes = identify(problem, &best.x, &best.u);
    for _ in 0..ROUNDS {
        let shortest = solve_modes(problem, &modes, None, &best.x);
        if shortest.is_solution() {
            return tidy(problem, shortest);
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

/// The equations of given modes.
struct Equations<'a> {
    problem: &'a ForceProblem,
    modes: &'a [Mode],
    /// Forces at the rows of closed and sticking contacts, normal forces of slipping ones.
    force: Vec<f64>,
    /// Direction of slip of each contact.
    directions: Vec<[f64; 2]>,
    /// Unknowns: row, and whether it is the angle of a direction (then of the contact).
    unknowns: Vec<Unknown>,
}

#[derive(Clone, Copy)]
enum Unknown {
    Force { row: usize },
    Normal { contact: usize },
    Angle { contact: usize },
}

impl<'a> Equations<'a> {
    fn new(problem: &'a ForceProblem, modes: &'a [Mode], start: Option<&[f64]>, guess: &[f64]) -> Self {
        let mut unknowns = Vec::new();
        let mut force = vec![0.0; problem.n_rows()];
        let mut directions = vec![[0.0; 2]; modes.len()];
        for (k, mode) in modes.iter().enumerate() {
            let rows = problem.rows(k);
            match mode {
                Mode::Open => continue,
                Mode::Closed | Mode::Stick => unknowns.extend(rows.clone().map(|row| Unknown::Force { row })),
                Mode::Slip(direction) => {
                    directions[k] = *direction;
                    unknowns.push(Unknown::Normal { contact: k });
                    if rows.len() == 3 {
                        unknowns.push(Unknown::Angle { contact: k });
                        // the angle's column needs a normal force to start with
                        force[rows.start] = guess[rows.start].max(0.0);
                    }
                }
            }
            if let Some(start) = start {
                let kept = if matches!(mode, Mode::Slip(_)) { rows.start..rows.start + 1 } else { rows };
                force[kept.clone()].copy_from_slice(&start[kept]);
            }
        }
        Equations { problem, modes, force, directions, unknowns }
    }

    /// The forces of all rows.
    fn x(&self) -> Vec<f64> {
        let mut x = self.force.clone();
        for (k, mode) in self.modes.iter().enumerate() {
            if let Mode::Slip(_) = mode {
                let rows = self.problem.rows(k);
                let bound = self.problem.cones[k].friction() * x[rows.start];
                for (x, d) in x[rows].iter_mut().skip(1).zip(self.directions[k]) {
                    *x = -bound * d;
                }
            }
        }
        x
    }

    /// What the equation that goes with an unknown leaves.
    fn left(&self, unknown: Unknown, u: &[f64]) -> f64 {
        match unknown {
            Unknown::Force { row } => u[row],
            Unknown::Normal { contact } => u[self.problem.starts[contact]],
            Unknown::Angle { contact } => {
                let (first, [c, s]) = (self.problem.starts[contact], self.directions[contact]);
                c * u[first + 2] - s * u[first + 1]
            }
        }
    }

    /// Length of what is left, in units of unit diagonal.
    fn residual(&self) -> f64 {
        let u = self.problem.accelerations(&self.x());
        self.unknowns.iter().map(|&unknown| (self.left(unknown, &u) * self.unit(unknown)).powi(2)).sum::<f64>().sqrt()
    }

    /// 1/√w of the row of an unknown.
    fn unit(&self, unknown: Unknown) -> f64 {
        let row = match unknown {
            Unknown::Force { row } => row,
            Unknown::Normal { contact } => self.problem.starts[contact],
            Unknown::Angle { contact } => self.problem.starts[contact] + 1,
        };
        let w = self.problem.row(row)[row].abs();
        if w > 0.0 { 1.0 / w.sqrt() } else { 1.0 }
    }

    /// Change of u̇ with an unknown.
    fn column(&self, unknown: Unknown) -> Vec<f64> {
        let problem = self.problem;
        let combine = |row: usize, parts: [f64; 3], n: usize| -> Vec<f64> {
            (0..problem.n_rows()).map(|i| (0..n).map(|k| problem.row(i)[row + k] * parts[k]).sum()).collect()
        };
        match unknown {
            Unknown::Force { row } => combine(row, [1.0, 0.0, 0.0], 1),
            Unknown::Normal { contact } => {
                let (rows, mu, [c, s]) = (problem.rows(contact), problem.cones[contact].friction(), self.directions[contact]);
                combine(rows.start, [1.0, -mu * c, -mu * s], rows.len())
            }
            Unknown::Angle { contact } => {
                let (first, mu, [c, s]) = (problem.starts[contact], problem.cones[contact].friction(), self.directions[contact]);
                let bound = mu * self.force[first];
                combine(first, [0.0, bound * s, -bound * c], 3)
            }
        }
    }

    /// One step of Newton's method, the shortest where there are several.
    fn step(&mut self) {
        let n = self.unknowns.len();
        if n == 0 {
            return;
        }
        let u = self.problem.accelerations(&self.x());
        let units: Vec<f64> = self.unknowns.iter().map(|&unknown| self.unit(unknown)).collect();
        // an angle is in radians, its column in forces of the contact: scaled to a column of length one
        let mut columns: Vec<Vec<f64>> = self.unknowns.iter().map(|&unknown| self.column(unknown)).collect();
        let mut matrix = DMatrix::zeros(n, n);
        let mut scales = units.clone();
        for (j, &unknown) in self.unknowns.iter().enumerate() {
            let column = &mut columns[j];
            for (i, &row) in self.unknowns.iter().enumerate() {
                let mut value = self.left(row, column);
                if let (Unknown::Angle { contact }, Unknown::Angle { contact: other }) = (row, unknown)
                    && contact == other
                {
                    let (first, [c, s]) = (self.problem.starts[contact], self.directions[contact]);
                    value -= c * u[first + 1] + s * u[first + 2];
                }
                matrix[(i, j)] = value * units[i];
            }
            if let Unknown::Angle { .. } = unknown {
                let length = matrix.column(j).norm();
                scales[j] = if length > 0.0 { 1.0 / length } else { 1.0 };
            }
            matrix.column_mut(j).scale_mut(scales[j]);
        }
        let right = DVector::from_fn(n, |i, _| -self.left(self.unknowns[i], &u) * units[i]);
        let svd = matrix.svd(true, true);
        let least = RANK_TOLERANCE * svd.singular_values.max();
        // both matrices of singular vectors were asked for
        let Ok(change) = svd.solve(&right, least) else { return };
        for (j, &unknown) in self.unknowns.iter().enumerate() {
            let change = change[j] * scales[j];
            match unknown {
                Unknown::Force { row } => self.force[row] += change,
                Unknown::Normal { contact } => self.force[self.problem.starts[contact]] += change,
                Unknown::Angle { contact } => {
                    let ([c, s], (sin, cos)) = (self.directions[contact], change.clamp(-1.0, 1.0).sin_cos());
                    self.directions[contact] = unit(&[c * cos - s * sin, s * cos + c * sin]);
                }
            }
        }
    }
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
