//! Forces between bounds against exact motions: dry friction, motors, servos, friction in joints.

use crate::contact_laws::{masses, schemes, velocity_schemes};
use crate::support::{Done, distance, fitted_order, run, run_scheme};
use carom_dynamics::error::RecordError;
use carom_dynamics::problems::belt_oscillator;
use carom_dynamics::recording::{ContactRecord, Frame, Recorder};
use carom_dynamics::relations::{
    CurveSource, Driven, FormulaRelation, FormulaSource, Joint, JointAxis, JointKind, JointPlacement, JointSource, PointOnCurve, Target,
    TargetSource,
};
use carom_dynamics::report::{ContactMode, Event};
use carom_dynamics::schemes::{MoreauJean, MoreauJeanParams, SCHEMES, SchemeParams, check_scheme};
use carom_dynamics::strategies::{Continue, Ending, Observers, OnFailure, Strategy, TimeStepping};
use carom_dynamics::systems::{Linear, RigidBodies, RigidBody};
use carom_dynamics::{BoundedLaw, JointLoad, Law, Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::f64::consts::PI;

pub const G: f64 = 9.81;

pub fn row(text: &str) -> FormulaSource {
    FormulaSource { rows: vec![(format!("row {text}"), text.to_owned())], parameters: Vec::new() }
}

pub fn target(text: &str) -> TargetSource {
    TargetSource { name: "the target".into(), text: text.into(), parameters: Vec::new() }
}

pub fn start(q: &[f64], v: &[f64]) -> State {
    State { t: 0.0, q: q.to_vec(), v: v.to_vec(), ..State::default() }
}

/// A linear system with one bounded row on a coordinate that is driven, or not.
pub fn bounded(system: Linear, text: &str, drive: Option<(Target, &str)>, law: BoundedLaw) -> Model {
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    match drive {
        None => model.add_formula("row", &row(text), Law::Bounded(law)).unwrap(),
        Some((kind, formula)) => {
            let systems =
                std::sync::Arc::new(carom_dynamics::systems::SystemSet::new(vec![Box::new(masses(&["x"], &[0.0], &[0.0]))]).unwrap());
            let inner = FormulaRelation::new(&row(text), &systems).unwrap();
            let driven = Driven::new(Box::new(inner), kind, &target(formula)).unwrap();
            model.add_interaction("row", Box::new(driven), Law::Bounded(law)).unwrap();
        }
    }
    model
}

/// J θ̈ + k θ = −T sign θ̇: each half swing is a half circle about ±T/k, so that the amplitude falls by 2 T/k; the swing ends where it is at most T/k.
#[test]
fn dry_friction_takes_the_same_from_every_half_swing() {
    let (omega, bound): (f64, f64) = (2.0, 0.06);
    let stiffness = omega * omega;
    let model = bounded(masses(&["x"], &[stiffness], &[0.0]), "x", None, BoundedLaw::friction(bound * stiffness));
    let state = start(&[1.0], &[0.0]);
    // 1 − 8 · 0.12 = 0.04 < 0.06: it stops at the eighth turn
    let exact_end = 0.04;
    let end = 8.0 * PI / omega + 0.5;
    for params in schemes(&model) {
        let steps = [2e-3, 1e-3, 5e-4];
        let runs: Vec<Done> = steps.iter().map(|h| run_scheme(&model, &state, end, *h, &params)).collect();
        let errors: Vec<f64> = runs.iter().map(|done| (done.state.q[0] - exact_end).abs()).collect();
        // amplitudes: steps of first order are Euler's, which damp them by ½ ω² h per second
        let damped = |h: f64, t: f64| if params.build().orders().smooth == 2 { 1e-5 } else { 0.55 * omega * omega * h * t };
        // the amplitude at each turn: x there is flat, so that the step nearest to it is within h² ω² of it
        for (k, turn) in (1..=8).map(|k| (k, f64::from(k) * PI / omega)) {
            let frame = runs[2].keep.frames.iter().min_by(|a, b| (a.t - turn).abs().total_cmp(&(b.t - turn).abs())).unwrap();
            let exact = (1.0 - 0.12 * f64::from(k)) * if k % 2 == 0 { 1.0 } else { -1.0 };
            assert!((frame.q[0] - exact).abs() < damped(steps[2], turn), "{}: turn {k}: {} {exact}", params.entry().name, frame.q[0]);
        }
        let order = fitted_order(&steps, &errors);
        println!("{}: {errors:?} order {order:.2}", params.entry().name);
        assert!(errors[2] < damped(steps[2], end) && errors[2] <= errors[0], "{}: {errors:?}", params.entry().name);
        // at rest for good: velocity at rounding, and held by friction below its bound
        assert!(runs[2].state.v[0].abs() < 1e-12, "{}: {}", params.entry().name, runs[2].state.v[0]);
        let account = runs[2].certificate.energy_error().abs();
        let limit = if velocity_schemes(&model).contains(&params) { 1e-9 } else { 2.0 * stiffness * damped(steps[2], end) };
        assert!(account < limit, "{}: {account}", params.entry().name);
        assert!(runs[2].certificate.last.dissipated_friction > 1.9 && runs[2].certificate.last.work == 0.0);
    }
}

#[test]
fn friction_of_known_bound_is_coulomb_friction_under_a_constant_load() {
    let coulomb = belt_oscillator::problem().unwrap();
    let law = BoundedLaw::friction(belt_oscillator::FRICTION * belt_oscillator::MASS * G);
    let text = format!("x - {}*t", belt_oscillator::BELT);
    let model = bounded(masses(&["x"], &[belt_oscillator::STIFFNESS], &[0.0]), &text, None, law);
    let h = 1e-3;
    let with_contact = run(&coulomb.model, &coulomb.state, 4.0, h, MoreauJeanParams::default());
    let with_bound = run(&model, &start(&[belt_oscillator::START], &[0.0]), 4.0, h, MoreauJeanParams::default());
    // the same scheme and the same law: equal but for the tolerance of the solver, 1e-13, over 4000 steps
    for (a, b) in with_contact.keep.frames.iter().zip(&with_bound.keep.frames) {
        assert!((a.q[0] - b.q[0]).abs() < 1e-9 && (a.v[0] - b.v[0]).abs() < 1e-9, "t = {}: {:?} {:?}", a.t, a.q, b.q);
    }
    let (a, b) = (&with_contact.certificate.last, &with_bound.certificate.last);
    assert!((a.work - b.work).abs() < 1e-8 && (a.dissipated_friction - b.dissipated_friction).abs() < 1e-8, "{a:?} {b:?}");
    assert!(b.work > 0.01 && b.dissipated_friction > 0.01);
}

/// J ω̇ = T up to t = J w/T, then ω = w.
#[test]
fn a_velocity_motor_reaches_its_speed_at_the_exact_time_and_holds_it() {
    let (w, most): (f64, f64) = (3.0, 4.0);
    let inertia = Linear::new(vec!["x".into()], vec![2.0], vec![0.0], vec![0.0]).unwrap();
    let model = bounded(inertia, "x", Some((Target::Speed, "3")), BoundedLaw::motor(most));
    let h = 0.01;
    for params in schemes(&model) {
        let done = run_scheme(&model, &start(&[0.0], &[0.0]), 2.0, h, &params);
        for frame in &done.keep.frames {
            let exact = (most / 2.0 * frame.t).min(w);
            assert!((frame.v[0] - exact).abs() < 1e-12, "{} t = {}: {}", params.entry().name, frame.t, frame.v[0]);
            // the effort of the step that ends here
            let effort = frame.impulse / h;
            let full = if frame.t == 0.0 || frame.t > 1.5 + 0.5 * h { 0.0 } else { most };
            assert!((effort - full).abs() < 1e-9, "{} t = {}: {effort}", params.entry().name, frame.t);
        }
        let energy = &done.certificate.last;
        assert!((energy.work - 9.0).abs() < 1e-10 && energy.dissipated_friction == 0.0, "{}: {energy:?}", params.entry().name);
    }
}

#[test]
fn a_strong_motor_follows_a_speed_by_formula() {
    let model = bounded(masses(&["x"], &[3.0], &[0.0]), "x", Some((Target::Speed, "2*sin(t)")), BoundedLaw::motor(f64::INFINITY));
    let done = run(&model, &start(&[0.0], &[0.0]), 2.0, 1e-2, MoreauJeanParams::default());
    for frame in &done.keep.frames {
        assert!((frame.v[0] - 2.0 * frame.t.sin()).abs() < 1e-11, "{} {:?}", frame.t, frame.v); // tolerance 1e-13 times a few
    }
}

#[test]
fn a_servo_takes_back_its_error_at_its_rate_whatever_the_step() {
    // weak steps: ė = −k e to first order; stiff ones: the error is gone, and nothing grows
    let exact = |t: f64, gain: f64| (-gain * t).exp();
    let model = |gain: f64| {
        bounded(masses(&["x"], &[0.0], &[0.0]), "x", Some((Target::Place, "0")), BoundedLaw::motor(f64::INFINITY).with_gain(gain))
    };
    let error = |h: f64| {
        let done = run(&model(2.0), &start(&[1.0], &[-2.0]), 1.0, h, MoreauJeanParams::default());
        (done.state.q[0] - exact(1.0, 2.0)).abs()
    };
    let errors = [4e-3, 2e-3, 1e-3].map(error);
    assert!(errors[2] < 5e-3 && fitted_order(&[4e-3, 2e-3, 1e-3], &errors) > 0.9, "{errors:?}");
    for params in schemes(&model(1e6)) {
        let done = run_scheme(&model(1e6), &start(&[1.0], &[0.0]), 1.0, 1e-2, &params);
        let name = params.entry().name;
        assert!(done.keep.frames.iter().all(|f| f.q[0].abs() < 2.0), "{name}");
        assert!(done.state.q[0].abs() < 1e-6 && done.state.v[0].abs() < 1e-4, "{name}: {:?}", done.state);
    }
}

/// Records of the interactions in each frame.
#[derive(Default)]
pub struct Records(pub Vec<(f64, Vec<ContactRecord>)>);

impl Recorder for Records {
    fn frame(&mut self, f: &Frame<'_>) -> Result<(), RecordError> {
        self.0.push((f.t, f.contacts.to_vec()));
        Ok(())
    }
    fn event(&mut self, _: &Event) -> Result<(), RecordError> {
        Ok(())
    }
    fn finish(&mut self, _: &carom_dynamics::diagnostics::Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}

fn record(model: &Model, state: &State, end: f64, step: f64) -> (State, Records) {
    let (mut state, mut records) = (state.clone(), Records::default());
    let mut memory = StepMemory::new(model, &FrictionSolverParams { tolerance: 1e-13, ..Default::default() }).unwrap();
    let strategy = TimeStepping {
        scheme: Box::new(MoreauJean::default()),
        step,
        end,
        on_failure: OnFailure::Stop,
        record_every: 1,
        record_interval: None,
    };
    let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut records, watch: &mut |_: &_| Continue::Yes });
    assert!(matches!(outcome.ending, Ending::Finished), "{:?}", outcome.ending);
    (state, records)
}

