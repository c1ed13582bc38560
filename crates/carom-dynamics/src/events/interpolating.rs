//! The methods IM1, IM2, IM3 of Janin & Lamarque for the time of an event, for comparison (Haddouni2015 §2.1.1.2).
//!
//! They look at the ends of a step only, and so miss what happens twice in a step.

use super::location::{LocationSettings, Probe};
use super::params::Location;
use crate::error::RunError;
use crate::systems::Sample;

/// When one function crosses zero, by the method of the settings.
pub(super) fn crossing_time(
    probe: &mut Probe<'_>,
    i: usize,
    span: (f64, f64),
    ends: (Sample, Sample),
    settings: &LocationSettings,
) -> Result<Option<f64>, RunError> {
    let (first, last, threshold) = (ends.0, ends.1, probe.threshold(i));
    let armed = first.value > threshold;
    let least = if armed { 0.0 } else { threshold.max(-first.value) };
    if first.value < -threshold && last.value <= first.value {
        return Ok(Some(span.0));
    }
    if last.value >= -least {
        return Ok(None);
    }
    let h = span.1 - span.0;
    let f = first.value.max(0.0);
    let time = match settings.method {
        // a line from zero has no other root: a function that starts there and rises needs its slope
        Location::Im1 if f > 0.0 => span.0 + h * f / (f - last.value),
        Location::Im1 | Location::Im2 => span.0 + parabola(f, first.rate, last.value, h),
        _ => bisect(probe, i, span, settings.precision)?,
    };
    Ok(Some(time.clamp(span.0, span.1)))
}

/// The first positive root s of f + r s + c s² with the value `last` < 0 at h; f ≥ 0. A straight line where no slope is given.
///
/// ```text
/// c = (last − f − r h)/h²,    s = 2 f / (√(r² − 4 c f) − r) = −(r + √(r² − 4 c f))/(2 c)
/// ```
fn parabola(f: f64, rate: Option<f64>, last: f64, h: f64) -> f64 {
    let rate = rate.unwrap_or((last - f) / h);
    let c = (last - f - rate * h) / (h * h);
    // not negative, since the parabola changes its sign
    let root = (rate * rate - 4.0 * c * f).max(0.0).sqrt();
    if rate > 0.0 {
        -(rate + root) / (2.0 * c)
    } else if f > 0.0 {
        2.0 * f / (root - rate)
    } else {
        0.0
    }
}

/// Bisection until the bracket is no wider than `precision`, the start counting as positive.
fn bisect(probe: &mut Probe<'_>, i: usize, span: (f64, f64), precision: f64) -> Result<f64, RunError> {
    let (mut before, mut behind) = span;
    while behind - before > precision {
        let middle = before + 0.5 * (behind - before);
        if middle <= before || middle >= behind {
            break;
        }
        if probe.value(i, middle)? < 0.0 {
            behind = middle;
        } else {
            before = middle;
        }
    }
    Ok(behind)
}
