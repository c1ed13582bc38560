//! Principal pivoting for symmetric positive semidefinite M.

use super::Lcp;
use super::LcpSolverParams;
use super::active_cholesky::ActiveCholesky;
use super::unit_diagonal::UnitDiagonalLcp;
use crate::best_iterate::BestIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::matrix::Matrix;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Drives row after row to its complementarity condition while the rows done before keep theirs.
///
/// When to use it: symmetric positive semidefinite M (frictionless contacts), up to a few hundred active rows, above all
/// with the active set of the step before as the guess: then only the rows that change cost anything.
///
/// With the active rows A (z_A ≥ 0, w_A = 0) and a row d with w_d < 0, z_d grows and A follows:
///
/// ```text
///     Δz_d = 1,   Δz_A = −M_AA⁻¹ M_Ad,   Δw = M Δz,   Δw_d = M_dd − M_dA M_AA⁻¹ M_Ad ≥ 0
/// ```
///
/// until w_d = 0 (d joins A), or a z_i of A falls to zero (i leaves A), or a w_i of a row done before does (i joins A).
/// Since the Schur complement of (d, i) is semidefinite, i with Δw_i < 0 is never dependent on A: M_AA stays
/// definite for semidefinite M too. Where Δw_d = 0 only the z_i bound the way; if none does, v = Δz ≥ 0 has M v = 0 and
/// qᵀv < 0, which proves that w = M z + q ≥ 0, z ≥ 0 has no solution (status `RayTermination`).
///
/// The principal pivoting of Dantzig and Cottle [Cottle, Pang & Stone, *The Linear Complementarity Problem*, 1992, ch. 4],
/// in the form of [Baraff, *Fast contact force computation for nonpenetrating rigid bodies*, 1994] without friction;
/// differs in: units with unit diagonal, an updated factorisation, semidefinite M, a guess. Ties go to the least index.
///
/// Cost: O(n k) per change of the active set of k rows for dense M, proportional to the factor's entries for sparse M.
#[derive(Clone, Debug)]
pub struct PrincipalPivoting {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    scaled: UnitDiagonalLcp,
    cholesky: ActiveCholesky,
    best: BestIterate,
    z: Vec<f64>,
    w: Vec<f64>,
    sizes: Vec<f64>,
    dz: Vec<f64>,
    dw: Vec<f64>,
    is_done: Vec<bool>,
    candidate: Vec<f64>,
}

/// Rows of the guess whose Schur complement is below this are dependent, M having unit diagonal.
const RANK_TOLERANCE: f64 = 1e-12;

/// Δzᵀ M Δz below this fraction of (Σ|Δz|)² is zero: some twenty times its rounding.
const SCHUR_TOLERANCE: f64 = 5e-15;

/// Below minus this many times its rounding, Δzᵀ M Δz is negative.
const INDEFINITE: f64 = 1e4;

/// A row that joins has a Schur complement above this, or it is dependent.
const SMALLEST_PIVOT: f64 = 1e-14;

/// Slopes below this fraction of the largest one are rounding.
const SLOPE_TOLERANCE: f64 = 1e-13;

/// Velocities below this fraction of the terms they are the sum of are rounding.
const VIOLATION_TOLERANCE: f64 = 1e-14;

/// A ray is believed when the velocity that stays negative is above this fraction of its terms.
const RAY_TOLERANCE: f64 = 1e-11;

/// Entries of M that differ by more than this fraction of the diagonal from those of Mᵀ are not rounding.
const SYMMETRY_TOLERANCE: f64 = 1e-9;

/// Largest velocity of the active rows at the start, that of q being one; above it they are dependent.
const START_RESIDUAL: f64 = 1e-8;

/// Passes over the rows: the second finds what rounding left of the first; more than three are rare.
const PASSES: usize = 10;

/// How driving a row ended.
enum Drive {
    Done,
    Ray,
    Indefinite,
    OutOf(SolveStatus),
}