pub const MASS: f64 = 2.0;
pub const ARM: f64 = 0.5;
pub const INERTIA: f64 = 0.1;

/// A body of principal inertia 0.1 on a revolute joint about the horizontal y axis, its centre a distance `arm` from it at the angle θ from below.
pub fn hinged(arm: f64, angle: f64) -> (Model, State, JointSource) {
    let body = RigidBody { name: "arm".into(), mass: MASS, inertia: Matrix3::from_diagonal_element(INERTIA) };
    let model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -G)).unwrap())]).unwrap();
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
    let centre = turn * Vector3::new(0.0, 0.0, -arm);
    let q = vec![centre.x, centre.y, centre.z, turn.w, turn.i, turn.j, turn.k];
    let placement = JointPlacement::at(Vector3::zeros()).along(Vector3::y());
    let source = JointSource { kind: JointKind::Revolute, bodies: [None, Some("arm".into())], placement };
    (model, start(&q, &[0.0; 6]), source)
}

/// Rows 0 to 4 of the records are the joint, the last is the motor or the friction.
fn last_record(records: &[ContactRecord]) -> &ContactRecord {
    records.last().unwrap()
}

#[test]
fn a_servo_holds_an_arm_against_gravity_with_the_torque_of_its_weight() {
    let angle = 0.7_f64;
    let (mut model, state, source) = hinged(ARM, angle);
    model.add_joint("hinge", &source, &state.q).unwrap();
    // angles count from where the joint is built: the arm stays there
    let weight = MASS * G * ARM * angle.sin();
    let coordinate = model.joint_coordinate("hinge", &source, JointAxis::Turn, &state.q).unwrap();
    let driven = Driven::new(Box::new(coordinate), Target::Angle, &target("0")).unwrap();
    model.add_interaction("motor", Box::new(driven), Law::Bounded(BoundedLaw::motor(20.0).with_gain(50.0))).unwrap();
    let h = 1e-3;
    let (end, records) = record(&model, &state, 0.5, h);
    assert!(distance(&end.q, &state.q) < 1e-9, "{end:?}");
    for (t, contacts) in records.0.iter().skip(1) {
        let motor = last_record(contacts);
        assert_eq!(motor.mode, ContactMode::Sticking, "t = {t}");
        assert!((motor.impulse[0] / h - weight).abs() < 1e-6, "t = {t}: {} {weight}", motor.impulse[0] / h);
    }
    // a motor weaker than the weight gives all it has, and lets the arm sink
    let (mut model, state, source) = hinged(ARM, angle);
    model.add_joint("hinge", &source, &state.q).unwrap();
    let coordinate = model.joint_coordinate("hinge", &source, JointAxis::Turn, &state.q).unwrap();
    let driven = Driven::new(Box::new(coordinate), Target::Angle, &target("0")).unwrap();
    let most = 0.5 * weight;
    model.add_interaction("motor", Box::new(driven), Law::Bounded(BoundedLaw::motor(most).with_gain(50.0))).unwrap();
    let (end, records) = record(&model, &state, 0.1, h);
    let motor = last_record(&records.0[50].1);
    assert_eq!(motor.mode, ContactMode::Sliding);
    assert!((motor.impulse[0] / h - most).abs() < 1e-12 && end.v[4].abs() > 0.1, "{motor:?} {end:?}");
}

