//! `carom run`: a model file to a recorded, certified trajectory.

use super::dump::ProblemDump;
use super::events::EventList;
use super::report::Report;
use super::{Outcome, progress_bar};
use crate::changes::{Changes, show_notes};
use crate::failure::Failure;
use crate::output;
use carom::Simulation;
use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::error::RecordError;
use carom::dynamics::recording::{Frame, Recorder, StepProblem};
use carom::dynamics::report::Event;
use carom::dynamics::strategies::{Continue, Ending, Progress};
use carom::io::model_file::{MODEL_FILE, RecordSettings};
use carom::io::recording::{CsvRecorder, Hdf5Options, Hdf5Recorder, MultiRecorder, RecordingError};
use clap::Parser;
use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two updates of the progress bar.
const REDRAW: Duration = Duration::from_millis(100);

#[derive(Parser)]
pub struct Args {
    /// Model file, or folder with a model.toml
    model: PathBuf,
    #[command(flatten)]
    changes: Changes,
    /// File for the recorded run (HDF5) [default: the model's name with .h5, numbered if it exists]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also record to this CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Record nothing
    #[arg(long, conflicts_with_all = ["output", "csv"])]
    no_record: bool,
    /// Record every N steps; overrides [record] every
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    /// Compress the recorded run (deflate level 0 to 9)
    #[arg(long, value_name = "LEVEL", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=9))]
    compress: u8,
    /// Write the one-step problems of the run into this folder, in the FCLIB format
    #[arg(long, value_name = "FOLDER")]
    dump_problems: Option<PathBuf>,
    /// Write the problem of every N-th step only
    #[arg(long, value_name = "N", default_value_t = 1, requires = "dump_problems", value_parser = clap::value_parser!(u64).range(1..))]
    dump_every: u64,
    /// Write at most N problems
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "dump_problems")]
    dump_limit: u64,
    /// Replace output files that exist
    #[arg(long)]
    overwrite: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// No progress bar, no summary
    #[arg(long)]
    quiet: bool,
}

pub fn run(args: Args) -> Outcome {
    let mut simulation = Simulation::from_path(&args.model, &args.changes.overrides())?;
    if args.no_record {
        simulation.file.record = RecordSettings { every: 0, ..RecordSettings::default() };
    } else if let Some(n) = args.every {
        simulation.file.record.every = n as usize;
    }
    let overlaps = crate::overlaps::of(&simulation.file.model, &simulation.file.state);
    if !args.quiet {
        show_notes(&simulation.file.notes);
        crate::overlaps::warn(&overlaps);
        crate::meshes::warn(&crate::meshes::of(&simulation.file.shapes.spatial));
    }
    let (mut recorders, files) = recorders(&args, &simulation)?;
    let mut dump = dump(&args)?;
    let mut events = EventList::default();
    let stop = stop_on_signal();
    let bar = progress_bar(1000, args.quiet);

    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let outcome = {
        let mut recorder = Listeners { events: &mut events, files: &mut recorders, dump: &mut dump };
        let mut drawn = wall;
        let mut watch = |progress: &Progress| {
            if !bar.is_hidden() && drawn.elapsed() >= REDRAW {
                drawn = Instant::now();
                show(progress, &bar);
            }
            if stop.load(Ordering::Relaxed) { Continue::Stop } else { Continue::Yes }
        };
        simulation.run(&mut recorder, &mut watch)
    };
    let (wall_time, cpu_time) = (wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    drop(recorders);
    bar.finish_and_clear();
    if let Some(dump) = &dump {
        eprintln!("{}", dump.summary());
    }

    let status = outcome.ending.status();
    let report = Report { simulation: &simulation, certificate: &outcome.certificate, status, events, wall_time, cpu_time, files };
    if args.json {
        let mut json = report.json();
        if !overlaps.is_empty() {
            json["overlaps"] = crate::overlaps::json(&overlaps);
        }
        output::line(json);
    } else if !args.quiet {
        output::write(&report.text());
    }
    match outcome.ending {
        Ending::Finished => Ok(ExitCode::SUCCESS),
        Ending::Interrupted => Ok(ExitCode::from(130)),
        Ending::Failed(error) => Err(Failure::Run(error.to_string())),
    }
}

/// The events for the report, the files, and the folder of problems.
struct Listeners<'a, 'b> {
    events: &'a mut EventList,
    files: &'a mut MultiRecorder<'b>,
    dump: &'a mut Option<ProblemDump>,
}

impl Recorder for Listeners<'_, '_> {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        self.files.frame(frame)
    }
    fn takes_contacts(&self) -> bool {
        self.files.takes_contacts()
    }
    fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.events.event(event)?;
        self.files.event(event)
    }
    fn problem(&mut self, problem: &StepProblem<'_>) -> Result<(), RecordError> {
        self.files.problem(problem)?;
        self.dump.as_mut().map_or(Ok(()), |dump| dump.problem(problem))
    }
    fn no_problem(&mut self, step: usize) -> Result<(), RecordError> {
        self.files.no_problem(step)?;
        self.dump.as_mut().map_or(Ok(()), |dump| dump.no_problem(step))
    }
    fn finish(&mut self, certificate: &Certificate, status: &str) -> Result<(), RecordError> {
        self.files.finish(certificate, status)
    }
}

