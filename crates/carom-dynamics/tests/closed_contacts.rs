//! Closed contacts as rows of the equations: sticking, sliding with friction, in the plane and in space, against exact and independent solutions.

use crate::support::{constant_steps, distance, fitted_order};
use carom_dynamics::error::IntegrationError;
use carom_dynamics::events::{Contacts, check_contacts};
use carom_dynamics::integrators::{Integration, IntegratorKind, IntegratorParams};
use carom_dynamics::relations::{FormulaSource, Relation, Rows};
use carom_dynamics::smooth::{AccelerationForm, ClosedContact, InteractionRef, MotionPoint, Projection, Role};
use carom_dynamics::systems::{Instant, Lagrangian, LagrangianText, Scratch};
use carom_dynamics::{ContactLaw, Friction, Law, Model, ModelError, NonFinite, State};

/// A model by formula: coordinates, kinetic and potential energy, forces.
fn model(coordinates: &[&str], potential: &str, forces: &[(&str, &str)]) -> Model {
    let kinetic: Vec<String> = coordinates.iter().map(|x| format!("{x}_dot^2/2")).collect();
    let text = LagrangianText {
        coordinates: coordinates.iter().map(|x| (*x).to_owned()).collect(),
        kinetic: kinetic.join(" + "),
        potential: potential.into(),
        forces: forces.iter().map(|(x, f)| ((*x).to_owned(), (*f).to_owned())).collect(),
        ..LagrangianText::default()
    };
    Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap()
}

fn rows(texts: &[&str]) -> FormulaSource {
    FormulaSource { rows: texts.iter().map(|text| ("row".to_owned(), (*text).to_owned())).collect(), parameters: Vec::new() }
}

fn law(friction: Friction) -> Law {
    Law::Contact(ContactLaw { friction, ..ContactLaw::default() })
}

fn coulomb(mu: f64) -> Law {
    Law::Contact(ContactLaw::coulomb(mu, 0.0))
}

/// An integration with the contacts of the model closed in these roles, in order.
fn begin<'m>(model: &'m Model, state: &State, roles: &[Role], params: &IntegratorParams) -> Result<Integration<'m>, IntegrationError> {
    let mut integration = Integration::new(model, state, params)?;
    let contacts = model.interactions().iter().filter(|x| !x.is_bilateral());
    let closed = contacts.zip(roles).map(|(x, &role)| ClosedContact { interaction: InteractionRef::Model(x), role });
    integration.equations().set_closed(closed.collect());
    integration.restart(state)?;
    Ok(integration)
}

fn run(model: &Model, state: &State, roles: &[Role], params: &IntegratorParams, end: f64) -> MotionPoint {
    let mut integration = begin(model, state, roles, params).unwrap();
    while integration.point().t < end {
        integration.step(end).unwrap();
    }
    integration.point().clone()
}

/// Fitted order of (q, v, λ) against a reference, with steps 1/n of the time span.
fn order(model: &Model, state: &State, roles: &[Role], kind: IntegratorKind, steps: &[f64], exact: &MotionPoint) -> (f64, f64) {
    let mut errors = Vec::new();
    for &n in steps {
        let found = run(model, state, roles, &constant_steps(kind, exact.t / n), exact.t);
        let mut error = distance(&found.q, &exact.q).max(distance(&found.v, &exact.v));
        if !exact.lambda.is_empty() {
            error = error.max(distance(&found.lambda, &exact.lambda));
        }
        errors.push(error);
    }
    let sizes: Vec<f64> = steps.iter().map(|n| 1.0 / n).collect();
    (fitted_order(&sizes, &errors), errors[errors.len() - 1])
}

const EXPLICIT: [IntegratorKind; 6] = [
    IntegratorKind::Hem5,
    IntegratorKind::Phem56,
    IntegratorKind::Dopri5,
    IntegratorKind::Rk4,
    IntegratorKind::AdamsMoulton,
    IntegratorKind::StormerVerlet,
];

const FORWARD: Role = Role::Sliding { direction: [1.0, 0.0] };

