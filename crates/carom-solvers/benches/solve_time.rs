//! Time of the solves a simulation does most: one contact, and a stack. Prints, asserts nothing.

#[allow(dead_code)]
#[path = "../tests/generate.rs"]
mod generate;

use carom_solvers::{Block, BlockSparse, Delassus, FrictionContact, FrictionSolverParams, Solution, friction_contact_solver};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let one = [
        ("1D contact", Block::Unilateral, vec![2.0], vec![-1.0]),
        ("2D slide", Block::Coulomb2 { mu: 0.3 }, vec![2.0, 0.3, 0.3, 1.0], vec![-1.0, 2.0]),
        ("3D stick", Block::Coulomb3 { mu: 0.8 }, vec![2.0, 0.3, 0.1, 0.3, 1.0, 0.2, 0.1, 0.2, 1.5], vec![-1.0, 0.1, -0.1]),
        ("3D slide", Block::Coulomb3 { mu: 0.3 }, vec![2.0, 0.3, 0.1, 0.3, 1.0, 0.2, 0.1, 0.2, 1.5], vec![-1.0, 2.0, -0.5]),
    ];
    for (name, block, w, q) in one {
        let mut sparse = BlockSparse::new();
        sparse.reset(&[block.dim()]);
        sparse.push_block(0).copy_from_slice(&w);
        sparse.finish_row();
        let problem = FrictionContact { w: Delassus::BlockSparse(sparse), q, blocks: vec![block] };
        let (cold, report) = measure(&problem, 1_000_000, true);
        let (warm, _) = measure(&problem, 1_000_000, false);
        println!("{name:<22}{cold:>12.1} ns   warm {warm:.1} ns, {report}");
    }
    for layers in [5, 20] {
        let problem = stack(layers, 4);
        let (time, report) = measure(&problem, 5, true);
        println!("{:<22}{:>12.1} µs   {report}", format!("stack, {} contacts", layers * 4), time / 1e3);
        let (time, report) = measure(&problem, 1000, false);
        println!("{:<22}{:>12.1} µs   {report}", "  warm", time / 1e3);
    }
    measure_hyperstatic();
}

/// Twenty cubes one on the other, turned by random angles: cold, warm, and warm when the lowest cube is
/// pulled a little, differently from step to step.
fn measure_hyperstatic() {
    let problem = generate::stack_of_cubes(20, 1, 0.0);
    let (time, report) = measure(&problem, 20, true);
    println!("{:<22}{:>12.1} µs   {report}", format!("cubes, {} contacts", problem.blocks.len()), time / 1e3);
    let (time, report) = measure(&problem, 1000, false);
    println!("{:<22}{:>12.1} µs   {report}", "  warm", time / 1e3);

    let mut random = generate::Random::new(1);
    let steps: Vec<FrictionContact> = (0..30).map(|_| generate::stack_of_cubes(20, 1, 1e-6 * random.signed())).collect();
    let mut solver = friction_contact_solver(&FrictionSolverParams::default()).expect("default parameters are valid");
    let mut solution = Solution::default();
    solver.solve(&problem, &mut solution).expect("valid problem");
    let start = Instant::now();
    let reports: Vec<_> = steps.iter().map(|step| solver.solve(step, &mut solution).expect("valid problem")).collect();
    let time = start.elapsed().as_secs_f64() * 1e6 / steps.len() as f64;
    let (iterations, converged) =
        (reports.iter().map(|r| r.iterations).sum::<usize>(), reports.iter().filter(|r| r.is_converged()).count());
    println!("{:<22}{time:>12.1} µs   {converged} of {} converged, {iterations} iterations", "  warm, pulled", steps.len());
}

/// Nanoseconds per solve with the default solver, cold (from zero) or warm.
fn measure(problem: &FrictionContact, repetitions: usize, cold: bool) -> (f64, String) {
    let mut solver = friction_contact_solver(&FrictionSolverParams::default()).expect("default parameters are valid");
    let mut solution = Solution::default();
    let mut report = solver.solve(problem, &mut solution).expect("valid problem");
    let start = Instant::now();
    for _ in 0..repetitions {
        if cold {
            solution.r.fill(0.0);
        }
        report = solver.solve(black_box(problem), &mut solution).expect("valid problem");
    }
    let time = start.elapsed().as_secs_f64() * 1e9 / repetitions as f64;
    let text = format!("{:?}, {} iterations, {:.1e}", report.status, report.iterations, report.residual_normalised);
    (time, text)
}

/// A tower of unit cubes of unit mass, `feet` = 4 contacts per layer, sheared at the base.
fn stack(layers: usize, feet: usize) -> FrictionContact {
    let arms: Vec<[f64; 2]> = (0..feet).map(|k| [if k & 1 == 0 { 0.5 } else { -0.5 }, if k & 2 == 0 { 0.5 } else { -0.5 }]).collect();
    // Jacobian (N, T1, T2) of a point at (x, y, z) of a body: rows over (v, ω), inertia 1/6.
    let jacobian = |p: [f64; 3]| {
        let [x, y, z] = p;
        [[0.0, 0.0, 1.0, y, -x, 0.0], [1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x]]
    };
    let inverse_mass = [1.0, 1.0, 1.0, 6.0, 6.0, 6.0];
    // Contact (layer, foot): body `layer` above (at its bottom), body `layer − 1` below (at its top).
    let side = |contact: usize, body: usize| {
        let (layer, foot) = (contact / feet, contact % feet);
        let [x, y] = arms[foot];
        if layer == body {
            Some((1.0, jacobian([x, y, -0.5])))
        } else if layer == body + 1 {
            Some((-1.0, jacobian([x, y, 0.5])))
        } else {
            None
        }
    };
    let n = layers * feet;
    let mut w = BlockSparse::new();
    w.reset(&vec![3; n]);
    for i in 0..n {
        for j in 0..n {
            if (i / feet).abs_diff(j / feet) > 1 {
                continue;
            }
            let block = w.push_block(j);
            for body in 0..layers {
                if let (Some((si, gi)), Some((sj, gj))) = (side(i, body), side(j, body)) {
                    for (a, row) in gi.iter().enumerate() {
                        for (b, column) in gj.iter().enumerate() {
                            let product: f64 = (0..6).map(|k| row[k] * inverse_mass[k] * column[k]).sum();
                            block[a * 3 + b] += si * sj * product;
                        }
                    }
                }
            }
        }
        w.finish_row();
    }
    // One step of gravity; the lowest body is pushed sideways.
    let mut q = vec![0.0; 3 * n];
    for contact in 0..n {
        if contact < feet {
            q[3 * contact] = -0.01;
            q[3 * contact + 1] = 0.002;
        } else if contact < 2 * feet {
            q[3 * contact + 1] = -0.002;
        }
    }
    FrictionContact { w: Delassus::BlockSparse(w), q, blocks: vec![Block::Coulomb3 { mu: 0.5 }; n] }
}
