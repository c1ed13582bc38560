//! What a core shows in a direction: a line, a disk or a polygon, with numbers for its parts.
//!
//! Numbers of parts (16 bits): rim points 0–3 (lower rim) and 4–7 (upper rim), apex 8, side 9, rims where something
//! enters 12 and 13, where it leaves 14 and 15; of polytopes the vertices, edges with bit 15, sides of faces with bit 14.

use super::core::{Body, Core};
use super::facets::Facets;
use nalgebra::Vector3;

pub(super) const APEX: u32 = 8;
pub(super) const SIDE: u32 = 9;
pub(super) const RIM_IN: u32 = 12;
pub(super) const RIM_OUT: u32 = 14;
pub(super) const EDGE: u32 = 1 << 15;
pub(super) const FACE_SIDE: u32 = 1 << 14;
/// A cap counts as facing a direction within 45°.
const CAP: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// A straight edge or ruling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub ends: [Vector3<f64>; 2],
    pub end_numbers: [u32; 2],
    pub number: u32,
}

/// A cap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disk {
    pub centre: Vector3<f64>,
    /// Outward unit normal.
    pub axis: Vector3<f64>,
    pub radius: f64,
    /// The body's x axis.
    pub x: Vector3<f64>,
    /// 0 for the lower rim, 1 for the upper one.
    pub rim: u32,
}

/// A face of a polytope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face<'a> {
    pub normal: Vector3<f64>,
    core: Core<'a>,
    facets: Facets<'a>,
    ring: &'a [u32],
    face: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Feature<'a> {
    Line(Line),
    Disk(Disk),
    Face(Face<'a>),
}

impl<'a> Face<'a> {
    fn new(core: &Core<'a>, facets: &Facets<'a>, face: usize) -> Self {
        Self { normal: core.rotation * facets.normal(face), core: *core, facets: *facets, ring: facets.ring(face), face }
    }

    pub fn len(&self) -> usize {
        self.ring.len()
    }

    pub fn vertex(&self, k: usize) -> Vector3<f64> {
        self.core.centre + self.core.rotation * self.facets.vertices[self.ring[k % self.ring.len()] as usize]
    }

    pub(crate) fn vertex_number(&self, k: usize) -> u32 {
        self.ring[k] & (FACE_SIDE - 1)
    }

    /// Number of the side from vertex k to the next.
    pub(crate) fn side_number(&self, k: usize) -> u32 {
        FACE_SIDE | self.facets.side_number(self.face, k) & (FACE_SIDE - 1)
    }
}

impl Disk {
    /// Four points of the rim a quarter turn apart, the first one lowest along `up`; the body's x axis when upright.
    pub(crate) fn rim_points(&self, up: &Vector3<f64>) -> [Vector3<f64>; 4] {
        let across = up - self.axis * self.axis.dot(up);
        let tilt = across.norm();
        let first = if tilt > super::UPRIGHT * up.norm() { across / -tilt } else { self.x };
        let second = self.axis.cross(&first);
        [first, second, -first, -second].map(|d| self.centre + d * self.radius)
    }
}

impl<'a> Feature<'a> {
    /// The face or cap whose normal is a direction, within a small angle.
    pub fn flat(core: &Core<'a>, u: &Vector3<f64>) -> Option<Self> {
        let aligned = |normal: &Vector3<f64>| (normal - u).norm() < super::ALIGNED;
        match &core.body {
            Body::Segment { .. } => None,
            Body::Cylinder { axis, .. } => (aligned(axis) || aligned(&-axis)).then(|| cap(core, axis.dot(u) > 0.0)).flatten(),
            Body::Cone { axis, .. } => aligned(&-axis).then(|| cap(core, false)).flatten(),
            Body::Polytope(facets) => {
                let face = facets.facing(&core.rotation.tr_mul(u));
                let face = Face::new(core, facets, face);
                aligned(&face.normal).then_some(Feature::Face(face))
            }
        }
    }

