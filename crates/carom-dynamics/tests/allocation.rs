//! No allocation per step once warm.

use carom_dynamics::problems::{Problem, bouncing_ball, impact_oscillator, pendulum, woodpecker};
use carom_dynamics::schemes::{MoreauJean, Scheme};
use carom_dynamics::{StepMemory, problems::free_bodies};
use carom_solvers::FrictionSolverParams;

fn allocations(problem: &Problem, h: f64, warm: usize, steps: usize) -> u64 {
    let (scheme, mut state) = (MoreauJean::default(), problem.state.clone());
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
