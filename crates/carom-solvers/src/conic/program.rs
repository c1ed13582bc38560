//! Convex quadratic programs over second-order cones.

use super::cone::ConeProduct;
use super::path::{Law, PathFollower};
use crate::cones::project_coulomb;
use crate::deadline::Deadline;
use crate::matrix::SparseMatrix;

/// min ½ xᵀQx + cᵀx over x ∈ K, Q symmetric positive semidefinite. Units in which diag Q and c are about one are expected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConeProgram<'a> {
    /// Q, all entries, the diagonal blocks of the cones in full.
    pub q: &'a SparseMatrix,
    /// c.
    pub c: &'a [f64],
    /// K.
    pub cones: &'a ConeProduct,
}

impl ConeProgram<'_> {
    /// out = Q x + c.
    pub fn gradient(&self, x: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.c[i] + self.q.row(i).map(|(j, value)| value * x[j]).sum::<f64>();
        }
    }

    /// The largest |x − P_K(x − z)| of a row, z = Q x + c given; |z| on free rows. Zero at a solution. `work` is overwritten.
    pub fn natural_map(&self, x: &[f64], z: &[f64], work: &mut Vec<f64>) -> f64 {
        work.clear();
        work.extend(x.iter().zip(z).map(|(x, z)| x - z));
        for rows in self.cones.lorentz() {
            project_coulomb(1.0, &mut work[rows]);
        }
        x.iter().zip(&*work).fold(0.0, |error: f64, (x, p)| error.max((x - p).abs()))
    }
}

/// When a solve ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConeLimits {
    /// Largest accepted natural map.
    pub tolerance: f64,
    /// Number of steps.
    pub max_steps: usize,
    /// The end of the time.
    pub deadline: Deadline,
}

/// Interior point solver of [`ConeProgram`]: some 6 to 30 steps of [`PathFollower`] whatever the size, Q singular or not.
///
/// Use it where the exact solution of a convex subproblem is wanted, degenerate or redundant as it may be. Where the cones
/// leave a strictly complementary solution the natural map reaches 1e-12; otherwise some 1e-8.
#[derive(Debug, Default)]
pub(crate) struct ConeSolver {
    path: PathFollower,
    gradient: Vec<f64>,
    work: Vec<f64>,
    /// The best x, and its natural map.
    best: Vec<f64>,
    error: f64,
    has_point: bool,
}

/// Part of the way to the boundary that a step goes at most.
const STEP_FRACTION: f64 = 0.99;

/// Steps without a better point after which the solve ends.
const STALL_STEPS: usize = 10;

impl ConeSolver {
    /// Forgets the last program, as is needed when Q or the cones are others.
    pub fn reset(&mut self) {
        self.has_point = false;
    }

    /// Solves a program; the number of steps. Without a [`Self::reset`] before, Q and the cones are those of the last
    /// solve, whose solution moved inside by `distance`, about the change of c, is the start.
    pub fn solve(&mut self, program: ConeProgram, distance: f64, limits: ConeLimits) -> usize {
        let is_warm = self.has_point;
        if is_warm {
            self.path.restart(program, distance);
        } else {
            self.path.start(program, Law::Convex, STEP_FRACTION);
        }
        let steps = self.follow(program, limits);
        // A warm start that led nowhere costs a solve, not the solution.
        if !is_warm || self.error <= limits.tolerance.max(distance) {
            return steps;
        }
        self.path.start(program, Law::Convex, STEP_FRACTION);
        let (error, best) = (self.error, std::mem::take(&mut self.best));
        let max_steps = limits.max_steps.saturating_sub(steps);
        let steps = steps + self.follow(program, ConeLimits { max_steps, ..limits });
        if error < self.error {
            (self.error, self.best) = (error, best);
        }
        steps
    }

    fn follow(&mut self, program: ConeProgram, limits: ConeLimits) -> usize {
        self.has_point = true;
        self.gradient.resize(program.cones.n_rows(), 0.0);
        self.error = f64::INFINITY;
        let mut best_step = 0;
        for step in 0.. {
            program.gradient(&self.path.x, &mut self.gradient);
            let error = program.natural_map(&self.path.x, &self.gradient, &mut self.work);
            if error < self.error || step == 0 {
                self.error = error;
                self.best.clone_from(&self.path.x);
                best_step = step;
            }
            let is_over = step >= limits.max_steps || step > best_step + STALL_STEPS || limits.deadline.is_over();
            if self.error <= limits.tolerance || is_over {
                return step;
            }
            if self.path.step(program).is_none() {
                self.has_point = false; // No point to start from.
                return step;
            }
        }
        0
    }

