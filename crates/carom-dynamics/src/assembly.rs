//! Stages of a step that schemes share, as free functions over [`StepMemory`].

use crate::active_set::{ActiveSource, ContactRows};
use crate::block_diagonal::{BlockLayout, dot};
use crate::bonds::Bonds;
use crate::detection::{ContactDetector, ContactPoint, WORLD};
use crate::error::{NonFinite, StepError};
use crate::impacts::ImpactLaw;
use crate::laws::{BoundedRole, Cohesion, ContactLaw, Law};
use crate::memory::{OneStep, StepMemory};
use crate::model::Model;
use crate::planar_contacts::{detect_planar_contacts, select_planar_contacts};
use crate::recording::Source;
use crate::relations::Rows;
use crate::relations::contact::{BODY_WIDTH, BodyStates, write_bias, write_jacobian};
use crate::relations::planar_contact::planar_normal_velocity;
use crate::report::{StepReport, Violations};
use crate::state::State;
use crate::systems::Instant;
use crate::{coupled_bounds, variable_friction};
use carom_solvers::growth::reserve_tightly;
use carom_solvers::{Delassus, SolveReport};

/// Names the time of a value that is not finite.
pub(crate) fn at_time(t: f64) -> impl Fn(NonFinite) -> StepError {
    move |source| StepError::NonFinite { t, source }
}

/// (t, q, v) => g, G, b, u of every interaction by formula, at the start of the step.
pub(crate) fn evaluate_candidates(model: &Model, state: &State, memory: &mut StepMemory) -> Result<(), NonFinite> {
    let (c, scratch) = (&mut memory.candidates, &mut memory.scratch);
    for (i, interaction) in model.interactions().iter().enumerate() {
        let relation = interaction.relation();
        let (rows, entries) = (c.rows[i]..c.rows[i + 1], c.entries[i]..c.entries[i + 1]);
        relation.position(state.t, &state.q, &mut c.position[rows.clone()], scratch)?;
        if !(c.ready && relation.is_constant()) {
            let out = Rows { jacobian: &mut c.jacobian[entries.clone()], bias: &mut c.bias[rows.clone()] };
            relation.jacobian(state.t, &state.q, out, scratch)?;
        }
        let width = relation.velocities().len();
        for (r, row) in c.jacobian[entries].chunks_exact(width).enumerate() {
            let product: f64 = row.iter().zip(relation.velocities()).map(|(g, &j)| g * state.v[j]).sum();
            c.velocity[rows.start + r] = c.bias[rows.start + r] + product;
        }
    }
    c.ready = true;
    Ok(())
}

/// (t, q, v) => contact points between bodies whose gap may close within `horizon` seconds.
pub(crate) fn detect_contacts(model: &Model, state: &State, memory: &mut StepMemory, horizon: f64) -> Result<(), NonFinite> {
    let at = Instant { t: state.t, q: &state.q, v: &state.v };
    detect_at(model, at, horizon, &mut memory.detector, &mut memory.contacts)?;
    detect_planar_contacts(model, state, memory, horizon)
}

/// (t, q, v) => contact points between bodies in space whose gap may close within `horizon` seconds at the velocities v.
pub(crate) fn detect_at(
    model: &Model,
    at: Instant<'_>,
    horizon: f64,
    detector: &mut Option<Box<dyn ContactDetector>>,
    contacts: &mut Vec<ContactPoint>,
) -> Result<(), NonFinite> {
    contacts.clear();
    if let (Some(detector), Some(bodies)) = (detector, model.systems().bodies()) {
        let bodies = Instant { t: at.t, q: &at.q[bodies.q.clone()], v: &at.v[bodies.v.clone()] };
        detector.detect(bodies, horizon, contacts)?;
    }
    Ok(())
}

