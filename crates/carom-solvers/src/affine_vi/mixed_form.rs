//! The problem over intervals as a mixed LCP.
//!
//! With z = r − lower (r on free rows, upper − r where only that bound exists) and, for rows between two bounds, the slack s of the upper one:
//!
//! ```text
//!     0 ≤ u + s ⟂ z ≥ 0,   0 ≤ upper − lower − z ⟂ s ≥ 0
//! ```

use super::AffineVi;
use crate::matrix::DenseMatrix;
use crate::mlcp::Mlcp;
use crate::vi::Set;
use crate::{BoxedSolver, Solution, SolveError, SolveReport};

/// How a row was turned.
#[derive(Clone, Copy, Debug)]
struct Turned {
    shift: f64,
    sign: f64,
    width: Option<f64>,
    free: bool,
}

/// Solves by a solver of mixed LCPs; leaves r and u in `solution`.
pub(super) fn solve(problem: &AffineVi, solver: &mut BoxedSolver<Mlcp>, solution: &mut Solution) -> Result<SolveReport, SolveError> {
    let n = problem.n();
    let rows: Vec<Turned> = problem.sets.iter().flat_map(|set| std::iter::repeat_n(turned(set), set.dim())).collect();
    let bounded: Vec<usize> = (0..n).filter(|&i| rows[i].width.is_some()).collect();
    let total = n + bounded.len();
    let (mut m, mut q) = (vec![0.0; total * total], vec![0.0; total]);
    let mut z = Solution { r: vec![0.0; total], u: Vec::new() };
    for i in 0..n {
        let base: f64 = (0..n).map(|j| problem.w[i * n + j] * rows[j].shift).sum();
        q[i] = rows[i].sign * (problem.q[i] + base);
        for j in 0..n {
            m[i * total + j] = rows[i].sign * problem.w[i * n + j] * rows[j].sign;
        }
        z.r[i] = rows[i].sign * (solution.r[i] - rows[i].shift);
    }
    for (k, &i) in bounded.iter().enumerate() {
        let slack = n + k;
        m[i * total + slack] = 1.0;
        m[slack * total + i] = -1.0;
        q[slack] = rows[i].width.unwrap_or_default();
    }
    let is_equality = (0..total).map(|i| i < n && rows[i].free).collect();
    let mixed = Mlcp { m: DenseMatrix::new(total, total, m)?.into(), q, is_equality };
    let report = solver.solve(&mixed, &mut z)?;
    for ((r, row), z) in solution.r.iter_mut().zip(&rows).zip(&z.r) {
        *r = row.shift + row.sign * z;
    }
    problem.project(&mut solution.r);
    problem.velocity(&solution.r, &mut solution.u);
    Ok(report)
}

fn turned(set: &Set) -> Turned {
    let plain = Turned { shift: 0.0, sign: 1.0, width: None, free: false };
    match *set {
        Set::Interval { lower, upper } => match (lower.is_finite(), upper.is_finite()) {
            (true, true) => Turned { shift: lower, width: Some(upper - lower), ..plain },
            (true, false) => Turned { shift: lower, ..plain },
            (false, true) => Turned { shift: upper, sign: -1.0, ..plain },
            (false, false) => Turned { free: true, ..plain },
        },
        Set::Free { .. } => Turned { free: true, ..plain },
        _ => plain,
    }
}
