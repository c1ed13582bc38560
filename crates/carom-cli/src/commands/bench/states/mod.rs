//! `carom bench states`: where every model ends, by every method, kept in a file that review and CI compare.

mod row;
mod table;

use super::matrix::{Window, chosen, models};
use super::methods::Method;
use super::trial::{Ended, Trial, Tried};
use super::workers::on_threads;
use crate::commands::{Outcome, progress_bar};
use crate::failure::Failure;
use crate::output;
use carom::dynamics::strategies::StrategyKind;
use carom::io::model_file;
use clap::Parser;
use row::StateRow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use table::StateTable;

/// Steps of a model's own method times its velocities, at most; the rest of a longer run is left out.
const MOST_WORK: f64 = 20_000.0;
/// At least so many steps.
const LEAST_STEPS: f64 = 4.0;
/// A pair that takes more of the limit of time when the table is written gets no row: it would be slow elsewhere.
const MARGIN: f64 = 0.25;

#[derive(Parser)]
pub struct Args {
    /// Folders of models [default: models]
    #[arg(value_name = "MODELS_FOLDER")]
    folders: Vec<PathBuf>,
    /// Models, separated by commas: names, or parts of names
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Only the models' own methods
    #[arg(long)]
    own: bool,
    /// Write the table to this file
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    write: Option<PathBuf>,
    /// Compare with the table in this file and end with status 1 where something differs
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Longest time of one run in seconds
    #[arg(long, default_value_t = 8.0, value_name = "SECONDS")]
    limit: f64,
    /// Threads [default: as many as the machine has]
    #[arg(long, value_name = "N")]
    threads: Option<u16>,
    /// No progress bar
    #[arg(long)]
    quiet: bool,
}

pub fn bench(args: &Args) -> Outcome {
    let old = args.check.as_deref().map(StateTable::read).transpose()?;
    let default = [PathBuf::from("models")];
    let folders = if args.folders.is_empty() { &default[..] } else { &args.folders };
    let models = chosen(models(folders)?, &args.only)?;
    let bar = progress_bar(models.len() as u64, args.quiet);
    let rows = on_threads(models.len(), args.threads, |i| {
        let (name, path) = &models[i];
        let rows = rows(args, name, path, old.as_ref());
        bar.inc(1);
        rows
    });
    bar.finish_and_clear();
    let new = StateTable { rows: rows.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect() };
    if let Some(path) = &args.write {
        std::fs::write(path, new.text()).map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display())))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(old) = old else {
        output::write(&new.text());
        return Ok(ExitCode::SUCCESS);
    };
    let is_asked = |row: &StateRow| (!args.own || row.method == "own") && models.iter().any(|(name, _)| *name == row.model);
    let differences = old.differences(&new, is_asked);
    differences.iter().for_each(output::line);
    match differences.len() {
        0 => {
            output::line(format!("{} rows of {} models, none differs", new.rows.len(), models.len()));
            Ok(ExitCode::SUCCESS)
        }
        n => Err(Failure::Run(format!("{n} differences from the table of final states; an intended change writes it again with --write"))),
    }
}

/// The rows of a model: its own method's, which must run, and those of the methods that run.
fn rows(args: &Args, name: &str, path: &Path, old: Option<&StateTable>) -> Result<Vec<StateRow>, Failure> {
    let wrong = |reason: String| Failure::Run(format!("{name} by its own method: {reason}"));
    let file = model_file::read(path, &[]).map_err(Failure::Model)?;
    let (window, own_end) = (Window::of(&file), own_end(&file));
    drop(file);
    let trial = |method: Option<Method>, end: f64| Trial {
        model: path.to_owned(),
        end: Some(end),
        method,
        refined: false,
        interval: 0.0,
        limit: args.limit,
    };
    // a model's own method has all the time it needs
    let own = Trial { limit: 100.0 * args.limit, ..trial(None, own_end) }.run();
    match &own.ended {
        Ended::Finished => {}
        Ended::Refused(reason) | Ended::Failed(reason) => return Err(wrong(reason.clone())),
        Ended::Slow => return Err(wrong("slow".to_owned())),
    }
    let row = |method: &str, tried: &Tried| StateRow::new(name, method, &tried.method.replace(", ", " "), tried.step, &tried.report);
    let mut rows = vec![row("own", &own)];
    for method in if args.own { Vec::new() } else { Method::all(false) } {
        let is_known = old.is_none_or(|old| old.rows.iter().any(|row| row.model == name && row.method == method.name));
        let clock = Instant::now();
        let tried = trial(Some(method), window.end).run();
        let is_quick = clock.elapsed().as_secs_f64() < MARGIN * args.limit;
        if tried.ended == Ended::Finished && (is_quick || (old.is_some() && is_known)) {
            rows.push(row(method.name, &tried));
        }
    }
    Ok(rows)
}

/// The end of a model's own run, or of the part of it that does not take long.
fn own_end(file: &model_file::ModelFile) -> f64 {
    let (run, state) = (&file.run, &file.state);
    let Some(step) = run.step.filter(|_| run.strategy == StrategyKind::TimeStepping) else { return run.end };
    let size = (state.v.len() + state.x.len()).max(1) as f64;
    let steps = (MOST_WORK / size).max(LEAST_STEPS).round();
    run.end.min(state.t + steps * step)
}