/// A block on an incline of 0.4 rad under forces along it and on it:
///
/// ```text
/// N = g cos α + B (1 + cos t),     ẍ = g sin α + A sin ωt − μ N
/// ```
#[test]
fn a_block_slides_down_an_incline_under_formula_forces() {
    let (alpha, g, a, w, b, mu, v0) = (0.4_f64, 9.81, 2.0, 3.0, 1.5, 0.3, 1.0);
    let forces = [("x", format!("{g}*sin({alpha}) + {a}*sin({w}*t)")), ("y", format!("-{g}*cos({alpha}) - {b}*(1 + cos(t))"))];
    let forces: Vec<(&str, &str)> = forces.iter().map(|(x, f)| (*x, f.as_str())).collect();
    let mut block = model(&["x", "y"], "0", &forces);
    block.add_formula("incline", &rows(&["y", "x"]), coulomb(mu)).unwrap();
    let state = State { t: 0.0, q: vec![0.0; 2], v: vec![v0, 0.0], ..State::default() };
    let t = 1.0_f64;
    let mean = g * alpha.sin() - mu * (g * alpha.cos() + b);
    let v = v0 + mean * t + a / w * (1.0 - (w * t).cos()) - mu * b * t.sin();
    let x = v0 * t + 0.5 * mean * t * t + a / w * t - a / (w * w) * (w * t).sin() - mu * b * (1.0 - t.cos());
    let normal = g * alpha.cos() + b * (1.0 + t.cos());
    let exact = MotionPoint { t, q: vec![x, 0.0], v: vec![v, 0.0], a: vec![], lambda: vec![normal] };
    for (kind, n) in [(IntegratorKind::Hem5, 5.0), (IntegratorKind::Dopri5, 5.0), (IntegratorKind::Rk4, 4.0)] {
        let (found, error) = order(&block, &state, &[FORWARD], kind, &[4.0, 8.0, 16.0], &exact);
        println!("incline, {}: order {found:.2}, error {error:.1e}", kind.name());
        assert!(found > n - 0.3, "{}: {found}", kind.name());
    }
    // the forces at an interpolated point
    let mut integration = begin(&block, &state, &[FORWARD], &IntegratorParams { tolerance: 1e-11, ..IntegratorParams::default() }).unwrap();
    while integration.point().t < t {
        integration.step(t).unwrap();
    }
    let (mut point, mut forces) = (MotionPoint::default(), Vec::new());
    let inside = 0.5 * (integration.previous().t + integration.point().t);
    let counted = integration.statistics();
    integration.interpolate_point(inside, &mut point).unwrap();
    integration.equations().contact_forces(&point, &mut forces).unwrap();
    assert_eq!(integration.statistics(), counted);
    let normal = g * alpha.cos() + b * (1.0 + inside.cos());
    assert!((forces[0][0] - normal).abs() < 1e-12 && (forces[0][1] + mu * normal).abs() < 1e-12 && forces[0][2] == 0.0, "{forces:?}");
    assert!((point.a[0] - (g * alpha.sin() + a * (w * inside).sin() - mu * normal)).abs() < 1e-12);
    assert!(integration.equations().forces_are_unique());
}

