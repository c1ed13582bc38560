//! A floor by formula that moves at a constant speed is a floor at rest, seen from another frame.

use crate::support::{Done, run_text};

/// A ball falls on a floor that rises at `speed`, with the velocity `speed` added to its own.
fn ball(scheme: &str, speed: f64) -> Done {
    run_text(&format!(
        r#"
        [linear]
        coordinates = ["y"]
        mass = 1.0
        force = [-9.81]
        [[contact]]
        name = "floor"
        gap = "y - {speed}*t"
        restitution = 0.7
        [initial]
        position = {{ y = 0.2 }}
        velocity = {{ y = {speed} }}
        [simulation]
        end = 0.5
        step = 3e-3
        scheme = {{ kind = "{scheme}" }}
        [record]
        every = 1
        "#
    ))
}

#[test]
fn a_rising_floor_is_one_at_rest() {
    for scheme in ["moreau-gap", "moreau-jean"] {
        let (still, rising) = (ball(scheme, 0.0), ball(scheme, 0.3));
        assert_eq!(still.keep.t, rising.keep.t);
        for ((t, still), rising) in still.keep.t.iter().zip(&still.keep.q).zip(&rising.keep.q) {
            // rounding of 170 steps
            assert!((rising[0] - 0.3 * t - still[0]).abs() < 1e-12, "{scheme}, t = {t}: {} {}", rising[0] - 0.3 * t, still[0]);
        }
    }
}
