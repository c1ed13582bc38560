//! Checks of settings that several schemes have.

use crate::error::ModelError;

/// Refuses a setting out of its range.
pub(super) fn require(ok: bool, what: &str, value: f64, expected: &'static str) -> Result<(), ModelError> {
    if ok { Ok(()) } else { Err(ModelError::OutOfRange { what: what.to_owned(), value, expected }) }
}

/// Checks the gap below which a contact counts as closed.
pub(super) fn check_activation_threshold(threshold: f64) -> Result<(), ModelError> {
    require(threshold >= 0.0 && threshold.is_finite(), "activation_threshold", threshold, "a length ≥ 0 [m] is needed")
}

/// Checks where Newton's iteration stops.
pub(super) fn check_newton(tolerance: f64, max_iterations: usize) -> Result<(), ModelError> {
    require(tolerance > 0.0 && tolerance < 1.0, "newton_tolerance", tolerance, "a number in (0, 1) is needed")?;
    require(max_iterations > 0, "newton_max_iterations", max_iterations as f64, "at least 1 is needed")
}

/// Checks how far positions may be off.
pub(super) fn check_position_tolerance(tolerance: f64) -> Result<(), ModelError> {
    require(tolerance > 0.0 && tolerance.is_finite(), "position_tolerance", tolerance, "a positive length [m] is needed")
}

/// Checks how far joints may be off.
pub(super) fn check_joint_tolerance(tolerance: f64) -> Result<(), ModelError> {
    require(tolerance > 0.0 && tolerance.is_finite(), "joint_tolerance", tolerance, "a positive length [m] is needed")
}
