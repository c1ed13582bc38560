//! Newton's method on the natural map, for problems with balls and cones.
//!
//! Φ(r) = r − P_K(r − u/s) with u = W r + q has the generalised Jacobian V = 1 − S (1 − W/s), S that of the projection. Full steps, with halvings
//! where |Φ| grows; the caller has a globally convergent method for what is left.

use super::AffineVi;
use crate::Solution;
use crate::linear::RowLu;

/// Steps before the next method has its turn.
const STEPS: usize = 30;

/// Halvings of a step.
const HALVINGS: usize = 8;

/// Work arrays of the method.
#[derive(Clone, Debug, Default)]
pub(super) struct NaturalNewton {
    lu: RowLu,
    point: Vec<f64>,
    phi: Vec<f64>,
    slope: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
}

impl NaturalNewton {
    /// Iterates from the guess in `solution`; returns the number of steps. What is reached is judged by the caller.
    pub fn solve(&mut self, problem: &AffineVi, tolerance: f64, solution: &mut Solution) -> usize {
        let (n, scale) = (problem.n(), problem.scale());
        self.trial.resize(n, 0.0);
        problem.velocity(&solution.r, &mut solution.u);
        let mut size = self.map(problem, scale, &solution.r, &solution.u);
        for steps in 0..STEPS {
            let q: f64 = problem.q.iter().chain(&solution.u).map(|x| x * x).sum::<f64>().sqrt();
            if size * scale <= 1e-3 * tolerance * q || !size.is_finite() {
                return steps;
            }
            if !self.direction(problem, scale) {
                return steps;
            }
            let (mut length, before) = (1.0, size);
            for _ in 0..HALVINGS {
                for i in 0..n {
                    self.trial[i] = solution.r[i] - length * self.step[i];
                }
                let trial = std::mem::take(&mut self.trial);
                problem.velocity(&trial, &mut solution.u);
                size = self.map(problem, scale, &trial, &solution.u);
                self.trial = trial;
                if size < before {
                    break;
                }
                length *= 0.5;
            }
            if size.is_nan() || size >= before {
                problem.velocity(&solution.r, &mut solution.u);
                return steps;
            }
            solution.r.copy_from_slice(&self.trial);
        }
        STEPS
    }

    /// Φ in `phi`, the point r − u/s in `point`; returns |Φ|.
    fn map(&mut self, problem: &AffineVi, scale: f64, r: &[f64], u: &[f64]) -> f64 {
        self.point.clear();
        self.point.extend(r.iter().zip(u).map(|(r, u)| r - u / scale));
        self.phi.clone_from(&self.point);
        problem.project(&mut self.phi);
        for (phi, r) in self.phi.iter_mut().zip(r) {
            *phi = r - *phi;
        }
        self.phi.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// V⁻¹ Φ in `step`; false where V has no inverse.
    fn direction(&mut self, problem: &AffineVi, scale: f64) -> bool {
        let n = problem.n();
        let matrix = self.lu.reset(n);
        let mut start = 0;
        for set in &problem.sets {
            let dim = set.dim();
            self.slope.resize(dim * dim, 0.0);
            set.projection_slope(&self.point[start..start + dim], &mut self.slope);
            for a in 0..dim {
                for j in 0..n {
                    let product: f64 = (0..dim).map(|b| self.slope[a * dim + b] * problem.w[(start + b) * n + j]).sum();
                    matrix[(start + a) * n + j] = product / scale;
                }
                for b in 0..dim {
                    matrix[(start + a) * n + start + b] -= self.slope[a * dim + b];
                }
                matrix[(start + a) * n + start + a] += 1.0;
            }
            start += dim;
        }
        if !self.lu.factor() {
            return false;
        }
        self.step.clone_from(&self.phi);
        self.lu.solve(&mut self.step);
        self.step.iter().all(|x| x.is_finite())
    }
}
