//! `carom solve`: one friction contact problem from a file.

use super::Outcome;
use crate::failure::Failure;
use crate::output;
use crate::solving::{Request, Setting};
use carom::solvers::fclib::{self, FclibFile, MatrixFormat};
use clap::Parser;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
pub struct Args {
    /// Problem in the FCLIB format (HDF5), in local or global form
    file: PathBuf,
    /// Solver, by its name in `carom list solvers` [default: auto, in global form reduction]
    #[arg(long, value_name = "NAME")]
    solver: Option<String>,
    /// Largest accepted normalised residual
    #[arg(long, default_value_t = 1e-8)]
    tolerance: f64,
    /// Largest number of iterations [default: 10000]
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,
    /// Longest time of the solve in seconds [default: none]
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
    /// Set a parameter of the solver, e.g. relaxation=0.8 or nsgs.local=projection (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Setting>,
    /// Start from the first guess of the file instead of zero
    #[arg(long)]
    warm: bool,
    /// Write the problem with its solution to this file
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Replace the written file if it exists
    #[arg(long)]
    overwrite: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn solve(args: &Args) -> Outcome {
    if let Some(out) = args.write.as_ref().filter(|out| out.exists() && !args.overwrite) {
        return Err(Failure::Input(format!("{} exists; add --overwrite to replace it, or choose another name", out.display())));
    }
    let file = fclib::read(&args.file).map_err(|error| Failure::Input(error.to_string()))?;
    let guess = match (args.warm, file.guesses.first()) {
        (false, _) => &[],
        (true, Some(guess)) => &guess.r[..],
        (true, None) => return Err(Failure::Input(format!("{} holds no guess; leave out --warm", args.file.display()))),
    };
    let request = Request {
        solver: args.solver.clone(),
        tolerance: args.tolerance,
        max_iterations: args.max_iterations,
        time_limit: args.time_limit,
        settings: args.set.clone(),
    };
    let solved = request.solve(&file.problem, guess).map_err(|refusal| Failure::Input(refusal.message().to_owned()))?;
    let report = solved.report;
    if args.json {
        output::line(json!({
            "status": report.status.name(), "residual": report.residual, "residual_normalised": report.residual_normalised,
            "iterations": report.iterations, "cpu_time": solved.cpu_time, "solver": report.solver,
            "form": form(&file), "title": file.info.title, "contacts": file.problem.n_contacts(), "rows": file.problem.n_rows(),
            "velocities": file.problem.n_velocities(), "tolerance": args.tolerance,
        }));
    } else {
        let title = if file.info.title.is_empty() { args.file.display().to_string() } else { file.info.title.clone() };
        output::line(format!("{title}: {} contacts, {} rows, {} form", file.problem.n_contacts(), file.problem.n_rows(), form(&file)));
        output::line(format!(
            "  {} by {} in {} iterations, {:.3} ms",
            report.status.name(),
            report.solver,
            report.iterations,
            1e3 * solved.cpu_time
        ));
        output::line(format!(
            "  residual {:.3e}, normalised {:.3e} (tolerance {:e})",
            report.residual, report.residual_normalised, args.tolerance
        ));
    }
    if let Some(out) = &args.write {
        let file = FclibFile { solution: Some(solved.solution), ..file };
        fclib::write(out, &file, MatrixFormat::Csr).map_err(|error| Failure::Input(error.to_string()))?;
        eprintln!("written: {}", out.display());
    }
    Ok(if report.is_accepted() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn form(file: &FclibFile) -> &'static str {
    if file.problem.n_velocities().is_some() { "global" } else { "local" }
}
