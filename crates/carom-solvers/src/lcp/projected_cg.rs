//! Projected conjugate gradients.

use super::Lcp;
use super::LcpSolverParams;
use super::polished_iterate::PolishedIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::matrix::Matrix;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Minimises ½ zᵀM z + qᵀz over z ≥ 0 by conjugate gradients on the free rows. Use it for symmetric M ⪰ 0 too large or too full to factor:
/// one product per iteration, no other storage than vectors.
///
/// With the gradient w = M z + q split into the part φ of the free rows (z > 0) and the part β of the others that want to become free (w < 0):
///
/// - |β|² ≤ Γ² φ̃ᵀφ: a step of conjugate gradients; where it would leave z ≥ 0, to the boundary and on by a projected step of length ᾱ;
/// - otherwise a step along −β that frees rows.
///
/// φ̃_i = min(z_i/ᾱ, φ_i), Γ = 1, ᾱ = 1/‖M‖∞.
/// [Dostál & Schöberl, *Minimizing quadratic functions subject to bound constraints with the rate of convergence and finite termination*, 2005: MPRGP].
/// Differs in: unknowns are scaled to a unit diagonal; a direction without curvature that meets no bound ends the method (no solution).
///
/// Cost: one product with M per iteration. Iterations grow as √κ of the free rows: a chain of n contacts takes about n.
#[derive(Clone, Debug)]
pub struct ProjectedCg {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    best: PolishedIterate,
    /// 1/√M_ii.
    root: Vec<f64>,
    x: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// Product of M with the direction, scaled.
    image: Vec<f64>,
    scaled: Vec<f64>,
}

/// Asymmetry of M that is rounding, relative to √(M_ii M_jj).
const ASYMMETRY: f64 = 1e-10;

/// Curvature, relative to a unit diagonal, below which a direction has none.
const FLAT: f64 = 1e-14;

/// Iterations between evaluations of the residual, and of a gradient free of accumulated rounding.
const CHECK_INTERVAL: usize = 10;

/// Evaluations in sequence without a smaller projected gradient that end the method.
const STALL_CHECKS: usize = 200;

impl ProjectedCg {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        ProjectedCg {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            best: PolishedIterate::default(),
            root: Vec::new(),
            x: Vec::new(),
            gradient: Vec::new(),
            direction: Vec::new(),
            image: Vec::new(),
            scaled: Vec::new(),
        }
    }

    /// Scales to a unit diagonal and returns ᾱ. Rows without diagonal keep their unit.
    fn scale(&mut self, problem: &Lcp, start: &[f64]) -> f64 {
        let n = problem.n();
        self.root.clear();
        self.root.extend((0..n).map(|i| {
            let d = problem.m.get(i, i);
            if d > f64::MIN_POSITIVE { 1.0 / d.sqrt() } else { 1.0 / self.best.scale().sqrt() }
        }));
        for v in [&mut self.gradient, &mut self.direction, &mut self.image, &mut self.scaled] {
            v.clear();
            v.resize(n, 0.0);
        }
        self.x.clear();
        self.x.extend(start.iter().zip(&self.root).map(|(z, r)| z / r));
        let root = &self.root;
        let row_sum = |i: usize| -> f64 {
            let sum: f64 = match &problem.m {
                Matrix::Dense(m) => m.row(i).iter().zip(root).map(|(a, r)| (a * r).abs()).sum(),
                Matrix::Sparse(m) => m.row(i).map(|(j, a)| (a * root[j]).abs()).sum(),
            };
            sum * root[i]
        };
        1.0 / (0..n).map(row_sum).fold(1.0, f64::max)
    }

    /// image = D⁻½ M D⁻½ direction.
    fn multiply(&mut self, problem: &Lcp) {
        for i in 0..self.x.len() {
            self.scaled[i] = self.root[i] * self.direction[i];
        }
        problem.m.multiply(&self.scaled, &mut self.image);
        self.image.iter_mut().zip(&self.root).for_each(|(y, r)| *y *= r);
    }

    /// The gradient from scratch; `scaled` is left holding z.
    fn refresh(&mut self, problem: &Lcp) {
        for i in 0..self.x.len() {
            self.scaled[i] = self.root[i] * self.x[i];
        }
        problem.velocity(&self.scaled, &mut self.gradient);
        self.gradient.iter_mut().zip(&self.root).for_each(|(y, r)| *y *= r);
    }

    /// direction = φ.
    fn restart(&mut self) {
        for i in 0..self.x.len() {
            self.direction[i] = if self.x[i] > 0.0 { self.gradient[i] } else { 0.0 };
        }
    }

    /// Moves x by −step · direction and the gradient with it; x stays in z ≥ 0.
    fn advance(&mut self, step: f64) {
        for i in 0..self.x.len() {
            if self.direction[i] != 0.0 {
                self.x[i] = (self.x[i] - step * self.direction[i]).max(0.0);
            }
            self.gradient[i] -= step * self.image[i];
        }
    }

    fn iterate(&mut self, problem: &Lcp, step_bound: f64, deadline: Deadline) -> (SolveStatus, usize) {
        let n = problem.n();
        self.refresh(problem);
        self.restart();
        let (mut checks, mut smallest) = (0, f64::INFINITY);
        for iteration in 1..=self.max_iterations {
            // Sizes of φ, of φ̃ against φ, and of β.
            let (mut reduced, mut chopped) = (0.0, 0.0);
            for i in 0..n {
                let g = self.gradient[i];
                if self.x[i] > 0.0 {
                    reduced += if g > 0.0 { (self.x[i] / step_bound).min(g) * g } else { g * g };
                } else {
                    chopped += g.min(0.0).powi(2);
                }
            }
            let mut is_last = reduced.max(chopped) == 0.0;
            if is_last {
                // A solution, up to the rounding of the gradient that was carried along.
            } else if chopped <= reduced {
                is_last = !self.free_step(problem, step_bound);
            } else {
                for i in 0..n {
                    self.direction[i] = if self.x[i] > 0.0 { 0.0 } else { self.gradient[i].min(0.0) };
                }
                self.multiply(problem);
                let curvature: f64 = self.direction.iter().zip(&self.image).map(|(d, y)| d * y).sum();
                if curvature <= FLAT * chopped {
                    is_last = true;
                } else {
                    self.advance(chopped / curvature);
                    self.restart();
                }
            }
            if iteration % CHECK_INTERVAL == 0 || iteration == self.max_iterations || is_last {
                self.refresh(problem);
                let z = std::mem::take(&mut self.scaled);
                self.best.offer(problem, &z);
                self.scaled = z;
                let size = reduced + chopped;
                (checks, smallest) = if size < smallest { (0, size) } else { (checks + 1, smallest) };
                if self.best.residual() <= self.tolerance {
                    return (SolveStatus::Converged, iteration);
                }
                if checks == STALL_CHECKS || is_last {
                    return (SolveStatus::Stalled, iteration);
                }
                if deadline.is_over() {
                    return (SolveStatus::TimeLimit, iteration);
                }
            }
        }
        (SolveStatus::MaxIterations, self.max_iterations)
    }

    /// A step of conjugate gradients, or to the boundary and beyond. False along a direction of descent without end.
    fn free_step(&mut self, problem: &Lcp, step_bound: f64) -> bool {
        let n = self.x.len();
        self.multiply(problem);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let curvature = dot(&self.direction, &self.image);
        let slope = dot(&self.gradient, &self.direction);
        let size = dot(&self.direction, &self.direction);
        let feasible = (0..n).filter(|&i| self.direction[i] > 0.0).fold(f64::INFINITY, |s, i| s.min(self.x[i] / self.direction[i]));
        let step = if curvature > FLAT * size { slope / curvature } else { f64::INFINITY };
        if step <= feasible {
            if step == f64::INFINITY {
                return false;
            }
            self.advance(step);
            // φ at the new point, made conjugate to the direction.
            let overlap: f64 = (0..n).filter(|&i| self.x[i] > 0.0).map(|i| self.gradient[i] * self.image[i]).sum();
            let beta = overlap / curvature;
            for i in 0..n {
                let free = if self.x[i] > 0.0 { self.gradient[i] } else { 0.0 };
                self.direction[i] = free - beta * self.direction[i];
            }
        } else {
            self.advance(feasible);
            for i in 0..n {
                if self.x[i] > 0.0 {
                    self.x[i] = (self.x[i] - step_bound * self.gradient[i]).max(0.0);
                }
            }
            self.refresh(problem);
            self.restart();
        }
        true
    }
}

