//! Velocities of the bodies of an island, shared by the threads that sweep over it.

use super::lanes::{Arithmetic, LANES, Lanes, Vectors};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Numbers per body: a cache line.
const STRIDE: usize = 8;

/// Linear and angular velocities in the world frame. Contacts that are worked on at the same time share no body, so that every number has
/// one writer at a time; atomic loads and stores say so to the compiler and cost nothing.
#[derive(Debug, Default)]
pub(super) struct Velocities {
    bits: Vec<AtomicU64>,
}

impl Velocities {
    /// Room for n bodies and the ground, which rests.
    pub fn reset(&mut self, n: usize) {
        self.bits.clear();
        self.bits.resize_with((n + 1) * STRIDE, || AtomicU64::new(0));
    }

    #[inline(always)]
    pub fn get(&self, body: usize) -> [f64; 6] {
        let mut v = [0.0; 6];
        for (v, bits) in v.iter_mut().zip(&self.bits[body * STRIDE..body * STRIDE + 6]) {
            *v = f64::from_bits(bits.load(Relaxed));
        }
        v
    }

    #[inline(always)]
    pub fn set(&self, body: usize, v: &[f64; 6]) {
        for (v, bits) in v.iter().zip(&self.bits[body * STRIDE..body * STRIDE + 6]) {
            bits.store(v.to_bits(), Relaxed);
        }
    }

    /// Linear and angular velocities of the bodies of a pack.
    #[inline(always)]
    pub fn gather<S: Arithmetic>(&self, by: S, bodies: &[u32; LANES]) -> [Vectors<S>; 2] {
        let v: [[f64; 6]; LANES] = std::array::from_fn(|lane| self.get(bodies[lane] as usize));
        let of = |k: usize| Lanes::of(by, [v[0][k], v[1][k], v[2][k], v[3][k]]);
        [[of(0), of(1), of(2)], [of(3), of(4), of(5)]]
    }

    /// Writes them back.
    #[inline(always)]
    pub fn scatter<S: Arithmetic>(&self, bodies: &[u32; LANES], v: &[Vectors<S>; 2]) {
        let v = [v[0][0].array(), v[0][1].array(), v[0][2].array(), v[1][0].array(), v[1][1].array(), v[1][2].array()];
        for (lane, &body) in bodies.iter().enumerate() {
            self.set(body as usize, &[v[0][lane], v[1][lane], v[2][lane], v[3][lane], v[4][lane], v[5][lane]]);
        }
    }
}

/// Inverse mass and inertia of a body: 1/m, then I⁻¹ in the world frame (xx, xy, xz, yy, yz, zz).
pub(super) type Inertia = [f64; 8];

/// Inverse masses and inertias of the bodies of a pack.
#[inline(always)]
pub(super) fn gather_inertia<S: Arithmetic>(by: S, inertias: &[Inertia], bodies: &[u32; LANES]) -> [Lanes<S>; 7] {
    let of: [&Inertia; LANES] = std::array::from_fn(|lane| &inertias[bodies[lane] as usize]);
    std::array::from_fn(|k| Lanes::of(by, [of[0][k], of[1][k], of[2][k], of[3][k]]))
}
