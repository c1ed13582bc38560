//! Limits of joints: stops at which a coordinate of a joint ends, as contacts without friction.

use super::joint_coordinate::{JointAxis, JointCoordinate};
use super::joint_source::JointSource;
use crate::error::ModelError;
use crate::systems::SystemSet;
use std::f64::consts::TAU;
use std::sync::Arc;

/// The gaps x − lower and upper − x of a coordinate of a joint, with the names "… lower limit" and "… upper limit". A limit of a displacement
/// that is infinite gives no gap.
///
/// A turn cannot be counted by a function of the coordinates, so the limits of an angle must be less than a turn apart: then an angle
/// is given within half a turn of their middle, and where it jumps is as far from either limit as can be.
///
/// # Errors
/// [`ModelError::Joint`]: as [`JointCoordinate::new`]; limits that are not a range, limits of an angle that are a turn apart.
pub fn joint_limits(
    name: &str,
    source: &JointSource,
    axis: JointAxis,
    [lower, upper]: [f64; 2],
    systems: &Arc<SystemSet>,
    q: &[f64],
) -> Result<Vec<(String, JointCoordinate)>, ModelError> {
    let wrong = |reason: String| Err(ModelError::Joint { joint: name.to_owned(), reason });
    if lower.is_nan() || upper.is_nan() || lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
        return wrong(format!("its limits [{lower}, {upper}] are no range; give the lower, then the upper one"));
    }
    let mut coordinate = JointCoordinate::new(name, source, axis, systems, q)?;
    if matches!(axis, JointAxis::Turn | JointAxis::SecondTurn) {
        if upper - lower >= TAU {
            return wrong(format!(
                "its limits [{lower}, {upper}] rad are a turn or more apart, and turns are not counted; give limits less than 2 pi apart, \
                 or limit the displacement of a screw or rack that it drives"
            ));
        }
        coordinate = coordinate.with_centre(0.5 * (lower + upper));
    }
    let mut limits = Vec::with_capacity(2);
    if lower.is_finite() {
        limits.push((format!("{name} lower limit"), coordinate.clone().with_offset(1.0, lower)));
    }
    if upper.is_finite() {
        limits.push((format!("{name} upper limit"), coordinate.with_offset(-1.0, upper)));
    }
    Ok(limits)
}
