//! One projection per iteration with a self-adaptive step.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::bipotential::BipotentialSolver;
use super::projection::Variant;
use crate::error::SolveError;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// When to use it: a robust reference on problems of full rank, and large ones to a coarse tolerance (1e-3 to 1e-4).
///
/// ```text
///     r ← P_K(r − ρ û),   û = u + (μ|u_T|, 0),
/// ```
///
/// with a step ρ, in units of each block, that follows the slope of û along the path (see `projection.rs`).
/// \[Acary, Brémond & Huber, *On solving contact problems with Coulomb friction: formulations and numerical comparisons*, 2018, solver VI-FP\];
/// differs in: each block has its own unit.
///
/// Cost of an iteration: one product with W per step tried, seldom more than one.
#[derive(Clone, Debug)]
pub struct FixedPoint(BipotentialSolver);

impl FixedPoint {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        FixedPoint(BipotentialSolver::new(Variant::FixedPoint, params))
    }
}

impl OneStepSolver<FrictionContact> for FixedPoint {
    fn name(&self) -> &'static str {
        "fixed-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.0.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        self.0.solve(self.name(), problem, solution)
    }
}
