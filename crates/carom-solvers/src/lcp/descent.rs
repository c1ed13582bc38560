//! Newton's method with a line search on equations F(s z, w) = 0, row by row.

use super::Lcp;
use super::LcpSolverParams;
use super::active_system::ActiveSystem;
use super::polished_iterate::PolishedIterate;
use crate::Solution;
use crate::cones::norm_squared;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};

/// Equations F(a, b) = 0 equivalent to 0 ≤ a ⊥ b ≥ 0, with a = s_i z_i and b = w_i/t_i of a row.
pub(super) trait Equations: Copy {
    /// F(a, b).
    fn value(&self, a: f64, b: f64) -> f64;

    /// ∂F/∂a and ∂F/∂b. At a = b = 0, where F may have a corner, those in the limit along the direction `limit`.
    fn row(&self, a: f64, b: f64, limit: (f64, f64)) -> Row;
}

/// The derivatives of one row; in the solver those by z and w, with the units of the row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub by_a: f64,
    pub by_b: f64,
}

/// A solver by [`Descent`] on given equations.
#[derive(Clone, Debug)]
pub(super) struct DescentSolver {
    pub tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    best: PolishedIterate,
    system: ActiveSystem,
    descent: Descent,
}

impl DescentSolver {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        DescentSolver {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            best: PolishedIterate::default(),
            system: ActiveSystem::default(),
            descent: Descent::default(),
        }
    }

    /// Solves the problem by these equations, in the name of a solver.
    ///
    /// # Errors
    /// What is wrong with the problem.
    pub fn solve<E: Equations>(
        &mut self,
        equations: E,
        name: &'static str,
        problem: &Lcp,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(problem.n());
        self.best.begin(problem, solution);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            self.system.analyse(&problem.m);
            let limits = (self.tolerance, self.max_iterations, deadline);
            (status, iterations) = self.descent.run(equations, problem, &mut self.system, &mut self.best, limits);
        }
        Ok(self.best.finish(problem, name, solution, iterations, self.tolerance, status))
    }
}

/// Damped Newton on ½|F|²: V Δz = −F with V = diag(s ∂F/∂a) + diag(∂F/∂b / t) M, Armijo's rule, the gradient Vᵀ F where Newton's direction
/// does not descend. From time to time the rows that look active are solved exactly. Where the search ends without a solution, it
/// begins again once with all z positive.
///
/// The units t_i = √(M_ii/m), s_i = m t_i with m = mean(diag M) give all rows the same weight, whatever the masses.
#[derive(Clone, Debug, Default)]
struct Descent {
    z: Vec<f64>,
    w: Vec<f64>,
    /// s and t of each row.
    units: Vec<(f64, f64)>,
    value: Vec<f64>,
    rows: Vec<Row>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    chosen: Vec<f64>,
    /// M Δz.
    change: Vec<f64>,
    all: Vec<usize>,
    corner: Vec<f64>,
}

/// Shifts of V, relative to its largest s ∂F/∂a, tried until the direction descends.
const SHIFTS: [f64; 4] = [0.0, 1e-8, 1e-4, 1e-1];

/// Armijo's constant, as usual.
const ARMIJO: f64 = 1e-4;

/// Halvings of a step.
const HALVINGS: usize = 30;

/// A step of this length is good enough not to look for another direction.
const GOOD_STEP: f64 = 0.1;

/// Cosine between direction and −gradient below which a direction does not count as descent.
const SMALLEST_COSINE: f64 = 1e-12;

/// The active rows are tried when |F| has fallen by this factor since the last trial, and at the end.
const POLISH_FACTOR: f64 = 1e-2;

/// Rows with units t outside (this, 1/this) keep 1: they have no mass of their own.
const SMALLEST_UNIT: f64 = 1e-6;

/// Steps in sequence with hardly any progress that end the search, and what hardly any is.
const STALL_STEPS: usize = 20;
const STALL_FACTOR: f64 = 0.99;

