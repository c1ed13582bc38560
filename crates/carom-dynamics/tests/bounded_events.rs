//! Efforts between bounds with located events, against exact motions: dry friction, motors, servos.

use crate::bounded_forces::{bounded, row, start};
use crate::contact_laws::masses;
use crate::located::{Located, print_events};
use crate::support::Done;
use carom_dynamics::problems::{Solution, belt_oscillator};
use carom_dynamics::relations::Target;
use carom_dynamics::report::EventKind;
use carom_dynamics::systems::{Lagrangian, LagrangianText, Linear};
use carom_dynamics::{BoundedLaw, Law, Model, State};
use std::f64::consts::PI;

/// Both strategies.
pub fn located() -> [Located; 2] {
    [Located::events(1e-11), Located::hybrid(1e-11)]
}

/// The changes of one effort, with their times.
pub fn changes(done: &Done, name: &str) -> Vec<(f64, EventKind)> {
    let counts = [EventKind::SlipToStick, EventKind::StickToSlip, EventKind::SlipReversed, EventKind::Impact];
    done.keep.events.iter().filter(|event| event.name == name && counts.contains(&event.kind)).map(|event| (event.t, event.kind)).collect()
}

/// The changes are these, to `slack` seconds, and the energy balance closes.
pub fn check_changes(done: &Done, name: &str, exact: &[(f64, EventKind)], slack: f64) {
    let found = changes(done, name);
    let off = found.iter().zip(exact).map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
    println!("{name}: {} changes, {off:.1e} s, energy error {:.1e} J", found.len(), done.certificate.energy_error());
    let kinds = |list: &[(f64, EventKind)]| list.iter().map(|(_, kind)| *kind).collect::<Vec<_>>();
    if kinds(&found) != kinds(exact) || off >= slack {
        print_events(done);
    }
    assert_eq!(kinds(&found), kinds(exact), "{name}: {found:?} {exact:?}");
    assert!(off < slack, "{name}: {found:?} {exact:?}");
    // Gauss's formula of degree 5 along the dense output at a tolerance of 1e-11
    assert!(done.certificate.energy_error().abs() < 1e-9, "{name}: {}", done.certificate.energy_error());
}

/// The root of a falling function.
fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    assert!(f(low) > 0.0 && f(high) < 0.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *if f(middle) > 0.0 { &mut low } else { &mut high } = middle;
    }
    low
}

