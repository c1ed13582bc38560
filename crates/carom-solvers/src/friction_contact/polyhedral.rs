//! Polyhedral friction cones as an LCP.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::complementarity::ComplementarityForm;
use super::elimination::Elimination;
use super::via_lcp::ContactsViaLcp;
use crate::cones::Block;
use crate::error::SolveError;
use crate::kinds::LcpSolverKind;
use crate::lcp::Lemke;
use crate::parameters::check;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// Replaces each friction disk by a regular polygon of 2k corners inscribed in it and solves the LCP of `complementarity.rs` by
/// Lemke's method, the joints eliminated. [Stewart & Trinkle, *An implicit time-stepping scheme for rigid body dynamics with inelastic
/// collisions and Coulomb friction*, 1996; Anitescu & Potra, *Formulating dynamic multi-rigid-body contact problems with friction as
/// solvable linear complementarity problems*, 1997; both as eqs. 7, 14 and 15 of Anitescu, Potra & Stewart, *Time-stepping for
/// three-dimensional rigid body dynamics*, 1998]
///
/// When to use it: to compare with codes that do the same, or a few contacts of which Gauss–Seidel and Newton make nothing: for
/// W ⪰ 0 and q = G v (velocities of the bodies seen from the contacts) the matrix is copositive and Lemke's method ends at a
/// solution. In the plane, and without friction, the LCP is exact and the status `Converged`. In space the solution of the
/// polyhedral law has the status `Relaxed` and the residual of the exact law. A sliding contact pushes along a corner (or, for
/// a few directions of slip, from an edge): its direction is off by up to π/2k, so that the residual falls like the inverse of the
/// number of facets; the friction work is off by 1 − cos, which falls like its square. A ray is reported as such.
///
/// `stewart-trinkle` and `anitescu-potra` are one LCP here. The papers differ in what is not part of a one-step problem: Stewart and
/// Trinkle put the gap at the end of the step into the normal rows (q_N = u_N + g/h) and have no joints; Anitescu and
/// Potra ask for the velocity (q_N = u_N, so that q = G v and the problem is solvable whatever the configuration), add equality constraints,
/// and restitution by a second LCP with the impulse e r_N of the first (Poisson). Whoever builds q chooses
/// between them; the two names are kept for those who look for either.
///
/// Cost: dense pivots on 2k + 2 rows per spatial contact, 4k + 3 with rolling resistance: up to some 30 contacts.
#[derive(Debug)]
pub struct Polyhedral {
    name: &'static str,
    tolerance: f64,
    elimination: Elimination,
    contacts: PolyhedralContacts,
}

/// The part of [`Polyhedral`] for problems without joints.
#[derive(Debug)]
struct PolyhedralContacts {
    name: &'static str,
    facets: usize,
    form: ComplementarityForm,
    lemke: Lemke,
    lcp_solution: Solution,
    found: Solution,
    exact: ContactsViaLcp,
}

/// Settings of the polyhedral cones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolyhedralParams {
    /// Corners 2k of the polygon that stands for a friction disk. Default 8, nominal 4 to 32. Odd numbers, less than 4 and more
    /// than 64 are errors.
    pub facets: usize,
}

impl Default for PolyhedralParams {
    fn default() -> Self {
        PolyhedralParams { facets: 8 }
    }
}

impl PolyhedralParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        let good = (4..=64).contains(&self.facets) && self.facets.is_multiple_of(2);
        check(good, "polyhedral.facets", self.facets as f64, "an even number from 4 to 64")
    }
}

impl Polyhedral {
    /// A solver with these parameters, under the name of Stewart and Trinkle.
    pub fn stewart_trinkle(params: &FrictionSolverParams) -> Self {
        Polyhedral::new(params, "stewart-trinkle")
    }

    /// A solver with these parameters, under the name of Anitescu and Potra.
    pub fn anitescu_potra(params: &FrictionSolverParams) -> Self {
        Polyhedral::new(params, "anitescu-potra")
    }

    fn new(params: &FrictionSolverParams, name: &'static str) -> Self {
        Polyhedral {
            name,
            tolerance: params.tolerance,
            elimination: Elimination::new(),
            contacts: PolyhedralContacts {
                name,
                facets: params.polyhedral.facets,
                form: ComplementarityForm::default(),
                lemke: Lemke::new(&params.for_lcp(LcpSolverKind::Lemke)),
                lcp_solution: Solution::default(),
                found: Solution::default(),
                exact: ContactsViaLcp::new(params, LcpSolverKind::Lemke),
            },
        }
    }
}

impl PolyhedralContacts {
    /// Solves a valid problem without bilateral blocks.
    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution, tolerance: f64) -> Result<SolveReport, SolveError> {
        let solver = self.name;
        if problem.blocks.iter().all(|block| block.is_frictionless() || matches!(block, Block::Coulomb2 { .. })) {
            let report = self.exact.solve(problem, solution, tolerance)?;
            return Ok(SolveReport { solver, ..report });
        }
        problem.velocity(&solution.r, &mut solution.u);
        let guess = problem.report(solver, solution, 0, tolerance, SolveStatus::Stalled);
        if guess.is_converged() {
            return Ok(guess);
        }
        self.form.build(solver, problem, Some(self.facets))?;
        self.lemke.set_tolerance(tolerance);
        let inner = self.lemke.solve(&self.form.lcp, &mut self.lcp_solution)?;
        self.found.prepare(problem.n_rows());
        self.form.recover(&self.lcp_solution.r, &mut self.found.r);
        problem.velocity(&self.found.r, &mut self.found.u);
        let status = if inner.is_converged() { SolveStatus::Relaxed } else { inner.status };
        let report = problem.report(solver, &self.found, inner.iterations, tolerance, status);
        if !report.is_accepted() && guess.residual_normalised <= report.residual_normalised {
            return Ok(SolveReport { iterations: inner.iterations, status, ..guess });
        }
        std::mem::swap(&mut self.found, solution);
        Ok(report)
    }
}

impl OneStepSolver<FrictionContact> for Polyhedral {
    fn name(&self) -> &'static str {
        self.name
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
