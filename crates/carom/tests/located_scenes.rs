//! Bodies in contact with exact answers, by located events: friction limit, slide to roll, bouncing, cradle.

use crate::support::{Done, run};
use carom::dynamics::report::EventKind;

const STRATEGIES: [&str; 2] = ["event-driven", "hybrid"];

/// A model that is written for time-stepping, by a strategy that locates events.
fn located(name: &str, strategy: &str, tolerance: f64, more: &[&str]) -> Done {
    let strategy = format!("simulation.strategy={strategy}");
    let tolerance = format!("integrator.tolerance={tolerance:e}");
    let mut overrides = vec!["simulation.step=", "simulation.scheme=", &*strategy, &*tolerance];
    overrides.extend(more);
    run(name, &overrides)
}

fn times(done: &Done, kind: EventKind) -> Vec<f64> {
    done.keep.events.iter().filter(|event| event.kind == kind).map(|event| event.t).collect()
}

/// S5: at tan = 0.49 nothing moves; at 0.51 the cube slides with a = g (sin − μ cos), from the first instant.
#[test]
fn cube_at_the_friction_limit() {
    for strategy in STRATEGIES {
        let stick = located("friction_limit", strategy, 1e-8, &["parameters.slope=0.49"]);
        let (start, end) = (&stick.keep.q[0], stick.keep.q.last().unwrap());
        let moved = start.iter().zip(end).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(moved < 1e-12, "{strategy}: {moved}");
        let slide = located("friction_limit", strategy, 1e-10, &["parameters.slope=0.51"]);
        let slope = 0.51_f64.atan();
        let exact = 9.81 * (slope.sin() - 0.5 * slope.cos());
        let measured = slide.v("cube.vx") / slide.keep.t.last().unwrap();
        println!("{strategy}: sticks within {moved:.1e} m, slides with {:.1e} m/s² too much", measured - exact);
        assert!((measured - exact).abs() < 1e-9, "{strategy}: {measured} {exact}");
        for name in ["cube.vy", "cube.vz", "cube.wx", "cube.wy", "cube.wz"] {
            assert!(slide.v(name).abs() < 1e-8, "{strategy}: {name} {}", slide.v(name));
        }
    }
}

/// S6: the ball rolls from t* = 2|u|/(7 μ g) on with v = (13/7, −4/7), and never leaves the floor.
#[test]
fn ball_slides_then_rolls() {
    let exact = 2.0 * 20.0_f64.sqrt() / (7.0 * 0.3 * 9.81);
    for strategy in STRATEGIES {
        let done = located("slide_to_roll", strategy, 1e-10, &["record.every=1"]);
        let kind = if strategy == "hybrid" { EventKind::ToTimeStepping } else { EventKind::SlipToStick };
        let found = times(&done, kind);
        let (vx, vy) = (done.v("ball.vx") - 13.0 / 7.0, done.v("ball.vy") + 4.0 / 7.0);
        let lift = done.keep.q.iter().fold(0.0_f64, |m, q| m.max((q[2] - 0.1).abs()));
        println!("{strategy}: rolls {:.1e} s late, v off by {vx:.1e}, {vy:.1e} m/s, lifted by {lift:.1e} m", found[0] - exact);
        assert!(found.len() == 1 && (found[0] - exact).abs() < 1e-10, "{strategy}: {found:?} {exact}");
        assert!(vx.abs() < 1e-9 && vy.abs() < 1e-9, "{strategy}: {vx} {vy}");
        assert!(lift < 1e-14, "{strategy}: {lift}");
    }
}

/// S7: impacts at t₁ (1 + 2 Σ eᵏ), t₁ = √(2/g), and rest from the end of the series, t₁ (1 + e)/(1 − e), on.
#[test]
fn sphere_bounces_and_comes_to_rest() {
    let (first, e) = ((2.0 / 9.81_f64).sqrt(), 0.8_f64);
    for strategy in STRATEGIES {
        let done = located("bouncing_sphere", strategy, 1e-8, &["record.every=1"]);
        let (mut exact, mut worst) = (first, 0.0_f64);
        let found = times(&done, EventKind::Impact);
        for (k, t) in found.iter().take(30).enumerate() {
            worst = worst.max((t - exact).abs());
            exact += 2.0 * first * e.powi(k as i32 + 1);
        }
        let (end, told) = (first * (1.0 + e) / (1.0 - e), times(&done, EventKind::Accumulation));
        println!("{strategy}: {} impacts within {worst:.1e} s, accumulation at {told:?} s, exact {end}", found.len());
        assert!(found.len() >= 30 && worst < 1e-10, "{strategy}: {} {worst}", found.len());
        assert!(told.len() == 1 && (told[0] - end).abs() < 1e-8, "{strategy}: {told:?} {end}");
        // time-stepping comes to rest at its first order, within a millisecond
        let rests = done.keep.t.iter().zip(&done.keep.q).zip(&done.keep.v).filter(|((t, _), _)| **t > end + 1e-3);
        assert!(rests.clone().count() > 0);
        for ((_, q), v) in rests {
            assert!((q[2] - 0.1).abs() < 1e-9 && v[2].abs() < 1e-12, "{strategy}: {} {}", q[2] - 0.1, v[2]);
        }
    }
}

