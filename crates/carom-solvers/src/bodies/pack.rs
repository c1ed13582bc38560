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

use super::lanes::{Arithmetic, LANES, Lanes, Plain, Stored, Vectors, add, cross, dot, scale, sub};
use super::velocities::{Inertia, Velocities, gather_inertia};
use super::{BodyContact, Measure};

/// Steps of the secular equation per visit: it is nearly linear in 1/|r_T|, and the next visit goes on.
const SECULAR_STEPS: usize = 1;

/// Contacts of one colour. Lanes without a contact join the ground to itself.
#[derive(Clone, Debug)]
pub(super) struct Pack {
    bodies: [[u32; LANES]; 2],
    normal: [Stored; 3],
    tangent: [Stored; 3],
    arms: [[Stored; 3]; 2],
    free: [Stored; 3],
    friction: Stored,
    /// Diagonal block of W: NN, N1, N2, 11, 12, 22.
    w: [Stored; 6],
    /// 1/W_NN and 1/det W_TT.
    inverse: [Stored; 2],
    /// x of the last sweep and of the one before.
    pub impulse: [Stored; 3],
    last: [Stored; 3],
}

impl Pack {
    /// An empty pack; `ground` is the number of the ground.
    pub fn new(ground: u32) -> Self {
        let one = Stored::splat(1.0);
        let zero = Stored::default();
        let empty = [zero; 3];
        Pack {
            bodies: [[ground; LANES]; 2],
            normal: [zero, zero, one],
            tangent: [one, zero, zero],
            arms: [empty; 2],
            free: [one, zero, zero],
            friction: zero,
            w: [one, zero, zero, one, zero, one],
            inverse: [one; 2],
            impulse: empty,
            last: empty,
        }
    }

    /// Puts a contact with its guess in a lane; bodies are numbered as in the island.
    pub fn put(&mut self, lane: usize, contact: &BodyContact, bodies: [u32; 2], impulse: &[f64; 3], inertias: &[Inertia]) {
        let set = |to: &mut [Stored; 3], from: &[f64; 3]| to.iter_mut().zip(from).for_each(|(to, from)| to.0[lane] = *from);
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
        // tangents without inertia take no friction
        let determinant = w[4] * w[8] - w[5] * w[5];
        self.inverse[0].0[lane] = if w[0] > 0.0 { 1.0 / w[0] } else { 0.0 };
        self.inverse[1].0[lane] = if determinant > 0.0 { 1.0 / determinant } else { 0.0 };
    }

    /// Impulse of a lane.
    pub fn impulse_of(&self, lane: usize) -> [f64; 3] {
        [self.impulse[0].0[lane], self.impulse[1].0[lane], self.impulse[2].0[lane]]
    }

    /// Trace of the diagonal blocks of W, for the lanes in use.
    pub fn trace(&self, lanes: usize) -> f64 {
        (0..lanes).map(|k| self.w[0].0[k] + self.w[3].0[k] + self.w[5].0[k]).sum()
    }

    /// The numbers that do not change, in registers.
    #[inline(always)]
    fn frame<S: Arithmetic>(&self, by: S) -> Frame<S> {
        let load = |x: &[Stored; 3]| x.map(|x| Lanes::of(by, x.0));
        let (normal, tangent) = (load(&self.normal), load(&self.tangent));
        Frame {
            normal,
            tangent,
            binormal: cross(normal, tangent),
            arms: [load(&self.arms[0]), load(&self.arms[1])],
            free: load(&self.free),
        }
    }

    #[inline(always)]
    fn gather<S: Arithmetic>(&self, by: S, velocities: &Velocities) -> [[Vectors<S>; 2]; 2] {
        [velocities.gather(by, &self.bodies[0]), velocities.gather(by, &self.bodies[1])]
    }

    /// Adds the response to `change` of the impulses to the velocities `v`, and writes them back.
    #[inline(always)]
    fn apply<S: Arithmetic>(
        &self,
        frame: &Frame<S>,
        by: S,
        mut v: [[Vectors<S>; 2]; 2],
        change: &Vectors<S>,
        inertias: &[Inertia],
        to: &Velocities,
    ) {
        let force = add(add(scale(frame.normal, change[0]), scale(frame.tangent, change[1])), scale(frame.binormal, change[2]));
        respond(&mut v[0], &gather_inertia(by, inertias, &self.bodies[0]), &frame.arms[0], &force);
        let opposite = [-force[0], -force[1], -force[2]];
        respond(&mut v[1], &gather_inertia(by, inertias, &self.bodies[1]), &frame.arms[1], &opposite);
        to.scatter(&self.bodies[0], &v[0]);
        to.scatter(&self.bodies[1], &v[1]);
    }

