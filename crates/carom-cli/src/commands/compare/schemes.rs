//! Time-stepping schemes side by side: error, cost and violations against the step.

use super::method_variant::{Method, MethodVariant, file_with};
use super::scheme_table::{SchemeRow, SchemeTable};
use super::states::States;
use super::trajectory::{PathErrors, Trajectory, Watcher};
use super::{Args, figure};
use crate::commands::{Outcome, progress_bar};
use crate::failure::Failure;
use crate::output;
use carom::dynamics::schemes::SCHEMES;
use carom::dynamics::strategies::{Continue, Ending, Observers, StrategyKind};
use carom::dynamics::{State, StepMemory};
use carom::io::model_file::{ModelFile, RecordSettings, RunSettings};
use cpu_time::ThreadTime;
use std::path::Path;
use std::process::ExitCode;

/// The reference has steps of this fraction of the smallest one compared; it is judged by a run with twice that.
const REFERENCE_FRACTION: f64 = 0.125;
/// Steps between two looks at the clock.
const CLOCK: usize = 256;

/// Runs the comparison.
pub fn compare(args: &Args) -> Outcome {
    let mut file = args.read()?;
    if file.run.strategy != StrategyKind::TimeStepping {
        file = file_with(args, StrategyKind::TimeStepping.name(), Method::Strategy)?;
    }
    let end = args.end_of(&file)?;
    let steps = args.steps_of(&file, end, 4)?;
    let (variants, refused) = variants(args)?;
    let task = Task { file: &file, end, time_limit: args.time_limit };

    let bar = progress_bar((variants.len() * steps.len() + 1) as u64, args.quiet);
    bar.set_message("reference");
    let smallest = steps.iter().fold(f64::INFINITY, |a, b| a.min(*b));
    let reference = match args.reference.as_str() {
        "auto" => task.reference(REFERENCE_FRACTION * smallest)?,
        path => task.read_reference(path.as_ref())?,
    };
    bar.inc(1);
    let mut rows = Vec::new();
    for (label, settings) in &variants {
        for &step in &steps {
            bar.set_message(format!("{label} at {step:e} s"));
            let mut row = task.run(settings, step);
            for _ in 1..args.repeat {
                if row.failure.is_none() {
                    row.cpu_time = row.cpu_time.min(task.run(settings, step).cpu_time);
                }
            }
            let errors = row.failure.is_none().then(|| row.trajectory.errors(&file.model, &reference.trajectory));
            rows.push(SchemeRow::new(label.clone(), step, row, errors));
            bar.inc(1);
        }
    }
    bar.finish_and_clear();

    let table = SchemeTable { rows, refused, reference: reference.source, accuracy: reference.accuracy };
    if args.json {
        output::line(table.json());
    } else {
        output::write(&table.text());
    }
    super::write_csv(args.output.as_deref(), || table.csv())?;
    if let Some(path) = &args.plot {
        figure::schemes(&table, &file.title, path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A scheme that knows the model's laws, with its label.
type Able = (String, RunSettings);

/// The variants asked for, or all schemes; and those that cannot follow the model, with the reason.
fn variants(args: &Args) -> Result<(Vec<Able>, Vec<String>), Failure> {
    let all: Vec<&str> = SCHEMES.iter().map(|entry| entry.name).collect();
    let names = args.schemes.iter().flat_map(|name| if name.trim() == "all" { all.clone() } else { vec![name.as_str()] });
    let (mut able, mut refused) = (Vec::new(), Vec::new());
    for name in names {
        let MethodVariant { label, settings } = MethodVariant::read(args, name, Method::Scheme)?;
        match settings {
            Ok(settings) => able.push((label, settings)),
            Err(reason) => refused.push(reason),
        }
    }
    if able.is_empty() {
        return Err(Failure::Input(refused.join("\n")));
    }
    Ok((able, refused))
}

/// What to run.
struct Task<'a> {
    file: &'a ModelFile,
    end: f64,
    /// Longest CPU time of a run, s.
    time_limit: f64,
}

/// One run.
pub struct Measured {
    pub trajectory: Trajectory,
    pub certificate: carom::dynamics::diagnostics::Certificate,
    pub cpu_time: f64,
    /// Why it did not reach the end.
    pub failure: Option<String>,
}

/// The reference and how well it is known.
struct Reference {
    trajectory: Trajectory,
    source: String,
    /// `None` for a file.
    accuracy: Option<PathErrors>,
}

impl Task<'_> {
    fn run(&self, settings: &RunSettings, step: f64) -> Measured {
        let settings = RunSettings { end: self.end, step: Some(step), ..settings.clone() };
        let mut trajectory = Trajectory::new(self.file.state.t, self.end);
        let mut state: State = self.file.state.clone();
        let clock = ThreadTime::now();
        let mut memory = match StepMemory::new(&self.file.model, &settings.solver) {
            Ok(memory) => memory,
            Err(error) => {
                let (certificate, failure) = (Default::default(), Some(error.to_string()));
                return Measured { trajectory, certificate, cpu_time: 0.0, failure };
            }
        };
        let (mut late, limit) = (false, self.time_limit);
        let outcome = {
            let mut watch = |progress: &carom::dynamics::strategies::Progress| {
                late = progress.step.is_multiple_of(CLOCK) && clock.elapsed().as_secs_f64() > limit;
                if late { Continue::Stop } else { Continue::Yes }
            };
            let strategy = settings.strategy(RecordSettings::default());
            let mut recorder = Watcher { trajectory: &mut trajectory, model: &self.file.model };
            strategy.run(&self.file.model, &mut state, &mut memory, Observers { recorder: &mut recorder, watch: &mut watch })
        };
        let failure = match outcome.ending {
            Ending::Finished => None,
            Ending::Interrupted => Some(format!("stopped after {limit} s of CPU time at t = {:.6} s", state.t)),
            Ending::Failed(error) => Some(error.to_string()),
        };
        Measured { trajectory, certificate: outcome.certificate, cpu_time: clock.elapsed().as_secs_f64(), failure }
    }

    /// The model's own scheme with a small step, compared with twice that.
    fn reference(&self, step: f64) -> Result<Reference, Failure> {
        let own = &self.file.run;
        let (fine, coarse) = (self.run(own, step), self.run(own, 2.0 * step));
        if let Some(failure) = fine.failure.or(coarse.failure) {
            return Err(Failure::Run(format!("no reference could be computed with steps of {step:e} s: {failure}")));
        }
        let accuracy = Some(coarse.trajectory.errors(&self.file.model, &fine.trajectory));
        Ok(Reference { trajectory: fine.trajectory, source: format!("{} with steps of {step:e} s", own.scheme.entry().name), accuracy })
    }

    /// The states of a file.
    fn read_reference(&self, path: &Path) -> Result<Reference, Failure> {
        let states = States::read(path)?;
        let t = states.column("t")?;
        states.check_end(self.end)?;
        let names = self.file.model.systems().coordinates();
        let of_states = self.file.model.first_order().map_or(&[][..], |set| set.states());
        let names = names.iter().map(|c| format!("q.{}", c.name)).chain(of_states.iter().map(|c| format!("x.{}", c.name)));
        let columns: Result<Vec<Vec<f64>>, Failure> = names.map(|name| states.column(&name)).collect();
        let (columns, mut trajectory) = (columns?, Trajectory::new(self.file.state.t, self.end));
        for (k, t) in t.into_iter().enumerate() {
            let q: Vec<f64> = columns.iter().map(|column| column[k]).collect();
            trajectory.push(&self.file.model, t, &q);
        }
        Ok(Reference { trajectory, source: path.display().to_string(), accuracy: None })
    }
}
