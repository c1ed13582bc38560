//! What ends a run before its time.

use super::{EdgeError, IntegrationError, RecordError, StepError};
use crate::report::StepReport;

/// A run that ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A step did not converge and the policy is to stop.
    #[error(
        "at t = {t:.9} s, step {step}: {what} stopped at residual {residual:.3e} after {iterations} iterations, above the tolerance{place}. \
         Try a larger simulation.solver.max_iterations, a smaller simulation.step, or simulation.on_failure = \"warn\" or \"halve-step\""
    )]
    NotConverged {
        /// Time at the start of the step \[s\].
        t: f64,
        /// Number of the step.
        step: usize,
        /// "the impact problem", "the one-step problem", "Newton's iteration" or "the projection of the positions".
        what: &'static str,
        /// Residual reached.
        residual: f64,
        /// Iterations made.
        iterations: usize,
        /// Where it is worst, in words, with what that may mean; empty where it is not known.
        place: String,
    },
    /// The integration of smooth motion failed.
    #[error(transparent)]
    Integration(#[from] IntegrationError),
    /// Modes of contacts were not found.
    #[error(
        "at t = {t:.9} s, no modes were found with which the contacts {contacts} go on: the problem at the event stopped at residual {residual:.3e}. \
         Use strategy = \"time-stepping\", which needs no modes"
    )]
    NoModes {
        /// Time \[s\].
        t: f64,
        /// The contacts.
        contacts: String,
        /// What is left of the problem.
        residual: f64,
    },
    /// Impacts accumulate, and the user has asked to be told.
    #[error(
        "at t = {t:.9} s, the impacts of \"{contact}\" accumulate at t = {end:.9} s. Use events.accumulation = \"geometric\" to close the contact there, \
         or strategy = \"hybrid\""
    )]
    Accumulates {
        /// Time of the last impact \[s\].
        t: f64,
        /// The contact.
        contact: String,
        /// Time of accumulation \[s\].
        end: f64,
    },
    /// Events hold up the run.
    #[error(
        "at t = {t:.9} s, the run is held up: {events} events within {within:.1e} s, the last at {contacts}. Use strategy = \"hybrid\" or \
         \"time-stepping\", larger thresholds events.gap, events.velocity or events.slip, or a larger events.most_events"
    )]
    HeldUp {
        /// Time \[s\].
        t: f64,
        /// Number of events.
        events: usize,
        /// Time in which they fell \[s\].
        within: f64,
        /// What they were.
        contacts: String,
    },
    /// A motion could not go over the edge of two pieces.
    #[error(transparent)]
    Edge(#[from] EdgeError),
    /// The recorder failed.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl RunError {
    /// What of a step from t, the n-th, did not converge.
    pub(crate) fn not_converged(t: f64, step: usize, report: &StepReport) -> Self {
        let (what, residual, iterations) = match report.solve {
            _ if report.impacts.failed => ("the impact problem", report.impacts.residual, report.impacts.iterations),
            Some(solve) if !solve.status.is_accepted() => ("the one-step problem", solve.residual_normalised, solve.iterations),
            _ if report.newton_converged && report.projection.is_some() => {
                let (violation, iterations) = report.projection.map_or((0.0, 0), |p| (p.violation, p.iterations));
                ("the projection of the positions", violation, iterations)
            }
            _ => ("Newton's iteration", report.newton_residual, report.newton_iterations),
        };
        RunError::NotConverged { t, step, what, residual, iterations, place: String::new() }
    }
}
