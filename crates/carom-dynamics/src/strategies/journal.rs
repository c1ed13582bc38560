//! What strategies tell while they run: frames, events, the certificate.

use super::adaptive::phases::SLOWEST_SLIP;
use super::{Ending, Outcome};
use crate::active_set::{Active, ActiveSource, tangential_speed};
use crate::assembly::{at_time, detect_contacts, evaluate_candidates, measure_violations};
use crate::diagnostics::Certificate;
use crate::error::RunError;
use crate::first_order::Point;
use crate::first_order_step::stored;
use crate::impacts_before_step::ImpactRecord;
use crate::laws::BoundedLaw;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::multiplier_mode::MultiplierMode;
use crate::paradox::impact_without_collision;
use crate::recording::{ContactRecord, Frame, Recorder, Source, StepProblem};
use crate::report::{ContactMode, Energy, Event, EventKind, StepReport};
use crate::state::State;
use carom_solvers::affine_vi::Piece;
use carom_solvers::growth::reserve_tightly;

/// Keeps the certificate of a run and tells its recorder.
pub(super) struct Journal<'a> {
    model: &'a Model,
    recorder: &'a mut dyn Recorder,
    pub certificate: Certificate,
    records: Vec<ContactRecord>,
    gaps: Vec<f64>,
    modes: Vec<ContactMode>,
    /// Forces of the constraints for the next frames; empty where the strategy has none.
    pub forces: Vec<f64>,
    carrying: Carrying,
    /// Pieces of the laws of the first-order part after the last step.
    pieces: Vec<Piece>,
    multiplier_modes: Vec<MultiplierMode>,
    /// Recorded quantities of the first-order part.
    signals: Vec<f64>,
}

/// Which contacts carry an impulse, before and after a step.
#[derive(Default)]
struct Carrying {
    before: Vec<(Source, f64)>,
    after: Vec<(Source, f64)>,
    /// Of the first half of a step that is tried.
    half: Vec<(Source, f64)>,
}

impl<'a> Journal<'a> {
    pub fn new(model: &'a Model, recorder: &'a mut dyn Recorder) -> Self {
        Journal {
            model,
            recorder,
            certificate: Certificate::default(),
            records: Vec::new(),
            gaps: Vec::new(),
            modes: Vec::new(),
            forces: Vec::new(),
            carrying: Carrying::default(),
            pieces: Vec::new(),
            multiplier_modes: Vec::new(),
            signals: Vec::new(),
        }
    }

    /// Opens the energy account and records the initial state.
    pub fn begin(&mut self, state: &State, memory: &mut StepMemory) -> Result<(), RunError> {
        self.begin_with(state, memory, &[])
    }

    /// The same with contacts that are known to be closed.
    pub(crate) fn begin_with(&mut self, state: &State, memory: &mut StepMemory, contacts: &[ContactRecord]) -> Result<(), RunError> {
        self.records.extend_from_slice(contacts);
        let (kinetic, potential) = self.energy(state, memory)?;
        self.certificate = Certificate::new(Energy { kinetic, potential, ..Energy::default() });
        self.tell_frame(0, state, memory, self.certificate.last, None)
    }

    /// Tells the one-step problem of the step that was just tried, if it had one that its impulses solve.
    pub fn problem(&mut self, state: &State, memory: &StepMemory, report: &StepReport) -> Result<(), RunError> {
        let Some(solve) = &report.solve else { return Ok(()) };
        let step = self.certificate.steps + 1;
        let Some((problem, solution)) = memory.one_step.solved() else { return Ok(self.recorder.no_problem(step)?) };
        let mut solution = std::borrow::Cow::Borrowed(solution);
        if memory.active.pulls() {
            // the problem's unknown is p_N + h c
            for item in memory.active.items() {
                solution.to_mut().r[item.rows.start] += item.pull;
            }
        }
        let problem = StepProblem { step, t: state.t, problem, solution: &solution, report: solve };
        Ok(self.recorder.problem(&problem)?)
    }

