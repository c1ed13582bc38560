//! Explicit integrators beyond their order: tolerances, dense output, long runs, reference quality.

use crate::support::{adaptive, constant_steps, distance, fitted_order};
use carom_dynamics::State;
use carom_dynamics::integrators::{Integration, IntegratorKind, IntegratorParams};
use carom_dynamics::problems::mechanisms::{Mechanism, four_bar, pendulum, slider_crank};
use carom_dynamics::systems::Scratch;

/// An integration at its end.
fn integrate<'m>(mechanism: &'m Mechanism, params: &IntegratorParams, end: f64) -> Integration<'m> {
    let mut integration = Integration::new(&mechanism.model, &mechanism.state, params).unwrap();
    while integration.point().t < end {
        integration.step(end).unwrap();
    }
    integration
}

/// Largest changes of the energy in the first and the last tenth of a run with constant steps.
fn energy_errors(mechanism: &Mechanism, kind: IntegratorKind, step: f64, end: f64) -> (f64, f64) {
    let energy = |t: f64, q: &[f64], v: &[f64]| {
        let (kinetic, potential) = mechanism.model.energy(t, q, v, &mut Scratch::default()).unwrap();
        kinetic + potential
    };
    let mut integration = Integration::new(&mechanism.model, &mechanism.state, &constant_steps(kind, step)).unwrap();
    let begin = energy(0.0, &mechanism.state.q, &mechanism.state.v);
    let mut tenths = [0.0_f64; 10];
    for (i, tenth) in tenths.iter_mut().enumerate() {
        while integration.point().t < 0.1 * end * (i + 1) as f64 {
            integration.step(end).unwrap();
            let point = integration.point();
            *tenth = tenth.max((energy(point.t, &point.q, &point.v) - begin).abs());
        }
    }
    (tenths[0], tenths[9])
}

#[test]
fn extrapolation_reaches_the_references() {
    let tight = adaptive(IntegratorKind::Extrapolation, 1e-13);
    // errors of the acceleration form grow with the square of time: over 10 s some 50 times the tolerance, so constant steps there
    let constant = constant_steps(IntegratorKind::Extrapolation, 0.025);
    // the references agree with a second method to 1e-13; the four-bar linkage to 2e-13 in q and 2e-11 in v, of values up to 6
    let cases = [
        (pendulum(), 1.0, &tight, 1e-12),
        (pendulum(), 10.0, &constant, 1e-12),
        (slider_crank(), 1.0, &tight, 1e-12),
        (four_bar(), 2.0, &tight, 5e-12),
    ];
    let relative = |a: &[f64], b: &[f64]| distance(a, b) / distance(b, &vec![0.0; b.len()]);
    for (mechanism, end, params, tolerance) in cases {
        let mechanism = mechanism.unwrap();
        let integration = integrate(&mechanism, params, end);
        let reference = mechanism.references.iter().find(|r| r.t == end).unwrap();
        let (q, v) = (relative(&integration.point().q, &reference.q), relative(&integration.point().v, &reference.v));
        println!("at {end} s: errors {q:.1e} {v:.1e}, {:?}", integration.statistics());
        assert!(q < tolerance && v < tolerance, "at {end} s: {q:.1e} {v:.1e}");
    }
}

#[test]
fn errors_follow_the_tolerance() {
    let mechanism = slider_crank().unwrap();
    let reference = &mechanism.references[1];
    let kinds = [
        (IntegratorKind::Dopri5, None),
        (IntegratorKind::Rkf45, Some(4)),
        (IntegratorKind::Rkf45, Some(5)),
        (IntegratorKind::AdamsBashforth, Some(2)),
        (IntegratorKind::AdamsBashforth, Some(5)),
        (IntegratorKind::AdamsMoulton, Some(3)),
        (IntegratorKind::AdamsMoulton, Some(6)),
        (IntegratorKind::Extrapolation, Some(6)),
        (IntegratorKind::Extrapolation, Some(12)),
    ];
    for (kind, order) in kinds {
        for tolerance in [1e-5, 1e-7, 1e-9] {
            let integration = integrate(&mechanism, &IntegratorParams { order, ..adaptive(kind, tolerance) }, reference.t);
            let error = distance(&integration.point().q, &reference.q) / tolerance;
            let counts = integration.statistics();
            println!(
                "{} {order:?} at {tolerance:.0e}: error {error:.1} of the tolerance, {} steps, {} refused, {} forces",
                kind.name(),
                counts.accepted,
                counts.rejected,
                counts.force_evaluations
            );
            // local errors are controlled, up to 1 + |v| ≤ 5 times the tolerance in velocities, and over the steps they add up; a much smaller error
            // would mean wasted steps
            let steps = counts.accepted as f64;
            assert!(error < 5.0 * steps && error > 1e-3, "{} {order:?} at {tolerance:.0e}: {error:.1e}", kind.name());
            assert!(counts.rejected <= 5 + counts.accepted / 5, "{} {order:?} at {tolerance:.0e}: {counts:?}", kind.name());
        }
    }
}

