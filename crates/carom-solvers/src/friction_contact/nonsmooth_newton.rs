//! Nonsmooth Newton methods on three equations of the contact law.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::block_equation::BlockEquation;
use super::disk_equations::{self, Radius};
use super::fischer_burmeister_cone;
use super::line_search::{Decrease, LineSearch};
use super::linearised_system::{LinearisedSystem, Weights};
use super::scaled::Scaled;
use crate::cones::{Block, norm_squared};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::parameters::check;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// Newton's method on F(r, ρu) = 0, u = W r + q, in units of its own for each block, with one of three functions F of the contact law.
///
/// When to use it: W of full rank (flexible bodies, few contacts on many bodies), tight tolerances, good guesses: near a solution
/// convergence is quadratic. Where contacts are redundant it may stall; `auto` and `proximal-newton` do not.
///
/// ```text
/// (E + ρ B (W + α I)) d = −F(r, ρu),   dF = E dr + B d(ρu),   r ← r + t d
/// ```
///
/// The length t comes from a line search on θ = ½|F|², not monotone. α is tiny while the steps are good, no more than what keeps
/// redundant contacts apart; it grows where d is no descent direction or the search fails, and falls again after each
/// success; beyond its largest value a step along −∇θ is tried, and if that fails too the solve has stalled.
/// [Acary, Brémond & Huber, *On solving contact problems with Coulomb friction: formulations and numerical comparisons*, 2018,
/// solvers NSN-AC, NSN-JM, NSN-FB]; differs in: each block has its own unit, open contacts leave the system, α.
///
/// Cost of a step: one factorisation of the rows of closed contacts, and a product with W for each α.
#[derive(Clone, Debug)]
pub struct NonsmoothNewton {
    name: &'static str,
    function: Function,
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    params: NonsmoothNewtonParams,
    scaled: Scaled,
    system: LinearisedSystem,
    search: LineSearch,
    current: Point,
    trial: Point,
    direction: Vec<f64>,
    image: Vec<f64>,
    /// The best iterate, in the units of the problem.
    best: Vec<f64>,
}

/// The equation of the contact law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Disks(Radius),
    FischerBurmeister,
}

/// An iterate with everything that is evaluated there.
#[derive(Clone, Debug, Default)]
struct Point {
    /// Scaled impulses and velocities.
    y: Vec<f64>,
    v: Vec<f64>,
    equations: Vec<BlockEquation>,
    /// θ = ½|F|².
    merit: f64,
}

impl Point {
    fn resize(&mut self, n: usize, n_blocks: usize) {
        self.y.resize(n, 0.0);
        self.v.resize(n, 0.0);
        self.equations.resize(n_blocks, BlockEquation::default());
    }

    /// F and its Jacobian at (y, v).
    fn evaluate(&mut self, function: Function, scaled: &Scaled, rho: f64) {
        self.merit = 0.0;
        for (index, block) in scaled.blocks.iter().enumerate() {
            let rows = scaled.rows(index);
            let mut weighted = [0.0; Block::MAX_DIM];
            for (weighted, v) in weighted.iter_mut().zip(&self.v[rows.clone()]) {
                *weighted = rho * v;
            }
            let (r, u) = (&self.y[rows.clone()], &weighted[..rows.len()]);
            let equation = &mut self.equations[index];
            match function {
                Function::Disks(radius) => disk_equations::linearise(*block, radius, r, u, equation),
                Function::FischerBurmeister => fischer_burmeister_cone::linearise(*block, r, u, equation),
            }
            self.merit += 0.5 * norm_squared(&equation.f[..rows.len()]);
        }
    }

    /// dθ along a direction with its image: F·(E d + ρ B W d).
    fn slope(&self, scaled: &Scaled, rho: f64, direction: &[f64], image: &[f64]) -> f64 {
        let mut slope = 0.0;
        for (index, equation) in self.equations.iter().enumerate() {
            let rows = scaled.rows(index);
            let mut weighted = [0.0; Block::MAX_DIM];
            for (weighted, x) in weighted.iter_mut().zip(&image[rows.clone()]) {
                *weighted = rho * x;
            }
            for i in 0..rows.len() {
                slope += equation.f[i] * equation.change(i, &direction[rows.clone()], &weighted[..rows.len()]);
            }
        }
        slope
    }

