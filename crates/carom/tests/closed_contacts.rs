//! Detected contacts as closed contacts of smooth motion: derivatives of their relations, exact motions of balls and cubes.

use crate::support::folder;
use carom::Simulation;
use carom::dynamics::events::Contacts;
use carom::dynamics::integrators::{Integration, IntegratorKind, IntegratorParams, StepControl};
use carom::dynamics::relations::Rows;
use carom::dynamics::smooth::{ClosedContact, MotionPoint, Projection, Role};
use carom::dynamics::systems::{Instant, Scratch};
use carom::dynamics::{Model, State};

fn load(text: &str) -> Simulation {
    Simulation::from_text(&format!("{text}\n[simulation]\nend = 1.0\nstep = 1e-3\n")).unwrap_or_else(|e| panic!("{e}"))
}

fn gallery(name: &str, overrides: &[&str]) -> Simulation {
    let overrides: Vec<_> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    Simulation::from_path(&folder().join(name), &overrides).unwrap_or_else(|e| panic!("{e}"))
}

/// An integration in which the contacts with a gap up to 1e-9 are closed in these roles, a function of (number, slip).
fn begin<'m>(model: &'m Model, state: &State, params: &IntegratorParams, role: impl Fn([f64; 2]) -> Role) -> Integration<'m> {
    let mut contacts = Contacts::new(model);
    let State { t, q, v, .. } = state;
    contacts.find(Instant { t: *t, q, v }, 0.0).unwrap();
    let mut closed = Vec::new();
    for c in 0..contacts.len() {
        if contacts.gap(c, *t, q).unwrap() < 1e-9 {
            let [_, first, second] = contacts.velocity(c, Instant { t: *t, q, v }).unwrap();
            closed.push(ClosedContact { interaction: contacts.interaction(c), role: role([first, second]) });
        }
    }
    let mut integration = Integration::new(model, state, params).unwrap();
    integration.equations().set_closed(closed);
    integration.resume(state, Projection::Both).unwrap();
    integration
}

fn sliding(slip: [f64; 2]) -> Role {
    Role::Sliding { direction: slip }
}

fn forces(integration: &mut Integration<'_>) -> Vec<[f64; 3]> {
    let (point, mut forces) = (integration.point().clone(), Vec::new());
    integration.equations().contact_forces(&point, &mut forces).unwrap();
    forces
}

/// S6: the slip u = (4, 2) m/s falls by u̇ = −(7/2) μ g d, exactly, while the ball slides.
#[test]
fn a_spinning_ball_slides() {
    let simulation = gallery("slide_to_roll", &[]);
    let (model, state) = (&simulation.file.model, &simulation.file.state);
    let (deceleration, speed) = (0.3 * 9.81, 20.0_f64.sqrt());
    // all that has an error is the spin of 22 rad/s in the body frame, in proportion to the tolerance: DOPRI5 has 1.0e-9 at 1e-10
    for (kind, tolerance, bound) in [(IntegratorKind::Hem5, 1e-10, 1e-11), (IntegratorKind::Dopri5, 1e-12, 5e-11)] {
        let params = IntegratorParams { kind, tolerance, ..IntegratorParams::default() };
        let mut integration = begin(model, state, &params, sliding);
        assert_eq!(integration.equations().closed().len(), 1);
        while integration.point().t < 0.4 {
            integration.step(0.4).unwrap();
            let MotionPoint { t, q, v, .. } = integration.point();
            let left = 1.0 - 3.5 * deceleration * t / speed;
            let mut world = vec![0.0; 6];
            model.systems().file_velocities(q, v, &mut world);
            let slip = [world[0] - 0.1 * world[4], world[1] + 0.1 * world[3]];
            let centre = [3.0 - deceleration * t * 4.0 / speed, -deceleration * t * 2.0 / speed];
            assert!((slip[0] - 4.0 * left).abs() < bound && (slip[1] - 2.0 * left).abs() < bound, "{}: {slip:?}", kind.name());
            assert!((world[0] - centre[0]).abs() < bound && (world[1] - centre[1]).abs() < bound, "{}: {world:?}", kind.name());
            assert!((q[2] - 0.1).abs() < 1e-14 && world[5].abs() < bound, "{} {}", q[2] - 0.1, world[5]);
        }
        let weight = 9.81 * 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
        let [normal, first, second] = forces(&mut integration)[0];
        assert!((normal / weight - 1.0).abs() < 1e-13 && (first.hypot(second) / normal - 0.3).abs() < 1e-14);
    }
}

