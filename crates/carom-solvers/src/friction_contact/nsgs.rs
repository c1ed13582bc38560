//! Nonlinear block Gauss–Seidel (NSGS).

use super::FrictionContact;
use super::local::solve_contact;
use super::one_contact::{single_contact, solve_single};
use crate::acceleration::Acceleration;
use crate::cones::Block;
use crate::error::SolveError;
use crate::linear::RankRevealingLu;
use crate::parameters::FrictionSolverParams;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// Sweeps over the blocks in their order, solving each exactly with the others held fixed:
///
///   r_i ← solution of u_i = W_ii r_i + (q_i + Σ_{j≠i} W_ij r_j) on its cone,
///
/// followed by P_K(r_old + ω (r_new − r_old)) when ω ≠ 1. [Jourdan, Alart & Jean 1998]; differs in: the
/// block solver is the exact one of `one_contact_2d.rs` and `one_contact_3d.rs`, and Anderson acceleration
/// combines the sweeps (plain sweeps need thousands on towers and large mass ratios).
///
/// The change of r in a sweep is the cheap error; the judge (one product with W) is evaluated when
/// the cheap error predicts success and every 20 sweeps. The best iterate is returned.
/// Cost: one pass over W and one block solve per contact and sweep; no allocation when warm. A single
/// contact is solved in one sweep without work arrays.
#[derive(Clone, Debug)]
pub struct Nsgs {
    tolerance: f64,
    max_iterations: usize,
    relaxation: f64,
    best: Vec<f64>,
    acceleration: Acceleration,
    /// Factors of the diagonal blocks of joints, in the order of the blocks.
    joints: Vec<RankRevealingLu>,
}

/// Sweeps between evaluations of the judge.
const CHECK_INTERVAL: usize = 20;

/// Evaluations of the judge without progress after which the sweeps are given up.
const STALL_CHECKS: usize = 250;

/// When sweeps end.
#[derive(Clone, Copy, Debug)]
pub(super) struct SweepLimits {
    /// Normalised residual.
    pub tolerance: f64,
    /// Number of sweeps.
    pub max_iterations: usize,
    /// Sweeps still foreseen after which there is a better way: status `Stalled`.
    pub patience: f64,
}

/// Sweeps before the number of those to come is foreseen.
const FIRST_FORECAST: usize = 40;

/// Foresees the number of sweeps from the decrease of the best residual over the later half of those done.
struct Forecast {
    /// (sweeps, residual) at the beginning of the window, and where the next one begins.
    begin: (usize, f64),
    next: (usize, f64),
}

impl Forecast {
    /// Sweeps still to do, infinite without any decrease.
    fn remaining(&mut self, iteration: usize, best: f64, tolerance: f64) -> f64 {
        if iteration >= 2 * self.next.0 {
            self.begin = self.next;
            self.next = (iteration, best);
        }
        let decrease = (self.begin.1 / best).ln();
        let sweeps = (iteration - self.begin.0) as f64;
        if decrease > 0.0 { sweeps * (best / tolerance).ln() / decrease } else { f64::INFINITY }
    }
}

/// What a sweep did to r, in the mass unit of the judge.
struct Change {
    step: f64,
    size: f64,
}

