//! How a model is run and what is recorded: `[simulation]` and `[record]`.

use super::components::choose;
use super::numbers::{Must, Reader};
use super::schema::RecordSchema;
use crate::recording::Precision;
use carom_dynamics::Model;
use carom_dynamics::error::ModelError;
use carom_dynamics::events::EventParams;
use carom_dynamics::integrators::IntegratorParams;
use carom_dynamics::schemes::SchemeParams;
use carom_dynamics::strategies::adaptive::Control;
use carom_dynamics::strategies::{Adaptive, AdaptiveParams, EventDriven, Hybrid, HybridParams, OnFailure, Smooth, Strategy, TimeStepping};
use carom_solvers::FrictionSolverParams;

/// Names of the strategies.
pub(super) const TIME_STEPPING: &str = "time-stepping";
pub(super) const ADAPTIVE: &str = "adaptive";
pub(super) const EVENT_DRIVEN: &str = "event-driven";
pub(super) const HYBRID: &str = "hybrid";
pub(super) const SMOOTH: &str = "smooth";

/// `[simulation]`, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// End time \[s\].
    pub end: f64,
    /// Strategy, by name.
    pub strategy: String,
    /// Step size of time-stepping \[s\]; the first step of adaptive time-stepping, 0 for its own choice; not used by the other strategies, whose
    /// integrator has its own.
    pub step: f64,
    /// The step control of adaptive time-stepping.
    pub adaptive: AdaptiveParams,
    /// Thresholds and rules of located events, for the strategies `event-driven` and `hybrid`.
    pub events: EventParams,
    /// When the strategy `hybrid` goes over to time-stepping and back.
    pub hybrid: HybridParams,
    /// The scheme's settings, for time-stepping.
    pub scheme: SchemeParams,
    /// The solver's settings, for time-stepping; those of the scheme where the file gives none.
    pub solver: FrictionSolverParams,
    /// What to do when a step does not converge.
    pub on_failure: OnFailure,
    /// The integrator's settings, for smooth motion, between events, and for adaptive time-stepping of high order.
    pub integrator: IntegratorParams,
}

impl RunSettings {
    /// The run is by the strategy `smooth`.
    #[must_use]
    pub fn is_smooth(&self) -> bool {
        self.strategy == SMOOTH
    }

    /// The run is by the strategy `adaptive`.
    #[must_use]
    pub fn is_adaptive(&self) -> bool {
        self.strategy == ADAPTIVE
    }

    /// The run is by the strategy `hybrid`.
    #[must_use]
    pub fn is_hybrid(&self) -> bool {
        self.strategy == HYBRID
    }

    /// The run is by a strategy that locates events: `event-driven` or `hybrid`.
    #[must_use]
    pub fn locates_events(&self) -> bool {
        self.strategy == EVENT_DRIVEN || self.is_hybrid()
    }

    /// The run takes steps of a time-stepping scheme, always or now and then.
    #[must_use]
    pub fn has_scheme(&self) -> bool {
        !self.is_smooth() && self.strategy != EVENT_DRIVEN
    }

    /// The strategy these settings describe.
    #[must_use]
    pub fn strategy(&self, record: RecordSettings) -> Box<dyn Strategy> {
        let (integrator, end, on_failure) = (self.integrator.clone(), self.end, self.on_failure);
        let RecordSettings { every: record_every, interval: record_interval, .. } = record;
        let event_driven = || EventDriven { integrator: self.integrator.clone(), events: self.events, end, record_every, record_interval };
        match self.strategy.as_str() {
            SMOOTH => Box::new(Smooth { integrator, end, record_every, record_interval }),
            EVENT_DRIVEN => Box::new(event_driven()),
            HYBRID => Box::new(Hybrid { event_driven: event_driven(), scheme: self.scheme.build(), params: self.hybrid, on_failure }),
            ADAPTIVE => Box::new(Adaptive {
                scheme: self.scheme.build(),
                params: self.adaptive,
                integrator,
                first_step: (self.step > 0.0).then_some(self.step),
                end,
                on_failure,
                record_every,
                record_interval,
            }),
            _ => Box::new(TimeStepping { scheme: self.scheme.build(), step: self.step, end, on_failure, record_every }),
        }
    }