/// The recorders the arguments ask for, and the files they will leave.
fn recorders(args: &Args, simulation: &Simulation) -> Result<(MultiRecorder<'static>, Vec<PathBuf>), Failure> {
    let (mut recorders, mut files) = (MultiRecorder::new(), Vec::new());
    if args.no_record {
        return Ok((recorders, files));
    }
    let wrong = |error: RecordingError| match error {
        RecordingError::AlreadyExists { path } => {
            Failure::Input(format!("{} exists; add --overwrite to replace it, or choose another name", path.display()))
        }
        other => Failure::Input(other.to_string()),
    };
    let info = simulation.run_info();
    let options = Hdf5Options { overwrite: args.overwrite, compression: args.compress, ..Hdf5Options::default() };
    let output = args.output.clone().unwrap_or_else(|| default_output(&args.model, args.overwrite));
    recorders.push(Hdf5Recorder::create(&output, &info, options).map_err(wrong)?);
    files.push(output);
    if let Some(csv) = &args.csv {
        recorders.push(CsvRecorder::create(csv, &info, args.overwrite).map_err(wrong)?);
        files.push(csv.clone());
    }
    Ok((recorders, files))
}

/// The folder of problems the arguments ask for.
fn dump(args: &Args) -> Result<Option<ProblemDump>, Failure> {
    let Some(folder) = &args.dump_problems else { return Ok(None) };
    let is_used = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if is_used && !args.overwrite {
        return Err(Failure::Input(format!(
            "{} is not empty; add --overwrite to write into it, or choose another folder",
            folder.display()
        )));
    }
    std::fs::create_dir_all(folder).map_err(|error| Failure::Input(format!("cannot create {}: {error}", folder.display())))?;
    Ok(Some(ProblemDump::new(folder, &model_name(&args.model), args.dump_every, args.dump_limit)))
}

/// `bouncing_ball` for `models/bouncing_ball`.
fn model_name(model: &Path) -> String {
    let folder = if model.is_dir() { Some(model) } else { model.parent().filter(|_| model.file_name().is_some_and(|n| n == MODEL_FILE)) };
    let folder = folder.and_then(|f| f.canonicalize().ok());
    folder.as_deref().unwrap_or(model).file_stem().map_or_else(|| "run".into(), |s| s.to_string_lossy().into_owned())
}

/// `bouncing_ball.h5` for `models/bouncing_ball`, with a number when that exists and may not be replaced.
fn default_output(model: &Path, overwrite: bool) -> PathBuf {
    let stem = model_name(model);
    let taken = |name: &str| Path::new(name).exists() || Path::new(&format!("{name}.part")).exists();
    let mut name = format!("{stem}.h5");
    let mut number = 2;
    while !overwrite && taken(&name) {
        name = format!("{stem}-{number}.h5");
        number += 1;
    }
    PathBuf::from(name)
}

/// Set by Ctrl-C or a termination signal: the run then ends cleanly.
fn stop_on_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // without a handler, Ctrl-C ends the process and leaves the `.part` file
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    stop
}

fn show(progress: &Progress, bar: &ProgressBar) {
    let done = if progress.end > 0.0 { progress.t / progress.end } else { 1.0 };
    bar.set_position((1000.0 * done) as u64);
    bar.set_message(format!("t = {:.4} s, {} active", progress.t, progress.n_active));
}
