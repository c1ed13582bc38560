//! Accelerated projected gradient on the convex relaxation of friction.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::scaled::Scaled;
use crate::cones::norm_squared;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Minimises ½ rᵀWr + qᵀr over r ∈ K, that is
///
/// ```text
///   K* ∋ u ⊥ r ∈ K   instead of   K* ∋ û ⊥ r ∈ K,   u = W r + q,
/// ```
///
/// with free impulses for joints. [Tasora & Anitescu, *A matrix-free cone complementarity approach*, 2011, for the relaxation;
/// Mazhar, Heyn, Negrut & Tasora, *Using Nesterov's method to accelerate multibody dynamics with friction and contact*, 2015, for
/// the method]
///
/// When to use it: large piles where a moderate accuracy and the relaxed law are enough, by explicit choice. The relaxation leaves out
/// De Saxcé's term μ|u_T|: a contact that slides lifts off with u_N = μ|u_T|, as if the asperities were wedges. Where nothing
/// slides it is exact, as it is without friction. The status is `Converged` when the exact law is satisfied too, and
/// `Relaxed` with the residual of the exact law when only the relaxation is.
///
/// Iterates, in the block-scaled unknowns of `scaled.rs`,
///
/// ```text
///   r⁺ = P_K(y − (W y + q)/L),   y⁺ = r⁺ + β (r⁺ − r),   β from Nesterov's sequence,
/// ```
///
/// L is doubled while ½ dᵀWd > L/2 |d|² for the step d = r⁺ − y and lowered by a tenth after each iteration; the sequence restarts
/// when the gradient points along r⁺ − r. Differs from the source in: the scaling of the blocks, and W r is kept so that an iteration
/// costs one product with W. W that is not symmetric has no such minimum: the same steps are done with u, without any promise.
/// Rate: 1/k² for any W ⪰ 0, linear once the modes are settled.
#[derive(Clone, Debug)]
pub struct ProjectedGradient {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    scaled: Scaled,
    iterate: Iterate,
    best: Vec<f64>,
}

/// The points of an iteration with their products W r + q, all scaled.
#[derive(Clone, Debug, Default)]
struct Iterate {
    r: Vec<f64>,
    u: Vec<f64>,
    y: Vec<f64>,
    v: Vec<f64>,
    next: Vec<f64>,
    next_u: Vec<f64>,
}

/// Doublings of L in one iteration: from the first estimate to any norm of W.
const DOUBLINGS: usize = 60;

/// Factor of L after each iteration, so that it follows the curvature of the active set; the value of Mazhar et al.
const DECREASE: f64 = 0.9;

/// Where the exact law is missed by less than this factor nothing slides, and the relaxation is solved further by the same factor to
/// meet it.
const NEARLY_EXACT: f64 = 10.0;

/// Iterations without a better iterate after which rounding has the last word; between restarts the residual may rise for a
/// thousand or two.
const STALL: usize = 5000;

impl ProjectedGradient {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        ProjectedGradient {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            scaled: Scaled::default(),
            iterate: Iterate::default(),
            best: Vec::new(),
        }
    }

    /// The loop. Leaves the best iterate in `self.best`; `Relaxed` when it solves the relaxation.
    fn minimise(&mut self, problem: &FrictionContact, solution: &mut Solution) -> (SolveStatus, usize) {
        let deadline = Deadline::after(self.time_limit);
        let scale = problem.mass_scale();
        let runaway = problem.runaway(scale);
        let q_size = norm_squared(&problem.q);
        let Solution { r, u } = solution;
        self.best.clone_from(r);
        problem.velocity(r, u);
        let mut best = relaxed_residual(problem, r, u, scale, q_size);
        let mut since_best = 0;
        let x = &mut self.iterate;
        x.start(&self.scaled, r);
        let (mut lipschitz, mut theta) = (1.0, 1.0);
        let mut target = self.tolerance;
        for iteration in 0..self.max_iterations {
            if best <= target {
                let exact = problem.residual_in_mass_unit(r, u, scale);
                if exact <= self.tolerance || exact > NEARLY_EXACT * self.tolerance || target < self.tolerance {
                    return (SolveStatus::Relaxed, iteration);
                }
                target = self.tolerance / NEARLY_EXACT;
            }
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, iteration);
            }
            lipschitz = x.step(&self.scaled, lipschitz);
            theta = x.extrapolate(theta);
            lipschitz *= DECREASE;

            self.scaled.restore_impulse(&x.r, r);
            self.scaled.restore_velocity(&x.u, u);
            let error = relaxed_residual(problem, r, u, scale, q_size);
            since_best += 1;
            if error < best && !runaway.applies(r, error) {
                (best, since_best) = (error, 0);
                self.best.copy_from_slice(r);
            }
            if since_best >= STALL || !error.is_finite() {
                let status = if best <= self.tolerance { SolveStatus::Relaxed } else { SolveStatus::Stalled };
                return (status, iteration + 1);
            }
        }
        let status = if best <= self.tolerance { SolveStatus::Relaxed } else { SolveStatus::MaxIterations };
        (status, self.max_iterations)
    }
}

