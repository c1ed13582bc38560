//! Semismooth Newton method for variational inequalities.

use super::VariationalInequality;
use super::ViSolverParams;
use super::generalised_jacobian::{GeneralisedJacobian, equations};
use super::projections::JudgedProblem;
use crate::cones::norm_squared;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::friction_contact::projection::{Limits, Projections, Variant};
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// When to use it: F smooth, with its Jacobian or of at most a few hundred components; the fastest to a tight tolerance.
///
/// Newton steps V d = −Φ on the equations of `generalised_jacobian.rs` (Fischer–Burmeister for complementarity, the natural map for cones),
/// with a line search on ½|Φ|² that lets it grow above the last few values now and then. Where V is singular or the line search
/// gets nowhere, steps of Levenberg and Marquardt of increasing damping take over; where these fail too, some extragradient iterations
/// (which converge for monotone F) give a new start, a few times.
/// [Qi & Sun, *A nonsmooth version of Newton's method*, 1993; De Luca, Facchinei & Kanzow, *A semismooth equation approach to the solution
/// of nonlinear complementarity problems*, 1996]; differs in: other sets than the positive orthant, damped steps in place of the gradient,
/// and the new starts.
///
/// Converges quadratically near a regular solution, from anywhere for strongly monotone F. Elsewhere it may end in a minimum of
/// |Φ| that is no solution: status `Stalled`, and another guess may help. Cost of a step: one factorisation, dense or sparse
/// as the Jacobian is given.
#[derive(Clone, Debug)]
pub struct SemismoothNewton {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    jacobian: GeneralisedJacobian,
    x: Vec<f64>,
    f: Vec<f64>,
    phi: Vec<f64>,
    direction: Vec<f64>,
    trial: Vec<f64>,
    f_trial: Vec<f64>,
    phi_trial: Vec<f64>,
    projections: Projections,
}

/// Damping of the steps tried in turn after Newton's own, relative to VᵀV.
const DAMPINGS: [f64; 4] = [1e-8, 1e-4, 1e-1, 1e2];

/// Values of ½|Φ|² among which the largest may be reached again.
const MEMORY: usize = 5;

/// Least decrease of ½|Φ|² relative to the one its slope promises.
const DECREASE: f64 = 1e-4;

/// Halvings of a step before the next damping is tried, and of the last one.
const HALVINGS: [usize; 2] = [12, 40];

/// Steps without a better judge after which the search is given up.
const STALL_STEPS: usize = 50;

/// Projections after Newton's first failure, four times as many after each further one, and the largest number.
const FIRST_PROJECTIONS: usize = 20;
const LAST_PROJECTIONS: usize = 2000;

/// The judge of iterates and what it has seen.
struct Judge {
    slope: f64,
    reference: f64,
    largest: f64,
    best: f64,
    best_step: usize,
    steps: usize,
    deadline: Deadline,
}

impl SemismoothNewton {
    /// A solver with these parameters.
    pub fn new(params: &ViSolverParams) -> Self {
        SemismoothNewton {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            jacobian: GeneralisedJacobian::default(),
            x: Vec::new(),
            f: Vec::new(),
            phi: Vec::new(),
            direction: Vec::new(),
            trial: Vec::new(),
            f_trial: Vec::new(),
            phi_trial: Vec::new(),
            projections: Projections::new(Variant::Extragradient, &params.projection),
        }
    }

    /// Newton's steps, and projections where they get nowhere. Leaves the best iterate in `solution`.
    fn iterate(&mut self, problem: &VariationalInequality, solution: &mut Solution) -> (SolveStatus, usize) {
        let deadline = Deadline::after(self.time_limit);
        let (slope, reference) = (problem.slope(), problem.reference_size());
        let largest = problem.largest(slope, reference);
        let mut judge = Judge { slope, reference, largest, best: 0.0, best_step: 0, steps: 0, deadline };
        judge.best = problem.residual_in_unit(&solution.r, &solution.u, slope, reference);
        let mut projections = FIRST_PROJECTIONS;
        loop {
            let status = self.descend(problem, solution, &mut judge);
            if status != SolveStatus::Stalled || projections > LAST_PROJECTIONS {
                return (status, judge.steps);
            }
            // x => a point nearer to the solution of a monotone problem, or elsewhere
            let limits = Limits { tolerance: self.tolerance, max_iterations: projections, deadline };
            self.x.copy_from_slice(&solution.r);
            let mut map = JudgedProblem { problem, slope, reference, largest, f: &mut self.f };
            self.projections.run(&mut map, &mut self.x, 1.0 / slope, limits);
            self.x.copy_from_slice(self.projections.last());
            projections *= 4;
            problem.velocity(&self.x, &mut self.f);
            judge.best_step = judge.steps;
            self.note(problem, solution, &mut judge);
        }
    }

    /// Newton's steps from x until they get nowhere.
    fn descend(&mut self, problem: &VariationalInequality, solution: &mut Solution, judge: &mut Judge) -> SolveStatus {
        equations(problem, &self.x, &self.f, judge.slope, &mut self.phi);
        let mut merits = [0.5 * norm_squared(&self.phi); MEMORY];
        loop {
            if judge.best <= self.tolerance {
                return SolveStatus::Converged;
            }
            if judge.deadline.is_over() {
                return SolveStatus::TimeLimit;
            }
            if judge.steps >= self.max_iterations {
                return SolveStatus::MaxIterations;
            }
            if judge.steps >= judge.best_step + STALL_STEPS || !self.jacobian.build(problem, &self.x, &self.f, judge.slope) {
                return SolveStatus::Stalled;
            }
            let highest = merits.iter().fold(0.0_f64, |m, x| m.max(*x));
            // (x, Φ, V) => x
            let Some(merit) = self.advance(problem, judge.slope, highest) else {
                return SolveStatus::Stalled;
            };
            merits[judge.steps % MEMORY] = merit;
            judge.steps += 1;
            self.note(problem, solution, judge);
        }
    }

