//! The solver of small affine variational inequalities.

use super::natural_newton::NaturalNewton;
use super::pieces::{Piece, Pieces};
use super::{AffineVi, mixed_form};
use crate::matrix::{DenseMatrix, Matrix};
use crate::mlcp::Mlcp;
use crate::mlcp::MlcpSolverParams;
use crate::report::{SolveReport, SolveStatus};
use crate::vi::ViSolverParams;
use crate::vi::{Affine, VariationalInequality};
use crate::{BoxedSolver, Solution, SolveError, mlcp_solver, vi_solver};

/// Goes from the cheapest method to the surest:
///
/// - intervals only: the pieces of the last solution and changes of them (`active-pieces`), then the mixed LCP (`elimination`, which ends with Lemke's
///   pivots and tells rays), then all combinations of pieces, up to some thousands (`enumeration`). Held rows that depend on each other, as those of the two directions of an ideal switch, have many multipliers: one
///   with few entries is taken;
/// - balls and cones: Newton's method on the natural map (`natural-newton`), then `semismooth-newton` of the variational inequality.
///
/// The pieces are kept between solves: nothing is allocated while one of the last sixteen combinations holds. Judged by
/// [`AffineVi::residual_normalised`]; the best of what the methods found is returned.
pub struct AffineViSolver {
    tolerance: f64,
    pieces: Pieces,
    newton: NaturalNewton,
    mixed: BoxedSolver<Mlcp>,
    general: BoxedSolver<VariationalInequality>,
    work: Vec<f64>,
    best: Solution,
}

impl std::fmt::Debug for AffineViSolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AffineViSolver").field("tolerance", &self.tolerance).finish_non_exhaustive()
    }
}

impl AffineViSolver {
    /// A solver for this largest normalised residual.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] for a tolerance that is not positive.
    pub fn new(tolerance: f64) -> Result<Self, SolveError> {
        Ok(AffineViSolver {
            tolerance,
            pieces: Pieces::default(),
            newton: NaturalNewton::default(),
            mixed: mlcp_solver(&MlcpSolverParams { tolerance, ..MlcpSolverParams::default() })?,
            general: vi_solver(&ViSolverParams { tolerance, ..ViSolverParams::default() })?,
            work: Vec::new(),
            best: Solution::default(),
        })
    }