    /// Takes a finished step into the certificate, and tells the contacts that began or ceased to carry an impulse.
    pub fn add_step(&mut self, state: &State, memory: &mut StepMemory, report: &StepReport) -> Result<(), RunError> {
        let (kinetic, potential) = self.energy(state, memory)?;
        self.certificate.add_step(report, kinetic, potential);
        self.certificate.add_warnings(&memory.warnings());
        self.paradoxes(state.t, memory)?;
        for &law in &memory.impacts.chosen {
            self.tell(Event::new(state.t, EventKind::OutcomeChosen, law))?;
        }
        if let (true, Some((source, impulse))) = (report.impact_gain > 0.0, memory.giver) {
            self.tell(Event::new(state.t, EventKind::EnergyCreated, self.name(source)).with_impulse(impulse))?;
        }
        self.first_order_events(state.t, memory)?;
        self.contact_events(state.t, memory)
    }

    /// Tells the jumps of states and the multipliers that went over to another piece of their law.
    fn first_order_events(&mut self, t: f64, memory: &mut StepMemory) -> Result<(), RunError> {
        let (Some(set), Some(first_order)) = (self.model.first_order(), &mut memory.first_order) else { return Ok(()) };
        for event in first_order.events.drain(..) {
            self.certificate.events += 1;
            self.recorder.event(&event)?;
        }
        let pieces = first_order.pieces();
        if self.pieces.len() == pieces.len() {
            for (row, (&before, &after)) in self.pieces.iter().zip(pieces).enumerate().filter(|(_, (before, after))| before != after) {
                let law = &set.relation_of(row).law;
                let [before, after] = [before, after].map(|piece| MultiplierMode::of_piece(law, piece).name());
                let note = format!("{before} → {after}");
                self.certificate.events += 1;
                self.recorder.event(&Event::new(t, EventKind::ModeChanged, set.rows()[row].clone()).with_note(note))?;
            }
        }
        self.pieces.clear();
        self.pieces.extend_from_slice(pieces);
        Ok(())
    }

    /// Takes a finished step into the certificate; contacts that change are told elsewhere.
    pub(crate) fn add_quiet_step(&mut self, state: &State, memory: &mut StepMemory, report: &StepReport) -> Result<(), RunError> {
        let (kinetic, potential) = self.energy(state, memory)?;
        self.certificate.add_step(report, kinetic, potential);
        self.certificate.add_warnings(&memory.warnings());
        self.paradoxes(state.t, memory)
    }

    /// Keeps the contacts of the first half of a step, for [`Journal::add_halves`].
    pub(crate) fn keep_first_half(&mut self, memory: &StepMemory) {
        collect_carrying(memory, self.model, &mut self.carrying.half);
    }

    /// As [`Journal::add_step`] for a step of two halves, of which `memory` holds the second.
    pub(crate) fn add_halves(
        &mut self,
        t_middle: f64,
        state: &State,
        memory: &mut StepMemory,
        report: &StepReport,
    ) -> Result<(), RunError> {
        let (kinetic, potential) = self.energy(state, memory)?;
        self.certificate.add_step(report, kinetic, potential);
        self.certificate.add_warnings(&memory.warnings());
        let Carrying { before, after, half } = &mut self.carrying;
        std::mem::swap(before, after);
        std::mem::swap(after, half);
        self.compare_contacts(t_middle)?;
        self.paradoxes(state.t, memory)?;
        self.first_order_events(state.t, memory)?;
        self.contact_events(state.t, memory)
    }

    /// Tells the contacts that received the impulse of an impact without a collision.
    fn paradoxes(&mut self, t: f64, memory: &StepMemory) -> Result<(), RunError> {
        for (place, item) in memory.active.items().iter().enumerate() {
            if impact_without_collision(memory, place, item) {
                let (kind, impulse) = (EventKind::ImpactWithoutCollision, memory.one_step.solution.r[item.rows.start]);
                self.tell(Event::new(t, kind, self.name(source_of(memory, item.source))).with_impulse(impulse))?;
            }
        }
        Ok(())
    }

    /// Kinetic and potential energy \[J\].
    pub fn energy(&self, state: &State, memory: &mut StepMemory) -> Result<(f64, f64), RunError> {
        let energy = self.model.energy(state.t, &state.q, &state.v, &mut memory.scratch);
        let (kinetic, potential) = energy.map_err(at_time(state.t))?;
        Ok((kinetic, potential + self.model.first_order().map_or(0.0, |set| stored(set, &state.x))))
    }

    /// Records the state at the end of the step that `memory` just took, with its contacts.
    pub fn frame(&mut self, step: usize, state: &State, memory: &mut StepMemory, report: &StepReport) -> Result<(), RunError> {
        self.records.clear();
        collect_records(memory, self.recorder.takes_contacts(), &mut self.records);
        self.tell_frame(step, state, memory, self.certificate.last, Some(report))
    }