/// The bearings of a balanced wheel bear m g: ω falls by μ r m g/J per second, and the wheel stops at J ω₀/(μ r m g).
#[test]
fn a_wheel_in_bearings_spins_down_in_the_exact_time() {
    let (mu, radius, omega): (f64, f64, f64) = (0.2, 0.02, 6.0);
    let (mut model, mut state, source) = hinged(0.0, 0.0);
    state.v[4] = omega;
    model.add_joint("bearing", &source, &state.q).unwrap();
    let coordinate = model.joint_coordinate("bearing", &source, JointAxis::Turn, &state.q).unwrap();
    let law = BoundedLaw::friction(0.0).with_load(JointLoad { joint: 0, rows: 3, factor: mu * radius });
    model.add_interaction("friction", Box::new(coordinate), Law::Bounded(law)).unwrap();
    let torque = mu * radius * MASS * G;
    let stop = INERTIA * omega / torque;
    for params in schemes(&model).into_iter().filter(|p| p.entry().name != "theta-gap") {
        let done = run_scheme(&model, &state, stop + 0.5, 5e-3, &params);
        for frame in &done.keep.frames {
            let exact = (omega - torque / INERTIA * frame.t).max(0.0);
            // exact at every step but the one in which it stops; rows turn with the body, to the tolerances of the solver and of Newton
            let slack = if (frame.t - stop).abs() < 5e-3 { torque / INERTIA * 5e-3 } else { 1e-8 };
            assert!((frame.v[4].abs() - exact).abs() < slack, "{} t = {}: {} {exact}", params.entry().name, frame.t, frame.v[4]);
        }
        let lost = done.certificate.last.dissipated_friction;
        assert!((lost - 0.5 * INERTIA * omega * omega).abs() < 1e-6, "{}: {lost}", params.entry().name);
    }
}

