//! Contacts of many bodies, solved on velocities: against the assembled problem, by islands and by threads.

use carom_solvers::bodies::{BodyContact, BodyMass, BodyProblem, BodySolution, BodySweeps, BodySweepsParams, GROUND};
use carom_solvers::random::SplitMix64 as Random;
use carom_solvers::registry::friction_contact_solver;
use carom_solvers::{Block, Delassus, DenseDelassus, FrictionContact, FrictionSolverParams, Solution, SolveReport};

type V3 = [f64; 3];

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.uniform()
}

fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: V3) -> V3 {
    let size = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    a.map(|x| x / size)
}

fn direction(random: &mut Random) -> V3 {
    unit(std::array::from_fn(|_| between(random, -1.0, 1.0) + 1e-3))
}

fn contact(random: &mut Random, bodies: [u32; 2], normal: V3, friction: f64) -> BodyContact {
    let helper = if normal[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let tangent = unit(cross(normal, helper));
    let arm = |random: &mut Random| std::array::from_fn(|_| between(random, -0.1, 0.1));
    BodyContact { bodies, normal, tangent, arms: [arm(random), arm(random)], free: [between(random, 0.0, 0.02), 0.0, 0.0], friction }
}

/// Bodies that fall on each other and on the ground; `columns` of them, `height` high, the columns joined where `joined`.
fn pile(columns: u32, height: u32, joined: bool, seed: u64) -> BodyProblem {
    let random = &mut Random::new(seed);
    let mut problem = BodyProblem::default();
    for column in 0..columns {
        for level in 0..height {
            let body = problem.masses.len() as u32;
            let (i, j) = (between(random, 20.0, 60.0), between(random, -5.0, 5.0));
            problem.masses.push(BodyMass { inverse_mass: between(random, 0.2, 1.0), inverse_inertia: [i, j, 0.0, i, j, i + 10.0] });
            problem.velocities.push(std::array::from_fn(|k| if k == 2 { -0.5 } else { between(random, -0.2, 0.2) }));
            let below = if level == 0 { GROUND } else { body - 1 };
            for _ in 0..3 {
                let tilt: V3 = direction(random);
                let normal = unit([0.3 * tilt[0], 0.3 * tilt[1], 1.0]);
                problem.contacts.push(contact(random, [body, below], normal, 0.4));
            }
            if joined && column > 0 {
                let normal = direction(random);
                problem.contacts.push(contact(random, [body, body - height], normal, 0.4));
            }
        }
    }
    problem
}

/// Rows of a contact over all velocities.
fn rows(problem: &BodyProblem, contact: &BodyContact) -> [Vec<f64>; 3] {
    [contact.normal, contact.tangent, cross(contact.normal, contact.tangent)].map(|axis| {
        let mut row = vec![0.0; 6 * problem.masses.len()];
        for ((&body, arm), sign) in contact.bodies.iter().zip(contact.arms).zip([1.0, -1.0]) {
            if body != GROUND {
                let turn = cross(arm, axis);
                for k in 0..3 {
                    row[6 * body as usize + k] = sign * axis[k];
                    row[6 * body as usize + 3 + k] = sign * turn[k];
                }
            }
        }
        row
    })
}

fn respond(mass: &BodyMass, x: &[f64]) -> [f64; 6] {
    let (m, i) = (mass.inverse_mass, mass.inverse_inertia);
    let turn = |a: f64, b: f64, c: f64| a * x[3] + b * x[4] + c * x[5];
    [m * x[0], m * x[1], m * x[2], turn(i[0], i[1], i[2]), turn(i[1], i[3], i[4]), turn(i[2], i[4], i[5])]
}

/// The same problem with W.
fn assembled(problem: &BodyProblem) -> FrictionContact {
    let rows: Vec<Vec<f64>> = problem.contacts.iter().flat_map(|contact| rows(problem, contact)).collect();
    let (mut w, mut q) = (Vec::new(), Vec::new());
    for (r, row) in rows.iter().enumerate() {
        let response: Vec<f64> = problem.masses.iter().zip(row.chunks_exact(6)).flat_map(|(mass, x)| respond(mass, x)).collect();
        w.extend(rows.iter().map(|other| other.iter().zip(&response).map(|(a, b)| a * b).sum::<f64>()));
        let free: f64 = row.iter().zip(problem.velocities.iter().flatten()).map(|(g, v)| g * v).sum();
        q.push(free + problem.contacts[r / 3].free[r % 3]);
    }
    let dims = vec![3; problem.contacts.len()];
    let blocks = problem.contacts.iter().map(|contact| Block::Coulomb3 { mu: contact.friction }).collect();
    FrictionContact { w: Delassus::Dense(DenseDelassus::new(w, &dims).unwrap()), q, blocks }
}

fn solve(problem: &BodyProblem, tolerance: f64) -> (BodySolution, SolveReport) {
    let mut solution = BodySolution::default();
    let report =
        BodySweeps::new(BodySweepsParams { tolerance, max_sweeps: 20_000, ..BodySweepsParams::default() }).solve(problem, &mut solution);
    (solution, report)
}

/// u of all contacts.
fn velocities(problem: &BodyProblem, solution: &BodySolution) -> Vec<f64> {
    (0..problem.contacts.len()).flat_map(|contact| problem.velocity(contact, solution)).collect()
}

#[test]
fn solutions_are_those_of_the_assembled_problem() {
    for seed in 1..6 {
        let problem = pile(3, 4, true, seed);
        let (solution, report) = solve(&problem, 1e-9);
        assert!(report.status.is_converged(), "seed {seed}: {report:?}");
        let with_w = assembled(&problem);
        let r: Vec<f64> = solution.impulses.iter().flatten().copied().collect();
        let mut u = vec![0.0; r.len()];
        with_w.velocity(&r, &mut u);
        // the claimed residuals are those of the problem with W
        let (normalised, plain) = (with_w.residual_normalised(&r, &u), with_w.residual(&r, &u));
        assert!(normalised <= 1e-9 && (normalised - report.residual_normalised).abs() < 1e-13, "{normalised:e} {report:?}");
        assert!((plain - report.residual).abs() < 1e-12, "{plain:e} {report:?}");
        for (a, b) in u.iter().zip(velocities(&problem, &solution)) {
            assert!((a - b).abs() < 1e-12);
        }
        // the cone is kept, whatever the residual
        for (contact, r) in problem.contacts.iter().zip(&solution.impulses) {
            assert!(r[1].hypot(r[2]) <= contact.friction * r[0] * (1.0 + 1e-14));
        }
        // the velocities are unique here
        let mut other = Solution::default();
        let params = FrictionSolverParams { tolerance: 1e-11, ..FrictionSolverParams::default() };
        assert!(friction_contact_solver(&params).unwrap().solve(&with_w, &mut other).unwrap().is_converged());
        for (a, b) in u.iter().zip(&other.u) {
            assert!((a - b).abs() < 1e-6, "seed {seed}: {a} {b}");
        }
    }
}

#[test]
fn islands_are_solved_by_themselves() {
    let apart = pile(4, 3, false, 7);
    let mut solver = BodySweeps::new(BodySweepsParams { tolerance: 1e-10, max_sweeps: 20_000, ..BodySweepsParams::default() });
    let mut together = BodySolution::default();
    assert!(solver.solve(&apart, &mut together).is_converged());
    assert_eq!(solver.n_islands(), 4);
    // the second column alone
    let mut one =
        BodyProblem { masses: apart.masses[3..6].to_vec(), velocities: apart.velocities[3..6].to_vec(), ..BodyProblem::default() };
    for contact in &apart.contacts[9..18] {
        let bodies = contact.bodies.map(|body| if body == GROUND { GROUND } else { body - 3 });
        one.contacts.push(BodyContact { bodies, ..*contact });
    }
    let (alone, _) = solve(&one, 1e-10);
    for (a, b) in alone.bodies.iter().flatten().zip(together.bodies[3..6].iter().flatten()) {
        assert!((a - b).abs() < 1e-8);
    }
}

/// Contacts that are added to a solved problem: those that they concern are solved again, the others stay as they are.
#[test]
fn contacts_are_added_to_a_solution() {
    let whole = pile(6, 5, false, 11);
    // the columns 1 and 2 touch only then
    let mut joining = contact(&mut Random::new(2), [7, 12], [1.0, 0.0, 0.0], 0.4);
    joining.free[0] = -0.1;
    let mut with_all = whole.clone();
    with_all.contacts.insert(40, joining);
    let mut solver = BodySweeps::new(BodySweepsParams { tolerance: 1e-10, max_sweeps: 20_000, ..BodySweepsParams::default() });
    let mut solution = BodySolution::default();
    assert!(solver.solve(&whole, &mut solution).is_converged());
    let before = solution.clone();
    solution.impulses.insert(40, [0.0; 3]);
    let report = solver.solve_changed(&with_all, &mut solution, &[40]);
    assert!(report.is_converged() && solution.impulses[40][0] > 0.0, "{report:?}");
    assert_eq!(solver.n_islands(), 5);
    let (at_once, _) = solve(&with_all, 1e-10);
    for (a, b) in solution.bodies.iter().flatten().zip(at_once.bodies.iter().flatten()) {
        assert!((a - b).abs() < 1e-8);
    }
    // bodies 5 to 14 are in the columns that touch now
    assert_eq!((&before.bodies[..5], &before.bodies[15..]), (&solution.bodies[..5], &solution.bodies[15..]));
    assert!((report.residual - with_all.residual(&solution)).abs() < 1e-15);
    assert!(assembled(&with_all).residual_normalised(solution.impulses.as_flattened(), &velocities(&with_all, &solution)) < 1.1e-10);
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    // several blocks of bodies
    let problem = pile(60, 30, true, 3);
    assert!(problem.contacts.len() > 6000);
    let by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve(&problem, 1e-4))
    };
    let (one, report) = by(1);
    assert!(report.status.is_converged());
    for threads in [1, 2, 3] {
        let (other, of_other) = by(threads);
        assert_eq!(
            (&one.impulses, &one.bodies, report.iterations),
            (&other.impulses, &other.bodies, of_other.iterations),
            "{threads} threads"
        );
    }
}

