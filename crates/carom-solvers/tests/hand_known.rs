//! Problems with solutions known by hand.

use crate::generate::{column, random, table};
use crate::support::solve;
use carom_solvers::{
    Block, BlockSparse, Delassus, DenseDelassus, FrictionContact, FrictionSolverParams, Solution, SolveError, friction_contact_solver,
};

#[test]
fn a_falling_column_stops_with_its_momentum() {
    // Masses 1, 10, 100 at speed 1: the ground takes 111, the contact above it 110, then 100.
    for kind in ["auto", "proximal-newton", "lemke"] {
        let (report, solution) = solve(kind, &column(3, 10.0));
        assert!(report.is_converged());
        for (r, exact) in solution.r.iter().zip([111.0, 110.0, 100.0]) {
            // residual 1e-10 relative to |u| = 1, times the masses.
            assert!((r - exact).abs() < 1e-7 * exact, "{kind} {:?}", solution.r);
        }
    }
}

#[test]
fn a_table_takes_its_momentum_however_the_feet_share_it() {
    // Pushed at 0.1 with μ = 0.5: it sticks, u = 0, Σ r_N = 1, Σ r_T = −0.1.
    let problem = table(8, 0.5, 0.1);
    for kind in ["auto", "nsgs", "proximal-newton", "lemke"] {
        let (report, solution) = solve(kind, &problem);
        assert!(report.is_converged(), "{kind} {report:?}");
        let normal: f64 = solution.r.iter().step_by(2).sum();
        let tangent: f64 = solution.r.iter().skip(1).step_by(2).sum();
        assert!((normal - 1.0).abs() < 1e-8, "{kind} {normal}"); // residual 1e-10, conditioning 1e2
        assert!((tangent + 0.1).abs() < 1e-8, "{kind} {tangent}");
    }
}

#[test]
fn a_heavy_push_slides_the_table_under_full_friction() {
    let problem = table(8, 0.2, 3.0);
    for kind in ["auto", "nsgs", "proximal-newton", "lemke"] {
        let (report, solution) = solve(kind, &problem);
        assert!(report.is_converged(), "{kind} {report:?}");
        for contact in solution.r.chunks_exact(2) {
            // Every loaded foot slides forward at the cone's edge.
            assert!((contact[1] + 0.2 * contact[0]).abs() < 1e-9, "{kind} {contact:?}");
        }
        let normal: f64 = solution.r.iter().step_by(2).sum();
        assert!((normal - 1.0).abs() < 1e-8, "{kind} {normal}"); // as above
    }
}

#[test]
fn a_joint_carries_what_the_contact_does_not() {
    // One mass (m = 2) on a rail x = 0 (bilateral) over the ground y ≥ 0, velocity (3, −1).
    let w = vec![0.5, 0.0, 0.0, 0.5];
    let problem = FrictionContact {
        w: Delassus::Dense(DenseDelassus::new(w, &[1, 1]).unwrap()),
        q: vec![3.0, -1.0],
        blocks: vec![Block::Bilateral { dim: 1 }, Block::Unilateral],
    };
    for kind in ["auto", "nsgs", "proximal-newton", "lemke", "pgs"] {
        let (report, solution) = solve(kind, &problem);
        assert!(report.is_converged(), "{kind}");
        assert!((solution.r[0] + 6.0).abs() + (solution.r[1] - 2.0).abs() < 1e-9, "{kind}");
    }
}

#[test]
fn sparse_and_dense_representations_give_the_same_solution() {
    let dense = random(41, vec![Block::Coulomb3 { mu: 0.4 }; 3], 12);
    let mut values = Vec::new();
    dense.w.to_dense(&mut values);
    let mut w = BlockSparse::new();
    w.reset(&[3; 3]);
    for i in 0..3 {
        for j in [2, 0, 1] {
            let block = w.push_block(j);
            for (k, value) in block.iter_mut().enumerate() {
                *value = values[(3 * i + k / 3) * 9 + 3 * j + k % 3];
            }
        }
        w.finish_row();
    }
    let sparse = FrictionContact { w: w.into(), ..dense.clone() };
    let (_, a) = solve("nsgs", &dense);
    let (_, b) = solve("nsgs", &sparse);
    for (a, b) in a.r.iter().zip(&b.r) {
        assert!((a - b).abs() < 1e-9, "{a} {b}"); // both solve to 1e-10
    }
}

