//! One short run of a model within a limit of time: where it ended, how it came there, what it reports.

use super::methods::{Method, describe};
use crate::commands::events::EventList;
use crate::commands::report::Report;
use carom::Simulation;
use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::error::RecordError;
use carom::dynamics::integrators::StepControl;
use carom::dynamics::recording::{Frame, Recorder};
use carom::dynamics::report::{Event, EventKind};
use carom::dynamics::strategies::{Continue, Ending, Progress, StrategyKind};
use carom::io::model_file::{Override, RecordSettings, RunSettings};
use carom::simulation::SetupError;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Factor of the tolerances of a method that chooses its steps itself, in place of half the step: the error of such a run is about
/// proportional to its tolerance.
const TIGHTER: f64 = 0.1;
/// Smallest tolerance that integrators take.
const LEAST_TOLERANCE: f64 = 1e-13;
/// Room for the stack of a trial: large models are deep.
const STACK: usize = 32 << 20;

/// What to run.
#[derive(Clone, Debug)]
pub struct Trial {
    pub model: PathBuf,
    /// End time; `None` for the model's own.
    pub end: Option<f64>,
    /// The word that changes the method; `None` for the model's own.
    pub method: Option<Method>,
    /// With half the step, or a tenth of the tolerance.
    pub refined: bool,
    /// Time between frames of methods that choose their steps, s; 0 for no frames but the first and last.
    pub interval: f64,
    /// Longest time on the clock, s.
    pub limit: f64,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    Finished,
    /// The file is refused, for this reason.
    Refused(String),
    /// It stopped by itself, for this reason.
    Failed(String),
    /// The limit of time came first.
    Slow,
}

/// An instant of a motion, velocities as files give them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instants {
    pub t: Vec<f64>,
    pub q: Vec<Vec<f64>>,
    pub v: Vec<Vec<f64>>,
    pub x: Vec<Vec<f64>>,
}

/// What a trial gave.
#[derive(Clone, Debug)]
pub struct Tried {
    pub ended: Ended,
    /// The method that was in use.
    pub method: String,
    /// Step of time-stepping or of a fixed integrator, s; 0 where the method chooses it.
    pub step: f64,
    pub start: f64,
    pub end: f64,
    pub instants: Instants,
    /// Times of events at which velocities may jump.
    pub jumps: Vec<f64>,
    /// The object of `carom run --json`.
    pub report: Value,
}

impl Tried {
    /// A trial that came to nothing.
    pub fn ended(ended: Ended) -> Self {
        Tried {
            ended,
            method: String::new(),
            step: 0.0,
            start: 0.0,
            end: 0.0,
            instants: Instants::default(),
            jumps: Vec::new(),
            report: Value::Null,
        }
    }
}

impl Trial {
    /// Runs on a thread of its own, with one thread for its loops: bits do not depend on how many there are. A panic is a failure; a step
    /// that does not end by twice the limit is left to itself.
    pub fn run(&self) -> Tried {
        let (send, receive) = channel();
        let trial = self.clone();
        let work = move || {
            let tried = catch_unwind(AssertUnwindSafe(|| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
                match pool {
                    Ok(pool) => pool.install(|| trial.run_here()),
                    Err(error) => Tried::ended(Ended::Failed(format!("no thread: {error}"))),
                }
            }));
            // nobody listens to a trial that was given up
            let _ = send.send(tried.unwrap_or_else(|panic| Tried::ended(Ended::Failed(format!("panicked: {}", message(&*panic))))));
        };
        if let Err(error) = std::thread::Builder::new().stack_size(STACK).spawn(work) {
            return Tried::ended(Ended::Failed(format!("no thread: {error}")));
        }
        let patience = Duration::from_secs_f64(2.0 * self.limit + 1.0);
        receive.recv_timeout(patience).unwrap_or_else(|_| Tried::ended(Ended::Slow))
    }

    fn run_here(&self) -> Tried {
        let mut overrides: Vec<Override> = Vec::new();
        if let Some(end) = self.end {
            let path = ["simulation", "end"].map(str::to_owned).to_vec();
            overrides.push(Override { path, value: format!("{end:e}") });
        }
        overrides.extend(self.method.map(Method::word));
        let mut simulation = match Simulation::from_path(&self.model, &overrides) {
            Ok(simulation) => simulation,
            Err(error) => return Tried::ended(Ended::Refused(reason(&error))),
        };
        let run = &mut simulation.file.run;
        let step = step_of(run);
        let method = describe(run);
        if let Some(unused) = self.method.filter(|method| !method.is_used_by(run)) {
            return Tried::ended(Ended::Refused(format!("{} is not used: the run is by {method}", unused.name)));
        }
        if self.refined {
            refine(run);
        }
        simulation.file.record = record(&simulation.file.run, self.interval);
        let (start, end) = (simulation.file.state.t, simulation.file.run.end);
        let mut keeper = Keeper::default();
        let clock = Instant::now();
        let mut watch = |_: &Progress| if clock.elapsed().as_secs_f64() > self.limit { Continue::Stop } else { Continue::Yes };
        let outcome = simulation.run(&mut keeper, &mut watch);
        let ended = match &outcome.ending {
            Ending::Finished => Ended::Finished,
            Ending::Interrupted => Ended::Slow,
            Ending::Failed(error) => Ended::Failed(one_line(&error.to_string())),
        };
        let report = Report {
            simulation: &simulation,
            certificate: &outcome.certificate,
            status: outcome.ending.status(),
            events: keeper.events,
            wall_time: 0.0,
            cpu_time: 0.0,
            files: Vec::new(),
        };
        let report = report.json();
        Tried { ended, method, step, start, end, instants: keeper.instants, jumps: keeper.jumps, report }
    }
}

