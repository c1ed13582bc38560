//! Fixed point on the slip term.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::conic_form::{ConicForm, project};
use crate::acceleration::Acceleration;
use crate::cones::norm_squared;
use crate::conic::{ConeLimits, ConeProgram, ConeSolver};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// For redundant contacts where a proof matters: a solution of the fixed point exists whenever the contacts can separate, and
/// each iteration is a convex problem.
///
/// ```text
///     x = argmin ½ xᵀQx + (c + e s)ᵀx  over second-order cones,      s ← |(Q x + c)_T|
/// ```
///
/// in the variables of `conic_form.rs`, where s is the slip |u_T| of each contact. [Acary, Cadoux, Lemaréchal & Malick, *A formulation of
/// the linear discrete Coulomb friction problem via convex optimization*, 2011]; differs in: the local form, Anderson acceleration of s, and
/// convex problems solved by an interior point method from the solution of the one before, only as well as the error in s asks for.
///
/// Cost: some 3 to 8 symmetric sparse factorisations per iteration, some 5 to 50 iterations; fewer where contacts stick. The
/// factorisations allocate. Iterations in the report are factorisations.
#[derive(Debug)]
pub struct Aclm {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    form: ConicForm,
    solver: ConeSolver,
    acceleration: Acceleration,
    /// One per cone of dimension two or more.
    slip: Vec<f64>,
    last_slip: Vec<f64>,
    /// c + e s.
    shifted: Vec<f64>,
    velocity: Vec<f64>,
    best: Vec<f64>,
}

/// The convex problems are solved to this part of the error of the fixed point.
const INNER_SHARE: f64 = 0.03;

/// No convex problem needs to be solved better, in units of c.
const SMALLEST_TOLERANCE: f64 = 1e-14;

/// Fixed point iterations within which the residual has to halve; the search is given up otherwise.
const STALL_ITERATIONS: usize = 80;

/// Steps of one convex problem.
const INNER_STEPS: usize = 60;

impl Aclm {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Aclm {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            form: ConicForm::default(),
            solver: ConeSolver::default(),
            acceleration: Acceleration::default(),
            slip: Vec::new(),
            last_slip: Vec::new(),
            shifted: Vec::new(),
            velocity: Vec::new(),
            best: Vec::new(),
        }
    }

    /// The fixed point. Leaves the best iterate in `self.best`.
    fn iterate(&mut self, problem: &FrictionContact, solution: &mut Solution, deadline: Deadline) -> (SolveStatus, usize) {
        let mass_scale = problem.mass_scale();
        let runaway = problem.runaway(mass_scale);
        let mut best = problem.residual_in_mass_unit(&solution.r, &solution.u, mass_scale);
        self.form.read_velocity(&solution.u, &mut self.velocity);
        self.read_slip();
        self.acceleration.reset(self.slip.len());
        self.solver.reset();
        // The error of the fixed point at its start is not known: that of c.
        let mut error = 1.0;
        let (mut steps, mut milestone, mut since_halved) = (0, best, 0);
        loop {
            // s => x.
            self.shift();
            let tolerance = (INNER_SHARE * error).max(SMALLEST_TOLERANCE);
            let limits = ConeLimits { tolerance, max_steps: INNER_STEPS.min(self.max_iterations - steps), deadline };
            let program = ConeProgram { c: &self.shifted, ..self.form.program() };
            steps += self.solver.solve(program, error, limits);
            // x => s and its error.
            self.form.program().gradient(self.solver.solution(), &mut self.velocity);
            std::mem::swap(&mut self.slip, &mut self.last_slip);
            self.read_slip();
            let change = self.slip.iter().zip(&self.last_slip).fold(0.0, |e: f64, (a, b)| e.max((a - b).abs()));
            error = change.max(self.solver.error());

            self.form.restore_impulse(problem, self.solver.solution(), &mut solution.r);
            problem.velocity(&solution.r, &mut solution.u);
            let residual = problem.residual_in_mass_unit(&solution.r, &solution.u, mass_scale);
            since_halved += 1;
            if residual < best && !runaway.applies(&solution.r, residual) {
                best = residual;
                self.best.copy_from_slice(&solution.r);
            }
            if best <= 0.5 * milestone {
                (milestone, since_halved) = (best, 0);
            }
            match () {
                () if best <= self.tolerance => return (SolveStatus::Converged, steps),
                () if deadline.is_over() => return (SolveStatus::TimeLimit, steps),
                () if steps >= self.max_iterations => return (SolveStatus::MaxIterations, steps),
                () if since_halved >= STALL_ITERATIONS || !error.is_finite() => return (SolveStatus::Stalled, steps),
                () => {}
            }
            self.acceleration.begin(&self.last_slip);
            if self.acceleration.advance(&mut self.slip) {
                self.slip.iter_mut().for_each(|s| *s = s.max(0.0));
            }
        }
    }

    /// s = |v_T| of each cone with a tangent.
    fn read_slip(&mut self) {
        self.slip.clear();
        let velocity = &self.velocity;
        let with_tangent = self.form.cones.lorentz().filter(|rows| rows.len() > 1);
        self.slip.extend(with_tangent.map(|rows| norm_squared(&velocity[rows.start + 1..rows.end]).sqrt()));
    }

    /// shifted = c + e s.
    fn shift(&mut self) {
        self.shifted.clone_from(&self.form.c);
        for (rows, slip) in self.form.cones.lorentz().filter(|rows| rows.len() > 1).zip(&self.slip) {
            self.shifted[rows.start] += slip;
        }
    }
}

impl OneStepSolver<FrictionContact> for Aclm {
    fn name(&self) -> &'static str {
        "aclm"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n_rows());
        let deadline = Deadline::after(self.time_limit);
        self.form.build(problem, "aclm")?;
        project(problem, &mut solution.r);
        problem.velocity(&solution.r, &mut solution.u);
        let guess = problem.report("aclm", solution, 0, self.tolerance, SolveStatus::Stalled);
        if guess.is_converged() {
            return Ok(guess);
        }
        self.best.clone_from(&solution.r);
        let (status, iterations) = self.iterate(problem, solution, deadline);
        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        Ok(problem.report("aclm", solution, iterations, self.tolerance, status))
    }
}
