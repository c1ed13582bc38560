//! Nonlinear block Gauss–Seidel (NSGS).

use super::FrictionContact;
use super::FrictionSolverParams;
use super::forecast::Forecast;
use super::freezing::Freezing;
use super::local::{LocalMethod, LocalSolver};
use super::one_contact::{single_contact, solve_single};
use super::sweep_order::{SweepOrder, Visits};
use super::sweep_settings::NsgsParams;
use crate::acceleration::Acceleration;
use crate::cones::{Block, norm_squared};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::linear::RankRevealingLu;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Sweeps over the blocks, solving each with the others held fixed:
///
///   r_i ← solution of u_i = W_ii r_i + (q_i + Σ_{j≠i} W_ij r_j) on its cone,
///
/// followed by P_K(r_old + ω (r_new − r_old)) when ω ≠ 1. [Jourdan, Alart & Jean 1998]; differs in: the
/// block solver is by default the exact one (`local.rs`), and Anderson acceleration
/// combines the sweeps (plain sweeps need thousands on towers and large mass ratios).
///
/// When to use it: many contacts with friction and moderate mass ratios, with a guess from the step before. Takes all blocks,
/// rolling resistance too, and W that is not symmetric. Settings: [`NsgsParams`].
///
/// The change of r in a sweep is the cheap error; the judge (one product with W) is evaluated when
/// the cheap error predicts success and every 20 sweeps. The best iterate is returned.
/// Cost: one pass over W and one block solve per contact and sweep; no allocation when warm. A single
/// contact is solved in one sweep without work arrays.
#[derive(Clone, Debug)]
pub struct Nsgs {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    relaxation: f64,
    settings: NsgsParams,
    local: LocalMethod,
    best: Vec<f64>,
    acceleration: Acceleration,
    visits: Visits,
    freezing: Freezing,
    /// Factors of the diagonal blocks of joints, in the order of the blocks.
    joints: Vec<RankRevealingLu>,
    /// Per block, the number of joints before it.
    joints_before: Vec<usize>,
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
    /// Time.
    pub deadline: Deadline,
}

/// Sweeps before the number of those to come is foreseen.
const FIRST_FORECAST: usize = 20;

/// What a sweep did to r: |Δr| and |r|, squared while it is summed, then in the mass unit of the judge.
struct Change {
    step: f64,
    size: f64,
}

/// A block with its first row and the number of joints before it.
#[derive(Clone, Copy)]
struct Visit {
    index: usize,
    start: usize,
    joint: usize,
}

impl Nsgs {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Nsgs {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            relaxation: params.relaxation,
            settings: params.nsgs.clone(),
            local: LocalMethod {
                solver: params.nsgs.local,
                iterations: params.nsgs.local_iterations,
                tolerance: params.nsgs.local_tolerance,
            },
            best: Vec::new(),
            acceleration: Acceleration::default(),
            visits: Visits::default(),
            freezing: Freezing::default(),
            joints: Vec::new(),
            joints_before: Vec::new(),
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
        let SweepLimits { tolerance, max_iterations, patience, deadline } = limits;
        let Solution { r, u } = solution;
        let scale = problem.mass_scale();
        let runaway = problem.runaway(scale);
        let q_size = norm_squared(&problem.q).sqrt();
        problem.velocity(r, u);
        let mut best = problem.residual_in_mass_unit(r, u, scale);
        self.best.clone_from(r);
        if best <= tolerance {
            return (SolveStatus::Converged, 0);
        }
        let accelerated = self.settings.acceleration && self.settings.sweeps_repeat();
        if accelerated {
            self.acceleration.reset(r.len());
        }
        self.visits.begin(self.settings.order, problem.blocks.len(), self.settings.seed);
        self.freezing.begin(problem.blocks.len());
        let mut judge_per_step = 1.0; // ratio of the judge to the cheap error, learned at each check
        let mut checks_without_progress = 0;
        let mut forecast = Forecast::new(best);
        for iteration in 1..=max_iterations {
            if accelerated {
                self.acceleration.begin(r);
            }
            let change = self.sweep(problem, r, scale);
            let cheap = change.step / q_size.max(change.size).max(f64::MIN_POSITIVE);
            let promising = cheap * judge_per_step <= tolerance;
            let out_of_time = deadline.is_over();
            let due = iteration % CHECK_INTERVAL == 0 || iteration == max_iterations || out_of_time;
            if !promising && !due {
                self.accelerate(problem, r, accelerated);
                continue;
            }
            problem.velocity(r, u);
            let judge = problem.residual_in_mass_unit(r, u, scale);
            if judge < best && !runaway.applies_to_size(change.size, judge) {
                checks_without_progress = 0;
                best = judge;
                self.best.copy_from_slice(r);
            } else {
                checks_without_progress += 1;
            }
            if best <= tolerance {
                return (SolveStatus::Converged, iteration);
            }
            if out_of_time {
                return (SolveStatus::TimeLimit, iteration);
            }
            // Where all that moved is frozen, the blocks at rest have to be looked at again.
            let thawed = promising && self.freezing.thaw();
            if cheap == 0.0 && !thawed || !judge.is_finite() || checks_without_progress >= STALL_CHECKS {
                return (SolveStatus::Stalled, iteration);
            }
            let foreseen = forecast.remaining(iteration, best, tolerance);
            if iteration >= FIRST_FORECAST && foreseen > patience {
                return (SolveStatus::Stalled, iteration);
            }
            judge_per_step = if cheap > 0.0 { judge / cheap } else { 1.0 };
            self.accelerate(problem, r, accelerated);
        }
        (SolveStatus::MaxIterations, max_iterations)
    }