/// (t, q) at the start of a step => the largest gaps of cohesive zones so far.
pub(crate) fn update_bonds(model: &Model, state: &mut State, memory: &mut StepMemory) -> Result<(), StepError> {
    if !model.has_cohesive_zones() {
        return Ok(());
    }
    evaluate_candidates(model, state, memory).map_err(at_time(state.t))?;
    detect_contacts(model, state, memory, 0.0).map_err(at_time(state.t))?;
    let StepMemory { candidates, contacts, .. } = &*memory;
    for i in 0..model.interactions().len() {
        state.bonds.see_interaction(i, candidates.position[candidates.rows[i]]);
    }
    let zones = contacts.iter().filter(|contact| matches!(model.contact_law(contact).cohesion, Cohesion::Zone { .. }));
    state.bonds.begin(zones.map(|contact| contact.key));
    for contact in contacts {
        state.bonds.see_contact(&contact.key, contact.gap);
    }
    Ok(())
}

/// When a contact is taken as closed: g + horizon · u_N ≤ threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activation {
    /// γ h \[s\].
    pub horizon: f64,
    /// Step size h \[s\].
    pub step: f64,
    /// \[m\].
    pub threshold: f64,
}

/// g, u of the interactions by formula and the gaps of the contacts => how far the state violates them.
pub(crate) fn measure_violations(model: &Model, memory: &StepMemory) -> Violations {
    let (c, mut worst) = (&memory.candidates, Violations::default());
    for (i, interaction) in model.interactions().iter().enumerate() {
        if interaction.is_bilateral() {
            for row in c.rows[i]..c.rows[i + 1] {
                worst.constraint = worst.constraint.max(c.position[row].abs());
                worst.constraint_velocity = worst.constraint_velocity.max(c.velocity[row].abs());
            }
        } else if interaction.is_contact() {
            worst.penetration = worst.penetration.max(-c.position[c.rows[i]]);
        }
    }
    for contact in &memory.contacts {
        worst.penetration = worst.penetration.max(-contact.gap);
    }
    worst
}

/// (g, u) => the active set with G, b and u_k at the start of the step.
///
/// A contact that is open but pulls is active too: it may close by its gap within the step, u_N + g/h ≥ 0.
///
/// Rows of contacts between bodies hold over the step, with the bodies turned as they will be half way through it.
pub(crate) fn select_active(model: &Model, state: &State, memory: &mut StepMemory, rule: Activation) {
    select_where(model, state, memory, RowsOver::step(rule.step), |_, gap, normal_velocity| {
        gap + rule.horizon * normal_velocity <= rule.threshold
    });
}

/// The time over which rows hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowsOver {
    /// Step size h, 0 for an instant \[s\].
    pub step: f64,
    /// How far ahead of the state bodies are taken to have turned \[s\].
    pub lead: f64,
}

impl RowsOver {
    /// A step from the state: bodies are turned half of it ahead.
    pub fn step(h: f64) -> Self {
        RowsOver { step: h, lead: 0.5 * h }
    }
}

/// The same for contacts that are closed by another rule, a function of (source, gap, normal velocity).
pub(crate) fn select_where(
    model: &Model,
    state: &State,
    memory: &mut StepMemory,
    over: RowsOver,
    closed: impl Fn(ActiveSource, f64, f64) -> bool,
) {
    select_interactions_where(model, state, memory, over, &closed);
    select_contacts_where(model, state, memory, over, closed);
}

/// Coefficients of restitution count: the impacts were not resolved before the step.
pub(crate) fn counts_restitution(model: &Model, memory: &StepMemory) -> bool {
    !memory.impacts_done && *model.impact_law() != ImpactLaw::Inelastic
}

