//! Nonlinear block Gauss–Seidel that keeps velocities.

use super::GlobalSolverParams;
use super::dynamics::Dynamics;
use super::local_form::{Bodies, LARGE_BODIES};
use super::{End, GlobalFrictionContact};
use crate::acceleration::Acceleration;
use crate::cones::{Block, norm_squared};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::friction_contact::solve_contact;
use crate::linear::RankRevealingLu;
use crate::matrix_free::MatrixFree;
use crate::report::{SolveReport, SolveStatus};
use crate::small_matrix::{add_product, add_transposed};
use crate::{OneStepSolver, Solution};

/// Sweeps over the blocks that change the velocities of the bodies at once, so that W is never formed:
///
/// ```text
///     u_c = q_c + A_c x,    r_c ← solution of u = W_cc r + (u_c − W_cc r_c) on its cone,    x ← x + A_cᵀ Δr_c
/// ```
///
/// with A_c = H_cᵀ L⁻ᵀ, M = L Lᵀ in blocks of one body each, and x = Lᵀ (v − M⁻¹ f) the change of velocity in the metric of the mass.
/// For granular packings and piles of rigid bodies: memory and cost of a sweep grow with the entries of H, not with the pairs
/// of contacts, and a body may have any number of contacts. The iterates are those of the local NSGS.
/// [Jourdan, Alart & Jean, *A Gauss–Seidel like algorithm to solve frictional contact problems*, 1998]; differs in: the
/// velocities, the exact solution of each block, and Anderson acceleration of the sweeps, after which x is summed up afresh.
///
/// Cost per sweep: 4 · dim · dof flops for each contact and body, twice for x summed up, and one block solve per contact.
/// The judge (one solve with M) is evaluated when the change of r promises success and every 20 sweeps.
#[derive(Clone, Debug)]
pub struct Nsgs {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    dynamics: Dynamics,
    operator: MatrixFree,
    q: Vec<f64>,
    x: Vec<f64>,
    best: Vec<f64>,
    acceleration: Acceleration,
    /// Factors of the diagonal blocks of joints, in the order of the blocks.
    joints: Vec<RankRevealingLu>,
}

/// Sweeps between evaluations of the judge.
const CHECK_INTERVAL: usize = 20;

/// Sweeps without a better one after which they are given up.
const STALL: usize = 5000;

impl Nsgs {
    /// A solver with these parameters.
    pub fn new(params: &GlobalSolverParams) -> Self {
        Nsgs {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            dynamics: Dynamics::default(),
            operator: MatrixFree::new(&[]),
            q: Vec::new(),
            x: Vec::new(),
            best: Vec::new(),
            acceleration: Acceleration::default(),
            joints: Vec::new(),
        }
    }

    /// Velocities v of the bodies in the last solve, m/s.
    pub fn body_velocity(&self) -> &[f64] {
        self.dynamics.v()
    }

    /// The loop. Leaves the best iterate in `self.best`.
    fn iterate(&mut self, problem: &GlobalFrictionContact, solution: &mut Solution) -> (SolveStatus, usize) {
        let deadline = Deadline::after(self.time_limit);
        let Solution { r, u } = solution;
        let q_size = norm_squared(&self.q).sqrt();
        problem.project_on_cones(r);
        let mut best = self.dynamics.judge(problem, r, u);
        self.best.clone_from(r);
        if best <= self.tolerance {
            return (SolveStatus::Converged, 0);
        }
        self.acceleration.reset(r.len());
        self.sum_up(r);
        let mut judge_per_step = 1.0; // ratio of the judge to the cheap error, learned at each check
        let mut best_iteration = 0;
        for iteration in 1..=self.max_iterations {
            self.acceleration.begin(r);
            let step = self.sweep(problem, r) * self.dynamics.scale();
            let size = self.dynamics.scale() * norm_squared(r).sqrt();
            let cheap = step / q_size.max(size).max(f64::MIN_POSITIVE);
            let is_late = deadline.is_over();
            let due = iteration % CHECK_INTERVAL == 0 || iteration == self.max_iterations || is_late;
            if due || cheap * judge_per_step <= self.tolerance {
                let judge = self.dynamics.judge(problem, r, u);
                if judge < best && self.dynamics.is_usable(r, judge) {
                    (best, best_iteration) = (judge, iteration);
                    self.best.copy_from_slice(r);
                }
                if best <= self.tolerance {
                    return (SolveStatus::Converged, iteration);
                }
                if is_late {
                    return (SolveStatus::TimeLimit, iteration);
                }
                if cheap == 0.0 || !judge.is_finite() || iteration >= best_iteration + STALL {
                    return (SolveStatus::Stalled, iteration);
                }
                judge_per_step = judge / cheap;
            }
            if self.acceleration.advance(r) {
                problem.project_on_cones(r);
            }
            self.sum_up(r);
        }
        (SolveStatus::MaxIterations, self.max_iterations)
    }