/// A bead with friction on y = x²/2, by its arc: s̈ = −g sin θ − μ σ (g cos θ + κ ṡ²), ẋ = cos θ ṡ, tan θ = x, by RK4 with many steps.
fn bead_by_arc(x: f64, speed: f64, mu: f64, end: f64) -> (f64, f64) {
    let slope = |[x, s]: [f64; 2]| {
        let root = (1.0 + x * x).sqrt();
        let (sin, cos, curvature) = (x / root, 1.0 / root, root.powi(-3));
        [cos * s, -9.81 * sin - mu * s.signum() * (9.81 * cos + curvature * s * s)]
    };
    let (mut y, n) = ([x, speed], 20_000);
    let h = end / f64::from(n);
    let along = |y: [f64; 2], h: f64, k: [f64; 2]| [y[0] + h * k[0], y[1] + h * k[1]];
    for _ in 0..n {
        let k1 = slope(y);
        let k2 = slope(along(y, 0.5 * h, k1));
        let k3 = slope(along(y, 0.5 * h, k2));
        let k4 = slope(along(y, h, k3));
        (0..2).for_each(|i| y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    (y[0], y[1])
}

/// Normal and tangent of unit length on y = x²/2.
const PARABOLA: [&str; 2] = ["(y - x^2/2)/sqrt(1 + x^2)", "(x*sqrt(1 + x^2) + ln(x + sqrt(1 + x^2)))/2 + x/sqrt(1 + x^2)*(y - x^2/2)"];

#[test]
fn a_bead_slides_on_a_parabola_with_friction() {
    let (mu, x0, speed, t) = (0.2, -1.2_f64, 1.5, 0.6);
    let mut bead = model(&["x", "y"], "9.81*y", &[]);
    bead.add_formula("parabola", &rows(&PARABOLA), coulomb(mu)).unwrap();
    let root = (1.0 + x0 * x0).sqrt();
    let state = State { t: 0.0, q: vec![x0, 0.5 * x0 * x0], v: vec![speed / root, speed * x0 / root], ..State::default() };
    let (x, s) = bead_by_arc(x0, speed, mu, t);
    let root = (1.0 + x * x).sqrt();
    let normal = 9.81 / root + s * s / root.powi(3);
    let exact = MotionPoint { t, q: vec![x, 0.5 * x * x], v: vec![s / root, s * x / root], a: vec![], lambda: vec![normal] };
    for kind in EXPLICIT {
        let declared = (kind.entry().orders)(&IntegratorParams { kind, ..IntegratorParams::default() }).position;
        let (found, error) = order(&bead, &state, &[FORWARD], kind, &[16.0, 32.0, 64.0], &exact);
        println!("parabola, {}: order {found:.2}, error {error:.1e}", kind.name());
        assert!(found > declared - 0.4, "{}: {found} of {declared}", kind.name());
    }
    // on the constraint to round-off where it is projected, and dense output between
    let params = IntegratorParams { tolerance: 1e-10, projection: Projection::Both, ..IntegratorParams::default() };
    let mut integration = begin(&bead, &state, &[FORWARD], &params).unwrap();
    let (mut q, mut v, mut worst) = (vec![0.0; 2], vec![0.0; 2], 0.0_f64);
    while integration.point().t < t {
        integration.step(t).unwrap();
        let MotionPoint { t, q: end, v: rate, .. } = integration.point().clone();
        let (position, velocity) = integration.equations().violations(t, &end, &rate).unwrap();
        // projections end at 1e-14 of the extent, 1.2 m
        assert!(position < 2e-14 && velocity < 1e-13, "{position:.1e} {velocity:.1e}");
        let inside = 0.3 * integration.previous().t + 0.7 * t;
        integration.interpolate(inside, &mut q, &mut v).unwrap();
        let (x, s) = bead_by_arc(x0, speed, mu, inside);
        let root = (1.0 + x * x).sqrt();
        worst = worst.max(distance(&q, &[x, 0.5 * x * x])).max(distance(&v, &[s / root, s * x / root]));
    }
    println!("parabola, dense output: {worst:.1e}");
    assert!(worst < 1e-8, "{worst:.1e}");
}

/// A particle in space on a plane (curvature 0) or a bowl, pushed across its slip.
fn particle(curvature: f64, friction: Friction) -> (Model, State) {
    let mut model = model(&["x", "y", "z"], "9.81*z", &[("x", "0.5*cos(3*t)"), ("y", "2*sin(2*t)"), ("z", "-1 - sin(t)")]);
    model.add_formula("ground", &rows(&[&format!("z - {curvature}*(x^2 + 2*y^2)"), "x", "y"]), law(friction)).unwrap();
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![2.0, 0.6, 0.0], ..State::default() };
    (model, state)
}

const OBLIQUE: Role = Role::Sliding { direction: [0.957_826_285_221_151, 0.287_347_885_566_345] };

/// v̇ = F_T(t) − μ N(t) v/‖v‖ on the plane, by RK4 with many steps.
fn on_the_plane(mu: f64, end: f64) -> [f64; 4] {
    let slope = |t: f64, y: [f64; 4]| {
        let (normal, speed) = (10.81 + t.sin(), y[2].hypot(y[3]));
        let friction = mu * normal / speed;
        [y[2], y[3], 0.5 * (3.0 * t).cos() - friction * y[2], 2.0 * (2.0 * t).sin() - friction * y[3]]
    };
    let (mut y, n) = ([0.0, 0.0, 2.0, 0.6], 20_000);
    let h = end / f64::from(n);
    let along = |y: [f64; 4], h: f64, k: [f64; 4]| std::array::from_fn(|i| y[i] + h * k[i]);
    for step in 0..n {
        let t = h * f64::from(step);
        let k1 = slope(t, y);
        let k2 = slope(t + 0.5 * h, along(y, 0.5 * h, k1));
        let k3 = slope(t + 0.5 * h, along(y, 0.5 * h, k2));
        let k4 = slope(t + h, along(y, h, k3));
        (0..4).for_each(|i| y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    y
}

/// The direction of friction depends on the velocity: all methods keep their order.
#[test]
fn a_particle_slides_on_a_plane_under_a_cross_force() {
    let (mu, t) = (0.15, 0.8);
    let (model, state) = particle(0.0, Friction::Coulomb { coefficient: mu });
    let [x, y, vx, vy] = on_the_plane(mu, t);
    let exact = MotionPoint { t, q: vec![x, y, 0.0], v: vec![vx, vy, 0.0], a: vec![], lambda: vec![10.81 + t.sin()] };
    for kind in EXPLICIT {
        let declared = (kind.entry().orders)(&IntegratorParams { kind, ..IntegratorParams::default() }).position;
        let (found, error) = order(&model, &state, &[OBLIQUE], kind, &[10.0, 20.0, 40.0], &exact);
        println!("plane, {}: order {found:.2}, error {error:.1e}", kind.name());
        assert!(found > declared - 0.4, "{}: {found} of {declared}", kind.name());
    }
}

/// The same in a bowl, where G varies too: the reference is DOPRI5 with small steps, and extrapolation for DOPRI5 itself.
#[test]
fn a_particle_slides_in_a_bowl_under_a_cross_force() {
    for friction in [
        Friction::Coulomb { coefficient: 0.15 },
        Friction::elliptic(0.2, 0.1),
        Friction::Stribeck { at_rest: 0.3, sliding: 0.1, velocity: 1.0, exponent: 2.0 },
    ] {
        let (model, state) = particle(0.1, friction);
        let t = 0.5;
        let fine = run(&model, &state, &[OBLIQUE], &constant_steps(IntegratorKind::Dopri5, t / 640.0), t);
        for kind in [IntegratorKind::Hem5, IntegratorKind::Phem56, IntegratorKind::Dopri5] {
            let (found, error) = order(&model, &state, &[OBLIQUE], kind, &[10.0, 20.0, 40.0], &fine);
            println!("bowl, {friction:?}, {}: order {found:.2}, error {error:.1e}", kind.name());
            assert!(found > 4.6, "{}: {found}", kind.name());
        }
    }
}

/// Once the slip has turned by more than 90° friction still opposes it: a particle driven around on a plane loses energy to friction all the time.
#[test]
fn friction_opposes_a_slip_that_turns() {
    let mut model = model(&["x", "y", "z"], "9.81*z", &[("x", "-10*x"), ("y", "-10*y")]);
    model.add_formula("ground", &rows(&["z", "x", "y"]), coulomb(0.02)).unwrap();
    let state = State { t: 0.0, q: vec![1.0, 0.0, 0.0], v: vec![0.0, 10.0_f64.sqrt(), 0.0], ..State::default() };
    let params = IntegratorParams { tolerance: 1e-8, ..IntegratorParams::default() };
    let mut integration = begin(&model, &state, &[Role::Sliding { direction: [0.0, 1.0] }], &params).unwrap();
    let mut forces = Vec::new();
    // one and a half turns
    while integration.point().t < 3.0 {
        integration.step(3.0).unwrap();
        let point = integration.point().clone();
        integration.equations().contact_forces(&point, &mut forces).unwrap();
        let speed = point.v[0].hypot(point.v[1]);
        let along = [point.v[0] / speed, point.v[1] / speed];
        assert!((forces[0][1] + 0.02 * 9.81 * along[0]).abs() < 1e-12 && (forces[0][2] + 0.02 * 9.81 * along[1]).abs() < 1e-12);
    }
}

/// A slip that begins from rest, where the velocities are round-off, goes where it was said to; kinetic friction acts from the start.
#[test]
fn a_slip_begins_in_its_direction() {
    let mut model = model(&["x", "y", "z"], "9.81*z", &[("x", "3*1.2"), ("y", "4*1.2")]);
    model.add_formula("ground", &rows(&["z", "x", "y"]), law(Friction::StaticKinetic { at_rest: 0.5, sliding: 0.3 })).unwrap();
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![-1e-17, 3e-17, 0.0], ..State::default() };
    let role = Role::Sliding { direction: [0.6, 0.8] };
    let acceleration = 6.0 - 0.3 * 9.81;
    for kind in [IntegratorKind::Hem5, IntegratorKind::Dopri5] {
        let end = run(&model, &state, &[role], &IntegratorParams { kind, ..IntegratorParams::default() }, 1.0);
        assert!(distance(&end.v, &[0.6 * acceleration, 0.8 * acceleration, 0.0]) < 1e-13, "{:?}", end.v);
    }
}

/// In the plane the equations go on smoothly through the end of the slip, so that it can be located: ẋ changes its sign at v₀/(μ g).
#[test]
fn the_field_is_smooth_through_zero_slip() {
    let mut block = model(&["x", "y"], "9.81*y", &[]);
    block.add_formula("floor", &rows(&["y", "x"]), coulomb(0.5)).unwrap();
    let state = State { t: 0.0, q: vec![0.0; 2], v: vec![1.0, 0.0], ..State::default() };
    let end = run(&block, &state, &[FORWARD], &IntegratorParams::default(), 0.5);
    assert!((end.v[0] - (1.0 - 0.5 * 9.81 * 0.5)).abs() < 1e-14);
    // the same in space
    let (mut model, role) = (model(&["x", "y", "z"], "9.81*z", &[]), Role::Sliding { direction: [0.6, 0.8] });
    model.add_formula("floor", &rows(&["z", "x", "y"]), coulomb(0.5)).unwrap();
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![0.6, 0.8, 0.0], ..State::default() };
    let mut integration = begin(&model, &state, &[role], &constant_steps(IntegratorKind::Hem5, 0.5)).unwrap();
    integration.step(0.5).unwrap();
    let speed = 1.0 - 0.5 * 9.81 * 0.5;
    let error = distance(&integration.point().v, &[0.6 * speed, 0.8 * speed, 0.0]);
    // the weights of the stages have size 3, and the directions are told from small differences near zero slip
    assert!(error < 1e-13, "{error:.1e}");
}

/// A sticking contact is a constraint: the same motion and forces as with bilateral rows.
#[test]
fn a_sticking_block_is_held() {
    let forces = [("x", "1 + 0.5*t"), ("y", "-9.81 + 0.3*sin(t)")];
    let mut block = model(&["x", "y"], "0", &forces);
    block.add_formula("floor", &rows(&["y", "x - 0.2*t"]), coulomb(0.8)).unwrap();
    let mut held = model(&["x", "y"], "0", &forces);
    held.add_formula("floor", &rows(&["y", "x - 0.2*t - 1"]), Law::Bilateral).unwrap();
    let state = State { t: 0.0, q: vec![1.0, 0.0], v: vec![0.2, 0.0], ..State::default() };
    for kind in IntegratorKind::ALL.iter().copied().filter(|kind| !matches!(kind, IntegratorKind::Rattle | IntegratorKind::Shake)) {
        let params = IntegratorParams { kind, ..constant_steps(kind, 0.02) };
        let found = run(&block, &state, &[Role::Sticking], &params, 1.0);
        assert!(distance(&found.q, &[1.2, 0.0]) < 1e-9 && distance(&found.v, &[0.2, 0.0]) < 1e-9, "{}: {:?}", kind.name(), found.q);
    }
    let params = IntegratorParams::default();
    let (found, exact) = (run(&block, &state, &[Role::Sticking], &params, 1.0), run(&held, &state, &[], &params, 1.0));
    assert!(distance(&found.lambda, &exact.lambda) < 1e-12, "{:?} {:?}", found.lambda, exact.lambda);
    let mut integration = begin(&block, &state, &[Role::Sticking], &params).unwrap();
    let mut forces = Vec::new();
    integration.equations().contact_forces(&found, &mut forces).unwrap();
    assert!(distance(&forces[0], &[9.81 - 0.3 * 1.0_f64.sin(), -1.5, 0.0]) < 1e-12, "{forces:?}");
}

/// The same bits without contacts after contacts were closed and opened again.
#[test]
fn opened_contacts_leave_nothing() {
    let (model, state) = particle(0.3, Friction::Coulomb { coefficient: 0.15 });
    let params = IntegratorParams::default();
    let mut free = Integration::new(&model, &state, &params).unwrap();
    free.restart(&state).unwrap();
    let mut opened = begin(&model, &state, &[OBLIQUE], &params).unwrap();
    opened.step(0.3).unwrap();
    opened.equations().set_closed(Vec::new());
    opened.resume(&state, Projection::Both).unwrap();
    for integration in [&mut free, &mut opened] {
        while integration.point().t < 0.3 {
            integration.step(0.3).unwrap();
        }
    }
    assert_eq!(free.point(), opened.point());
    // falls freely: the contact is open
    assert!(free.point().q[2] < -0.3, "{:?}", free.point().q);
}

/// A state that has drifted is projected on newly closed contacts.
#[test]
fn closing_projects() {
    let (model, state) = particle(0.3, Friction::Coulomb { coefficient: 0.15 });
    let mut integration = Integration::new(&model, &state, &IntegratorParams::default()).unwrap();
    integration.step(0.01).unwrap();
    let mut closed = integration.point().state();
    closed.q = vec![0.5, 0.2, 0.3 * (0.25 + 0.08) + 1e-8];
    closed.v[2] = 0.3 * (closed.v[0] + 0.8 * closed.v[1]) - 1e-8;
    let contact = ClosedContact { interaction: InteractionRef::Model(&model.interactions()[0]), role: Role::Sticking };
    integration.equations().set_closed(vec![contact]);
    integration.resume(&closed, Projection::Both).unwrap();
    let MotionPoint { t, q, v, lambda, .. } = integration.point().clone();
    assert_eq!(lambda.len(), 3);
    let (position, velocity) = integration.equations().violations(t, &q, &v).unwrap();
    assert!(position < 1e-15 && velocity < 1e-15, "{position:.1e} {velocity:.1e}");
    assert!(distance(&q, &closed.q) < 2e-8);
}

/// Integrators that form Gᵀλ themselves, and eliminations, say that they do not know friction; contacts without it they know.
#[test]
fn friction_is_refused_where_it_is_not_known() {
    let (model, state) = particle(0.3, Friction::Coulomb { coefficient: 0.15 });
    for &kind in IntegratorKind::ALL {
        let params = constant_steps(kind, 0.01);
        let begun = begin(&model, &state, &[OBLIQUE], &params);
        if kind.entry().knows_friction {
            assert!(begun.is_ok(), "{}", kind.name());
            continue;
        }
        let Err(IntegrationError::Unsupported { integrator, reason }) = begun else { panic!("{}", kind.name()) };
        assert!(integrator == kind.name() && reason.contains("hem5") && reason.contains("dopri5"), "{reason}");
        let normal = run(&model, &state, &[Role::Normal], &params, 0.1);
        let exact = run(&model, &state, &[Role::Normal], &constant_steps(IntegratorKind::Hem5, 0.01), 0.1);
        // methods of order 1 have 2e-3 here
        assert!(distance(&normal.q, &exact.q) < 3e-3, "{}: {:?} {:?}", kind.name(), normal.q, exact.q);
    }
    let params =
        IntegratorParams { kind: IntegratorKind::Dopri5, acceleration: AccelerationForm::NullSpaceQr, ..IntegratorParams::default() };
    assert!(matches!(begin(&model, &state, &[OBLIQUE], &params), Err(IntegrationError::Unsupported { .. })));
    assert!(begin(&model, &state, &[Role::Sticking], &params).is_ok());
}

/// A table (x, height z, tilts a and b) on four legs pulls a sledge y by a rod: three independent normals of four, with a bilateral row before them.
/// Legs that slide and legs without friction share the weight W and the moment τ of the load alike, N = (W − s τ)/4.
#[test]
fn redundant_legs_share_their_load_beside_constraints() {
    let (weight, moment, pull, mu) = (3.0 * 9.81, 2.5, 12.0, 0.3);
    let signs = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
    let forces = [("x", pull.to_string()), ("z", format!("-{weight}")), ("a", moment.to_string())];
    let forces: Vec<(&str, &str)> = forces.iter().map(|(x, f)| (*x, f.as_str())).collect();
    let mut table = model(&["x", "y", "z", "a", "b"], "0", &forces);
    table.add_formula("rod", &rows(&["2*y - 2*x"]), Law::Bilateral).unwrap();
    for (i, (s, r)) in signs.iter().enumerate() {
        table.add_formula(&format!("leg {i}"), &rows(&[&format!("z + {s}*a + {r}*b"), "x"]), coulomb(mu)).unwrap();
    }
    let state = State { t: 0.0, q: vec![0.0; 5], v: vec![1.0, 1.0, 0.0, 0.0, 0.0], ..State::default() };
    for roles in [[FORWARD; 4], [FORWARD, Role::Normal, Role::Normal, FORWARD]] {
        let params = IntegratorParams::default();
        let mut integration = begin(&table, &state, &roles, &params).unwrap();
        assert_eq!((integration.equations().n_all_rows(), integration.equations().n_rows()), (5, 4));
        assert!(!integration.equations().forces_are_unique());
        integration.step(0.1).unwrap();
        while integration.point().t < 1.0 {
            integration.step(1.0).unwrap();
        }
        let (point, mut found) = (integration.point().clone(), Vec::new());
        integration.equations().contact_forces(&point, &mut found).unwrap();
        let normals = signs.map(|(s, _)| (weight - s * moment) / 4.0);
        let friction: f64 = normals.iter().zip(&roles).map(|(n, role)| if *role == FORWARD { mu * n } else { 0.0 }).sum();
        let acceleration = (pull - friction) / 2.0;
        for ((force, normal), role) in found.iter().zip(normals).zip(&roles) {
            let tangent = if *role == FORWARD { -mu * normal } else { 0.0 };
            assert!((force[0] - normal).abs() < 1e-13 && (force[1] - tangent).abs() < 1e-13, "{found:?}");
        }
        assert!((point.lambda[0] - 0.5 * acceleration).abs() < 1e-13, "{:?}", point.lambda);
        let (x, v) = (1.0 + 0.5 * acceleration, 1.0 + acceleration);
        assert!(distance(&point.q, &[x, x, 0.0, 0.0, 0.0]) < 1e-12 && distance(&point.v, &[v, v, 0.0, 0.0, 0.0]) < 1e-12, "{point:?}");
    }
}

/// A floor that rises at x = 1: `slope` is that of this piece, or `None` for both.
struct Kink(Option<f64>, [Option<Box<Kink>>; 2]);

impl Kink {
    fn new() -> Self {
        let piece = |slope: f64| Some(Box::new(Kink(Some(slope), [None, None])));
        Kink(None, [piece(0.0), piece(0.5)])
    }

    fn slope(&self, q: &[f64]) -> f64 {
        self.0.unwrap_or(if q[0] > 1.0 { 0.5 } else { 0.0 })
    }
}

impl Relation for Kink {
    fn n_rows(&self) -> usize {
        1
    }
    fn velocities(&self) -> &[usize] {
        &[0, 1]
    }
    fn is_constant(&self) -> bool {
        true
    }
    fn position(&self, _: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        g[0] = q[1] - self.slope(q) * (q[0] - 1.0);
        Ok(())
    }
    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        rows.jacobian.copy_from_slice(&[-self.slope(q), 1.0]);
        rows.bias.fill(0.0);
        Ok(())
    }
    fn acceleration_bias(&self, _: f64, _: &[f64], _: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        bias.fill(0.0);
        Ok(())
    }
    fn n_pieces(&self) -> usize {
        2
    }
    fn piece(&self, piece: usize) -> Option<&dyn Relation> {
        self.1[piece].as_deref().map(|kink| kink as &dyn Relation)
    }
}

