//! How a model is run and what is recorded: `[simulation]` and `[record]`.

use super::components::choose;
use super::numbers::{Must, Reader};
use super::schema::RecordSchema;
use crate::recording::Precision;
use carom_dynamics::error::ModelError;
use carom_dynamics::events::EventParams;
use carom_dynamics::integrators::IntegratorParams;
use carom_dynamics::schemes::{SchemeParams, check_settings};
use carom_dynamics::strategies::adaptive::Control;
use carom_dynamics::strategies::{
    Adaptive, AdaptiveParams, EventDriven, Hybrid, HybridParams, OnFailure, Smooth, Strategy, StrategyKind, TimeStepping, refuse_control,
    smooth::refuse_contacts,
};
use carom_dynamics::{Model, State};
use carom_solvers::FrictionSolverParams;

/// `[simulation]`, read and checked: the strategy, and the settings of all methods side by side, of which it uses its own.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// End time \[s\].
    pub end: f64,
    /// The strategy.
    pub strategy: StrategyKind,
    /// Step size of time-stepping \[s\]; the first step of adaptive time-stepping, which chooses one where there is none. Integrators have their own.
    pub step: Option<f64>,
    /// The step control of adaptive time-stepping.
    pub adaptive: AdaptiveParams,
    /// Thresholds and rules of located events, for the strategies `event-driven` and `hybrid`.
    pub events: EventParams,
    /// When the strategy `hybrid` goes over to time-stepping and back.
    pub hybrid: HybridParams,
    /// The scheme's settings, for strategies that take steps of one.
    pub scheme: SchemeParams,
    /// The solver's settings, for those strategies; those of the scheme where the file gives none.
    pub solver: FrictionSolverParams,
    /// What to do when a step does not converge.
    pub on_failure: OnFailure,
    /// The integrator's settings, for smooth motion, between events, and for adaptive time-stepping of high order.
    pub integrator: IntegratorParams,
}

impl RunSettings {
    /// The strategy these settings describe.
    #[must_use]
    pub fn strategy(&self, record: RecordSettings) -> Box<dyn Strategy> {
        let (integrator, end, on_failure) = (self.integrator.clone(), self.end, self.on_failure);
        let RecordSettings { every: record_every, interval: record_interval, .. } = record;
        match self.strategy {
            StrategyKind::Smooth => Box::new(Smooth { integrator, end, record_every, record_interval }),
            StrategyKind::EventDriven => Box::new(self.event_driven(record)),
            StrategyKind::Hybrid => Box::new(self.hybrid(record)),
            StrategyKind::Adaptive => Box::new(Adaptive {
                scheme: self.scheme.build(),
                params: self.adaptive,
                integrator,
                first_step: self.step,
                end,
                on_failure,
                record_every,
                record_interval,
            }),
            StrategyKind::TimeStepping => {
                // a run that is over as it begins has no step
                let step = self.step.unwrap_or(f64::MIN_POSITIVE);
                Box::new(TimeStepping { scheme: self.scheme.build(), step, end, on_failure, record_every, record_interval })
            }
        }
    }

    fn event_driven(&self, record: RecordSettings) -> EventDriven {
        let RecordSettings { every: record_every, interval: record_interval, .. } = record;
        EventDriven { integrator: self.integrator.clone(), events: self.events, end: self.end, record_every, record_interval }
    }

    fn hybrid(&self, record: RecordSettings) -> Hybrid {
        let (scheme, params, on_failure) = (self.scheme.build(), self.hybrid, self.on_failure);
        Hybrid { event_driven: self.event_driven(record), scheme, params, on_failure }
    }

    /// An integrator of smooth motion takes part in the run.
    #[must_use]
    pub fn integrates(&self) -> bool {
        self.strategy.integrates() || (self.strategy == StrategyKind::Adaptive && self.adaptive.control == Control::HighOrder)
    }

    /// Refuses a model that the strategy and its scheme cannot follow, at its initial state.
    ///
    /// # Errors
    /// [`ModelError`] with what cannot be followed, what asks for it, and the methods that can.
    pub fn check(&self, model: &Model, state: &State) -> Result<(), ModelError> {
        self.check_scheme(model, state)?;
        self.check_strategy(model, state.t)
    }

