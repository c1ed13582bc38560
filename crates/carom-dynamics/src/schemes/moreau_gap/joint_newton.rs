//! Newton's iteration of a θ-step in which joints alone act: no contact, no bounded effort, no stiff element.
//!
//! ```text
//! v' = v + M̂⁻¹ (R + Gᵀp),      W δp = −(G v' + b),      p ← p + δp,      v ← v' + M̂⁻¹ Hᵀ δp,      W = G M̂⁻¹ Hᵀ
//! ```
//!
//! with R and G = G_{k+1} of the present iterate, and M̂, the mean rows H = ½ (G_k + G_{k+1}) and the factor of W of the first one: they change by O(h) of
//! what the velocities still change by, so that the iteration loses nothing, and each costs what evaluating the equations costs. Where it is slow
//! they are found anew. W is not symmetric, as H differs from G by O(h); its symmetric part is as good as positive.

use super::joint_step::JointStep;
use crate::assembly::{at_time, update_jacobians};
use crate::error::StepError;
use crate::memory::{Chosen, OneStep, StepMemory};
use crate::report::StepReport;
use crate::state::State;
use carom_solvers::linear::BilateralFactor;
use carom_solvers::{Delassus, FrictionContact, SolveReport, SolveStatus};

/// The factor of W, and work arrays.
#[derive(Debug, Default)]
pub(super) struct JointNewton {
    factor: BilateralFactor,
    /// δp.
    step: Vec<f64>,
}

/// The factors are found anew where an iteration leaves more than this part of the residual.
const SLOW: f64 = 0.3;

/// Name of the solver in reports: the rows are eliminated.
const NAME: &str = "elimination";

impl JointStep<'_> {
    /// The joints are all there is, and the user has not chosen another solver than the default one.
    pub(super) fn are_alone(&self) -> bool {
        let StepMemory { work, stiff, solver_choice, active, .. } = &*self.memory;
        work.rows_vary && stiff.is_empty() && *solver_choice == Chosen::Default && active.items().iter().all(|item| item.law.is_bilateral())
    }

    /// The guess of v_{k+1} and p in the state and in the solution => v_{k+1}, q_{k+1}, p_{k+1}.
    pub(super) fn solve_alone(&mut self, state: &mut State, report: &mut StepReport) -> Result<(), StepError> {
        let located = at_time(state.t);
        let (theta, model) = (self.theta, self.model);
        // the guess => q̃, M, G
        self.update_mass(state).map_err(&located)?;
        update_jacobians(model, state.t + theta.fraction * theta.h, self.memory).map_err(&located)?;
        let (mut stale, mut last) = (true, f64::INFINITY);
        while !report.newton_converged && report.newton_iterations < theta.max_iterations {
            if stale {
                if report.newton_iterations > 0 {
                    self.joints.refresh(model, state.t + theta.h, state, self.memory).map_err(&located)?;
                }
                self.factorise_joints(state)?;
            }
            self.correct(state, stale);
            self.advance(state)?;
            report.newton_iterations += 1;
            // R + Gᵀp stays in `work.residual` for the next correction
            report.newton_residual = self.residual(state).map_err(&located)?;
            report.newton_converged = report.newton_residual <= theta.tolerance;
            stale = report.newton_residual > SLOW * last;
            last = report.newton_residual;
        }
        report.solve = Some(judge(self.memory));
        self.memory.one_step.keep_solved();
        Ok(())
    }

    /// (q, v, p) => M̂, W and its factor, R + Gᵀp. Reactions of redundant rows are zero.
    fn factorise_joints(&mut self, state: &State) -> Result<(), StepError> {
        self.factorise(state)?;
        let layout = self.model.systems().layout();
        let JointStep { memory, joints, .. } = &mut *self;
        let StepMemory { matrices, active, one_step: OneStep { problem, solution, assembled, .. }, .. } = &mut **memory;
        joints.factorise_mean(layout, active);
        active.compute_mean_response(layout, &matrices.factor, joints.start_rows());
        if let Delassus::BlockSparse(w) = &mut problem.w {
            active.assemble_delassus(layout, w);
            joints.newton.factor.factor(w, |_| true);
        }
        assembled.keep(None, std::iter::empty());
        problem.q.resize(active.n_rows(), 0.0);
        problem.blocks.clear();
        problem.blocks.extend(active.items().iter().map(|item| item.block));
        joints.newton.factor.visit_redundant(|row| solution.r[row] = 0.0);
        self.smooth_residual(state).map_err(at_time(state.t))?;
        let StepMemory { active, work, one_step: OneStep { solution, .. }, .. } = &mut *self.memory;
        active.add_reaction(layout, &solution.r, &mut work.residual);
        Ok(())
    }

    /// R + Gᵀp in `work.residual` => δp, v. With `is_new` the velocities without impulses go to the problem, for what residuals are compared with.
    fn correct(&mut self, state: &mut State, is_new: bool) {
        let layout = self.model.systems().layout();
        let StepMemory { active, matrices, work, one_step: OneStep { solution, problem, .. }, .. } = &mut *self.memory;
        let JointNewton { factor, step } = &mut self.joints.newton;
        matrices.factor.solve(layout, &work.residual, &mut work.v_free);
        work.v_free.iter_mut().zip(&state.v).for_each(|(free, v)| *free += v);
        step.resize(active.n_rows(), 0.0);
        active.local_velocity(layout, &work.v_free, step);
        step.iter_mut().zip(active.shift()).for_each(|(u, shift)| *u += shift);
        if is_new {
            let FrictionContact { w, q, .. } = &mut **problem;
            w.multiply(&solution.r, q);
            q.iter_mut().zip(&*step).for_each(|(q, u)| *q = u - *q);
        }
        step.iter_mut().for_each(|u| *u = -*u);
        factor.solve(step);
        solution.r.iter_mut().zip(&*step).for_each(|(p, change)| *p += change);
        state.v.copy_from_slice(&work.v_free);
        active.add_response(layout, step, &mut state.v);
        // what a joint asks for
        solution.u.clear();
        solution.u.resize(active.n_rows(), 0.0);
    }
}

/// The residual of the rows at the end of the iteration, whose local velocities are in `work.local`; q of the problem becomes that of its solution.
fn judge(memory: &mut StepMemory) -> SolveReport {
    let StepMemory { active, work, solver_tolerance, one_step: OneStep { solution, problem, .. }, .. } = memory;
    solution.u.iter_mut().zip(work.local.iter().zip(active.shift())).for_each(|(u, (now, shift))| *u = now + shift);
    let residual_normalised = problem.residual_normalised(&solution.r, &solution.u);
    let status = if residual_normalised <= *solver_tolerance { SolveStatus::Converged } else { SolveStatus::Stalled };
    let residual = problem.residual(&solution.r, &solution.u);
    let FrictionContact { w, q, .. } = &mut **problem;
    w.multiply(&solution.r, q);
    q.iter_mut().zip(&solution.u).for_each(|(q, u)| *q = u - *q);
    SolveReport { status, solver: NAME, iterations: 0, residual, residual_normalised }
}
