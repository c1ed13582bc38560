//! Located events, and time-stepping where they accumulate (Haddouni2015 chapter 4, Algorithm 1 and Fig. 4.1).
//!
//! ```text
//! event-driven until
//!   a contact is hit at most h* after its last impact,
//!   a tangential velocity vanishes (in the plane), contacts begin to stick or to slip (in space),
//!   a piecewise constraint or closed contact comes to the edge of a piece,
//! then steps h* of a scheme until contacts are open or their modes have settled, then back
//! h* = max(h_min, min(τ (h/τ)^{p+1}, τ₀/|u_N|, h_max)),     h_min at edges
//! ```
//!
//! It differs from there in the two upper bounds, which hold where the integrator's steps are long because the motion is a polynomial, and in that
//! sticking contacts are not left to time-stepping until they slip: once their modes have settled they join the
//! constrained equations.

mod params;
mod switching;

pub use params::{HybridParams, SwitchOn};
pub(super) use switching::{Passed, Switching};

use super::adaptive::Adaptive;
use super::event_driven::Run;
use super::journal::Journal;
use super::{EventDriven, Observers, OnFailure, Outcome, Strategy};
use crate::error::ModelError;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::schemes::Scheme;
use crate::state::State;

/// Part of h_min that the geometric rule may skip.
const SKIPPED: f64 = 0.25;

/// Event-driven with time-stepping in between. Each switch and its reason is a recorded event.
///
/// When to use it: few contacts and accuracy, where impacts accumulate or friction reverses often.
pub struct Hybrid {
    /// Integrator, events, end and frames.
    pub event_driven: EventDriven,
    /// The scheme of time-stepping.
    pub scheme: Box<dyn Scheme>,
    /// When to switch.
    pub params: HybridParams,
    /// What to do when a step of the scheme does not converge.
    pub on_failure: OnFailure,
}

impl Hybrid {
    /// Checks the settings against a model and its initial time.
    ///
    /// # Errors
    /// As [`EventDriven::validate`]; a scheme that needs constant steps.
    pub fn validate(&self, model: &Model, start: f64) -> Result<(), ModelError> {
        self.event_driven.validate_for(self.name(), model, start)?;
        self.params.validate()?;
        Adaptive::check_scheme(&*self.scheme)
    }
}

impl Strategy for Hybrid {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    fn run(&self, model: &Model, state: &mut State, memory: &mut StepMemory, observers: Observers<'_>) -> Outcome {
        let Observers { recorder, watch } = observers;
        let mut event_driven = self.event_driven.clone();
        if self.params.switch_on.accumulation {
            // time-stepping ends accumulations, not the geometric rule
            let interval = &mut event_driven.events.accumulation_interval;
            *interval = interval.min(SKIPPED * self.params.min_step);
        }
        let mut run = Run::new(&event_driven, model, state.t, memory, Journal::new(model, recorder), Some(Switching::new(self)));
        let ending = run.run(state, watch);
        run.journal.finish(ending)
    }
}
