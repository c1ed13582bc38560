//! Convex polyhedron or box against a surface of triangles.
//!
//! Each near triangle looks for the axis of largest separation among those that the surface admits: its own normal, the
//! products of its sharp edges with edges of the solid, and the normals of the solid's faces at its pointed corners, the
//! latter two only where the surface falls away on all sides. Flat and concave edges thus never make contacts. Patches
//! of triangles in one facet are joined, so that the triangulation of a flat part cannot be felt.

use super::PairPoint;
use super::convex_sphere::height_above;
use super::mesh_patch::{FacetCorner, Gathered, number, repeats};
use super::nearest_features::segment;
use super::patch::{Clipper, Corner, Frame, Side};
use super::preference::wins;
use super::segment::Segment;
use crate::polyhedron::{Moved, Plane, Polyhedron, View};
use crate::pose::Pose;
use crate::surface::{Facet, NONE, Surface};
use nalgebra::Vector3;

/// Sine of the angle below which two edges count as parallel and give no axis.
const PARALLEL: f64 = 1e-6;
/// Points nearer than this fraction of the solid's thickness are one.
const MERGE: f64 = 1e-9;

/// Memory of the pair.
#[derive(Clone, Default)]
pub(super) struct Scratch {
    moved: Moved,
    clipper: Clipper,
    pub gathered: Gathered,
}

/// Which feature of a triangle the axis belongs to.
#[derive(Clone, Copy)]
enum Kind {
    Facet,
    /// Edge k of the triangle and an edge of the solid.
    Edges(usize, u32),
    /// Face of the solid.
    Face(u32),
    /// Normal of a neighbouring facet, which has the contact if there is one.
    Elsewhere,
}

/// An axis that the surface admits: normal to the solid, and separation.
#[derive(Clone, Copy)]
struct Axis {
    kind: Kind,
    normal: Vector3<f64>,
    separation: f64,
}

/// Appends the points of a solid; normals point to it.
pub(super) fn collide(
    (solid, pose): (&Polyhedron, &Pose),
    (surface, ground): (&Surface, &Pose),
    margin: f64,
    scratch: &mut Scratch,
    points: &mut Vec<PairPoint>,
) {
    let rotation = ground.rotation.tr_mul(&pose.rotation);
    let Scratch { moved, clipper, gathered } = scratch;
    let solid = moved.place(solid, &rotation, &ground.rotation.tr_mul(&(pose.position - ground.position)));
    let (mut lower, mut upper) = (solid.vertices[0], solid.vertices[0]);
    for v in solid.vertices {
        lower = lower.inf(v);
        upper = upper.sup(v);
    }
    let reach = margin.max(0.0);
    gathered.clear();
    surface.for_each_in(&lower.add_scalar(-reach), &upper.add_scalar(reach), |t| gathered.near.push(t));
    gathered.near.sort_unstable();
    let first = points.len();
    let mut pair = Pair { solid, surface, margin, size: solid.shape.thickness, clipper, first };
    pair.gather(gathered, points);
    for p in &mut points[first..] {
        p.point = ground.apply(&p.point);
        p.normal = ground.rotation * p.normal;
    }
}

/// A solid and a surface in the surface's frame.
struct Pair<'a> {
    solid: View<'a>,
    surface: &'a Surface,
    margin: f64,
    /// Thickness of the solid.
    size: f64,
    clipper: &'a mut Clipper,
    /// Points before this one belong to other pairs.
    first: usize,
}

