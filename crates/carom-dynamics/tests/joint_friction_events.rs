//! Friction in joints with located events: bounds that follow the joint's load, friction of several rows.

use crate::bounded_events::{changes, check_changes, located};
use crate::bounded_forces::{ARM, G, INERTIA, MASS, hinged, row, start, target};
use crate::located::Located;
use crate::support::{fitted_order, run_scheme};
use carom_dynamics::integrators::IntegratorKind;
use carom_dynamics::relations::{Driven, Joint, JointAxis, JointKind, JointPlacement, JointSource, Target};
use carom_dynamics::report::EventKind;
use carom_dynamics::schemes::SchemeParams;
use carom_dynamics::strategies::Ending;
use carom_dynamics::systems::{Lagrangian, LagrangianText, RigidBodies, RigidBody};
use carom_dynamics::{BoundedLaw, JointLoad, Law, Model, State};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

/// One rigid body with equal moments of inertia at the origin, with these velocities, and a joint to the ground there.
fn single(kind: JointKind, placement: JointPlacement, linear: Vector3<f64>, angular: Vector3<f64>) -> (Model, State, JointSource) {
    let body = RigidBody { name: "body".into(), mass: MASS, inertia: Matrix3::from_diagonal_element(INERTIA) };
    let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -G)).unwrap())]).unwrap();
    let mut state = start(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
    state.v[..3].copy_from_slice(linear.as_slice());
    state.v[3..].copy_from_slice(angular.as_slice());
    let source = JointSource { kind, bodies: [None, Some("body".into())], placement };
    model.add_joint("joint", &source, &state.q).unwrap();
    (model, state, source)
}

fn by_load(rows: usize, factor: f64) -> BoundedLaw {
    BoundedLaw::friction(0.0).with_load(JointLoad { joint: 0, rows, factor })
}

/// A servo with enough torque holds an arm where it is; a weak one lets it sink at full torque: ½ J θ̇² = m g a (cos θ − cos θ₀) − T (θ₀ − θ).
#[test]
fn a_servo_holds_an_arm_against_gravity() {
    let angle = 0.7_f64;
    let weight = MASS * G * ARM * angle.sin();
    for (most, holds) in [(20.0, true), (0.5 * weight, false)] {
        let (mut model, state, source) = hinged(ARM, angle);
        model.add_joint("hinge", &source, &state.q).unwrap();
        let coordinate = model.joint_coordinate("hinge", &source, JointAxis::Turn, &state.q).unwrap();
        let driven = Driven::new(Box::new(coordinate), Target::Angle, &target("0")).unwrap();
        model.add_interaction("motor", Box::new(driven), Law::Bounded(BoundedLaw::motor(most).with_gain(50.0))).unwrap();
        for how in located() {
            let done = how.run(&model, &state, 0.4);
            check_changes(&done, "motor", &[], 1e-12);
            let (turned, speed) = ((-done.state.q[0]).atan2(-done.state.q[2]), done.state.v[4]);
            if holds {
                assert!((turned - angle).abs() < 1e-12 && speed.abs() < 1e-12, "{:?}", done.state);
                continue;
            }
            let kinetic = MASS * G * ARM * (turned.cos() - angle.cos()) - most * (angle - turned);
            assert!(speed < -1.0 && (0.5 * (INERTIA + MASS * ARM * ARM) * speed * speed - kinetic).abs() < 1e-9, "{speed} {kinetic}");
        }
    }
}

/// The bearings of a balanced wheel bear m g: ω falls by μ r m g/J per second, and the wheel stops at J ω₀/(μ r m g).
#[test]
fn a_wheel_in_bearings_spins_down_in_the_exact_time() {
    let (mu, radius, omega): (f64, f64, f64) = (0.2, 0.02, 6.0);
    let torque = mu * radius * MASS * G;
    let stop = INERTIA * omega / torque;
    let placement = JointPlacement::at(Vector3::zeros()).along(Vector3::y());
    let (mut model, state, source) = single(JointKind::Revolute, placement, Vector3::zeros(), Vector3::y() * omega);
    let coordinate = model.joint_coordinate("joint", &source, JointAxis::Turn, &state.q).unwrap();
    model.add_interaction("friction", Box::new(coordinate), Law::Bounded(by_load(3, mu * radius))).unwrap();
    for how in located() {
        let done = how.run(&model, &state, stop + 0.5);
        check_changes(&done, "friction", &[(stop, EventKind::SlipToStick)], 1e-10);
        for frame in &done.keep.frames {
            let exact = (omega - torque / INERTIA * frame.t).max(0.0);
            assert!((frame.v[4] - exact).abs() < 1e-10, "t = {}: {} {exact}", frame.t, frame.v[4]);
        }
        let lost = done.certificate.last.dissipated_friction;
        assert!((lost - 0.5 * INERTIA * omega * omega).abs() < 1e-9, "{lost}");
    }
}

