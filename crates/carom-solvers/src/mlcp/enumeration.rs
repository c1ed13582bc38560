//! Mixed LCP: every active set of a small problem.

use super::Mlcp;
use super::MlcpSolverParams;
use super::equilibrated::Equilibrated;
use crate::best_iterate::BestIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::lcp::active_block::ActiveBlock;
use crate::lcp::subsets::SubsetsBySize;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Solves M_AA z_A = −q_A for the sets A of all equations and some complementarity rows, smallest first.
///
/// When to use it: at most [`Enumeration::MAX_ROWS`] complementarity rows and any M, as a reference.
///
/// The set of the guess comes first. Redundant equations make M_AA singular; a basic solution of its elimination with
/// complete pivoting stands for all then. When no set gives a solution, the best point is returned with status `Stalled`.
/// The number of sets is bounded by itself: `max_iterations` is not used, the time limit is.
///
/// Cost: up to 2ᶜ factorisations of the equations and c/2 rows on average, dense or sparse as M is.
#[derive(Clone, Debug)]
pub struct Enumeration {
    tolerance: f64,
    time_limit: Option<f64>,
    units: Equilibrated,
    block: ActiveBlock,
    best: BestIterate,
    contacts: Vec<usize>,
    is_active: Vec<bool>,
    scaled_z: Vec<f64>,
    z: Vec<f64>,
}

impl Enumeration {
    /// The most complementarity rows it takes: a million active sets.
    pub const MAX_ROWS: usize = 20;

    /// A solver with these parameters.
    pub fn new(params: &MlcpSolverParams) -> Self {
        Enumeration {
            tolerance: params.tolerance,
            time_limit: params.time_limit,
            units: Equilibrated::default(),
            block: ActiveBlock::default(),
            best: BestIterate::default(),
            contacts: Vec::new(),
            is_active: Vec::new(),
            scaled_z: Vec::new(),
            z: Vec::new(),
        }
    }

    /// Offers the point of a set of complementarity rows.
    fn try_set(&mut self, problem: &Mlcp, set: u32) {
        for (k, &i) in self.contacts.iter().enumerate() {
            self.is_active[i] = set >> k & 1 == 1;
        }
        let scaled = &self.units.problem;
        self.block.factor(&scaled.m, &self.is_active);
        self.scaled_z.clear();
        self.scaled_z.extend(scaled.q.iter().map(|q| -q));
        self.block.solve(&scaled.m, &mut self.scaled_z);
        self.units.to_problem(&self.scaled_z, &mut self.z);
        self.best.offer(problem, &self.z);
    }

    /// Tries the set of the guess, then all others.
    fn search(&mut self, problem: &Mlcp, guess: &[f64], deadline: &Deadline) -> (SolveStatus, usize) {
        self.units.fill(problem);
        self.is_active.clone_from(&problem.is_equality);
        self.z.resize(problem.n(), 0.0);
        let first = self.contacts.iter().enumerate().filter(|(_, i)| guess[**i] > 0.0).fold(0, |set, (k, _)| set | 1 << k);
        let mut tried = 0;
        for set in std::iter::once(first).chain(SubsetsBySize::new(self.contacts.len())) {
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, tried);
            }
            tried += 1;
            self.try_set(problem, set);
            if self.best.residual() <= self.tolerance {
                return (SolveStatus::Converged, tried);
            }
        }
        (SolveStatus::Stalled, tried)
    }
}

impl OneStepSolver<Mlcp> for Enumeration {
    fn name(&self) -> &'static str {
        "enumeration"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Mlcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let n = problem.n();
        self.contacts.clear();
        self.contacts.extend((0..n).filter(|&i| !problem.is_equality[i]));
        if self.contacts.len() > Self::MAX_ROWS {
            return Err(SolveError::Unsupported {
                solver: "enumeration",
                reason: "it has more than 20 complementarity rows",
                alternatives: "elimination, lemke, newton-fischer-burmeister",
            });
        }
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(n);
        problem.project(&mut solution.r);
        self.best.restart(n);
        self.best.offer(problem, &solution.r);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            (status, iterations) = self.search(problem, &solution.r, &deadline);
        }
        self.best.write(problem, solution);
        Ok(problem.report("enumeration", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_set_is_found() {
        // v + p = 2, 0 ≤ v − 1 ⊥ p ≥ 0: (v, p) = (1, 1) and (2, 0).
        let problem = Mlcp::dense(vec![1.0, 1.0, 1.0, 0.0], vec![-2.0, -1.0], vec![true, false]).unwrap();
        let solve = |guess: Vec<f64>| {
            let mut solution = Solution { r: guess, u: Vec::new() };
            let report = Enumeration::new(&MlcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
            assert!(report.is_converged() && report.iterations == 1, "{report:?}");
            solution.r
        };
        // This matrix is not monotone and has two solutions; the guess decides.
        assert_eq!(solve(vec![0.0, 0.0]), [2.0, 0.0]);
        assert_eq!(solve(vec![0.0, 1.0]), [1.0, 1.0]);
    }
}