impl Pair<'_> {
    fn gather(&mut self, gathered: &mut Gathered, points: &mut Vec<PairPoint>) {
        let mut behind: Option<(f64, u32)> = None;
        for k in 0..gathered.near.len() {
            let t = gathered.near[k];
            let plane = self.surface.plane(t);
            let separation = self.solid.lowest(&plane.normal, 0).1 - plane.offset;
            if separation > self.margin || -self.solid.lowest(&-plane.normal, 0).1 < plane.offset - self.margin.max(0.0) {
                continue;
            }
            // A centre far behind: the back of a plate, or a solid that is deep inside.
            if plane.height(&self.solid.centre) < -0.5 * self.size {
                if behind.is_none_or(|(best, _)| separation > best) && self.patch(t) {
                    behind = Some((separation, t));
                }
                continue;
            }
            let axis = self.best_axis(t, separation);
            match axis.kind {
                Kind::Facet => {
                    let mut reached = false;
                    if self.patch(t) {
                        self.keep_patch(t, &mut gathered.corners);
                        reached = self.clipper.corners().iter().any(|c| c.height <= separation + MERGE * self.size);
                    }
                    // Apart, and lowest beside the triangle: a sharp edge or corner may be nearest.
                    if separation > 0.0 && !reached {
                        self.nearest(t, points);
                    }
                }
                Kind::Edges(k, edge) => self.touch_edges(t, k, edge, &axis, points),
                Kind::Face(face) => self.touch_face(t, face, &axis, points),
                // Apart along a neighbour's axis; the nearest points may still be here.
                Kind::Elsewhere if axis.separation > 0.0 && axis.separation <= self.margin => self.nearest(t, points),
                Kind::Elsewhere => {}
            }
        }
        self.join(gathered, points);
        if points.len() == self.first
            && let Some((_, t)) = behind
            && self.patch(t)
        {
            self.keep_patch(t, &mut gathered.corners);
            self.join(gathered, points);
        }
    }

    /// Points of the facets' patches.
    fn join(&self, gathered: &mut Gathered, points: &mut Vec<PairPoint>) {
        let (margin, surface) = (self.margin, self.surface);
        gathered.for_each_corner(MERGE * self.size, |corner| {
            if corner.height <= margin {
                let frame = frame_of(&surface.facets[corner.facet as usize]);
                let point = frame.world(corner.x, corner.y, 0.5 * corner.height);
                points.push(PairPoint { feature: corner.feature, point, normal: frame.up, gap: corner.height });
            }
        });
    }

    /// The admitted axis of largest separation.
    fn best_axis(&self, t: u32, separation: f64) -> Axis {
        let (solid, surface) = (&self.solid, self.surface);
        let triangle = &surface.triangles[t as usize];
        let mut best = Axis { kind: Kind::Facet, normal: surface.plane(t).normal, separation };
        let mut compete = |other: Axis| {
            if wins((&other.normal, other.separation), (&best.normal, best.separation), self.size) {
                best = other;
            }
        };
        let corners = surface.corners(t);
        let mut elsewhere = |plane: &Plane| {
            let separation = solid.lowest(&plane.normal, 0).1 - plane.offset;
            compete(Axis { kind: Kind::Elsewhere, normal: plane.normal, separation });
        };
        for (k, &v) in triangle.corners.iter().enumerate() {
            if surface.pointed[v as usize] {
                // A wall that rises there does not bound this triangle.
                let others = surface.around(v).iter().filter(|&&o| surface.triangles[o as usize].facet != triangle.facet);
                others.map(|&o| surface.plane(o)).filter(|plane| surface.vertex_admits(v, &plane.normal)).for_each(&mut elsewhere);
            } else if triangle.sharp[k] && surface.triangles.len() > triangle.across[k] as usize {
                elsewhere(surface.plane(triangle.across[k]));
            }
            if triangle.sharp[k] && triangle.across[k] == NONE {
                // Beside an open edge.
                let outward = -triangle.inward[k];
                let plane = Plane { normal: outward, offset: outward.dot(&corners[k]) };
                if solid.lowest(&outward, 0).1 > plane.offset {
                    elsewhere(&plane);
                }
            }
        }
        for k in 0..3 {
            if triangle.sharp[k] {
                self.edge_axes(t, k, |edge| Kind::Edges(k, edge), &mut compete);
            }
            // Edges of others at a pointed corner may come first.
            let v = triangle.corners[k];
            if surface.pointed[v as usize] {
                for &o in surface.around(v) {
                    let other = &surface.triangles[o as usize];
                    for l in (0..3).filter(|&l| other.sharp[l] && other.corners[l] == v && !triangle.edges.contains(&other.edges[l])) {
                        self.edge_axes(o, l, |_| Kind::Elsewhere, &mut compete);
                    }
                }
            }
        }
        if triangle.corners.iter().any(|&v| surface.pointed[v as usize]) {
            for (face, plane) in (0..).zip(solid.planes) {
                let heights = corners.map(|p| plane.height(&p));
                let lowest = (0..3).min_by(|&i, &j| heights[i].total_cmp(&heights[j])).unwrap_or(0);
                let v = triangle.corners[lowest];
                let normal = -plane.normal;
                if surface.pointed[v as usize] && surface.vertex_admits(v, &normal) {
                    compete(Axis { kind: Kind::Face(face), normal, separation: heights[lowest] });
                }
            }
        }
        best
    }

    /// Admitted products of an edge of the surface with edges of the solid.
    fn edge_axes(&self, t: u32, k: usize, kind: impl Fn(u32) -> Kind, compete: &mut impl FnMut(Axis)) {
        let solid = &self.solid;
        let side = self.side(t, k);
        let (start, along) = (side.at(-1.0), side.half);
        for (number, edge) in (0..).zip(&solid.shape.edges) {
            let [c, d] = edge.faces.map(|f| solid.plane(f).normal.dot(&along));
            if c * d >= 0.0 {
                continue;
            }
            let [p, q] = solid.edge(number);
            let product = along.cross(&(q - p));
            let length = product.norm();
            if length * length <= PARALLEL * PARALLEL * along.norm_squared() * (q - p).norm_squared() {
                continue;
            }
            let normal = if product.dot(&(p - solid.centre)) > 0.0 { product / -length } else { product / length };
            if self.surface.edge_admits(t, k, &normal) {
                compete(Axis { kind: kind(number), normal, separation: normal.dot(&(p - start)) });
            }
        }
    }

    /// Clips the solid's face that looks at the triangle to the prism over it; whether anything is left.
    fn patch(&mut self, t: u32) -> bool {
        let triangle = &self.surface.triangles[t as usize];
        let frame = frame_of(&self.surface.facets[triangle.facet as usize]);
        let (deepest, _) = self.solid.lowest(&frame.up, 0);
        let opposed = self.solid.face_at(deepest, &-frame.up);
        self.clipper.start(&frame, &self.solid, opposed);
        let flat = self.surface.corners(t).map(|p| {
            let (x, y, _) = frame.local(&p);
            (x, y)
        });
        for k in 0..3 {
            self.clipper.clip(flat[k], flat[(k + 1) % 3], k as u32, MERGE * self.size);
        }
        self.clipper.corners().len() > 2
    }

    /// Keeps what [`Pair::patch`] left.
    fn keep_patch(&self, t: u32, corners: &mut Vec<FacetCorner>) {
        let triangle = &self.surface.triangles[t as usize];
        let facet = triangle.facet;
        for corner in self.clipper.corners() {
            let (rank, feature) = match (corner.before, corner.after) {
                (Side::Incident(e), Side::Incident(f)) => (0, number(3, self.vertex_between(e, f), facet)),
                (Side::Reference(k), Side::Reference(l)) => (1, number(4, corner_between(&triangle.corners, k, l), facet)),
                (Side::Reference(k), Side::Incident(e)) | (Side::Incident(e), Side::Reference(k)) => {
                    (2, number(5, e, triangle.edges[k as usize]))
                }
            };
            let Corner { x, y, height, .. } = *corner;
            corners.push(FacetCorner { facet, x, y, height, feature, rank });
        }
    }

    /// The solid's vertex that two of its edges share.
    fn vertex_between(&self, e: u32, f: u32) -> u32 {
        let (e, f) = (self.solid.shape.edges[e as usize].ends, self.solid.shape.edges[f as usize].ends);
        if f.contains(&e[0]) { e[0] } else { e[1] }
    }

    /// The point where a sharp edge crosses an edge of the solid.
    fn touch_edges(&self, t: u32, k: usize, edge: u32, axis: &Axis, points: &mut Vec<PairPoint>) {
        let triangle = &self.surface.triangles[t as usize];
        let (side, other) = (self.side(t, k), segment(&self.solid, edge));
        let (s, r) = side.nearest_pair(&other);
        if axis.separation > 0.0 && (s.abs() >= 1.0 || r.abs() >= 1.0) {
            return self.nearest(t, points);
        }
        // Level with a neighbour: its facet has the patch.
        if self.surface.triangles.get(triangle.across[k] as usize).is_some()
            && self.surface.plane(triangle.across[k]).normal.dot(&axis.normal) > 1.0 - 1e-12
        {
            return;
        }
        // Truly there only if the solid holds the point of the edge.
        if axis.separation <= self.margin && (axis.separation > 0.0 || self.holds(&side.at(s))) {
            let point = 0.5 * (side.at(s) + other.at(r));
            self.push(number(5, edge, triangle.edges[k]), point, axis.normal, axis.separation, points);
        }
    }

    /// Corners and sharp edges of the triangle on a face of the solid.
    fn touch_face(&mut self, t: u32, face: u32, axis: &Axis, points: &mut Vec<PairPoint>) {
        let triangle = self.surface.triangles[t as usize];
        let ring = self.solid.shape.ring(face);
        let (p0, p1) = (self.solid.vertex(ring[0]), self.solid.vertex(ring[1]));
        let frame = Frame::new(self.solid.plane(face), p0, &(p1 - p0));
        let corners = self.surface.corners(t);
        self.clipper.start_with((0..3_u32).map(|k| {
            let (x, y, height) = frame.local(&corners[k as usize]);
            Corner { x, y, height, before: Side::Incident((k + 2) % 3), after: Side::Incident(k) }
        }));
        self.clipper.clip_to_face(&frame, &self.solid, face, MERGE * self.size);
        let admits = |side: u32| triangle.sharp[side as usize] && self.surface.edge_admits(t, side as usize, &axis.normal);
        let count = points.len();
        let holds = |c: &Corner| c.height >= 0.0 || self.holds(&frame.world(c.x, c.y, c.height));
        if !self.clipper.corners().iter().any(holds) {
            if axis.separation > 0.0 {
                self.nearest(t, points);
            }
            return;
        }
        for corner in self.clipper.corners() {
            if corner.height > self.margin {
                continue;
            }
            let feature = match (corner.before, corner.after) {
                (Side::Incident(k), Side::Incident(l)) => {
                    let v = corner_between(&triangle.corners, k, l);
                    if !self.surface.vertex_admits(v, &axis.normal) {
                        continue;
                    }
                    number(4, v, NO_FACET)
                }
                (Side::Reference(e), Side::Incident(k)) | (Side::Incident(k), Side::Reference(e)) if admits(k) => {
                    number(5, e, triangle.edges[k as usize])
                }
                _ => continue,
            };
            let point = frame.world(corner.x, corner.y, 0.5 * corner.height);
            self.push(feature, point, axis.normal, corner.height, points);
        }
        if points.len() == count && axis.separation > 0.0 {
            self.nearest(t, points);
        }
    }

    /// The nearest points of the triangle's sharp edges and pointed corners, for solids that are apart from it.
    fn nearest(&self, t: u32, points: &mut Vec<PairPoint>) {
        let triangle = &self.surface.triangles[t as usize];
        let mut best: Option<(f64, u32, Vector3<f64>, Vector3<f64>)> = None;
        let limit = |best: &Option<(f64, u32, Vector3<f64>, Vector3<f64>)>| best.map_or(self.margin, |b| b.0 * (1.0 - 1e-12));
        for &v in triangle.corners.iter().filter(|&&v| self.surface.pointed[v as usize]) {
            let p = self.surface.vertices[v as usize];
            if let Some((outward, distance)) = height_above(&self.solid, &p, limit(&best))
                && distance > 0.0
                && distance <= limit(&best)
                && self.surface.vertex_admits(v, &-outward)
            {
                best = Some((distance, number(4, v, NO_FACET), p + outward * (-0.5 * distance), -outward));
            }
        }
        for k in (0..3).filter(|&k| triangle.sharp[k]) {
            let side = self.side(t, k);
            for edge in 0..self.solid.shape.edges.len() as u32 {
                let other = segment(&self.solid, edge);
                let reach = limit(&best) + side.half.norm() + other.half.norm();
                if (side.middle - other.middle).norm_squared() > reach * reach {
                    continue;
                }
                let (s, r) = side.nearest_pair(&other);
                let away = other.at(r) - side.at(s);
                let distance = away.norm();
                if s.abs() < 1.0 && distance <= limit(&best) && distance > MERGE * self.size {
                    let n = away / distance;
                    if self.surface.edge_admits(t, k, &n) {
                        best = Some((distance, number(5, edge, triangle.edges[k]), 0.5 * (other.at(r) + side.at(s)), n));
                    }
                }
            }
        }
        if let Some((gap, feature, point, normal)) = best {
            self.push(feature, point, normal, gap, points);
        }
    }

    /// Whether the solid holds a point of the surface.
    fn holds(&self, point: &Vector3<f64>) -> bool {
        self.solid.largest_height(point).1 <= MERGE * self.size
    }

    fn side(&self, t: u32, k: usize) -> Segment {
        let corners = self.surface.corners(t);
        let (p, q) = (corners[k], corners[(k + 1) % 3]);
        Segment { middle: 0.5 * (p + q), half: 0.5 * (q - p) }
    }

    fn push(&self, feature: u32, point: Vector3<f64>, normal: Vector3<f64>, gap: f64, points: &mut Vec<PairPoint>) {
        if !repeats(&points[self.first..], feature, &point, &normal, 1e-6 * self.size) {
            points.push(PairPoint { feature, point, normal, gap });
        }
    }
}

/// Stands for the facet in the number of a corner that touches by itself.
const NO_FACET: u32 = u32::MAX;

/// The corner that the edges k and l of a triangle share.
fn corner_between(corners: &[u32; 3], k: u32, l: u32) -> u32 {
    // Edge k runs from corner k to corner k + 1.
    corners[if (k + 1) % 3 == l { l } else { k } as usize]
}

pub(super) fn frame_of(facet: &Facet) -> Frame {
    Frame::new(&facet.plane, &facet.origin, &facet.along)
}

#[cfg(test)]
#[path = "mesh_tests.rs"]
mod tests;
