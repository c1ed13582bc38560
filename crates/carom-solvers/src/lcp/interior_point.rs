//! Interior point method for monotone LCPs.

use super::Lcp;
use super::LcpSolverParams;
use super::active_system::ActiveSystem;
use super::polished_iterate::PolishedIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Mehrotra's predictor-corrector method from an infeasible start. Use it for large monotone problems (M + Mᵀ ⪰ 0), degenerate or redundant: the
/// number of iterations, some 10 to 30, hardly depends on size or degeneracy.
///
/// ```text
///     ρ = M z + q − w,   μ = zᵀw/n
///     (M + Z⁻¹W) Δz = −ρ + Z⁻¹(σμ − Δz_a Δw_a) − w,   Δw = ρ + M Δz
/// ```
///
/// where (Δz_a, Δw_a) is the same step with σ = 0 and no second-order term, α_a its length to the boundary and σ = (μ_a/μ)³.
/// [Wright, *Primal-Dual Interior-Point Methods*, 1997, ch. 8 and 10; Mehrotra, *On the implementation of a primal-dual interior point
/// method*, 1992]. Differs in: z and w take the same step length, as ρ of an LCP needs; once μ is small, the rows that look active are solved
/// exactly, which gives the last digits on degenerate problems where z_i w_i = μ would cost half of them.
///
/// The guess is used only if it is a solution. Where there is none, z grows and steps shrink: status `Stalled`.
///
/// Cost: one factorisation of n rows (banded, sparse or dense) and three solves per iteration.
#[derive(Clone, Debug)]
pub struct InteriorPoint {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    best: PolishedIterate,
    system: ActiveSystem,
    all: Vec<usize>,
    point: Pair,
    predictor: Pair,
    step: Pair,
    infeasibility: Vec<f64>,
}

/// z and w, or their changes.
#[derive(Clone, Debug, Default)]
struct Pair {
    z: Vec<f64>,
    w: Vec<f64>,
}

/// Fraction of the way to the boundary.
const FRACTION: f64 = 0.995;

/// A corrector with a shorter step than this is replaced by a centring step with this part of μ.
const SHORT_STEP: f64 = 0.1;
const CENTERING: f64 = 0.5;

/// μ, relative to its first value, below which active rows are identified.
const POLISH_BELOW: f64 = 1e-5;

/// Smallest step that is progress, and how many smaller ones end the method.
const SMALLEST_STEP: f64 = 1e-6;
const SMALL_STEPS: usize = 5;

/// Smallest μ, in units of max(q)²: below it the systems hold no digits any more.
const SMALLEST_MU: f64 = 1e-26;

/// Rows with units outside (this, 1/this) keep 1: they have no mass of their own.
const SMALLEST_UNIT: f64 = 1e-6;

/// z beyond this multiple of q runs away.
const LARGEST: f64 = 1e14;

/// Iterations after which nothing more is to be expected, whatever the limit says: 30 is much.
const ENOUGH: usize = 100;

/// First points tried: a large one is closer to the central path of a problem with large z, and takes some more iterations.
const STARTS: [f64; 2] = [1.0, 1e3];