/// Begins the active set with the interactions by formula, as [`select_where`] does.
pub(crate) fn select_interactions_where(
    model: &Model,
    state: &State,
    memory: &mut StepMemory,
    RowsOver { step, .. }: RowsOver,
    closed: impl Fn(ActiveSource, f64, f64) -> bool,
) {
    let with_restitution = counts_restitution(model, memory);
    let StepMemory { active, candidates: c, .. } = &mut *memory;
    let layout = model.systems().layout();
    active.clear();
    active.set_step(step);
    for (i, interaction) in model.interactions().iter().enumerate() {
        let rows = c.rows[i]..c.rows[i + 1];
        let gap = if interaction.is_bilateral() { 0.0 } else { c.position[rows.start] };
        // within an instant bounded forces do nothing, unless they are rigid
        if step == 0.0 && interaction.law().bounded().is_some_and(|law| !law.is_rigid(rows.len())) {
            continue;
        }
        let is_closed = !interaction.is_contact() || closed(ActiveSource::Interaction(i), gap, c.velocity[rows.start]);
        // within an instant nothing pulls
        let pull = match interaction.law().contact().map(|law| law.cohesion) {
            None | Some(Cohesion::None) => 0.0,
            _ if step == 0.0 => 0.0,
            Some(cohesion) => cohesion.pull(gap, state.bonds.of_interaction(i)),
        };
        if !is_closed && pull == 0.0 {
            continue;
        }
        let blocks = interaction.blocks().iter().copied();
        let item = active.push(ActiveSource::Interaction(i), *interaction.law(), gap, rows.len(), blocks, layout);
        let (jacobian, bias, velocity) = active.rows_mut(item);
        interaction.spread(&c.jacobian[c.entries[i]..c.entries[i + 1]], jacobian);
        bias.copy_from_slice(&c.bias[rows.clone()]);
        velocity.copy_from_slice(&c.velocity[rows]);
        active.bind(item, with_restitution);
        if pull > 0.0 {
            active.set_pull(item, step * pull, (!is_closed).then(|| gap / step));
        }
    }
}

/// Appends the contacts between shapes to the active set, as [`select_where`] does.
pub(crate) fn select_contacts_where(
    model: &Model,
    state: &State,
    memory: &mut StepMemory,
    RowsOver { step, lead }: RowsOver,
    closed: impl Fn(ActiveSource, f64, f64) -> bool,
) {
    let with_restitution = counts_restitution(model, memory);
    let layout = model.systems().layout();
    select_planar_contacts(model, state, memory, (step, with_restitution), &closed);
    let StepMemory { active, contacts, detector, .. } = memory;
    let Some(bodies) = model.systems().bodies() else { return };
    let (q, v) = (&state.q[bodies.q.clone()], &state.v[bodies.v.clone()]);
    for (i, contact) in contacts.iter().enumerate() {
        if contact.planar {
            continue;
        }
        let law = model.contact_law(contact);
        let is_closed = closed(ActiveSource::Contact(i), contact.gap, normal_velocity(contact, q, v));
        let pull = pull_of(contact, law, &state.bonds, step);
        if !is_closed && pull == 0.0 {
            continue;
        }
        let blocks = [contact.body_a, contact.body_b].into_iter().filter(|&body| body != WORLD);
        let blocks = blocks.flat_map(|body| [0, 1].map(|k| bodies.first_block as u32 + 2 * body + k));
        let dim = law.rows();
        let item = active.push(ActiveSource::Contact(i), Law::Contact(*law), contact.gap, dim, blocks, layout);
        let ContactRows { jacobian, bias, bias_change, velocity_start } = active.contact_rows_mut(item);
        write_jacobian(contact, &BodyStates { q, v, lead }, dim, jacobian);
        let width = jacobian.len() / dim;
        for (row, u) in jacobian.chunks_exact(width).zip(&mut *velocity_start) {
            *u = row_velocity(contact, row, v);
        }
        if contact.surface.is_some() {
            let rotation = detector.as_ref().map_or_else(Default::default, |d| d.surface_rotation(contact.key.collider_b));
            write_bias(contact, &rotation, step, bias, bias_change);
            for (u, (b, change)) in velocity_start.iter_mut().zip(bias.iter().zip(bias_change)) {
                *u += *b - *change;
            }
        }
        active.bind(item, with_restitution);
        if pull > 0.0 {
            active.set_pull(item, step * pull, (!is_closed).then(|| contact.gap / step));
        }
    }
}