/// A block on a slope held by the friction of a prismatic joint: it stays where tan α < μ, and slides with g (sin α − μ cos α) otherwise.
#[test]
fn friction_in_a_slide_follows_its_normal_force() {
    for (slope, mu) in [(0.3_f64, 0.5_f64), (0.6, 0.5)] {
        let axis = Vector3::new(slope.cos(), 0.0, -slope.sin());
        let placement = JointPlacement::at(Vector3::zeros()).along(axis);
        let (mut model, state, source) = single(JointKind::Prismatic, placement, Vector3::zeros(), Vector3::zeros());
        let coordinate = model.joint_coordinate("joint", &source, JointAxis::Slide, &state.q).unwrap();
        model.add_interaction("friction", Box::new(coordinate), Law::Bounded(by_load(2, mu))).unwrap();
        for how in located() {
            let done = how.run(&model, &state, 1.0);
            check_changes(&done, "friction", &[], 1e-12);
            let exact = (G * (slope.sin() - mu * slope.cos())).max(0.0);
            let speed = Vector3::from_column_slice(&done.state.v[..3]).dot(&axis);
            assert!((speed - exact).abs() < 1e-11, "{slope}: {speed} {exact}");
        }
    }
}

/// A pendulum with friction T in its hinge that does not follow the load: J θ̈ = −m g a sin θ − T sign θ̇, so that each half swing from θ₀ ends where
/// m g a (cos θ₁ − cos θ₀) = T |θ₁ − θ₀|; it rests where m g a |sin θ| ≤ T.
#[test]
fn a_pendulum_with_friction_in_its_hinge_comes_to_rest_where_it_should() {
    let (first, torque) = (0.9_f64, 0.7);
    let weight = MASS * G * ARM;
    let (mut turns, mut angle) = (Vec::new(), first);
    loop {
        // |θ| of the other side
        let left = |next: f64| weight * (next.cos() - angle.cos()) - torque * (next + angle);
        // no root: friction holds it before it has passed the lowest point
        if weight * angle.sin() <= torque || left(0.0) <= 0.0 {
            break;
        }
        let (mut low, mut high) = (0.0, angle);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            *if left(middle) > 0.0 { &mut low } else { &mut high } = middle;
        }
        angle = low;
        turns.push(angle);
    }
    assert!(turns.len() > 3, "{turns:?}");
    let (mut model, state, source) = hinged(ARM, first);
    model.add_joint("hinge", &source, &state.q).unwrap();
    let coordinate = model.joint_coordinate("hinge", &source, JointAxis::Turn, &state.q).unwrap();
    model.add_interaction("friction", Box::new(coordinate), Law::Bounded(BoundedLaw::friction(torque))).unwrap();
    for how in located() {
        let done = how.run(&model, &state, 12.0);
        let found = changes(&done, "friction");
        let angle_at = |q: &[f64]| (-q[0]).atan2(-q[2]);
        for (k, ((t, kind), exact)) in found.iter().zip(&turns).enumerate() {
            let frame = done.keep.frames.iter().min_by(|a, b| (a.t - t).abs().total_cmp(&(b.t - t).abs())).unwrap();
            let off = angle_at(&frame.q).abs() - exact;
            println!("turn {k}: {t:.9} s {kind:?} {off:.1e} rad");
            assert!(off.abs() < 1e-9, "turn {k}: {off}");
        }
        let last = turns.len() - 1;
        assert!(
            found.len() >= turns.len() && found.iter().take(last).all(|(_, kind)| *kind == EventKind::SlipReversed),
            "{found:?} {turns:?}"
        );
        assert_eq!(found.last().map(|(_, kind)| *kind), Some(EventKind::SlipToStick));
        // what it lost is the torque times all angles
        let ways: f64 = std::iter::once(first).chain(turns.iter().copied()).zip(&turns).map(|(from, to)| from + to).sum();
        let lost = done.certificate.last.dissipated_friction;
        println!("lost {lost}, {}", torque * ways);
        if found.len() == turns.len() {
            assert!((lost - torque * ways).abs() < 1e-8, "{lost} {}", torque * ways);
        }
        assert!(done.certificate.energy_error().abs() < 1e-8, "{}", done.certificate.energy_error());
    }
}