/// A block on a slope of angle α held by the friction of a prismatic joint: it stays where tan α < μ, and slides with g (sin α − μ cos α) otherwise.
#[test]
fn friction_in_a_slide_follows_its_normal_force() {
    for (slope, mu) in [(0.3_f64, 0.5_f64), (0.6, 0.5)] {
        let axis = Vector3::new(slope.cos(), 0.0, -slope.sin());
        let body = RigidBody { name: "block".into(), mass: MASS, inertia: Matrix3::from_diagonal_element(INERTIA) };
        let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -G)).unwrap())]).unwrap();
        let state = start(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
        let placement = JointPlacement::at(Vector3::zeros()).along(axis);
        let source = JointSource { kind: JointKind::Prismatic, bodies: [None, Some("block".into())], placement };
        model.add_joint("rail", &source, &state.q).unwrap();
        let coordinate = model.joint_coordinate("rail", &source, JointAxis::Slide, &state.q).unwrap();
        let law = BoundedLaw::friction(0.0).with_load(JointLoad { joint: 0, rows: 2, factor: mu });
        model.add_interaction("friction", Box::new(coordinate), Law::Bounded(law)).unwrap();
        let done = run(&model, &state, 1.0, 1e-2, MoreauJeanParams::default());
        let exact = (G * (slope.sin() - mu * slope.cos())).max(0.0);
        let speed = Vector3::new(done.state.v[0], done.state.v[1], done.state.v[2]).dot(&axis);
        assert!((speed - exact).abs() < 1e-8, "{slope}: {speed} {exact}"); // 100 steps to 1e-10 of g h
        assert!(done.certificate.energy_error().abs() < 1e-8, "{}", done.certificate.energy_error());
    }
}