/// Largest speed at which a contact approaches, at v_k or at `work.v_free` [m/s]: no contact without an impulse closes faster than this.
pub(crate) fn largest_approach(model: &Model, state: &State, memory: &StepMemory) -> f64 {
    let StepMemory { candidates: c, contacts, work, .. } = memory;
    let mut fastest = 0.0_f64;
    for (i, interaction) in model.interactions().iter().enumerate().filter(|(_, interaction)| interaction.is_contact()) {
        let velocities = interaction.relation().velocities();
        let row = &c.jacobian[c.entries[i]..][..velocities.len()];
        let free: f64 = row.iter().zip(velocities).map(|(g, &j)| g * work.v_free[j]).sum();
        fastest = fastest.max(-c.velocity[c.rows[i]]).max(-(free + c.bias[c.rows[i]]));
    }
    for contact in contacts {
        for v in [&state.v, &work.v_free] {
            fastest = fastest.max(-velocity_of(model, contact, &state.q, v));
        }
    }
    fastest
}

/// Pull of a contact point \[N\]; within an instant nothing pulls.
pub(crate) fn pull_of(contact: &ContactPoint, law: &ContactLaw, bonds: &Bonds, step: f64) -> f64 {
    match law.cohesion {
        Cohesion::None => 0.0,
        _ if step == 0.0 => 0.0,
        cohesion => cohesion.pull(contact.gap, bonds.of_contact(&contact.key)),
    }
}

/// Normal velocity of any contact point, from the coordinates and velocities of the whole model.
pub(crate) fn velocity_of(model: &Model, contact: &ContactPoint, q: &[f64], v: &[f64]) -> f64 {
    let systems = model.systems();
    match (contact.planar, systems.planar_bodies(), systems.bodies()) {
        (true, Some(bodies), _) => planar_normal_velocity(contact, &q[bodies.q.clone()], &v[bodies.v.clone()]),
        (false, _, Some(bodies)) => normal_velocity(contact, &q[bodies.q.clone()], &v[bodies.v.clone()]),
        // a detector without its bodies finds no contacts
        _ => 0.0,
    }
}

/// Normal velocity of a contact point of bodies.
pub(crate) fn normal_velocity(contact: &ContactPoint, q: &[f64], v: &[f64]) -> f64 {
    let of_surface = contact.surface.as_ref().map_or(0.0, |surface| contact.normal.dot(&surface.velocity));
    normal_displacement(contact, q, v) - of_surface
}

/// What the displacements v of the bodies change at the gap of a contact point.
pub(crate) fn normal_displacement(contact: &ContactPoint, q: &[f64], v: &[f64]) -> f64 {
    let mut row = [0.0; 2 * BODY_WIDTH];
    let row = if contact.body_b == WORLD { &mut row[..BODY_WIDTH] } else { &mut row[..] };
    write_jacobian(contact, &BodyStates { q, v, lead: 0.0 }, 1, row);
    row_velocity(contact, row, v)
}

/// One row of G times the velocities of the contact's bodies.
fn row_velocity(contact: &ContactPoint, row: &[f64], v: &[f64]) -> f64 {
    let bodies = [contact.body_a, contact.body_b];
    row.chunks_exact(BODY_WIDTH).zip(bodies).map(|(part, body)| dot(part, &v[BODY_WIDTH * body as usize..][..BODY_WIDTH])).sum()
}

/// Notes whether rows of some active interaction change within the step.
pub(crate) fn note_varying_rows(model: &Model, memory: &mut StepMemory) {
    memory.work.rows_vary = memory.active.items().iter().any(|item| !item.is_constant(model));
}

/// (t, q) => G, b of the active interactions by formula that are not constant.
pub(crate) fn update_jacobians(model: &Model, t: f64, memory: &mut StepMemory) -> Result<(), NonFinite> {
    let StepMemory { active, candidates: c, scratch, work, .. } = memory;
    for item in 0..active.items().len() {
        let ActiveSource::Interaction(i) = active.items()[item].source else { continue };
        let interaction = &model.interactions()[i];
        if interaction.relation().is_constant() {
            continue;
        }
        let jacobian = &mut c.iterate[c.entries[i]..c.entries[i + 1]];
        let (rows, bias, _) = active.rows_mut(item);
        interaction.relation().jacobian(t, &work.q_inner, Rows { jacobian: &mut *jacobian, bias }, scratch)?;
        interaction.spread(jacobian, rows);
        active.stretch(item);
    }
    Ok(())
}