    /// −∇θ = −(Eᵀ F + ρ Wᵀ Bᵀ F), W taken as symmetric; `image` is work space.
    fn steepest_descent(&self, scaled: &Scaled, rho: f64, direction: &mut [f64], image: &mut [f64]) {
        for (index, equation) in self.equations.iter().enumerate() {
            let rows = scaled.rows(index);
            let dim = rows.len();
            for (j, k) in rows.enumerate() {
                image[k] = (0..dim).map(|i| equation.velocity[i * dim + j] * equation.f[i]).sum();
            }
        }
        scaled.w.multiply(image, direction);
        for (index, equation) in self.equations.iter().enumerate() {
            let rows = scaled.rows(index);
            let dim = rows.len();
            for (j, k) in rows.enumerate() {
                let by_impulse: f64 = (0..dim).map(|i| equation.impulse[i * dim + j] * equation.f[i]).sum();
                direction[k] = -by_impulse - rho * direction[k];
            }
        }
        scaled.w.multiply(direction, image);
    }
}

/// First α after a failure, where diag W is 1.
const FIRST_ALPHA: f64 = 1e-6;

/// Factor on α after a failure; its inverse after a success.
const ALPHA_FACTOR: f64 = 10.0;

/// Largest α: the step is then nearly one of a fixed point with a short length.
const MAX_ALPHA: f64 = 10.0;

/// Least part of θ that the slope along a good direction promises; Newton's own promises 2.
const LEAST_SLOPE: f64 = 1e-4;

/// Steps without a better iterate after which the search is given up.
const STALL_STEPS: usize = 100;

impl NonsmoothNewton {
    fn new(params: &FrictionSolverParams, name: &'static str, function: Function) -> Self {
        NonsmoothNewton {
            name,
            function,
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            params: params.newton.clone(),
            scaled: Scaled::default(),
            system: LinearisedSystem::default(),
            search: LineSearch::default(),
            current: Point::default(),
            trial: Point::default(),
            direction: Vec::new(),
            image: Vec::new(),
            best: Vec::new(),
        }
    }

    /// The function of Alart and Curnier: disks of radius μ (r_N − ρ u_N)⁺.
    pub(crate) fn alart_curnier(params: &FrictionSolverParams) -> Self {
        Self::new(params, "newton-alart-curnier", Function::Disks(Radius::AlartCurnier))
    }

    /// The function of Jean and Moreau: disks of radius μ (r_N)⁺.
    pub(crate) fn jean_moreau(params: &FrictionSolverParams) -> Self {
        Self::new(params, "newton-jean-moreau", Function::Disks(Radius::JeanMoreau))
    }

    /// The function of Fischer and Burmeister on the second-order cone; θ is smooth.
    pub(crate) fn fischer_burmeister(params: &FrictionSolverParams) -> Self {
        Self::new(params, "newton-fischer-burmeister", Function::FischerBurmeister)
    }

    /// The steps; returns their number and why they ended. The best iterate is in `best`.
    fn iterate(&mut self, problem: &FrictionContact, solution: &mut Solution) -> (usize, SolveStatus) {
        let deadline = Deadline::after(self.time_limit);
        let mass_scale = problem.mass_scale();
        let runaway = problem.runaway(mass_scale);
        let mut best = f64::INFINITY;
        let (mut steps, mut best_step) = (0, 0);
        let mut alpha = self.params.regularisation;
        loop {
            self.scaled.restore_impulse(&self.current.y, &mut solution.r);
            problem.velocity(&solution.r, &mut solution.u);
            let residual = problem.residual_in_mass_unit(&solution.r, &solution.u, mass_scale);
            if residual < best && (steps == 0 || !runaway.applies(&solution.r, residual)) {
                (best, best_step) = (residual, steps);
                self.best.copy_from_slice(&solution.r);
            }
            let end = if best <= self.tolerance {
                Some(SolveStatus::Converged)
            } else if steps >= self.max_iterations {
                Some(SolveStatus::MaxIterations)
            } else if deadline.is_over() {
                Some(SolveStatus::TimeLimit)
            } else if steps - best_step >= STALL_STEPS || !self.step(&mut alpha) {
                Some(SolveStatus::Stalled)
            } else {
                None
            };
            if let Some(status) = end {
                return (steps, status);
            }
            steps += 1;
        }
    }

