//! How a model is run and what is recorded: `[simulation]` and `[record]`.

use super::error::suggestion;
use super::numbers::{Must, Reader};
use super::schema::{RecordSchema, SimulationSchema};
use super::value::Component;
use carom_dynamics::schemes::{MoreauJean, MoreauJeanParams, SCHEMES};
use carom_dynamics::strategies::{OnFailure, STRATEGIES, TimeStepping};
use carom_solvers::FrictionSolverParams;
use carom_solvers::registry::ProblemKind;
use serde::de::DeserializeOwned;
use toml::Spanned;

/// `[simulation]`, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// End time \[s\].
    pub end: f64,
    /// Step size \[s\].
    pub step: f64,
    /// Strategy, by name.
    pub strategy: String,
    /// The scheme's settings.
    pub scheme: MoreauJeanParams,
    /// The solver's settings.
    pub solver: FrictionSolverParams,
    /// What to do when a step does not converge.
    pub on_failure: OnFailure,
}

impl RunSettings {
    /// The strategy these settings describe.
    #[must_use]
    pub fn strategy(&self, record_every: usize) -> TimeStepping {
        let scheme = Box::new(MoreauJean { params: self.scheme });
        TimeStepping { scheme, step: self.step, end: self.end, on_failure: self.on_failure, record_every }
    }

    /// The settings by name, for records and reports.
    #[must_use]
    pub fn list(&self) -> Vec<(String, String)> {
        let mut list = vec![
            ("simulation.end".to_owned(), self.end.to_string()),
            ("simulation.step".to_owned(), self.step.to_string()),
            ("simulation.strategy".to_owned(), self.strategy.clone()),
            ("simulation.scheme.kind".to_owned(), "moreau-jean".to_owned()),
        ];
        let sections = [("scheme", toml::Table::try_from(self.scheme)), ("solver", toml::Table::try_from(&self.solver))];
        for (section, table) in sections {
            for (key, value) in table.unwrap_or_default() {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                list.push((format!("simulation.{section}.{key}"), value));
            }
        }
        if let Ok(toml::Value::String(policy)) = toml::Value::try_from(self.on_failure) {
            list.push(("simulation.on_failure".to_owned(), policy));
        }
        list
    }
}

/// `[record]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordSettings {
    /// A frame every so many steps; the first and the last state are always recorded. Default 1.
    pub every: usize,
}

/// Reads `[simulation]`; `start` is the initial time.
pub(super) fn simulation(reader: &mut Reader<'_>, section: &Spanned<SimulationSchema>, start: f64) -> Option<RunSettings> {
    let s = section.get_ref();
    let end = reader.number(&s.end, "the end time", Must::BeFinite);
    let step = reader.number(&s.step, "the step", Must::BePositive);
    if let Some(end) = end
        && end < start
    {
        reader.wrong(s.end.span(), format!("the end time {end} lies before the start {start}"), "give a later end");
    }
    if let (Some(end), Some(step)) = (end, step)
        && (end - start) / step > 1e15
    {
        reader.wrong(
            s.step.span(),
            format!("the step {step} is too small for the time span {}", end - start),
            "more than 1e15 steps cannot be counted",
        );
    }
    let strategy = choose(reader, s.strategy.as_ref(), "strategy", &STRATEGIES.map(|(name, _)| name));
    let scheme = scheme(reader, s.scheme.as_ref());
    let solver = solver(reader, s.solver.as_ref());
    let policies = ["stop", "warn", "halve-step"];
    let on_failure = match choose(reader, s.on_failure.as_ref(), "failure policy", &policies)?.as_str() {
        "warn" => OnFailure::Warn,
        "halve-step" => OnFailure::HalveStep,
        _ => OnFailure::Stop,
    };
    Some(RunSettings { end: end?, step: step?, strategy: strategy?, scheme: scheme?, solver: solver?, on_failure })
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

fn scheme(reader: &mut Reader<'_>, section: Option<&Spanned<Component>>) -> Option<MoreauJeanParams> {
    let Some(section) = section else { return Some(MoreauJeanParams::default()) };
    let names = SCHEMES.map(|(name, _)| name);
    let kind = section.get_ref().kind.clone().map(|kind| Spanned::new(section.span(), kind));
    choose(reader, kind.as_ref(), "scheme", &names)?;
    let params: MoreauJeanParams = settings(reader, section, "scheme", toml::Table::new())?;
    params.validate().map_err(|e| reader.mistakes.push(super::Diagnostic::new(section.span(), format!("in the scheme, {e}")))).ok()?;
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
    params.validate().map_err(|e| reader.mistakes.push(super::Diagnostic::new(section.span(), format!("in the solver, {e}")))).ok()?;
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
            reader.mistakes.push(super::Diagnostic::new(section.span(), format!("in the {what}, {}", message.trim_end())));
            None
        }
    }
}

/// Reads `[record]`.
pub(super) fn record(reader: &mut Reader<'_>, section: &RecordSchema) -> RecordSettings {
    let every = match &section.every {
        None => 1,
        Some(every) => match usize::try_from(*every.get_ref()) {
            Ok(n) if n > 0 => n,
            _ => {
                reader.wrong(every.span(), format!("every = {}", every.get_ref()), "a whole number of steps, 1 or more, is needed");
                1
            }
        },
    };
    RecordSettings { every }
}
