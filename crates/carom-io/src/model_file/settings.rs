//! How a model is run and what is recorded: `[simulation]` and `[record]`.

use super::error::{Diagnostic, suggestion};
use super::numbers::{Must, Reader};
use super::schema::{RecordSchema, SimulationSchema, suggest_key};
use super::value::Component;
use carom_dynamics::Model;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams};
use carom_dynamics::schemes::{SCHEMES, SchemeParams, check_scheme};
use carom_dynamics::strategies::adaptive::Control;
use carom_dynamics::strategies::smooth::refuse_contacts;
use carom_dynamics::strategies::{Adaptive, AdaptiveParams, OnFailure, STRATEGIES, Smooth, Strategy, TimeStepping};
use carom_solvers::FrictionSolverParams;
use carom_solvers::registry::ProblemKind;
use serde::de::DeserializeOwned;
use toml::Spanned;

/// Name of the strategy for smooth motion.
const SMOOTH: &str = "smooth";

/// Name of the strategy of located events.
const EVENT_DRIVEN: &str = "event-driven";

/// Name of the strategy of located events that goes over to time-stepping.
const HYBRID: &str = "hybrid";

/// Name of the strategy that chooses its steps.
const ADAPTIVE: &str = "adaptive";

/// `[simulation]`, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// End time \[s\].
    pub end: f64,
    /// Strategy, by name.
    pub strategy: String,
    /// Step size of time-stepping \[s\]; the first step of adaptive time-stepping, 0 for its own choice; not used by smooth motion, whose
    /// integrator has its own.
    pub step: f64,
    /// The step control of adaptive time-stepping.
    pub adaptive: AdaptiveParams,
    /// The scheme's settings, for time-stepping.
    pub scheme: SchemeParams,
    /// The solver's settings, for time-stepping; those of the scheme where the file gives none.
    pub solver: FrictionSolverParams,
    /// What to do when a step does not converge.
    pub on_failure: OnFailure,
    /// The integrator's settings, for smooth motion and for adaptive time-stepping of high order.
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

    /// The run is by a strategy that locates events: `event-driven` or `hybrid`.
    #[must_use]
    pub fn locates_events(&self) -> bool {
        self.strategy == EVENT_DRIVEN || self.strategy == HYBRID
    }

    /// The strategy these settings describe.
    #[must_use]
    pub fn strategy(&self, record: RecordSettings) -> Box<dyn Strategy> {
        if self.is_smooth() {
            let (integrator, record_interval) = (self.integrator.clone(), record.interval);
            return Box::new(Smooth { integrator, end: self.end, record_every: record.every, record_interval });
        }
        let scheme = self.scheme.build();
        let on_failure = self.on_failure;
        if self.is_adaptive() {
            return Box::new(Adaptive {
                scheme,
                params: self.adaptive,
                integrator: self.integrator.clone(),
                first_step: (self.step > 0.0).then_some(self.step),
                end: self.end,
                on_failure,
                record_every: record.every,
                record_interval: record.interval,
            });
        }
        Box::new(TimeStepping { scheme, step: self.step, end: self.end, on_failure, record_every: record.every })
    }

    /// The settings by name, for records and reports.
    #[must_use]
    pub fn list(&self) -> Vec<(String, String)> {
        let mut list = vec![("simulation.end".to_owned(), self.end.to_string()), ("simulation.strategy".to_owned(), self.strategy.clone())];
        if self.is_smooth() {
            push_table(&mut list, "simulation.integrator", toml::Table::try_from(&self.integrator).unwrap_or_default());
            return list;
        }
        if self.step > 0.0 {
            list.push(("simulation.step".to_owned(), self.step.to_string()));
        }
        if self.is_adaptive() {
            push_table(&mut list, "simulation.adaptive", toml::Table::try_from(self.adaptive).unwrap_or_default());
        }
        if self.is_adaptive() && self.adaptive.control == Control::HighOrder {
            push_table(&mut list, "simulation.integrator", toml::Table::try_from(&self.integrator).unwrap_or_default());
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
    /// Frames at this interval \[s\]: by interpolation within the steps of smooth motion, by steps that end there in adaptive time-stepping; not
    /// for time-stepping.
    pub interval: Option<f64>,
}

/// Reads `[simulation]`; `start` is the initial time.
pub(super) fn simulation(reader: &mut Reader<'_>, section: &Spanned<SimulationSchema>, model: &Model, start: f64) -> Option<RunSettings> {
    let s = section.get_ref();
    let strategy = choose(reader, s.strategy.as_ref(), "strategy", &STRATEGIES.map(|(name, _)| name));
    let end = reader.number(&s.end, "the end time", Must::BeFinite);
    if let Some(end) = end
        && end < start
    {
        reader.wrong(s.end.span(), format!("the end time {end} lies before the start {start}"), "give a later end");
    }
    let strategy = strategy?;
    let is_smooth = strategy == SMOOTH;
    refuse_foreign(reader, s, &strategy);
    let adaptive = adaptive(reader, s.adaptive.as_ref());
    if let (true, Some(adaptive)) = (strategy == ADAPTIVE, &adaptive) {
        refuse_integrator(reader, s, adaptive);
    }
    // adaptive time-stepping finds a first step by itself
    let finds_step = strategy == ADAPTIVE && s.step.is_none();
    let needs_step = !is_smooth && !finds_step;
    let step = if needs_step { step(reader, section, end, start) } else { Some(0.0) };
    let scheme = scheme(reader, s.scheme.as_ref());
    if let (false, Some(scheme)) = (is_smooth, &scheme)
        && let Err(error) = check_scheme(scheme.entry(), model)
    {
        let span = s.scheme.as_ref().map_or_else(|| section.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, error.to_string()));
    }
    if let (true, Some(scheme)) = (strategy == ADAPTIVE, &scheme)
        && let Err(error) = Adaptive::check_scheme(&*scheme.build())
    {
        let span = s.scheme.as_ref().map_or_else(|| section.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, error.to_string()));
    }
    let solver = match (&s.solver, scheme.and_then(|scheme| scheme.build().solver())) {
        (None, Some(own)) => Some(own),
        _ => solver(reader, s.solver.as_ref()),
    };
    let integrator = integrator(reader, s.integrator.as_ref());
    if is_smooth && let Err(error) = refuse_contacts(model) {
        let span = s.strategy.as_ref().map_or_else(|| section.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, error.to_string()));
    }
    let policies = ["stop", "warn", "halve-step"];
    let on_failure = match choose(reader, s.on_failure.as_ref(), "failure policy", &policies)?.as_str() {
        "warn" => OnFailure::Warn,
        "halve-step" => OnFailure::HalveStep,
        _ => OnFailure::Stop,
    };
    Some(RunSettings {
        end: end?,
        strategy,
        step: step?,
        adaptive: adaptive?,
        scheme: scheme?,
        solver: solver?,
        on_failure,
        integrator: integrator?,
    })
}

