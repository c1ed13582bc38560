//! Four contacts that share no body, worked on at once.
//!
//! One visit solves the normal part of each contact with the friction held, then the friction with the normal impulse held:
//!
//! ```text
//! r_N ← max(0, r_N − u_N / W_NN)
//! r_T ← argmin over |r_T| ≤ μ r_N of ½ r_Tᵀ W_TT r_T − bᵀ r_T,   b = W_TT r_T − u_T
//! ```
//!
//! At a fixed point u_N ≥ 0 ⟂ r_N ≥ 0 and −u_T is in the normal cone of the disk at r_T: Coulomb's law as it is. The second line is the secular
//! equation |(W_TT + λ)⁻¹ b| = μ r_N, solved by Newton's method on 1/|r_T|, started from λ = −u_T·r_T/|r_T|², its value at a fixed point.

use super::lanes::{LANES, Lanes, Vectors, add, cross, dot, scale, sub};
use super::velocities::{Inertia, Velocities, gather_inertia};
use super::{BodyContact, Measure};

/// Steps of the secular equation: it is nearly linear in 1/|r_T|.
const SECULAR_STEPS: usize = 2;

/// Contacts of one colour. Lanes without a contact join the ground to itself.
#[derive(Clone, Debug)]
pub(super) struct Pack {
    bodies: [[u32; LANES]; 2],
    normal: Vectors,
    tangent: Vectors,
    arms: [Vectors; 2],
    free: Vectors,
    friction: Lanes,
    /// Diagonal block of W: NN, N1, N2, 11, 12, 22.
    w: [Lanes; 6],
    /// x of the last sweep and of the one before.
    pub impulse: Vectors,
    last: Vectors,
}

impl Pack {
    /// An empty pack; `ground` is the number of the ground.
    pub fn new(ground: u32) -> Self {
        let one = Lanes::splat(1.0);
        let zero = Lanes::default();
        let empty = [zero; 3];
        Pack {
            bodies: [[ground; LANES]; 2],
            normal: [zero, zero, one],
            tangent: [one, zero, zero],
            arms: [empty; 2],
            free: [one, zero, zero],
            friction: zero,
            w: [one, zero, zero, one, zero, one],
            impulse: empty,
            last: empty,
        }
    }

    /// Puts a contact with its guess in a lane; bodies are numbered as in the island.
    pub fn put(&mut self, lane: usize, contact: &BodyContact, bodies: [u32; 2], impulse: &[f64; 3], inertias: &[Inertia]) {
        let set = |to: &mut Vectors, from: &[f64; 3]| to.iter_mut().zip(from).for_each(|(to, from)| to.0[lane] = *from);
        set(&mut self.normal, &contact.normal);
        set(&mut self.tangent, &contact.tangent);
        set(&mut self.arms[0], &contact.arms[0]);
        set(&mut self.arms[1], &contact.arms[1]);
        set(&mut self.free, &contact.free);
        set(&mut self.impulse, impulse);
        set(&mut self.last, impulse);
        self.friction.0[lane] = contact.friction;
        (self.bodies[0][lane], self.bodies[1][lane]) = (bodies[0], bodies[1]);
        let w = contact.diagonal([&inertias[bodies[0] as usize], &inertias[bodies[1] as usize]]);
        for (to, w) in self.w.iter_mut().zip([w[0], w[1], w[2], w[4], w[5], w[8]]) {
            to.0[lane] = w;
        }
    }

    /// Impulse of a lane.
    pub fn impulse_of(&self, lane: usize) -> [f64; 3] {
        [self.impulse[0].0[lane], self.impulse[1].0[lane], self.impulse[2].0[lane]]
    }

    /// Trace of the diagonal blocks of W, for the lanes in use.
    pub fn trace(&self, lanes: usize) -> f64 {
        (0..lanes).map(|k| self.w[0].0[k] + self.w[3].0[k] + self.w[5].0[k]).sum()
    }

