//! What the narrow phase sees of a disk, capsule, segment or convex polygon: a convex core of one, two or more vertices, and a radius about it.

use super::super::placed::PlanarPose;
use super::super::shapes::PlanarShape;
use nalgebra::Vector2;

/// Number of a vertex in the key of a contact.
pub(super) fn vertex_code(i: usize) -> u32 {
    2 * i as u32
}

/// Number of an edge, or of a run of segments of a chain.
pub(super) fn edge_code(i: usize) -> u32 {
    2 * i as u32 + 1
}

/// Key of a contact from the numbers of the features of A and B.
pub(super) fn feature(a: u32, b: u32) -> u32 {
    a << 16 | b
}

/// The same seen from B.
pub(super) fn exchanged(feature: u32) -> u32 {
    feature.rotate_left(16)
}

/// A convex core in some frame. A core of two vertices has two edges, there and back.
#[derive(Clone, Debug, Default)]
pub(super) struct Core {
    /// Counter-clockwise.
    pub vertices: Vec<Vector2<f64>>,
    /// Outward unit normal of the edge after each vertex; none for a point.
    pub normals: Vec<Vector2<f64>>,
    /// The edge takes no contacts.
    pub internal: Vec<bool>,
    /// A point within.
    pub centre: Vector2<f64>,
    pub radius: f64,
}

impl Core {
    /// Takes the place of a shape; half-planes and chains have none.
    pub fn place(&mut self, shape: &PlanarShape, pose: &PlanarPose) {
        self.vertices.clear();
        self.normals.clear();
        self.internal.clear();
        (self.radius, self.centre) = (0.0, pose.position);
        match shape {
            PlanarShape::Disk { radius } => {
                self.vertices.push(pose.position);
                self.radius = *radius;
            }
            PlanarShape::Capsule { radius, half_length } => {
                let end = Vector2::new(*half_length, 0.0);
                self.span(pose.point(&-end), pose.point(&end));
                self.radius = *radius;
            }
            PlanarShape::Segment { ends: [a, b] } => self.span(pose.point(a), pose.point(b)),
            PlanarShape::Polygon(polygon) => {
                self.vertices.extend(polygon.vertices().iter().map(|v| pose.point(v)));
                self.normals.extend(polygon.normals().iter().map(|n| pose.rotation * n));
                self.internal.extend_from_slice(polygon.internal());
                self.centre = pose.point(&polygon.centre());
            }
            PlanarShape::Chain(_) | PlanarShape::HalfPlane { .. } => {}
        }
    }

    /// Becomes the segment between two points, without a radius.
    pub fn span(&mut self, a: Vector2<f64>, b: Vector2<f64>) {
        self.vertices.clear();
        self.normals.clear();
        self.internal.clear();
        self.vertices.extend([a, b]);
        let along = b - a;
        let normal = Vector2::new(along.y, -along.x) / along.norm();
        self.normals.extend([normal, -normal]);
        self.internal.extend([false, false]);
        (self.centre, self.radius) = ((a + b) * 0.5, 0.0);
    }

    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Start and end of an edge.
    pub fn edge(&self, i: usize) -> (Vector2<f64>, Vector2<f64>) {
        (self.vertices[i], self.vertices[(i + 1) % self.len()])
    }

    /// Height of a point above an edge's line.
    pub fn height(&self, edge: usize, point: &Vector2<f64>) -> f64 {
        self.normals[edge].dot(&(point - self.vertices[edge]))
    }

    /// How far a point's foot lies beyond the ends of an edge, as a fraction of its length; ≤ 0 on it.
    pub fn beside(&self, edge: usize, point: &Vector2<f64>) -> f64 {
        let (start, end) = self.edge(edge);
        let along = end - start;
        let fraction = (point - start).dot(&along) / along.norm_squared();
        (-fraction).max(fraction - 1.0)
    }

    /// The edge that faces a direction most; the first of equal ones. `None` for a point.
    pub fn facing(&self, direction: &Vector2<f64>) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (i, normal) in self.normals.iter().enumerate().filter(|(i, _)| !self.internal[*i]) {
            let cosine = normal.dot(direction);
            if best.is_none_or(|(_, most)| cosine > most) {
                best = Some((i, cosine));
            }
        }
        best.map(|(i, _)| i)
    }

    /// Smallest box of the core, grown by its radius and more.
    pub fn bounds(&self, more: f64) -> (Vector2<f64>, Vector2<f64>) {
        let grow = self.radius + more;
        let (lower, upper) = self.vertices.iter().fold((self.vertices[0], self.vertices[0]), |(l, u), v| (l.inf(v), u.sup(v)));
        (lower.add_scalar(-grow), upper.add_scalar(grow))
    }

    /// Length that roundings are measured by \[m\].
    pub fn scale(&self) -> f64 {
        let (lower, upper) = self.bounds(0.0);
        (upper - lower).amax()
    }
}

/// Where a point lies against a core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    /// From the core to the point, unit.
    pub normal: Vector2<f64>,
    /// Distance from the core, < 0 inside.
    pub distance: f64,
    /// Code of the vertex or edge.
    pub code: u32,
    /// The point lies on a vertex or, within rounding, as far from two edges: the normal is one of several.
    pub degenerate: bool,
}

/// The nearest feature of a core, exact: the distance outside, the least depth inside. A point on a point core is separated along +y.
pub(super) fn nearest(core: &Core, point: &Vector2<f64>) -> Nearest {
    let from_vertex = |i: usize, fallback: Vector2<f64>| {
        let offset = point - core.vertices[i];
        let distance = offset.norm();
        let degenerate = distance == 0.0;
        Nearest { normal: if degenerate { fallback } else { offset / distance }, distance, code: vertex_code(i), degenerate }
    };
    if core.len() == 1 {
        return from_vertex(0, Vector2::y());
    }
    let (mut best, mut second) = ((0, f64::NEG_INFINITY), f64::NEG_INFINITY);
    for i in (0..core.len()).filter(|&i| !core.internal[i]) {
        let height = core.height(i, point);
        if height > best.1 {
            (second, best) = (best.1, (i, height));
        } else {
            second = second.max(height);
        }
    }
    let (i, height) = best;
    let inside = height < 0.0;
    let (a, b) = core.edge(i);
    let along = b - a;
    let fraction = (point - a).dot(&along) / along.norm_squared();
    if inside || (0.0..=1.0).contains(&fraction) {
        let degenerate = inside && height - second <= 1e-12 * core.scale();
        return Nearest { normal: core.normals[i], distance: height, code: edge_code(i), degenerate };
    }
    // outside, beyond an end of the highest edge: a vertex, not always of that edge
    let mut nearest = 0;
    for k in 1..core.len() {
        if (point - core.vertices[k]).norm_squared() < (point - core.vertices[nearest]).norm_squared() {
            nearest = k;
        }
    }
    from_vertex(nearest, core.normals[i])
}
