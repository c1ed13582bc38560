//! The proximal-point iteration on many contacts, and its scheme on constraints.

use crate::support::{distance, fitted_order, run_scheme};
use carom_dynamics::problems::pendulum;
use carom_dynamics::schemes::{ProxIteration, ProxParams, SchemeParams, Sweep};
use carom_solvers::problems::{self, Conditions};
use carom_solvers::{Solution, SolveReport, SolveStatus};

fn solve(params: &ProxParams, scene: &problems::RigidScene) -> SolveReport {
    let problem = scene.friction_contact();
    let mut solution = Solution::default();
    let report = ProxIteration::default().solve(params, &problem, &mut solution).unwrap();
    // the report tells the errors of what is returned
    assert_eq!(report.residual_normalised, problem.residual_normalised(&solution.r, &solution.u));
    report
}

/// A wall, a tower and an arch with friction: both sweeps reach the tolerance, Gauss–Seidel in fewer iterations.
#[test]
fn piles() {
    let conditions = Conditions::default();
    let scenes = [
        ("wall", problems::wall(3, 3, &conditions)),
        ("tower", problems::tower(4, 2, &conditions)),
        ("arch", problems::arch(7, &conditions)),
    ];
    for (name, scene) in scenes {
        let of = |sweep| solve(&ProxParams { sweep, tolerance: 1e-6, max_iterations: 20_000, ..ProxParams::default() }, &scene);
        let (gauss_seidel, jacobi) = (of(Sweep::GaussSeidel), of(Sweep::Jacobi));
        println!("{name}: {} and {} iterations", gauss_seidel.iterations, jacobi.iterations);
        for report in [gauss_seidel, jacobi] {
            assert_eq!(report.status, SolveStatus::Converged, "{name}: {report:?}");
            assert!(report.residual_normalised <= 1e-6);
        }
        assert!(gauss_seidel.iterations < jacobi.iterations);
    }
}

/// An iteration that is cut short says so.
#[test]
fn shortfall_is_reported() {
    let scene = problems::wall(3, 3, &Conditions::default());
    let report = solve(&ProxParams { max_iterations: 3, ..ProxParams::default() }, &scene);
    assert_eq!((report.status, report.iterations), (SolveStatus::MaxIterations, 3));
    assert!(report.residual_normalised > ProxParams::default().tolerance);
}

/// A bilateral constraint: the pendulum in Cartesian coordinates converges at first order.
#[test]
fn constraints() {
    let p = pendulum::cartesian().unwrap();
    let steps = [4e-3, 2e-3, 1e-3, 5e-4];
    let (q, _) = p.solution.at_end(p.end);
    let ends = steps.map(|h| distance(&run_scheme(&p.model, &p.state, p.end, h, &SchemeParams::Prox(ProxParams::default())).state.q, &q));
    let order = fitted_order(&steps, &ends);
    println!("order {order:.2}, errors {ends:?}");
    assert!((order - 1.0).abs() < 0.2, "{order} {ends:?}");
}
