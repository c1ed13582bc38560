//! Proximal point iterations around a semismooth Newton method.

use super::FrictionSolverParams;
use super::newton_system::{NewtonSystem, Point, Subproblem};
use super::one_contact::{single_contact, solve_single};
use super::scaled::Scaled;
use super::{FrictionContact, Runaway};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Solves a sequence of problems made regular by a proximal term,
///
///   r_{k+1} = solution with W + α_k I and q − α_k r_k,
///
/// each by Newton steps on the Alart–Curnier equations with a line search on |F|. Where contacts are
/// redundant W is singular and Newton's matrix with it; the proximal term makes it regular and
/// disappears at the solution. α falls while Newton converges and rises when it does not.
/// [Acary, Brémond & Huber 2018, solvers PPA-NSN-AC]; differs in: each block has its own unit, the
/// penalty ρ of the equations is tied to α, and the linear system has only the unknowns that its simple equations leave.
///
/// When to use it: stacks, walls and other contacts that share loads in many ways, to a tight tolerance. Cost of a step: one
/// sparse factorisation, 0.3 ms for a tower of twenty cubes, 3 ms for 500 contacts of a building.
#[derive(Debug)]
pub struct ProximalNewton {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    scaled: Scaled,
    system: NewtonSystem,
    center: Vec<f64>,
    current: Point,
    trial: Point,
    direction: Vec<f64>,
    image: Vec<f64>,
    /// The best iterate of the subproblem, scaled.
    nearest: Vec<f64>,
    /// The best of all, in the units of the problem.
    best: Vec<f64>,
}

/// First α: from a guess that is no guess, larger values only cost steps and smaller ones fail.
const FIRST_ALPHA: f64 = 1e-2;

/// Least α: the matrix keeps six digits.
const MIN_ALPHA: f64 = 1e-10;

/// An α at which every subproblem is nearly diagonal; failing there is final.
const MAX_ALPHA: f64 = 1e4;

/// Smallest factor on α after a success, and the factor after repeated failures is its inverse.
const FASTEST: f64 = 0.1;

/// Largest factor on α after a success.
const SLOWEST: f64 = 0.75;

/// Exponent that makes the factor smaller after an easy success; 2 would undo a failure at once and invite the next.
const RECOVERY: f64 = 1.5;

/// Newton steps for one subproblem.
const MAX_STEPS: usize = 30;

/// Subproblems solved within this number of steps let α fall faster.
const FEW_STEPS: usize = 4;

/// Subproblems that took more than this number of steps are followed by one with the same α.
const MANY_STEPS: usize = 10;

/// A subproblem is solved when |F| is below this part of the proximal term.
const INEXACTNESS: f64 = 0.05;

/// Halvings of a step in the line search. Where more are needed the subproblem is too hard: a larger α costs less.
const HALVINGS: usize = 8;

/// Least relative decrease of |F|, per length of the step.
const DECREASE: f64 = 5e-4;

/// Steps without a better iterate after which the search is given up.
const STALL_STEPS: usize = 200;

/// When Newton's steps end.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewtonLimits {
    /// Normalised residual.
    pub tolerance: f64,
    /// Number of steps.
    pub max_steps: usize,
    /// Time.
    pub deadline: Deadline,
}

/// The judge of iterates and what it has seen.
struct Judge {
    mass_scale: f64,
    tolerance: f64,
    best: f64,
    steps: usize,
    best_step: usize,
    max_steps: usize,
    runaway: Runaway,
    is_lost: bool,
    deadline: Deadline,
}

impl Judge {
    fn is_satisfied(&self) -> bool {
        self.best <= self.tolerance
    }

    fn is_over(&self) -> bool {
        self.is_satisfied()
            || self.is_lost
            || self.deadline.is_over()
            || self.steps >= self.max_steps
            || self.steps >= self.best_step + STALL_STEPS
    }
}

