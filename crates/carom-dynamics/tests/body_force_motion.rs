//! Force elements in smooth motion and with located events, against exact solutions.

use crate::located::Located;
use crate::support::{Done, Keep, adaptive, constant_steps, distance};
use carom_dynamics::forces::{
    BushingSource, DragSource, ForceSource, LinearSpring, LoadAxes, LoadKind, LoadSource, PointSpringSource, Sense, SpringSource,
};
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams};
use carom_dynamics::relations::{JointAxis, JointKind, JointPlacement, JointSource};
use carom_dynamics::strategies::{Continue, Ending, Observers, Smooth, Strategy};
use carom_dynamics::systems::{PlanarBodies, PlanarBody, RigidBodies, RigidBody};
use carom_dynamics::{Model, State, StepMemory};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

pub fn body(name: &str, mass: f64, inertia: [f64; 3]) -> RigidBody {
    RigidBody { name: name.into(), mass, inertia: Matrix3::from_diagonal(&Vector3::from(inertia)) }
}

/// Bodies at rest on the x axis, without gravity unless given.
pub fn at_rest(bodies: Vec<RigidBody>, places: &[f64], gravity: Vector3<f64>) -> (Model, State) {
    let q = places.iter().flat_map(|&x| [x, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]).collect();
    let v = vec![0.0; 6 * places.len()];
    (Model::new(vec![Box::new(RigidBodies::new(bodies, gravity).unwrap())]).unwrap(), State { t: 0.0, q, v, ..State::default() })
}

pub fn spring(bodies: [Option<&str>; 2], law: LinearSpring) -> ForceSource {
    let bodies = bodies.map(|name| name.map(Into::into));
    ForceSource::Spring(PointSpringSource { bodies, points: [None; 2], law: SpringSource::Linear(law) })
}

/// Two masses on a line with a spring: the model, its state, ω = √(k/μ), and the extension at the start.
pub fn two_masses(stiffness: f64, damping: f64) -> (Model, State, f64, f64) {
    let (m1, m2) = (2.0, 3.0);
    let (mut model, mut state) = at_rest(vec![body("a", m1, [1.0; 3]), body("b", m2, [1.0; 3])], &[0.0, 1.3], Vector3::zeros());
    model.add_force("spring", &spring([Some("a"), Some("b")], LinearSpring::new(stiffness, damping).with_rest(1.0)), &state.q).unwrap();
    for body in 0..2 {
        state.v[6 * body] = 0.5;
    }
    (model, state, (stiffness * (1.0 / m1 + 1.0 / m2)).sqrt(), 0.3)
}

fn smooth(model: &Model, state: &State, end: f64, integrator: IntegratorParams) -> Done {
    let (mut state, mut keep) = (state.clone(), Keep::default());
    let mut memory = StepMemory::new(model, &Default::default()).unwrap();
    let strategy = Smooth { integrator, end, record_every: 1, record_interval: None };
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    assert!(matches!(outcome.ending, Ending::Finished), "{:?}", outcome.ending);
    Done { state, certificate: outcome.certificate, keep }
}

fn dopri(tolerance: f64) -> IntegratorParams {
    adaptive(IntegratorKind::Dopri5, tolerance)
}

/// x₂ − x₁ = 1 + 0.3 cos ωt over five periods: the frequency to 1e-10, the centre of mass straight, the energy kept.
#[test]
fn two_masses_oscillate() {
    let (model, state, omega, extension) = two_masses(50.0, 0.0);
    let end = 5.0 * std::f64::consts::TAU / omega + 0.3;
    let done = smooth(&model, &state, end, dopri(1e-12));
    let (found, exact) = (done.state.q[7] - done.state.q[0] - 1.0, extension * (omega * end).cos());
    // a phase error of 1e-10 over five periods
    assert!((found - exact).abs() < 1e-10 * extension * omega * end, "{found} {exact}");
    let centre = (2.0 * done.state.q[0] + 3.0 * done.state.q[7]) / 5.0;
    assert!((centre - (3.0 * 1.3 / 5.0 + 0.5 * end)).abs() < 1e-12, "{centre}");
    // what the method loses at this tolerance: 4e-10 of 2.9 J
    assert!(done.certificate.energy_error().abs() < 1e-9, "{}", done.certificate.energy_error());
}