    /// Records an instant between the ends of a step, with the energy there.
    pub(crate) fn frame_within(
        &mut self,
        at: (usize, &State),
        memory: &mut StepMemory,
        energy: Energy,
        report: &StepReport,
    ) -> Result<(), RunError> {
        self.records.clear();
        self.tell_frame(at.0, at.1, memory, energy, Some(report))
    }

    /// Records an instant with these contacts.
    pub fn frame_of(
        &mut self,
        at: (usize, &State),
        memory: &mut StepMemory,
        contacts: &[ContactRecord],
        energy: Energy,
        report: Option<&StepReport>,
    ) -> Result<(), RunError> {
        self.records.clear();
        self.records.extend_from_slice(contacts);
        self.tell_frame(at.0, at.1, memory, energy, report)
    }

    /// Records the last good state after a failed step. `memory` holds the failed step, so no contacts are told.
    pub(crate) fn frame_after_failure(
        &mut self,
        step: usize,
        state: &State,
        memory: &mut StepMemory,
        report: Option<&StepReport>,
    ) -> Result<(), RunError> {
        self.records.clear();
        self.tell_frame(step, state, memory, self.certificate.last, report)
    }

    fn tell_frame(
        &mut self,
        step: usize,
        state: &State,
        memory: &mut StepMemory,
        energy: Energy,
        report: Option<&StepReport>,
    ) -> Result<(), RunError> {
        let systems = self.model.systems();
        // between steps, the displacement of the last one is free
        systems.file_velocities(&state.q, &state.v, &mut memory.work.displacement);
        self.gaps.clear();
        for interaction in self.model.interactions().iter().filter(|i| i.is_contact()) {
            let mut g = [0.0; 6];
            let relation = interaction.relation();
            // a gap that is no number here is what the run failed of
            let gap = relation.position(state.t, &state.q, &mut g[..relation.n_rows()], &mut memory.scratch);
            self.gaps.push(if gap.is_ok() { g[0] } else { f64::NAN });
        }
        for contact in self.model.compliant_contacts() {
            self.gaps.push(contact.gap(state.t, &state.q, &mut memory.scratch).unwrap_or(f64::NAN));
        }
        self.modes.clear();
        let contacts = self.model.interactions().iter().enumerate().filter(|(_, i)| i.is_contact());
        self.modes.extend(contacts.map(|(i, _)| {
            let record = self.records.iter().find(|record| record.source == Source::Interaction(i as u32));
            record.map_or(ContactMode::Open, |record| record.mode)
        }));
        self.signals(state, memory);
        self.find_multiplier_modes(step, memory);
        let frame = Frame {
            step,
            t: state.t,
            q: &state.q,
            v: &memory.work.displacement,
            x: &state.x,
            outputs: memory.multipliers_and_outputs().1,
            multipliers: memory.multipliers_and_outputs().0,
            multiplier_modes: &self.multiplier_modes,
            signals: &self.signals,
            energy,
            contacts: &self.records,
            gaps: &self.gaps,
            modes: &self.modes,
            forces: &self.forces,
            report,
        };
        Ok(self.recorder.frame(&frame)?)
    }

    /// The modes of all multipliers: as the solver left them, or by where λ lies in its set.
    fn find_multiplier_modes(&mut self, step: usize, memory: &StepMemory) {
        self.multiplier_modes.clear();
        let (Some(set), (lambda, _)) = (self.model.first_order(), memory.multipliers_and_outputs()) else { return };
        self.multiplier_modes.resize(lambda.len(), MultiplierMode::Unknown);
        if step == 0 {
            return;
        }
        let are_known = self.pieces.len() == lambda.len();
        for relation in set.relations() {
            for (k, row) in relation.rows.clone().enumerate() {
                self.multiplier_modes[row] = match self.pieces.get(row) {
                    Some(&piece) if are_known => MultiplierMode::of_piece(&relation.law, piece),
                    _ => MultiplierMode::of_multipliers(&relation.law, &lambda[relation.rows.clone()], k),
                };
            }
        }
    }

    /// Brings the recorded quantities of the first-order part up to date.
    fn signals(&mut self, state: &State, memory: &mut StepMemory) {
        let StepMemory { first_order, scratch, .. } = memory;
        if let (Some(set), Some(first_order)) = (self.model.first_order(), first_order) {
            let State { t, x, held, q, v, .. } = state;
            let at = Point { t: *t, x, lambda: first_order.multipliers(), held, q, v };
            set.write_signals(&at, &mut self.signals, scratch);
        }
    }

