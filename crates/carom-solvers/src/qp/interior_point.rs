//! Interior point method for convex quadratic programs.

use super::ConvexQp;
use super::QpSolverParams;
use super::kkt_system::{KktSystem, SHIFTS};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Mehrotra's predictor-corrector method with sparse systems in (x, y). Use it for convex programs of any size, semidefinite H and linear programs
/// included; some 10 to 30 iterations.
///
/// Every finite bound has a slack t > 0 and a multiplier λ > 0, K x − t = l or K x + t = h, t λ = σμ:
///
/// ```text
///     (H + Σ_x) Δx − Kᵀ Δy = −ρ_d + …,   K Δx + Σ⁻¹ Δy = …,   Σ = λ_l/t_l + λ_h/t_h
/// ```
///
/// with the bounds of x (Σ_x) eliminated and rows with l = h kept as equations.
/// [Mehrotra 1992; Nocedal & Wright, *Numerical Optimization*, 2006, ch. 16.6]. Differs in: the rows that look active are solved exactly once
/// μ is small, which gives the last digits.
///
/// The guess is used only if it is a solution. Where no x is feasible or the program has no lower bound, iterates diverge: `Stalled`.
///
/// Cost: one sparse LDLᵀ of n + rows per iteration, and two solves with corrections.
#[derive(Clone, Debug)]
pub struct InteriorPoint {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    system: KktSystem,
    sides: Vec<Side>,
    equalities: Vec<usize>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Unit of x.
    unit: f64,
}

/// A finite bound: sign · (row · x − bound) = t.
#[derive(Clone, Copy, Debug)]
struct Side {
    row: usize,
    /// 1 for a lower bound, −1 for an upper one.
    sign: f64,
    bound: f64,
    slack: f64,
    multiplier: f64,
    /// Changes of both in the current step, and their product in the predictor.
    slack_step: f64,
    multiplier_step: f64,
    second: f64,
}

/// Fraction of the way to the boundary.
const FRACTION: f64 = 0.995;

/// Steps shorter than this are no progress; so many in sequence end the method.
const SMALLEST_STEP: f64 = 1e-6;
const SMALL_STEPS: usize = 5;

/// μ, relative to its first value, below which active rows are identified, and at which digits end.
const POLISH_BELOW: f64 = 1e-4;
const SMALLEST_MU: f64 = 1e-24;

/// x beyond this multiple of its unit runs away.
const LARGEST: f64 = 1e13;

/// Iterations after which nothing more is to be expected, whatever the limit says.
const ENOUGH: usize = 150;

impl InteriorPoint {
    /// A solver with these parameters.
    pub fn new(params: &QpSolverParams) -> Self {
        InteriorPoint {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            system: KktSystem::default(),
            sides: Vec::new(),
            equalities: Vec::new(),
            x: Vec::new(),
            y: Vec::new(),
            unit: 1.0,
        }
    }

    /// x = 0 moved between its bounds; slacks and multipliers one unit at least.
    fn start(&mut self, qp: &ConvexQp) {
        let curvature = qp.curvature_scale();
        self.sides.clear();
        self.equalities.clear();
        self.unit = qp.c.iter().fold(0.0_f64, |s, c| s.max(c.abs() / curvature));
        for row in 0..qp.n_rows() {
            let (lower, upper) = qp.bounds(row);
            let norm = qp.row_norm(row);
            for bound in [lower, upper].into_iter().filter(|b| b.is_finite()) {
                self.unit = self.unit.max(bound.abs() / norm);
            }
        }
        self.unit = if self.unit > 0.0 { self.unit } else { 1.0 };
        self.x.clear();
        self.x.extend((0..qp.n()).map(|i| 0.0_f64.max(qp.lower[i]).min(qp.upper[i])));
        self.y.clear();
        self.y.resize(qp.n_rows(), 0.0);
        for row in 0..qp.n_rows() {
            let (lower, upper) = qp.bounds(row);
            if lower == upper {
                self.equalities.push(row);
                continue;
            }
            let (norm, value) = (qp.row_norm(row), qp.row_dot(row, &self.x));
            for (sign, bound) in [(1.0, lower), (-1.0, upper)] {
                if bound.is_finite() {
                    let slack = (sign * (value - bound)).max(self.unit * norm);
                    let multiplier = curvature * self.unit / norm;
                    self.sides.push(Side { row, sign, bound, slack, multiplier, slack_step: 0.0, multiplier_step: 0.0, second: 0.0 });
                }
            }
        }
        self.set_multipliers();
    }