/// (G, M̂⁻¹, v_free, law) => W and q = G v_free + b + shift of the one-step problem, with the last impulses as guess.
///
/// Contacts that pull with h c bring −W h c into q: the problem is one of p_N + h c, and stays a problem of cones.
pub(crate) fn assemble_problem(model: &Model, memory: &mut StepMemory, first_iteration: bool) {
    let StepMemory { active, matrices, work, warm, contacts, one_step: OneStep { problem, solution, assembled, .. }, .. } = memory;
    let layout = model.systems().layout();
    // W stays as it is while the same constant rows meet the same M̂
    let reusable = !work.rows_vary && contacts.is_empty() && active.all_items().len() == active.items().len();
    let sources = || active.items().iter().map(|item| item.source);
    if !(reusable && assembled.is_of(matrices.generation, sources())) {
        assembled.keep(reusable.then_some(matrices.generation), sources());
        active.compute_response(layout, &matrices.factor);
        if let Delassus::BlockSparse(w) = &mut problem.w {
            active.assemble_delassus(layout, w);
        }
    }
    problem.q.resize(active.n_rows(), 0.0);
    if active.pulls() {
        work.v_pulled.clone_from(&work.v_free);
        active.add_pulls(layout, &mut work.v_pulled);
        active.local_velocity(layout, &work.v_pulled, &mut problem.q);
    } else {
        active.local_velocity(layout, &work.v_free, &mut problem.q);
    }
    for (q, shift) in problem.q.iter_mut().zip(active.shift()) {
        *q += shift;
    }
    problem.blocks.clear();
    if first_iteration {
        solution.r.clear();
    }
    for (place, item) in active.all_items().iter().enumerate() {
        problem.blocks.push(item.block);
        if first_iteration {
            if place >= active.items().len() {
                let n = solution.r.len() + item.rows.len();
                solution.r.resize(n, 0.0);
                continue;
            }
            match item.source {
                ActiveSource::Interaction(i) => solution.r.extend_from_slice(&warm.by_interaction[i][..item.rows.len()]),
                ActiveSource::Contact(i) => solution.r.extend_from_slice(&warm.of_contact(&contacts[i].key)[..item.rows.len()]),
            }
        }
    }
}

/// The one-step problem => p; v⁺ = v_free + M̂⁻¹ Gᵀ p goes to the state.
///
/// With friction that depends on the sliding speed, several problems with its coefficients: `variable_friction.rs`; with friction in joints, several
/// with its bounds: `coupled_bounds.rs`.
pub(crate) fn solve_problem(model: &Model, state: &mut State, memory: &mut StepMemory) -> Result<SolveReport, StepError> {
    shift_pulls(memory, 1.0);
    let t = state.t;
    let solve = |memory: &mut StepMemory| {
        if memory.active.friction_varies() {
            return variable_friction::solve(t, memory);
        }
        let StepMemory { solver, one_step: OneStep { problem, solution, .. }, .. } = &mut *memory;
        solver.solve(problem, solution).map_err(|source| StepError::Solve { t, source })
    };
    let report = if memory.active.bounds_vary() { coupled_bounds::solve(memory, solve)? } else { solve(memory)? };
    shift_pulls(memory, -1.0);
    let StepMemory { active, work, one_step: OneStep { solution, .. }, .. } = memory;
    state.v.copy_from_slice(&work.v_free);
    active.add_response(model.systems().layout(), &solution.r, &mut state.v);
    memory.one_step.keep_solved();
    Ok(report)
}

/// Adds `sign` · h c to the normal impulses of the contacts that pull: from p to the unknown of the one-step problem, or back.
fn shift_pulls(memory: &mut StepMemory, sign: f64) {
    if memory.active.pulls() {
        for item in memory.active.items() {
            memory.one_step.solution.r[item.rows.start] += sign * item.pull;
        }
    }
}

