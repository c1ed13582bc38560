//! Proximal steps of an LCP, each solved by block pivots: slow, and hard to stop.

use super::Lcp;
use super::active_system::ActiveSystem;
use super::polished_iterate::PolishedIterate;
use crate::deadline::Deadline;
use crate::report::SolveStatus;

/// z_{k+1} solves w = M z + q + α_k (z − z_k), 0 ≤ w ⊥ z ≥ 0; α_k falls as long as z_k comes closer to the solution.
///
/// For monotone M the matrix M + α is a P-matrix, whose LCP block principal pivoting solves in a finite number of steps:
/// all rows with a wrong sign change sides at once, and where that does not lower their number for a while, only the last
/// one does (Murty's rule). [Júdice & Pires, *A block principal pivoting algorithm for large-scale strictly monotone linear
/// complementarity problems*, 1994; Rockafellar, *Monotone operators and the proximal point algorithm*, 1976]
///
/// Cost: one factorisation of the active rows per block pivot.
#[derive(Clone, Debug, Default)]
pub(super) struct ProximalPivoting {
    is_active: Vec<bool>,
    active: Vec<usize>,
    wrong: Vec<usize>,
    center: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
    part: Vec<f64>,
}

/// First α, of the mean diagonal, and its smallest value: rounding of q moves z by its 1e-10 then.
const FIRST_ALPHA: f64 = 1e-3;
const LAST_ALPHA: f64 = 1e-6;

/// Proximal steps. An eigenvalue of M as small as the last α still gains a factor 2 in each.
const PROXIMAL_STEPS: usize = 40;

/// Block pivots of one proximal step, per row and in addition: beyond them signs change by rounding only.
const PIVOTS_PER_ROW: usize = 2;
const MORE_PIVOTS: usize = 30;

/// Block pivots that may pass without fewer wrong signs before single ones begin (Júdice and Pires use 10).
const PATIENCE: usize = 10;

/// Signs below this fraction of the data are rounding.
const SIGN_TOLERANCE: f64 = 1e-13;

impl ProximalPivoting {
    /// Goes on from the best iterate; returns how it ended and the number of pivots, at most `budget`.
    pub fn solve(
        &mut self,
        problem: &Lcp,
        system: &mut ActiveSystem,
        best: &mut PolishedIterate,
        limits: (f64, usize, Deadline),
    ) -> (SolveStatus, usize) {
        let (tolerance, budget, deadline) = limits;
        let scale = best.scale();
        self.z.clear();
        self.z.extend_from_slice(best.z());
        self.w.resize(self.z.len(), 0.0);
        problem.velocity(&self.z, &mut self.w);
        self.is_active.clear();
        self.is_active.extend(self.z.iter().zip(&self.w).map(|(z, w)| scale * z > *w));
        let mut alpha = FIRST_ALPHA * scale;
        let mut pivots = 0;
        let mut last_move = f64::INFINITY;
        for _ in 0..PROXIMAL_STEPS {
            self.center.clone_from(&self.z);
            match self.pivot(problem, system, (alpha, scale), budget - pivots, deadline) {
                Ok(used) => pivots += used,
                Err((status, used)) => return (status, pivots + used),
            }
            if best.offer(problem, &self.z) <= tolerance || best.polish(problem, system, &self.z, tolerance) {
                return (SolveStatus::Converged, pivots);
            }
            let distance = self.z.iter().zip(&self.center).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            if !distance.is_finite() {
                break;
            }
            // Where z runs away (no solution) its steps grow with 1/α.
            if distance <= 2.0 * last_move {
                alpha = (0.1 * alpha).max(LAST_ALPHA * scale);
            }
            last_move = distance;
        }
        (SolveStatus::Stalled, pivots)
    }

