//! `carom compare`: integrators, time-stepping schemes or strategies side by side on one model.

mod figure;
mod measure;
mod method_variant;
mod reference;
mod scheme_table;
mod schemes;
mod states;
mod strategies;
mod strategy_table;
mod table;
mod trajectory;
mod variant;

use super::{Outcome, progress_bar};
use crate::changes::{Changes, show_notes};
use crate::failure::Failure;
use crate::output;
use carom::dynamics::integrators::IntegratorKind;
use carom::dynamics::smooth::constraint_rows;
use carom::dynamics::strategies::smooth::refuse_contacts;
use carom::dynamics::strategies::suggested_step;
use carom::io::model_file::{ModelFile, read};
use clap::Parser;
use measure::Task;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::{Row, Table};
use variant::{Control, Variant};

#[derive(Parser)]
pub struct Args {
    /// Model file, or folder with a model.toml; with contacts give --schemes or --strategies
    model: PathBuf,
    /// Integrators, separated by commas, with variants as METHOD:FORM or METHOD:KEY=VALUE, e.g. hem5,generalized-alpha:index2,bdf:order=4
    /// [default: all of `carom list integrators`]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    integrators: Vec<String>,
    /// Time-stepping schemes, separated by commas, with settings as SCHEME:KEY=VALUE, e.g. moreau-jean,theta-gap:theta=0.55; or all
    #[arg(long, value_delimiter = ',', value_name = "NAMES", conflicts_with_all = ["integrators", "tolerances", "plot_steps", "control"])]
    schemes: Vec<String>,
    /// Strategies, separated by commas, with settings as STRATEGY:TABLE.KEY=VALUE, e.g. event-driven:integrator.kind=dopri5,
    /// hybrid:events.location=im1,adaptive:adaptive.control=high-order; or all
    #[arg(long, value_delimiter = ',', value_name = "NAMES", conflicts_with_all = ["integrators", "schemes", "plot_steps", "control"])]
    strategies: Vec<String>,
    /// Steps of schemes and of the strategy time-stepping in seconds, separated by commas [default: the model's, and its half, quarter and so on]
    #[arg(long, value_delimiter = ',', value_name = "SECONDS", conflicts_with = "integrators", allow_negative_numbers = true)]
    steps: Vec<f64>,
    /// Tolerances, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "1e-2,1e-4,1e-6,1e-8,1e-10", value_name = "NUMBERS")]
    tolerances: Vec<f64>,
    /// End time in seconds [default: the model's]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    end: Option<f64>,
    /// Reference solution: auto (computed), or a recorded run or CSV file of states that ends at the end time
    #[arg(long, default_value = "auto", value_name = "auto|FILE")]
    reference: String,
    /// Timed runs of each; the fastest counts
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Longest CPU time of one run in seconds
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    time_limit: f64,
    /// Settings of the step control
    #[arg(long, value_enum, default_value_t = Control::Model)]
    control: Control,
    #[command(flatten)]
    changes: Changes,
    /// Write the table to this CSV file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw CPU time against error (SVG or PNG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Draw steps and drift against the tolerance (SVG or PNG)
    #[arg(long, value_name = "FILE")]
    plot_steps: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// No progress bar
    #[arg(long)]
    quiet: bool,
}

pub fn compare(args: &Args) -> Outcome {
    if !args.schemes.is_empty() {
        return schemes::compare(args);
    }
    if !args.strategies.is_empty() {
        return strategies::compare(args);
    }
    if !args.steps.is_empty() {
        return Err(Failure::Input("--steps goes with --schemes or --strategies: integrators have tolerances".into()));
    }
    let file = args.read()?;
    let wrong = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    refuse_contacts(&file.model).map_err(|error| wrong(&error))?;
    let variants = variants(args, &file)?;
    args.check_tolerances()?;
    let end = args.end_of(&file)?;
    let task = Task { model: &file.model, state: &file.state, end, time_limit: args.time_limit };

    let bar = progress_bar((variants.len() * args.tolerances.len() + 1) as u64, args.quiet);
    bar.set_message("reference");
    let reference = match args.reference.as_str() {
        "auto" => reference::compute(task, &file.run.integrator)?,
        path => reference::read(path.as_ref(), task)?,
    };
    bar.inc(1);
    let mut table = Table { constraints: constraint_rows(&file.model), rows: Vec::new() };
    for variant in &variants {
        for &tolerance in &args.tolerances {
            bar.set_message(format!("{} at {tolerance:e}", variant.label));
            let measured = task.measure(&variant.at(tolerance, args.control), args.repeat as usize);
            let errors = measured.failure.is_none().then(|| task.errors(&measured.end, &reference.end));
            table.rows.push(Row { method: variant.label.clone(), tolerance, measured, errors });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();

    if args.json {
        output::line(table.json(&reference));
    } else {
        output::write(&table.text(&reference));
    }
    write_csv(args.output.as_deref(), || table.csv())?;
    if let Some(path) = &args.plot {
        figure::work_precision(&table, &file.title, path)?;
    }
    if let Some(path) = &args.plot_steps {
        figure::steps(&table, &file.title, path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a table where one is asked for.
fn write_csv(path: Option<&Path>, table: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, table()).map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display())))?;
    eprintln!("written: {}", path.display());
    Ok(())
}

impl Args {
    /// The model with the changes; what was decided for the user is reported.
    fn read(&self) -> Result<ModelFile, Failure> {
        let file = read(&self.model, &self.changes.overrides()).map_err(Failure::Model)?;
        if !self.quiet {
            show_notes(&file.notes);
        }
        Ok(file)
    }

    /// Steps of time-stepping: those asked for, or `count` of them from the model's own, each half of the one before.
    fn steps_of(&self, file: &ModelFile, end: f64, count: usize) -> Result<Vec<f64>, Failure> {
        if let Some(step) = self.steps.iter().find(|h| !(**h > 0.0 && h.is_finite())) {
            return Err(Failure::Input(format!("step {step}: positive numbers are needed")));
        }
        if !self.steps.is_empty() {
            return Ok(self.steps.clone());
        }
        let own = file.run.step.unwrap_or_else(|| suggested_step(&file.model, &file.state, end, &file.run.integrator));
        Ok((0..count).map(|k| own * 0.5_f64.powi(k as i32)).collect())
    }

    fn check_tolerances(&self) -> Result<(), Failure> {
        match self.tolerances.iter().find(|t| !(**t > 0.0 && t.is_finite())) {
            Some(tolerance) => Err(Failure::Input(format!("tolerance {tolerance}: positive numbers are needed"))),
            None => Ok(()),
        }
    }

    /// The end time, which must lie after the start.
    fn end_of(&self, file: &ModelFile) -> Result<f64, Failure> {
        let end = self.end.unwrap_or(file.run.end);
        if end > file.state.t && end.is_finite() {
            return Ok(end);
        }
        Err(Failure::Input(format!("the end time {end} does not lie after the start {}", file.state.t)))
    }
}

/// The variants asked for, or all integrators.
fn variants(args: &Args, file: &ModelFile) -> Result<Vec<Variant>, Failure> {
    let all: Vec<String> = IntegratorKind::ALL.iter().map(|kind| kind.name().to_owned()).collect();
    let names = if args.integrators.is_empty() { &all } else { &args.integrators };
    names.iter().map(|text| Variant::parse(text.trim(), &file.run.integrator).map_err(Failure::Input)).collect()
}
