//! Shared by the tests: runs a problem and keeps what was recorded.

use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::error::RecordError;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::Problem;
use carom_dynamics::recording::{Frame, Recorder};
use carom_dynamics::relations::{Relation, Rows};
use carom_dynamics::report::{ContactMode, Event};
use carom_dynamics::schemes::{MoreauJeanParams, SchemeParams};
use carom_dynamics::strategies::{Continue, Ending, Observers, OnFailure, Strategy, TimeStepping};
use carom_dynamics::systems::Scratch;
use carom_dynamics::{Model, NonFinite, State, StepMemory};
use carom_solvers::FrictionSolverParams;

/// What a frame held.
#[derive(Clone, Debug)]
pub struct Kept {
    pub t: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// States of the first-order part.
    pub x: Vec<f64>,
    pub impulse: f64,
    pub mechanical: f64,
    /// Modes of the rigid contacts by formula.
    pub modes: Vec<ContactMode>,
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
        let modes = f.modes.to_vec();
        self.frames.push(Kept {
            t: f.t,
            q: f.q.to_vec(),
            v: f.v.to_vec(),
            x: f.x.to_vec(),
            impulse,
            mechanical: f.energy.mechanical(),
            modes,
        });
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
    run_scheme(model, state, end, step, &SchemeParams::MoreauJean(params))
}

/// Runs a model by a scheme with fixed steps, recording all of them; its one-step problems are solved to 1e-13.
pub fn run_scheme(model: &Model, state: &State, end: f64, step: f64, params: &SchemeParams) -> Done {
    try_scheme(model, state, end, step, params).unwrap_or_else(|ending| panic!("{ending:?}"))
}

/// The same, or how the run failed.
pub fn try_scheme(model: &Model, state: &State, end: f64, step: f64, params: &SchemeParams) -> Result<Done, Ending> {
    let (mut state, mut keep) = (state.clone(), Keep::default());
    let scheme = params.build();
    let solver = FrictionSolverParams { tolerance: 1e-13, ..scheme.solver().unwrap_or_default() };
    let mut memory = StepMemory::new(model, &solver).unwrap();
    let strategy = TimeStepping { scheme, step, end, on_failure: OnFailure::Stop, record_every: 1, record_interval: None };
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    match outcome.ending {
        Ending::Finished => Ok(Done { state, certificate: outcome.certificate, keep }),
        other => Err(other),
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

/// Settings of a method under step control.
pub fn adaptive(kind: IntegratorKind, tolerance: f64) -> IntegratorParams {
    IntegratorParams { kind, tolerance, ..IntegratorParams::default() }
}

/// Settings of a method with constant steps.
pub fn constant_steps(kind: IntegratorKind, step: f64) -> IntegratorParams {
    IntegratorParams { kind, step: Some(step), control: StepControl::Fixed, ..IntegratorParams::default() }
}

/// Largest error relative to the largest value, max |a − b| / max |b|.
pub fn relative(found: &[f64], exact: &[f64]) -> f64 {
    distance(found, exact) / distance(exact, &vec![0.0; exact.len()])
}

/// A skate on (x, y, θ): −sin θ ẋ + cos θ ẏ = 0. It has no position.
pub struct Blade;

impl Relation for Blade {
    fn n_rows(&self) -> usize {
        1
    }
    fn velocities(&self) -> &[usize] {
        &[0, 1, 2]
    }
    fn is_constant(&self) -> bool {
        false
    }
    fn is_holonomic(&self) -> bool {
        false
    }
    fn position(&self, _: f64, _: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        g.fill(f64::NAN); // must not be used
        Ok(())
    }
    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        rows.jacobian.copy_from_slice(&[-q[2].sin(), q[2].cos(), 0.0]);
        rows.bias.fill(0.0);
        Ok(())
    }
    fn acceleration_bias(&self, _: f64, q: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        bias[0] = -v[2] * (q[2].cos() * v[0] + q[2].sin() * v[1]);
        Ok(())
    }
}
