//! `carom bench matrix`: every model by every method, by one word of its file.

mod agreement;
mod pair;
mod summary;

use super::methods::Method;
use super::workers::on_threads;
use crate::commands::{Outcome, progress_bar};
use crate::failure::Failure;
use crate::output;
use carom::io::model_file::MODEL_FILE;
use clap::Parser;
use pair::ModelRow;
pub use pair::Window;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use summary::Matrix;

#[derive(Parser)]
pub struct Args {
    /// Folders of models [default: models]
    #[arg(value_name = "MODELS_FOLDER")]
    folders: Vec<PathBuf>,
    /// Models, separated by commas: names, or parts of names
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Methods, separated by commas [default: all strategies and schemes]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    methods: Vec<String>,
    /// Also every integrator, in models whose own method has one
    #[arg(long)]
    integrators: bool,
    /// Longest time of one run in seconds
    #[arg(long, default_value_t = 8.0, value_name = "SECONDS")]
    limit: f64,
    /// Write all pairs to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the page of the book: totals by method, the matrix, the pairs that disagree, the reasons of refusals
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// End with status 1 if fewer pairs run
    #[arg(long, value_name = "N")]
    at_least: Option<usize>,
    /// Threads [default: as many as the machine has]
    #[arg(long, value_name = "N")]
    threads: Option<u16>,
    /// No progress bar
    #[arg(long)]
    quiet: bool,
}

pub fn bench(args: &Args) -> Outcome {
    let methods = methods(args)?;
    let default = [PathBuf::from("models")];
    let folders = if args.folders.is_empty() { &default[..] } else { &args.folders };
    let models = chosen(models(folders)?, &args.only)?;
    let bar = progress_bar(models.len() as u64, args.quiet);
    let rows: Vec<ModelRow> = on_threads(models.len(), args.threads, |i| {
        let (name, path) = &models[i];
        let row = pair::run_model(name, path, &methods, args.limit);
        bar.inc(1);
        row
    });
    bar.finish_and_clear();
    let matrix = Matrix { rows, methods, limit: args.limit };
    output::write(&matrix.text());
    if let Some(path) = &args.csv {
        write(path, &matrix.csv())?;
    }
    if let Some(path) = &args.markdown {
        write(path, &matrix.page())?;
    }
    let runs = matrix.n_runs();
    match args.at_least {
        Some(n) if runs < n => Err(Failure::Run(format!("{runs} pairs run, {n} are expected at least"))),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The methods that are asked for.
fn methods(args: &Args) -> Result<Vec<Method>, Failure> {
    let all = Method::all(args.integrators);
    if args.methods.is_empty() {
        return Ok(all);
    }
    let known = Method::all(true);
    let find = |name: &String| {
        let method = known.iter().find(|method| method.name == name.trim()).copied();
        method.ok_or_else(|| Failure::Input(format!("there is no method \"{name}\": see carom list strategies, schemes, integrators")))
    };
    args.methods.iter().map(find).collect()
}

/// Names and folders of the models of several folders, by name.
pub fn models(folders: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut found = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).map_err(|error| Failure::Input(format!("cannot list {}: {error}", folder.display())))?;
        let paths = entries.flatten().map(|entry| entry.path()).filter(|path| path.join(MODEL_FILE).exists());
        found.extend(paths.map(|path| (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path)));
    }
    found.sort();
    Ok(found)
}

/// The models of these names; a name that no model has stands for all that contain it.
pub fn chosen(models: Vec<(String, PathBuf)>, only: &[String]) -> Result<Vec<(String, PathBuf)>, Failure> {
    let is_name = |word: &String| models.iter().any(|(name, _)| name == word.trim());
    let fits = |name: &str, word: &String| if is_name(word) { name == word.trim() } else { name.contains(word.trim()) };
    let chosen: Vec<_> = models.iter().filter(|(name, _)| only.is_empty() || only.iter().any(|word| fits(name, word))).cloned().collect();
    if chosen.is_empty() {
        return Err(Failure::Input("there is no model to run; give a folder of models, and names of some of them with --only".to_owned()));
    }
    Ok(chosen)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display())))
}
