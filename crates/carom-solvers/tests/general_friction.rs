//! General convex friction sets: hand-known solutions, agreement with the Coulomb solvers, random problems.

use crate::generate::{Random, random};
use carom_solvers::{
    Block, DenseDelassus, FrictionContact, FrictionSet, FrictionSolverParams, GeneralContact, GeneralFriction, GeneralFrictionNewton,
    OneStepSolver, Solution, SolveReport, friction_contact_solver,
};

fn solve(problem: &GeneralFriction) -> (SolveReport, Solution) {
    let mut solution = Solution::default();
    let report = GeneralFrictionNewton::default().solve(problem, &mut solution).unwrap();
    (report, solution)
}

/// One contact with diagonal W.
fn one(w: &[f64], q: &[f64], mu: f64, set: FrictionSet) -> GeneralFriction {
    let n = q.len();
    let values = (0..n * n).map(|k| if k / n == k % n { w[k / n] } else { 0.0 }).collect();
    GeneralFriction { w: DenseDelassus::new(values, &[n]).unwrap().into(), q: q.to_vec(), contacts: vec![GeneralContact { mu, set }] }
}

/// Random W = G Gᵀ with `dof` columns in G and q in its range.
fn random_general(seed: u64, contacts: Vec<GeneralContact>, dof: usize) -> GeneralFriction {
    let mut random = Random::new(seed);
    let dims: Vec<usize> = contacts.iter().map(GeneralContact::dim).collect();
    let n: usize = dims.iter().sum();
    let g = random.vector(n * dof);
    let v = random.vector(dof);
    let row = |i: usize| &g[i * dof..(i + 1) * dof];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let w = (0..n * n).map(|k| dot(row(k / n), row(k % n))).collect();
    let q = (0..n).map(|i| dot(row(i), &v)).collect();
    GeneralFriction { w: DenseDelassus::new(w, &dims).unwrap().into(), q, contacts }
}

fn assert_solution(problem: &GeneralFriction, r: &[f64], u: &[f64]) {
    let (report, solution) = solve(problem);
    assert!(report.is_converged(), "{report:?}");
    for (found, exact) in solution.r.iter().chain(&solution.u).zip(r.iter().chain(u)) {
        // tolerance 1e-10 of |q| ≤ 15, masses and inertias ≤ 2
        assert!((found - exact).abs() < 1e-8, "{:?} {:?}", solution.r, solution.u);
    }
}

#[test]
fn a_block_slides_on_an_anisotropic_plane() {
    // Mass 2 lands at 1 m/s: r_N = 2, μ r_N = 1. By maximal dissipation r_T = −A u_T/√(u_Tᵀ A u_T), A = diag(1, ¼):
    // for u_T = (3, 8), u_Tᵀ A u_T = 25 and r_T = −(3, 2)/5; before, u_T was (3, 8) − r_T/2.
    let ellipse = FrictionSet::Ellipse { axes: [1.0, 0.5] };
    assert_solution(&one(&[0.5; 3], &[-1.0, 3.3, 8.2], 0.5, ellipse), &[2.0, -0.6, -0.4], &[0.0, 3.0, 8.0]);
}

#[test]
fn a_block_sticks_inside_the_ellipse_and_slides_outside() {
    let ellipse = FrictionSet::Ellipse { axes: [1.0, 0.5] };
    // (0.6)² + (0.3/0.5)² = 0.72 < 1: it sticks.
    assert_solution(&one(&[0.5; 3], &[-1.0, 0.3, -0.15], 0.5, ellipse), &[2.0, -0.6, 0.3], &[0.0; 3]);
    // The same speed along the weak axis alone, 0.6 > 0.5: it slides on with what is left.
    assert_solution(&one(&[0.5; 3], &[-1.0, 0.0, 0.3], 0.5, ellipse), &[2.0, 0.0, -0.5], &[0.0, 0.0, 0.05]);
    // And off the ground there is nothing.
    assert_solution(&one(&[0.5; 3], &[1.0, 0.3, 0.3], 0.5, ellipse), &[0.0; 3], &[1.0, 0.3, 0.3]);
}

