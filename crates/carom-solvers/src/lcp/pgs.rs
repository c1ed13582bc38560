//! Projected Gauss–Seidel for the LCP.

use super::Lcp;
use crate::error::SolveError;
use crate::parameters::LcpSolverParams;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// z_i ← max(0, z_i − ω (M z + q)_i / M_ii), row after row. [Cryer 1971]
///
/// Converges for symmetric positive definite M; each sweep costs n². Rows with M_ii ≤ 0 keep their
/// guess. The residual is evaluated every ten sweeps and when a sweep changes nothing.
#[derive(Clone, Debug)]
pub struct Pgs {
    pub(crate) tolerance: f64,
    max_iterations: usize,
    relaxation: f64,
    best: Vec<f64>,
}

/// Sweeps between evaluations of the residual.
const CHECK_INTERVAL: usize = 10;

impl Pgs {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Pgs { tolerance: params.tolerance, max_iterations: params.max_iterations, relaxation: params.relaxation, best: Vec::new() }
    }

    /// One sweep; returns the largest change |Δz_i|·M_ii, a velocity.
    fn sweep(&self, problem: &Lcp, z: &mut [f64]) -> f64 {
        let mut change = 0.0_f64;
        for i in 0..problem.n() {
            let diagonal = problem.m.get(i, i);
            if diagonal > 0.0 {
                let w = problem.q[i] + problem.m.row_dot(i, z);
                let next = (z[i] - self.relaxation * w / diagonal).max(0.0);
                if next.is_finite() {
                    change = change.max((next - z[i]).abs() * diagonal);
                    z[i] = next;
                }
            }
        }
        change
    }
}

impl OneStepSolver<Lcp> for Pgs {
    fn name(&self) -> &'static str {
        "pgs"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n());
        let Solution { r: z, u: w } = solution;
        z.iter_mut().for_each(|z| *z = z.max(0.0));
        problem.velocity(z, w);
        let mut best = problem.residual_normalised(z, w);
        self.best.clone_from(z);
        let mut status = SolveStatus::MaxIterations;
        let mut iterations = 0;
        if best <= self.tolerance {
            status = SolveStatus::Converged;
        }
        while !status.is_converged() && iterations < self.max_iterations {
            iterations += 1;
            let change = self.sweep(problem, z);
            if change > 0.0 && !iterations.is_multiple_of(CHECK_INTERVAL) && iterations != self.max_iterations {
                continue;
            }
            problem.velocity(z, w);
            let residual = problem.residual_normalised(z, w);
            if residual < best {
                best = residual;
                self.best.clone_from(z);
            }
            if best <= self.tolerance {
                status = SolveStatus::Converged;
            } else if change == 0.0 {
                status = SolveStatus::Stalled;
                break;
            }
        }
        z.clone_from(&self.best);
        problem.velocity(z, w);
        Ok(SolveReport {
            status,
            solver: "pgs",
            iterations,
            residual: problem.residual(z, w),
            residual_normalised: problem.residual_normalised(z, w),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_diagonal_problem_in_one_check() {
        let problem = Lcp::dense(vec![2.0, 0.0, 0.0, 4.0], vec![-2.0, 1.0]).unwrap();
        let mut solution = Solution::default();
        let report = Pgs::new(&LcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged());
        assert_eq!(solution.r, [1.0, 0.0]);
        assert_eq!(solution.u, [0.0, 1.0]);
    }

    #[test]
    fn a_row_without_diagonal_stalls() {
        let problem = Lcp::dense(vec![0.0], vec![-1.0]).unwrap();
        let mut solution = Solution::default();
        let report = Pgs::new(&LcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
        assert_eq!(report.status, SolveStatus::Stalled);
    }
}
