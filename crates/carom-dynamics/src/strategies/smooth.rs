//! Smooth motion: an integrator with error control from start to end, for models without contacts.

use super::frame_clock::FrameClock;
use super::journal::Journal;
use super::work::WorkMeter;
use super::{Continue, Ending, Observers, Outcome, Progress, Strategy, check_times, sampling};
use crate::assembly::at_time;
use crate::error::{ModelError, RunError};
use crate::integrators::{Integration, IntegratorParams, SmoothReport};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::{Energy, StepReport};
use crate::smooth::{AssemblyReport, DriftMeter, MotionPoint};
use crate::state::State;

/// Integrates the constrained equations of motion by one integrator (see [`crate::integrators`]).
///
/// Frames are taken at the ends of accepted steps, at constant intervals through the dense output, or both. The energy account holds the
/// work of applied forces and of moving constraints, by Gauss's formula along the dense output.
///
/// When to use it: mechanisms and free motion, where steps of order 4 to 6 reach accuracies that time-stepping cannot. Models with
/// contacts are refused.
#[derive(Clone, Debug)]
pub struct Smooth {
    /// The integrator's settings.
    pub integrator: IntegratorParams,
    /// End time \[s\].
    pub end: f64,
    /// A frame is recorded every so many accepted steps; 0 for none of these. The start and the end are always recorded.
    pub record_every: usize,
    /// Frames are recorded at start + k · interval \[s\].
    pub record_interval: Option<f64>,
}

impl Smooth {
    /// Checks the settings against a model and its initial time.
    ///
    /// # Errors
    /// [`ModelError`]: contacts in the model, by name; a setting out of range.
    pub fn validate(&self, model: &Model, start: f64) -> Result<(), ModelError> {
        refuse_contacts(model)?;
        self.integrator.validate()?;
        check_times(start, self.end, &[("record.interval", self.record_interval)])
    }
}

/// Refuses a model in which something may touch, or in which a constraint has edges.
///
/// # Errors
/// [`ModelError::HasContacts`] naming the contacts by formula, the constraints made of pieces and the shapes of bodies.
pub fn refuse_contacts(model: &Model) -> Result<(), ModelError> {
    if model.first_order().is_some() {
        return Err(ModelError::StrategyRefuses {
            strategy: "smooth",
            feature: "first-order systems",
            by: "[first_order]".into(),
            alternatives: "time-stepping, event-driven",
        });
    }
    let by_formula = model.interactions().iter().filter(|i| i.is_contact()).map(|i| format!("the contact \"{}\"", i.name()));
    let bounded = model.interactions().iter().filter(|i| i.law().bounded().is_some());
    let bounded = bounded.map(|i| format!("the bounds of \"{}\"", i.name()));
    let in_pieces = model.interactions().iter().filter(|i| i.is_bilateral() && i.relation().n_pieces() > 1);
    let in_pieces = in_pieces.map(|i| format!("edges in the constraint \"{}\"", i.name()));
    // one shape alone touches nothing
    let n = model.n_colliders();
    let shapes = (n > 1).then(|| {
        let names: Vec<&str> = (0..n.min(3)).map(|i| model.collider_name(i)).collect();
        let more = if n > 3 { ", …" } else { "" };
        format!("the shapes that may touch ({}{more})", names.join(", "))
    });
    let names: Vec<String> = by_formula.chain(bounded).chain(in_pieces).chain(shapes).collect();
    if names.is_empty() { Ok(()) } else { Err(ModelError::HasContacts { names: names.join(", ") }) }
}

impl Strategy for Smooth {
    fn name(&self) -> &'static str {
        "smooth"
    }

    fn run(&self, model: &Model, state: &mut State, memory: &mut StepMemory, observers: Observers<'_>) -> Outcome {
        let Observers { recorder, watch } = observers;
        let report = SmoothReport::new(self.integrator.kind, self.integrator.formulation());
        let mut run = Run {
            settings: self,
            model,
            memory,
            journal: Journal::new(model, recorder),
            work: WorkMeter::new(model),
            drift: DriftMeter::new(model),
            inside: MotionPoint::default(),
            frames: FrameClock::new(state.t, self.record_interval),
            recorded: 0,
            report,
        };
        let start = state.t;
        let ending = run.all_steps(state, watch, start).unwrap_or_else(Ending::Failed);
        run.journal.certificate.smooth = Some(SmoothReport { drift: run.drift.rows, ..run.report });
        run.journal.finish(ending)
    }
}

/// A run under way.
struct Run<'a, 'm> {
    settings: &'a Smooth,
    model: &'m Model,
    memory: &'a mut StepMemory,
    journal: Journal<'a>,
    work: WorkMeter<'m>,
    drift: DriftMeter<'m>,
    inside: MotionPoint,
    frames: FrameClock,
    /// Last step whose end was recorded.
    recorded: usize,
    report: SmoothReport,
}