/// The piece in use holds beyond its edge, for constraints and for closed contacts; without one the piece at the place does.
#[test]
fn pieces_are_used_beyond_their_edges() {
    for law in [Law::Bilateral, Law::unilateral(0.0)] {
        let mut bead = model(&["x", "y"], "9.81*y", &[]);
        bead.add_interaction("kink", Box::new(Kink::new()), law).unwrap();
        let state = State { t: 0.0, q: vec![0.5, 0.0], v: vec![1.0, 0.0], ..State::default() };
        let mut integration = begin(&bead, &state, &[Role::Normal], &IntegratorParams::default()).unwrap();
        let (mut a, mut lambda) = ([0.0; 2], [0.0]);
        let up = [-9.81 * 0.5 / 1.25, -9.81 * 0.25 / 1.25];
        for (pieces, x, exact) in [(&[][..], 0.5, [0.0; 2]), (&[], 1.5, up), (&[0], 1.5, [0.0; 2]), (&[1], 0.5, up), (&[1], 1.5, up)] {
            integration.equations().set_pieces(pieces);
            integration.equations().accelerate(0.0, &[x, 0.0], &[1.0, 0.0], &mut a, &mut lambda).unwrap();
            assert!(distance(&a, &exact) < 1e-14, "{pieces:?} at {x}: {a:?}");
        }
    }
}

