//! Convex polyhedra: hull of points, faces with all their corners, edges with both their faces, and integrals.

mod faces;
mod hull;

use nalgebra::Vector3;

/// Above this number of vertices the farthest one is found by walking along the edges.
const WALK_FROM: usize = 24;

/// Why there is no polyhedron.
#[derive(Debug)]
pub(crate) enum HullError {
    /// All points in one plane, on one line or in one place.
    Flat,
    /// The points are too nearly degenerate to tell faces apart.
    Failed(String),
}

/// The plane n·x = offset of a face, n outward and of unit length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plane {
    pub normal: Vector3<f64>,
    pub offset: f64,
}

impl Plane {
    /// Signed distance of a point, positive outside.
    pub fn height(&self, point: &Vector3<f64>) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

/// An edge: `faces[0]` runs through it from `ends[0]` to `ends[1]`, `faces[1]` backwards.
///
/// With n₀, n₁ the normals of its faces and d its direction, n₀ × n₁ is a positive multiple of d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub ends: [u32; 2],
    pub faces: [u32; 2],
}

/// A closed convex surface. Faces are convex polygons, no two neighbours coplanar; every vertex is a true corner.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polyhedron {
    pub vertices: Vec<Vector3<f64>>,
    /// Planes of the faces.
    pub planes: Vec<Plane>,
    /// First corner of each face in `ring`, and the end.
    pub starts: Vec<u32>,
    /// Vertices of all faces, counter-clockwise seen from outside.
    pub ring: Vec<u32>,
    /// Edge from each corner of `ring` to the next.
    ring_edges: Vec<u32>,
    pub edges: Vec<Edge>,
    /// Ends of the edges and normals of the faces once more, as tables.
    pub edge_ends: Vec<[u32; 2]>,
    pub normals: Vec<Vector3<f64>>,
    /// First entry of each vertex in `around`, and the end.
    around_starts: Vec<u32>,
    /// Per vertex, its edges.
    around: Vec<u32>,
    /// Mean of the vertices, an interior point.
    pub centre: Vector3<f64>,
    /// Distance from the centre to the nearest face \[m\]: the size that tolerances refer to.
    pub thickness: f64,
}

impl Polyhedron {
    /// Hull of at least four finite points. Vertices keep the order of the points.
    pub fn hull(points: &[Vector3<f64>]) -> Result<Self, HullError> {
        hull::polyhedron(points)
    }

    /// Assembles faces given by rings of vertices; `None` unless every edge has exactly two faces.
    fn from_rings(vertices: Vec<Vector3<f64>>, rings: &[Vec<u32>]) -> Option<Self> {
        let mut made = Self {
            planes: Vec::with_capacity(rings.len()),
            starts: vec![0],
            ring: Vec::new(),
            ring_edges: Vec::new(),
            edges: Vec::new(),
            edge_ends: Vec::new(),
            normals: Vec::new(),
            around_starts: Vec::new(),
            around: Vec::new(),
            centre: vertices.iter().sum::<Vector3<f64>>() / vertices.len() as f64,
            thickness: 0.0,
            vertices,
        };
        let mut directed: Vec<([u32; 2], u32, usize)> = Vec::new();
        for (face, ring) in (0..).zip(rings) {
            for (k, &from) in ring.iter().enumerate() {
                directed.push(([from, ring[(k + 1) % ring.len()]], face, made.ring.len()));
                made.ring.push(from);
            }
            made.starts.push(made.ring.len() as u32);
            made.planes.push(plane_of(&made.vertices, ring)?);
        }
        made.ring_edges = vec![0; made.ring.len()];
        // The two directions of an edge become neighbours, the one from the lower vertex first.
        directed.sort_unstable_by_key(|&([from, to], ..)| (from.min(to), from.max(to), from > to));
        for pair in directed.chunks(2) {
            let [(ends, face, place), (back, other, place_back)] = pair else { return None };
            if ends[0] != back[1] || ends[1] != back[0] || ends[0] == ends[1] {
                return None;
            }
            let edge = made.edges.len() as u32;
            made.ring_edges[*place] = edge;
            made.ring_edges[*place_back] = edge;
            made.edges.push(Edge { ends: *ends, faces: [*face, *other] });
        }
        if made.vertices.len() + made.planes.len() != made.edges.len() + 2 {
            return None;
        }
        for vertex in 0..made.vertices.len() as u32 {
            made.around_starts.push(made.around.len() as u32);
            made.around.extend((0..).zip(&made.edges).filter(|(_, e)| e.ends.contains(&vertex)).map(|(k, _)| k));
        }
        made.around_starts.push(made.around.len() as u32);
        made.edge_ends = made.edges.iter().map(|edge| edge.ends).collect();
        made.normals = made.planes.iter().map(|plane| plane.normal).collect();
        made.thickness = made.planes.iter().map(|p| -p.height(&made.centre)).fold(f64::INFINITY, f64::min);
        (made.thickness > 0.0).then_some(made)
    }