/// A mass under the force `text` of t with one bounded row on x.
fn under_force(mass: f64, text: &str, law: BoundedLaw) -> Model {
    let text = LagrangianText {
        coordinates: vec!["x".into()],
        kinetic: format!("0.5*{mass}*x_dot^2"),
        forces: vec![("x".into(), text.into())],
        ..LagrangianText::default()
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    model.add_formula("row", &row("x"), Law::Bounded(law)).unwrap();
    model
}

/// m v̇ = A sin ωt − F sign v: sticks until sin ωt = F/A, then v = A/(mω) (cos ωt₁ − cos ωt) − F/m (t − t₁) up to its next root; the same half a period later with the
/// other sign, since it sticks in between.
#[test]
fn a_pushed_mass_with_dry_friction_sticks_and_slips_when_it_should() {
    let (mass, amplitude, bound, omega) = (2.0, 5.0, 4.0, 3.0_f64);
    let model = under_force(mass, "5*sin(3*t)", BoundedLaw::friction(bound));
    let first = (bound / amplitude).asin() / omega;
    let speed = |t: f64| amplitude / (mass * omega) * ((omega * first).cos() - (omega * t).cos()) - bound / mass * (t - first);
    let stop = root(first + 0.1, first + PI / omega, speed);
    // it sticks before the force has turned
    assert!(stop < PI / omega + first);
    let way = amplitude / (mass * omega)
        * ((omega * first).cos() * (stop - first) - ((omega * stop).sin() - (omega * first).sin()) / omega)
        - 0.5 * bound / mass * (stop - first).powi(2);
    let half = PI / omega;
    let exact: Vec<(f64, EventKind)> = (0..6)
        .flat_map(|k| [(first + f64::from(k) * half, EventKind::StickToSlip), (stop + f64::from(k) * half, EventKind::SlipToStick)])
        .collect();
    for how in located() {
        let done = how.run(&model, &start(&[0.0], &[0.0]), 6.0 * half);
        check_changes(&done, "row", &exact, 1e-10);
        assert!(done.state.q[0].abs() < 1e-10 && done.state.v[0] == 0.0, "{:?}", done.state);
        let furthest = done.keep.frames.iter().map(|frame| frame.q[0]).fold(0.0, f64::max);
        assert!((furthest - way).abs() < 1e-10, "{furthest} {way}");
        // friction takes F times the way, there and back three times
        let account = &done.certificate.last;
        assert!((account.dissipated_friction - 6.0 * bound * way).abs() < 1e-9, "{account:?}");
        assert!((account.work - 6.0 * bound * way).abs() < 1e-9, "{account:?}");
    }
}

/// The amplitude falls by 2 F/k in each half swing; at rest for good where it is at most F/k.
#[test]
fn dry_friction_takes_the_same_from_every_half_swing() {
    let (omega, bound): (f64, f64) = (2.0, 0.06);
    let stiffness = omega * omega;
    let model = bounded(masses(&["x"], &[stiffness], &[0.0]), "x", None, BoundedLaw::friction(bound * stiffness));
    let exact: Vec<(f64, EventKind)> =
        (1..=8).map(|k| (f64::from(k) * PI / omega, if k == 8 { EventKind::SlipToStick } else { EventKind::SlipReversed })).collect();
    for how in located() {
        let done = how.run(&model, &start(&[1.0], &[0.0]), 8.0 * PI / omega + 0.5);
        check_changes(&done, "row", &exact, 1e-9); // at a turn v is zero to 1e-11, a = 0.4 at least
        assert!((done.state.q[0] - 0.04).abs() < 1e-9 && done.state.v[0] == 0.0, "{:?}", done.state);
        let lost = 0.5 * stiffness * (1.0 - 0.04 * 0.04);
        assert!((done.certificate.last.dissipated_friction - lost).abs() < 1e-9 && done.certificate.last.work == 0.0);
    }
}

/// Friction on a belt that moves, as a bound: the transitions and the motion of the mass on the belt.
#[test]
fn friction_of_known_bound_on_a_belt_has_the_transitions_of_a_contact() {
    let problem = belt_oscillator::problem().unwrap();
    let Solution::Exact(exact) = &problem.solution else { panic!() };
    let law = BoundedLaw::friction(belt_oscillator::FRICTION * belt_oscillator::MASS * 9.81);
    let text = format!("x - {}*t", belt_oscillator::BELT);
    let model = bounded(masses(&["x"], &[belt_oscillator::STIFFNESS], &[0.0]), &text, None, law);
    for how in located() {
        let done = how.run(&model, &start(&[belt_oscillator::START], &[0.0]), problem.end);
        check_changes(&done, "row", &belt_oscillator::transitions(), 1e-10);
        for frame in &done.keep.frames {
            let (q, v) = exact(frame.t);
            assert!((frame.q[0] - q[0]).abs() < 1e-9 && (frame.v[0] - v[0]).abs() < 1e-9, "t = {}", frame.t);
        }
        assert!(done.certificate.last.work > 0.01 && done.certificate.last.dissipated_friction > 0.01);
    }
}

/// J ω̇ = T up to t = J w/T, then ω = w.
#[test]
fn a_velocity_motor_reaches_its_speed_at_the_exact_time() {
    let (w, most): (f64, f64) = (3.0, 4.0);
    let inertia = || Linear::new(vec!["x".into()], vec![2.0], vec![0.0], vec![0.0]).unwrap();
    let model = bounded(inertia(), "x", Some((Target::Speed, "3")), BoundedLaw::motor(most));
    for how in located() {
        let done = how.run(&model, &start(&[0.0], &[0.0]), 2.0);
        check_changes(&done, "row", &[(1.5, EventKind::SlipToStick)], 1e-12);
        for frame in &done.keep.frames {
            let exact = (most / 2.0 * frame.t).min(w);
            assert!((frame.v[0] - exact).abs() < 1e-12, "t = {}: {}", frame.t, frame.v[0]);
        }
        let energy = &done.certificate.last;
        assert!((energy.work - 9.0).abs() < 1e-12 && energy.dissipated_friction == 0.0, "{energy:?}");
    }
}

/// At its speed of 3 m/s a motor of 4 N meets a load of 6 N and gives way with 2 N/2 kg; when the load falls to 1 N at t = 1 s it comes back with 3 N/2 kg.
#[test]
fn a_saturated_motor_recovers_when_its_load_drops() {
    let text = LagrangianText {
        coordinates: vec!["x".into()],
        kinetic: "x_dot^2".into(),
        forces: vec![("x".into(), "if(t < 1, -6, -1)".into())],
        ..LagrangianText::default()
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    model.add_formula("motor", &row("x - 3*t"), Law::Bounded(BoundedLaw::motor(4.0))).unwrap();
    for how in located() {
        let done = how.run(&model, &start(&[0.0], &[3.0]), 3.0);
        check_changes(&done, "motor", &[(1.0 + 2.0 / 3.0, EventKind::SlipToStick)], 1e-10);
        for frame in &done.keep.frames {
            let exact = if frame.t < 1.0 { 3.0 - frame.t } else { (2.0 + 1.5 * (frame.t - 1.0)).min(3.0) };
            assert!((frame.v[0] - exact).abs() < 1e-10, "t = {}: {} {exact}", frame.t, frame.v[0]);
        }
    }
}

#[test]
fn an_endless_motor_follows_a_speed_by_formula() {
    let model = bounded(masses(&["x"], &[3.0], &[0.0]), "x", Some((Target::Speed, "2*sin(t)")), BoundedLaw::motor(f64::INFINITY));
    for how in located() {
        let done = how.run(&model, &start(&[0.0], &[0.0]), 2.0);
        check_changes(&done, "row", &[], 1e-10);
        for frame in &done.keep.frames {
            assert!((frame.v[0] - 2.0 * frame.t.sin()).abs() < 1e-10, "{} {:?}", frame.t, frame.v);
            assert!((frame.q[0] - 2.0 * (1.0 - frame.t.cos())).abs() < 1e-10, "{} {:?}", frame.t, frame.q);
        }
    }
}

/// A mass that an endless motor drives at 1 m/s strikes another of 1 kg with e = 1/2: the motor keeps its speed through the impact by an impulse of its own, the struck mass
/// leaves with 1 + e, and the motor's work is 1.5 J, of which (1 − e²)/2 J are lost.
#[test]
fn an_endless_motor_keeps_its_speed_through_an_impact() {
    let mut model = bounded(masses(&["x", "y"], &[0.0; 2], &[0.0; 2]), "x", Some((Target::Speed, "1")), BoundedLaw::motor(f64::INFINITY));
    model.add_formula("stop", &row("y - x"), Law::unilateral(0.5)).unwrap();
    for how in located() {
        let done = how.run(&model, &start(&[0.0, 0.5], &[1.0, 0.0]), 1.5);
        let impacts: Vec<f64> = done.keep.events.iter().filter(|e| e.kind == EventKind::Impact && e.name == "stop").map(|e| e.t).collect();
        assert!(impacts.len() == 1 && (impacts[0] - 0.5).abs() < 1e-12, "{impacts:?}");
        let exact = [(1.5, 2.0), (1.0, 1.5)];
        assert!((done.state.q[0] - exact[0].0).abs() < 1e-11 && (done.state.q[1] - exact[0].1).abs() < 1e-11, "{:?}", done.state);
        assert!((done.state.v[0] - exact[1].0).abs() < 1e-11 && (done.state.v[1] - exact[1].1).abs() < 1e-11, "{:?}", done.state);
        let energy = &done.certificate.last;
        assert!((energy.work - 1.5).abs() < 1e-10 && (energy.dissipated_impact - 0.375).abs() < 1e-10, "{energy:?}");
    }
}

/// ė = −k e while it is held. One that starts at rest jumps to ė = −k e: an impulse of 2 N s on 1 kg, 2 J.
#[test]
fn a_servo_takes_back_its_error_at_its_rate() {
    let law = BoundedLaw::motor(f64::INFINITY).with_gain(2.0);
    let model = bounded(masses(&["x"], &[0.0], &[0.0]), "x", Some((Target::Place, "0")), law);
    for (speed, jumps) in [(-2.0, vec![]), (0.0, vec![(0.0, EventKind::Impact)])] {
        for how in located() {
            let done = how.run(&model, &start(&[1.0], &[speed]), 3.0);
            check_changes(&done, "row", &jumps, 1e-15);
            for frame in done.keep.frames.iter().filter(|frame| frame.t > 0.0) {
                let exact = (-2.0 * frame.t).exp();
                assert!((frame.q[0] - exact).abs() < 1e-10 && (frame.v[0] + 2.0 * exact).abs() < 1e-10, "{} {:?}", frame.t, frame.q);
            }
            // all kinetic energy at the end is what it got; what it lost went back into the motor
            let energy = 2.0 * (-6.0_f64).exp().powi(2) - 0.5 * speed * speed;
            assert!((done.certificate.last.work - energy).abs() < 1e-10, "{:?}", done.certificate.last);
        }
    }
}

/// A servo of 2 N on 1 kg, k = 1: full power until T t = k (1 − T t²/2), then exponential.
#[test]
fn a_saturated_servo_comes_down_from_its_bound_where_its_target_says() {
    let (most, gain) = (2.0, 1.0);
    let law = BoundedLaw::motor(most).with_gain(gain);
    let model = bounded(masses(&["x"], &[0.0], &[0.0]), "x", Some((Target::Place, "0")), law);
    let stop = (-most + (most * most + 2.0 * gain * gain * most).sqrt()) / (gain * most);
    let there = 1.0 - 0.5 * most * stop * stop;
    for how in located() {
        let done = how.run(&model, &start(&[1.0], &[0.0]), 3.0);
        check_changes(&done, "row", &[(stop, EventKind::SlipToStick)], 1e-11);
        for frame in &done.keep.frames {
            let exact = if frame.t < stop { 1.0 - 0.5 * most * frame.t * frame.t } else { there * (-gain * (frame.t - stop)).exp() };
            assert!((frame.q[0] - exact).abs() < 1e-10, "t = {}: {} {exact}", frame.t, frame.q[0]);
        }
    }
}

/// A place by formula, x* = sin 3t, that a servo of 5 N on 1 kg can follow: ẍ* = −9 sin 3t exceeds its bound where |sin 3t| > 5/9. From the first such instant it
/// moves at full power; then u + k g is known in closed form, and its next root is the end of that.
#[test]
fn a_servo_leaves_and_finds_a_target_that_is_too_fast() {
    let (most, gain) = (5.0, 4.0);
    let law = BoundedLaw::motor(most).with_gain(gain);
    let model = bounded(masses(&["x"], &[0.0], &[0.0]), "x", Some((Target::Place, "sin(3*t)")), law);
    let leave = (most / 9.0_f64).asin() / 3.0;
    let at = |t: f64| {
        let s = t - leave;
        let (x0, v0) = ((3.0 * leave).sin(), 3.0 * (3.0 * leave).cos());
        (x0 + v0 * s - 0.5 * most * s * s, v0 - most * s)
    };
    // u + k g > 0 while the motor cannot brake enough
    let error = |t: f64| at(t).1 - 3.0 * (3.0 * t).cos() + gain * (at(t).0 - (3.0 * t).sin());
    let back = root(leave + 0.2, leave + 1.5, error);
    // what would hold u + k g = 0 from there
    let held = -9.0 * (3.0 * back).sin() - gain * (at(back).1 - 3.0 * (3.0 * back).cos());
    let then = if held.abs() < most { EventKind::SlipToStick } else { EventKind::SlipReversed };
    for how in located() {
        let done = how.run(&model, &start(&[0.0], &[3.0]), back + 0.01);
        check_changes(&done, "row", &[(leave, EventKind::StickToSlip), (back, then)], 1e-9);
        for frame in done.keep.frames.iter().filter(|frame| frame.t <= back) {
            let exact = if frame.t < leave { (3.0 * frame.t).sin() } else { at(frame.t).0 };
            assert!((frame.q[0] - exact).abs() < 1e-10, "t = {}: {} {exact}", frame.t, frame.q[0]);
        }
    }
}

/// A particle with a brake of 5 N meets an elastic wall: the brake does nothing in the impact, and brakes the way back. It stops before the wall.
#[test]
fn a_brake_does_nothing_in_the_instant_of_an_impact() {
    let mut model = Model::new(vec![Box::new(masses(&["x"], &[0.0], &[0.0]))]).unwrap();
    model.add_formula("wall", &row("x"), Law::unilateral(1.0)).unwrap();
    model.add_formula("brake", &row("x"), Law::Bounded(BoundedLaw::friction(5.0))).unwrap();
    let (place, speed): (f64, f64) = (0.3, -4.0);
    let hit = (4.0 - (16.0 - 2.0 * 5.0 * place).sqrt()) / 5.0;
    for how in located() {
        let done = how.run(&model, &start(&[place], &[speed]), 2.0);
        check_changes(&done, "wall", &[(hit, EventKind::Impact)], 1e-12);
        let exact = [(hit, EventKind::SlipReversed), (4.0 / 5.0, EventKind::SlipToStick)];
        check_changes(&done, "brake", &exact, 1e-12);
        // the whole way is v²/(2a)
        assert!((done.state.q[0] - (1.6 - place)).abs() < 1e-12 && done.state.v[0] == 0.0, "{:?}", done.state);
        assert!((done.certificate.last.dissipated_friction - 8.0).abs() < 1e-11 && done.certificate.last.dissipated_impact.abs() < 1e-12);
    }
}

/// A motor and a brake on one axis hold it together: their rows are the same, and how they share the load is open. They let go where both are at their bounds.
#[test]
fn two_efforts_on_one_axis_give_way_together() {
    let mut model = under_force(1.0, "2*t", BoundedLaw::friction(1.0));
    model.add_formula("motor", &row("x"), Law::Bounded(BoundedLaw::motor(3.0))).unwrap();
    for how in located() {
        let done = how.run(&model, &start(&[0.0], &[0.0]), 3.0);
        for name in ["row", "motor"] {
            check_changes(&done, name, &[(2.0, EventKind::StickToSlip)], 1e-8); // an indicator is bracketed, not interpolated
        }
        assert!((done.state.v[0] - 1.0).abs() < 1e-8, "{:?}", done.state);
    }
}

/// A ball bounces on a floor into an accumulation while a servo takes it along x and a motor along y: the hybrid strategy goes over to time-stepping there, and comes back with the
/// servo held and the motor at its bound. Nothing of the floor touches x and y, so that they move as without it.
#[test]
fn efforts_go_through_time_stepping_and_come_back() {
    let mut model = Model::new(vec![Box::new(masses(&["x", "y", "z"], &[0.0; 3], &[0.0, 0.0, -9.81]))]).unwrap();
    model.add_formula("floor", &row("z"), Law::unilateral(0.5)).unwrap();
    model.add_formula("servo", &row("x"), Law::Bounded(BoundedLaw::motor(20.0).with_gain(2.0))).unwrap();
    model.add_formula("motor", &row("y - 100*t"), Law::Bounded(BoundedLaw::motor(3.0))).unwrap();
    let state = start(&[1.0, 0.0, 0.1], &[-2.0, 0.0, 0.0]);
    let runs = located().map(|how| how.run(&model, &state, 1.0));
    assert!(runs[1].keep.events.iter().any(|event| event.kind == EventKind::ToEventDriven));
    for (done, slack) in runs.iter().zip([1e-10, 1e-7]) {
        // steps of time-stepping are 1e-6 s and less: what the servo is off after them is projected
        assert!(
            (done.state.q[0] - (-2.0_f64).exp()).abs() < slack && (done.state.v[0] + 2.0 * (-2.0_f64).exp()).abs() < slack,
            "{:?}",
            done.state
        );
        assert!((done.state.q[1] - 1.5).abs() < slack && (done.state.v[1] - 3.0).abs() < slack, "{:?}", done.state);
        assert!(done.state.q[2].abs() < 1e-8 && changes(done, "servo").is_empty() && changes(done, "motor").is_empty());
        assert!(done.certificate.energy_error().abs() < 1e-7, "{}", done.certificate.energy_error());
    }
}

/// Every method of location finds the turns of a swing, the coarse ones to their accuracy.
#[test]
fn efforts_are_met_by_every_method_of_location() {
    use carom_dynamics::events::Location;
    let model = bounded(masses(&["x"], &[4.0], &[0.0]), "x", None, BoundedLaw::friction(0.24));
    for location in [Location::Bracketing, Location::Im1, Location::Im2, Location::Im3] {
        let mut how = Located::events(1e-9);
        how.events.location = location;
        let done = how.run(&model, &start(&[1.0], &[0.0]), 4.0 * PI + 0.5);
        println!("{location:?}: {:?}", changes(&done, "row"));
        assert!((done.state.q[0] - 0.04).abs() < 1e-5 && done.state.v[0] == 0.0, "{location:?}: {:?}", done.state);
    }
}

/// A state far from any effort: none is needed.
#[test]
fn bounds_of_zero_do_nothing() {
    let model = bounded(masses(&["x"], &[4.0], &[0.0]), "x", None, BoundedLaw::friction(0.0));
    let state: State = start(&[1.0], &[0.0]);
    let done = Located::events(1e-11).run(&model, &state, 3.0);
    assert!((done.state.q[0] - 6.0_f64.cos()).abs() < 1e-9, "{:?}", done.state);
}
