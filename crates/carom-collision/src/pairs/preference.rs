//! Which of several nearly equal separating axes to take.
//!
//! Axes of the same direction, within 10⁻⁶ rad, belong to the same patch of contact: there the face is preferred to the
//! edges, and A's face to B's, unless the other is better by a clear margin; otherwise stacked boxes would change their
//! reference face with every rounding. Axes of different directions compete by their separations alone, so that normal
//! and depth are those of the exact separating-axis search.

use nalgebra::Vector3;

/// Advantage that an edge axis needs over a face axis of nearly its direction, and B's face over A's, in the smaller size.
pub(super) const BIAS_OF_SIZE: f64 = 1e-3;
/// The part of that advantage that grows with the separation.
pub(super) const BIAS_OF_SEPARATION: f64 = 1e-2;
/// Cosine of the angle within which directions count as the same (10⁻⁶ rad).
pub(super) const ALIGNED: f64 = 1.0 - 5e-13;
/// Advantage that an axis of another direction needs, in the smaller size: above roundings.
const TIE: f64 = 1e-13;

/// Whether an axis that comes second in the order of preference wins by its separation.
pub(super) fn wins(second: (&Vector3<f64>, f64), first: (&Vector3<f64>, f64), size: f64) -> bool {
    second.1 > first.1 + bias(second.0.dot(first.0) > ALIGNED, first.1, size)
}

/// Advantage needed over an axis of this separation.
pub(super) fn bias(aligned: bool, separation: f64, size: f64) -> f64 {
    if aligned { BIAS_OF_SIZE * size + BIAS_OF_SEPARATION * separation.abs() } else { TIE * size }
}
