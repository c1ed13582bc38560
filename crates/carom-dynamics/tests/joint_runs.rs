//! Mechanisms with limits, ropes, threads, gears and clearances against exact motions, by time-stepping and with located events.

use crate::located::{Located, times};
use crate::support::{Done, run_scheme};
use carom_dynamics::relations::{
    CurveSource, JointAxis, JointContact, JointCoupling, JointKind, JointPlacement, JointSource, PointOnCurve, joint_limits,
};
use carom_dynamics::report::EventKind;
use carom_dynamics::schemes::{CombinedProjectionParams, SchemeParams};
use carom_dynamics::systems::{PlanarBodies, PlanarBody, RigidBodies, RigidBody};
use carom_dynamics::{ContactLaw, Law, Model, State};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::TAU;

const G: f64 = 9.81;

fn planar(bodies: &[(&str, f64, f64)], gravity: f64) -> Model {
    let bodies = bodies.iter().map(|&(name, mass, inertia)| PlanarBody { name: name.into(), mass, inertia }).collect();
    Model::new(vec![Box::new(PlanarBodies::new(bodies, [0.0, -gravity]).unwrap())]).unwrap()
}

fn joint(kind: JointKind, bodies: [Option<&str>; 2], placement: JointPlacement) -> JointSource {
    JointSource { kind, bodies: bodies.map(|b| b.map(str::to_owned)), placement }
}

fn at(x: f64, y: f64) -> JointPlacement {
    JointPlacement::at(Vector3::new(x, y, 0.0))
}

/// Combined projection and Moreau–Jean, the default.
fn schemes() -> [SchemeParams; 2] {
    [SchemeParams::default(), SchemeParams::CombinedProjection(CombinedProjectionParams::default())]
}

/// π/(2 agm(1, cos(a/2))): the complete elliptic integral K(sin(a/2)).
fn quarter_period(amplitude: f64) -> f64 {
    let (mut a, mut b) = (1.0, (amplitude / 2.0).cos());
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    TAU / 4.0 / a
}

/// A rod of length 1 on a pin falls from the horizontal to a stop at the lowest point of its centre and rebounds: the times and speeds are those of the
/// pendulum θ̈ = −k sin θ, k = (m g/2)/(m/3), between impacts.
fn rod_with_stop(restitution: f64) -> (Model, State) {
    let mut model = planar(&[("rod", 1.0, 1.0 / 12.0)], G);
    let q = vec![0.5, 0.0, 0.0];
    let pin = joint(JointKind::Revolute, [None, Some("rod")], at(0.0, 0.0));
    model.add_joint("pin", &pin, &q).unwrap();
    // the rod hangs at −π/2 from its start
    for (name, limit) in joint_limits("pin", &pin, JointAxis::Turn, [-TAU / 4.0, 1.0], &model.shared_systems(), &q).unwrap() {
        model.add_interaction(&name, Box::new(limit), Law::unilateral(restitution)).unwrap();
    }
    (model, State { t: 0.0, q, v: vec![0.0; 3], ..State::default() })
}

#[test]
fn pendulum_strikes_a_stop_at_the_exact_time() {
    let (k, e) = (1.5 * G, 0.6_f64);
    let (model, state) = rod_with_stop(e);
    // released at rest from π/2 off the lowest point: a quarter period; it returns with e of its speed: amplitude from 2k(1 − cos a) = e² 2k
    let first = quarter_period(TAU / 4.0) / k.sqrt();
    let amplitude = (1.0 - e * e).acos();
    let second = first + 2.0 * quarter_period(amplitude) / k.sqrt();
    for strategy in [Located::events(1e-12), Located::hybrid(1e-12)] {
        let done = strategy.run(&model, &state, 2.0);
        let found = times(&done, EventKind::Impact, "pin lower limit");
        assert!((found[0] - first).abs() < 1e-11 && (found[1] - second).abs() < 1e-11, "{found:?} {first} {second}");
    }
    for scheme in schemes() {
        let h = 1e-4;
        let done = run_scheme(&model, &state, 0.5 * (first + second), h, &scheme);
        // half way it stands still: the angle is that of the highest point, off by O(h) from the step of the impact
        let angle = done.state.q[2] + TAU / 4.0;
        assert!((angle - amplitude).abs() < 20.0 * h, "{scheme:?}: {angle} {amplitude}");
        let radius = done.state.q[0].hypot(done.state.q[1]);
        assert!((radius - 0.5).abs() < 1e-6, "{radius}");
    }
}

