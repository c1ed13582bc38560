//! Explicit integrators beyond their order: tolerances, dense output, long runs, reference quality.

use crate::support::{distance, fitted_order};
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::mechanisms::{Mechanism, four_bar, pendulum, slider_crank};
use carom_dynamics::smooth::Integration;

/// An integration at its end.
fn integrate<'m>(mechanism: &'m Mechanism, params: &IntegratorParams, end: f64) -> Integration<'m> {
    let mut integration = Integration::new(&mechanism.model, &mechanism.state, params).unwrap();
    while integration.point().t < end {
        integration.step(end).unwrap();
    }
    integration
}

fn adaptive(kind: IntegratorKind, tolerance: f64) -> IntegratorParams {
    IntegratorParams { kind, tolerance, ..IntegratorParams::default() }
}

fn fixed(kind: IntegratorKind, step: f64) -> IntegratorParams {
    IntegratorParams { kind, step: Some(step), control: StepControl::Fixed, ..IntegratorParams::default() }
}

/// E = (x'² + y'²)/2 + g y of the pendulum, zero at the start.
fn pendulum_energy(q: &[f64], v: &[f64]) -> f64 {
    0.5 * (v[0] * v[0] + v[1] * v[1]) + 9.81 * q[1]
}

#[test]
fn extrapolation_reaches_the_references() {
    // the references agree with a second method to 1e-13 in q, except for the four-bar linkage with 1e-11 in v
    let cases = [(pendulum(), 1.0, 1e-12), (pendulum(), 10.0, 1e-12), (slider_crank(), 1.0, 1e-12), (four_bar(), 2.0, 2e-11)];
    for (mechanism, end, tolerance) in cases {
        let mechanism = mechanism.unwrap();
        let integration = integrate(&mechanism, &adaptive(IntegratorKind::Extrapolation, 1e-14), end);
        let reference = mechanism.references.iter().find(|r| r.t == end).unwrap();
        let (q, v) = (distance(&integration.point().q, &reference.q), distance(&integration.point().v, &reference.v));
        println!("{end}: {q:.1e} {v:.1e} {:?}", integration.statistics());
        assert!(q < tolerance && v < tolerance, "{end}: {q:.1e} {v:.1e}");
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
            // local errors are controlled; over some tens to hundreds of steps they add up
            assert!(error < 200.0, "{} {order:?} at {tolerance:.0e}: {error:.1}", kind.name());
            // and steps are not wasted: a tenth of a millionth of the tolerance would be
            assert!(error > 1e-3, "{} {order:?} at {tolerance:.0e}: {error:.1e}", kind.name());
            assert!(counts.rejected <= 5 + counts.accepted / 5, "{} {order:?} at {tolerance:.0e}: {counts:?}", kind.name());
        }
    }
}

/// The local error of the interpolant of DOPRI5 is O(h⁵), of order 4 (Hairer, Nørsett, Wanner, *Solving Ordinary Differential Equations I*, section II.6).
#[test]
fn dense_output_of_dopri5_has_order_4() {
    let mechanism = slider_crank().unwrap();
    let steps = [0.04, 0.02, 0.01];
    for theta in [0.3, 0.5, 0.8] {
        let (mut q_errors, mut v_errors) = (Vec::new(), Vec::new());
        for h in steps {
            let mut integration = integrate(&mechanism, &fixed(IntegratorKind::Dopri5, h), h);
            let (mut q, mut v) = (vec![0.0; 2], vec![0.0; 2]);
            integration.interpolate(theta * h, &mut q, &mut v).unwrap();
            let exact = integrate(&mechanism, &fixed(IntegratorKind::Extrapolation, theta * h / 2.0), theta * h);
            q_errors.push(distance(&q, &exact.point().q));
            v_errors.push(distance(&v, &exact.point().v));
        }
        println!("{theta} {q_errors:?} {v_errors:?} {} {}", fitted_order(&steps, &q_errors), fitted_order(&steps, &v_errors));
        assert!((fitted_order(&steps, &q_errors) - 5.0).abs() < 0.3, "q at {theta}: {q_errors:?}");
        assert!((fitted_order(&steps, &v_errors) - 5.0).abs() < 0.3, "v at {theta}: {v_errors:?}");
    }
}

#[test]
fn symplectic_methods_keep_the_energy_of_the_pendulum_over_long_times() {
    let mechanism = pendulum().unwrap();
    // largest energy errors in the first and the last tenth of 20000 steps, some 420 swings
    let drift = |kind: IntegratorKind| {
        let mut integration = Integration::new(&mechanism.model, &mechanism.state, &fixed(kind, 0.05)).unwrap();
        let mut tenths = vec![0.0_f64; 10];
        for tenth in &mut tenths {
            for _ in 0..2000 {
                integration.step(2000.0).unwrap();
                let point = integration.point();
                *tenth = tenth.max(pendulum_energy(&point.q, &point.v).abs());
            }
        }
        (tenths[0], tenths[9])
    };
    for kind in [IntegratorKind::Rattle, IntegratorKind::Shake] {
        let (first, last) = drift(kind);
        println!("{} {first:.3e} {last:.3e}", kind.name());
        // h² ω² E_max / 8 with ω² = g: (0.05)² 9.81 · 9.81/8 = 0.03 J, and no growth
        assert!(first < 0.1 && last < 1.05 * first, "{}: {first:.2e} then {last:.2e}", kind.name());
    }
    // a method that is not symplectic drifts at the same step: the test can fail
    let (first, last) = drift(IntegratorKind::Rk4);
    println!("rk4 {first:.3e} {last:.3e}");
    assert!(last > 5.0 * first, "rk4: {first:.2e} then {last:.2e}");
}

#[test]
fn rattle_holds_positions_and_velocities_shake_positions() {
    let mechanism = pendulum().unwrap();
    for kind in [IntegratorKind::Rattle, IntegratorKind::Shake] {
        let mut integration = integrate(&mechanism, &fixed(kind, 0.01), 10.0);
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
