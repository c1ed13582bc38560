//! Which of the candidates that overlap are contacts.
//!
//! A corner that has sunk a little into a table is behind its top by little, and behind its side by much. Candidates that
//! have vertices in common compete: they are taken from the shallow to the deep, and one is left out if the motion S that
//! resolves the shallower ones, n·S ≥ −g for each, resolves it as well. In the corner of a tray, floor and wall both
//! remain. If a shorter motion in one direction resolves all of them, as between convex bodies, that is the contact.

use super::Pair;
use super::candidates::{Candidate, Features, side};
use crate::surface::Surface;
use nalgebra::Vector3;

/// Cosine of the angle within which contacts of the same features do not compete.
const SAME_WAY: f64 = 0.999;
/// Part of the distance that counts as none by which points are moved off edges before it is asked which solid holds them.
const NUDGE: f64 = 0.1;

impl Pair<'_> {
    /// Candidates from the open to the deep ⇒ contacts.
    pub(super) fn select(&self, candidates: &[Candidate], deep: &mut Vec<(u32, Candidate)>, kept: &mut Vec<Candidate>) {
        kept.clear();
        kept.extend(candidates.iter().filter(|c| c.gap >= -self.noise));
        deep.clear();
        deep.extend(candidates.iter().filter(|c| c.gap < -self.noise && self.overlaps(c)).zip(0..).map(|(c, k)| (k, *c)));
        self.group(deep);
        let n_touching = kept.len();
        for group in deep.chunk_by(|x, y| x.0 == y.0) {
            let first = kept.len();
            let by_steps = self.add_shallow_first(group, kept);
            if let Some((length, way)) = self.shortest_way(group, &kept[..n_touching])
                && length <= by_steps * (1.0 + 1e-9)
            {
                kept.truncate(first);
                kept.extend(group.iter().filter(|(_, c)| c.normal.dot(&way) >= SAME_WAY).map(|(_, c)| c));
            }
        }
    }

    /// Adds those of a group that shallower ones do not explain; returns the length of the motion that resolves them.
    fn add_shallow_first(&self, group: &[(u32, Candidate)], kept: &mut Vec<Candidate>) -> f64 {
        let step = |motion: &Vector3<f64>, k: &Candidate| k.normal * (self.noise - k.gap - motion.dot(&k.normal)).max(0.0);
        let mut whole = Vector3::zeros();
        for (_, c) in group {
            let competes = |k: &&Candidate| k.normal.dot(&c.normal) < SAME_WAY || (k.gap >= 0.5 * c.gap && self.is_corner_of(k, c));
            let rivals = || kept.iter().filter(|k| k.gap <= self.noise && self.share(c, k)).filter(competes);
            let motion = rivals().fold(Vector3::zeros(), |motion, k| motion + step(&motion, k));
            if !self.resolves(&motion, rivals(), c) {
                whole += step(&whole, c);
                kept.push(*c);
            }
        }
        whole.norm()
    }

    /// Gives candidates that are connected by common vertices the same number, and sorts them by it; within a group they stay in order.
    fn group(&self, deep: &mut [(u32, Candidate)]) {
        for i in 1..deep.len() {
            for j in 0..i {
                let (of_i, of_j) = (deep[i].0, deep[j].0);
                if of_i != of_j && self.share(&deep[i].1, &deep[j].1) {
                    let (low, high) = (of_i.min(of_j), of_i.max(of_j));
                    deep[..=i].iter_mut().filter(|x| x.0 == high).for_each(|x| x.0 = low);
                }
            }
        }
        deep.sort_unstable_by(|x, y| x.0.cmp(&y.0).then(y.1.gap.total_cmp(&x.1.gap)).then(x.1.features.key().cmp(&y.1.features.key())));
    }

    /// The shortest motion in one direction that resolves a whole group, by length and direction; `None` if there is none.
    fn shortest_way(&self, group: &[(u32, Candidate)], touching: &[Candidate]) -> Option<(f64, Vector3<f64>)> {
        let mut best: Option<(f64, Vector3<f64>)> = None;
        let beside = touching.iter().filter(|k| k.gap <= self.noise && group.iter().any(|(_, c)| self.share(c, k)));
        for k in beside.chain(group.iter().map(|(_, c)| c)) {
            let along = |c: &Candidate| c.normal.dot(&k.normal) >= SAME_WAY;
            let length = group.iter().filter(|(_, c)| along(c)).map(|(_, c)| -c.gap).fold(0.0, f64::max) + self.noise;
            let motion = k.normal * length;
            if best.is_none_or(|(least, _)| length < least)
                && group.iter().all(|(_, c)| along(c) || self.resolves(&motion, std::iter::once(k), c))
            {
                best = Some((length, k.normal));
            }
        }
        best
    }

    /// Whether the solids hold the points where the candidate says that they overlap. Surfaces that are not closed hold nothing and are not
    /// asked.
    fn overlaps(&self, c: &Candidate) -> bool {
        let nudge = NUDGE * self.noise;
        match c.features {
            Features::VertexOfA { vertex, triangle, .. } => {
                let inner = c.on_a + inward(self.b, triangle, &c.on_b, c.beyond) * nudge;
                let of_b = !self.b.closed || self.b.contains(&inner);
                of_b && (self.b.closed
                    || !self.a.closed
                    || self.a.contains(&self.in_frame_of_a(&(c.on_b - beside(c, self.rotation * outward(self.a, vertex))))))
            }
            Features::VertexOfB { vertex, triangle, .. } => {
                let (p, foot) = (self.in_frame_of_a(&c.on_b), self.in_frame_of_a(&c.on_a));
                let inner = p + inward(self.a, triangle, &foot, c.beyond) * nudge;
                let of_a = !self.a.closed || self.a.contains(&inner);
                of_a && (self.a.closed || !self.b.closed || self.b.contains(&(c.on_a - beside(c, outward(self.b, vertex)))))
            }
            Features::Edges { a, b, .. } => {
                let off = |surface: &Surface, edge: (u32, u8)| edge_outward(surface, edge) * nudge;
                (!self.b.closed || self.b.contains(&(c.on_a - off(self.b, b))))
                    && (!self.a.closed || self.a.contains(&(self.in_frame_of_a(&c.on_b) - off(self.a, a))))
            }
            Features::Corners { .. } => false,
        }
    }

    /// Whether a motion of A that resolves others resolves a candidate as well.
    fn resolves<'k>(&self, motion: &Vector3<f64>, mut others: impl Iterator<Item = &'k Candidate>, c: &Candidate) -> bool {
        if c.gap + motion.dot(&c.normal) >= -self.noise {
            return true;
        }
        if *motion == Vector3::zeros() {
            return false;
        }
        match c.features {
            // Out of B altogether, or over an edge of B behind which the triangle falls away.
            Features::VertexOfA { triangle, .. } => {
                let falls = |k: &Candidate| self.b.corners(triangle).iter().all(|p| k.normal.dot(&(p - k.on_b)) <= self.noise);
                if self.b.closed { !self.b.contains(&(c.on_a + motion)) } else { others.any(falls) }
            }
            Features::VertexOfB { triangle, .. } => {
                let corners = self.a.corners(triangle).map(|p| self.in_frame_of_b(&p));
                let falls = |k: &Candidate| corners.iter().all(|p| k.normal.dot(&(p - k.on_a)) >= -self.noise);
                if self.a.closed { !self.a.contains(&self.in_frame_of_a(&(c.on_b - motion))) } else { others.any(falls) }
            }
            Features::Edges { a, b, .. } => {
                let mut edge_a = self.moved_side(a.0, a.1 as usize);
                edge_a.middle += motion;
                let edge_b = side(self.b, b.0, b.1 as usize);
                let (s, r) = edge_a.nearest_pair(&edge_b);
                // They cross no more, and the end that is nearest is not inside.
                let (at_end_a, at_end_b) = (s.abs() >= 1.0, r.abs() >= 1.0);
                let in_b = || self.b.closed && self.b.contains(&edge_a.at(s));
                let in_a = || self.a.closed && self.a.contains(&self.in_frame_of_a(&(edge_b.at(r) - motion)));
                (at_end_a || at_end_b) && !(at_end_a && in_b()) && !(at_end_b && in_a())
            }
            Features::Corners { .. } => true,
        }
    }

    /// Whether two candidates have a vertex of A or of B in common.
    fn share(&self, c: &Candidate, k: &Candidate) -> bool {
        let (of_c, of_k) = (self.vertices(c), self.vertices(k));
        let common = |x: &[u32; 3], y: &[u32; 3]| x.iter().any(|v| y.contains(v));
        common(&of_c.0, &of_k.0) || common(&of_c.1, &of_k.1)
    }

    /// Whether the first is a contact of a vertex that the second's own vertex or edges have.
    fn is_corner_of(&self, k: &Candidate, c: &Candidate) -> bool {
        let (of_a, of_b) = self.vertices(c);
        match (k.features, c.features) {
            (Features::VertexOfA { vertex, .. }, Features::VertexOfA { .. } | Features::Edges { .. }) => of_a.contains(&vertex),
            (Features::VertexOfB { vertex, .. }, Features::VertexOfB { .. } | Features::Edges { .. }) => of_b.contains(&vertex),
            _ => false,
        }
    }

    /// Vertices of A and of B at a candidate's features; repeated where there are fewer than three.
    fn vertices(&self, c: &Candidate) -> ([u32; 3], [u32; 3]) {
        let ends = |surface: &Surface, (t, k): (u32, u8)| {
            let corners = surface.triangles[t as usize].corners;
            let (p, q) = (corners[k as usize], corners[(k as usize + 1) % 3]);
            [p, q, q]
        };
        match c.features {
            Features::VertexOfA { vertex, triangle, .. } => ([vertex; 3], self.b.triangles[triangle as usize].corners),
            Features::VertexOfB { vertex, triangle, .. } => (self.a.triangles[triangle as usize].corners, [vertex; 3]),
            Features::Edges { a, b, .. } => (ends(self.a, a), ends(self.b, b)),
            Features::Corners { .. } => ([u32::MAX; 3], [u32::MAX - 1; 3]),
        }
    }
}

