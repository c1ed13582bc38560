//! Projections with a self-adaptive step.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::bipotential::BipotentialSolver;
use super::projection::Variant;
use crate::error::SolveError;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// When to use it: a robust and slow reference, and where `fixed-point` circles.
///
/// ```text
///     r̄ = P_K(r − ρ û(r)),   r ← P_K(r − ρ û(r̄)),   û = u + (μ|u_T|, 0),
/// ```
///
/// with a step ρ, in units of each block, that follows the slope of û along the path (see `projection.rs`). The second evaluation makes it
/// converge for every monotone map, not the strongly monotone only.
/// \[Korpelevich, *The extragradient method for finding saddle points and other problems*, 1976; Acary, Brémond & Huber, *On solving
/// contact problems with Coulomb friction: formulations and numerical comparisons*, 2018, solver VI-EG\]; differs in: each block has its own unit.
///
/// Cost of an iteration: two products with W.
#[derive(Clone, Debug)]
pub struct Extragradient(BipotentialSolver);

impl Extragradient {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Extragradient(BipotentialSolver::new(Variant::Extragradient, params))
    }
}

impl OneStepSolver<FrictionContact> for Extragradient {
    fn name(&self) -> &'static str {
        "extragradient"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.0.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        self.0.solve(self.name(), problem, solution)
    }
}
