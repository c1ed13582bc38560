//! The default solver: chooses by size and kind of the problem, watches progress, and goes on with another method.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::admm::Admm;
use super::elimination::Elimination;
use super::interior_point::InteriorPoint;
use super::nsgs::{Nsgs, SweepLimits};
use super::one_contact::{single_contact, solve_single};
use super::proximal_newton::{NewtonLimits, ProximalNewton};
use super::via_lcp::ContactsViaLcp;
use crate::cones::{Block, norm_squared};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::kinds::LcpSolverKind;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// For every problem, unless you know better. Chooses the method:
///
/// 1. one contact: the exact block solution;
/// 2. joints and at most 300 rows of contacts: exact elimination of the joints (sparse), then as below;
/// 3. sweeps (`nsgs`) from the warm start, as long as they are foreseen to converge soon;
/// 4. frictionless or planar and at most 60 rows: pivots (`lemke`);
/// 5. without a guess and where few contacts slide, `admm`, as long as it is foreseen to converge soon;
/// 6. some Newton steps (`proximal-newton`);
/// 7. `interior-point`, which needs no guess (not with bounded rows, which are no cones);
/// 8. more Newton steps, some sweeps and Newton again from there;
/// 9. the remaining sweeps; pivots at the end if the problem is linear and not too large.
///
/// Methods 5 to 8 factor matrices with the pattern of W; they are left out where the factors would need more than 64 MB or a step the time of a
/// thousand sweeps. Whatever was tried, the best iterate is returned with its residual and the name of the method that found it.
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
    time_limit: Option<f64>,
    nsgs: Nsgs,
    admm: Admm,
    newton: ProximalNewton,
    interior_point: InteriorPoint,
    lemke: ContactsViaLcp,
    /// The solution of the methods tried before.
    previous: Solution,
}

/// Largest number of rows for which pivoting is preferred to a slow tail of sweeps.
const PIVOTING_ROWS: usize = 60;

/// Largest number of rows for which pivoting is tried after sweeps failed.
const LAST_RESORT_ROWS: usize = 300;

/// Sweeps before pivoting on a small problem: enough where the warm start is good.
const FIRST_SWEEPS: usize = 60;

/// Foreseen sweeps above which other methods are tried: what those cost, about.
const PATIENCE: f64 = 80.0;

/// Iterations of ADMM: where it is the right method it needs fewer.
const ADMM_ITERATIONS: usize = 80;

/// Foreseen iterations above which ADMM is left.
const ADMM_PATIENCE: f64 = 80.0;

/// Share of the closed contacts that slide, above which ADMM is not tried. Where nothing slides the problem is a convex
/// program, which ADMM solves fast; the slip terms it takes from the last iterate make it slow.
const MOST_SLIDING: f64 = 0.3;

/// Newton steps before the interior point method: where Newton is the right method it needs fewer, and that many cost about as much as
/// the other.
const FIRST_NEWTON_STEPS: usize = 80;

/// Sweeps between two attempts of Newton's method: they lead to another start.
const SWEEPS_BETWEEN: usize = 200;

/// Most that Newton steps may cost, relative to `max_iterations` sweeps.
const NEWTON_SHARE: f64 = 3.0;

/// Newton is not tried where fewer steps than this fit in its share.
const FEWEST_NEWTON_STEPS: f64 = 30.0;

/// Matrices are not factored where the factors have more entries: 64 MB.
const FACTOR_ENTRIES: usize = 1 << 23;

/// What is tried when the first sweeps did not converge.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Pivots,
    Admm,
    NewtonSteps(usize),
    InteriorPoint,
    Sweeps(usize),
}

/// After the first sweeps, in this order.
const STAGES: &[Stage] = &[
    Stage::Admm,
    Stage::NewtonSteps(FIRST_NEWTON_STEPS),
    Stage::InteriorPoint,
    Stage::NewtonSteps(usize::MAX),
    Stage::Sweeps(SWEEPS_BETWEEN),
    Stage::NewtonSteps(usize::MAX),
    Stage::Sweeps(usize::MAX),
];

