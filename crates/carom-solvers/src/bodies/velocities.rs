//! Velocities of the bodies of an island, shared by the threads that sweep over it.

use super::lanes::{LANES, Lanes, Vectors};
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
    pub fn gather(&self, bodies: &[u32; LANES]) -> [Vectors; 2] {
        let mut out = [[Lanes::default(); 3]; 2];
        for (lane, &body) in bodies.iter().enumerate() {
            let v = self.get(body as usize);
            for k in 0..3 {
                out[0][k].0[lane] = v[k];
                out[1][k].0[lane] = v[3 + k];
            }
        }
        out
    }

    /// Writes them back.
    #[inline(always)]
    pub fn scatter(&self, bodies: &[u32; LANES], v: &[Vectors; 2]) {
        for (lane, &body) in bodies.iter().enumerate() {
            let values = [v[0][0].0[lane], v[0][1].0[lane], v[0][2].0[lane], v[1][0].0[lane], v[1][1].0[lane], v[1][2].0[lane]];
            self.set(body as usize, &values);
        }
    }
}

/// Inverse mass and inertia of a body: 1/m, then I⁻¹ in the world frame (xx, xy, xz, yy, yz, zz).
pub(super) type Inertia = [f64; 8];

/// Inverse masses and inertias of the bodies of a pack.
#[inline(always)]
pub(super) fn gather_inertia(inertias: &[Inertia], bodies: &[u32; LANES]) -> [Lanes; 7] {
    let mut out = [Lanes::default(); 7];
    for (lane, &body) in bodies.iter().enumerate() {
        let inertia = &inertias[body as usize];
        for k in 0..7 {
            out[k].0[lane] = inertia[k];
        }
    }
    out
}
