//! Settings of events: `[simulation.events]`.

use crate::error::ModelError;
use serde::{Deserialize, Serialize};

/// How the time of an event within a step is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Location {
    /// Bracketing with superlinear convergence on the dense output, then steps to the root until it no longer moves: the default.
    #[default]
    Bracketing,
    /// Straight line between the ends of the step (IM1).
    Im1,
    /// Parabola through the values at the ends and the slope at the start of the step (IM2).
    Im2,
    /// Bisection to h^p (IM3).
    Im3,
}

impl Location {
    /// All of them by name, with one line on what each is for.
    pub const LIST: &'static [(&'static str, &'static str)] = &[
        ("bracketing", "superlinear bracketing on the dense output, polished by steps to the root: round-off; the default"),
        ("im1", "straight line between the ends of the step: order 2, for comparison"),
        ("im2", "parabola through both ends and the slope at the start: order 3, for comparison"),
        ("im3", "bisection to h^p: the order of the integrator, for comparison"),
    ];
}

/// What ends an accumulation of impacts (Zeno behaviour) of the strategy `event-driven`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accumulation {
    /// Geometric rule: once three intervals between impacts of a contact have shrunk by nearly the same factor ρ < 1 and the rest ρΔ/(1 − ρ) of the
    /// series is below `accumulation_interval`, the impact closes the contact; the time of accumulation is recorded.
    #[default]
    Geometric,
    /// The run ends with an error that tells the contact and the time of accumulation.
    Stop,
}

/// Thresholds and rules of the strategies `event-driven` and `hybrid`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EventParams {
    /// How the time of an event is found. Default `bracketing`.
    pub location: Location,
    /// τ₀: a contact with a gap up to this is closed \[m\], positive. Default 1e-9.
    pub gap: f64,
    /// τ₁: a closed contact with |ġ| up to this stays closed, one that approaches faster collides \[m/s\], positive. Default 1e-8.
    pub velocity: f64,
    /// τ_T: a sliding speed up to this is none \[m/s\], positive. Default 1e-8.
    pub slip: f64,
    /// Events closer than this are one \[s\], positive. Default 1e-12.
    pub time: f64,
    /// What ends an accumulation of impacts. Default `geometric`.
    pub accumulation: Accumulation,
    /// The rest of an accumulation that the geometric rule skips \[s\], positive. Default 1e-7. A hop that is shorter is none: a contact that
    /// separates so slowly that its forces close it again within this time stays closed.
    pub accumulation_interval: f64,
    /// A run stops with an explanation when so many events in a row advance the time by less than `time` each, or so many fall into a
    /// ten-thousandth of the time span. Default 1000; at least 10.
    pub most_events: usize,
}

impl Default for EventParams {
    fn default() -> Self {
        EventParams {
            location: Location::default(),
            gap: 1e-9,
            velocity: 1e-8,
            slip: 1e-8,
            time: 1e-12,
            accumulation: Accumulation::default(),
            accumulation_interval: 1e-7,
            most_events: 1000,
        }
    }
}

impl EventParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the setting.
    pub fn validate(&self) -> Result<(), ModelError> {
        let lengths = [
            ("gap", self.gap),
            ("velocity", self.velocity),
            ("slip", self.slip),
            ("time", self.time),
            ("accumulation_interval", self.accumulation_interval),
        ];
        for (what, value) in lengths {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ModelError::OutOfRange {
                    what: format!("events.{what}"),
                    value,
                    expected: "a positive, finite number is needed",
                });
            }
        }
        if self.most_events < 10 {
            let expected = "a whole number of at least 10 is needed";
            return Err(ModelError::OutOfRange { what: "events.most_events".into(), value: self.most_events as f64, expected });
        }
        Ok(())
    }
}
