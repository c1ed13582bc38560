//! Katzenelson's piecewise-linear homotopy.

use super::Lcp;
use super::LcpSolverParams;
use super::active_block::ActiveBlock;
use super::unit_diagonal::UnitDiagonalLcp;
use crate::best_iterate::BestIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::linear::RankRevealingLu;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Follows the solution of w = M z + q(t) from a problem whose solution is known to q(1) = q.
///
/// When to use it: P-matrices (resistive circuits with diodes), where the path leads straight to the solution and a good guess
/// makes it short; it also solves semidefinite problems, and finds one solution of many others.
///
/// With x = z − w the problem is one equation, linear in each orthant:
///
/// ```text
///     F(x) = x⁻ − M x⁺ = q(t),   q(t) = F(x₀) + t (q − F(x₀)),   z = x⁺,  w = x⁻
/// ```
///
/// where x₀ is the guess. In the orthant with the active rows A = {x > 0} the path is straight,
/// M_AA dx_A = −Δq_A dt; where an x_i reaches zero it enters the next orthant, in the direction that moves x_i on. For
/// P-matrices t grows all the way; for others it may turn back, and it stands still where M_AA is
/// singular (there dx and dt come from the system bordered by the row of x_i). A path that never ends is a ray: from a cold
/// start and for semidefinite M the problem is infeasible. [Katzenelson, *An algorithm for solving nonlinear resistor
/// networks*, 1965; Fujisawa & Kuh, *Piecewise-linear theory of nonlinear networks*, 1972]; differs in: corners are avoided by a
/// start whose coordinates have no simple ratios, and a failed path is tried again from another one.
///
/// Cost: one factorisation of M_AA per orthant, dense or sparse as M is; usually n orthants from a cold start.
#[derive(Clone, Debug)]
pub struct Katzenelson {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    scaled: UnitDiagonalLcp,
    block: ActiveBlock,
    bordered: RankRevealingLu,
    best: BestIterate,
    is_active: Vec<bool>,
    active: Vec<usize>,
    x: Vec<f64>,
    dx: Vec<f64>,
    change: Vec<f64>,
    work: Vec<f64>,
    sizes: Vec<f64>,
    border: Vec<f64>,
    candidate: Vec<f64>,
}

/// Starts: the guess, and two from z = 0.
const STARTS: usize = 3;

/// Distance of the start from the boundaries of its orthant, the largest entry of q being one.
const MARGIN: f64 = 0.1;

/// Components of the direction below this fraction of the largest do not move.
const SLOPE_TOLERANCE: f64 = 1e-12;

/// Closer to the end than this, the path has arrived: what rounding makes of a solution on the boundary of its orthant.
const ARRIVAL: f64 = 1e-12;

/// Largest number of active rows for the dense bordered system of a singular orthant.
const MAX_BORDERED: usize = 1000;

/// The golden ratio's fraction: its multiples are spread evenly and have no simple ratios.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// How a path ended.
#[derive(PartialEq)]
enum End {
    Arrived,
    Ray,
    Lost,
    OutOf(SolveStatus),
}

