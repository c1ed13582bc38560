//! Fixed colliders that move as prescribed, or whose surface does: lift, conveyor belt, turntable.

use carom_collision::{Collider, CollisionError, Detector, Material, Motion, MotionSource, PairLaws, Shape};
use carom_dynamics::detection::ContactDetector;
use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::overlaps::initial_overlaps;
use carom_dynamics::recording::NoRecorder;
use carom_dynamics::relations::contact::{BodyStates, write_bias, write_jacobian};
use carom_dynamics::schemes::{DirectProjectionParams, SchemeParams};
use carom_dynamics::strategies::{Continue, Ending, Observers, OnFailure, Strategy, TimeStepping};
use carom_dynamics::systems::{Instant, RigidBodies, RigidBody};
use carom_dynamics::{Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

const GRAVITY: f64 = 9.81;

fn ground(source: MotionSource) -> Collider {
    let plane = Collider::new("ground", None, Shape::Plane { normal: Vector3::z() });
    Collider { motion: Some(Box::new(Motion::new("ground", source).unwrap())), ..plane }
}

fn source(part: usize, formula: &str) -> MotionSource {
    let mut source = MotionSource::default();
    source.formulas[part] = Some(formula.to_owned());
    source
}

fn cube() -> Shape {
    Shape::Box { half_extents: Vector3::repeat(0.1) }
}

/// A body of 1 kg at `place`, with the inertia of a cube of 0.2 m, on the ground.
fn model(shape: Shape, ground: Collider, material: Material, place: Vector3<f64>, v: [f64; 6]) -> (Model, State) {
    let body = RigidBody { name: "body".into(), mass: 1.0, inertia: Matrix3::from_diagonal_element(0.04 / 6.0) };
    let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -GRAVITY)).unwrap())]).unwrap();
    let colliders = vec![Collider::new("body", Some(0), shape), ground];
    model.set_detector(Box::new(Detector::new(colliders, vec![material], PairLaws::new()).unwrap()));
    (model, State { t: 0.0, q: vec![place.x, place.y, place.z, 1.0, 0.0, 0.0, 0.0], v: v.to_vec(), ..State::default() })
}

fn run(model: &Model, state: &mut State, end: f64, step: f64, params: &SchemeParams) -> Certificate {
    let scheme = params.build();
    let solver = FrictionSolverParams { tolerance: 1e-12, ..scheme.solver().unwrap_or_default() };
    let mut memory = StepMemory::new(model, &solver).unwrap();
    let strategy = TimeStepping { scheme, step, end, on_failure: OnFailure::Stop, record_every: 0, record_interval: None };
    let (mut recorder, mut watch) = (NoRecorder, |_: &_| Continue::Yes);
    let outcome = strategy.run(model, state, &mut memory, Observers { recorder: &mut recorder, watch: &mut watch });
    assert!(matches!(outcome.ending, Ending::Finished), "{:?}", outcome.ending);
    outcome.certificate
}

/// z = 0.1 sin 5t lifts a sphere and a box, which stay in contact since 0.1 · 25 < g; its work enters the balance.
#[test]
fn a_lift_carries() {
    let projection = SchemeParams::DirectProjection(DirectProjectionParams::default());
    for (shape, params) in
        [(cube(), SchemeParams::default()), (Shape::Sphere { radius: 0.1 }, SchemeParams::default()), (cube(), projection)]
    {
        let (start, speed) = (Vector3::new(0.3, -0.2, 0.1), [0.0, 0.0, 0.5, 0.0, 0.0, 0.0]);
        let (model, mut state) = model(shape, ground(source(2, "0.1*sin(5*t)")), Material::default(), start, speed);
        let certificate = run(&model, &mut state, 1.0, 1e-3, &params);
        assert!((state.t - 1.0).abs() < 1e-9, "{}", state.t);
        let (sin, cos) = (5.0 * state.t).sin_cos();
        println!("v off by {:e}, z by {:e}", state.v[2] - 0.5 * cos, state.q[2] - 0.1 - 0.1 * sin);
        // v is w + h ẇ of the step before, h²/2 · 0.1 · 5³ = 6e-6, but after a step without contact, once rounding has opened it: then it is off
        // by a h with a ≤ g + 2.5, and z by a h²
        let (h, a) = (1e-3, GRAVITY + 2.5);
        assert!((state.v[2] - 0.5 * cos).abs() < a * h, "{}", state.v[2] - 0.5 * cos);
        assert!((state.q[2] - 0.1 - 0.1 * sin).abs() < a * h * h, "{}", state.q[2] - 0.1 - 0.1 * sin);
        assert!((state.q[0] - 0.3).abs() < 1e-12 && (state.q[1] + 0.2).abs() < 1e-12);
        if matches!(params, SchemeParams::DirectProjection(_)) {
            // what the projection lifts is not in the balance, but the positions are exact
            assert!((state.q[2] - 0.1 - 0.1 * sin).abs() < 1e-12);
            continue;
        }
        // what the lift did: m g z + m v²/2 − m v₀²/2
        let work = GRAVITY * 0.1 * sin + 0.5 * (0.25 * cos * cos - 0.25);
        println!("work {} of {work}, error {:e}", certificate.last.work, certificate.energy_error());
        assert!((certificate.last.work - work).abs() < 1e-3 * work.abs(), "{} {work}", certificate.last.work);
        assert!(certificate.energy_error().abs() < 1e-12);
    }
}

