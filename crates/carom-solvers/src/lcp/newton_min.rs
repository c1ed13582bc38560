//! Newton on the min map.

use super::Lcp;
use super::LcpSolverParams;
use super::active_system::ActiveSystem;
use super::polished_iterate::{PolishedIterate, choose_active, natural_map};
use super::proximal_pivoting::ProximalPivoting;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Semismooth Newton on min(s z, w) = 0, s = mean(diag M): the primal-dual active set method. Use it for many rows with a sparse or
/// banded M, and wherever a good guess is at hand.
///
/// ```text
///     A = {i : s z_i ≥ w_i},   M_AA z_A = −q_A,   z = 0 outside A,   w = M z + q
/// ```
///
/// until A does not change. [Hintermüller, Ito & Kunisch, *The primal-dual active set strategy as a semismooth Newton method*, 2002;
/// Aganagić, *Newton's method for linear complementarity problems*, 1984]. Differs in:
///
/// - Full steps are taken as long as |min| has fallen within the last few; then the search goes back to the best point and takes
///   a step that is halved until |min| falls.
/// - A singular M_AA (redundant contacts) gives the solution nearest to the iterate; see `ActiveSystem::solve_active`.
/// - Where the set grows by a few rows per step, as a wave through a chain, all rows are tried at once.
/// - What still cycles is finished by `ProximalPivoting`.
///
/// Cost: one factorisation of M_AA per step, usually 2 to 10 steps. A chain of n active contacts takes O(n).
#[derive(Clone, Debug)]
pub struct NewtonMin {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    best: PolishedIterate,
    system: ActiveSystem,
    fallback: ProximalPivoting,
    active: Vec<usize>,
    previous: Vec<usize>,
    z: Vec<f64>,
    w: Vec<f64>,
    anchor: Point,
}

/// A point to go back to.
#[derive(Clone, Debug, Default)]
struct Point {
    z: Vec<f64>,
    w: Vec<f64>,
    size: f64,
}

/// Full steps that may pass without a smaller |min|.
const PATIENCE: usize = 3;

/// Halvings of a step: 2⁻¹⁰ is no progress any more.
const HALVINGS: usize = 10;

/// Damped steps before the method gives way to proximal steps.
const DAMPED_STEPS: usize = 10;

/// Steps in sequence that change at most `CRAWL_ROWS` rows each before all rows are tried at once.
const CRAWL_STEPS: usize = 6;
const CRAWL_ROWS: usize = 4;

/// Smallest decrease of |min| that counts as one: Armijo's constant for the full Newton step.
const DECREASE: f64 = 1e-4;

impl NewtonMin {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        NewtonMin {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            best: PolishedIterate::default(),
            system: ActiveSystem::default(),
            fallback: ProximalPivoting::default(),
            active: Vec::new(),
            previous: Vec::new(),
            z: Vec::new(),
            w: Vec::new(),
            anchor: Point::default(),
        }
    }

    /// Active set steps from (z, w). `None` when they lead nowhere.
    fn iterate(&mut self, problem: &Lcp, deadline: Deadline, iterations: &mut usize) -> Option<SolveStatus> {
        let scale = self.best.scale();
        let (mut patience, mut damped, mut crawl, mut may_jump) = (PATIENCE, DAMPED_STEPS, 0, true);
        self.anchor.set(&self.z, &self.w, scale);
        self.previous.clear();
        choose_active(&self.z, &self.w, scale, &mut self.active);
        while *iterations < self.max_iterations {
            if deadline.is_over() {
                return Some(SolveStatus::TimeLimit);
            }
            *iterations += 1;
            if !self.system.solve_active(problem, &self.active, scale, &mut self.z) {
                return None;
            }
            if self.best.offer(problem, &self.z) <= self.tolerance {
                return Some(SolveStatus::Converged);
            }
            problem.velocity(&self.z, &mut self.w);
            self.active.iter().for_each(|&i| self.w[i] = 0.0); // Rounding only.

            // (z, w) of the set => the next set, after a full step or a damped one
            let size = natural_map(&self.z, &self.w, scale);
            if size <= (1.0 - DECREASE) * self.anchor.size {
                self.anchor.set(&self.z, &self.w, scale);
                patience = PATIENCE;
            } else if patience > 0 {
                patience -= 1;
            } else if damped > 0 && self.search(scale) {
                damped -= 1;
                patience = PATIENCE;
            } else {
                return None;
            }
            std::mem::swap(&mut self.previous, &mut self.active);
            choose_active(&self.z, &self.w, scale, &mut self.active);
            let changes = self.previous.len().abs_diff(self.active.len());
            if self.active == self.previous {
                return None; // The same system again: its solution is not good enough.
            }
            crawl = if changes <= CRAWL_ROWS { crawl + 1 } else { 0 };
            if may_jump && crawl == CRAWL_STEPS && problem.n() > CRAWL_STEPS * CRAWL_ROWS {
                may_jump = false;
                self.active.clear();
                self.active.extend(0..problem.n());
            }
        }
        Some(SolveStatus::MaxIterations)
    }

    /// Halves the step from the anchor to (z, w) until |min| falls, and goes there. w is affine in z: no products.
    fn search(&mut self, scale: f64) -> bool {
        let Point { z: z0, w: w0, size } = &self.anchor;
        let mut step = 1.0;
        for _ in 0..HALVINGS {
            step *= 0.5;
            let entry = |i: usize| {
                let (z, w) = (z0[i] + step * (self.z[i] - z0[i]), w0[i] + step * (self.w[i] - w0[i]));
                (scale * z).min(w).powi(2)
            };
            let trial = (0..z0.len()).map(entry).sum::<f64>().sqrt();
            if trial <= (1.0 - DECREASE * step) * size {
                for i in 0..z0.len() {
                    self.z[i] = z0[i] + step * (self.z[i] - z0[i]);
                    self.w[i] = w0[i] + step * (self.w[i] - w0[i]);
                }
                self.anchor.set(&self.z, &self.w, scale);
                return true;
            }
        }
        false
    }
}

