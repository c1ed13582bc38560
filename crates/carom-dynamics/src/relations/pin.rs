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

#[cfg(test)]
mod tests {
    use super::*;

    /// G, (dG/dt) v and the curvature against central differences of g, of G v and of Gᵀλ, for pins in both orders of the bodies and to the ground.
    #[test]
    fn derivatives_match_differences() {
        let point = |body: usize, local| PlanarPoint { coordinate: 3 * body, velocity: 3 * body, local };
        let (a, b) = (point(0, [0.7, -0.2]), point(1, [-0.4, 0.3]));
        let (q, v) = ([0.1, 0.2, 0.9, -0.5, 1.0, -2.1], [0.3, -1.2, 2.0, 0.4, 0.8, -1.5]);
        let (lambda, h, mut scratch) = ([1.3, -0.6], 1e-5, Scratch::default());
        for pin in [PlanarPin::between(a, b), PlanarPin::between(b, a), PlanarPin::to_ground(b, [0.3, 0.4])] {
            let n = pin.velocities.len();
            let columns: Vec<usize> = pin.velocities.clone();
            let jacobian_at = |q: &[f64]| {
                let (mut jacobian, mut bias) = (vec![0.0; 2 * n], [0.0; 2]);
                pin.jacobian(0.0, q, Rows { jacobian: &mut jacobian, bias: &mut bias }, &mut Scratch::default()).unwrap();
                jacobian
            };
            let moved = |i: usize, s: f64| std::array::from_fn::<f64, 6, _>(|k| if k == i { q[k] + s * h } else { q[k] });
            let jacobian = jacobian_at(&q);
            let mut curvature = vec![0.0; n * n];
            pin.add_curvature(0.0, &q, &lambda, 1.0, &mut curvature, &mut scratch).unwrap();
            let mut rate = [0.0; 2];
            // differences have an error of h² = 1e-10 and round-off of 1e-16/h
            for (j, &i) in columns.iter().enumerate() {
                let (mut above, mut below) = ([0.0; 2], [0.0; 2]);
                pin.position(0.0, &moved(i, 1.0), &mut above, &mut scratch).unwrap();
                pin.position(0.0, &moved(i, -1.0), &mut below, &mut scratch).unwrap();
                let (up, down) = (jacobian_at(&moved(i, 1.0)), jacobian_at(&moved(i, -1.0)));
                for row in 0..2 {
                    assert!(((above[row] - below[row]) / (2.0 * h) - jacobian[row * n + j]).abs() < 1e-9);
                    for (k, &c) in columns.iter().enumerate() {
                        rate[row] += (up[row * n + k] - down[row * n + k]) / (2.0 * h) * v[i] * v[c];
                    }
                }
                for k in 0..n {
                    let force = |jacobian: &[f64]| lambda[0] * jacobian[k] + lambda[1] * jacobian[n + k];
                    assert!(((force(&up) - force(&down)) / (2.0 * h) - curvature[k * n + j]).abs() < 1e-9);
                }
            }
            let mut bias = [0.0; 2];
            pin.acceleration_bias(0.0, &q, &v, &mut bias, &mut scratch).unwrap();
            assert!((0..2).all(|row| (bias[row] - rate[row]).abs() < 1e-8), "{bias:?} {rate:?}");
        }
    }
}