    /// x = Σ A_cᵀ r_c.
    fn sum_up(&mut self, r: &[f64]) {
        self.x.clear();
        self.x.resize(self.operator.n_dof(), 0.0);
        for block in 0..self.operator.n_blocks() {
            let rows = self.operator.offset(block)..self.operator.offset(block + 1);
            add_impulse(&self.operator, block, &r[rows], &mut self.x);
        }
    }

    /// One sweep; returns the size of the change of r.
    fn sweep(&mut self, problem: &GlobalFrictionContact, r: &mut [f64]) -> f64 {
        let mut step = 0.0;
        let mut joint = 0;
        for (index, block) in problem.blocks.iter().enumerate() {
            let rows = self.operator.offset(index)..self.operator.offset(index + 1);
            let (mut u, mut next) = ([0.0; Block::MAX_DIM], [0.0; Block::MAX_DIM]);
            let (u, next) = (&mut u[..rows.len()], &mut next[..rows.len()]);
            let old = &mut r[rows.clone()];
            u.copy_from_slice(&self.q[rows]);
            next.copy_from_slice(old);
            for (coordinates, a) in self.operator.sides(index) {
                add_product(a, &self.x[coordinates], u);
            }
            let w = self.operator.diagonal(index);
            if block.is_bilateral() {
                // Redundant rows keep their impulse.
                self.joints[joint].solve(u);
                next.iter_mut().zip(&*u).for_each(|(r, step)| *r -= step);
                joint += 1;
            } else {
                for (row, u) in w.chunks_exact(next.len()).zip(u.iter_mut()) {
                    *u -= row.iter().zip(&*old).map(|(w, r)| w * r).sum::<f64>();
                }
                solve_contact(*block, w, u, next);
            }
            // next => r, Δr in u => x.
            for ((old, next), u) in old.iter_mut().zip(&*next).zip(u.iter_mut()) {
                *u = next - *old;
                step += *u * *u;
                *old = *next;
            }
            add_impulse(&self.operator, index, u, &mut self.x);
        }
        step.sqrt()
    }

    fn factor_joints(&mut self, problem: &GlobalFrictionContact) {
        let joints = problem.blocks.iter().enumerate().filter(|(_, block)| block.is_bilateral());
        for (joint, (index, block)) in joints.enumerate() {
            if joint == self.joints.len() {
                self.joints.push(RankRevealingLu::default());
            }
            self.joints[joint].factor(block.dim(), self.operator.diagonal(index));
        }
    }
}

/// x += A_cᵀ r_c.
#[inline]
fn add_impulse(operator: &MatrixFree, block: usize, r: &[f64], x: &mut [f64]) {
    for (coordinates, a) in operator.sides(block) {
        add_transposed(a, r, &mut x[coordinates]);
    }
}

impl OneStepSolver<GlobalFrictionContact> for Nsgs {
    fn name(&self) -> &'static str {
        "nsgs"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &GlobalFrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n_rows());
        if !problem.fill_matrix_free(&Bodies::find(&problem.m), &mut self.operator)? {
            return Err(SolveError::Unsupported {
                solver: "nsgs",
                reason: LARGE_BODIES,
                alternatives: "reduction (with local auto), admm",
            });
        }
        self.dynamics.factor(problem)?;
        self.q.resize(problem.n_rows(), 0.0);
        self.dynamics.free_velocity(problem, &mut self.q)?;
        self.factor_joints(problem);
        let (status, iterations) = self.iterate(problem, solution);
        solution.r.copy_from_slice(&self.best);
        self.dynamics.velocities(problem, &solution.r, &mut solution.u);
        let end = End { status, iterations, tolerance: self.tolerance };
        Ok(problem.report("nsgs", self.dynamics.v(), solution, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::SparseMatrix;

    #[test]
    fn a_ball_between_ball_and_ground_is_stopped() {
        // Masses 1 and 2 on a line, both falling at 1 m/s: r = (3, 2), u = 0, v = 0.
        let problem = GlobalFrictionContact {
            m: SparseMatrix::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 2.0)]).unwrap(),
            h: SparseMatrix::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, -1.0), (1, 1, 1.0)]).unwrap(),
            f: vec![-1.0, -2.0],
            w: vec![0.0; 2],
            blocks: vec![Block::Unilateral; 2],
        };
        let mut solver = Nsgs::new(&GlobalSolverParams::default());
        let mut solution = Solution::default();
        let report = solver.solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged(), "{report:?}");
        for (a, b) in solution.r.iter().chain(solver.body_velocity()).zip([3.0, 2.0, 0.0, 0.0]) {
            assert!((a - b).abs() < 1e-9, "{solution:?}"); // tolerance 1e-10 times the condition of W
        }
        // From the solution nothing is left to do.
        assert_eq!(solver.solve(&problem, &mut solution).unwrap().iterations, 0);
    }
}
