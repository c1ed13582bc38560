//! Located events with smooth motion in between.

use super::{Observers, Outcome, Strategy};
use crate::events::EventParams;
use crate::integrators::IntegratorParams;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;

/// The event-driven strategy.
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

impl Strategy for EventDriven {
    fn name(&self) -> &'static str {
        "event-driven"
    }

    fn run(&self, _: &Model, _: &mut State, _: &mut StepMemory, _: Observers<'_>) -> Outcome {
        todo!()
    }
}
