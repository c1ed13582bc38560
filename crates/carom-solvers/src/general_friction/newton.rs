//! Semismooth Newton method with homotopy for general friction.

use super::GeneralFriction;
use super::contact_law::{ContactLaw, Linearisation};
use super::parameters::GeneralFrictionParams;
use crate::cones::norm_squared;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::friction_contact::Runaway;
use crate::linear::DenseLu;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// When to use it: contacts with anisotropic or spin friction, up to a few hundred rows.
///
/// Newton steps with a line search on the equations of `contact_law.rs`, in units in which diag W = 1. Where they fail,
///
/// 1. a homotopy in the friction coefficient, factor 0 → 1: the frictionless solution is found first and followed, with steps that
///    grow and shrink by success;
/// 2. around both a proximal term, u = W r + q + α (r − r_k), which makes Newton's matrix regular where contacts are redundant and
///    vanishes at the solution; α rises when the homotopy fails and falls when it succeeds.
///
/// [Anitescu, Potra & Stewart, *Time-stepping for three-dimensional rigid body dynamics*, 1998, section 3.2, recommend Newton methods for nonsmooth
/// equations with homotopy]; differs in: the multipliers λ are eliminated by projections, so that open contacts (where the conditions
/// of Fritz John degenerate) need no special care.
///
/// Cost of a step: one dense factorisation, 2n³/3 flops.
#[derive(Clone, Debug, Default)]
pub struct GeneralFrictionNewton {
    params: GeneralFrictionParams,
    /// The problem in units y = r/s, v = s u with s = W_ii^{−1/2}.
    w: Vec<f64>,
    q: Vec<f64>,
    laws: Vec<ContactLaw>,
    units: Vec<f64>,
    current: Point,
    trial: Point,
    direction: Vec<f64>,
    center: Vec<f64>,
    /// Solution of the homotopy so far.
    reached: Vec<f64>,
    slopes: Vec<Linearisation>,
    lu: DenseLu,
    best: Vec<f64>,
}

/// An iterate in scaled units: y, v = W y + q + α (y − center) and Φ.
#[derive(Clone, Debug, Default)]
struct Point {
    y: Vec<f64>,
    v: Vec<f64>,
    phi: Vec<f64>,
}

/// The problem a sequence of Newton steps is for.
#[derive(Clone, Copy, Debug)]
struct Subproblem {
    /// Weight of the proximal term.
    alpha: f64,
    /// Part of the friction coefficients.
    factor: f64,
}

/// The judge of iterates and what it has seen.
struct Judge {
    mass_scale: f64,
    runaway: Runaway,
    best: f64,
    steps: usize,
    deadline: Deadline,
}

/// Newton steps for one subproblem.
const MAX_STEPS: usize = 40;

/// Halvings of a step in the line search.
const HALVINGS: usize = 12;

/// Least relative decrease of |Φ|, per length of the step.
const DECREASE: f64 = 5e-4;

/// |Φ| relative to the size of the problem at which a subproblem on the way is solved.
const INNER_TOLERANCE: f64 = 1e-8;

/// |Φ| relative to the proximal term at which the step of α that follows is more use than exactness.
const INEXACTNESS: f64 = 0.05;

/// First step of the homotopy, and the least one.
const FIRST_STEP: f64 = 0.25;
const LEAST_STEP: f64 = 1e-3;

/// First, least and largest weight of the proximal term, W having unit diagonal.
const FIRST_ALPHA: f64 = 1e-2;
const LEAST_ALPHA: f64 = 1e-10;
const LARGEST_ALPHA: f64 = 1e3;

/// Factor on α after a success; its inverse after a failure.
const ALPHA_FACTOR: f64 = 0.1;

impl GeneralFrictionNewton {
    /// A solver with these parameters.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] for a parameter outside its range.
    pub fn new(params: &GeneralFrictionParams) -> Result<Self, SolveError> {
        params.validate()?;
        Ok(GeneralFrictionNewton { params: params.clone(), ..Default::default() })
    }

    /// Reads a valid problem into units of its own.
    fn prepare(&mut self, problem: &GeneralFriction) {
        let n = problem.n_rows();
        problem.w.to_dense(&mut self.w);
        self.units.clear();
        self.units.extend((0..n).map(|i| {
            let unit = 1.0 / self.w[i * n + i].sqrt();
            if unit > 0.0 && unit.is_finite() { unit } else { 1.0 }
        }));
        for (k, w) in self.w.iter_mut().enumerate() {
            *w *= self.units[k / n] * self.units[k % n];
        }
        self.q.clear();
        self.q.extend(problem.q.iter().zip(&self.units).map(|(q, s)| s * q));
        self.laws.clear();
        let mut start = 0;
        for contact in &problem.contacts {
            // |r_i|/a_i = |y_i| s_i/a_i against μ r_N = μ s_N y_N
            let mut shape = contact.set.shape();
            for k in 0..shape.dim {
                shape.axes[k] *= self.units[start] / self.units[start + 1 + k];
            }
            self.laws.push(ContactLaw { mu: contact.mu, shape });
            start += contact.dim();
        }
        for point in [&mut self.current, &mut self.trial] {
            for v in [&mut point.y, &mut point.v, &mut point.phi] {
                v.clear();
                v.resize(n, 0.0);
            }
        }
        for v in [&mut self.direction, &mut self.center, &mut self.reached] {
            v.clear();
            v.resize(n, 0.0);
        }
    }

