//! Every integrator of the registry converges with its declared orders on mechanisms with reference solutions.

use carom_dynamics::integrators::{IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::mechanisms::{Mechanism, pendulum, slider_crank};
use carom_dynamics::smooth::Integration;

/// Largest errors of q, v and λ at the first reference, with n steps.
fn errors(mechanism: &Mechanism, params: &IntegratorParams, n: usize) -> [f64; 3] {
    let reference = &mechanism.references[0];
    let params = IntegratorParams { control: StepControl::Fixed, step: Some(reference.t / n as f64), ..params.clone() };
    let mut integration = Integration::new(&mechanism.model, &mechanism.state, &params).unwrap();
    while integration.point().t < reference.t {
        integration.step(reference.t).unwrap();
    }
    let end = integration.point();
    let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    [worst(&end.q, &reference.q), worst(&end.v, &reference.v), worst(&end.lambda, &reference.lambda)]
}

#[test]
fn declared_orders_are_measured() {
    for mechanism in [pendulum().unwrap(), slider_crank().unwrap()] {
        // methods of several orders are measured in implicit.rs
        for &kind in IntegratorKind::ALL.iter().filter(|kind| kind.entry().choices.is_empty()) {
            let params = IntegratorParams { kind, ..IntegratorParams::default() };
            let declared = (kind.entry().orders)(&params);
            let (coarse, fine) = (errors(&mechanism, &params, 100), errors(&mechanism, &params, 200));
            let order = |i: usize| (coarse[i] / fine[i]).log2();
            assert!((order(0) - declared.position).abs() < 0.2, "{}: {} in q", kind.name(), order(0));
        }
    }
}
