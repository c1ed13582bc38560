//! Interior point method for the exact Coulomb law.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::conic_form::{ConicForm, project};
use super::proximal_newton::{NewtonLimits, ProximalNewton};
use crate::conic::{Law, PathFollower};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::parameters::check;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// For hyperstatic contacts and large mass ratios from no guess at all: some 6 to 40 steps whatever the redundancy of the contacts.
///
/// The contacts are mapped to cones of slope one (`conic_form.rs`) and Coulomb's law with the slip s as an unknown is followed
///
/// ```text
///     v = Q x + c,    x ∘ (s, v_T) = m e,    x_N v_N = m,     x, (s, v_T) ∈ {|x_T| ≤ x_N},  v_N ≥ 0
/// ```
///
/// for m → 0 from a point far inside the cones, by the predictor and corrector steps of `conic/path.rs`, which see for the
/// sources and the differences from them. The law is not monotone, so that no rule guarantees the descent; what was reached is judged and
/// the best kept.
///
/// Where x and (s, v_T) vanish together (a contact about to open or to slide) the distance to the solution is √m, and rounding ends
/// that at some 1e-8: then, and when nothing better comes, Newton steps of `proximal-newton` go on from the best iterate.
///
/// The guess is used only if it is a solution. Cost of a step: one
/// sparse LU of the rows of W, 0.5 ms for a tower of twenty cubes.
#[derive(Debug)]
pub struct InteriorPoint {
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
    pub(super) time_limit: Option<f64>,
    params: InteriorPointParams,
    form: ConicForm,
    path: PathFollower,
    newton: ProximalNewton,
    best: Vec<f64>,
}

/// Steps without a better iterate after which the path is left: iterates that were caught at the boundary need some twenty
/// to come back.
const STALL_STEPS: usize = 30;

/// The same where the residual is below [`CLOSE`] and rounding is at work.
const CLOSE_STALL_STEPS: usize = 8;

/// See [`CLOSE_STALL_STEPS`].
const CLOSE: f64 = 1e-7;

/// Largest residual that Newton steps can be expected to polish.
const POLISHED: f64 = 1e-3;

/// Most entries of Newton's matrix in the polish: 16 MB, steps of a second at most.
const POLISH_ENTRIES: usize = 1 << 21;

impl InteriorPoint {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        InteriorPoint {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            params: params.interior_point.clone(),
            form: ConicForm::default(),
            path: PathFollower::default(),
            newton: ProximalNewton::new(params),
            best: Vec::new(),
        }
    }

    /// Steps along the path. Leaves the best iterate in `self.best`.
    fn iterate(&mut self, problem: &FrictionContact, solution: &mut Solution, deadline: Deadline) -> (SolveStatus, usize) {
        let mass_scale = problem.mass_scale();
        let runaway = problem.runaway(mass_scale);
        let mut best = problem.residual_in_mass_unit(&solution.r, &solution.u, mass_scale);
        let mut best_step = 0;
        self.path.start(self.form.program(), Law::Coulomb, self.params.step_fraction);
        for step in 1..=self.max_iterations {
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, step - 1);
            }
            if self.path.step(self.form.program()).is_none() {
                return (SolveStatus::Stalled, step - 1);
            }
            self.form.restore_impulse(problem, &self.path.x, &mut solution.r);
            problem.velocity(&solution.r, &mut solution.u);
            let residual = problem.residual_in_mass_unit(&solution.r, &solution.u, mass_scale);
            if runaway.applies(&solution.r, residual) || !residual.is_finite() {
                return (SolveStatus::Stalled, step); // Nothing stops the impulses.
            }
            if residual < best {
                (best, best_step) = (residual, step);
                self.best.copy_from_slice(&solution.r);
            }
            if best <= self.tolerance {
                return (SolveStatus::Converged, step);
            }
            let patience = if best <= CLOSE { CLOSE_STALL_STEPS } else { STALL_STEPS };
            if step >= best_step + patience {
                return (SolveStatus::Stalled, step);
            }
        }
        (SolveStatus::MaxIterations, self.max_iterations)
    }

    /// Newton steps from the solution of the path.
    fn polish(&mut self, problem: &FrictionContact, solution: &mut Solution, path: SolveReport, deadline: Deadline) -> SolveReport {
        let steps = self.params.polish_steps.min(self.max_iterations.saturating_sub(path.iterations));
        if steps == 0 || path.status != SolveStatus::Stalled || path.residual_normalised > POLISHED {
            return path;
        }
        self.newton.prepare(problem);
        if self.newton.storage() > POLISH_ENTRIES {
            return path;
        }
        let report = self.newton.solve_within(problem, solution, NewtonLimits { tolerance: self.tolerance, max_steps: steps, deadline });
        let status = if report.is_converged() { report.status } else { SolveStatus::Stalled };
        SolveReport { solver: path.solver, iterations: path.iterations + report.iterations, status, ..report }
    }
}

