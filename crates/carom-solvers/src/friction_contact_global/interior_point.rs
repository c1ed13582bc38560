//! Interior point method in velocities and impulses.

use super::GlobalSolverParams;
use super::conic_form::ConicForm;
use super::dynamics::Dynamics;
use super::newton_system::NewtonSystem;
use super::{End, GlobalFrictionContact};
use crate::cones::norm_squared;
use crate::conic::{Scaling, largest_step};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Follows the central path of the law mapped to second-order cones (`ConicForm`),
///
/// ```text
///     A y = B x,   z = Bᵀ y + c + e |z_T|,   x ∘ z = m e,   m → 0,
/// ```
///
/// from a point far inside the cones. For hyperstatic contacts and large mass ratios to a tight tolerance without a guess: some 8 to 40
/// steps whatever the redundancy. A step linearises the equations with Nesterov's and Todd's scaling G, G x = G⁻¹ z = λ:
///
/// ```text
///     A dy − B dx = B x − A y,    Bᵀ dy + (I − J) G² dx = z − Bᵀ y − c − e |z_T| + (I − J) G d,    dz = G d − G² dx
///     J = e (0, z_T/|z_T|)ᵀ,    d = −λ (predictor),    λ ∘ d = σ m e − λ ∘ λ − (G dx_p) ∘ (G⁻¹ dz_p) (corrector)
/// ```
///
/// [Acary, Armand, Nguyen & Shpakovych, *Second-order cone programming for frictional contact mechanics using interior point
/// algorithm*, 2022; Mehrotra 1992 for the two directions]; differs in: |z_T| is part of Newton's linearisation,
/// iterates caught at the boundary are moved inside again, and steps to the centre where the error lags behind m (`LAG`).
/// The problem is not convex: no rule guarantees the descent. Of the settings `polish_steps` is not used.
///
/// The guess is used only if it is a solution. Cost of a step: one sparse LU of n_dof + n_rows unknowns, which allocates. Its fill grows fast in
/// three-dimensional packings (some 50 ms for 500 contacts, a second for 2500), for which `admm` is cheaper. Chains, towers and walls stay cheap.
#[derive(Clone, Debug)]
pub struct InteriorPoint {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    dynamics: Dynamics,
    form: ConicForm,
    system: NewtonSystem,
    scaling: Scaling,
    point: Point,
    impulse: Vec<f64>,
    best: Vec<f64>,
}

/// The unknowns, their steps and work arrays.
#[derive(Clone, Debug, Default)]
struct Point {
    y: Vec<f64>,
    x: Vec<f64>,
    z: Vec<f64>,
    /// (B x − A y, z − Bᵀ y − c − e |z_T|).
    infeasibility: Vec<f64>,
    /// m = xᵀz per cone.
    complementarity: f64,
    /// (dy, dx), and dz.
    step: Vec<f64>,
    dz: Vec<f64>,
    /// d and G d.
    target: Vec<f64>,
    scaled_target: Vec<f64>,
    work: [Vec<f64>; 2],
    /// Short steps in a row.
    caught: usize,
    /// Part of the way to the boundary that is gone at most.
    step_fraction: f64,
}

/// The exponent in σ = (m_predicted/m)^p; Mehrotra's 3 lets m run ahead of the infeasibility, which the curvature of |z_T| keeps up.
const CENTRING_EXPONENT: f64 = 2.0;

/// A step below this length is short. After [`CAUGHT`] of them in a row x and z are too near the boundary and are moved
/// inside by √m, the distance of a central point.
const SHORT_STEP: f64 = 0.1;

/// See [`SHORT_STEP`].
const CAUGHT: usize = 2;

/// An iterate may leave the central path by √m, sideways along the boundary of the cones, and then its error is of that order instead of
/// m. This is seen from an error that falls with √m: where m is below the tolerance and the error falls by less than this times √ of the ratio
/// of m, the next steps go to the central point of the same m, as long as they halve the error: convergence is quadratic.
const LAG: f64 = 0.5;

/// Times an iterate that rounding has put outside is moved inside again.
const RESCUES: usize = 3;

/// Steps without a better iterate after which the path is left: iterates that were caught need some twenty to come back.
const STALL_STEPS: usize = 30;