/// A bead on a wire in the x-z plane of space, with friction along it.
fn bead(formulas: [&str; 3], range: [f64; 2], (point, velocity): (Vector3<f64>, Vector3<f64>), law: BoundedLaw) -> (Model, State) {
    let body = RigidBody { name: "bead".into(), mass: MASS, inertia: Matrix3::from_diagonal_element(INERTIA) };
    let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -G)).unwrap())]).unwrap();
    let state = start(&[point.x, point.y, point.z, 1.0, 0.0, 0.0, 0.0], &[velocity.x, velocity.y, velocity.z, 0.0, 0.0, 0.0]);
    let curve = CurveSource { formulas: formulas.map(str::to_owned).to_vec(), parameter: "s".into(), range, constants: Vec::new() };
    let wire = PointOnCurve::new("wire", &[None, Some("bead".into())], point, &curve, &model.shared_systems(), &state.q).unwrap();
    let slide = wire.slide();
    model.add_interaction("wire", Box::new(wire), Law::Bilateral).unwrap();
    model.add_interaction("friction", Box::new(slide), Law::Bounded(law)).unwrap();
    (model, state)
}

/// A bead on a straight wire of slope α: it stays where g sin α < c/m + μ g cos α, and slides with the difference otherwise.
#[test]
fn friction_of_a_bead_follows_the_force_on_the_wire() {
    let (slope, mu) = (0.6_f64, 0.5_f64);
    for (constant, moves) in [(0.0, true), (0.3 * MASS, true), (2.0 * MASS, false)] {
        let law = BoundedLaw::friction(constant).with_load(JointLoad { joint: 0, rows: 2, factor: mu });
        let formulas = [format!("{:e}*s", slope.cos()), "0".to_owned(), format!("{:e}*s", -slope.sin())];
        let (model, state) = bead([&formulas[0], &formulas[1], &formulas[2]], [-1.0, 9.0], (Vector3::zeros(), Vector3::zeros()), law);
        let exact = G * (slope.sin() - mu * slope.cos()) - constant / MASS;
        assert_eq!(exact > 0.0, moves);
        for params in [SchemeParams::MoreauJean(MoreauJeanParams::default()), SchemeParams::MoreauGap(Default::default())] {
            let done = run_scheme(&model, &state, 1.0, 1e-2, &params);
            let speed = done.state.v[0] * slope.cos() - done.state.v[2] * slope.sin();
            // 100 steps to 1e-10 of g h
            assert!((speed - exact.max(0.0)).abs() < 1e-8, "{}: {speed} {exact}", params.entry().name);
            assert!(done.certificate.energy_error().abs() < 1e-8, "{}", done.certificate.energy_error());
        }
    }
}