impl Iterate {
    /// Starts from the impulse r, moved to its cone.
    fn start(&mut self, scaled: &Scaled, r: &[f64]) {
        let n = r.len();
        for x in [&mut self.r, &mut self.u, &mut self.y, &mut self.v, &mut self.next, &mut self.next_u] {
            x.resize(n, 0.0);
        }
        scaled.scale_impulse(r, &mut self.r);
        project(scaled, &mut self.r);
        scaled.velocity(&self.r, &mut self.u);
        self.y.copy_from_slice(&self.r);
        self.v.copy_from_slice(&self.u);
    }

    /// y => `next` by a projected gradient step; returns the L that was accepted.
    fn step(&mut self, scaled: &Scaled, mut lipschitz: f64) -> f64 {
        for _ in 0..DOUBLINGS {
            for ((next, y), v) in self.next.iter_mut().zip(&self.y).zip(&self.v) {
                *next = y - v / lipschitz;
            }
            project(scaled, &mut self.next);
            scaled.velocity(&self.next, &mut self.next_u);
            let (mut curvature, mut length) = (0.0, 0.0);
            for k in 0..self.next.len() {
                let d = self.next[k] - self.y[k];
                curvature += d * (self.next_u[k] - self.v[k]);
                length += d * d;
            }
            // Near the solution both are rounding of u: no information about L.
            if curvature <= lipschitz * length * (1.0 + 1e-10) || length <= f64::EPSILON * f64::EPSILON * norm_squared(&self.y) {
                break;
            }
            lipschitz *= 2.0;
        }
        lipschitz
    }

    /// (r, next) => the next y, and r = next; returns the next θ of Nesterov's sequence.
    fn extrapolate(&mut self, theta: f64) -> f64 {
        let uphill: f64 = (0..self.r.len()).map(|k| self.v[k] * (self.next[k] - self.r[k])).sum();
        let next_theta = 0.5 * theta * ((theta * theta + 4.0).sqrt() - theta);
        let beta = if uphill > 0.0 { 0.0 } else { theta * (1.0 - theta) / (theta * theta + next_theta) };
        for k in 0..self.r.len() {
            self.y[k] = self.next[k] + beta * (self.next[k] - self.r[k]);
            self.v[k] = self.next_u[k] + beta * (self.next_u[k] - self.u[k]);
        }
        self.r.copy_from_slice(&self.next);
        self.u.copy_from_slice(&self.next_u);
        if uphill > 0.0 { 1.0 } else { next_theta }
    }
}

fn project(scaled: &Scaled, y: &mut [f64]) {
    for (index, block) in scaled.blocks.iter().enumerate() {
        block.project(&mut y[scaled.rows(index)]);
    }
}

/// The judge's number for the relaxation: |s r − P_K(s r − u)| relative as for the exact law.
fn relaxed_residual(problem: &FrictionContact, r: &[f64], u: &[f64], scale: f64, q_size: f64) -> f64 {
    let mut error = 0.0;
    let mut start = 0;
    for block in &problem.blocks {
        let mut z = [0.0; crate::Block::MAX_DIM];
        let rows = start..start + block.dim();
        let z = &mut z[..block.dim()];
        for (z, k) in z.iter_mut().zip(rows.clone()) {
            *z = scale * r[k] - u[k];
        }
        block.in_unit(1.0 / scale).project(z);
        error += z.iter().zip(rows.clone()).map(|(z, k)| (scale * r[k] - z).powi(2)).sum::<f64>();
        start = rows.end;
    }
    let size = q_size.max(norm_squared(r) * scale * scale).max(norm_squared(u)).sqrt();
    if size > f64::EPSILON { error.sqrt() / size } else { error.sqrt() }
}

