//! Projections with a fixed step per contact.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::bipotential::BipotentialSolver;
use super::projection::Variant;
use crate::error::SolveError;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// When to use it: as a reference, on small well-conditioned problems. Every contact is projected at once with its own step,
///
/// ```text
///     r_c ← P_K(r_c − ρ_c û_c),   û = u + (μ|u_T|, 0),   ρ_c = ω / (m_c λ_max),
/// ```
///
/// m_c = mean(diag W_cc) and λ_max the largest eigenvalue of the matrix W_ij/√(m_i m_j), so that without friction the iteration is a projected
/// gradient with a safe step for ω in (0, 2) ([`ProjectionParams::fixed_step`](super::ProjectionParams::fixed_step)).
/// \[De Saxcé & Feng, *The bipotential method: a constructive approach to design the complete contact law with friction and
/// improved numerical algorithms*, 1998\]; differs in: many contacts at a time, hence the coupling λ_max in the step.
///
/// The error falls by about 1 − λ/λ_max per iteration, λ the smallest positive eigenvalue of that matrix: hopeless for large mass ratios.
/// Cost of an iteration: one product with W.
#[derive(Clone, Debug)]
pub struct DeSaxce(BipotentialSolver);

impl DeSaxce {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        DeSaxce(BipotentialSolver::new(Variant::FixedStep, params))
    }
}

impl OneStepSolver<FrictionContact> for DeSaxce {
    fn name(&self) -> &'static str {
        "de-saxce"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.0.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        self.0.solve(self.name(), problem, solution)
    }
}
