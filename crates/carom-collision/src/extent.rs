//! Smallest width of a shape.

use crate::mesh::topology::Topology;
use crate::shapes::Shape;
use nalgebra::{Matrix3, Vector3};

impl Shape {
    /// Smallest distance between two parallel planes that hold the shape \[m\]; infinite for a plane and
    /// for surfaces that are not closed, whose triangles have no thickness to lose.
    ///
    /// A body that moves farther than this in one step may pass through a contact unseen. Exact for all shapes but
    /// hulls and closed meshes, for which it is the smallest width along the principal axes of the vertices, at least the true one.
    #[must_use]
    pub(crate) fn thinnest_extent(&self) -> f64 {
        match self {
            Shape::Plane { .. } | Shape::HeightField { .. } => f64::INFINITY,
            Shape::Mesh { vertices, triangles } => {
                let is_solid = Topology::new(vertices, triangles).is_ok_and(|topology| topology.check_solid().is_ok());
                if is_solid { width_of_points(vertices) } else { f64::INFINITY }
            }
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => 2.0 * radius,
            Shape::Box { half_extents } => 2.0 * half_extents.min(),
            Shape::Cylinder { radius, half_length } => 2.0 * radius.min(*half_length),
            // the smallest height of the isosceles triangle that is its section
            Shape::Cone { radius, half_height } => {
                let height = 2.0 * half_height;
                height.min(2.0 * radius * height / radius.hypot(height))
            }
            Shape::Convex { vertices } => width_of_points(vertices),
        }
    }
}

fn width_of_points(points: &[Vector3<f64>]) -> f64 {
    let mean = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
    let spread: Matrix3<f64> = points.iter().map(|p| (p - mean) * (p - mean).transpose()).sum();
    let axes = spread.symmetric_eigen().eigenvectors;
    (0..3)
        .map(|k| {
            let axis = axes.column(k);
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for p in points {
                let x = axis.dot(p);
                low = low.min(x);
                high = high.max(x);
            }
            high - low
        })
        .fold(f64::INFINITY, f64::min)
}
