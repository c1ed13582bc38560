//! Pairs of features of two triangles that may touch.

use super::Pair;
use crate::pairs::segment::Segment;
use crate::surface::Surface;
use nalgebra::Vector3;

/// Sine of the angle below which two edges count as parallel and make no crossing.
const PARALLEL: f64 = 1e-6;
/// A vertex counts as over a triangle if it is beyond a hollow edge, within what rises there, by this part of the triangle's size.
const BEYOND: f64 = 0.1;

/// Which features touch. Edges are given as triangle and place in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Features {
    /// A vertex of A over a triangle of B.
    VertexOfA { vertex: u32, triangle: u32, facet: u32 },
    /// A vertex of B over a triangle of A.
    VertexOfB { vertex: u32, triangle: u32, facet: u32 },
    /// Crossing edges, and their numbers.
    Edges { a: (u32, u8), b: (u32, u8), numbers: (u32, u32) },
    /// Apart: a vertex and an edge, or two vertices, by kind and numbers.
    Corners { kind: u8, numbers: (u32, u32) },
}

impl Features {
    /// Names the features, whichever triangles they were found from.
    pub fn key(&self) -> (u8, u32, u32) {
        match *self {
            Features::VertexOfA { vertex, facet, .. } => (0, vertex, facet),
            Features::VertexOfB { vertex, facet, .. } => (1, vertex, facet),
            Features::Edges { numbers: (i, j), .. } => (2, i, j),
            Features::Corners { kind, numbers: (i, j) } => (kind, i, j),
        }
    }
}

/// Features that may touch, in the frame of B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub features: Features,
    /// Unit vector to A.
    pub normal: Vector3<f64>,
    pub on_a: Vector3<f64>,
    pub on_b: Vector3<f64>,
    pub gap: f64,
    /// The vertex is not over the triangle itself, but a little beyond a hollow edge.
    pub beyond: bool,
}

/// A triangle's edge in the frame of its surface.
pub(super) fn side(surface: &Surface, t: u32, k: usize) -> Segment {
    let corners = surface.corners(t);
    between(&corners[k], &corners[(k + 1) % 3])
}

fn between(p: &Vector3<f64>, q: &Vector3<f64>) -> Segment {
    Segment { middle: 0.5 * (p + q), half: 0.5 * (q - p) }
}

