//! The strategies by name, and what each of them uses.

use serde::{Deserialize, Serialize};

/// A strategy, as model files name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyKind {
    /// [`TimeStepping`](super::TimeStepping).
    #[default]
    TimeStepping,
    /// [`Adaptive`](super::Adaptive).
    Adaptive,
    /// [`EventDriven`](super::EventDriven).
    EventDriven,
    /// [`Hybrid`](super::Hybrid).
    Hybrid,
    /// [`Smooth`](super::Smooth).
    Smooth,
}

impl StrategyKind {
    /// All of them, the default first.
    pub const ALL: [StrategyKind; 5] =
        [StrategyKind::TimeStepping, StrategyKind::Adaptive, StrategyKind::EventDriven, StrategyKind::Hybrid, StrategyKind::Smooth];

    /// Name in model files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            StrategyKind::TimeStepping => "time-stepping",
            StrategyKind::Adaptive => "adaptive",
            StrategyKind::EventDriven => "event-driven",
            StrategyKind::Hybrid => "hybrid",
            StrategyKind::Smooth => "smooth",
        }
    }

    /// One line on what it is for.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            StrategyKind::TimeStepping => {
                "fixed steps over the measure equation, no event is located: robust for many contacts and accumulations"
            }
            StrategyKind::Adaptive => {
                "time-stepping with steps chosen by their error: halving, extrapolation, or a high-order integrator between impacts"
            }
            StrategyKind::EventDriven => "every impact, stick and slip located, high-order motion in between: few contacts, accuracy",
            StrategyKind::Hybrid => {
                "event-driven, with time-stepping where events accumulate or contacts begin to stick: accuracy without stalling"
            }
            StrategyKind::Smooth => {
                "no contacts: high-order integrators with error control and dense output for mechanisms and free motion"
            }
        }
    }

    /// The strategy of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        StrategyKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// It takes steps of a time-stepping scheme, always or now and then.
    #[must_use]
    pub fn has_scheme(self) -> bool {
        matches!(self, StrategyKind::TimeStepping | StrategyKind::Adaptive | StrategyKind::Hybrid)
    }

    /// It locates events.
    #[must_use]
    pub fn locates_events(self) -> bool {
        matches!(self, StrategyKind::EventDriven | StrategyKind::Hybrid)
    }

    /// It moves by an integrator of smooth equations between events, or all the time. `adaptive` does so by one of its step controls only.
    #[must_use]
    pub fn integrates(self) -> bool {
        matches!(self, StrategyKind::EventDriven | StrategyKind::Hybrid | StrategyKind::Smooth)
    }
}

impl std::fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