    /// Tells an event that concerns no single contact.
    pub fn event(&mut self, t: f64, kind: EventKind) -> Result<(), RunError> {
        self.tell(Event::new(t, kind, ""))
    }

    /// Tells an event.
    pub fn tell(&mut self, event: Event) -> Result<(), RunError> {
        self.certificate.events += 1;
        Ok(self.recorder.event(&event)?)
    }

    fn contact_events(&mut self, t: f64, memory: &StepMemory) -> Result<(), RunError> {
        std::mem::swap(&mut self.carrying.before, &mut self.carrying.after);
        collect_carrying(memory, self.model, &mut self.carrying.after);
        self.compare_contacts(t)
    }

    /// Tells the contacts that carry after and did not before, and the reverse.
    fn compare_contacts(&mut self, t: f64) -> Result<(), RunError> {
        if self.carrying.before.iter().map(|c| c.0).eq(self.carrying.after.iter().map(|c| c.0)) {
            return Ok(());
        }
        let Carrying { before, after, half } = std::mem::take(&mut self.carrying);
        for (kind, here, there) in [(EventKind::ContactClosed, &after, &before), (EventKind::ContactOpened, &before, &after)] {
            for &(source, impulse) in here {
                if there.binary_search_by_key(&order(source), |c| order(c.0)).is_err() {
                    let impulse = if kind == EventKind::ContactClosed { impulse } else { 0.0 };
                    self.tell(Event::new(t, kind, self.name(source)).with_impulse(impulse))?;
                }
            }
        }
        self.carrying = Carrying { before, after, half };
        Ok(())
    }

    fn name(&self, source: Source) -> String {
        match source {
            Source::Interaction(i) => self.model.interactions()[i as usize].name().to_owned(),
            Source::Colliders(a, b) => format!("{}–{}", self.model.collider_name(a), self.model.collider_name(b)),
        }
    }

    /// Takes the violations of the final state into the certificate: steps report those of the state they start from.
    pub(crate) fn certify_last_state(&mut self, state: &State, memory: &mut StepMemory) -> Result<(), RunError> {
        detect_contacts(self.model, state, memory, 0.0).map_err(at_time(state.t))?;
        evaluate_candidates(self.model, state, memory).map_err(at_time(state.t))?;
        self.certificate.add_violations(&measure_violations(self.model, memory));
        Ok(())
    }

    /// Hands the certificate to the recorder with how the run ended, and gives both back. A recorder that fails is the failure of a run that had none.
    pub fn finish(self, ending: Ending) -> Outcome {
        let ending = match (self.recorder.finish(&self.certificate, &ending.status()), ending) {
            (Err(error), Ending::Finished | Ending::Interrupted) => Ending::Failed(error.into()),
            (_, ending) => ending,
        };
        Outcome { certificate: self.certificate, ending }
    }
}

/// Sort key of a source.
fn order(source: Source) -> (u32, u32, u32) {
    match source {
        Source::Interaction(i) => (0, i, 0),
        Source::Colliders(a, b) => (1, a, b),
    }
}

/// The contacts (not constraints) with a normal impulse, in the step or in impacts before it, or that pull, by interaction or pair of colliders, sorted.
fn collect_carrying(memory: &StepMemory, model: &Model, out: &mut Vec<(Source, f64)>) {
    out.clear();
    for item in memory.active.items() {
        let p = memory.one_step.solution.r[item.rows.start];
        if (p > 0.0 || item.pull > 0.0) && item.law.is_contact() {
            out.push((source_of(memory, item.source), p));
        }
    }
    for (&index, p) in memory.many.index.iter().zip(&memory.many.solution.impulses).filter(|(_, p)| p[0] > 0.0) {
        out.push((source_of(memory, ActiveSource::Contact(index as usize)), p[0]));
    }
    for record in &memory.impacts.records {
        let (source, p) = (record.contact.source, record.contact.impulse[0]);
        let is_contact = !matches!(source, Source::Interaction(i) if !model.interactions()[i as usize].is_contact());
        if p > 0.0 && is_contact {
            out.push((source, p));
        }
    }
    out.sort_unstable_by_key(|c| order(c.0));
    out.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0.0 };
        same
    });
}

