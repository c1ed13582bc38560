//! Polyhedral cones, the convex relaxation and enumeration against the exact law.

use crate::generate::{random, redundant_joints, suite, table};
use carom_solvers::friction_contact::{Enumeration, PolyhedralParams};
use carom_solvers::{
    Block, Delassus, DenseDelassus, FrictionContact, FrictionSolverParams, Solution, SolveError, SolveReport, SolveStatus,
    friction_contact_solver,
};

const FORMS: [&str; 2] = ["stewart-trinkle", "anitescu-potra"];

fn solve(kind: &str, facets: usize, problem: &FrictionContact) -> (SolveReport, Solution) {
    let params = FrictionSolverParams { kind: kind.parse().unwrap(), polyhedral: PolyhedralParams { facets }, ..Default::default() };
    let mut solution = Solution::default();
    let report = friction_contact_solver(&params).unwrap().solve(problem, &mut solution).unwrap();
    assert_eq!(report.residual_normalised, problem.residual_normalised(&solution.r, &solution.u), "{kind}");
    (report, solution)
}

/// A unit mass that falls at 1 and slides at 3 in the direction of an angle, μ = 1/2.
fn sliding_mass(angle: f64) -> FrictionContact {
    let w = (0..9).map(|k| f64::from(u8::from(k % 4 == 0))).collect();
    FrictionContact {
        w: Delassus::Dense(DenseDelassus::new(w, &[3]).unwrap()),
        q: vec![-1.0, 3.0 * angle.cos(), 3.0 * angle.sin()],
        blocks: vec![Block::Coulomb3 { mu: 0.5 }],
    }
}

#[test]
fn in_the_plane_the_forms_are_exact() {
    for (name, _, problem) in suite() {
        if problem.blocks.iter().all(|b| b.is_frictionless() || matches!(b, Block::Coulomb2 { .. })) {
            for kind in FORMS {
                let (report, _) = solve(kind, 8, &problem);
                assert!(report.is_converged(), "{kind} on '{name}': {report:?}");
                assert!(report.solver == kind || report.solver == "elimination", "{report:?}");
            }
        }
    }
}

#[test]
fn the_error_of_direction_falls_with_the_facets_and_that_of_the_work_with_their_square() {
    // Worst over the directions of slip. Exact friction work: 0.5 · 2.5.
    let worst = |facets: usize| {
        let mut errors = [0.0_f64; 2];
        for k in 0..200 {
            let (report, solution) = solve("stewart-trinkle", facets, &sliding_mass(0.0314 * f64::from(k)));
            assert!(matches!(report.status, SolveStatus::Relaxed | SolveStatus::Converged), "{report:?}");
            assert!((solution.r[0] - 1.0).abs() < 1e-12); // no coupling: the normal impulse is exact up to rounding
            let work = -(solution.r[1] * solution.u[1] + solution.r[2] * solution.u[2]);
            errors = [errors[0].max(report.residual_normalised), errors[1].max((work - 1.25).abs())];
        }
        errors
    };
    let errors = [4, 8, 16, 32, 64].map(worst);
    for pair in errors.windows(2).skip(1) {
        let [direction, work] = [pair[0][0] / pair[1][0], pair[0][1] / pair[1][1]];
        // The expansions of the sine and the cosine, and 200 directions of which none is the worst one exactly.
        assert!((direction - 2.0).abs() < 0.2, "{errors:?}");
        assert!((work - 4.0).abs() < 0.6, "{errors:?}");
    }
}

#[test]
fn many_contacts_come_closer_to_the_exact_law() {
    for seed in 0..5 {
        let problem = random(400 + seed, vec![Block::Coulomb3 { mu: 0.4 }; 3], 14);
        let residuals = [4, 8, 32].map(|facets| {
            let (report, solution) = solve("anitescu-potra", facets, &problem);
            assert!(report.is_accepted(), "{report:?}");
            for r in solution.r.chunks_exact(3) {
                // The pyramid is inscribed in the cone; one rounding.
                assert!(r[1].hypot(r[2]) <= 0.4 * r[0] * (1.0 + 1e-14) + 1e-15, "{r:?}");
            }
            report.residual_normalised
        });
        // Direction errors of π/32 and of the size of the friction at most.
        assert!(residuals[2] < 0.1 && residuals[2] <= residuals[0], "{residuals:?}");
    }
}

