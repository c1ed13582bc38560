//! Dual active set method for convex quadratic programs.

use super::QpSolverParams;
use super::factors::Factors;
use super::kkt_system::{KktSystem, SHIFTS};
use super::{ConvexQp, project};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Starts at the minimum without constraints and adds the most violated row, step after step, dropping rows whose multiplier would
/// get the wrong sign. Use it for small programs (n up to a few hundred) and sequences of them: exact, finite, and quick with
/// a good guess, as the rows it says are active come first.
/// [Goldfarb & Idnani, *A numerically stable dual method for solving strictly convex quadratic programs*, 1983]
///
/// A semidefinite H is solved by proximal steps, each a strictly convex program:
///
/// ```text
///     x_{k+1} = argmin ½ xᵀH x + cᵀx + ½ ε |x − x_k|²
/// ```
///
/// The rows found active are then solved once more with H itself, so that ε leaves no trace.
///
/// Constraints no x satisfies end with status `RayTermination`: "infeasible". A program without a lower bound ends as `Stalled`.
///
/// Cost: n³ once, O(n²) per row added or dropped; dense.
#[derive(Clone, Debug)]
pub struct ActiveSet {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    factors: Factors,
    system: KktSystem,
    active: Vec<ActiveRow>,
    /// Rows to be tried first.
    preferred: Vec<bool>,
    x: Vec<f64>,
    y: Vec<f64>,
}

/// A row at one of its bounds: sign · (row · x − bound) = 0.
#[derive(Clone, Copy, Debug)]
struct ActiveRow {
    row: usize,
    /// 1 at the lower bound, −1 at the upper one.
    sign: f64,
    multiplier: f64,
    is_equality: bool,
}

/// How a strictly convex program ended.
enum Ended {
    Solved,
    Infeasible,
    Limit(SolveStatus),
}

/// ε of the proximal steps, of the mean diagonal of H: large against rounding, small against what curves.
const PROXIMAL: f64 = 1e-6;

/// Proximal steps. Programs with a solution take a few; each of those without moves x by |c|/ε.
const PROXIMAL_STEPS: usize = 60;

/// Violations below this fraction of the values of a row are rounding.
const VIOLATION: f64 = 1e-12;

impl ActiveSet {
    /// A solver with these parameters.
    pub fn new(params: &QpSolverParams) -> Self {
        ActiveSet {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            factors: Factors::default(),
            system: KktSystem::default(),
            active: Vec::new(),
            preferred: Vec::new(),
            x: Vec::new(),
            y: Vec::new(),
        }
    }

    /// All proximal steps, or the only one. Keeps the best point in `solution`.
    fn iterate(&mut self, qp: &ConvexQp, solution: &mut Solution, deadline: Deadline) -> (SolveStatus, usize) {
        let n = qp.n();
        let mut h = Vec::new();
        qp.hessian.to_dense(&mut h);
        let mut epsilon = 0.0;
        if !self.factors.reset(n, &h) {
            epsilon = PROXIMAL * qp.curvature_scale();
            (0..n).for_each(|i| h[i * n + i] += epsilon);
        }
        let mut best = qp.residual_normalised(&solution.r, &solution.u);
        let mut iterations = 0;
        let mut center = solution.r.clone();
        for _ in 0..PROXIMAL_STEPS {
            if !self.factors.reset(n, &h) {
                return (SolveStatus::Stalled, iterations); // H has a negative eigenvalue.
            }
            let c: Vec<f64> = qp.c.iter().zip(&center).map(|(c, x)| c - epsilon * x).collect();
            let ended = self.solve_dual(qp, &c, deadline, &mut iterations);
            self.collect(qp);
            best = self.keep_better(qp, solution, best);
            match ended {
                Ended::Infeasible => return (SolveStatus::RayTermination, iterations),
                Ended::Limit(status) => return (status, iterations),
                Ended::Solved => {}
            }
            center.clone_from(&self.x);
            let rows: Vec<(usize, f64)> = self.active.iter().map(|a| (a.row, self.bound(qp, a))).collect();
            for shift in SHIFTS {
                if best > self.tolerance && self.system.solve_active(qp, &rows, shift, (&mut self.x, &mut self.y)) {
                    best = self.keep_better(qp, solution, best);
                }
            }
            if best <= self.tolerance {
                return (SolveStatus::Converged, iterations);
            }
            if epsilon == 0.0 || center.iter().any(|x| !x.is_finite()) {
                break;
            }
            self.preferred.fill(false);
            self.active.iter().for_each(|a| self.preferred[a.row] = true);
        }
        (SolveStatus::Stalled, iterations)
    }