fn source_of(memory: &StepMemory, source: ActiveSource) -> Source {
    match source {
        ActiveSource::Interaction(i) => Source::Interaction(i as u32),
        ActiveSource::Contact(i) => Source::Colliders(memory.contacts[i].key.collider_a, memory.contacts[i].key.collider_b),
    }
}

/// The mode of an active interaction that ends a step with this velocity after this normal impulse. Forces between bounds stick while they hold their
/// target, and slide at a bound.
fn mode_of(item: &Active, velocity: &[f64; 6], impulses: &[f64; 6]) -> ContactMode {
    let impulse = impulses[0];
    if item.law.bounded().is_some() {
        let slips = BoundedLaw::is_at_bound(item.block, &impulses[..item.rows.len()]);
        return if slips { ContactMode::Sliding } else { ContactMode::Sticking };
    }
    let Some(law) = item.law.contact() else { return ContactMode::Closed };
    match impulse > 0.0 {
        false => ContactMode::Open,
        true if item.rows.len() == 1 || law.friction.is_none() => ContactMode::Closed,
        true if tangential_speed(velocity) > SLOWEST_SLIP => ContactMode::Sliding,
        true => ContactMode::Sticking,
    }
}

/// The active interactions of the last step, for a frame: impulses are those of the step and of the impacts before it. Contacts between shapes are
/// left out unless `with_shapes`.
fn collect_records(memory: &StepMemory, with_shapes: bool, out: &mut Vec<ContactRecord>) {
    let impacts = &memory.impacts.records;
    let is_taken = |item: &&Active| with_shapes || matches!(item.source, ActiveSource::Interaction(_));
    let many = if with_shapes { &memory.many.index[..] } else { &[] };
    reserve_tightly(out, memory.active.items().iter().filter(is_taken).count() + many.len());
    for item in memory.active.items().iter().filter(is_taken) {
        let (mut velocity, mut impulse) = ([0.0; 6], [0.0; 6]);
        let n = item.rows.len();
        for (k, row) in item.rows.clone().enumerate() {
            // u of the problem includes the shift: take it off again
            velocity[k] = memory.one_step.solution.u[row] - memory.active.shift()[row];
        }
        impulse[..n].copy_from_slice(&memory.one_step.solution.r[item.rows.clone()]);
        for (k, factor) in item.stretched_rows() {
            velocity[k] /= factor;
            impulse[k] *= factor;
        }
        let source = source_of(memory, item.source);
        let (key, point, normal) = match item.source {
            ActiveSource::Contact(i) => (Some(memory.contacts[i].key), memory.contacts[i].point, memory.contacts[i].normal),
            ActiveSource::Interaction(_) => Default::default(),
        };
        if let Some(record) = impacts.iter().find(|record| record.key == key && record.contact.source == source) {
            impulse.iter_mut().zip(&record.contact.impulse).for_each(|(p, of_impact)| *p += of_impact);
        }
        let mode = mode_of(item, &velocity, &impulse);
        out.push(ContactRecord { source, dim: n, gap: item.gap, velocity, impulse, force: [0.0; 6], mode, point, normal });
    }
    for (place, &index) in many.iter().enumerate() {
        let (contact, mut velocity, mut impulse) = (&memory.contacts[index as usize], [0.0; 6], [0.0; 6]);
        velocity[..3].copy_from_slice(&memory.many.velocity(place));
        impulse[..3].copy_from_slice(&memory.many.solution.impulses[place]);
        let mode = match impulse[0] > 0.0 {
            false => ContactMode::Open,
            true if memory.many.problem.contacts[place].friction == 0.0 => ContactMode::Closed,
            true if tangential_speed(&velocity) > SLOWEST_SLIP => ContactMode::Sliding,
            true => ContactMode::Sticking,
        };
        let source = source_of(memory, ActiveSource::Contact(index as usize));
        let (gap, point, normal) = (contact.gap, contact.point, contact.normal);
        out.push(ContactRecord { source, dim: 3, gap, velocity, impulse, force: [0.0; 6], mode, point, normal });
    }
    // contacts that opened right after the impact
    let is_active = |record: &ImpactRecord| {
        memory.active.items().iter().any(|item| match item.source {
            ActiveSource::Contact(i) => record.key == Some(memory.contacts[i].key),
            ActiveSource::Interaction(i) => record.contact.source == Source::Interaction(i as u32),
        })
    };
    let opened = impacts.iter().filter(|record| (with_shapes || record.key.is_none()) && !is_active(record));
    out.extend(opened.map(|record| record.contact));
}
