//! Steps along the central path.

use super::boundary::largest_step;
use super::program::ConeProgram;
use super::scaling::Scaling;
use super::system::ConicSystem;
use crate::cones::norm_squared;

/// What is added to the first row of each cone of z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Slip {
    /// Nothing: the convex program.
    #[default]
    Absent,
    /// |z_1|, De Saxcé's term, linearised with everything else. The systems lose their symmetry.
    Implicit,
    /// |z_1| of the step before: the systems stay symmetric, the convergence is linear at best.
    Lagged,
}

/// Predictor and corrector steps towards x and z with
///
/// ```text
///     z = Q x + c + e |z_1|  (the last term as [`Slip`] says),     x ∘ z = 0,   x, z ∈ K,     z = 0 on free rows.
/// ```
///
/// From any x and z inside the cones, whether they satisfy the equations or not. A step linearises them with x ∘ z = σ m e,
/// m = xᵀz/n the complementarity, in the scaling of Nesterov and Todd:
///
/// ```text
///     (Q + (I − J) G²) dx = ϱ + (I − J) G d,    dz = G d − G² dx,     ϱ = z − Q x − c − e |z_1|,   J = e (0, z_1/|z_1|)ᵀ
///     d = −λ  (predictor, σ = 0),     λ ∘ d = σ m e − λ ∘ λ − (G dx_p) ∘ (G⁻¹ dz_p)  (corrector)
/// ```
///
/// [Mehrotra 1992 for the two directions; Andersen, Roos & Terlaky 2003 for cones; the slip term in the equations after Acary,
/// Armand, Nguyen & Shpakovych, *Second-order cone programming for frictional contact mechanics using interior point algorithm*,
/// 2022]; differs in: |z_1| is part of Newton's linearisation; iterates caught at the boundary are moved
/// back inside, see [`CAUGHT`]. Cost of a step: one factorisation and two solves.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathFollower {
    slip: Slip,
    /// The unknowns; inside the cones.
    pub x: Vec<f64>,
    pub z: Vec<f64>,
    /// Part of the way to the boundary that is gone at most.
    step_fraction: f64,
    infeasibility: Vec<f64>,
    complementarity: f64,
    /// Short steps in a row.
    caught: usize,
    scaling: Scaling,
    system: ConicSystem,
    dx: Vec<f64>,
    dz: Vec<f64>,
    /// d and G d.
    target: Vec<f64>,
    scaled_target: Vec<f64>,
    work: [Vec<f64>; 2],
}

/// The exponent in σ = (m_predicted/m)^p. Mehrotra's 3 lets m run ahead of ϱ, which the curvature of |z_1| keeps up.
const CENTRING_EXPONENT: f64 = 2.0;

/// A step below this length is short. After [`CAUGHT`] of them in a row x and z have come too near the boundary and are moved
/// inside by √m, the distance of a central point.
const SHORT_STEP: f64 = 0.1;

/// See [`SHORT_STEP`].
const CAUGHT: usize = 2;

impl PathFollower {
    /// Takes a program and starts at x = z = e, a central point in the units of programs whose Q and c are about one.
    pub fn start(&mut self, program: ConeProgram, slip: Slip, step_fraction: f64) {
        let n = program.cones.n_rows();
        let [a, b] = &mut self.work;
        for v in
            [&mut self.x, &mut self.z, &mut self.infeasibility, &mut self.dx, &mut self.dz, &mut self.target, &mut self.scaled_target, a, b]
        {
            v.clear();
            v.resize(n, 0.0);
        }
        (self.slip, self.step_fraction, self.caught) = (slip, step_fraction, 0);
        program.cones.set_identity(1.0, &mut self.x);
        program.cones.set_identity(1.0, &mut self.z);
        self.system.prepare(program.q, program.cones, slip != Slip::Implicit);
        self.measure(program);
    }

    /// Goes on with another c, from the x and z of the last program moved inside by `distance`.
    pub fn restart(&mut self, program: ConeProgram, distance: f64) {
        self.caught = 0;
        self.move_inside(program, distance);
        self.measure(program);
    }

    fn move_inside(&mut self, program: ConeProgram, distance: f64) {
        for rows in program.cones.lorentz() {
            self.x[rows.start] += distance;
            self.z[rows.start] += distance;
        }
    }

