//! The equations of one step: Newton's iteration in v_{n+1}, and what the step leaves behind.

use super::super::stages::{check_finite, evaluate_mass, factorise_iteration, free_by_residual, relative_residual};
use super::accelerations::Remembered;
use super::{AlphaLevel, NonsmoothAlphaParams};
use crate::active_set::ActiveSource;
use crate::assembly::{assemble_problem, at_time, note_varying_rows, solve_problem, update_jacobians};
use crate::error::{NonFinite, StepError};
use crate::integrators::AlphaCoefficients;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::{StepReport, report_worse};
use crate::state::State;
use crate::systems::{Instant, JacobianFactors};

/// A step of size h. `state.q` and `state.v` hold the current iterate of its end, `state.t` its start.
pub(super) struct Newton<'a> {
    pub model: &'a Model,
    pub params: &'a NonsmoothAlphaParams,
    pub coefficients: AlphaCoefficients,
    pub h: f64,
}

impl Newton<'_> {
    /// hγ/c: impulse P per force λ, weight of F_{n+1}.
    fn weight(&self) -> f64 {
        self.h * self.coefficients.gamma / self.coefficients.acceleration()
    }

    /// Iterates to the end of the step.
    pub fn solve(
        &self,
        state: &mut State,
        memory: &mut StepMemory,
        own: &mut Remembered,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let (model, located) = (self.model, at_time(state.t + self.h));
        note_varying_rows(model, memory);
        let rows_vary = memory.work.rows_vary;
        let with_positions = self.params.level == AlphaLevel::PositionVelocity;
        let linear = model.is_affine() && !rows_vary && !with_positions;
        let (mut positions_hold, left) = (true, report.solve);
        own.positions.begin(model);
        // first guess: v_n + h A_n
        for (v, a) in state.v.iter_mut().zip(&own.acceleration) {
            *v += self.h * a;
        }
        self.place(state, memory, own).map_err(&located)?;
        while !report.newton_converged && report.newton_iterations < self.params.newton_max_iterations {
            let first = report.newton_iterations == 0;
            self.free_motion(state, memory, own)?;
            if memory.active.is_empty() {
                state.v.copy_from_slice(&memory.work.v_free);
            } else {
                if rows_vary && first {
                    self.update_rows(state, memory).map_err(&located)?;
                }
                assemble_problem(model, memory, first);
                if first {
                    self.guess_forces(memory, own);
                }
                report.solve = left;
                report_worse(report, solve_problem(model, state, memory)?);
            }
            self.place(state, memory, own).map_err(&located)?;
            if with_positions {
                positions_hold = self.correct_positions(state, memory, own)?;
            }
            report.newton_iterations += 1;
            if linear {
                report.newton_converged = true;
            } else {
                report.newton_residual = self.residual(state, memory, own).map_err(&located)?;
                report.newton_converged = positions_hold && report.newton_residual <= self.params.newton_tolerance;
            }
        }
        Ok(())
    }

    /// v => q_{n+1} = q_n ⊕ [h v_n + h² (½ − β) a_n + h (β/γ) y + U] with y = v − v_n − h (1 − γ) a_n.
    fn place(&self, state: &mut State, memory: &mut StepMemory, own: &Remembered) -> Result<(), NonFinite> {
        let (AlphaCoefficients { beta, gamma, .. }, h, work) = (self.coefficients, self.h, &mut memory.work);
        for (i, w) in work.displacement.iter_mut().enumerate() {
            let (v, a) = (work.v_start[i], own.before[i]);
            let change = state.v[i] - v - h * (1.0 - gamma) * a;
            *w = h * v + h * h * (0.5 - beta) * a + h * beta / gamma * change + own.positions.correction()[i];
        }
        self.model.systems().advance(&work.q_start, &work.displacement, &mut state.q);
        check_finite(self.model, state)
    }

    /// Corrects the positions to the constraints and contacts; false where that fails.
    fn correct_positions(&self, state: &mut State, memory: &mut StepMemory, own: &mut Remembered) -> Result<bool, StepError> {
        let (located, t_end) = (at_time(state.t + self.h), state.t + self.h);
        for _ in 0..self.params.newton_max_iterations {
            let Remembered { positions, mass, .. } = own;
            let tolerance = self.params.position_tolerance;
            if positions.hold(self.model, t_end, &state.q, tolerance, &mut memory.scratch).map_err(&located)? {
                return Ok(true);
            }
            if !positions.improve(self.model, t_end, &state.q, mass, memory)? {
                return Ok(false);
            }
            self.place(state, memory, own).map_err(&located)?;
        }
        Ok(false)
    }

    /// G, b at q_{n+1}.
    fn update_rows(&self, state: &State, memory: &mut StepMemory) -> Result<(), NonFinite> {
        memory.work.q_inner.clone_from(&state.q);
        update_jacobians(self.model, state.t + self.h, memory)
    }

    /// R = (hγ/c) F − M [y + hγ (α_m a_n − α_f A_n)/(1 − α_m)] at the present iterate; the second term in `work.momentum`.
    fn smooth_residual(&self, state: &State, memory: &mut StepMemory, own: &Remembered) -> Result<(), NonFinite> {
        let AlphaCoefficients { mass, force, gamma, .. } = self.coefficients;
        let StepMemory { work, matrices, scratch, .. } = memory;
        let (systems, h, t_end) = (self.model.systems(), self.h, state.t + self.h);
        evaluate_mass(self.model, t_end, &state.q, matrices, scratch)?;
        self.model.force(t_end, &state.q, &state.v, &mut work.force_end, scratch)?;
        for (i, change) in work.v_free.iter_mut().enumerate() {
            let (a, true_a) = (own.before[i], own.acceleration[i]);
            *change = state.v[i] - work.v_start[i] - h * (1.0 - gamma) * a + h * gamma * (mass * a - force * true_a) / (1.0 - mass);
        }
        systems.layout().multiply(&matrices.mass, &work.v_free, &mut work.momentum);
        let weight = self.weight();
        for (i, r) in work.residual.iter_mut().enumerate() {
            *r = weight * work.force_end[i] - work.momentum[i];
        }
        Ok(())
    }

    /// M̂ = M + (hγ/c) C + (h²β/c) K, v_free = v + M̂⁻¹ R.
    fn free_motion(&self, state: &State, memory: &mut StepMemory, own: &Remembered) -> Result<(), StepError> {
        let t_end = state.t + self.h;
        self.smooth_residual(state, memory, own).map_err(at_time(t_end))?;
        let StepMemory { work, matrices, scratch, .. } = memory;
        let stiffness = self.h * self.h * self.coefficients.beta / self.coefficients.acceleration();
        let factors = JacobianFactors { velocity: self.weight(), position: stiffness };
        let at = Instant { t: t_end, q: &state.q, v: &state.v };
        factorise_iteration(self.model, at, factors, matrices, scratch)?;
        free_by_residual(self.model, &state.v, work, matrices);
        Ok(())
    }

    /// The guess of the impulses, h λ of the last step, as P.
    fn guess_forces(&self, memory: &mut StepMemory, own: &Remembered) {
        let ratio = self.weight() / self.h;
        for item in memory.active.items() {
            if own.has_force(item.source, item.law.is_bilateral()) {
                memory.one_step.solution.r[item.rows.clone()].iter_mut().for_each(|p| *p *= ratio);
            }
        }
    }

    /// Residual of the discrete equations at the present iterate, with M, F and G evaluated there.
    fn residual(&self, state: &State, memory: &mut StepMemory, own: &Remembered) -> Result<f64, NonFinite> {
        if memory.work.rows_vary {
            self.update_rows(state, memory)?;
        }
        self.smooth_residual(state, memory, own)?;
        Ok(relative_residual(self.model, state, memory, 0.0))
    }

    /// (v_{n+1}, P, Λ) => a_{n+1}, A_{n+1}, λ_{n+1} of what is tried; the impulses of forces become those of the step, h/2 (λ_n + λ_{n+1}).
    pub(crate) fn conclude(&self, state: &State, memory: &mut StepMemory, own: &mut Remembered) {
        let (AlphaCoefficients { mass, force, gamma, .. }, h, weight) = (self.coefficients, self.h, self.weight());
        own.keep_status();
        own.tried.step = h;
        own.tried.jumped = false;
        own.tried.forces.fill([0.0; 6]);
        own.tried.carried.fill(false);
        for i in 0..state.v.len() {
            let before = own.before[i];
            // without impacts; after one the accelerations begin anew
            let a = (state.v[i] - memory.work.v_start[i]) / (h * gamma) - (1.0 - gamma) / gamma * before;
            own.tried.algorithmic[i] = a;
            own.tried.acceleration[i] = ((1.0 - mass) * a + mass * before - force * own.acceleration[i]) / (1.0 - force);
        }
        for item in memory.active.items() {
            let ActiveSource::Interaction(i) = item.source else { continue };
            let has_force = own.has_force(item.source, item.law.is_bilateral());
            let p = &memory.one_step.solution.r[item.rows.clone()];
            own.tried.carried[i] = p[0] > 0.0;
            if has_force {
                let p = &mut memory.one_step.solution.r[item.rows.clone()];
                for ((p, force), before) in p.iter_mut().zip(&mut own.tried.forces[i]).zip(own.forces[i]) {
                    *force = *p / weight;
                    *p = 0.5 * h * (before + *force);
                }
            } else {
                own.tried.jumped |= p.iter().any(|&p| p != 0.0);
            }
        }
    }
}
