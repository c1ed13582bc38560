//! Cylinder or cone against a surface of triangles.
//!
//! Each near triangle is a flat polytope of its own. Where the deepest point of the solid lies over the triangle, the
//! contact is with its facet; otherwise the direction of largest separation counts only if the surface admits it at
//! the triangle's edge or corner, that is, falls away on all sides. Points of one facet are joined, so that the
//! triangulation of a flat part cannot be felt.

use super::ALIGNED;
use super::core::Core;
use super::facets::Facets;
use super::feature::{FACE_SIDE, Feature, RIM_IN};
use super::nearness::Pair;
use super::patch::{NONE, Patch};
use super::polish::Direction;
use crate::pairs::mesh_convex::frame_of;
use crate::pairs::mesh_patch::{FacetCorner, Gathered, number, repeats};
use crate::pairs::{Geometry, PairPoint};
use crate::pose::Pose;
use crate::surface::Surface;
use nalgebra::{UnitQuaternion, Vector3};

/// Points nearer than this fraction of the solid's size are one.
const MERGE: f64 = 1e-9;

/// Appends the points; normals point to the solid.
pub(in crate::pairs) fn collide(
    (solid, pose): (&Geometry, &Pose),
    (surface, ground): (&Surface, &Pose),
    margin: f64,
    gathered: &mut Gathered,
    points: &mut Vec<PairPoint>,
) {
    let position = ground.rotation.tr_mul(&(pose.position - ground.position));
    let rotation = ground.rotation.tr_mul(&pose.rotation);
    let local = Pose { position, rotation, quaternion: ground.quaternion.inverse() * pose.quaternion };
    let Some(core) = Core::revolved(&solid.shape, &local) else { return };
    let (lower, upper) = solid.shape.bounds_by_matrix(&local.position, &local.rotation);
    let reach = margin.max(0.0);
    gathered.clear();
    surface.for_each_in(&lower.add_scalar(-reach), &upper.add_scalar(reach), |t| gathered.near.push(t));
    gathered.near.sort_unstable();
    let first = points.len();
    for k in 0..gathered.near.len() {
        touch_triangle(&core, 0.5 * solid.thinnest, surface, gathered.near[k], margin, gathered, (first, &mut *points));
    }
    gathered.for_each_corner(MERGE * core.size, |corner| {
        let frame = frame_of(&surface.facets[corner.facet as usize]);
        let point = frame.world(corner.x, corner.y, 0.5 * corner.height);
        points.push(PairPoint { feature: corner.feature, point, normal: frame.up, gap: corner.height });
    });
    for p in &mut points[first..] {
        p.point = ground.apply(&p.point);
        p.normal = ground.rotation * p.normal;
    }
}

/// Contacts with one triangle: corners of its facet's patch into `gathered`, others into the points.
fn touch_triangle(
    core: &Core<'_>,
    half_thickness: f64,
    surface: &Surface,
    t: u32,
    margin: f64,
    gathered: &mut Gathered,
    (first, points): (usize, &mut Vec<PairPoint>),
) {
    let plane = surface.plane(t);
    // a centre far behind: the back of a plate
    if plane.height(&core.centre) < -0.5 * half_thickness {
        return;
    }
    let (corners, normals) = (surface.corners(t), [plane.normal, -plane.normal]);
    let identity = Pose { position: corners[0], ..Pose::new(Vector3::zeros(), UnitQuaternion::identity()) };
    let about = corners.map(|corner| corner - corners[0]);
    let triangle = Core::polytope(Facets::of_triangle(&about, &normals), &identity);
    let pair = Pair::new(*core, triangle);
    let upward = Direction { normal: plane.normal, separation: pair.separation(&plane.normal) };
    if upward.separation > margin {
        return;
    }
    if upward.separation < 0.0 && leaves_elsewhere(&pair, surface, t, upward.separation) {
        return;
    }
    let start = points.len();
    let mut patch = Patch::new(&pair, upward, margin, points);
    patch.fill_flat();
    let mut on_facet = !patch.is_lost();
    if !on_facet {
        points.truncate(start);
        let Some(found) = pair.separate(margin) else { return };
        on_facet = (found.best.normal - plane.normal).norm() < ALIGNED || !admitted(&triangle, surface, t, &found.best.normal);
        let best = if on_facet { upward } else { found.best };
        let mut patch = Patch::new(&pair, best, margin, points);
        if on_facet {
            patch.fill_flat();
        } else {
            patch.fill();
        }
    }
    if on_facet {
        keep_patch(surface, t, &points[start..], gathered);
        points.truncate(start);
        return;
    }
    let mut kept = start;
    for k in start..points.len() {
        let mut point = points[k];
        point.feature = number(9, point.feature, surface.triangles[t as usize].corners[0]);
        if !repeats(&points[first..kept], point.feature, &point.point, &point.normal, MERGE * core.size) {
            points[kept] = point;
            kept += 1;
        }
    }
    points.truncate(kept);
}

