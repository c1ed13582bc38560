//! Bodies of an island as the sweeps hold them: velocities and inverse masses side by side, in blocks of which each thread locks those it works on.

use super::BodyMass;
use super::lanes::{Arithmetic, LANES, Lanes, Stored, Vectors};

/// Inverse mass and inertia of a body: 1/m, then I⁻¹ in the world frame (xx, xy, xz, yy, yz, zz).
pub(super) type Inertia = [f64; 8];

/// Those of a mass.
pub(super) fn inertia(mass: &BodyMass) -> Inertia {
    let i = &mass.inverse_inertia;
    [mass.inverse_mass, i[0], i[1], i[2], i[3], i[4], i[5], 0.0]
}

/// Low bits of an address: the place in its block. The others are the number of the block.
const PLACE_BITS: u32 = 25;

/// Most blocks that addresses can tell apart; one number is left for the ground.
pub(super) const MOST_BLOCKS: usize = 64;

/// Where a body lies: block and place.
#[inline(always)]
pub(super) fn address(block: usize, place: usize) -> u32 {
    (block as u32) << PLACE_BITS | place as u32
}

/// Block of an address.
#[inline(always)]
pub(super) fn block_of(address: u32) -> usize {
    (address >> PLACE_BITS) as usize
}

/// Place of an address in its block.
#[inline(always)]
pub(super) fn place_of(address: u32) -> usize {
    (address & ((1 << PLACE_BITS) - 1)) as usize
}

/// A body: two cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Body {
    /// Linear and angular velocity in the world frame, and two numbers that mean nothing.
    velocity: [Stored; 2],
    inertia: [Stored; 2],
}

impl Body {
    pub fn new(velocity: &[f64; 6], inertia: &Inertia) -> Self {
        let i = inertia;
        let mut body = Body { inertia: [Stored([i[0], i[1], i[2], i[3]]), Stored([i[4], i[5], i[6], i[7]])], ..Body::default() };
        body.set_velocity(velocity);
        body
    }

    #[inline(always)]
    pub fn velocity(&self) -> [f64; 6] {
        let [a, b] = &self.velocity;
        [a.0[0], a.0[1], a.0[2], a.0[3], b.0[0], b.0[1]]
    }

    #[inline(always)]
    pub(crate) fn set_velocity(&mut self, v: &[f64; 6]) {
        self.velocity = [Stored([v[0], v[1], v[2], v[3]]), Stored([v[4], v[5], 0.0, 0.0])];
    }
}

/// A block of bodies. The last is the ground, which has no inverse mass.
#[derive(Debug, Default)]
pub(super) struct BodyBlock {
    pub bodies: Vec<Body>,
    /// Velocities at the end of the last sweep.
    last: Vec<[Stored; 2]>,
}

impl BodyBlock {
    /// Forgets the bodies.
    pub fn clear(&mut self) {
        self.bodies.clear();
    }

    /// Ends the list of bodies with the ground.
    pub fn finish(&mut self) {
        self.bodies.push(Body::default());
        self.last.clear();
        self.last.resize(self.bodies.len(), [Stored::default(); 2]);
    }

    /// y = x + β (x − x_last) for the velocities.
    #[inline(always)]
    pub fn extrapolate<S: Arithmetic>(&mut self, by: S, beta: f64) {
        for (body, last) in self.bodies.iter_mut().zip(&mut self.last) {
            let x = body.velocity;
            if beta != 0.0 {
                for ((y, x), last) in body.velocity.iter_mut().zip(&x).zip(&*last) {
                    let x = Lanes::of(by, x.0);
                    let change = x - Lanes::of(by, last.0);
                    *y = Stored(change.times_plus(Lanes::splat(by, beta), x).array());
                }
            }
            *last = x;
        }
    }
}

/// Bodies by their addresses.
pub(super) trait Bodies {
    fn at(&self, address: u32) -> &Body;
    fn at_mut(&mut self, address: u32) -> &mut Body;
}

/// Those of one block.
pub(super) struct OneBlock<'a>(pub &'a mut [Body]);

impl Bodies for OneBlock<'_> {
    #[inline(always)]
    fn at(&self, address: u32) -> &Body {
        &self.0[place_of(address)]
    }
    #[inline(always)]
    fn at_mut(&mut self, address: u32) -> &mut Body {
        &mut self.0[place_of(address)]
    }
}

/// Those of the blocks from number `first` on.
pub(super) struct SeveralBlocks<'a, 'b> {
    pub first: usize,
    pub blocks: &'a mut [&'b mut [Body]],
}

impl Bodies for SeveralBlocks<'_, '_> {
    #[inline(always)]
    fn at(&self, address: u32) -> &Body {
        &self.blocks[block_of(address) - self.first][place_of(address)]
    }
    #[inline(always)]
    fn at_mut(&mut self, address: u32) -> &mut Body {
        &mut self.blocks[block_of(address) - self.first][place_of(address)]
    }
}

/// Linear and angular velocities of the bodies of a pack.
#[inline(always)]
pub(super) fn gather<S: Arithmetic>(by: S, bodies: &impl Bodies, addresses: &[u32; LANES]) -> [Vectors<S>; 2] {
    // written out: closures are not inlined into functions with vector instructions
    let [a, b, c, d] = addresses;
    let (a, b, c, d) = (&bodies.at(*a).velocity, &bodies.at(*b).velocity, &bodies.at(*c).velocity, &bodies.at(*d).velocity);
    let [v0, v1, v2, v3] = Lanes::transposed(by, [a[0].0, b[0].0, c[0].0, d[0].0]);
    let [v4, v5, _, _] = Lanes::transposed(by, [a[1].0, b[1].0, c[1].0, d[1].0]);
    [[v0, v1, v2], [v3, v4, v5]]
}

/// Inverse masses and inertias of the bodies of a pack.
#[inline(always)]
pub(super) fn gather_inertia<S: Arithmetic>(by: S, bodies: &impl Bodies, addresses: &[u32; LANES]) -> [Lanes<S>; 7] {
    let [a, b, c, d] = addresses;
    let (a, b, c, d) = (&bodies.at(*a).inertia, &bodies.at(*b).inertia, &bodies.at(*c).inertia, &bodies.at(*d).inertia);
    let [i0, i1, i2, i3] = Lanes::transposed(by, [a[0].0, b[0].0, c[0].0, d[0].0]);
    let [i4, i5, i6, _] = Lanes::transposed(by, [a[1].0, b[1].0, c[1].0, d[1].0]);
    [i0, i1, i2, i3, i4, i5, i6]
}

/// Writes the velocities back.
#[inline(always)]
pub(super) fn scatter<S: Arithmetic>(by: S, bodies: &mut impl Bodies, addresses: &[u32; LANES], v: &[Vectors<S>; 2]) {
    let zero = Lanes::splat(by, 0.0);
    let first = Lanes::transposed_back([v[0][0], v[0][1], v[0][2], v[1][0]]);
    let second = Lanes::transposed_back([v[1][1], v[1][2], zero, zero]);
    for (lane, &address) in addresses.iter().enumerate() {
        bodies.at_mut(address).velocity = [Stored(first[lane]), Stored(second[lane])];
    }
}
