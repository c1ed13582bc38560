//! The one-step problems that recorders are told: each with its own solution.

use crate::contact_laws::{G, masses, with_contact};
use crate::schemes::variants;
use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::error::RecordError;
use carom_dynamics::problems::{bouncing_ball, pendulum, sliding_block, woodpecker};
use carom_dynamics::recording::{Frame, Recorder, StepProblem};
use carom_dynamics::report::Event;
use carom_dynamics::schemes::{SchemeParams, check_scheme};
use carom_dynamics::strategies::{Continue, Ending, Observers, OnFailure, Strategy, TimeStepping};
use carom_dynamics::{Cohesion, ContactLaw, Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

/// Largest ‖W r + q − u‖ of the problems told, relative to ‖u‖ + ‖q‖.
#[derive(Default)]
struct Check {
    told: usize,
    without: usize,
    largest: f64,
}

impl Recorder for Check {
    fn frame(&mut self, _: &Frame<'_>) -> Result<(), RecordError> {
        Ok(())
    }
    fn event(&mut self, _: &Event) -> Result<(), RecordError> {
        Ok(())
    }
    fn problem(&mut self, step: &StepProblem<'_>) -> Result<(), RecordError> {
        let (problem, solution) = (step.problem, step.solution);
        let mut u = vec![0.0; problem.n_rows()];
        problem.velocity(&solution.r, &mut u);
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = norm(&solution.u) + norm(&problem.q);
        u.iter_mut().zip(&solution.u).for_each(|(u, told)| *u -= told);
        let error = norm(&u) / scale.max(f64::MIN_POSITIVE);
        assert!(error.is_finite(), "step {}", step.step);
        self.largest = self.largest.max(error);
        self.told += 1;
        Ok(())
    }
    fn no_problem(&mut self, _: usize) -> Result<(), RecordError> {
        self.without += 1;
        Ok(())
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}

fn check(model: &Model, state: &State, params: &SchemeParams, step: f64, end: f64) -> Check {
    let (mut state, mut check, scheme) = (state.clone(), Check::default(), params.build());
    let solver = FrictionSolverParams { tolerance: 1e-13, ..scheme.solver().unwrap_or_default() };
    let mut memory = StepMemory::new(model, &solver).unwrap();
    let strategy = TimeStepping { scheme, step, end, on_failure: OnFailure::Warn, record_every: 0, record_interval: None };
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut check, watch: &mut watch });
    assert!(matches!(outcome.ending, Ending::Finished), "{:?}", outcome.ending);
    check
}

/// Moreau–Jean solves one problem per step, or the last of Newton's iteration: all are told.
#[test]
fn moreau_jean_tells_every_problem_with_its_solution() {
    let params = SchemeParams::MoreauJean(Default::default());
    let cases = [
        ("ball", bouncing_ball::problem(0.8).unwrap(), 5e-3, 4.0),
        ("woodpecker", woodpecker::problem().unwrap(), 1e-4, 0.3),
        ("sliding block", sliding_block::problem().unwrap(), 4e-3, 1.0),
        ("pendulum", pendulum::cartesian().unwrap(), 5e-3, 0.5),
    ];
    for (name, problem, step, end) in cases {
        let found = check(&problem.model, &problem.state, &params, step, end);
        assert!(found.told > 0 && found.without == 0, "{name}: {} told, {} not", found.told, found.without);
        assert!(found.largest < 1e-12, "{name}: {:e}", found.largest);
    }
}

/// What any scheme tells is consistent; steps whose impulses are not the solution of one problem are told as such.
#[test]
fn no_scheme_tells_a_problem_with_another_solution() {
    for params in variants() {
        let entry = params.entry();
        let cases = [
            ("ball, e = 0", bouncing_ball::problem(0.0).unwrap(), 1.0),
            ("ball, e = 0.5", bouncing_ball::problem(0.5).unwrap(), 2.0),
            ("sliding block", sliding_block::problem().unwrap(), 1.0),
            ("pendulum", pendulum::cartesian().unwrap(), 0.5),
        ];
        for (name, problem, end) in cases {
            if check_scheme(entry, &problem.model).is_err() {
                continue;
            }
            let found = check(&problem.model, &problem.state, &params, 5e-3, end);
            println!("{:20} {name:14} {:4} told, {:4} not, {:8.1e}", entry.name, found.told, found.without, found.largest);
            assert!(found.told + found.without > 0, "{} on {name}", entry.name);
            assert!(found.largest < 1e-12, "{} on {name}: {:e}", entry.name, found.largest);
        }
    }
}

/// With cohesion the unknown of the problem is p_N + h c: that is what is told.
#[test]
fn problems_of_contacts_that_pull_are_told_with_their_unknown() {
    let law = ContactLaw { cohesion: Cohesion::Constant { force: 2.0 * G, reach: 1e-6 }, ..ContactLaw::coulomb(0.5, 0.0) };
    let model = with_contact(masses(&["x", "y"], &[0.0; 2], &[0.3 * G, G]), &["y", "x"], law).unwrap();
    let state = State { t: 0.0, q: vec![0.0; 2], v: vec![0.5, 0.0], ..State::default() };
    let found = check(&model, &state, &SchemeParams::MoreauJean(Default::default()), 1e-3, 0.1);
    assert!(found.told == 100 && found.largest < 1e-12, "{} told, {:e}", found.told, found.largest);
}
