//! The parts of `[simulation]` that have settings of their own: scheme, solver, integrator, step control, events, switching.

use super::error::{Diagnostic, suggestion};
use super::numbers::Reader;
use super::schema::suggest_key;
use super::value::Component;
use carom_dynamics::error::ModelError;
use carom_dynamics::events::EventParams;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams};
use carom_dynamics::schemes::{SCHEMES, SchemeParams};
use carom_dynamics::strategies::adaptive::Control;
use carom_dynamics::strategies::{AdaptiveParams, HybridParams};
use carom_solvers::FrictionSolverParams;
use carom_solvers::kinds::ProblemKind;
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;

/// `[simulation.adaptive]`; a name alone is the control.
pub(super) fn adaptive(reader: &mut Reader<'_>, section: Option<&Spanned<Component>>) -> Option<AdaptiveParams> {
    let Some(section) = section else { return Some(AdaptiveParams::default()) };
    let Component { kind, settings: given } = section.get_ref();
    let names: Vec<&str> = Control::LIST.iter().map(|(name, _)| *name).collect();
    let mut table = toml::Table::new();
    if let Some(control) = kind.as_deref().or_else(|| given.get("control").and_then(toml::Value::as_str)) {
        let control = Spanned::new(section.span(), control.to_owned());
        table.insert("control".into(), toml::Value::String(choose(reader, Some(&control), "step control", &names)?));
    }
    let params: AdaptiveParams = settings(reader, section.span(), given, "step control", table)?;
    params.validate().map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in the step control, {e}")))).ok()?;
    Some(params)
}

/// `[simulation.events]`.
pub(super) fn events(reader: &mut Reader<'_>, section: Option<&Spanned<toml::Table>>) -> Option<EventParams> {
    checked(reader, section, "settings of events", EventParams::validate)
}

/// `[simulation.hybrid]`.
pub(super) fn hybrid(reader: &mut Reader<'_>, section: Option<&Spanned<toml::Table>>) -> Option<HybridParams> {
    checked(reader, section, "settings of the hybrid strategy", HybridParams::validate)
}

/// Settings that have no kinds, with their ranges.
fn checked<P: Default + DeserializeOwned>(
    reader: &mut Reader<'_>,
    section: Option<&Spanned<toml::Table>>,
    what: &str,
    validate: fn(&P) -> Result<(), ModelError>,
) -> Option<P> {
    let Some(section) = section else { return Some(P::default()) };
    let params: P = settings(reader, section.span(), section.get_ref(), what, toml::Table::new())?;
    validate(&params).map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in the {what}, {e}")))).ok()?;
    Some(params)
}

/// A name out of a list; the first by default.
pub(super) fn choose(reader: &mut Reader<'_>, name: Option<&Spanned<String>>, what: &str, names: &[&str]) -> Option<String> {
    let Some(name) = name else { return Some(names[0].to_owned()) };
    if names.contains(&name.get_ref().as_str()) {
        return Some(name.get_ref().clone());
    }
    reader.wrong(name.span(), format!("there is no {what} \"{}\"", name.get_ref()), suggestion(name.get_ref(), names));
    None
}

/// `[simulation.scheme]`; settings without a kind are those of `own`, the scheme of the model.
pub(super) fn scheme(reader: &mut Reader<'_>, section: Option<&Spanned<Component>>, own: SchemeParams) -> Option<SchemeParams> {
    let Some(section) = section else { return Some(own) };
    let names: Vec<&str> = SCHEMES.iter().map(|entry| entry.name).collect();
    let kind = section.get_ref().kind.clone().unwrap_or_else(|| own.entry().name.to_owned());
    let kind = choose(reader, Some(&Spanned::new(section.span(), kind)), "scheme", &names)?;
    let table = toml::Table::from_iter([("kind".to_owned(), toml::Value::String(kind))]);
    let params: SchemeParams = settings(reader, section.span(), &section.get_ref().settings, "scheme", table)?;
    params.validate().map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in the scheme, {e}")))).ok()?;
    Some(params)
}

/// `[simulation.solver]`; without it the solver that the scheme asks for.
pub(super) fn solver(
    reader: &mut Reader<'_>,
    section: Option<&Spanned<Component>>,
    of_scheme: Option<FrictionSolverParams>,
) -> Option<FrictionSolverParams> {
    let Some(section) = section else { return Some(of_scheme.unwrap_or_default()) };
    let names = friction_solvers();
    let mut table = toml::Table::new();
    if let Some(kind) = &section.get_ref().kind {
        let kind = Spanned::new(section.span(), kind.clone());
        table.insert("kind".into(), toml::Value::String(choose(reader, Some(&kind), "solver", &names)?));
    }
    let params: FrictionSolverParams = settings(reader, section.span(), &section.get_ref().settings, "solver", table)?;
    params.validate().map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in the solver, {e}")))).ok()?;
    Some(params)
}

pub(super) fn integrator(reader: &mut Reader<'_>, section: Option<&Spanned<Component>>) -> Option<IntegratorParams> {
    let Some(section) = section else { return Some(IntegratorParams::default()) };
    let names: Vec<&str> = IntegratorKind::ALL.iter().map(|kind| kind.name()).collect();
    let mut table = toml::Table::new();
    if let Some(kind) = &section.get_ref().kind {
        let kind = Spanned::new(section.span(), kind.clone());
        table.insert("kind".into(), toml::Value::String(choose(reader, Some(&kind), "integrator", &names)?));
    }
    let params: IntegratorParams = settings(reader, section.span(), &section.get_ref().settings, "integrator", table)?;
    params.validate().map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in the integrator, {e}")))).ok()?;
    Some(params)
}

/// Names of the solvers for friction contact.
fn friction_solvers() -> Vec<&'static str> {
    ProblemKind::FrictionContact.solvers().iter().map(|entry| entry.name).collect()
}

/// A component's settings, over those of `table`, into its `Params`.
fn settings<P: DeserializeOwned>(
    reader: &mut Reader<'_>,
    span: Range<usize>,
    given: &toml::Table,
    what: &str,
    mut table: toml::Table,
) -> Option<P> {
    table.extend(given.clone());
    match P::deserialize(toml::Value::Table(table)) {
        Ok(params) => Some(params),
        Err(error) => {
            let message = error.to_string();
            let mut diagnostic = Diagnostic::new(span, format!("in the {what}, {}", message.trim_end()));
            if let Some(help) = suggest_key(&message) {
                diagnostic = diagnostic.help(help);
            }
            reader.mistakes.push(diagnostic);
            None
        }
    }
}