    /// One step from `current`; false when no direction leads down.
    fn step(&mut self, alpha: &mut f64) -> bool {
        let rho = self.params.rho;
        loop {
            let weights = Weights { rho, alpha: *alpha };
            let equations = &self.current.equations;
            let step = (&mut self.direction[..], &mut self.image[..]);
            let worked = self.system.solve(&self.scaled, equations, weights, step) && self.search_line();
            if worked {
                *alpha = if *alpha <= FIRST_ALPHA { 0.0 } else { *alpha / ALPHA_FACTOR }.max(self.params.regularisation);
                return true;
            }
            *alpha = (*alpha * ALPHA_FACTOR).max(FIRST_ALPHA);
            if *alpha > MAX_ALPHA {
                *alpha = MAX_ALPHA;
                self.current.steepest_descent(&self.scaled, rho, &mut self.direction, &mut self.image);
                return self.search_line();
            }
        }
    }

    /// Moves `current` along the direction as far as the line search allows; false when it is no descent.
    fn search_line(&mut self) -> bool {
        let rho = self.params.rho;
        let slope = self.current.slope(&self.scaled, rho, &self.direction, &self.image);
        let merit = self.current.merit;
        if slope.is_nan() || slope >= -LEAST_SLOPE * merit {
            return false;
        }
        let (current, trial) = (&self.current, &mut self.trial);
        let (scaled, function) = (&self.scaled, self.function);
        let (direction, image) = (&self.direction, &self.image);
        let found = self.search.search(self.params.line_search, Decrease { merit, slope }, |length| {
            for k in 0..direction.len() {
                trial.y[k] = current.y[k] + length * direction[k];
                trial.v[k] = current.v[k] + length * image[k];
            }
            trial.evaluate(function, scaled, rho);
            trial.merit
        });
        if found {
            std::mem::swap(&mut self.current, &mut self.trial);
        }
        found
    }
}

impl OneStepSolver<FrictionContact> for NonsmoothNewton {
    fn name(&self) -> &'static str {
        self.name
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        if self.function == Function::FischerBurmeister && !problem.blocks.iter().all(|b| fischer_burmeister_cone::supports(*b)) {
            return Err(SolveError::Unsupported {
                solver: self.name,
                reason: "friction with rolling resistance and bounded rows are no second-order cones",
                alternatives: "newton-alart-curnier or auto",
            });
        }
        let n = problem.n_rows();
        solution.prepare(n);
        for x in [&mut self.direction, &mut self.image, &mut self.best] {
            x.resize(n, 0.0);
        }
        // What is returned where not even the guess can be judged.
        self.best.fill(0.0);
        self.scaled.build(problem);
        self.system.prepare(&self.scaled);
        self.search.reset(self.params.memory);
        self.current.resize(n, problem.blocks.len());
        self.trial.resize(n, problem.blocks.len());
        self.scaled.scale_impulse(&solution.r, &mut self.current.y);
        self.scaled.velocity(&self.current.y, &mut self.current.v);
        self.current.evaluate(self.function, &self.scaled, self.params.rho);
        let (steps, status) = self.iterate(problem, solution);
        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        Ok(problem.report(self.name, solution, steps, self.tolerance, status))
    }
}

/// How the length of a Newton step is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewtonLineSearch {
    /// Always the full step.
    None,
    /// The full step, halved until θ has decreased enough.
    Armijo,
    /// As Armijo, and lengthened where the decrease shows that the step is too short.
    #[default]
    GoldsteinPrice,
}

/// Settings of the nonsmooth Newton methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NonsmoothNewtonParams {
    /// How the length of a step is found. Default `"goldstein-price"`.
    pub line_search: NewtonLineSearch,
    /// Number of past steps whose largest θ the search has to fall below. Default 6, nominal 1 (monotone) to 10. 0 is an error.
    pub memory: usize,
    /// Least α, no unit: mean(diag W) of each block is 1. Default 1e-9, nominal 0 (for W of full rank) to 1e-6: what is larger
    /// slows the last steps down. Negative or not finite is an error.
    pub regularisation: f64,
    /// Weight ρ of velocities against impulses, no unit: mean(diag W) of each block is 1. Default 1, nominal 0.1 to 10. Not positive or not
    /// finite is an error.
    pub rho: f64,
}

impl Default for NonsmoothNewtonParams {
    fn default() -> Self {
        NonsmoothNewtonParams { line_search: NewtonLineSearch::default(), memory: 6, regularisation: 1e-9, rho: 1.0 }
    }
}

impl NonsmoothNewtonParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check(self.memory > 0, "newton.memory", self.memory as f64, "at least 1")?;
        let alpha = self.regularisation;
        check(alpha >= 0.0 && alpha.is_finite(), "newton.regularisation", alpha, "a number >= 0")?;
        check(self.rho > 0.0 && self.rho.is_finite(), "newton.rho", self.rho, "a positive number")
    }
}
