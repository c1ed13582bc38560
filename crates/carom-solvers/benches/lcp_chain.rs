//! Time of an LCP of a column of n equal beads, all contacts active, by several solvers, and how it grows with n. Prints, asserts nothing.

use carom_solvers::{Lcp, LcpSolverKind, LcpSolverParams, Solution, SparseMatrix, lcp_solver};
use std::time::Instant;

/// Solvers and the longest chain that is worth the time. Sweeps and pivots on a dense tableau are not made for this.
const SOLVERS: [(&str, usize); 7] = [
    ("newton-min", 10_000),
    ("auto", 10_000),
    ("newton-fischer-burmeister", 10_000),
    ("interior-point", 10_000),
    ("mangasarian", 1000),
    ("projected-cg", 1000),
    ("lemke", 100),
];

/// q of a contact.
type Velocity = fn(usize) -> f64;

fn main() {
    let columns: [(&str, Velocity); 3] =
        [("all falling", |_| -1.0), ("at rest", |i| if i == 0 { -1.0 } else { 0.0 }), ("a wave", |i| if i == 0 { -1.0 } else { 1e-9 })];
    for (title, q) in columns {
        println!("{title}");
        for (name, longest) in SOLVERS {
            let mut before: Option<f64> = None;
            for n in [100, 1000, 10_000].into_iter().filter(|n| *n <= longest) {
                let (time, text) = measure(name, &chain(n, q));
                let growth = before.map(|before| format!("× {:.1}", time / before)).unwrap_or_default();
                println!("  {name:<27}{n:>6} {time:>12.1} µs {growth:<9} {text}");
                before = Some(time);
            }
        }
    }
}

/// M of contacts k between bead k − 1 (or the ground) and bead k, unit masses.
fn chain(n: usize, q: Velocity) -> Lcp {
    let mut m = SparseMatrix::default();
    m.reset(n);
    for i in 0..n {
        if i > 0 {
            m.push(i - 1, -1.0);
        }
        m.push(i, if i == 0 { 1.0 } else { 2.0 });
        if i + 1 < n {
            m.push(i + 1, -1.0);
        }
        m.finish_row();
    }
    Lcp { m: m.into(), q: (0..n).map(q).collect() }
}

/// Median time of cold solves (guess zero, storage warm), µs.
fn measure(name: &str, problem: &Lcp) -> (f64, String) {
    let kind: LcpSolverKind = name.parse().expect("a registered name");
    let mut solver = lcp_solver(&LcpSolverParams { kind, ..Default::default() }).expect("default parameters are valid");
    let mut solution = Solution::default();
    let mut times = Vec::new();
    let start = Instant::now();
    loop {
        solution.r.fill(0.0);
        let begin = Instant::now();
        let report = solver.solve(problem, &mut solution);
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        if start.elapsed().as_secs_f64() > 0.3 || times.len() == 101 {
            times.sort_by(f64::total_cmp);
            let text = match report {
                Ok(r) => format!("{}, {} iterations, {:.1e}", r.status.name(), r.iterations, r.residual_normalised),
                Err(error) => error.to_string(),
            };
            return (times[times.len() / 2], text);
        }
    }
}