/// A weight starts at the very point its rope hangs from, falls, and is thrown back where the rope tightens.
#[test]
fn rope_tightens_at_the_exact_time() {
    let (length, e) = (0.8, 0.5_f64);
    let mut model = planar(&[("weight", 2.0, 1.0)], G);
    let q = vec![0.3, 1.0, 0.0];
    let source = joint(JointKind::Distance, [None, Some("weight")], at(0.3, 1.0));
    let rope = JointContact::rope("rope", &source, length, &model.shared_systems(), &q).unwrap();
    model.add_interaction("rope", Box::new(rope), Law::unilateral(e)).unwrap();
    let state = State { t: 0.0, q, v: vec![0.0; 3], ..State::default() };
    let first = (2.0 * length / G).sqrt();
    let exact = [first, first * (1.0 + 2.0 * e), first * (1.0 + 2.0 * e + 2.0 * e * e)];
    let done = Located::events(1e-10).run(&model, &state, 1.2);
    let found = times(&done, EventKind::Impact, "rope");
    assert!(found.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-11), "{found:?} {exact:?}");
    for scheme in schemes() {
        let done = run_scheme(&model, &state, 1.2, 1e-3, &scheme);
        assert!(done.state.q[1] > 1.0 - length - 0.02 && done.certificate.last.mechanical() < 2.0 * G + 1e-9, "{scheme:?}");
    }
}

/// A nut sinks on its upright thread by many turns: z̈ = −g/(1 + J (2π/l)²/m), J about the axis.
#[test]
fn nut_sinks_on_its_screw() {
    let (mass, inertia, lead) = (2.0, 0.003, 0.05);
    let nut = RigidBody { name: "nut".into(), mass, inertia: Matrix3::from_diagonal(&Vector3::new(0.004, 0.004, inertia)) };
    let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![nut], Vector3::new(0.0, 0.0, -G)).unwrap())]).unwrap();
    let q = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let placement = JointPlacement::at(Vector3::new(0.02, 0.0, 0.0)).pitched(lead);
    model.add_joint("screw", &joint(JointKind::Screw, [None, Some("nut")], placement), &q).unwrap();
    // its centre circles the axis 2 cm away
    let acceleration = -G / (1.0 + (inertia + mass * 0.02 * 0.02) * (TAU / lead).powi(2) / mass);
    let state = State { t: 0.0, q, v: vec![0.0; 6], ..State::default() };
    let check = |done: &Done, tolerance: f64| {
        let t = done.state.t;
        let (z, speed) = (0.5 * acceleration * t * t, acceleration * t);
        assert!((done.state.q[2] - z).abs() < tolerance && (done.state.v[2] - speed).abs() < tolerance, "{:?} {z} {speed}", done.state);
        // angular velocity is in the body frame, whose z axis stays upright
        assert!((done.state.v[5] - speed * TAU / lead).abs() < tolerance * TAU / lead);
        z / lead
    };
    let turns = check(&Located::events(1e-10).run(&model, &state, 3.0), 1e-8);
    assert!(turns < -10.0, "{turns}");
    for scheme in schemes() {
        // schemes of first order lose energy where the centre circles fast: a short run, one turn
        check(&run_scheme(&model, &state, 0.6, 1e-4, &scheme), 1e-3);
    }
}

/// Two wheels out of balance in mesh: the energy is kept, the teeth stay in mesh over many turns.
#[test]
fn gears_keep_energy_and_mesh() {
    let mut model = planar(&[("small", 1.0, 0.02), ("large", 3.0, 0.2)], G);
    let q = vec![0.05, 0.0, 0.0, 0.6, 0.02, 0.0];
    let pins = [("small", 0.0), ("large", 0.6)].map(|(body, x)| joint(JointKind::Revolute, [None, Some(body)], at(x, 0.0)));
    for (name, pin) in ["pin 1", "pin 2"].iter().zip(&pins) {
        model.add_joint(name, pin, &q).unwrap();
    }
    let gear = JointCoupling::gear("gear", [&pins[0], &pins[1]], -37.0 / 20.0, &model.shared_systems(), &q).unwrap();
    model.add_interaction("gear", Box::new(gear), Law::Bilateral).unwrap();
    let rate = 30.0;
    let slow = -rate * 20.0 / 37.0;
    let v = vec![0.0, 0.05 * rate, rate, -0.02 * slow, 0.0, slow];
    let state = State { t: 0.0, q, v, ..State::default() };
    let done = Located::events(1e-10).run(&model, &state, 3.0);
    let energies: Vec<f64> = done.keep.frames.iter().map(|frame| frame.mechanical).collect();
    let change = energies.iter().fold(0.0, |m, e| f64::max(m, (e - energies[0]).abs())) / energies[0];
    assert!(change < 1e-8 && done.state.q[2] > 10.0 * TAU, "{change:e} {}", done.state.q[2]);
    // the wheels' angles, which the planar bodies count
    assert!((done.state.q[2] + 37.0 / 20.0 * done.state.q[5]).abs() < 1e-8, "{:?}", done.state.q);
    for scheme in schemes() {
        let done = run_scheme(&model, &state, 1.0, 1e-3, &scheme);
        assert!((done.state.q[2] + 37.0 / 20.0 * done.state.q[5]).abs() < 1e-3, "{scheme:?}: {:?}", done.state.q);
    }
}