impl InteriorPoint {
    /// A solver with these parameters.
    pub fn new(params: &GlobalSolverParams) -> Self {
        InteriorPoint {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            dynamics: Dynamics::default(),
            form: ConicForm::default(),
            system: NewtonSystem::default(),
            scaling: Scaling::default(),
            point: Point { step_fraction: params.interior_point.step_fraction, ..Point::default() },
            impulse: Vec::new(),
            best: Vec::new(),
        }
    }

    /// Velocities v of the bodies in the last solve, m/s.
    pub fn body_velocity(&self) -> &[f64] {
        self.dynamics.v()
    }

    /// Steps along the path. Leaves the best iterate in `self.best`.
    fn iterate(&mut self, problem: &GlobalFrictionContact, solution: &mut Solution, deadline: Deadline) -> (SolveStatus, usize) {
        let u = &mut solution.u;
        let mut best = self.dynamics.judge(problem, &solution.r, u);
        self.best.clone_from(&solution.r);
        if best <= self.tolerance {
            return (SolveStatus::Converged, 0);
        }
        self.impulse.resize(problem.n_rows(), 0.0);
        self.system.prepare(problem, &self.form);
        self.point.start(problem, &self.form);
        let mut best_step = 0;
        let mut last = (best, self.point.complementarity);
        let mut is_centring = false;
        let mut rescues = 0;
        for step in 1..=self.max_iterations {
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, step - 1);
            }
            if !self.advance(problem, is_centring) {
                rescues += 1;
                if rescues > RESCUES {
                    return (SolveStatus::Stalled, step - 1);
                }
                self.point.move_inside(&self.form);
                self.point.measure(problem, &self.form);
                continue;
            }
            self.form.restore_impulse(problem, &self.point.x, &mut self.impulse);
            let judge = self.dynamics.judge(problem, &self.impulse, u);
            if judge < best && self.dynamics.is_usable(&self.impulse, judge) {
                (best, best_step) = (judge, step);
                self.best.copy_from_slice(&self.impulse);
            }
            if best <= self.tolerance {
                return (SolveStatus::Converged, step);
            }
            if step >= best_step + STALL_STEPS {
                return (SolveStatus::Stalled, step);
            }
            let now = (judge, self.point.complementarity);
            let (judge_ratio, ratio) = (now.0 / last.0, now.1 / last.1);
            let lags = now.1 < self.tolerance && ratio < 0.5 && judge_ratio > LAG * ratio.sqrt();
            is_centring = lags || (is_centring && judge_ratio < 0.5);
            last = now;
        }
        (SolveStatus::MaxIterations, self.max_iterations)
    }

    /// One predictor and corrector step, or one towards the central point of the same m; false where rounding has put an iterate outside or
    /// the system cannot be solved.
    fn advance(&mut self, problem: &GlobalFrictionContact, is_centring: bool) -> bool {
        let InteriorPoint { form, system, scaling, point, .. } = self;
        if !scaling.update(&form.cones, &point.x, &point.z) {
            return false;
        }
        point.fill_blocks(form, scaling, system.blocks_mut());
        if !system.factor() {
            return false;
        }
        let centring = if is_centring {
            // No predictor: the product of its steps is zero.
            point.step.fill(0.0);
            point.dz.fill(0.0);
            1.0
        } else {
            for (target, lambda) in point.target.iter_mut().zip(scaling.lambda()) {
                *target = -lambda;
            }
            if !point.find_step(form, scaling, system) {
                return false;
            }
            point.predicted_ratio(form).powf(CENTRING_EXPONENT)
        };
        point.set_corrector_target(form, scaling, centring);
        if !point.find_step(form, scaling, system) {
            return false;
        }
        point.follow_step(form);
        point.measure(problem, form);
        true
    }
}

impl Point {
    /// x = z = e, y = 0.
    fn start(&mut self, problem: &GlobalFrictionContact, form: &ConicForm) {
        let (n, rows) = (form.n_dof(), form.cones.n_rows());
        let [a, b] = &mut self.work;
        for v in [&mut self.x, &mut self.z, &mut self.dz, &mut self.target, &mut self.scaled_target, a, b] {
            v.clear();
            v.resize(rows, 0.0);
        }
        self.y.clear();
        self.y.resize(n, 0.0);
        form.cones.set_identity(1.0, &mut self.x);
        form.cones.set_identity(1.0, &mut self.z);
        self.caught = 0;
        self.measure(problem, form);
    }

