//! Shared by the tests: runs a problem and keeps what was recorded.

use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::problems::Problem;
use carom_dynamics::recording::{Event, Frame, RecordError, Recorder};
use carom_dynamics::schemes::{MoreauJean, MoreauJeanParams};
use carom_dynamics::strategies::{Continue, Ending, Observers, OnFailure, Strategy, TimeStepping};
use carom_dynamics::{Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

/// What a frame held.
#[derive(Clone, Debug)]
pub struct Kept {
    pub t: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub impulse: f64,
    pub mechanical: f64,
}

/// Keeps frames and events in memory.
#[derive(Default)]
pub struct Keep {
    pub frames: Vec<Kept>,
    pub events: Vec<Event>,
    pub finished: usize,
}

impl Recorder for Keep {
    fn frame(&mut self, f: &Frame<'_>) -> Result<(), RecordError> {
        let impulse = f.contacts.iter().map(|c| c.impulse[0]).sum();
        self.frames.push(Kept { t: f.t, q: f.q.to_vec(), v: f.v.to_vec(), impulse, mechanical: f.energy.mechanical() });
        Ok(())
    }
    fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.events.push(event.clone());
        Ok(())
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        self.finished += 1;
        Ok(())
    }
}

/// A finished run.
pub struct Done {
    pub state: State,
    pub certificate: Certificate,
    pub keep: Keep,
}

/// Runs a model by Moreau–Jean with fixed steps, recording all of them.
pub fn run(model: &Model, state: &State, end: f64, step: f64, params: MoreauJeanParams) -> Done {
    let (mut state, mut keep) = (state.clone(), Keep::default());
    let solver = FrictionSolverParams { tolerance: 1e-13, ..FrictionSolverParams::default() };
    let mut memory = StepMemory::new(model, &solver).unwrap();
    let strategy = TimeStepping { scheme: Box::new(MoreauJean { params }), step, end, on_failure: OnFailure::Stop, record_every: 1 };
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    match outcome.ending {
        Ending::Finished => Done { state, certificate: outcome.certificate, keep },
        other => panic!("{other:?}"),
    }
}

/// Largest error of (q, v) at the end of a run of a problem with the default scheme.
pub fn end_errors(problem: &Problem, step: f64) -> (f64, f64) {
    let done = run(&problem.model, &problem.state, problem.end, step, MoreauJeanParams::default());
    let (q, v) = problem.solution.at_end(problem.end);
    (distance(&done.state.q, &q), distance(&done.state.v, &v))
}

/// max |a − b|.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()))
}

/// Slope of log error against log step by least squares.
pub fn fitted_order(steps: &[f64], errors: &[f64]) -> f64 {
    let n = steps.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = (steps.iter().map(|h| h.ln()).collect(), errors.iter().map(|e| e.ln()).collect());
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}
