//! Located events with smooth motion in between.
//!
//! ```text
//! integrator step with the present contact modes → dense output
//!   → first root of g (open contacts), λ_N and μ λ_N − ‖λ_T‖ (closed and sticking ones), u_T·d (sliding ones), edges, functions of the user
//!   → step to the root → impact problem over I₁ (velocities) → acceleration problem over I₂ ⇒ new modes → restart
//! ```
//!
//! Haddouni2015 §2.1.1 and Fig. 2.1. It differs from there in that friction is part of it, in the plane and in space: closed contacts join the
//! constrained equations, sticking ones as bilateral rows, sliding ones with the unsymmetric matrix of eq. (2.1).

mod account;
mod control;
mod edge;
mod efforts;
mod first_order;
mod frames;
mod guard;
mod met;
mod motion;
mod run;
mod search;
mod settle;
mod stopping;
mod storage_account;
mod switch;
mod watch;

pub(super) use met::Met;
pub(super) use motion::Motion;
pub(super) use run::Run;
pub(in crate::strategies) use watch::Function;

use super::journal::Journal;
use super::{Observers, Outcome, Strategy, check_times};
use crate::error::ModelError;
use crate::events::{EventParams, check_contacts};
use crate::integrators::IntegratorParams;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;

/// Locates every event and integrates smoothly in between, see [`crate::events`].
///
/// Frames are taken at the ends of the steps, before and after impacts, at constant intervals through the dense output, or both. The energy account holds
/// the work of applied forces and of what moves, and the dissipation of friction, by Gauss's formula along the dense output.
///
/// When to use it: few contacts and accuracy, orders 4 to 5 across impacts. Where events accumulate see [`crate::events::Accumulation`], or use
/// [`super::Hybrid`]; for many contacts time-stepping is better.
#[derive(Clone, Debug)]
pub struct EventDriven {
    /// The integrator between events.
    pub integrator: IntegratorParams,
    /// Thresholds and rules of events.
    pub events: EventParams,
    /// End time \[s\].
    pub end: f64,
    /// A frame is recorded every so many steps; 0 for none of these. The start and the end are always recorded.
    pub record_every: usize,
    /// Frames are recorded at start + k · interval \[s\].
    pub record_interval: Option<f64>,
}

impl EventDriven {
    /// Checks the settings against a model and its initial time.
    ///
    /// # Errors
    /// [`ModelError`]: a contact law that located events do not know, by name; a setting out of range.
    pub fn validate(&self, model: &Model, start: f64) -> Result<(), ModelError> {
        self.validate_for(self.name(), model, start)
    }

    /// The same for a strategy with located events of this name.
    pub(super) fn validate_for(&self, strategy: &'static str, model: &Model, start: f64) -> Result<(), ModelError> {
        check_contacts(model, strategy)?;
        first_order::check(model, strategy)?;
        self.integrator.validate()?;
        self.events.validate()?;
        check_times(start, self.end, &[("record.interval", self.record_interval)])
    }
}

impl Strategy for EventDriven {
    fn name(&self) -> &'static str {
        "event-driven"
    }

    fn run(&self, model: &Model, state: &mut State, memory: &mut StepMemory, observers: Observers<'_>) -> Outcome {
        if model.first_order().is_some() {
            return first_order::run(self, model, state, memory, observers);
        }
        let Observers { recorder, watch } = observers;
        let mut run = Run::new(self, model, state.t, memory, Journal::new(model, recorder), None);
        let ending = run.run(state, watch);
        run.journal.finish(ending)
    }
}