/// The damped oscillator, e^(−δt)(cos ω_d t + δ/ω_d sin ω_d t); the account balances with the work of the damper.
#[test]
fn a_damped_oscillator() {
    let (model, state, omega, extension) = two_masses(50.0, 4.0);
    let decay = 4.0 * (1.0 / 2.0 + 1.0 / 3.0) / 2.0;
    let (damped, end) = ((omega * omega - decay * decay).sqrt(), 1.7);
    let done = smooth(&model, &state, end, dopri(1e-12));
    let exact = extension * (-decay * end).exp() * ((damped * end).cos() + decay / damped * (damped * end).sin());
    assert!((done.state.q[7] - done.state.q[0] - 1.0 - exact).abs() < 1e-10, "{exact}");
    assert!(done.certificate.last.work < -0.1, "the damper takes energy");
    assert!(done.certificate.energy_error().abs() < 1e-9, "{}", done.certificate.energy_error());
}

/// A fall with quadratic drag, v = v∞ tanh(g t/v∞), and in a wind that blows upwards, where the body is at rest when w = v∞; a spin that decays by
/// linear drag as e^(−r t/J).
#[test]
fn terminal_velocity() {
    let (g, m, c) = (9.81, 2.0, 0.5_f64);
    let (mut model, mut state) = at_rest(vec![body("a", m, [0.4; 3])], &[0.0], Vector3::new(0.0, 0.0, -g));
    let drag = DragSource { bodies: vec!["a".into()], quadratic: c, rotational: 0.8, ..DragSource::default() };
    model.add_force("air", &ForceSource::Drag(drag.clone()), &state.q).unwrap();
    state.v[4] = 3.0;
    let end = 1.5;
    let done = smooth(&model, &state, end, dopri(1e-12));
    let fastest = (m * g / c).sqrt();
    assert!((done.state.v[2] + fastest * (g * end / fastest).tanh()).abs() < 1e-10, "{:?}", done.state.v);
    assert!((done.state.v[4] - 3.0 * (-2.0 * end).exp()).abs() < 1e-10, "{:?}", done.state.v);
    assert!(done.certificate.energy_error().abs() < 1e-9, "{}", done.certificate.energy_error());

    let (mut model, state) = at_rest(vec![body("a", m, [0.4; 3])], &[0.0], Vector3::new(0.0, 0.0, -g));
    let wind = Some(["0", "0", "sqrt(m*g/c)"].map(String::from));
    let parameters = vec![("m".into(), m), ("g".into(), g), ("c".into(), c)];
    model.add_force("wind", &ForceSource::Drag(DragSource { wind, parameters, rotational: 0.0, ..drag }), &state.q).unwrap();
    let done = smooth(&model, &state, 1.0, dopri(1e-10));
    assert!(distance(&done.state.v, &[0.0; 6]) < 1e-14, "{:?}", done.state.v);
}

/// A wheel on a revolute joint with a torsion spring: φ = φ₀ cos √(k/J) t, in space and in the plane; likewise a slider on its rail.
#[test]
fn springs_of_joints() {
    let (k, j, m) = (7.0, 0.5, 2.0);
    let law = |rest: f64| SpringSource::Linear(LinearSpring::new(k, 0.0).with_rest(rest));
    for (kind, axis, omega, amplitude) in
        [(JointKind::Revolute, JointAxis::Turn, f64::sqrt(k / j), 2.5), (JointKind::Prismatic, JointAxis::Slide, f64::sqrt(k / m), 0.8)]
    {
        let (mut model, state) = at_rest(vec![body("a", m, [0.6, 0.6, j])], &[0.0], Vector3::zeros());
        let source = JointSource { kind, bodies: [None, Some("a".into())], placement: JointPlacement::at(Vector3::zeros()) };
        model.add_joint("joint", &source, &state.q).unwrap();
        model.add_joint_spring("spring", &source, axis, &law(amplitude), &state.q).unwrap();
        let end = 3.0 * std::f64::consts::TAU / omega + 0.4;
        let done = smooth(&model, &state, end, IntegratorParams { tolerance: 1e-12, ..dopri(1e-12) });
        // from rest at zero: x = a (1 − cos ωt), v = a ω sin ωt
        let exact = amplitude * omega * (omega * end).sin();
        let found = done.state.v[if axis == JointAxis::Turn { 5 } else { 2 }];
        assert!((found - exact).abs() < 1e-10 * amplitude * omega * omega * end, "{kind:?}: {found} {exact}");
        assert!(done.certificate.energy_error().abs() < 1e-9, "{kind:?}: {}", done.certificate.energy_error());
    }
    let planar = PlanarBodies::new(vec![PlanarBody { name: "a".into(), mass: m, inertia: j }], [0.0; 2]).unwrap();
    let mut model = Model::new(vec![Box::new(planar)]).unwrap();
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![0.0; 3], ..State::default() };
    let placement = JointPlacement::at(Vector3::zeros());
    let source = JointSource { kind: JointKind::Revolute, bodies: [None, Some("a".into())], placement };
    model.add_joint("joint", &source, &state.q).unwrap();
    model.add_joint_spring("spring", &source, JointAxis::Turn, &law(1.0), &state.q).unwrap();
    let (omega, end) = ((k / j).sqrt(), 2.0);
    let done = smooth(&model, &state, end, dopri(1e-12));
    assert!((done.state.q[2] - 1.0 + (omega * end).cos()).abs() < 1e-10, "{:?}", done.state.q);
}

