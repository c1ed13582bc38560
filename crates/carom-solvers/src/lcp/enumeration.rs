//! Every active set of a small LCP.

use super::Lcp;
use super::LcpSolverParams;
use super::active_block::ActiveBlock;
use super::subsets::SubsetsBySize;
use super::unit_diagonal::UnitDiagonalLcp;
use crate::best_iterate::BestIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::matrix::DenseMatrix;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Solves M_AA z_A = −q_A for the active sets A, smallest first, until z and w are nonnegative.
///
/// When to use it: at most [`Enumeration::MAX_ROWS`] rows and any M, as a reference, and to learn how many solutions there
/// are ([`Enumeration::all_solutions`]).
///
/// The active set of the guess comes first. Where M_AA is singular the basic solution of its elimination with complete
/// pivoting stands for all: for symmetric semidefinite M nothing is lost (one of its solutions has independent rows), for
/// others a solution that is not basic may be missed. When no set gives a solution, the best point is returned
/// with status `Stalled`. The number of sets is bounded by itself: `max_iterations` is not used, the time limit is.
///
/// Cost: up to 2ⁿ factorisations of n/2 rows on average: milliseconds for 10 rows, seconds for 20.
#[derive(Clone, Debug)]
pub struct Enumeration {
    tolerance: f64,
    time_limit: Option<f64>,
    dense: Lcp,
    scaled: UnitDiagonalLcp,
    block: ActiveBlock,
    best: BestIterate,
    is_active: Vec<bool>,
    scaled_z: Vec<f64>,
    z: Vec<f64>,
}

/// Solutions closer than this, relative to the larger, are one: two active sets of a degenerate solution.
const SAME_SOLUTION: f64 = 1e-8;

impl Enumeration {
    /// The most rows it takes: a million active sets.
    pub const MAX_ROWS: usize = 20;

    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Enumeration {
            tolerance: params.tolerance,
            time_limit: params.time_limit,
            dense: Lcp::default(),
            scaled: UnitDiagonalLcp::default(),
            block: ActiveBlock::default(),
            best: BestIterate::default(),
            is_active: Vec::new(),
            scaled_z: Vec::new(),
            z: Vec::new(),
        }
    }

    /// All solutions, in the order of the size of their active sets; empty when there is none.
    ///
    /// A solution is a point with a normalised residual of at most 1e-10; points closer than 1e-8 are one. Of solutions
    /// that are not isolated (a singular M_AA: a segment or more), one per active set is returned.
    /// # Errors
    /// [`SolveError::Unsupported`] for more than [`Enumeration::MAX_ROWS`] rows, or what is wrong with the problem.
    pub fn all_solutions(problem: &Lcp) -> Result<Vec<Solution>, SolveError> {
        let mut solver = Enumeration::new(&LcpSolverParams::default());
        solver.start(problem)?;
        let n = problem.n();
        let mut found: Vec<Solution> = Vec::new();
        let mut w = vec![0.0; n];
        for set in SubsetsBySize::new(n) {
            solver.is_active.iter_mut().enumerate().for_each(|(i, active)| *active = set >> i & 1 == 1);
            solver.solve_active();
            problem.velocity(&solver.z, &mut w);
            let is_solution = problem.residual_normalised(&solver.z, &w) <= solver.tolerance;
            if is_solution && !found.iter().any(|other| is_same(&other.r, &solver.z)) {
                found.push(Solution { r: solver.z.clone(), u: w.clone() });
            }
        }
        Ok(found)
    }

    /// Checks the problem and takes it in dense form.
    fn start(&mut self, problem: &Lcp) -> Result<(), SolveError> {
        problem.validate()?;
        let n = problem.n();
        if n > Self::MAX_ROWS {
            return Err(SolveError::Unsupported {
                solver: "enumeration",
                reason: "it has more than 20 rows",
                alternatives: "auto, lemke, interior-point",
            });
        }
        let mut values = Vec::new();
        problem.m.to_dense(&mut values);
        self.dense = Lcp { m: DenseMatrix::new(n, n, values)?.into(), q: problem.q.clone() };
        self.scaled.fill(&self.dense);
        self.is_active.clear();
        self.is_active.resize(n, false);
        self.z.clear();
        self.z.resize(n, 0.0);
        Ok(())
    }

    /// z for the active set, negative impulses replaced by zero.
    fn solve_active(&mut self) {
        self.block.factor(&self.scaled.m, &self.is_active);
        self.scaled_z.clear();
        self.scaled_z.extend(self.scaled.q.iter().map(|q| -q));
        self.block.solve(&self.scaled.m, &mut self.scaled_z);
        self.scaled.to_problem(&self.scaled_z, &mut self.z);
    }

    /// Tries the set of the guess, then all others.
    fn search(&mut self, deadline: &Deadline) -> (SolveStatus, usize) {
        let guess = (0..self.z.len()).filter(|&i| self.is_active[i]).fold(0, |set, i| set | 1 << i);
        let sets = std::iter::once(guess).chain(SubsetsBySize::new(self.z.len()));
        let mut tried = 0;
        for set in sets {
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, tried);
            }
            tried += 1;
            self.is_active.iter_mut().enumerate().for_each(|(i, active)| *active = set >> i & 1 == 1);
            self.solve_active();
            self.best.offer(&self.dense, &self.z);
            if self.best.residual() <= self.tolerance {
                return (SolveStatus::Converged, tried);
            }
        }
        (SolveStatus::Stalled, tried)
    }
}

