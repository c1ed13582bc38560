//! Alternating direction method of multipliers.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::admm_control::{AdmmControl, AdmmResiduals};
use super::forecast::Forecast;
use super::scaled::Scaled;
use super::shifted_matrix::ShiftedMatrix;
use crate::cones::norm_squared;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::parameters::check;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// ADMM for r = y, r bound by the equation and y by the cone, in units of its own for each block:
///
/// ```text
/// (W + ρ I) r' = ρ y − p − q − s(p),   z' = r' + p/ρ,   y' = P_K(z'),   p' = ρ (z' − y')
/// ```
///
/// where −p ∈ K* is û and s = μ|û_T| on the normal rows is De Saxcé's term, taken from the last iterate: at a fixed point the law is
/// the exact one, not its convex relaxation.
///
/// When to use it: many redundant contacts and moderate tolerances, large mass ratios (W is factored, so they cost
/// nothing); from 1e-4 to 1e-8 the number of iterations may grow from a hundred to thousands. Not for problems that one or
/// two Newton steps solve.
///
/// [Boyd, Parikh, Chu, Peleato & Eckstein, *Distributed optimization and statistical learning via the alternating direction method of
/// multipliers*, 2011] for the method, [Acary, Brémond & Huber 2018] for the problem; differs in: the units of the blocks, s inside the
/// iteration, and Anderson acceleration beside Nesterov's (see `AdmmControl`).
///
/// Cost: a sparse factorisation for each ρ (LDLᵀ, or LU where W is not symmetric), then one solve with it and one
/// projection per contact and iteration; a product with W every 10 iterations.
#[derive(Clone, Debug)]
pub struct Admm {
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
    pub(super) time_limit: Option<f64>,
    /// Iterations still foreseen after which there is a better way: status `Stalled`.
    pub(super) patience: f64,
    params: AdmmParams,
    scaled: Scaled,
    matrix: ShiftedMatrix,
    control: AdmmControl,
    r: Vec<f64>,
    /// The argument z of the iteration with its (y, p), and the image z' with (y', p').
    z: Vec<f64>,
    from: Pair,
    image: Vec<f64>,
    to: Pair,
    /// The best iterate, in the units of the problem.
    best: Vec<f64>,
}

/// An impulse y ∈ K and a multiplier p with −p ∈ K*, normal to each other.
#[derive(Clone, Debug, Default)]
struct Pair {
    y: Vec<f64>,
    p: Vec<f64>,
}

impl Pair {
    fn resize(&mut self, n: usize) {
        self.y.resize(n, 0.0);
        self.p.resize(n, 0.0);
    }

    /// y = P_K(z), p = ρ (z − y).
    fn split(&mut self, scaled: &Scaled, rho: f64, z: &[f64]) {
        self.y.copy_from_slice(z);
        for (index, block) in scaled.blocks.iter().enumerate() {
            block.project(&mut self.y[scaled.rows(index)]);
        }
        for ((p, z), y) in self.p.iter_mut().zip(z).zip(&self.y) {
            *p = rho * (z - y);
        }
    }

    /// z = y + p/ρ.
    fn join(&self, rho: f64, z: &mut [f64]) {
        for ((z, y), p) in z.iter_mut().zip(&self.y).zip(&self.p) {
            *z = y + p / rho;
        }
    }
}

/// ρ where none is given, as a part of mean(diag W). Smaller ones begin slowly, with larger ones the first iterates lie far off.
const FIRST_RHO: f64 = 0.1;

/// Iterations before the number of those to come is foreseen: the penalty is then balanced.
const FIRST_FORECAST: usize = 40;

/// Iterations between evaluations of the judge.
const CHECK_INTERVAL: usize = 10;

/// Iterations without a better iterate after which the solve has stalled. Slow ones may pause for hundreds.
const STALL_ITERATIONS: usize = 3000;

