//! Friction contact as the methods by projection see it: r ∈ K against the velocity û of De Saxcé.
//!
//! ```text
//!     r_c = P_K(r_c − ρ û_c),   û = u + (μ|u_T|, 0),   u = W r + q;   u_c = 0 with r_c free for a joint.
//! ```
//!
//! The map r ↦ û is not monotone where contacts slide, so that the theory of projections (convergence for monotone maps) covers
//! the frictionless problem only; in practice friction does no harm.

use super::FrictionSolverParams;
use super::projection::{Limits, ProjectedMap, ProjectionParams, Projections, Variant};
use super::scaled::Scaled;
use super::{FrictionContact, Runaway};
use crate::Solution;
use crate::cones::norm_squared;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::SolveReport;

/// What the three solvers by projection share: limits, units and work arrays.
#[derive(Clone, Debug)]
pub(super) struct BipotentialSolver {
    variant: Variant,
    pub tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    params: ProjectionParams,
    scaled: Scaled,
    projections: Projections,
    /// The iterate in the units of the blocks.
    y: Vec<f64>,
    /// The vector of the power iteration.
    direction: Vec<f64>,
}

/// The problem in units of its own for each block.
struct BipotentialMap<'a> {
    problem: &'a FrictionContact,
    scaled: &'a Scaled,
    solution: &'a mut Solution,
    mass_scale: f64,
    runaway: Runaway,
}

impl ProjectedMap for BipotentialMap<'_> {
    fn evaluate(&self, y: &[f64], f: &mut [f64]) {
        self.scaled.velocity(y, f);
        for (index, block) in self.scaled.blocks.iter().enumerate() {
            let u = &mut f[self.scaled.rows(index)];
            u[0] += block.slip_term(u);
        }
    }

    fn project(&self, y: &mut [f64]) {
        for (index, block) in self.scaled.blocks.iter().enumerate() {
            block.project(&mut y[self.scaled.rows(index)]);
        }
    }

    fn judge(&mut self, y: &[f64]) -> f64 {
        let Solution { r, u } = &mut *self.solution;
        self.scaled.restore_impulse(y, r);
        self.problem.velocity(r, u);
        let residual = self.problem.residual_in_mass_unit(r, u, self.mass_scale);
        if self.runaway.applies(r, residual) { f64::INFINITY } else { residual }
    }
}

impl BipotentialSolver {
    pub fn new(variant: Variant, params: &FrictionSolverParams) -> Self {
        BipotentialSolver {
            variant,
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            params: params.projection.clone(),
            scaled: Scaled::default(),
            projections: Projections::new(variant, &params.projection),
            y: Vec::new(),
            direction: Vec::new(),
        }
    }

    pub fn solve(&mut self, name: &'static str, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let n = problem.n_rows();
        solution.prepare(n);
        let deadline = Deadline::after(self.time_limit);
        self.scaled.build(problem);
        self.y.resize(n, 0.0);
        self.scaled.scale_impulse(&solution.r, &mut self.y);
        let step = match self.variant {
            Variant::FixedStep => self.params.fixed_step / self.largest_eigenvalue(&mut solution.u),
            Variant::FixedPoint | Variant::Extragradient => self.params.first_step,
        };
        let mass_scale = problem.mass_scale();
        let runaway = problem.runaway(mass_scale);
        let mut map = BipotentialMap { problem, scaled: &self.scaled, solution, mass_scale, runaway };
        let limits = Limits { tolerance: self.tolerance, max_iterations: self.max_iterations, deadline };
        let (status, iterations) = self.projections.run(&mut map, &mut self.y, step, limits);
        self.scaled.restore_impulse(&self.y, &mut solution.r);
        problem.velocity(&solution.r, &mut solution.u);
        Ok(problem.report(name, solution, iterations, self.tolerance, status))
    }

    /// λ_max of the scaled W by power iteration; at least 1, the mean of its diagonal. `image` is work space.
    ///
    /// The quotient |W x|/|x| is not above λ_max (W symmetric), and at a fixed step of 1/λ_max an estimate 10 % too low does no harm.
    fn largest_eigenvalue(&mut self, image: &mut [f64]) -> f64 {
        // A start with parts of all signs and sizes, so that no symmetry of the problem hides the first eigenvector.
        let x = &mut self.direction;
        x.clear();
        x.extend((0..image.len()).map(|i| 1.0 + 0.5 * (1.7 * i as f64).sin()));
        let mut value = 1.0_f64;
        for _ in 0..POWER_ITERATIONS {
            self.scaled.w.multiply(x, image);
            let (size, image_size) = (norm_squared(x).sqrt(), norm_squared(image).sqrt());
            if !(image_size > 0.0 && image_size.is_finite()) {
                break;
            }
            value = value.max(image_size / size);
            for (x, image) in x.iter_mut().zip(&*image) {
                *x = image / image_size;
            }
        }
        value
    }
}