    /// u in the frames of the contacts, from velocities.
    #[inline(always)]
    fn local(&self, a: &[Vectors; 2], b: &[Vectors; 2], binormal: &Vectors) -> Vectors {
        let at = |v: &[Vectors; 2], arm: &Vectors| add(v[0], cross(v[1], *arm));
        let relative = sub(at(a, &self.arms[0]), at(b, &self.arms[1]));
        [dot(self.normal, relative) + self.free[0], dot(self.tangent, relative) + self.free[1], dot(*binormal, relative) + self.free[2]]
    }

    #[inline(always)]
    fn binormal(&self) -> Vectors {
        cross(self.normal, self.tangent)
    }

    /// Adds the response to `change` of the impulses to the velocities of one side.
    #[inline(always)]
    fn respond(v: &mut [Vectors; 2], inertia: &[Lanes; 7], arm: &Vectors, force: &Vectors) {
        let turn = cross(*arm, *force);
        v[0] = add(v[0], scale(*force, inertia[0]));
        v[1][0] = v[1][0] + inertia[1] * turn[0] + inertia[2] * turn[1] + inertia[3] * turn[2];
        v[1][1] = v[1][1] + inertia[2] * turn[0] + inertia[4] * turn[1] + inertia[5] * turn[2];
        v[1][2] = v[1][2] + inertia[3] * turn[0] + inertia[5] * turn[1] + inertia[6] * turn[2];
    }

    #[inline(always)]
    fn apply(&self, mut a: [Vectors; 2], mut b: [Vectors; 2], change: &Vectors, binormal: &Vectors, inertias: &[Inertia], to: &Velocities) {
        let force = add(add(scale(self.normal, change[0]), scale(self.tangent, change[1])), scale(*binormal, change[2]));
        Self::respond(&mut a, &gather_inertia(inertias, &self.bodies[0]), &self.arms[0], &force);
        let opposite = [-force[0], -force[1], -force[2]];
        Self::respond(&mut b, &gather_inertia(inertias, &self.bodies[1]), &self.arms[1], &opposite);
        to.scatter(&self.bodies[0], &a);
        to.scatter(&self.bodies[1], &b);
    }

    /// Adds the response to the whole impulse to the velocities.
    #[inline(always)]
    pub fn apply_impulse(&self, inertias: &[Inertia], velocities: &Velocities) {
        let (a, b) = (velocities.gather(&self.bodies[0]), velocities.gather(&self.bodies[1]));
        self.apply(a, b, &self.impulse, &self.binormal(), inertias, velocities);
    }

    /// One visit of a sweep that started from y = x + β (x − x_last). Returns |x⁺ − y|².
    #[inline(always)]
    pub fn visit(&mut self, beta: Lanes, inertias: &[Inertia], velocities: &Velocities) -> f64 {
        let (a, b) = (velocities.gather(&self.bodies[0]), velocities.gather(&self.bodies[1]));
        let binormal = self.binormal();
        let y = add(self.impulse, scale(sub(self.impulse, self.last), beta));
        let mut u = self.local(&a, &b, &binormal);
        let w = &self.w;
        let mut x = y;
        x[0] = (y[0] - u[0].over(w[0])).max(Lanes::default());
        let step = x[0] - y[0];
        (u[1], u[2]) = (u[1] + w[1] * step, u[2] + w[2] * step);
        [x[1], x[2]] = friction([y[1], y[2]], [u[1], u[2]], [w[3], w[4], w[5]], self.friction * x[0]);
        let change = sub(x, y);
        self.apply(a, b, &change, &binormal, inertias, velocities);
        (self.last, self.impulse) = (self.impulse, x);
        dot(change, change).sum()
    }

