//! Located events, and time-stepping where they accumulate.

mod params;

use super::{EventDriven, Observers, OnFailure, Outcome, Strategy};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::schemes::Scheme;
use crate::state::State;
pub use params::{HybridParams, SwitchOn};

/// The hybrid strategy.
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

impl Strategy for Hybrid {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    fn run(&self, _: &Model, _: &mut State, _: &mut StepMemory, _: Observers<'_>) -> Outcome {
        todo!()
    }
}