    /// Refuses a model that the scheme cannot follow, where the strategy uses one.
    pub(super) fn check_scheme(&self, model: &Model, state: &State) -> Result<(), ModelError> {
        if !self.strategy.has_scheme() {
            return Ok(());
        }
        check_settings(&self.scheme, model, state)?;
        if self.strategy == StrategyKind::Adaptive { Adaptive::check_scheme(&*self.scheme.build()) } else { Ok(()) }
    }

    /// Refuses a model that the strategy cannot follow.
    pub(super) fn check_strategy(&self, model: &Model, start: f64) -> Result<(), ModelError> {
        match self.strategy {
            StrategyKind::TimeStepping => Ok(()),
            StrategyKind::Adaptive => {
                refuse_control(self.strategy.name(), model)?;
                if self.adaptive.control == Control::HighOrder { Adaptive::refuse_high_order(model) } else { Ok(()) }
            }
            StrategyKind::EventDriven => self.event_driven(RecordSettings::default()).validate(model, start),
            StrategyKind::Hybrid => self.hybrid(RecordSettings::default()).validate(model, start),
            StrategyKind::Smooth => refuse_contacts(model),
        }
    }

    /// The settings in use by name, for records and reports.
    #[must_use]
    pub fn list(&self) -> Vec<(String, String)> {
        let kind = self.strategy;
        let mut list =
            vec![("simulation.end".to_owned(), self.end.to_string()), ("simulation.strategy".to_owned(), kind.name().to_owned())];
        if let (Some(step), StrategyKind::TimeStepping | StrategyKind::Adaptive) = (self.step, kind) {
            list.push(("simulation.step".to_owned(), step.to_string()));
        }
        if kind == StrategyKind::Adaptive {
            push_table(&mut list, "simulation.adaptive", toml::Table::try_from(self.adaptive).unwrap_or_default());
        }
        if self.integrates() {
            push_table(&mut list, "simulation.integrator", toml::Table::try_from(&self.integrator).unwrap_or_default());
        }
        if kind.locates_events() {
            push_table(&mut list, "simulation.events", toml::Table::try_from(self.events).unwrap_or_default());
        }
        if kind == StrategyKind::Hybrid {
            push_table(&mut list, "simulation.hybrid", toml::Table::try_from(self.hybrid).unwrap_or_default());
        }
        if !kind.has_scheme() {
            return list;
        }
        push_table(&mut list, "simulation.scheme", toml::Table::try_from(self.scheme).unwrap_or_default());
        push_table(&mut list, "simulation.solver", toml::Table::try_from(&self.solver).unwrap_or_default());
        if let Ok(toml::Value::String(policy)) = toml::Value::try_from(self.on_failure) {
            list.push(("simulation.on_failure".to_owned(), policy));
        }
        list
    }
}

/// Adds the entries of a table with their full names.
fn push_table(list: &mut Vec<(String, String)>, path: &str, table: toml::Table) {
    for (key, value) in table {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        list.push((format!("{path}.{key}"), value));
    }
}

/// `[record]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordSettings {
    /// A frame every so many steps; 0 for none of these. The first and the last state are always recorded. Default 1, with `interval` 0.
    pub every: usize,
    /// Frames at this interval \[s\]: by interpolation within the steps of smooth motion, by steps that end there in adaptive time-stepping, at the end of
    /// the step that reaches the time in time-stepping.
    pub interval: Option<f64>,
    /// How exactly the tables of the file are kept. Default double.
    pub precision: Precision,
    /// Record the contacts of frames. Default yes.
    pub contacts: bool,
}

impl Default for RecordSettings {
    /// Every step, with contacts, in double precision.
    fn default() -> Self {
        RecordSettings { every: 1, interval: None, precision: Precision::Double, contacts: true }
    }
}

/// Reads `[record]`.
pub(super) fn record(reader: &mut Reader<'_>, section: &RecordSchema) -> RecordSettings {
    let interval = section.interval.as_ref().and_then(|value| reader.number(value, "the interval of frames", Must::BePositive));
    let precision = match choose(reader, section.precision.as_ref(), "precision", &["double", "single"]).as_deref() {
        Some("single") => Precision::Single,
        _ => Precision::Double,
    };
    let every = match &section.every {
        None => usize::from(interval.is_none()),
        Some(every) => match usize::try_from(*every.get_ref()) {
            Ok(n) if n > 0 => n,
            _ => {
                reader.wrong(every.span(), format!("every = {}", every.get_ref()), "a whole number of steps, 1 or more, is needed");
                1
            }
        },
    };
    RecordSettings { every, interval, precision, contacts: section.contacts.unwrap_or(true) }
}
