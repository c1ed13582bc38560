//! Step control: halving, limits, tolerances by coordinate, drift, and beginning anew.

use crate::support::distance;
use carom_dynamics::State;
use carom_dynamics::error::IntegrationError;
use carom_dynamics::integrators::{Controller, Integration, IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::flexible_slider_crank::flexible_slider_crank;
use carom_dynamics::problems::mechanisms::{Mechanism, pendulum, slider_crank};

fn run<'m>(mechanism: &'m Mechanism, params: &IntegratorParams, end: f64) -> Integration<'m> {
    let mut integration = Integration::new(&mechanism.model, &mechanism.state, params).unwrap();
    while integration.point().t < end {
        integration.step(end).unwrap();
    }
    integration
}

fn params(kind: IntegratorKind, tolerance: f64) -> IntegratorParams {
    IntegratorParams { kind, tolerance, ..IntegratorParams::default() }
}

/// A method without an estimate, and one whose own is left aside.
#[test]
fn halving_controls_the_error() {
    let mechanism = slider_crank().unwrap();
    let reference = &mechanism.references[1];
    for kind in [IntegratorKind::Rk4, IntegratorKind::Hem5] {
        for tolerance in [1e-5, 1e-8] {
            let integration = run(&mechanism, &IntegratorParams { control: StepControl::Halving, ..params(kind, tolerance) }, reference.t);
            let error = distance(&integration.point().q, &reference.q);
            // local errors below the tolerance add up over some tens of steps; much smaller errors would mean wasted steps
            assert!((1e-2..100.0).contains(&(error / tolerance)), "{} at {tolerance:.0e}: {error:.1e}", kind.name());
            assert!(integration.statistics().rejected <= 3 + integration.statistics().accepted / 4, "{:?}", integration.statistics());
        }
    }
}

#[test]
fn halved_steps_count_once_and_interpolate_in_both_halves() {
    let mechanism = slider_crank().unwrap();
    let mut integration = Integration::new(&mechanism.model, &mechanism.state, &params(IntegratorKind::Rk4, 1e-10)).unwrap();
    while integration.point().t <= 0.5 {
        integration.step(1.0).unwrap();
    }
    let counts = integration.statistics();
    // rk4 takes at least four forces a step, three steps are taken for one, and at most two more forces a step are for ends
    assert!(counts.force_evaluations >= 12 * (counts.accepted + counts.rejected), "{counts:?}");
    let (mut q, mut v) = (vec![0.0; 2], vec![0.0; 2]);
    integration.interpolate(0.5, &mut q, &mut v).unwrap();
    // the tolerance over a hundred steps
    assert!(distance(&q, &mechanism.references[0].q) < 1e-8 && distance(&v, &mechanism.references[0].v) < 1e-8);
    for (t, point) in [(integration.previous().t, integration.previous().clone()), (integration.point().t, integration.point().clone())] {
        integration.interpolate(t, &mut q, &mut v).unwrap();
        assert!(distance(&q, &point.q) < 1e-14 && distance(&v, &point.v) < 1e-13, "the ends are met to round-off");
    }
}

#[test]
fn steps_stay_within_their_limits() {
    let mechanism = pendulum().unwrap();
    let mut integration = Integration::new(
        &mechanism.model,
        &mechanism.state,
        &IntegratorParams { max_step: Some(2e-3), ..params(IntegratorKind::Hem5, 1e-4) },
    )
    .unwrap();
    while integration.point().t < 0.1 {
        integration.step(0.1).unwrap();
        assert!(integration.point().t - integration.previous().t <= 2e-3 * (1.0 + 1e-12));
    }
    assert_eq!(integration.point().t, 0.1);
    let too_small = IntegratorParams { min_step: 0.05, ..params(IntegratorKind::Hem5, 1e-12) };
    let mut integration = Integration::new(&mechanism.model, &mechanism.state, &too_small).unwrap();
    let error = integration.step(1.0).unwrap_err();
    assert!(matches!(error, IntegrationError::StepTooSmall { min_step: 0.05, .. }), "{error}");
}

