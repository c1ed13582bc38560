//! Four pairs of bodies that share no body, with the contact points of each, worked on at once.
//!
//! One visit goes over the points of its pairs, with the diagonal block W of the point and the local velocity u at the present impulses y:
//!
//! ```text
//! sticking     r = y − W⁻¹ u                                              where this is in the cone
//! otherwise    r_N = max(0, y_N − u_N / W_NN),   t = y_T − (u_T + W_TN (r_N − y_N)) / λ_max(W_TT),   d = t/|t|
//!              r_T = t                                                    where |t| ≤ μ r_N
//! sliding      r_N = max(0, y_N − [u_N + W_NT (μ y_N d − y_T)] / a),   a = W_NN + μ W_NT d,   r_T = μ r_N d
//! ```
//!
//! The last line makes u_N = 0 with friction that follows the normal impulse: without it contacts at which friction lifts or presses (|μ W_NT d| near W_NN) make sweeps cycle.
//! At a fixed point u_N ≥ 0 ⟂ r_N ≥ 0 and −u_T is in the normal cone of the disk at r_T: Coulomb's law as it is.

use super::body::{Bodies, Inertia, gather, gather_inertia, scatter};
use super::lanes::{Arithmetic, LANES, Lanes, Rough, Stored, Vectors, add, cross, dot, scale, scale_add, sub};
use super::{BodyContact, Measure};

/// Pairs of one colour. Lanes without a pair join the ground to itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pack {
    /// Addresses of the bodies.
    bodies: [[u32; LANES]; 2],
    /// Sweeps left out before the next visit, and visits in a row that found nothing to do.
    wait: u8,
    idle: u8,
}

/// One point of each pair of a pack.
#[derive(Clone, Debug)]
pub(super) struct Points {
    normal: [Stored; 3],
    tangent: [Stored; 3],
    arms: [[Stored; 3]; 2],
    free: [Stored; 3],
    friction: Stored,
    /// First row of the diagonal block of W.
    w: [Rough; 3],
    /// Inverse of the diagonal block: NN, N1, N2, 11, 12, 22.
    inverse: [Rough; 6],
    /// 1/W_NN and 1/λ_max(W_TT).
    gains: [Rough; 2],
    /// x of the last sweep and of the one before.
    impulse: [Stored; 3],
    last: [Stored; 3],
}

/// Velocities of both sides in registers.
type Sides<S> = [[Vectors<S>; 2]; 2];

/// Least part of W_NN that is left of it where sliding friction pushes bodies apart.
const COUPLED: f64 = 0.25;

/// Most sweeps that a pack without impulses is left out.
const LONGEST_WAIT: u8 = 8;

impl Pack {
    /// A pack of these pairs of bodies, by their addresses.
    pub fn new(bodies: [[u32; LANES]; 2]) -> Self {
        Pack { bodies, wait: 0, idle: 0 }
    }

    #[inline(always)]
    fn gather<S: Arithmetic>(&self, by: S, bodies: &impl Bodies) -> Sides<S> {
        [gather(by, bodies, &self.bodies[0]), gather(by, bodies, &self.bodies[1])]
    }

    #[inline(always)]
    fn inertias<S: Arithmetic>(&self, by: S, bodies: &impl Bodies) -> [[Lanes<S>; 7]; 2] {
        [gather_inertia(by, bodies, &self.bodies[0]), gather_inertia(by, bodies, &self.bodies[1])]
    }

    #[inline(always)]
    fn scatter<S: Arithmetic>(&self, by: S, bodies: &mut impl Bodies, v: &Sides<S>) {
        scatter(by, bodies, &self.bodies[0], &v[0]);
        scatter(by, bodies, &self.bodies[1], &v[1]);
    }

    /// Adds the response to the whole impulses to the velocities.
    #[inline(always)]
    pub(crate) fn apply_impulses<S: Arithmetic>(&self, by: S, points: &[Points], bodies: &mut impl Bodies) {
        let mut v = self.gather(by, bodies);
        let inertias = self.inertias(by, bodies);
        for point in points {
            let impulse = load(by, &point.impulse);
            point.frame(by).respond(&mut v, &inertias, &impulse);
        }
        self.scatter(by, bodies, &v);
    }

