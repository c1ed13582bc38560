//! Convex core against convex core: capsules, segments and polygons.
//!
//! Overlapping cores: the axis of least depth among the normals of all edges (separating axes, exact). Separate cores: an edge and a vertex
//! where the vertex lies over the edge of largest separation, else the two nearest vertices. Where edges face each other the contact has the
//! two ends of their overlap, each a vertex of one over the edge of the other with that edge's normal:
//!
//! ```text
//! vertex a over edge e of B: gap = n_e·(a − b_e) − r_A − r_B,  n = n_e          vertex b over edge e of A: n = −n_e
//! ```
//!
//! so that keys name features and do not depend on which shape is called A.

use super::core::{Core, edge_code, feature, nearest, vertex_code};
use super::{Counts, PlanarPoint};
use nalgebra::Vector2;

/// Lengths below this fraction of the smaller core are roundings.
const ROUNDING: f64 = 1e-12;

/// Two vertices over each other within this fraction of the shorter edge share the key of A's: aligned blocks keep theirs.
const ALIGNED: f64 = 1e-6;

/// A second point's foot may lie beside its edge by this fraction of it: edges of equal length stay in contact while they turn a little.
const BESIDE: f64 = 1e-2;

/// Disk against a core: one point, one key, since its gap is smooth from edge to vertex.
pub(super) fn collide_point(a: &Core, b: &Core, margin: f64, counts: &mut Counts, points: &mut Vec<PlanarPoint>) {
    let found = nearest(b, &a.vertices[0]);
    let gap = found.distance - a.radius - b.radius;
    if gap <= margin {
        counts.degenerate += usize::from(found.degenerate);
        let point = a.vertices[0] - found.normal * (a.radius + 0.5 * gap);
        points.push(PlanarPoint { feature: 0, point, normal: found.normal, gap });
    }
}

/// Largest separation over the edges of `a`: (edge, separation); stops early beyond `enough`. The second answer is the next largest.
fn separation(a: &Core, b: &Core, enough: f64) -> ((usize, f64), f64) {
    let (mut best, mut second) = ((0, f64::NEG_INFINITY), f64::NEG_INFINITY);
    for i in (0..a.len()).filter(|&i| !a.internal[i]) {
        let lowest = b.vertices.iter().map(|v| a.height(i, v)).fold(f64::INFINITY, f64::min);
        if lowest > best.1 {
            (second, best) = (best.1, (i, lowest));
            if lowest > enough {
                break;
            }
        } else {
            second = second.max(lowest);
        }
    }
    (best, second)
}

/// Appends the contact points of two cores that have edges.
pub(super) fn collide(a: &Core, b: &Core, margin: f64, counts: &mut Counts, points: &mut Vec<PlanarPoint>) {
    let enough = margin + a.radius + b.radius;
    let (of_a, second_a) = separation(a, b, enough);
    if of_a.1 > enough {
        return;
    }
    let (of_b, second_b) = separation(b, a, enough);
    if of_b.1 > enough {
        return;
    }
    let tolerance = ROUNDING * a.scale().min(b.scale());
    // parallel edges give the same axis twice: A's is taken unless only B's has a vertex over it
    let by = |by_a: bool| {
        let (separation, n) = if by_a { (of_a.1, -a.normals[of_a.0]) } else { (of_b.1, b.normals[of_b.0]) };
        let edge_a = if by_a { Some(of_a.0) } else { a.facing(&-n) };
        let edge_b = if by_a { b.facing(&n) } else { Some(of_b.0) };
        let pair = Edges::new(a, edge_a?, b, edge_b?, &n);
        let touching = pair.is_over(by_a, separation, tolerance);
        Some((separation, n, pair, touching))
    };
    let (Some(of_edge_a), Some(of_edge_b)) = (by(true), by(false)) else { return };
    let tie = (of_a.1 - of_b.1).abs() <= tolerance;
    let a_first = if tie { of_edge_a.3 || !of_edge_b.3 } else { of_a.1 > of_b.1 };
    let (depth, n, pair, touching) = if a_first { of_edge_a } else { of_edge_b };
    if !touching && depth > -tolerance {
        vertices(a, b, &n, tolerance, margin, counts, points);
        return;
    }
    // another axis as good, in another direction: the normal is one of several
    let others = [(of_a.1, -a.normals[of_a.0]), (of_b.1, b.normals[of_b.0])];
    let tied =
        others.iter().any(|(s, m)| (s - depth).abs() <= tolerance && m.dot(&n) < 0.999) || second_a.max(second_b) >= depth - tolerance;
    counts.degenerate += usize::from(depth < -tolerance && tied);
    let [first, last] = pair.ends(depth - tolerance);
    let deeper = if first.0.gap <= last.0.gap { first.0 } else { last.0 };
    if !touching || pair.overlap() <= tolerance || !(first.1 || last.1) {
        points.extend((deeper.gap <= margin).then_some(deeper));
    } else {
        points.extend([first, last].into_iter().filter(|(p, is_true)| *is_true && p.gap <= margin).map(|(p, _)| p));
    }
}