/// A box put on a belt at rest slips for v/(μ g), then rides: the belt's work is twice the box's energy, half of it lost to friction.
#[test]
fn a_belt_drags() {
    let (mu, speed) = (0.5, 1.0);
    let material = Material { friction: mu, ..Material::default() };
    for (formula, place) in [("1", 0.1), ("v0 + 0*t", 0.1)] {
        let mut belt = source(4, formula);
        belt.parameters = vec![("v0".into(), speed)];
        let (model, mut state) = model(cube(), ground(belt), material, Vector3::new(0.0, 0.0, place), [0.0; 6]);
        let slip = speed / (mu * GRAVITY);
        run(&model, &mut state, 0.1, 1e-3, &SchemeParams::default());
        assert!((state.v[0] - mu * GRAVITY * 0.1).abs() < 1e-9, "{}", state.v[0]);
        state.t = 0.1;
        run(&model, &mut state, slip - 1e-3, 1e-3, &SchemeParams::default());
        assert!(state.v[0] < speed);
        let (model, mut state) =
            self::model(cube(), ground(source(4, formula.replace("v0", "1").as_str())), material, Vector3::new(0.0, 0.0, 0.1), [0.0; 6]);
        let certificate = run(&model, &mut state, 0.3, 1e-3, &SchemeParams::default());
        assert!((state.v[0] - speed).abs() < 1e-9, "{}", state.v[0]);
        // way: v²/(2 μ g), then v (t − slip); the step within which slipping ends is off by less than h · v
        let way = 0.5 * speed * slip + speed * (0.3 - slip);
        assert!((state.q[0] - way).abs() < 1e-3, "{} {way}", state.q[0]);
        let energy = certificate.last;
        assert!(
            (energy.work - speed * speed).abs() < 5e-3 && (energy.dissipated_friction - 0.5 * speed * speed).abs() < 5e-3,
            "{energy:?}"
        );
        assert!(certificate.energy_error().abs() < 1e-9, "{}", certificate.energy_error());
    }
}

