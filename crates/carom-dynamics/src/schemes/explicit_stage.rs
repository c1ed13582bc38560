//! The stage that schemes with explicit forces share: the one-step problem at a configuration that is known before it is solved.
//!
//! ```text
//! M(t̃, q̃) (v_{k+1} − v_k) = h F(t̃, q̃, v_k) + G(q̃)ᵀ p,      u = G(q̃) v_{k+1} + b,      active where g(q̃) ≤ threshold
//! ```

use super::stages::{check_finite, factorise_mass, free_by_force};
use crate::assembly::{
    RowsOver, assemble_problem, at_time, detect_contacts, evaluate_candidates, measure_violations, note_varying_rows, select_where,
};
use crate::error::StepError;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;

/// (q_k, v_k) => t̃ = t_k + time and q̃ = q_k ⊕ time · T v_k in the state.
pub(super) fn move_freely(model: &Model, state: &mut State, memory: &mut StepMemory, time: f64) -> Result<(), StepError> {
    let work = &mut memory.work;
    for (w, v) in work.displacement.iter_mut().zip(&work.v_start) {
        *w = time * v;
    }
    model.systems().advance(&work.q_start, &work.displacement, &mut state.q);
    check_finite(model, state).map_err(at_time(state.t))?;
    state.t += time;
    Ok(())
}

/// (t̃, q̃, v_k) in the state => v_free = v_k + h M⁻¹ F, the active set, and the one-step problem with its guess unless no interaction is
/// active. The violations reported are those of q̃.
pub(super) fn pose_problem(
    model: &Model,
    state: &State,
    memory: &mut StepMemory,
    h: f64,
    threshold: f64,
    report: &mut StepReport,
) -> Result<(), StepError> {
    let located = at_time(state.t);
    // (t̃, q̃, v_k) => contacts, gaps, local velocities => active set
    detect_contacts(model, state, memory, 0.0).map_err(&located)?;
    evaluate_candidates(model, state, memory).map_err(&located)?;
    select_where(model, state, memory, RowsOver { step: h, lead: 0.0 }, |_, gap, _| gap <= threshold);
    report.violations = measure_violations(model, memory);
    report.n_active = memory.active.items().len();
    report.newton_converged = true;
    note_varying_rows(model, memory);

    // (t̃, q̃, v_k) => M, F => v_free
    factorise_mass(model, state.t, &state.q, &mut memory.matrices, &mut memory.scratch)?;
    free_by_force(model, state, memory, h).map_err(&located)?;

    // G, M⁻¹, v_free => W, q
    if !memory.active.is_empty() {
        assemble_problem(model, memory, true);
    }
    Ok(())
}
