//! Reduction to the local form.

use super::GlobalSolverParams;
use super::dynamics::Dynamics;
use super::{End, GlobalFrictionContact};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::friction_contact::{FrictionContact, FrictionSolverParams};
use crate::report::{SolveReport, SolveStatus};
use crate::{BoxedSolver, OneStepSolver, Solution};

/// Forms W = Hᵀ M⁻¹ H and q = Hᵀ M⁻¹ f + w and gives them to a solver of the local form (`local`, by default `auto`).
///
/// The default, and right as long as W fits in memory: rigid bodies always, deformable ones up to some thousands of contact rows.
/// The global residual judges. Where it is not satisfied while the local one is (the metrics differ in |q| and in the
/// unit of mass), the local solve goes on with a smaller tolerance. Cost: see [`GlobalFrictionContact::to_local`], and that of the local solver.
#[derive(Debug)]
pub struct Reduction {
    params: GlobalSolverParams,
    construct: fn(&FrictionSolverParams) -> Result<BoxedSolver<FrictionContact>, SolveError>,
    /// Built at the first solve.
    local: Option<BoxedSolver<FrictionContact>>,
    dynamics: Dynamics,
}

/// Rounds of tightening when the local metric was satisfied and the global one is not.
const ROUNDS: usize = 4;

impl Reduction {
    /// A solver with these parameters, and the constructor of that of the local form.
    pub fn new(
        params: &GlobalSolverParams,
        construct: fn(&FrictionSolverParams) -> Result<BoxedSolver<FrictionContact>, SolveError>,
    ) -> Self {
        Reduction { params: params.clone(), construct, local: None, dynamics: Dynamics::default() }
    }

    /// Velocities v of the bodies in the last solve, m/s.
    pub fn body_velocity(&self) -> &[f64] {
        self.dynamics.v()
    }
}

impl OneStepSolver<GlobalFrictionContact> for Reduction {
    fn name(&self) -> &'static str {
        "reduction"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.params.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &GlobalFrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let tolerance = self.params.tolerance;
        let deadline = Deadline::after(self.params.time_limit);
        problem.validate()?;
        solution.prepare(problem.n_rows());
        self.dynamics.factor(problem)?;
        let reduced = problem.local_form(&mut self.dynamics)?;
        let local = match &mut self.local {
            Some(local) => local,
            None => self.local.insert((self.construct)(&self.params.for_local())?),
        };
        let mut local_tolerance = tolerance;
        let mut iterations = 0;
        let mut round = 0;
        loop {
            round += 1;
            local.set_tolerance(local_tolerance);
            let inner = local.solve(&reduced, solution)?;
            iterations += inner.iterations;
            self.dynamics.velocities(problem, &solution.r, &mut solution.u);
            let status = if deadline.is_over() && inner.is_converged() { SolveStatus::TimeLimit } else { inner.status };
            let end = End { status, iterations, tolerance };
            let report = problem.report("reduction", self.dynamics.v(), solution, end);
            if report.is_converged() || !status.is_converged() || round == ROUNDS {
                return Ok(report);
            }
            local_tolerance *= (0.5 * tolerance / report.residual_normalised).clamp(1e-3, 0.5);
        }
    }
}