#[test]
fn both_names_give_one_solution_with_joints_and_rolling_resistance() {
    let rolling = random(410, vec![Block::Rolling { mu: 0.4, rolling: 0.1 }, Block::Coulomb3 { mu: 0.3 }, Block::Bilateral { dim: 2 }], 16);
    for problem in [redundant_joints(411, Block::Coulomb3 { mu: 0.4 }), rolling] {
        let (first, a) = solve(FORMS[0], 16, &problem);
        let (second, b) = solve(FORMS[1], 16, &problem);
        assert!(first.is_accepted() && second.is_accepted(), "{first:?} {second:?}");
        assert_eq!(a, b);
        let mut start = 0;
        for block in &problem.blocks {
            let rows = start..start + block.dim();
            start = rows.end;
            if block.is_bilateral() {
                assert!(a.u[rows].iter().all(|u| u.abs() < 1e-12), "{:?}", a.u); // joints are solved to rounding
            }
        }
        // The exact solution is near: 16 facets leave an error of π/16 in the direction of friction.
        let (exact, reference) = solve("auto", 8, &problem);
        assert!(exact.is_converged());
        for (a, b) in a.u.iter().zip(&reference.u) {
            assert!((a - b).abs() < 0.2, "{a} {b}");
        }
    }
}

#[test]
fn a_body_squeezed_from_both_sides_ends_on_a_ray() {
    // One body between two walls that both approach: u_1 = −1 + r_1 − r_2, u_2 = −1 − r_1 + r_2 cannot both be ≥ 0.
    let mut w = vec![0.0; 36];
    for (k, row) in w.chunks_exact_mut(6).enumerate() {
        row[k] = 1.0;
        row[(k + 3) % 6] = if k % 3 == 0 { -1.0 } else { 1.0 };
    }
    let problem = FrictionContact {
        w: Delassus::Dense(DenseDelassus::new(w, &[3, 3]).unwrap()),
        q: vec![-1.0, 0.5, 0.0, -1.0, 0.5, 0.0],
        blocks: vec![Block::Coulomb3 { mu: 0.5 }; 2],
    };
    for kind in FORMS {
        assert_eq!(solve(kind, 8, &problem).0.status, SolveStatus::RayTermination);
    }
}

#[test]
fn facets_are_checked() {
    for facets in [0, 2, 5, 66] {
        let params = FrictionSolverParams { polyhedral: PolyhedralParams { facets }, ..Default::default() };
        assert!(matches!(friction_contact_solver(&params), Err(SolveError::BadParameter { .. })), "{facets}");
    }
}

#[test]
fn enumeration_and_pivoting_agree_in_the_plane() {
    for seed in 0..10 {
        // Small friction and full rank: the solution is unique.
        let problem = random(420 + seed, vec![Block::Coulomb2 { mu: 0.1 }; 4], 14);
        let all = Enumeration::all_solutions(&problem).unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        for kind in ["lemke", "enumeration", "nsgs"] {
            let (report, solution) = solve(kind, 8, &problem);
            assert!(report.is_converged(), "{kind} {report:?}");
            for (a, b) in all[0].r.iter().zip(&solution.r) {
                assert!((a - b).abs() < 1e-7, "{kind} {a} {b}"); // both solve to 1e-10, conditioning below 1e3
            }
        }
    }
    let (report, _) = solve("enumeration", 8, &table(5, 0.5, 0.1));
    assert!(report.is_converged(), "{report:?}");
}

#[test]
fn the_relaxation_is_exact_where_nothing_slides() {
    let relaxed = |problem: &FrictionContact| {
        let (report, solution) = solve("projected-gradient", 8, problem);
        assert!(report.is_accepted(), "{report:?}");
        (report.status, solution)
    };
    // Frictionless, and friction that always holds.
    assert_eq!(relaxed(&random(431, vec![Block::Unilateral; 6], 12)).0, SolveStatus::Converged);
    assert_eq!(relaxed(&table(4, 0.5, 0.1)).0, SolveStatus::Converged);
    // A table pushed hard lifts off with μ times its slip.
    let (status, solution) = relaxed(&table(4, 0.2, 3.0));
    assert_eq!(status, SolveStatus::Relaxed);
    for (r, u) in solution.r.chunks_exact(2).zip(solution.u.chunks_exact(2)) {
        if r[0] > 1e-6 {
            assert!((u[0] - 0.2 * u[1].abs()).abs() < 1e-8, "{r:?} {u:?}"); // residual 1e-10, conditioning 1e2
        }
    }
}

#[test]
fn the_relaxation_takes_all_blocks() {
    let blocks = vec![
        Block::Unilateral,
        Block::Bilateral { dim: 3 },
        Block::Coulomb2 { mu: 0.3 },
        Block::Rolling { mu: 0.3, rolling: 0.1 },
        Block::Coulomb3 { mu: 0.4 },
    ];
    for seed in 0..5 {
        let (report, _) = solve("projected-gradient", 8, &random(440 + seed, blocks.clone(), 28));
        assert!(report.is_accepted(), "{report:?}");
    }
}