    /// Adds the response to the whole impulse to the velocities.
    pub fn apply_impulse(&self, inertias: &[Inertia], velocities: &Velocities) {
        let frame = self.frame(Plain);
        let impulse = self.impulse.map(|x| Lanes::of(Plain, x.0));
        self.apply(&frame, Plain, self.gather(Plain, velocities), &impulse, inertias, velocities);
    }

    /// One visit of a sweep that started from y = x + β (x − x_last). Returns |x⁺ − y|².
    #[inline(always)]
    pub fn visit<S: Arithmetic>(&mut self, by: S, beta: f64, inertias: &[Inertia], velocities: &Velocities) -> f64 {
        let frame = self.frame(by);
        let v = self.gather(by, velocities);
        let load = |x: &[Stored; 3]| x.map(|x| Lanes::of(by, x.0));
        let present = load(&self.impulse);
        let y = add(present, scale(sub(present, load(&self.last)), Lanes::splat(by, beta)));
        let mut u = frame.local(&v);
        let w = self.w.map(|w| Lanes::of(by, w.0));
        let inverse = self.inverse.map(|x| Lanes::of(by, x.0));
        let mut x = y;
        x[0] = (y[0] - u[0] * inverse[0]).max(Lanes::splat(by, 0.0));
        let step = x[0] - y[0];
        (u[1], u[2]) = (u[1] + w[1] * step, u[2] + w[2] * step);
        let limit = Lanes::of(by, self.friction.0) * x[0];
        [x[1], x[2]] = friction(by, [y[1], y[2]], [u[1], u[2]], [w[3], w[4], w[5]], inverse[1], limit);
        let change = sub(x, y);
        self.apply(&frame, by, v, &change, inertias, velocities);
        (self.last, self.impulse) = (self.impulse, x.map(|x| Stored(x.array())));
        dot(change, change).sum()
    }

    /// Parts of the residual and of the sizes in it, in the mass unit `unit`; lanes in use only.
    #[inline(always)]
    pub fn measure<S: Arithmetic>(&self, by: S, lanes: usize, unit: f64, velocities: &Velocities) -> Measure {
        let u = self.frame(by).local(&self.gather(by, velocities));
        let r = scale(self.impulse.map(|x| Lanes::of(by, x.0)), Lanes::splat(by, unit));
        let mu = Lanes::of(by, self.friction.0);
        let slip = (u[1] * u[1] + u[2] * u[2]).sqrt();
        let z = [r[0] - u[0] - mu * slip, r[1] - u[1], r[2] - u[2]];
        // projection on the cone |z_T| ≤ μ z_N
        let (zero, one) = (Lanes::splat(by, 0.0), Lanes::splat(by, 1.0));
        let t = (z[1] * z[1] + z[2] * z[2]).sqrt();
        let height = ((z[0] + mu * t).over(one + mu * mu)).max(zero);
        let shrink = (mu * height).over(t.max(Lanes::splat(by, f64::MIN_POSITIVE)));
        // without friction the cone is a half line
        let inside = |own: Lanes<S>, edge: Lanes<S>| t.choose_below(mu * z[0], own, edge);
        let normal = mu.choose_below(zero, z[0].max(zero), inside(z[0], height));
        let e = [r[0] - normal, r[1] - inside(z[1], shrink * z[1]), r[2] - inside(z[2], shrink * z[2])];
        let squares = [dot(e, e).array(), dot(r, r).array(), dot(u, u).array()];
        let sum = |k: usize| squares[k][..lanes].iter().sum();
        Measure { error: sum(0), impulse: sum(1), velocity: sum(2), free: 0.0 }
    }

    /// Local velocities of the contacts.
    pub fn velocities(&self, velocities: &Velocities) -> [[f64; 3]; LANES] {
        let u = self.frame(Plain).local(&self.gather(Plain, velocities)).map(Lanes::array);
        std::array::from_fn(|lane| [u[0][lane], u[1][lane], u[2][lane]])
    }
}

/// Frames and arms of the contacts of a pack.
struct Frame<S: Arithmetic> {
    normal: Vectors<S>,
    tangent: Vectors<S>,
    binormal: Vectors<S>,
    arms: [Vectors<S>; 2],
    free: Vectors<S>,
}

