//! The reference solution: from a file, or by the most accurate methods there are, two of them to know how far it can be trusted.

use super::measure::{EndState, Errors, Task};
use super::states::{States, check_end};
use crate::failure::Failure;
use carom::dynamics::integrators::{IntegratorKind, IntegratorParams, StepControl};
use carom::dynamics::systems::{Coordinate, Coordinates};
use carom::io::recording::{RecordingError, RunFile};
use std::path::Path;

/// Methods for references, the best first; what else controls its error follows by its order.
const PREFERRED: [&str; 5] = ["extrapolation", "dopri5", "hem5", "phem56", "radau-iia"];
/// Tolerances tried, the tightest first: below the first, round-off decides.
const TOLERANCES: [f64; 3] = [1e-13, 1e-12, 1e-11];
/// Steps of the coarsest run with constant steps, and how often they are halved at most.
const HALVINGS: (usize, u32) = (1000, 9);

/// A reference and how well it is known.
pub struct Reference {
    pub end: EndState,
    /// How it was made.
    pub source: String,
    /// Difference of the two ways it was computed; `None` for a file.
    pub accuracy: Option<Errors>,
}

/// Computes a reference over the settings of the model.
///
/// # Errors
/// When no method comes to the end, with what the last one said.
pub fn compute(task: Task<'_>, base: &IntegratorParams) -> Result<Reference, Failure> {
    let mut found: Vec<(EndState, String)> = Vec::new();
    let mut said = "there is none that controls its error".to_owned();
    for kind in candidates() {
        for tolerance in TOLERANCES {
            let params = IntegratorParams {
                kind,
                tolerance,
                order: None,
                formulation: None,
                absolute_tolerance: None,
                relative_tolerance: None,
                max_drift: None,
                control: StepControl::Adaptive,
                ..base.clone()
            };
            let run = task.run(&params, false);
            match run.failure {
                None => {
                    found.push((run.end, format!("{} at {tolerance:e}", kind.name())));
                    break;
                }
                Some(failure) => said = format!("{} at {tolerance:e}: {failure}", kind.name()),
            }
        }
        if found.len() == 2 {
            break;
        }
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some((end, first)), Some((second_end, second))) => {
            let accuracy = Some(task.errors(&second_end, &end));
            Ok(Reference { end, source: format!("{first}, compared with {second}"), accuracy })
        }
        (first, _) => by_constant_steps(task, base, first.map(|f| f.0)).map_err(|failure| {
            Failure::Run(format!("no reference could be computed: {said}; {failure}. Give one with --reference FILE.csv"))
        }),
    }
}

/// The methods that control their error: the preferred ones, then by order.
fn candidates() -> Vec<IntegratorKind> {
    let mut kinds: Vec<IntegratorKind> = IntegratorKind::ALL.iter().copied().filter(|kind| kind.entry().has_estimate).collect();
    let order = |kind: IntegratorKind| (kind.entry().orders)(&IntegratorParams { kind, ..IntegratorParams::default() }).position;
    let place = |kind: IntegratorKind| PREFERRED.iter().position(|name| *name == kind.name()).unwrap_or(PREFERRED.len());
    kinds.sort_by(|a, b| place(*a).cmp(&place(*b)).then(order(*b).total_cmp(&order(*a))));
    kinds
}

/// Constant steps of the classical method, halved until the result no longer improves; compared with `other` or with twice the step.
fn by_constant_steps(task: Task<'_>, base: &IntegratorParams, other: Option<EndState>) -> Result<Reference, String> {
    let span = task.end - task.state.t;
    let (mut before, mut least): (Option<EndState>, Option<(EndState, Errors, usize)>) = (None, None);
    for halving in 0..=HALVINGS.1 {
        let n = HALVINGS.0 << halving;
        let params = IntegratorParams {
            kind: IntegratorKind::Rk4,
            order: None,
            formulation: None,
            control: StepControl::Fixed,
            step: Some(span / n as f64),
            max_drift: None,
            ..base.clone()
        };
        let run = task.run(&params, false);
        if let Some(failure) = run.failure {
            if least.is_some() {
                break;
            }
            return Err(failure);
        }
        if let Some(before) = &before {
            let change = task.errors(before, &run.end);
            if least.as_ref().is_some_and(|(_, least, _)| change.largest() >= 0.5 * least.largest()) {
                break;
            }
            least = Some((run.end.clone(), change, n));
        }
        before = Some(run.end);
    }
    let (end, change, n) = least.ok_or("constant steps gave nothing")?;
    let accuracy = Some(other.as_ref().map_or(change, |other| task.errors(other, &end)));
    let with = if other.is_some() { "another method" } else { "steps of twice the size" };
    Ok(Reference { end, source: format!("{n} steps of rk4, compared with {with}"), accuracy })
}

/// Reads the last row of a table of states, as `carom run --csv` and `carom export` write it, or the last frame of a recorded run.
///
/// # Errors
/// A file that cannot be read, columns that are missing, another end time.
pub fn read(path: &Path, task: Task<'_>) -> Result<Reference, Failure> {
    let systems = task.model.systems();
    if path.extension().is_none_or(|extension| extension != "csv") {
        return of_run(path, task);
    }
    let states = States::read(path)?;
    states.check_end(task.end)?;
    let all = |prefix: &str, names: &Coordinates| names.iter().map(|c| states.last(&format!("{prefix}.{}", c.name))).collect();
    let q: Result<Vec<f64>, Failure> = all("q", systems.coordinates());
    let v: Result<Vec<f64>, Failure> = all("v", systems.velocities());
    Ok(Reference { end: EndState { q: q?, v: v? }, source: path.display().to_string(), accuracy: None })
}

/// The last frame of a recorded run.
fn of_run(path: &Path, task: Task<'_>) -> Result<Reference, Failure> {
    let wrong = |error: RecordingError| Failure::Input(format!("reference {}: {error}", path.display()));
    let run = RunFile::open(path).map_err(wrong)?;
    check_end(path, run.time().last().copied().unwrap_or(f64::NAN), task.end)?;
    let systems = task.model.systems();
    let all = |prefix: &str, names: &Coordinates| -> Result<Vec<f64>, Failure> {
        let last = |c: Coordinate| Ok(run.quantity(&format!("{prefix}.{}", c.name))?[0].values.last().copied().unwrap_or(f64::NAN));
        names.iter().map(last).collect::<Result<_, RecordingError>>().map_err(wrong)
    };
    let end = EndState { q: all("q", systems.coordinates())?, v: all("v", systems.velocities())? };
    Ok(Reference { end, source: path.display().to_string(), accuracy: None })
}