/// A bead on a wire in the form of a cycloid: the period does not depend on the height, 4π √(r/g) [Huygens].
#[test]
fn bead_on_a_cycloid_is_a_tautochrone() {
    let r = 0.2_f64;
    for start in [0.3_f64, 1.2] {
        let mut model = planar(&[("bead", 0.7, 1.0)], G);
        let point = Vector3::new(r * (start + start.sin()), -r * start.cos(), 0.0);
        let q = vec![point.x, point.y, 0.0];
        let curve = CurveSource {
            formulas: vec!["r*(s + sin(s))".into(), "-r*cos(s)".into()],
            parameter: "s".into(),
            range: [-2.5, 2.5],
            constants: vec![("r".into(), r)],
        };
        let wire = PointOnCurve::new("wire", &[None, Some("bead".into())], point, &curve, &model.shared_systems(), &q).unwrap();
        model.add_interaction("wire", Box::new(wire), Law::Bilateral).unwrap();
        let state = State { t: 0.0, q: q.clone(), v: vec![0.0; 3], ..State::default() };
        let period = 2.0 * TAU * (r / G).sqrt();
        let done = Located::events(1e-11).run(&model, &state, period);
        let error = (done.state.q[0] - q[0]).hypot(done.state.q[1] - q[1]);
        assert!(error < 1e-9 && done.state.v[0].abs() < 1e-8, "{start}: {error:e} {:?}", done.state.v);
        let error = |step: f64| {
            let stepped = run_scheme(&model, &state, period, step, &SchemeParams::default());
            (stepped.state.q[0] - q[0]).hypot(stepped.state.q[1] - q[1])
        };
        // first order
        let (coarse, fine) = (error(period / 1000.0), error(period / 2000.0));
        assert!(coarse < 1e-2 && coarse / fine > 1.8, "{start}: {coarse:e} {fine:e}");
    }
}

/// A pin flies straight through its bore and strikes it: Newton's law along the normal, friction with the lever of the pin's radius.
#[test]
fn pin_strikes_its_bore() {
    let (c, r, mass, inertia, e) = (0.1_f64, 0.3, 2.0, 0.5, 0.7);
    for mu in [0.0, 0.2] {
        let mut model = planar(&[("pin", mass, inertia)], 0.0);
        let q = vec![0.0, 0.06, 0.0];
        let source = joint(JointKind::Revolute, [None, Some("pin")], at(0.0, 0.0).to(Vector3::new(0.0, 0.06, 0.0)));
        let contact = JointContact::journal("bore", &source, (c, r), usize::from(mu > 0.0), &model.shared_systems(), &q).unwrap();
        model.add_interaction("bore", Box::new(contact), Law::Contact(ContactLaw::coulomb(mu, e))).unwrap();
        let state = State { t: 0.0, q, v: vec![1.0, 0.0, 0.0], ..State::default() };
        // it meets the circle of radius 0.1 at (0.08, 0.06); n points there, the tangent z × n turns about it
        let (n, t) = ([0.8, 0.6], [-0.6, 0.8]);
        let normal = mass * (1.0 + e) * n[0];
        // it slides along −t all through the impact: |u_T| = 0.6 > μ p_N (1/m + r²/J)
        let friction = mu * normal;
        assert!(0.6 > friction * (1.0 / mass + r * r / inertia));
        let exact = [0, 1].map(|i| f64::from(u8::from(i == 0)) + (friction * t[i] - normal * n[i]) / mass);
        let spin = friction * r / inertia;
        let done = Located::events(1e-10).run(&model, &state, 0.1);
        assert!((times(&done, EventKind::Impact, "bore")[0] - 0.08).abs() < 1e-12);
        let v = &done.state.v;
        assert!(
            (v[0] - exact[0]).abs() < 1e-10 && (v[1] - exact[1]).abs() < 1e-10 && (v[2] - spin).abs() < 1e-10,
            "{v:?} {exact:?} {spin}"
        );
        for scheme in schemes() {
            let v = run_scheme(&model, &state, 0.1, 1e-5, &scheme).state.v;
            assert!((v[0] - exact[0]).abs() < 1e-3 && (v[1] - exact[1]).abs() < 1e-3 && (v[2] - spin).abs() < 1e-3, "{v:?} {exact:?}");
        }
    }
}