    /// Whether no vertex lies outside by more than a distance.
    fn holds_its_vertices(&self, distance: f64) -> bool {
        self.planes.iter().all(|plane| self.vertices.iter().all(|v| plane.height(v) <= distance))
    }

    /// Whether the surface bends outward at every edge.
    fn is_strictly_convex(&self) -> bool {
        self.edges.iter().all(|edge| {
            let [p, q] = edge.ends.map(|v| self.vertices[v as usize]);
            let [n0, n1] = edge.faces.map(|f| self.planes[f as usize].normal);
            n0.cross(&n1).dot(&(q - p)) > 0.0
        })
    }

    /// A box about the origin. Corners, edges and faces have the numbers of the box's own: corner bit k set when the
    /// coordinate k is positive.
    pub fn cuboid(half: &Vector3<f64>) -> Self {
        let vertices = (0..8).map(|corner| cuboid_corner(half, corner)).collect();
        let rings = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]].map(Vec::from);
        let mut made = Self::from_rings(vertices, &rings).unwrap_or_else(|| unreachable!("a box is a polyhedron"));
        made.set_cuboid(half);
        made
    }

    /// Gives other half extents to what [`Polyhedron::cuboid`] made; no allocation.
    pub(crate) fn set_cuboid(&mut self, half: &Vector3<f64>) {
        for (corner, vertex) in (0..).zip(&mut self.vertices) {
            *vertex = cuboid_corner(half, corner);
        }
        for (face, plane) in self.planes.iter_mut().enumerate() {
            let axis = face / 2;
            plane.normal = Vector3::zeros();
            plane.normal[axis] = if face % 2 == 1 { 1.0 } else { -1.0 };
            plane.offset = half[axis];
        }
        self.centre = Vector3::zeros();
        self.thickness = half.min();
    }

    /// Vertices of a face, counter-clockwise seen from outside.
    pub fn ring(&self, face: u32) -> &[u32] {
        &self.ring[self.starts[face as usize] as usize..self.starts[face as usize + 1] as usize]
    }

    /// Edges of a face, each from the corner of the same place in [`Polyhedron::ring`] to the next.
    pub(crate) fn ring_edges(&self, face: u32) -> &[u32] {
        &self.ring_edges[self.starts[face as usize] as usize..self.starts[face as usize + 1] as usize]
    }

    /// Edges at a vertex.
    pub(crate) fn edges_at(&self, vertex: u32) -> &[u32] {
        &self.around[self.around_starts[vertex as usize] as usize..self.around_starts[vertex as usize + 1] as usize]
    }

    /// The polyhedron as it is, to be looked at together with a moved one.
    pub fn view(&self) -> View<'_> {
        View { shape: self, vertices: &self.vertices, planes: &self.planes, centre: self.centre }
    }

    /// Faces as triangles, for integrals.
    pub fn triangles(&self) -> impl Iterator<Item = [Vector3<f64>; 3]> {
        (0..self.planes.len() as u32).flat_map(move |face| {
            let ring = self.ring(face);
            (1..ring.len() - 1).map(move |k| [ring[0], ring[k], ring[k + 1]].map(|v| self.vertices[v as usize]))
        })
    }
}

/// Vertices and planes of a polyhedron moved into another frame; memory of the narrow phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moved {
    vertices: Vec<Vector3<f64>>,
    planes: Vec<Plane>,
    centre: Vector3<f64>,
}

