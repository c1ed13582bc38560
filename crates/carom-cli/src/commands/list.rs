//! `carom list`: what there is to choose from.

use super::Outcome;
use crate::failure::Failure;
use crate::output;
use carom::dynamics::Law;
use carom::dynamics::schemes::SCHEMES;
use carom::dynamics::strategies::STRATEGIES;
use carom::io::model_file::MODEL_FILE;
use carom::solvers::registry::{ProblemKind, SolverEntry};
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
    Solvers,
    Laws,
    Models,
}

pub fn list(args: &Args) -> Outcome {
    let entries: Vec<(String, String)> = match args.what {
        What::Strategies => owned(&STRATEGIES),
        What::Schemes => owned(&SCHEMES),
        What::Laws => owned(&Law::LIST),
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