fn bushing(bodies: [Option<&str>; 2], point: Vector3<f64>, stiffness: [f64; 3], rotational: [f64; 3]) -> ForceSource {
    ForceSource::Bushing(BushingSource {
        bodies: bodies.map(|name| name.map(Into::into)),
        point,
        axes: UnitQuaternion::identity(),
        stiffness: Vector3::from(stiffness),
        damping: Vector3::zeros(),
        rotational_stiffness: Vector3::from(rotational),
        rotational_damping: Vector3::zeros(),
    })
}

/// A body held at its centre: its three translations oscillate with √(k/m), and a turn about a principal axis with √(k_θ/J) at any amplitude below π.
#[test]
fn frequencies_of_a_bushing() {
    let (m, inertia, k, r) = (2.0, [0.3, 0.4, 0.5], [20.0, 30.0, 40.0], [1.0, 2.0, 3.0]);
    for axis in 0..3 {
        let (mut model, mut state) = at_rest(vec![body("a", m, inertia)], &[0.0], Vector3::zeros());
        model.add_force("bushing", &bushing([None, Some("a")], Vector3::zeros(), k, r), &state.q).unwrap();
        let (slow, fast) = ((r[axis] / inertia[axis]).sqrt(), (k[axis] / m).sqrt());
        state.v[axis] = 0.5;
        state.v[3 + axis] = 2.8 * slow;
        let end = 7.0;
        let done = smooth(&model, &state, end, dopri(1e-12));
        // the translation along the axis of the turn does not feel it
        assert!((done.state.v[axis] - 0.5 * (fast * end).cos()).abs() < 1e-9, "{axis}: {:?}", done.state.v);
        assert!((done.state.v[3 + axis] - 2.8 * slow * (slow * end).cos()).abs() < 1e-9, "{axis}: {:?}", done.state.v);
        assert!(done.certificate.energy_error().abs() < 1e-9);
    }
}

/// A body held by a bushing at the distance a from its centre, as at the root of a beam: m z̈ = −k (z − a θ), J θ̈ = −r θ + a k (z − a θ). The slower of the two
/// modes, started in its shape with 1e-5, keeps its frequency.
#[test]
fn a_beam_like_joint() {
    let (m, j, k, r, a) = (2.0_f64, 0.4, 300.0, 25.0, 0.5);
    let (mut model, mut state) = at_rest(vec![body("a", m, [0.3, j, 0.45])], &[a], Vector3::zeros());
    model.add_force("bushing", &bushing([None, Some("a")], Vector3::zeros(), [1e3, 1e3, k], [40.0, r, 60.0]), &state.q).unwrap();
    // eigenvalues of M⁻¹K with coordinates (z, θ): a turn θ about y lowers the root, at −a from the centre, by −(−a) θ … z_root = z + a θ
    let (trace, determinant) = (k / m + (r + a * a * k) / j, k * r / (m * j));
    let slow = (0.5 * (trace - (trace * trace - 4.0 * determinant).sqrt())).sqrt();
    let shape = (k / m - slow * slow) * m / (a * k);
    let small = 1e-5;
    state.v[2] = small;
    state.v[4] = -small * shape;
    let end = 4.0 * std::f64::consts::TAU / slow;
    let done = smooth(&model, &state, end, IntegratorParams { absolute_tolerance: Some(1e-17), ..dopri(1e-11) });
    // products of small turns are of size 1e-5 of it
    assert!(
        (done.state.v[2] / small - 1.0).abs() < 1e-4 && (done.state.v[4] / (-small * shape) - 1.0).abs() < 1e-4,
        "{:?} {small}",
        done.state.v
    );
}

