//! Mangasarian's equations.

use super::Lcp;
use super::LcpSolverParams;
use super::descent::{DescentSolver, Equations, Row};
use crate::error::SolveError;
use crate::report::SolveReport;
use crate::{OneStepSolver, Solution};

/// Newton on equations that are continuously differentiable: θ(|b − a|) − θ(b) − θ(a) = 0 with θ(t) = t|t|, a and b being z and w in units of the row. A reference for
/// the nonsmooth methods, and one to compare with; newton-min and newton-fischer-burmeister are faster.
///
/// ```text
///     F(a, b) = (b − a)² − b|b| − a|a|,   0 ≤ a ⊥ b ≥ 0  ⇔  F = 0    (for any strictly increasing θ with θ(0) = 0)
///     ∂F/∂a = −2 (b − a) − 2|a|,   ∂F/∂b = 2 (b − a) − 2|b|
/// ```
///
/// [Mangasarian, *Equivalence of the complementarity problem to a system of nonlinear equations*, 1976]. The price of smoothness: at a solution with
/// a = b = 0 in some row both derivatives vanish, Newton's matrix is singular and convergence linear; F is quadratic in the size of the problem, so that half of
/// the digits are lost. The method is therefore used to find the active set, on which the solution is found exactly.
///
/// Differs from the source in: the negative of F is used where that keeps its slopes positive, steps are those of Newton with a shift when the matrix is
/// singular, with Armijo's line search on ½|F|² and the gradient as a last resort.
///
/// Cost: one factorisation of n rows per step and one product per trial of the line search.
#[derive(Clone, Debug)]
pub struct Mangasarian {
    descent: DescentSolver,
}

impl Mangasarian {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Mangasarian { descent: DescentSolver::new(params) }
    }
}

/// −F/2 and its derivatives; the factor makes the slopes those of a b near the positive quadrant.
#[derive(Clone, Copy, Debug)]
struct Theta;

impl Equations for Theta {
    fn value(&self, a: f64, b: f64) -> f64 {
        // (b − a)² − b|b| − a|a| without the cancellation of the squares.
        let rest = 2.0 * a.min(0.0).powi(2) + 2.0 * b.min(0.0).powi(2);
        a * b - 0.5 * rest
    }

    fn row(&self, a: f64, b: f64, _limit: (f64, f64)) -> Row {
        Row { by_a: b - a + a.abs(), by_b: a - b + b.abs() }
    }
}

impl OneStepSolver<Lcp> for Mangasarian {
    fn name(&self) -> &'static str {
        "mangasarian"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.descent.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let name = self.name();
        self.descent.solve(Theta, name, problem, solution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_equation_is_mangasarians() {
        let theta = |t: f64| t * t.abs();
        for (a, b) in [(0.0_f64, 3.0_f64), (2.0, 0.0), (3.0, 4.0), (-3.0, 4.0), (3.0, -4.0), (-3.0, -4.0)] {
            let f = theta((b - a).abs()) - theta(b) - theta(a);
            assert!((Theta.value(a, b) + 0.5 * f).abs() < 1e-13, "{a} {b}"); // a few roundings
            // Slopes by central differences: exact for a quadratic, up to rounding over the step.
            let h = 1e-3;
            let row = Theta.row(a, b, (0.0, 0.0));
            let (by_a, by_b) =
                ((Theta.value(a + h, b) - Theta.value(a - h, b)) / (2.0 * h), (Theta.value(a, b + h) - Theta.value(a, b - h)) / (2.0 * h));
            assert!((row.by_a - by_a).abs() < 2.0 * h && (row.by_b - by_b).abs() < 2.0 * h, "{a} {b}: {row:?}");
        }
    }

    #[test]
    fn a_definite_problem_is_solved() {
        // Both rows active: 2z₁ + z₂ = 5, z₁ + 2z₂ = 6.
        let problem = Lcp::dense(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0]).unwrap();
        let mut solution = Solution::default();
        let report = Mangasarian::new(&LcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged(), "{report:?}");
        // The tolerance times |q| times a conditioning of 3.
        assert!((solution.r[0] - 4.0 / 3.0).abs() < 1e-9 && (solution.r[1] - 7.0 / 3.0).abs() < 1e-9);
    }
}