    /// The loop over α. Leaves the best iterate in `self.best`.
    fn iterate(&mut self, problem: &GeneralFriction, solution: &mut Solution, judge: &mut Judge) -> SolveStatus {
        let mut alpha = 0.0;
        loop {
            self.current.y.copy_from_slice(&self.center);
            let before = judge.steps;
            let solved = self.solve_subproblem(problem, solution, judge, alpha);
            if judge.best <= self.params.tolerance {
                return SolveStatus::Converged;
            }
            if judge.deadline.is_over() {
                return SolveStatus::TimeLimit;
            }
            if judge.steps >= self.params.max_iterations {
                return SolveStatus::MaxIterations;
            }
            if solved && alpha > 0.0 && judge.steps > before {
                self.center.copy_from_slice(&self.current.y);
                alpha = (ALPHA_FACTOR * alpha).max(LEAST_ALPHA);
            } else {
                alpha = if alpha == 0.0 { FIRST_ALPHA } else { alpha / ALPHA_FACTOR };
            }
            if alpha > LARGEST_ALPHA {
                return SolveStatus::Stalled;
            }
        }
    }

    /// Newton from the current point, then the homotopy in the friction.
    fn solve_subproblem(&mut self, problem: &GeneralFriction, solution: &mut Solution, judge: &mut Judge, alpha: f64) -> bool {
        if self.newton(problem, solution, judge, Subproblem { alpha, factor: 1.0 }) {
            return true;
        }
        let (mut factor, mut step) = (0.0, FIRST_STEP);
        self.current.y.copy_from_slice(&self.center);
        if !self.newton(problem, solution, judge, Subproblem { alpha, factor }) {
            return false;
        }
        self.reached.copy_from_slice(&self.current.y);
        while factor < 1.0 && step >= LEAST_STEP && !self.is_over(judge) {
            let next = (factor + step).min(1.0);
            if self.newton(problem, solution, judge, Subproblem { alpha, factor: next }) {
                self.reached.copy_from_slice(&self.current.y);
                (factor, step) = (next, 2.0 * step);
            } else {
                self.current.y.copy_from_slice(&self.reached);
                step *= 0.25;
            }
        }
        factor >= 1.0
    }

    fn is_over(&self, judge: &Judge) -> bool {
        judge.best <= self.params.tolerance || judge.steps >= self.params.max_iterations || judge.deadline.is_over()
    }

    /// Newton steps on one subproblem from the current y; true when it is solved.
    fn newton(&mut self, problem: &GeneralFriction, solution: &mut Solution, judge: &mut Judge, sub: Subproblem) -> bool {
        let size = norm_squared(&self.q).sqrt();
        let mut error = self.evaluate_current(sub);
        for _ in 0..MAX_STEPS {
            let is_whole = sub.factor == 1.0;
            if is_whole {
                self.note(problem, solution, judge);
            }
            if self.is_over(judge) {
                return judge.best <= self.params.tolerance;
            }
            let unit = size.max(norm_squared(&self.current.y).sqrt());
            // The whole problem is solved to a part of the proximal term, or until the judge is satisfied.
            let target = if is_whole { self.proximal_part(sub).max(f64::EPSILON * unit) } else { INNER_TOLERANCE * unit };
            if error <= target {
                return true;
            }
            judge.steps += 1;
            let Some(next) = self.advance(sub, error) else {
                return false;
            };
            error = next;
        }
        false
    }

    /// The |Φ| that is small beside the proximal term α (y − center).
    fn proximal_part(&self, sub: Subproblem) -> f64 {
        let moved: f64 = self.current.y.iter().zip(&self.center).map(|(y, center)| (y - center) * (y - center)).sum();
        INEXACTNESS * sub.alpha * moved.sqrt()
    }

    /// One step with line search; returns |Φ| there.
    fn advance(&mut self, sub: Subproblem, error: f64) -> Option<f64> {
        self.find_direction(sub);
        if self.direction.iter().any(|d| !d.is_finite()) {
            return None;
        }
        let mut length = 1.0;
        for _ in 0..=HALVINGS {
            for (k, y) in self.trial.y.iter_mut().enumerate() {
                *y = self.current.y[k] + length * self.direction[k];
            }
            evaluate(&self.w, &self.q, &self.center, sub, &mut self.trial);
            let next = equations(&self.laws, sub.factor, &mut self.trial, None);
            if next <= (1.0 - DECREASE * length) * error {
                std::mem::swap(&mut self.current, &mut self.trial);
                return Some(next);
            }
            length *= 0.5;
        }
        None
    }