    /// One visit of a sweep that started from y = x + β (x − x_last). Returns |x⁺ − y|².
    ///
    /// Pairs that carry nothing and do not close are left out of some sweeps; [`Pack::measure`] calls them back where they are needed.
    #[inline(always)]
    pub fn visit<S: Arithmetic>(&mut self, by: S, beta: f64, points: &mut [Points], bodies: &mut impl Bodies) -> f64 {
        if self.wait > 0 {
            self.wait -= 1;
            return 0.0;
        }
        let mut v = self.gather(by, bodies);
        let inertias = self.inertias(by, bodies);
        let (mut step, mut carried) = (Lanes::splat(by, 0.0), Lanes::splat(by, 0.0));
        for point in &mut *points {
            let present = load(by, &point.impulse);
            let y = scale_add(sub(present, load(by, &point.last)), Lanes::splat(by, beta), present);
            let x = point.solve(by, y, &mut v, &inertias);
            let change = sub(x, y);
            step = step + dot(change, change);
            carried = carried + x[0] + present[0];
            (point.last, point.impulse) = (point.impulse, store(x));
        }
        self.scatter(by, bodies, &v);
        self.idle = if carried.sum() > 0.0 { 0 } else { self.idle.saturating_add(1) };
        self.wait = self.idle.min(LONGEST_WAIT);
        step.sum()
    }

    /// Parts of the residual and of the sizes in it, in the mass unit `unit`; of the lanes in use at each point only.
    #[inline(always)]
    pub fn measure<S: Arithmetic>(&mut self, by: S, points: &[Points], ids: &[[u32; LANES]], unit: f64, bodies: &impl Bodies) -> Measure {
        let v = self.gather(by, bodies);
        let mut total = Measure::default();
        for (point, ids) in points.iter().zip(ids) {
            total.add(&point.measure(by, in_use(ids), unit, &v));
        }
        if total.error > 0.0 {
            self.wait = 0;
        }
        total
    }
}

/// No contact in this lane.
pub(super) const EMPTY: u32 = u32::MAX;

/// Number of lanes that hold a contact: the first ones.
#[inline(always)]
pub(super) fn in_use(ids: &[u32; LANES]) -> usize {
    let mut n = 0;
    for id in ids {
        n += usize::from(*id != EMPTY);
    }
    n
}

#[inline(always)]
fn load<S: Arithmetic>(by: S, x: &[Stored; 3]) -> Vectors<S> {
    [Lanes::of(by, x[0].0), Lanes::of(by, x[1].0), Lanes::of(by, x[2].0)]
}

#[inline(always)]
fn load_rough<S: Arithmetic>(by: S, x: [&Rough; 3]) -> Vectors<S> {
    [Lanes::of_rough(by, x[0]), Lanes::of_rough(by, x[1]), Lanes::of_rough(by, x[2])]
}

#[inline(always)]
fn store<S: Arithmetic>(x: Vectors<S>) -> [Stored; 3] {
    [Stored(x[0].array()), Stored(x[1].array()), Stored(x[2].array())]
}

impl Points {
    /// No contact in any lane: without directions, and never closed.
    pub fn empty() -> Self {
        let (zero, one) = (Stored::default(), Stored::splat(1.0));
        let (rough_zero, rough_one) = (Rough::default(), Rough::splat(1.0));
        Points {
            normal: [zero; 3],
            tangent: [zero; 3],
            arms: [[zero; 3]; 2],
            free: [one, zero, zero],
            friction: zero,
            w: [rough_one, rough_zero, rough_zero],
            inverse: [rough_one, rough_zero, rough_zero, rough_one, rough_zero, rough_one],
            gains: [rough_one; 2],
            impulse: [zero; 3],
            last: [zero; 3],
        }
    }