    /// Checks strategies that locate events against a model and its initial time: the laws of its contacts, a scheme that needs constant steps.
    ///
    /// # Errors
    /// As [`EventDriven::validate`] and [`Hybrid::validate`].
    pub fn check_events(&self, model: &Model, start: f64) -> Result<(), ModelError> {
        let (integrator, events, end) = (self.integrator.clone(), self.events, self.end);
        let event_driven = EventDriven { integrator, events, end, record_every: 0, record_interval: None };
        match self.strategy.as_str() {
            EVENT_DRIVEN => event_driven.validate(model, start),
            HYBRID => {
                let (scheme, params, on_failure) = (self.scheme.build(), self.hybrid, self.on_failure);
                Hybrid { event_driven, scheme, params, on_failure }.validate(model, start)
            }
            _ => Ok(()),
        }
    }

    /// The settings by name, for records and reports.
    #[must_use]
    pub fn list(&self) -> Vec<(String, String)> {
        let mut list = vec![("simulation.end".to_owned(), self.end.to_string()), ("simulation.strategy".to_owned(), self.strategy.clone())];
        if self.step > 0.0 {
            list.push(("simulation.step".to_owned(), self.step.to_string()));
        }
        if self.is_adaptive() {
            push_table(&mut list, "simulation.adaptive", toml::Table::try_from(self.adaptive).unwrap_or_default());
        }
        let has_integrator =
            self.is_smooth() || self.locates_events() || (self.is_adaptive() && self.adaptive.control == Control::HighOrder);
        if has_integrator {
            push_table(&mut list, "simulation.integrator", toml::Table::try_from(&self.integrator).unwrap_or_default());
        }
        if self.locates_events() {
            push_table(&mut list, "simulation.events", toml::Table::try_from(self.events).unwrap_or_default());
        }
        if self.is_hybrid() {
            push_table(&mut list, "simulation.hybrid", toml::Table::try_from(self.hybrid).unwrap_or_default());
        }
        if !self.has_scheme() {
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
    /// Frames at this interval \[s\]: by interpolation within the steps of smooth motion, by steps that end there in adaptive time-stepping;
    /// for time-stepping files give a multiple of the step, which becomes `every`.
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

/// Reads `[record]` for a strategy.
pub(super) fn record(reader: &mut Reader<'_>, section: &RecordSchema, run: Option<&RunSettings>) -> RecordSettings {
    let mut interval = section.interval.as_ref().and_then(|value| reader.number(value, "the interval of frames", Must::BePositive));
    let mut in_steps = None;
    if let (Some(value), Some(seconds), Some(run)) = (&section.interval, interval, run.filter(|run| run.strategy == TIME_STEPPING)) {
        // steps are constant: the interval is a number of them
        let steps = seconds / run.step;
        if steps.round() < 1.0 || (steps - steps.round()).abs() > 1e-9 * steps {
            let message = format!("the interval of frames {seconds} is not a multiple of the step {}", run.step);
            reader.wrong(value.span(), message, "choose a multiple, or use `every`: time-stepping has a constant step");
        }
        if let Some(every) = &section.every {
            reader.wrong(every.span(), "both `every` and `interval` are given", "give one of them: time-stepping has a constant step");
        }
        (interval, in_steps) = (None, Some(steps.round().max(1.0) as usize));
    }
    let precision = match choose(reader, section.precision.as_ref(), "precision", &["double", "single"]).as_deref() {
        Some("single") => Precision::Single,
        _ => Precision::Double,
    };
    let every = match &section.every {
        None => in_steps.unwrap_or(usize::from(interval.is_none())),
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
