//! The closed set of collision shapes, their validation and their bounds.

use crate::mesh::topology::{MeshStatement, Topology};
use crate::mesh::{grid, volume_of};
use crate::polyhedron::{HullError, Polyhedron};
use crate::shape_error::{ShapeError, check_finite};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::sync::Arc;

/// A hull thinner than this fraction of its size counts as flat.
const FLAT_FRACTION: f64 = 1e-9;

/// A collision shape, aligned in its own frame; lengths in metres. All are convex but the mesh and the height field.
///
/// To add a shape: add the variant; the compiler then asks for its validation, bounds, mass properties, its
/// counterpart in the backend and its pairs in `pairs/`.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Half-space below the plane through the origin; only on fixed colliders.
    Plane {
        /// Outward unit normal; normalised when the detector is built.
        normal: Vector3<f64>,
    },
    /// Ball about the origin.
    Sphere {
        /// Radius > 0.
        radius: f64,
    },
    /// Rectangular box about the origin, aligned with the axes.
    Box {
        /// Half of each edge length, all > 0.
        half_extents: Vector3<f64>,
    },
    /// Segment along z, thickened by a radius.
    Capsule {
        /// Radius > 0.
        radius: f64,
        /// Half length of the segment > 0, without the round ends.
        half_length: f64,
    },
    /// Circular cylinder with axis z.
    Cylinder {
        /// Radius > 0.
        radius: f64,
        /// Half length along z > 0.
        half_length: f64,
    },
    /// Circular cone with axis z: base at −half_height, apex at +half_height.
    Cone {
        /// Radius of the base > 0.
        radius: f64,
        /// Half of the height > 0.
        half_height: f64,
    },
    /// Convex hull of points.
    Convex {
        /// At least four points, not all in one plane; points inside the hull are allowed and ignored.
        vertices: Vec<Vector3<f64>>,
    },
    /// Surface of triangles, touched from outside only: the side from which a triangle's corners are seen
    /// counter-clockwise. A closed surface whose triangles all look inward is turned round.
    Mesh {
        /// Corners; equal ones count as one.
        vertices: Arc<[Vector3<f64>]>,
        /// Indices into the corners; triangles without area are left out.
        triangles: Arc<[[u32; 3]]>,
    },
    /// Ground z = height over a regular grid centred on the origin, touched from above only; each cell is two triangles
    /// that share the diagonal from its lowest corner (x, y) to the highest.
    HeightField {
        /// Heights \[m\], row by row: entry `row * columns + column` lies at x = (column − (columns − 1)/2) spacing\[0\],
        /// y = (row − (rows − 1)/2) spacing\[1\].
        heights: Arc<[f64]>,
        /// Points per row, at least 2.
        columns: usize,
        /// Distance of neighbouring points along x and y \[m\], both > 0.
        spacing: [f64; 2],
    },
}

