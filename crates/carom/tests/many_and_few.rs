//! The two ways of `moreau-gap`, few contacts by active set and W, many on the velocities of the bodies, give the same motion.

use crate::support::{Done, run_text};

/// Spheres and boxes that fall on a floor and come to rest among each other; with a joint, two of the boxes hang together.
fn heap(many: usize, joint: &str) -> Done {
    run_text(&format!(
        r#"
        [[material]]
        name = "m"
        friction = 0.5
        [[body]]
        name = "floor"
        fixed = true
        shape = {{ kind = "plane", normal = [0, 0, 1] }}
        [[generate]]
        kind = "packing"
        name = "ball"
        count = 24
        seed = 3
        size = [0.8, 0.6]
        pitch = 0.2
        gap = 0.002
        position = [0, 0, 0.001]
        body = {{ shape = {{ kind = "sphere", radius = {{ min = 0.06, max = 0.0999 }} }}, density = 1000 }}
        [[generate]]
        kind = "packing"
        name = "box"
        count = 16
        seed = 4
        size = [0.8, 0.8]
        pitch = 0.2
        gap = 0.002
        position = [1.2, 0, 0.001]
        body = {{ shape = {{ kind = "box", size = [0.15, 0.12, 0.1] }}, density = 800, velocity = [-0.3, 0, 0] }}
        {joint}
        [simulation]
        end = 0.06
        step = 1e-3
        scheme = {{ kind = "moreau-gap", many = {many}, sweeps = {{ tolerance = 1e-12, aim = 1e-14, cheap_visits = 100000000, max_sweeps = 100000 }} }}
        solver = {{ tolerance = 1e-13 }}
        [record]
        every = 10
        "#
    ))
}

const JOINT: &str = r#"
[[joint]]
kind = "spherical"
bodies = ["box1", "box2"]
point = [1.0, -0.3, 0.05]
"#;

/// Both ways solve the same one-step problem where friction gives one solution for the velocities, to 1e-12 of its scale: 60 steps differ by what is left
/// of each, and what collisions make of it. A difference of the velocities grows by the curvature of the surfaces between two impacts, at most
/// some 2 d/r = 10 times in these few hundredths of a second in which bodies meet once or twice.
#[test]
fn few_and_many_contacts_give_the_same_motion() {
    for joint in ["", JOINT] {
        let (few, many) = (heap(1_000_000, joint), heap(1, joint));
        for done in [&few, &many] {
            assert_eq!(done.certificate.unconverged, 0);
        }
        assert_eq!(few.certificate.steps, many.certificate.steps);
        assert!(few.certificate.max_active > 40, "{}", few.certificate.max_active);
        let worst = |a: &[Vec<f64>], b: &[Vec<f64>]| {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let (places, speeds) = (worst(&few.keep.q, &many.keep.q), worst(&few.keep.v, &many.keep.v));
        assert!(places < 1e-8 && speeds < 1e-6, "joint {:?}: {places:e} m, {speeds:e} m/s", !joint.is_empty());
        // the accounts of both: energies to the same digits, penetrations alike
        let (a, b) = (&few.certificate, &many.certificate);
        for (of, x, y) in [
            ("energy", a.last.mechanical(), b.last.mechanical()),
            ("dissipated by impact", a.last.dissipated_impact, b.last.dissipated_impact),
            ("dissipated by friction", a.last.dissipated_friction, b.last.dissipated_friction),
            ("balance", a.energy_error(), b.energy_error()),
        ] {
            assert!((x - y).abs() < 1e-6 * a.initial.mechanical(), "{of}: {x} {y}");
        }
        assert!((a.max_penetration - b.max_penetration).abs() < 1e-8, "{:e} {:e}", a.max_penetration, b.max_penetration);
    }
}
