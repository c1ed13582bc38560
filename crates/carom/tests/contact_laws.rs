//! Laws of contacts between bodies with exact answers: rolling and spinning resistance, elliptic friction, cohesion, super-balls.

use crate::support::{Done, run_text};
use std::fmt::Write;

const G: f64 = 9.81;
const R: f64 = 0.1;

/// A ball of radius 0.1 m on (or at a height above) a floor; `law` are keys of the pair of their materials.
struct Ball<'a> {
    law: &'a str,
    height: f64,
    velocity: [f64; 3],
    spin: [f64; 3],
    end: f64,
    step: f64,
}

impl Default for Ball<'_> {
    fn default() -> Self {
        Ball { law: "friction = 0.5", height: R, velocity: [0.0; 3], spin: [0.0; 3], end: 1.0, step: 1e-3 }
    }
}

impl Ball<'_> {
    fn run(&self) -> Done {
        let Ball { law, height, velocity, spin, end, step } = self;
        run_text(&format!(
            r#"
            gravity = [0, 0, -9.81]
            [[material]]
            name = "rubber"
            [[material]]
            name = "stone"
            [[material_pair]]
            materials = ["rubber", "stone"]
            {law}
            [[body]]
            name = "floor"
            fixed = true
            shape = {{ kind = "plane", normal = [0, 0, 1] }}
            material = "stone"
            [[body]]
            name = "ball"
            shape = {{ kind = "sphere", radius = {R} }}
            mass = 2.0
            inertia = 0.008
            material = "rubber"
            position = [0, 0, {height}]
            velocity = {velocity:?}
            angular_velocity = {spin:?}
            [simulation]
            scheme = "moreau-jean"
            end = {end}
            step = {step}
            solver = {{ kind = "auto", tolerance = 1e-12 }}
            "#
        ))
    }
}

/// A rolling ball slows down at 5 ρ g/(7 R), and rests from then on.
#[test]
fn rolling_resistance_stops_a_ball() {
    let (rolling, v): (f64, f64) = (0.002, 0.4);
    let rate = 5.0 * rolling * G / (7.0 * R);
    for (end, speed, way) in [(1.0, v - rate, v - 0.5 * rate), (4.0, 0.0, v * v / (2.0 * rate))] {
        let law = format!("friction = 0.5\nrolling = {rolling}");
        let done = Ball { law: &law, velocity: [v, 0.0, 0.0], spin: [0.0, v / R, 0.0], end, ..Ball::default() }.run();
        assert!((done.v("ball.vx") - speed).abs() < 1e-9, "{end}: {}", done.v("ball.vx"));
        assert!((R * done.v("ball.wy") - speed).abs() < 1e-9, "{end}: {}", done.v("ball.wy"));
        assert!((done.q("ball.x") - way).abs() < 1e-3 * v, "{end}: {}", done.q("ball.x"));
        let c = &done.certificate;
        assert!(c.energy_error().abs() < 1e-9 && c.last.dissipated_friction > 0.0, "{c:?}");
    }
}

/// A ball that slides has friction at its bound and rolling resistance against its turn: v̇ = −μ g, ω̇ = (5/2R²) g (μ R − ρ).
#[test]
fn sliding_and_rolling_resistance_act_together() {
    let (mu, rolling, v) = (0.3, 0.01, 2.0);
    let law = format!("friction = {mu}\nrolling = {rolling}");
    // it turns forward from the start, so that the resistance has a direction
    let done = Ball { law: &law, velocity: [v, 0.0, 0.0], spin: [0.0, 1.0, 0.0], end: 0.1, ..Ball::default() }.run();
    let turn = 1.0 + 0.1 * 2.5 / (R * R) * G * (mu * R - rolling);
    assert!((done.v("ball.vx") - (v - 0.1 * mu * G)).abs() < 1e-9, "{}", done.v("ball.vx"));
    assert!((done.v("ball.wy") - turn).abs() < 1e-8, "{} {turn}", done.v("ball.wy"));
}

/// A spinning ball stops after ω J/(σ m g); sliding meanwhile is not changed by it (soft finger, moment and friction not coupled).
#[test]
fn spinning_resistance_stops_a_ball() {
    let (spinning, omega, mu) = (0.001, 2.0, 0.3);
    let rate = 2.5 * spinning * G / (R * R);
    let law = format!("friction = {mu}\nspinning = {spinning}");
    for (end, left) in [(0.5, omega - 0.5 * rate), (omega / rate - 0.002, 0.002 * rate), (omega / rate + 0.002, 0.0)] {
        let done = Ball { law: &law, spin: [0.0, 0.0, omega], end, ..Ball::default() }.run();
        assert!((done.v("ball.wz") - left).abs() < 1e-8, "{end}: {} {left}", done.v("ball.wz"));
        assert!(done.certificate.energy_error().abs() < 1e-9);
    }
    // while it slides it also begins to roll: the spin is that of a turning body, found to order h²
    let errors = [1e-3, 2.5e-4].map(|step| {
        let done = Ball { law: &law, velocity: [3.0, 0.0, 0.0], spin: [0.0, 0.0, omega], end: 0.2, step, ..Ball::default() }.run();
        assert!((done.v("ball.vx") - (3.0 - 0.2 * mu * G)).abs() < 1e-9, "{}", done.v("ball.vx"));
        (done.v("ball.wz") - (omega - 0.2 * rate)).abs()
    });
    assert!(errors[0] < 5e-5 && errors[1] < errors[0] / 12.0, "{errors:?}");
}

