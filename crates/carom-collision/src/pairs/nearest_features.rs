//! Nearest points of two polyhedra that are apart: a vertex over a face, or two edges.

use super::PairPoint;
use super::convex_convex::{edge_crossing, vertex_of_a, vertex_of_b};
use super::segment::Segment;
use crate::polyhedron::View;
use nalgebra::Vector3;

/// An edge as a segment.
pub(super) fn segment(owner: &View<'_>, edge: u32) -> Segment {
    let [p, q] = owner.edge(edge);
    Segment { middle: 0.5 * (p + q), half: 0.5 * (q - p) }
}

/// Whether the projection of a point falls on a face.
pub(super) fn is_over(owner: &View<'_>, face: u32, point: &Vector3<f64>) -> bool {
    is_well_over(owner, face, point, 0.0)
}

/// Whether it falls on a face and not nearer than `inner` to its edges.
pub(super) fn is_well_over(owner: &View<'_>, face: u32, point: &Vector3<f64>, inner: f64) -> bool {
    let ring = owner.shape.ring(face);
    let normal = &owner.plane(face).normal;
    (0..ring.len()).all(|k| {
        let (p, q) = (owner.vertex(ring[k]), owner.vertex(ring[if k + 1 < ring.len() { k + 1 } else { 0 }]));
        let edge = q - p;
        let within = normal.dot(&edge.cross(&(point - p)));
        within >= 0.0 && (inner == 0.0 || within >= inner * edge.norm())
    })
}

/// The nearest points if nearer than `limit`. `axis` is the normal of points nearer than `noise`.
///
/// Every pair of nearest points of disjoint polyhedra is a vertex above the inside of a face or lies on two edges, ends
/// included. Pairs that the best distance so far excludes by their spheres are not looked at.
pub(super) fn find(a: &View<'_>, b: &View<'_>, axis: &Vector3<f64>, limit: f64, noise: f64) -> Option<PairPoint> {
    let mut best = (limit, None);
    // An equally near pair of edges adds nothing to a vertex over a face.
    let nearer = |distance: f64, best: f64| distance < best * (1.0 - 1e-12) || (distance < noise && distance < best);
    for (first, second, first_is_a) in [(a, b, true), (b, a, false)] {
        for (vertex, p) in (0..).zip(first.vertices) {
            for (face, plane) in (0..).zip(second.planes) {
                let height = plane.height(p);
                if height > 0.0 && nearer(height, best.0) && is_over(second, face, p) {
                    let foot = p - plane.normal * height;
                    let found = if first_is_a { (vertex_of_a(vertex), *p, foot) } else { (vertex_of_b(vertex), foot, *p) };
                    best = (height, Some(found));
                }
            }
        }
    }
    for ea in 0..a.shape.edges.len() as u32 {
        let on_a = segment(a, ea);
        let radius_a = on_a.half.norm();
        for eb in 0..b.shape.edges.len() as u32 {
            let on_b = segment(b, eb);
            let reach = best.0 + radius_a + on_b.half.norm();
            if (on_a.middle - on_b.middle).norm_squared() > reach * reach {
                continue;
            }
            let (s, t) = on_a.nearest_pair(&on_b);
            let (p, q) = (on_a.at(s), on_b.at(t));
            let distance = (p - q).norm();
            if nearer(distance, best.0) {
                let end = |owner: &View<'_>, edge: u32, s: f64| owner.shape.edges[edge as usize].ends[usize::from(s > 0.0)];
                let feature = match (s.abs() >= 1.0, t.abs() >= 1.0) {
                    (true, _) => vertex_of_a(end(a, ea, s)),
                    (false, true) => vertex_of_b(end(b, eb, t)),
                    _ => edge_crossing(ea, eb),
                };
                best = (distance, Some((feature, p, q)));
            }
        }
    }
    let (gap, (feature, on_a, on_b)) = (best.0, best.1?);
    let normal = if gap > noise { (on_a - on_b) / gap } else { *axis };
    Some(PairPoint { feature, point: 0.5 * (on_a + on_b), normal, gap })
}
