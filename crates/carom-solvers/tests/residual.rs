//! The error metric against values worked out by hand from its definition.

use carom_solvers::affine_vi::AffineVi;
use carom_solvers::vi::Set;
use carom_solvers::{Block, Delassus, DenseDelassus, FrictionContact};

/// W = 2 I, contacts with μ = 1: one spatial, one planar.
fn problem() -> FrictionContact {
    let mut w = vec![0.0; 25];
    w.iter_mut().step_by(6).for_each(|x| *x = 2.0);
    FrictionContact {
        w: Delassus::Dense(DenseDelassus::new(w, &[3, 2]).unwrap()),
        q: vec![-4.0, 3.0, 4.0, 1.0, 0.0],
        blocks: vec![Block::Coulomb3 { mu: 1.0 }, Block::Coulomb2 { mu: 1.0 }],
    }
}

#[test]
fn at_zero_impulse() {
    // Contact 1: u = (−4, 3, 4), |u_T| = 5, z = (4 − 5, −3, −4) = (−1, −3, −4), |z_T| = 5; neither
    // polar (5 > 1) nor inside: N = (5 − 1)/2 = 2, P = (2, −1.2, −1.6), |P|² = 8.
    // Contact 2: u = (1, 0), z = (−1, 0): P = 0. E = √8; |q| = |u| = √42, |r| = 0.
    let problem = problem();
    let r = [0.0; 5];
    let mut u = [0.0; 5];
    problem.velocity(&r, &mut u);
    let expected = (8.0_f64 / 42.0).sqrt();
    assert!((problem.residual(&r, &u) - expected).abs() < 1e-15); // one rounding per operation
    // r = 0: the unit of mass does not matter.
    assert!((problem.residual_normalised(&r, &u) - expected).abs() < 1e-15);
}

#[test]
fn with_an_impulse_in_both_units_of_mass() {
    // r = (1, 0, 0, 1, 0): u = (−2, 3, 4, 3, 0).
    // Contact 1: z = (1 + 2 − 5, −3, −4) = (−2, −3, −4): N = (5 − 2)/2 = 1.5, P = (1.5, −0.9, −1.2);
    //   r − P = (−0.5, 0.9, 1.2), squared 2.5.
    // Contact 2: z = (1 − 3, 0): P = 0, r − P = (1, 0), squared 1. |q|² = 42, |u|² = 38, |r|² = 2.
    let problem = problem();
    let r = [1.0, 0.0, 0.0, 1.0, 0.0];
    let mut u = [0.0; 5];
    problem.velocity(&r, &mut u);
    assert_eq!(u, [-2.0, 3.0, 4.0, 3.0, 0.0]);
    assert!((problem.residual(&r, &u) - (3.5_f64 / 42.0).sqrt()).abs() < 1e-15);

    // s = 2, r' = (2, 0, 0, 2, 0). Contact 1: z = (2 + 2 − 5, −3, −4) = (−1, −3, −4), P = (2, −1.2, −1.6);
    //   r' − P = (0, 1.2, 1.6), squared 4. Contact 2: z = (2 − 3, 0), P = 0, squared 4. |r'|² = 8.
    assert_eq!(problem.mass_scale(), 2.0);
    let expected = (8.0_f64 / 42.0).sqrt();
    assert!((problem.residual_normalised(&r, &u) - expected).abs() < 1e-15);
}

#[test]
fn joints_and_frictionless_contacts() {
    let problem = FrictionContact {
        w: Delassus::Dense(DenseDelassus::new(vec![1.0, 0.0, 0.0, 1.0], &[1, 1]).unwrap()),
        q: vec![3.0, -4.0],
        blocks: vec![Block::Bilateral { dim: 1 }, Block::Unilateral],
    };
    // r = (0, 1): u = (3, −3); joint |u| = 3, contact min(1, −3) = −3; |q| = 5.
    let expected = 18.0_f64.sqrt() / 5.0;
    assert!((problem.residual(&[0.0, 1.0], &[3.0, -3.0]) - expected).abs() < 1e-15);
}

#[test]
fn the_largest_norm_divides() {
    // W = 1, r = 5, q = −4: u = 1, min(r, u) = 1, and |r| = 5 is the largest norm.
    let mut problem = FrictionContact {
        w: Delassus::Dense(DenseDelassus::new(vec![1.0], &[1]).unwrap()),
        q: vec![-4.0],
        blocks: vec![Block::Unilateral],
    };
    assert_eq!(problem.residual(&[5.0], &[1.0]), 0.2);
    // q = 3, r = 1: u = 4 is the largest norm.
    problem.q[0] = 3.0;
    assert_eq!(problem.residual(&[1.0], &[4.0]), 0.25);
}

#[test]
fn nothing_moving_is_no_error() {
    let mut problem = problem();
    problem.q.fill(0.0);
    assert_eq!(problem.residual(&[0.0; 5], &[0.0; 5]), 0.0);
}

#[test]
fn rows_of_first_order_problems_take_the_smaller_of_what_is_off() {
    let problem = AffineVi { w: vec![1.0], q: vec![-0.85], sets: vec![Set::NonNegative { dim: 1 }], generation: 0 };
    // u = 0.05 and r = 0.9 should not both be positive: relative to the terms of u, 0.85 + 0.9, which rounding blurs by 1e-13 of them
    let found = problem.residual_normalised(&[0.9], &[0.05], &mut Vec::new());
    assert!((found - 0.05 / 1.75).abs() < 1e-12, "{found}");
    let found = problem.residual_normalised(&[0.05], &[0.9], &mut Vec::new());
    assert!((found - 0.05 / 0.9).abs() < 1e-12, "{found}");
}
