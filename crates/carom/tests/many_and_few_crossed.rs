//! One step of `moreau-gap` by the few-contact and by the many-contact way, from the states of a heap of bodies at all attitudes that spin.

use crate::watch::{Watched, run_within};
use carom::Simulation;

/// Boxes at random attitudes and balls, all of them spinning, that fall on each other and on a floor.
fn tumbling(many: usize, (size, floor, laws, more): (&str, &str, &str, &str)) -> Simulation {
    let text = format!(
        r#"
        [[material]]
        name = "box"
        friction = 0.4
        [[material]]
        name = "ball"
        friction = 0.5
        [[material]]
        name = "floor"
        friction = 0.6
        [[body]]
        name = "floor"
        fixed = true
        material = "floor"
        shape = {{ kind = "plane" }}
        {floor}
        [[generate]]
        kind = "packing"
        name = "box"
        count = 9
        seed = 5
        size = [0.7, 0.7]
        pitch = 0.23
        gap = 0.002
        position = [0, 0, 0.001]
        body = {{ shape = {{ kind = "box", size = [{size}] }}, density = 800, orientation = "random", velocity = [0.2, -0.1, -0.5], angular_velocity = [2, -3, 4], material = "box" }}
        [[generate]]
        kind = "packing"
        name = "ball"
        count = 9
        seed = 3
        size = [0.7, 0.7]
        pitch = 0.23
        gap = 0.002
        position = [0.7, 0, 0.001]
        body = {{ shape = {{ kind = "sphere", radius = {{ min = 0.07, max = 0.0999 }} }}, density = 1000, velocity = [-0.6, 0.1, -0.4], angular_velocity = [5, 6, -3], material = "ball" }}
        {laws}
        {more}
        [simulation]
        end = 0.06
        step = 5e-4
        scheme = {{ kind = "moreau-gap", many = {many}, recovery = 0.0, sweeps = {{ tolerance = 1e-8, aim = 1e-13, cheap_visits = 100000000, max_sweeps = 100000 }} }}
        solver = {{ tolerance = 1e-13 }}
        "#
    );
    Simulation::from_text(&text).unwrap_or_else(|e| panic!("{e}"))
}

/// Joints between boxes.
const JOINTS: &str = r#"
[[joint]]
kind = "spherical"
bodies = ["box1", "box2"]
point = [-0.1, -0.2, 0.05]
[[joint]]
kind = "revolute"
bodies = ["box5", "box6"]
point = [0.1, 0.05, 0.05]
axis = [0.6, 0.0, 0.8]
"#;

const SHAKEN: &str = r#"motion = { x = "0.01*sin(40*t)", z = "0.004*sin(60*t)" }"#;

/// A floor that turns under the heap: its surface has an acceleration and a spin of its own.
const TURNING: &str = r#"motion = { angle = "3*t + 20*t^2", axis = [0, 0, 1], centre = [0.3, 0, 0] }"#;

const CUBES: &str = "0.12, 0.12, 0.12";
const BRICKS: &str = "0.16, 0.12, 0.08";

/// What is crossed with turned and spinning bodies.
struct Crossed {
    name: &'static str,
    boxes: &'static str,
    floor: &'static str,
    /// Of the floor with all others; empty: by rule.
    law: &'static str,
    more: &'static str,
    /// By how much velocities may differ, per second of the step [m/s², rad/s²]. The few-contact way iterates on the gyroscopic forces and on the rows of joints, the
    /// many-contact way takes one linearly implicit step and foresees the rows: of second order, so that impacts, which change spins by some rad/s, leave
    /// ½ h Δω². Measured: 2.7 and 11. Cubes and balls have no gyroscopic forces: 0.
    apart: f64,
}

const fn cubes(name: &'static str, floor: &'static str, law: &'static str) -> Crossed {
    Crossed { name, boxes: CUBES, floor, law, more: "", apart: 0.0 }
}

