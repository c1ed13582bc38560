//! Located impacts against closed forms and references: the bouncing ball, the oscillators, the slider-crank with play, the chain of three balls.

use crate::located::{Located, final_modes, print_events, times};
use crate::support::{constant_steps, distance, fitted_order};
use carom_dynamics::events::{EventParams, Location};
use carom_dynamics::integrators::IntegratorKind;
use carom_dynamics::problems::{Solution, bouncing_ball, chain_of_balls, impact_oscillator, slider_crank_clearance};
use carom_dynamics::report::{ContactMode, EventKind};

/// All impacts of the bouncing ball up to its accumulation are located to 1e-12 s, and the time of accumulation is told.
#[test]
fn impacts_of_the_ball_are_located_to_round_off() {
    for e in [0.5, 0.8, 0.9] {
        let problem = bouncing_ball::problem(e).unwrap();
        let first = (2.0_f64 / 9.81).sqrt();
        let zeno = first * (1.0 + e) / (1.0 - e);
        let done = Located::events(1e-8).run(&problem.model, &problem.state, zeno + 0.5);
        let impacts = times(&done, EventKind::Impact, "floor");
        let mut exact = first;
        let mut worst = 0.0_f64;
        for (k, t) in impacts.iter().enumerate() {
            worst = worst.max((t - exact).abs());
            exact += 2.0 * first * e.powi(k as i32 + 1);
        }
        let accumulation = times(&done, EventKind::Accumulation, "floor");
        println!(
            "e = {e}: {} impacts, error {worst:.1e}, accumulation {:.1e}, end {:?}",
            impacts.len(),
            accumulation[0] - zeno,
            done.state
        );
        assert!(impacts.len() > 15 && worst < 1e-12, "{worst}");
        assert!(accumulation.len() == 1 && (accumulation[0] - zeno).abs() < 1e-11, "{accumulation:?} {zeno}");
        assert_eq!(final_modes(&done), [ContactMode::Closed]);
        assert!(done.state.q[0].abs() < 1e-12 && done.state.v[0].abs() < 1e-12, "{:?}", done.state);
    }
}

/// The hybrid strategy goes through the accumulation: positions are right to 1e-9 m everywhere, and the ball rests.
#[test]
fn hybrid_passes_the_accumulation() {
    for e in [0.5, 0.8] {
        let problem = bouncing_ball::problem(e).unwrap();
        let Solution::Exact(exact) = &problem.solution else { panic!() };
        let done = Located::hybrid(1e-8).run(&problem.model, &problem.state, 5.0);
        let worst = done.keep.frames.iter().map(|f| (f.q[0] - exact(f.t).0[0]).abs()).fold(0.0, f64::max);
        let report = done.certificate.event_driven.as_ref().unwrap();
        println!("e = {e}: position error {worst:.1e}, {} switches, {} steps", report.switches, report.scheme_steps);
        assert!(worst < 1e-9, "{worst}");
        assert!(report.switches >= 1);
        assert_eq!(final_modes(&done), [ContactMode::Closed]);
        assert!(done.state.q[0].abs() < 1e-9 && done.state.v[0].abs() < 1e-9, "{:?}", done.state);
    }
}

/// Oscillator A: all 13 impacts and the end state to 1e-10, by both strategies. Oscillator B: impacts, accumulation and release.
#[test]
fn oscillators_have_their_impacts() {
    for how in [Located::events(1e-12), Located::hybrid(1e-12)] {
        let problem = impact_oscillator::separated().unwrap();
        let done = how.run(&problem.model, &problem.state, problem.end);
        let impacts = times(&done, EventKind::Impact, "stop");
        let (q, v) = problem.solution.at_end(problem.end);
        let error = distance(&impacts, &impact_oscillator::SEPARATED_IMPACTS);
        println!("A: {error:.1e} s, {:.1e} m, {:.1e} m/s", distance(&done.state.q, &q), distance(&done.state.v, &v));
        assert!(error < 1e-10 && distance(&done.state.q, &q) < 1e-10 && distance(&done.state.v, &v) < 1e-10);
        let problem = impact_oscillator::accumulating().unwrap();
        let done = how.run(&problem.model, &problem.state, 3.0);
        let impacts = times(&done, EventKind::Impact, "stop");
        let opened = times(&done, EventKind::ContactOpened, "stop");
        println!("B: {:.1e} s, release {:?}", distance(&impacts[..3], &impact_oscillator::ACCUMULATING_IMPACTS), opened);
        assert!(distance(&impacts[..3], &impact_oscillator::ACCUMULATING_IMPACTS) < 1e-10);
        assert!(opened.len() == 1 && (opened[0] - impact_oscillator::RELEASE).abs() < 1e-10, "{opened:?}");
        if how.hybrid.is_none() {
            let accumulation = times(&done, EventKind::Accumulation, "stop");
            println!("B: accumulation {:.1e}", accumulation[0] - impact_oscillator::ACCUMULATION);
            assert!((accumulation[0] - impact_oscillator::ACCUMULATION).abs() < 1e-10, "{accumulation:?}");
        }
        assert_eq!(final_modes(&done), [ContactMode::Open]);
    }
}

