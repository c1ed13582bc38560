//! Bodies of the gallery with statics and integrals that are known: a wall at its limit, a top that turns over, an arm that presses.

use crate::support::{Done, folder, run};
use carom::dynamics::recording::Source;
use carom::dynamics::report::EventKind;
use carom::dynamics::systems::Scratch;
use carom::io::model_file::{ModelFile, parse, read};
use carom::io::urdf::{ImportOptions, import};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use std::path::Path;

/// Rigid blocks: wall and buttresses turn about their outer edges together, with no friction between them, at the slope
/// Σ w b / Σ w H = (0.06·0.1 + 0.0864·0.2)/(0.06·0.6 + 0.0864·0.48) = 0.3005. Two percent below it nothing moves but by the residual of the
/// solver; two percent above it the wall's top has moved in half a second by what the moments leave, α t²/2 H = 13 mm, to the factor of two
/// that the change of its lever arms makes.
#[test]
fn buttressed_wall_stands_up_to_the_slope_of_statics() {
    let top = |slope: &str| {
        let done = run("buttressed_wall", &[&format!("parameters.slope={slope}"), "simulation.end=0.5", "record.every=100"]);
        done.q("brick30.y")
    };
    let (below, above) = (top("0.295"), top("0.306"));
    assert!(below.abs() < 2e-4, "{below}");
    assert!((6e-3..4e-2).contains(&above), "{above}");
}

/// −L·a with a from the centre of mass to the point of contact, for a ball of radius 0.02 m whose centre of mass is 0.004 m below its middle.
fn jellett(q: &[f64], v: &[f64]) -> (f64, f64) {
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(q[3], q[4], q[5], q[6]));
    let axis = turn * Vector3::z();
    let omega = Vector3::new(v[3], v[4], v[5]);
    let spin = omega.dot(&axis);
    let momentum = (omega - axis * spin) * 3.0e-6 + axis * (3.2e-6 * spin);
    (-momentum.dot(&(axis * 0.004 - Vector3::z() * 0.02)), axis.z)
}

fn jellett_drift(done: &Done) -> f64 {
    let all: Vec<f64> = done.keep.q.iter().zip(&done.keep.v).map(|(q, v)| jellett(q, v).0).collect();
    all.iter().map(|j| (j / all[0] - 1.0).abs()).fold(0.0, f64::max)
}

/// Jellett's integral holds for any force at the point of contact. Located events keep it to the tolerance of the integrator over some
/// thousand steps; the top turns over and comes to roll upside down.
#[test]
fn tippe_top_turns_over_and_keeps_jelletts_integral() {
    let done = run("tippe_top", &[]);
    let drift = jellett_drift(&done);
    assert!(drift < 1e-9, "{drift}");
    let (_, upright) = jellett(&done.keep.q[0], &done.keep.v[0]);
    let (_, end) = jellett(done.keep.q.last().unwrap(), done.keep.v.last().unwrap());
    assert!((upright - 0.3_f64.cos()).abs() < 1e-12 && end < -0.96, "{upright} {end}");
    let rolls: Vec<f64> = done.keep.events.iter().filter(|e| e.kind == EventKind::SlipToStick).map(|e| e.t).collect();
    // the same to 1e-8 with tolerances of 1e-8 and 1e-10
    assert!(rolls.len() == 1 && (rolls[0] - 0.968_238_5).abs() < 1e-6, "{rolls:?}");
}

/// By time-steps the integral drifts at first order: arms of contacts are those of the step's start.
#[test]
fn tippe_top_drifts_at_first_order_by_time_steps() {
    let drift = |h: f64| {
        let step = format!("simulation.step={h}");
        let every = format!("record.every={}", (0.01 / h).round());
        let keys = ["simulation.strategy=time-stepping", "simulation.integrator=", "record.interval=", "simulation.end=0.5"];
        jellett_drift(&run("tippe_top", &[&keys[..], &[step.as_str(), every.as_str()]].concat()))
    };
    let (coarse, fine) = (drift(1e-4), drift(5e-5));
    let order = (coarse / fine).log2();
    assert!((order - 1.0).abs() < 0.2 && fine < 1e-3, "{coarse} {fine} {order}");
}

