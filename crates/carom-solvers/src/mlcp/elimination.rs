//! Mixed LCP: elimination of the equations, then a solver of LCPs.

use super::Mlcp;
use super::MlcpSolverParams;
use super::reduction::Reduction;
use crate::error::SolveError;
use crate::lcp::Lcp;
use crate::lcp::LcpSolverParams;
use crate::report::{SolveReport, SolveStatus};
use crate::{BoxedSolver, OneStepSolver, Solution};

/// Eliminates the equations and solves the LCP that is left by the solver `lcp` names.
///
/// When to use it: the default. Redundant equations are normal and cost nothing; inconsistent ones end with status `Stalled`.
///
/// The elimination reveals the rank, see the module's reduction for its equations. For sparse M the equations are eliminated by
/// sparse LU, and the LCP stays sparse where its fill allows.
///
/// Cost: that of the elimination, e³ for dense equations, and of the chosen solver.
#[derive(Debug)]
pub struct Elimination {
    tolerance: f64,
    inner: LcpSolverParams,
    construct: fn(&LcpSolverParams) -> Result<BoxedSolver<Lcp>, SolveError>,
    /// Built at the first solve.
    solver: Option<BoxedSolver<Lcp>>,
    reduction: Reduction,
}

impl Elimination {
    /// A solver with these parameters, and the constructor of the LCP solver.
    pub fn new(params: &MlcpSolverParams, construct: fn(&LcpSolverParams) -> Result<BoxedSolver<Lcp>, SolveError>) -> Self {
        Elimination { tolerance: params.tolerance, inner: params.for_lcp(), construct, solver: None, reduction: Reduction::default() }
    }
}

impl OneStepSolver<Mlcp> for Elimination {
    fn name(&self) -> &'static str {
        "elimination"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Mlcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n());
        problem.project(&mut solution.r);
        let best = &mut self.reduction.best;
        best.restart(problem.n());
        best.offer(problem, &solution.r);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if best.residual() > self.tolerance {
            let solver = match &mut self.solver {
                Some(solver) => solver,
                None => self.solver.insert((self.construct)(&self.inner)?),
            };
            (status, iterations) = self.reduction.solve(problem, &solution.r, self.tolerance, solver.as_mut())?;
        }
        self.reduction.best.write(problem, solution);
        Ok(problem.report("elimination", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LcpSolverKind, lcp_solver};

    fn solve(problem: &Mlcp) -> (SolveReport, Solution) {
        let params = MlcpSolverParams { lcp: LcpSolverKind::Lemke, ..Default::default() };
        let mut solution = Solution::default();
        let report = Elimination::new(&params, lcp_solver).solve(problem, &mut solution).unwrap();
        (report, solution)
    }

    #[test]
    fn a_mass_on_the_ground_is_solved() {
        // 2 v − p = −6 (momentum), 0 ≤ v ⊥ p ≥ 0: v = 0, p = 6.
        let problem = Mlcp::dense(vec![2.0, -1.0, 1.0, 0.0], vec![6.0, 0.0], vec![true, false]).unwrap();
        let (report, solution) = solve(&problem);
        assert!(report.is_converged(), "{report:?}");
        // A few roundings of 6.
        assert!(solution.r[0].abs() < 1e-14 && (solution.r[1] - 6.0).abs() < 1e-14, "{:?}", solution.r);
    }

    #[test]
    fn equations_between_complementarity_unknowns_stay() {
        // min |x|²/2 − x₁ with x₁ + x₂ = 3, x ≥ 0: x = (2, 1) with the multiplier λ = 1, from x + (−1, 0) − λ = 0.
        let m = vec![1.0, 0.0, -1.0, 0.0, 1.0, -1.0, 1.0, 1.0, 0.0];
        let problem = Mlcp::dense(m, vec![-1.0, 0.0, -3.0], vec![false, false, true]).unwrap();
        let (report, solution) = solve(&problem);
        assert!(report.is_converged(), "{report:?}");
        for (z, exact) in solution.r.iter().zip([2.0, 1.0, 1.0]) {
            assert!((z - exact).abs() < 1e-14, "{:?}", solution.r); // a few roundings
        }
    }

    #[test]
    fn inconsistent_equations_are_no_solution() {
        // The same equation twice, with different right sides.
        let problem = Mlcp::dense(vec![1.0; 4], vec![-1.0, -2.0], vec![true; 2]).unwrap();
        let (report, _) = solve(&problem);
        assert_eq!(report.status, SolveStatus::Stalled);
    }
}
