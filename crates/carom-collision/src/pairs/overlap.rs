//! How far a pair overlaps: whether its normal and depth are worth a warning.

use super::{Geometry, PairPoint};
use crate::pose::Pose;
use crate::shapes::Shape;
use nalgebra::Vector3;

/// A pair deeper than this fraction of the smaller half thickness overlaps deeply.
const DEEP: f64 = 0.5;
/// Centres nearer than this fraction of the smaller half thickness give no direction.
const SAME_PLACE: f64 = 1e-9;

/// State of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overlap {
    /// Apart, touching or overlapping slightly: normal and depth are those of the surfaces.
    Regular,
    /// Overlapping by more than half of the smaller half thickness: the way out may not be the way in.
    Deep,
    /// Overlapping with centres in one place, or with several equally short ways out: the direction of the normal is a
    /// convention.
    Degenerate,
}

impl Overlap {
    /// Degenerate when asked, regular otherwise.
    pub fn degenerate_if(degenerate: bool) -> Self {
        if degenerate { Overlap::Degenerate } else { Overlap::Regular }
    }
}

/// Judges the points of a pair.
pub(super) fn judge((a, pose_a): (&Geometry, &Pose), (b, pose_b): (&Geometry, &Pose), points: &[PairPoint]) -> Overlap {
    let deepest = points.iter().map(|p| p.gap).fold(0.0, f64::min);
    if deepest >= 0.0 {
        return Overlap::Regular;
    }
    let size = a.half_thickness.min(b.half_thickness);
    if -deepest <= DEEP * size {
        return Overlap::Regular;
    }
    let centre = |geometry: &Geometry, pose: &Pose| {
        let local = geometry.hull.as_ref().map_or_else(Vector3::zeros, |hull| hull.centre);
        pose.apply(&local)
    };
    let has_centre = |geometry: &Geometry| !matches!(geometry.shape, Shape::Plane { .. } | Shape::Mesh { .. } | Shape::HeightField { .. });
    let together = (centre(a, pose_a) - centre(b, pose_b)).norm() <= SAME_PLACE * size;
    if together && has_centre(a) && has_centre(b) { Overlap::Degenerate } else { Overlap::Deep }
}

/// Radius of a ball that fits into the shape \[m\]; infinite for surfaces.
pub(super) fn half_thickness(shape: &Shape, hull: Option<f64>) -> f64 {
    match shape {
        Shape::Plane { .. } | Shape::Mesh { .. } | Shape::HeightField { .. } => f64::INFINITY,
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
        Shape::Box { half_extents } => half_extents.min(),
        Shape::Cylinder { radius, half_length } => radius.min(*half_length),
        // Inscribed sphere of the triangle through the axis: area over half the circumference.
        Shape::Cone { radius, half_height } => 2.0 * radius * half_height / (radius + radius.hypot(2.0 * half_height)),
        Shape::Convex { .. } => hull.unwrap_or(f64::INFINITY),
    }
}
