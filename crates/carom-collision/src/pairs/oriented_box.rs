//! A box in the world frame and the numbering of its corners, edges and faces.
//!
//! Corner: bit k set when the coordinate k is positive. Edge: 4·axis + bits of the two other coordinates (cyclic
//! order). Face: 2·axis, plus one when positive.

use crate::pose::Pose;
use nalgebra::{Matrix3, Vector3};

/// A box by centre, axes (columns) and half extents.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrientedBox {
    pub centre: Vector3<f64>,
    pub axes: Matrix3<f64>,
    pub half: Vector3<f64>,
}

impl OrientedBox {
    pub fn new(pose: &Pose, half_extents: &Vector3<f64>) -> Self {
        Self { centre: pose.position, axes: pose.rotation, half: *half_extents }
    }

    pub fn axis(&self, k: usize) -> Vector3<f64> {
        self.axes.column(k).into()
    }

    /// World position of a corner.
    pub fn corner(&self, corner: u32) -> Vector3<f64> {
        let signed = Vector3::from_fn(|k, _| if corner >> k & 1 == 1 { self.half[k] } else { -self.half[k] });
        self.centre + self.axes * signed
    }

    /// Half the extent along a unit direction.
    pub fn reach(&self, direction: &Vector3<f64>) -> f64 {
        self.axes.tr_mul(direction).abs().dot(&self.half)
    }

    /// The corner farthest in a direction; of equal ones the one with the smaller number.
    pub(crate) fn support_corner(&self, direction: &Vector3<f64>) -> u32 {
        let local = self.axes.tr_mul(direction);
        (0..3).map(|k| u32::from(local[k] > 0.0) << k).sum()
    }

    /// The edge along `axis` through a corner.
    pub(crate) fn edge_through(axis: usize, corner: u32) -> u32 {
        let bit = |k: usize| corner >> (k % 3) & 1;
        4 * axis as u32 + bit(axis + 1) + 2 * bit(axis + 2)
    }

    /// Number of the edge between two neighbouring corners.
    pub(crate) fn edge_between(first: u32, second: u32) -> u32 {
        Self::edge_through((first ^ second).trailing_zeros() as usize % 3, first)
    }

    /// Middle and half vector of an edge.
    pub fn edge(&self, edge: u32) -> (Vector3<f64>, Vector3<f64>) {
        let axis = (edge / 4) as usize;
        let mut local = Vector3::zeros();
        for (bit, k) in [(edge & 1, (axis + 1) % 3), (edge >> 1 & 1, (axis + 2) % 3)] {
            local[k] = if bit == 1 { self.half[k] } else { -self.half[k] };
        }
        (self.centre + self.axes * local, self.axis(axis) * self.half[axis])
    }

    /// Nearest point of the box to a point; the point itself when inside.
    pub fn nearest(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let local = self.axes.tr_mul(&(point - self.centre));
        self.centre + self.axes * local.inf(&self.half).sup(&-self.half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_is_consistent() {
        let b = OrientedBox { centre: Vector3::new(1.0, 2.0, 3.0), axes: Matrix3::identity(), half: Vector3::new(0.1, 0.2, 0.3) };
        for axis in 0..3 {
            for corner in 0..8_u32 {
                let edge = OrientedBox::edge_through(axis, corner);
                let other = corner ^ (1 << axis);
                assert_eq!(edge, OrientedBox::edge_between(corner, other));
                assert_eq!(edge, OrientedBox::edge_between(other, corner));
                let (middle, half) = b.edge(edge);
                let sign = if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
                // Sums of four rounded numbers near 3.
                assert!((middle + half * sign - b.corner(corner)).norm() < 1e-14);
            }
        }
        for corner in 0..8 {
            assert_eq!(b.support_corner(&(b.corner(corner) - b.centre)), corner);
        }
    }
}