/// Whether the way out of the solid is shorter along the normal of a neighbour that falls away from the triangle.
fn leaves_elsewhere(pair: &Pair<'_>, surface: &Surface, t: u32, depth: f64) -> bool {
    let here = &surface.triangles[t as usize];
    let tolerance = MERGE * pair.size();
    let neighbours =
        here.corners.iter().flat_map(|&v| surface.around(v)).filter(|&&other| surface.triangles[other as usize].facet != here.facet);
    neighbours.into_iter().any(|&other| {
        let plane = surface.plane(other);
        let falls = surface.corners(t).iter().all(|corner| plane.height(corner) <= tolerance);
        falls && pair.separation(&plane.normal) > depth + tolerance
    })
}

/// Whether all triangles at a vertex belong to one facet and surround it.
fn is_within(surface: &Surface, vertex: u32, facet: u32) -> bool {
    surface.around(vertex).iter().all(|&t| {
        let triangle = &surface.triangles[t as usize];
        let open = |k: usize| {
            triangle.across[k] == crate::surface::NONE && (triangle.corners[k] == vertex || triangle.corners[(k + 1) % 3] == vertex)
        };
        triangle.facet == facet && !(0..3).any(open)
    })
}

/// Whether the surface falls away along a direction from the triangle's edge or corner that it meets.
fn admitted(triangle: &Core<'_>, surface: &Surface, t: u32, n: &Vector3<f64>) -> bool {
    let corner = |number: u32| surface.triangles[t as usize].corners[number as usize % 3];
    match Feature::level_line(triangle, n, ALIGNED) {
        // the edges of the triangle begin at the corner of their number
        Some(line) => surface.edge_admits(t, line.end_numbers[0] as usize, n),
        None => {
            let super::core::Body::Polytope(facets) = &triangle.body else { return false };
            surface.vertex_admits(corner(facets.farthest(n) as u32), n)
        }
    }
}

/// Keeps the corners of the patch on a triangle, except vertices within the facet and crossings of the rim with edges within.
fn keep_patch(surface: &Surface, t: u32, points: &[PairPoint], gathered: &mut Gathered) {
    let triangle = &surface.triangles[t as usize];
    let facet = triangle.facet;
    let frame = frame_of(&surface.facets[facet as usize]);
    for p in points {
        let (solid, other) = (p.feature >> 16, p.feature & 0xffff);
        let (rank, feature) = if other == NONE {
            (0, number(6, solid, facet))
        } else if solid == NONE {
            if is_within(surface, triangle.corners[other as usize % 3], facet) {
                continue;
            }
            (1, number(7, triangle.corners[other as usize % 3], facet))
        } else {
            let k = (other & (FACE_SIDE - 1)) as usize % 3;
            let within = surface.triangles.get(triangle.across[k] as usize).is_some_and(|next| next.facet == facet);
            if within && solid >= RIM_IN {
                continue;
            }
            (2, number(8, solid, triangle.edges[k]))
        };
        let (x, y, _) = frame.local(&p.point);
        gathered.corners.push(FacetCorner { facet, x, y, height: p.gap, feature, rank });
    }
}