impl Pair<'_> {
    /// Appends the candidates of a triangle of A and one of B.
    pub(super) fn gather(&self, t_a: u32, t_b: u32, candidates: &mut Vec<Candidate>) {
        let (triangle_a, triangle_b) = (&self.a.triangles[t_a as usize], &self.b.triangles[t_b as usize]);
        let (corners_a, corners_b) = (self.a.corners(t_a).map(|p| self.in_frame_of_b(&p)), self.b.corners(t_b));
        let up_b = self.b.plane(t_b).normal;
        let down_a = self.rotation * -self.a.plane(t_a).normal;
        if self.are_far((&corners_a, &down_a), (&corners_b, &up_b)) {
            return;
        }
        for (vertex, on_a) in triangle_a.corners.into_iter().zip(corners_a) {
            let may_touch = || self.a.pointed[vertex as usize] && self.a.vertex_faces(vertex, &self.rotation.tr_mul(&-up_b));
            if let Some((gap, beyond)) = self.over((self.b, t_b), &on_a, may_touch) {
                let features = Features::VertexOfA { vertex, triangle: t_b, facet: triangle_b.facet };
                candidates.push(Candidate { features, normal: up_b, on_a, on_b: on_a - up_b * gap, gap, beyond });
            }
        }
        for (vertex, on_b) in triangle_b.corners.into_iter().zip(corners_b) {
            let may_touch = || self.b.pointed[vertex as usize] && self.b.vertex_faces(vertex, &down_a);
            if let Some((gap, beyond)) = self.over((self.a, t_a), &self.in_frame_of_a(&on_b), may_touch) {
                let features = Features::VertexOfB { vertex, triangle: t_a, facet: triangle_a.facet };
                candidates.push(Candidate { features, normal: down_a, on_a: on_b + down_a * gap, on_b, gap, beyond });
            }
        }
        for k in (0..3).filter(|&k| triangle_a.sharp[k]) {
            let edge_a = between(&corners_a[k], &corners_a[(k + 1) % 3]);
            for l in (0..3).filter(|&l| triangle_b.sharp[l]) {
                let edge_b = between(&corners_b[l], &corners_b[(l + 1) % 3]);
                candidates.extend(self.crossing((t_a, k, &edge_a), (t_b, l, &edge_b)));
            }
        }
        self.gather_corners(t_a, t_b, candidates);
    }

    /// Whether a plane across an axis of the frame, or that of one of the triangles, keeps two triangles farther apart than the margin. Normals point
    /// from B to A.
    fn are_far(&self, (a, down_a): (&[Vector3<f64>; 3], &Vector3<f64>), (b, up_b): (&[Vector3<f64>; 3], &Vector3<f64>)) -> bool {
        let reach = self.reach;
        let (lower_a, upper_a) = (a[0].inf(&a[1]).inf(&a[2]), a[0].sup(&a[1]).sup(&a[2]));
        let (lower_b, upper_b) = (b[0].inf(&b[1]).inf(&b[2]), b[0].sup(&b[1]).sup(&b[2]));
        (0..3).any(|i| lower_a[i] > upper_b[i] + reach || lower_b[i] > upper_a[i] + reach)
            || a.iter().all(|p| up_b.dot(&(p - b[0])) > reach)
            || b.iter().all(|p| down_a.dot(&(a[0] - p)) > reach)
    }

    /// Whether an edge of one of two triangles passes through the other.
    pub(super) fn pierce(&self, t_a: u32, t_b: u32) -> bool {
        let (a, b) = (self.a.corners(t_a).map(|p| self.in_frame_of_b(&p)), self.b.corners(t_b));
        let passes = |edges: &[Vector3<f64>; 3], target: &[Vector3<f64>; 3]| {
            let up = (target[1] - target[0]).cross(&(target[2] - target[0]));
            (0..3).any(|k| {
                let (p, q) = (edges[k], edges[(k + 1) % 3]);
                let (high, low) = (up.dot(&(p - target[0])), up.dot(&(q - target[0])));
                let through = p + (q - p) * (high / (high - low));
                let within = |i: usize| up.dot(&(target[(i + 1) % 3] - target[i]).cross(&(through - target[i]))) >= 0.0;
                high * low < 0.0 && (0..3).all(within)
            })
        };
        passes(&a, &b) || passes(&b, &a)
    }

    /// Height of a point above a triangle, and whether it is beyond a hollow edge; `None` when it is farther than the margin or beside it.
    fn over(&self, (surface, t): (&Surface, u32), point: &Vector3<f64>, may_touch: impl Fn() -> bool) -> Option<(f64, bool)> {
        let height = surface.plane(t).height(point);
        if height > self.margin || !may_touch() {
            return None;
        }
        let (triangle, corners) = (&surface.triangles[t as usize], surface.corners(t));
        let mut beyond = false;
        for k in 0..3 {
            let within = triangle.inward[k].dot(&(point - corners[k]));
            if within >= -self.noise {
                continue;
            }
            // Where the surface rises, the flat part goes on below what rises, as far as the vertex is in there.
            if !surface.is_hollow(t, k) || -within > BEYOND * (corners[(k + 1) % 3] - corners[k]).norm() {
                return None;
            }
            beyond = true;
        }
        let held = || !surface.closed || surface.contains(point);
        let behind = || (0..3).all(|k| !surface.is_hollow(t, k) || self.is_behind_neighbour(surface, (t, k), point));
        (!beyond || (held() && behind())).then_some((height, beyond))
    }

    /// Whether a point that is beyond an edge is behind the triangle there.
    fn is_behind_neighbour(&self, surface: &Surface, (t, k): (u32, usize), point: &Vector3<f64>) -> bool {
        let triangle = &surface.triangles[t as usize];
        let within = triangle.inward[k].dot(&(point - surface.corners(t)[k]));
        within >= -self.noise || surface.plane(triangle.across[k]).height(point) <= self.noise
    }

    /// Two sharp edges that cross, if both surfaces fall away from the normal of both.
    fn crossing(&self, (t_a, k, edge_a): (u32, usize, &Segment), (t_b, l, edge_b): (u32, usize, &Segment)) -> Option<Candidate> {
        let product = edge_a.half.cross(&edge_b.half);
        let length = product.norm();
        if length * length <= PARALLEL * PARALLEL * edge_a.half.norm_squared() * edge_b.half.norm_squared() {
            return None;
        }
        let (s, r) = edge_a.nearest_pair(edge_b);
        if s.abs() >= 1.0 || r.abs() >= 1.0 {
            return None;
        }
        let (on_a, on_b) = (edge_a.at(s), edge_b.at(r));
        let admits = |n: &Vector3<f64>| self.b.edge_admits(t_b, l, n) && self.a.edge_admits(t_a, k, &-self.rotation.tr_mul(n));
        // of both signs the one that leaves them apart first
        let apart = if product.dot(&(on_a - on_b)) >= 0.0 { product / length } else { product / -length };
        let normal = [apart, -apart].into_iter().find(admits)?;
        let gap = normal.dot(&(on_a - on_b));
        let numbers = (self.a.triangles[t_a as usize].edges[k], self.b.triangles[t_b as usize].edges[l]);
        let features = Features::Edges { a: (t_a, k as u8), b: (t_b, l as u8), numbers };
        (gap <= self.margin).then_some(Candidate { features, normal, on_a, on_b, gap, beyond: false })
    }

    pub(super) fn moved_side(&self, t: u32, k: usize) -> Segment {
        let edge = side(self.a, t, k);
        Segment { middle: self.in_frame_of_b(&edge.middle), half: self.rotation * edge.half }
    }

    /// Corners near to edges and corners, where the surfaces are apart. Each is looked at from the first of its triangles only.
    fn gather_corners(&self, t_a: u32, t_b: u32, candidates: &mut Vec<Candidate>) {
        let own_corners = |surface: &'_ Surface, t: u32| {
            surface.triangles[t as usize].corners.map(|v| (surface.pointed[v as usize] && surface.around(v)[0] == t).then_some(v))
        };
        let own_edges = |surface: &'_ Surface, t: u32| {
            let triangle = &surface.triangles[t as usize];
            std::array::from_fn::<_, 3, _>(|k| triangle.sharp[k] && triangle.edges[k] == 3 * t + k as u32)
        };
        let (corners_a, corners_b) = (own_corners(self.a, t_a), own_corners(self.b, t_b));
        let (edges_a, edges_b) = (own_edges(self.a, t_a), own_edges(self.b, t_b));
        let mut push = |kind: u8, numbers: (u32, u32), on_a: Vector3<f64>, on_b: Vector3<f64>, admits: &dyn Fn(&Vector3<f64>) -> bool| {
            let gap = (on_a - on_b).norm();
            if gap > self.noise && gap <= self.margin {
                let normal = (on_a - on_b) / gap;
                if admits(&normal) {
                    candidates.push(Candidate { features: Features::Corners { kind, numbers }, normal, on_a, on_b, gap, beyond: false });
                }
            }
        };
        let admits_a = |v: u32, n: &Vector3<f64>| self.a.vertex_admits(v, &-self.rotation.tr_mul(n));
        for v in corners_a.into_iter().flatten() {
            let p = self.in_frame_of_b(&self.a.vertices[v as usize]);
            for l in (0..3).filter(|&l| edges_b[l]) {
                let edge = side(self.b, t_b, l);
                let r = edge.nearest(&p);
                if r.abs() < 1.0 {
                    let admits = |n: &Vector3<f64>| admits_a(v, n) && self.b.edge_admits(t_b, l, n);
                    push(3, (v, 3 * t_b + l as u32), p, edge.at(r), &admits);
                }
            }
            for w in corners_b.into_iter().flatten() {
                let admits = |n: &Vector3<f64>| admits_a(v, n) && self.b.vertex_admits(w, n);
                push(5, (v, w), p, self.b.vertices[w as usize], &admits);
            }
        }
        for w in corners_b.into_iter().flatten() {
            let p = self.b.vertices[w as usize];
            for k in (0..3).filter(|&k| edges_a[k]) {
                let edge = self.moved_side(t_a, k);
                let s = edge.nearest(&p);
                if s.abs() < 1.0 {
                    let admits = |n: &Vector3<f64>| self.b.vertex_admits(w, n) && self.a.edge_admits(t_a, k, &-self.rotation.tr_mul(n));
                    push(4, (w, 3 * t_a + k as u32), edge.at(s), p, &admits);
                }
            }
        }
    }
}
