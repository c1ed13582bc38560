//! The angle between two bodies about an axis of the first.
//!
//! Body 1 carries the axis a and two vectors e₁, e₂ that make a right-handed frame (e₁, e₂, a) with it, body 2 carries the vector f:
//!
//! ```text
//! θ = atan2(s, c),   s = e₂·f,   c = e₁·f
//! δθ = (c δs − s δc)/ρ²,   ρ² = s² + c²
//! ∂²θ/∂s² = −2sc/ρ⁴,   ∂²θ/∂c² = 2sc/ρ⁴,   ∂²θ/∂s∂c = (s² − c²)/ρ⁴
//! ```
//!
//! Where the axes of the bodies agree ρ = 1 and θ is the angle of rotation; elsewhere θ is the angle of f's projection. Not defined where f is
//! parallel to the axis. The derivation is our own, tested by differences.

use super::joint_row::{Arrangement, Curvature, JointRow, Motion};
use crate::error::NonFinite;
use crate::systems::Wrench;
use nalgebra::Vector3;

/// An angle between two bodies; vectors are given in the frame of the body that carries them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    sine: JointRow,
    cosine: JointRow,
}

/// First and second derivatives of the angle with respect to (s, c).
struct Slopes {
    first: [f64; 2],
    second: [[f64; 2]; 2],
}

impl Turn {
    pub fn new([e1, e2]: [Vector3<f64>; 2], f: Vector3<f64>) -> Self {
        Turn { sine: JointRow::Perpendicular(e2, f), cosine: JointRow::Perpendicular(e1, f) }
    }

    /// The angle about an axis of body 2 that carries (e₁, e₂) with it, from e₁ to the vector f of body 1, the other way round: that of body 2 relative to
    /// body 1 again.
    pub(crate) fn about_second(f: Vector3<f64>, [e1, e2]: [Vector3<f64>; 2]) -> Self {
        Turn { sine: JointRow::Perpendicular(f, -e2), cosine: JointRow::Perpendicular(f, e1) }
    }

    /// θ in (−π, π].
    pub fn value(&self, at: &Arrangement) -> f64 {
        self.sine.value(at).atan2(self.cosine.value(at))
    }

    /// An angle needs a direction.
    pub fn check(&self, at: &Arrangement) -> Result<(), NonFinite> {
        if self.sine.value(at) == 0.0 && self.cosine.value(at) == 0.0 {
            return Err(NonFinite { what: "the angle of a joint whose bodies have tilted by a right angle".into(), value: f64::NAN });
        }
        Ok(())
    }

    fn slopes(&self, at: &Arrangement) -> Slopes {
        let (s, c) = (self.sine.value(at), self.cosine.value(at));
        let r2 = s * s + c * c;
        let (bend, mixed) = (2.0 * s * c / (r2 * r2), (s * s - c * c) / (r2 * r2));
        Slopes { first: [c / r2, -s / r2], second: [[-bend, mixed], [mixed, bend]] }
    }

    pub fn wrenches(&self, at: &Arrangement) -> [Wrench; 2] {
        let Slopes { first: [by_s, by_c], .. } = self.slopes(at);
        let moment = self.sine.wrenches(at)[0].moment * by_s + self.cosine.wrenches(at)[0].moment * by_c;
        [Wrench { force: Vector3::zeros(), moment }, Wrench { force: Vector3::zeros(), moment: -moment }]
    }

    pub fn acceleration(&self, at: &Arrangement, motions: &[Motion; 2]) -> f64 {
        let Slopes { first, second } = self.slopes(at);
        let spin = motions[0].angular - motions[1].angular;
        let rates = [&self.sine, &self.cosine].map(|row| row.wrenches(at)[0].moment.dot(&spin));
        let mut sum = first[0] * self.sine.acceleration(at, motions) + first[1] * self.cosine.acceleration(at, motions);
        for (i, row) in second.iter().enumerate() {
            for (k, bend) in row.iter().enumerate() {
                sum += bend * rates[i] * rates[k];
            }
        }
        sum
    }

    pub fn add_curvature(&self, at: &Arrangement, lambda: f64, blocks: &mut Curvature) {
        let Slopes { first, second } = self.slopes(at);
        self.sine.add_curvature(at, lambda * first[0], blocks);
        self.cosine.add_curvature(at, lambda * first[1], blocks);
        let moments = [&self.sine, &self.cosine].map(|row| row.wrenches(at)[0].moment);
        for (i, row) in second.iter().enumerate() {
            for (k, bend) in row.iter().enumerate() {
                let product = moments[i] * moments[k].transpose() * (lambda * bend);
                // moments on body 2 are those on body 1 reversed
                blocks[1][1] += product;
                blocks[1][3] -= product;
                blocks[3][1] -= product;
                blocks[3][3] += product;
            }
        }
    }
}

/// The value that differs from `x` by a multiple of `period` and is nearest to zero.
pub(super) fn nearest_branch(x: f64, period: f64) -> f64 {
    x - period * (x / period).round()
}