impl<'m> Run<'_, 'm> {
    fn all_steps(&mut self, state: &mut State, watch: &mut dyn FnMut(&Progress) -> Continue, start: f64) -> Result<Ending, RunError> {
        self.settings.validate(self.model, start).map_err(crate::error::IntegrationError::from)?;
        let end = self.settings.end;
        sampling::begin(self.model, state, self.memory)?;
        let mut begun = Integration::new(self.model, state, &self.settings.integrator);
        self.journal.forces.resize(self.drift.rows.len(), 0.0);
        if let Ok(integration) = &mut begun {
            self.tell_forces(integration)?;
            // an initial state that was assembled is where the motion begins
            self.report.assembly = Some(*integration.assembly()).filter(AssemblyReport::is_assembled);
            state.q.copy_from_slice(&integration.point().q);
            state.v.copy_from_slice(&integration.point().v);
        }
        self.journal.begin(state, self.memory)?;
        let violations = self.drift.evaluate(state.t, &state.q, &state.v).map_err(at_time(state.t))?;
        self.drift.keep();
        self.journal.certificate.add_violations(&violations);
        let mut integration = begun?;
        let (mut report, mut moves) = (None, self.drift.moves());
        for step in 1.. {
            if state.t >= end {
                break;
            }
            let sample = self.model.control().and_then(|control| control.next_between(state.t, end));
            let stepped = integration.step(sample.unwrap_or(end));
            let before = std::mem::replace(&mut self.report.statistics, integration.statistics());
            if let Err(error) = stepped {
                if self.recorded + 1 < step {
                    self.journal.frame_after_failure(step - 1, state, self.memory, report.as_ref())?;
                }
                return Err(error.into());
            }
            let iterations = self.report.statistics.newton_iterations - before.newton_iterations;
            state.t = integration.point().t;
            state.q.copy_from_slice(&integration.point().q);
            state.v.copy_from_slice(&integration.point().v);
            let moved = moves;
            let violations = self.drift.evaluate(state.t, &state.q, &state.v).map_err(at_time(state.t))?;
            self.drift.keep();
            moves = self.drift.moves();
            let mut taken = StepReport { newton_iterations: iterations, newton_converged: true, violations, ..StepReport::default() };
            taken.work = self.account(&mut integration, step, moved || moves, &taken)?;
            self.journal.add_step(state, self.memory, &taken)?;
            self.control(state, &mut integration)?;
            self.report.add_step(step, state.t - integration.previous().t, state.t - start, state.t >= end);
            self.report.max_energy_error = self.report.max_energy_error.max(self.journal.certificate.energy_error().abs());

            let stops = watch(&Progress { step, t: state.t, end, n_active: 0 }) == Continue::Stop && state.t < end;
            let every = self.settings.record_every;
            let wanted = self.frames.is_due(state.t) || (every > 0 && step % every == 0);
            if wanted || stops || state.t >= end {
                self.tell_forces(&mut integration)?;
                self.journal.frame(step, state, self.memory, &taken)?;
                self.recorded = step;
            }
            if stops {
                return Ok(Ending::Interrupted);
            }
            report = Some(taken);
        }
        Ok(Ending::Finished)
    }

    /// Modes and samples of controllers at the end of a step; the integration begins anew where they change anything but what is recorded.
    fn control(&mut self, state: &mut State, integration: &mut Integration<'m>) -> Result<(), RunError> {
        let Some(control) = self.model.control() else { return Ok(()) };
        let is_due = control.is_due(state.t);
        let located = at_time(state.t);
        let mut changed = control.settle(self.model.systems(), state, sampling::at_instant(self.memory)).map_err(&located)?;
        if is_due {
            control.sample(self.model.systems(), state, sampling::at_instant(self.memory)).map_err(&located)?;
            changed = true;
        }
        sampling::tell(self.memory, &mut self.journal)?;
        Ok(integration.hold(&state.q, changed)?)
    }

    /// Work done in the step just taken; frames of constant interval within it are told on the way.
    fn account(&mut self, integration: &mut Integration<'m>, step: usize, moving: bool, taken: &StepReport) -> Result<f64, RunError> {
        let (mut from, t_end) = (integration.previous().t, integration.point().t);
        let mut work = 0.0;
        while let Some(t) = self.frames.before(t_end) {
            work += self.work.between(integration, from, t, moving)?;
            self.frame_within(integration, (step, t), work, taken)?;
            from = t;
        }
        Ok(work + self.work.between(integration, from, t_end, moving)?)
    }

    fn frame_within(
        &mut self,
        integration: &mut Integration<'m>,
        (step, t): (usize, f64),
        work: f64,
        taken: &StepReport,
    ) -> Result<(), RunError> {
        let mut inside = std::mem::take(&mut self.inside);
        inside.copy_from(integration.point());
        inside.t = t;
        integration.interpolate(t, &mut inside.q, &mut inside.v)?;
        // the multipliers that belong to the interpolated state; not counted as the integrator's work
        let equations = integration.equations();
        let counted = equations.statistics;
        equations.accelerate(t, &inside.q, &inside.v, &mut inside.a, &mut inside.lambda)?;
        equations.multipliers_of_all(&inside, &mut self.journal.forces)?;
        equations.statistics = counted;
        let violations = self.drift.evaluate(t, &inside.q, &inside.v).map_err(at_time(t))?;
        let state = inside.state();
        let (kinetic, potential) = self.journal.energy(&state, self.memory)?;
        let last = self.journal.certificate.last;
        let energy = Energy { kinetic, potential, work: last.work + work, ..last };
        self.journal.frame_within((step, &state), self.memory, energy, &StepReport { violations, ..*taken })?;
        self.inside = inside;
        Ok(())
    }

    /// Hands the multipliers of all constraint rows at the point reached to the next frame; not counted as the integrator's work.
    fn tell_forces(&mut self, integration: &mut Integration<'m>) -> Result<(), RunError> {
        self.inside.copy_from(integration.point());
        let equations = integration.equations();
        let counted = equations.statistics;
        equations.multipliers_of_all(&self.inside, &mut self.journal.forces)?;
        equations.statistics = counted;
        self.report.redundant_rows = self.report.redundant_rows.max(equations.n_all_rows() - equations.n_rows());
        Ok(())
    }
}