impl<S: Arithmetic> Frame<S> {
    /// u, from the velocities of both sides.
    #[inline(always)]
    fn local(&self, v: &[[Vectors<S>; 2]; 2]) -> Vectors<S> {
        // written out: closures are not inlined into functions with vector instructions
        let a = add(v[0][0], cross(v[0][1], self.arms[0]));
        let b = add(v[1][0], cross(v[1][1], self.arms[1]));
        let relative = sub(a, b);
        [dot(self.normal, relative) + self.free[0], dot(self.tangent, relative) + self.free[1], dot(self.binormal, relative) + self.free[2]]
    }
}

/// Adds the response to a force at an arm to the velocities of one side.
#[inline(always)]
fn respond<S: Arithmetic>(v: &mut [Vectors<S>; 2], inertia: &[Lanes<S>; 7], arm: &Vectors<S>, force: &Vectors<S>) {
    let turn = cross(*arm, *force);
    v[0] = add(v[0], scale(*force, inertia[0]));
    v[1][0] = v[1][0] + inertia[1] * turn[0] + inertia[2] * turn[1] + inertia[3] * turn[2];
    v[1][1] = v[1][1] + inertia[2] * turn[0] + inertia[4] * turn[1] + inertia[5] * turn[2];
    v[1][2] = v[1][2] + inertia[3] * turn[0] + inertia[5] * turn[1] + inertia[6] * turn[2];
}

/// r_T of least energy in the disk, from its present value and the slip velocity; `inverse` is 1/det W_TT.
#[inline(always)]
fn friction<S: Arithmetic>(
    by: S,
    r: [Lanes<S>; 2],
    u: [Lanes<S>; 2],
    w: [Lanes<S>; 3],
    inverse: Lanes<S>,
    limit: Lanes<S>,
) -> [Lanes<S>; 2] {
    let b = [w[0] * r[0] + w[1] * r[1] - u[0], w[1] * r[0] + w[2] * r[1] - u[1]];
    // (W + λ)⁻¹ b with the diagonal (p, s) of W + λ
    let at = |p: Lanes<S>, s: Lanes<S>, inverse: Lanes<S>| [(s * b[0] - w[1] * b[1]) * inverse, (p * b[1] - w[1] * b[0]) * inverse];
    let stick = at(w[0], w[2], inverse);
    let square = limit * limit;
    let size = stick[0] * stick[0] + stick[1] * stick[1];
    if !size.any_above(square) {
        return stick;
    }
    let (zero, one, tiny) = (Lanes::splat(by, 0.0), Lanes::splat(by, 1.0), Lanes::splat(by, f64::MIN_POSITIVE));
    // a disk of radius zero has an infinite λ
    let per_limit = one.over(limit.max(Lanes::splat(by, 1e-100)));
    // λ of the present iterate where it slides, otherwise that of an isotropic W
    let held = r[0] * r[0] + r[1] * r[1];
    let present = -(u[0] * r[0] + u[1] * r[1]).over(held.max(tiny));
    let isotropic = (b[0] * b[0] + b[1] * b[1]).sqrt() * per_limit - Lanes::splat(by, 0.5) * (w[0] + w[2]);
    let mut lambda = zero.choose_below(-present, isotropic, present).max(zero);
    let inverse_at = |p: Lanes<S>, s: Lanes<S>| one.over(p * s - w[1] * w[1]);
    for _ in 0..SECULAR_STEPS {
        let (p, s) = (w[0] + lambda, w[2] + lambda);
        let inverse = inverse_at(p, s);
        let t = at(p, s, inverse);
        let square = t[0] * t[0] + t[1] * t[1];
        // tᵀ (W + λ)⁻¹ t
        let bend = (s * t[0] * t[0] - (w[1] + w[1]) * t[0] * t[1] + p * t[1] * t[1]) * inverse;
        let excess = square.sqrt() * per_limit - one;
        lambda = (lambda + (excess * square).over(bend.max(tiny))).max(zero);
    }
    let (p, s) = (w[0] + lambda, w[2] + lambda);
    let t = at(p, s, inverse_at(p, s));
    let shrink = limit.over((t[0] * t[0] + t[1] * t[1]).sqrt().max(tiny));
    [size.choose_below(square, stick[0], t[0] * shrink), size.choose_below(square, stick[1], t[1] * shrink)]
}
