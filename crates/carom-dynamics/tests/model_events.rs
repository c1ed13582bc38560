//! Events by formula and time, and the kinks of a model's formulas.

use carom_dynamics::events::SwitchingFunction;
use carom_dynamics::forces::{CompliantLaw, Damping};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::systems::{Instant, Lagrangian, LagrangianText, Linear, RigidBodies, RigidBody, Scratch, System};
use carom_dynamics::user_events::{EventAction, UserEvent};
use carom_dynamics::{ContactLaw, Law, Model};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

fn oscillator(name: &str, force: &str) -> Box<dyn System> {
    let linear = Linear::new(vec![name.to_owned()], vec![1.0], vec![0.0], vec![4.0]).unwrap();
    Box::new(linear.with_excitation(&[force.to_owned()], &[("a".to_owned(), 1.0)]).unwrap())
}

fn lagrangian(potential: &str, force: &str) -> Box<dyn System> {
    let text = LagrangianText {
        coordinates: vec!["x".into(), "y".into()],
        kinetic: "(x_dot^2 + y_dot^2)/2".into(),
        potential: potential.into(),
        forces: vec![("y".into(), force.into())],
        ..LagrangianText::default()
    };
    Box::new(Lagrangian::new(&text).unwrap())
}

fn source(text: &str) -> FormulaSource {
    FormulaSource { rows: vec![("gap".into(), text.into())], parameters: Vec::new() }
}

fn event(name: &str, formula: &str) -> UserEvent {
    UserEvent { name: name.into(), formula: formula.into(), ..UserEvent::default() }
}

/// The only function, at t with these q and v, as (value, rate).
fn only(model: &Model, (t, q, v): (f64, &[f64], &[f64]), a: Option<&[f64]>) -> (f64, Option<f64>) {
    let functions = SwitchingFunction::of(model);
    assert_eq!(functions.len(), 1, "{:?}", functions.iter().map(SwitchingFunction::name).collect::<Vec<_>>());
    let sample = functions[0].sample(model, Instant { t, q, v }, a, &mut Scratch::default()).unwrap();
    (sample.value, sample.rate)
}

#[test]
fn a_load_that_switches_in_time_is_seen() {
    let model = Model::new(vec![oscillator("x", "if(t < a, 1, -2)")]).unwrap();
    let [before, at, after] = [0.25, 1.0, 1.5].map(|t| only(&model, (t, &[3.0], &[7.0]), None));
    assert!(before.0 * after.0 < 0.0 && at.0 == 0.0);
    assert_eq!((before.0.abs(), after.0.abs()), (0.75, 0.5));
    assert_eq!(before.1.unwrap().abs(), 1.0);
    // the sign goes with the rate
    assert!(before.0 * before.1.unwrap() < 0.0);
}

#[test]
fn a_kinked_force_is_seen() {
    let model = Model::new(vec![oscillator("x", "-abs(x)")]).unwrap();
    assert_eq!(only(&model, (0.0, &[-0.3], &[2.0]), None), (-0.3, Some(2.0)));
    // dry friction of the rate needs the acceleration for its own rate
    let model = Model::new(vec![oscillator("x", "-sign(x_dot - 1)")]).unwrap();
    assert_eq!(only(&model, (0.0, &[0.0], &[3.0]), None), (2.0, None));
    assert_eq!(only(&model, (0.0, &[0.0], &[3.0]), Some(&[-5.0])), (2.0, Some(-5.0)));
}

