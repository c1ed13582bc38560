//! Time-stepping: fixed steps of a scheme from start to end.

use super::{Continue, Ending, Observers, OnFailure, Outcome, Progress, Strategy};
use crate::active_set::ActiveSource;
use crate::assembly::{at_time, detect_contacts, evaluate_candidates};
use crate::diagnostics::{Certificate, Energy};
use crate::error::ModelError;
use crate::error::RunError;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::recording::{ContactRecord, Event, EventKind, Frame, Source};
use crate::schemes::{Scheme, StepReport};
use crate::state::State;

/// A step is halved at most this often.
const MAX_HALVINGS: u32 = 10;

/// Fixed steps of a scheme. The last step is shortened to reach the end time exactly.
pub struct TimeStepping {
    /// The scheme.
    pub scheme: Box<dyn Scheme>,
    /// Step size h \[s\], positive.
    pub step: f64,
    /// End time \[s\].
    pub end: f64,
    /// What to do when a step does not converge.
    pub on_failure: OnFailure,
    /// A frame is recorded every so many steps (and at the start and the end); 0 records only those two.
    pub record_every: usize,
}

impl TimeStepping {
    /// Checks the settings against the initial time.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self, start: f64) -> Result<(), ModelError> {
        if !(self.step > 0.0 && self.step.is_finite()) {
            return Err(ModelError::OutOfRange {
                what: "step".into(),
                value: self.step,
                expected: "a positive, finite time [s] is needed",
            });
        }
        if !(self.end >= start && self.end.is_finite()) {
            return Err(ModelError::OutOfRange {
                what: "end".into(),
                value: self.end,
                expected: "a finite time [s] not before the start is needed",
            });
        }
        Ok(())
    }

    /// Number of steps; a remainder below 1e-6 of a step is round-off of end/step.
    fn n_steps(&self, start: f64) -> usize {
        let exact = (self.end - start) / self.step;
        let whole = exact.round();
        (if (exact - whole).abs() < 1e-6 { whole } else { exact.ceil() }) as usize
    }
}

impl Strategy for TimeStepping {
    fn name(&self) -> &'static str {
        "time-stepping"
    }

    fn run(&self, model: &Model, state: &mut State, memory: &mut StepMemory, observers: Observers<'_>) -> Outcome {
        let mut run = Run {
            model,
            memory,
            observers,
            certificate: Certificate::default(),
            file_velocities: vec![0.0; state.v.len()],
            records: Vec::new(),
            gaps: Vec::new(),
            carrying: Carrying::default(),
        };
        let ending = match run.all_steps(self, state) {
            Ok(ending) => ending,
            Err(error) => Ending::Failed(error),
        };
        let ending = match (run.observers.recorder.finish(&run.certificate, &ending.status()), ending) {
            (Err(error), Ending::Finished | Ending::Interrupted) => Ending::Failed(error.into()),
            (_, ending) => ending,
        };
        Outcome { certificate: run.certificate, ending }
    }
}

/// A run under way.
struct Run<'a, 'b> {
    model: &'a Model,
    memory: &'a mut StepMemory,
    observers: Observers<'b>,
    certificate: Certificate,
    file_velocities: Vec<f64>,
    records: Vec<ContactRecord>,
    gaps: Vec<f64>,
    carrying: Carrying,
}

/// Which contacts carry an impulse, before and after a step.
#[derive(Default)]
struct Carrying {
    before: Vec<(Source, f64)>,
    after: Vec<(Source, f64)>,
}

impl Run<'_, '_> {
    fn all_steps(&mut self, settings: &TimeStepping, state: &mut State) -> Result<Ending, RunError> {
        let start = state.t;
        let n_steps = settings.n_steps(start);
        let energy = self.model.systems().energy(state.t, &state.q, &state.v, &mut self.memory.scratch).map_err(at_time(state.t))?;
        self.certificate = Certificate::new(Energy { kinetic: energy.0, potential: energy.1, ..Energy::default() });
        self.frame(0, state, None)?;
        let mut recorded = 0;
        let mut ending = Ending::Finished;
        let mut last = None;
        for step in 1..=n_steps {
            let t_next = if step == n_steps { settings.end } else { start + step as f64 * settings.step };
            let h = if step < n_steps || (t_next - state.t - settings.step).abs() < 1e-6 * settings.step {
                settings.step
            } else {
                t_next - state.t
            };
            let report = match self.one_step(settings, state, h) {
                Ok(report) => report,
                Err(error) => {
                    if recorded + 1 < step {
                        self.frame(step - 1, state, last.as_ref())?;
                    }
                    return Err(error);
                }
            };
            state.t = t_next;
            let wanted = settings.record_every > 0 && step % settings.record_every == 0;
            if wanted || step == n_steps {
                self.frame(step, state, Some(&report))?;
                recorded = step;
            }
            let progress = Progress { step, t: state.t, end: settings.end, n_active: report.n_active };
            let go_on = (self.observers.watch)(&progress);
            last = Some(report);
            if go_on == Continue::Stop && step < n_steps {
                if recorded < step {
                    self.frame(step, state, last.as_ref())?;
                }
                ending = Ending::Interrupted;
                break;
            }
        }
        self.certify_last_state(state)?;
        Ok(ending)
    }

