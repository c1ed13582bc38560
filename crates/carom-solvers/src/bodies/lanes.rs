//! Four numbers side by side, worked on by vector instructions where the machine has them.

use std::ops::{Add, Mul, Neg, Sub};

/// Contacts that are worked on together.
pub(super) const LANES: usize = 4;

/// One number of each of [`LANES`] contacts, as it is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(32))]
pub(super) struct Stored(pub [f64; LANES]);

impl Stored {
    pub(crate) fn splat(x: f64) -> Self {
        Stored([x; LANES])
    }
}

/// The same to single precision, for numbers that only decide how fast sweeps converge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(16))]
pub(super) struct Rough(pub [f32; LANES]);

impl Rough {
    pub(crate) fn splat(x: f32) -> Self {
        Rough([x; LANES])
    }

    /// Sets a lane; what is out of range stays at its end.
    pub fn set(&mut self, lane: usize, x: f64) {
        self.0[lane] = x.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
    }
}

/// Arithmetic of four numbers. The same operations in the same order for every machine: the same bits.
pub(super) trait Arithmetic: Copy {
    type Four: Copy;
    fn load(self, x: [f64; LANES]) -> Self::Four;
    fn load_rough(self, x: [f32; LANES]) -> Self::Four;
    fn store(self, x: Self::Four) -> [f64; LANES];
    fn add(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn sub(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn mul(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn div(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// The larger of each.
    fn max(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn sqrt(self, a: Self::Four) -> Self::Four;
    /// `then` where a ≤ b, `otherwise` elsewhere.
    fn choose_below(self, a: Self::Four, b: Self::Four, then: Self::Four, otherwise: Self::Four) -> Self::Four;
    /// a b + c, rounded once.
    fn mul_add(self, a: Self::Four, b: Self::Four, c: Self::Four) -> Self::Four;
    /// a b − c, rounded once.
    fn mul_sub(self, a: Self::Four, b: Self::Four, c: Self::Four) -> Self::Four;
    /// Some a is above its b.
    fn any_above(self, a: Self::Four, b: Self::Four) -> bool;
    /// Rows become columns.
    fn transpose(self, x: [Self::Four; LANES]) -> [Self::Four; LANES];
}

/// For machines without vector instructions of this width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

impl Arithmetic for Plain {
    type Four = [f64; LANES];

    #[inline(always)]
    fn load(self, x: [f64; LANES]) -> [f64; LANES] {
        x
    }
    #[inline(always)]
    fn load_rough(self, x: [f32; LANES]) -> [f64; LANES] {
        x.map(f64::from)
    }
    #[inline(always)]
    fn store(self, x: [f64; LANES]) -> [f64; LANES] {
        x
    }
    #[inline(always)]
    fn add(self, a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
        std::array::from_fn(|k| a[k] + b[k])
    }
    #[inline(always)]
    fn sub(self, a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
        std::array::from_fn(|k| a[k] - b[k])
    }
    #[inline(always)]
    fn mul(self, a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
        std::array::from_fn(|k| a[k] * b[k])
    }
    #[inline(always)]
    fn div(self, a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
        std::array::from_fn(|k| a[k] / b[k])
    }
    #[inline(always)]
    fn max(self, a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
        std::array::from_fn(|k| if a[k] > b[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    fn sqrt(self, a: [f64; LANES]) -> [f64; LANES] {
        a.map(f64::sqrt)
    }
    #[inline(always)]
    fn choose_below(self, a: [f64; LANES], b: [f64; LANES], then: [f64; LANES], otherwise: [f64; LANES]) -> [f64; LANES] {
        std::array::from_fn(|k| if a[k] <= b[k] { then[k] } else { otherwise[k] })
    }
    #[inline(always)]
    fn mul_add(self, a: [f64; LANES], b: [f64; LANES], c: [f64; LANES]) -> [f64; LANES] {
        std::array::from_fn(|k| a[k].mul_add(b[k], c[k]))
    }
    #[inline(always)]
    fn mul_sub(self, a: [f64; LANES], b: [f64; LANES], c: [f64; LANES]) -> [f64; LANES] {
        std::array::from_fn(|k| a[k].mul_add(b[k], -c[k]))
    }
    #[inline(always)]
    fn any_above(self, a: [f64; LANES], b: [f64; LANES]) -> bool {
        a.iter().zip(&b).any(|(a, b)| a > b)
    }
    #[inline(always)]
    fn transpose(self, x: [[f64; LANES]; LANES]) -> [[f64; LANES]; LANES] {
        std::array::from_fn(|column| std::array::from_fn(|row| x[row][column]))
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
impl Arithmetic for pulp::x86::V3 {
    type Four = pulp::f64x4;

    #[inline(always)]
    fn load(self, x: [f64; LANES]) -> pulp::f64x4 {
        pulp::f64x4(x[0], x[1], x[2], x[3])
    }
    #[inline(always)]
    fn load_rough(self, x: [f32; LANES]) -> pulp::f64x4 {
        pulp::cast(self.avx._mm256_cvtps_pd(pulp::cast(x)))
    }
    #[inline(always)]
    fn store(self, x: pulp::f64x4) -> [f64; LANES] {
        [x.0, x.1, x.2, x.3]
    }
    #[inline(always)]
    fn add(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.add_f64x4(a, b)
    }
    #[inline(always)]
    fn sub(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.sub_f64x4(a, b)
    }
    #[inline(always)]
    fn mul(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.mul_f64x4(a, b)
    }
    #[inline(always)]
    fn div(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.div_f64x4(a, b)
    }
    #[inline(always)]
    fn max(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.max_f64x4(a, b)
    }
    #[inline(always)]
    fn sqrt(self, a: pulp::f64x4) -> pulp::f64x4 {
        self.sqrt_f64x4(a)
    }
    #[inline(always)]
    fn choose_below(self, a: pulp::f64x4, b: pulp::f64x4, then: pulp::f64x4, otherwise: pulp::f64x4) -> pulp::f64x4 {
        self.select_f64x4(self.cmp_le_f64x4(a, b), then, otherwise)
    }
    #[inline(always)]
    fn mul_add(self, a: pulp::f64x4, b: pulp::f64x4, c: pulp::f64x4) -> pulp::f64x4 {
        self.mul_add_f64x4(a, b, c)
    }
    #[inline(always)]
    fn mul_sub(self, a: pulp::f64x4, b: pulp::f64x4, c: pulp::f64x4) -> pulp::f64x4 {
        self.mul_sub_f64x4(a, b, c)
    }
    #[inline(always)]
    fn any_above(self, a: pulp::f64x4, b: pulp::f64x4) -> bool {
        self.avx._mm256_movemask_pd(pulp::cast(self.cmp_gt_f64x4(a, b))) != 0
    }
    #[inline(always)]
    fn transpose(self, x: [pulp::f64x4; LANES]) -> [pulp::f64x4; LANES] {
        let [a, b, c, d] = [pulp::cast(x[0]), pulp::cast(x[1]), pulp::cast(x[2]), pulp::cast(x[3])];
        let (ab, cd) = (self.avx._mm256_unpacklo_pd(a, b), self.avx._mm256_unpacklo_pd(c, d));
        let (ba, dc) = (self.avx._mm256_unpackhi_pd(a, b), self.avx._mm256_unpackhi_pd(c, d));
        [
            pulp::cast(self.avx._mm256_permute2f128_pd::<0x20>(ab, cd)),
            pulp::cast(self.avx._mm256_permute2f128_pd::<0x20>(ba, dc)),
            pulp::cast(self.avx._mm256_permute2f128_pd::<0x31>(ab, cd)),
            pulp::cast(self.avx._mm256_permute2f128_pd::<0x31>(ba, dc)),
        ]
    }
}

/// Four numbers in registers.
#[derive(Clone, Copy)]
pub(super) struct Lanes<S: Arithmetic> {
    by: S,
    x: S::Four,
}

/// A vector of each of [`LANES`] contacts.
pub(super) type Vectors<S> = [Lanes<S>; 3];

impl<S: Arithmetic> Lanes<S> {
    #[inline(always)]
    pub(crate) fn splat(by: S, x: f64) -> Self {
        Lanes { by, x: by.load([x; LANES]) }
    }

    #[inline(always)]
    pub fn of(by: S, x: [f64; LANES]) -> Self {
        Lanes { by, x: by.load(x) }
    }

    #[inline(always)]
    pub(crate) fn of_rough(by: S, x: &Rough) -> Self {
        Lanes { by, x: by.load_rough(x.0) }
    }

    #[inline(always)]
    pub fn array(self) -> [f64; LANES] {
        self.by.store(self.x)
    }

    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        Lanes { x: self.by.max(self.x, other.x), ..self }
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Lanes { x: self.by.sqrt(self.x), ..self }
    }

    #[inline(always)]
    pub fn over(self, other: Self) -> Self {
        Lanes { x: self.by.div(self.x, other.x), ..self }
    }

    /// `then` where self ≤ bound, `otherwise` elsewhere.
    #[inline(always)]
    pub(crate) fn choose_below(self, bound: Self, then: Self, otherwise: Self) -> Self {
        Lanes { x: self.by.choose_below(self.x, bound.x, then.x, otherwise.x), ..self }
    }

    /// Some is above its bound.
    #[inline(always)]
    pub(crate) fn any_above(self, bound: Self) -> bool {
        self.by.any_above(self.x, bound.x)
    }

    /// self · other + third, rounded once.
    #[inline(always)]
    pub(crate) fn times_plus(self, other: Self, third: Self) -> Self {
        Lanes { x: self.by.mul_add(self.x, other.x, third.x), ..self }
    }

    /// self · other − third, rounded once.
    #[inline(always)]
    pub(crate) fn times_minus(self, other: Self, third: Self) -> Self {
        Lanes { x: self.by.mul_sub(self.x, other.x, third.x), ..self }
    }

    /// Number k of each row, for k = 0 … 3.
    #[inline(always)]
    pub(crate) fn transposed(by: S, rows: [[f64; LANES]; LANES]) -> [Self; LANES] {
        let [a, b, c, d] = by.transpose([by.load(rows[0]), by.load(rows[1]), by.load(rows[2]), by.load(rows[3])]);
        [Lanes { by, x: a }, Lanes { by, x: b }, Lanes { by, x: c }, Lanes { by, x: d }]
    }

    /// The rows again.
    #[inline(always)]
    pub(crate) fn transposed_back(columns: [Self; LANES]) -> [[f64; LANES]; LANES] {
        let by = columns[0].by;
        let [a, b, c, d] = by.transpose([columns[0].x, columns[1].x, columns[2].x, columns[3].x]);
        [by.store(a), by.store(b), by.store(c), by.store(d)]
    }

    /// Sum over the contacts, in a fixed order.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        let x = self.array();
        (x[0] + x[1]) + (x[2] + x[3])
    }
}

impl<S: Arithmetic> Add for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Lanes { x: self.by.add(self.x, other.x), ..self }
    }
}

impl<S: Arithmetic> Sub for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Lanes { x: self.by.sub(self.x, other.x), ..self }
    }
}

impl<S: Arithmetic> Mul for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Lanes { x: self.by.mul(self.x, other.x), ..self }
    }
}

impl<S: Arithmetic> Neg for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Lanes::splat(self.by, 0.0) - self
    }
}

