//! Convex core against a chain, in the chain's frame.
//!
//! A segment is touched by the ends of the core's edge that faces it, along the segment's normal; a vertex at which the chain is convex, or a
//! free end, along the line to the nearest point of the core if that lies in the vertex's cone. Straight vertices and valleys take no
//! contacts, so that a body sliding over a chain of collinear segments sees the line alone.

use super::super::chain::{Chain, Cone};
use super::core::{Core, Nearest, edge_code, exchanged, feature, nearest, vertex_code};
use super::{Counts, PlanarPoint};
use nalgebra::Vector2;

/// A vertex over the end of a segment within this fraction of its length is over it.
const ROUNDING: f64 = 1e-12;

/// Cosine of the largest tilt at which an edge over a plateau keeps its second point.
const FACING: f64 = 0.9;

/// Depths below this fraction of a segment's length are taken without a further look.
const SHALLOW: f64 = 1e-9;

/// Appends the contact points of a core A and a chain B; the keys of a pair are then unique.
pub(super) fn collide(a: &Core, chain: &Chain, margin: f64, counts: &mut Counts, points: &mut Vec<PlanarPoint>) {
    let first = points.len();
    let search = Search { a, chain, margin };
    let bounds = a.bounds(margin);
    // vertices first: ends of segments are then known
    chain.near(&bounds, &mut |segment| {
        // a vertex of two near segments is looked at twice, and kept once
        search.vertex(segment, counts, points);
        search.vertex(chain.end(segment), counts, points);
        tidy(points, first);
    });
    let after_vertices = points.len();
    chain.near(&bounds, &mut |segment| search.segment(segment, first..after_vertices, points));
    tidy(points, first);
}

/// One point per key, that of the smallest gap; sorted by key.
fn tidy(points: &mut Vec<PlanarPoint>, first: usize) {
    points[first..].sort_unstable_by(|p, q| p.feature.cmp(&q.feature).then(p.gap.total_cmp(&q.gap)));
    let mut kept = first;
    for k in first..points.len() {
        if k == first || points[k].feature != points[kept - 1].feature {
            points[kept] = points[k];
            kept += 1;
        }
    }
    points.truncate(kept);
}

struct Search<'s> {
    a: &'s Core,
    chain: &'s Chain,
    margin: f64,
}

