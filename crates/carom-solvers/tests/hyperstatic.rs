//! Contacts that share loads in many ways: where sweeps are slow and W is singular.

use crate::generate::{from_jacobian, random, stack_of_cubes, table};
use crate::support::{params, solve};
use carom_solvers::{Block, FrictionContact, Solution, SolveReport, SolveStatus, friction_contact_solver};

fn solve_from(kind: &str, problem: &FrictionContact, solution: &mut Solution) -> SolveReport {
    friction_contact_solver(&params(kind)).unwrap().solve(problem, solution).unwrap()
}

/// Loads under a stack at rest: |u| = 0 and each layer carries what lies above, m g h per cube.
fn check_at_rest(problem: &FrictionContact, solution: &Solution) {
    // Residual 1e-10 relative to |r| ≈ 1 in the unit of the judge, so that u is that small.
    assert!(solution.u.iter().all(|u| u.abs() < 1e-8), "{:?}", solution.u);
    let ground: f64 = solution.r[..12].iter().step_by(3).sum();
    assert!((ground - 20.0 * 9.81e-3).abs() < 1e-8, "{ground}");
    assert_eq!(problem.blocks[0], Block::Coulomb3 { mu: 0.5 });
}

#[test]
fn a_stack_of_cubes_is_solved_cold() {
    for seed in 1..6 {
        let problem = stack_of_cubes(20, seed, 0.0);
        assert!(problem.n_rows() >= 300);
        let (report, solution) = solve("proximal-newton", &problem);
        // 25 to 30 steps are usual; sweeps alone need more than 10 000.
        assert!(report.is_converged() && report.iterations <= 60, "{report:?}");
        check_at_rest(&problem, &solution);
        let (report, solution) = solve("auto", &problem);
        assert!(report.is_converged() && report.iterations <= 400, "{report:?}");
        check_at_rest(&problem, &solution);
    }
}

#[test]
fn a_stack_of_cubes_is_solved_warm_after_a_small_change() {
    let (_, mut solution) = solve("auto", &stack_of_cubes(20, 1, 0.0));
    let mut problem = stack_of_cubes(20, 1, 0.0);
    for q in problem.q[12..].iter_mut() {
        *q += 1e-6; // Faces that approach or slide by what a step leaves.
    }
    let report = solve_from("auto", &problem, &mut solution);
    assert!(report.is_converged() && report.iterations <= 100, "{report:?}");
    let report = solve_from("auto", &problem, &mut solution);
    assert_eq!(report.iterations, 0);
}

#[test]
fn a_pushed_stack_slides_at_the_edge_of_the_cones() {
    // The lowest cube is pulled away at 1 m/s: its two faces slide, the rest of the stack follows.
    let problem = stack_of_cubes(20, 2, 1.0);
    for kind in ["proximal-newton", "auto"] {
        let (report, solution) = solve(kind, &problem);
        assert!(report.is_converged(), "{kind} {report:?}");
        for contact in 0..4 {
            let r = &solution.r[3 * contact..3 * contact + 3];
            let edge = r[1].hypot(r[2]) - 0.5 * r[0];
            assert!(edge.abs() < 1e-9, "{kind} {r:?}"); // the tolerance, in N·s for masses of 1 kg
        }
    }
}

#[test]
fn repeated_contacts_share_the_load() {
    // A unit mass on five copies of the same contact, falling at 1 and sliding at 0.3 or 3, μ = 0.5.
    for (slip, friction) in [(0.3, -0.3), (3.0, -0.5)] {
        let g: Vec<f64> = (0..5).flat_map(|_| [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).collect();
        let problem = from_jacobian(vec![Block::Coulomb3 { mu: 0.5 }; 5], &g, &[1.0; 3], &[slip, 0.0, -1.0]);
        let (report, solution) = solve("proximal-newton", &problem);
        assert!(report.is_converged(), "{report:?}");
        let sum = |k: usize| solution.r.iter().skip(k).step_by(3).sum::<f64>();
        assert!((sum(0) - 1.0).abs() < 1e-8, "{solution:?}"); // residual 1e-10 times some
        assert!((sum(1) - friction).abs() < 1e-8 && sum(2).abs() < 1e-8, "{solution:?}");
    }
}

#[test]
fn planar_frictionless_and_joined_contacts_are_solved() {
    let c3 = |mu| Block::Coulomb3 { mu };
    let joint = Block::Bilateral { dim: 5 };
    let problems = [
        ("planar", table(40, 0.3, 0.2)),
        ("planar, sliding", table(40, 0.1, 2.0)),
        ("no friction", random(51, vec![c3(0.0); 12], 9)),
        ("unilateral", random(52, vec![Block::Unilateral; 40], 9)),
        ("joints", random(53, vec![joint, c3(0.5), c3(0.2), Block::Coulomb2 { mu: 0.4 }, joint, c3(0.3)], 14)),
    ];
    for (name, problem) in &problems {
        let (report, _) = solve("proximal-newton", problem);
        assert!(report.is_converged() && report.iterations <= 200, "{name}: {report:?}");
    }
}

#[test]
fn without_a_solution_the_answer_is_finite_and_honest() {
    // A mass between two walls that both approach it; and one that no impulse can move.
    let squeezed = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0];
    for g in [squeezed, [0.0; 18]] {
        let mut problem = from_jacobian(vec![Block::Coulomb3 { mu: 0.2 }; 2], &g, &[1.0; 3], &[0.0; 3]);
        problem.q.copy_from_slice(&[-1.0, 0.5, 0.0, -1.0, 0.0, 0.1]);
        for kind in ["proximal-newton", "auto"] {
            let (report, solution) = solve(kind, &problem);
            assert!(matches!(report.status, SolveStatus::Stalled | SolveStatus::MaxIterations), "{kind} {report:?}");
            assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()));
        }
    }
}