#[inline(always)]
pub(super) fn dot<S: Arithmetic>(a: Vectors<S>, b: Vectors<S>) -> Lanes<S> {
    a[2].times_plus(b[2], a[1].times_plus(b[1], a[0] * b[0]))
}

#[inline(always)]
pub(super) fn cross<S: Arithmetic>(a: Vectors<S>, b: Vectors<S>) -> Vectors<S> {
    [a[1].times_minus(b[2], a[2] * b[1]), a[2].times_minus(b[0], a[0] * b[2]), a[0].times_minus(b[1], a[1] * b[0])]
}

#[inline(always)]
pub(super) fn add<S: Arithmetic>(a: Vectors<S>, b: Vectors<S>) -> Vectors<S> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn sub<S: Arithmetic>(a: Vectors<S>, b: Vectors<S>) -> Vectors<S> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn scale<S: Arithmetic>(a: Vectors<S>, by: Lanes<S>) -> Vectors<S> {
    [a[0] * by, a[1] * by, a[2] * by]
}

/// a f + b.
#[inline(always)]
pub(super) fn scale_add<S: Arithmetic>(a: Vectors<S>, f: Lanes<S>, b: Vectors<S>) -> Vectors<S> {
    [a[0].times_plus(f, b[0]), a[1].times_plus(f, b[1]), a[2].times_plus(f, b[2])]
}