    /// y of the rows with sides.
    fn set_multipliers(&mut self) {
        self.sides.iter().for_each(|s| self.y[s.row] = 0.0);
        self.sides.iter().for_each(|s| self.y[s.row] += s.sign * s.multiplier);
    }

    fn mu(&self) -> f64 {
        let sum: f64 = self.sides.iter().map(|s| s.slack * s.multiplier).sum();
        if self.sides.is_empty() { 0.0 } else { sum / self.sides.len() as f64 }
    }

    /// The largest step, at most 1, that keeps slacks and multipliers from becoming negative.
    fn length(&self) -> f64 {
        let along = |value: f64, step: f64| if step < 0.0 { -value / step } else { 1.0 };
        self.sides.iter().fold(1.0, |l: f64, s| l.min(along(s.slack, s.slack_step)).min(along(s.multiplier, s.multiplier_step)))
    }

    fn iterate(&mut self, qp: &ConvexQp, solution: &mut Solution, deadline: Deadline) -> (SolveStatus, usize) {
        let n = qp.n();
        self.start(qp);
        let mut best = qp.residual_normalised(&solution.r, &solution.u);
        let first = self.mu();
        let (mut polish_below, mut small_steps) = (POLISH_BELOW * first, 0);
        for iteration in 1..=self.max_iterations.min(ENOUGH) {
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, iteration - 1);
            }
            let Some(step) = self.direction(qp) else {
                return (SolveStatus::Stalled, iteration);
            };
            let length = if self.sides.is_empty() { 1.0 } else { FRACTION * self.length() };
            self.x.iter_mut().zip(&step[..n]).for_each(|(x, d)| *x += length * d);
            self.equalities.iter().zip(&step[n..]).for_each(|(&row, d)| self.y[row] += length * d);
            for side in &mut self.sides {
                side.slack += length * side.slack_step;
                side.multiplier += length * side.multiplier_step;
            }
            self.set_multipliers();
            best = keep_better(qp, solution, (&self.x, &self.y), best);
            if best <= self.tolerance {
                return (SolveStatus::Converged, iteration);
            }

