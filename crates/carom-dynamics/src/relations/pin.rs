//! Pins between planar bodies.
//!
//! ```text
//! g = (x_a + R(φ_a) s_a) − (x_b + R(φ_b) s_b),     (dG/dt) v = −ω_a² R(φ_a) s_a + ω_b² R(φ_b) s_b
//! ```
//!
//! with the centres x, the angles φ and the points s in the frames of the bodies; a point of the ground takes the place of the second body's. The two
//! rows are those of the joint force in N. Use it for mechanisms of [`crate::systems::PlanarBodies`], large ones too: an evaluation costs two sines and cosines.

use super::{Relation, Rows};
use crate::error::NonFinite;
use crate::systems::Scratch;

/// A point of a planar body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarPoint {
    /// Number of the body's x in the coordinates of the model; y and the angle follow.
    pub coordinate: usize,
    /// Number of the body's x velocity in the velocities of the model.
    pub velocity: usize,
    /// The point in the frame of the body \[m\].
    pub local: [f64; 2],
}

impl PlanarPoint {
    /// The arm R(φ) s from the centre to the point.
    fn arm(&self, q: &[f64]) -> [f64; 2] {
        let (sin, cos) = q[self.coordinate + 2].sin_cos();
        [cos * self.local[0] - sin * self.local[1], sin * self.local[0] + cos * self.local[1]]
    }
}

/// A pin that holds a point of a planar body on a point of another or of the ground. Two rows.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanarPin {
    first: PlanarPoint,
    second: Option<PlanarPoint>,
    ground: [f64; 2],
    /// The first body's velocities come after the second's.
    swapped: bool,
    velocities: Vec<usize>,
}

impl PlanarPin {
    /// A pin between points of two different bodies.
    #[must_use]
    pub fn between(first: PlanarPoint, second: PlanarPoint) -> Self {
        let swapped = first.velocity > second.velocity;
        let (low, high) = if swapped { (second.velocity, first.velocity) } else { (first.velocity, second.velocity) };
        PlanarPin { first, second: Some(second), ground: [0.0; 2], swapped, velocities: (low..low + 3).chain(high..high + 3).collect() }
    }

    /// A pin between a point of a body and a point of the ground \[m\].
    #[must_use]
    pub fn to_ground(point: PlanarPoint, ground: [f64; 2]) -> Self {
        let velocities = (point.velocity..point.velocity + 3).collect();
        PlanarPin { first: point, second: None, ground, swapped: false, velocities }
    }

    /// The bodies' points with sign and first column.
    fn sides(&self) -> impl Iterator<Item = (f64, usize, &PlanarPoint)> {
        let columns = if self.swapped { (3, 0) } else { (0, 3) };
        std::iter::once((1.0, columns.0, &self.first)).chain(self.second.as_ref().map(|point| (-1.0, columns.1, point)))
    }
}

impl Relation for PlanarPin {
    fn n_rows(&self) -> usize {
        2
    }

    fn velocities(&self) -> &[usize] {
        &self.velocities
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn position(&self, _: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        (g[0], g[1]) = (-self.ground[0], -self.ground[1]);
        for (sign, _, point) in self.sides() {
            let arm = point.arm(q);
            g[0] += sign * (q[point.coordinate] + arm[0]);
            g[1] += sign * (q[point.coordinate + 1] + arm[1]);
        }
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        let n = self.velocities.len();
        rows.bias.fill(0.0);
        for (sign, column, point) in self.sides() {
            let arm = point.arm(q);
            rows.jacobian[column..column + 3].copy_from_slice(&[sign, 0.0, -sign * arm[1]]);
            rows.jacobian[n + column..n + column + 3].copy_from_slice(&[0.0, sign, sign * arm[0]]);
        }
        Ok(())
    }

    fn acceleration_bias(&self, _: f64, q: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        bias.fill(0.0);
        for (sign, _, point) in self.sides() {
            let (arm, omega) = (point.arm(q), v[point.velocity + 2]);
            bias[0] -= sign * omega * omega * arm[0];
            bias[1] -= sign * omega * omega * arm[1];
        }
        Ok(())
    }

    fn add_curvature(&self, _: f64, q: &[f64], lambda: &[f64], factor: f64, matrix: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        let n = self.velocities.len();
        for (sign, column, point) in self.sides() {
            let arm = point.arm(q);
            matrix[(column + 2) * (n + 1)] -= factor * sign * (arm[0] * lambda[0] + arm[1] * lambda[1]);
        }
        Ok(())
    }
}