impl Nsgs {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Nsgs {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            relaxation: params.relaxation,
            best: Vec::new(),
            acceleration: Acceleration::default(),
            joints: Vec::new(),
        }
    }

    /// Solves with other limits than the parameters'. The problem is valid and the solution prepared.
    pub(super) fn solve_within(&mut self, problem: &FrictionContact, solution: &mut Solution, limits: SweepLimits) -> SolveReport {
        self.factor_joints(problem);
        project_on_cones(problem, &mut solution.r);
        let (status, iterations) = self.iterate(problem, solution, limits);
        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        problem.report("nsgs", solution, iterations, limits.tolerance, status)
    }

    /// The loop. Leaves the best iterate in `self.best`.
    fn iterate(&mut self, problem: &FrictionContact, solution: &mut Solution, limits: SweepLimits) -> (SolveStatus, usize) {
        let SweepLimits { tolerance, max_iterations, patience } = limits;
        let Solution { r, u } = solution;
        let scale = problem.mass_scale();
        let largest = problem.largest_impulse(scale);
        let q_size = crate::cones::norm_squared(&problem.q).sqrt();
        problem.velocity(r, u);
        let mut best = problem.residual_in_mass_unit(r, u, scale);
        self.best.clone_from(r);
        if best <= tolerance {
            return (SolveStatus::Converged, 0);
        }
        self.acceleration.reset(r.len());
        let mut judge_per_step = 1.0; // ratio of the judge to the cheap error, learned at each check
        let mut checks_without_progress = 0;
        let mut forecast = Forecast { begin: (0, best), next: (0, best) };
        for iteration in 1..=max_iterations {
            self.acceleration.begin(r);
            let change = self.sweep(problem, r, scale);
            let cheap = change.step / q_size.max(change.size).max(f64::MIN_POSITIVE);
            let promising = cheap * judge_per_step <= tolerance;
            let due = iteration % CHECK_INTERVAL == 0 || iteration == max_iterations;
            if !promising && !due {
                self.accelerate(problem, r);
                continue;
            }
            problem.velocity(r, u);
            let judge = problem.residual_in_mass_unit(r, u, scale);
            if judge < best && change.size <= scale * largest {
                checks_without_progress = 0;
                best = judge;
                self.best.copy_from_slice(r);
            } else {
                checks_without_progress += 1;
            }
            if best <= tolerance {
                return (SolveStatus::Converged, iteration);
            }
            if cheap == 0.0 || !judge.is_finite() || checks_without_progress >= STALL_CHECKS {
                return (SolveStatus::Stalled, iteration);
            }
            let foreseen = forecast.remaining(iteration, best, tolerance);
            if iteration >= FIRST_FORECAST && foreseen > patience {
                return (SolveStatus::Stalled, iteration);
            }
            judge_per_step = judge / cheap;
            self.accelerate(problem, r);
        }
        (SolveStatus::MaxIterations, max_iterations)
    }

    /// r = result of the last sweep => r = start of the next one.
    fn accelerate(&mut self, problem: &FrictionContact, r: &mut [f64]) {
        if self.acceleration.advance(r) {
            project_on_cones(problem, r);
        }
    }

    fn sweep(&mut self, problem: &FrictionContact, r: &mut [f64], scale: f64) -> Change {
        let mut step = 0.0;
        let mut size = 0.0;
        let mut joint = 0;
        let mut start = 0;
        for (index, block) in problem.blocks.iter().enumerate() {
            let dim = block.dim();
            let end = start + dim;
            let mut q = [0.0; Block::MAX_DIM];
            let mut next = [0.0; Block::MAX_DIM];
            let (q, next) = (&mut q[..dim], &mut next[..dim]);
            q.copy_from_slice(&problem.q[start..end]);
            problem.w.add_off_diagonal(index, r, q);
            let old = &mut r[start..end];
            next.copy_from_slice(old);
            let w = problem.w.diagonal(index);
            if block.is_bilateral() {
                solve_joint(&mut self.joints[joint], w, q, next);
                joint += 1;
            } else {
                solve_contact(*block, w, q, next);
            }
            if self.relaxation != 1.0 {
                for (x, old) in next.iter_mut().zip(&*old) {
                    *x = old + self.relaxation * (*x - old);
                }
                block.project(next);
            }
            for (old, x) in old.iter_mut().zip(&*next) {
                step += (x - *old) * (x - *old);
                size += x * x;
                *old = *x;
            }
            start = end;
        }
        Change { step: scale * step.sqrt(), size: scale * size.sqrt() }
    }

    fn factor_joints(&mut self, problem: &FrictionContact) {
        let mut joint = 0;
        for (index, block) in problem.blocks.iter().enumerate() {
            if block.is_bilateral() {
                if joint == self.joints.len() {
                    self.joints.push(RankRevealingLu::default());
                }
                self.joints[joint].factor(block.dim(), problem.w.diagonal(index));
                joint += 1;
            }
        }
    }
}