    /// One step; its length, or none where rounding has put an iterate outside or the system cannot be solved.
    pub fn step(&mut self, program: ConeProgram) -> Option<f64> {
        let cones = program.cones;
        if !self.scaling.update(cones, &self.x, &self.z) {
            return None;
        }
        self.fill_blocks(program);
        if !self.system.factor(cones) {
            return None;
        }
        // Predictor => (dx, dz), σ.
        for (target, lambda) in self.target.iter_mut().zip(self.scaling.lambda()) {
            *target = -lambda;
        }
        self.find_direction(program)?;
        let length = self.length_to_boundary(program).min(1.0);
        let centring = self.predicted_ratio(program, length).powf(CENTRING_EXPONENT);
        // Corrector => (dx, dz).
        self.set_corrector_target(program, centring);
        self.find_direction(program)?;
        let length = (self.step_fraction * self.length_to_boundary(program)).min(1.0);
        for k in 0..self.x.len() {
            self.x[k] += length * self.dx[k];
            self.z[k] += length * self.dz[k];
        }
        self.caught = if length < SHORT_STEP { self.caught + 1 } else { 0 };
        if self.caught == CAUGHT {
            self.caught = 0;
            self.move_inside(program, self.complementarity.sqrt());
        }
        self.measure(program);
        Some(length)
    }

    /// D = (I − J) G² of each cone.
    fn fill_blocks(&mut self, program: ConeProgram) {
        let blocks = self.system.blocks_mut();
        let mut begin = 0;
        for (factor, (cone, rows)) in program.cones.iter().enumerate() {
            let dim = cone.dim();
            let block = &mut blocks[begin..begin + dim * dim];
            begin += dim * dim;
            self.scaling.squared(program.cones, factor, block);
            if self.slip != Slip::Implicit || cone.is_free() {
                continue;
            }
            let z = &self.z[rows];
            let size = slip_of(z).max(f64::MIN_POSITIVE);
            for j in 0..dim {
                block[j] -= (1..dim).map(|i| z[i] / size * block[i * dim + j]).sum::<f64>();
            }
        }
    }

    /// target => dx, dz.
    fn find_direction(&mut self, program: ConeProgram) -> Option<()> {
        let cones = program.cones;
        self.scaling.apply(cones, &self.target, &mut self.scaled_target);
        for k in 0..self.dx.len() {
            self.dx[k] = self.infeasibility[k] + self.scaled_target[k];
        }
        if self.slip == Slip::Implicit {
            for rows in cones.lorentz() {
                let size = slip_of(&self.z[rows.clone()]).max(f64::MIN_POSITIVE);
                let along: f64 = rows.clone().skip(1).map(|k| self.z[k] / size * self.scaled_target[k]).sum();
                self.dx[rows.start] -= along;
            }
        }
        if !self.system.solve(program.q, cones, &mut self.dx) {
            return None;
        }
        let [once, twice] = &mut self.work;
        self.scaling.apply(cones, &self.dx, once);
        self.scaling.apply(cones, once, twice);
        for k in 0..self.dz.len() {
            self.dz[k] = self.scaled_target[k] - twice[k];
        }
        Some(())
    }

    fn length_to_boundary(&self, program: ConeProgram) -> f64 {
        largest_step(program.cones, &self.x, &self.dx).min(largest_step(program.cones, &self.z, &self.dz))
    }

    /// Complementarity after a step of this length, relative to that before.
    fn predicted_ratio(&self, program: ConeProgram, length: f64) -> f64 {
        let cones = program.cones;
        let now = cones.inner(&self.x, &self.z);
        let first = cones.inner(&self.x, &self.dz) + cones.inner(&self.dx, &self.z);
        let after = now + length * (first + length * cones.inner(&self.dx, &self.dz));
        if now > 0.0 { (after / now).clamp(0.0, 1.0) } else { 0.0 }
    }

    fn set_corrector_target(&mut self, program: ConeProgram, centring: f64) {
        let cones = program.cones;
        let [a, b] = &mut self.work;
        self.scaling.apply(cones, &self.dx, a);
        self.scaling.apply_inverse(cones, &self.dz, b);
        cones.product(a, b, &mut self.target);
        cones.product(self.scaling.lambda(), self.scaling.lambda(), a);
        for (a, product) in a.iter_mut().zip(&self.target) {
            *a = -*a - product;
        }
        for rows in cones.lorentz() {
            a[rows.start] += centring * self.complementarity;
        }
        self.target.fill(0.0);
        cones.divide(self.scaling.lambda(), a, &mut self.target);
    }

    /// ϱ and m of the current point.
    fn measure(&mut self, program: ConeProgram) {
        program.gradient(&self.x, &mut self.infeasibility);
        for (rho, z) in self.infeasibility.iter_mut().zip(&self.z) {
            *rho = z - *rho;
        }
        if self.slip != Slip::Absent {
            for rows in program.cones.lorentz() {
                self.infeasibility[rows.start] -= slip_of(&self.z[rows.clone()]);
            }
        }
        self.complementarity = program.cones.inner(&self.x, &self.z) / program.cones.n_lorentz().max(1) as f64;
    }
}

/// |z_1|.
fn slip_of(z: &[f64]) -> f64 {
    norm_squared(&z[1..]).sqrt()
}