impl Point {
    fn set(&mut self, z: &[f64], w: &[f64], scale: f64) {
        self.z.clear();
        self.z.extend_from_slice(z);
        self.w.clear();
        self.w.extend_from_slice(w);
        self.size = natural_map(z, w, scale);
    }
}

impl OneStepSolver<Lcp> for NewtonMin {
    fn name(&self) -> &'static str {
        "newton-min"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(problem.n());
        self.best.begin(problem, solution);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            self.system.analyse(&problem.m);
            self.z.clone_from(&solution.r);
            self.w.clone_from(&solution.u);
            status = self.iterate(problem, deadline, &mut iterations).unwrap_or_else(|| {
                let limits = (self.tolerance, self.max_iterations - iterations, deadline);
                let (status, pivots) = self.fallback.solve(problem, &mut self.system, &mut self.best, limits);
                iterations += pivots;
                status
            });
        }
        Ok(self.best.finish(problem, "newton-min", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::SparseMatrix;

    fn solve(problem: &Lcp, guess: &[f64]) -> (SolveReport, Solution) {
        let mut solution = Solution { r: guess.to_vec(), u: Vec::new() };
        let report = NewtonMin::new(&LcpSolverParams::default()).solve(problem, &mut solution).unwrap();
        (report, solution)
    }

    /// Beads of unit mass one on the other after a step of gravity; all contacts but the lowest open at speed `gap`.
    fn column(n: usize, gap: f64) -> Lcp {
        let entries: Vec<(usize, usize, f64)> = (0..n)
            .flat_map(|i| [(i, i, if i == 0 { 1.0 } else { 2.0 }), (i, i + 1, -1.0), (i + 1, i, -1.0)])
            .filter(|&(i, j, _)| i < n && j < n)
            .collect();
        let mut q = vec![gap; n];
        q[0] = -1.0;
        Lcp { m: SparseMatrix::from_triplets(n, n, &entries).unwrap().into(), q }
    }

    #[test]
    fn a_column_at_rest_is_one_step() {
        let n = 1000;
        let (report, solution) = solve(&column(n, 0.0), &[]);
        assert!(report.is_converged() && report.iterations == 1, "{report:?}");
        for (i, z) in solution.r.iter().enumerate() {
            // Each contact carries what is above it. Conditioning 4n²/π² = 4e5.
            assert!((z - (n - i) as f64).abs() < 1e-10 * n as f64, "{i} {z}");
        }
    }

    #[test]
    fn a_wave_through_a_chain_does_not_take_a_step_per_contact() {
        let (report, _) = solve(&column(1000, 1e-9), &[]);
        assert!(report.is_converged() && report.iterations < 20, "{report:?}");
    }

    #[test]
    fn an_active_set_that_cycles_is_left() {
        let problem = Lcp::dense(vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0], vec![-1.0; 3]).unwrap();
        for guess in [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]] {
            let (report, solution) = solve(&problem, &guess);
            assert!(report.is_converged(), "{report:?}");
            for z in solution.r {
                assert!((z - 1.0 / 3.0).abs() < 1e-9); // the tolerance times a conditioning of 3
            }
        }
    }

    #[test]
    fn the_time_limit_is_kept() {
        let params = LcpSolverParams { time_limit: Some(1e-12), ..Default::default() };
        let mut solution = Solution::default();
        let report = NewtonMin::new(&params).solve(&column(5, 0.0), &mut solution).unwrap();
        assert_eq!(report.status, SolveStatus::TimeLimit);
    }
}