#[test]
fn drift_beyond_the_limit_is_refused() {
    let mechanism = pendulum().unwrap();
    let loose = params(IntegratorKind::Rkf45, 1e-3);
    let mut free = run(&mechanism, &loose, 10.0);
    let point = free.point().clone();
    let (g, _) = free.equations().violations(point.t, &point.q, &point.v).unwrap();
    assert!(g > 1e-4, "the test can fail: {g:.1e}");
    let mut bound = Integration::new(&mechanism.model, &mechanism.state, &IntegratorParams { max_drift: Some(1e-4), ..loose }).unwrap();
    let error = loop {
        if bound.point().t >= 10.0 {
            break None;
        }
        if let Err(error) = bound.step(10.0) {
            break Some(error);
        }
        let point = bound.point().clone();
        let (g, u) = bound.equations().violations(point.t, &point.q, &point.v).unwrap();
        assert!(g.max(u) <= 1e-4, "{g:.1e} {u:.1e} at {}", point.t);
    };
    // drift that has accumulated cannot be undone by small steps: the error says so
    assert!(error.is_some_and(|error| error.to_string().contains("max_drift")));
}

#[test]
fn tolerances_by_coordinate() {
    let mechanism = slider_crank().unwrap();
    let steps = |tolerances: &[(&str, f64)]| {
        let tolerances = tolerances.iter().map(|(name, x)| ((*name).to_owned(), *x)).collect();
        run(&mechanism, &IntegratorParams { tolerances, relative_tolerance: Some(0.0), ..params(IntegratorKind::Phem56, 1e-5) }, 1.0)
            .statistics()
            .accepted
    };
    // an error O(h⁵) that counts a thousand times as much takes up to 1000^{1/5} = 4 times the steps
    let (all, one) = (steps(&[]), steps(&[("a1", 1e-8)]));
    assert!((2.5..4.5).contains(&(one as f64 / all as f64)), "{all} {one}");
    let unknown = IntegratorParams { tolerances: [("a3".to_owned(), 1e-8)].into(), ..IntegratorParams::default() };
    let error = Integration::new(&mechanism.model, &mechanism.state, &unknown).err().unwrap();
    assert!(error.to_string().contains("\"a3\""), "{error}");
}

/// Motion runs back when velocities are reversed.
#[test]
fn an_integration_begins_anew_after_an_event() {
    let mechanism = pendulum().unwrap();
    for kind in [IntegratorKind::Hem5, IntegratorKind::Phem56] {
        let mut integration = run(&mechanism, &params(kind, 1e-10), 1.0);
        let point = integration.point().clone();
        let before = integration.statistics().accepted;
        integration.restart(&State { t: 1.0, q: point.q.clone(), v: point.v.iter().map(|v| -v).collect(), ..State::default() }).unwrap();
        assert_eq!(integration.point().q, point.q);
        while integration.point().t < 2.0 {
            integration.step(2.0).unwrap();
        }
        // both ways have an error below 1e-9, see the references
        assert!(distance(&integration.point().q, &mechanism.state.q) < 1e-8, "{:?}", integration.point().q);
        assert!(integration.statistics().accepted > before);
    }
}

#[test]
fn first_steps_are_neither_bold_nor_timid() {
    for mechanism in [pendulum().unwrap(), slider_crank().unwrap()] {
        for tolerance in [1e-3, 1e-6, 1e-9] {
            let mut integration = Integration::new(&mechanism.model, &mechanism.state, &params(IntegratorKind::Phem56, tolerance)).unwrap();
            integration.step(1.0).unwrap();
            // the rule knows two derivatives, not the sixth: it may be wrong once
            assert!(integration.statistics().rejected <= 1, "{tolerance:.0e}");
            let first = integration.point().t;
            (0..5).for_each(|_| integration.step(1.0).unwrap());
            let later = integration.point().t - integration.previous().t;
            // the rule takes a hundredth of the error: 100^{1/6} = 2.2 below the steady step, and higher derivatives may differ by ten
            assert!(first > 0.02 * later, "{tolerance:.0e}: {first:.1e} then {later:.1e}");
        }
    }
}

/// Where stability and not accuracy limits the steps, PI control avoids most refusals (Hairer & Wanner, section IV.2).
#[test]
fn pi_control_refuses_less_on_stiff_motion() {
    let mechanism = flexible_slider_crank().unwrap();
    let counts = |controller| run(&mechanism, &IntegratorParams { controller, ..params(IntegratorKind::Phem56, 1e-4) }, 0.02).statistics();
    let (standard, pi) = (counts(Controller::Standard), counts(Controller::Pi));
    assert!(standard.rejected > 30 && 2 * pi.rejected < standard.rejected, "{standard:?} {pi:?}");
}
