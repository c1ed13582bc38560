//! Projected Gauss–Seidel for the LCP.

use super::Lcp;
use super::LcpSolverParams;
use super::polished_iterate::PolishedIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// z_i ← max(0, z_i − ω (M z + q)_i / M_ii), row after row. [Cryer 1971] Use it for large problems with a positive diagonal and a good guess, where a moderate
/// accuracy is enough.
///
/// Converges for symmetric positive definite M; each sweep costs the stored entries of M. Rows with M_ii ≤ 0 keep their
/// guess. The residual is evaluated every ten sweeps and when a sweep changes nothing.
#[derive(Clone, Debug)]
pub struct Pgs {
    pub(crate) tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    relaxation: f64,
    diagonal: Vec<f64>,
    best: PolishedIterate,
}

/// Sweeps between evaluations of the residual.
const CHECK_INTERVAL: usize = 10;

impl Pgs {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Pgs {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            relaxation: params.relaxation,
            diagonal: Vec::new(),
            best: PolishedIterate::default(),
        }
    }

    /// One sweep; returns the largest change |Δz_i|·M_ii, a velocity.
    fn sweep(&self, problem: &Lcp, z: &mut [f64]) -> f64 {
        let mut change = 0.0_f64;
        for (i, &diagonal) in self.diagonal.iter().enumerate() {
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
        let deadline = Deadline::after(self.time_limit);
        self.diagonal.clear();
        self.diagonal.extend((0..problem.n()).map(|i| problem.m.get(i, i)));
        self.best.begin(problem, solution);
        let z = &mut solution.r;
        let mut status = SolveStatus::MaxIterations;
        let mut iterations = 0;
        while self.best.residual() > self.tolerance && iterations < self.max_iterations {
            iterations += 1;
            let change = self.sweep(problem, z);
            if change > 0.0 && !iterations.is_multiple_of(CHECK_INTERVAL) && iterations != self.max_iterations {
                continue;
            }
            self.best.offer(problem, z);
            if change == 0.0 {
                status = SolveStatus::Stalled;
                break;
            }
            if deadline.is_over() {
                status = SolveStatus::TimeLimit;
                break;
            }
        }
        Ok(self.best.finish(problem, "pgs", solution, iterations, self.tolerance, status))
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