    /// The infeasibility and m.
    fn measure(&mut self, problem: &GlobalFrictionContact, form: &ConicForm) {
        let n = form.n_dof();
        self.infeasibility.resize(n, 0.0);
        self.infeasibility.truncate(n);
        self.infeasibility.extend(self.z.iter().zip(&form.c).map(|(z, c)| z - c));
        let (dynamics, contacts) = self.infeasibility.split_at_mut(n);
        for (i, dynamics) in dynamics.iter_mut().enumerate() {
            *dynamics = -form.mass_row(problem, i).map(|(j, a)| a * self.y[j]).sum::<f64>();
            for (j, b) in form.direction_row(problem, i) {
                *dynamics += b * self.x[j];
                contacts[j] -= b * self.y[i];
            }
        }
        for rows in form.cones.lorentz() {
            contacts[rows.start] -= slip(&self.z[rows.clone()]);
        }
        self.complementarity = form.cones.inner(&self.x, &self.z) / form.cones.n_lorentz().max(1) as f64;
    }

    /// (I − J) G² of each cone.
    fn fill_blocks(&self, form: &ConicForm, scaling: &Scaling, blocks: &mut [f64]) {
        let mut rest = blocks;
        for (factor, (cone, rows)) in form.cones.iter().enumerate() {
            let dim = cone.dim();
            let (block, tail) = rest.split_at_mut(dim * dim);
            rest = tail;
            scaling.squared(&form.cones, factor, block);
            if !cone.is_free() {
                let z = &self.z[rows];
                let size = slip(z).max(f64::MIN_POSITIVE);
                for j in 0..dim {
                    block[j] -= (1..dim).map(|i| z[i] / size * block[i * dim + j]).sum::<f64>();
                }
            }
        }
    }

    /// d => (dy, dx), dz.
    fn find_step(&mut self, form: &ConicForm, scaling: &Scaling, system: &mut NewtonSystem) -> bool {
        let n = form.n_dof();
        scaling.apply(&form.cones, &self.target, &mut self.scaled_target);
        self.step.clone_from(&self.infeasibility);
        let contacts = &mut self.step[n..];
        contacts.iter_mut().zip(&self.scaled_target).for_each(|(b, d)| *b += d);
        for rows in form.cones.lorentz() {
            let size = slip(&self.z[rows.clone()]).max(f64::MIN_POSITIVE);
            contacts[rows.start] -= rows.clone().skip(1).map(|k| self.z[k] / size * self.scaled_target[k]).sum::<f64>();
        }
        if !system.solve(&mut self.step) {
            return false;
        }
        let [once, twice] = &mut self.work;
        scaling.apply(&form.cones, &self.step[n..], once);
        scaling.apply(&form.cones, once, twice);
        for ((dz, target), twice) in self.dz.iter_mut().zip(&self.scaled_target).zip(twice) {
            *dz = target - *twice;
        }
        true
    }

    /// Length of the step to the boundary.
    fn longest_step(&self, form: &ConicForm) -> f64 {
        let dx = &self.step[form.n_dof()..];
        largest_step(&form.cones, &self.x, dx).min(largest_step(&form.cones, &self.z, &self.dz))
    }

    /// Complementarity at the end of the step, relative to that now.
    fn predicted_ratio(&self, form: &ConicForm) -> f64 {
        let (cones, dx) = (&form.cones, &self.step[form.n_dof()..]);
        let length = self.longest_step(form).min(1.0);
        let now = cones.inner(&self.x, &self.z);
        let first = cones.inner(&self.x, &self.dz) + cones.inner(dx, &self.z);
        let after = now + length * (first + length * cones.inner(dx, &self.dz));
        if now > 0.0 { (after / now).clamp(0.0, 1.0) } else { 0.0 }
    }

    fn set_corrector_target(&mut self, form: &ConicForm, scaling: &Scaling, centring: f64) {
        let cones = &form.cones;
        let [a, b] = &mut self.work;
        scaling.apply(cones, &self.step[form.n_dof()..], a);
        scaling.apply_inverse(cones, &self.dz, b);
        cones.product(a, b, &mut self.target);
        cones.product(scaling.lambda(), scaling.lambda(), a);
        for (a, product) in a.iter_mut().zip(&self.target) {
            *a = -*a - product;
        }
        for rows in cones.lorentz() {
            a[rows.start] += centring * self.complementarity;
        }
        self.target.fill(0.0);
        cones.divide(scaling.lambda(), a, &mut self.target);
    }