/// Direction from a point of a triangle to its middle; none for points beyond it.
fn inward(surface: &Surface, triangle: u32, from: &Vector3<f64>, beyond: bool) -> Vector3<f64> {
    let [a, b, c] = surface.corners(triangle);
    if beyond { Vector3::zeros() } else { ((a + b + c) / 3.0 - from).try_normalize(0.0).unwrap_or_default() }
}

/// A step as long as the depth across the normal, so that the foot of a vertex is within the solid above it even if that is tilted.
fn beside(c: &Candidate, outward: Vector3<f64>) -> Vector3<f64> {
    (outward - c.normal * c.normal.dot(&outward)) * -c.gap
}

/// Direction out of a vertex: the mean of the normals there.
fn outward(surface: &Surface, vertex: u32) -> Vector3<f64> {
    let sum: Vector3<f64> = surface.around(vertex).iter().map(|&t| surface.plane(t).normal).sum();
    sum.try_normalize(0.0).unwrap_or_default()
}

/// Direction out of an edge.
fn edge_outward(surface: &Surface, (t, k): (u32, u8)) -> Vector3<f64> {
    let across = surface.triangles[t as usize].across[k as usize];
    let other = if surface.triangles.get(across as usize).is_some() { surface.plane(across).normal } else { Vector3::zeros() };
    (surface.plane(t).normal + other).try_normalize(0.0).unwrap_or_default()
}
