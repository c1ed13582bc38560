//! `carom bench solvers`: solvers timed over a folder of problems.

mod baseline;
mod profile;
mod summary;
mod table;

use crate::commands::{Outcome, progress_bar};
use crate::failure::Failure;
use crate::output;
use crate::solving::{Refusal, Request, Setting, Solved};
use carom::solvers::fclib::{self, FclibProblem};
use carom::solvers::{FrictionSolverKind, SolveError};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::{Row, Table};

/// A solve shorter than this is repeated, s: below it the clock and the caches decide what is measured.
const SHORT: f64 = 0.01;
/// Largest number of repetitions of a short solve, and their total time, s.
const REPETITIONS: (usize, f64) = (20, 0.1);
/// Iterations of a solver other than `auto`: the time limit ends it first.
const MANY_ITERATIONS: usize = 10_000_000;

#[derive(Parser)]
pub struct Args {
    /// Folder with problems in the FCLIB format (*.hdf5), local form
    folder: PathBuf,
    /// Solvers, separated by commas [default: all of `carom list solvers` for friction contact]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    solvers: Vec<String>,
    /// Tolerances on the normalised residual, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "1e-4,1e-8", value_name = "NUMBERS")]
    tolerances: Vec<f64>,
    /// Longest time of one solve in seconds
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    time_limit: f64,
    /// Largest number of iterations [default: 10000 for auto, as in runs; for the others the time limit decides]
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,
    /// Set a parameter of all solvers, e.g. nsgs.local=projection (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Setting>,
    /// Timings made elsewhere: CSV with the columns problem, solver, tol, status ("ok" where solved) and time (seconds)
    #[arg(long, value_name = "CSV")]
    baseline: Option<PathBuf>,
    /// Folder for runs.csv and the performance profiles (SVG and PNG)
    #[arg(long, default_value = "bench", value_name = "FOLDER")]
    out: PathBuf,
    /// No progress bar
    #[arg(long)]
    quiet: bool,
}

pub fn bench(args: &Args) -> Outcome {
    let solvers = solvers(&args.solvers).map_err(|error| Failure::Input(error.to_string()))?;
    let problems = problems(&args.folder)?;
    let baseline = args.baseline.as_deref().map(baseline::read).transpose()?.unwrap_or_default();
    std::fs::create_dir_all(&args.out).map_err(|error| Failure::Input(format!("cannot create {}: {error}", args.out.display())))?;

    let csv = args.out.join("runs.csv");
    let mut table = Table::default();
    let bar = progress_bar((problems.len() * solvers.len() * args.tolerances.len()) as u64, args.quiet);
    for (name, path) in &problems {
        let left_out = |reason: &dyn std::fmt::Display| bar.suspend(|| eprintln!("left out: {reason}"));
        let problem = match fclib::read(path).map(|file| file.problem) {
            Ok(FclibProblem::Global(_)) => {
                left_out(&format!("{name} is in global form"));
                continue;
            }
            Ok(problem) => problem,
            Err(error) => {
                left_out(&error);
                continue;
            }
        };
        for &tolerance in &args.tolerances {
            for solver in &solvers {
                bar.set_message(format!("{name}, {solver}, {tolerance:e}"));
                table.rows.push(time(args, solver, tolerance, name, &problem)?);
                bar.inc(1);
            }
        }
        // after each problem, so that an interrupted benchmark leaves what it measured
        std::fs::write(&csv, table.csv()).map_err(|error| Failure::Input(format!("cannot write {}: {error}", csv.display())))?;
    }
    bar.finish_and_clear();
    if table.rows.is_empty() {
        return Err(Failure::Input(format!("{} holds no readable problem in local form", args.folder.display())));
    }
    for &tolerance in &args.tolerances {
        let runs = summary::Runs::new(&table, &baseline, tolerance);
        output::write(&runs.text());
        for path in profile::draw(&runs, &args.out)? {
            eprintln!("drawn: {}", path.display());
        }
    }
    eprintln!("written: {}", csv.display());
    Ok(ExitCode::SUCCESS)
}

/// The registered names that were asked for, or all.
fn solvers(names: &[String]) -> Result<Vec<&'static str>, SolveError> {
    if names.is_empty() {
        return Ok(FrictionSolverKind::ALL.iter().map(|kind| kind.name()).collect());
    }
    names.iter().map(|name| Ok(name.trim().parse::<FrictionSolverKind>()?.name())).collect()
}

/// Name and path of the problems in a folder, by name.
fn problems(folder: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| Failure::Input(format!("cannot list {}: {error}", folder.display())))?;
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "hdf5"));
    let mut found: Vec<_> = paths.map(|path| (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path)).collect();
    if found.is_empty() {
        return Err(Failure::Input(format!("{} holds no *.hdf5 file; give a folder of FCLIB problems", folder.display())));
    }
    found.sort();
    Ok(found)
}

/// Solves from zero and times the construction of the solver and the solve; of a short solve the best of several.
fn time(args: &Args, solver: &'static str, tolerance: f64, name: &str, problem: &FclibProblem) -> Result<Row, Failure> {
    let default_iterations = if solver == FrictionSolverKind::Auto.name() { None } else { Some(MANY_ITERATIONS) };
    let request = Request {
        solver: Some(solver.to_owned()),
        tolerance,
        max_iterations: args.max_iterations.or(default_iterations),
        time_limit: Some(args.time_limit),
        settings: args.set.clone(),
    };
    let row = |status: &str, solved: Option<&Solved>, cpu_time: f64| Row {
        problem: name.to_owned(),
        n_contacts: problem.n_contacts(),
        n_rows: problem.n_rows(),
        solver,
        tolerance,
        status: status.to_owned(),
        cpu_time,
        iterations: solved.map_or(0, |s| s.report.iterations),
        residual: solved.map_or(f64::NAN, |s| s.report.residual),
        residual_normalised: solved.map_or(f64::NAN, |s| s.report.residual_normalised),
    };
    let solved = match request.solve(problem, &[]) {
        Ok(solved) => solved,
        Err(Refusal::Unsupported(_)) => return Ok(row("unsupported", None, f64::NAN)),
        Err(Refusal::Wrong(message)) => return Err(Failure::Input(format!("{name}: {message}"))),
    };
    let (mut best, mut total) = (solved.cpu_time, solved.cpu_time);
    let mut repetitions = 1;
    while best < SHORT && repetitions < REPETITIONS.0 && total < REPETITIONS.1 {
        let Ok(again) = request.solve(problem, &[]) else { break };
        best = best.min(again.cpu_time);
        total += again.cpu_time;
        repetitions += 1;
    }
    Ok(row(solved.report.status.name(), Some(&solved), best))
}
