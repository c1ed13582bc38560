//! The default solver of LCPs.

use super::Lcp;
use super::LcpSolverParams;
use super::interior_point::InteriorPoint;
use super::lemke::Lemke;
use super::newton_fischer_burmeister::NewtonFischerBurmeister;
use super::newton_min::NewtonMin;
use super::polished_iterate::PolishedIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{BoxedSolver, OneStepSolver, Solution};

/// Chooses by size and goes on to the next method where one fails. Use it unless there is a reason not to.
///
/// A guess that solves the problem is returned as it is. Then
///
/// - up to 32 rows: Lemke, newton-min, interior-point;
/// - up to 500 rows: newton-min, newton-fischer-burmeister, interior-point, Lemke;
/// - more: the same without Lemke, whose tableau is dense.
///
/// The best iterate of all is returned, with the name of the solver that found it. `RayTermination` comes from Lemke: for M from mechanics (M = G M⁻¹ Gᵀ) there
/// is no solution.
#[derive(Debug)]
pub struct Auto {
    tolerance: f64,
    time_limit: Option<f64>,
    best: PolishedIterate,
    newton_min: BoxedSolver<Lcp>,
    newton_fischer_burmeister: BoxedSolver<Lcp>,
    interior_point: BoxedSolver<Lcp>,
    lemke: BoxedSolver<Lcp>,
}

/// Rows up to which pivots on a dense tableau take less time than anything else (some 10 µs for 30).
const FEW_ROWS: usize = 32;

/// Rows up to which Lemke's dense tableau is a last resort (1 s for 500).
const LEMKE_ROWS: usize = 500;

/// Newton steps and pivots of one method before the next one has its turn.
const STEPS: usize = 300;

impl Auto {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        let limited = LcpSolverParams { max_iterations: params.max_iterations.min(STEPS), ..params.clone() };
        Auto {
            tolerance: params.tolerance,
            time_limit: params.time_limit,
            best: PolishedIterate::default(),
            newton_min: Box::new(NewtonMin::new(&limited)),
            newton_fischer_burmeister: Box::new(NewtonFischerBurmeister::new(&limited)),
            interior_point: Box::new(InteriorPoint::new(&limited)),
            lemke: Box::new(Lemke::new(params)),
        }
    }
}

impl OneStepSolver<Lcp> for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
        for solver in [&mut self.newton_min, &mut self.newton_fischer_burmeister, &mut self.interior_point, &mut self.lemke] {
            solver.set_tolerance(tolerance);
        }
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let deadline = Deadline::after(self.time_limit);
        let n = problem.n();
        solution.prepare(n);
        self.best.begin(problem, solution);
        if self.best.residual() <= self.tolerance {
            return Ok(self.best.finish(problem, "auto", solution, 0, self.tolerance, SolveStatus::Converged));
        }
        let Auto { newton_min, newton_fischer_burmeister, interior_point, lemke, .. } = self;
        let chain: &mut [&mut BoxedSolver<Lcp>] = if n <= FEW_ROWS {
            &mut [lemke, newton_min, interior_point]
        } else if n <= LEMKE_ROWS {
            &mut [newton_min, newton_fischer_burmeister, interior_point, lemke]
        } else {
            &mut [newton_min, newton_fischer_burmeister, interior_point]
        };
        let (mut iterations, mut status, mut winner) = (0, SolveStatus::Stalled, "auto");
        for solver in chain {
            let before = self.best.residual();
            let report = solver.solve(problem, solution)?;
            iterations += report.iterations;
            if self.best.offer(problem, &solution.r) < before {
                winner = report.solver;
            }
            if self.best.residual() <= self.tolerance {
                break;
            }
            if report.status == SolveStatus::RayTermination || status != SolveStatus::RayTermination {
                status = report.status;
            }
            if deadline.is_over() {
                status = SolveStatus::TimeLimit;
                break;
            }
            solution.r.copy_from_slice(self.best.z());
        }
        Ok(self.best.finish(problem, winner, solution, iterations, self.tolerance, status))
    }
}