/// Rolling and spinning at once: the moment is that of largest dissipation in the ellipsoid, −N (ρ² ω_t, σ² ω_z)/‖(ρ ω_t, σ ω_z)‖.
#[test]
fn rolling_and_spinning_resistance_share_one_ellipsoid() {
    let (rolling, spinning, v, omega): (f64, f64, f64, f64) = (0.002, 0.0005, 0.3, 2.0);
    let law = format!("friction = 0.5\nrolling = {rolling}\nspinning = {spinning}");
    let (mut turn, mut spin) = (v / R, omega);
    let n = 200_000;
    for _ in 0..n {
        let dt = 0.5 / f64::from(n);
        let rates = |turn: f64, spin: f64| {
            let size = (rolling * turn).hypot(spinning * spin);
            (-5.0 / 7.0 * G / (R * R) * rolling * rolling * turn / size, -2.5 * G / (R * R) * spinning * spinning * spin / size)
        };
        let (a, b) = rates(turn, spin);
        let (a, b) = rates(turn + 0.5 * dt * a, spin + 0.5 * dt * b);
        (turn, spin) = (turn + dt * a, spin + dt * b);
    }
    let mut errors = Vec::new();
    for step in [2e-3, 5e-4] {
        let done = Ball { law: &law, velocity: [v, 0.0, 0.0], spin: [0.0, v / R, omega], end: 0.5, step, ..Ball::default() }.run();
        errors.push((done.v("ball.wy") - turn).hypot(done.v("ball.wz") - spin));
        assert!((done.v("ball.vx") - R * done.v("ball.wy")).abs() < 1e-9);
    }
    // order 1: a quarter of the step
    assert!(errors[0] < 0.01 && errors[1] < 0.3 * errors[0], "{errors:?}");
}

