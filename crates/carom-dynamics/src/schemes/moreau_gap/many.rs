//! The way for many contacts: velocities of bodies instead of W.

use super::law::{Approach, Recovery};
use super::remembered::Context;
use super::{MANY_TOLERATED, MoreauGap};
use crate::active_set::ActiveSource;
use crate::assembly::{
    RowsOver, at_time, counts_restitution, largest_approach, select_contacts_where, select_interactions_where, update_jacobians,
};
use crate::error::StepError;
use crate::interactions::Interaction;
use crate::laws::{Cohesion, ContactLaw, Law};
use crate::many_contacts::{ManyContacts, PlainContact, is_plain};
use crate::memory::{OneStep, StepMemory};
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use carom_solvers::{Solution, SolveReport};

/// Whether a model is made of rigid bodies in space alone: others have no velocities that contacts could be solved on.
pub(super) fn takes(model: &Model) -> bool {
    let systems = model.systems();
    let all = systems.bodies().is_some_and(|bodies| bodies.v.len() == systems.velocities().len());
    // bounds and coefficients that depend on the solution need several problems per step, cohesion a shifted one
    let of_contact = |law: &ContactLaw| law.friction.varies() || law.cohesion != Cohesion::None;
    let depends = |law: &Law| law.contact().is_some_and(of_contact) || law.bounded().is_some_and(|law| law.load.is_some());
    let in_rows = model.interactions().iter().any(|interaction| depends(interaction.law()));
    all && !in_rows && !model.collider_laws().iter().any(of_contact)
}

impl MoreauGap {
    /// v_free => contacts and rows => p, v_{k+1}. The gyroscopic terms are those of one linearly implicit step.
    pub(super) fn solve_many(&self, cx: &mut Context<'_>, state: &mut State, report: &mut StepReport) -> Result<(), StepError> {
        let Some(bodies) = cx.model.systems().bodies().cloned() else { return Ok(()) };
        report.tolerated = if self.params.tolerated > 0.0 { MANY_TOLERATED * self.params.sweeps.tolerance } else { 0.0 };
        if self.adds_to_solution(cx) {
            self.solve_changed(cx, state, report);
            return Ok(());
        }
        let Context { model, memory, h, .. } = &mut *cx;
        let (model, h) = (*model, *h);
        // joints and contacts with other laws => rows
        let has_others = model.collider_laws().iter().any(|law| !is_plain(law));
        let is_other = |law: u16| has_others && !is_plain(&model.collider_laws()[law as usize]);
        let by_formula = model.interactions().iter().any(Interaction::is_contact);
        let reach = if by_formula { 2.0 * h * largest_approach(model, state, memory) + self.params.touch } else { 0.0 };
        let rows = RowsOver::step(h);
        select_interactions_where(model, state, memory, rows, |source, gap, _| match source {
            ActiveSource::Interaction(_) => gap <= reach,
            ActiveSource::Contact(_) => false,
        });
        if has_others {
            let mut laws = std::mem::take(&mut memory.many.laws);
            laws.clear();
            laws.extend(memory.contacts.iter().map(|contact| contact.law));
            select_contacts_where(model, state, memory, rows, |source, _, _| match source {
                ActiveSource::Interaction(_) => false,
                ActiveSource::Contact(i) => is_other(laws[i]),
            });
            memory.many.laws = laws;
        }
        self.foresee_joints(cx, state)?;
        let Context { memory, own, .. } = &mut *cx;
        self.shift_rows(model, memory, h);
        let law = self.plain_law(model, memory, h);
        let StepMemory { many, contacts, work, matrices, active, warm, one_step: OneStep { solution, .. }, .. } = &mut **memory;
        let (q, v) = (&state.q[bodies.q.clone()], &work.v_start[bodies.v.clone()]);
        many.keep_masses(model.systems().layout(), &matrices.mass, bodies.first_block, bodies.v.len() / 6);
        many.reserve(contacts.len());
        many.place_bodies(q, v, &work.v_free[bodies.v.clone()], 0.5 * h);
        many.index.extend((0..).zip(&*contacts).filter(|(_, contact)| !is_other(contact.law)).map(|(index, _)| index));
        many.write_contacts(contacts, (q, v), h, law);
        many.push_rows(active, bodies.first_block);
        if self.params.sleep_after > 0.0 {
            let ManyContacts { problem, index, .. } = &mut *many;
            own.sleep.before(problem, v, |place| contacts[index[place] as usize].surface.is_some(), h);
        }
        // p => v_{k+1}
        many.sweeps.set_params(self.params.sweeps);
        report.solve = Some(many.solve(contacts, warm, &mut state.v[bodies.v.clone()]));
        tell_rows(many, solution);
        report.n_active = memory.active.items().len() + memory.many.index.len();
        (report.newton_iterations, report.newton_converged) = (1, true);
        Ok(())
    }