impl Shape {
    /// Name of the kind of shape, as used in messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Shape::Plane { .. } => "plane",
            Shape::Sphere { .. } => "sphere",
            Shape::Box { .. } => "box",
            Shape::Capsule { .. } => "capsule",
            Shape::Cylinder { .. } => "cylinder",
            Shape::Cone { .. } => "cone",
            Shape::Convex { .. } => "convex",
            Shape::Mesh { .. } => "mesh",
            Shape::HeightField { .. } => "height field",
        }
    }

    /// Checks sizes, normal, hull and indices. An open mesh is sound: it only has no mass of its own.
    ///
    /// # Errors
    /// The first thing wrong, with its value. Cost: O(1), except O(n log n) for hulls and meshes.
    pub fn validate(&self) -> Result<(), ShapeError> {
        let kind = self.kind();
        let check = |quantity, value| check_length(kind, quantity, value);
        match self {
            Shape::Plane { normal } => {
                for value in normal.iter() {
                    check_finite(kind, "normal", *value)?;
                }
                let largest = normal.amax();
                if largest < f64::MIN_POSITIVE { Err(ShapeError::ZeroNormal) } else { Ok(()) }
            }
            Shape::Sphere { radius } => check("radius", *radius),
            Shape::Box { half_extents } => half_extents.iter().try_for_each(|h| check("half extent", *h)),
            Shape::Capsule { radius, half_length } | Shape::Cylinder { radius, half_length } => {
                check("radius", *radius)?;
                check("half length", *half_length)
            }
            Shape::Cone { radius, half_height } => {
                check("radius", *radius)?;
                check("half height", *half_height)
            }
            Shape::Convex { vertices } => hull_of(vertices).map(|_| ()),
            Shape::Mesh { vertices, triangles } => Topology::new(vertices, triangles).map(|_| ()),
            Shape::HeightField { heights, columns, spacing } => {
                spacing.iter().try_for_each(|s| check("spacing", *s))?;
                heights.iter().try_for_each(|h| check_finite(kind, "height", *h))?;
                let sound = *columns >= 2 && heights.len() >= 2 * columns && heights.len().is_multiple_of(*columns);
                if sound { Ok(()) } else { Err(ShapeError::Grid { heights: heights.len(), columns: *columns }) }
            }
        }
    }

    /// What was found and mended in a mesh: equal vertices, triangles without area, open or inconsistent edges.
    ///
    /// # Errors
    /// As [`Shape::validate`]; `Ok(None)` for shapes that are no meshes.
    pub fn mesh_statement(&self) -> Result<Option<MeshStatement>, ShapeError> {
        match self {
            Shape::Mesh { vertices, triangles } => Ok(Some(Topology::new(vertices, triangles)?.statement)),
            _ => Ok(None),
        }
    }

    /// Radius of the smallest ball about the shape's origin that holds the shape \[m\]; infinite for a plane.
    #[must_use]
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Shape::Plane { .. } => f64::INFINITY,
            Shape::Sphere { radius } => *radius,
            Shape::Box { half_extents } => half_extents.norm(),
            Shape::Capsule { radius, half_length } => radius + half_length,
            Shape::Cylinder { radius, half_length } => radius.hypot(*half_length),
            Shape::Cone { radius, half_height } => radius.hypot(*half_height),
            Shape::Convex { vertices } => vertices.iter().map(|v| v.norm()).fold(0.0, f64::max),
            Shape::Mesh { vertices, .. } => vertices.iter().map(|v| v.norm()).fold(0.0, f64::max),
            Shape::HeightField { heights, columns, spacing } => {
                grid::points(heights, *columns, *spacing).map(|v| v.norm()).fold(0.0, f64::max)
            }
        }
    }

    /// Corners (lower, upper) of the axis-aligned box around the rotated and then shifted shape; infinite for a plane.
    #[must_use]
    pub fn bounds(&self, position: &Vector3<f64>, rotation: &UnitQuaternion<f64>) -> (Vector3<f64>, Vector3<f64>) {
        self.bounds_by_matrix(position, rotation.to_rotation_matrix().matrix())
    }

    pub(crate) fn bounds_by_matrix(&self, position: &Vector3<f64>, rotation: &Matrix3<f64>) -> (Vector3<f64>, Vector3<f64>) {
        let axis = rotation.column(2);
        let half = match self {
            Shape::Plane { .. } => Vector3::repeat(f64::INFINITY),
            Shape::Sphere { radius } => Vector3::repeat(*radius),
            Shape::Box { half_extents } => rotation.abs() * half_extents,
            Shape::Capsule { radius, half_length } => axis.map(|a| a.abs() * half_length + radius),
            Shape::Cylinder { radius, half_length: half } | Shape::Cone { radius, half_height: half } => {
                axis.map(|a| a.abs() * half + radius * (1.0 - a * a).max(0.0).sqrt())
            }
            Shape::Convex { vertices } => return bounds_of(vertices.iter().copied(), position, rotation),
            Shape::Mesh { vertices, .. } => return bounds_of(vertices.iter().copied(), position, rotation),
            Shape::HeightField { heights, columns, spacing } => {
                return bounds_of(grid::points(heights, *columns, *spacing), position, rotation);
            }
        };
        (position - half, position + half)
    }
}

fn bounds_of(points: impl Iterator<Item = Vector3<f64>>, position: &Vector3<f64>, rotation: &Matrix3<f64>) -> (Vector3<f64>, Vector3<f64>) {
    let (mut lower, mut upper) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    for vertex in points {
        let p = position + rotation * vertex;
        lower = lower.inf(&p);
        upper = upper.sup(&p);
    }
    (lower, upper)
}

