//! The θ-step with joints held on their positions: reactions along the mean of the rows at both ends, displacements on the joints, and the turning of the
//! reactions in M̂. Without joints it is that of [`super::super::theta_step`].

use super::joint_positions::{Closeness, JointPositions};
use crate::assembly::{assemble_problem, at_time, update_jacobians};
use crate::error::{NonFinite, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::schemes::stages::{displace, evaluate_mass, free_by_residual};
use crate::schemes::stiff_elements::StiffElements;
use crate::schemes::theta_step::ThetaStep;
use crate::state::State;
use crate::systems::JacobianFactors;

/// Iterations after which the geometric stiffness of joints is found anew.
const REFRESH: usize = 4;

/// Within Newton's iteration one displacement each brings the positions near enough.
const WITHIN_NEWTON: Closeness = Closeness { tolerance: 1e-13, max_iterations: 1 };

/// A θ-step and the joints that it holds.
pub(super) struct JointStep<'a> {
    pub theta: &'a ThetaStep,
    pub model: &'a Model,
    pub memory: &'a mut StepMemory,
    pub joints: &'a mut JointPositions,
}

impl JointStep<'_> {
    /// The active set with its shifts, the guess of v_{k+1} in the state => v_{k+1}, q_{k+1}, p_{k+1}.
    pub fn solve(&mut self, state: &mut State, report: &mut StepReport) -> Result<(), StepError> {
        let located = at_time(state.t);
        let (theta, model) = (self.theta, self.model);
        let rows_vary = self.memory.work.rows_vary;
        let linear = model.is_affine() && !rows_vary;
        let coupled = theta.begin_stiff(model, state, self.memory).map_err(&located)?;
        self.joints.guess_reactions(&self.memory.active, &mut self.memory.one_step.solution.r);
        if self.are_alone() {
            return self.solve_alone(state, report);
        }
        self.joints.factorise(model.systems().layout());
        while !report.newton_converged && report.newton_iterations < theta.max_iterations {
            let first = report.newton_iterations == 0;
            // (q_k, v) => q̃, M(q̃), M̂, v_free
            if coupled {
                StiffElements::update(model, theta.end(state), theta.factors(), self.memory).map_err(&located)?;
            }
            if report.newton_iterations % REFRESH == REFRESH - 1 {
                self.joints.refresh(model, state.t + theta.h, state, self.memory).map_err(&located)?;
            }
            if rows_vary && first {
                self.memory.work.q_inner.clone_from(&state.q);
                update_jacobians(model, state.t + theta.fraction * theta.h, self.memory).map_err(&located)?;
            }
            self.free_motion(state, coupled && first)?;
            // G(q̃), M̂, v_free => W, q => p => v_{k+1}
            assemble_problem(model, self.memory, first);
            report.solve = Some(theta.solve_with_stiff(model, state, self.memory, coupled)?);
            // v_{k+1} => q_{k+1} on the joints, residual of the equation of motion
            self.advance(state)?;
            report.newton_iterations += 1;
            if linear {
                report.newton_converged = true;
            } else {
                report.newton_residual = self.residual(state).map_err(&located)?;
                report.newton_converged = report.newton_residual <= theta.tolerance;
            }
        }
        StiffElements::finish(self.memory);
        Ok(())
    }

    /// (q_k, v_k, v) => q_{k+1} on the joints, but for what the next iteration does.
    pub(super) fn advance(&mut self, state: &mut State) -> Result<(), StepError> {
        displace(&mut self.memory.work, &state.v, self.theta.h, self.theta.position);
        self.joints.project(self.model, state, self.memory, self.theta.h, WITHIN_NEWTON)?;
        Ok(())
    }

    /// M at the present iterate, which is q̃, unless constant.
    pub(super) fn update_mass(&mut self, state: &State) -> Result<(), NonFinite> {
        let StepMemory { work, matrices, scratch, .. } = &mut *self.memory;
        let t = state.t + self.theta.fraction * self.theta.h;
        if self.model.systems().mass_is_constant() && !work.rows_vary {
            return evaluate_mass(self.model, t, &work.q_start, matrices, scratch);
        }
        work.q_inner.clone_from(&state.q);
        evaluate_mass(self.model, t, &work.q_inner, matrices, scratch)
    }

    /// R = −M (v − v_k) + h [(1 − θ) F_k + θ F_{k+1}] + ½ (G_k − G_{k+1})ᵀ p at the present iterate.
    pub(super) fn smooth_residual(&mut self, state: &State) -> Result<(), NonFinite> {
        self.theta.smooth_residual(self.model, state, self.memory)?;
        let StepMemory { work, active, one_step, .. } = &mut *self.memory;
        self.joints.add_mean_reaction(self.model, active, &one_step.solution.r, &mut work.residual);
        Ok(())
    }

    /// M̂ with the turning of the reactions, v_free = v + M̂⁻¹ R; `from_start` as in the θ-step.
    fn free_motion(&mut self, state: &State, from_start: bool) -> Result<(), StepError> {
        let (theta, model, located) = (self.theta, self.model, at_time(state.t));
        self.update_mass(state).map_err(&located)?;
        self.smooth_residual(state).map_err(&located)?;
        if from_start {
            displace(&mut self.memory.work, &state.v, theta.h, theta.position);
            let by_place = JacobianFactors { velocity: 0.0, position: theta.h * theta.theta };
            StiffElements::extrapolate(model, theta.end(state), by_place, self.memory).map_err(&located)?;
        }
        self.factorise(state)?;
        let StepMemory { work, matrices, .. } = &mut *self.memory;
        free_by_residual(model, &state.v, work, matrices);
        Ok(())
    }

    /// M̂ with the geometric stiffness of the joints, and its factor.
    pub(super) fn factorise(&mut self, state: &State) -> Result<(), StepError> {
        let StepMemory { stiff, matrices, scratch, .. } = &mut *self.memory;
        stiff.factorise(self.model, self.theta.end(state), self.theta.factors(), (matrices, self.joints.stiffness()), scratch)
    }

    /// Residual of the discrete equations at the present iterate, with M, F and G evaluated there.
    pub(super) fn residual(&mut self, state: &State) -> Result<f64, NonFinite> {
        self.update_mass(state)?;
        if self.memory.work.rows_vary {
            update_jacobians(self.model, state.t + self.theta.fraction * self.theta.h, self.memory)?;
        }
        self.smooth_residual(state)?;
        Ok(self.theta.judge(self.model, state, self.memory))
    }
}