#[test]
fn a_soft_finger_slides_and_spins() {
    // Mass 2, inertia 0.1 about the normal, semi-axis 0.5 m of the moment, μ r_N = 1: u_T = (3, 0, 8) has u_Tᵀ A u_T = 9 + 16, so
    // r_T = −(3, 0, 2)/5.
    let finger = FrictionSet::SoftFinger { moment: 0.5 };
    let w = [0.5, 0.5, 0.5, 10.0];
    assert_solution(&one(&w, &[-1.0, 3.3, 0.0, 12.0], 0.5, finger), &[2.0, -0.6, 0.0, -0.4], &[0.0, 3.0, 0.0, 8.0]);
    // Pure spin: the whole moment μ r_N b.
    assert_solution(&one(&w, &[-1.0, 0.0, 0.0, 12.0], 0.5, finger), &[2.0, 0.0, 0.0, -0.5], &[0.0, 0.0, 0.0, 7.0]);
    // Pure sliding: Coulomb.
    assert_solution(&one(&w, &[-1.0, 0.0, 3.5, 0.0], 0.5, finger), &[2.0, 0.0, -1.0, 0.0], &[0.0, 0.0, 3.0, 0.0]);
    // Slow: it sticks in all directions.
    assert_solution(&one(&w, &[-1.0, 0.1, 0.1, 2.0], 0.5, finger), &[2.0, -0.2, -0.2, -0.2], &[0.0; 4]);
}

#[test]
fn a_superellipse_pulls_towards_its_corner() {
    // On the diagonal the corner of |x|⁴ + |y|⁴ = 1 is at 2^{−1/4} in both components.
    let set = FrictionSet::Superellipse { axes: [1.0; 2], exponent: 4.0 };
    let corner = 0.5f64.powf(0.25);
    assert_solution(&one(&[1.0; 3], &[-1.0, 3.0, 3.0], 1.0, set), &[1.0, -corner, -corner], &[0.0, 3.0 - corner, 3.0 - corner]);
}

#[test]
fn disks_and_segments_are_coulomb() {
    for seed in 0..30 {
        for (block, set) in [
            (Block::Coulomb3 { mu: 0.4 }, FrictionSet::Disk),
            (Block::Coulomb2 { mu: 0.4 }, FrictionSet::Segment),
            (Block::Unilateral, FrictionSet::Point),
        ] {
            let coulomb = random(seed, vec![block; 4], 8 * block.dim());
            let mut exact = Solution::default();
            let report = friction_contact_solver(&FrictionSolverParams { tolerance: 1e-12, ..Default::default() })
                .unwrap()
                .solve(&coulomb, &mut exact)
                .unwrap();
            assert!(report.is_converged(), "{report:?}");
            let FrictionContact { w, q, .. } = coulomb;
            let problem = GeneralFriction { w, q, contacts: vec![GeneralContact { mu: block.friction(), set }; 4] };
            let (report, solution) = solve(&problem);
            assert!(report.is_converged(), "{report:?}");
            for (x, y) in solution.r.iter().zip(&exact.r) {
                // residual 1e-10 times the inverse of the least eigenvalue of W, some 1e0 to 1e1
                assert!((x - y).abs() < 1e-8, "seed {seed} {set:?}: {x} {y}");
            }
        }
    }
}

/// Contacts of every kind.
fn mixed(mu: f64) -> Vec<GeneralContact> {
    [
        FrictionSet::Point,
        FrictionSet::Segment,
        FrictionSet::Disk,
        FrictionSet::Ellipse { axes: [1.0, 0.2] },
        FrictionSet::SoftFinger { moment: 0.1 },
        FrictionSet::Superellipse { axes: [1.0, 0.5], exponent: 4.0 },
        FrictionSet::Superellipse { axes: [0.5, 1.0], exponent: 1.5 },
    ]
    .map(|set| GeneralContact { mu, set })
    .to_vec()
}

