//! Several recorders at once.

use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::error::RecordError;
use carom_dynamics::recording::{Frame, Recorder, StepProblem};
use carom_dynamics::report::Event;

/// Hands everything on to several recorders, in order.
///
/// The first error of a frame or event is returned at once. `finish` reaches every recorder even if one fails, so that each
/// file is closed properly; the first error is returned.
#[derive(Default)]
pub struct MultiRecorder<'a> {
    recorders: Vec<Box<dyn Recorder + 'a>>,
}

impl<'a> MultiRecorder<'a> {
    /// No recorder yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, recorder: impl Recorder + 'a) {
        self.recorders.push(Box::new(recorder));
    }

    /// Number of recorders.
    #[must_use]
    pub fn len(&self) -> usize {
        self.recorders.len()
    }

    /// True when nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.recorders.is_empty()
    }
}

impl Recorder for MultiRecorder<'_> {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        self.recorders.iter_mut().try_for_each(|recorder| recorder.frame(frame))
    }

    fn takes_contacts(&self) -> bool {
        self.recorders.iter().any(|recorder| recorder.takes_contacts())
    }

    fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.recorders.iter_mut().try_for_each(|recorder| recorder.event(event))
    }

    fn problem(&mut self, problem: &StepProblem<'_>) -> Result<(), RecordError> {
        self.recorders.iter_mut().try_for_each(|recorder| recorder.problem(problem))
    }

    fn no_problem(&mut self, step: usize) -> Result<(), RecordError> {
        self.recorders.iter_mut().try_for_each(|recorder| recorder.no_problem(step))
    }

    fn finish(&mut self, certificate: &Certificate, status: &str) -> Result<(), RecordError> {
        let mut outcome = Ok(());
        for recorder in &mut self.recorders {
            outcome = outcome.and(recorder.finish(certificate, status));
        }
        outcome
    }
}