/// Power iterations: with a ratio 0.9 of the first two eigenvalues the error is 0.9⁶⁰ = 0.2 %.
const POWER_ITERATIONS: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cones::Block;
    use crate::delassus::{Delassus, DenseDelassus};
    use crate::report::SolveStatus;

    fn solver(variant: Variant) -> BipotentialSolver {
        BipotentialSolver::new(variant, &FrictionSolverParams::default())
    }

    fn diagonal(values: &[f64], dims: &[usize], q: Vec<f64>, blocks: Vec<Block>) -> FrictionContact {
        let n = values.len();
        let w = (0..n * n).map(|k| if k / n == k % n { values[k / n] } else { 0.0 }).collect();
        FrictionContact { w: Delassus::Dense(DenseDelassus::new(w, dims).unwrap()), q, blocks }
    }

    #[test]
    fn every_law_is_solved_by_every_variant() {
        // One block after the other, uncoupled: a joint; a contact that closes; one that slides; a sphere that slides and does not roll.
        let blocks =
            vec![Block::Bilateral { dim: 1 }, Block::Unilateral, Block::Coulomb3 { mu: 0.5 }, Block::Rolling { mu: 0.5, rolling: 0.2 }];
        let q = vec![2.0, -3.0, -1.0, 0.0, 3.0, -1.0, 3.0, 0.0, 0.05, 0.0];
        let problem = diagonal(&[2.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], &[1, 1, 3, 5], q, blocks);
        let exact = [-1.0, 0.75, 1.0, 0.0, -0.5, 1.0, -0.5, 0.0, -0.05, 0.0];
        for variant in [Variant::FixedStep, Variant::FixedPoint, Variant::Extragradient] {
            let mut solution = Solution::default();
            let report = solver(variant).solve("test", &problem, &mut solution).unwrap();
            assert!(report.is_converged(), "{variant:?} {report:?}");
            for (r, exact) in solution.r.iter().zip(exact) {
                // tolerance 1e-10 relative to |q| = 5.8
                assert!((r - exact).abs() < 1e-9, "{variant:?} {:?}", solution.r);
            }
        }
    }

    #[test]
    fn an_approach_nothing_can_stop_is_no_success() {
        let problem = diagonal(&[1.0, 0.0], &[1, 1], vec![-1.0, -1.0], vec![Block::Unilateral; 2]);
        for variant in [Variant::FixedStep, Variant::FixedPoint, Variant::Extragradient] {
            let mut solution = Solution::default();
            let report = solver(variant).solve("test", &problem, &mut solution).unwrap();
            assert!(!report.is_converged(), "{variant:?} {report:?}");
            assert!(solution.r.iter().all(|r| r.is_finite()), "{variant:?}");
        }
    }

    #[test]
    fn limits_end_the_iteration() {
        // A joint of very different rows: 1e-6 of the error goes in an iteration.
        let problem = diagonal(&[1.0, 1e-6], &[2], vec![-1.0, -1.0], vec![Block::Bilateral { dim: 2 }]);
        let mut short = solver(Variant::FixedStep);
        short.max_iterations = 7;
        let report = short.solve("test", &problem, &mut Solution::default()).unwrap();
        assert_eq!((report.status, report.iterations), (SolveStatus::MaxIterations, 7));
        short.time_limit = Some(1e-12);
        let report = short.solve("test", &problem, &mut Solution::default()).unwrap();
        assert_eq!(report.status, SolveStatus::TimeLimit);
    }

    #[test]
    fn the_largest_eigenvalue_sees_the_coupling() {
        // Ones everywhere: n.
        let w = Delassus::Dense(DenseDelassus::new(vec![1.0; 16], &[1; 4]).unwrap());
        let problem = FrictionContact { w, q: vec![-1.0; 4], blocks: vec![Block::Unilateral; 4] };
        let mut solver = solver(Variant::FixedStep);
        solver.scaled.build(&problem);
        let value = solver.largest_eigenvalue(&mut [0.0; 4]);
        assert!((value - 4.0).abs() < 1e-12, "{value}"); // roundings
    }
}
