//! Located events on the problems with closed solutions.

use crate::support::{Done, Keep, adaptive};
use carom_dynamics::events::EventParams;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams};
use carom_dynamics::problems::{bouncing_ball, impact_oscillator, sliding_block};
use carom_dynamics::recording::EventKind;
use carom_dynamics::schemes::{MoreauJeanParams, SchemeParams};
use carom_dynamics::strategies::{Continue, Ending, EventDriven, Hybrid, HybridParams, Observers, OnFailure, Strategy};
use carom_dynamics::{Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

pub fn located(model: &Model, state: &State, end: f64, integrator: IntegratorParams, events: EventParams) -> Done {
    let strategy = EventDriven { integrator, events, end, record_every: 1, record_interval: None };
    go(&strategy, model, state)
}

pub fn go(strategy: &dyn Strategy, model: &Model, state: &State) -> Done {
    let (mut state, mut keep) = (state.clone(), Keep::default());
    let solver = FrictionSolverParams { tolerance: 1e-13, ..FrictionSolverParams::default() };
    let mut memory = StepMemory::new(model, &solver).unwrap();
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    for event in keep.events.iter().take(60) {
        println!("{:.16} {:?} {} {:?} {:.3e} {}", event.t, event.kind, event.name, event.modes, event.impulse, event.note);
    }
    println!("{:?} {:?}", outcome.certificate.event_driven, outcome.certificate.smooth.as_ref().map(|s| s.statistics));
    println!("energy error {:.3e} penetration {:.3e}", outcome.certificate.energy_error(), outcome.certificate.max_penetration);
    match outcome.ending {
        Ending::Finished => Done { state, certificate: outcome.certificate, keep },
        other => panic!("{other:?}"),
    }
}

pub fn hybrid(model: &Model, state: &State, end: f64, integrator: IntegratorParams) -> Done {
    let event_driven = EventDriven { integrator, events: EventParams::default(), end, record_every: 1, record_interval: None };
    let scheme = SchemeParams::MoreauJean(MoreauJeanParams::default()).build();
    go(&Hybrid { event_driven, scheme, params: HybridParams::default(), on_failure: OnFailure::Stop }, model, state)
}

#[test]
fn ball() {
    let problem = bouncing_ball::problem(0.8).unwrap();
    let done = located(&problem.model, &problem.state, 5.0, adaptive(IntegratorKind::Hem5, 1e-8), EventParams::default());
    println!("{:?}", done.state);
    let impacts: Vec<f64> = done.keep.events.iter().filter(|e| e.kind == EventKind::Impact).map(|e| e.t).collect();
    let t1 = (2.0_f64 / 9.81).sqrt();
    let mut t = t1;
    for (k, found) in impacts.iter().enumerate().take(20) {
        println!("{k} {:.2e}", found - t);
        t += 2.0 * t1 * 0.8_f64.powi(k as i32 + 1);
    }
    let done = hybrid(&problem.model, &problem.state, 5.0, adaptive(IntegratorKind::Hem5, 1e-8));
    println!("{:?}", done.state);
}

#[test]
fn oscillators() {
    let problem = impact_oscillator::separated().unwrap();
    let done = located(&problem.model, &problem.state, 40.0, adaptive(IntegratorKind::Hem5, 1e-11), EventParams::default());
    println!("{:?} {:?}", done.state, problem.solution.at_end(40.0));
    let problem = impact_oscillator::accumulating().unwrap();
    let done = located(&problem.model, &problem.state, 3.0, adaptive(IntegratorKind::Hem5, 1e-11), EventParams::default());
    println!("{:?}", done.state);
    hybrid(&problem.model, &problem.state, 3.0, adaptive(IntegratorKind::Hem5, 1e-9));
}

#[test]
fn block() {
    let problem = sliding_block::problem().unwrap();
    let done = located(&problem.model, &problem.state, problem.end, adaptive(IntegratorKind::Hem5, 1e-9), EventParams::default());
    println!("{:?} {:?}", done.state, problem.solution.at_end(problem.end));
    hybrid(&problem.model, &problem.state, problem.end, adaptive(IntegratorKind::Hem5, 1e-9));
}