/// Friction takes T/I from |ω| along ω, whatever its axis, and holds the body when it has stopped. The bound is constant, or μ r times the weight.
#[test]
fn friction_in_a_ball_joint_opposes_the_turning() {
    let (bound, first) = (0.05, Vector3::new(1.0, -2.0, 2.0));
    for law in [BoundedLaw::friction(bound), by_load(3, bound / (MASS * G))] {
        let placement = JointPlacement::at(Vector3::zeros());
        let (mut model, state, source) = single(JointKind::Spherical, placement, Vector3::zeros(), first);
        let spin = model.joint_spin("joint", &source, &state.q).unwrap();
        model.add_interaction("friction", Box::new(spin), Law::Bounded(law)).unwrap();
        let stop = first.norm() * INERTIA / bound;
        for how in located() {
            let done = how.run(&model, &state, 1.2 * stop);
            check_changes(&done, "friction", &[(stop, EventKind::SlipToStick)], 1e-9);
            for frame in &done.keep.frames {
                let exact = first * (1.0 - frame.t / stop).max(0.0);
                let turning = Vector3::from_column_slice(&frame.v[3..6]);
                assert!((turning - exact).norm() < 1e-9, "t = {}: {turning:?} {exact:?}", frame.t);
            }
            let taken = done.certificate.last.dissipated_friction;
            assert!((taken - 0.5 * INERTIA * first.norm_squared()).abs() < 1e-9, "{taken}");
        }
    }
}

/// T = ½ I (θ̇₁² + θ̇₂²): friction of the bound B takes B/I from either speed by itself, until it has stopped. The loads of both are the weight.
#[test]
fn friction_in_a_universal_joint_stops_each_turn_by_itself() {
    let (bound, speeds) = (0.05, [3.0_f64, -1.0_f64]);
    for law in [BoundedLaw::friction(bound), by_load(3, bound / (MASS * G))] {
        let placement = JointPlacement::at(Vector3::zeros()).along(Vector3::x()).crossing(Vector3::y());
        let (mut model, state, source) = single(JointKind::Universal, placement, Vector3::zeros(), Vector3::new(speeds[0], speeds[1], 0.0));
        for (axis, name) in [(JointAxis::Turn, "first"), (JointAxis::SecondTurn, "second")] {
            let coordinate = model.joint_coordinate("joint", &source, axis, &state.q).unwrap();
            model.add_interaction(name, Box::new(coordinate), Law::Bounded(law)).unwrap();
        }
        for how in located() {
            let done = how.run(&model, &state, 7.0);
            for (name, speed) in [("first", speeds[0]), ("second", speeds[1])] {
                check_changes(&done, name, &[(INERTIA * speed.abs() / bound, EventKind::SlipToStick)], 1e-9);
            }
            assert!(done.state.v.iter().all(|v| v.abs() < 1e-10), "{:?}", done.state.v);
        }
    }
}

/// Friction takes μ g from the speed in the direction of the motion; the block stops after v²/(2 μ g).
#[test]
fn friction_in_a_planar_joint_opposes_the_slip() {
    let (mu, first) = (0.3, Vector3::new(1.2, -0.5, 0.0));
    for kind in [JointKind::Planar, JointKind::PointInPlane] {
        let (mut model, state, source) = single(kind, JointPlacement::at(Vector3::zeros()), first, Vector3::zeros());
        let slip = Joint::slip("joint", &source, &model.shared_systems(), &state.q).unwrap();
        model.add_interaction("friction", Box::new(slip), Law::Bounded(by_load(1, mu))).unwrap();
        let stop = first.norm() / (mu * G);
        for how in located() {
            let done = how.run(&model, &state, 1.5 * stop);
            check_changes(&done, "friction", &[(stop, EventKind::SlipToStick)], 1e-9);
            let place = Vector3::from_column_slice(&done.state.q[..3]);
            assert!((place - first * (0.5 * stop)).norm() < 1e-10, "{kind:?}: {place:?}");
            assert!(done.state.v.iter().all(|v| v.abs() < 1e-10), "{kind:?}: {:?}", done.state.v);
        }
    }
}

