//! A solver that does not know friction in a ball.

use super::FrictionContact;
use crate::error::SolveError;
use crate::report::SolveReport;
use crate::{BoxedSolver, OneStepSolver, Solution};

/// Refuses problems with [`crate::Block::Ball`] in the name of the solver within.
#[derive(Debug)]
pub(crate) struct WithoutBalls {
    inner: BoxedSolver<FrictionContact>,
}

impl WithoutBalls {
    /// Around a solver.
    pub fn new(inner: BoxedSolver<FrictionContact>) -> Self {
        WithoutBalls { inner }
    }
}

impl OneStepSolver<FrictionContact> for WithoutBalls {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.inner.set_tolerance(tolerance);
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        if problem.blocks.iter().any(|block| block.radius().is_some()) {
            let reason = "friction of known bound in all directions is a ball, no cone";
            return Err(SolveError::Unsupported { solver: self.name(), reason, alternatives: "auto, nsgs" });
        }
        self.inner.solve(problem, solution)
    }
}
