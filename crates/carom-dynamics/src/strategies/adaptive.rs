//! Adaptive time-stepping: steps of a scheme under error control.

pub(super) mod bracket;
mod doubling;
mod high_order;
mod params;
pub(super) mod phases;
mod scheme_control;

use super::journal::Journal;
use super::{Continue, Ending, Observers, OnFailure, Outcome, Progress, Strategy, check_times};
use crate::error::{IntegrationError, ModelError, RunError, StepError};
use crate::integrators::IntegratorParams;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::{AdaptiveReport, EventKind, StepReport};
use crate::schemes::{Scheme, SchemeParams, take_step};
use crate::state::State;
use high_order::HighOrder;
pub use params::{AdaptiveParams, Control};
use scheme_control::SchemeControl;

/// Where no first step is given: this fraction of the time span.
const FIRST_FRACTION: f64 = 1e-3;

/// Steps of a scheme under error control, see [`Control`]. Accumulations of impacts are passed: no step is below the smallest.
///
/// Frames are taken at the ends of the steps, or at constant intervals; steps then end at these times. The contacts of a frame are those of the
/// last half of the step that ends there; events are told of both halves.
///
/// When to use it: motions with phases of very different speed, and where an accuracy is wanted rather than a step. For many contacts that
/// change all the time fixed steps cost less: each step here is three steps of the scheme.
pub struct Adaptive {
    /// The scheme.
    pub scheme: Box<dyn Scheme>,
    /// The step control.
    pub params: AdaptiveParams,
    /// The integrator of `high-order`; its tolerances and limits of the step are those of `params`.
    pub integrator: IntegratorParams,
    /// First step \[s\]; a thousandth of the time span by default.
    pub first_step: Option<f64>,
    /// End time \[s\].
    pub end: f64,
    /// What to do when a step does not converge even at the smallest size; longer ones are tried again.
    pub on_failure: OnFailure,
    /// A frame is recorded every so many steps; 0 for none of these. The start and the end are always recorded.
    pub record_every: usize,
    /// Frames are recorded at start + k · interval \[s\].
    pub record_interval: Option<f64>,
}

impl Adaptive {
    /// Checks the settings against the initial time.
    ///
    /// # Errors
    /// [`ModelError`] naming the setting.
    pub fn validate(&self, start: f64) -> Result<(), ModelError> {
        self.params.validate()?;
        Adaptive::check_scheme(&*self.scheme)?;
        if self.params.control == Control::HighOrder {
            self.params.for_integrator(&self.integrator).validate()?;
        }
        check_times(start, self.end, &[("step", self.first_step), ("record.interval", self.record_interval)])
    }

    /// Refuses a scheme that needs constant steps.
    ///
    /// # Errors
    /// [`ModelError::SchemeRefuses`], with the schemes that can.
    pub fn check_scheme(scheme: &dyn Scheme) -> Result<(), ModelError> {
        if scheme.restarts() {
            return Ok(());
        }
        let able = SchemeParams::all().into_iter().filter(|params| params.build().restarts()).map(|params| params.entry().name);
        Err(ModelError::SchemeRefuses {
            scheme: scheme.name(),
            feature: "steps of varying size",
            by: "the strategy \"adaptive\"".into(),
            alternatives: able.collect::<Vec<_>>().join(", "),
        })
    }

    /// Smallest step \[s\]: not below what the time resolves.
    fn smallest(&self) -> f64 {
        self.params.min_step.max(4.0 * f64::EPSILON * self.end.abs())
    }

    fn first_step(&self, start: f64) -> f64 {
        self.first_step.unwrap_or(FIRST_FRACTION * (self.end - start))
    }
}

impl Strategy for Adaptive {
    fn name(&self) -> &'static str {
        "adaptive"
    }

    fn run(&self, model: &Model, state: &mut State, memory: &mut StepMemory, observers: Observers<'_>) -> Outcome {
        let Observers { recorder, watch } = observers;
        let (journal, report) = (Journal::new(model, recorder), AdaptiveReport::default());
        if let Err(error) = super::refuse_control("adaptive", model) {
            return journal.finish(Ending::Failed(StepError::from(error).into()));
        }
        let mut run = Run { context: Context { settings: self, model, memory, journal, report }, next_frame: 1 };
        let ending = run.all_steps(state, watch).unwrap_or_else(Ending::Failed);
        let Context { mut journal, report, .. } = run.context;
        journal.certificate.adaptive = Some(report);
        journal.finish(ending)
    }
}

/// What the step controls work with.
struct Context<'a, 'm> {
    settings: &'a Adaptive,
    model: &'m Model,
    memory: &'a mut StepMemory,
    journal: Journal<'a>,
    report: AdaptiveReport,
}