/// A super-ball with R ω = 5/2 v hops backwards and forwards between the same two points of the floor.
#[test]
fn super_ball() {
    let law = "friction = 10.0\nrestitution = 1.0\ntangential_restitution = 1.0";
    // the floor's contact point slips at v_x − R ω_y
    for step in [1e-3, 2e-4] {
        let done = Ball { law, height: 0.6, velocity: [1.0, 0.0, 0.0], spin: [0.0, -25.0, 0.0], end: 3.0, step }.run();
        let vx: Vec<f64> = done.keep.v.iter().map(|v| v[0]).collect();
        // the impact acts when the gap is within half a step of closing, h · 1.6 m/s, and half of that is the error of its arm R
        let worst = vx.iter().map(|v| (v.abs() - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 5.0 * 3.5 * 0.8 * step / R, "{step}: {worst}");
        assert_eq!(vx.windows(2).filter(|v| v[0] * v[1] < 0.0).count(), 5);
        assert!(done.keep.q.iter().all(|q| q[0].abs() < 0.8));
    }
}

/// A box on a floor with elliptic friction whose first direction is turned by 30° against the world's axes.
fn sliding_box(pair: &str, floor_turn: f64) -> Done {
    run_text(&format!(
        r#"
        gravity = [0, 0, -9.81]
        [[material]]
        name = "box"
        [[material]]
        name = "grooved"
        [[material_pair]]
        materials = ["grooved", "box"]
        friction = {{ kind = "elliptic", coefficients = [0.2, 0.5], {pair} }}
        [[body]]
        name = "floor"
        fixed = true
        shape = {{ kind = "plane", normal = [0, 0, 1] }}
        material = "grooved"
        rotation = {{ axis = [0, 0, 1], angle = {floor_turn} }}
        [[body]]
        name = "box"
        shape = {{ kind = "box", size = [0.4, 0.4, 0.1] }}
        mass = 1.0
        material = "box"
        position = [0, 0, 0.05]
        velocity = [1.0, 1.0, 0]
        [simulation]
        end = 0.2
        step = 5e-4
        solver = {{ kind = "auto", tolerance = 1e-12 }}
        "#
    ))
}

/// The principal directions follow the direction of the pair, fixed to the world or to the floor; the motion is that of a particle.
#[test]
fn elliptic_friction_of_bodies_follows_its_direction() {
    let angle = std::f64::consts::FRAC_PI_6;
    let along = [angle.cos(), angle.sin()];
    let (mut a, mut b) = (along[0] + along[1], along[0] - along[1]);
    let n = 100_000;
    let dt = 0.2 / f64::from(n);
    for _ in 0..n {
        let rates = |a: f64, b: f64| {
            let size = (0.2 * a).hypot(0.5 * b);
            (-G * 0.04 * a / size, -G * 0.25 * b / size)
        };
        let (p, q) = rates(a, b);
        let (p, q) = rates(a + 0.5 * dt * p, b + 0.5 * dt * q);
        (a, b) = (a + dt * p, b + dt * q);
    }
    let exact = [a * along[0] - b * along[1], a * along[1] + b * along[0]];
    let mut world = String::new();
    write!(world, "direction = [{}, {}, 0]", along[0], along[1]).unwrap();
    for done in [sliding_box(&world, 0.0), sliding_box("direction = [1, 0, 0], frame = \"grooved\"", angle)] {
        let found = [done.v("box.vx"), done.v("box.vy")];
        assert!((found[0] - exact[0]).hypot(found[1] - exact[1]) < 5e-3, "{found:?} {exact:?}");
        assert!(done.v("box.wz").abs() < 1e-3, "{}", done.v("box.wz"));
    }
}

/// A ball under a ceiling hangs while its weight is below the cohesion.
#[test]
fn cohesion_holds_a_ball_to_the_ceiling() {
    for (share, hangs) in [(1.001, true), (0.999, false)] {
        let force = share * 2.0 * G;
        let done = run_text(&format!(
            r#"
            gravity = [0, 0, -9.81]
            [[material]]
            name = "clay"
            [[material_pair]]
            materials = ["clay", "clay"]
            friction = 0.5
            cohesion = {{ kind = "constant", force = {force} }}
            [[body]]
            name = "ceiling"
            fixed = true
            shape = {{ kind = "plane", normal = [0, 0, -1] }}
            [[body]]
            name = "ball"
            shape = {{ kind = "sphere", radius = 0.1 }}
            mass = 2.0
            position = [0, 0, -0.1]
            [simulation]
            end = 1.0
            step = 1e-3
            "#
        ));
        let z = done.q("ball.z") + 0.1;
        assert!(if hangs { z.abs() < 1e-9 } else { z < -0.3 * G }, "{share}: {z}");
    }
}

/// The bond of a ball on the floor, kicked upwards against gravity 0: it opens to δ₁ with F (δ₁ − δ₁²/2δ_c) = ½ m v² and comes back; a stronger kick
/// breaks it, which takes F δ_c/2.
#[test]
fn a_bond_of_bodies_opens_and_breaks() {
    let run = |kick: f64| {
        run_text(&format!(
            r#"
            gravity = [0, 0, 0]
            [[material]]
            name = "clay"
            [[material_pair]]
            materials = ["clay", "clay"]
            cohesion = {{ kind = "zone", strength = 10.0, opening = 1e-3 }}
            [[body]]
            name = "floor"
            fixed = true
            shape = {{ kind = "plane", normal = [0, 0, 1] }}
            [[body]]
            name = "ball"
            shape = {{ kind = "sphere", radius = 0.1 }}
            mass = 1.0
            position = [0, 0, 0.1]
            velocity = [0, 0, {kick}]
            [simulation]
            end = 0.1
            step = 1e-5
            "#
        ))
    };
    let held = run(0.08);
    let largest = held.keep.q.iter().map(|q| q[2] - 0.1).fold(0.0, f64::max);
    assert!((largest / 4e-4 - 1.0).abs() < 0.01, "{largest}");
    assert!(held.v("ball.vz").abs() < 1e-9);
    let broken = run(0.2);
    let dissipated = broken.certificate.last.dissipated_impact;
    assert!((dissipated / 5e-3 - 1.0).abs() < 0.02, "{dissipated}");
    assert!((broken.v("ball.vz") - (0.04_f64 - 0.01).sqrt()).abs() < 1e-3, "{}", broken.v("ball.vz"));
}

/// A ball that is thrown down, bounces and spins comes to rest: no motion is left, and it lies on the floor within the drift of the scheme,
/// some ten thousandths of its radius at this step.
#[test]
fn a_bouncing_ball_with_rolling_resistance_comes_to_rest() {
    let law = "friction = 0.6\nrestitution = 0.9\ntangential_restitution = 0.9\nrolling = 0.01\nspinning = 0.001";
    for vz in [0.0, 2.0] {
        let start = Ball { law, height: 1.0, velocity: [0.5, 0.0, vz], spin: [0.0, 0.0, 1.0], end: 15.0, step: 5e-3 };
        let done = start.run();
        assert!((done.q("ball.z") - R).abs() < 2e-3 * R, "{}", done.q("ball.z"));
        if vz == 2.0 {
            // where the example published with Siconos ends: the vertical motion does not depend on the rest
            assert!((done.q("ball.z") - 0.099_959_190_43).abs() < 1e-11, "{}", done.q("ball.z"));
        }
        for name in ["ball.vx", "ball.vy", "ball.vz", "ball.wx", "ball.wy", "ball.wz"] {
            assert!(done.v(name).abs() < 1e-9, "{vz} {name}: {}", done.v(name));
        }
    }
}