            // (x, y) inside => a solution on the boundary, if the active rows are right
            let mu = self.mu();
            small_steps = if length < SMALLEST_STEP { small_steps + 1 } else { 0 };
            let is_last = small_steps == SMALL_STEPS || mu <= SMALLEST_MU * first;
            if mu <= polish_below || is_last {
                polish_below = 0.1 * mu;
                best = self.polish(qp, solution, best);
                if best <= self.tolerance {
                    return (SolveStatus::Converged, iteration);
                }
            }
            if is_last || self.x.iter().any(|x| x.is_nan() || x.abs() > LARGEST * self.unit) {
                return (SolveStatus::Stalled, iteration);
            }
        }
        if self.max_iterations <= ENOUGH { (SolveStatus::MaxIterations, self.max_iterations) } else { (SolveStatus::Stalled, ENOUGH) }
    }

    /// Predictor and corrector; leaves the steps of the sides in place and returns those of x and of the equalities.
    fn direction(&mut self, qp: &ConvexQp) -> Option<Vec<f64>> {
        let (n, first_bound) = (qp.n(), qp.n_rows() - qp.n());
        // Σ of each row: those of bounds go to the diagonal.
        let mut diagonal = vec![0.0; n];
        let mut sigma = vec![0.0; first_bound];
        for s in &self.sides {
            let value = s.multiplier / s.slack;
            if s.row >= first_bound { diagonal[s.row - first_bound] += value } else { sigma[s.row] += value }
        }
        let mut rows: Vec<(usize, f64)> = self.equalities.iter().map(|&row| (row, 0.0)).collect();
        rows.extend((0..first_bound).filter(|&row| sigma[row] > 0.0).map(|row| (row, 1.0 / sigma[row])));
        if !self.system.factor(qp, &diagonal, &rows, &SHIFTS) {
            return None;
        }
        let mu = self.mu();
        let mut step = self.solve_for(qp, &rows, 0.0, 0.0)?;
        if !self.sides.is_empty() {
            let length = self.length();
            let affine = |s: &Side| (s.slack + length * s.slack_step) * (s.multiplier + length * s.multiplier_step);
            let ratio = self.sides.iter().map(affine).sum::<f64>() / (self.sides.len() as f64 * mu);
            self.sides.iter_mut().for_each(|s| s.second = s.slack_step * s.multiplier_step);
            step = self.solve_for(qp, &rows, ratio.clamp(0.0, 1.0).powi(3) * mu, 1.0)?;
            if self.length() < 0.1 {
                // Far from the central path the second-order term leads astray: back towards the path.
                step = self.solve_for(qp, &rows, 0.5 * mu, 0.0)?;
            }
        }
        Some(step)
    }

    /// The step to t λ = `target` − `weight` · (second-order term).
    fn solve_for(&mut self, qp: &ConvexQp, rows: &[(usize, f64)], target: f64, weight: f64) -> Option<Vec<f64>> {
        let (n, first_bound) = (qp.n(), qp.n_rows() - qp.n());
        let mut right = vec![0.0; n + rows.len()];
        qp.hessian.multiply(&self.x, &mut right[..n]);
        right[..n].iter_mut().zip(&qp.c).for_each(|(r, c)| *r = -*r - c);
        for (row, y) in self.y.iter().enumerate().filter(|(_, y)| **y != 0.0) {
            qp.add_row(row, *y, &mut right[..n]);
        }
        // What the multipliers of a row change by if K Δx = 0.
        let mut fixed = vec![0.0; qp.n_rows()];
        for s in &self.sides {
            let open = s.sign * (qp.row_dot(s.row, &self.x) - s.bound) - s.slack;
            let product = target - weight * s.second - s.slack * s.multiplier;
            fixed[s.row] += s.sign * (product - s.multiplier * open) / s.slack;
        }
        (0..n).for_each(|i| right[i] += fixed[first_bound + i]);
        for (at, (row, slack)) in rows.iter().enumerate() {
            right[n + at] = if at < self.equalities.len() { qp.bounds(*row).0 - qp.row_dot(*row, &self.x) } else { fixed[*row] * slack };
        }
        self.system.solve(qp, &mut right);
        if right.iter().any(|d| !d.is_finite()) {
            return None;
        }
        for s in &mut self.sides {
            let value = qp.row_dot(s.row, &self.x);
            let change = qp.row_dot(s.row, &right[..n]);
            s.slack_step = s.sign * (value + change - s.bound) - s.slack;
            let product = target - weight * s.second - s.slack * s.multiplier;
            s.multiplier_step = (product - s.multiplier * s.slack_step) / s.slack;
        }
        Some(right)
    }

    /// Solves exactly on the equalities and the sides whose multiplier is larger than their slack.
    fn polish(&mut self, qp: &ConvexQp, solution: &mut Solution, mut best: f64) -> f64 {
        let curvature = qp.curvature_scale();
        let mut active: Vec<(usize, f64)> = self.equalities.iter().map(|&row| (row, qp.bounds(row).0)).collect();
        for s in &self.sides {
            let norm = qp.row_norm(s.row);
            if s.multiplier * norm * norm > curvature * s.slack {
                active.push((s.row, s.bound));
            }
        }
        active.sort_by_key(|(row, _)| *row);
        active.dedup_by_key(|(row, _)| *row);
        for shift in SHIFTS {
            let (mut x, mut y) = (self.x.clone(), self.y.clone());
            if best > self.tolerance && self.system.solve_active(qp, &active, shift, (&mut x, &mut y)) {
                best = keep_better(qp, solution, (&x, &y), best);
            }
        }
        best
    }
}

/// Keeps (x, y) if its residual is smaller; returns the smaller residual.
fn keep_better(qp: &ConvexQp, solution: &mut Solution, (x, y): (&[f64], &[f64]), best: f64) -> f64 {
    let residual = qp.residual_normalised(x, y);
    if residual >= best {
        return best;
    }
    solution.r.copy_from_slice(x);
    solution.u.copy_from_slice(y);
    residual
}

impl OneStepSolver<ConvexQp> for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, qp: &ConvexQp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        qp.validate()?;
        let deadline = Deadline::after(self.time_limit);
        qp.prepare(solution);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if qp.residual_normalised(&solution.r, &solution.u) > self.tolerance {
            (status, iterations) = self.iterate(qp, solution, deadline);
        }
        Ok(qp.report("interior-point", solution, iterations, self.tolerance, status))
    }
}