/// What a panic says.
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// The first mistake of a file, without the place.
fn reason(error: &SetupError) -> String {
    match error {
        SetupError::File(error) => error.diagnostics.first().map_or_else(String::new, |mistake| one_line(&mistake.message)),
        SetupError::Solver(error) => one_line(&error.to_string()),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The constant step of a run, or 0.
fn step_of(run: &RunSettings) -> f64 {
    let of_integrator = || if run.integrator.control == StepControl::Fixed { run.integrator.step } else { None };
    let step = match run.strategy {
        StrategyKind::TimeStepping => run.step,
        StrategyKind::Smooth | StrategyKind::EventDriven | StrategyKind::Hybrid => of_integrator(),
        StrategyKind::Adaptive => None,
    };
    step.unwrap_or(0.0)
}

/// Half the step of methods that have one, a tenth of the tolerance of those that choose it.
fn refine(run: &mut RunSettings) {
    let tighter = |tolerance: f64| (TIGHTER * tolerance).max(LEAST_TOLERANCE);
    run.step = run.step.map(|step| 0.5 * step);
    let integrator = &mut run.integrator;
    if integrator.control == StepControl::Fixed {
        integrator.step = integrator.step.map(|step| 0.5 * step);
    }
    integrator.tolerance = tighter(integrator.tolerance);
    integrator.absolute_tolerance = integrator.absolute_tolerance.map(tighter);
    integrator.relative_tolerance = integrator.relative_tolerance.map(tighter);
    let adaptive = &mut run.adaptive;
    adaptive.tolerance = tighter(adaptive.tolerance);
    adaptive.absolute_tolerance = adaptive.absolute_tolerance.map(tighter);
    adaptive.relative_tolerance = adaptive.relative_tolerance.map(tighter);
    adaptive.min_step *= 0.5;
    run.hybrid.min_step *= 0.5;
    run.hybrid.max_step *= 0.5;
}

/// Frames at every step of time-stepping, and by interpolation where that changes no step.
fn record(run: &RunSettings, interval: f64) -> RecordSettings {
    let interpolates = run.strategy.integrates();
    let (every, interval) = match (interval > 0.0, interpolates) {
        (false, _) => (0, None),
        (true, true) => (0, Some(interval)),
        (true, false) => (1, None),
    };
    RecordSettings { every, interval, contacts: false, ..RecordSettings::default() }
}

/// Keeps states and events.
#[derive(Default)]
struct Keeper {
    instants: Instants,
    jumps: Vec<f64>,
    events: EventList,
}

impl Recorder for Keeper {
    fn takes_contacts(&self) -> bool {
        false
    }
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        let kept = &mut self.instants;
        kept.t.push(frame.t);
        kept.q.push(frame.q.to_vec());
        kept.v.push(frame.v.to_vec());
        kept.x.push(frame.x.to_vec());
        Ok(())
    }
    fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        use EventKind::{Accumulation, ContactClosed, Impact, ImpactWithoutCollision, ModeChanged, StateJump, TimeEvent};
        if matches!(event.kind, Accumulation | ContactClosed | Impact | ImpactWithoutCollision | ModeChanged | StateJump | TimeEvent) {
            self.jumps.push(event.t);
        }
        self.events.event(event)
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}