    /// Puts a contact with its guess in a lane; `inertias` are those of its bodies. Returns the trace of the diagonal block of W.
    pub fn put(&mut self, lane: usize, contact: &BodyContact, impulse: &[f64; 3], inertias: &[Inertia; 2]) -> f64 {
        let set = |to: &mut [Stored; 3], from: &[f64; 3]| to.iter_mut().zip(from).for_each(|(to, from)| to.0[lane] = *from);
        set(&mut self.normal, &contact.normal);
        set(&mut self.tangent, &contact.tangent);
        set(&mut self.arms[0], &contact.arms[0]);
        set(&mut self.arms[1], &contact.arms[1]);
        set(&mut self.free, &contact.free);
        set(&mut self.impulse, impulse);
        set(&mut self.last, impulse);
        self.friction.0[lane] = contact.friction;
        let w = contact.diagonal(inertias);
        for (to, w) in self.w.iter_mut().zip(w) {
            to.set(lane, w);
        }
        for (to, x) in self.inverse.iter_mut().zip(invert(&w)) {
            to.set(lane, x);
        }
        let largest = 0.5 * (w[4] + w[8]) + (0.5 * (w[4] - w[8])).hypot(w[5]);
        let reciprocal = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
        self.gains[0].set(lane, reciprocal(w[0]));
        self.gains[1].set(lane, reciprocal(largest));
        w[0] + w[4] + w[8]
    }

    /// Impulse of a lane.
    pub fn impulse_of(&self, lane: usize) -> [f64; 3] {
        [self.impulse[0].0[lane], self.impulse[1].0[lane], self.impulse[2].0[lane]]
    }

    /// The numbers that do not change, in registers.
    #[inline(always)]
    fn frame<S: Arithmetic>(&self, by: S) -> Frame<S> {
        let (normal, tangent) = (load(by, &self.normal), load(by, &self.tangent));
        Frame {
            normal,
            tangent,
            binormal: cross(normal, tangent),
            arms: [load(by, &self.arms[0]), load(by, &self.arms[1])],
            free: load(by, &self.free),
        }
    }

    /// The impulses that follow from y and the velocities of the bodies, which are changed accordingly.
    #[inline(always)]
    fn solve<S: Arithmetic>(&self, by: S, y: Vectors<S>, v: &mut Sides<S>, inertias: &[[Lanes<S>; 7]; 2]) -> Vectors<S> {
        let frame = self.frame(by);
        let u = frame.local(v);
        let [nn, n1, n2, i11, i12, i22] = &self.inverse;
        let (r1, r2) = (load_rough(by, [nn, n1, n2]), load_rough(by, [i11, i12, i22]));
        let stick = [y[0] - dot(r1, u), y[1] - dot([r1[1], r2[0], r2[1]], u), y[2] - dot([r1[2], r2[1], r2[2]], u)];
        let mu = Lanes::of(by, self.friction.0);
        let zero = Lanes::splat(by, 0.0);
        let bound = mu * stick[0].max(zero);
        // negative where it sticks
        let outside = stick[2].times_plus(stick[2], stick[1].times_minus(stick[1], bound * bound));
        let outside = outside.max(-stick[0]);
        let x = if outside.any_above(zero) {
            let slip = self.slip(by, y, u, mu);
            [
                outside.choose_below(zero, stick[0], slip[0]),
                outside.choose_below(zero, stick[1], slip[1]),
                outside.choose_below(zero, stick[2], slip[2]),
            ]
        } else {
            stick
        };
        frame.respond(v, inertias, &sub(x, y));
        x
    }