    /// One step with the failure policy; the certificate and the events are brought up to date.
    fn one_step(&mut self, settings: &TimeStepping, state: &mut State, h: f64) -> Result<StepReport, RunError> {
        let mut stack: Vec<u32> = Vec::new();
        let mut level = 0;
        loop {
            let (t, size) = (state.t, h / f64::from(1 << level));
            let result = settings.scheme.step(self.model, state, self.memory, size);
            let report = match result {
                Ok(report) => report,
                Err(error) => {
                    self.memory.restore(state, t);
                    return Err(error.into());
                }
            };
            if !report.converged() {
                match settings.on_failure {
                    OnFailure::Warn => self.event(state.t, EventKind::SolveNotConverged, String::new(), 0.0)?,
                    OnFailure::HalveStep if level < MAX_HALVINGS => {
                        self.memory.restore(state, t);
                        self.certificate.halved_steps += 1;
                        self.event(t, EventKind::StepHalved, String::new(), 0.0)?;
                        level += 1;
                        stack.push(level);
                        continue;
                    }
                    OnFailure::Stop | OnFailure::HalveStep => {
                        self.memory.restore(state, t);
                        return Err(self.not_converged(t, &report));
                    }
                }
            }
            let (kinetic, potential) =
                self.model.systems().energy(state.t, &state.q, &state.v, &mut self.memory.scratch).map_err(at_time(state.t))?;
            self.certificate.add_step(&report, kinetic, potential);
            self.contact_events(state.t)?;
            // the second half of a halved step follows its first half; two halves done make the step above done
            match stack.pop() {
                None => return Ok(report),
                Some(half) => level = half,
            }
        }
    }

    fn not_converged(&self, t: f64, report: &StepReport) -> RunError {
        let step = self.certificate.steps + 1;
        match report.solve {
            Some(solve) if !solve.status.is_converged() => RunError::NotConverged {
                t,
                step,
                what: "the one-step problem",
                residual: solve.residual_normalised,
                iterations: solve.iterations,
            },
            _ => RunError::NotConverged {
                t,
                step,
                what: "Newton's iteration",
                residual: report.newton_residual,
                iterations: report.newton_iterations,
            },
        }
    }

    /// Penetration and constraint violation of the final state.
    fn certify_last_state(&mut self, state: &State) -> Result<(), RunError> {
        let certificate = &mut self.certificate;
        detect_contacts(self.model, state, self.memory, 0.0);
        evaluate_candidates(self.model, state, self.memory).map_err(at_time(state.t))?;
        for contact in &self.memory.contacts {
            certificate.max_penetration = certificate.max_penetration.max(-contact.gap);
        }
        let c = &self.memory.candidates;
        for (i, interaction) in self.model.interactions().iter().enumerate() {
            for row in c.rows[i]..c.rows[i + 1] {
                if interaction.is_bilateral() {
                    certificate.max_constraint_violation = certificate.max_constraint_violation.max(c.position[row].abs());
                    certificate.max_constraint_velocity = certificate.max_constraint_velocity.max(c.velocity[row].abs());
                }
            }
            if !interaction.is_bilateral() {
                certificate.max_penetration = certificate.max_penetration.max(-c.position[c.rows[i]]);
            }
        }
        Ok(())
    }