#[test]
fn a_body_with_hundreds_of_contacts_is_taken() {
    let random = &mut Random::new(11);
    let mut problem = pile(150, 1, false, 5);
    problem.masses.push(BodyMass { inverse_mass: 0.01, inverse_inertia: [0.5, 0.0, 0.0, 0.5, 0.0, 0.5] });
    problem.velocities.push([0.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    for body in 0..150 {
        problem.contacts.push(contact(random, [150, body], [0.0, 0.0, 1.0], 0.3));
    }
    let (_, report) = solve(&problem, 1e-8);
    assert!(report.status.is_converged(), "{report:?}");
}

#[test]
fn joints_and_contacts_are_solved_together() {
    // two bodies hinged at a point; the first rests on the ground, without friction
    let mut problem = BodyProblem::default();
    for _ in 0..2 {
        problem.masses.push(BodyMass { inverse_mass: 1.0, inverse_inertia: [1.0, 0.0, 0.0, 1.0, 0.0, 1.0] });
        problem.velocities.push([0.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    }
    let floor = BodyContact {
        bodies: [0, GROUND],
        normal: [0.0, 0.0, 1.0],
        tangent: [1.0, 0.0, 0.0],
        arms: [[0.0; 3]; 2],
        free: [0.0; 3],
        friction: 0.0,
    };
    problem.contacts.push(floor);
    let mut sides = [[0.0; 18], [0.0; 18]];
    for k in 0..3 {
        (sides[0][6 * k + k], sides[1][6 * k + k]) = (1.0, -1.0);
    }
    problem.push_rows(Block::Bilateral { dim: 3 }, &[0.0; 3], [(0, &sides[0][..]), (1, &sides[1][..])].into_iter());
    let (solution, report) = solve(&problem, 1e-12);
    assert!(report.status.is_converged(), "{report:?}");
    // both stop: the floor takes the momentum of two, the hinge that of one
    assert!((solution.impulses[0][0] - 2.0).abs() < 1e-10 && (solution.row_impulses[2] + 1.0).abs() < 1e-10, "{solution:?}");
    assert!(solution.bodies.iter().flatten().all(|v| v.abs() < 1e-10));
}

/// A chain of 400 bodies hangs from the ground and pulls at its heavy end, 1000 times as heavy; every tenth body leans on the floor, and one joint is there
/// twice. Sweeps from joint to joint would need thousands: news passes one link per sweep.
#[test]
fn chains_of_joints_are_one_exact_block() {
    let n = 400_u32;
    let mut problem = BodyProblem::default();
    let fixed = |sign: f64| {
        let mut rows = [0.0; 18];
        (0..3).for_each(|k| rows[6 * k + k] = sign);
        rows
    };
    let (first, second) = (fixed(1.0), fixed(-1.0));
    for body in 0..n {
        let mass = if body + 1 == n { 1000.0 } else { 1.0 };
        problem.masses.push(BodyMass { inverse_mass: 1.0 / mass, inverse_inertia: [1.0, 0.0, 0.0, 1.0, 0.0, 1.0] });
        problem.velocities.push([0.0, 0.1, -1.0, 0.0, 0.0, 0.0]);
        let above = if body == 0 { GROUND } else { body - 1 };
        for _ in 0..if body == 7 { 2 } else { 1 } {
            problem.push_rows(Block::Bilateral { dim: 3 }, &[0.0; 3], [(above, &first[..]), (body, &second[..])].into_iter());
        }
        if body % 10 == 5 {
            problem.contacts.push(BodyContact {
                bodies: [body, GROUND],
                normal: [0.0, 0.0, 1.0],
                tangent: [1.0, 0.0, 0.0],
                arms: [[0.0, 0.0, -0.1], [0.0; 3]],
                free: [0.0; 3],
                friction: 0.3,
            });
        }
    }
    let params = BodySweepsParams { tolerance: 1e-10, aim: 1e-10, ..BodySweepsParams::default() };
    let report = BodySweeps::new(params).solve(&problem, &mut BodySolution::default());
    assert!(report.status.is_converged() && report.iterations < 50, "{report:?}");
    // the tolerance is relative to |r|, about 1400 √400 in a mass unit of about 2: velocities of 1e-9 m/s need 1e-14 of that
    let (solution, report) = solve(&problem, 1e-14);
    assert!(report.status.is_converged() && report.iterations < 200, "{report:?}");
    // the chain hangs on the ground: nothing moves
    assert!(solution.bodies.iter().flatten().all(|v| v.abs() < 1e-9));
    // the first joint and the contacts carry the momentum of all
    let carried: f64 = -solution.row_impulses[2] + solution.impulses.iter().map(|p| p[0]).sum::<f64>();
    assert!((carried - (f64::from(n) - 1.0 + 1000.0)).abs() < 1e-5, "{carried}");
}

/// A tower of equal cubes at rest, four points per joint, that carries weight for one step of 5 ms. The solution is known: nothing moves, and each joint carries
/// what stands on it.
#[test]
fn towers_at_rest_are_solved_exactly() {
    let (n, weight) = (300_u32, 9.81 * 5e-3);
    let mut problem = BodyProblem::default();
    for body in 0..n {
        problem.masses.push(BodyMass { inverse_mass: 1.0, inverse_inertia: [600.0, 0.0, 0.0, 600.0, 0.0, 600.0] });
        problem.velocities.push([0.0, 0.0, -weight, 0.0, 0.0, 0.0]);
        problem.slow.push(true);
        let below = if body == 0 { GROUND } else { body - 1 };
        for corner in 0..4 {
            let (x, y) = (if corner % 2 == 0 { 0.05 } else { -0.05 }, if corner < 2 { 0.05 } else { -0.05 });
            problem.contacts.push(BodyContact {
                bodies: [body, below],
                normal: [0.0, 0.0, 1.0],
                tangent: [1.0, 0.0, 0.0],
                arms: [[x, y, -0.05], [x, y, 0.05]],
                free: [0.0; 3],
                friction: 0.5,
            });
        }
    }
    let (solution, report) = solve(&problem, 1e-4);
    assert!(report.residual_normalised <= 1e-12, "{report:?}");
    // the residual times |r|, which is below 1000 m/s in the mass unit here
    assert!(velocities(&problem, &solution).iter().all(|u| u.abs() < 1e-9));
    for joint in 0..n {
        let carried: f64 = solution.impulses[4 * joint as usize..4 * joint as usize + 4].iter().map(|p| p[0]).sum();
        // 300 kg at such speeds
        assert!((carried - weight * f64::from(n - joint)).abs() < 3e-7, "{joint}: {carried}");
    }
    // sweeps alone stop where the tolerance is met, and the tower sinks
    let mut creeping = BodySolution::default();
    let mut sweeps = BodySweeps::new(BodySweepsParams { exact_flops: 0.0, max_sweeps: 20_000, ..BodySweepsParams::default() });
    sweeps.solve(&problem, &mut creeping);
    assert!(velocities(&problem, &creeping).iter().any(|u| u.abs() > 1e-6));
}

/// Where bodies said to be at rest slide and part, Newton's method may fail; sweeps then go on to the tolerance. The assembled problem judges.
#[test]
fn structures_that_slide_and_open_reach_the_tolerance() {
    let mut best = f64::INFINITY;
    for seed in 1..6 {
        let mut problem = pile(3, 4, true, seed);
        problem.slow = vec![true; problem.masses.len()];
        let mut solution = BodySolution::default();
        let report = BodySweeps::new(BodySweepsParams { cheap_visits: 0, ..BodySweepsParams::default() }).solve(&problem, &mut solution);
        let with_w = assembled(&problem);
        let r: Vec<f64> = solution.impulses.iter().flatten().copied().collect();
        let mut u = vec![0.0; r.len()];
        with_w.velocity(&r, &mut u);
        let normalised = with_w.residual_normalised(&r, &u);
        assert!((normalised - report.residual_normalised).abs() < 1e-13, "seed {seed}: {normalised:e} {report:?}");
        assert!(normalised <= 1e-4, "seed {seed}: {report:?}");
        best = best.min(normalised);
        for (a, b) in u.iter().zip(velocities(&problem, &solution)) {
            assert!((a - b).abs() < 1e-12, "seed {seed}: {a} {b}");
        }
    }
    // some of them by Newton's method: sweeps stop at the tolerance
    assert!(best <= 1e-8, "{best:e}");
}
