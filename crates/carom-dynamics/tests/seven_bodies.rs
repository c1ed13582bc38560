//! The challenge of Brogliato2002, §1: Andrews' mechanism with fifteen contacts with friction, by all strategies.

use crate::located::{Located, final_modes};
use crate::support::{distance, fitted_order, run_scheme};
use carom_dynamics::problems::seven_body_contacts;
use carom_dynamics::report::EventKind;
use carom_dynamics::schemes::{MoreauJeanParams, SchemeParams};

/// Events located at any tolerance give the same motion to it, and the same events; hybrid the same to the error of its steps in the accumulations.
#[test]
fn located_events_agree_at_all_tolerances() {
    let (model, state) = seven_body_contacts::model().unwrap();
    let reference = Located::events(1e-11).run(&model, &state, seven_body_contacts::END);
    let kinds = |done: &crate::support::Done| {
        done.keep.events.iter().map(|event| (event.kind, event.name.clone(), event.modes)).collect::<Vec<_>>()
    };
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
        let done = Located::events(tolerance).run(&model, &state, seven_body_contacts::END);
        let (q, v) = (distance(&done.state.q, &reference.state.q), distance(&done.state.v, &reference.state.v));
        let hybrid = Located::hybrid(tolerance).run(&model, &state, seven_body_contacts::END);
        let (hq, hv) = (distance(&hybrid.state.q, &reference.state.q), distance(&hybrid.state.v, &reference.state.v));
        let c = &done.certificate;
        let report = hybrid.certificate.event_driven.as_ref().unwrap();
        println!(
            "{tolerance:e}: event-driven q {q:.1e} v {v:.1e} energy {:.1e} penetration {:.1e}; hybrid q {hq:.1e} v {hv:.1e} {} switches {} steps",
            c.energy_error(),
            c.max_penetration,
            report.switches,
            report.scheme_steps
        );
        if tolerance <= 1e-6 {
            assert_eq!(kinds(&done), kinds(&reference), "{tolerance}");
        }
        // a step's error is within the tolerance, a hundred steps and impacts multiply it; hybrid adds steps of 1e-7 s at up to 10 m/s
        assert!(q < 10.0 * tolerance && v < 1e4 * tolerance && c.max_penetration < 1e-9, "{tolerance}: {q} {v}");
        assert!(hq < 1e-6 + 10.0 * tolerance && hv < 1e-3 + 1e4 * tolerance, "{tolerance}: {hq} {hv}");
        assert_eq!(final_modes(&done), final_modes(&reference), "{tolerance}");
        assert_eq!(final_modes(&hybrid), final_modes(&reference), "{tolerance}");
    }
    let reached: std::collections::BTreeSet<&str> =
        reference.keep.events.iter().filter(|event| event.kind == EventKind::Impact).map(|event| event.name.as_str()).collect();
    println!("{} reached: {reached:?}", reached.len());
    assert_eq!(reached.len(), 10);
    let (q, v) = (&reference.state.q, &reference.state.v);
    println!("{q:?} {v:?}");
    assert!(distance(q, &seven_body_contacts::POSITION_AT_END) < 1e-10 && distance(v, &seven_body_contacts::VELOCITY_AT_END) < 1e-7);
}

/// Time-stepping converges at first order to the motion with located events: up to 11.5 ms here, up to 25 ms in the next.
#[test]
fn time_stepping_converges_to_located_events() {
    converges(0.0115, &[8e-6, 4e-6, 2e-6]);
}

#[test]
#[ignore = "half a million steps"]
fn time_stepping_converges_to_located_events_up_to_the_end() {
    converges(seven_body_contacts::END, &[4e-7, 2e-7, 1e-7]);
}

fn converges(end: f64, steps: &[f64]) {
    let (model, state) = seven_body_contacts::model().unwrap();
    let reference = Located::events(1e-10).run(&model, &state, end);
    let scheme = SchemeParams::MoreauJean(MoreauJeanParams::default());
    let errors: Vec<f64> =
        steps.iter().map(|&h| distance(&run_scheme(&model, &state, end, h, &scheme).state.q, &reference.state.q)).collect();
    let order = fitted_order(steps, &errors);
    println!("order {order:.2}, {errors:?}");
    assert!((order - 1.0).abs() < 0.2, "{errors:?}");
}
