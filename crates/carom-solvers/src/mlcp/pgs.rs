//! Mixed LCP: projected Gauss–Seidel.

use super::Mlcp;
use super::MlcpSolverParams;
use crate::best_iterate::BestIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// z_i ← z_i − ω (M z + q)_i / M_ii, row after row, with max(0, ·) on the complementarity rows. [Cryer 1971]
///
/// When to use it: large M with a positive diagonal (joints and contacts together in W = G M⁻¹ Gᵀ), a good guess, moderate
/// accuracy. Converges for symmetric semidefinite M where a solution exists, slowly where it is ill-conditioned.
///
/// A row with M_ii ≤ 0, such as the constraints of [A Gᵀ; −G 0], is refused. Cost: one product with M per sweep; the
/// residual is evaluated every ten sweeps and when a sweep changes nothing.
#[derive(Clone, Debug)]
pub struct Pgs {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    relaxation: f64,
    inverse_diagonal: Vec<f64>,
    best: BestIterate,
}

/// Sweeps between evaluations of the residual.
const CHECK_INTERVAL: usize = 10;

impl Pgs {
    /// A solver with these parameters.
    pub fn new(params: &MlcpSolverParams) -> Self {
        Pgs {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            relaxation: params.relaxation,
            inverse_diagonal: Vec::new(),
            best: BestIterate::default(),
        }
    }

    /// One sweep; false when it changed nothing.
    fn sweep(&self, problem: &Mlcp, z: &mut [f64]) -> bool {
        let mut has_changed = false;
        for i in 0..z.len() {
            let w = problem.q[i] + problem.m.row_dot(i, z);
            let next = z[i] - self.relaxation * w * self.inverse_diagonal[i];
            let next = if problem.is_equality[i] { next } else { next.max(0.0) };
            if next.is_finite() && next != z[i] {
                has_changed = true;
                z[i] = next;
            }
        }
        has_changed
    }
}

impl OneStepSolver<Mlcp> for Pgs {
    fn name(&self) -> &'static str {
        "pgs"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Mlcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let n = problem.n();
        self.inverse_diagonal.clear();
        self.inverse_diagonal.extend((0..n).map(|i| 1.0 / problem.m.get(i, i)));
        if self.inverse_diagonal.iter().any(|d| !(*d > 0.0 && d.is_finite())) {
            return Err(SolveError::Unsupported {
                solver: "pgs",
                reason: "the diagonal of M is not positive",
                alternatives: "elimination, lemke, newton-fischer-burmeister",
            });
        }
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(n);
        problem.project(&mut solution.r);
        self.best.restart(n);
        self.best.offer(problem, &solution.r);
        let mut status = SolveStatus::MaxIterations;
        let mut iterations = 0;
        while self.best.residual() > self.tolerance && iterations < self.max_iterations {
            iterations += 1;
            let has_changed = self.sweep(problem, &mut solution.r);
            if has_changed && !iterations.is_multiple_of(CHECK_INTERVAL) && iterations != self.max_iterations {
                continue;
            }
            self.best.offer(problem, &solution.r);
            if !has_changed || deadline.is_over() {
                status = if has_changed { SolveStatus::TimeLimit } else { SolveStatus::Stalled };
                break;
            }
        }
        self.best.write(problem, solution);
        Ok(problem.report("pgs", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complementarity_rows_are_projected() {
        let problem = Mlcp::dense(vec![2.0, 0.0, 0.0, 4.0], vec![2.0, 8.0], vec![true, false]).unwrap();
        let mut solution = Solution::default();
        let report = Pgs::new(&MlcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged());
        assert_eq!(solution.r, [-1.0, 0.0]);
        assert_eq!(solution.u, [0.0, 8.0]);
    }

    #[test]
    fn rows_without_diagonal_are_refused() {
        let problem = Mlcp::dense(vec![1.0, 1.0, -1.0, 0.0], vec![1.0; 2], vec![true, false]).unwrap();
        let result = Pgs::new(&MlcpSolverParams::default()).solve(&problem, &mut Solution::default());
        assert!(matches!(result, Err(SolveError::Unsupported { .. })));
    }
}