/// A box rides on a turntable, whether the table turns or its surface runs about the same axis.
#[test]
fn a_turntable_carries_round() {
    let material = Material { friction: 0.8, ..Material::default() };
    let rate = 2.0;
    let end = std::f64::consts::TAU / rate;
    let table = |part: usize, formula: &str| {
        let (model, mut state) =
            model(cube(), ground(source(part, formula)), material, Vector3::new(0.5, 0.0, 0.1), [0.0, 1.0, 0.0, 0.0, 0.0, rate]);
        let certificate = run(&model, &mut state, end, end / 2000.0, &SchemeParams::default());
        (state, certificate)
    };
    let ((turned, first), (ran, _)) = (table(3, "2*t"), table(7, "2"));
    let (sin, cos) = (rate * turned.t).sin_cos();
    let error = (Vector3::new(turned.q[0], turned.q[1], turned.q[2]) - Vector3::new(0.5 * cos, 0.5 * sin, 0.1)).norm();
    println!("after a turn: {error:e} m off, energy {:e} J", first.energy_error());
    assert!(error < 1e-4);
    assert!((turned.v[1] - cos).abs() < 1e-4 && (turned.v[5] - rate).abs() < 1e-6, "{:?}", turned.v);
    assert!(first.energy_error().abs() < 1e-4);
    let difference = turned.q.iter().chain(&turned.v).zip(ran.q.iter().chain(&ran.v)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(difference < 1e-9, "{difference}");
}

/// Spinning resistance takes a ball at the centre of a turntable along.
#[test]
fn a_turntable_spins_a_ball() {
    let material = Material { friction: 0.5, spinning: 0.05, ..Material::default() };
    let (model, mut state) = model(Shape::Sphere { radius: 0.1 }, ground(source(7, "3")), material, Vector3::new(0.0, 0.0, 0.1), [0.0; 6]);
    // the torque σ m g spins it up at σ m g/I
    run(&model, &mut state, 0.01, 1e-3, &SchemeParams::default());
    let rate = 0.05 * GRAVITY / (0.04 / 6.0) * 0.01;
    assert!((state.v[5] - rate).abs() < 1e-6, "{} {rate}", state.v[5]);
    run(&model, &mut state, 0.2, 1e-3, &SchemeParams::default());
    assert!((state.v[5] - 3.0).abs() < 1e-9, "{}", state.v[5]);
}

/// The rate of the gap is the normal row times v plus b, for obstacles that turn and shift.
#[test]
fn rows_are_derivatives_of_gaps() {
    let mut motion =
        MotionSource { axis: Vector3::new(1.0, 1.0, 0.5), centre: Some(Vector3::new(0.5, 0.2, -0.3)), ..MotionSource::default() };
    motion.formulas = ["0.1*t", "0", "0.2*sin(t)", "0.3*t", "1", "0", "0", "2"].map(|text| Some(text.to_owned()));
    for shape in [Shape::Plane { normal: Vector3::z() }, Shape::Box { half_extents: Vector3::new(2.0, 2.0, 0.5) }] {
        let height = if matches!(shape, Shape::Box { .. }) { -0.5 } else { 0.0 };
        let obstacle = Collider {
            translation: Vector3::new(0.0, 0.0, height),
            motion: Some(Box::new(Motion::new("obstacle", motion.clone()).unwrap())),
            ..Collider::new("obstacle", None, shape)
        };
        let ball = Collider::new("ball", Some(0), Shape::Sphere { radius: 0.3 });
        let mut detector = Detector::new(vec![obstacle, ball], vec![Material::default()], PairLaws::new()).unwrap();
        let v = [0.3, -0.2, 0.4, 1.0, 0.5, -0.3];
        let mut at = |t: f64| {
            let mut contacts = Vec::new();
            let q = [0.1 + v[0] * t, 0.2 + v[1] * t, 0.3 + v[2] * t, 1.0, 0.0, 0.0, 0.0];
            detector.detect(Instant { t, q: &q, v: &v }, 1.0, &mut contacts).unwrap();
            assert_eq!(contacts.len(), 1);
            (contacts[0], q)
        };
        let (t, eps) = (0.1, 1e-6);
        let (contact, q) = at(t);
        let rate = (at(t + eps).0.gap - at(t - eps).0.gap) / (2.0 * eps);
        let (mut row, mut bias, mut change) = ([0.0; 6], [0.0], [0.0]);
        write_jacobian(&contact, &BodyStates { q: &q, v: &v, lead: 0.0 }, 1, &mut row);
        write_bias(&contact, &[Vector3::zeros(); 2], 0.0, &mut bias, &mut change);
        let u = bias[0] + row.iter().zip(&v).map(|(g, v)| g * v).sum::<f64>();
        // central differences: round-off 1e-16/1e-6
        assert!((u - rate).abs() < 1e-8, "{u} {rate}");
    }
}

/// Shapes that overlap at the start, the obstacle where its motion puts it then.
#[test]
fn overlaps_at_the_start_are_told() {
    let (model, mut state) = model(cube(), ground(source(2, "0.03*(1 + t)")), Material::default(), Vector3::new(0.0, 0.0, 0.1), [0.0; 6]);
    let found = initial_overlaps(&model, &state, 1e-6).unwrap();
    assert_eq!((found.len(), &found[0].names), (1, &["body".to_owned(), "ground".to_owned()]));
    assert!((found[0].depth - 0.03).abs() < 1e-15);
    state.q[2] = 0.2;
    assert_eq!(initial_overlaps(&model, &state, 1e-6).unwrap(), []);
}

#[test]
fn bodies_do_not_move_as_prescribed() {
    let wrong = Collider { body: Some(0), rotation: UnitQuaternion::identity(), ..ground(source(0, "t")) };
    let wrong = Collider { shape: cube(), ..wrong };
    let error = Detector::new(vec![wrong], vec![Material::default()], PairLaws::new()).map(|_| ()).unwrap_err();
    assert_eq!(error, CollisionError::BodyWithMotion { collider: "ground".into() });
    // a value that is not finite is an error of the search
    let colliders = vec![Collider::new("body", Some(0), cube()), ground(source(2, "1/t"))];
    let mut detector = Detector::new(colliders, vec![Material::default()], PairLaws::new()).unwrap();
    let error = detector.detect(Instant { t: 0.0, q: &[], v: &[] }, 0.0, &mut Vec::new()).unwrap_err();
    assert_eq!(error.what, "the motion `z` of \"ground\"");
}