impl Admm {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Admm {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            patience: f64::INFINITY,
            params: params.admm.clone(),
            scaled: Scaled::default(),
            matrix: ShiftedMatrix::default(),
            control: AdmmControl::default(),
            r: Vec::new(),
            z: Vec::new(),
            from: Pair::default(),
            image: Vec::new(),
            to: Pair::default(),
            best: Vec::new(),
        }
    }

    /// The iterations; returns their number and why they ended. The best iterate is in `best`.
    fn iterate(&mut self, problem: &FrictionContact, solution: &mut Solution) -> (usize, SolveStatus) {
        let deadline = Deadline::after(self.time_limit);
        let mass_scale = problem.mass_scale();
        let runaway = problem.runaway(mass_scale);
        let (mut best, mut best_iteration) = (f64::INFINITY, 0);
        let mut forecast = None;
        let mut must_judge = true;
        let mut must_factor = true;
        for iteration in 0.. {
            if must_judge {
                self.scaled.restore_impulse(&self.to.y, &mut solution.r);
                problem.velocity(&solution.r, &mut solution.u);
                let residual = problem.residual_in_mass_unit(&solution.r, &solution.u, mass_scale);
                if residual < best && (iteration == 0 || !runaway.applies(&solution.r, residual)) {
                    (best, best_iteration) = (residual, iteration);
                    self.best.copy_from_slice(&solution.r);
                }
                if best <= self.tolerance {
                    return (iteration, SolveStatus::Converged);
                }
                let forecast = forecast.get_or_insert_with(|| Forecast::new(best));
                if forecast.remaining(iteration, best, self.tolerance) > self.patience && iteration >= FIRST_FORECAST {
                    return (iteration, SolveStatus::Stalled);
                }
            }
            if iteration >= self.max_iterations {
                return (iteration, SolveStatus::MaxIterations);
            }
            if deadline.is_over() {
                return (iteration, SolveStatus::TimeLimit);
            }
            let rho = self.control.rho();
            if iteration - best_iteration >= STALL_ITERATIONS || must_factor && !self.matrix.factor(rho) {
                return (iteration, SolveStatus::Stalled);
            }
            self.apply(rho);
            let residuals = self.residuals(rho);
            let error = residuals.primal.hypot(residuals.dual);
            if !error.is_finite() {
                return (iteration, SolveStatus::Stalled);
            }
            let size = residuals.primal_size.max(residuals.dual_size);
            must_judge = (iteration + 1) % CHECK_INTERVAL == 0 || error <= self.tolerance * size;
            must_factor = self.control.balance(residuals);
            if must_factor {
                self.to.join(self.control.rho(), &mut self.image);
            } else {
                self.control.advance(&self.z, &mut self.image);
            }
            std::mem::swap(&mut self.z, &mut self.image);
        }
        (self.max_iterations, SolveStatus::MaxIterations)
    }

    /// One iteration: z ⇒ (y, p) ⇒ r' ⇒ z' ⇒ (y', p').
    fn apply(&mut self, rho: f64) {
        self.from.split(&self.scaled, rho, &self.z);
        for (k, r) in self.r.iter_mut().enumerate() {
            *r = rho * self.from.y[k] - self.from.p[k] - self.scaled.q[k];
        }
        for (index, block) in self.scaled.blocks.iter().enumerate() {
            let rows = self.scaled.rows(index);
            self.r[rows.start] -= block.slip_term(&self.from.p[rows.clone()]);
        }
        self.matrix.solve(&mut self.r);
        let omega = self.params.relaxation;
        for (k, image) in self.image.iter_mut().enumerate() {
            *image = omega * self.r[k] + (1.0 - omega) * self.from.y[k] + self.from.p[k] / rho;
        }
        self.to.split(&self.scaled, rho, &self.image);
    }

    fn residuals(&self, rho: f64) -> AdmmResiduals {
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        AdmmResiduals {
            primal: distance(&self.r, &self.to.y),
            dual: rho * distance(&self.to.y, &self.from.y),
            primal_size: norm_squared(&self.to.y).sqrt(),
            dual_size: norm_squared(&self.to.p).max(norm_squared(&self.scaled.q)).sqrt(),
        }
    }

    /// The guess with the velocities that belong to it: z = y − û/ρ.
    fn start(&mut self, guess: &[f64], rho: f64) {
        self.scaled.scale_impulse(guess, &mut self.image);
        self.to.split(&self.scaled, rho, &self.image);
        self.scaled.velocity(&self.to.y, &mut self.r);
        for (index, block) in self.scaled.blocks.iter().enumerate() {
            let rows = self.scaled.rows(index);
            self.r[rows.start] += block.slip_term(&self.r[rows.clone()]);
        }
        for (k, z) in self.z.iter_mut().enumerate() {
            *z = self.to.y[k] - self.r[k] / rho;
        }
    }
}

