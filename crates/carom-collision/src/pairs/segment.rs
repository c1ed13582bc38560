//! Segments: the cores of capsules and the edges of boxes.

use crate::pose::Pose;
use nalgebra::Vector3;

/// A segment by its middle and the vector from there to its second end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub middle: Vector3<f64>,
    pub half: Vector3<f64>,
}

impl Segment {
    /// The core of a capsule.
    pub fn new(pose: &Pose, half_length: f64) -> Self {
        Self { middle: pose.position, half: pose.axis() * half_length }
    }

    /// Point at the parameter −1 … 1.
    pub fn at(&self, t: f64) -> Vector3<f64> {
        self.middle + self.half * t
    }

    /// Parameter of the nearest point to a point.
    pub fn nearest(&self, point: &Vector3<f64>) -> f64 {
        (self.half.dot(&(point - self.middle)) / self.half.norm_squared()).clamp(-1.0, 1.0)
    }

    /// Parameters (s, t) of nearest points of two segments: the line–line solution clamped, each end then moved to its
    /// nearest point. For parallel segments one of the many nearest pairs.
    pub(crate) fn nearest_pair(&self, other: &Segment) -> (f64, f64) {
        let offset = self.middle - other.middle;
        let (aa, bb, ab) = (self.half.norm_squared(), other.half.norm_squared(), self.half.dot(&other.half));
        let (ca, cb) = (self.half.dot(&offset), other.half.dot(&offset));
        // The determinant as the square of a cross product: no cancellation between nearly parallel segments.
        let determinant = self.half.cross(&other.half).norm_squared();
        let s = if determinant > 0.0 { ((ab * cb - bb * ca) / determinant).clamp(-1.0, 1.0) } else { 0.0 };
        let t = ((ab * s + cb) / bb).clamp(-1.0, 1.0);
        let s = ((ab * t - ca) / aa).clamp(-1.0, 1.0);
        (s, t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossing_parallel_and_end_cases() {
        let along = |middle: [f64; 3], half: [f64; 3]| Segment { middle: middle.into(), half: half.into() };
        let x = along([0.0; 3], [2.0, 0.0, 0.0]);
        assert_eq!(x.nearest_pair(&along([1.0, 0.0, 3.0], [0.0, 1.0, 0.0])), (0.5, 0.0));
        // Beyond the end of both.
        assert_eq!(x.nearest_pair(&along([5.0, 4.0, 0.0], [0.0, 1.0, 0.0])), (1.0, -1.0));
        let (s, t) = x.nearest_pair(&along([1.0, 2.0, 0.0], [2.0, 0.0, 0.0]));
        assert!((2.0 * s - 1.0 - 2.0 * t).abs() < 1e-15);
        // Sampled check of skew segments: no sampled pair is nearer.
        let a = along([0.3, -0.2, 0.5], [0.7, 0.4, -0.3]);
        let b = along([-0.4, 1.1, 0.2], [0.5, -0.6, 0.9]);
        let (s, t) = a.nearest_pair(&b);
        let best = (a.at(s) - b.at(t)).norm();
        for i in -100..=100 {
            for j in -100..=100 {
                assert!((a.at(f64::from(i) / 100.0) - b.at(f64::from(j) / 100.0)).norm() >= best - 1e-15);
            }
        }
    }
}