/// Largest change of u = G v + b since the one-step problem was solved, relative to the largest local velocity (free,
/// solved, or term of G v).
pub(crate) fn local_change(layout: &BlockLayout, state: &State, memory: &mut StepMemory) -> f64 {
    let StepMemory { active, work, one_step: OneStep { solution, problem, .. }, .. } = memory;
    let free = problem.q.iter().fold(0.0_f64, |largest, u| largest.max(u.abs()));
    let (mut change, mut scale) = (0.0_f64, active.largest_product(layout, &state.v).max(free));
    // the velocities that the reaction of a joint gives by itself, most of which others take back
    for (place, item) in active.items().iter().enumerate().filter(|(_, item)| item.law.is_bilateral()) {
        let (dim, p) = (item.rows.len(), &solution.r[item.rows.clone()]);
        let diagonal = problem.w.diagonal(place).iter().step_by(dim + 1);
        scale = diagonal.zip(p).fold(scale, |scale, (w, p)| scale.max((w * p).abs()));
    }
    work.local.resize(active.n_rows(), 0.0);
    active.local_velocity(layout, &state.v, &mut work.local);
    for ((u, shift), now) in solution.u.iter().zip(active.shift()).zip(&work.local).take(active.n_own_rows()) {
        let solved = u - shift;
        change = change.max((now - solved).abs());
        scale = scale.max(solved.abs());
    }
    if change == 0.0 { 0.0 } else { change / scale }
}

/// Keeps the impulses of this step for the next.
pub(crate) fn keep_impulses(memory: &mut StepMemory) {
    let StepMemory { active, warm, contacts, many, one_step: OneStep { solution, .. }, .. } = memory;
    warm.by_interaction.fill([0.0; 6]);
    warm.by_contact.clear();
    reserve_tightly(&mut warm.by_contact, many.solution.impulses.iter().filter(|p| p[0] > 0.0).count().min(many.index.len()));
    for (&index, p) in many.index.iter().zip(&many.solution.impulses).filter(|(_, p)| p[0] > 0.0) {
        warm.by_contact.push((contacts[index as usize].key, [p[0], p[1], p[2], 0.0, 0.0, 0.0]));
    }
    for item in active.items() {
        let p = &solution.r[item.rows.clone()];
        match item.source {
            ActiveSource::Interaction(i) => warm.by_interaction[i][..p.len()].copy_from_slice(p),
            ActiveSource::Contact(i) => {
                let mut kept = [0.0; 6];
                kept[..p.len()].copy_from_slice(p);
                warm.by_contact.push((contacts[i].key, kept));
            }
        }
    }
    warm.by_contact.sort_unstable_by_key(|(key, _)| *key);
}

/// Energy that the impulses of this step took out or brought in, from v_k, v_{k+1} and the rows of the step.
///
/// With G and b of the step: dissipation −½(u⁺ + u⁻)·p by normal and tangential parts of contacts, work −b·p of moving
/// constraints and obstacles; motors do work, friction of known bound dissipates. To be called before [`keep_impulses`], which says which contacts were closed before.
pub(crate) fn add_exchange(model: &Model, state: &State, memory: &mut StepMemory, report: &mut StepReport) {
    let StepMemory { active, work, one_step: OneStep { solution, .. }, .. } = &mut *memory;
    let layout = model.systems().layout();
    for (mid, (start, end)) in work.displacement.iter_mut().zip(work.v_start.iter().zip(&state.v)) {
        *mid = 0.5 * (start + end);
    }
    work.local.resize(active.n_rows(), 0.0);
    active.local_velocity(layout, &work.displacement, &mut work.local);
    for item in active.items() {
        for (k, row) in item.rows.clone().enumerate() {
            let p = solution.r[row];
            // b in the mean over the step, where its change is known
            let half_change = 0.5 * active.bias_change()[row];
            report.work -= (active.bias()[row] - half_change) * p;
            let power = (work.local[row] - half_change) * p;
            match item.law {
                Law::Bilateral => {}
                Law::Contact(_) if k == 0 => report.dissipated_impact -= power,
                Law::Contact(_) => report.dissipated_friction -= power,
                Law::Bounded(law) if law.role == BoundedRole::Motor => report.work += power,
                Law::Bounded(_) => report.dissipated_friction -= power,
            }
        }
    }
    if some_contact_closes(memory) {
        let StepMemory { active, work, .. } = &mut *memory;
        active.local_velocity(layout, &work.v_free, &mut work.local);
        add_impact_gain(memory, report);
    }
}

