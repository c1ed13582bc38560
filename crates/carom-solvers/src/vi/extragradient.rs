//! Two projections per iteration with a self-adaptive step.

use super::VariationalInequality;
use super::ViSolverParams;
use super::projections::ProjectionSolver;
use crate::error::SolveError;
use crate::friction_contact::projection::Variant;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// When to use it: monotone F without Jacobian, or so large that systems of equations are out of the question.
///
/// ```text
///     x̄ = P_X(x − ρ F(x)),   x ← P_X(x − ρ F(x̄))
/// ```
///
/// with the step ρ adapted to the slope of F along the path (see `friction_contact/projection.rs`). Converges for every monotone, locally Lipschitz
/// F with a solution, saddle points of convex-concave functions for instance, at a linear rate at best.
/// \[Korpelevich, *The extragradient method for finding saddle points and other problems*, 1976; Khobotov 1987 and Marcotte 1991 for the step\]
///
/// Where F is not monotone it may circle: status `MaxIterations` or `Stalled`. Cost of an iteration: two evaluations of F.
#[derive(Clone, Debug)]
pub struct Extragradient(ProjectionSolver);

impl Extragradient {
    /// A solver with these parameters.
    pub fn new(params: &ViSolverParams) -> Self {
        Extragradient(ProjectionSolver::new(Variant::Extragradient, params))
    }
}

impl OneStepSolver<VariationalInequality> for Extragradient {
    fn name(&self) -> &'static str {
        "extragradient"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.0.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &VariationalInequality, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        self.0.solve(self.name(), problem, solution)
    }
}