    /// What faces a direction most.
    pub fn facing(core: &Core<'a>, u: &Vector3<f64>) -> Self {
        match &core.body {
            Body::Polytope(facets) => Feature::Face(Face::new(core, facets, facets.facing(&core.rotation.tr_mul(u)))),
            Body::Cylinder { axis, .. } if axis.dot(u).abs() > CAP => {
                cap(core, axis.dot(u) > 0.0).unwrap_or_else(|| Feature::Line(ruling(core, u)))
            }
            Body::Cone { axis, .. } if axis.dot(u) < -CAP => cap(core, false).unwrap_or_else(|| Feature::Line(ruling(core, u))),
            _ => Feature::Line(ruling(core, u)),
        }
    }

    /// The edge or ruling that is level along a direction within a small angle.
    pub(crate) fn level_line(core: &Core<'a>, u: &Vector3<f64>, angle: f64) -> Option<Line> {
        match &core.body {
            Body::Segment { axis, .. } | Body::Cylinder { axis, .. } => (axis.dot(u).abs() <= angle).then(|| ruling(core, u)),
            Body::Cone { axis, radius, half_height } => {
                let level = radius / radius.hypot(2.0 * half_height);
                ((axis.dot(u) - level).abs() <= angle).then(|| ruling(core, u))
            }
            Body::Polytope(facets) => {
                let local = core.rotation.tr_mul(u);
                let top = facets.farthest(&local) as u32;
                let mut best: Option<(f64, usize, [u32; 2])> = None;
                for (index, edge) in facets.edges().enumerate().filter(|(_, edge)| edge.contains(&top)) {
                    let [p, q] = edge.map(|i| facets.vertices[i as usize]);
                    let slope = (q - p).dot(&local).abs() / (q - p).norm();
                    if slope <= angle && best.is_none_or(|(least, ..)| slope < least) {
                        best = Some((slope, index, edge));
                    }
                }
                best.map(|(_, index, ends)| Line {
                    ends: ends.map(|i| core.centre + core.rotation * facets.vertices[i as usize]),
                    end_numbers: ends.map(|i| i & (FACE_SIDE - 1)),
                    number: EDGE | index as u32 & (EDGE - 1),
                })
            }
        }
    }
}

fn cap<'a>(core: &Core<'a>, upper: bool) -> Option<Feature<'a>> {
    let (axis, radius, half) = match &core.body {
        Body::Cylinder { axis, radius, half_length } => (axis, *radius, *half_length),
        Body::Cone { axis, radius, half_height } => (axis, *radius, *half_height),
        _ => return None,
    };
    let outward = if upper { *axis } else { -axis };
    let x = core.rotation.column(0).into();
    Some(Feature::Disk(Disk { centre: core.centre + outward * half, axis: outward, radius, x, rim: u32::from(upper) }))
}

/// The segment itself, or the ruling of the side toward a direction; the body's x axis when the direction is the axis.
fn ruling(core: &Core<'_>, u: &Vector3<f64>) -> Line {
    let radial = |axis: &Vector3<f64>| {
        let across = u - axis * axis.dot(u);
        let length = across.norm();
        if length > super::UPRIGHT { across / length } else { core.rotation.column(0).into() }
    };
    let c = core.centre;
    let (ends, end_numbers) = match &core.body {
        Body::Segment { axis, half_length } => ([c - axis * *half_length, c + axis * *half_length], [0, 1]),
        Body::Cylinder { axis, radius, half_length } => {
            let middle = c + radial(axis) * *radius;
            ([middle - axis * *half_length, middle + axis * *half_length], [0, 4])
        }
        Body::Cone { axis, radius, half_height } => {
            ([c - axis * *half_height + radial(axis) * *radius, c + axis * *half_height], [0, APEX])
        }
        Body::Polytope(facets) => {
            let top = facets.farthest(&core.rotation.tr_mul(u));
            let vertex = c + core.rotation * facets.vertices[top];
            ([vertex; 2], [top as u32; 2])
        }
    };
    Line { ends, end_numbers, number: SIDE }
}
