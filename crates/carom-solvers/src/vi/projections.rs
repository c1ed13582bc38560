//! Variational inequalities as the methods by projection see them.

use super::VariationalInequality;
use super::ViSolverParams;
use crate::Solution;
use crate::cones::norm_squared;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::friction_contact::projection::{Limits, ProjectedMap, Projections, Variant};
use crate::report::SolveReport;

/// What the two solvers by projection share: limits and work arrays.
#[derive(Clone, Debug)]
pub(super) struct ProjectionSolver {
    pub tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    first_step: f64,
    projections: Projections,
}

/// The problem with what its judge needs.
pub(super) struct JudgedProblem<'a> {
    pub problem: &'a VariationalInequality,
    pub slope: f64,
    pub reference: f64,
    pub largest: f64,
    /// Work space of the judge.
    pub f: &'a mut [f64],
}

impl ProjectedMap for JudgedProblem<'_> {
    fn evaluate(&self, x: &[f64], f: &mut [f64]) {
        self.problem.velocity(x, f);
    }

    fn project(&self, x: &mut [f64]) {
        self.problem.project(x);
    }

    fn judge(&mut self, x: &[f64]) -> f64 {
        if norm_squared(x).sqrt() > self.largest {
            return f64::INFINITY;
        }
        self.problem.velocity(x, self.f);
        self.problem.residual_in_unit(x, self.f, self.slope, self.reference)
    }
}

impl ProjectionSolver {
    pub fn new(variant: Variant, params: &ViSolverParams) -> Self {
        ProjectionSolver {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            first_step: params.projection.first_step,
            projections: Projections::new(variant, &params.projection),
        }
    }

    pub fn solve(
        &mut self,
        name: &'static str,
        problem: &VariationalInequality,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let deadline = Deadline::after(self.time_limit);
        problem.start(solution)?;
        let Solution { r, u } = solution;
        let (slope, reference) = (problem.slope(), problem.reference_size());
        let mut map = JudgedProblem { problem, slope, reference, largest: problem.largest(slope, reference), f: u };
        let limits = Limits { tolerance: self.tolerance, max_iterations: self.max_iterations, deadline };
        let (status, iterations) = self.projections.run(&mut map, r, self.first_step / slope, limits);
        problem.velocity(r, u);
        Ok(problem.report(name, solution, iterations, self.tolerance, status))
    }
}