/// Action by formula equals the element: a load −k x − c v on a body is a spring and damper to the ground of length zero in x; a load that follows
/// another body by name is a spring to it.
#[test]
fn loads_are_forces() {
    let load = |component: &str, body: &str| {
        let components = [component, "0", "0"].map(String::from);
        let (kind, axes, parameters) = (LoadKind::Force, LoadAxes::World, vec![("k".to_owned(), 50.0)]);
        ForceSource::Load(LoadSource { kind, body: body.into(), point: None, axes, components, parameters })
    };
    let (mut model, state) = at_rest(vec![body("a", 2.0, [1.0; 3]), body("b", 3.0, [1.0; 3])], &[0.0, 1.3], Vector3::zeros());
    model.add_force("on a", &load("k*(b.x - x - 1) + 4*(b.vx - vx)", "a"), &state.q).unwrap();
    model.add_force("on b", &load("k*(a.x - x + 1) + 4*(a.vx - vx)", "b"), &state.q).unwrap();
    let (other, mut start, ..) = two_masses(50.0, 4.0);
    start.v.fill(0.0);
    let [found, exact] = [(&model, &state), (&other, &start)].map(|(model, state)| smooth(model, state, 1.3, dopri(1e-11)));
    assert!(distance(&found.state.q, &exact.state.q) < 1e-9);
    assert!(found.certificate.energy_error().abs() < 1e-9);
    // a constant force and gravity are the same, and have a potential
    let (mut model, state) = at_rest(vec![body("a", 2.0, [1.0; 3])], &[0.0], Vector3::zeros());
    model.add_force("weight", &load("-2*9.81", "a"), &state.q).unwrap();
    let done = smooth(&model, &state, 1.0, dopri(1e-10));
    assert!((done.state.q[0] + 4.905).abs() < 1e-12 && done.certificate.last.work == 0.0);
    assert!(done.certificate.energy_error().abs() < 1e-12);
}

/// A rope: taut for half a period, then slack. The instant is located, so the flight back is exact.
#[test]
fn a_rope_becomes_slack() {
    let (m, k, speed) = (2.0, 80.0_f64, 0.7);
    let (mut model, mut state) = at_rest(vec![body("a", m, [1.0; 3])], &[1.0], Vector3::zeros());
    let rope = LinearSpring { sense: Sense::TensionOnly, ..LinearSpring::new(k, 0.0).with_rest(1.0) };
    model.add_force("rope", &spring([None, Some("a")], rope), &state.q).unwrap();
    state.v[0] = speed;
    let (half, later) = (std::f64::consts::PI / (k / m).sqrt(), 0.4);
    let done = Located::events(1e-11).run(&model, &state, half + later);
    assert!((done.state.q[0] - 1.0 + speed * later).abs() < 1e-9, "{:?}", done.state.q);
    assert!((done.state.v[0] + speed).abs() < 1e-9, "{:?}", done.state.v);
    assert!(done.keep.frames.iter().any(|frame| (frame.t - half).abs() < 1e-9), "the slack is located");
}

/// Stiff springs between bodies by implicit integrators, whose matrices hold the coupling: steps of many periods, Newton converges, and the slow motion
/// is right.
#[test]
fn implicit_integrators_take_stiff_springs() {
    for kind in [IntegratorKind::RadauIia, IntegratorKind::GeneralizedAlpha, IntegratorKind::Bdf] {
        let (model, mut state, omega, _) = two_masses(1e8, 0.0);
        state.q[7] = 1.0;
        // a slow turn about the centre of mass: the spring stretches to carry it
        (state.v[1], state.v[7]) = (-0.6, 0.4);
        let (h, end) = (2e-3, 1.0);
        assert!(omega * h > 10.0);
        let done = smooth(&model, &state, end, constant_steps(kind, h));
        let direction = Vector3::new(done.state.q[7] - done.state.q[0], done.state.q[8] - done.state.q[1], 0.0);
        // one radian per second; order 1 at least where the method damps the stiff mode
        assert!((direction.y.atan2(direction.x) - end).abs() < 1e-4 && (direction.norm() - 1.0).abs() < 1e-5, "{kind:?}: {direction:?}");
    }
}