impl OneStepSolver<FrictionContact> for Admm {
    fn name(&self) -> &'static str {
        "admm"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let n = problem.n_rows();
        solution.prepare(n);
        for x in [&mut self.r, &mut self.z, &mut self.image, &mut self.best] {
            x.resize(n, 0.0);
        }
        // What is returned where not even the guess can be judged.
        self.best.fill(0.0);
        self.from.resize(n);
        self.to.resize(n);
        self.scaled.build(problem);
        self.matrix.build(&self.scaled);
        // mean(diag W) is 1 in these units.
        let rho = self.params.rho.unwrap_or(FIRST_RHO);
        self.control.reset(&self.params, rho, n);
        self.start(&solution.r, rho);
        let (iterations, status) = self.iterate(problem, solution);
        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        Ok(problem.report("admm", solution, iterations, self.tolerance, status))
    }
}

/// How the penalty of ADMM follows the residuals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdmmBalancing {
    /// It stays as it is.
    None,
    /// It grows with the primal residual and falls with the dual one.
    #[default]
    Residual,
    /// The same with residuals relative to the sizes of their variables.
    Scaled,
}

/// How the iterations of ADMM are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdmmAcceleration {
    /// Not at all.
    None,
    /// Nesterov's momentum with restarts: cheap, good for the first digits.
    Nesterov,
    /// Least squares over the last iterations: better for the last digits.
    #[default]
    Anderson,
}

/// Settings of ADMM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdmmParams {
    /// First penalty ρ, as a part of mean(diag W) of each block. Default none: 0.1. Nominal 1e-3 to 10; others
    /// only cost iterations until the balance is found. Not positive or not finite is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// How ρ follows the residuals. Default `"residual"`.
    pub balancing: AdmmBalancing,
    /// Ratio of the residuals from which ρ changes. Default 10, nominal 2 to 100. Below 1 it is an error.
    pub balance_ratio: f64,
    /// Factor of a change of ρ. Default 2, nominal 1.5 to 10. Not above 1 or not finite is an error.
    pub balance_factor: f64,
    /// Largest number of changes of ρ, each of which costs a factorisation. Default 20.
    pub max_balancings: usize,
    /// How the iterations are combined. Default `"anderson"`.
    pub acceleration: AdmmAcceleration,
    /// Momentum goes on while |z' − z|² falls below this part η of its last value, no unit. Default 0.999, nominal 0.9 to 0.9999. Outside
    /// (0, 1) it is an error. Used with `"nesterov"` only.
    pub restart: f64,
    /// Over-relaxation ω of r, no unit. Default 1, nominal 1 to 1.8. Outside (0, 2) it is an error.
    pub relaxation: f64,
}

impl Default for AdmmParams {
    fn default() -> Self {
        AdmmParams {
            rho: None,
            balancing: AdmmBalancing::default(),
            balance_ratio: 10.0,
            balance_factor: 2.0,
            max_balancings: 20,
            acceleration: AdmmAcceleration::default(),
            restart: 0.999,
            relaxation: 1.0,
        }
    }
}

impl AdmmParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        let rho = self.rho.unwrap_or(1.0);
        check(rho > 0.0 && rho.is_finite(), "admm.rho", rho, "a positive number")?;
        check(self.balance_ratio >= 1.0, "admm.balance_ratio", self.balance_ratio, "a number >= 1")?;
        let factor = self.balance_factor;
        check(factor > 1.0 && factor.is_finite(), "admm.balance_factor", factor, "a number > 1")?;
        check(self.restart > 0.0 && self.restart < 1.0, "admm.restart", self.restart, "a number in (0, 1)")?;
        check(self.relaxation > 0.0 && self.relaxation < 2.0, "admm.relaxation", self.relaxation, "a number in (0, 2)")
    }
}
