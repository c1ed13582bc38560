//! Overlap polygon of two box faces: the incident face clipped against the side planes of the reference face.
//!
//! Sutherland and Hodgman's clipping with a label on every polygon edge, so that each corner of the overlap knows the
//! edges that make it.

use super::oriented_box::OrientedBox;
use nalgebra::Vector3;

/// At most 4 + 4 corners; the spare ones absorb rounding at nearly touching edges.
const CAPACITY: usize = 12;

/// A corner of the overlap in the frame of the reference face.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corner {
    /// Coordinates within the face, relative to its centre.
    pub x: f64,
    pub y: f64,
    /// Height of the incident face above the reference face.
    pub height: f64,
    /// What the polygon's edges before and after the corner lie on.
    pub before: Side,
    pub after: Side,
}

/// What an edge of the overlap lies on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Side {
    /// No edge.
    #[default]
    Unset,
    /// An edge of the incident box.
    Incident(u32),
    /// An edge of the reference box.
    Reference(u32),
}

/// A face of a box with its frame: third axis outward.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    axis: usize,
    positive: bool,
    origin: Vector3<f64>,
    /// Outward normal, and the direction of heights: the same, or nearly so.
    outward: Vector3<f64>,
    up: Vector3<f64>,
    u: Vector3<f64>,
    v: Vector3<f64>,
    half_u: f64,
    half_v: f64,
}

impl Face {
    /// The face of a box across `axis` on the side of `direction`.
    pub fn new(owner: &OrientedBox, axis: usize, direction: &Vector3<f64>) -> Self {
        let (ku, kv) = ((axis + 1) % 3, (axis + 2) % 3);
        let normal = owner.axis(axis);
        let positive = normal.dot(direction) >= 0.0;
        let outward = if positive { normal } else { -normal };
        Self {
            axis,
            positive,
            origin: owner.centre + outward * owner.half[axis],
            outward,
            up: outward,
            u: owner.axis(ku),
            v: owner.axis(kv),
            half_u: owner.half[ku],
            half_v: owner.half[kv],
        }
    }

    /// The same face with heights along another unit direction.
    pub fn along(self, up: &Vector3<f64>) -> Self {
        Self { up: *up, ..self }
    }

    /// Axis of the face of `owner` that looks most against `direction`.
    pub(crate) fn most_opposed_axis(owner: &OrientedBox, direction: &Vector3<f64>) -> usize {
        owner.axes.tr_mul(direction).iamax()
    }

    /// Numbers of the four corners, around the face.
    pub fn corners(&self) -> [u32; 4] {
        let side = u32::from(self.positive) << self.axis;
        let (u, v) = (1 << ((self.axis + 1) % 3), 1 << ((self.axis + 2) % 3));
        [side, side | u, side | u | v, side | v]
    }

    /// Coordinates in the face's frame.
    pub fn local(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let d = point - self.origin;
        let height = self.outward.dot(&d) / self.outward.dot(&self.up);
        let level = d - self.up * height;
        Vector3::new(self.u.dot(&level), self.v.dot(&level), height)
    }

    /// World position of face coordinates.
    pub fn world(&self, x: f64, y: f64, height: f64) -> Vector3<f64> {
        self.origin + self.u * x + self.v * y + self.up * height
    }
}

/// The overlap polygon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polygon {
    corners: [Corner; CAPACITY],
    len: usize,
}

impl Polygon {
    /// Clips a face of the incident box against the prism over the reference face; may be empty.
    ///
    /// What is outside by less than `tolerance` counts as inside, and corners nearer than that are one: otherwise the
    /// roundings of flush edges would make corners in the middle of them.
    pub fn overlap(reference: &Face, (incident, incident_box): (&Face, &OrientedBox), tolerance: f64) -> Self {
        let mut polygon = Self { corners: [Corner::default(); CAPACITY], len: 0 };
        let ring = incident.corners();
        for k in 0..4 {
            let p = reference.local(&incident_box.corner(ring[k]));
            let before = Side::Incident(OrientedBox::edge_between(ring[(k + 3) % 4], ring[k]));
            let after = Side::Incident(OrientedBox::edge_between(ring[k], ring[(k + 1) % 4]));
            polygon.push(Corner { x: p.x, y: p.y, height: p.z, before, after });
        }
        let ring = reference.corners();
        let (hu, hv) = (reference.half_u, reference.half_v);
        // The ring's edges lie at y = −hv, x = hu, y = hv, x = −hu.
        let sides: [&dyn Fn(&Corner) -> f64; 4] = [&|c| hv + c.y, &|c| hu - c.x, &|c| hv - c.y, &|c| hu + c.x];
        for (k, inside) in sides.into_iter().enumerate() {
            let edge = OrientedBox::edge_between(ring[k], ring[(k + 1) % 4]);
            polygon = polygon.clip(inside, Side::Reference(edge), tolerance);
        }
        polygon.merge_duplicates(tolerance);
        polygon
    }

    /// The corners, around the polygon.
    pub fn corners(&self) -> &[Corner] {
        &self.corners[..self.len]
    }

    /// Drops corners that repeat their predecessor within a distance.
    fn merge_duplicates(&mut self, distance: f64) {
        let near = |a: &Corner, b: &Corner| (a.x - b.x).powi(2) + (a.y - b.y).powi(2) <= distance * distance;
        let mut kept = 0;
        for k in 0..self.len {
            let corner = self.corners[k];
            if kept == 0 || !near(&corner, &self.corners[kept - 1]) {
                self.corners[kept] = corner;
                kept += 1;
            }
        }
        while kept > 1 && near(&self.corners[0], &self.corners[kept - 1]) {
            kept -= 1;
        }
        self.len = kept;
    }

    fn push(&mut self, corner: Corner) {
        if self.len < CAPACITY {
            self.corners[self.len] = corner;
            self.len += 1;
        }
    }

    /// The part where `inside` ≥ −tolerance.
    fn clip(&self, inside: &dyn Fn(&Corner) -> f64, side: Side, tolerance: f64) -> Self {
        let mut clipped = Self { corners: [Corner::default(); CAPACITY], len: 0 };
        for k in 0..self.len {
            let (here, next) = (&self.corners[k], &self.corners[(k + 1) % self.len]);
            let (d0, d1) = (inside(here), inside(next));
            let (keep, keep_next) = (d0 >= -tolerance, d1 >= -tolerance);
            if keep {
                clipped.push(*here);
            }
            if keep != keep_next {
                let t = (d0 / (d0 - d1)).clamp(0.0, 1.0);
                let mix = |a: f64, b: f64| a + t * (b - a);
                clipped.push(Corner {
                    x: mix(here.x, next.x),
                    y: mix(here.y, next.y),
                    height: mix(here.height, next.height),
                    before: if keep { here.after } else { side },
                    after: if keep { side } else { here.after },
                });
            }
        }
        clipped
    }
}