    /// Judges the point of X nearest to x and keeps the best.
    fn note(&mut self, problem: &VariationalInequality, solution: &mut Solution, judge: &mut Judge) {
        self.trial.copy_from_slice(&self.x);
        problem.project(&mut self.trial);
        problem.velocity(&self.trial, &mut self.f_trial);
        let value = problem.residual_in_unit(&self.trial, &self.f_trial, judge.slope, judge.reference);
        if value < judge.best && norm_squared(&self.trial).sqrt() <= judge.largest {
            (judge.best, judge.best_step) = (value, judge.steps);
            solution.r.copy_from_slice(&self.trial);
            solution.u.copy_from_slice(&self.f_trial);
        }
    }

    /// Moves x by the first of Newton's and the damped steps that lowers ½|Φ|² below `highest`; returns its new value.
    fn advance(&mut self, problem: &VariationalInequality, slope: f64, highest: f64) -> Option<f64> {
        if self.jacobian.newton_step(&self.phi, &mut self.direction)
            && let Some(merit) = self.search(problem, slope, highest, HALVINGS[0])
        {
            return Some(merit);
        }
        for (k, damping) in DAMPINGS.into_iter().enumerate() {
            let halvings = HALVINGS[usize::from(k + 1 == DAMPINGS.len())];
            if self.jacobian.damped_step(damping, &self.phi, &mut self.direction)
                && let Some(merit) = self.search(problem, slope, highest, halvings)
            {
                return Some(merit);
            }
        }
        None
    }

    /// Line search along the direction; moves x, f and Φ where it succeeds.
    fn search(&mut self, problem: &VariationalInequality, slope: f64, highest: f64, halvings: usize) -> Option<f64> {
        let promised = -self.jacobian.slope_along(&self.phi, &self.direction);
        if !(promised > 0.0 && promised.is_finite()) {
            return None;
        }
        let mut length = 1.0;
        for _ in 0..=halvings {
            for (k, trial) in self.trial.iter_mut().enumerate() {
                *trial = self.x[k] + length * self.direction[k];
            }
            problem.velocity(&self.trial, &mut self.f_trial);
            equations(problem, &self.trial, &self.f_trial, slope, &mut self.phi_trial);
            let merit = 0.5 * norm_squared(&self.phi_trial);
            if merit <= highest - DECREASE * length * promised {
                std::mem::swap(&mut self.x, &mut self.trial);
                std::mem::swap(&mut self.f, &mut self.f_trial);
                std::mem::swap(&mut self.phi, &mut self.phi_trial);
                return Some(merit);
            }
            length *= 0.5;
        }
        None
    }
}

impl OneStepSolver<VariationalInequality> for SemismoothNewton {
    fn name(&self) -> &'static str {
        "semismooth-newton"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &VariationalInequality, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.start(solution)?;
        self.x.clone_from(&solution.r);
        self.f.clone_from(&solution.u);
        for v in [&mut self.phi, &mut self.direction, &mut self.trial, &mut self.f_trial, &mut self.phi_trial] {
            v.clear();
            v.resize(problem.n(), 0.0);
        }
        let (status, steps) = self.iterate(problem, solution);
        problem.velocity(&solution.r, &mut solution.u);
        Ok(problem.report(self.name(), solution, steps, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Closure, Set};
    use super::*;

    #[test]
    fn a_regular_equation_converges_quadratically() {
        // x³ = 8 from 3: Newton's own iterates are 2.3, 2.04, 2.0008, 2.0000003.
        let function = Closure::new(1, |x: &[f64], f: &mut [f64]| f[0] = x[0].powi(3) - 8.0);
        let problem = VariationalInequality { function: Box::new(function), sets: vec![Set::Free { dim: 1 }] };
        let mut solution = Solution { r: vec![3.0], u: Vec::new() };
        let report = SemismoothNewton::new(&ViSolverParams::default()).solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged() && report.iterations <= 6, "{report:?}");
        assert!((solution.r[0] - 2.0).abs() < 1e-9); // tolerance 1e-10 of |F(0)| = 8, slope 12
    }

    #[test]
    fn steps_end_where_the_function_is_not_defined() {
        // 0 ≤ log x ⊥ x ≥ ½: x = 1, and F is not defined for x ≤ 0.
        let function = Closure::new(1, |x: &[f64], f: &mut [f64]| f[0] = x[0].ln());
        let sets = vec![Set::Interval { lower: 0.5, upper: f64::INFINITY }];
        let problem = VariationalInequality { function: Box::new(function), sets };
        let mut solution = Solution { r: vec![30.0], u: Vec::new() };
        let report = SemismoothNewton::new(&ViSolverParams::default()).solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged(), "{report:?}");
        assert!((solution.r[0] - 1.0).abs() < 1e-9, "{:?}", solution.r); // the tolerance
    }

    #[test]
    fn a_problem_without_solution_stalls() {
        // 0 ≤ −1 ⊥ x ≥ 0.
        let function = Closure::new(1, |_: &[f64], f: &mut [f64]| f[0] = -1.0);
        let problem = VariationalInequality { function: Box::new(function), sets: vec![Set::NonNegative { dim: 1 }] };
        let mut solution = Solution::default();
        let report = SemismoothNewton::new(&ViSolverParams::default()).solve(&problem, &mut solution).unwrap();
        assert!(!report.is_converged() && solution.r[0].is_finite(), "{report:?}");
    }
}
