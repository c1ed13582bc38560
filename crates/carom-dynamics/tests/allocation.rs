//! No allocation per step once warm.

use crate::schemes::variants;
use carom_dynamics::integrators::{Integration, IntegratorParams, StepControl};
use carom_dynamics::problems::mechanisms::{four_bar, slider_crank};
use carom_dynamics::problems::{Problem, bouncing_ball, impact_oscillator, n_four_bar, pendulum, sliding_block, woodpecker};
use carom_dynamics::schemes::{MoreauJean, Scheme, SchemeParams, check_scheme, take_step};
use carom_dynamics::smooth::StageSystem;
use carom_dynamics::{Model, State, StepMemory, problems::free_bodies};

fn allocations(problem: &Problem, h: f64, steps: usize) -> u64 {
    allocations_of(&MoreauJean::default(), problem, h, steps)
}

/// Allocations of a motion that the memory has been through once.
fn allocations_of(scheme: &dyn Scheme, problem: &Problem, h: f64, steps: usize) -> u64 {
    let mut memory = StepMemory::new(&problem.model, &scheme.solver().unwrap_or_default()).unwrap();
    let mut run = |state: &mut State| {
        scheme.start(&problem.model, state, &mut memory).unwrap();
        for _ in 0..steps {
            take_step(scheme, &problem.model, state, &mut memory, h).unwrap();
            scheme.accept(&problem.model, state, &mut memory);
        }
    };
    run(&mut problem.state.clone());
    let mut state = problem.state.clone();
    allocation_counter::measure(|| run(&mut state)).count_total
}

#[test]
fn steps_do_not_allocate() {
    assert_eq!(allocations(&bouncing_ball::problem(0.9).unwrap(), 0.005, 1700), 0);
    assert_eq!(allocations(&woodpecker::problem().unwrap(), 2e-5, 14_000), 0);
    assert_eq!(allocations(&impact_oscillator::separated().unwrap(), 1e-3, 7000), 0);
    assert_eq!(allocations(&pendulum::by_angle().unwrap(), 1e-3, 500), 0);
    assert_eq!(allocations(&pendulum::cartesian().unwrap(), 1e-3, 500), 0);
    assert_eq!(allocations(&free_bodies::symmetric_top().unwrap(), 1e-3, 500), 0);
}

/// No scheme allocates, nor its solver.
#[test]
fn no_scheme_allocates() {
    let cases = [
        ("ball, e = 0", bouncing_ball::problem(0.0).unwrap(), 0.005, 400),
        ("ball, e = 0.9", bouncing_ball::problem(0.9).unwrap(), 0.005, 1700),
        ("sliding block", sliding_block::problem().unwrap(), 0.004, 400),
        ("pendulum", pendulum::cartesian().unwrap(), 1e-3, 500),
    ];
    let mut found = Vec::new();
    for params in variants() {
        for (name, problem, h, steps) in &cases {
            if check_scheme(params.entry(), &problem.model).is_ok() {
                let count = allocations_of(&*params.build(), problem, *h, *steps);
                if count > 0 {
                    found.push(format!("{count} on {name} by {params:?}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Also on the woodpecker, where positions are projected.
#[test]
fn projections_do_not_allocate() {
    for params in [SchemeParams::DirectProjection(Default::default()), SchemeParams::CombinedProjection(Default::default())] {
        let scheme = params.build();
        assert_eq!(allocations_of(&*scheme, &woodpecker::problem().unwrap(), 2e-5, 14_000), 0, "{}", scheme.name());
    }
}

/// Evaluations of the constrained equations, in the acceleration form and as a stage of a half-explicit method, and an interpolation.
fn smooth_allocations(model: &Model, state: &State) -> u64 {
    let params = IntegratorParams { control: StepControl::Fixed, step: Some(1e-3), ..IntegratorParams::default() };
    let mut integration = Integration::new(model, state, &params).unwrap();
    integration.step(1.0).unwrap();
    let point = integration.point().clone();
    let (mut a, mut lambda, mut q, mut v) = (point.a.clone(), point.lambda.clone(), point.q.clone(), point.v.clone());
    let mut take = |n: usize| {
        for _ in 0..n {
            let (t, q_now) = (point.t, &point.q[..]);
            integration.equations().accelerate(t, q_now, &point.v, &mut a, &mut lambda).unwrap();
            let stage =
                StageSystem { t, q: q_now, v: &point.v, t_ahead: t, q_ahead: q_now, v_known: &point.v, step: 1e-3, force_factor: 1.0 };
            integration.equations().solve_stage(stage, &mut a, &mut lambda).unwrap();
            integration.interpolate(0.5e-3, &mut q, &mut v).unwrap();
        }
    };
    take(3);
    allocation_counter::measure(|| take(20)).count_total
}

#[test]
fn evaluations_of_smooth_motion_do_not_allocate() {
    for mechanism in [four_bar().unwrap(), slider_crank().unwrap()] {
        assert_eq!(smooth_allocations(&mechanism.model, &mechanism.state), 0);
    }
    // 14 rows are solved densely, 122 by fronts
    for n in [2, 20] {
        let linkage = n_four_bar::n_four_bar(n).unwrap();
        assert_eq!(smooth_allocations(&linkage.model, &linkage.state), 0);
    }
}
