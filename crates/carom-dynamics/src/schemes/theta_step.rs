//! The θ-step that schemes share: Newton's iteration on the discrete equation of motion, with a one-step problem per iteration.
//!
//! ```text
//! M(q̃) (v_{k+1} − v_k) = h [(1 − θ) F(t_k, q_k, v_k) + θ F(t_{k+1}, q_{k+1}, v_{k+1})] + Gᵀ p_{k+1}
//! q_{k+1} = q_k ⊕ h T [(1 − β) v_k + β v_{k+1}],      u_{k+1} = G(q̃) v_{k+1} + b
//! M̂ = M + hθ C + hθ hβ K
//! ```
//!
//! The laws are those of the active set, with its shifts. β = θ is the θ-method, β = 1 takes positions by Euler's rule.

use super::stages::{advance, displace, evaluate_mass, factorise_iteration, free_by_residual, relative_residual};
use super::stiff_elements::StiffElements;
use crate::assembly::{assemble_problem, at_time, solve_problem, update_jacobians};
use crate::error::{NonFinite, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use crate::systems::{Instant, JacobianFactors};
use carom_solvers::SolveReport;

/// A step of a θ-method. `work.q_start`, `work.v_start` and `work.force_start` hold q_k, v_k and F_k; `state.q` and `state.v` the current
/// iterate of the end of the step, `state.t` its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThetaStep {
    /// Size h \[s\].
    pub h: f64,
    /// θ: weight of the end in the forces.
    pub theta: f64,
    /// β: weight of v_{k+1} in q_{k+1}.
    pub position: f64,
    /// Fraction of the step at which M and G are evaluated.
    pub fraction: f64,
    /// Newton's iteration stops at this relative residual.
    pub tolerance: f64,
    /// Largest number of Newton iterations.
    pub max_iterations: usize,
}

impl ThetaStep {
    /// The active set with its shifts => v_{k+1}, q_{k+1}, p_{k+1}.
    pub fn solve(&self, model: &Model, state: &mut State, memory: &mut StepMemory, report: &mut StepReport) -> Result<(), StepError> {
        // v = v_k => first iterate of q_{k+1}, v_free
        self.predict(model, state, memory)?;
        self.solve_predicted(model, state, memory, report)
    }

    /// (q_k, v_k) => v_free of the first iteration, in `work.v_free`. It does not depend on the active set.
    pub(crate) fn predict(&self, model: &Model, state: &mut State, memory: &mut StepMemory) -> Result<(), StepError> {
        self.advance(model, state, memory).map_err(at_time(state.t))?;
        self.free_motion(model, state, memory, false)
    }

    /// As [`ThetaStep::solve`], after [`ThetaStep::predict`].
    pub(crate) fn solve_predicted(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let located = at_time(state.t);
        let rows_vary = memory.work.rows_vary;
        let linear = model.is_affine() && !rows_vary;
        let coupled = self.begin_stiff(model, state, memory).map_err(&located)?;
        while !report.newton_converged && report.newton_iterations < self.max_iterations {
            let first = report.newton_iterations == 0;
            // (q_k, v) => q̃, M(q̃), M̂, v_free
            if coupled {
                StiffElements::update(model, self.end(state), self.factors(), memory).map_err(&located)?;
            }
            if rows_vary && first {
                self.inner_configuration(model, state, memory);
                update_jacobians(model, state.t + self.fraction * self.h, memory).map_err(&located)?;
            }
            if !first || coupled {
                self.free_motion(model, state, memory, coupled && first)?;
            }
            if memory.active.is_empty() {
                state.v.copy_from_slice(&memory.work.v_free);
            } else {
                // G(q̃), M̂, v_free => W, q => p => v_{k+1}
                assemble_problem(model, memory, first);
                report.solve = Some(self.solve_with_stiff(model, state, memory, coupled)?);
            }
            // v_{k+1} => q_{k+1}, residual of the equation of motion
            self.advance(model, state, memory).map_err(&located)?;
            report.newton_iterations += 1;
            if linear {
                report.newton_converged = true;
            } else {
                report.newton_residual = self.residual(model, state, memory).map_err(&located)?;
                report.newton_converged = report.newton_residual <= self.tolerance;
            }
        }
        StiffElements::finish(memory);
        Ok(())
    }

    /// Finds the stiff elements; true if there are any. The first iteration is then linearised at q_k, which `state.q` holds afterwards: where stiff
    /// elements would be at the velocities of the start, their forces are those of no motion, and so is what turns with them.
    pub(super) fn begin_stiff(&self, model: &Model, state: &mut State, memory: &mut StepMemory) -> Result<bool, NonFinite> {
        if model.force_elements().is_empty() {
            return Ok(false);
        }
        state.q.copy_from_slice(&memory.work.q_start);
        let coupled = StiffElements::begin(model, self.end(state), self.factors(), memory)?;
        if !coupled {
            self.advance(model, state, memory)?;
        }
        Ok(coupled)
    }

    /// W, q, with the compliance of stiff elements where there are any => p, v_{k+1}.
    pub(super) fn solve_with_stiff(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        coupled: bool,
    ) -> Result<SolveReport, StepError> {
        if coupled {
            memory.stiff.add_compliance(&memory.active, &mut memory.one_step.problem);
        }
        let solve = solve_problem(model, state, memory)?;
        if coupled {
            StiffElements::forget_impulses(&memory.active, &mut memory.one_step.solution);
        }
        Ok(solve)
    }

