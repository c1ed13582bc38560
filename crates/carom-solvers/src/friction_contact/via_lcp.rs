//! Friction contact through its complementarity form.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::complementarity::ComplementarityForm;
use super::elimination::Elimination;
use super::nsgs::Nsgs;
use crate::error::SolveError;
use crate::kinds::LcpSolverKind;
use crate::lcp::Lcp;
use crate::report::SolveReport;
use crate::{BoxedSolver, OneStepSolver, Solution, lcp};

/// Eliminates the joints, writes the contacts as an LCP, solves it by Lemke or projected Gauss–Seidel.
///
/// Lemke takes frictionless and planar frictional problems, Gauss–Seidel frictionless ones only: the
/// slip bounds of friction have no diagonal. Dense; for up to a few hundred rows. Where the digits of the last basis do
/// not reach the tolerance (impulses many orders smaller than the slip), a few sweeps of [`Nsgs`] finish it.
#[derive(Debug)]
pub struct ViaLcp {
    tolerance: f64,
    elimination: Elimination,
    contacts: ContactsViaLcp,
}

/// The part of [`ViaLcp`] for problems without joints.
#[derive(Debug)]
pub(super) struct ContactsViaLcp {
    form: ComplementarityForm,
    lcp_solver: BoxedSolver<Lcp>,
    lcp_solution: Solution,
    polish: Nsgs,
}

/// Rounds of tightening when the LCP's metric was satisfied and the contact problem's is not.
const ROUNDS: usize = 4;

/// Sweeps that finish what pivoting left above the tolerance.
const POLISH: usize = 100;

impl ViaLcp {
    /// By Lemke's pivots.
    pub fn lemke(params: &FrictionSolverParams) -> Self {
        ViaLcp::new(params, LcpSolverKind::Lemke)
    }

    /// By projected Gauss–Seidel.
    pub fn pgs(params: &FrictionSolverParams) -> Self {
        ViaLcp::new(params, LcpSolverKind::Pgs)
    }

    fn new(params: &FrictionSolverParams, kind: LcpSolverKind) -> Self {
        ViaLcp { tolerance: params.tolerance, elimination: Elimination::new(), contacts: ContactsViaLcp::new(params, kind) }
    }
}

impl ContactsViaLcp {
    pub fn new(params: &FrictionSolverParams, kind: LcpSolverKind) -> Self {
        ContactsViaLcp {
            form: ComplementarityForm::default(),
            lcp_solver: match kind {
                LcpSolverKind::Pgs => Box::new(lcp::Pgs::new(&params.for_lcp(kind))),
                _ => Box::new(lcp::Lemke::new(&params.for_lcp(kind))),
            },
            lcp_solution: Solution::default(),
            polish: Nsgs::new(&FrictionSolverParams { max_iterations: POLISH, ..params.clone() }),
        }
    }

    /// Solves a valid problem without bilateral blocks.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] for friction the LCP method does not handle.
    pub fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution, tolerance: f64) -> Result<SolveReport, SolveError> {
        let name = self.lcp_solver.name();
        if name == "pgs" && !problem.is_frictionless() {
            return Err(SolveError::Unsupported {
                solver: name,
                reason: "it has friction",
                alternatives: "auto, nsgs (or lemke in the plane)",
            });
        }
        if name == "pgs" && problem.blocks.iter().any(|block| block.bounds().is_some()) {
            return Err(SolveError::Unsupported {
                solver: name,
                reason: "the bounds of its bounded rows have no diagonal",
                alternatives: "auto, nsgs, lemke",
            });
        }
        self.form.build(name, problem, None)?;
        self.form.guess(&solution.r, &mut self.lcp_solution.r);
        let mut inner_tolerance = 0.5 * tolerance;
        let mut iterations = 0;
        let mut round = 0;
        loop {
            round += 1;
            self.lcp_solver.set_tolerance(inner_tolerance);
            let inner = self.lcp_solver.solve(&self.form.lcp, &mut self.lcp_solution)?;
            iterations += inner.iterations;
            self.form.recover(&self.lcp_solution.r, &mut solution.r);
            problem.velocity(&solution.r, &mut solution.u);
            let report = problem.report(name, solution, iterations, tolerance, inner.status);
            if report.is_converged() {
                return Ok(report);
            }
            if !inner.is_converged() || round == ROUNDS {
                return self.polish(problem, solution, report);
            }
            inner_tolerance *= (0.5 * tolerance / report.residual_normalised).clamp(1e-3, 0.5);
        }
    }
}

impl ContactsViaLcp {
    /// Sweeps from the solution of the LCP; keeps the better of the two. A ray stays a ray unless the sweeps converge.
    fn polish(&mut self, problem: &FrictionContact, solution: &mut Solution, before: SolveReport) -> Result<SolveReport, SolveError> {
        self.lcp_solution.clone_from(solution);
        let after = self.polish.solve(problem, solution)?;
        if after.residual_normalised <= before.residual_normalised {
            let status = if after.is_converged() { after.status } else { before.status };
            return Ok(SolveReport { solver: before.solver, iterations: before.iterations + after.iterations, status, ..after });
        }
        solution.clone_from(&self.lcp_solution);
        Ok(before)
    }
}

impl OneStepSolver<FrictionContact> for ViaLcp {
    fn name(&self) -> &'static str {
        self.contacts.lcp_solver.name()
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n_rows());
        let contacts = &mut self.contacts;
        if problem.blocks.iter().any(|b| b.is_bilateral()) {
            let solve = |p: &FrictionContact, s: &mut Solution, t| contacts.solve(p, s, t);
            self.elimination.solve(problem, solution, self.tolerance, solve)
        } else {
            contacts.solve(problem, solution, self.tolerance)
        }
    }
}