/// S5 at 0.51: a cube slides on four corners at a = g (sin − μ cos); the corners share the forces so that the moment of friction is carried.
#[test]
fn a_cube_slides_on_four_corners() {
    let simulation = gallery("friction_limit", &["parameters.slope=0.51"]);
    let slope = 0.51_f64.atan();
    for kind in [IntegratorKind::Hem5, IntegratorKind::Dopri5] {
        let params = IntegratorParams { kind, ..IntegratorParams::default() };
        let mut integration = begin(&simulation.file.model, &simulation.file.state, &params, |_| sliding([1.0, 0.0]));
        // t₁ of an upward normal is x
        assert_eq!((integration.equations().closed().len(), integration.equations().n_rows()), (4, 3));
        assert!(!integration.equations().forces_are_unique());
        while integration.point().t < 2.0 {
            integration.step(2.0).unwrap();
        }
        let exact = 9.81 * (slope.sin() - 0.5 * slope.cos());
        let v = &integration.point().v;
        println!("sliding cube, {}: {:.1e}, across {:.1e}", kind.name(), v[0] / 2.0 - exact, v[1].abs().max(v[5].abs()));
        // friction damps a slip across the motion at the rate μ g/‖u_T‖: explicit steps at the limit of their stability leave it at the tolerance, and its square
        // in the motion
        assert!((v[0] / 2.0 - exact).abs() < 1e-9, "{}: {}", kind.name(), v[0] / 2.0 - exact);
        assert!([v[1], v[5]].iter().all(|v| v.abs() < params.tolerance) && v[2..5].iter().all(|v| v.abs() < 1e-13), "{v:?}");
        let forces = forces(&mut integration);
        let weight = 8.0 * 9.81 * slope.cos();
        let sum: f64 = forces.iter().map(|f| f[0]).sum();
        assert!((sum - weight).abs() < 1e-11 && forces.iter().all(|f| (f[1].hypot(f[2]) - 0.5 * f[0]).abs() < 1e-12), "{forces:?}");
        // the friction 0.5 N at the arm 0.1 m is carried by corners 0.2 m apart: a fourth of the weight more in front
        let mut normal: Vec<f64> = forces.iter().map(|f| f[0] / weight).collect();
        normal.sort_unstable_by(f64::total_cmp);
        assert!(normal.iter().zip([0.125, 0.125, 0.375, 0.375]).all(|(a, b)| (a - b).abs() < params.tolerance), "{normal:?}");
    }
}

/// S5 at 0.49: twelve sticking rows of rank six; the cube stays, and the shortest forces sum to the weight.
#[test]
fn a_cube_sticks_on_four_corners() {
    let simulation = gallery("friction_limit", &[]);
    let slope = 0.49_f64.atan();
    let mut integration = begin(&simulation.file.model, &simulation.file.state, &IntegratorParams::default(), |_| Role::Sticking);
    assert_eq!((integration.equations().n_all_rows(), integration.equations().n_rows()), (12, 6));
    while integration.point().t < 2.0 {
        integration.step(2.0).unwrap();
    }
    let MotionPoint { q, v, .. } = integration.point();
    assert!(v.iter().all(|v| v.abs() < 1e-14) && q.iter().zip(&simulation.file.state.q).all(|(a, b)| (a - b).abs() < 1e-14), "{v:?}");
    let sums = forces(&mut integration).iter().fold([0.0; 3], |sum, f| std::array::from_fn(|i| sum[i] + f[i]));
    let weight = 8.0 * 9.81;
    for (sum, exact) in sums.into_iter().zip([weight * slope.cos(), -weight * slope.sin(), 0.0]) {
        assert!((sum - exact).abs() < 1e-11, "{sums:?}");
    }
}