/// Keys of another strategy have no effect: they are mistakes.
fn refuse_foreign(reader: &mut Reader<'_>, s: &SimulationSchema, strategy: &str) {
    if let (true, Some(adaptive)) = (strategy != ADAPTIVE, &s.adaptive) {
        let message = format!("a step control is given, but the strategy is \"{strategy}\"");
        reader.wrong(adaptive.span(), message, "add strategy = \"adaptive\", or leave `adaptive` out");
    }
    if strategy == ADAPTIVE {
        return;
    }
    if strategy != SMOOTH {
        if let Some(integrator) = &s.integrator {
            reader.wrong(
                integrator.span(),
                "an integrator is given, but the strategy is \"time-stepping\"",
                "add strategy = \"smooth\", or strategy = \"adaptive\" with adaptive = \"high-order\", or use `scheme`",
            );
        }
        return;
    }
    let given = [
        ("step", s.step.as_ref().map(Spanned::span), "write `step` under [simulation.integrator]"),
        ("scheme", s.scheme.as_ref().map(Spanned::span), "choose an `integrator`"),
        ("solver", s.solver.as_ref().map(Spanned::span), "leave it out: smooth motion has no contacts to solve for"),
        ("on_failure", s.on_failure.as_ref().map(Spanned::span), "leave it out: integrators try smaller steps by themselves"),
    ];
    for (key, span, help) in given {
        if let Some(span) = span {
            reader.wrong(span, format!("`{key}` belongs to the strategy \"time-stepping\", not to \"smooth\""), help);
        }
    }
}

/// An integrator is for the step control of high order, which has the tolerances.
fn refuse_integrator(reader: &mut Reader<'_>, s: &SimulationSchema, adaptive: &AdaptiveParams) {
    let Some(integrator) = &s.integrator else { return };
    if adaptive.control != Control::HighOrder {
        let help = "write control = \"high-order\" under [simulation.adaptive], or leave the integrator out";
        reader.wrong(integrator.span(), "an integrator is given, but the step control takes steps of the scheme only", help);
    }
    let taken =
        ["tolerance", "absolute_tolerance", "relative_tolerance", "norm", "min_step", "max_step", "safety", "max_shrink", "max_growth"];
    if let Some(key) = taken.into_iter().find(|key| integrator.get_ref().settings.contains_key(*key)) {
        let message = format!("in the integrator, `{key}` is that of the step control");
        reader.wrong(integrator.span(), message, format!("write `{key}` under [simulation.adaptive]"));
    }
}

/// `[simulation.adaptive]`; a name alone is the control.
fn adaptive(reader: &mut Reader<'_>, section: Option<&Spanned<Component>>) -> Option<AdaptiveParams> {
    let Some(section) = section else { return Some(AdaptiveParams::default()) };
    let Component { kind, settings: given } = section.get_ref();
    let names: Vec<&str> = Control::LIST.iter().map(|(name, _)| *name).collect();
    let mut table = toml::Table::new();
    if let Some(control) = kind.as_deref().or_else(|| given.get("control").and_then(toml::Value::as_str)) {
        let control = Spanned::new(section.span(), control.to_owned());
        table.insert("control".into(), toml::Value::String(choose(reader, Some(&control), "step control", &names)?));
    }
    let params: AdaptiveParams = settings(reader, section, "step control", table)?;
    params.validate().map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in the step control, {e}")))).ok()?;
    Some(params)
}

