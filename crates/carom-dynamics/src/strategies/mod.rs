//! Strategies: how to go from the initial time to the end.

pub mod adaptive;
pub mod event_driven;
mod frame_clock;
pub mod hybrid;
mod journal;
mod kind;
mod sampling;
pub mod smooth;
mod suggested_step;
pub mod time_stepping;
mod work;

use crate::diagnostics::Certificate;
use crate::error::{ModelError, RunError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::recording::Recorder;
use crate::state::State;
use serde::{Deserialize, Serialize};

pub use adaptive::{Adaptive, AdaptiveParams};
pub use event_driven::EventDriven;
pub use hybrid::{Hybrid, HybridParams, SwitchOn};
pub use kind::StrategyKind;
pub use sampling::refuse_control;
pub use smooth::Smooth;
pub use suggested_step::suggested_step;
pub use time_stepping::TimeStepping;

/// Takes a model from its state to the end time.
///
/// To add a strategy: one file in `strategies/` with its `Params`, this trait, its variant of [`StrategyKind`]; record the
/// initial and the final state whatever happens.
pub trait Strategy: Send + Sync {
    /// Name in model files.
    fn name(&self) -> &'static str;

    /// Runs. `watch` is told the progress after each step and can stop the run.
    fn run(&self, model: &Model, state: &mut State, memory: &mut StepMemory, observers: Observers<'_>) -> Outcome;
}

/// Who listens to a run.
pub struct Observers<'a> {
    /// Receives frames, events and the certificate.
    pub recorder: &'a mut dyn Recorder,
    /// Told the progress after each step; returns whether to go on.
    pub watch: &'a mut dyn FnMut(&Progress) -> Continue,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps taken.
    pub step: usize,
    /// Time reached \[s\].
    pub t: f64,
    /// Time to reach \[s\].
    pub end: f64,
    /// Active interactions in the last step.
    pub n_active: usize,
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue {
    /// Go on.
    Yes,
    /// End here, cleanly, with what was computed.
    Stop,
}

/// Checks the times of a run: the end, and positive ones by name where they are given.
fn check_times(start: f64, end: f64, times: &[(&str, Option<f64>)]) -> Result<(), ModelError> {
    for (what, value) in times.iter().filter_map(|(what, value)| value.map(|value| (*what, value))) {
        if !(value > 0.0 && value.is_finite()) {
            let expected = "a positive, finite time [s] is needed";
            return Err(ModelError::OutOfRange { what: what.into(), value, expected });
        }
    }
    if !(end >= start && end.is_finite()) {
        let expected = "a finite time [s] not before the start is needed";
        return Err(ModelError::OutOfRange { what: "end".into(), value: end, expected });
    }
    Ok(())
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// What it certifies, up to where it came.
    pub certificate: Certificate,
    /// How it ended.
    pub ending: Ending,
}

/// The ways a run can end.
#[derive(Debug)]
pub enum Ending {
    /// The end time was reached.
    Finished,
    /// It was stopped from outside.
    Interrupted,
    /// It could not go on.
    Failed(RunError),
}

impl Ending {
    /// In words, as records keep it: "finished", "interrupted", or "failed: …".
    #[must_use]
    pub fn status(&self) -> String {
        match self {
            Ending::Finished => "finished".to_owned(),
            Ending::Interrupted => "interrupted".to_owned(),
            Ending::Failed(error) => format!("failed: {error}"),
        }
    }
}

/// What to do when a step does not converge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// End the run with an error that says where and how far (the default).
    #[default]
    Stop,
    /// Go on with the best iterate; count it and record an event.
    Warn,
    /// Repeat the step in two halves, and those in halves again, at most ten times; then stop.
    HalveStep,
}
