//! Murty's principal pivoting, with block exchanges.

use super::Lcp;
use super::LcpSolverParams;
use super::active_block::ActiveBlock;
use super::unit_diagonal::UnitDiagonalLcp;
use crate::best_iterate::BestIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Solves M_AA z_A = −q_A and changes the rows of A that violate z ≥ 0 or w ≥ 0, until there are none.
///
/// When to use it: P-matrices (among them all definite ones, symmetric or not), dense or sparse; a few solves as a rule,
/// fewer from the active set of a good guess.
///
/// [`Murty::new`] changes all violated rows at once as long as their number falls, at most ten times in vain; then only
/// the one with the least index until the number has fallen below its best.
/// [Murty, *Note on a Bard-type scheme for solving the complementarity problem*, 1974; Júdice & Pires, *A block principal
/// pivoting algorithm for large-scale strictly monotone linear complementarity problems*, 1994]. Both end for
/// P-matrices, from any active set. For other matrices sets may repeat: status `Stalled`.
///
/// Cost: one factorisation of M_AA per change, dense or sparse as M is.
#[derive(Clone, Debug)]
pub struct Murty {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    is_block: bool,
    scaled: UnitDiagonalLcp,
    block: ActiveBlock,
    best: BestIterate,
    is_active: Vec<bool>,
    saved: Vec<bool>,
    violated: Vec<usize>,
    z: Vec<f64>,
    w: Vec<f64>,
    sizes: Vec<f64>,
    candidate: Vec<f64>,
}

/// Block changes in vain before the rule of the least index takes over: the value of Júdice and Pires.
const PATIENCE: usize = 10;

/// Impulses and velocities below this fraction of their terms are rounding.
const VIOLATION_TOLERANCE: f64 = 1e-13;

impl Murty {
    /// The solver with block changes.
    pub fn new(params: &LcpSolverParams) -> Self {
        Murty {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            is_block: true,
            scaled: UnitDiagonalLcp::default(),
            block: ActiveBlock::default(),
            best: BestIterate::default(),
            is_active: Vec::new(),
            saved: Vec::new(),
            violated: Vec::new(),
            z: Vec::new(),
            w: Vec::new(),
            sizes: Vec::new(),
            candidate: Vec::new(),
        }
    }

    /// Murty's own rule: one row at a time, the one with the least index.
    pub fn least_index(params: &LcpSolverParams) -> Self {
        Murty { is_block: false, ..Murty::new(params) }
    }

    /// Solves on the active set and lists the violated rows.
    fn solve_active(&mut self) {
        self.block.factor(&self.scaled.m, &self.is_active);
        self.z.clear();
        self.z.extend(self.scaled.q.iter().map(|q| -q));
        self.block.solve(&self.scaled.m, &mut self.z);
        self.scaled.velocity(&self.z, &mut self.w, &mut self.sizes);
        let smallest = -VIOLATION_TOLERANCE * self.z.iter().fold(0.0, |s: f64, z| s.max(z.abs()));
        self.violated.clear();
        for i in 0..self.z.len() {
            // Active rows of a singular block may keep a velocity.
            let rounding = VIOLATION_TOLERANCE * self.sizes[i];
            let is_violated =
                if self.is_active[i] { self.z[i] < smallest || self.w[i].abs() > 1e3 * rounding } else { self.w[i] < -rounding };
            if is_violated {
                self.violated.push(i);
            }
        }
    }

    /// Changes active sets until no row is violated.
    fn follow(&mut self, problem: &Lcp, deadline: &Deadline) -> (SolveStatus, usize) {
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        let (mut since_saved, mut save_after) = (0, 1);
        for iteration in 1..=self.max_iterations {
            self.solve_active();
            self.scaled.to_problem(&self.z, &mut self.candidate);
            self.best.offer(problem, &self.candidate);
            if self.violated.is_empty() {
                return (SolveStatus::Converged, iteration);
            }
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, iteration);
            }
            if self.violated.len() < fewest {
                (fewest, patience) = (self.violated.len(), PATIENCE);
                since_saved = 0;
            } else {
                patience = patience.saturating_sub(1);
            }
            if self.is_block && patience > 0 {
                self.violated.iter().for_each(|&i| self.is_active[i] = !self.is_active[i]);
                continue;
            }
            // The least index: the set alone decides what follows, so that a set met again is a cycle [Brent 1980].
            if since_saved == 0 {
                save_after = 1;
                self.saved.clone_from(&self.is_active);
            } else if self.saved == self.is_active {
                return (SolveStatus::Stalled, iteration);
            } else if since_saved == save_after {
                save_after *= 2;
                since_saved = 0;
                self.saved.clone_from(&self.is_active);
            }
            since_saved += 1;
            let i = self.violated[0];
            self.is_active[i] = !self.is_active[i];
        }
        (SolveStatus::MaxIterations, self.max_iterations)
    }
}

impl OneStepSolver<Lcp> for Murty {
    fn name(&self) -> &'static str {
        "murty"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let n = problem.n();
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(n);
        solution.r.iter_mut().for_each(|z| *z = z.max(0.0));
        self.best.restart(n);
        self.best.offer(problem, &solution.r);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            self.scaled.fill(problem);
            self.is_active.clear();
            self.is_active.extend(solution.r.iter().map(|z| *z > 0.0));
            for vector in [&mut self.w, &mut self.sizes, &mut self.candidate] {
                vector.resize(n, 0.0);
            }
            (status, iterations) = self.follow(problem, &deadline);
        }
        self.best.write(problem, solution);
        Ok(problem.report("murty", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Lcp {
        // Not symmetric, a P-matrix; z = (1, 1, 1)/3: all rows active. Block changes alone cycle here.
        Lcp::dense(vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0], vec![-1.0; 3]).unwrap()
    }

    #[test]
    fn both_rules_end_on_a_p_matrix() {
        let params = LcpSolverParams::default();
        for mut solver in [Murty::new(&params), Murty::least_index(&params)] {
            for guess in [vec![0.0; 3], vec![1.0, 0.0, 0.0], vec![1.0, 1.0, 0.0]] {
                let mut solution = Solution { r: guess, u: Vec::new() };
                let report = solver.solve(&problem(), &mut solution).unwrap();
                assert!(report.is_converged(), "{report:?}");
                for z in solution.r {
                    assert!((z - 1.0 / 3.0).abs() < 1e-15, "{z}"); // one rounding
                }
            }
        }
    }

    #[test]
    fn a_cycle_is_a_stall() {
        // w = −z − 1 has no solution: the row is wrong in and out.
        let problem = Lcp::dense(vec![-1.0], vec![-1.0]).unwrap();
        let params = LcpSolverParams::default();
        for mut solver in [Murty::new(&params), Murty::least_index(&params)] {
            let report = solver.solve(&problem, &mut Solution::default()).unwrap();
            assert_eq!(report.status, SolveStatus::Stalled);
            assert!(report.iterations < 40, "{report:?}");
        }
    }
}
