//! Capsule against a surface: the ends of its core over each facet, and the sharp edges and corners that it meets.

use super::PairPoint;
use super::mesh_patch::{Gathered, number};
use super::mesh_sphere::push_new;
use super::segment::Segment;
use crate::pose::Pose;
use crate::surface::Surface;
use nalgebra::Vector3;

/// Sine of the angle below which core and edge count as parallel.
const PARALLEL: f64 = 1e-6;

/// Appends the points of a capsule; normals point to it.
pub(super) fn collide(
    core: &Segment,
    radius: f64,
    (surface, pose): (&Surface, &Pose),
    margin: f64,
    gathered: &mut Gathered,
    points: &mut Vec<PairPoint>,
) {
    let turn = |v: &Vector3<f64>| pose.rotation.tr_mul(v);
    let core = Segment { middle: turn(&(core.middle - pose.position)), half: turn(&core.half) };
    let reach = core.half.abs().add_scalar(radius + margin.max(0.0));
    gathered.clear();
    surface.for_each_in(&(core.middle - reach), &(core.middle + reach), |t| gathered.near.push(t));
    gathered.near.sort_unstable();
    let first = points.len();
    let limit = radius + margin;
    touch_facets(&core, radius, surface, limit, &gathered.near, points);
    for &t in &gathered.near {
        touch_edges(&core, radius, surface, t, limit, first, points);
    }
    if points.len() == first {
        leave(&core, radius, surface, limit, &gathered.near, points);
    }
    for p in &mut points[first..] {
        p.point = pose.apply(&p.point);
        p.normal = pose.rotation * p.normal;
    }
}

/// Ends of the part of the core over each facet; `near` is sorted, facets come in the order of their first triangle.
fn touch_facets(core: &Segment, radius: f64, surface: &Surface, limit: f64, near: &[u32], points: &mut Vec<PairPoint>) {
    for (k, &t) in near.iter().enumerate() {
        let facet = surface.triangles[t as usize].facet;
        let plane = surface.plane(t);
        let (h0, h1) = (plane.height(&core.at(-1.0)), plane.height(&core.at(1.0)));
        let earlier = near[..k].iter().any(|&o| surface.triangles[o as usize].facet == facet);
        if earlier || h0.min(h1) > limit || h0 + h1 < -radius {
            continue;
        }
        let mut part: Option<(f64, f64)> = None;
        for &other in &near[k..] {
            if surface.triangles[other as usize].facet == facet
                && let Some((low, high)) = clip(core, surface, other)
            {
                part = Some(part.map_or((low, high), |(l, h)| (low.min(l), high.max(h))));
            }
        }
        let Some((low, high)) = part else { continue };
        let first = points.len();
        for (end, s) in [(1, low), (2, high)] {
            let p = core.at(s);
            let height = plane.height(&p);
            if height <= limit {
                push_new(number(0, facet, end), &p, (plane.normal, height), radius, first, points);
            }
        }
    }
}

/// Part of the core over a triangle, as parameters.
fn clip(core: &Segment, surface: &Surface, t: u32) -> Option<(f64, f64)> {
    let triangle = &surface.triangles[t as usize];
    let corners = surface.corners(t);
    let (mut low, mut high) = (-1.0_f64, 1.0_f64);
    for (inward, corner) in triangle.inward.iter().zip(&corners) {
        let (at_zero, slope) = (inward.dot(&(core.middle - corner)), inward.dot(&core.half));
        if slope > 0.0 {
            low = low.max(-at_zero / slope);
        } else if slope < 0.0 {
            high = high.min(-at_zero / slope);
        } else if at_zero < 0.0 {
            return None;
        }
    }
    (low <= high).then_some((low, high))
}

/// Sharp edges of a triangle, ends included.
fn touch_edges(core: &Segment, radius: f64, surface: &Surface, t: u32, limit: f64, first: usize, points: &mut Vec<PairPoint>) {
    let triangle = &surface.triangles[t as usize];
    let corners = surface.corners(t);
    for k in (0..3).filter(|&k| triangle.sharp[k]) {
        let (p, q) = (corners[k], corners[(k + 1) % 3]);
        let edge = Segment { middle: 0.5 * (p + q), half: 0.5 * (q - p) };
        let sine = core.half.cross(&edge.half).norm_squared();
        let try_at = |s: f64, along: f64, part: u32, points: &mut Vec<PairPoint>| {
            let away = core.at(s) - edge.at(along);
            let distance = away.norm();
            if distance > limit || distance <= 1e-12 * radius {
                return;
            }
            let n = away / distance;
            let (feature, admitted) = if along.abs() < 1.0 {
                (number(1, triangle.edges[k], part), surface.edge_admits(t, k, &n))
            } else {
                let v = triangle.corners[if along < 0.0 { k } else { (k + 1) % 3 }];
                (number(2, v, 0), surface.pointed[v as usize] && surface.vertex_admits(v, &n))
            };
            if admitted {
                push_new(feature, &core.at(s), (n, distance), radius, first, points);
            }
        };
        if sine <= PARALLEL * PARALLEL * core.half.norm_squared() * edge.half.norm_squared() {
            // Side by side: both ends of the common part.
            for (part, s) in [(1, -1.0), (2, 1.0)] {
                let along = edge.nearest(&core.at(s));
                try_at(core.nearest(&edge.at(along)), along, part, points);
            }
        } else {
            let (s, along) = core.nearest_pair(&edge);
            try_at(s, along, 0, points);
        }
    }
}

/// The way out of a core that is behind all near triangles: the facet that it is least deep under.
fn leave(core: &Segment, radius: f64, surface: &Surface, limit: f64, near: &[u32], points: &mut Vec<PairPoint>) {
    let mut best: Option<(f64, u32, f64)> = None;
    for &t in near {
        let plane = surface.plane(t);
        if let Some((low, high)) = clip(core, surface, t) {
            let s = if plane.height(&core.at(low)) < plane.height(&core.at(high)) { low } else { high };
            let height = plane.height(&core.at(s));
            if height <= limit && best.is_none_or(|(h, ..)| height > h) {
                best = Some((height, t, s));
            }
        }
    }
    if let Some((height, t, s)) = best {
        let facet = surface.triangles[t as usize].facet;
        push_new(number(0, facet, 0), &core.at(s), (surface.plane(t).normal, height), radius, points.len(), points);
    }
}
