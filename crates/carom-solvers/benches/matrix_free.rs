//! Cost of products and sweeps with W assembled and body by body, on packings of spheres, and of whole solves in both forms. Prints,
//! asserts nothing.

#[allow(dead_code)]
#[path = "../tests/generate.rs"]
mod generate;
#[allow(dead_code)]
#[path = "../tests/generate_global.rs"]
mod generate_global;

use carom_solvers::{
    Delassus, FrictionContact, FrictionSolverParams, GlobalFrictionContact, GlobalSolverKind, GlobalSolverParams, OneStepSolver, Solution,
    friction_contact_global, friction_contact_solver, global_solver,
};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    for cells in [3, 5, 8] {
        let global = generate_global::sphere_packing(cells, 0.3);
        let assembled = global.to_local().expect("valid problem");
        let by_body = global.to_matrix_free().expect("rigid bodies");
        let bytes = |problem: &FrictionContact| match &problem.w {
            Delassus::BlockSparse(w) => 8 * w.values().len(),
            _ => 8 * 18 * global.h.n_columns() / 3 * 2, // nearly all contacts have two bodies
        };
        println!("{} contacts, {} bodies", global.blocks.len(), global.n_dof() / 6);
        for (name, problem) in [("assembled", &assembled), ("body by body", &by_body)] {
            let (product, row) = (time_product(problem), time_rows(problem));
            println!(
                "  {name:<14} product {:>8.1} µs   off-diagonal rows {:>8.1} µs   10 nsgs sweeps {:>9.1} µs   {:>6.1} MB",
                product * 1e6,
                row * 1e6,
                time_sweeps(problem) * 1e6,
                bytes(problem) as f64 / 1e6
            );
        }
        println!("  velocities     10 nsgs sweeps {:>9.1} µs", time_global_sweeps(&global) * 1e6);
        for &kind in GlobalSolverKind::ALL {
            for tolerance in [1e-4, 1e-8] {
                // The rest takes minutes there.
                if cells <= 3 {
                    print_solve(&global, kind, tolerance);
                }
            }
        }
    }
}

/// Seconds of the fastest of some calls.
fn fastest(repetitions: usize, mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..repetitions {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn time_product(problem: &FrictionContact) -> f64 {
    let r: Vec<f64> = (0..problem.n_rows()).map(|k| (k % 7) as f64 - 3.0).collect();
    let mut u = vec![0.0; r.len()];
    fastest(30, || problem.w.multiply(black_box(&r), &mut u))
}

/// The part of a sweep that depends on the form of W.
fn time_rows(problem: &FrictionContact) -> f64 {
    let r: Vec<f64> = (0..problem.n_rows()).map(|k| (k % 7) as f64 - 3.0).collect();
    fastest(30, || {
        for block in 0..problem.blocks.len() {
            let mut u = [0.0; 3];
            problem.w.add_off_diagonal(block, black_box(&r), &mut u);
            black_box(u);
        }
    })
}

/// The difference of 20 and 10 iterations: without what a solve does once.
fn time_sweeps(problem: &FrictionContact) -> f64 {
    let time = |max_iterations| {
        let params =
            FrictionSolverParams { kind: "nsgs".parse().expect("a solver"), max_iterations, tolerance: 1e-14, ..Default::default() };
        let mut solver = friction_contact_solver(&params).expect("valid parameters");
        fastest(20, || {
            solver.solve(problem, &mut Solution::default()).expect("valid problem");
        })
    };
    time(20) - time(10)
}

fn time_global_sweeps(problem: &GlobalFrictionContact) -> f64 {
    let time = |max_iterations| {
        let params = GlobalSolverParams { max_iterations, tolerance: 1e-14, ..Default::default() };
        let mut solver = friction_contact_global::Nsgs::new(&params);
        fastest(20, || {
            solver.solve(problem, &mut Solution::default()).expect("valid problem");
        })
    };
    time(20) - time(10)
}

fn print_solve(problem: &GlobalFrictionContact, kind: GlobalSolverKind, tolerance: f64) {
    let params = GlobalSolverParams { kind, tolerance, time_limit: Some(5.0), ..Default::default() };
    let mut solver = global_solver(&params).expect("valid parameters");
    let start = Instant::now();
    match solver.solve(problem, &mut Solution::default()) {
        Ok(report) => println!(
            "  {:<14} {tolerance:.0e}: {:>8.1} ms, {:?} after {} iterations, {:.1e}",
            kind.name(),
            start.elapsed().as_secs_f64() * 1e3,
            report.status,
            report.iterations,
            report.residual_normalised
        ),
        Err(error) => println!("  {:<14} {error}", kind.name()),
    }
}
