//! What a run with located events tells about itself besides its certificate.

use super::{Event, EventKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// Events of a run, and how they were dealt with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EventReport {
    /// Number of events by kind.
    pub counts: BTreeMap<&'static str, usize>,
    /// Impact problems solved.
    pub impacts: usize,
    /// Shortest time between two events at different times \[s\]; zero before the second.
    pub shortest_interval: f64,
    /// Times that the hybrid strategy went over to time-stepping.
    pub switches: usize,
    /// Steps of time-stepping of the hybrid strategy.
    pub scheme_steps: usize,
    /// Their largest step \[s\].
    pub largest_scheme_step: f64,
}

impl EventReport {
    /// Counts an event.
    pub(crate) fn add(&mut self, event: &Event) {
        *self.counts.entry(event.kind.name()).or_default() += 1;
        self.switches += usize::from(event.kind == EventKind::ToTimeStepping);
    }
}
