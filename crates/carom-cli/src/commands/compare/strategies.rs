//! Strategies side by side on a model with contacts: error and cost against the tolerance.

use super::measure::{EndState, Task as EndTask};
use super::method_variant::{Fineness, Method, MethodVariant};
use super::reference::{self, Reference};
use super::strategy_table::{StrategyRow, StrategyTable};
use super::{Args, figure};
use crate::commands::events::EventList;
use crate::commands::{Outcome, progress_bar};
use crate::failure::Failure;
use crate::output;
use carom::dynamics::StepMemory;
use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::strategies::{Continue, Ending, Observers, Progress, StrategyKind};
use carom::io::model_file::{ModelFile, RecordSettings, RunSettings};
use cpu_time::ThreadTime;
use std::process::ExitCode;

/// Strategies for references, the best first, and tolerances, the tightest first.
const REFERENCES: [&str; 2] = ["event-driven", "hybrid"];
const TOLERANCES: [f64; 3] = [1e-12, 1e-11, 1e-10];
/// Steps between two looks at the clock.
const CLOCK: usize = 64;

/// Runs the comparison.
pub fn compare(args: &Args) -> Outcome {
    let file = args.read()?;
    args.check_tolerances()?;
    let end = args.end_of(&file)?;
    let variants = variants(args)?;
    let steps = args.steps_of(&file, end, args.tolerances.len())?;
    let task = Task { file: &file, end, time_limit: args.time_limit };

    let bar = progress_bar((variants.len() * args.tolerances.len() + 1) as u64, args.quiet);
    bar.set_message("reference");
    let reference = match args.reference.as_str() {
        "auto" => task.reference(args)?,
        path => reference::read(path.as_ref(), task.end_task())?,
    };
    bar.inc(1);
    let mut table = StrategyTable { rows: Vec::new() };
    for variant in &variants {
        // one row says that a strategy cannot follow the model, and why
        let Ok(settings) = &variant.settings else {
            table.rows.push(StrategyRow::refused(variant));
            bar.inc(args.tolerances.len() as u64);
            continue;
        };
        let finenesses: Vec<Fineness> = match settings.strategy {
            StrategyKind::TimeStepping => steps.iter().copied().map(Fineness::Step).collect(),
            _ => args.tolerances.iter().copied().map(Fineness::Tolerance).collect(),
        };
        for fineness in finenesses {
            let (Fineness::Tolerance(x) | Fineness::Step(x)) = fineness;
            bar.set_message(format!("{} at {x:e}", variant.label));
            let mut settings = RunSettings { end, ..settings.clone() };
            fineness.set(&mut settings);
            let mut run = task.run(&settings);
            for _ in 1..args.repeat {
                if run.failure.is_none() {
                    run.cpu_time = run.cpu_time.min(task.run(&settings).cpu_time);
                }
            }
            table.rows.push(StrategyRow {
                strategy: variant.label.clone(),
                fineness: Some(fineness),
                cpu_time: run.cpu_time,
                span: run.span,
                events: run.events.counts(),
                errors: run.failure.is_none().then(|| task.end_task().errors(&run.end, &reference.end)),
                certificate: run.certificate,
                failure: run.failure,
            });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();

    if args.json {
        output::line(table.json(&reference));
    } else {
        output::write(&table.text(&reference));
    }
    super::write_csv(args.output.as_deref(), || table.csv())?;
    if let Some(path) = &args.plot {
        figure::strategies(&table, &file.title, path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The variants asked for; `all` are all strategies.
fn variants(args: &Args) -> Result<Vec<MethodVariant>, Failure> {
    let all = StrategyKind::ALL.map(StrategyKind::name).to_vec();
    let names = args.strategies.iter().flat_map(|name| if name.trim() == "all" { all.clone() } else { vec![name.as_str()] });
    names.map(|name| MethodVariant::read(args, name, Method::Strategy)).collect()
}

/// What to run.
struct Task<'a> {
    file: &'a ModelFile,
    end: f64,
    /// Longest CPU time of a run, s.
    time_limit: f64,
}

/// One run.
struct Measured {
    end: EndState,
    span: f64,
    certificate: Certificate,
    events: EventList,
    cpu_time: f64,
    /// Why it did not reach the end.
    failure: Option<String>,
}

impl Task<'_> {
    /// The part that knows the errors of ends.
    fn end_task(&self) -> EndTask<'_> {
        EndTask { model: &self.file.model, state: &self.file.state, end: self.end, time_limit: self.time_limit }
    }

    fn run(&self, settings: &RunSettings) -> Measured {
        let (model, mut state, limit) = (&self.file.model, self.file.state.clone(), self.time_limit);
        let mut events = EventList::default();
        let strategy = settings.strategy(RecordSettings { every: 0, ..RecordSettings::default() });
        let clock = ThreadTime::now();
        let (certificate, failure) = match StepMemory::new(model, &settings.solver) {
            Err(error) => (Certificate::default(), Some(error.to_string())),
            Ok(mut memory) => {
                let mut watch = |progress: &Progress| {
                    let late = progress.step.is_multiple_of(CLOCK) && clock.elapsed().as_secs_f64() > limit;
                    if late { Continue::Stop } else { Continue::Yes }
                };
                let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut events, watch: &mut watch });
                let failure = match outcome.ending {
                    Ending::Finished => None,
                    Ending::Interrupted => Some(format!("stopped after {limit} s of CPU time at t = {:.6} s", state.t)),
                    Ending::Failed(error) => Some(error.to_string()),
                };
                (outcome.certificate, failure)
            }
        };
        let cpu_time = clock.elapsed().as_secs_f64();
        let mut v = vec![0.0; model.systems().velocities().len()];
        model.systems().file_velocities(&state.q, &state.v, &mut v);
        Measured { end: EndState { q: state.q, v }, span: state.t - self.file.state.t, certificate, events, cpu_time, failure }
    }

    /// The finest run with located events that comes to the end, compared with one of ten times its tolerance.
    fn reference(&self, args: &Args) -> Result<Reference, Failure> {
        let mut said = String::new();
        for name in REFERENCES {
            let settings = match MethodVariant::read(args, name, Method::Strategy)?.settings {
                Ok(settings) => RunSettings { end: self.end, ..settings },
                Err(reason) => {
                    said = format!("{name}: {reason}");
                    continue;
                }
            };
            let run = |tolerance: f64| {
                let mut settings = settings.clone();
                Fineness::Tolerance(tolerance).set(&mut settings);
                self.run(&settings)
            };
            for tolerance in TOLERANCES {
                let fine = run(tolerance);
                if let Some(failure) = fine.failure {
                    said = format!("{name} at {tolerance:e}: {failure}");
                    continue;
                }
                let coarse = run(10.0 * tolerance);
                let accuracy = coarse.failure.is_none().then(|| self.end_task().errors(&coarse.end, &fine.end));
                let source = format!("{name} at {tolerance:e}, compared with {:e}", 10.0 * tolerance);
                return Ok(Reference { end: fine.end, source, accuracy });
            }
        }
        Err(Failure::Run(format!("no reference could be computed: {said}. Give one with --reference RUN.h5")))
    }
}