impl InteriorPoint {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        InteriorPoint {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            best: PolishedIterate::default(),
            system: ActiveSystem::default(),
            all: Vec::new(),
            point: Pair::default(),
            predictor: Pair::default(),
            step: Pair::default(),
            infeasibility: Vec::new(),
        }
    }

    /// Iterates in units with mean(diag M) = 1 and max|q| = `speed` = 1, from z = w = `size`. Returns how it ended.
    fn iterate(&mut self, problem: &Lcp, speed: f64, size: f64, budget: usize, deadline: Deadline) -> (SolveStatus, usize) {
        let (n, scale) = (problem.n(), self.best.scale());
        let unit = speed / scale;
        self.start(problem, scale, speed, size);
        let (mut polish_below, mut small_steps) = (POLISH_BELOW * self.point.mu(), 0);
        let mut trial = vec![0.0; n];
        for iteration in 1..=budget.min(ENOUGH) {
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, iteration - 1);
            }
            if !self.advance_direction(problem, scale, speed) {
                return (SolveStatus::Stalled, iteration);
            }
            let length = (FRACTION * self.point.length(&self.step)).min(1.0);
            self.point.add(length, &self.step);
            self.infeasibility.iter_mut().for_each(|r| *r *= 1.0 - length);

            // (z, w) inside => a solution on the boundary, if the active rows are right
            trial.iter_mut().zip(&self.point.z).for_each(|(t, z)| *t = z * unit);
            let mu = self.point.mu();
            small_steps = if length < SMALLEST_STEP { small_steps + 1 } else { 0 };
            let is_last = small_steps == SMALL_STEPS || mu < SMALLEST_MU;
            if mu <= polish_below || is_last {
                polish_below = 0.1 * mu;
                self.best.offer(problem, &trial);
                if self.best.residual() <= self.tolerance || self.best.polish(problem, &mut self.system, &trial, self.tolerance) {
                    return (SolveStatus::Converged, iteration);
                }
            }
            if is_last || self.point.z.iter().any(|z| z.is_nan() || *z > LARGEST) {
                return (SolveStatus::Stalled, iteration);
            }
        }
        if budget <= ENOUGH { (SolveStatus::MaxIterations, budget) } else { (SolveStatus::Stalled, ENOUGH) }
    }

    /// z = `size` and w = `size` or larger where q asks for it, in the unit of each row: √(M_ii/m) of w and its inverse of z.
    fn start(&mut self, problem: &Lcp, scale: f64, speed: f64, size: f64) {
        let n = problem.n();
        self.all.clear();
        self.all.extend(0..n);
        for pair in [&mut self.point, &mut self.predictor, &mut self.step] {
            pair.z.clear();
            pair.z.resize(n, 1.0);
            pair.w.clear();
            pair.w.resize(n, 1.0);
        }
        for (i, z) in self.point.z.iter_mut().enumerate() {
            let unit = (scale / problem.m.get(i, i)).sqrt();
            *z = if unit > SMALLEST_UNIT && unit < 1.0 / SMALLEST_UNIT { size * unit } else { size };
        }
        self.infeasibility.resize(n, 0.0);
        problem.m.multiply(&self.point.z, &mut self.infeasibility);
        for i in 0..n {
            self.infeasibility[i] /= scale;
            self.point.w[i] = (self.infeasibility[i] + problem.q[i] / speed).max(size * size / self.point.z[i]);
            self.infeasibility[i] += problem.q[i] / speed - self.point.w[i];
        }
    }

    /// Predictor, then corrector into `step`. False when the matrix is singular.
    fn advance_direction(&mut self, problem: &Lcp, scale: f64, speed: f64) -> bool {
        let n = problem.n();
        let point = &self.point;
        if !self.system.factor(&problem.m, &self.all, |i| scale * point.w[i] / point.z[i], |_| 1.0) {
            return false;
        }
        // The exact ρ, as the one carried along loses digits against M z.
        problem.m.multiply(&self.point.z, &mut self.step.w);
        for i in 0..n {
            self.infeasibility[i] = self.step.w[i] / scale + problem.q[i] / speed - self.point.w[i];
        }
        for i in 0..n {
            self.predictor.z[i] = scale * (-self.infeasibility[i] - self.point.w[i]);
        }
        self.system.solve(&mut self.predictor.z);
        for i in 0..n {
            let (z, w) = (self.point.z[i], self.point.w[i]);
            self.predictor.w[i] = -w * self.predictor.z[i] / z - w;
        }
        let length = self.point.length(&self.predictor).min(1.0);
        let mu = self.point.mu();
        let product = |i: usize| (self.point.z[i] + length * self.predictor.z[i]) * (self.point.w[i] + length * self.predictor.w[i]);
        let sigma = ((0..n).map(product).sum::<f64>() / (n as f64 * mu)).clamp(0.0, 1.0).powi(3);
        self.solve_corrector(scale, sigma * mu, 1.0);
        if self.point.length(&self.step) < SHORT_STEP {
            // The second-order term can lead astray far from the central path: back towards it.
            self.solve_corrector(scale, CENTERING * mu, 0.0);
        }
        self.step.z.iter().chain(&self.step.w).all(|d| d.is_finite())
    }

    /// The step to z w = `target` − `weight` Δz_a Δw_a.
    fn solve_corrector(&mut self, scale: f64, target: f64, weight: f64) {
        for i in 0..self.all.len() {
            let second = weight * self.predictor.z[i] * self.predictor.w[i];
            let (z, w) = (self.point.z[i], self.point.w[i]);
            self.step.z[i] = scale * (-self.infeasibility[i] + (target - second) / z - w);
        }
        self.system.solve(&mut self.step.z);
        for i in 0..self.all.len() {
            let second = weight * self.predictor.z[i] * self.predictor.w[i];
            let (z, w) = (self.point.z[i], self.point.w[i]);
            self.step.w[i] = (target - second - w * self.step.z[i]) / z - w;
        }
    }
}

