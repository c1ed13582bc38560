//! Meshes of triangles as given: their corners and edges, the triangles of a height field, the volume within.

pub(crate) mod grid;
pub(crate) mod topology;

use nalgebra::Vector3;

/// Volume \[m³\] within a closed surface of outward triangles; `origin` lies on the surface or near it, so that little cancels.
pub(crate) fn volume_of(origin: Vector3<f64>, triangles: impl Iterator<Item = [Vector3<f64>; 3]>) -> f64 {
    triangles.map(|t| (t[0] - origin).dot(&(t[1] - origin).cross(&(t[2] - origin)))).sum::<f64>() / 6.0
}
