//! The best iterate of a solve.

use crate::Solution;
use crate::cones::norm_squared;

/// A problem that judges its solutions by a residual.
pub(crate) trait Judge {
    /// u = M r + q.
    fn velocity(&self, r: &[f64], u: &mut [f64]);

    /// The normalised residual.
    fn residual_normalised(&self, r: &[f64], u: &[f64]) -> f64;
}

/// The unknowns with the smallest normalised residual offered so far. Storage is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct BestIterate {
    r: Vec<f64>,
    u: Vec<f64>,
    residual: f64,
}

impl BestIterate {
    /// Forgets all iterates; what is left is zero, to be returned if nothing finite is offered.
    pub fn restart(&mut self, n: usize) {
        self.r.clear();
        self.r.resize(n, 0.0);
        self.residual = f64::INFINITY;
    }

    /// Keeps r if it is better than the best so far and finite with its velocity, their squares included: the residual is relative
    /// to them. Cost: one product with the matrix.
    pub fn offer<P: Judge>(&mut self, problem: &P, r: &[f64]) {
        if !norm_squared(r).is_finite() {
            return;
        }
        self.u.resize(r.len(), 0.0);
        problem.velocity(r, &mut self.u);
        let residual = problem.residual_normalised(r, &self.u);
        if residual < self.residual && norm_squared(&self.u).is_finite() {
            self.residual = residual;
            self.r.copy_from_slice(r);
        }
    }

    /// Its normalised residual; infinite while nothing was offered.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Writes it into the solution, with u recomputed.
    pub fn write<P: Judge>(&self, problem: &P, solution: &mut Solution) {
        solution.r.clone_from(&self.r);
        problem.velocity(&solution.r, &mut solution.u);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lcp;

    #[test]
    fn the_smaller_residual_stays() {
        let problem = Lcp::dense(vec![2.0], vec![-4.0]).unwrap();
        let mut best = BestIterate::default();
        best.restart(1);
        for z in [0.0, 2.0, 1.0, f64::NAN] {
            best.offer(&problem, &[z]);
        }
        let mut solution = Solution::default();
        solution.prepare(1);
        best.write(&problem, &mut solution);
        assert_eq!((solution.r, solution.u, best.residual()), (vec![2.0], vec![0.0], 0.0));
    }
}
