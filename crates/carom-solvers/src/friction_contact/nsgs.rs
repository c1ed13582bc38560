//! Nonlinear block Gauss–Seidel (NSGS).

use super::FrictionContact;
use super::local::solve_contact;
use super::one_contact::{single_contact, solve_single};
use crate::acceleration::Acceleration;
use crate::cones::Block;
use crate::error::SolveError;
use crate::parameters::FrictionSolverParams;
use crate::rank_revealing_lu::RankRevealingLu;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

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
    pub(super) fn solve_within(
        &mut self,
        problem: &FrictionContact,
        solution: &mut Solution,
        tolerance: f64,
        max_iterations: usize,
    ) -> SolveReport {
        self.factor_joints(problem);
        project_on_cones(problem, &mut solution.r);
        let (status, iterations) = self.iterate(problem, solution, tolerance, max_iterations);
        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        problem.report("nsgs", solution, iterations, tolerance, status)
    }

    /// The loop. Leaves the best iterate in `self.best`.
    fn iterate(
        &mut self,
        problem: &FrictionContact,
        solution: &mut Solution,
        tolerance: f64,
        max_iterations: usize,
    ) -> (SolveStatus, usize) {
        let Solution { r, u } = solution;
        let scale = problem.mass_scale();
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
            if judge < best {
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

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        if let Some(block) = single_contact(problem) {
            return solve_single(problem, block, solution, self.tolerance);
        }
        problem.validate()?;
        solution.prepare(problem.n_rows());
        Ok(self.solve_within(problem, solution, self.tolerance, self.max_iterations))
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
