//! Surfaces of triangles: which triangles share corners and edges, which of them a solid can touch and where.

mod tree;

use crate::mesh::grid;
use crate::mesh::topology::Topology;
use crate::polyhedron::{Plane, Polyhedron};
use crate::shape_error::ShapeError;
use crate::shapes::Shape;
use nalgebra::{Matrix3, Vector3};
use tree::TriangleTree;

/// Neighbouring triangles within this fraction of the surface's size from one plane make one facet.
const COPLANAR: f64 = 1e-10;
/// Sine of the angle below which directions along a surface count as level.
pub(crate) const LEVEL: f64 = 1e-7;
/// No neighbour.
pub(crate) const NONE: u32 = u32::MAX;

/// A triangle with what contact detection asks of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub corners: [u32; 3],
    /// Triangle across the edge from corner k to corner k + 1, or [`NONE`].
    pub across: [u32; 3],
    /// Number of that edge, the same seen from both sides.
    pub edges: [u32; 3],
    /// Direction into the triangle, within its plane and across each edge.
    pub inward: [Vector3<f64>; 3],
    /// Whether each edge can be touched: convex, or open.
    pub sharp: [bool; 3],
    /// The flat part of the surface that it belongs to.
    pub facet: u32,
}

/// A flat part of a surface: all its triangles have this one plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub plane: Plane,
    /// A point of it.
    pub origin: Vector3<f64>,
    /// A direction within it.
    pub along: Vector3<f64>,
}

/// A surface touched from outside. One triangle takes about 200 bytes.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    pub vertices: Vec<Vector3<f64>>,
    pub triangles: Vec<Triangle>,
    pub facets: Vec<Facet>,
    tree: TriangleTree,
    /// First entry of each vertex in `around`, and the end.
    starts: Vec<u32>,
    /// Per vertex, its triangles.
    around: Vec<u32>,
    /// Whether a vertex can be touched: it has sharp edges.
    pub pointed: Vec<bool>,
    /// Whether the surface bounds a solid.
    pub closed: bool,
    /// Corners of the convex hull: what a plane can touch.
    pub outermost: Vec<Vector3<f64>>,
    /// Largest extent along its axes \[m\].
    pub size: f64,
}

impl Surface {
    /// The surface of a mesh or height field; `None` for other shapes. O(n log n).
    pub fn of(shape: &Shape) -> Result<Option<Self>, ShapeError> {
        let topology = match shape {
            Shape::Mesh { vertices, triangles } => Topology::new(vertices, triangles)?,
            Shape::HeightField { heights, columns, spacing } => {
                shape.validate()?;
                let vertices: Vec<_> = grid::points(heights, *columns, *spacing).collect();
                let triangles: Vec<_> = grid::triangles(heights.len(), *columns).collect();
                Topology::new(&vertices, &triangles)?
            }
            _ => return Ok(None),
        };
        Ok(Some(Self::new(topology)))
    }