impl Katzenelson {
    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Katzenelson {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            scaled: UnitDiagonalLcp::default(),
            block: ActiveBlock::default(),
            bordered: RankRevealingLu::default(),
            best: BestIterate::default(),
            is_active: Vec::new(),
            active: Vec::new(),
            x: Vec::new(),
            dx: Vec::new(),
            change: Vec::new(),
            work: Vec::new(),
            sizes: Vec::new(),
            border: Vec::new(),
            candidate: Vec::new(),
        }
    }

    /// x₀ near the guess, inside its orthant, and Δq = q − F(x₀).
    fn start(&mut self, guess: &[f64], attempt: usize) {
        let n = guess.len();
        for vector in [&mut self.x, &mut self.dx, &mut self.change, &mut self.work, &mut self.sizes, &mut self.candidate] {
            vector.clear();
            vector.resize(n, 0.0);
        }
        let is_cold = attempt > 0;
        if !is_cold {
            self.scaled.to_scaled(guess, &mut self.work);
        }
        self.scaled.velocity(&self.work, &mut self.dx, &mut self.sizes);
        for i in 0..n {
            let spread = ((i + 1) as f64 * GOLDEN * (1 + attempt) as f64).fract();
            let (z, w) = (self.work[i], self.dx[i].max(0.0));
            self.x[i] = if z > 0.0 { z * (1.0 + MARGIN * spread) } else { -w - MARGIN * (1.0 + spread) };
        }
        self.is_active.clear();
        self.is_active.extend(self.x.iter().map(|x| *x > 0.0));
        // Δq = q + M x⁺ − x⁻.
        self.work.iter_mut().zip(&self.x).for_each(|(z, x)| *z = x.max(0.0));
        self.scaled.velocity(&self.work, &mut self.change, &mut self.sizes);
        self.change.iter_mut().zip(&self.x).for_each(|(c, x)| *c -= (-x).max(0.0));
    }

    /// The direction (dx, dt) of the path in its orthant; `entered` is the row that has just changed sign. None when the
    /// path has no unique direction.
    fn direction(&mut self, entered: Option<usize>) -> Option<f64> {
        self.block.factor(&self.scaled.m, &self.is_active);
        self.dx.iter_mut().zip(&self.change).for_each(|(dx, c)| *dx = -c);
        let is_regular = self.block.solve(&self.scaled.m, &mut self.dx);
        let mut dt = 1.0;
        if is_regular {
            self.complete(dt);
        }
        if let Some(i) = entered {
            let largest = self.dx.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
            if !is_regular || self.dx[i].abs() <= SLOPE_TOLERANCE * largest {
                dt = self.direction_by_border(i)?;
                self.complete(dt);
            }
            if (self.dx[i] > 0.0) != self.is_active[i] {
                dt = -dt;
                self.dx.iter_mut().for_each(|x| *x = -*x);
            }
        } else if !is_regular {
            return None;
        }
        self.dx.iter().all(|x| x.is_finite()).then_some(dt)
    }

    /// dx on the inactive rows, from that on the active ones: dx_I = −Δq_I dt − M_IA dx_A.
    fn complete(&mut self, dt: f64) {
        self.work.clone_from(&self.dx);
        for i in (0..self.dx.len()).filter(|&i| !self.is_active[i]) {
            self.dx[i] = -self.change[i] * dt - self.scaled.m.row_dot(i, &self.work);
        }
    }

    /// Solves M_AA dx_A + Δq_A dt = 0 with |dx_i| = 1: regular where the path crosses the boundary x_i = 0, though M_AA may
    /// be singular. Fills dx on the active rows and returns dt.
    fn direction_by_border(&mut self, i: usize) -> Option<f64> {
        self.active.clear();
        self.active.extend((0..self.dx.len()).filter(|&j| self.is_active[j]));
        let k = self.active.len();
        if k > MAX_BORDERED {
            return None;
        }
        self.border.clear();
        for &row in self.active.iter().chain([&i]) {
            if row == i && self.is_active[i] && self.border.len() == k * (k + 1) {
                self.border.extend(self.active.iter().map(|&j| f64::from(u8::from(i == j))));
                self.border.push(0.0);
            } else {
                self.border.extend(self.active.iter().map(|&j| self.scaled.m.get(row, j)));
                self.border.push(self.change[row]);
            }
        }
        self.bordered.factor(k + 1, &self.border);
        self.work.clear();
        self.work.resize(k + 1, 0.0);
        self.work[k] = 1.0;
        self.bordered.solve(&mut self.work);
        let dt = self.work[k];
        self.dx.fill(0.0);
        for (&j, x) in self.active.iter().zip(&self.work) {
            self.dx[j] = *x;
        }
        // Where the elimination stopped early the equations do not all hold.
        let size = self.dx.iter().fold(dt.abs().max(1.0), |s: f64, x| s.max(x.abs()));
        let row = |j: usize| self.scaled.m.row_dot(j, &self.dx) + self.change[j] * dt;
        let moves = if self.is_active[i] { self.dx[i] } else { row(i) };
        let holds = self.active.iter().all(|&j| row(j).abs() <= 1e-9 * size) && (moves - 1.0).abs() <= 1e-9 * size;
        (holds && size.is_finite()).then_some(dt)
    }

    /// The distance to the next boundary and its row.
    fn next_boundary(&self, entered: Option<usize>) -> Option<(f64, usize)> {
        let largest = self.dx.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
        let mut nearest = None;
        for (i, (x, dx)) in self.x.iter().zip(&self.dx).enumerate() {
            let is_closing = if self.is_active[i] { *dx < 0.0 } else { *dx > 0.0 };
            if !is_closing || dx.abs() <= SLOPE_TOLERANCE * largest || entered == Some(i) {
                continue;
            }
            let distance = (x / dx).abs();
            if nearest.is_none_or(|(best, _)| distance < best) {
                nearest = Some((distance, i));
            }
        }
        nearest
    }

    /// Follows the path from x₀.
    fn follow(&mut self, iterations: &mut usize, deadline: &Deadline) -> End {
        let (mut t, mut entered) = (0.0, None);
        loop {
            if *iterations >= self.max_iterations {
                return End::OutOf(SolveStatus::MaxIterations);
            }
            if deadline.is_over() {
                return End::OutOf(SolveStatus::TimeLimit);
            }
            *iterations += 1;
            let Some(dt) = self.direction(entered) else { return End::Lost };
            let largest = self.dx.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
            let to_end = if dt > SLOPE_TOLERANCE * largest { (1.0 - t) / dt } else { f64::INFINITY };
            let boundary = self.next_boundary(entered);
            let step = boundary.map_or(to_end, |(distance, _)| distance.min(to_end));
            if step.is_infinite() {
                return End::Ray;
            }
            self.x.iter_mut().zip(&self.dx).for_each(|(x, dx)| *x += step * dx);
            t += step * dt;
            if step >= to_end || (1.0 - t).abs() <= ARRIVAL {
                return End::Arrived;
            }
            let Some((_, row)) = boundary else { return End::Lost };
            self.x[row] = 0.0;
            self.is_active[row] = !self.is_active[row];
            entered = Some(row);
        }
    }

    /// Offers x⁺ and the solution on its active rows.
    fn offer(&mut self, problem: &Lcp) {
        self.scaled.to_problem(&self.x, &mut self.candidate);
        self.best.offer(problem, &self.candidate);
        self.block.factor(&self.scaled.m, &self.is_active);
        self.dx.iter_mut().zip(&self.scaled.q).for_each(|(dx, q)| *dx = -q);
        self.block.solve(&self.scaled.m, &mut self.dx);
        self.scaled.to_problem(&self.dx, &mut self.candidate);
        self.best.offer(problem, &self.candidate);
    }

    /// Follows paths until one arrives.
    fn search(&mut self, problem: &Lcp, guess: &[f64], deadline: &Deadline) -> (SolveStatus, usize) {
        let mut iterations = 0;
        let mut status = SolveStatus::Stalled;
        for attempt in 0..STARTS {
            self.start(guess, attempt);
            let end = self.follow(&mut iterations, deadline);
            if end == End::Arrived {
                self.offer(problem);
                if self.best.residual() <= self.tolerance {
                    return (SolveStatus::Converged, iterations);
                }
            }
            match end {
                End::Ray => status = SolveStatus::RayTermination,
                End::OutOf(limit) => return (limit, iterations),
                End::Arrived | End::Lost => {}
            }
        }
        (status, iterations)
    }
}