/// A cube that spins on four corners stays where it is, and its spin falls by μ m g ℓ/I with the corners at ℓ = 0.1 √2 m.
#[test]
fn a_spinning_cube_stays_centred() {
    let mut simulation = gallery("friction_limit", &["parameters.slope=0"]);
    simulation.file.state.v[5] = 8.0;
    let inertia = 8.0 * 0.04 / 6.0;
    let rate = 0.5 * 8.0 * 9.81 * 0.1 * 2.0_f64.sqrt() / inertia;
    for kind in [IntegratorKind::Hem5, IntegratorKind::Dopri5] {
        let params = IntegratorParams { kind, tolerance: 1e-9, ..IntegratorParams::default() };
        let mut integration = begin(&simulation.file.model, &simulation.file.state, &params, sliding);
        // 0.44 rad: the slips turn
        while integration.point().t < 0.07 {
            integration.step(0.07).unwrap();
        }
        let MotionPoint { q, v, .. } = integration.point();
        println!("spinning cube, {}: {:.1e} {:.1e} {:.1e}", kind.name(), q[0].hypot(q[1]), q[2] - 0.1, v[5] - (8.0 - rate * 0.07));
        assert!(q[0].hypot(q[1]) < 1e-13 && (q[2] - 0.1).abs() < 1e-13, "{q:?}");
        assert!((v[5] - (8.0 - rate * 0.07)).abs() < 1e-11, "{}: {}", kind.name(), v[5] - (8.0 - rate * 0.07));
        assert!(forces(&mut integration).iter().all(|f| (f[0] - 2.0 * 9.81).abs() < 1e-10));
    }
}

/// The constant steps of HEM5 on a ball that slides and spins in the dent between two fixed balls: fifth order, with detected curved contacts.
#[test]
fn orders_on_curved_contacts() {
    let simulation = load(DENT);
    let (model, state) = (&simulation.file.model, &simulation.file.state);
    let run = |kind, n: f64| {
        let params = IntegratorParams { kind, step: Some(0.1 / n), control: StepControl::Fixed, ..IntegratorParams::default() };
        let mut integration = begin(model, state, &params, sliding);
        assert_eq!(integration.equations().closed().len(), 2);
        while integration.point().t < 0.1 {
            integration.step(0.1).unwrap();
        }
        integration.point().clone()
    };
    let reference = run(IntegratorKind::Dopri5, 128.0);
    for kind in [IntegratorKind::Hem5, IntegratorKind::Dopri5] {
        let errors: Vec<f64> = [4.0, 8.0, 16.0]
            .map(|n| {
                let point = run(kind, n);
                let both = point.q.iter().zip(&reference.q).chain(point.v.iter().zip(&reference.v));
                both.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
            })
            .to_vec();
        let orders = [(errors[0] / errors[1]).log2(), (errors[1] / errors[2]).log2()];
        println!("dent, {}: {errors:?}, orders {orders:.2?}", kind.name());
        assert!(0.5 * (orders[0] + orders[1]) > 4.5, "{}: {errors:?}", kind.name());
    }
}

/// A ball that lies on two fixed balls of another size, slides along the dent and spins.
const DENT: &str = r#"
gravity = [0, 0, -9.81]
[[material]]
name = "rubber"
friction = 0.2
[[body]]
name = "left"
fixed = true
shape = { kind = "sphere", radius = 0.3 }
position = [-0.3, 0, 0]
[[body]]
name = "right"
fixed = true
shape = { kind = "sphere", radius = 0.3 }
position = [0.3, 0, 0]
[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.2 }
mass = 2.0
position = [0, 0, 0.4]
velocity = [0, 1.0, 0]
angular_velocity = [1.0, 2.0, 3.0]
"#;