/// S8: with gaps the last ball takes all; without, Newton's simultaneous law spreads it. Energy and momentum are 1.
#[test]
fn cradle_conserves_energy_and_momentum() {
    for strategy in STRATEGIES {
        for (gap, expected) in [("1e-3", Some([0.0, 0.0, 0.0, 0.0, 1.0])), ("0", None)] {
            let done = located("newtons_cradle", strategy, 1e-8, &[&format!("parameters.gap={gap}")]);
            let speeds: Vec<f64> = done.keep.v.last().unwrap().chunks(6).map(|v| v[0]).collect();
            let (momentum, energy): (f64, f64) = (speeds.iter().sum(), speeds.iter().map(|v| v * v).sum());
            assert!((momentum - 1.0).abs() < 1e-12 && (energy - 1.0).abs() < 1e-12, "{strategy}: {speeds:?}");
            let c = &done.certificate;
            assert!((c.last.mechanical() / c.initial.mechanical() - 1.0).abs() < 1e-12 && c.contact_gain == 0.0 && c.impact_gain == 0.0);
            if let Some(expected) = expected {
                assert!(speeds.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{strategy}: {speeds:?}");
                // 50 mm, then four gaps of 1 mm at 1 m/s
                let impacts = times(&done, EventKind::Impact);
                assert!(impacts.len() == 4 && impacts.iter().enumerate().all(|(k, t)| (t - 0.05 - 1e-3 * k as f64).abs() < 1e-12));
            }
        }
    }
}

/// Over the edge from a plane to a parabola: hybrid takes few short steps there, however long the steps of the integrator were on the plane.
#[test]
fn edges_are_passed_with_short_steps() {
    let done = run("plane_parabola", &["simulation.strategy=hybrid"]);
    let report = done.certificate.event_driven.as_ref().unwrap();
    println!("{} steps of at most {:e} s, created {:e} J", report.scheme_steps, report.largest_scheme_step, done.certificate.contact_gain);
    assert!(report.switches == 1 && report.largest_scheme_step <= 1e-7 && done.certificate.contact_gain < 1e-9);
    for (found, exact) in [(done.q("x"), -1.155_291_548_0), (done.q("y"), -0.667_349_280_5), (done.v("y"), -3.126_009_731_5)] {
        assert!((found - exact).abs() < 1e-9, "{found} {exact}");
    }
}

/// Elliptic friction: with s = v_x/2 and v_y = s⁹ the particle stops after (2/μ₁g) ∫ √(1 + 9 s¹⁶/4) ds, whatever the tolerance, and friction takes all of its 2.5 J.
#[test]
fn elliptic_friction_stops_the_particle() {
    let n = 1_000_000;
    let root = |s: f64| (1.0 + 2.25 * s.powi(16)).sqrt() * 2.0 / (0.2 * 9.81);
    let integral = |f: &dyn Fn(f64) -> f64| (0..n).map(|i| f((f64::from(i) + 0.5) / f64::from(n))).sum::<f64>() / f64::from(n);
    let (stop, x) = (integral(&root), integral(&|s| 2.0 * s * root(s)));
    for strategy in STRATEGIES {
        for tolerance in [1e-3, 1e-4, 1e-6, 1e-8, 1e-10] {
            let done = located("elliptic_friction", strategy, tolerance, &[]);
            let stuck = times(&done, EventKind::SlipToStick);
            let dissipated = done.certificate.last.dissipated_friction;
            let off = [stuck[0] - stop, done.q("x") - x, dissipated - 2.5];
            println!("{strategy}, {tolerance:e}: off by {:.1e} s, {:.1e} m, {:.1e} J", off[0], off[1], off[2]);
            assert_eq!(stuck.len(), 1, "{strategy}, {tolerance:e}");
            assert!(done.v("x") == 0.0 && done.v("y") == 0.0 && off[2].abs() < tolerance, "{strategy}, {tolerance:e}: {off:?}");
            // the midpoint rule leaves 1e-12
            assert!(off[1].abs() < tolerance.max(1e-10), "{strategy}, {tolerance:e}: {off:?}");
        }
    }
}