    /// One strictly convex program with the linear term c.
    fn solve_dual(&mut self, qp: &ConvexQp, c: &[f64], deadline: Deadline, iterations: &mut usize) -> Ended {
        self.active.clear();
        self.x.resize(qp.n(), 0.0);
        self.factors.minimise(c, &mut self.x);
        let is_equality = |row: usize| qp.bounds(row).0 == qp.bounds(row).1;
        for row in (0..qp.n_rows()).filter(|&row| is_equality(row)) {
            let sign = if qp.row_dot(row, &self.x) > qp.bounds(row).0 { -1.0 } else { 1.0 };
            if !self.enter(qp, ActiveRow { row, sign, multiplier: 0.0, is_equality: true }) {
                return Ended::Infeasible;
            }
            *iterations += 1;
        }
        loop {
            if deadline.is_over() {
                return Ended::Limit(SolveStatus::TimeLimit);
            }
            let Some(next) = self.most_violated(qp) else { return Ended::Solved };
            if *iterations >= self.max_iterations {
                return Ended::Limit(SolveStatus::MaxIterations);
            }
            *iterations += 1;
            if !self.enter(qp, next) {
                return Ended::Infeasible;
            }
        }
    }

    /// The row with the largest violation in its own length, preferred rows first.
    fn most_violated(&self, qp: &ConvexQp) -> Option<ActiveRow> {
        let mut found: Option<(bool, f64, ActiveRow)> = None;
        for row in 0..qp.n_rows() {
            let (lower, upper) = qp.bounds(row);
            if lower == upper || (lower == f64::NEG_INFINITY && upper == f64::INFINITY) {
                continue;
            }
            let value = qp.row_dot(row, &self.x);
            let nearest = project(value, lower, upper);
            let violation = (value - nearest).abs() / qp.row_norm(row);
            if violation <= self.rounding(qp, row, nearest) || self.active.iter().any(|a| a.row == row) {
                continue;
            }
            let preferred = self.preferred[row];
            if found.as_ref().is_none_or(|(p, v, _)| (preferred, violation) > (*p, *v)) {
                let sign = if value < nearest { 1.0 } else { -1.0 };
                found = Some((preferred, violation, ActiveRow { row, sign, multiplier: 0.0, is_equality: false }));
            }
        }
        found.map(|(_, _, row)| row)
    }

    /// A violation of a row, in its own length, that is rounding.
    fn rounding(&self, qp: &ConvexQp, row: usize, bound: f64) -> f64 {
        let largest = self.x.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        VIOLATION * largest.max(bound.abs() / qp.row_norm(row))
    }

    /// Steps of x and the multipliers until the row holds. False when no x satisfies it together with the active rows.
    fn enter(&mut self, qp: &ConvexQp, mut entering: ActiveRow) -> bool {
        let n = qp.n();
        let mut a = vec![0.0; n];
        qp.add_row(entering.row, entering.sign, &mut a);
        let (mut z, mut r) = (vec![0.0; n], Vec::new());
        loop {
            let slope = self.factors.directions(&a, &mut z, &mut r);
            let gap = entering.sign * (self.bound(qp, &entering) - qp.row_dot(entering.row, &self.x));
            // The multiplier that vanishes first limits the step.
            let (mut partial, mut leaving) = (f64::INFINITY, None);
            for (place, (row, r)) in self.active.iter().zip(&r).enumerate() {
                if !row.is_equality && *r > 0.0 && row.multiplier.max(0.0) / r < partial {
                    (partial, leaving) = (row.multiplier.max(0.0) / r, Some(place));
                }
            }
            let full = if slope > 0.0 { gap.max(0.0) / slope } else { f64::INFINITY };
            if slope == 0.0 {
                let norm = qp.row_norm(entering.row);
                if gap / norm <= 1e3 * self.rounding(qp, entering.row, self.bound(qp, &entering)) {
                    return true; // Redundant: it holds already.
                }
                if leaving.is_none() {
                    return false;
                }
            }
            let step = full.min(partial);
            if slope > 0.0 {
                self.x.iter_mut().zip(&z).for_each(|(x, z)| *x += step * z);
            }
            self.active.iter_mut().zip(&r).for_each(|(row, r)| row.multiplier -= step * r);
            entering.multiplier += step;
            if full <= partial {
                self.factors.add();
                self.active.push(entering);
                return true;
            }
            if let Some(place) = leaving {
                self.factors.drop(place);
                self.active.remove(place);
            }
        }
    }

    fn bound(&self, qp: &ConvexQp, row: &ActiveRow) -> f64 {
        let (lower, upper) = qp.bounds(row.row);
        if row.sign > 0.0 { lower } else { upper }
    }

    /// y from the multipliers of the active rows.
    fn collect(&mut self, qp: &ConvexQp) {
        self.y.clear();
        self.y.resize(qp.n_rows(), 0.0);
        self.active.iter().for_each(|a| self.y[a.row] = a.sign * a.multiplier);
    }

    /// Keeps (x, y) if its residual is smaller; returns the smaller residual.
    fn keep_better(&self, qp: &ConvexQp, solution: &mut Solution, best: f64) -> f64 {
        let residual = qp.residual_normalised(&self.x, &self.y);
        if residual < best {
            solution.r.clone_from(&self.x);
            solution.u.clone_from(&self.y);
            return residual;
        }
        best
    }
}

impl OneStepSolver<ConvexQp> for ActiveSet {
    fn name(&self) -> &'static str {
        "active-set"
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
            self.preferred.clear();
            self.preferred.extend(solution.u.iter().map(|y| *y != 0.0));
            (status, iterations) = self.iterate(qp, solution, deadline);
        }
        Ok(qp.report("active-set", solution, iterations, self.tolerance, status))
    }
}