impl Search<'_> {
    /// A vertex of the chain against the core.
    fn vertex(&self, vertex: usize, counts: &mut Counts, points: &mut Vec<PlanarPoint>) {
        let b = self.chain.vertices()[vertex];
        let is_near = |found: &Nearest| found.distance - self.a.radius <= self.margin;
        for &side in self.chain.sides().list() {
            let Some(cone) = self.chain.cone(vertex, side) else { continue };
            let found = nearest(self.a, &b);
            if !is_near(&found) {
                return;
            }
            let (normal, distance, code) = if cone.holds(&-found.normal) {
                (-found.normal, found.distance, found.code)
            } else if found.distance < 0.0
                && let Some(found) = self.within(&cone, &b)
            {
                found
            } else {
                continue;
            };
            counts.degenerate += usize::from(found.degenerate);
            let gap = distance - self.a.radius;
            let key = match self.a.len() {
                // a disk keeps the key of the run it rolls along
                1 => feature(0, self.run_code(vertex, side)),
                _ => feature(code, vertex_code(vertex)),
            };
            points.push(PlanarPoint { feature: key, point: b + normal * (0.5 * gap), normal, gap });
        }
    }

    /// Code of the run that a vertex lies within; its own where runs meet.
    fn run_code(&self, vertex: usize, side: f64) -> u32 {
        match self.chain.neighbours(vertex) {
            Some((before, after)) if self.chain.run(before, side) == self.chain.run(after, side) => {
                edge_code(self.chain.run(after, side) as usize)
            }
            Some(_) => vertex_code(vertex),
            None => edge_code(self.chain.run(if vertex == 0 { 0 } else { vertex - 1 }, side) as usize),
        }
    }

    /// The shallowest way out for a vertex inside the core, among the normals that it takes.
    fn within(&self, cone: &Cone, b: &Vector2<f64>) -> Option<(Vector2<f64>, f64, u32)> {
        let edges = (0..self.a.normals.len()).filter(|&i| !self.a.internal[i] && cone.holds(&-self.a.normals[i]));
        let best = edges.map(|i| (self.a.height(i, b), i)).max_by(|x, y| x.0.total_cmp(&y.0).then(y.1.cmp(&x.1)));
        best.map(|(height, i)| (-self.a.normals[i], height, edge_code(i)))
    }

    /// Whether a segment cuts the core, by separating axes.
    fn is_cut(&self) -> bool {
        let mut cut = false;
        self.chain.near(&self.a.bounds(0.0), &mut |segment| {
            let (start, along, length) = self.chain.segment(segment);
            let (end, left) = (start + along * length, Vector2::new(-along.y, along.x));
            let heights = self.a.vertices.iter().map(|v| left.dot(&(v - start)));
            let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
            let apart = |i: usize| self.a.height(i, &start).min(self.a.height(i, &end)) > 0.0;
            cut |= low <= 0.0 && high >= 0.0 && !(0..self.a.normals.len()).any(apart);
        });
        cut
    }

    /// The edge of the core that faces a segment, or the point that it is; `known` are the points of vertices.
    fn segment(&self, segment: usize, known: std::ops::Range<usize>, points: &mut Vec<PlanarPoint>) {
        let (start, along, length) = self.chain.segment(segment);
        let left = Vector2::new(-along.y, along.x);
        let height = left.dot(&(self.a.centre - start));
        for &side in self.chain.sides().list() {
            // a convex body that touches lies on one side of the line
            if side * height < 0.0 || (height == 0.0 && side < 0.0 && self.chain.sides().list().len() == 2) {
                continue;
            }
            let normal = left * side;
            let code_b = edge_code(self.chain.run(segment, side) as usize);
            let place = |p: &Vector2<f64>| along.dot(&(p - start));
            let touch = |i: usize| {
                let p = self.a.vertices[i];
                let gap = normal.dot(&(p - start)) - self.a.radius;
                let code_a = if self.a.len() == 1 { 0 } else { vertex_code(i) };
                PlanarPoint { feature: feature(code_a, code_b), point: p - normal * (self.a.radius + 0.5 * gap), normal, gap }
            };
            // below the line beside the segment is not within: something must cut the core
            let counts = |p: &PlanarPoint| p.gap <= self.margin && (p.gap + self.a.radius >= -SHALLOW * length || self.is_cut());
            let over = -ROUNDING * length..=(1.0 + ROUNDING) * length;
            let Some(edge) = self.a.facing(&-normal) else {
                if over.contains(&place(&self.a.vertices[0])) {
                    points.extend(Some(touch(0)).filter(counts));
                }
                continue;
            };
            let mut ends = [edge, (edge + 1) % self.a.len()].map(|i| (place(&self.a.vertices[i]), i));
            if ends[0].0 > ends[1].0 {
                ends.swap(0, 1);
            }
            for (x, i) in ends {
                if over.contains(&x) {
                    points.extend(Some(touch(i)).filter(counts));
                }
            }
            // ends of the segment that lie under the edge
            for (x, vertex) in [(0.0, segment), (length, self.chain.end(segment))] {
                let is_known = points[known.clone()].iter().any(|p| exchanged(p.feature) >> 16 == vertex_code(vertex));
                if ends[0].0 < x && x < ends[1].0 && !is_known && self.chain.cone(vertex, side).is_some() {
                    // the edge is tilted out of the cone, or its vertex would be known: the second end of an edge on a plateau
                    let (b, out) = (self.chain.vertices()[vertex], -self.a.normals[edge]);
                    let height = self.a.height(edge, &b);
                    let gap = height - self.a.radius;
                    let is_there = self.a.beside(edge, &b) <= 0.0 && (height >= 0.0 || nearest(self.a, &b).distance <= 0.0);
                    if out.dot(&normal) > FACING && gap <= self.margin && is_there {
                        let code = feature(edge_code(edge), vertex_code(vertex));
                        points.push(PlanarPoint { feature: code, point: b + out * (0.5 * gap), normal: out, gap });
                    }
                }
            }
        }
    }
}