/// Moving bodies of several shapes, near each other and a tilted floor, in no special place.
const SHAPES: &str = r#"
gravity = [0, 0, -9.81]
[[material]]
name = "rubber"
friction = 0.3
[[body]]
name = "floor"
fixed = true
shape = { kind = "plane", normal = [0.1, 0.2, 1] }
[[body]]
name = "capsule"
shape = { kind = "capsule", radius = 0.1, length = 0.3 }
mass = 1.0
position = [0.02, 0.03, 0.16]
rotation = { axis = [0.1, 1, 0.2], angle = 1.4 }
velocity = [0.3, -0.2, 0.5]
angular_velocity = [1.0, -2.0, 0.7]
[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.15 }
mass = 2.0
position = [0.05, 0.06, 0.43]
velocity = [-0.4, 0.3, 0.1]
angular_velocity = [-3.0, 1.0, 2.0]
[[body]]
name = "box"
shape = { kind = "box", size = [0.2, 0.3, 0.4] }
mass = 3.0
position = [0.4, 0.1, 0.3]
rotation = { axis = [1, 2, 3], angle = 0.8 }
velocity = [0.2, 0.1, -0.3]
angular_velocity = [0.5, 1.5, -1.0]
"#;

/// Planar bodies on obstacles that move and turn.
const PLANE: &str = r#"
gravity = [0, -9.81]
[[material]]
name = "rubber"
friction = 0.3
[[planar_body]]
name = "disk"
shape = { kind = "disk", radius = 0.1 }
density = 30
position = [0.3, 0.12]
velocity = [0.5, -0.2]
angular_velocity = 3.0
[[planar_body]]
name = "other"
shape = { kind = "disk", radius = 0.15 }
density = 30
position = [0.1, 0.35]
velocity = [-0.2, 0.3]
angular_velocity = -1.0
[[obstacle]]
name = "floor"
shape = { kind = "half-plane", normal = [0.1, 1] }
motion = { x = "0.02*sin(3*t)", y = "0.05*cos(2*t) - 0.05", angle = "0.2*sin(4*t)" }
"#;

