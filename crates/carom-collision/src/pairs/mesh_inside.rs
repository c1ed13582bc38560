//! The way out of a solid that lies wholly inside a closed mesh, where no triangle is near.

use super::mesh_patch::number;
use super::mesh_sphere::{Place, nearest};
use super::segment::Segment;
use super::{Geometry, PairPoint};
use crate::pose::Pose;
use crate::shapes::Shape;
use crate::surface::Surface;
use nalgebra::Vector3;

/// Appends one point if the solid's centre is inside: out by the shortest way of the centre, past all of the solid.
///
/// Costs a search along a line, and a look at every triangle when the centre is inside.
pub(super) fn leave((solid, pose): (&Geometry, &Pose), target: (&Surface, &Pose), points: &mut Vec<PairPoint>) {
    let centre = pose.apply(&solid.hull.as_ref().map_or_else(Vector3::zeros, |hull| hull.centre));
    way_out(&centre, |n| extent(solid, pose, n, &centre), target, points);
}

/// The same for a surface: out by the shortest way of its first corner, past all of it.
pub(super) fn leave_with((inner, pose): (&Surface, &Pose), target: (&Surface, &Pose), points: &mut Vec<PairPoint>) {
    let corner = pose.apply(&inner.corners(0)[0]);
    let reach = |n: &Vector3<f64>| inner.outermost.iter().map(|v| n.dot(&(pose.apply(v) - corner))).fold(0.0, f64::max);
    way_out(&corner, reach, target, points);
}

/// One point if a closed surface holds the centre; `reach` says how far the solid reaches from there along a direction.
fn way_out(centre: &Vector3<f64>, reach: impl Fn(&Vector3<f64>) -> f64, (surface, ground): (&Surface, &Pose), points: &mut Vec<PairPoint>) {
    let local = ground.rotation.tr_mul(&(centre - ground.position));
    if !surface.closed || !surface.contains(&local) {
        return;
    }
    let mut best = (f64::INFINITY, 0, Vector3::zeros());
    for t in 0..surface.triangles.len() as u32 {
        let plane = surface.plane(t);
        let (foot, place) = nearest(&surface.corners(t), &plane.normal, &local);
        let away = foot - local;
        let distance = away.norm();
        if distance < best.0 {
            let normal = if matches!(place, Place::Inside) || distance <= 0.0 { plane.normal } else { away / distance };
            best = (distance, t, normal);
        }
    }
    let (distance, t, normal) = (best.0, best.1, ground.rotation * best.2);
    let gap = -distance - reach(&-normal);
    let feature = number(6, surface.triangles[t as usize].facet, 0);
    points.push(PairPoint { feature, point: centre + normal * (distance + 0.5 * gap), normal, gap });
}

/// How far a solid reaches from a point along a unit direction.
fn extent(solid: &Geometry, pose: &Pose, n: &Vector3<f64>, from: &Vector3<f64>) -> f64 {
    match &solid.shape {
        Shape::Sphere { radius } => *radius,
        Shape::Capsule { radius, half_length } => radius + Segment::new(pose, *half_length).half.dot(n).abs(),
        Shape::Box { half_extents } => pose.rotation.tr_mul(n).abs().dot(half_extents),
        _ => {
            let vertices = solid.hull.iter().flat_map(|hull| &hull.vertices);
            vertices.map(|v| n.dot(&(pose.apply(v) - from))).fold(0.0, f64::max)
        }
    }
}
