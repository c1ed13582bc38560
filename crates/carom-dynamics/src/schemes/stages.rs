//! Stages of a step that several schemes share: positions from velocities, factorisations, the account at the end.

use super::StepReport;
use crate::assembly::{add_exchange, at_time, keep_impulses};
use crate::error::{NonFinite, StepError};
use crate::memory::{Matrices, StepMemory, Work};
use crate::model::Model;
use crate::state::State;
use crate::systems::Instant;

/// A step of size h and the weight θ of its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Size \[s\].
    pub h: f64,
    /// Weight of the end in [0, 1].
    pub theta: f64,
}

/// The displacement `time` · [(1 − θ) v_k + θ v], in `work.displacement`.
pub(super) fn displace(work: &mut Work, v: &[f64], time: f64, theta: f64) {
    for ((w, start), end) in work.displacement.iter_mut().zip(&work.v_start).zip(v) {
        *w = time * ((1.0 - theta) * start + theta * end);
    }
}

/// (q_k, v_k, v) => q_{k+1} = q_k ⊕ h T [(1 − θ) v_k + θ v], in the state.
pub(super) fn advance(model: &Model, state: &mut State, memory: &mut StepMemory, h: f64, theta: f64) -> Result<(), NonFinite> {
    let work = &mut memory.work;
    displace(work, &state.v, h, theta);
    model.systems().advance(&work.q_start, &work.displacement, &mut state.q);
    check_finite(model, state)
}

/// Refuses coordinates and velocities that are not finite, by name.
pub(super) fn check_finite(model: &Model, state: &State) -> Result<(), NonFinite> {
    for (names, values) in [(model.systems().velocities(), &state.v), (model.systems().coordinates(), &state.q)] {
        if let Some(i) = values.iter().position(|x| !x.is_finite()) {
            return Err(NonFinite { what: names[i].name.clone(), value: values[i] });
        }
    }
    Ok(())
}

/// Factorises `matrices.iteration`; `t` is for the message.
pub(super) fn factorise(model: &Model, t: f64, matrices: &mut Matrices) -> Result<(), StepError> {
    let systems = model.systems();
    matrices.factor.factorise(systems.layout(), &matrices.iteration).map_err(|singular| StepError::SingularIterationMatrix {
        t,
        system: systems.velocities()[systems.layout().rows[singular.block]].name.clone(),
        block: singular.block,
    })?;
    matrices.generation += 1;
    Ok(())
}

/// The end of a step from (q_k, v_k) in `work` at `state.t` to (q, v) in the state: energies exchanged, impulses to keep, time.
pub(super) fn finish(
    model: &Model,
    state: &mut State,
    memory: &mut StepMemory,
    span: Span,
    report: &mut StepReport,
) -> Result<(), NonFinite> {
    let Span { h, theta } = span;
    if !memory.active.is_empty() {
        add_exchange(model, state, memory, report);
    }
    keep_impulses(memory);
    let StepMemory { work, scratch, .. } = memory;
    if model.exchanges_energy() {
        let start = Instant { t: state.t, q: &work.q_start, v: &work.v_start };
        let end = Instant { t: state.t + h, q: &state.q, v: &state.v };
        model.applied_force(start, &mut work.applied_start, scratch)?;
        model.applied_force(end, &mut work.applied_end, scratch)?;
        for i in 0..state.v.len() {
            let force = (1.0 - theta) * work.applied_start[i] + theta * work.applied_end[i];
            report.work += 0.5 * h * (work.v_start[i] + state.v[i]) * force;
        }
        report.work += h * ((1.0 - theta) * model.explicit_power(start, scratch)? + theta * model.explicit_power(end, scratch)?);
    }
    state.t += h;
    Ok(())
}

/// Notes whether rows of the active set change with (t, q), so that W is not kept from step to step.
pub(super) fn note_varying_rows(model: &Model, memory: &mut StepMemory) {
    memory.work.rows_vary = memory.active.items().iter().any(|item| !item.is_constant(model));
}

/// (t_k, q_k) => M and its factor; nothing to do where M is constant and factorised.
pub(super) fn factorise_mass(model: &Model, state: &State, memory: &mut StepMemory) -> Result<(), StepError> {
    let StepMemory { matrices, scratch, .. } = memory;
    let systems = model.systems();
    if !(matrices.mass_ready && systems.mass_is_constant()) {
        matrices.mass.resize(systems.layout().n_values(), 0.0);
        systems.mass(state.t, &state.q, &mut matrices.mass, scratch).map_err(at_time(state.t))?;
        matrices.mass_ready = true;
    } else if matrices.factor_of == Some(MASS) {
        return Ok(());
    }
    matrices.iteration.clone_from(&matrices.mass);
    factorise(model, state.t, matrices)?;
    matrices.factor_of = Some(MASS);
    Ok(())
}

/// The key under which the factor of M itself is kept: M̂ with h = 0.
const MASS: (f64, f64) = (0.0, 0.0);

/// (t, q, v) of the state, factor of M => F in `work.force_start`, v_free = v + h M⁻¹ F.
pub(super) fn free_by_force(model: &Model, state: &State, memory: &mut StepMemory, h: f64) -> Result<(), NonFinite> {
    let StepMemory { work, matrices, scratch, .. } = memory;
    let systems = model.systems();
    model.force(state.t, &state.q, &state.v, &mut work.force_start, scratch)?;
    matrices.factor.solve(systems.layout(), &work.force_start, &mut work.v_free);
    for (free, v) in work.v_free.iter_mut().zip(&state.v) {
        *free = v + h * *free;
    }
    Ok(())
}