/// The hand rests on a smooth table while the shoulder's motor pushes with all it has: moments about the shoulder give the force
/// N = (τ + g Σ m x)/x_hand. Angles still creep into place at 1e-5 rad/s, hence the tolerance.
#[test]
fn urdf_arm_presses_with_the_force_of_statics() {
    let done = run("urdf_arm", &["record.every=1000"]);
    let x = |body: &str| done.q(&format!("{body}.x"));
    let (h, tau) = (1e-3, 15.0);
    // the forearm's frame is at its centre of mass, the hand 0.16 m farther along its axis
    let axis = {
        let [w, i, j, k] = ["qw", "qx", "qy", "qz"].map(|c| done.q(&format!("forearm.{c}")));
        UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k)) * Vector3::z()
    };
    let hand = x("forearm") + 0.16 * axis.x;
    let expected = (tau + 9.81 * (2.0 * x("upper_arm") + 1.5 * x("forearm"))) / hand;
    let contacts = done.keep.contacts.iter().filter(|c| matches!(c.source, Source::Colliders(..)));
    let force: f64 = contacts.map(|c| c.impulse[0] / h).sum();
    assert!((force / expected - 1.0).abs() < 1e-4, "{force} {expected}");
    // it touches: 0.04 m above the table's top at 0.5 m
    let height = done.q("forearm.z") + 0.16 * axis.z;
    assert!((height - 0.54).abs() < 1e-9, "{height}");
}

/// The gallery's arm is what the importer makes of its URDF: same bodies at the same places.
#[test]
fn urdf_arm_is_as_imported() {
    let text = std::fs::read_to_string(folder().join("urdf_arm/arm.urdf")).unwrap();
    let options = ImportOptions { positions: vec![("shoulder".into(), 0.5), ("elbow".into(), 1.2)], ..ImportOptions::default() };
    let imported = parse(&import(&text, &options).unwrap().model, Path::new("model.toml")).unwrap();
    let model = read(&folder().join("urdf_arm"), &[]).unwrap();
    let names = |file: &ModelFile| -> Vec<String> { file.model.systems().coordinates().names().collect() };
    assert_eq!(names(&imported), names(&model));
    assert_eq!(imported.state.q, model.state.q);
    // kinetic and potential energy at some velocity: masses and inertias are the same
    let energy = |file: &ModelFile| {
        let v: Vec<f64> = (0..file.state.v.len()).map(|k| 1.0 + k as f64).collect();
        file.model.energy(0.0, &file.state.q, &v, &mut Scratch::default()).unwrap()
    };
    assert_eq!(energy(&imported), energy(&model));
}

/// The slider-crank with clearance of bodies and joints is that of formulas: located events at a tolerance of 1e-10 leave the crank, the rod
/// and the slider of both at the same angles after four impacts, to the 1e-8 that such errors grow to over them.
#[test]
fn slider_cranks_of_bodies_and_of_formulas_agree() {
    let keys = [
        "simulation.strategy=event-driven",
        "simulation.step=",
        "simulation.scheme=",
        "simulation.solver=",
        "simulation.integrator={ kind = \"hem5\", tolerance = 1e-10 }",
        "simulation.end=0.0085",
    ];
    let (bodies, formulas) = (run("slider_crank_bodies", &keys), run("slider_crank_clearance", &keys));
    for (body, angle) in [("crank", "th1"), ("rod", "th2"), ("slider", "th3")] {
        let (a, b) = (bodies.q(&format!("{body}.angle")), formulas.q(angle));
        assert!((a - b).abs() < 1e-8, "{body}: {a} {b}");
    }
    let impacts = |done: &Done| done.keep.events.iter().filter(|e| e.kind == EventKind::Impact).count();
    assert!(impacts(&bodies) >= 4 && impacts(&bodies) == impacts(&formulas), "{} {}", impacts(&bodies), impacts(&formulas));
}