/// The step of time-stepping.
fn step(reader: &mut Reader<'_>, section: &Spanned<SimulationSchema>, end: Option<f64>, start: f64) -> Option<f64> {
    let Some(step) = &section.get_ref().step else {
        reader.wrong(section.span(), "missing field `step`", "time-stepping needs `step` in seconds");
        return None;
    };
    let (span, step) = (step.span(), reader.number(step, "the step", Must::BePositive)?);
    if let Some(end) = end
        && (end - start) / step > 1e15
    {
        let message = format!("the step {step} is too small for the time span {}", end - start);
        reader.wrong(span, message, "more than 1e15 steps cannot be counted");
    }
    Some(step)
}

/// A name out of a list; the first by default.
fn choose(reader: &mut Reader<'_>, name: Option<&Spanned<String>>, what: &str, names: &[&str]) -> Option<String> {
    let Some(name) = name else { return Some(names[0].to_owned()) };
    if names.contains(&name.get_ref().as_str()) {
        return Some(name.get_ref().clone());
    }
    reader.wrong(name.span(), format!("there is no {what} \"{}\"", name.get_ref()), suggestion(name.get_ref(), names));
    None
}

fn scheme(reader: &mut Reader<'_>, section: Option<&Spanned<Component>>) -> Option<SchemeParams> {
    let Some(section) = section else { return Some(SchemeParams::default()) };
    let names: Vec<&str> = SCHEMES.iter().map(|entry| entry.name).collect();
    let kind = section.get_ref().kind.clone().map(|kind| Spanned::new(section.span(), kind));
    let kind = choose(reader, kind.as_ref(), "scheme", &names)?;
    let table = toml::Table::from_iter([("kind".to_owned(), toml::Value::String(kind))]);
    let params: SchemeParams = settings(reader, section, "scheme", table)?;
    params.validate().map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in the scheme, {e}")))).ok()?;
    Some(params)
}

fn solver(reader: &mut Reader<'_>, section: Option<&Spanned<Component>>) -> Option<FrictionSolverParams> {
    let Some(section) = section else { return Some(FrictionSolverParams::default()) };
    let names = friction_solvers();
    let mut table = toml::Table::new();
    if let Some(kind) = &section.get_ref().kind {
        let kind = Spanned::new(section.span(), kind.clone());
        table.insert("kind".into(), toml::Value::String(choose(reader, Some(&kind), "solver", &names)?));
    }
    let params: FrictionSolverParams = settings(reader, section, "solver", table)?;
    params.validate().map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in the solver, {e}")))).ok()?;
    Some(params)
}

fn integrator(reader: &mut Reader<'_>, section: Option<&Spanned<Component>>) -> Option<IntegratorParams> {
    let Some(section) = section else { return Some(IntegratorParams::default()) };
    let names: Vec<&str> = IntegratorKind::ALL.iter().map(|kind| kind.name()).collect();
    let mut table = toml::Table::new();
    if let Some(kind) = &section.get_ref().kind {
        let kind = Spanned::new(section.span(), kind.clone());
        table.insert("kind".into(), toml::Value::String(choose(reader, Some(&kind), "integrator", &names)?));
    }
    let params: IntegratorParams = settings(reader, section, "integrator", table)?;
    params.validate().map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in the integrator, {e}")))).ok()?;
    Some(params)
}

/// Names of the solvers for friction contact.
fn friction_solvers() -> Vec<&'static str> {
    ProblemKind::FrictionContact.solvers().iter().map(|entry| entry.name).collect()
}

/// A component's settings into its `Params`.
fn settings<P: DeserializeOwned>(reader: &mut Reader<'_>, section: &Spanned<Component>, what: &str, mut table: toml::Table) -> Option<P> {
    table.extend(section.get_ref().settings.clone());
    match P::deserialize(toml::Value::Table(table)) {
        Ok(params) => Some(params),
        Err(error) => {
            let message = error.to_string();
            let mut diagnostic = Diagnostic::new(section.span(), format!("in the {what}, {}", message.trim_end()));
            if let Some(help) = suggest_key(&message) {
                diagnostic = diagnostic.help(help);
            }
            reader.mistakes.push(diagnostic);
            None
        }
    }
}

/// Reads `[record]` for a strategy.
pub(super) fn record(reader: &mut Reader<'_>, section: &RecordSchema, run: Option<&RunSettings>) -> RecordSettings {
    let has_intervals = run.is_none_or(|run| run.is_smooth() || run.is_adaptive());
    let interval = section.interval.as_ref().and_then(|value| {
        if !has_intervals {
            let message = "frames at a constant interval are for the strategies \"smooth\" and \"adaptive\"";
            reader.wrong(value.span(), message, "use `every`: time-stepping has a constant step");
        }
        reader.number(value, "the interval of frames", Must::BePositive)
    });
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
    RecordSettings { every, interval }
}