    /// Block pivots until all signs are right, or as good as pivots get them. `Err` holds the reason why not.
    fn pivot(
        &mut self,
        problem: &Lcp,
        system: &mut ActiveSystem,
        (alpha, scale): (f64, f64),
        budget: usize,
        deadline: Deadline,
    ) -> Result<usize, (SolveStatus, usize)> {
        let n = problem.n();
        let (mut fewest, mut patience) = (n + 1, PATIENCE);
        let enough = PIVOTS_PER_ROW * n + MORE_PIVOTS;
        for pivots in 1..=budget.min(enough) {
            if deadline.is_over() {
                return Err((SolveStatus::TimeLimit, pivots));
            }
            self.active.clear();
            self.active.extend((0..n).filter(|&i| self.is_active[i]));
            if !self.solve_shifted(problem, system, alpha) {
                return Err((SolveStatus::Stalled, pivots));
            }
            let size_z = self.z.iter().fold(0.0_f64, |s, z| s.max(z.abs()));
            let size_w = self.center.iter().zip(&problem.q).fold(scale * size_z, |s, (c, q)| s.max(q.abs()).max(alpha * c.abs()));
            let (zero_z, zero_w) = (SIGN_TOLERANCE * size_z + f64::EPSILON * size_w / alpha, SIGN_TOLERANCE * size_w);
            self.wrong.clear();
            for i in 0..n {
                let is_wrong = if self.is_active[i] { self.z[i] < -zero_z } else { self.w[i] < -zero_w };
                if is_wrong {
                    self.wrong.push(i);
                }
            }
            if self.wrong.is_empty() {
                return Ok(pivots);
            }
            if self.wrong.len() < fewest {
                (fewest, patience) = (self.wrong.len(), PATIENCE);
            } else if patience > 0 {
                patience -= 1;
            } else if let Some(&last) = self.wrong.last() {
                self.wrong.clear();
                self.wrong.push(last);
            }
            self.wrong.iter().for_each(|&i| self.is_active[i] = !self.is_active[i]);
        }
        if budget <= enough {
            return Err((SolveStatus::MaxIterations, budget));
        }
        self.z.iter_mut().for_each(|z| *z = z.max(0.0));
        Ok(enough)
    }

    /// (M_AA + α) z_A = α c_A − q_A with one refinement, z = 0 elsewhere, and w = M z + q + α (z − c).
    fn solve_shifted(&mut self, problem: &Lcp, system: &mut ActiveSystem, alpha: f64) -> bool {
        if !system.factor(&problem.m, &self.active, |_| alpha, |_| 1.0) {
            return false;
        }
        self.z.fill(0.0);
        for _ in 0..2 {
            self.velocity(problem, alpha);
            self.part.clear();
            self.part.extend(self.active.iter().map(|&i| -self.w[i]));
            system.solve(&mut self.part);
            self.active.iter().zip(&self.part).for_each(|(&i, d)| self.z[i] += d);
        }
        self.velocity(problem, alpha);
        self.z.iter().all(|z| z.is_finite())
    }

    fn velocity(&mut self, problem: &Lcp, alpha: f64) {
        problem.velocity(&self.z, &mut self.w);
        for ((w, z), c) in self.w.iter_mut().zip(&self.z).zip(&self.center) {
            *w += alpha * (z - c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Solution;

    fn solve(problem: &Lcp) -> (SolveStatus, Vec<f64>) {
        let mut system = ActiveSystem::default();
        system.analyse(&problem.m);
        let mut best = PolishedIterate::default();
        let mut solution = Solution::default();
        solution.prepare(problem.n());
        best.begin(problem, &mut solution);
        let (status, _) = ProximalPivoting::default().solve(problem, &mut system, &mut best, (1e-10, 1000, Deadline::default()));
        (status, best.z().to_vec())
    }

    #[test]
    fn equal_rows_share_the_load() {
        let (status, z) = solve(&Lcp::dense(vec![1.0; 9], vec![-1.0; 3]).unwrap());
        assert!(status.is_converged());
        for z in z {
            assert!((z - 1.0 / 3.0).abs() < 1e-9); // the tolerance
        }
    }

    #[test]
    fn block_pivots_that_cycle_are_broken() {
        // A P-matrix on which block pivots from the empty set cycle with period 2.
        let (status, z) = solve(&Lcp::dense(vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0], vec![-1.0; 3]).unwrap());
        assert!(status.is_converged());
        for z in z {
            assert!((z - 1.0 / 3.0).abs() < 1e-9); // the tolerance
        }
    }

    #[test]
    fn no_solution_is_not_found() {
        let (status, z) = solve(&Lcp::dense(vec![1.0, -1.0, -1.0, 1.0], vec![-1.0; 2]).unwrap());
        assert_eq!(status, SolveStatus::Stalled);
        assert!(z.iter().all(|z| z.is_finite()));
    }
}
