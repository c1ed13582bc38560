//! Bounded rows: motors of limited effort and dry friction of known bound, by hand, at random, and with every solver that takes them.

use crate::generate::{Random, from_jacobian, random};
use crate::generate_global::bodies;
use crate::support::{params, solve, solve_with};
use carom_solvers::{
    Block, Delassus, DenseDelassus, FrictionContact, FrictionSolverKind, FrictionSolverParams, GlobalSolverKind, GlobalSolverParams,
    Solution, SolveError, friction_contact_solver, global_solver,
};

const INF: f64 = f64::INFINITY;

/// Solvers that do not take bounded rows, and say so.
const REFUSE: [&str; 5] = ["newton-fischer-burmeister", "interior-point", "aclm", "enumeration", "pgs"];

fn one(w: f64, q: f64, lower: f64, upper: f64) -> FrictionContact {
    FrictionContact {
        w: Delassus::Dense(DenseDelassus::new(vec![w], &[1]).unwrap()),
        q: vec![q],
        blocks: vec![Block::Bounded { lower, upper }],
    }
}

fn motor(reach: f64) -> Block {
    Block::Bounded { lower: -reach, upper: reach }
}

/// Problems with motors of all kinds of bounds between contacts and joints, all with a solution.
fn families() -> Vec<(&'static str, FrictionContact)> {
    let free = Block::Bounded { lower: -INF, upper: INF };
    let mut all = vec![
        ("two motors", random(1, vec![motor(0.1), motor(5.0)], 4)),
        ("motors and joints", random(2, vec![Block::Bilateral { dim: 2 }, motor(0.2), motor(0.3), Block::Bilateral { dim: 1 }], 8)),
        ("motors and planar contacts", random(3, vec![motor(0.2), Block::Coulomb2 { mu: 0.4 }, Block::Unilateral, motor(INF)], 8)),
        (
            "motors and spatial contacts",
            random(4, vec![Block::Coulomb3 { mu: 0.4 }, motor(0.05), Block::Coulomb3 { mu: 0.2 }, motor(0.5)], 12),
        ),
        (
            "one-sided",
            random(5, vec![Block::Bounded { lower: 0.0, upper: INF }, Block::Bounded { lower: -INF, upper: 0.1 }, Block::Unilateral], 4),
        ),
        ("without room", random(6, vec![Block::Bounded { lower: 0.3, upper: 0.3 }, Block::Coulomb2 { mu: 0.3 }, motor(0.0)], 6)),
        (
            "away from zero",
            random(7, vec![Block::Bounded { lower: 2.0, upper: 3.0 }, Block::Unilateral, Block::Bounded { lower: -4.0, upper: -1.0 }], 4),
        ),
        ("free rows are joints", random(8, vec![free, free, Block::Coulomb2 { mu: 0.5 }], 6)),
        ("redundant motors", random(9, vec![motor(0.3); 6], 3)),
    ];
    // Units: rows of different inertia, as torques beside forces.
    let mut g = Random::new(10).vector(4 * 6);
    g[..6].iter_mut().for_each(|x| *x *= 10.0);
    g[6..12].iter_mut().for_each(|x| *x *= 0.1);
    let v = Random::new(11).vector(6);
    all.push(("units", from_jacobian(vec![motor(1e-3), motor(30.0), Block::Coulomb2 { mu: 0.3 }], &g, &[1.0; 6], &v)));
    // Nothing moves without impulse, and the bounds move it.
    all.push((
        "pushed from rest",
        from_jacobian(vec![Block::Bounded { lower: 1.0, upper: 2.0 }, Block::Unilateral], &[1.0, 0.0, -1.0, 1.0], &[1.0, 0.5], &[0.0, 0.0]),
    ));
    all
}

#[test]
fn one_row_by_hand() {
    // u = 2 r − 3: r = 1.5 stops it.
    for (lower, upper, r) in [(-1.0, 2.0, 1.5), (-1.0, 1.0, 1.0), (1.8, 2.0, 1.8), (-INF, INF, 1.5), (-INF, 0.2, 0.2), (0.7, 0.7, 0.7)] {
        for kind in ["auto", "nsgs", "proximal-newton"] {
            let (report, solution) = solve(kind, &one(2.0, -3.0, lower, upper));
            assert!(report.is_converged(), "{kind} [{lower}, {upper}] {report:?}");
            assert_eq!((solution.r[0], solution.u[0]), (r, 2.0 * r - 3.0), "{kind} [{lower}, {upper}]");
        }
    }
}