    fn evaluate_current(&mut self, sub: Subproblem) -> f64 {
        evaluate(&self.w, &self.q, &self.center, sub, &mut self.current);
        equations(&self.laws, sub.factor, &mut self.current, None)
    }

    /// Solves (E + B (W + α)) d = −Φ at the current point.
    fn find_direction(&mut self, sub: Subproblem) {
        let n = self.q.len();
        self.slopes.clear();
        equations(&self.laws, sub.factor, &mut self.current, Some(&mut self.slopes));
        let matrix = self.lu.reset(n);
        let mut start = 0;
        for (law, slopes) in self.laws.iter().zip(&self.slopes) {
            let dim = law.dim();
            for i in 0..dim {
                for k in 0..dim {
                    matrix[(start + k) * n + start + i] += slopes.impulse[i][k] + sub.alpha * slopes.velocity[i][k];
                    let by_velocity = slopes.velocity[i][k];
                    if by_velocity != 0.0 {
                        for (j, w) in self.w[(start + k) * n..][..n].iter().enumerate() {
                            matrix[j * n + start + i] += by_velocity * w;
                        }
                    }
                }
            }
            start += dim;
        }
        self.lu.factor();
        for (d, phi) in self.direction.iter_mut().zip(&self.current.phi) {
            *d = -phi;
        }
        self.lu.solve(&mut self.direction);
    }

    /// Judges the admissible point nearest to the current one and keeps the best.
    fn note(&mut self, problem: &GeneralFriction, solution: &mut Solution, judge: &mut Judge) {
        let Solution { r, u } = solution;
        for ((r, y), unit) in r.iter_mut().zip(&self.current.y).zip(&self.units) {
            *r = unit * y;
        }
        admit(problem, r);
        problem.velocity(r, u);
        let value = problem.residual_in_mass_unit(r, u, judge.mass_scale);
        if value < judge.best && !judge.runaway.applies(r, value) {
            judge.best = value;
            self.best.copy_from_slice(r);
        }
    }
}

/// v = W y + q + α (y − center).
fn evaluate(w: &[f64], q: &[f64], center: &[f64], sub: Subproblem, point: &mut Point) {
    let n = q.len();
    for (i, v) in point.v.iter_mut().enumerate() {
        let product: f64 = w[i * n..(i + 1) * n].iter().zip(&point.y).map(|(w, y)| w * y).sum();
        *v = product + q[i] + sub.alpha * (point.y[i] - center[i]);
    }
}

/// Φ at a point and, where asked for, its slopes; returns |Φ|.
fn equations(laws: &[ContactLaw], factor: f64, point: &mut Point, mut slopes: Option<&mut Vec<Linearisation>>) -> f64 {
    let mut start = 0;
    for law in laws {
        let end = start + law.dim();
        let linear = law.linearise(factor, &point.y[start..end], &point.v[start..end]);
        point.phi[start..end].copy_from_slice(&linear.value[..law.dim()]);
        if let Some(slopes) = slopes.as_deref_mut() {
            slopes.push(linear);
        }
        start = end;
    }
    norm_squared(&point.phi).sqrt()
}

/// Moves each block of r to its admissible impulses.
fn admit(problem: &GeneralFriction, r: &mut [f64]) {
    let mut start = 0;
    for contact in &problem.contacts {
        let end = start + contact.dim();
        contact.admit(&mut r[start..end]);
        start = end;
    }
}

impl OneStepSolver<GeneralFriction> for GeneralFrictionNewton {
    fn name(&self) -> &'static str {
        "general-friction-newton"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.params.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &GeneralFriction, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n_rows());
        self.prepare(problem);
        admit(problem, &mut solution.r);
        self.best.clone_from(&solution.r);
        for ((y, r), unit) in self.center.iter_mut().zip(&solution.r).zip(&self.units) {
            *y = r / unit;
        }
        problem.velocity(&solution.r, &mut solution.u);
        let mass_scale = problem.mass_scale();
        let mut judge = Judge {
            mass_scale,
            // As for friction contact: beyond, impulses grow because nothing stops them.
            runaway: Runaway::new(mass_scale, norm_squared(&problem.q).sqrt()),
            best: problem.residual_in_mass_unit(&solution.r, &solution.u, mass_scale),
            steps: 0,
            deadline: Deadline::after(self.params.time_limit),
        };
        let status = self.iterate(problem, solution, &mut judge);
        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        Ok(problem.report(self.name(), solution, judge.steps, self.params.tolerance, status))
    }
}
