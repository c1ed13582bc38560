//! What makes a shape unusable.

use thiserror::Error;

/// Why a shape is not usable.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size or coordinate is infinite or not a number.
    #[error("{quantity} of the {shape} is not finite ({value})")]
    NonFinite {
        /// Kind of shape.
        shape: &'static str,
        /// Name of the quantity.
        quantity: &'static str,
        /// Its value.
        value: f64,
    },
    /// A length is zero or negative.
    #[error("{quantity} of the {shape} must be positive, not {value}")]
    NonPositive {
        /// Kind of shape.
        shape: &'static str,
        /// Name of the quantity.
        quantity: &'static str,
        /// Its value.
        value: f64,
    },
    /// The plane's normal has no direction.
    #[error("the normal of the plane is zero")]
    ZeroNormal,
    /// Fewer than four points.
    #[error("a convex shape needs at least 4 points, not {points}")]
    TooFewPoints {
        /// Number of points given.
        points: usize,
    },
    /// The points lie in one plane or on one line.
    #[error("the points of the convex shape enclose no volume ({volume:e} m³ at a size of {size:e} m)")]
    FlatHull {
        /// Volume of the hull \[m³\].
        volume: f64,
        /// Largest extent of the points \[m\].
        size: f64,
    },
    /// The hull could not be computed.
    #[error("convex hull: {reason}")]
    Hull {
        /// What the hull algorithm reported.
        reason: String,
    },
    /// Mass properties were asked of a half-space or a height field.
    #[error("a plane or height field has no volume, hence no mass: give the mass")]
    NoVolume,
    /// A mesh without any triangle of positive area.
    #[error("the mesh has no triangle of positive area ({triangles} given): check its indices")]
    EmptyMesh {
        /// Number of triangles given.
        triangles: usize,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} of the mesh refers to vertex {index}, but there are {vertices} (counted from 0)")]
    BadIndex {
        /// Index of the triangle.
        triangle: usize,
        /// The index in it.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// Mass properties were asked of a surface with holes.
    #[error("the mesh is not closed: {edges} edges have one triangle only, the first from {from:?} to {to:?}; close it, or give the mass")]
    OpenMesh {
        /// Number of such edges.
        edges: usize,
        /// One end of the first \[m\].
        from: [f64; 3],
        /// The other end \[m\].
        to: [f64; 3],
    },
    /// Neighbouring triangles look to different sides, or an edge has more than two triangles.
    #[error(
        "{edges} edges of the mesh have triangles that look to different sides or more than two triangles, the first from {from:?} to {to:?}; \
         orient all triangles outward"
    )]
    Orientation {
        /// Number of such edges.
        edges: usize,
        /// One end of the first \[m\].
        from: [f64; 3],
        /// The other end \[m\].
        to: [f64; 3],
    },
    /// A closed surface that encloses nothing.
    #[error("the mesh encloses no volume ({volume:e} m³ at a size of {size:e} m); give the mass")]
    FlatMesh {
        /// Enclosed volume \[m³\].
        volume: f64,
        /// Largest extent \[m\].
        size: f64,
    },
    /// The heights do not fill a grid of at least 2 × 2.
    #[error("{heights} heights in rows of {columns} are no grid of at least 2 × 2 points")]
    Grid {
        /// Number of heights.
        heights: usize,
        /// Points per row.
        columns: usize,
    },
    /// The density is not a positive number.
    #[error("density must be positive and finite, not {density}")]
    Density {
        /// Density given \[kg/m³\].
        density: f64,
    },
}

/// Refuses a value that is not finite.
pub(crate) fn check_finite(shape: &'static str, quantity: &'static str, value: f64) -> Result<(), ShapeError> {
    if value.is_finite() { Ok(()) } else { Err(ShapeError::NonFinite { shape, quantity, value }) }
}
