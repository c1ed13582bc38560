//! Mixed LCP: Lemke's method with the free unknowns in the basis.

use super::Mlcp;
use super::MlcpSolverParams;
use super::reduction::Reduction;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution, lcp};

/// Pivots the free unknowns into the basis, then follows Lemke's path with the complementarity rows.
///
/// When to use it: small problems, up to a few hundred rows, degenerate or redundant, or where it matters to learn that
/// there is no solution: for M with zᵀM z ≥ 0 a ray proves it (status `RayTermination`).
///
/// A free unknown in the basis never leaves it, since nothing bounds it: its row takes no part in the ratio tests. What the
/// path sees is therefore the Schur complement on the complementarity rows, and that is all the tableau holds. A free
/// unknown that finds no pivot among the equations is split, y = y⁺ − y⁻, and its equation is written as two inequalities.
/// [Cottle, Pang & Stone, *The Linear Complementarity Problem*, 1992, on mixed problems]
///
/// Cost: elimination of the equations, then 2c² per pivot, usually c to 3c pivots for c complementarity rows.
#[derive(Clone, Debug)]
pub struct Lemke {
    tolerance: f64,
    solver: lcp::Lemke,
    reduction: Reduction,
}

impl Lemke {
    /// A solver with these parameters.
    pub fn new(params: &MlcpSolverParams) -> Self {
        Lemke { tolerance: params.tolerance, solver: lcp::Lemke::new(&params.for_lcp()), reduction: Reduction::default() }
    }
}

impl OneStepSolver<Mlcp> for Lemke {
    fn name(&self) -> &'static str {
        "lemke"
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
            (status, iterations) = self.reduction.solve(problem, &solution.r, self.tolerance, &mut self.solver)?;
        }
        self.reduction.best.write(problem, solution);
        Ok(problem.report("lemke", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_infeasible_problem_ends_on_a_ray() {
        // v = 1 (equation), and a contact that needs v ≤ 0 with no impulse to change it: w = −v.
        let problem = Mlcp::dense(vec![1.0, 0.0, -1.0, 0.0], vec![-1.0, 0.0], vec![true, false]).unwrap();
        let report = Lemke::new(&MlcpSolverParams::default()).solve(&problem, &mut Solution::default()).unwrap();
        assert_eq!(report.status, SolveStatus::RayTermination);
    }

    #[test]
    fn a_hanging_mass_is_held() {
        // Bodies 2 v₁ + p = 1, 3 v₂ − p = −1 joined by 0 ≤ v₂ − v₁ ⊥ p ≥ 0: v₁ = v₂ = 0, p = 1.
        let m = vec![2.0, 0.0, 1.0, 0.0, 3.0, -1.0, -1.0, 1.0, 0.0];
        let problem = Mlcp::dense(m, vec![-1.0, 1.0, 0.0], vec![true, true, false]).unwrap();
        let mut solution = Solution::default();
        let report = Lemke::new(&MlcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged(), "{report:?}");
        for (z, exact) in solution.r.iter().zip([0.0, 0.0, 1.0]) {
            assert!((z - exact).abs() < 1e-15, "{:?}", solution.r); // one rounding
        }
    }
}