    fn new(topology: Topology) -> Self {
        let closed = topology.check_solid().is_ok() && (0..topology.triangles.len()).all(|t| !topology.is_thin(t));
        // Triangles without area have no normal; their neighbours keep an open edge there.
        let kept: Vec<usize> = (0..topology.triangles.len()).filter(|&t| !topology.is_thin(t)).collect();
        let mut number = vec![NONE; topology.triangles.len()];
        kept.iter().zip(0..).for_each(|(&t, k)| number[t] = k);
        let mut triangles: Vec<Triangle> = kept
            .iter()
            .map(|&t| Triangle {
                corners: topology.triangles[t],
                across: topology.across[t].map(|other| other.map_or(NONE, |other| number[other as usize])),
                edges: [0; 3],
                inward: [Vector3::zeros(); 3],
                sharp: [false; 3],
                facet: NONE,
            })
            .collect();
        let vertices = topology.vertices;
        let facets = facets(&vertices, &mut triangles);
        for t in 0..triangles.len() {
            let Triangle { corners, across, facet, .. } = triangles[t];
            let normal = facets[facet as usize].plane.normal;
            for k in 0..3 {
                let (p, q) = (vertices[corners[k] as usize], vertices[corners[(k + 1) % 3] as usize]);
                triangles[t].inward[k] = normal.cross(&(q - p)).normalize();
                let back = triangles.get(across[k] as usize).and_then(|other| other.across.iter().position(|&x| x == t as u32));
                let own = 3 * t as u32 + k as u32;
                triangles[t].edges[k] = back.map_or(own, |place| own.min(3 * across[k] + place as u32));
            }
        }
        for t in 0..triangles.len() {
            for k in 0..3 {
                let Triangle { across, inward, facet, .. } = triangles[t];
                triangles[t].sharp[k] = match triangles.get(across[k] as usize) {
                    None => true,
                    // Convex: the neighbour looks away from this triangle.
                    Some(other) => other.facet != facet && facets[other.facet as usize].plane.normal.dot(&inward[k]) < -LEVEL,
                };
            }
        }
        let (starts, around) = around(vertices.len(), &triangles);
        let mut sharp_edges = vec![0_u32; vertices.len()];
        for triangle in &triangles {
            for k in 0..3 {
                if triangle.sharp[k] {
                    sharp_edges[triangle.corners[k] as usize] += 1;
                    sharp_edges[triangle.corners[(k + 1) % 3] as usize] += 1;
                }
            }
        }
        let tree = TriangleTree::new(&vertices, &triangles);
        let hull = if vertices.len() >= 4 { Polyhedron::hull(&vertices).ok() } else { None };
        let outermost = hull.map_or_else(|| vertices.clone(), |hull| hull.vertices);
        let (lower, upper) = bounds(&vertices);
        Self {
            size: (upper - lower).amax(),
            pointed: sharp_edges.iter().map(|&n| n >= 2).collect(),
            vertices,
            triangles,
            facets,
            tree,
            starts,
            around,
            closed,
            outermost,
        }
    }

    pub fn corners(&self, triangle: u32) -> [Vector3<f64>; 3] {
        self.triangles[triangle as usize].corners.map(|v| self.vertices[v as usize])
    }

    pub fn plane(&self, triangle: u32) -> &Plane {
        &self.facets[self.triangles[triangle as usize].facet as usize].plane
    }

    /// Calls `found` with each triangle whose bounds meet a box, in the order of the tree.
    pub(crate) fn for_each_in(&self, lower: &Vector3<f64>, upper: &Vector3<f64>, found: impl FnMut(u32)) {
        self.tree.search(lower, upper, found);
    }

    /// Calls `found` with the pairs of triangles, of this surface and of another, whose boxes are within `reach` of each other. x ↦ rotation x +
    /// shift takes the other's frame to this one; `stack` is working memory.
    pub(crate) fn for_each_pair(
        &self,
        (other, rotation, shift): (&Surface, &Matrix3<f64>, &Vector3<f64>),
        reach: f64,
        stack: &mut Vec<(u32, u32)>,
        found: impl FnMut(u32, u32),
    ) {
        self.tree.search_pairs((&other.tree, rotation, shift), reach, stack, found);
    }

    /// Whether a closed surface holds a point: triangles above it that look up less those that look down.
    pub fn contains(&self, point: &Vector3<f64>) -> bool {
        let mut winding = 0;
        let upper = Vector3::new(point.x, point.y, f64::INFINITY);
        self.for_each_in(point, &upper, |t| {
            let triangle = &self.triangles[t as usize];
            // Signs from the lower to the higher vertex, so that neighbours agree on their common edge.
            let side = |k: usize| {
                let (i, j) = (triangle.corners[k], triangle.corners[(k + 1) % 3]);
                let (p, q) = (&self.vertices[i.min(j) as usize], &self.vertices[i.max(j) as usize]);
                let left = (q.x - p.x) * (point.y - p.y) - (q.y - p.y) * (point.x - p.x) >= 0.0;
                left == (i < j)
            };
            let left = side(0);
            if side(1) == left && side(2) == left && self.plane(t).height(point) * (if left { 1.0 } else { -1.0 }) < 0.0 {
                winding += if left { 1 } else { -1 };
            }
        });
        winding > 0
    }