impl Context<'_, '_> {
    /// One step of the scheme, counted and told.
    fn scheme_step(&mut self, state: &mut State, h: f64) -> Result<StepReport, RunError> {
        self.report.scheme_steps += 1;
        let report = take_step(&*self.settings.scheme, self.model, state, self.memory, h)?;
        self.journal.problem(state, self.memory, &report)?;
        Ok(report)
    }

    /// Starts a scheme anew that keeps values of earlier steps: they are not those of the state.
    fn forget_past(&mut self, state: &State) -> Result<(), StepError> {
        if self.settings.scheme.looks_back() > 0 { self.settings.scheme.start(self.model, state, self.memory) } else { Ok(()) }
    }

    /// The last step of the scheme stands.
    fn accept(&mut self, state: &State) {
        self.settings.scheme.accept(self.model, state, self.memory);
    }

    /// A step of the smallest size from t did not converge: an error, unless the policy is to go on.
    fn tolerate_failure(&mut self, t: f64, report: &StepReport) -> Result<(), RunError> {
        match self.settings.on_failure {
            OnFailure::Warn => self.journal.event(t, EventKind::SolveNotConverged),
            OnFailure::Stop | OnFailure::HalveStep => Err(RunError::not_converged(t, self.journal.certificate.steps + 1, report)),
        }
    }
}

/// A step, cut where it would leave the time it has.
struct Cut {
    h: f64,
    is_cut: bool,
}

impl Cut {
    /// The step takes up a remainder that would be round-off.
    fn new(planned: f64, rest: f64) -> Self {
        let is_cut = planned >= rest * (1.0 - 1e-9);
        Cut { h: if is_cut { rest } else { planned }, is_cut }
    }
}

/// The step control of a run.
enum Controlled<'m> {
    Scheme(Box<SchemeControl>),
    HighOrder(Box<HighOrder<'m>>),
}

/// A run under way.
struct Run<'a, 'm> {
    context: Context<'a, 'm>,
    /// Number of the next frame of constant interval.
    next_frame: usize,
}

impl<'m> Run<'_, 'm> {
    fn all_steps(&mut self, state: &mut State, watch: &mut dyn FnMut(&Progress) -> Continue) -> Result<Ending, RunError> {
        let Context { settings, model, .. } = self.context;
        let (start, end) = (state.t, settings.end);
        settings.validate(start).map_err(IntegrationError::from)?;
        self.context.journal.begin(state, self.context.memory)?;
        settings.scheme.start(model, state, self.context.memory)?;
        settings.scheme.begin(model, state, self.context.memory, settings.first_step(start))?;
        let mut control = self.control(state)?;
        let (mut recorded, mut last) = (0, None);
        for step in 1.. {
            if state.t >= end {
                break;
            }
            let frame_time = settings.record_interval.map_or(end, |interval| start + self.next_frame as f64 * interval);
            // a frame that falls on the end but for round-off is the last
            let limit = if frame_time >= end - 1e-9 * (end - start) { end } else { frame_time };
            let stepped = match &mut control {
                Controlled::Scheme(control) => control.step(&mut self.context, state, limit),
                Controlled::HighOrder(control) => control.step(&mut self.context, state, limit),
            };
            let Context { journal, memory, .. } = &mut self.context;
            let report = match stepped {
                Ok(report) => report,
                Err(error) => {
                    if recorded + 1 < step {
                        journal.frame_after_failure(step - 1, state, memory, last.as_ref())?;
                    }
                    return Err(error);
                }
            };
            let progress = Progress { step, t: state.t, end, n_active: report.n_active };
            let stops = watch(&progress) == Continue::Stop && state.t < end;
            let due = settings.record_interval.is_some() && state.t >= limit;
            self.next_frame += usize::from(due);
            let wanted = due || (settings.record_every > 0 && step % settings.record_every == 0);
            if wanted || stops || state.t >= end {
                journal.frame(step, state, memory, &report)?;
                recorded = step;
            }
            if stops {
                journal.certify_last_state(state, memory)?;
                return Ok(Ending::Interrupted);
            }
            last = Some(report);
        }
        self.context.journal.certify_last_state(state, self.context.memory)?;
        Ok(Ending::Finished)
    }

    fn control(&self, state: &State) -> Result<Controlled<'m>, IntegrationError> {
        let Context { settings, model, .. } = self.context;
        Ok(match settings.params.control {
            Control::Halving => Controlled::Scheme(Box::new(SchemeControl::new(model, settings, state, false)?)),
            Control::Extrapolation => Controlled::Scheme(Box::new(SchemeControl::new(model, settings, state, true)?)),
            Control::HighOrder => Controlled::HighOrder(Box::new(HighOrder::new(model, settings, state)?)),
        })
    }
}