/// A bead that slides up a hoop of radius a from its lowest point: with w = v² and the force N = m (w/a + g cos φ) on the hoop
///
/// ```text
/// dw/dφ + 2 μ w = −2 a g (sin φ + μ cos φ),      w = C e^(−2μφ) + 2 a g [(1 − 2μ²) cos φ − 3 μ sin φ]/(1 + 4μ²)
/// ```
#[test]
fn friction_of_a_bead_on_a_hoop_follows_its_speed() {
    let (a, mu, speed) = (0.5_f64, 0.3_f64, 3.0_f64);
    let part = |phi: f64| 2.0 * a * G * ((1.0 - 2.0 * mu * mu) * phi.cos() - 3.0 * mu * phi.sin()) / (1.0 + 4.0 * mu * mu);
    let exact = |phi: f64| (speed * speed - part(0.0)) * (-2.0 * mu * phi).exp() + part(phi);
    let law = BoundedLaw::friction(0.0).with_load(JointLoad { joint: 0, rows: 2, factor: mu });
    let at = (Vector3::new(0.0, 0.0, -a), Vector3::new(speed, 0.0, 0.0));
    let (model, state) = bead(["0.5*sin(s)", "0", "-0.5*cos(s)"], [-PI, PI], at, law);
    let error = |h: f64| {
        let done = run_scheme(&model, &state, 0.16, h, &SchemeParams::MoreauGap(Default::default()));
        let (q, v) = (&done.state.q, &done.state.v);
        let phi = q[0].atan2(-q[2]);
        // far from the start, and far from standing still
        assert!(phi > 0.6 && exact(phi) > 1.0, "{phi} {}", exact(phi));
        (v[0].powi(2) + v[2].powi(2) - exact(phi)).abs()
    };
    let steps = [4e-3, 2e-3, 1e-3];
    let errors = steps.map(error);
    // a scheme of at least first order, and errors of v² of the size of g h
    assert!(fitted_order(&steps, &errors) > 0.9 && errors[2] < G * steps[2], "{errors:?}");
}

#[test]
fn bounded_forces_do_nothing_in_the_instant_of_an_impact() {
    // a particle held by a brake of 5 N meets a wall with e = 1: v⁺ = −v⁻ less what the brake does over the steps
    let mut model = Model::new(vec![Box::new(masses(&["x"], &[0.0], &[0.0]))]).unwrap();
    model.add_formula("wall", &row("x"), Law::unilateral(1.0)).unwrap();
    model.add_formula("brake", &row("x"), Law::Bounded(BoundedLaw::friction(5.0))).unwrap();
    let h = 1e-3;
    for params in schemes(&model) {
        let done = run_scheme(&model, &start(&[1e-4], &[-2.0]), 0.1, h, &params);
        let exact = 2.0 - 5.0 * 0.1;
        // at most the brake of one step is lost or doubled where the wall is met within it
        assert!((done.state.v[0] - exact).abs() < 2.0 * 5.0 * h + 1e-9, "{}: {}", params.entry().name, done.state.v[0]);
    }
    // laws that resolve impacts before the step: exactly reversed there
    model.set_impact_law(carom_dynamics::impacts::ImpactLaw::Poisson);
    let done = run(&model, &start(&[0.0], &[-2.0]), h, h, MoreauJeanParams::default());
    assert!((done.state.v[0] - (2.0 - 5.0 * h)).abs() < 1e-12, "{:?}", done.state);
}

/// Laws that resolve impacts before the step: a mass that an endless motor drives at 1 m/s keeps its speed, the one that it strikes leaves with 1 + e. The motor's work
/// is 1 + e, of which (1 − e²)/2 are lost.
#[test]
fn endless_motors_keep_their_speed_through_impacts_before_the_step() {
    use carom_dynamics::impacts::ImpactLaw;
    for law in [ImpactLaw::Poisson, ImpactLaw::Sequential(Default::default())] {
        let mut model =
            bounded(masses(&["x", "y"], &[0.0; 2], &[0.0; 2]), "x", Some((Target::Speed, "1")), BoundedLaw::motor(f64::INFINITY));
        model.add_formula("stop", &row("y - x"), Law::unilateral(0.5)).unwrap();
        model.set_impact_law(law);
        let done = run(&model, &start(&[0.0, 0.0], &[1.0, 0.0]), 1e-3, 1e-3, MoreauJeanParams::default());
        let energy = &done.certificate.last;
        assert!((done.state.v[0] - 1.0).abs() < 1e-12 && (done.state.v[1] - 1.5).abs() < 1e-12, "{:?}", done.state);
        assert!((energy.work - 1.5).abs() < 1e-12 && (energy.dissipated_impact - 0.375).abs() < 1e-12, "{energy:?}");
    }
}

