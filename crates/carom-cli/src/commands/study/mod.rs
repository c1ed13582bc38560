//! `carom study`: a model run for all values of some keys, and what is measured in each run.
//!
//! Runs are independent and share the cores; the table is in the order of the values, whatever finishes first.

mod figure;
mod measure;
mod plan;
mod table;
mod trace;

use super::{Outcome, progress_bar};
use crate::changes::{Changes, show_notes};
use crate::failure::Failure;
use crate::output;
use carom::Simulation;
use carom::dynamics::strategies::{Continue, Ending, Progress};
use clap::Parser;
use measure::{Measure, Measurement};
use plan::{Plan, Variation};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use table::{Row, Table};

#[derive(Parser)]
pub struct Args {
    /// Study file (study.toml), folder with a study.toml, or model file or folder with --vary
    model: PathBuf,
    /// A key with its values, e.g. simulation.step=1e-3,1e-4 or contact.floor.restitution=0.2,0.5 (may be repeated: all combinations)
    #[arg(long, value_name = "KEY=A,B,…")]
    vary: Vec<Variation>,
    /// What to measure, NAME=MEASURE or MEASURE alone: `last Q`, `max Q`, `min Q`, `mean Q` of a quantity such as q.x, v.x, x.i, lambda.d, control.pid.u,
    /// energy; `events KIND` or `events KIND NAME`; `steps`, `wall_time`, `cpu_time`, `energy_error`, `penetration`, `residual` (may be repeated)
    #[arg(long, value_name = "MEASURE")]
    measure: Vec<Measure>,
    #[command(flatten)]
    changes: Changes,
    /// Write the table to this CSV file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Take over the runs that are in the output file already, and run the others
    #[arg(long, requires = "output")]
    resume: bool,
    /// Draw the measures against the last key that varies (SVG or PNG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Draw the curves of the study's [trace] (SVG or PNG)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Runs at a time [default: the cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// No progress bar
    #[arg(long)]
    quiet: bool,
}

pub fn study(args: &Args) -> Outcome {
    let plan = Plan::read(args)?;
    if let Some(path) = &args.trace {
        trace::draw(&plan, path)?;
    }
    let cases = plan.cases();
    let mut rows: Vec<Option<Row>> = vec![None; cases.len()];
    if let (true, Some(path)) = (args.resume, &args.output) {
        table::take_over(path, &plan, &cases, &mut rows)?;
    }
    // the first case tells mistakes in the model before any time is spent
    if let Some(first) = rows.iter().position(Option::is_none) {
        let simulation = Simulation::from_path(&plan.model, &plan.overrides(&cases[first])?)?;
        plan.measures.iter().try_for_each(|measure| measure.check(&simulation))?;
        if !args.quiet {
            show_notes(&simulation.file.notes);
        }
    }
    let bar = progress_bar(cases.len() as u64, args.quiet);
    bar.inc(rows.iter().flatten().count() as u64);
    let left: Vec<usize> = (0..cases.len()).filter(|&i| rows[i].is_none()).collect();
    let done = run_all(&left, args.threads, |i| {
        let row = one(&plan, &cases[i]);
        bar.inc(1);
        row
    })?;
    bar.finish_and_clear();
    for (i, row) in done {
        rows[i] = Some(row?);
    }
    let table = Table { plan: &plan, rows: rows.into_iter().flatten().collect() };
    if let Some(path) = &args.output {
        table.write_csv(path)?;
    }
    if let Some(path) = &args.plot {
        figure::draw(&table, path)?;
    }
    if args.json {
        output::line(table.json());
    } else {
        output::write(&table.markdown());
    }
    let failed = table.rows.iter().filter(|row| row.failure.is_some()).count();
    if failed > 0 {
        return Err(Failure::Run(format!("{failed} of {} runs failed; the table says why", table.rows.len())));
    }
    Ok(ExitCode::SUCCESS)
}

/// A case by its number, and what came of it.
type Done = (usize, Result<Row, Failure>);

/// Runs the cases in their order, each on one thread, several side by side: threads that all runs share would wait for each other's steps.
fn run_all(left: &[usize], threads: Option<u16>, run: impl Fn(usize) -> Result<Row, Failure> + Sync) -> Result<Vec<Done>, Failure> {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let n = threads.filter(|n| *n > 0).map_or_else(all, usize::from).min(left.len());
    let pools: Result<Vec<_>, _> = (0..n).map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build()).collect();
    let pools = pools.map_err(|error| Failure::Run(format!("cannot start threads: {error}")))?;
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for pool in &pools {
            scope.spawn(|| {
                while let Some(&case) = left.get(next.fetch_add(1, Relaxed)) {
                    let row = pool.install(|| run(case));
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((case, row));
                }
            });
        }
    });
    Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// One run.
fn one(plan: &Plan, case: &[String]) -> Result<Row, Failure> {
    let mut simulation = Simulation::from_path(&plan.model, &plan.overrides(case)?)?;
    if !plan.measures.iter().any(Measure::needs_frames) {
        simulation.file.record.every = 0;
        simulation.file.record.interval = None;
    }
    let mut measurement = Measurement::new(&plan.measures, &simulation)?;
    let (wall, cpu) = (Instant::now(), cpu_time::ThreadTime::now());
    let mut watch = |_: &Progress| Continue::Yes;
    let outcome = simulation.run(&mut measurement, &mut watch);
    let times = (wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let failure = match outcome.ending {
        Ending::Failed(error) => Some(error.to_string()),
        Ending::Finished | Ending::Interrupted => None,
    };
    let values = measurement.values(&outcome.certificate, times);
    Ok(Row { case: case.to_vec(), values, failure })
}