    /// Parts of the residual and of the sizes in it, in the mass unit `scale`; lanes in use only.
    #[inline(always)]
    pub fn measure(&self, lanes: usize, unit: f64, velocities: &Velocities) -> Measure {
        let (a, b) = (velocities.gather(&self.bodies[0]), velocities.gather(&self.bodies[1]));
        let u = self.local(&a, &b, &self.binormal());
        let r = scale(self.impulse, Lanes::splat(unit));
        let mu = self.friction;
        let slip = (u[1] * u[1] + u[2] * u[2]).sqrt();
        let z = [r[0] - u[0] - mu * slip, r[1] - u[1], r[2] - u[2]];
        // projection on the cone |z_T| ≤ μ z_N
        let t = (z[1] * z[1] + z[2] * z[2]).sqrt();
        let height = ((z[0] + mu * t).over(Lanes::splat(1.0) + mu * mu)).max(Lanes::default());
        let tiny = Lanes::splat(f64::MIN_POSITIVE);
        let shrink = (mu * height).over(t.max(tiny));
        let zero = Lanes::default();
        // without friction the cone is a half line
        let inside = |own: Lanes, edge: Lanes| t.choose_below(mu * z[0], own, edge);
        let normal = mu.choose_below(zero, z[0].max(zero), inside(z[0], height));
        let e = [r[0] - normal, r[1] - inside(z[1], shrink * z[1]), r[2] - inside(z[2], shrink * z[2])];
        let mut sums = Measure::default();
        for k in 0..lanes {
            sums.error += e[0].0[k] * e[0].0[k] + e[1].0[k] * e[1].0[k] + e[2].0[k] * e[2].0[k];
            sums.impulse += r[0].0[k] * r[0].0[k] + r[1].0[k] * r[1].0[k] + r[2].0[k] * r[2].0[k];
            sums.velocity += u[0].0[k] * u[0].0[k] + u[1].0[k] * u[1].0[k] + u[2].0[k] * u[2].0[k];
        }
        sums
    }

    /// Local velocities of the contacts.
    pub fn velocities(&self, velocities: &Velocities) -> [[f64; 3]; LANES] {
        let (a, b) = (velocities.gather(&self.bodies[0]), velocities.gather(&self.bodies[1]));
        let u = self.local(&a, &b, &self.binormal());
        std::array::from_fn(|lane| [u[0].0[lane], u[1].0[lane], u[2].0[lane]])
    }
}

/// r_T of least energy in the disk, from its present value and the slip velocity.
#[inline(always)]
fn friction(r: [Lanes; 2], u: [Lanes; 2], w: [Lanes; 3], limit: Lanes) -> [Lanes; 2] {
    let b = [w[0] * r[0] + w[1] * r[1] - u[0], w[1] * r[0] + w[2] * r[1] - u[1]];
    let at = |lambda: Lanes| {
        let (p, s) = (w[0] + lambda, w[2] + lambda);
        let determinant = p * s - w[1] * w[1];
        [(s * b[0] - w[1] * b[1]).over(determinant), (p * b[1] - w[1] * b[0]).over(determinant), p, s, determinant]
    };
    let zero = Lanes::default();
    let [s0, s1, ..] = at(zero);
    let square = limit * limit;
    let size = s0 * s0 + s1 * s1;
    if !size.any_above(square) {
        return [s0, s1];
    }
    let tiny = Lanes::splat(f64::MIN_POSITIVE);
    // a disk of radius zero has an infinite λ
    let bound = limit.max(Lanes::splat(1e-100));
    // λ of the present iterate where it slides, otherwise that of an isotropic W
    let held = r[0] * r[0] + r[1] * r[1];
    let present = -(u[0] * r[0] + u[1] * r[1]).over(held.max(tiny));
    let isotropic = (b[0] * b[0] + b[1] * b[1]).sqrt().over(bound) - Lanes::splat(0.5) * (w[0] + w[2]);
    let mut lambda = zero.choose_below(-present, isotropic, present).max(zero);
    for _ in 0..SECULAR_STEPS {
        let [t0, t1, p, s, determinant] = at(lambda);
        let square = t0 * t0 + t1 * t1;
        // tᵀ (W + λ)⁻¹ t
        let bend = (s * t0 * t0 - (w[1] + w[1]) * t0 * t1 + p * t1 * t1).over(determinant);
        let excess = square.sqrt().over(bound) - Lanes::splat(1.0);
        lambda = (lambda + (excess * square).over(bend.max(tiny))).max(zero);
    }
    let [t0, t1, ..] = at(lambda);
    let shrink = limit.over((t0 * t0 + t1 * t1).sqrt().max(tiny));
    [size.choose_below(square, s0, t0 * shrink), size.choose_below(square, s1, t1 * shrink)]
}