#[test]
fn what_does_not_know_them_says_so() {
    let model = bounded(masses(&["x"], &[1.0], &[0.0]), "x", None, BoundedLaw::friction(1.0));
    let refused: Vec<&str> = SCHEMES.iter().filter(|entry| check_scheme(entry, &model).is_err()).map(|entry| entry.name).collect();
    assert_eq!(refused, ["schatzman-paoli", "lotstedt", "nonsmooth-alpha", "d1-minus", "prox", "euler-moreau", "zero-order-hold"]);
    let error = check_scheme(SchemeParams::Prox(Default::default()).entry(), &model).unwrap_err().to_string();
    assert!(error.contains("bounds") && error.contains("moreau-jean") && error.contains("row"), "{error}");
    let mut model = Model::new(vec![Box::new(masses(&["x", "y"], &[0.0; 2], &[0.0; 2]))]).unwrap();
    let two = FormulaSource { rows: vec![("a".into(), "x".into()), ("b".into(), "y".into())], parameters: Vec::new() };
    let error = model.add_formula("two", &two, Law::Bounded(BoundedLaw::motor(1.0))).unwrap_err().to_string();
    assert!(error.contains("one row"), "{error}");
}

/// A body with equal moments of inertia on a ball joint in its centre: friction takes T/I from |ω| along ω, whatever its axis, and holds the body when it has stopped.
/// The bound is constant, or μ r times the weight, which is the reaction.
#[test]
fn friction_in_a_ball_joint_opposes_the_turning() {
    let (mass, inertia, bound, first) = (2.0, 0.1, 0.05, Vector3::new(1.0, -2.0, 2.0));
    for by_load in [false, true] {
        let body = RigidBody { name: "body".into(), mass, inertia: Matrix3::identity() * inertia };
        let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -G)).unwrap())]).unwrap();
        let mut state = start(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
        state.v[3..].copy_from_slice(first.as_slice());
        let placement = JointPlacement::at(Vector3::zeros());
        let source = JointSource { kind: JointKind::Spherical, bodies: [None, Some("body".into())], placement };
        model.add_joint("ball", &source, &state.q).unwrap();
        let spin = model.joint_spin("ball", &source, &state.q).unwrap();
        let law = match by_load {
            false => BoundedLaw::friction(bound),
            true => BoundedLaw::friction(0.0).with_load(JointLoad { joint: 0, rows: 3, factor: bound / (mass * G) }),
        };
        model.add_interaction("friction", Box::new(spin), Law::Bounded(law)).unwrap();
        let stop = first.norm() * inertia / bound;
        for params in [SchemeParams::MoreauJean(Default::default()), SchemeParams::MoreauGap(Default::default())] {
            for (end, left) in [(0.5 * stop, 0.5), (1.2 * stop, 0.0)] {
                let done = run_scheme(&model, &state, end, 0.01 * stop, &params);
                let turning = Vector3::from_column_slice(&done.state.v[3..6]);
                // the body turns about a fixed axis: the step is exact to the tolerance of the solver
                assert!((turning - first * left).norm() < 1e-9, "{by_load} {end}: {turning:?}");
                let taken = done.certificate.last.dissipated_friction;
                let expected = 0.5 * inertia * first.norm_squared() * (1.0 - left * left);
                assert!((taken - expected).abs() < 1e-9, "{by_load} {end}: {taken} {expected}");
            }
        }
    }
}