impl Pair {
    /// μ = zᵀw/n.
    fn mu(&self) -> f64 {
        self.z.iter().zip(&self.w).map(|(z, w)| z * w).sum::<f64>() / self.z.len() as f64
    }

    /// The step at which the first entry vanishes.
    fn length(&self, step: &Pair) -> f64 {
        let along = |x: &[f64], d: &[f64]| x.iter().zip(d).filter(|(_, d)| **d < 0.0).fold(f64::INFINITY, |s, (x, d)| s.min(-x / d));
        along(&self.z, &step.z).min(along(&self.w, &step.w))
    }

    fn add(&mut self, length: f64, step: &Pair) {
        self.z.iter_mut().zip(&step.z).for_each(|(x, d)| *x += length * d);
        self.w.iter_mut().zip(&step.w).for_each(|(x, d)| *x += length * d);
    }
}

impl OneStepSolver<Lcp> for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
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
        let speed = problem.q.iter().fold(0.0_f64, |s, q| s.max(q.abs()));
        if self.best.residual() > self.tolerance {
            self.system.analyse(&problem.m);
            for size in STARTS {
                let (end, used) = self.iterate(problem, speed, size, self.max_iterations - iterations, deadline);
                (status, iterations) = (end, iterations + used);
                if status != SolveStatus::Stalled || iterations == self.max_iterations {
                    break;
                }
            }
        }
        Ok(self.best.finish(problem, "interior-point", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(m: &[f64], q: &[f64]) -> (SolveReport, Solution) {
        let problem = Lcp::dense(m.to_vec(), q.to_vec()).unwrap();
        let mut solution = Solution::default();
        let report = InteriorPoint::new(&LcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
        (report, solution)
    }

    #[test]
    fn a_skew_problem_is_solved() {
        // min x, x ≥ 1 as an LCP: (x, y) with w = (1 − y, x − 1): x = y = 1.
        let (report, solution) = solve(&[0.0, -1.0, 1.0, 0.0], &[1.0, -1.0]);
        assert!(report.is_converged(), "{report:?}");
        assert!(solution.r.iter().all(|z| (z - 1.0).abs() < 1e-9), "{solution:?}"); // the tolerance
    }

    #[test]
    fn a_row_that_is_active_without_load_keeps_all_digits() {
        // z = (1, 0) with w = (0, 0): not strictly complementary.
        let (report, solution) = solve(&[2.0, 1.0, 1.0, 2.0], &[-2.0, -1.0]);
        assert!(report.is_converged(), "{report:?}");
        assert!((solution.r[0] - 1.0).abs() < 1e-9 && solution.r[1] < 1e-9, "{solution:?}"); // the tolerance
    }

    #[test]
    fn an_infeasible_problem_stalls() {
        let (report, solution) = solve(&[1.0, -1.0, -1.0, 1.0], &[-1.0, -1.0]);
        assert_eq!(report.status, SolveStatus::Stalled);
        assert!(solution.r.iter().all(|z| z.is_finite()));
        assert!(report.iterations < 100, "{report:?}");
    }
}
