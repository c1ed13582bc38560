//! The strategy `smooth`: frames, forces, energy account, refusals and failures.

use crate::support::distance;
use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::error::RecordError;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::mechanisms::{four_bar, pendulum, slider_crank};
use carom_dynamics::recording::{Frame, Recorder};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::report::Event;
use carom_dynamics::strategies::{Continue, Ending, Observers, Outcome, Smooth, Strategy};
use carom_dynamics::systems::{Lagrangian, LagrangianText};
use carom_dynamics::{Law, Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

/// What a frame held.
struct Kept {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    forces: Vec<f64>,
    work: f64,
    balance: f64,
}

#[derive(Default)]
struct Keep(Vec<Kept>);

impl Recorder for Keep {
    fn frame(&mut self, f: &Frame<'_>) -> Result<(), RecordError> {
        let balance = f.energy.mechanical() - f.energy.work;
        self.0.push(Kept { t: f.t, q: f.q.to_vec(), v: f.v.to_vec(), forces: f.forces.to_vec(), work: f.energy.work, balance });
        Ok(())
    }
    fn event(&mut self, _: &Event) -> Result<(), RecordError> {
        Ok(())
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}

/// Steps of the classical Runge–Kutta method, whose error is known for any problem.
fn fixed(end: f64, step: f64) -> Smooth {
    let integrator =
        IntegratorParams { kind: IntegratorKind::Rk4, control: StepControl::Fixed, step: Some(step), ..IntegratorParams::default() };
    Smooth { integrator, end, record_every: 0, record_interval: None }
}

fn run(model: &Model, state: &mut State, strategy: &Smooth) -> (Outcome, Vec<Kept>) {
    let mut memory = StepMemory::new(model, &FrictionSolverParams::default()).unwrap();
    let mut keep = Keep::default();
    let outcome = strategy.run(model, state, &mut memory, Observers { recorder: &mut keep, watch: &mut |_| Continue::Yes });
    (outcome, keep.0)
}

fn particle(potential: &str, equation: Option<&str>, law: Law) -> (Model, State) {
    let text = LagrangianText {
        coordinates: vec!["x".into()],
        parameters: Vec::new(),
        kinetic: "x_dot^2".into(),
        potential: potential.into(),
        forces: Vec::new(),
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    if let Some(equation) = equation {
        let source = FormulaSource { rows: vec![("x".into(), equation.into())], parameters: Vec::new() };
        model.add_formula("guide", &source, law).unwrap();
    }
    (model, State { t: 0.0, q: vec![0.0], v: vec![2.0], ..State::default() })
}

#[test]
fn frames_of_constant_interval_lie_on_the_motion() {
    let mechanism = slider_crank().unwrap();
    let mut state = mechanism.state.clone();
    // 0.5 s is within a step of 3 ms, and a multiple of the interval; 1 s is the end
    let strategy = Smooth { record_interval: Some(0.1), ..fixed(1.0, 3e-3) };
    let (outcome, frames) = run(&mechanism.model, &mut state, &strategy);
    assert!(matches!(outcome.ending, Ending::Finished));
    assert_eq!(frames.len(), 11);
    for (k, frame) in frames.iter().enumerate() {
        assert!((frame.t - 0.1 * k as f64).abs() < 1e-12, "{}", frame.t);
    }
    for (frame, reference) in [(&frames[5], &mechanism.references[0]), (&frames[10], &mechanism.references[1])] {
        // rk4 with h = 3 ms is right to 1e-8 here; the interpolation adds less
        assert!(distance(&frame.q, &reference.q) < 1e-7 && distance(&frame.v, &reference.v) < 1e-6);
        assert!(distance(&frame.forces, &reference.lambda) < 1e-5, "{:?} {:?}", frame.forces, reference.lambda);
    }
    let report = outcome.certificate.smooth.unwrap();
    assert_eq!((report.statistics.accepted, outcome.certificate.steps), (334, 334));
    assert!((report.average_step - 1.0 / 334.0).abs() < 1e-15 && (report.max_step - 3e-3).abs() < 1e-15);
    // 3 stages and the acceleration at the end, which is the first stage of the next step, and one at the start: frames and the energy account are not counted
    assert_eq!(report.statistics.force_evaluations, 4 * 334 + 1);
}

#[test]
fn the_work_of_a_motor_is_accounted_to_high_order() {
    let mechanism = four_bar().unwrap();
    let error = |step: f64| {
        let (outcome, frames) = run(&mechanism.model, &mut mechanism.state.clone(), &fixed(1.0, step));
        assert!(matches!(outcome.ending, Ending::Finished));
        let last = frames.last().unwrap();
        // the motor's 6 N m along the crank's way
        let exact = 6.0 * (mechanism.references[0].q[0] - mechanism.state.q[0]);
        assert!((last.work - exact).abs() < 1e-5, "{} {exact}", last.work);
        (last.balance - frames[0].balance).abs()
    };
    let (coarse, fine) = (error(2e-3), error(1e-3));
    // the order of rk4 is 4; a work of lower order would show
    assert!((coarse / fine).log2() > 3.5 && fine < 1e-6, "{coarse} {fine}");
}

#[test]
fn a_moving_constraint_does_work_and_its_force_is_recorded() {
    // 2 kg on x = sin 2t: λ = 2 ẍ = −8 sin 2t, kinetic energy 4 cos² 2t
    let (model, mut state) = particle("0", Some("x - sin(2*t)"), Law::Bilateral);
    let strategy = Smooth { record_every: 1, record_interval: Some(0.05), ..fixed(1.0, 0.01) };
    let (outcome, frames) = run(&model, &mut state, &strategy);
    assert!(matches!(outcome.ending, Ending::Finished));
    assert_eq!(frames.len(), 101);
    for frame in &frames {
        // rk4 with ω h = 0.02 is right to 1e-9; the acceleration form finds λ exactly from t alone
        assert!((frame.q[0] - (2.0 * frame.t).sin()).abs() < 1e-8, "{}", frame.t);
        assert!((frame.forces[0] + 8.0 * (2.0 * frame.t).sin()).abs() < 1e-10, "{}", frame.t);
        assert!((frame.work - 4.0 * ((2.0 * frame.t).cos().powi(2) - 1.0)).abs() < 1e-8, "{} {}", frame.t, frame.work);
    }
    let report = outcome.certificate.smooth.as_ref().unwrap();
    assert_eq!(report.drift[0].name, "guide");
    assert!(report.drift[0].velocity > 0.0 && report.drift[0].velocity == outcome.certificate.max_constraint_velocity);
    assert!(report.max_energy_error < 1e-8 && report.max_energy_error >= outcome.certificate.energy_error().abs());
}

#[test]
fn contacts_are_refused_by_name() {
    let (model, mut state) = particle("9.81*x", Some("x + 1"), Law::unilateral(0.5));
    let (outcome, _) = run(&model, &mut state, &fixed(1.0, 0.01));
    let Ending::Failed(error) = outcome.ending else { panic!("a contact was accepted") };
    assert!(error.to_string().contains("the contact \"guide\"") && error.to_string().contains("time-stepping"), "{error}");
}

#[test]
fn a_failed_run_keeps_its_last_good_state() {
    // the potential has no value after t = 0.5 s
    let (model, mut state) = particle("x*sqrt(0.5 - t)", None, Law::Bilateral);
    let (outcome, frames) = run(&model, &mut state, &fixed(1.0, 0.1));
    let Ending::Failed(error) = outcome.ending else { panic!("it went on") };
    assert!(error.to_string().contains("the force from the energies on x is NaN"), "{error}");
    assert!((state.t - 0.5).abs() < 1e-12 && frames.last().unwrap().t == state.t && frames.len() == 2, "{}", state.t);
    assert_eq!(outcome.certificate.smooth.unwrap().statistics.accepted, outcome.certificate.steps);
}

#[test]
fn a_run_can_be_stopped() {
    let mechanism = pendulum().unwrap();
    let mut state = mechanism.state.clone();
    let mut memory = StepMemory::new(&mechanism.model, &FrictionSolverParams::default()).unwrap();
    let mut keep = Keep::default();
    let mut watch = |p: &carom_dynamics::strategies::Progress| if p.step == 3 { Continue::Stop } else { Continue::Yes };
    let strategy = fixed(1.0, 0.01);
    let outcome = strategy.run(&mechanism.model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    assert!(matches!(outcome.ending, Ending::Interrupted));
    assert!((state.t - 0.03).abs() < 1e-15 && keep.0.last().unwrap().t == state.t);
}

/// A guide that is given twice: one row is redundant, and each of the two carries half the force.
#[test]
fn redundant_rows_are_counted_and_share_the_force() {
    let mut mechanism = slider_crank().unwrap();
    let rows = vec![("the guide again".to_owned(), "sin(a1) + 2*sin(a2)".to_owned())];
    mechanism.model.add_formula("again", &FormulaSource { rows, parameters: Vec::new() }, Law::Bilateral).unwrap();
    let mut state = mechanism.state.clone();
    let (outcome, frames) = run(&mechanism.model, &mut state, &fixed(0.5, 1e-3));
    assert!(matches!(outcome.ending, Ending::Finished));
    assert_eq!(outcome.certificate.smooth.unwrap().redundant_rows, 1);
    let (last, reference) = (frames.last().unwrap(), &mechanism.references[0]);
    for force in &last.forces {
        // rk4 with h = 1 ms is right to 1e-10 here
        assert!((force - 0.5 * reference.lambda[0]).abs() < 1e-8, "{:?}", last.forces);
    }
}