/// Contacts by formula by number, and the laws that are refused.
#[test]
fn contacts_by_formula() {
    let (mut model, state) = particle(0.3, Friction::Coulomb { coefficient: 0.15 });
    model.add_formula("guide", &rows(&["x - z"]), Law::Bilateral).unwrap();
    model.add_formula("wall", &rows(&["2 - x + t"]), Law::unilateral(0.5)).unwrap();
    check_contacts(&model, "event-driven").unwrap();
    let mut contacts = Contacts::new(&model);
    let at = Instant { t: 0.5, q: &[1.0, 0.5, 2.0], v: &state.v };
    assert!(!contacts.find(at, 1.0).unwrap());
    assert_eq!((contacts.len(), contacts.name(1), contacts.n_tangents(0), contacts.n_tangents(1)), (2, "wall".to_owned(), 2, 0));
    assert!((contacts.gap(1, 0.5, at.q).unwrap() - 1.5).abs() < 1e-15);
    assert!(distance(&contacts.velocity(1, at).unwrap(), &[-1.0, 0.0, 0.0]) < 1e-15);
    assert!(distance(&contacts.velocity(0, at).unwrap(), &[-0.3 * (2.0 * 2.0 + 4.0 * 0.5 * 0.6), 2.0, 0.6]) < 1e-14);
    assert_eq!(contacts.law(1), *model.interactions()[2].law().contact().unwrap());
    assert_eq!(contacts.forget(&[true, true]), [Some(0), Some(1)]);
    let cohesion = carom_dynamics::Cohesion::Constant { force: 1.0, reach: 0.1 };
    model.add_formula("glue", &rows(&["3 - x"]), Law::Contact(ContactLaw { cohesion, ..ContactLaw::default() })).unwrap();
    let refused = check_contacts(&model, "event-driven");
    assert!(matches!(&refused, Err(ModelError::StrategyRefuses { by, .. }) if by.contains("glue")), "{refused:?}");
    assert!(refused.unwrap_err().to_string().contains("time-stepping"));
}

/// Steps with closed contacts that stick or slide do not allocate once warm.
#[test]
fn steps_with_closed_contacts_do_not_allocate() {
    let (model, state) = particle(0.3, Friction::Coulomb { coefficient: 0.15 });
    for role in [Role::Normal, Role::Sticking, OBLIQUE] {
        for kind in [IntegratorKind::Hem5, IntegratorKind::Dopri5] {
            let mut integration = begin(&model, &state, &[role], &constant_steps(kind, 1e-3)).unwrap();
            (0..10).for_each(|_| integration.step(1.0).unwrap());
            let count = allocation_counter::measure(|| (0..10).for_each(|_| integration.step(1.0).unwrap())).count_total;
            assert_eq!(count, 0, "{role:?}, {}", kind.name());
        }
    }
}