    fn follow_step(&mut self, form: &ConicForm) {
        let length = (self.step_fraction * self.longest_step(form)).min(1.0);
        let (dy, dx) = self.step.split_at(form.n_dof());
        for (value, step) in [(&mut self.y, dy), (&mut self.x, dx), (&mut self.z, &self.dz[..])] {
            value.iter_mut().zip(step).for_each(|(value, step)| *value += length * step);
        }
        self.caught = if length < SHORT_STEP { self.caught + 1 } else { 0 };
        if self.caught == CAUGHT {
            self.move_inside(form);
        }
    }

    fn move_inside(&mut self, form: &ConicForm) {
        self.caught = 0;
        let distance = self.complementarity.abs().sqrt();
        for rows in form.cones.lorentz() {
            self.x[rows.start] += distance;
            self.z[rows.start] += distance;
        }
    }
}

/// |z_T|.
fn slip(z: &[f64]) -> f64 {
    norm_squared(&z[1..]).sqrt()
}

impl OneStepSolver<GlobalFrictionContact> for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &GlobalFrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let deadline = Deadline::after(self.time_limit);
        problem.validate()?;
        solution.prepare(problem.n_rows());
        self.dynamics.factor(problem)?;
        self.dynamics.free_velocity(problem, &mut solution.u)?;
        self.form.build(problem, &solution.u)?;
        problem.project_on_cones(&mut solution.r);
        let (status, iterations) = self.iterate(problem, solution, deadline);
        solution.r.copy_from_slice(&self.best);
        self.dynamics.velocities(problem, &solution.r, &mut solution.u);
        let end = End { status, iterations, tolerance: self.tolerance };
        Ok(problem.report("interior-point", self.dynamics.v(), solution, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cones::Block;
    use crate::matrix::SparseMatrix;

    /// A mass of 2 on the ground, falling at 1 m/s and sliding at 3 m/s.
    fn sliding(mu: f64) -> GlobalFrictionContact {
        GlobalFrictionContact {
            m: SparseMatrix::from_triplets(3, 3, &[(0, 0, 2.0), (1, 1, 2.0), (2, 2, 2.0)]).unwrap(),
            h: SparseMatrix::from_triplets(3, 3, &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]).unwrap(),
            f: vec![6.0, 0.0, -2.0],
            w: vec![0.0; 3],
            blocks: vec![Block::Coulomb3 { mu }],
        }
    }

    #[test]
    fn a_sliding_contact_slides() {
        // r = (2, −2μ, 0), v = (3 − μ, 0, 0): no lifting by the slip term.
        for mu in [1e-6, 0.5, 2.0] {
            let mut solver = InteriorPoint::new(&GlobalSolverParams::default());
            let mut solution = Solution::default();
            let report = solver.solve(&sliding(mu), &mut solution).unwrap();
            assert!(report.is_converged(), "{mu} {report:?}");
            for (x, exact) in solution.r.iter().chain(solver.body_velocity()).zip([2.0, -2.0 * mu, 0.0, 3.0 - mu, 0.0, 0.0]) {
                assert!((x - exact).abs() < 1e-8, "{mu} {x} {exact}"); // the tolerance times |r| and the condition of the law
            }
        }
    }

    #[test]
    fn friction_with_rolling_resistance_is_refused() {
        let mut problem = sliding(0.5);
        problem.h = SparseMatrix::from_triplets(3, 5, &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]).unwrap();
        problem.w = vec![0.0; 5];
        let mut solve = |mu, rolling| {
            problem.blocks = vec![Block::Rolling { mu, rolling }];
            InteriorPoint::new(&GlobalSolverParams::default()).solve(&problem, &mut Solution::default())
        };
        assert!(matches!(solve(0.5, 0.1), Err(SolveError::Unsupported { .. })));
        assert!(solve(0.5, 0.0).unwrap().is_converged() && solve(0.0, 0.1).unwrap().is_converged());
    }
}