impl OneStepSolver<FrictionContact> for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n_rows());
        let deadline = Deadline::after(self.time_limit);
        self.form.build(problem, "interior-point")?;
        project(problem, &mut solution.r);
        problem.velocity(&solution.r, &mut solution.u);
        let guess = problem.report("interior-point", solution, 0, self.tolerance, SolveStatus::Stalled);
        if guess.is_converged() {
            return Ok(guess);
        }
        self.best.clone_from(&solution.r);
        let (status, iterations) = self.iterate(problem, solution, deadline);
        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        let report = problem.report("interior-point", solution, iterations, self.tolerance, status);
        Ok(self.polish(problem, solution, report, deadline))
    }
}

/// Settings of the interior point methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InteriorPointParams {
    /// Part of the way to the boundary of the cones that a step goes at most, no unit. Default 0.99, nominal 0.9 to 0.999. Smaller is
    /// slower and nearer to the central path; outside (0, 1) it is an error.
    pub step_fraction: f64,
    /// Most Newton steps from the best iterate when the path ends above the tolerance. Default 100, nominal 0 (no polish) to 300.
    pub polish_steps: usize,
}

impl Default for InteriorPointParams {
    fn default() -> Self {
        InteriorPointParams { step_fraction: 0.99, polish_steps: 100 }
    }
}

impl InteriorPointParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        let good = self.step_fraction > 0.0 && self.step_fraction < 1.0;
        check(good, "step_fraction", self.step_fraction, "a number between 0 and 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cones::Block;
    use crate::delassus::{Delassus, DenseDelassus};

    /// One unit mass on the ground, falling at 1 m/s and sliding at 3 m/s.
    fn sliding(mu: f64) -> FrictionContact {
        let w = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        FrictionContact {
            w: Delassus::Dense(DenseDelassus::new(w, &[3]).unwrap()),
            q: vec![-1.0, 3.0, 0.0],
            blocks: vec![Block::Coulomb3 { mu }],
        }
    }

    fn solve(problem: &FrictionContact, interior_point: InteriorPointParams) -> (SolveReport, Solution) {
        let params = FrictionSolverParams { interior_point, ..Default::default() };
        let mut solution = Solution::default();
        (InteriorPoint::new(&params).solve(problem, &mut solution).unwrap(), solution)
    }

    #[test]
    fn a_sliding_contact_slides() {
        // r = (1, −μ, 0), u = (0, 3 − μ, 0): no lifting by the slip term.
        for mu in [1e-6, 0.5, 2.0] {
            let (report, solution) = solve(&sliding(mu), InteriorPointParams { polish_steps: 0, ..Default::default() });
            assert!(report.is_converged(), "{mu} {report:?}");
            for (x, exact) in solution.r.iter().chain(&solution.u).zip([1.0, -mu, 0.0, 0.0, 3.0 - mu, 0.0]) {
                assert!((x - exact).abs() < 1e-8, "{mu} {x} {exact}"); // the tolerance times |q| and the condition of the law
            }
        }
    }

    #[test]
    fn ranges_are_checked() {
        assert!(InteriorPointParams::default().validate().is_ok());
        assert!(InteriorPointParams { step_fraction: 1.0, ..Default::default() }.validate().is_err());
        assert!(InteriorPointParams { step_fraction: f64::NAN, ..Default::default() }.validate().is_err());
    }
}
