//! The default solver: chooses by size and kind of the problem.

use super::FrictionContact;
use super::elimination::Elimination;
use super::nsgs::{Nsgs, SweepLimits};
use super::one_contact::{single_contact, solve_single};
use super::proximal_newton::{NewtonLimits, ProximalNewton};
use super::via_lcp::ContactsViaLcp;
use crate::cones::Block;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::parameters::{FrictionSolverParams, LcpSolverKind};
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Chooses the method:
///
/// 1. one contact: the exact block solution;
/// 2. joints and at most 300 rows: exact elimination of the joints, then as below;
/// 3. sweeps (NSGS) from the warm start, as long as they are foreseen to converge soon;
/// 4. frictionless or planar and at most 60 rows: Lemke;
/// 5. proximal Newton (not with rolling resistance), where its matrix fits in 64 MB and a step costs less than a thousand sweeps;
/// 6. the remaining sweeps; Lemke at the end if the problem is linear and not too large.
///
/// Whatever was tried, the best iterate is returned with its residual.
#[derive(Debug)]
pub struct Auto {
    tolerance: f64,
    elimination: Elimination,
    contacts: Contacts,
}

/// The part of [`Auto`] for problems without joints.
#[derive(Debug)]
struct Contacts {
    max_iterations: usize,
    nsgs: Nsgs,
    newton: ProximalNewton,
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

/// Foreseen sweeps above which Newton steps are tried.
const PATIENCE: f64 = 300.0;

/// Most that Newton steps may cost, relative to `max_iterations` sweeps.
const NEWTON_SHARE: f64 = 3.0;

/// Newton is not tried where fewer steps than this fit in its share.
const FEWEST_NEWTON_STEPS: f64 = 30.0;

/// Newton is not tried where its matrix may have more entries: 64 MB.
const NEWTON_ENTRIES: usize = 1 << 23;

/// What is tried when the first sweeps did not converge.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Pivots,
    NewtonSteps,
    Sweeps,
}

impl Auto {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Auto {
            tolerance: params.tolerance,
            elimination: Elimination::new(),
            contacts: Contacts {
                max_iterations: params.max_iterations,
                nsgs: Nsgs::new(params),
                newton: ProximalNewton::new(params),
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
        let stages: &[Stage] = match pivoting {
            true if rows <= PIVOTING_ROWS => &[Stage::Pivots, Stage::NewtonSteps, Stage::Sweeps],
            true => &[Stage::NewtonSteps, Stage::Sweeps, Stage::Pivots],
            false => &[Stage::NewtonSteps, Stage::Sweeps],
        };
        let first_sweeps = if stages[0] == Stage::Pivots { FIRST_SWEEPS.min(self.max_iterations) } else { self.max_iterations };
        let limits = SweepLimits { tolerance, max_iterations: first_sweeps, patience: PATIENCE };
        let mut report = self.nsgs.solve_within(problem, solution, limits);
        let rest = SweepLimits { max_iterations: self.max_iterations - report.iterations, patience: f64::INFINITY, ..limits };
        for stage in stages {
            if report.is_converged() {
                break;
            }
            self.previous.r.clone_from(&solution.r);
            self.previous.u.clone_from(&solution.u);
            let next = match stage {
                Stage::Pivots => self.lemke.solve(problem, solution, tolerance)?,
                Stage::NewtonSteps if has_rolling(problem) => continue,
                Stage::NewtonSteps => {
                    self.newton.prepare(problem);
                    let steps = NEWTON_SHARE * self.max_iterations as f64 / self.newton.step_cost(&solution.r);
                    if steps < FEWEST_NEWTON_STEPS || self.newton.storage() > NEWTON_ENTRIES {
                        continue;
                    }
                    self.newton.solve_within(
                        problem,
                        solution,
                        NewtonLimits { tolerance, max_steps: steps as usize, deadline: Deadline::default() },
                    )
                }
                Stage::Sweeps if rest.max_iterations == 0 => continue,
                Stage::Sweeps => self.nsgs.solve_within(problem, solution, rest),
            };
            report = self.keep_better(report, next, solution);
        }
        Ok(report)
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

/// True when a contact has rolling resistance, which Newton's equations here do not know.
fn has_rolling(problem: &FrictionContact) -> bool {
    problem.blocks.iter().any(|block| matches!(block, Block::Rolling { .. }))
}

/// True when the problem has an exact complementarity form: contacts without spatial friction.
fn is_linear(problem: &FrictionContact) -> bool {
    problem.blocks.iter().all(|block| match *block {
        Block::Bilateral { .. } => false,
        Block::Unilateral | Block::Coulomb2 { .. } => true,
        Block::Coulomb3 { .. } | Block::Rolling { .. } => block.is_frictionless(),
    })
}

impl OneStepSolver<FrictionContact> for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
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
