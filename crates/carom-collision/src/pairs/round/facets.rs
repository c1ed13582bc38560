//! Vertices, edges and faces of a polytope in its own frame: what the round pairs ask of boxes and hulls.

use crate::polyhedron::Polyhedron;
use nalgebra::Vector3;

/// A convex polytope by borrowed tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facets<'a> {
    pub vertices: &'a [Vector3<f64>],
    /// The two vertices of every edge.
    pub edges: &'a [[u32; 2]],
    /// Outward unit normals of the faces.
    pub normals: &'a [Vector3<f64>],
    /// Vertices of all faces one after the other, each face counter-clockwise seen from outside.
    pub rings: &'a [u32],
    /// Where each face begins in `rings`; one more entry than faces.
    pub starts: &'a [u32],
    /// Half extents, for a box.
    pub half: Option<Vector3<f64>>,
}

const BOX_EDGES: [[u32; 2]; 12] = [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [4, 6], [1, 3], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]];
const BOX_NORMALS: [Vector3<f64>; 6] = [
    Vector3::new(-1.0, 0.0, 0.0),
    Vector3::new(1.0, 0.0, 0.0),
    Vector3::new(0.0, -1.0, 0.0),
    Vector3::new(0.0, 1.0, 0.0),
    Vector3::new(0.0, 0.0, -1.0),
    Vector3::new(0.0, 0.0, 1.0),
];
const BOX_RINGS: [u32; 24] = [0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6];
const BOX_STARTS: [u32; 7] = [0, 4, 8, 12, 16, 20, 24];

/// Corners of a box, numbered by the signs of their coordinates: bit k set when coordinate k is positive.
pub(crate) fn box_corners(half: &Vector3<f64>) -> [Vector3<f64>; 8] {
    std::array::from_fn(|corner| Vector3::from_fn(|k, _| if corner >> k & 1 == 1 { half[k] } else { -half[k] }))
}

impl<'a> Facets<'a> {
    /// A box over its corners, as [`box_corners`] gives them.
    pub fn of_box(half: &Vector3<f64>, corners: &'a [Vector3<f64>; 8]) -> Self {
        Self { vertices: corners, edges: &BOX_EDGES, normals: &BOX_NORMALS, rings: &BOX_RINGS, starts: &BOX_STARTS, half: Some(*half) }
    }

    /// A convex hull.
    pub fn of_hull(hull: &'a Polyhedron) -> Self {
        Self {
            vertices: &hull.vertices,
            edges: &hull.edge_ends,
            normals: &hull.normals,
            rings: &hull.ring,
            starts: &hull.starts,
            half: None,
        }
    }

    /// Largest value of a direction over the polytope.
    pub fn reach(&self, u: &Vector3<f64>) -> f64 {
        match &self.half {
            Some(half) => half.dot(&u.abs()),
            None => self.vertices.iter().map(|v| v.dot(u)).fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Number of the vertex farthest in a direction; of equal ones the first.
    pub fn farthest(&self, u: &Vector3<f64>) -> usize {
        if self.half.is_some() {
            return (0..3).map(|k| usize::from(u[k] > 0.0) << k).sum();
        }
        let mut best = (f64::NEG_INFINITY, 0);
        for (index, vertex) in self.vertices.iter().enumerate() {
            let value = vertex.dot(u);
            if value > best.0 {
                best = (value, index);
            }
        }
        best.1
    }

    /// Number of the face whose normal is nearest to a direction.
    pub fn facing(&self, u: &Vector3<f64>) -> usize {
        let mut best = (f64::NEG_INFINITY, 0);
        for (index, normal) in self.normals().enumerate() {
            let value = normal.dot(u);
            if value > best.0 {
                best = (value, index);
            }
        }
        best.1
    }

    /// Outward unit normals of the faces, in their order.
    pub fn normals(&self) -> impl Iterator<Item = &'a Vector3<f64>> {
        self.normals.iter()
    }

    /// Outward unit normal of a face.
    pub fn normal(&self, face: usize) -> &'a Vector3<f64> {
        &self.normals[face]
    }

    /// The two vertices of every edge.
    pub fn edges(&self) -> impl Iterator<Item = [u32; 2]> {
        self.edges.iter().copied()
    }

    /// Vertices of a face, and where they begin in `rings`.
    pub fn ring(&self, face: usize) -> (&'a [u32], u32) {
        let (first, end) = (self.starts[face], self.starts[face + 1]);
        (&self.rings[first as usize..end as usize], first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_box_agree() {
        let half = Vector3::new(0.1, 0.2, 0.3);
        let corners = box_corners(&half);
        let facets = Facets::of_box(&half, &corners);
        for face in 0..6 {
            let (ring, _) = facets.ring(face);
            let normal = facets.normals[face];
            for k in 0..4 {
                let [p, q, r] = [0, 1, 2].map(|i| corners[ring[(k + i) % 4] as usize]);
                assert!((normal.dot(&p) - facets.reach(&normal)).abs() < 1e-16);
                assert!((q - p).cross(&(r - q)).dot(&normal) > 0.0, "face {face} turns the wrong way");
            }
        }
        for [p, q] in BOX_EDGES {
            assert_eq!((p ^ q).count_ones(), 1);
        }
        for (corner, place) in corners.iter().enumerate() {
            assert_eq!(facets.farthest(place), corner);
        }
    }
}
