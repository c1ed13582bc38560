//! Time-stepping: fixed steps of a scheme from start to end.

use super::frame_clock::FrameClock;
use super::journal::Journal;
use super::{Continue, Ending, Observers, OnFailure, Outcome, Progress, Strategy, check_times, sampling};
use crate::error::{ModelError, RunError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::{EventKind, StepReport};
use crate::schemes::{Scheme, take_step};
use crate::state::State;

/// A step is halved at most this often.
pub(super) const MAX_HALVINGS: u32 = 10;

/// Fixed steps of a scheme. The last step is shortened to reach the end time exactly; steps with sample instants of controllers inside are taken in parts that end
/// there.
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
    /// Frames are due at start + k · interval \[s\]; each is recorded at the end of the step that reaches its time.
    pub record_interval: Option<f64>,
}

impl TimeStepping {
    /// Checks the settings against the initial time.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self, start: f64) -> Result<(), ModelError> {
        check_times(start, self.end, &[("step", Some(self.step)), ("record.interval", self.record_interval)])
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
        let Observers { recorder, watch } = observers;
        let mut run = Run { settings: self, model, memory, journal: Journal::new(model, recorder) };
        let ending = run.all_steps(state, watch).unwrap_or_else(Ending::Failed);
        run.journal.finish(ending)
    }
}

/// A run under way.
struct Run<'a, 'b> {
    settings: &'a TimeStepping,
    model: &'a Model,
    memory: &'a mut StepMemory,
    journal: Journal<'b>,
}

impl Run<'_, '_> {
    fn all_steps(&mut self, state: &mut State, watch: &mut dyn FnMut(&Progress) -> Continue) -> Result<Ending, RunError> {
        let (settings, start) = (self.settings, state.t);
        let n_steps = settings.n_steps(start);
        sampling::begin(self.model, state, self.memory)?;
        self.journal.begin(state, self.memory)?;
        sampling::tell(self.memory, &mut self.journal)?;
        settings.scheme.start(self.model, state, self.memory)?;
        if n_steps > 0 {
            settings.scheme.begin(self.model, state, self.memory, settings.step)?;
        }
        let (mut recorded, mut last) = (0, None);
        let mut clock = FrameClock::new(start, settings.record_interval);
        for step in 1..=n_steps {
            let t_next = if step == n_steps { settings.end } else { start + step as f64 * settings.step };
            let rest = t_next - state.t;
            let h = if step < n_steps || (rest - settings.step).abs() < 1e-6 * settings.step { settings.step } else { rest };
            let report = match self.grid_step(state, t_next, h) {
                Ok(report) => report,
                Err(error) => {
                    if recorded + 1 < step {
                        self.journal.frame_after_failure(step - 1, state, self.memory, last.as_ref())?;
                    }
                    return Err(error);
                }
            };
            let progress = Progress { step, t: state.t, end: settings.end, n_active: report.n_active };
            let stops = watch(&progress) == Continue::Stop && step < n_steps;
            let is_due = clock.is_due(state.t);
            let wanted = is_due || (settings.record_every > 0 && step % settings.record_every == 0);
            if wanted || stops || step == n_steps {
                self.journal.frame(step, state, self.memory, &report)?;
                recorded = step;
            }
            if stops {
                self.journal.certify_last_state(state, self.memory)?;
                return Ok(Ending::Interrupted);
            }
            last = Some(report);
        }
        self.journal.certify_last_state(state, self.memory)?;
        Ok(Ending::Finished)
    }

    /// The step of size `h` to `t_next`, in parts that end at the sample instants of controllers.
    fn grid_step(&mut self, state: &mut State, t_next: f64, h: f64) -> Result<StepReport, RunError> {
        let Some(control) = self.model.control() else {
            let report = self.one_step(state, h)?;
            state.t = t_next;
            return Ok(report);
        };
        let mut is_whole = true;
        loop {
            let sample = control.next_between(state.t, t_next);
            let end = sample.unwrap_or(t_next);
            is_whole &= sample.is_none();
            let size = if is_whole { h } else { end - state.t };
            let report = self.one_step(state, size)?;
            state.t = end;
            sampling::after_step(self.model, state, self.memory, size)?;
            sampling::tell(self.memory, &mut self.journal)?;
            if sample.is_none() {
                return Ok(report);
            }
        }
    }

    /// One step with the failure policy; the certificate and the events are brought up to date.
    fn one_step(&mut self, state: &mut State, h: f64) -> Result<StepReport, RunError> {
        let mut stack: Vec<u32> = Vec::new();
        let mut level = 0;
        loop {
            let (t, size) = (state.t, h / f64::from(1 << level));
            let report = match take_step(&*self.settings.scheme, self.model, state, self.memory, size) {
                Ok(report) => report,
                Err(error) => {
                    self.memory.restore(state);
                    return Err(error.into());
                }
            };
            self.journal.problem(state, self.memory, &report)?;
            if !report.converged() {
                match self.settings.on_failure {
                    _ if report.is_tolerable() => self.journal.event(state.t, EventKind::SolveNotConverged)?,
                    OnFailure::Warn => self.journal.event(state.t, EventKind::SolveNotConverged)?,
                    OnFailure::HalveStep if level < MAX_HALVINGS => {
                        self.memory.restore(state);
                        self.journal.certificate.halved_steps += 1;
                        self.journal.event(t, EventKind::StepHalved)?;
                        level += 1;
                        stack.push(level);
                        continue;
                    }
                    OnFailure::Stop | OnFailure::HalveStep => {
                        let error = RunError::not_converged(t, self.journal.certificate.steps + 1, &report);
                        let error = at_worst_row(error, self.model, self.memory);
                        self.memory.restore(state);
                        return Err(error);
                    }
                }
            }
            self.settings.scheme.accept(self.model, state, self.memory);
            self.journal.add_step(state, self.memory, &report)?;
            // the second half of a halved step follows its first half; two halves done make the step above done
            match stack.pop() {
                None => return Ok(report),
                Some(half) => level = half,
            }
        }
    }
}

/// The same error, with the row of the first-order part in which the one-step problem is worst.
fn at_worst_row(error: RunError, model: &Model, memory: &StepMemory) -> RunError {
    match (error, model.first_order(), &memory.first_order) {
        (RunError::NotConverged { t, step, what: what @ "the one-step problem", residual, iterations, .. }, Some(set), Some(own)) => {
            let place = own.worst_row().map_or_else(String::new, |row| {
                let name = &set.rows()[row];
                format!(", and is worst at {name} of \"{}\": there may be no solution (a short circuit, a multiplier that cannot do what its law asks for)", set.relation_of(row).name)
            });
            RunError::NotConverged { t, step, what, residual, iterations, place }
        }
        (error, ..) => error,
    }
}
