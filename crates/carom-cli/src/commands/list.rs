//! `carom list`: what there is to choose from.

use super::Outcome;
use crate::failure::Failure;
use crate::integrating::form_name;
use crate::output;
use carom::dynamics::Law;
use carom::dynamics::first_order::MultiplierLaw;
use carom::dynamics::forces::ForceSource;
use carom::dynamics::impacts::ImpactLaw;
use carom::dynamics::integrators::{IntegratorEntry, IntegratorKind, IntegratorParams};
use carom::dynamics::relations::JOINTS;
use carom::dynamics::schemes::SCHEMES;
use carom::dynamics::strategies::StrategyKind;
use carom::io::model_file::MODEL_FILE;
use carom::solvers::kinds::{ProblemKind, SolverEntry};
use clap::{Parser, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
pub struct Args {
    /// What to list
    #[arg(value_enum)]
    what: What,
    /// Folder of models
    #[arg(long, default_value = "models")]
    folder: PathBuf,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Strategies,
    Schemes,
    Integrators,
    Solvers,
    Laws,
    Joints,
    Forces,
    Elements,
    Models,
}

pub fn list(args: &Args) -> Outcome {
    let entries: Vec<(String, String)> = match args.what {
        What::Strategies => owned(&StrategyKind::ALL.map(|kind| (kind.name(), kind.summary()))),
        What::Schemes => SCHEMES.iter().map(|entry| (entry.name.to_owned(), entry.summary.to_owned())).collect(),
        What::Laws => owned(Law::LIST).into_iter().chain(impact_laws()).chain(multiplier_laws()).collect(),
        What::Joints => owned(JOINTS),
        What::Forces => owned(ForceSource::LIST),
        What::Elements => owned(&carom::io::netlist::list()),
        What::Integrators => {
            list_integrators(args.json);
            return Ok(ExitCode::SUCCESS);
        }
        What::Solvers => {
            list_solvers(args.json);
            return Ok(ExitCode::SUCCESS);
        }
        What::Models => models(&args.folder)?,
    };
    if args.json {
        let items: Vec<_> = entries.iter().map(|(name, summary)| json!({"name": name, "summary": summary})).collect();
        output::line(json!({"items": items}));
        return Ok(ExitCode::SUCCESS);
    }
    let width = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, summary) in entries {
        output::line(format!("{name:width$}  {summary}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// The integrators of smooth motion with their orders and the forms of the constraints they know; the default is marked.
fn list_integrators(as_json: bool) {
    let entries: Vec<_> = IntegratorKind::ALL.iter().map(|&kind| (kind, kind.entry())).collect();
    let orders = |kind, entry: &IntegratorEntry| (entry.orders)(&IntegratorParams { kind, ..IntegratorParams::default() });
    if as_json {
        let item = |&(kind, entry): &(IntegratorKind, &IntegratorEntry)| {
            let orders = orders(kind, entry);
            json!({
                "name": entry.name, "summary": entry.summary, "formulations": entry.formulations, "choices": entry.choices,
                "orders": {"position": orders.position, "velocity": orders.velocity, "multiplier": orders.multiplier},
                "has_estimate": entry.has_estimate, "is_default": kind == IntegratorKind::default(),
            })
        };
        output::line(json!({"items": entries.iter().map(item).collect::<Vec<_>>()}));
        return;
    }
    let mut rows = vec![["name", "orders q/v/λ", "forms", "when to use it"].map(str::to_owned)];
    for &(kind, entry) in &entries {
        let of = orders(kind, entry);
        let multiplier = of.multiplier.map_or_else(|| "–".to_owned(), |order| order.to_string());
        let choices = match entry.choices {
            [] | [_] => String::new(),
            [first, .., last] if last + 1 == first + entry.choices.len() => format!(" (order = {first}…{last})"),
            some => format!(" (order = {})", some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        };
        let mark = if kind == IntegratorKind::default() { " *" } else { "" };
        rows.push([
            format!("{}{mark}", entry.name),
            format!("{}/{}/{multiplier}{choices}", of.position, of.velocity),
            entry.formulations.iter().map(|&form| form_name(form)).collect::<Vec<_>>().join(" "),
            entry.summary.to_owned(),
        ]);
    }
    let widths: Vec<usize> = (0..3).map(|i| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for [name, orders, forms, summary] in &rows {
        text += &format!("{name:a$}  {orders:b$}  {forms:c$}  {summary}\n", a = widths[0], b = widths[1], c = widths[2]);
    }
    output::write(&format!("{text}* the default\n"));
}

/// The solvers of all problems; those of model files first.
fn list_solvers(as_json: bool) {
    if as_json {
        let of_kind = |kind: ProblemKind| {
            let item = move |s: &SolverEntry| json!({"name": s.name, "summary": s.summary, "problem": kind.name()});
            kind.solvers().iter().map(item)
        };
        let items: Vec<_> = ProblemKind::ALL.into_iter().flat_map(of_kind).collect();
        output::line(json!({"items": items}));
        return;
    }
    let names = ProblemKind::ALL.into_iter().flat_map(|kind| kind.solvers()).map(|s| s.name.len());
    let width = names.max().unwrap_or(0);
    for (place, kind) in ProblemKind::ALL.into_iter().enumerate() {
        let gap = if place == 0 { "" } else { "\n" };
        let mut text = format!("{gap}{}\n", kind.name());
        for solver in kind.solvers() {
            text += &format!("  {:width$}  {}\n", solver.name, solver.summary);
        }
        output::write(&text);
    }
}

/// The impact laws, as `[impact]` names them.
fn impact_laws() -> impl Iterator<Item = (String, String)> {
    ImpactLaw::LIST.iter().map(|(name, summary)| (format!("impact: {name}"), (*summary).to_owned()))
}

/// The laws of first-order systems, as `[[relation]]` names them.
fn multiplier_laws() -> impl Iterator<Item = (String, String)> {
    MultiplierLaw::LIST.iter().map(|(name, summary)| (format!("relation: {name}"), (*summary).to_owned()))
}

fn owned(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, summary)| ((*name).to_owned(), (*summary).to_owned())).collect()
}

/// Folders with a model file, with their titles.
fn models(folder: &Path) -> Result<Vec<(String, String)>, Failure> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| Failure::Input(format!("cannot list {}: {error}; name the folder with --folder", folder.display())))?;
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let file = entry.path().join(MODEL_FILE);
        if let Ok(text) = std::fs::read_to_string(&file) {
            let title = text.lines().find_map(|line| line.strip_prefix("title").and_then(|rest| rest.trim_start().strip_prefix('=')));
            let title = title.map_or_else(String::new, |title| title.trim().trim_matches('"').to_owned());
            found.push((entry.path().display().to_string(), title));
        }
    }
    found.sort();
    Ok(found)
}