/// The local error of the interpolant of DOPRI5 is O(h⁵), of order 4 (Hairer, Nørsett, Wanner, *Solving Ordinary Differential Equations I*, section II.6).
#[test]
fn dense_output_of_dopri5_has_order_4() {
    let mut mechanism = slider_crank().unwrap();
    let begin = mechanism.references[0].clone();
    mechanism.state = State { t: begin.t, q: begin.q, v: begin.v, ..State::default() };
    let steps = [0.04, 0.02, 0.01];
    let (mut q_errors, mut v_errors) = (Vec::new(), Vec::new());
    for h in steps {
        let mut integration = integrate(&mechanism, &constant_steps(IntegratorKind::Dopri5, h), begin.t + h);
        let (mut q, mut v, mut q_error, mut v_error) = (vec![0.0; 2], vec![0.0; 2], 0.0_f64, 0.0_f64);
        for theta in [0.2, 0.4, 0.6, 0.8] {
            let t = begin.t + theta * h;
            integration.interpolate(t, &mut q, &mut v).unwrap();
            let exact = integrate(&mechanism, &constant_steps(IntegratorKind::Extrapolation, h / 2.0), t);
            q_error = q_error.max(distance(&q, &exact.point().q));
            v_error = v_error.max(distance(&v, &exact.point().v));
        }
        q_errors.push(q_error);
        v_errors.push(v_error);
    }
    let (q_order, v_order) = (fitted_order(&steps, &q_errors), fitted_order(&steps, &v_errors));
    println!("local order of the dense output: q {q_order:.2}, v {v_order:.2}");
    assert!((q_order - 5.0).abs() < 0.2, "q: {q_order} {q_errors:?}");
    assert!((v_order - 5.0).abs() < 0.2, "v: {v_order} {v_errors:?}");
}

#[test]
fn symplectic_methods_keep_the_energy_of_the_pendulum_over_long_times() {
    // 100 s are some 40 swings
    let mechanism = pendulum().unwrap();
    for kind in [IntegratorKind::Rattle, IntegratorKind::Shake] {
        let ((first, last), (fine, _)) = (energy_errors(&mechanism, kind, 0.05, 100.0), energy_errors(&mechanism, kind, 0.025, 100.0));
        println!("{} {first:.3e} {last:.3e} {fine:.3e}", kind.name());
        // the energy of a nearby Hamiltonian, off by O(h²), is kept: no growth beyond the chance of where the steps fall in a swing
        assert!(last < 1.05 * first, "{}: {first:.2e} then {last:.2e}", kind.name());
        assert!((first / fine - 4.0).abs() < 0.4, "{}: {first:.2e} and {fine:.2e} with half the step", kind.name());
    }
    // a method that is not symplectic drifts, at a step at which it is more accurate at first: the test can fail
    let (first, last) = energy_errors(&mechanism, IntegratorKind::Rk4, 0.025, 100.0);
    println!("rk4 {first:.3e} {last:.3e}");
    assert!(last > 5.0 * first, "rk4: {first:.2e} then {last:.2e}");
}

/// With a mass matrix that changes RATTLE is not symplectic but symmetric, which keeps the energy of a mechanism of one degree of freedom as well.
#[test]
fn rattle_keeps_the_energy_of_the_slider_crank_over_long_times() {
    let (first, last) = energy_errors(&slider_crank().unwrap(), IntegratorKind::Rattle, 0.01, 100.0);
    println!("rattle {first:.3e} {last:.3e}");
    // no growth beyond the chance of where the steps fall in a turn
    assert!(last < 1.05 * first, "{first:.2e} then {last:.2e}");
}

#[test]
fn rattle_holds_positions_and_velocities_shake_positions() {
    let mechanism = pendulum().unwrap();
    for kind in [IntegratorKind::Rattle, IntegratorKind::Shake] {
        let mut integration = integrate(&mechanism, &constant_steps(kind, 0.01), 10.0);
        let end = integration.point().clone();
        let (mut g, mut u) = ([0.0], [0.0]);
        integration.equations().constraints(end.t, &end.q, &mut g).unwrap();
        integration.equations().constraint_velocity(end.t, &end.q, &end.v, &mut u).unwrap();
        println!("{} {g:?} {u:?}", kind.name());
        // positions to the tolerance 1e-12 of Newton's increments of velocity times h = 0.01, and round-off
        assert!(g[0].abs() < 1e-13, "{}: g = {:.1e}", kind.name(), g[0]);
        if kind == IntegratorKind::Rattle {
            // one linear solve: round-off of values up to 10
            assert!(u[0].abs() < 1e-13, "{}: u = {:.1e}", kind.name(), u[0]);
        }
    }
}
