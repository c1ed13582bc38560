//! Accelerations and reactions right after the start of a step, for schemes that separate forces from impacts.
//!
//! ```text
//! M a = F + Gᵀ λ   at (t_k, q_k, v_k),      û = u_k + h (G a + (dG/dt) v + db/dt),      the laws bind û and λ
//! ```
//!
//! û is the local velocity that a step with this acceleration reaches, to first order. Bilateral and closed frictionless contacts that stay
//! closed get the multiplier of the acceleration level up to O(h); a law on û, not on the acceleration, lets contacts open that already
//! separate, and needs no case distinction between sticking and sliding.

use crate::active_set::ActiveSource;
use crate::assembly::{assemble_problem, at_time, solve_problem};
use crate::error::{NonFinite, StepError};
use crate::memory::{OneStep, StepMemory};
use crate::model::Model;
use crate::report::{StepReport, report_worse};
use crate::state::State;

/// (q_k, v_k) with F_k in `work.force_start`, the factor of M(q_k) in `matrices.factor` and the closed interactions in `active` => `acceleration`;
/// h λ is left in the solution, v_k + h a in `state.v`.
pub(super) fn left_limit(
    model: &Model,
    state: &mut State,
    memory: &mut StepMemory,
    h: f64,
    acceleration: &mut [f64],
    report: &mut StepReport,
) -> Result<(), StepError> {
    let layout = model.systems().layout();
    let StepMemory { work, matrices, .. } = &mut *memory;
    matrices.factor.solve(layout, &work.force_start, acceleration);
    for ((free, v), a) in work.v_free.iter_mut().zip(&work.v_start).zip(&*acceleration) {
        *free = v + h * a;
    }
    if memory.active.is_empty() {
        memory.one_step.solution.r.clear();
        state.v.copy_from_slice(&memory.work.v_free);
        return Ok(());
    }
    assemble_problem(model, memory, true);
    add_rates(model, state.t, memory, h).map_err(at_time(state.t))?;
    let solve = solve_problem(model, state, memory)?;
    report_worse(report, solve);
    let StepMemory { active, work, one_step: OneStep { solution, .. }, .. } = memory;
    work.local.clear();
    work.local.extend(solution.r.iter().map(|p| p / h));
    active.add_response(layout, &work.local, acceleration);
    Ok(())
}

/// Adds h ((dG/dt) v + db/dt) at (q_k, v_k) to the free local velocities.
fn add_rates(model: &Model, t: f64, memory: &mut StepMemory, h: f64) -> Result<(), NonFinite> {
    let StepMemory { active, work, scratch, one_step: OneStep { problem, .. }, .. } = memory;
    for item in active.items() {
        let ActiveSource::Interaction(i) = item.source else { continue };
        let relation = model.interactions()[i].relation();
        if relation.is_constant() {
            continue;
        }
        let mut rate = [0.0; 6];
        relation.acceleration_bias(t, &work.q_start, &work.v_start, &mut rate[..item.rows.len()], scratch)?;
        rate[2] *= item.stretch;
        for (q, rate) in problem.q[item.rows.clone()].iter_mut().zip(rate) {
            *q += h * rate;
        }
    }
    Ok(())
}
