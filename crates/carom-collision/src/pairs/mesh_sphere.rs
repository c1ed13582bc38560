//! Sphere against a surface: the nearest point of each triangle, if the surface falls away from it.

use super::PairPoint;
use super::mesh_patch::{Gathered, number, repeats};
use crate::pose::Pose;
use crate::surface::{LEVEL, Surface};
use nalgebra::Vector3;

/// Points of one direction are one: a sphere touches once along each.
const SAME_DIRECTION: f64 = 1.0 - 1e-13;

/// Where a triangle is nearest to a point.
pub(super) enum Place {
    Inside,
    /// On the edge from corner k to corner k + 1.
    Edge(usize),
    Corner(usize),
}

/// Nearest point of a triangle.
pub(super) fn nearest(corners: &[Vector3<f64>; 3], normal: &Vector3<f64>, point: &Vector3<f64>) -> (Vector3<f64>, Place) {
    let mut best = (f64::INFINITY, *point, Place::Inside);
    let mut inside = true;
    for k in 0..3 {
        let (p, q) = (corners[k], corners[(k + 1) % 3]);
        let along = q - p;
        if normal.dot(&along.cross(&(point - p))) >= 0.0 {
            continue;
        }
        inside = false;
        let t = along.dot(&(point - p)) / along.norm_squared();
        let (foot, place) = if t <= 0.0 {
            (p, Place::Corner(k))
        } else if t >= 1.0 {
            (q, Place::Corner((k + 1) % 3))
        } else {
            (p + along * t, Place::Edge(k))
        };
        let distance = (point - foot).norm_squared();
        if distance < best.0 {
            best = (distance, foot, place);
        }
    }
    if inside { (point - normal * normal.dot(&(point - corners[0])), Place::Inside) } else { (best.1, best.2) }
}

/// Appends the points of a sphere; normals point to it.
pub(super) fn collide(
    centre: &Vector3<f64>,
    radius: f64,
    (surface, pose): (&Surface, &Pose),
    margin: f64,
    gathered: &mut Gathered,
    points: &mut Vec<PairPoint>,
) {
    let local = pose.rotation.tr_mul(&(centre - pose.position));
    let reach = radius + margin.max(0.0);
    gathered.clear();
    surface.for_each_in(&local.add_scalar(-reach), &local.add_scalar(reach), |t| gathered.near.push(t));
    gathered.near.sort_unstable();
    let first = points.len();
    // Height, foot and normal of the way out when the centre is behind all near triangles.
    let mut behind: Option<(f64, u32)> = None;
    for &t in &gathered.near {
        let triangle = &surface.triangles[t as usize];
        let plane = surface.plane(t);
        let height = plane.height(&local);
        if height > radius + margin || height < -reach {
            continue;
        }
        let (foot, place) = nearest(&surface.corners(t), &plane.normal, &local);
        let away = local - foot;
        let distance = away.norm();
        if distance > radius + margin {
            continue;
        }
        // A centre a little behind a facet belongs in front of it; farther behind, the facet may be the back of a plate.
        if height < 0.0 && !(matches!(place, Place::Inside) && height >= -0.5 * radius) {
            if behind.is_none_or(|(best, _)| height > best) {
                behind = Some((height, t));
            }
            continue;
        }
        // Straight above within roundings: the facet.
        let level = match place {
            Place::Inside => true,
            _ => (away - plane.normal * height).norm() <= LEVEL * distance.max(LEVEL * radius),
        };
        let (feature, normal, height) = if level {
            (number(0, triangle.facet, 0), plane.normal, height)
        } else {
            let n = away / distance;
            let (feature, admitted) = match place {
                Place::Edge(k) => (number(1, triangle.edges[k], 0), triangle.sharp[k] && surface.edge_admits(t, k, &n)),
                Place::Corner(k) => {
                    let v = triangle.corners[k];
                    (number(2, v, 0), surface.pointed[v as usize] && surface.vertex_admits(v, &n))
                }
                Place::Inside => continue,
            };
            if !admitted {
                continue;
            }
            (feature, n, distance)
        };
        let same = |p: &PairPoint| p.normal.dot(&normal) > SAME_DIRECTION && (p.gap - (height - radius)).abs() <= LEVEL * radius;
        if !points[first..].iter().any(|p| p.feature == feature || same(p)) {
            push(feature, &local, normal, height, radius, points);
        }
    }
    if points.len() == first
        && let Some((height, t)) = behind
    {
        let facet = surface.triangles[t as usize].facet;
        push(number(0, facet, 0), &local, surface.plane(t).normal, height, radius, points);
    }
    for p in &mut points[first..] {
        p.point = pose.apply(&p.point);
        p.normal = pose.rotation * p.normal;
    }
}

/// A point of a ball about `on_core` at a height above the surface.
pub(super) fn push(feature: u32, on_core: &Vector3<f64>, normal: Vector3<f64>, height: f64, radius: f64, points: &mut Vec<PairPoint>) {
    let gap = height - radius;
    points.push(PairPoint { feature, point: on_core - normal * (height - 0.5 * gap), normal, gap });
}

/// As [`push`], unless the point is there already.
pub(super) fn push_new(
    feature: u32,
    on_core: &Vector3<f64>,
    (normal, height): (Vector3<f64>, f64),
    radius: f64,
    first: usize,
    points: &mut Vec<PairPoint>,
) {
    let point = on_core - normal * (0.5 * (height + radius));
    if !repeats(&points[first..], feature, &point, &normal, 1e-6 * radius) {
        push(feature, on_core, normal, height, radius, points);
    }
}