/// A servo at rest and the friction of its rail hold a block together, so that their rows depend on each other; the reaction that the friction follows is determined all the same. A force
/// that grows throws both off at once, where it is the bound of the servo and that of the friction, μ R.
#[test]
fn a_servo_and_friction_that_follows_the_load_give_way_together() {
    let (most, factor) = (1.0, 0.01);
    let text = LagrangianText {
        coordinates: vec!["x".into(), "y".into()],
        kinetic: "(x_dot^2 + y_dot^2)/2".into(),
        forces: vec![("x".into(), "t".into()), ("y".into(), "-50".into())],
        ..LagrangianText::default()
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    model.add_formula("rail", &row("y"), Law::Bilateral).unwrap();
    model.add_formula("friction", &row("x"), Law::Bounded(by_load(1, factor))).unwrap();
    model.add_formula("servo", &row("x"), Law::Bounded(BoundedLaw::motor(most).with_gain(3.0))).unwrap();
    let exact = most + factor * 50.0;
    for how in located() {
        let done = how.run(&model, &start(&[0.0; 2], &[0.0; 2]), exact + 1.0);
        for name in ["friction", "servo"] {
            check_changes(&done, name, &[(exact, EventKind::StickToSlip)], 1e-8); // bracketed by asking for the modes
        }
        // ẍ = t − exact from there
        assert!((done.state.v[0] - 0.5).abs() < 1e-8, "{:?}", done.state);
    }
}

/// m ẍ = −μ |N|, N = A cos ωt of a rail that is pushed up and down: |N| has a kink at each of its zeros, which are met.
#[test]
fn friction_on_a_rail_whose_load_turns_round_is_exact() {
    let (mu, load, omega, first): (f64, f64, f64, f64) = (0.4, 3.0, 5.0, 2.0);
    let text = LagrangianText {
        coordinates: vec!["x".into(), "y".into()],
        kinetic: "(x_dot^2 + y_dot^2)/2".into(),
        forces: vec![("y".into(), "-3*cos(5*t)".into())],
        ..LagrangianText::default()
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    model.add_formula("rail", &row("y"), Law::Bilateral).unwrap();
    model.add_formula("friction", &row("x"), Law::Bounded(by_load(1, mu))).unwrap();
    // ∫|cos ωt|
    let swept = |t: f64| {
        let quarters = (omega * t / PI + 0.5).floor();
        let rest = (omega * t).sin() * if quarters % 2.0 == 0.0 { 1.0 } else { -1.0 };
        (2.0 * quarters + rest) / omega
    };
    let speed = |t: f64| first - mu * load * swept(t);
    let (mut low, mut high) = (0.0, 5.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *if speed(middle) > 0.0 { &mut low } else { &mut high } = middle;
    }
    for how in located() {
        let done = how.run(&model, &start(&[0.0; 2], &[first, 0.0]), low + 0.5);
        let found = changes(&done, "friction");
        assert!((found[0].0 - low).abs() < 1e-10 && found[0].1 == EventKind::SlipToStick, "{found:?} {low}");
        for frame in done.keep.frames.iter() {
            let exact = if frame.t < low { speed(frame.t) } else { 0.0 };
            assert!((frame.v[0] - exact).abs() < 1e-10, "t = {}: {} {exact}", frame.t, frame.v[0]);
        }
        assert!(done.certificate.energy_error().abs() < 1e-10, "{}", done.certificate.energy_error());
    }
}

/// Coulomb friction in the hinge of a pendulum: R holds weight and centripetal force, and the friction itself. Time-stepping comes to the same with order one.
#[test]
fn coulomb_friction_in_the_hinge_of_a_pendulum_is_what_time_stepping_converges_to() {
    let (mut model, state, source) = hinged(ARM, 1.2);
    model.add_joint("hinge", &source, &state.q).unwrap();
    let coordinate = model.joint_coordinate("hinge", &source, JointAxis::Turn, &state.q).unwrap();
    model.add_interaction("friction", Box::new(coordinate), Law::Bounded(by_load(3, 0.3 * 0.05))).unwrap();
    let end = 2.3;
    let done = Located::events(1e-11).run(&model, &state, end);
    assert!(done.certificate.energy_error().abs() < 1e-9, "{}", done.certificate.energy_error());
    assert!(changes(&done, "friction").iter().filter(|(_, kind)| *kind == EventKind::SlipReversed).count() >= 2);
    let steps = [4e-3, 2e-3, 1e-3];
    let errors = steps.map(|h| {
        let stepped = run_scheme(&model, &state, end, h, &SchemeParams::MoreauJean(Default::default()));
        stepped.state.v[4] - done.state.v[4]
    });
    let order = fitted_order(&steps, &errors.map(f64::abs));
    let extrapolated = (2.0 * errors[2] - errors[1]).abs();
    println!("{errors:?} order {order:.2}, extrapolated {extrapolated:.1e}");
    // what is left of the extrapolation is of second order: a fortieth here
    assert!((order - 1.0).abs() < 0.2 && extrapolated < errors[2].abs() / 20.0, "{errors:?} {order} {extrapolated}");
    // other integrators that know friction find the same
    for kind in [IntegratorKind::Dopri5, IntegratorKind::Phem56] {
        let mut how = Located::events(1e-10);
        how.integrator.kind = kind;
        let other = how.run(&model, &state, end);
        assert!((other.state.v[4] - done.state.v[4]).abs() < 1e-7, "{kind:?}: {} {}", other.state.v[4], done.state.v[4]);
    }
    // one that does not says so
    let mut how = Located::events(1e-8);
    how.integrator.kind = IntegratorKind::Bdf;
    let Err(Ending::Failed(error)) = how.try_run(&model, &state, end) else { panic!() };
    assert!(error.to_string().contains("load of a joint"), "{error}");
}