#[test]
fn bounds_that_are_none_are_refused() {
    for (lower, upper) in [(1.0, 0.5), (f64::NAN, 1.0), (0.0, f64::NAN), (INF, INF), (-INF, -INF)] {
        for kind in ["auto", "nsgs", "admm"] {
            let error =
                friction_contact_solver(&params(kind)).unwrap().solve(&one(1.0, 1.0, lower, upper), &mut Solution::default()).unwrap_err();
            assert!(matches!(error, SolveError::BadBlock { block: 0, .. }), "{kind} [{lower}, {upper}]: {error}");
            assert!(error.to_string().contains("bound"), "{error}");
        }
    }
}

#[test]
fn every_solver_takes_them_or_says_that_it_does_not() {
    for &kind in FrictionSolverKind::ALL {
        // Sweeps of one contact after the other and projections may be slow; what matters is where they end.
        let params = FrictionSolverParams { kind, max_iterations: 20_000, ..Default::default() };
        let mut solver = friction_contact_solver(&params).unwrap();
        for (name, problem) in families() {
            let what = format!("{} on '{name}'", kind.name());
            let mut solution = Solution::default();
            match solver.solve(&problem, &mut solution) {
                Err(SolveError::Unsupported { reason, alternatives, .. }) => {
                    let spatial = problem.blocks.iter().any(|b| matches!(b, Block::Coulomb3 { .. }));
                    assert!(REFUSE.contains(&kind.name()) || kind.name() == "lemke" && spatial, "{what}: {reason}");
                    assert!(alternatives.contains("auto") || alternatives.contains("nsgs"), "{what}");
                    continue;
                }
                Err(error) => panic!("{what}: {error}"),
                Ok(report) => {
                    assert!(!REFUSE.contains(&kind.name()), "{what}");
                    assert!(report.is_accepted(), "{what}: {report:?}");
                    if !report.is_converged() {
                        continue; // the relaxed law of some, which is not this one
                    }
                }
            }
            for (index, block) in problem.blocks.iter().enumerate() {
                if let Some((lower, upper)) = block.bounds() {
                    let r = solution.r[problem.w.offset(index)];
                    assert!((lower - 1e-9..=upper + 1e-9).contains(&r), "{what}: {r} not in [{lower}, {upper}]"); // the tolerance, scaled
                }
            }
            // Already solved: nothing left to do.
            let again = solver.solve(&problem, &mut solution).unwrap();
            assert!(again.is_converged(), "{what} again: {again:?}");
        }
    }
}

#[test]
fn velocities_agree_between_the_ways() {
    for (name, problem) in families() {
        if name == "redundant motors" {
            continue; // its own test: the impulses are not unique
        }
        let (_, reference) = solve_with(&FrictionSolverParams { tolerance: 1e-12, ..params("nsgs") }, &problem);
        for kind in ["auto", "admm", "proximal-newton", "newton-alart-curnier", "tresca", "extragradient"] {
            let (report, solution) = solve_with(&FrictionSolverParams { max_iterations: 20_000, ..params(kind) }, &problem);
            assert!(report.is_converged(), "{kind} on '{name}' {report:?}");
            let size = reference.u.iter().fold(1.0_f64, |s, u| s.max(u.abs()));
            for (a, b) in solution.u.iter().zip(&reference.u) {
                // The tolerance 1e-10 of both times the conditioning, below 1e4.
                assert!((a - b).abs() < 1e-6 * size, "{kind} on '{name}': {a} {b}");
            }
        }
    }
}