/// The slider-crank with play, without friction: the 14 impacts, where they accumulate, and the slider that does not turn; with μ = 0.01 the first impact.
#[test]
fn the_slider_strikes_its_guide_when_it_should() {
    let (model, state) = slider_crank_clearance::model(0.0).unwrap();
    let done = Located::events(1e-12).run(&model, &state, 0.0105);
    for name in ["upper left", "upper right"] {
        let impacts = times(&done, EventKind::Impact, name);
        let accumulation = times(&done, EventKind::Accumulation, name);
        println!("{name}: {} impacts, {:.1e}", impacts.len(), distance(&impacts[..14], &slider_crank_clearance::IMPACTS));
        assert!(distance(&impacts[..14], &slider_crank_clearance::IMPACTS) < 1e-10);
        println!("accumulation {:.1e}", accumulation[0] - slider_crank_clearance::ACCUMULATION);
        assert!((accumulation[0] - slider_crank_clearance::ACCUMULATION).abs() < 1e-10, "{accumulation:?}");
    }
    assert!(done.state.q[2].abs() < 1e-9, "{:?}", done.state);
    println!("{:?} {:?}", final_modes(&done), done.state);
    let (model, state) = slider_crank_clearance::model(0.01).unwrap();
    let done = Located::events(1e-12).run(&model, &state, 0.002_692_502_752_1);
    print_events(&done);
    let first = done.keep.events.iter().filter(|event| event.kind == EventKind::Impact);
    let impulses: Vec<f64> = first.clone().map(|event| event.impulse).collect();
    assert!(first.into_iter().all(|event| (event.t - slider_crank_clearance::IMPACTS[0]).abs() < 1e-12));
    assert!(distance(&impulses, &slider_crank_clearance::FIRST_IMPULSES_ROUGH) < 1e-11, "{impulses:?}");
    // 8e-14 s after the impact
    let found = &done.state.v;
    assert!(distance(found, &slider_crank_clearance::FIRST_RATES_ROUGH) < 1e-7, "{found:?}");
}

/// Orders of the strategy on oscillator A with constant steps, the table of Haddouni2015 §2.1.1.2 after Janin and Lamarque: IM1 leaves order 2, IM2
/// order 3, IM3 to the precision h^p the order of the integrator.
#[test]
fn orders_follow_the_location_of_impacts() {
    let problem = impact_oscillator::separated().unwrap();
    let (q, v) = problem.solution.at_end(problem.end);
    for kind in [IntegratorKind::Rk4, IntegratorKind::Dopri5, IntegratorKind::Hem5] {
        for location in [Location::Im1, Location::Im2, Location::Im3, Location::Bracketing] {
            let steps = [0.08, 0.04, 0.02, 0.01];
            let errors = steps.map(|h| {
                let events = EventParams { location, ..EventParams::default() };
                let how = Located { integrator: constant_steps(kind, h), events, hybrid: None };
                let done = how.run(&problem.model, &problem.state, problem.end);
                distance(&done.state.q, &q).max(distance(&done.state.v, &v))
            });
            let order = fitted_order(&steps, &errors);
            println!("{:8} {location:10?}: order {order:.2} errors {errors:?}", kind.name());
            // DOPRI5 and HEM5 gain from IM3 at h^p what their order gives; round-off ends the bracketing of DOPRI5 at 2e-12
            let (least, most) = match (location, kind) {
                (Location::Im1, _) => (1.8, 2.4),
                (Location::Im2, _) => (2.8, 3.4),
                (_, IntegratorKind::Rk4) => (3.8, 4.4),
                _ => (4.0, 5.4),
            };
            assert!(order >= least && order <= most, "{kind:?} {location:?}: {order}");
        }
    }
}

/// The chain of three balls [Haddouni2015, §4.3.1, Table 4.1]: hybrid violates no contact by more than 1e-9 m at any tolerance, without correction, and the
/// column rests.
#[test]
fn the_chain_of_balls_is_not_violated() {
    let problem = chain_of_balls::problem().unwrap();
    for tolerance in [1e-2, 1e-4, 1e-6, 1e-8] {
        let done = Located::hybrid(tolerance).run(&problem.model, &problem.state, problem.end);
        let (q, v) = problem.solution.at_end(problem.end);
        let report = done.certificate.event_driven.as_ref().unwrap();
        let impacts: Vec<f64> = done.keep.events.iter().filter(|event| event.kind == EventKind::Impact).map(|event| event.t).collect();
        println!(
            "{tolerance:e}: violation {:.1e} m, position {:.1e} m, {} impacts, {} switches, {} steps of the scheme, first impacts {:.1e}",
            done.certificate.max_penetration,
            distance(&done.state.q, &q),
            report.impacts,
            report.switches,
            report.scheme_steps,
            distance(&impacts[..10], &chain_of_balls::IMPACTS)
        );
        assert!(done.certificate.max_penetration < 1e-9);
        assert!(distance(&done.state.q, &q) < 1e-8 && distance(&done.state.v, &v) < 1e-8, "{:?}", done.state);
        assert_eq!(final_modes(&done), [ContactMode::Closed; 3]);
    }
}
