//! Stages of a step that several schemes share: positions from velocities, factorisations, the account at the end.

use crate::active_set::ActiveSet;
use crate::assembly::{add_exchange, at_time, keep_impulses, local_change};
use crate::block_diagonal::dot;
use crate::error::{NonFinite, StepError};
use crate::memory::{Matrices, OneStep, StepMemory, Work};
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use crate::systems::{Instant, JacobianFactors, Scratch};
use carom_solvers::Delassus;

/// A step of size h and the weight θ of its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
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
pub(crate) fn advance(model: &Model, state: &mut State, memory: &mut StepMemory, h: f64, theta: f64) -> Result<(), NonFinite> {
    let work = &mut memory.work;
    displace(work, &state.v, h, theta);
    model.systems().advance(&work.q_start, &work.displacement, &mut state.q);
    check_finite(model, state)
}

/// Refuses coordinates and velocities that are not finite, by name.
pub(crate) fn check_finite(model: &Model, state: &State) -> Result<(), NonFinite> {
    for (names, values) in [(model.systems().velocities(), &state.v), (model.systems().coordinates(), &state.q)] {
        if let Some(i) = values.iter().position(|x| !x.is_finite()) {
            return Err(NonFinite { what: names.name(i), value: values[i] });
        }
    }
    Ok(())
}

/// Factorises `matrices.iteration`; `t` is for the message.
pub(super) fn factorise(model: &Model, t: f64, matrices: &mut Matrices) -> Result<(), StepError> {
    matrices.factor.load(&matrices.iteration);
    factorise_loaded(model, t, matrices)
}

/// Factorises the matrix that is loaded in `matrices.factor`.
fn factorise_loaded(model: &Model, t: f64, matrices: &mut Matrices) -> Result<(), StepError> {
    let systems = model.systems();
    matrices.factor.factorise_loaded(systems.layout()).map_err(|singular| StepError::SingularIterationMatrix {
        t,
        system: systems.velocities().name(systems.layout().rows[singular.block]),
        block: singular.block,
    })?;
    matrices.generation += 1;
    Ok(())
}

/// The end of a step from (q_k, v_k) in `work` at `state.t` to (q, v) in the state: energies exchanged, impulses to keep, time.
pub(crate) fn finish(
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
        work.applied_start.resize(state.v.len(), 0.0);
        work.applied_end.resize(state.v.len(), 0.0);
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

/// (t, q) => M, in `matrices.mass`; nothing to do where M is constant and at hand.
pub(crate) fn evaluate_mass(model: &Model, t: f64, q: &[f64], matrices: &mut Matrices, scratch: &mut Scratch) -> Result<(), NonFinite> {
    let systems = model.systems();
    if !(matrices.mass_ready && systems.mass_is_constant()) {
        matrices.mass.resize(systems.layout().n_values(), 0.0);
        systems.mass(t, q, &mut matrices.mass, scratch)?;
        matrices.mass_ready = true;
    }
    Ok(())
}

/// (t, q) => M and its factor; nothing to do where M is constant and factorised.
pub(super) fn factorise_mass(model: &Model, t: f64, q: &[f64], matrices: &mut Matrices, scratch: &mut Scratch) -> Result<(), StepError> {
    evaluate_mass(model, t, q, matrices, scratch).map_err(at_time(t))?;
    if model.systems().mass_is_constant() && matrices.factor_of == Some(MASS) {
        return Ok(());
    }
    matrices.factor_of = None;
    matrices.factor.load(&matrices.mass);
    factorise_loaded(model, t, matrices)?;
    matrices.factor_of = Some(MASS);
    Ok(())
}

/// M in `matrices.mass` => M̂ = M + c_v C + c_q K and its factor; nothing to do where the same M̂ is factorised and depends on nothing else.
pub(super) fn factorise_iteration(
    model: &Model,
    at: Instant<'_>,
    factors: JacobianFactors,
    matrices: &mut Matrices,
    scratch: &mut Scratch,
) -> Result<(), StepError> {
    let key = Some((factors.velocity, factors.position));
    if model.is_affine() && matrices.factor_of == key {
        return Ok(());
    }
    matrices.factor_of = None;
    model.add_jacobians(at, factors, matrices.factor.load(&matrices.mass), scratch).map_err(at_time(at.t))?;
    factorise_loaded(model, at.t, matrices)?;
    matrices.factor_of = key;
    Ok(())
}

/// R in `work.residual`, the factor of M̂ => v_free = v + M̂⁻¹ R.
pub(super) fn free_by_residual(model: &Model, v: &[f64], work: &mut Work, matrices: &Matrices) {
    matrices.factor.solve(model.systems().layout(), &work.residual, &mut work.v_free);
    for (free, v) in work.v_free.iter_mut().zip(v) {
        *free += v;
    }
}

/// Residual of the discrete equations at the present iterate: R in `work.residual`, the change of momentum in `work.momentum`, both at the iterate.
///
/// That of the equation of motion in the energy norm, ‖R + Gᵀp‖² = (R + Gᵀp)ᵀ M̂⁻¹ (R + Gᵀp), relative to its largest
/// part, the reactions of single joints among them: it has the unit of an energy, so translations and rotations weigh rightly. That of u = G v + b by the largest
/// change since the one-step problem was solved, relative to the largest |u| or |G| |v|. The larger of the two. `least_scale` is the least square that
/// counts as the largest part.
pub(super) fn relative_residual(model: &Model, state: &State, memory: &mut StepMemory, least_scale: f64) -> f64 {
    let StepMemory { work, matrices, active, one_step: OneStep { solution, problem, .. }, .. } = memory;
    let layout = model.systems().layout();
    let reactions = if active.is_empty() { 0.0 } else { reaction_norm(active, &problem.w, &solution.r) };
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
    scale = scale.max(dot(&work.momentum, &state.v)).max(reactions).max(least_scale);
    if !active.is_empty() {
        active.add_reaction(layout, &solution.r, &mut work.residual);
    }
    let norm = energy_norm(&work.residual);
    let motion = if norm == 0.0 { 0.0 } else { (norm / scale).sqrt() };
    if work.rows_vary && !active.is_empty() { motion.max(local_change(layout, state, memory)) } else { motion }
}

/// Σ ‖G_iᵀ p_i‖² = Σ p_iᵀ W_ii p_i over the joints: what their reactions cancel in each other is not seen in the sum of all.
fn reaction_norm(active: &ActiveSet, w: &Delassus, p: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (place, item) in active.items().iter().enumerate().filter(|(_, item)| item.law.is_bilateral()) {
        let p = &p[item.rows.clone()];
        for (row, a) in w.diagonal(place).chunks_exact(p.len()).zip(p) {
            sum += a * dot(row, p);
        }
    }
    sum
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