/// What may be spent.
#[derive(Clone, Copy, Debug)]
struct Budget {
    tolerance: f64,
    deadline: Deadline,
    /// Whether there was no guess.
    is_cold: bool,
    sweeps: usize,
    /// Whether matrices with the pattern of W may be factored; found out when first needed.
    newton_steps: Option<usize>,
}

impl Auto {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Auto {
            tolerance: params.tolerance,
            elimination: Elimination::new(),
            contacts: Contacts {
                max_iterations: params.max_iterations,
                time_limit: params.time_limit,
                nsgs: Nsgs::new(params),
                admm: Admm::new(params),
                newton: ProximalNewton::new(params),
                interior_point: InteriorPoint::new(params),
                lemke: ContactsViaLcp::new(params, LcpSolverKind::Lemke),
                previous: Solution::default(),
            },
        }
    }
}

impl Contacts {
    /// Solves a valid problem; joints, if any, are treated with the contacts.
    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution, tolerance: f64) -> Result<SolveReport, SolveError> {
        if let Some(block) = single_contact(problem) {
            return solve_single(problem, block, solution, tolerance);
        }
        let rows = problem.n_rows();
        let pivoting = rows <= LAST_RESORT_ROWS && is_linear(problem);
        let (before, after): (&[Stage], &[Stage]) = match pivoting {
            true if rows <= PIVOTING_ROWS => (&[Stage::Pivots], &[]),
            true => (&[], &[Stage::Pivots]),
            false => (&[], &[]),
        };
        let deadline = Deadline::after(self.time_limit);
        let is_cold = solution.r.iter().all(|r| *r == 0.0);
        let mut budget = Budget { tolerance, deadline, is_cold, sweeps: self.max_iterations, newton_steps: None };
        let first = if before.is_empty() { self.max_iterations } else { FIRST_SWEEPS.min(self.max_iterations) };
        let mut report =
            self.nsgs.solve_within(problem, solution, SweepLimits { tolerance, max_iterations: first, patience: PATIENCE, deadline });
        budget.sweeps -= report.iterations;
        for &stage in before.iter().chain(STAGES).chain(after) {
            if report.is_converged() {
                break;
            }
            if deadline.is_over() {
                report.status = SolveStatus::TimeLimit;
                break;
            }
            self.previous.r.clone_from(&solution.r);
            self.previous.u.clone_from(&solution.u);
            if let Some(next) = self.run(stage, problem, solution, &mut budget)? {
                report = self.keep_better(report, next, solution);
            }
        }
        Ok(report)
    }

    /// Runs a stage; none where it is not for this problem.
    fn run(
        &mut self,
        stage: Stage,
        problem: &FrictionContact,
        solution: &mut Solution,
        budget: &mut Budget,
    ) -> Result<Option<SolveReport>, SolveError> {
        let Budget { tolerance, deadline, sweeps, .. } = *budget;
        let may_factor = |contacts: &mut Self, budget: &mut Budget| contacts.newton_steps(problem, solution, budget) > 0;
        match stage {
            Stage::Pivots => self.lemke.solve(problem, solution, tolerance).map(Some),
            Stage::Admm
                if budget.is_cold
                    && !has_balls(problem)
                    && share_of_sliding(problem, &solution.r) <= MOST_SLIDING
                    && may_factor(self, budget) =>
            {
                // From zero: at the iterate of the sweeps the velocities are still wrong, and ADMM starts from both.
                (self.admm.tolerance, self.admm.time_limit) = (tolerance, deadline.remaining());
                self.admm.max_iterations = ADMM_ITERATIONS.min(self.max_iterations);
                self.admm.patience = ADMM_PATIENCE;
                solution.r.fill(0.0);
                self.admm.solve(problem, solution).map(Some)
            }
            Stage::NewtonSteps(most) if !has_rolling(problem) && may_factor(self, budget) => {
                let left = budget.newton_steps.unwrap_or(0);
                let limits = NewtonLimits { tolerance, max_steps: most.min(left), deadline };
                let report = self.newton.solve_within(problem, solution, limits);
                budget.newton_steps = Some(left - report.iterations.min(left));
                Ok(Some(report))
            }
            Stage::InteriorPoint if !has_rolling(problem) && !has_bounds(problem) && may_factor(self, budget) => {
                (self.interior_point.tolerance, self.interior_point.time_limit) = (tolerance, deadline.remaining());
                self.interior_point.max_iterations = self.max_iterations;
                self.interior_point.solve(problem, solution).map(Some)
            }
            Stage::Sweeps(most) if sweeps > 0 => {
                let limits = SweepLimits { tolerance, max_iterations: most.min(sweeps), patience: f64::INFINITY, deadline };
                let report = self.nsgs.solve_within(problem, solution, limits);
                budget.sweeps -= report.iterations;
                Ok(Some(report))
            }
            _ => Ok(None),
        }
    }

    /// Newton steps that may still be done; 0 where they, or their matrices, cost too much.
    fn newton_steps(&mut self, problem: &FrictionContact, solution: &Solution, budget: &mut Budget) -> usize {
        *budget.newton_steps.get_or_insert_with(|| {
            self.newton.prepare(problem);
            let steps = NEWTON_SHARE * self.max_iterations as f64 / self.newton.step_cost(&solution.r);
            if steps < FEWEST_NEWTON_STEPS || self.newton.storage() > FACTOR_ENTRIES { 0 } else { steps as usize }
        })
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

/// The part of the closed contacts with friction whose impulse is at the edge of its cone.
fn share_of_sliding(problem: &FrictionContact, r: &[f64]) -> f64 {
    let (mut closed, mut sliding) = (0_usize, 0_usize);
    let mut rest = r;
    for block in &problem.blocks {
        let (r, after) = rest.split_at(block.dim());
        rest = after;
        if !block.is_bilateral() && block.dim() > 1 && r[0] > 0.0 {
            closed += 1;
            // Sweeps leave impulses exactly at the edge; a millionth allows for what combines them.
            sliding += usize::from(norm_squared(&r[1..]).sqrt() > (1.0 - 1e-6) * block.friction() * r[0]);
        }
    }
    sliding as f64 / closed.max(1) as f64
}

/// True when a contact has rolling or spinning resistance, or friction lies in a ball, which Newton's equations here do not know.
fn has_rolling(problem: &FrictionContact) -> bool {
    problem.blocks.iter().any(|block| block.moments().is_some()) || has_balls(problem)
}

/// True when the friction of a joint lies in a ball of known radius.
fn has_balls(problem: &FrictionContact) -> bool {
    problem.blocks.iter().any(|block| block.radius().is_some())
}

/// True when a row is bounded, which is no cone.
fn has_bounds(problem: &FrictionContact) -> bool {
    problem.blocks.iter().any(|block| block.bounds().is_some())
}

/// True when the problem has an exact complementarity form: contacts without spatial friction.
fn is_linear(problem: &FrictionContact) -> bool {
    problem.blocks.iter().all(|block| match *block {
        Block::Bilateral { .. } | Block::Ball { .. } => false,
        Block::Unilateral | Block::Bounded { .. } | Block::Coulomb2 { .. } => true,
        Block::Coulomb3 { .. } | Block::Spinning { .. } | Block::Rolling { .. } | Block::RollingSpinning { .. } => block.is_frictionless(),
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
        if Elimination::suits(problem) {
            let solve = |p: &FrictionContact, s: &mut Solution, t| contacts.solve(p, s, t);
            self.elimination.solve(problem, solution, self.tolerance, solve)
        } else {
            contacts.solve(problem, solution, self.tolerance)
        }
    }
}