impl OneStepSolver<Lcp> for Katzenelson {
    fn name(&self) -> &'static str {
        "katzenelson"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let n = problem.n();
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(n);
        solution.r.iter_mut().for_each(|z| *z = z.max(0.0));
        self.best.restart(n);
        self.best.offer(problem, &solution.r);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            self.scaled.fill(problem);
            (status, iterations) = self.search(problem, &solution.r, &deadline);
        }
        self.best.write(problem, solution);
        Ok(problem.report("katzenelson", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(m: &[f64], q: &[f64], guess: &[f64]) -> (SolveReport, Solution) {
        let problem = Lcp::dense(m.to_vec(), q.to_vec()).unwrap();
        let mut solution = Solution { r: guess.to_vec(), u: Vec::new() };
        let report = Katzenelson::new(&LcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
        (report, solution)
    }

    #[test]
    fn two_rows_are_two_crossings() {
        // Both rows active: 2z₁ + z₂ = 5, z₁ + 2z₂ = 6.
        let (report, solution) = solve(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0], &[]);
        assert!(report.is_converged(), "{report:?}");
        assert_eq!(report.iterations, 3); // three orthants
        assert!((solution.r[0] - 4.0 / 3.0).abs() < 1e-15); // one rounding
        assert!((solution.r[1] - 7.0 / 3.0).abs() < 1e-15);
        // From the right orthant the path is one straight line.
        let (report, _) = solve(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0], &[1.0, 1.0]);
        assert!(report.is_converged() && report.iterations == 1, "{report:?}");
    }

    #[test]
    fn a_path_that_turns_back_is_followed() {
        // det M = −1: from {} by {1} and back in {1, 2} to {2}, the active set of the only solution.
        let (report, solution) = solve(&[1.0, 4.0, 0.5, 1.0], &[-1.0, -0.6], &[]);
        assert!(report.is_converged(), "{report:?}");
        assert_eq!(report.iterations, 4);
        assert_eq!(solution.r, [0.0, 0.6]);
    }

    #[test]
    fn singular_orthants_are_crossed() {
        let (report, solution) = solve(&[1.0; 16], &[-1.0, -2.0, -2.0, -1.0], &[]);
        assert!(report.is_converged(), "{report:?}");
        assert!((solution.r.iter().sum::<f64>() - 2.0).abs() < 1e-14); // a few roundings
        // No diagonal at all, skew-symmetric: w₁ = 1 − z₂, w₂ = z₁ − 2.
        let (report, solution) = solve(&[0.0, -1.0, 1.0, 0.0], &[1.0, -2.0], &[]);
        assert!(report.is_converged(), "{report:?}");
        assert_eq!(solution.r, [2.0, 1.0]);
    }

    #[test]
    fn an_infeasible_problem_ends_on_a_ray() {
        let (report, _) = solve(&[1.0, -1.0, -1.0, 1.0], &[-1.0, -1.0], &[]);
        assert_eq!(report.status, SolveStatus::RayTermination);
    }
}
