//! Vertices, edges and faces of a polytope in its own frame: what the round pairs ask of boxes and hulls.

use crate::polyhedron::Polyhedron;
use nalgebra::Vector3;

/// A convex polytope: a box or a hull.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facets<'a> {
    pub vertices: &'a [Vector3<f64>],
    kind: Kind<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    /// By half extents.
    Box(Vector3<f64>),
    Hull(&'a Polyhedron),
    /// A triangle by its two normals, the outward one first.
    Triangle(&'a [Vector3<f64>; 2]),
}

const TRIANGLE_EDGES: [[u32; 2]; 3] = [[0, 1], [1, 2], [2, 0]];
const TRIANGLE_RINGS: [u32; 6] = [0, 1, 2, 0, 2, 1];

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
/// Corners of a box, numbered by the signs of their coordinates: bit k set when coordinate k is positive.
pub(crate) fn box_corners(half: &Vector3<f64>) -> [Vector3<f64>; 8] {
    std::array::from_fn(|corner| Vector3::from_fn(|k, _| if corner >> k & 1 == 1 { half[k] } else { -half[k] }))
}

impl<'a> Facets<'a> {
    /// A box over its corners, as [`box_corners`] gives them.
    pub(crate) fn of_box(half: &Vector3<f64>, corners: &'a [Vector3<f64>; 8]) -> Self {
        Self { vertices: corners, kind: Kind::Box(*half) }
    }

    pub(crate) fn of_hull(hull: &'a Polyhedron) -> Self {
        Self { vertices: &hull.vertices, kind: Kind::Hull(hull) }
    }

    /// A triangle, counter-clockwise about the first of its two normals.
    pub(crate) fn of_triangle(corners: &'a [Vector3<f64>; 3], normals: &'a [Vector3<f64>; 2]) -> Self {
        Self { vertices: corners, kind: Kind::Triangle(normals) }
    }

    /// Largest value of a direction over the polytope.
    pub fn reach(&self, u: &Vector3<f64>) -> f64 {
        match &self.kind {
            Kind::Box(half) => half.dot(&u.abs()),
            Kind::Hull(_) | Kind::Triangle(_) => self.vertices.iter().map(|v| v.dot(u)).fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Number of the vertex farthest in a direction; of equal ones the first.
    pub fn farthest(&self, u: &Vector3<f64>) -> usize {
        match &self.kind {
            Kind::Box(_) => (0..3).map(|k| usize::from(u[k] > 0.0) << k).sum(),
            Kind::Hull(_) | Kind::Triangle(_) => first_largest(self.vertices.iter().map(|vertex| vertex.dot(u))),
        }
    }

    /// Number of the face at the farthest vertex whose normal is nearest to a direction.
    pub fn facing(&self, u: &Vector3<f64>) -> usize {
        match self.kind {
            Kind::Box(_) | Kind::Triangle(_) => first_largest(self.normals().map(|normal| normal.dot(u))),
            Kind::Hull(hull) => {
                let mut best = (f64::NEG_INFINITY, 0);
                for face in hull.edges_at(self.farthest(u) as u32).iter().flat_map(|&edge| hull.edges[edge as usize].faces) {
                    let value = hull.planes[face as usize].normal.dot(u);
                    if value > best.0 {
                        best = (value, face as usize);
                    }
                }
                best.1
            }
        }
    }

    /// Outward unit normals of the faces, in their order.
    pub fn normals(&self) -> impl Iterator<Item = &'a Vector3<f64>> {
        let facets = *self;
        (0..self.n_faces()).map(move |face| facets.normal(face))
    }

    fn n_faces(&self) -> usize {
        match self.kind {
            Kind::Box(_) => BOX_NORMALS.len(),
            Kind::Hull(hull) => hull.planes.len(),
            Kind::Triangle(_) => 2,
        }
    }

    /// Outward unit normal of a face.
    pub fn normal(&self, face: usize) -> &'a Vector3<f64> {
        match self.kind {
            Kind::Box(_) => &BOX_NORMALS[face],
            Kind::Hull(hull) => &hull.normals[face],
            Kind::Triangle(normals) => &normals[face],
        }
    }

    /// The two vertices of every edge.
    pub fn edges(&self) -> impl Iterator<Item = [u32; 2]> {
        let kind = self.kind;
        let n_edges = match kind {
            Kind::Box(_) => BOX_EDGES.len(),
            Kind::Hull(hull) => hull.edges.len(),
            Kind::Triangle(_) => TRIANGLE_EDGES.len(),
        };
        (0..n_edges).map(move |edge| match kind {
            Kind::Box(_) => BOX_EDGES[edge],
            Kind::Hull(hull) => hull.edge_ends[edge],
            Kind::Triangle(_) => TRIANGLE_EDGES[edge],
        })
    }

    /// Vertices of a face, counter-clockwise seen from outside.
    pub fn ring(&self, face: usize) -> &'a [u32] {
        match self.kind {
            Kind::Box(_) => &BOX_RINGS[4 * face..4 * face + 4],
            Kind::Hull(hull) => hull.ring(face as u32),
            Kind::Triangle(_) => &TRIANGLE_RINGS[3 * face..3 * face + 3],
        }
    }

    /// Number of the side of a face from its corner k to the next.
    pub(crate) fn side_number(&self, face: usize, k: usize) -> u32 {
        match self.kind {
            Kind::Box(_) => (4 * face + k) as u32,
            Kind::Hull(hull) => hull.ring_edges(face as u32)[k],
            Kind::Triangle(_) => (3 * face + k) as u32,
        }
    }
}

fn first_largest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (f64::NEG_INFINITY, 0);
    for (index, value) in values.enumerate() {
        if value > best.0 {
            best = (value, index);
        }
    }
    best.1
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
            let ring = facets.ring(face);
            let normal = facets.normal(face);
            for k in 0..4 {
                let [p, q, r] = [0, 1, 2].map(|i| corners[ring[(k + i) % 4] as usize]);
                assert!((normal.dot(&p) - facets.reach(normal)).abs() < 1e-16);
                assert!((q - p).cross(&(r - q)).dot(normal) > 0.0, "face {face} turns the wrong way");
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