#[test]
fn random_problems_satisfy_the_law() {
    for seed in 0..40 {
        for mu in [0.0, 0.3, 1.0] {
            let problem = random_general(seed, mixed(mu), 30);
            let (report, solution) = solve(&problem);
            assert!(report.is_converged(), "seed {seed} mu {mu} {report:?}");
            let mut start = 0;
            for contact in &problem.contacts {
                let end = start + contact.dim();
                let (r, u) = (&solution.r[start..end], &solution.u[start..end]);
                start = end;
                // The law by its definition, not by projections: complementarity, the friction bound, maximal dissipation.
                // Tolerance 1e-10 of sizes up to 10, amplified by the curvature of narrow sets.
                assert!(r[0] >= 0.0 && u[0] > -1e-8 && (r[0] * u[0]).abs() < 1e-8, "seed {seed} {contact:?} {r:?} {u:?}");
                let bound = contact.mu * r[0];
                assert!(contact.set.gauge(&r[1..]) <= bound + 1e-12, "seed {seed} {contact:?} {r:?}");
                let dissipation: f64 = -r[1..].iter().zip(&u[1..]).map(|(r, u)| r * u).sum::<f64>();
                assert!((dissipation - bound * contact.set.support(&u[1..])).abs() < 1e-8, "seed {seed} {contact:?} {r:?} {u:?}");
            }
        }
    }
}

#[test]
fn redundant_contacts_are_solved_too() {
    // 20 rows on 10 degrees of freedom: W is singular, and only the proximal term makes Newton's matrix regular.
    let mut failed = 0;
    for seed in 0..40 {
        let (report, solution) = solve(&random_general(seed, mixed(0.5), 10));
        assert!(solution.r.iter().chain(&solution.u).all(|x| x.is_finite()));
        failed += usize::from(!report.is_converged());
    }
    // Friction of 0.5 on rank-deficient W: solutions exist, no method is sure to find them.
    assert!(failed <= 1, "{failed} of 40");
}

#[test]
fn the_unit_of_mass_does_not_matter() {
    let problem = random_general(3, mixed(0.6), 30);
    let (_, solution) = solve(&problem);
    let mut values = Vec::new();
    problem.w.to_dense(&mut values);
    for scale in [1e-6, 1e6] {
        let dims: Vec<usize> = problem.contacts.iter().map(GeneralContact::dim).collect();
        let w = DenseDelassus::new(values.iter().map(|w| scale * w).collect(), &dims).unwrap().into();
        let (report, heavy) = solve(&GeneralFriction { w, ..problem.clone() });
        assert!(report.is_converged(), "{report:?}");
        for (r, heavy) in solution.r.iter().zip(&heavy.r) {
            assert!((r - scale * heavy).abs() < 1e-8, "{r} {heavy}"); // both at 1e-10
        }
    }
}

#[test]
fn guesses_and_limits() {
    let problem = random_general(4, mixed(0.6), 30);
    let mut solver = GeneralFrictionNewton::default();
    let n = problem.n_rows();
    for guess in [vec![f64::NAN; n], vec![-1e3; n], vec![1e3; n], vec![1.0; 2]] {
        let mut solution = Solution { r: guess, u: Vec::new() };
        assert!(solver.solve(&problem, &mut solution).unwrap().is_converged());
        let again = solver.solve(&problem, &mut solution).unwrap();
        assert!(again.is_converged() && again.iterations == 0, "{again:?}");
    }
    let params = carom_solvers::general_friction::GeneralFrictionParams { max_iterations: 1, ..Default::default() };
    let report = GeneralFrictionNewton::new(&params).unwrap().solve(&problem, &mut Solution::default()).unwrap();
    assert_eq!((report.status.name(), report.iterations), ("max-iterations", 1));
    // A wall that comes nearer and no inertia to stop it.
    let squeezed = one(&[0.0, 1.0, 1.0], &[-1.0, 0.5, 0.0], 0.5, FrictionSet::Disk);
    let (report, solution) = solve(&squeezed);
    assert!(!report.is_converged() && solution.r.iter().all(|r| r.is_finite()), "{report:?}");
    let nothing = GeneralFriction { w: DenseDelassus::new(Vec::new(), &[]).unwrap().into(), q: Vec::new(), contacts: Vec::new() };
    assert!(solve(&nothing).0.is_converged());
}