    /// The present iterate of the end of the step.
    pub(super) fn end<'a>(&self, state: &'a State) -> Instant<'a> {
        Instant { t: state.t + self.h, q: &state.q, v: &state.v }
    }

    /// hθ and hθ hβ.
    pub(super) fn factors(&self) -> JacobianFactors {
        JacobianFactors { velocity: self.h * self.theta, position: self.h * self.h * self.theta * self.position }
    }

    /// (q_k, v_k, v) => q_{k+1} = q_k ⊕ h T [(1 − β) v_k + β v].
    pub fn advance(&self, model: &Model, state: &mut State, memory: &mut StepMemory) -> Result<(), NonFinite> {
        advance(model, state, memory, self.h, self.position)
    }

    /// (q_k, v_k, v) => q̃, in `work.q_inner`.
    fn inner_configuration(&self, model: &Model, state: &State, memory: &mut StepMemory) {
        let work = &mut memory.work;
        work.q_inner.resize(state.q.len(), 0.0);
        displace(work, &state.v, self.fraction * self.h, self.position);
        model.systems().advance(&work.q_start, &work.displacement, &mut work.q_inner);
    }

    /// q̃, and M there unless constant.
    fn update_mass(&self, model: &Model, state: &State, memory: &mut StepMemory) -> Result<(), NonFinite> {
        let mass_holds = memory.matrices.mass_ready && model.systems().mass_is_constant();
        if mass_holds && !memory.work.rows_vary {
            return Ok(());
        }
        let t = state.t + self.fraction * self.h;
        if model.systems().mass_is_constant() && !memory.work.rows_vary {
            let StepMemory { work, matrices, scratch, .. } = memory;
            return evaluate_mass(model, t, &work.q_start, matrices, scratch);
        }
        self.inner_configuration(model, state, memory);
        let StepMemory { work, matrices, scratch, .. } = memory;
        evaluate_mass(model, t, &work.q_inner, matrices, scratch)
    }

    /// R = −M (v − v_k) + h [(1 − θ) F_k + θ F(t_{k+1}, q, v)] at the present iterate.
    pub(super) fn smooth_residual(&self, model: &Model, state: &State, memory: &mut StepMemory) -> Result<(), NonFinite> {
        let StepMemory { work, matrices, scratch, .. } = memory;
        let (systems, h, theta) = (model.systems(), self.h, self.theta);
        model.force(state.t + h, &state.q, &state.v, &mut work.force_end, scratch)?;
        for ((change, end), start) in work.v_free.iter_mut().zip(&state.v).zip(&work.v_start) {
            *change = end - start;
        }
        systems.layout().multiply(&matrices.mass, &work.v_free, &mut work.momentum);
        for (i, r) in work.residual.iter_mut().enumerate() {
            *r = h * ((1.0 - theta) * work.force_start[i] + theta * work.force_end[i]) - work.momentum[i];
        }
        Ok(())
    }

    /// M̂ = M + hθ C + hθ hβ K, v_free = v + M̂⁻¹ R. With `from_start` the state is still at q_k, and stiff elements go on linearly to where v leads.
    fn free_motion(&self, model: &Model, state: &State, memory: &mut StepMemory, from_start: bool) -> Result<(), StepError> {
        let located = at_time(state.t);
        self.update_mass(model, state, memory).map_err(&located)?;
        self.smooth_residual(model, state, memory).map_err(&located)?;
        if from_start {
            displace(&mut memory.work, &state.v, self.h, self.position);
            let by_place = JacobianFactors { velocity: 0.0, position: self.h * self.theta };
            StiffElements::extrapolate(model, self.end(state), by_place, memory).map_err(&located)?;
        }
        let StepMemory { work, matrices, scratch, stiff, .. } = memory;
        if stiff.is_empty() {
            factorise_iteration(model, self.end(state), self.factors(), matrices, scratch)?;
        } else {
            stiff.factorise(model, self.end(state), self.factors(), (matrices, &[]), scratch)?;
        }
        free_by_residual(model, &state.v, work, matrices);
        Ok(())
    }

    /// Residual of the discrete equations at the present iterate, with M, F and G evaluated there.
    fn residual(&self, model: &Model, state: &State, memory: &mut StepMemory) -> Result<f64, NonFinite> {
        self.update_mass(model, state, memory)?;
        if memory.work.rows_vary {
            update_jacobians(model, state.t + self.fraction * self.h, memory)?;
        }
        self.smooth_residual(model, state, memory)?;
        Ok(self.judge(model, state, memory))
    }

    /// R of the present iterate in `work.residual` => the relative residual.
    pub(super) fn judge(&self, model: &Model, state: &State, memory: &mut StepMemory) -> f64 {
        // what the last digits of the positions change in stiff forces is not seen
        let largest = state.q.iter().fold(0.0_f64, |largest, q| largest.max(q.abs()));
        let digits = 4.0 * f64::EPSILON * largest / self.tolerance;
        let least_scale = memory.stiff.resolution(&memory.active, &memory.one_step.problem, digits / (self.h * self.position));
        relative_residual(model, state, memory, least_scale)
    }
}