    /// The impulses where the contact does not stick at once.
    #[inline(always)]
    fn slip<S: Arithmetic>(&self, by: S, y: Vectors<S>, u: Vectors<S>, mu: Lanes<S>) -> Vectors<S> {
        let zero = Lanes::splat(by, 0.0);
        let [w, n1, n2] = &self.w;
        let [w, n1, n2] = load_rough(by, [w, n1, n2]);
        let (inverse, gain) = (Lanes::of_rough(by, &self.gains[0]), Lanes::of_rough(by, &self.gains[1]));
        let normal = (y[0] - u[0] * inverse).max(zero);
        let step = normal - y[0];
        let t = [y[1] - (u[1] + n1 * step) * gain, y[2] - (u[2] + n2 * step) * gain];
        let square = (t[0] * t[0] + t[1] * t[1]).max(Lanes::splat(by, f64::MIN_POSITIVE));
        let per_length = Lanes::splat(by, 1.0).over(square.sqrt());
        let d = [t[0] * per_length, t[1] * per_length];
        let own = mu * y[0];
        let lag = n1 * (own * d[0] - y[1]) + n2 * (own * d[1] - y[2]);
        let a = (w + mu * (n1 * d[0] + n2 * d[1])).max(Lanes::splat(by, COUPLED) * w);
        let sliding = (y[0] - (u[0] + lag).over(a)).max(zero);
        let (bound, edge) = (mu * normal, mu * sliding);
        let bound = bound * bound;
        [
            square.choose_below(bound, normal, sliding),
            square.choose_below(bound, t[0], edge * d[0]),
            square.choose_below(bound, t[1], edge * d[1]),
        ]
    }

    /// Parts of the residual of the lanes in use.
    #[inline(always)]
    fn measure<S: Arithmetic>(&self, by: S, lanes: usize, unit: f64, v: &Sides<S>) -> Measure {
        let u = self.frame(by).local(v);
        let r = scale(load(by, &self.impulse), Lanes::splat(by, unit));
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
}

/// Frames and arms of one point of each pair.
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
    fn local(&self, v: &Sides<S>) -> Vectors<S> {
        // written out: closures are not inlined into functions with vector instructions
        let a = add(v[0][0], cross(v[0][1], self.arms[0]));
        let b = add(v[1][0], cross(v[1][1], self.arms[1]));
        let relative = sub(a, b);
        [dot(self.normal, relative) + self.free[0], dot(self.tangent, relative) + self.free[1], dot(self.binormal, relative) + self.free[2]]
    }

    /// Adds the response to a change of the impulses to the velocities of both sides.
    #[inline(always)]
    fn respond(&self, v: &mut Sides<S>, inertias: &[[Lanes<S>; 7]; 2], change: &Vectors<S>) {
        let force = scale_add(self.binormal, change[2], scale_add(self.tangent, change[1], scale(self.normal, change[0])));
        respond(&mut v[0], &inertias[0], &self.arms[0], &force);
        respond(&mut v[1], &inertias[1], &self.arms[1], &[-force[0], -force[1], -force[2]]);
    }
}

/// Adds the response to a force at an arm to the velocities of one side.
#[inline(always)]
fn respond<S: Arithmetic>(v: &mut [Vectors<S>; 2], inertia: &[Lanes<S>; 7], arm: &Vectors<S>, force: &Vectors<S>) {
    let turn = cross(*arm, *force);
    v[0] = scale_add(*force, inertia[0], v[0]);
    let [_, xx, xy, xz, yy, yz, zz] = *inertia;
    v[1] = scale_add([xx, xy, xz], turn[0], v[1]);
    v[1] = scale_add([xy, yy, yz], turn[1], v[1]);
    v[1] = scale_add([xz, yz, zz], turn[2], v[1]);
}

/// Inverse of a symmetric matrix, row-major: its upper triangle. Zero where it has none.
fn invert(w: &[f64; 9]) -> [f64; 6] {
    let minor = |a: usize, b: usize, c: usize, d: usize| w[a] * w[d] - w[b] * w[c];
    let first = [minor(4, 5, 7, 8), minor(2, 1, 8, 7), minor(1, 2, 4, 5)];
    let determinant = w[0] * first[0] + w[1] * first[1] + w[2] * first[2];
    if determinant <= 0.0 {
        return [0.0; 6];
    }
    [first[0], first[1], first[2], minor(0, 2, 6, 8), minor(2, 0, 5, 3), minor(0, 1, 3, 4)].map(|x| x / determinant)
}
