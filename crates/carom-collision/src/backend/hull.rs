//! Convex hulls and the exact integrals over them.

use super::{from_glam, to_glam};
use crate::mass::MassProperties;
use nalgebra::{Matrix3, Vector3};
use parry3d_f64::transformation::{ConvexHullError, try_convex_hull};

/// Why there is no hull.
pub(crate) enum HullError {
    /// All points in one plane, on one line or in one place.
    Flat,
    /// The algorithm gave up.
    Failed(String),
}

/// A closed triangulated convex surface, faces counter-clockwise seen from outside.
#[derive(Clone, Debug)]
pub(crate) struct Hull {
    /// Vertices of the hull only.
    pub vertices: Vec<Vector3<f64>>,
    faces: Vec<[u32; 3]>,
}

impl Hull {
    /// Hull of at least four finite points.
    pub fn new(points: &[Vector3<f64>]) -> Result<Self, HullError> {
        let points: Vec<_> = points.iter().map(to_glam).collect();
        let (vertices, faces) = try_convex_hull(&points).map_err(|error| match error {
            ConvexHullError::IncompleteInput => HullError::Flat,
            other => HullError::Failed(other.to_string()),
        })?;
        Ok(Self { vertices: vertices.into_iter().map(from_glam).collect(), faces })
    }

    /// Six times the signed volume and the corners of each face's tetrahedron, corners relative to `origin`.
    fn tetrahedra(&self, origin: Vector3<f64>) -> impl Iterator<Item = (f64, [Vector3<f64>; 3])> {
        self.faces.iter().map(move |face| {
            let [a, b, c] = face.map(|i| self.vertices[i as usize] - origin);
            (a.dot(&b.cross(&c)), [a, b, c])
        })
    }

    /// Volume \[m³\] by the divergence theorem.
    pub fn volume(&self) -> f64 {
        self.tetrahedra(self.vertices[0]).map(|(six_volumes, _)| six_volumes).sum::<f64>() / 6.0
    }

    /// Mass properties as the sum over the tetrahedra spanned by a vertex and the faces.
    ///
    /// For a tetrahedron (0, a, b, c) of volume V: ∫x = V s/4 and ∫x xᵀ = V (s sᵀ + a aᵀ + b bᵀ + c cᵀ)/20 with
    /// s = a + b + c.
    pub fn mass_properties(&self, density: f64) -> MassProperties {
        // Summing relative to a vertex keeps the cancellation small for shapes far from the origin.
        let origin = self.vertices[0];
        let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for (six_volumes, [a, b, c]) in self.tetrahedra(origin) {
            let (v, s) = (six_volumes / 6.0, a + b + c);
            volume += v;
            first += v / 4.0 * s;
            second += v / 20.0 * (s * s.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
        }
        let centre = first / volume;
        let central = second - volume * centre * centre.transpose();
        MassProperties {
            mass: density * volume,
            centre_of_mass: origin + centre,
            inertia: density * (Matrix3::identity() * central.trace() - central),
        }
    }
}
