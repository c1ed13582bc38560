//! Motors and friction in joints of model files by located events.

use crate::support::{Done, failure, run, run_text};
use carom::dynamics::recording::Source;
use carom::dynamics::report::{ContactMode, EventKind};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use std::f64::consts::PI;

/// A slider-crank in the plane, its crank turned by a motor of 0.6 N m up to 20 rad/s, with Coulomb friction in its pins and its guide.
fn slider_crank(simulation: &str) -> String {
    format!(
        r#"
gravity = [0, -9.81]
[parameters]
x = 0.17320508075688773
[[planar_body]]
name = "crank"
mass = 0.5
inertia = 4e-3
position = [0, 0.05]
[[planar_body]]
name = "rod"
mass = 0.4
inertia = 3e-3
position = ["x/2", 0.05]
[[planar_body]]
name = "slider"
mass = 0.3
inertia = 1e-3
position = ["x", 0]
[[joint]]
name = "main pin"
kind = "revolute"
bodies = ["ground", "crank"]
point = [0, 0]
motor = {{ kind = "velocity", speed = 20, max_effort = 0.6 }}
friction = {{ coefficient = 0.1, radius = 0.01 }}
[[joint]]
name = "crank pin"
kind = "revolute"
bodies = ["crank", "rod"]
point = [0, 0.1]
friction = {{ coefficient = 0.2, radius = 0.01 }}
[[joint]]
name = "gudgeon pin"
kind = "revolute"
bodies = ["rod", "slider"]
point = ["x", 0]
friction_torque = 0.01
[[joint]]
name = "guide"
kind = "prismatic"
bodies = ["ground", "slider"]
point = ["x", 0]
axis = [1, 0]
friction = {{ coefficient = 0.15 }}
[simulation]
end = 0.8
{simulation}
"#
    )
}

fn modes_of(done: &Done, name: &str) -> Vec<(f64, EventKind)> {
    done.keep.events.iter().filter(|event| event.name == name && event.modes.is_some()).map(|event| (event.t, event.kind)).collect()
}

/// The friction of all joints follows their loads, the slider turns round at its dead centres, the motor comes to its speed: time-stepping comes to the same as its steps get small.
#[test]
fn a_slider_crank_with_friction_in_its_joints_is_what_time_stepping_converges_to() {
    let located = |strategy: &str, tolerance: &str| {
        run_text(&slider_crank(&format!("strategy = \"{strategy}\"\nintegrator = {{ kind = \"hem5\", tolerance = {tolerance} }}")))
    };
    let done = located("event-driven", "1e-10");
    for name in ["guide sliding friction", "main pin motor", "main pin friction", "crank pin friction", "gudgeon pin friction"] {
        println!("{name}: {:?}", modes_of(&done, name));
    }
    println!("energy error {:.1e}, {:?}", done.certificate.energy_error(), done.certificate.last);
    let (angle, speed) = (done.q("crank.angle"), done.v("crank.omega"));
    // from the top the crank passes a dead centre in every half turn, where the slider turns round
    let passed = (angle / PI + 0.5).floor();
    let turns = modes_of(&done, "guide sliding friction").iter().filter(|(_, kind)| *kind == EventKind::SlipReversed).count();
    println!("{angle} rad, {speed} rad/s, {turns} turns of the slider");
    assert!(turns >= 2 && turns as f64 == passed, "{turns} {angle}");
    assert!(done.certificate.energy_error().abs() < 1e-8, "{}", done.certificate.energy_error());
    assert!(done.certificate.last.work > 0.1 && done.certificate.last.dissipated_friction > 1e-3);
    let hybrid = located("hybrid", "1e-10");
    assert!((hybrid.q("crank.angle") - angle).abs() < 1e-8 && (hybrid.v("crank.omega") - speed).abs() < 1e-7);
    let coarse = located("event-driven", "1e-7");
    println!("tolerance 1e-7: {:.1e}", coarse.q("crank.angle") - angle);
    assert!((coarse.q("crank.angle") - angle).abs() < 1e-5);
    let errors = [4e-4, 2e-4, 1e-4].map(|h| {
        let stepped = run_text(&slider_crank(&format!("step = {h}\nsolver = {{ tolerance = 1e-11 }}")));
        stepped.q("crank.angle") - angle
    });
    let (order, extrapolated) = ((errors[0] / errors[2]).abs().log2() / 2.0, 2.0 * errors[2] - errors[1]);
    println!("time-stepping: {errors:?} order {order:.2}, extrapolated {extrapolated:.1e}");
    // the event times of the scheme leave its error a little rough
    assert!((order - 1.0).abs() < 0.2 && extrapolated.abs() < errors[2].abs() / 5.0, "{errors:?} {order}");
}

/// Joints in space hold a planar mechanism more than once: the reactions that friction would follow are not determined, which is said by name.
#[test]
fn loads_that_the_motion_does_not_determine_are_refused_by_name() {
    let text = r#"
[[body]]
name = "bar"
mass = 1
inertia = [0.1, 0.1, 0.1]
[[joint]]
name = "left"
kind = "revolute"
bodies = ["ground", "bar"]
point = [0, -1, 0]
axis = [0, 1, 0]
friction = { coefficient = 0.1, radius = 0.1 }
[[joint]]
name = "right"
kind = "revolute"
bodies = ["ground", "bar"]
point = [0, 1, 0]
axis = [0, 1, 0]
[simulation]
end = 1
strategy = "event-driven"
"#;
    let message = failure(text);
    assert!(message.contains("left friction") && message.contains("load of \"left\"") && message.contains("time-stepping"), "{message}");
}

/// The gallery's arm by located events: its servos come down to the table, strike it and press; at rest the shoulder's gives its 15 N m, and moments about it give the force on the table.
#[test]
fn urdf_arm_presses_with_the_force_of_statics_by_located_events() {
    let done = run(
        "urdf_arm",
        &[
            "simulation.strategy=hybrid",
            "simulation.step=",
            "simulation.integrator={ kind = \"hem5\", tolerance = 1e-8 }",
            "record.every=1",
        ],
    );
    for event in &done.keep.events {
        println!("{:.9} {:?} {} {:?} {}", event.t, event.kind, event.name, event.modes, event.note);
    }
    let x = |body: &str| done.q(&format!("{body}.x"));
    let axis = {
        let [w, i, j, k] = ["qw", "qx", "qy", "qz"].map(|c| done.q(&format!("forearm.{c}")));
        UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k)) * Vector3::z()
    };
    let hand = x("forearm") + 0.16 * axis.x;
    let expected = (15.0 + 9.81 * (2.0 * x("upper_arm") + 1.5 * x("forearm"))) / hand;
    let contacts = done.keep.contacts.iter().filter(|c| matches!(c.source, Source::Colliders(..)));
    let force: f64 = contacts.map(|c| c.force[0]).sum();
    let height = done.q("forearm.z") + 0.16 * axis.z;
    println!("{force} {expected} {height} energy error {:.1e}", done.certificate.energy_error());
    assert!((force / expected - 1.0).abs() < 1e-4, "{force} {expected}");
    assert!((height - 0.54).abs() < 1e-8, "{height}");
    let efforts: Vec<_> = done.keep.contacts.iter().filter(|c| matches!(c.source, Source::Interaction(_))).collect();
    assert!(efforts.iter().any(|c| c.mode == ContactMode::Sliding && (c.force[0].abs() - 15.0).abs() < 1e-12), "{efforts:?}");
}