#[test]
fn all_formulas_of_a_model_are_looked_at_and_none_twice() {
    let systems = vec![oscillator("z", "abs(t - 1) - max(z, 0)"), lagrangian("abs(x)", "-sign(y_dot)*step(1 - t)")];
    let mut model = Model::new(systems).unwrap();
    model.add_formula("wall", &source("2 - abs(x)"), Law::Contact(ContactLaw::default())).unwrap();
    model.add_velocity_formula("drive", &source("y_dot - if(z > 0, 1, 2)")).unwrap();
    model.add_compliant_formula("pad", &source("y + max(sin(t), 0)"), CompliantLaw::spring(1e3, 1.0)).unwrap();
    let (t, q, v, a) = (0.4, [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
    let mut seen: Vec<(String, f64, f64)> = Vec::new();
    for function in SwitchingFunction::of(&model) {
        let sample = function.sample(&model, Instant { t, q: &q, v: &v }, Some(&a), &mut Scratch::default()).unwrap();
        seen.push((function.name().to_owned(), sample.value, sample.rate.unwrap()));
    }
    let find = |value: f64, rate: f64| {
        let same = |x: f64, y: f64| (x - y).abs() < 1e-14;
        let hits = seen.iter().filter(|(_, f, r)| (same(*f, value) && same(*r, rate)) || (same(*f, -value) && same(*r, -rate)));
        hits.count()
    };
    assert_eq!(find(-0.6, 1.0), 1, "t − 1: {seen:?}");
    assert_eq!(find(0.1, 1.0), 1, "z: {seen:?}");
    assert_eq!(find(0.2, 2.0), 1, "x: {seen:?}");
    assert_eq!(find(3.0, 6.0), 1, "y_dot: {seen:?}");
    assert_eq!(find(0.4_f64.sin(), 0.4_f64.cos()), 1, "sin(t): {seen:?}");
    assert_eq!(find(0.3 + 0.4_f64.sin(), 3.0 + 0.4_f64.cos()), 1, "the gap of the pad: {seen:?}");
    assert_eq!(seen.len(), 6, "{seen:?}");
}

#[test]
fn forces_of_penalised_contacts_have_kinks() {
    let mut law = CompliantLaw::spring(1e3, 1.0);
    law.damping = Damping::Constant { coefficient: 10.0 };
    law.friction = 0.5;
    law.slip_velocity = 0.25;
    let mut model = Model::new(vec![lagrangian("", "0")]).unwrap();
    let rows = vec![("gap".into(), "y".into()), ("tangent".into(), "x".into())];
    model.add_compliant_formula("pad", &FormulaSource { rows, parameters: Vec::new() }, law).unwrap();
    let functions = SwitchingFunction::of(&model);
    assert_eq!(
        functions.iter().map(SwitchingFunction::name).collect::<Vec<_>>(),
        ["gap of \"pad\"", "pull of \"pad\"", "full friction of \"pad\""]
    );
    let values = |y: f64, v: [f64; 2]| {
        let at = Instant { t: 0.0, q: &[0.0, y], v: &v };
        [0, 1, 2].map(|k| functions[k].sample(&model, at, None, &mut Scratch::default()).unwrap().value)
    };
    assert_eq!(values(0.1, [3.0, 4.0]), [0.1, 1.0, 1.0]);
    // 1e3 · 0.01 − 10 · 0.5 and 10 − 10 · 2
    assert_eq!(values(-0.01, [-0.75, 0.5]), [-0.01, 5.0, 0.5]);
    assert_eq!(values(-0.01, [0.125, 2.0]), [-0.01, -10.0, -0.125]);
}

#[test]
fn events_by_formula_know_their_rates() {
    let mut model = Model::new(vec![oscillator("z", ""), lagrangian("", "0")]).unwrap();
    let mut first = event("fast", "x*y_dot + t^2*k");
    first.parameters = vec![("k".into(), 3.0)];
    first.action = EventAction::Stop;
    model.add_event(first).unwrap();
    model.add_event(event("past", "z > 1")).unwrap();
    model.add_event(event("inside", "z > 1 and x > 0")).unwrap();
    let (q, v, a) = ([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
    let at = Instant { t: 0.5, q: &q, v: &v };
    let mut scratch = Scratch::default();
    let fast = model.events()[0].sample(model.systems(), at, Some(&a), &mut scratch).unwrap();
    assert!((fast.value - (0.2 * 3.0 + 0.75)).abs() < 1e-15);
    assert!((fast.rate.unwrap() - (2.0 * 3.0 + 0.2 * 6.0 + 3.0)).abs() < 1e-14);
    assert!(model.events()[0].needs_acceleration() && !model.events()[1].needs_acceleration());
    assert_eq!(model.events()[0].sample(model.systems(), at, None, &mut scratch).unwrap().rate, None);
    let past = model.events()[1].sample(model.systems(), at, None, &mut scratch).unwrap();
    assert_eq!((past.value, past.rate), (0.1 - 1.0, Some(1.0)));
    assert_eq!(model.events()[2].sample(model.systems(), at, None, &mut scratch).unwrap().value, 0.1 - 1.0);
}

#[test]
fn events_see_the_velocities_of_bodies() {
    // the rates against differences along a motion with constant v
    let orientation = UnitQuaternion::from_euler_angles(0.3, -0.4, 0.5);
    let body = RigidBody { name: "ball".into(), mass: 2.0, inertia: Matrix3::from_diagonal(&Vector3::new(1.0, 1.5, 2.0)) };
    let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::zeros()).unwrap())]).unwrap();
    model.add_event(event("spin", "ball.wx*ball.x + ball.vy^2 + sin(t)")).unwrap();
    model.add_event(event("turn", "ball.qx_dot + ball.qw*ball.z_dot")).unwrap();
    let (w, x, y, z) = (orientation.w, orientation.i, orientation.j, orientation.k);
    let q = [0.7, -0.2, 0.1, w, x, y, z];
    let v = [1.0, 2.0, -0.5, 0.3, -0.8, 0.6];
    let mut scratch = Scratch::default();
    for event in model.events() {
        let mut value = |s: f64| {
            let (mut moved, step) = (q, v.map(|v| v * s));
            model.systems().advance(&q, &step, &mut moved);
            event.sample(model.systems(), Instant { t: 0.2 + s, q: &moved, v: &v }, Some(&[0.0; 6]), &mut scratch).unwrap()
        };
        let (h, sample) = (1e-5, value(0.0));
        let difference = (value(h).value - value(-h).value) / (2.0 * h);
        // central differences: h² and round-off
        assert!((sample.rate.unwrap() - difference).abs() < 1e-9, "{sample:?}, {difference}");
        assert!(event.needs_acceleration());
    }
    let omega = orientation * Vector3::new(0.3, -0.8, 0.6);
    let spin = model.events()[0].sample(model.systems(), Instant { t: 0.2, q: &q, v: &v }, None, &mut scratch).unwrap();
    assert!((spin.value - (omega.x * 0.7 + 4.0 + 0.2_f64.sin())).abs() < 1e-14 && spin.rate.is_none());
}

#[test]
fn mistakes_are_told() {
    let mut model = Model::new(vec![oscillator("x", "")]).unwrap();
    model.add_event(event("first", "x - 1")).unwrap();
    model.add_time_event("later", 2.0).unwrap();
    model.add_time_event("sooner", 1.0).unwrap();
    assert_eq!(model.time_events().iter().map(|event| event.t).collect::<Vec<_>>(), [1.0, 2.0]);
    let error = model.add_event(event("later", "x")).unwrap_err().to_string();
    assert_eq!(error, "two events are called \"later\"");
    assert!(model.add_time_event("first", 3.0).is_err());
    assert!(model.add_time_event("never", f64::NAN).unwrap_err().to_string().contains("never"));
    let error = model.add_event(event("wrong", "x_dott")).unwrap_err().to_string();
    assert!(error.contains("formula of event \"wrong\"") && error.contains("x_dot"), "{error}");
}
