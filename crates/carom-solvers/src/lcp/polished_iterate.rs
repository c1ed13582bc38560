//! The best iterate of a solve so far.

use super::Lcp;
use super::active_system::ActiveSystem;
use crate::Solution;
use crate::cones::norm_squared;
use crate::report::{SolveReport, SolveStatus};

/// Keeps the z ≥ 0 with the smallest normalised residual among those offered, and judges.
///
/// The residual is relative to |z| as well, so that it falls along a ray on which z grows and w stays away from zero, although
/// there is no solution. An iterate therefore counts only if |min(z, w)| is small compared with q too.
#[derive(Clone, Debug, Default)]
pub(super) struct PolishedIterate {
    z: Vec<f64>,
    residual: f64,
    scale: f64,
    speed: f64,
    trial: Vec<f64>,
    velocity: Vec<f64>,
    active: Vec<usize>,
}

/// Largest natural map of a solution as a fraction of |q|. On a ray the fraction is about one; rounding leaves 10⁻⁷ on chains of 10⁴ contacts.
const RAY_FRACTION: f64 = 1e-3;

/// Active sets a polish goes through; in the first ones ties count as active, in the others they do not.
const POLISH_STEPS: usize = 8;
const TIE_STEPS: usize = 4;

/// Velocities into contact below this fraction of |q| are rounding.
const PUSHED: f64 = 1e-12;

impl PolishedIterate {
    /// Starts with the guess, or with zero where the natural map of the guess is larger; `solution` then holds the start and its w.
    pub fn begin(&mut self, problem: &Lcp, solution: &mut Solution) {
        let n = problem.n();
        self.scale = problem.mass_scale();
        self.speed = norm_squared(&problem.q).sqrt();
        self.residual = f64::INFINITY;
        self.z.clear();
        self.z.resize(n, 0.0);
        solution.r.iter_mut().for_each(|z| *z = z.max(0.0));
        problem.velocity(&solution.r, &mut solution.u);
        let guess = natural_map(&solution.r, &solution.u, self.scale);
        let zero = problem.q.iter().map(|q| q.min(0.0).powi(2)).sum::<f64>().sqrt();
        let residual = self.offer(problem, &solution.r);
        if zero < guess || !residual.is_finite() {
            solution.r.fill(0.0);
            solution.u.copy_from_slice(&problem.q);
            self.offer(problem, &solution.r);
        }
    }

    /// Mean diagonal of M: w is compared with `scale` · z.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Smallest residual so far.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// The best z so far.
    pub fn z(&self) -> &[f64] {
        &self.z
    }

    /// Considers max(z, 0) and returns its residual, infinite where it does not count.
    pub fn offer(&mut self, problem: &Lcp, z: &[f64]) -> f64 {
        self.trial.clear();
        self.trial.extend(z.iter().map(|z| z.max(0.0)));
        self.velocity.resize(z.len(), 0.0);
        problem.velocity(&self.trial, &mut self.velocity);
        let residual = problem.residual_in_unit(&self.trial, &self.velocity, self.scale);
        let is_ray = residual < RAY_FRACTION && natural_map(&self.trial, &self.velocity, self.scale) > RAY_FRACTION * self.speed;
        if !residual.is_finite() || is_ray {
            return f64::INFINITY;
        }
        if residual < self.residual {
            self.residual = residual;
            std::mem::swap(&mut self.z, &mut self.trial);
        }
        residual
    }

    /// Solves exactly on the rows that look active at z, and a few sets further. True when that meets the tolerance.
    pub fn polish(&mut self, problem: &Lcp, system: &mut ActiveSystem, z: &[f64], tolerance: f64) -> bool {
        let mut active = std::mem::take(&mut self.active);
        let mut polished = z.to_vec();
        let mut w = vec![0.0; z.len()];
        problem.velocity(&polished, &mut w);
        choose_active(&polished, &w, self.scale, &mut active);
        for step in 0..POLISH_STEPS {
            if !system.solve_active(problem, &active, self.scale, &mut polished) || self.offer(problem, &polished) <= tolerance {
                break;
            }
            problem.velocity(&polished, &mut w);
            active.iter().for_each(|&i| w[i] = 0.0); // Rounding only.
            let before = active.clone();
            if step < TIE_STEPS {
                choose_active(&polished, &w, self.scale, &mut active);
            } else {
                // Rows that pull are dropped; rows that are pushed by more than rounding are added.
                let mut is_active = vec![false; z.len()];
                before.iter().for_each(|&i| is_active[i] = true);
                let stays = |i: usize| if is_active[i] { polished[i] >= 0.0 } else { w[i] < -PUSHED * self.speed };
                active.clear();
                active.extend((0..z.len()).filter(|&i| stays(i)));
            }
            if active == before && step >= TIE_STEPS {
                break;
            }
        }
        self.active = active;
        self.residual <= tolerance
    }

    /// Hands the best iterate back with its report.
    pub fn finish(
        &self,
        problem: &Lcp,
        solver: &'static str,
        solution: &mut Solution,
        iterations: usize,
        tolerance: f64,
        otherwise: SolveStatus,
    ) -> SolveReport {
        solution.r.copy_from_slice(&self.z);
        problem.velocity(&solution.r, &mut solution.u);
        problem.report(solver, solution, iterations, tolerance, otherwise)
    }
}

/// |min(s z, w)|.
pub(super) fn natural_map(z: &[f64], w: &[f64], scale: f64) -> f64 {
    z.iter().zip(w).map(|(z, w)| (scale * z).min(*w).powi(2)).sum::<f64>().sqrt()
}

/// The rows with s z ≥ w: ties count as active, so that a column at rest (w = 0 above the ground) closes at once.
pub(super) fn choose_active(z: &[f64], w: &[f64], scale: f64, active: &mut Vec<usize>) {
    active.clear();
    active.extend((0..z.len()).filter(|&i| scale * z[i] >= w[i]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_is_no_solution() {
        // w = (−1, −1) for every z = (t, t): the residual is 1/t.
        let problem = Lcp::dense(vec![1.0, -1.0, -1.0, 1.0], vec![-1.0; 2]).unwrap();
        let mut solution = Solution { r: vec![1e12; 2], u: Vec::new() };
        solution.prepare(2);
        let mut best = PolishedIterate::default();
        best.begin(&problem, &mut solution);
        assert_eq!(solution.r, [0.0; 2]);
        assert_eq!(best.offer(&problem, &[1e12; 2]), f64::INFINITY);
        let report = best.finish(&problem, "test", &mut solution, 0, 1e-10, SolveStatus::Stalled);
        assert_eq!(report.status, SolveStatus::Stalled);
    }

    #[test]
    fn the_better_of_guess_and_zero_is_the_start() {
        let problem = Lcp::dense(vec![1.0, 0.0, 0.0, 1.0], vec![-1.0; 2]).unwrap();
        let mut best = PolishedIterate::default();
        let mut solution = Solution { r: vec![0.9, 1.1], u: vec![0.0; 2] };
        best.begin(&problem, &mut solution);
        assert_eq!(solution.r, [0.9, 1.1]);
        solution.r = vec![-5.0, 10.0];
        best.begin(&problem, &mut solution);
        assert_eq!(solution.r, [0.0; 2]);
    }
}
