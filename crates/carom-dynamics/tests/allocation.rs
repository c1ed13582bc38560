//! No allocation per step once warm.

use carom_dynamics::integrators::{IntegratorParams, StepControl};
use carom_dynamics::problems::mechanisms::{four_bar, slider_crank};
use carom_dynamics::problems::{Problem, bouncing_ball, impact_oscillator, n_four_bar, pendulum, woodpecker};
use carom_dynamics::schemes::{CombinedProjection, DirectProjection, MoreauJean, Scheme, SchemeParams};
use carom_dynamics::smooth::{Integration, StageSystem};
use carom_dynamics::{Model, State, StepMemory, problems::free_bodies};
use carom_solvers::FrictionSolverParams;

fn allocations(problem: &Problem, h: f64, warm: usize, steps: usize) -> u64 {
    allocations_of(&MoreauJean::default(), problem, h, warm, steps)
}

fn allocations_of(scheme: &dyn Scheme, problem: &Problem, h: f64, warm: usize, steps: usize) -> u64 {
    let mut state = problem.state.clone();
    let mut memory = StepMemory::new(&problem.model, &FrictionSolverParams::default()).unwrap();
    let mut take = |n: usize| {
        for _ in 0..n {
            scheme.step(&problem.model, &mut state, &mut memory, h).unwrap();
        }
    };
    take(warm);
    allocation_counter::measure(|| take(steps)).count_total
}

/// Warm means: every contact of the model has been closed once.
#[test]
fn steps_do_not_allocate() {
    assert_eq!(allocations(&bouncing_ball::problem(0.9).unwrap(), 0.005, 200, 1000), 0);
    assert_eq!(allocations(&woodpecker::problem().unwrap(), 2e-5, 8000, 6000), 0);
    assert_eq!(allocations(&impact_oscillator::separated().unwrap(), 1e-3, 2000, 5000), 0);
    assert_eq!(allocations(&pendulum::by_angle().unwrap(), 1e-3, 10, 500), 0);
    assert_eq!(allocations(&pendulum::cartesian().unwrap(), 1e-3, 10, 500), 0);
    assert_eq!(allocations(&free_bodies::symmetric_top().unwrap(), 1e-3, 10, 500), 0);
}

#[test]
fn other_schemes_do_not_allocate() {
    for params in [SchemeParams::MoreauMidpoint(Default::default()), SchemeParams::Prox(Default::default())] {
        let scheme = params.build();
        assert_eq!(allocations_of(&*scheme, &bouncing_ball::problem(0.9).unwrap(), 0.005, 200, 1000), 0);
        assert_eq!(allocations_of(&*scheme, &pendulum::cartesian().unwrap(), 1e-3, 10, 500), 0);
    }
    let scheme = SchemeParams::ThetaGap(Default::default()).build();
    assert_eq!(allocations_of(&*scheme, &bouncing_ball::problem(0.0).unwrap(), 0.005, 10, 200), 0);
    assert_eq!(allocations_of(&*scheme, &pendulum::cartesian().unwrap(), 1e-3, 10, 500), 0);
}

/// Also where positions are projected; the ball is first projected in its fourth impact, after 534 steps.
#[test]
fn projections_do_not_allocate() {
    let schemes: [&dyn Scheme; 2] = [&DirectProjection::default(), &CombinedProjection::default()];
    for scheme in schemes {
        assert_eq!(allocations_of(scheme, &bouncing_ball::problem(0.9).unwrap(), 0.005, 600, 1000), 0, "{}", scheme.name());
        assert_eq!(allocations_of(scheme, &woodpecker::problem().unwrap(), 2e-5, 8000, 6000), 0, "{}", scheme.name());
        assert_eq!(allocations_of(scheme, &pendulum::cartesian().unwrap(), 1e-3, 10, 500), 0, "{}", scheme.name());
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