    /// Goes on from a solution of the step in which contacts were added or changed.
    pub(super) fn solve_changed(&self, cx: &mut Context<'_>, state: &mut State, report: &mut StepReport) {
        let Context { model, memory, h, .. } = cx;
        let (model, h) = (*model, *h);
        let Some(bodies) = model.systems().bodies() else { return };
        let law = self.plain_law(model, memory, h);
        let StepMemory { many, contacts, work, active, one_step: OneStep { solution, .. }, .. } = &mut **memory;
        many.write_changed(contacts, (&state.q[bodies.q.clone()], &work.v_start[bodies.v.clone()]), h, law);
        let before = report.solve.map_or(0, |solve| solve.iterations);
        let solve = many.solve_changed(&mut state.v[bodies.v.clone()]);
        report.solve = Some(SolveReport { iterations: before + solve.iterations, ..solve });
        tell_rows(many, solution);
        report.n_active = active.items().len() + many.index.len();
    }

    /// Coefficient of friction of a plain contact, and what its law adds to the normal velocity.
    fn plain_law<'a>(&'a self, model: &'a Model, memory: &StepMemory, h: f64) -> impl Fn(PlainContact<'_>) -> (f64, f64) + use<'a> {
        let rebounds = counts_restitution(model, memory);
        move |contact| {
            let law = model.contact_law(contact.point);
            let e = if rebounds { law.restitution.at(contact.start[0]) } else { 0.0 };
            let approach = Approach { gap: contact.point.gap, start: contact.start[0], free: contact.free };
            let recovery = if contact.is_held { Recovery::default() } else { self.recovery() };
            (law.friction.at(0.0), approach.shift(h, e, recovery).0)
        }
    }

    /// Contacts were added to a solution of this step by velocities of bodies, and there is nothing else that they could change.
    pub(super) fn adds_to_solution(&self, cx: &Context<'_>) -> bool {
        let Context { memory, own, .. } = cx;
        let no_rows = memory.active.items().is_empty() && !own.joints.is_held();
        memory.many.has_changed() && no_rows && self.params.sleep_after == 0.0
    }

    /// The rows of joints at the foreseen end of the step, and what their mean over the step changes in v_free with the reactions of the last
    /// step: both right to second order. The positions are projected afterwards.
    fn foresee_joints(&self, cx: &mut Context<'_>, state: &State) -> Result<(), StepError> {
        let Context { model, memory, own, h } = cx;
        let (joints, h) = (&mut own.joints, *h);
        let StepMemory { many, active, contacts, warm, .. } = &mut **memory;
        many.guess_rows(active, contacts, warm);
        joints.begin(model, state.t, memory, (h, 0.5))?;
        if !joints.is_held() {
            return Ok(());
        }
        joints.factorise(model.systems().layout());
        let StepMemory { work, .. } = &mut **memory;
        work.displacement.iter_mut().zip(&work.v_start).for_each(|(w, v)| *w = h * v);
        work.q_inner.resize(work.q_start.len(), 0.0);
        model.systems().advance(&work.q_start, &work.displacement, &mut work.q_inner);
        update_jacobians(model, state.t + h, memory).map_err(at_time(state.t + h))?;
        let StepMemory { active, many, work, matrices, .. } = &mut **memory;
        work.residual.fill(0.0);
        joints.add_mean_reaction(model, active, &many.row_guess, &mut work.residual);
        matrices.factor.solve(model.systems().layout(), &work.residual, &mut work.displacement);
        work.v_free.iter_mut().zip(&work.displacement).for_each(|(v, change)| *v += change);
        Ok(())
    }
}

/// Impulses and velocities of the rows.
fn tell_rows(many: &ManyContacts, solution: &mut Solution) {
    solution.r.clone_from(&many.solution.row_impulses);
    solution.u.clone_from(&many.solution.row_velocities);
}
