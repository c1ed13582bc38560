//! What a run tells while it goes: frames, events and, at the end, the certificate.

use crate::diagnostics::Certificate;
use crate::error::RecordError;
use crate::multiplier_mode::MultiplierMode;
use crate::report::{ContactMode, Energy, Event, StepReport};
use carom_solvers::{FrictionContact, Solution, SolveReport};
use nalgebra::Vector3;

/// Receives what a run computes. Implementations write files, keep arrays, or ignore.
///
/// A recorder gets the initial state first and the final state last, whatever its interval.
pub trait Recorder {
    /// A recorded instant.
    ///
    /// # Errors
    /// [`RecordError`] ends the run; what was recorded so far stays.
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError>;

    /// Contacts between shapes are wanted in frames. Where they are not, frames come without them, which saves their room and time. Default: yes.
    fn takes_contacts(&self) -> bool {
        true
    }

    /// Something happened between frames.
    ///
    /// # Errors
    /// As [`Recorder::frame`].
    fn event(&mut self, event: &Event) -> Result<(), RecordError>;

    /// A one-step problem was solved, or was not: told for every step with active interactions, failed and halved ones too, whose impulses are
    /// the solution of one problem. Ignored by default.
    ///
    /// # Errors
    /// As [`Recorder::frame`].
    fn problem(&mut self, _: &StepProblem<'_>) -> Result<(), RecordError> {
        Ok(())
    }

    /// The step with this number had active interactions, but its impulses are sums over several problems or scaled: there is no problem to tell.
    /// Ignored by default.
    ///
    /// # Errors
    /// As [`Recorder::frame`].
    fn no_problem(&mut self, _step: usize) -> Result<(), RecordError> {
        Ok(())
    }

    /// The run is over; `status` says how: "finished", "interrupted", or "failed: …".
    ///
    /// # Errors
    /// As [`Recorder::frame`].
    fn finish(&mut self, certificate: &Certificate, status: &str) -> Result<(), RecordError>;
}

/// The one-step problem of a step (the last one where Newton's method needed several), borrowed from the running simulation.
#[derive(Clone, Copy, Debug)]
pub struct StepProblem<'a> {
    /// Number of the step, from 1. Steps that are repeated in halves have the same number or those that follow.
    pub step: usize,
    /// Time at the end of the step \[s\].
    pub t: f64,
    /// The problem.
    pub problem: &'a FrictionContact,
    /// Its solution, or the best that was found.
    pub solution: &'a Solution,
    /// What the solver says.
    pub report: &'a SolveReport,
}

/// One recorded instant, borrowed from the running simulation.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Number of the step that ended here; 0 for the initial state.
    pub step: usize,
    /// Time \[s\].
    pub t: f64,
    /// Coordinates.
    pub q: &'a [f64],
    /// Velocities as the files give them: angular velocities in the world frame.
    pub v: &'a [f64],
    /// States of the first-order part.
    pub x: &'a [f64],
    /// Outputs y of the rows of the first-order part in the step that ended here; zero for the initial state.
    pub outputs: &'a [f64],
    /// Multipliers λ of these rows.
    pub multipliers: &'a [f64],
    /// Which piece of its law each of them is on; unknown for the initial state.
    pub multiplier_modes: &'a [MultiplierMode],
    /// Recorded quantities of the first-order part, with the multipliers of the step that ended here.
    pub signals: &'a [f64],
    /// Energies and their balance so far.
    pub energy: Energy,
    /// Interactions that were active in the step that ended here: constraints, contacts by formula, contacts of bodies.
    pub contacts: &'a [ContactRecord],
    /// Gaps of all contacts by formula at this instant \[m\], in the model's order: rigid contacts first, penalised ones after them.
    pub gaps: &'a [f64],
    /// Modes of all rigid contacts by formula at this instant, in the model's order; those that carried in the step where a strategy does not
    /// locate events.
    pub modes: &'a [ContactMode],
    /// Multipliers λ of all rows of the constraints at this instant, in the model's order (forces \[N\] where g is in metres), as smooth motion
    /// gives them; zero for rows that depend on the others. Empty where a strategy knows impulses only.
    pub forces: &'a [f64],
    /// Report of the step that ended here; `None` for the initial state.
    pub report: Option<&'a StepReport>,
}

/// An active interaction in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRecord {
    /// Where it comes from.
    pub source: Source,
    /// Number of rows (1 to 6); the rest of `velocity` and `impulse` is zero.
    pub dim: usize,
    /// Gap at the start of the step \[m\] (zero for constraints).
    pub gap: f64,
    /// Local velocity u⁺ at the end of the step, normal first [m/s or the formula's unit per second].
    pub velocity: [f64; 6],
    /// Impulse p of the step, normal first [N·s].
    pub impulse: [f64; 6],
    /// Force λ at the instant, normal first \[N\], where events are located; zero where a strategy knows impulses only.
    pub force: [f64; 6],
    /// Its mode; `Closed` for constraints.
    pub mode: ContactMode,
    /// Contact point in the world frame \[m\]; zero for formula interactions.
    pub point: Vector3<f64>,
    /// Unit normal in the world frame; zero for formula interactions.
    pub normal: Vector3<f64>,
}

/// Where an interaction comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Interaction number in the model (constraint or contact by formula or closure).
    Interaction(u32),
    /// Contact of two colliders (numbers in the detector's list).
    Colliders(u32, u32),
}

/// A recorder that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn takes_contacts(&self) -> bool {
        false
    }
    fn frame(&mut self, _: &Frame<'_>) -> Result<(), RecordError> {
        Ok(())
    }
    fn event(&mut self, _: &Event) -> Result<(), RecordError> {
        Ok(())
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}
