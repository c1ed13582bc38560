//! Contact patch of two convex polygons: the incident one clipped against the prism over the reference one, upright or
//! slightly oblique.
//!
//! Sutherland and Hodgman's clipping with a label on every edge of the polygon, so that each corner of the patch knows
//! the edges that make it.

use crate::polyhedron::{Plane, View};
use nalgebra::Vector3;

/// A corner of the patch in the frame of the reference polygon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// Coordinates within the reference plane.
    pub x: f64,
    pub y: f64,
    /// Height above the reference plane.
    pub height: f64,
    /// What the patch's edges before and after the corner lie on.
    pub before: Side,
    pub after: Side,
}

/// What an edge of the patch lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// An edge of the incident polygon.
    Incident(u32),
    /// An edge of the reference polygon.
    Reference(u32),
}

/// A frame on a plane: x and y within it, heights along a unit direction, the normal or nearly so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    origin: Vector3<f64>,
    u: Vector3<f64>,
    v: Vector3<f64>,
    plane: Plane,
    /// Direction of heights.
    pub up: Vector3<f64>,
    /// Height along the direction per height along the normal.
    stretch: f64,
}

impl Frame {
    /// Origin at a point of the plane, u along a direction within it.
    pub fn new(plane: &Plane, origin: &Vector3<f64>, along: &Vector3<f64>) -> Self {
        let u = (along - plane.normal * plane.normal.dot(along)).normalize();
        Self { origin: *origin, u, v: plane.normal.cross(&u), plane: *plane, up: plane.normal, stretch: 1.0 }
    }

    /// The same frame with heights along another unit direction.
    pub fn along(self, up: &Vector3<f64>) -> Self {
        Self { up: *up, stretch: 1.0 / self.plane.normal.dot(up), ..self }
    }

    pub fn local(&self, point: &Vector3<f64>) -> (f64, f64, f64) {
        let height = self.plane.height(point) * self.stretch;
        let d = point - self.origin - self.up * height;
        (self.u.dot(&d), self.v.dot(&d), height)
    }

    /// Point at a height above the plane.
    pub fn world(&self, x: f64, y: f64, height: f64) -> Vector3<f64> {
        let p = self.origin + self.u * x + self.v * y;
        p + self.up * (height - self.plane.height(&p) * self.stretch)
    }
}

/// Memory for the clipping.
#[derive(Clone, Debug, Default)]
pub(super) struct Clipper {
    polygon: Vec<Corner>,
    spare: Vec<Corner>,
}

impl Clipper {
    /// The corners, around the patch.
    pub fn corners(&self) -> &[Corner] {
        &self.polygon
    }

    /// Starts with a face of a polyhedron.
    pub fn start(&mut self, frame: &Frame, incident: &View<'_>, face: u32) {
        let (ring, edges) = (incident.shape.ring(face), incident.shape.ring_edges(face));
        self.polygon.clear();
        for (k, &vertex) in ring.iter().enumerate() {
            let (x, y, height) = frame.local(incident.vertex(vertex));
            let before = Side::Incident(edges[if k == 0 { ring.len() - 1 } else { k - 1 }]);
            self.polygon.push(Corner { x, y, height, before, after: Side::Incident(edges[k]) });
        }
    }

    /// Starts with any polygon, edges numbered as given.
    pub(crate) fn start_with(&mut self, corners: impl Iterator<Item = Corner>) {
        self.polygon.clear();
        self.polygon.extend(corners);
    }

    /// Clips against the prism over a face of the reference polyhedron, whose plane the frame is on.
    pub(crate) fn clip_to_face(&mut self, frame: &Frame, reference: &View<'_>, face: u32, tolerance: f64) {
        let (ring, edges) = (reference.shape.ring(face), reference.shape.ring_edges(face));
        let at = |vertex: u32| {
            let (x, y, _) = frame.local(reference.vertex(vertex));
            (x, y)
        };
        let first = at(ring[0]);
        let mut here = first;
        for (k, &edge) in edges.iter().enumerate() {
            let next = if k + 1 < ring.len() { at(ring[k + 1]) } else { first };
            self.clip(here, next, edge, tolerance);
            here = next;
        }
    }

    /// Keeps what lies left of the line from one point to another, or right by less than the tolerance.
    pub fn clip(&mut self, from: (f64, f64), to: (f64, f64), edge: u32, tolerance: f64) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        let inside = |c: &Corner| (dx * (c.y - from.1) - dy * (c.x - from.0)) / length;
        let n = self.polygon.len();
        if n == 0 || length <= 0.0 {
            return;
        }
        self.spare.clear();
        let mut d0 = inside(&self.polygon[0]);
        let first = d0;
        let mut all = true;
        for k in 0..n {
            let (here, next) = (self.polygon[k], self.polygon[if k + 1 < n { k + 1 } else { 0 }]);
            let d1 = if k + 1 < n { inside(&next) } else { first };
            let (keep, keep_next) = (d0 >= -tolerance, d1 >= -tolerance);
            if keep {
                self.spare.push(here);
            } else {
                all = false;
            }
            if keep != keep_next {
                let t = (d0 / (d0 - d1)).clamp(0.0, 1.0);
                let mix = |a: f64, b: f64| a + t * (b - a);
                let side = Side::Reference(edge);
                self.spare.push(Corner {
                    x: mix(here.x, next.x),
                    y: mix(here.y, next.y),
                    height: mix(here.height, next.height),
                    before: if keep { here.after } else { side },
                    after: if keep { side } else { here.after },
                });
            }
            d0 = d1;
        }
        if !all {
            std::mem::swap(&mut self.polygon, &mut self.spare);
        }
    }

    /// Drops corners that repeat their predecessor, and those that lie on the line between their neighbours.
    pub(crate) fn simplify(&mut self, tolerance: f64) {
        let near = |a: &Corner, b: &Corner| (a.x - b.x).abs().max((a.y - b.y).abs()) <= tolerance;
        let polygon = &mut self.polygon;
        polygon.dedup_by(|later, earlier| near(later, earlier));
        while polygon.len() > 1 && near(&polygon[0], &polygon[polygon.len() - 1]) {
            polygon.pop();
        }
        let mut k = 0;
        while k < polygon.len() && polygon.len() > 2 {
            let n = polygon.len();
            let (a, b, c) = (&polygon[(k + n - 1) % n], &polygon[k], &polygon[(k + 1) % n]);
            let (cx, cy) = (c.x - a.x, c.y - a.y);
            let off_line = ((b.x - a.x) * cy - (b.y - a.y) * cx).abs();
            if off_line <= tolerance * cx.hypot(cy) {
                polygon.remove(k);
                k = k.saturating_sub(1);
            } else {
                k += 1;
            }
        }
    }
}
