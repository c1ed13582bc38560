//! What can stop an integration.

use super::{ModelError, NonFinite};

/// Why a step could not be taken, or an integration could not go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IntegrationError {
    /// A quantity is not finite.
    #[error("at t = {t:.9} s, {source}")]
    NonFinite {
        /// Time \[s\].
        t: f64,
        /// What is not finite.
        source: NonFinite,
    },
    /// The mass matrix has no inverse.
    #[error("at t = {t:.9} s, the mass matrix of {system} is singular")]
    SingularMass {
        /// Time \[s\].
        t: f64,
        /// Name of the first coordinate of the block.
        system: String,
    },
    /// The selected constraint rows have become dependent: a singular position, or rows to be chosen anew.
    #[error(
        "at t = {t:.9} s, the constraint \"{constraint}\" depends on the others (relative pivot {pivot:.1e}): the mechanism is in a singular position"
    )]
    SingularConstraints {
        /// Time \[s\].
        t: f64,
        /// Name of the constraint.
        constraint: String,
        /// Its pivot relative to the diagonal.
        pivot: f64,
    },
    /// The iteration of an implicit method or of a projection did not converge.
    #[error("at t = {t:.9} s, {what} stopped at residual {residual:.3e} after {iterations} iterations")]
    NotConverged {
        /// Time \[s\].
        t: f64,
        /// "Newton's iteration of …" or "the projection on …".
        what: &'static str,
        /// Residual reached.
        residual: f64,
        /// Iterations made.
        iterations: usize,
    },
    /// The step control asks for a step below the smallest allowed.
    #[error(
        "at t = {t:.9} s, the step control asks for {step:.3e} s, below the smallest step {min_step:.3e} s ({reason}). \
         Try a larger simulation.integrator.tolerance, a smaller min_step, a larger max_drift if one is set, or an implicit integrator for stiff problems"
    )]
    StepTooSmall {
        /// Time \[s\].
        t: f64,
        /// Step asked for \[s\].
        step: f64,
        /// Smallest step allowed \[s\].
        min_step: f64,
        /// What the last refusal was for.
        reason: String,
    },
    /// A constant step cannot be taken.
    #[error(
        "at t = {t:.9} s, the step of {step:.3e} s is refused ({reason}). \
         Try a smaller simulation.integrator.step, or control = \"adaptive\""
    )]
    StepRefused {
        /// Time \[s\].
        t: f64,
        /// The step \[s\].
        step: f64,
        /// What it is refused for.
        reason: String,
    },
    /// The initial state violates the constraints.
    #[error(
        "the initial {what} violates {}, and {}",
        .violations.iter().map(|v| format!("{} by {:.3e}", v.constraint, v.residual)).collect::<Vec<_>>().join(", "),
        advice(what, *bound, *refused)
    )]
    InconsistentStart {
        /// "position" or "velocity".
        what: &'static str,
        /// The constraints, with their residuals.
        violations: Vec<Violation>,
        /// Largest residual that would have been taken.
        bound: f64,
        /// Projection is not wanted.
        refused: bool,
    },
    /// Constraints that cannot hold together.
    #[error(
        "the constraints contradict each other: where the independent ones hold, the {what} violates {}. Correct or remove one of them",
        .violations.iter().map(|v| format!("{} by {:.3e}", v.constraint, v.residual)).collect::<Vec<_>>().join(", ")
    )]
    ContradictoryConstraints {
        /// "position" or "velocity".
        what: &'static str,
        /// The constraints, with their residuals.
        violations: Vec<Violation>,
    },
    /// The method is not made for this model or these settings.
    #[error("{integrator}: {reason}")]
    Unsupported {
        /// Name of the integrator.
        integrator: &'static str,
        /// Why, and what to use instead.
        reason: String,
    },
    /// The model or its initial state is not fit for integration.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// A constraint that an initial state violates.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Name of the constraint, with the number of the row where it has several.
    pub constraint: String,
    /// g or G v + b (unit of the constraint; per second for velocities).
    pub residual: f64,
}

/// How to mend an inconsistent initial state.
fn advice(what: &str, bound: f64, refused: bool) -> String {
    let setting = if what == "position" { "bound" } else { "velocity_bound" };
    if refused {
        return format!(
            "{bound:.0e} is the most that is taken as it is: correct the initial {what}, or let it be projected: \
             simulation.integrator.assembly.mode = \"project\""
        );
    }
    format!(
        "the largest residual that is assembled is {bound:.1e}: correct the initial {what}, or raise simulation.integrator.assembly.{setting}"
    )
}

impl IntegrationError {
    /// A smaller step may succeed: the step is refused, not the run.
    #[must_use]
    pub fn is_recoverable(&self) -> bool {
        matches!(
            self,
            IntegrationError::NotConverged { .. } | IntegrationError::NonFinite { .. } | IntegrationError::SingularConstraints { .. }
        )
    }
}