#[test]
fn a_free_row_is_a_joint_and_a_half_line_a_contact() {
    let as_bounds = |block: Block| match block {
        Block::Bilateral { .. } => Block::Bounded { lower: -INF, upper: INF },
        Block::Unilateral => Block::Bounded { lower: 0.0, upper: INF },
        block => block,
    };
    for seed in 0..10 {
        let blocks = vec![Block::Bilateral { dim: 1 }, Block::Unilateral, Block::Coulomb2 { mu: 0.3 }, Block::Unilateral];
        let plain = random(200 + seed, blocks, 7);
        let bounded = FrictionContact { blocks: plain.blocks.iter().copied().map(as_bounds).collect(), ..plain.clone() };
        for kind in ["auto", "nsgs", "lemke"] {
            let (a, x) = solve(kind, &plain);
            let (b, y) = solve(kind, &bounded);
            assert!(a.is_converged() && b.is_converged(), "{kind} {seed}: {a:?} {b:?}");
            for (x, y) in x.r.iter().zip(&y.r) {
                assert!((x - y).abs() < 1e-7, "{kind} {seed}: {x} {y}"); // tolerance 1e-10, conditioning below 1e3
            }
        }
    }
}

#[test]
fn the_global_form_takes_them_by_reduction_and_by_sweeps() {
    let problem = bodies(31, 3, 2.0, vec![motor(0.1), Block::Coulomb3 { mu: 0.4 }, motor(0.6), Block::Bilateral { dim: 1 }]);
    let mut found: Vec<Solution> = Vec::new();
    for &kind in GlobalSolverKind::ALL {
        let mut solution = Solution::default();
        let result = global_solver(&GlobalSolverParams { kind, ..Default::default() }).unwrap().solve(&problem, &mut solution);
        match kind.name() {
            "admm" | "interior-point" => assert!(matches!(result, Err(SolveError::Unsupported { .. })), "{result:?}"),
            name => {
                let report = result.unwrap();
                assert!(report.is_converged(), "{name} {report:?}");
                found.push(solution);
            }
        }
    }
    for (a, b) in found[0].u.iter().zip(&found[1].u) {
        assert!((a - b).abs() < 1e-7, "{a} {b}"); // tolerance 1e-10, conditioning below 1e3
    }
}

#[cfg(feature = "fclib")]
#[test]
fn fclib_files_have_no_place_for_them() {
    use carom_solvers::fclib::{FclibFile, MatrixFormat, write};
    let file = std::env::temp_dir().join(format!("carom-bounded-{}.hdf5", std::process::id()));
    let problem = random(3, vec![motor(0.2), Block::Coulomb3 { mu: 0.4 }], 8);
    let error = write(&file, &FclibFile::new(problem.into()), MatrixFormat::Csc).unwrap_err();
    assert!(error.to_string().contains("bounded rows"), "{error}");
}

/// Friction in balls between contacts and joints: `auto` and `nsgs` solve it, all others say that they do not.
#[test]
fn friction_in_a_ball_is_solved_or_refused() {
    for (seed, radius) in [(1, 0.05), (2, 0.5), (3, 50.0), (4, 0.0)] {
        let blocks = vec![
            Block::Ball { dim: 3, radius },
            Block::Coulomb3 { mu: 0.4 },
            Block::Bilateral { dim: 3 },
            Block::Ball { dim: 2, radius },
            Block::Unilateral,
        ];
        let problem = random(seed, blocks, 14);
        for &kind in FrictionSolverKind::ALL {
            let params = FrictionSolverParams { kind, max_iterations: 20_000, ..Default::default() };
            let mut solution = Solution::default();
            match (friction_contact_solver(&params).unwrap().solve(&problem, &mut solution), kind.name()) {
                (Ok(report), "auto" | "nsgs") => {
                    assert!(report.is_converged(), "{} with {radius}: {report:?}", kind.name());
                    for (first, dim) in [(0, 3), (9, 2)] {
                        let size = solution.r[first..first + dim].iter().map(|r| r * r).sum::<f64>().sqrt();
                        assert!(size <= radius * (1.0 + 1e-12), "{size}");
                    }
                }
                (Err(SolveError::Unsupported { alternatives, .. }), name) => {
                    assert!(!["auto", "nsgs"].contains(&name) && alternatives == "auto, nsgs", "{name}");
                }
                (other, name) => panic!("{name}: {other:?}"),
            }
        }
    }
}
