//! First-order models of the gallery against their numbers.

use crate::support::{failure, run};
use carom::dynamics::report::EventKind;

fn x(done: &crate::support::Done) -> &[f64] {
    &done.simulation.file.state.x
}

#[test]
fn circuits_meet_the_reference() {
    let done = run("diode_bridge", &["simulation.end=4.999e-3", "record.every=1000"]);
    assert!((x(&done)[0] - 0.7863839107277327).abs() < 1e-11 && (x(&done)[1] + 2.830718054146945e-3).abs() < 1e-13);
    let done = run("rlc_diode", &["simulation.end=4.99e-3"]);
    assert!((x(&done)[0] - 2.64143897875).abs() < 1e-11);
    let done = run("relay", &[]);
    assert_eq!(x(&done), [0.0, 0.0]);
}

#[test]
fn located_models_meet_their_times() {
    let done = run("filippov_sliding", &[]);
    let changes: Vec<f64> = done.keep.events.iter().filter(|e| e.kind == EventKind::ModeChanged).map(|e| e.t).collect();
    assert!(changes.len() == 2 && (changes[0] - 0.5).abs() < 1e-9 && (changes[1] - 2.0).abs() < 1e-9, "{changes:?}");
    let done = run("turning_edge", &[]);
    assert!((x(&done)[0] + 0.163_410_905_215_903).abs() < 1e-8 && (x(&done)[1] + 0.189_200_623_826_982).abs() < 1e-8, "{:?}", x(&done));
    let done = run("jumping_rectangle", &[]);
    assert!((x(&done)[0] - 0.25).abs() < 1e-12 && (x(&done)[1] - 0.5).abs() < 1e-12, "{:?}", x(&done));
}

/// The ball leaves the floor when the pull of the coil reaches its weight.
#[test]
fn the_coil_lifts_the_ball_in_time() {
    let done = run("lifted_ball", &[]);
    let opened = done.keep.events.iter().find(|e| e.kind == EventKind::ContactOpened).unwrap();
    assert!((opened.t - 0.212_263_3).abs() < 2e-3, "{}", opened.t); // two steps
    assert!(done.q("y") > 0.1);
    // ball and coil, resistance and source: θ = 1/2 accounts them exactly
    let c = &done.certificate;
    assert!(c.last.work > 10.0 && c.last.dissipated_friction > 1.0, "{:?}", c.last);
    assert!(c.energy_error().abs() < 1e-11 * c.last.work, "{}", c.energy_error()); // rounding of 1000 steps
}

/// The stream touches cave and pillar, and never leaves the cave by more than the solver allows.
#[test]
fn the_stream_stays_in_the_cave() {
    let done = run("water_stream", &[]);
    assert_eq!(done.certificate.unconverged, 0);
    let touched = |name: &str| done.keep.events.iter().any(|e| e.kind == EventKind::ModeChanged && e.name == name);
    assert!(touched("cave"));
}

/// States that no jump can bring between walls that leave no room: the message names a relation.
#[test]
fn starts_without_room_name_the_relation() {
    let message = failure(
        r#"
        [first_order]
        states = ["x"]
        A = [[-1]]
        [[relation]]
        name = "floor"
        law = "complementarity"
        multipliers = ["a"]
        B = [1]
        C = [1]
        [[relation]]
        name = "ceiling"
        law = "complementarity"
        multipliers = ["b"]
        B = [-1]
        C = [-1]
        b = [-1]
        [initial]
        state = { x = 2 }
        [simulation]
        end = 1
        step = 0.1
        "#,
    );
    assert!(message.contains("break the law of \"floor\"") || message.contains("break the law of \"ceiling\""), "{message}");
}
