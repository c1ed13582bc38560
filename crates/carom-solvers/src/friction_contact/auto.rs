//! The default solver: chooses by size and kind of the problem.

use super::FrictionContact;
use super::elimination::Elimination;
use super::nsgs::Nsgs;
use super::one_contact::{single_contact, solve_single};
use super::via_lcp::ContactsViaLcp;
use crate::cones::Block;
use crate::error::SolveError;
use crate::parameters::{FrictionSolverParams, LcpSolverKind};
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Chooses the method:
///
/// 1. one contact: the exact block solution;
/// 2. joints and at most 300 rows: exact elimination of the joints, then as below;
/// 3. frictionless or planar and at most 60 rows: a few sweeps from the warm start, Lemke if
///    they do not converge, the remaining sweeps if Lemke does not either;
/// 4. otherwise sweeps (NSGS); Lemke at the end if the problem is linear and not too large.
///
/// Whatever was tried, the best iterate is returned with its residual.
#[derive(Clone, Debug)]
pub struct Auto {
    tolerance: f64,
    elimination: Elimination,
    contacts: Contacts,
}

/// The part of [`Auto`] for problems without joints.
#[derive(Clone, Debug)]
struct Contacts {
    max_iterations: usize,
    nsgs: Nsgs,
    lemke: ContactsViaLcp,
    /// The solution of the method tried before.
    previous: Solution,
}

/// Largest number of rows for which joints are eliminated (dense, cubic cost).
const ELIMINATION_ROWS: usize = 300;

/// Largest number of rows for which pivoting is preferred to a slow tail of sweeps.
const PIVOTING_ROWS: usize = 60;

/// Largest number of rows for which pivoting is tried after sweeps failed.
const LAST_RESORT_ROWS: usize = 300;

/// Sweeps before pivoting on a small problem: enough where the warm start is good.
const FIRST_SWEEPS: usize = 60;

impl Auto {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Auto {
            tolerance: params.tolerance,
            elimination: Elimination::new(),
            contacts: Contacts {
                max_iterations: params.max_iterations,
                nsgs: Nsgs::new(params),
                lemke: ContactsViaLcp::new(params, LcpSolverKind::Lemke),
                previous: Solution::default(),
            },
        }
    }
}

impl Contacts {
    /// Solves a valid problem; joints, if any, are swept with the contacts.
    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution, tolerance: f64) -> Result<SolveReport, SolveError> {
        if let Some(block) = single_contact(problem) {
            return solve_single(problem, block, solution, tolerance);
        }
        let rows = problem.n_rows();
        let pivoting = rows <= LAST_RESORT_ROWS && is_linear(problem);
        let sweeps = if pivoting && rows <= PIVOTING_ROWS { FIRST_SWEEPS.min(self.max_iterations) } else { self.max_iterations };
        let mut report = self.nsgs.solve_within(problem, solution, tolerance, sweeps);
        if report.is_converged() || !pivoting {
            return Ok(report);
        }
        self.previous.clone_from(solution);
        let lemke = self.lemke.solve(problem, solution, tolerance)?;
        report = self.keep_better(report, lemke, solution);
        if report.is_converged() || sweeps == self.max_iterations {
            return Ok(report);
        }
        self.previous.clone_from(solution);
        let rest = self.max_iterations - sweeps;
        let last = self.nsgs.solve_within(problem, solution, tolerance, rest);
        Ok(self.keep_better(report, last, solution))
    }

    /// Of `previous` (report `old`) and `solution` (report `new`) leaves the better in `solution`.
    fn keep_better(&mut self, old: SolveReport, new: SolveReport, solution: &mut Solution) -> SolveReport {
        let iterations = old.iterations + new.iterations;
        if new.residual_normalised <= old.residual_normalised {
            SolveReport { iterations, ..new }
        } else {
            std::mem::swap(&mut self.previous, solution);
            // The later method's status says why nothing better was found.
            SolveReport { iterations, status: new.status, ..old }
        }
    }
}

/// True when the problem has an exact complementarity form: contacts without spatial friction.
fn is_linear(problem: &FrictionContact) -> bool {
    problem.blocks.iter().all(|block| match *block {
        Block::Bilateral { .. } => false,
        Block::Unilateral | Block::Coulomb2 { .. } => true,
        Block::Coulomb3 { mu } => mu == 0.0,
    })
}

impl OneStepSolver<FrictionContact> for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        if let Some(block) = single_contact(problem) {
            return solve_single(problem, block, solution, self.tolerance);
        }
        problem.validate()?;
        solution.prepare(problem.n_rows());
        let contacts = &mut self.contacts;
        let has_joints = problem.blocks.iter().any(|b| b.is_bilateral());
        if has_joints && problem.n_rows() <= ELIMINATION_ROWS {
            let solve = |p: &FrictionContact, s: &mut Solution, t| contacts.solve(p, s, t);
            self.elimination.solve(problem, solution, self.tolerance, solve)
        } else {
            contacts.solve(problem, solution, self.tolerance)
        }
    }
}