    /// The pieces of the rows in the last solution; empty where sets are no intervals.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces.pieces
    }

    /// Starts the next solve from these pieces.
    pub fn set_pieces(&mut self, pieces: &[Piece]) {
        self.pieces.pieces.clear();
        self.pieces.pieces.extend_from_slice(pieces);
    }

    /// Solves from the pieces of the last solution, or from the guess in `solution`.
    ///
    /// # Errors
    /// [`SolveError`] when the problem is malformed.
    pub fn solve(&mut self, problem: &AffineVi, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        solution.prepare(problem.n());
        if !self.pieces.prepare(problem) {
            problem.validate()?;
            return self.solve_general(problem, solution);
        }
        if let Some(changes) = self.pieces.solve(problem, solution) {
            let report = self.report(problem, "active-pieces", solution, changes, SolveStatus::Stalled);
            if report.is_converged() {
                return Ok(report);
            }
        }
        problem.validate()?;
        let report = self.solve_mixed(problem, solution)?;
        if report.is_converged() {
            return Ok(report);
        }
        self.solve_by_enumeration(problem, solution, report)
    }

    /// All combinations of pieces; what was found before, where none is a solution.
    fn solve_by_enumeration(
        &mut self,
        problem: &AffineVi,
        solution: &mut Solution,
        before: SolveReport,
    ) -> Result<SolveReport, SolveError> {
        self.best.clone_from(solution);
        let AffineViSolver { pieces, work, tolerance, .. } = self;
        if pieces.enumerate(problem, solution, |s| problem.residual_normalised(&s.r, &s.u, work) <= *tolerance) {
            return Ok(self.report(problem, "enumeration", solution, before.iterations, SolveStatus::Stalled));
        }
        solution.clone_from(&self.best);
        self.pieces.read(problem, solution);
        Ok(before)
    }

    /// Pivots; then the pieces of what they found, which give the same solution to round-off.
    fn solve_mixed(&mut self, problem: &AffineVi, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let mixed = mixed_form::solve(problem, &mut self.mixed, solution)?;
        let pivoted = self.report(problem, mixed.solver, solution, mixed.iterations, mixed.status);
        self.pieces.read(problem, solution);
        self.best.clone_from(solution);
        if self.pieces.solve(problem, solution).is_some() {
            let polished = self.report(problem, mixed.solver, solution, mixed.iterations, SolveStatus::Stalled);
            if polished.residual_normalised <= pivoted.residual_normalised || polished.is_converged() {
                return Ok(polished);
            }
        }
        solution.clone_from(&self.best);
        self.pieces.read(problem, solution);
        Ok(pivoted)
    }

    fn solve_general(&mut self, problem: &AffineVi, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.project(&mut solution.r);
        let steps = self.newton.solve(problem, self.tolerance, solution);
        // Newton's iterates lie off the set by what is left of the natural map
        problem.project(&mut solution.r);
        problem.velocity(&solution.r, &mut solution.u);
        let report = self.report(problem, "natural-newton", solution, steps, SolveStatus::Stalled);
        if report.is_converged() {
            return Ok(report);
        }
        self.best.clone_from(solution);
        let n = problem.n();
        let matrix: Matrix = DenseMatrix::new(n, n, problem.w.clone())?.into();
        let function = Box::new(Affine::new(matrix, problem.q.clone())?);
        let general = VariationalInequality { function, sets: problem.sets.clone() };
        let found = self.general.solve(&general, solution)?;
        let second = self.report(problem, found.solver, solution, steps + found.iterations, found.status);
        if second.residual_normalised <= report.residual_normalised {
            return Ok(second);
        }
        solution.clone_from(&self.best);
        Ok(report)
    }

    fn report(
        &mut self,
        problem: &AffineVi,
        solver: &'static str,
        solution: &Solution,
        iterations: usize,
        otherwise: SolveStatus,
    ) -> SolveReport {
        let residual_normalised = problem.residual_normalised(&solution.r, &solution.u, &mut self.work);
        let residual = problem.residual_in_unit(&solution.r, &solution.u, 1.0, &mut self.work);
        let status = SolveStatus::judged(residual_normalised, self.tolerance, otherwise);
        SolveReport { status, solver, iterations, residual, residual_normalised }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vi::Set;

    fn solved(w: &[f64], q: &[f64], sets: Vec<Set>) -> (Solution, SolveReport) {
        let problem = AffineVi { w: w.to_vec(), q: q.to_vec(), sets, generation: 1 };
        let mut solution = Solution::default();
        let report = AffineViSolver::new(1e-10).unwrap().solve(&problem, &mut solution).unwrap();
        (solution, report)
    }

    #[test]
    fn each_piece_of_a_relay_is_found() {
        for (q, r, u) in [(5.0, -1.0, 3.0), (-5.0, 1.0, -3.0), (1.0, -0.5, 0.0), (2.0, -1.0, 0.0)] {
            let (solution, report) = solved(&[2.0], &[q], vec![Set::Interval { lower: -1.0, upper: 1.0 }]);
            assert!(report.is_converged());
            assert_eq!((solution.r[0], solution.u[0]), (r, u));
        }
    }

    #[test]
    fn a_skew_matrix_needs_pivots() {
        // The polytope {r ≤ 1} of a free r: u₁ = q₁ + μ = 0, 0 ≤ 1 − r ⟂ μ ≥ 0; W is skew, so every held subset of odd size is singular.
        let sets = vec![Set::Free { dim: 1 }, Set::NonNegative { dim: 1 }];
        let (solution, report) = solved(&[0.0, 1.0, -1.0, 0.0], &[-3.0, 1.0], sets);
        assert!(report.is_converged(), "{report:?}");
        assert_eq!(solution.r, [1.0, 3.0]);
    }

    #[test]
    fn balls_and_cones_are_solved() {
        // u = r + q on the unit ball: r is the projection of −q.
        let (solution, report) = solved(&[1.0, 0.0, 0.0, 1.0], &[-3.0, -4.0], vec![Set::Ball { radius: 1.0, dim: 2 }]);
        assert!(report.is_converged(), "{report:?}");
        assert!((solution.r[0] - 0.6).abs() < 1e-10 && (solution.r[1] - 0.8).abs() < 1e-10); // the tolerance
        // on the second-order cone, −q = (0, 2) has the projection (1, 1)
        let (solution, report) = solved(&[1.0, 0.0, 0.0, 1.0], &[0.0, -2.0], vec![Set::SecondOrderCone { mu: 1.0, dim: 2 }]);
        assert!(report.is_converged(), "{report:?}");
        assert!((solution.r[0] - 1.0).abs() < 1e-10 && (solution.r[1] - 1.0).abs() < 1e-10);
    }

    #[test]
    fn no_solution_is_told() {
        let (_, report) = solved(&[0.0], &[-1.0], vec![Set::NonNegative { dim: 1 }]);
        assert!(!report.is_converged());
    }

    /// An ideal switch, two opposite directions on one voltage: the held rows of both depend on each other, but for rounding. The current through both is what counts, and neither direction carries more than it.
    #[test]
    fn opposite_directions_of_a_switch_share_no_current() {
        for epsilon in [0.0, 1e-17, -1e-17] {
            // 0 ≤ i₁ ⟂ w (i₁ − i₂) + q ≥ 0, 0 ≤ i₂ ⟂ −w (i₁ − i₂) − q ≥ 0
            for q in [-3.0, 2.0] {
                let w = [0.7, -0.7, -0.7, 0.7 + epsilon];
                let (mut solver, mut solution) = (AffineViSolver::new(1e-10).unwrap(), Solution::default());
                let problem = AffineVi { w: w.to_vec(), q: vec![q, -q], sets: vec![Set::NonNegative { dim: 2 }], generation: 1 };
                solver.set_pieces(&[Piece::Held; 2]);
                let report = solver.solve(&problem, &mut solution).unwrap();
                assert!(report.is_converged(), "{report:?}");
                let through = solution.r[0] - solution.r[1];
                assert!((through + q / 0.7).abs() < 1e-14 * 5.0, "{:?}", solution.r); // one rounding of 4.3
                assert!(solution.r.iter().all(|&i| i <= through.abs() + 1e-14), "{:?}", solution.r);
            }
        }
    }

    /// A balance of currents beside a row of kilovolts: i = 1e-8 A, and 1000 V + v = 0. Without any current the balance is wrong altogether, which is 1e-11 of the kilovolts.
    #[test]
    fn small_rows_are_judged_beside_large_ones() {
        let sets = vec![Set::Free { dim: 1 }, Set::NonNegative { dim: 1 }];
        let problem = AffineVi { w: vec![0.0, 1.0, 1.0, 0.0], q: vec![-1e-8, 1000.0], sets, generation: 1 };
        let (r, mut u, mut work) = ([0.0, 0.0], [0.0; 2], Vec::new());
        problem.velocity(&r, &mut u);
        assert!(problem.residual_normalised(&r, &u, &mut work) > 0.9);
        let mut solution = Solution { r: r.to_vec(), u: u.to_vec() };
        let report = AffineViSolver::new(1e-10).unwrap().solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged(), "{report:?}");
        assert_eq!(solution.r, [-1000.0, 1e-8]);
    }

    /// The same problem with a new q: the pieces still hold, and nothing is pivoted.
    #[test]
    fn pieces_that_hold_are_taken_over() {
        let sets = vec![Set::NonNegative { dim: 2 }];
        let mut problem = AffineVi { w: vec![2.0, -1.0, 1.0, 2.0], q: vec![-1.0, 3.0], sets, generation: 7 };
        let (mut solver, mut solution) = (AffineViSolver::new(1e-10).unwrap(), Solution::default());
        assert_eq!(solver.solve(&problem, &mut solution).unwrap().iterations, 1);
        assert_eq!(solver.pieces(), [Piece::Held, Piece::AtLower]);
        problem.q = vec![-1.5, 2.0];
        assert_eq!(solver.solve(&problem, &mut solution).unwrap().iterations, 0);
        assert_eq!(solution.r, [0.75, 0.0]);
    }
}