impl Descent {
    /// Goes on from the best iterate; returns how it ended and the number of steps.
    fn run<E: Equations>(
        &mut self,
        equations: E,
        problem: &Lcp,
        system: &mut ActiveSystem,
        best: &mut PolishedIterate,
        limits: (f64, usize, Deadline),
    ) -> (SolveStatus, usize) {
        let (tolerance, max_iterations, deadline) = limits;
        self.start(problem, best);
        let (status, used) = self.descend(equations, problem, system, best, limits);
        if status != SolveStatus::Stalled || used == max_iterations {
            return (status, used);
        }
        let largest = problem.q.iter().fold(0.0_f64, |s, q| s.max(q.abs()));
        self.z.iter_mut().zip(&self.units).for_each(|(z, (s, _))| *z = largest / s);
        problem.velocity(&self.z, &mut self.w);
        let limits = (tolerance, max_iterations - used, deadline);
        let (status, more) = self.descend(equations, problem, system, best, limits);
        (status, used + more)
    }

    /// From (z, w) until a solution, a limit or a point that is stationary.
    fn descend<E: Equations>(
        &mut self,
        equations: E,
        problem: &Lcp,
        system: &mut ActiveSystem,
        best: &mut PolishedIterate,
        limits: (f64, usize, Deadline),
    ) -> (SolveStatus, usize) {
        let (tolerance, max_iterations, deadline) = limits;
        let n = problem.n();
        let mut merit = self.evaluate(equations);
        let mut polish_below = POLISH_FACTOR * merit;
        let mut stalled = 0;
        for iteration in 1..=max_iterations {
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, iteration - 1);
            }
            self.differentiate(equations, problem);
            let step = self.choose_step(equations, problem, system, merit);
            let Some(step) = step else {
                let done = best.polish(problem, system, &self.z, tolerance);
                return (if done { SolveStatus::Converged } else { SolveStatus::Stalled }, iteration);
            };
            for i in 0..n {
                self.z[i] += step * self.direction[i];
            }
            problem.velocity(&self.z, &mut self.w);
            let before = merit;
            merit = self.evaluate(equations);
            if best.offer(problem, &self.z) <= tolerance {
                return (SolveStatus::Converged, iteration);
            }
            stalled = if merit > STALL_FACTOR * before { stalled + 1 } else { 0 };
            if merit <= polish_below || stalled == STALL_STEPS {
                polish_below = POLISH_FACTOR * merit;
                if best.polish(problem, system, &self.z, tolerance) {
                    return (SolveStatus::Converged, iteration);
                }
                if stalled == STALL_STEPS {
                    return (SolveStatus::Stalled, iteration);
                }
            }
        }
        (SolveStatus::MaxIterations, max_iterations)
    }

    fn start(&mut self, problem: &Lcp, best: &PolishedIterate) {
        let n = problem.n();
        self.z.clear();
        self.z.extend_from_slice(best.z());
        self.w.resize(n, 0.0);
        problem.velocity(&self.z, &mut self.w);
        self.all.clear();
        self.all.extend(0..n);
        let scale = best.scale();
        self.units.clear();
        self.units.extend((0..n).map(|i| {
            let t = (problem.m.get(i, i) / scale).sqrt();
            if t > SMALLEST_UNIT && t < 1.0 / SMALLEST_UNIT { (scale * t, t) } else { (scale, 1.0) }
        }));
        self.gradient.resize(n, 0.0);
        self.change.resize(n, 0.0);
        self.corner.resize(n, 0.0);
    }

    /// F at (z, w); returns ½|F|².
    fn evaluate<E: Equations>(&mut self, equations: E) -> f64 {
        self.value.clear();
        self.value.extend(self.units.iter().zip(self.z.iter().zip(&self.w)).map(|((s, t), (z, w))| equations.value(s * z, w / t)));
        0.5 * norm_squared(&self.value)
    }

    /// The rows of V and the gradient Vᵀ F = s ∂F/∂a F + Mᵀ (∂F/∂b F / t). On the rows at a = b = 0 the limit is taken along the direction that is one there.
    fn differentiate<E: Equations>(&mut self, equations: E, problem: &Lcp) {
        let at_corner = |z: f64, w: f64| f64::from(u8::from(z == 0.0 && w == 0.0));
        self.direction.clear();
        self.direction.extend(self.z.iter().zip(&self.w).map(|(z, w)| at_corner(*z, *w)));
        if self.direction.contains(&1.0) {
            problem.m.multiply(&self.direction, &mut self.corner);
        } else {
            self.corner.fill(0.0);
        }
        self.rows.clear();
        for i in 0..self.z.len() {
            let (s, t) = self.units[i];
            let row = equations.row(s * self.z[i], self.w[i] / t, (s * self.direction[i], self.corner[i] / t));
            self.rows.push(Row { by_a: s * row.by_a, by_b: row.by_b / t });
        }
        for (c, (row, f)) in self.corner.iter_mut().zip(self.rows.iter().zip(&self.value)) {
            *c = row.by_b * f;
        }
        problem.m.multiply_transposed(&self.corner, &mut self.gradient);
        for (g, (row, f)) in self.gradient.iter_mut().zip(self.rows.iter().zip(&self.value)) {
            *g += row.by_a * f;
        }
    }

    /// The step along Newton's direction with the smallest shift that allows a good one; else the one of all, the gradient
    /// included, that lowers ½|F|² most. The direction is left in place. `None` at a stationary point.
    fn choose_step<E: Equations>(&mut self, equations: E, problem: &Lcp, system: &mut ActiveSystem, merit: f64) -> Option<f64> {
        let gradient_size = norm_squared(&self.gradient).sqrt();
        if gradient_size.is_nan() || gradient_size <= f64::MIN_POSITIVE {
            return None;
        }
        let largest = self.rows.iter().fold(0.0_f64, |s, row| s.max(row.by_a.abs()));
        let mut found: Option<(f64, f64)> = None;
        for attempt in 0..=SHIFTS.len() {
            if let Some(shift) = SHIFTS.get(attempt) {
                let rows = &self.rows;
                let diagonal = |i: usize| rows[i].by_a + shift * largest;
                if !system.factor(&problem.m, &self.all, diagonal, |i| rows[i].by_b) {
                    continue;
                }
                self.direction.clear();
                self.direction.extend(self.value.iter().map(|f| -f));
                system.solve(&mut self.direction);
            } else {
                self.take_gradient(problem);
            }
            let slope: f64 = self.direction.iter().zip(&self.gradient).map(|(d, g)| d * g).sum();
            if !(slope <= -SMALLEST_COSINE * gradient_size * norm_squared(&self.direction).sqrt() && slope.is_finite()) {
                continue;
            }
            problem.m.multiply(&self.direction, &mut self.change);
            let Some((step, trial)) = self.search(equations, merit) else { continue };
            if found.is_none_or(|(_, best)| trial < best) {
                found = Some((step, trial));
                self.chosen.clone_from(&self.direction);
            }
            if step >= GOOD_STEP {
                break;
            }
        }
        std::mem::swap(&mut self.direction, &mut self.chosen);
        found.map(|(step, _)| step)
    }

    /// The negative gradient, of the length that minimises the linear model.
    fn take_gradient(&mut self, problem: &Lcp) {
        problem.m.multiply(&self.gradient, &mut self.change);
        let model = (0..self.z.len()).map(|i| self.rows[i].by_a * self.gradient[i] + self.rows[i].by_b * self.change[i]);
        let curvature = model.map(|x| x * x).sum::<f64>();
        let step = if curvature > 0.0 { norm_squared(&self.gradient) / curvature } else { 1.0 };
        self.direction.clear();
        self.direction.extend(self.gradient.iter().map(|g| -step * g));
    }

    /// Armijo's step along the direction, and ½|F|² there. w is affine in z: one product for all trials.
    fn search<E: Equations>(&self, equations: E, merit: f64) -> Option<(f64, f64)> {
        let slope: f64 = self.direction.iter().zip(&self.gradient).map(|(d, g)| d * g).sum();
        let mut step = 1.0;
        for _ in 0..HALVINGS {
            let entry = |i: usize| {
                let (z, w) = (self.z[i] + step * self.direction[i], self.w[i] + step * self.change[i]);
                let (s, t) = self.units[i];
                equations.value(s * z, w / t).powi(2)
            };
            let trial = 0.5 * (0..self.z.len()).map(entry).sum::<f64>();
            if trial <= merit + ARMIJO * step * slope {
                return Some((step, trial));
            }
            step *= 0.5;
        }
        None
    }
}