impl Moved {
    /// x ↦ rotation x + shift applied to a polyhedron.
    pub fn place<'a>(&'a mut self, shape: &'a Polyhedron, rotation: &nalgebra::Matrix3<f64>, shift: &Vector3<f64>) -> View<'a> {
        self.vertices.clear();
        self.vertices.extend(shape.vertices.iter().map(|v| rotation * v + shift));
        self.planes.clear();
        self.planes.extend(shape.planes.iter().map(|p| {
            let normal = rotation * p.normal;
            Plane { normal, offset: p.offset + normal.dot(shift) }
        }));
        self.centre = rotation * shape.centre + shift;
        View { shape, vertices: &self.vertices, planes: &self.planes, centre: self.centre }
    }
}

/// A polyhedron in some frame.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub shape: &'a Polyhedron,
    pub vertices: &'a [Vector3<f64>],
    pub planes: &'a [Plane],
    pub centre: Vector3<f64>,
}

impl View<'_> {
    pub fn vertex(&self, vertex: u32) -> &Vector3<f64> {
        &self.vertices[vertex as usize]
    }

    pub fn plane(&self, face: u32) -> &Plane {
        &self.planes[face as usize]
    }

    /// Ends of an edge.
    pub fn edge(&self, edge: u32) -> [&Vector3<f64>; 2] {
        self.shape.edges[edge as usize].ends.map(|v| self.vertex(v))
    }

    /// The vertex with the least n·x, and that value. `start` is a guess, for large polyhedra.
    pub fn lowest(&self, n: &Vector3<f64>, start: u32) -> (u32, f64) {
        if self.vertices.len() <= WALK_FROM {
            let mut best = (0, f64::INFINITY);
            for (k, v) in (0..).zip(self.vertices) {
                let height = n.dot(v);
                if height < best.1 {
                    best = (k, height);
                }
            }
            return best;
        }
        let mut best = (start, n.dot(self.vertex(start)));
        loop {
            let here = best.0;
            for &edge in self.shape.edges_at(here) {
                let ends = self.shape.edges[edge as usize].ends;
                let other = if ends[0] == here { ends[1] } else { ends[0] };
                let height = n.dot(self.vertex(other));
                if height < best.1 {
                    best = (other, height);
                }
            }
            if best.0 == here {
                return best;
            }
        }
    }

    /// Of the faces at a vertex, the one that looks most along a direction; of equal ones the lowest number.
    pub(crate) fn face_at(&self, vertex: u32, direction: &Vector3<f64>) -> u32 {
        let mut best = (u32::MAX, f64::NEG_INFINITY);
        for &edge in self.shape.edges_at(vertex) {
            for face in self.shape.edges[edge as usize].faces {
                let along = self.plane(face).normal.dot(direction);
                if along > best.1 || (along >= best.1 && face < best.0) {
                    best = (face, along);
                }
            }
        }
        best.0
    }

    /// Largest height above the planes: the signed distance when inside, a lower bound of the distance when outside.
    pub(crate) fn largest_height(&self, point: &Vector3<f64>) -> (u32, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (face, plane) in (0..).zip(self.planes) {
            let height = plane.height(point);
            if height > best.1 {
                best = (face, height);
            }
        }
        best
    }
}

fn cuboid_corner(half: &Vector3<f64>, corner: u32) -> Vector3<f64> {
    Vector3::from_fn(|k, _| if corner >> k & 1 == 1 { half[k] } else { -half[k] })
}

/// Plane through a ring of corners: normal by the area vector, offset the mean.
fn plane_of(vertices: &[Vector3<f64>], ring: &[u32]) -> Option<Plane> {
    let at = |k: usize| vertices[ring[k % ring.len()] as usize];
    let area: Vector3<f64> = (1..ring.len().saturating_sub(1)).map(|k| (at(k) - at(0)).cross(&(at(k + 1) - at(0)))).sum();
    let normal = area.try_normalize(0.0)?;
    let offset = (0..ring.len()).map(|k| normal.dot(&at(k))).sum::<f64>() / ring.len() as f64;
    Some(Plane { normal, offset })
}

#[cfg(test)]
mod tests;
