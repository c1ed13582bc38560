//! Four numbers side by side: what the compiler turns into vector instructions.

use std::ops::{Add, Mul, Neg, Sub};

/// Contacts that are worked on together.
pub(super) const LANES: usize = 4;

/// One number of each of [`LANES`] contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(32))]
pub(super) struct Lanes(pub [f64; LANES]);

/// A vector of each of [`LANES`] contacts.
pub(super) type Vectors = [Lanes; 3];

impl Lanes {
    #[inline(always)]
    pub fn splat(x: f64) -> Self {
        Lanes([x; LANES])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = [0.0; LANES];
        for ((out, a), b) in out.iter_mut().zip(&self.0).zip(&other.0) {
            *out = f(*a, *b);
        }
        Lanes(out)
    }

    /// The larger of each.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        let mut out = self.0;
        out.iter_mut().for_each(|x| *x = x.sqrt());
        Lanes(out)
    }

    #[inline(always)]
    pub fn over(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }

    /// `then` where self ≤ bound, `otherwise` elsewhere.
    #[inline(always)]
    pub fn choose_below(self, bound: Self, then: Self, otherwise: Self) -> Self {
        let mut out = [0.0; LANES];
        for (k, out) in out.iter_mut().enumerate() {
            *out = if self.0[k] <= bound.0[k] { then.0[k] } else { otherwise.0[k] };
        }
        Lanes(out)
    }

    /// Some is above its bound.
    #[inline(always)]
    pub fn any_above(self, bound: Self) -> bool {
        let mut above = false;
        for (a, b) in self.0.iter().zip(&bound.0) {
            above |= a > b;
        }
        above
    }

    /// Sum over the contacts, in a fixed order.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        (self.0[0] + self.0[1]) + (self.0[2] + self.0[3])
    }
}

impl Add for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn add(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn sub(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn mul(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a * b)
    }
}

impl Neg for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn neg(self) -> Lanes {
        Lanes(self.0.map(|x| -x))
    }
}

#[inline(always)]
pub(super) fn dot(a: Vectors, b: Vectors) -> Lanes {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross(a: Vectors, b: Vectors) -> Vectors {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
pub(super) fn add(a: Vectors, b: Vectors) -> Vectors {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn sub(a: Vectors, b: Vectors) -> Vectors {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn scale(a: Vectors, by: Lanes) -> Vectors {
    [a[0] * by, a[1] * by, a[2] * by]
}