impl PrincipalPivoting {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        PrincipalPivoting {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            scaled: UnitDiagonalLcp::default(),
            cholesky: ActiveCholesky::default(),
            best: BestIterate::default(),
            z: Vec::new(),
            w: Vec::new(),
            sizes: Vec::new(),
            dz: Vec::new(),
            dw: Vec::new(),
            is_done: Vec::new(),
            candidate: Vec::new(),
        }
    }

    /// Takes the rows with z > 0 as active, drops those whose impulse turns out negative, and counts the rows with w ≥ 0 as
    /// done: a start like any other, with most rows done if the guess is good.
    fn start(&mut self, guess: &[f64]) {
        let n = guess.len();
        for vector in [&mut self.z, &mut self.w, &mut self.sizes, &mut self.dz, &mut self.dw] {
            vector.clear();
            vector.resize(n, 0.0);
        }
        self.cholesky.clear(n);
        for i in (0..n).filter(|&i| guess[i] > 0.0) {
            self.cholesky.insert(&self.scaled.m, i, RANK_TOLERANCE);
        }
        self.refresh();
        // A sparse factorisation does not refuse dependent rows; they show here.
        if !self.cholesky.active().iter().all(|&i| self.w[i].abs() <= START_RESIDUAL) {
            self.cholesky.clear(n);
            self.z.fill(0.0);
            self.refresh();
        }
        self.is_done.clear();
        self.is_done.extend((0..n).map(|i| self.cholesky.contains(i) || self.w[i] >= 0.0));
    }

    /// w = M z + q with z_A corrected by one step of refinement, so that the errors of the steps do not add up. Rows whose
    /// impulse turns out negative leave A.
    fn refresh(&mut self) {
        loop {
            self.scaled.velocity(&self.z, &mut self.w, &mut self.sizes);
            self.dz.iter_mut().zip(&self.w).for_each(|(dz, w)| *dz = -w);
            self.cholesky.solve(&self.scaled.m, &mut self.dz);
            if self.dz.iter().any(|x| !x.is_finite()) {
                return;
            }
            self.z.iter_mut().zip(&self.dz).for_each(|(z, dz)| *z += dz);
            let mut has_left = false;
            for i in 0..self.z.len() {
                if self.z[i] < 0.0 {
                    has_left = true;
                    self.cholesky.remove(&self.scaled.m, i);
                    self.z[i] = 0.0;
                }
            }
            if !has_left {
                break;
            }
        }
        self.scaled.velocity(&self.z, &mut self.w, &mut self.sizes);
    }

    /// Δz and Δw for Δz_d = 1.
    fn direction(&mut self, d: usize) {
        self.dz.fill(0.0);
        self.scaled.m.add_row(d, -1.0, &mut self.dz);
        self.cholesky.solve(&self.scaled.m, &mut self.dz);
        self.dz[d] = 1.0;
        self.dw.fill(0.0);
        self.scaled.m.add_row(d, 1.0, &mut self.dw);
        for &i in self.cholesky.active() {
            self.scaled.m.add_row(i, self.dz[i], &mut self.dw);
        }
    }

    /// Σ |Δz_i|, at least one.
    fn length(&self) -> f64 {
        self.dz.iter().map(|x| x.abs()).sum()
    }

    /// The longest step and the row that ends it, if any.
    fn step(&self, d: usize, is_flat: bool) -> Option<(f64, usize)> {
        let mut best = if is_flat { None } else { Some((-self.w[d] / self.dw[d], d)) };
        // |M_ij| ≤ 1: both are sums of terms no larger than the |Δz_j|.
        let flat = SLOPE_TOLERANCE * self.length();
        for i in 0..self.z.len() {
            let ratio = if self.cholesky.contains(i) {
                if self.dz[i] >= -flat {
                    continue;
                }
                self.z[i] / -self.dz[i]
            } else {
                if is_flat || i == d || !self.is_done[i] || self.dw[i] >= -flat {
                    continue;
                }
                self.w[i].max(0.0) / -self.dw[i]
            };
            if best.is_none_or(|(step, _)| ratio < step) {
                best = Some((ratio, i));
            }
        }
        best
    }

    /// Raises z_d until w_d = 0.
    fn drive(&mut self, d: usize, iterations: &mut usize, deadline: &Deadline) -> Drive {
        loop {
            if *iterations >= self.max_iterations {
                return Drive::OutOf(SolveStatus::MaxIterations);
            }
            if deadline.is_over() {
                return Drive::OutOf(SolveStatus::TimeLimit);
            }
            *iterations += 1;
            self.direction(d);
            let schur = self.dw[d];
            // Δw_d = Δzᵀ M Δz.
            let rounding = SCHUR_TOLERANCE * self.length().powi(2);
            if schur < -INDEFINITE * rounding || schur.is_nan() {
                return Drive::Indefinite;
            }
            let is_flat = schur <= rounding;
            let Some((step, row)) = self.step(d, is_flat) else {
                let is_rounding = self.w[d] >= -RAY_TOLERANCE * self.sizes[d];
                return if is_rounding { Drive::Done } else { Drive::Ray };
            };
            self.z.iter_mut().zip(&self.dz).for_each(|(z, dz)| *z += step * dz);
            self.w.iter_mut().zip(&self.dw).for_each(|(w, dw)| *w += step * dw);
            if self.cholesky.contains(row) {
                self.cholesky.remove(&self.scaled.m, row);
                self.z[row] = 0.0;
            } else {
                let is_independent = self.cholesky.insert(&self.scaled.m, row, SMALLEST_PIVOT);
                if row == d {
                    return Drive::Done;
                }
                // The slope of a dependent row was rounding; if the row is violated in the end, the next pass drives it.
                self.is_done[row] = is_independent;
                self.w[row] = 0.0;
            }
        }
    }

    /// Drives all rows that need it. Returns how it ended and the number of steps.
    fn drive_all(&mut self, deadline: &Deadline) -> (SolveStatus, usize) {
        let mut iterations = 0;
        for _ in 0..PASSES {
            let mut is_clean = true;
            for d in 0..self.z.len() {
                let is_violated = !self.cholesky.contains(d) && self.w[d] < -VIOLATION_TOLERANCE * self.sizes[d];
                if is_violated {
                    is_clean = false;
                    match self.drive(d, &mut iterations, deadline) {
                        Drive::Done => self.refresh(),
                        Drive::Ray => return (SolveStatus::RayTermination, iterations),
                        Drive::Indefinite => return (SolveStatus::Stalled, iterations),
                        Drive::OutOf(status) => return (status, iterations),
                    }
                }
                self.is_done[d] = true;
            }
            if is_clean {
                break;
            }
        }
        (SolveStatus::Converged, iterations)
    }
}