/// Moves r by −W_ii⁻¹ u_i; redundant rows keep their impulse.
fn solve_joint(lu: &mut RankRevealingLu, w: &[f64], q: &mut [f64], r: &mut [f64]) {
    for (row, u) in w.chunks_exact(r.len()).zip(q.iter_mut()) {
        *u += row.iter().zip(&*r).map(|(w, r)| w * r).sum::<f64>();
    }
    lu.solve(q);
    for (r, step) in r.iter_mut().zip(&*q) {
        *r -= step;
    }
}

/// Moves each block of r to its cone.
fn project_on_cones(problem: &FrictionContact, r: &mut [f64]) {
    let mut start = 0;
    for block in &problem.blocks {
        let end = start + block.dim();
        block.project(&mut r[start..end]);
        start = end;
    }
}

impl OneStepSolver<FrictionContact> for Nsgs {
    fn name(&self) -> &'static str {
        "nsgs"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        if let Some(block) = single_contact(problem) {
            return solve_single(problem, block, solution, self.tolerance);
        }
        problem.validate()?;
        solution.prepare(problem.n_rows());
        let limits = SweepLimits { tolerance: self.tolerance, max_iterations: self.max_iterations, patience: f64::INFINITY };
        Ok(self.solve_within(problem, solution, limits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delassus::{Delassus, DenseDelassus};

    #[test]
    fn half_a_relaxation_goes_half_the_way() {
        let problem = FrictionContact {
            w: Delassus::Dense(DenseDelassus::new(vec![1.0, 0.0, 0.0, 2.0], &[1, 1]).unwrap()),
            q: vec![-1.0, -4.0],
            blocks: vec![Block::Unilateral; 2],
        };
        let mut solver = Nsgs::new(&FrictionSolverParams { relaxation: 0.5, max_iterations: 1, ..Default::default() });
        let mut solution = Solution::default();
        let report = solver.solve(&problem, &mut solution).unwrap();
        assert_eq!(report.status, SolveStatus::MaxIterations);
        assert_eq!(solution.r, [0.5, 1.0]);
    }

    #[test]
    fn an_approach_nothing_can_stop_stalls() {
        // The second row has no inertia: W r + q stays at −1 there.
        let problem = FrictionContact {
            w: Delassus::Dense(DenseDelassus::new(vec![1.0, 0.0, 0.0, 0.0], &[1, 1]).unwrap()),
            q: vec![-1.0, -1.0],
            blocks: vec![Block::Unilateral; 2],
        };
        let mut solution = Solution::default();
        let mut solver = Nsgs::new(&FrictionSolverParams::default());
        let report = solver.solve(&problem, &mut solution).unwrap();
        assert_eq!(report.status, SolveStatus::Stalled);
        assert_eq!(solution.r, [1.0, 0.0]);
    }

    #[test]
    fn the_forecast_follows_the_later_half() {
        // Fast for 40 sweeps, then a factor 0.99 per sweep.
        let residual =
            |sweep: usize| if sweep <= 40 { 0.8_f64.powi(sweep as i32) } else { 0.8_f64.powi(40) * 0.99_f64.powi(sweep as i32 - 40) };
        let mut forecast = Forecast { begin: (0, 1.0), next: (0, 1.0) };
        let mut remaining = 0.0;
        for sweep in (20..=320).step_by(20) {
            remaining = forecast.remaining(sweep, residual(sweep), 1e-10);
        }
        let exact = (residual(320) / 1e-10).ln() / -(0.99_f64.ln());
        assert!((remaining - exact).abs() < 1e-6 * exact, "{remaining} {exact}"); // the window is in the slow part
    }
}

/// Settings of the sweeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NsgsParams {}

impl NsgsParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        Ok(())
    }
}