impl OneStepSolver<FrictionContact> for ProjectedGradient {
    fn name(&self) -> &'static str {
        "projected-gradient"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n_rows());
        problem.velocity(&solution.r, &mut solution.u);
        let guess = problem.report(self.name(), solution, 0, self.tolerance, SolveStatus::Stalled);
        if guess.is_converged() {
            return Ok(guess);
        }
        self.scaled.build(problem);
        let (status, iterations) = self.minimise(problem, solution);
        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        Ok(problem.report(self.name(), solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cones::Block;
    use crate::delassus::{Delassus, DenseDelassus};

    fn solve(w: Vec<f64>, q: Vec<f64>, blocks: Vec<Block>) -> (SolveReport, Solution) {
        let dims: Vec<usize> = blocks.iter().map(Block::dim).collect();
        let problem = FrictionContact { w: Delassus::Dense(DenseDelassus::new(w, &dims).unwrap()), q, blocks };
        let mut solution = Solution::default();
        let mut solver = ProjectedGradient::new(&FrictionSolverParams { tolerance: 1e-12, ..Default::default() });
        let report = solver.solve(&problem, &mut solution).unwrap();
        (report, solution)
    }

    fn near(x: &[f64], exact: &[f64]) {
        for (a, b) in x.iter().zip(exact) {
            assert!((a - b).abs() < 1e-11, "{x:?} {exact:?}"); // tolerance 1e-12, conditioning about one
        }
    }

    #[test]
    fn sticking_is_exact() {
        let (report, solution) = solve(vec![1.0, 0.0, 0.0, 1.0], vec![-1.0, 0.3], vec![Block::Coulomb2 { mu: 0.5 }]);
        assert_eq!(report.status, SolveStatus::Converged);
        near(&solution.r, &[1.0, -0.3]);
    }

    #[test]
    fn a_sliding_contact_lifts_off() {
        // Unit mass, μ = 1/2: r = P_K(1, −3), the foot N = (3/2 + 1)/(5/4) = 2, T = −1; u = (1, 2), so u_N = μ|u_T|.
        let (report, solution) = solve(vec![1.0, 0.0, 0.0, 1.0], vec![-1.0, 3.0], vec![Block::Coulomb2 { mu: 0.5 }]);
        assert_eq!(report.status, SolveStatus::Relaxed);
        near(&solution.r, &[2.0, -1.0]);
        near(&solution.u, &[1.0, 2.0]);
        // The exact law: z = r − û = (2 − 1 − 1, −1 − 2) = (0, −3), its foot N = 1.2, T = −0.6; |r − P| = |(0.8, −0.4)|, over |q| = √10.
        assert!((report.residual - (0.8_f64 / 10.0).sqrt()).abs() < 1e-10, "{report:?}"); // tolerance of the solution
    }

    #[test]
    fn joints_are_free_components() {
        // A joint and a contact on one body: 2 r_1 + r_2 = 3, r_1 + 2 r_2 = 4 when the contact is closed.
        let (report, solution) = solve(vec![2.0, 1.0, 1.0, 2.0], vec![-3.0, -4.0], vec![Block::Bilateral { dim: 1 }, Block::Unilateral]);
        assert_eq!(report.status, SolveStatus::Converged);
        near(&solution.r, &[2.0 / 3.0, 5.0 / 3.0]);
    }

    #[test]
    fn the_time_limit_is_kept() {
        let problem = FrictionContact {
            w: Delassus::Dense(DenseDelassus::new(vec![2.0, 1.0, 1.0, 2.0], &[1, 1]).unwrap()),
            q: vec![-3.0, -4.0],
            blocks: vec![Block::Unilateral; 2],
        };
        let mut solver = ProjectedGradient::new(&FrictionSolverParams { time_limit: Some(1e-9), ..Default::default() });
        let report = solver.solve(&problem, &mut Solution::default()).unwrap();
        assert_eq!(report.status, SolveStatus::TimeLimit);
    }
}