/// Hull of the points of a convex shape, checked for volume.
pub(crate) fn hull_of(vertices: &[Vector3<f64>]) -> Result<Polyhedron, ShapeError> {
    for value in vertices.iter().flat_map(|v| v.iter()) {
        check_finite("convex", "vertex coordinate", *value)?;
    }
    if vertices.len() < 4 {
        return Err(ShapeError::TooFewPoints { points: vertices.len() });
    }
    let (mut lower, mut upper) = (vertices[0], vertices[0]);
    for v in vertices {
        lower = lower.inf(v);
        upper = upper.sup(v);
    }
    let size = (upper - lower).amax();
    let hull = Polyhedron::hull(vertices).map_err(|error| match error {
        HullError::Flat => ShapeError::FlatHull { volume: 0.0, size },
        HullError::Failed(reason) => ShapeError::Hull { reason },
    })?;
    let volume = volume_of(hull.vertices[0], hull.triangles());
    if volume.is_nan() || volume <= FLAT_FRACTION * size.powi(3) {
        return Err(ShapeError::FlatHull { volume, size });
    }
    Ok(hull)
}

fn check_length(shape: &'static str, quantity: &'static str, value: f64) -> Result<(), ShapeError> {
    check_finite(shape, quantity, value)?;
    if value > 0.0 { Ok(()) } else { Err(ShapeError::NonPositive { shape, quantity, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_shapes_are_refused() {
        let bad_radius = Shape::Sphere { radius: -1.0 }.validate();
        assert_eq!(bad_radius, Err(ShapeError::NonPositive { shape: "sphere", quantity: "radius", value: -1.0 }));
        assert!(matches!(Shape::Sphere { radius: f64::NAN }.validate(), Err(ShapeError::NonFinite { .. })));
        let flat_box = Shape::Box { half_extents: Vector3::new(1.0, 0.0, 1.0) };
        assert!(matches!(flat_box.validate(), Err(ShapeError::NonPositive { value: 0.0, .. })));
        assert_eq!(Shape::Plane { normal: Vector3::zeros() }.validate(), Err(ShapeError::ZeroNormal));
        let capsule = Shape::Capsule { radius: 0.1, half_length: f64::INFINITY };
        assert!(matches!(capsule.validate(), Err(ShapeError::NonFinite { quantity: "half length", .. })));
        assert!(matches!(
            Shape::Cone { radius: 1.0, half_height: 0.0 }.validate(),
            Err(ShapeError::NonPositive { quantity: "half height", .. })
        ));
    }

    #[test]
    fn degenerate_hulls_are_refused() {
        let points = |list: &[[f64; 3]]| Shape::Convex { vertices: list.iter().map(|p| Vector3::from(*p)).collect() };
        let three = points(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        assert_eq!(three.validate(), Err(ShapeError::TooFewPoints { points: 3 }));
        let flat = points(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.5, 0.5, 0.0]]);
        assert!(matches!(flat.validate(), Err(ShapeError::FlatHull { .. })), "{:?}", flat.validate());
        let line = points(&[[0.0; 3], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]);
        assert!(line.validate().is_err());
        let same = points(&[[1.0; 3]; 5]);
        assert!(same.validate().is_err());
        let nan = points(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, f64::NAN, 1.0]]);
        assert!(matches!(nan.validate(), Err(ShapeError::NonFinite { .. })));
        let good = points(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        assert_eq!(good.validate(), Ok(()));
    }

    #[test]
    fn bounds_hold_the_surface() {
        // A unit cylinder turned about x by 30°: extent along y is L sin30 + r cos30, along z L cos30 + r sin30.
        let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_6);
        let (lower, upper) = Shape::Cylinder { radius: 1.0, half_length: 2.0 }.bounds(&Vector3::zeros(), &turn);
        let (s, c) = (0.5, 0.75_f64.sqrt());
        // A few roundings of numbers near 2.
        assert!((upper - Vector3::new(1.0, 2.0 * s + c, 2.0 * c + s)).norm() < 1e-14);
        assert_eq!(lower, -upper);
    }
}