    /// The best x of the last solve.
    pub fn solution(&self) -> &[f64] {
        &self.best
    }

    /// Its natural map.
    pub fn error(&self) -> f64 {
        self.error
    }
}

#[cfg(test)]
mod tests {
    use super::super::cone::Cone;
    use super::*;

    fn solve(q: &SparseMatrix, c: &[f64], factors: &[Cone]) -> (Vec<f64>, usize) {
        let mut cones = ConeProduct::default();
        factors.iter().for_each(|cone| cones.push(*cone));
        let mut solver = ConeSolver::default();
        let limits = ConeLimits { tolerance: 1e-12, max_steps: 100, deadline: Deadline::default() };
        let steps = solver.solve(ConeProgram { q, c, cones: &cones }, 0.0, limits);
        assert!(solver.error() <= 1e-12, "{}", solver.error());
        (solver.solution().to_vec(), steps)
    }

    /// A matrix given in full.
    fn full(rows: &[&[f64]]) -> SparseMatrix {
        let mut matrix = SparseMatrix::default();
        matrix.reset(rows.len());
        for row in rows {
            row.iter().enumerate().for_each(|(j, value)| matrix.push(j, *value));
            matrix.finish_row();
        }
        matrix
    }

    #[test]
    fn a_projection_on_the_cone_is_found() {
        // Q = I: the projection of −c = (0, 2, 0), which is (1, 1, 0).
        let identity = full(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]);
        let (x, steps) = solve(&identity, &[0.0, -2.0, 0.0], &[Cone::Lorentz { dim: 3 }]);
        for (x, exact) in x.iter().zip([1.0, 1.0, 0.0]) {
            assert!((x - exact).abs() < 1e-11, "{x} {exact}"); // ten times the tolerance on the natural map
        }
        assert!(steps <= 15, "{steps}");
    }

    #[test]
    fn half_lines_and_free_rows_are_a_quadratic_program() {
        // x_0 free, x_1, x_2 ≥ 0: stationary in x_0 and x_1 at (1, 2), x_2 = 0 with gradient 4 > 0.
        let q = full(&[&[2.0, -1.0, 1.0], &[-1.0, 1.0, 0.0], &[1.0, 0.0, 3.0]]);
        let (x, _) = solve(&q, &[0.0, -1.0, 3.0], &[Cone::Free { dim: 1 }, Cone::Lorentz { dim: 1 }, Cone::Lorentz { dim: 1 }]);
        for (x, exact) in x.iter().zip([1.0, 2.0, 0.0]) {
            assert!((x - exact).abs() < 1e-11, "{x} {exact}"); // ten times the tolerance on the natural map
        }
    }

    #[test]
    fn a_singular_matrix_is_no_obstacle() {
        // Only x_0 + x_1 is determined: 1.
        let q = full(&[&[1.0, 1.0], &[1.0, 1.0]]);
        let (x, _) = solve(&q, &[-1.0, -1.0], &[Cone::Lorentz { dim: 1 }; 2]);
        assert!((x[0] + x[1] - 1.0).abs() < 1e-11 && x[0] > 0.1 && x[1] > 0.1, "{x:?}"); // the middle, not a corner
        // Redundant free rows.
        let (x, _) = solve(&q, &[-1.0, -1.0], &[Cone::Free { dim: 2 }]);
        assert!((x[0] + x[1] - 1.0).abs() < 1e-11, "{x:?}");
    }

    #[test]
    fn a_second_solve_starts_at_the_first() {
        let identity = full(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]);
        let mut cones = ConeProduct::default();
        cones.push(Cone::Lorentz { dim: 3 });
        let mut solver = ConeSolver::default();
        let limits = ConeLimits { tolerance: 1e-10, max_steps: 100, deadline: Deadline::default() };
        let first = solver.solve(ConeProgram { q: &identity, c: &[0.0, -2.0, 0.0], cones: &cones }, 0.0, limits);
        let second = solver.solve(ConeProgram { q: &identity, c: &[0.0, -2.0, 1e-4], cones: &cones }, 1e-4, limits);
        assert!(solver.error() <= 1e-10 && second < first, "{first} {second}");
    }
}
