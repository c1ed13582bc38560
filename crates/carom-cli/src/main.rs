//! The `carom` command: from a model file to a trusted trajectory.
//!
//! Exit status: 0 done, 1 the run failed or the solve did not converge, 2 the input is wrong, 130 interrupted.

mod changes;
mod commands;
mod failure;
mod integrating;
mod meshes;
mod output;
mod overlaps;
mod solving;

use clap::{Parser, Subcommand};
use commands::{bench, check, compare, export, import, info, list, plot, run, solve, study};
use std::process::ExitCode;

/// Simulate mechanics that is not smooth: contact, friction, impacts, joints.
#[derive(Parser)]
#[command(name = "carom", version, max_term_width = 110, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a model and certify the result
    Run(run::Args),
    /// Check a model file without running it
    Check(check::Args),
    /// Draw recorded quantities as SVG or PNG
    Plot(plot::Args),
    /// Write a recorded run as CSV
    Export(export::Args),
    /// Convert a robot's URDF to a model file
    Import(import::Args),
    /// Show what a recorded run holds
    Info(info::Args),
    /// Solve one friction contact problem from a file (FCLIB)
    Solve(solve::Args),
    /// Time solvers over a folder of problems; cross all methods with all models
    Bench(bench::Args),
    /// Compare integrators, schemes or strategies on a model: cost, drift and true error
    Compare(compare::Args),
    /// Run a model for all values of some keys and tabulate what is measured
    Study(study::Args),
    /// List strategies, schemes, integrators, solvers, laws or models
    List(list::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(args),
        Command::Check(args) => check::check(&args),
        Command::Plot(args) => plot::plot(&args),
        Command::Export(args) => export::export(&args),
        Command::Import(args) => import::import(&args),
        Command::Info(args) => info::info(&args),
        Command::Solve(args) => solve::solve(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Study(args) => study::study(&args),
        Command::List(args) => list::list(&args),
    };
    match result {
        Ok(code) => code,
        Err(failure) => failure.show(),
    }
}