/// G v + b against differences of the gap along the motion, and (dG/dt) v + db/dt against those of the gap and of u.
#[test]
fn derivatives_of_detected_relations() {
    for (text, least) in [(SHAPES, 10), (DENT, 2), (PLANE, 3)] {
        let simulation = load(text);
        let (model, State { q, v, .. }) = (&simulation.file.model, &simulation.file.state);
        let (t, mut scratch) = (0.3, Scratch::default());
        let mut contacts = Contacts::new(model);
        assert!(contacts.find(Instant { t, q, v }, 1.0).unwrap());
        assert!(!contacts.find(Instant { t, q, v }, 1.0).unwrap(), "nothing new");
        assert!(contacts.len() >= least, "{}", contacts.len());
        let systems = model.systems();
        let moved = |epsilon: f64| {
            let (w, mut moved): (Vec<f64>, _) = (v.iter().map(|v| epsilon * v).collect(), q.clone());
            systems.advance(q, &w, &mut moved);
            moved
        };
        for c in 0..contacts.len() {
            // points where an edge leaves a face slide along the edge: their gap changes by more than u_N unless the two are parallel
            if contacts.name(c) == "capsule–box" {
                continue;
            }
            let interaction = contacts.interaction(c);
            let relation = interaction.relation();
            let velocity = |contacts: &mut Contacts<'_>, e: f64| contacts.velocity(c, Instant { t: t + e, q: &moved(e), v }).unwrap();
            let u = velocity(&mut contacts, 0.0);
            let mut bias = vec![0.0; relation.n_rows()];
            relation.acceleration_bias(t, q, v, &mut bias, &mut scratch).unwrap();
            let e = 1e-4;
            let [behind, here, ahead] = [-e, 0.0, e].map(|e| contacts.gap(c, t + e, &moved(e)).unwrap());
            // third derivatives up to 1e3 of (1 m, 1e-4 s)
            let first = (ahead - behind) / (2.0 * e);
            assert!((u[0] - first).abs() < 2e-6, "{} {}: {} {first}", contacts.name(c), c, u[0]);
            let second = (ahead - 2.0 * here + behind) / (e * e);
            assert!((bias[0] - second).abs() < 1e-4 * second.abs().max(1.0), "{} {}: {} {second}", contacts.name(c), c, bias[0]);
            let e = 1e-5;
            let (ahead, behind) = (velocity(&mut contacts, e), velocity(&mut contacts, -e));
            for k in 0..relation.n_rows() {
                let slope = (ahead[k] - behind[k]) / (2.0 * e);
                // the plain difference is good to 1e-7
                assert!((bias[k] - slope).abs() < 1e-6 * slope.abs().max(1.0), "{} {}: {} {slope}", contacts.name(c), c, bias[k]);
            }
            // u = G v + b
            let (mut jacobian, mut explicit) = (vec![0.0; bias.len() * relation.velocities().len()], vec![0.0; bias.len()]);
            relation.jacobian(t, q, Rows { jacobian: &mut jacobian, bias: &mut explicit }, &mut scratch).unwrap();
            for (k, row) in jacobian.chunks_exact(relation.velocities().len()).enumerate() {
                let product: f64 = row.iter().zip(relation.velocities()).map(|(g, &i)| g * v[i]).sum();
                assert!((product + explicit[k] - u[k]).abs() < 1e-14);
            }
        }
    }
}

/// A contact keeps its number while it opens; far away its gap is large and its velocity zero. Forgotten ones make room.
#[test]
fn contacts_are_found_and_forgotten() {
    let simulation = load(SHAPES);
    let (model, State { q, v, .. }) = (&simulation.file.model, &simulation.file.state);
    let mut contacts = Contacts::new(model);
    contacts.find(Instant { t: 0.0, q, v }, 0.1).unwrap();
    let n = contacts.len();
    let ball = (0..n).find(|&c| contacts.name(c) == "capsule–ball").unwrap();
    let near = contacts.gap(ball, 0.0, q).unwrap();
    let mut away = q.clone();
    away[9] += 0.2;
    let further = contacts.gap(ball, 0.0, &away).unwrap();
    assert!(further > near + 0.1 && further < near + 0.2, "{near} {further}");
    away[9] += 100.0;
    assert!(contacts.gap(ball, 0.0, &away).unwrap() > 100.0);
    assert_eq!(contacts.velocity(ball, Instant { t: 0.0, q: &away, v }).unwrap(), [0.0; 3]);
    assert_eq!(contacts.gap(ball, 0.0, q).unwrap(), near);
    // a body far away that comes fast is found, and can be evaluated
    let mut fast = v.clone();
    fast[8] = -1e4;
    assert!(contacts.find(Instant { t: 0.0, q: &away, v: &fast }, 0.1).unwrap() || n > 0);
    let gap = contacts.gap(ball, 0.0, &away).unwrap();
    assert!(gap > 99.0 && gap < 101.0, "{gap}");
    let keep: Vec<bool> = (0..contacts.len()).map(|c| c == ball).collect();
    let numbers = contacts.forget(&keep);
    assert_eq!((contacts.len(), numbers[ball]), (1, Some(0)));
    assert_eq!(contacts.gap(0, 0.0, q).unwrap(), near);
    assert!(contacts.find(Instant { t: 0.0, q, v }, 0.1).unwrap());
    assert!(contacts.len() >= n && contacts.name(0) == "capsule–ball");
}