    /// r = result of the last sweep => r = start of the next one.
    #[inline]
    fn accelerate(&mut self, problem: &FrictionContact, r: &mut [f64], accelerated: bool) {
        if accelerated && self.acceleration.advance(r) {
            project_on_cones(problem, r);
        }
    }

    /// One sweep in the order asked for.
    fn sweep(&mut self, problem: &FrictionContact, r: &mut [f64], scale: f64) -> Change {
        let mut change = Change { step: 0.0, size: 0.0 };
        if self.settings.order == SweepOrder::Given && self.settings.freezing.is_none() {
            let (mut start, mut joint) = (0, 0);
            for (index, block) in problem.blocks.iter().enumerate() {
                self.visit(problem, Visit { index, start, joint }, r, &mut change);
                start += block.dim();
                joint += usize::from(block.is_bilateral());
            }
        } else {
            self.sweep_in_order(problem, r, scale, &mut change);
        }
        Change { step: scale * change.step.sqrt(), size: scale * change.size.sqrt() }
    }

    #[cold]
    fn sweep_in_order(&mut self, problem: &FrictionContact, r: &mut [f64], scale: f64, change: &mut Change) {
        // What counts as no change: all blocks together stay a tenth of the tolerance below.
        let size = norm_squared(&problem.q).max(scale * scale * norm_squared(r)) / problem.blocks.len() as f64;
        let still = (0.1 * self.tolerance / scale).powi(2) * size;
        let mut visits = std::mem::take(&mut self.visits);
        for &index in visits.next_sweep(self.settings.order) {
            if self.settings.freezing.is_some() && self.freezing.skips(index) {
                continue;
            }
            let before = change.step;
            let visit = Visit { index, start: problem.w.offset(index), joint: self.joints_before[index] };
            self.visit(problem, visit, r, change);
            if let Some(params) = self.settings.freezing {
                self.freezing.note(params, index, change.step - before > still);
            }
        }
        self.visits = visits;
        change.size = norm_squared(r); // blocks are visited twice or not at all
    }

    /// Solves one block and adds what changed. The whole of a sweep: inlined in both of its loops.
    #[inline(always)]
    fn visit(&mut self, problem: &FrictionContact, visit: Visit, r: &mut [f64], change: &mut Change) {
        let block = problem.blocks[visit.index];
        let dim = block.dim();
        let rows = visit.start..visit.start + dim;
        let mut q = [0.0; Block::MAX_DIM];
        let mut next = [0.0; Block::MAX_DIM];
        let (q, next) = (&mut q[..dim], &mut next[..dim]);
        q.copy_from_slice(&problem.q[rows.clone()]);
        problem.w.add_off_diagonal(visit.index, r, q);
        let old = &mut r[rows];
        next.copy_from_slice(old);
        let w = problem.w.diagonal(visit.index);
        if block.is_bilateral() {
            solve_joint(&mut self.joints[visit.joint], w, q, next);
        } else {
            self.local.solve(block, w, q, next);
        }
        if self.relaxation != 1.0 {
            for (x, old) in next.iter_mut().zip(&*old) {
                *x = old + self.relaxation * (*x - old);
            }
            block.project(next);
        }
        for (old, x) in old.iter_mut().zip(&*next) {
            change.step += (x - *old) * (x - *old);
            change.size += x * x;
            *old = *x;
        }
    }

    /// Factors of the joints, and where they are.
    fn factor_joints(&mut self, problem: &FrictionContact) {
        let mut joint = 0;
        self.joints_before.clear();
        for (index, block) in problem.blocks.iter().enumerate() {
            self.joints_before.push(joint);
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
        if let Some(block) = single_contact(problem)
            && self.local.solver == LocalSolver::Exact
        {
            return solve_single(problem, block, solution, self.tolerance);
        }
        problem.validate()?;
        solution.prepare(problem.n_rows());
        let limits = SweepLimits {
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            patience: f64::INFINITY,
            deadline: Deadline::after(self.time_limit),
        };
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
}