/// The two nearest vertices, and the other end where edges from them run along each other.
fn vertices(a: &Core, b: &Core, axis: &Vector2<f64>, tolerance: f64, margin: f64, counts: &mut Counts, points: &mut Vec<PlanarPoint>) {
    let (mut nearest, mut squared) = ((0, 0), f64::INFINITY);
    for (i, p) in a.vertices.iter().enumerate() {
        for (j, q) in b.vertices.iter().enumerate() {
            let between = (p - q).norm_squared();
            if between < squared {
                (nearest, squared) = ((i, j), between);
            }
        }
    }
    let (i, j) = nearest;
    let (p, q) = (a.vertices[i], b.vertices[j]);
    let distance = squared.sqrt();
    let n = if distance > tolerance { (p - q) / distance } else { *axis };
    let gap = distance - a.radius - b.radius;
    if gap > margin {
        return;
    }
    counts.degenerate += usize::from(distance <= tolerance);
    points.push(PlanarPoint { feature: feature(vertex_code(i), vertex_code(j)), point: p - n * (a.radius + 0.5 * gap), normal: n, gap });
    // the edges that leave the two vertices towards the same side, if both do
    let tangent = Vector2::new(-n.y, n.x);
    let (Some(edge_a), Some(edge_b)) = (a.facing(&-n), b.facing(&n)) else { return };
    let pair = Edges::new(a, edge_a, b, edge_b, &n);
    if pair.overlap() > ALIGNED * tolerance / ROUNDING {
        let here = tangent.dot(&p);
        let [first, last] = pair.ends(distance);
        let (other, is_true) = if (pair.low() - here).abs() > (pair.high() - here).abs() { first } else { last };
        points.extend((is_true && other.gap <= margin).then_some(other));
    }
}

/// Two edges that face each other, along the tangent of a normal.
struct Edges<'c> {
    a: &'c Core,
    edge_a: usize,
    b: &'c Core,
    edge_b: usize,
    /// (place along the tangent, vertex) of the ends, lower first.
    ends_a: [(f64, usize); 2],
    ends_b: [(f64, usize); 2],
}

impl<'c> Edges<'c> {
    fn new(a: &'c Core, edge_a: usize, b: &'c Core, edge_b: usize, n: &Vector2<f64>) -> Self {
        let tangent = Vector2::new(-n.y, n.x);
        let ends = |core: &Core, edge: usize| {
            let mut ends = [edge, (edge + 1) % core.len()].map(|i| (tangent.dot(&core.vertices[i]), i));
            if ends[0].0 > ends[1].0 {
                ends.swap(0, 1);
            }
            ends
        };
        Edges { a, edge_a, b, edge_b, ends_a: ends(a, edge_a), ends_b: ends(b, edge_b) }
    }

    fn low(&self) -> f64 {
        self.ends_a[0].0.max(self.ends_b[0].0)
    }

    fn high(&self) -> f64 {
        self.ends_a[1].0.min(self.ends_b[1].0)
    }

    fn overlap(&self) -> f64 {
        self.high() - self.low()
    }

    /// Whether a vertex at the separation of an edge of A (or of B) lies over that edge, or several lie astride it.
    fn is_over(&self, by_a: bool, separation: f64, tolerance: f64) -> bool {
        let (own, others, core, edge, other) = if by_a {
            (&self.ends_a, &self.ends_b, self.a, self.edge_a, self.b)
        } else {
            (&self.ends_b, &self.ends_a, self.b, self.edge_b, self.a)
        };
        let lowest = others.iter().filter(|(_, i)| core.height(edge, &other.vertices[*i]) <= separation + tolerance);
        let (low, high) = lowest.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), (x, _)| (l.min(*x), h.max(*x)));
        low <= own[1].0 + tolerance && high >= own[0].0 - tolerance
    }

    /// The ends of the overlap, lower first, each with whether it is a true pair of features: the vertex's foot lies on the edge, or a little
    /// beside it at no less than the least separation of the cores.
    fn ends(&self, least: f64) -> [(PlanarPoint, bool); 2] {
        let shorter = (self.ends_a[1].0 - self.ends_a[0].0).min(self.ends_b[1].0 - self.ends_b[0].0);
        [0, 1].map(|k| {
            let ((x, i), (y, j)) = (self.ends_a[k], self.ends_b[k]);
            let inner_is_a = if k == 0 { x >= y } else { x <= y };
            let aligned = (x - y).abs() <= ALIGNED * shorter;
            let of_a = feature(vertex_code(i), edge_code(self.edge_b));
            let of_b = feature(edge_code(self.edge_a), vertex_code(j));
            let mut point = if inner_is_a { self.vertex_of_a(i) } else { self.vertex_of_b(j) };
            point.feature = if inner_is_a || aligned { of_a } else { of_b };
            let beside =
                if inner_is_a { self.b.beside(self.edge_b, &self.a.vertices[i]) } else { self.a.beside(self.edge_a, &self.b.vertices[j]) };
            let height = point.gap + self.a.radius + self.b.radius;
            (point, beside <= 0.0 || (beside <= BESIDE && height >= least))
        })
    }

    fn vertex_of_a(&self, i: usize) -> PlanarPoint {
        let (p, normal) = (self.a.vertices[i], self.b.normals[self.edge_b]);
        let gap = self.b.height(self.edge_b, &p) - self.a.radius - self.b.radius;
        PlanarPoint { feature: 0, point: p - normal * (self.a.radius + 0.5 * gap), normal, gap }
    }

    fn vertex_of_b(&self, j: usize) -> PlanarPoint {
        let (p, normal) = (self.b.vertices[j], -self.a.normals[self.edge_a]);
        let gap = self.a.height(self.edge_a, &p) - self.a.radius - self.b.radius;
        PlanarPoint { feature: 0, point: p + normal * (self.b.radius + 0.5 * gap), normal, gap }
    }
}