/// True when M = Mᵀ up to rounding.
fn is_symmetric(m: &Matrix, n: usize) -> bool {
    let is_close = |i: usize, j: usize, a: f64| {
        let size = a.abs().max((m.get(i, i) * m.get(j, j)).abs().sqrt());
        (a - m.get(j, i)).abs() <= SYMMETRY_TOLERANCE * size
    };
    match m {
        Matrix::Dense(dense) => (0..n).all(|i| (0..i).all(|j| is_close(i, j, dense.row(i)[j]))),
        Matrix::Sparse(sparse) => (0..n).all(|i| sparse.row(i).all(|(j, a)| is_close(i, j, a))),
    }
}

impl OneStepSolver<Lcp> for PrincipalPivoting {
    fn name(&self) -> &'static str {
        "principal-pivoting"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let n = problem.n();
        let unsupported =
            |reason| Err(SolveError::Unsupported { solver: "principal-pivoting", reason, alternatives: "auto, lemke, murty" });
        if !is_symmetric(&problem.m, n) {
            return unsupported("M is not symmetric");
        }
        if (0..n).any(|i| problem.m.get(i, i) < 0.0) {
            return unsupported("M is not positive semidefinite");
        }
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(n);
        solution.r.iter_mut().for_each(|z| *z = z.max(0.0));
        self.best.restart(n);
        self.best.offer(problem, &solution.r);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            self.scaled.fill(problem);
            self.start(&solution.r);
            (status, iterations) = self.drive_all(&deadline);
            self.candidate.resize(n, 0.0);
            self.scaled.to_problem(&self.z, &mut self.candidate);
            self.best.offer(problem, &self.candidate);
        }
        self.best.write(problem, solution);
        Ok(problem.report("principal-pivoting", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::SparseMatrix;

    fn solve(problem: &Lcp, guess: &[f64]) -> (SolveReport, Solution) {
        let mut solution = Solution { r: guess.to_vec(), u: Vec::new() };
        let report = PrincipalPivoting::new(&LcpSolverParams::default()).solve(problem, &mut solution).unwrap();
        (report, solution)
    }

    #[test]
    fn a_row_that_leaves_again_is_followed() {
        // Row 1 alone wants z₁ = 1; row 2 pushes it out again: z = (0, 2), w = (0.6, 0).
        let problem = Lcp::dense(vec![1.0, 0.8, 0.8, 1.0], vec![-1.0, -2.0]).unwrap();
        let (report, solution) = solve(&problem, &[]);
        assert!(report.is_converged(), "{report:?}");
        assert_eq!(solution.r, [0.0, 2.0]);
        // Row 1 in; row 2 drives it out; row 2 in.
        assert_eq!(report.iterations, 3);
        // A guess with the right active set leaves nothing to do but one solve.
        let (report, solution) = solve(&problem, &[0.0, 1.0]);
        assert_eq!((report.iterations, solution.r), (0, vec![0.0, 2.0]));
        assert!(report.is_converged());
    }

    #[test]
    fn repeated_rows_stay_out_of_the_factor() {
        let problem = Lcp::dense(vec![1.0; 16], vec![-1.0, -2.0, -2.0, -1.0]).unwrap();
        for guess in [vec![], vec![1.0; 4], vec![1.0, 0.0, 0.0, 1.0]] {
            let (report, solution) = solve(&problem, &guess);
            assert!(report.is_converged(), "{report:?}");
            assert_eq!(solution.r.iter().sum::<f64>(), 2.0);
        }
    }

    #[test]
    fn a_ray_proves_infeasibility() {
        let problem = Lcp::dense(vec![1.0, -1.0, -1.0, 1.0], vec![-1.0, -1.0]).unwrap();
        assert_eq!(solve(&problem, &[]).0.status, SolveStatus::RayTermination);
        assert_eq!(solve(&problem, &[1.0, 1.0]).0.status, SolveStatus::RayTermination);
    }

    #[test]
    fn other_matrices_are_refused() {
        for (m, word) in [(vec![1.0, 1.0, 0.0, 1.0], "symmetric"), (vec![1.0, 0.0, 0.0, -1.0], "semidefinite")] {
            let problem = Lcp::dense(m, vec![-1.0; 2]).unwrap();
            let error = PrincipalPivoting::new(&LcpSolverParams::default()).solve(&problem, &mut Solution::default()).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn a_sparse_chain_is_solved_from_any_guess() {
        // The discrete obstacle problem −z″ = f on 40 nodes with f of changing sign.
        let n = 40;
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push((i, i, 2.0));
            if i > 0 {
                entries.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
            }
        }
        let q: Vec<f64> = (0..n).map(|i| (i as f64 * 0.4).sin() - 0.2).collect();
        let problem = Lcp { m: SparseMatrix::from_triplets(n, n, &entries).unwrap().into(), q };
        let (cold, solution) = solve(&problem, &[]);
        assert!(cold.is_converged(), "{cold:?}");
        let (warm, again) = solve(&problem, &vec![1.0; n]);
        assert!(warm.is_converged(), "{warm:?}");
        for (a, b) in solution.r.iter().zip(&again.r) {
            assert!((a - b).abs() < 1e-10, "{a} {b}"); // conditioning 1e3
        }
    }
}