impl ProximalNewton {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        ProximalNewton {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            scaled: Scaled::default(),
            system: NewtonSystem::default(),
            center: Vec::new(),
            current: Point::default(),
            trial: Point::default(),
            direction: Vec::new(),
            image: Vec::new(),
            nearest: Vec::new(),
            best: Vec::new(),
        }
    }

    /// Reads a valid problem.
    pub(super) fn prepare(&mut self, problem: &FrictionContact) {
        self.scaled.build(problem);
        self.system.prepare(&self.scaled);
    }

    /// Entries of the largest matrix that may be needed, about.
    pub(super) fn storage(&mut self) -> usize {
        self.system.storage(&self.scaled)
    }

    /// The cost of a Newton step in sweeps over W, about, when the blocks with an impulse in `r` are closed.
    pub(super) fn step_cost(&mut self, r: &[f64]) -> f64 {
        let scaled = &self.scaled;
        self.system.cost(scaled, |block| r[scaled.rows(block)].iter().any(|x| *x != 0.0))
    }

    /// Solves the problem given to [`Self::prepare`] with other limits than the parameters'.
    pub(super) fn solve_within(&mut self, problem: &FrictionContact, solution: &mut Solution, limits: NewtonLimits) -> SolveReport {
        let NewtonLimits { tolerance, max_steps, deadline } = limits;
        let n = problem.n_rows();
        for x in [&mut self.center, &mut self.direction, &mut self.image, &mut self.nearest, &mut self.best] {
            x.resize(n, 0.0);
        }
        self.current.resize(n);
        self.trial.resize(n);
        let mass_scale = problem.mass_scale();
        let runaway = problem.runaway(mass_scale);
        let mut judge =
            Judge { mass_scale, tolerance, best: f64::INFINITY, steps: 0, best_step: 0, max_steps, runaway, is_lost: false, deadline };
        // The guess, moved to its cone, is the first iterate.
        self.scaled.scale_impulse(&solution.r, &mut self.current.y);
        self.judge(problem, solution, &mut judge);
        self.best.copy_from_slice(&solution.r);
        self.scaled.scale_impulse(&solution.r, &mut self.current.y);
        self.iterate(problem, solution, &mut judge);

        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        let otherwise = if judge.steps >= max_steps {
            SolveStatus::MaxIterations
        } else if deadline.is_over() {
            SolveStatus::TimeLimit
        } else {
            SolveStatus::Stalled
        };
        problem.report("proximal-newton", solution, judge.steps, tolerance, otherwise)
    }

    /// The proximal point iterations.
    fn iterate(&mut self, problem: &FrictionContact, solution: &mut Solution, judge: &mut Judge) {
        let mut alpha = FIRST_ALPHA;
        let mut factor = FASTEST;
        let mut last_worked = false;
        while !judge.is_over() && alpha <= MAX_ALPHA {
            self.center.copy_from_slice(&self.current.y);
            let start = judge.steps;
            let solved = self.solve_subproblem(problem, solution, judge, alpha);
            let steps = judge.steps - start;
            if solved {
                if steps <= FEW_STEPS {
                    factor = factor.powf(RECOVERY).max(FASTEST);
                }
                if steps <= MANY_STEPS {
                    alpha = (alpha * factor).max(MIN_ALPHA);
                }
            } else {
                // Back to the last α that worked, if there was one, and then down in smaller steps.
                alpha /= if last_worked { factor } else { FASTEST };
                factor = factor.sqrt().min(SLOWEST);
                self.current.y.copy_from_slice(&self.nearest);
            }
            last_worked = solved;
        }
    }

    /// Newton's method for one subproblem, from `current`. True when it is solved as well as it needs to be.
    fn solve_subproblem(&mut self, problem: &FrictionContact, solution: &mut Solution, judge: &mut Judge, alpha: f64) -> bool {
        let mut nearest = self.judge(problem, solution, judge);
        self.nearest.copy_from_slice(&self.current.y);
        self.scaled.velocity(&self.current.y, &mut self.current.v);
        self.current.evaluate(&Subproblem { scaled: &self.scaled, center: &self.center, alpha });
        for _ in 0..MAX_STEPS {
            if judge.is_over() {
                return false;
            }
            judge.steps += 1;
            let subproblem = Subproblem { scaled: &self.scaled, center: &self.center, alpha };
            if !self.system.solve(&subproblem, &self.current, &mut self.direction, &mut self.image) || !self.search_line(alpha) {
                return false;
            }
            let residual = self.judge(problem, solution, judge);
            if residual < nearest {
                nearest = residual;
                self.nearest.copy_from_slice(&self.current.y);
            }
            let moved: f64 = self.current.y.iter().zip(&self.center).map(|(y, c)| (y - c) * (y - c)).sum();
            let subproblem = Subproblem { scaled: &self.scaled, center: &self.center, alpha };
            if self.current.size <= INEXACTNESS * subproblem.rho() * alpha * moved.sqrt() {
                return true;
            }
        }
        false
    }

    /// Moves `current` along the direction, halving the step until |F| decreases; false when it does not.
    fn search_line(&mut self, alpha: f64) -> bool {
        let subproblem = Subproblem { scaled: &self.scaled, center: &self.center, alpha };
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            for k in 0..self.center.len() {
                self.trial.y[k] = self.current.y[k] + length * self.direction[k];
                self.trial.v[k] = self.current.v[k] + length * self.image[k];
            }
            self.trial.evaluate(&subproblem);
            if self.trial.size <= (1.0 - DECREASE * length) * self.current.size {
                std::mem::swap(&mut self.current, &mut self.trial);
                return true;
            }
            length *= 0.5;
        }
        false
    }

    /// Residual of the problem at `current`, moved to its cone; the best iterate is kept.
    fn judge(&mut self, problem: &FrictionContact, solution: &mut Solution, judge: &mut Judge) -> f64 {
        self.scaled.restore_impulse(&self.current.y, &mut solution.r);
        problem.velocity(&solution.r, &mut solution.u);
        let residual = problem.residual_in_mass_unit(&solution.r, &solution.u, judge.mass_scale);
        if judge.steps > 0 && judge.runaway.applies(&solution.r, residual) {
            judge.is_lost = true;
        } else if residual < judge.best {
            judge.best = residual;
            judge.best_step = judge.steps;
            self.best.copy_from_slice(&solution.r);
        }
        residual
    }
}

impl OneStepSolver<FrictionContact> for ProximalNewton {
    fn name(&self) -> &'static str {
        "proximal-newton"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        if let Some(block) = single_contact(problem) {
            return solve_single(problem, block, solution, self.tolerance);
        }
        problem.validate()?;
        if problem.blocks.iter().any(|block| block.moments().is_some()) {
            return Err(SolveError::Unsupported {
                solver: "proximal-newton",
                reason: "its equations have no moments against rolling or spinning",
                alternatives: "auto, nsgs, admm or newton-alart-curnier",
            });
        }
        solution.prepare(problem.n_rows());
        self.prepare(problem);
        let deadline = Deadline::after(self.time_limit);
        let limits = NewtonLimits { tolerance: self.tolerance, max_steps: self.max_iterations, deadline };
        Ok(self.solve_within(problem, solution, limits))
    }
}