    /// Records an instant.
    fn frame(&mut self, step: usize, state: &State, report: Option<&StepReport>) -> Result<(), RunError> {
        let (model, memory) = (self.model, &mut *self.memory);
        model.systems().file_velocities(&state.q, &state.v, &mut self.file_velocities);
        self.gaps.clear();
        for interaction in model.interactions().iter().filter(|i| !i.is_bilateral()) {
            let mut g = [0.0; 6];
            let relation = interaction.relation();
            relation.position(state.t, &state.q, &mut g[..relation.n_rows()], &mut memory.scratch).map_err(at_time(state.t))?;
            self.gaps.push(g[0]);
        }
        self.records.clear();
        if report.is_some() {
            collect_records(memory, &mut self.records);
        }
        let frame = Frame {
            step,
            t: state.t,
            q: &state.q,
            v: &self.file_velocities,
            energy: self.certificate.last,
            contacts: &self.records,
            gaps: &self.gaps,
            report,
        };
        Ok(self.observers.recorder.frame(&frame)?)
    }

    fn event(&mut self, t: f64, kind: EventKind, name: String, impulse: f64) -> Result<(), RunError> {
        self.certificate.events += 1;
        Ok(self.observers.recorder.event(&Event { t, kind, name, impulse })?)
    }

    /// Contacts that began or ceased to carry an impulse in this step.
    fn contact_events(&mut self, t: f64) -> Result<(), RunError> {
        std::mem::swap(&mut self.carrying.before, &mut self.carrying.after);
        collect_carrying(self.memory, &mut self.carrying.after);
        if self.carrying.before.iter().map(|c| c.0).eq(self.carrying.after.iter().map(|c| c.0)) {
            return Ok(());
        }
        let Carrying { before, after } = std::mem::take(&mut self.carrying);
        for (kind, here, there) in [(EventKind::ContactClosed, &after, &before), (EventKind::ContactOpened, &before, &after)] {
            for &(source, impulse) in here {
                if there.binary_search_by_key(&order(source), |c| order(c.0)).is_err() {
                    let impulse = if kind == EventKind::ContactClosed { impulse } else { 0.0 };
                    self.event(t, kind, self.name(source), impulse)?;
                }
            }
        }
        self.carrying = Carrying { before, after };
        Ok(())
    }

    fn name(&self, source: Source) -> String {
        match (source, &self.memory.detector) {
            (Source::Interaction(i), _) => self.model.interactions()[i as usize].name().to_owned(),
            (Source::Colliders(a, b), Some(detector)) => format!("{}–{}", detector.collider_name(a), detector.collider_name(b)),
            (Source::Colliders(a, b), None) => format!("{a}–{b}"),
        }
    }
}

/// Sort key of a source.
fn order(source: Source) -> (u32, u32, u32) {
    match source {
        Source::Interaction(i) => (0, i, 0),
        Source::Colliders(a, b) => (1, a, b),
    }
}

/// The contacts (not constraints) with a normal impulse, by interaction or pair of colliders, sorted.
fn collect_carrying(memory: &StepMemory, out: &mut Vec<(Source, f64)>) {
    out.clear();
    for item in memory.active.items() {
        let p = memory.solution.r[item.rows.start];
        if p <= 0.0 || matches!(item.law, crate::laws::Law::Bilateral) {
            continue;
        }
        let source = source_of(memory, item.source);
        match out.last_mut() {
            Some(last) if last.0 == source => last.1 += p,
            _ => out.push((source, p)),
        }
    }
    out.sort_unstable_by_key(|c| order(c.0));
}

fn source_of(memory: &StepMemory, source: ActiveSource) -> Source {
    match source {
        ActiveSource::Interaction(i) => Source::Interaction(i as u32),
        ActiveSource::Contact(i) => Source::Colliders(memory.contacts[i].key.collider_a, memory.contacts[i].key.collider_b),
    }
}

/// The active interactions of the last step, for a frame.
fn collect_records(memory: &StepMemory, out: &mut Vec<ContactRecord>) {
    for item in memory.active.items() {
        let (mut velocity, mut impulse) = ([0.0; 6], [0.0; 6]);
        let n = item.rows.len();
        for (k, row) in item.rows.clone().enumerate() {
            // u of the problem includes e u_k: take it off again
            velocity[k] = memory.solution.u[row] - item.law.restitution(k) * memory.active.velocity_start()[row];
        }
        impulse[..n].copy_from_slice(&memory.solution.r[item.rows.clone()]);
        let (point, normal) = match item.source {
            ActiveSource::Contact(i) => (memory.contacts[i].point, memory.contacts[i].normal),
            ActiveSource::Interaction(_) => Default::default(),
        };
        out.push(ContactRecord { source: source_of(memory, item.source), dim: n, gap: item.gap, velocity, impulse, point, normal });
    }
}