const CROSSED: [Crossed; 11] = [
    cubes("resting floor", "", ""),
    cubes("shaken floor", SHAKEN, ""),
    cubes("turning floor", TURNING, ""),
    cubes("restitution", SHAKEN, "friction = 0.5\nrestitution = 0.5"),
    cubes("tangential restitution", SHAKEN, "friction = 0.5\nrestitution = 0.5\ntangential_restitution = 0.6"),
    cubes("cohesion", SHAKEN, "friction = 0.5\ncohesion = { kind = \"constant\", force = 4.0, reach = 1e-3 }"),
    cubes("ellipse", TURNING, "friction = { kind = \"elliptic\", coefficients = [0.2, 0.6], direction = [1, 1, 0] }"),
    cubes("rolling", TURNING, "friction = 0.5\nrolling = 0.01"),
    cubes("spinning", SHAKEN, "friction = 0.5\nspinning = 0.02"),
    Crossed { boxes: BRICKS, apart: 6.0, ..cubes("bricks", "", "") },
    Crossed { boxes: BRICKS, more: JOINTS, apart: 20.0, ..cubes("bricks with joints", TURNING, "") },
];

/// Every so many steps of the run by few contacts a state is taken to go on from, for so many steps.
const EVERY: usize = 2;
const STEPS: usize = 2;

/// Both ways from the same states: velocities, places, and what contacts exchange.
#[test]
fn few_and_many_contacts_of_tumbling_bodies_move_alike() {
    for Crossed { name, boxes, floor, law, more, apart } in CROSSED {
        let pair = |other: &str| format!("[[material_pair]]\nmaterials = [\"floor\", \"{other}\"]\n{law}\n");
        let laws = if law.is_empty() { String::new() } else { pair("box") + &pair("ball") };
        let scene = |many: usize| tumbling(many, (boxes, floor, &laws, more));
        let (few_always, many_always) = (1_000_000, 1);
        let mut long = scene(few_always);
        long.file.record.every = EVERY;
        let long = run_within(long, name, usize::MAX);
        let mut carrying = 0;
        for h in [5e-4, 1e-4] {
            for seen in &long.watch.seen {
                let go_on = |many: usize| -> Watched {
                    let mut simulation = scene(many);
                    let state = &mut simulation.file.state;
                    state.t = seen.t;
                    state.q.copy_from_slice(&seen.q);
                    state.v.copy_from_slice(&seen.v);
                    simulation.file.run.step = Some(h);
                    simulation.file.run.end = seen.t + STEPS as f64 * h;
                    run_within(simulation, name, usize::MAX)
                };
                let (few, many) = (go_on(few_always), go_on(many_always));
                let contacts = few.watch.seen.iter().flat_map(|seen| &seen.contacts);
                carrying += contacts.filter(|contact| contact.dim >= 3 && contact.impulse[0] > 0.0).count();
                let last = |watched: &Watched| watched.watch.seen.last().map(|seen| (seen.q.clone(), seen.v.clone())).unwrap();
                let ((q, v), (other_q, other_v)) = (last(&few), last(&many));
                let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                // one-step problems are solved to 1e-13 of velocities and impulses of up to 30; measured 5e-11
                let speed = 1e-9 + apart * h;
                assert!(worst(&v, &other_v) < speed, "{name} at {}: {:e} m/s", seen.t, worst(&v, &other_v));
                assert!(worst(&q, &other_q) < STEPS as f64 * h * speed, "{name} at {}: {:e} m", seen.t, worst(&q, &other_q));
                let (a, b) = (&few.certificate.last, &many.certificate.last);
                for (of, x, y) in [
                    ("impacts", a.dissipated_impact, b.dissipated_impact),
                    ("friction", a.dissipated_friction, b.dissipated_friction),
                    ("work", a.work, b.work),
                    ("mechanical", a.mechanical(), b.mechanical()),
                ] {
                    // momenta are up to 1 kg m/s, energies up to 30 J
                    assert!((x - y).abs() < speed + 1e-13, "{name} at {}: {of} {x:e} J, {y:e} J", seen.t);
                }
            }
        }
        assert!(carrying >= 10, "{name}: {carrying} contacts with an impulse");
    }
}