    /// Triangles at a vertex.
    pub fn around(&self, vertex: u32) -> &[u32] {
        &self.around[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    /// Whether the surface rises beyond edge k of a triangle, or falls less than can be touched.
    pub(crate) fn is_hollow(&self, triangle: u32, k: usize) -> bool {
        let here = &self.triangles[triangle as usize];
        !here.sharp[k] && self.triangles.get(here.across[k] as usize).is_some_and(|other| other.facet != here.facet)
    }

    /// Whether some triangle at a vertex looks along n.
    pub(crate) fn vertex_faces(&self, vertex: u32, n: &Vector3<f64>) -> bool {
        self.around(vertex).iter().any(|&t| self.plane(t).normal.dot(n) > LEVEL)
    }

    /// Whether a solid may push along n on an edge: the surface falls away from it to both sides.
    pub(crate) fn edge_admits(&self, triangle: u32, k: usize, n: &Vector3<f64>) -> bool {
        let here = &self.triangles[triangle as usize];
        if n.dot(&here.inward[k]) > LEVEL {
            return false;
        }
        let outward = n.dot(&self.plane(triangle).normal);
        match self.triangles.get(here.across[k] as usize) {
            None => outward > LEVEL,
            Some(other) => {
                let back = other.edges.iter().position(|&e| e == here.edges[k]).unwrap_or(0);
                n.dot(&other.inward[back]) <= LEVEL && outward.max(n.dot(&self.plane(here.across[k]).normal)) > LEVEL
            }
        }
    }

    /// Whether a solid may push along n on a vertex: all edges there fall away.
    pub(crate) fn vertex_admits(&self, vertex: u32, n: &Vector3<f64>) -> bool {
        let p = &self.vertices[vertex as usize];
        let mut outward = false;
        for &t in self.around(vertex) {
            for &v in &self.triangles[t as usize].corners {
                let d = self.vertices[v as usize] - p;
                let rise = n.dot(&d);
                if rise > 0.0 && rise * rise > LEVEL * LEVEL * d.norm_squared() {
                    return false;
                }
            }
            outward |= n.dot(&self.plane(t).normal) > LEVEL;
        }
        outward
    }
}

fn bounds(vertices: &[Vector3<f64>]) -> (Vector3<f64>, Vector3<f64>) {
    let (mut lower, mut upper) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    for v in vertices {
        lower = lower.inf(v);
        upper = upper.sup(v);
    }
    (lower, upper)
}

/// Groups triangles into flat parts: from the largest on, neighbours within the tolerance of its plane join.
fn facets(vertices: &[Vector3<f64>], triangles: &mut [Triangle]) -> Vec<Facet> {
    let corner = |triangle: &Triangle, k: usize| vertices[triangle.corners[k] as usize];
    let area = |t: &Triangle| (corner(t, 1) - corner(t, 0)).cross(&(corner(t, 2) - corner(t, 0)));
    let (lower, upper) = bounds(vertices);
    let tolerance = COPLANAR * (upper - lower).amax();
    let areas: Vec<f64> = triangles.iter().map(|t| area(t).norm_squared()).collect();
    let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
    order.sort_by(|&i, &j| areas[j as usize].total_cmp(&areas[i as usize]).then(i.cmp(&j)));
    let mut facets = Vec::new();
    let mut stack = Vec::new();
    for seed in order {
        if triangles[seed as usize].facet != NONE {
            continue;
        }
        let first = triangles[seed as usize];
        let normal = area(&first).normalize();
        let origin = corner(&first, 0);
        let plane = Plane { normal, offset: normal.dot(&origin) };
        let number = facets.len() as u32;
        facets.push(Facet { plane, origin, along: corner(&first, 1) - origin });
        triangles[seed as usize].facet = number;
        stack.push(seed);
        while let Some(t) = stack.pop() {
            for other in triangles[t as usize].across {
                let Some(next) = triangles.get(other as usize) else { continue };
                let level = (0..3).all(|k| plane.height(&corner(next, k)).abs() <= tolerance);
                if next.facet == NONE && level && area(next).dot(&normal) > 0.0 {
                    triangles[other as usize].facet = number;
                    stack.push(other);
                }
            }
        }
    }
    facets
}

/// Triangles at each vertex.
fn around(n_vertices: usize, triangles: &[Triangle]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; n_vertices + 1];
    for v in triangles.iter().flat_map(|t| t.corners) {
        starts[v as usize + 1] += 1;
    }
    for v in 0..n_vertices {
        starts[v + 1] += starts[v];
    }
    let mut next = starts.clone();
    let mut around = vec![0; 3 * triangles.len()];
    for (t, triangle) in (0..).zip(triangles) {
        for v in triangle.corners {
            around[next[v as usize] as usize] = t;
            next[v as usize] += 1;
        }
    }
    (starts, around)
}

#[cfg(test)]
mod tests;
