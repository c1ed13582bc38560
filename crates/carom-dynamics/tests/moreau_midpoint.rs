//! Moreau's midpoint scheme: elastic bounces for ever, orders in free motion.

use crate::support::{distance, fitted_order, run_scheme};
use carom_dynamics::problems::bouncing_ball::{GRAVITY, problem};
use carom_dynamics::schemes::{MoreauMidpointParams, SchemeParams, take_step};
use carom_dynamics::systems::Linear;
use carom_dynamics::{Model, State, StepMemory};

fn midpoint() -> SchemeParams {
    SchemeParams::MoreauMidpoint(MoreauMidpointParams::default())
}

/// What elastic bounces from 1 m did: largest change of the height q + v²/(2g) of the flight at any step, the highest of the last positions.
struct Bounces {
    change: f64,
    top: f64,
    least_gap: f64,
}

/// With h = 0.15 s a bounce takes 7 steps: the ball is released at rest, comes to 6.8 mm above the floor after three, and would be 0.76 m below it
/// after the fourth.
fn bounce(restitution: f64, bounces: usize) -> Bounces {
    let (p, scheme) = (problem(restitution).unwrap(), midpoint().build());
    let (mut state, mut memory) = (p.state.clone(), StepMemory::new(&p.model, &Default::default()).unwrap());
    let (mut count, mut done) = (0, Bounces { change: 0.0, top: 0.0, least_gap: f64::INFINITY });
    while count < bounces {
        let before = state.v[0];
        assert!(take_step(&*scheme, &p.model, &mut state, &mut memory, 0.15).unwrap().converged());
        count += usize::from(before < 0.0 && state.v[0] > 0.0);
        let height = state.q[0] + state.v[0].powi(2) / (2.0 * GRAVITY);
        done.change = done.change.max((height - 1.0).abs());
        done.least_gap = done.least_gap.min(state.q[0]);
        if count + 1 >= bounces {
            done.top = done.top.max(state.q[0]);
        }
    }
    done
}

/// The elastic ball comes back to its height [Brogliato2002, Remark 9]. Round-off may change it by four units in the last place per bounce.
fn returns_to_its_height(bounces: usize) {
    let done = bounce(1.0, bounces);
    println!("{bounces} bounces: height changed by {:.2e} m, top at 1 m {:+.2e} m", done.change, done.top - 1.0);
    let bound = 4.0 * f64::EPSILON * bounces as f64;
    assert!(done.change < bound && (done.top - 1.0).abs() < bound, "{} {}", done.change, done.top - 1.0);
    assert!(done.least_gap > 0.006, "the ball turns at the step before the floor");
}

#[test]
fn elastic_ball_returns_to_its_height() {
    returns_to_its_height(100_000);
    // the bound would show a coefficient of restitution of 1 − 1e-14
    assert!(bounce(1.0 - 1e-14, 100_000).change > 4.0 * f64::EPSILON * 1e5);
}

#[test]
#[ignore = "a million bounces take ten seconds"]
fn elastic_ball_returns_to_its_height_after_a_million_bounces() {
    returns_to_its_height(1_000_000);
}

/// Orders of (q, v) at t = 1 of ẍ + 2a ẋ + 25 x = 0 from x = 1 at rest.
fn oscillator_orders(damping: f64) -> (f64, f64) {
    let system = Linear::new(vec!["x".into()], vec![1.0], vec![2.0 * damping], vec![25.0]).unwrap();
    let model = Model::new(vec![Box::new(system)]).unwrap();
    let state = State { t: 0.0, q: vec![1.0], v: vec![0.0], ..State::default() };
    let frequency = (25.0 - damping * damping).sqrt();
    let (decay, angle) = ((-damping).exp(), frequency);
    let q = decay * (angle.cos() + damping / frequency * angle.sin());
    let v = -decay * 25.0 / frequency * angle.sin();
    let steps = [0.01, 0.005, 0.0025, 0.00125];
    let errors: Vec<(f64, f64)> = steps
        .iter()
        .map(|&h| run_scheme(&model, &state, 1.0, h, &midpoint()))
        .map(|done| (distance(&done.state.q, &[q]), distance(&done.state.v, &[v])))
        .collect();
    let of = |part: &dyn Fn(&(f64, f64)) -> f64| fitted_order(&steps, &errors.iter().map(part).collect::<Vec<_>>());
    (of(&|e| e.0), of(&|e| e.1))
}

/// Second order where forces depend on positions alone, first where they depend on velocities.
#[test]
fn order_depends_on_the_forces() {
    let (elastic, damped) = (oscillator_orders(0.0), oscillator_orders(0.5));
    println!("elastic {elastic:?}, damped {damped:?}");
    assert!((elastic.0 - 2.0).abs() < 0.1 && (elastic.1 - 2.0).abs() < 0.1);
    assert!((damped.0 - 1.0).abs() < 0.1 && (damped.1 - 1.0).abs() < 0.1);
}