fn is_same(a: &[f64], b: &[f64]) -> bool {
    let size = a.iter().chain(b).fold(0.0, |s: f64, x| s.max(x.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME_SOLUTION * size)
}

impl OneStepSolver<Lcp> for Enumeration {
    fn name(&self) -> &'static str {
        "enumeration"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        self.start(problem)?;
        let n = problem.n();
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(n);
        solution.r.iter_mut().for_each(|z| *z = z.max(0.0));
        self.best.restart(n);
        self.best.offer(problem, &solution.r);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            self.is_active.iter_mut().zip(&solution.r).for_each(|(active, z)| *active = *z > 0.0);
            (status, iterations) = self.search(&deadline);
        }
        self.best.write(problem, solution);
        Ok(problem.report("enumeration", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_solutions_of_a_matrix_that_is_not_p() {
        // w = −z + 1: z = 0 and z = 1; the product of two such rows has four solutions.
        let problem = Lcp::dense(vec![-1.0, 0.0, 0.0, -1.0], vec![1.0, 2.0]).unwrap();
        let found: Vec<Vec<f64>> = Enumeration::all_solutions(&problem).unwrap().into_iter().map(|s| s.r).collect();
        assert_eq!(found, [vec![0.0, 0.0], vec![1.0, 0.0], vec![0.0, 2.0], vec![1.0, 2.0]]);
        let none = Lcp::dense(vec![-1.0], vec![-1.0]).unwrap();
        assert!(Enumeration::all_solutions(&none).unwrap().is_empty());
    }

    #[test]
    fn a_degenerate_solution_counts_once() {
        let problem = Lcp::dense(vec![2.0, 1.0, 1.0, 2.0], vec![-2.0, -1.0]).unwrap();
        let found = Enumeration::all_solutions(&problem).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].r, [1.0, 0.0]);
    }

    #[test]
    fn the_set_of_the_guess_comes_first() {
        let problem = Lcp::dense(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0]).unwrap();
        let mut solution = Solution { r: vec![1.0; 2], u: Vec::new() };
        let report = Enumeration::new(&LcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged() && report.iterations == 1, "{report:?}");
    }

    #[test]
    fn more_rows_are_refused() {
        let problem = Lcp::dense(vec![0.0; 441], vec![1.0; 21]).unwrap();
        let error = Enumeration::new(&LcpSolverParams::default()).solve(&problem, &mut Solution::default()).unwrap_err();
        assert!(matches!(error, SolveError::Unsupported { .. }));
        assert!(Enumeration::all_solutions(&problem).is_err());
    }
}
