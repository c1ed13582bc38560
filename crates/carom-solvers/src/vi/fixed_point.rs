//! One projection per iteration with a self-adaptive step.

use super::VariationalInequality;
use super::ViSolverParams;
use super::projections::ProjectionSolver;
use crate::error::SolveError;
use crate::friction_contact::projection::Variant;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// When to use it: strongly monotone F without Jacobian; about twice as fast as `extragradient` there.
///
/// ```text
///     x ← P_X(x − ρ F(x))
/// ```
///
/// with the step ρ adapted to the slope of F along the path (see `friction_contact/projection.rs`).
/// \[Acary, Brémond & Huber, *On solving contact problems with Coulomb friction: formulations and numerical comparisons*, 2018, solver VI-FP\]
///
/// Where F is monotone only (a skew M) it diverges or circles: status `MaxIterations` or `Stalled`. Cost of an iteration: one evaluation of F per
/// step tried, seldom more than one.
#[derive(Clone, Debug)]
pub struct FixedPoint(ProjectionSolver);

impl FixedPoint {
    /// A solver with these parameters.
    pub fn new(params: &ViSolverParams) -> Self {
        FixedPoint(ProjectionSolver::new(Variant::FixedPoint, params))
    }
}

impl OneStepSolver<VariationalInequality> for FixedPoint {
    fn name(&self) -> &'static str {
        "fixed-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.0.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &VariationalInequality, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        self.0.solve(self.name(), problem, solution)
    }
}