/// A contact without impulse in the step before approached and has one now.
fn some_contact_closes(memory: &StepMemory) -> bool {
    let StepMemory { active, warm, contacts, one_step: OneStep { solution, .. }, .. } = memory;
    active.items().iter().any(|item| {
        let first = item.rows.start;
        let approached = active.velocity_start()[first] < 0.0 && solution.r[first] > 0.0 && item.law.is_contact();
        approached
            && match item.source {
                ActiveSource::Interaction(i) => warm.by_interaction[i][0] == 0.0,
                ActiveSource::Contact(i) => warm.of_contact(&contacts[i].key)[0] == 0.0,
            }
    })
}

/// What the law of the contacts gave in a step with impacts, Σ ½(u⁺ + u_k)·p with u_k at the start of the step: it does not contain what
/// curved paths gain or lose within the step. `work.local` has the velocities without impulses, which tell how much the contacts exchange.
fn add_impact_gain(memory: &mut StepMemory, report: &mut StepReport) {
    let StepMemory { active, work, contacts, giver, one_step: OneStep { solution, .. }, .. } = memory;
    let (mut gain, mut exchanged, mut largest) = (0.0, 0.0, (0.0, None));
    for item in active.items().iter().filter(|item| item.law.is_contact()) {
        let mut of_item = 0.0;
        for row in item.rows.clone() {
            let p = solution.r[row];
            let (before, after) = (active.velocity_start()[row], solution.u[row] - active.shift()[row]);
            of_item += 0.5 * (before + after) * p;
            exchanged += before.abs().max(work.local[row].abs()) * p.abs();
        }
        gain += of_item;
        if of_item > largest.0 {
            largest = (of_item, Some(item));
        }
    }
    // more than what the solution of the problem leaves open
    if gain > GAIN_TOLERANCE * exchanged {
        report.impact_gain += gain;
        *giver = largest.1.map(|item| {
            let source = match item.source {
                ActiveSource::Interaction(i) => Source::Interaction(i as u32),
                ActiveSource::Contact(i) => Source::Colliders(contacts[i].key.collider_a, contacts[i].key.collider_b),
            };
            (source, solution.r[item.rows.start])
        });
    }
}

/// Energy created by an impact counts above this part of the energy exchanged: solutions are not more exact.
pub(crate) const GAIN_TOLERANCE: f64 = 1e-7;

#[cfg(test)]
mod tests {
    use super::*;
    use carom_solvers::FrictionSolverParams;

    /// A step that is begun again, with contacts that its impulses close, takes the mean of G_k and G_{k+1} again.
    #[test]
    fn an_iterate_leaves_the_rows_of_the_start() {
        let crate::problems::Problem { model, state, .. } = crate::problems::pendulum::cartesian().unwrap();
        let mut memory = StepMemory::new(&model, &FrictionSolverParams::default()).unwrap();
        evaluate_candidates(&model, &state, &mut memory).unwrap();
        select_interactions_where(&model, &state, &mut memory, RowsOver::step(0.1), |_, _, _| true);
        let at_start = memory.candidates.jacobian.clone();
        memory.work.q_inner = vec![0.6, -0.8];
        update_jacobians(&model, state.t + 0.1, &mut memory).unwrap();
        let of_iterate: Vec<f64> =
            memory.active.rows_by_block(0).flat_map(|(_, rows)| rows.flatten().copied().collect::<Vec<_>>()).collect();
        assert_ne!(of_iterate, at_start);
        assert_eq!(memory.candidates.jacobian, at_start);
    }
}