#[test]
fn friction_is_refused_where_it_is_not_linear() {
    let spatial = random(42, vec![Block::Coulomb3 { mu: 0.4 }; 2], 8);
    let planar = random(43, vec![Block::Coulomb2 { mu: 0.4 }; 2], 8);
    for (kind, problem) in [("lemke", &spatial), ("pgs", &spatial), ("pgs", &planar)] {
        let params = FrictionSolverParams { kind: kind.parse().unwrap(), ..Default::default() };
        let mut solver = friction_contact_solver(&params).unwrap();
        let error = solver.solve(problem, &mut Solution::default()).unwrap_err();
        assert!(matches!(error, SolveError::Unsupported { solver, .. } if solver == kind), "{error}");
    }
}

#[test]
fn malformed_problems_are_named() {
    let good = random(44, vec![Block::Coulomb2 { mu: 0.4 }; 2], 8);
    let mut short = good.clone();
    short.q.pop();
    let mut infinite = good.clone();
    infinite.q[2] = f64::INFINITY;
    let mut negative = good.clone();
    negative.blocks[1] = Block::Coulomb2 { mu: -0.1 };
    let mut wrong = good.clone();
    wrong.blocks[0] = Block::Coulomb3 { mu: 0.1 };
    let mut unfinished = BlockSparse::new();
    unfinished.reset(&[2, 2]);
    let unfinished = FrictionContact { w: unfinished.into(), ..good.clone() };

    assert!(good.validate().is_ok());
    assert!(matches!(short.validate(), Err(SolveError::SizeMismatch { what: "q", .. })));
    assert!(matches!(infinite.validate(), Err(SolveError::NotFinite { what: "q", index: 2 })));
    assert!(matches!(negative.validate(), Err(SolveError::BadBlock { block: 1, .. })));
    assert!(matches!(wrong.validate(), Err(SolveError::BadBlock { block: 0, .. })));
    assert!(matches!(unfinished.validate(), Err(SolveError::Incomplete { .. })));
}

/// A light slider touching its guide at two corners (published slider-crank, t = 8.43 ms): both corners separate, so
/// r = 0; the slip of 11 m/s beside gaps that open at 2 mm/s once left Lemke's last basis short of digits.
#[test]
fn lemke_reaches_the_tolerance_beside_large_slip() {
    #[rustfmt::skip]
    let w = vec![
        936.3150429992884, -464.13874081112607, -915.5371541325458, -464.1394313717339,
        -464.1423326847903, 239.64864801376942, 461.78290268052797, 239.64899329375143,
        -915.5371541325458, 461.78649455419225, 936.3143524388092, 461.7871851145425,
        -464.14302324539807, 239.6489932937514, 461.78359324087825, 239.64933857424845,
    ];
    let problem = FrictionContact {
        w: Delassus::Dense(DenseDelassus::new(w, &[2, 2]).unwrap()),
        q: vec![9.754738598295329e-3, -10.927610719856935, 2.4828551599383013e-3, -10.927610722568232],
        blocks: vec![Block::Coulomb2 { mu: 0.01 }; 2],
    };
    let params = FrictionSolverParams { kind: "lemke".parse().unwrap(), tolerance: 1e-12, ..Default::default() };
    let mut solution = Solution::default();
    let report = friction_contact_solver(&params).unwrap().solve(&problem, &mut solution).unwrap();
    assert!(report.is_converged(), "{report:?}");
    // the slip is 11 m/s and the tolerance relative to it
    assert!(solution.r.iter().all(|r| r.abs() < 1e-12), "{:?}", solution.r);
}
