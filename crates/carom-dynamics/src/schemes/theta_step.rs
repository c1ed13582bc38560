//! The θ-step that schemes share: Newton's iteration on the discrete equation of motion, with a one-step problem per iteration.
//!
//! ```text
//! M(q̃) (v_{k+1} − v_k) = h [(1 − θ) F(t_k, q_k, v_k) + θ F(t_{k+1}, q_{k+1}, v_{k+1})] + Gᵀ p_{k+1}
//! q_{k+1} = q_k ⊕ h T [(1 − β) v_k + β v_{k+1}],      u_{k+1} = G(q̃) v_{k+1} + b
//! M̂ = M + hθ C + hθ hβ K
//! ```
//!
//! The laws are those of the active set, with its shifts. β = θ is the θ-method, β = 1 takes positions by Euler's rule.

use super::StepReport;
use super::stages::{advance, displace, factorise};
use crate::assembly::{assemble_problem, at_time, local_change, solve_problem, update_jacobians};
use crate::block_diagonal::dot;
use crate::error::{NonFinite, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;
use crate::systems::{Instant, JacobianFactors};

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
    pub fn predict(&self, model: &Model, state: &mut State, memory: &mut StepMemory) -> Result<(), StepError> {
        self.advance(model, state, memory).map_err(at_time(state.t))?;
        self.free_motion(model, state, memory)
    }

    /// As [`ThetaStep::solve`], after [`ThetaStep::predict`].
    pub fn solve_predicted(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let located = at_time(state.t);
        let rows_vary = memory.work.rows_vary;
        let linear = model.is_affine() && !rows_vary;
        while !report.newton_converged && report.newton_iterations < self.max_iterations {
            let first = report.newton_iterations == 0;
            // (q_k, v) => q̃, M(q̃), M̂, v_free
            if !first {
                self.free_motion(model, state, memory)?;
            }
            if memory.active.is_empty() {
                state.v.copy_from_slice(&memory.work.v_free);
            } else {
                // G(q̃), M̂, v_free => W, q => p => v_{k+1}
                if rows_vary && first {
                    self.inner_configuration(model, state, memory);
                    update_jacobians(model, state.t + self.fraction * self.h, memory).map_err(&located)?;
                }
                assemble_problem(model, memory, first);
                report.solve = Some(solve_problem(model, state, memory)?);
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
        Ok(())
    }

    /// (q_k, v_k, v) => q_{k+1} = q_k ⊕ h T [(1 − β) v_k + β v].
    pub fn advance(&self, model: &Model, state: &mut State, memory: &mut StepMemory) -> Result<(), NonFinite> {
        advance(model, state, memory, self.h, self.position)
    }

    /// (q_k, v_k, v) => q̃, in `work.q_inner`.
    fn inner_configuration(&self, model: &Model, state: &State, memory: &mut StepMemory) {
        let work = &mut memory.work;
        displace(work, &state.v, self.fraction * self.h, self.position);
        model.systems().advance(&work.q_start, &work.displacement, &mut work.q_inner);
    }

    /// q̃, and M there unless constant.
    fn update_mass(&self, model: &Model, state: &State, memory: &mut StepMemory) -> Result<(), NonFinite> {
        let systems = model.systems();
        let mass_holds = memory.matrices.mass_ready && systems.mass_is_constant();
        if mass_holds && !memory.work.rows_vary {
            return Ok(());
        }
        self.inner_configuration(model, state, memory);
        if !mass_holds {
            let StepMemory { work, matrices, scratch, .. } = memory;
            matrices.mass.resize(systems.layout().n_values(), 0.0);
            systems.mass(state.t + self.fraction * self.h, &work.q_inner, &mut matrices.mass, scratch)?;
            matrices.mass_ready = true;
        }
        Ok(())
    }

    /// R = −M (v − v_k) + h [(1 − θ) F_k + θ F(t_{k+1}, q, v)] at the present iterate.
    fn smooth_residual(&self, model: &Model, state: &State, memory: &mut StepMemory) -> Result<(), NonFinite> {
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

    /// M̂ = M + hθ C + hθ hβ K, v_free = v + M̂⁻¹ R.
    fn free_motion(&self, model: &Model, state: &State, memory: &mut StepMemory) -> Result<(), StepError> {
        let (systems, h) = (model.systems(), self.h);
        let located = at_time(state.t);
        self.update_mass(model, state, memory).map_err(&located)?;
        self.smooth_residual(model, state, memory).map_err(&located)?;
        let StepMemory { work, matrices, scratch, .. } = memory;
        let factors = JacobianFactors { velocity: h * self.theta, position: h * h * self.theta * self.position };
        let key = Some((factors.velocity, factors.position));
        if !(model.is_affine() && matrices.factor_of == key) {
            matrices.iteration.clone_from(&matrices.mass);
            let at = Instant { t: state.t + h, q: &state.q, v: &state.v };
            model.add_jacobians(at, factors, &mut matrices.iteration, scratch).map_err(&located)?;
            factorise(model, state.t, matrices)?;
            matrices.factor_of = key;
        }
        matrices.factor.solve(systems.layout(), &work.residual, &mut work.v_free);
        for (free, v) in work.v_free.iter_mut().zip(&state.v) {
            *free += v;
        }
        Ok(())
    }

    /// Residual of the discrete equations at the present iterate, with M, F and G evaluated there.
    ///
    /// That of the equation of motion in the energy norm, ‖R + Gᵀp‖² = (R + Gᵀp)ᵀ M̂⁻¹ (R + Gᵀp), relative to its largest
    /// part: it has the unit of an energy, so translations and rotations weigh rightly. That of u = G v + b by the largest
    /// change since the one-step problem was solved, relative to the largest |u| or |G| |v|. The larger of the two.
    fn residual(&self, model: &Model, state: &State, memory: &mut StepMemory) -> Result<f64, NonFinite> {
        self.update_mass(model, state, memory)?;
        if memory.work.rows_vary {
            update_jacobians(model, state.t + self.fraction * self.h, memory)?;
        }
        self.smooth_residual(model, state, memory)?;
        let StepMemory { work, matrices, active, solution, .. } = memory;
        let layout = model.systems().layout();
        let mut energy_norm = |x: &[f64]| {
            matrices.factor.solve(layout, x, &mut work.displacement);
            dot(x, &work.displacement).abs()
        };
        // scale: the impulse of the forces, the change of momentum, the momentum
        for (impulse, (change, residual)) in work.force_end.iter_mut().zip(work.momentum.iter().zip(&work.residual)) {
            *impulse = residual + change;
        }
        let mut scale = energy_norm(&work.force_end).max(energy_norm(&work.momentum));
        layout.multiply(&matrices.mass, &state.v, &mut work.momentum);
        scale = scale.max(dot(&work.momentum, &state.v));
        if !active.is_empty() {
            active.add_reaction(layout, &solution.r, &mut work.residual);
        }
        let norm = energy_norm(&work.residual);
        let motion = if norm == 0.0 { 0.0 } else { (norm / scale).sqrt() };
        Ok(if work.rows_vary { motion.max(local_change(layout, state, memory)) } else { motion })
    }
}