/// A body with equal moments of inertia on a universal joint in its centre: T = ½ I (θ̇₁² + θ̇₂²), so that friction of the bound B takes B/I from either speed by itself, until it
/// has stopped. The bound is constant, or μ r times the weight, which is the reaction.
#[test]
fn friction_in_a_universal_joint_stops_each_turn_by_itself() {
    let (mass, inertia, bound, speeds) = (2.0, 0.1, 0.05, [3.0_f64, -1.0_f64]);
    for by_load in [false, true] {
        let body = RigidBody { name: "body".into(), mass, inertia: Matrix3::identity() * inertia };
        let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -G)).unwrap())]).unwrap();
        let mut state = start(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
        (state.v[3], state.v[4]) = (speeds[0], speeds[1]);
        let placement = JointPlacement::at(Vector3::zeros()).along(Vector3::x()).crossing(Vector3::y());
        let source = JointSource { kind: JointKind::Universal, bodies: [None, Some("body".into())], placement };
        model.add_joint("cross", &source, &state.q).unwrap();
        let law = match by_load {
            false => BoundedLaw::friction(bound),
            true => BoundedLaw::friction(0.0).with_load(JointLoad { joint: 0, rows: 3, factor: bound / (mass * G) }),
        };
        for (axis, name) in [(JointAxis::Turn, "first"), (JointAxis::SecondTurn, "second")] {
            let coordinate = model.joint_coordinate("cross", &source, axis, &state.q).unwrap();
            model.add_interaction(name, Box::new(coordinate), Law::Bounded(law)).unwrap();
        }
        for params in [SchemeParams::MoreauJean(Default::default()), SchemeParams::MoreauGap(Default::default())] {
            for end in [1.0, 4.0, 7.0] {
                let error = |h: f64| {
                    let done = run_scheme(&model, &state, end, h, &params);
                    let q = &done.state.q[3..7];
                    let turned = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]));
                    // the second axis is fixed in the body, angular velocities are those in its frame
                    let spin = Vector3::from_column_slice(&done.state.v[3..6]);
                    let found = [(turned * spin).x, spin.y];
                    let exact = speeds.map(|speed| speed.signum() * (speed.abs() - bound / inertia * end).max(0.0));
                    (found[0] - exact[0]).abs().max((found[1] - exact[1]).abs())
                };
                let [coarse, fine] = [0.02, 0.01].map(error);
                // rows of friction are those of one end of the step: order 1, with errors of about h ω₁ ω₂/4; nothing moves when both have stopped
                let (order, bound) = ((coarse / fine).log2(), 0.01);
                let stopped = end == 7.0 && fine < 1e-9;
                assert!(stopped || (fine < bound && order > 0.8), "{by_load} {} {end}: {coarse:e} {fine:e}", params.entry().name);
            }
        }
    }
}

/// A block in a planar joint on a level plane: friction takes μ g from its speed in the direction of its motion, and it stops after v²/(2 μ g).
#[test]
fn friction_in_a_planar_joint_opposes_the_slip() {
    let (mu, first) = (0.3, Vector3::new(1.2, -0.5, 0.0));
    for kind in [JointKind::Planar, JointKind::PointInPlane] {
        let body = RigidBody { name: "block".into(), mass: MASS, inertia: Matrix3::from_diagonal_element(INERTIA) };
        let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -G)).unwrap())]).unwrap();
        let mut state = start(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
        state.v[..3].copy_from_slice(first.as_slice());
        let source = JointSource { kind, bodies: [None, Some("block".into())], placement: JointPlacement::at(Vector3::zeros()) };
        model.add_joint("plane", &source, &state.q).unwrap();
        let slip = Joint::slip("plane", &source, &model.shared_systems(), &state.q).unwrap();
        let law = BoundedLaw::friction(0.0).with_load(JointLoad { joint: 0, rows: 1, factor: mu });
        model.add_interaction("friction", Box::new(slip), Law::Bounded(law)).unwrap();
        for params in [SchemeParams::MoreauJean(Default::default()), SchemeParams::MoreauGap(Default::default())] {
            let (stop, h) = (first.norm() / (mu * G), 1e-3);
            let half = run_scheme(&model, &state, 0.5 * stop, 0.01 * stop, &params);
            let speed = Vector3::from_column_slice(&half.state.v[..3]);
            // straight on at a constant force: exact to the tolerance of the solver
            assert!((speed - first * 0.5).norm() < 1e-8, "{kind:?} {}: {speed:?}", params.entry().name);
            let done = run_scheme(&model, &state, 1.5 * stop, h, &params);
            let place = Vector3::from_column_slice(&done.state.q[..3]);
            let exact = first * (0.5 * stop);
            // within the step in which it stops
            assert!(
                (place - exact).norm() < mu * G * h * h && done.state.v[..3].iter().all(|v| v.abs() < 1e-10),
                "{kind:?}: {place:?} {exact:?}"
            );
        }
    }
}