/// Is M symmetric up to rounding, with no negative diagonal?
fn is_symmetric(m: &Matrix) -> bool {
    let diagonal: Vec<f64> = (0..m.n_rows()).map(|i| m.get(i, i)).collect();
    let fits =
        |i: usize, j: usize, a: f64| (a - m.get(j, i)).abs() <= ASYMMETRY * (diagonal[i].abs() * diagonal[j].abs()).sqrt().max(a.abs());
    diagonal.iter().all(|d| *d >= 0.0)
        && (0..m.n_rows()).all(|i| match m {
            Matrix::Dense(m) => m.row(i).iter().enumerate().all(|(j, a)| fits(i, j, *a)),
            Matrix::Sparse(m) => m.row(i).all(|(j, a)| fits(i, j, a)),
        })
}

impl OneStepSolver<Lcp> for ProjectedCg {
    fn name(&self) -> &'static str {
        "projected-cg"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    /// # Errors
    /// [`SolveError::Unsupported`] for M that is not symmetric.
    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        if !is_symmetric(&problem.m) {
            return Err(SolveError::Unsupported {
                solver: "projected-cg",
                reason: "M is not symmetric",
                alternatives: "auto, newton-min, interior-point",
            });
        }
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(problem.n());
        self.best.begin(problem, solution);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            let step_bound = self.scale(problem, &solution.r);
            (status, iterations) = self.iterate(problem, step_bound, deadline);
        }
        Ok(self.best.finish(problem, "projected-cg", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(m: &[f64], q: &[f64]) -> Result<(SolveReport, Solution), SolveError> {
        let problem = Lcp::dense(m.to_vec(), q.to_vec()).unwrap();
        let mut solution = Solution::default();
        let report = ProjectedCg::new(&LcpSolverParams::default()).solve(&problem, &mut solution)?;
        Ok((report, solution))
    }

    #[test]
    fn a_problem_with_a_row_that_must_leave() {
        // z₁ alone: 2z₁ = 4; then w₂ = 2 − 1 = 1 > 0.
        let (report, solution) = solve(&[2.0, 1.0, 1.0, 2.0], &[-4.0, -1.0]).unwrap();
        assert!(report.is_converged(), "{report:?}");
        assert!((solution.r[0] - 2.0).abs() < 1e-9 && solution.r[1] == 0.0, "{solution:?}"); // the tolerance
    }

    #[test]
    fn other_matrices_are_refused() {
        assert!(matches!(solve(&[2.0, 1.0, 0.0, 2.0], &[-1.0; 2]), Err(SolveError::Unsupported { .. })));
    }

    #[test]
    fn descent_without_end_stalls() {
        let (report, _) = solve(&[1.0, -1.0, -1.0, 1.0], &[-1.0; 2]).unwrap();
        assert_eq!(report.status, SolveStatus::Stalled);
    }
}
