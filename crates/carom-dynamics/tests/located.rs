//! Runs with located events, by either strategy.

use crate::support::{Done, Keep, adaptive};
use carom_dynamics::events::EventParams;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams};
use carom_dynamics::report::{ContactMode, EventKind};
use carom_dynamics::schemes::{MoreauJeanParams, SchemeParams};
use carom_dynamics::strategies::{Continue, Ending, EventDriven, Hybrid, HybridParams, Observers, OnFailure, Strategy};
use carom_dynamics::{Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

/// How to run.
#[derive(Clone, Debug)]
pub struct Located {
    pub integrator: IntegratorParams,
    pub events: EventParams,
    /// Switches to time-stepping where there are some.
    pub hybrid: Option<HybridParams>,
}

impl Located {
    /// Event-driven with HEM5 at a tolerance, everything else by default.
    pub fn events(tolerance: f64) -> Self {
        Located { integrator: adaptive(IntegratorKind::Hem5, tolerance), events: EventParams::default(), hybrid: None }
    }

    /// Hybrid with HEM5 at a tolerance, everything else by default.
    pub fn hybrid(tolerance: f64) -> Self {
        Located { hybrid: Some(HybridParams::default()), ..Located::events(tolerance) }
    }

    /// Thresholds of gap, velocity and slip multiplied by a factor.
    pub fn thresholds(self, factor: f64) -> Self {
        let EventParams { gap, velocity, slip, .. } = self.events;
        let events = EventParams { gap: gap * factor, velocity: velocity * factor, slip: slip * factor, ..self.events };
        Located { events, ..self }
    }

    /// Runs a model to a time, recording all steps.
    pub fn run(&self, model: &Model, state: &State, end: f64) -> Done {
        self.try_run(model, state, end).unwrap_or_else(|ending| panic!("{self:?}: {ending:?}"))
    }

    /// The same, or how the run failed.
    pub fn try_run(&self, model: &Model, state: &State, end: f64) -> Result<Done, Ending> {
        let (mut state, mut keep) = (state.clone(), Keep::default());
        let solver = FrictionSolverParams { tolerance: 1e-13, ..FrictionSolverParams::default() };
        let mut memory = StepMemory::new(model, &solver).unwrap();
        let event_driven =
            EventDriven { integrator: self.integrator.clone(), events: self.events, end, record_every: 1, record_interval: None };
        let strategy: Box<dyn Strategy> = match self.hybrid {
            None => Box::new(event_driven),
            Some(params) => {
                let scheme = SchemeParams::MoreauJean(MoreauJeanParams::default()).build();
                Box::new(Hybrid { event_driven, scheme, params, on_failure: OnFailure::Stop })
            }
        };
        let mut watch = |_: &_| Continue::Yes;
        let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
        match outcome.ending {
            Ending::Finished => Ok(Done { state, certificate: outcome.certificate, keep }),
            other => Err(other),
        }
    }
}

/// Times of the events of a kind at a contact, in order.
pub fn times(done: &Done, kind: EventKind, name: &str) -> Vec<f64> {
    done.keep.events.iter().filter(|event| event.kind == kind && event.name == name).map(|event| event.t).collect()
}

/// Modes of the contacts by formula at the end.
pub fn final_modes(done: &Done) -> Vec<ContactMode> {
    done.keep.frames.last().map(|frame| frame.modes.clone()).unwrap_or_default()
}

/// Prints the events of a run.
pub fn print_events(done: &Done) {
    for event in &done.keep.events {
        println!("{:.16} {:?} {} {:?} {:.3e} {}", event.t, event.kind, event.name, event.modes, event.impulse, event.note);
    }
}
