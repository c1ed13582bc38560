//! Steps along the central path.

use super::boundary::largest_step;
use super::program::ConeProgram;
use super::scaling::Scaling;
use super::system::ConicSystem;
use crate::cones::norm_squared;

/// What binds x and v = Q x + c.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Law {
    /// x ∈ K, v ∈ K, x ∘ v = 0: the minimum of the convex program.
    #[default]
    Convex,
    /// Coulomb's law on each cone with tangents, with the slip s as an unknown; as above on half-lines.
    Coulomb,
}

/// Predictor and corrector steps towards x and v = Q x + c with
///
/// ```text
///     convex:    x ∘ v = m e                                   x, v ∈ L
///     Coulomb:   x ∘ (s, v_T) = m e,   x_N v_N = m             x, (s, v_T) ∈ L,  v_N ≥ 0
/// ```
///
/// for m → 0, and v = 0 on free rows. At m = 0 the second line is Coulomb's law in cones of slope one: inside the cone s = 0 and v_T = 0, on its
/// edge v_T is opposite to x_T and s = |v_T|. De Saxcé's (v_N + |v_T|, v_T) ⊥ x is the sum of both products.
///
/// z stands for v, or for (s, v_T) with v_N apart as a [`Lift`]. From any point inside the cones, a step linearises all that with m
/// replaced by σ m, in the scaling G x = G⁻¹ z = λ of Nesterov and Todd:
///
/// ```text
///     (Q + D) dx = v − Q x − c + (G d, or t in the first row),    dz = G d − G² dx,    dv_N = t − (v_N/x_N) dx_N
///     D = G², its first row replaced by (v_N/x_N, 0) under Coulomb's law
///     predictor, σ = 0:    d = −λ,    t = −v_N
///     corrector:           λ ∘ d = σ m e − λ ∘ λ − (G dx_p) ∘ (G⁻¹ dz_p),    t = (σ m − x_N v_N − dx_p dv_p)/x_N
/// ```
///
/// [Mehrotra 1992 for the two directions; Andersen, Roos & Terlaky 2003 for cones; Acary, Armand, Nguyen & Shpakovych, *Second-order
/// cone programming for frictional contact mechanics using interior point algorithm*, 2022, for Coulomb's law]; differs in: there the
/// slip |v_T| is computed from v; here it is an unknown, so that all equations but the products are linear and the step to
/// feasibility is exact. Iterates caught at the boundary are moved back inside, see [`SHORT_STEP`].
/// Cost of a step: one factorisation (symmetric for the convex law) and two solves.
#[derive(Debug, Default)]
pub(crate) struct PathFollower {
    /// The unknowns; inside the cones.
    pub x: Vec<f64>,
    z: Vec<f64>,
    lifts: Vec<Lift>,
    /// Part of the way to the boundary that is gone at most.
    step_fraction: f64,
    /// v − Q x − c.
    infeasibility: Vec<f64>,
    /// m.
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

/// The normal velocity of a contact with tangents.
#[derive(Clone, Copy, Debug)]
struct Lift {
    /// Row of x_N, and place of the first row of the contact's block of D.
    row: usize,
    block: usize,
    dim: usize,
    /// v_N > 0, dv_N and t.
    value: f64,
    change: f64,
    target: f64,
}

/// The exponent in σ = (m_predicted/m)^p. Mehrotra's 3 suits convex programs; a little more centring serves both laws.
const CENTRING_EXPONENT: i32 = 2;

/// A step below this length is short. After [`CAUGHT`] of them in a row x and z have come too near the boundary and are moved
/// inside by √m, the distance of a central point.
const SHORT_STEP: f64 = 0.1;

/// See [`SHORT_STEP`].
const CAUGHT: usize = 2;

impl PathFollower {
    /// Takes a program and starts at x = z = e, a central point in the units of programs whose Q and c are about one.
    pub fn start(&mut self, program: ConeProgram, law: Law, step_fraction: f64) {
        let n = program.cones.n_rows();
        let [a, b] = &mut self.work;
        for v in
            [&mut self.x, &mut self.z, &mut self.infeasibility, &mut self.dx, &mut self.dz, &mut self.target, &mut self.scaled_target, a, b]
        {
            v.clear();
            v.resize(n, 0.0);
        }
        program.cones.set_identity(1.0, &mut self.x);
        program.cones.set_identity(1.0, &mut self.z);
        self.lifts.clear();
        let mut block = 0;
        for (cone, rows) in program.cones.iter() {
            let dim = cone.dim();
            if law == Law::Coulomb && !cone.is_free() && dim > 1 {
                self.lifts.push(Lift { row: rows.start, block, dim, value: 1.0, change: 0.0, target: 0.0 });
            }
            block += dim * dim;
        }
        (self.step_fraction, self.caught) = (step_fraction, 0);
        self.system.prepare(program.q, program.cones, self.lifts.is_empty());
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
        for lift in &mut self.lifts {
            lift.value += distance;
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
        for lift in &mut self.lifts {
            lift.target = -lift.value;
        }
        self.find_direction(program)?;
        let length = self.length_to_boundary(program).min(1.0);
        let centring = self.predicted_ratio(program, length).powi(CENTRING_EXPONENT);
        // Corrector => (dx, dz).
        self.set_corrector_target(program, centring);
        self.find_direction(program)?;
        let length = (self.step_fraction * self.length_to_boundary(program)).min(1.0);
        for k in 0..self.x.len() {
            self.x[k] += length * self.dx[k];
            self.z[k] += length * self.dz[k];
        }
        for lift in &mut self.lifts {
            lift.value += length * lift.change;
        }
        for rows in cones.lorentz() {
            keep_inside(&mut self.x[rows.clone()]);
            keep_inside(&mut self.z[rows]);
        }
        self.caught = if length < SHORT_STEP { self.caught + 1 } else { 0 };
        if self.caught == CAUGHT {
            self.caught = 0;
            self.move_inside(program, self.complementarity.sqrt());
        }
        self.measure(program);
        Some(length)
    }

    /// D of each cone.
    fn fill_blocks(&mut self, program: ConeProgram) {
        let blocks = self.system.blocks_mut();
        let mut begin = 0;
        for (factor, (cone, _)) in program.cones.iter().enumerate() {
            let end = begin + cone.dim() * cone.dim();
            self.scaling.squared(program.cones, factor, &mut blocks[begin..end]);
            begin = end;
        }
        for lift in &self.lifts {
            blocks[lift.block..lift.block + lift.dim].fill(0.0);
            blocks[lift.block] = lift.value / self.x[lift.row];
        }
    }

    /// Targets => dx, dz, dv_N.
    fn find_direction(&mut self, program: ConeProgram) -> Option<()> {
        let cones = program.cones;
        self.scaling.apply(cones, &self.target, &mut self.scaled_target);
        for k in 0..self.dx.len() {
            self.dx[k] = self.infeasibility[k] + self.scaled_target[k];
        }
        for lift in &self.lifts {
            self.dx[lift.row] = self.infeasibility[lift.row] + lift.target;
        }
        if !self.system.solve(program.q, cones, &mut self.dx) {
            return None;
        }
        let [once, twice] = &mut self.work;
        self.scaling.apply(cones, &self.dx, once);
        self.scaling.apply(cones, once, twice);
        for (dz, (target, change)) in self.dz.iter_mut().zip(self.scaled_target.iter().zip(twice)) {
            *dz = target - *change;
        }
        for lift in &mut self.lifts {
            lift.change = lift.target - lift.value / self.x[lift.row] * self.dx[lift.row];
        }
        Some(())
    }

    fn length_to_boundary(&self, program: ConeProgram) -> f64 {
        let in_cones = largest_step(program.cones, &self.x, &self.dx).min(largest_step(program.cones, &self.z, &self.dz));
        let falling = self.lifts.iter().filter(|lift| lift.change < 0.0);
        falling.fold(in_cones, |length, lift| length.min(-lift.value / lift.change))
    }

    /// Complementarity after a step of this length, relative to that before.
    fn predicted_ratio(&self, program: ConeProgram, length: f64) -> f64 {
        let now = self.total_complementarity(program);
        let cones = program.cones;
        let mut first = cones.inner(&self.x, &self.dz) + cones.inner(&self.dx, &self.z);
        let mut second = cones.inner(&self.dx, &self.dz);
        for lift in &self.lifts {
            first += self.x[lift.row] * lift.change + self.dx[lift.row] * lift.value;
            second += self.dx[lift.row] * lift.change;
        }
        let after = now + length * (first + length * second);
        if now > 0.0 { (after / now).clamp(0.0, 1.0) } else { 0.0 }
    }

    fn set_corrector_target(&mut self, program: ConeProgram, centring: f64) {
        let cones = program.cones;
        let aim = centring * self.complementarity;
        let [a, b] = &mut self.work;
        self.scaling.apply(cones, &self.dx, a);
        self.scaling.apply_inverse(cones, &self.dz, b);
        cones.product(a, b, &mut self.target);
        cones.product(self.scaling.lambda(), self.scaling.lambda(), a);
        for (a, product) in a.iter_mut().zip(&self.target) {
            *a = -*a - product;
        }
        for rows in cones.lorentz() {
            a[rows.start] += aim;
        }
        self.target.fill(0.0);
        cones.divide(self.scaling.lambda(), a, &mut self.target);
        for lift in &mut self.lifts {
            let (x, dx) = (self.x[lift.row], self.dx[lift.row]);
            lift.target = (aim - x * lift.value - dx * lift.change) / x;
        }
    }

    /// xᵀz and x_N v_N, all together.
    fn total_complementarity(&self, program: ConeProgram) -> f64 {
        program.cones.inner(&self.x, &self.z) + self.lifts.iter().map(|lift| self.x[lift.row] * lift.value).sum::<f64>()
    }

    /// v − Q x − c and m of the current point.
    fn measure(&mut self, program: ConeProgram) {
        program.gradient(&self.x, &mut self.infeasibility);
        for (residual, z) in self.infeasibility.iter_mut().zip(&self.z) {
            *residual = z - *residual;
        }
        for lift in &self.lifts {
            self.infeasibility[lift.row] += lift.value - self.z[lift.row];
        }
        let products = program.cones.n_lorentz() + self.lifts.len();
        self.complementarity = self.total_complementarity(program) / products.max(1) as f64;
    }
}

/// Distance to the boundary below which rounding decides on which side a point is, relative to its size.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Moves a point that a step has left at the boundary, within rounding, to the inside.
fn keep_inside(x: &mut [f64]) {
    let tail = norm_squared(&x[1..]).sqrt();
    x[0] = x[0].max((1.0 + ROUNDING) * tail);
}
