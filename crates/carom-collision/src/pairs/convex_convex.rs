//! Convex polyhedron against convex polyhedron: separating axes, then the patch of two faces or the crossing of two edges.
//!
//! Penetrating polyhedra: the axis of least depth among the face normals of both and the products of those pairs of
//! edges whose arcs cross on the Gauss map, which are the faces of the Minkowski difference [Gregorius2013]. Separate
//! ones: the distance of the nearest features, vertex and face or edge and edge. All formulas are closed, so that depths
//! and distances are exact up to roundings. Features are physical, whichever face is the reference: a vertex of A, a
//! vertex of B, or an edge of A and an edge of B.

use super::patch::{Clipper, Corner, Frame, Side};
use super::preference::wins;
use super::{PairPoint, nearest_features};
use crate::polyhedron::{Moved, Plane, Polyhedron, View};
use crate::pose::Pose;
use nalgebra::Vector3;

/// Sine of the angle below which two edges count as parallel and give no axis.
const PARALLEL: f64 = 1e-6;
/// Corners of a patch nearer than this fraction of the smaller thickness are one.
const MERGE: f64 = 1e-9;
/// A corner of a patch takes the number of a vertex within this fraction of the smaller thickness, so that flush faces
/// keep their numbers when they slide a little.
const SNAP: f64 = 1e-2;
/// A vertex counts as over a face where it is within the face's prism by this fraction of the smaller thickness: the edge of a face that others
/// continue stops nothing.
const PRISM: f64 = 1e-3;
/// Cosine of the largest angle between the axis of two edges and the faces that make a patch about it: of edges that touch, and (0.05 rad) of those
/// that overlap by more than this part of the smaller thickness, where steep faces are far from each other.
const LEVEL: f64 = 0.3;
const OBLIQUE: f64 = 1.0 - 1.25e-3;
const DEEP: f64 = 0.1;
/// Apart, the nearest points may be missed by this fraction of the smaller thickness: what the preference gives away.
const NEAR: f64 = 2e-6;
/// Roundings of gaps, in the smaller thickness.
const EXACT: f64 = 1e-13;

/// Which axis separates most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Face of A.
    FaceA(u32),
    /// Face of B.
    FaceB(u32),
    /// Edges of A and B.
    Edges(u32, u32),
}

/// A separating axis: unit normal from B to A, and the separation along it (negative: penetration).
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub kind: Kind,
    pub normal: Vector3<f64>,
    pub separation: f64,
}

/// Memory of the pair.
#[derive(Clone, Default)]
pub(super) struct Scratch {
    moved: Moved,
    clipper: Clipper,
    edges_a: Vec<u32>,
    edges_b: Vec<u32>,
}

/// Appends the contact points: corners of the patch of two faces, or one point.
pub(super) fn collide(
    (a, pose_a): (&Polyhedron, &Pose),
    (b, pose_b): (&Polyhedron, &Pose),
    margin: f64,
    scratch: &mut Scratch,
    points: &mut Vec<PairPoint>,
) {
    // A in the frame of B.
    let rotation = pose_b.rotation.tr_mul(&pose_a.rotation);
    let shift = pose_b.rotation.tr_mul(&(pose_a.position - pose_b.position));
    let Scratch { moved, clipper, edges_a, edges_b } = scratch;
    let (a, b) = (moved.place(a, &rotation, &shift), b.view());
    let first = points.len();
    touch(&a, &b, margin, clipper, (edges_a, edges_b), points);
    for p in &mut points[first..] {
        p.point = pose_b.apply(&p.point);
        p.normal = pose_b.rotation * p.normal;
    }
}

/// The points in the common frame of the views.
fn touch(
    a: &View<'_>,
    b: &View<'_>,
    margin: f64,
    clipper: &mut Clipper,
    edges: (&mut Vec<u32>, &mut Vec<u32>),
    points: &mut Vec<PairPoint>,
) {
    let first = points.len();
    let size = a.shape.thickness.min(b.shape.thickness);
    let Some((face, best)) = face_axes(a, b, margin) else { return };
    let mut patch = |axis: &Axis, points: &mut Vec<PairPoint>| match axis.kind {
        Kind::Edges(i, j) => {
            let count = points.len();
            if let Some(face) = level_face(a, b, (i, j), axis) {
                touch_faces((a, face), b, axis, true, (margin, size), clipper, points);
            }
            if points.len() == count {
                touch_edges(a, b, (i, j), axis, margin, points);
            }
        }
        Kind::FaceA(face) => touch_faces((a, face), b, axis, true, (margin, size), clipper, points),
        Kind::FaceB(face) => touch_faces((b, face), a, axis, false, (margin, size), clipper, points),
    };
    if best.separation > 0.0 {
        // A patch that reaches down to the largest separation holds the nearest points: no edges need be looked at.
        patch(&best, points);
        if points[first..].iter().any(|p| p.gap <= best.separation + EXACT * size) {
            add_vertices(a, b, &best, (margin, size), first, points);
            return;
        }
        points.truncate(first);
    }
    let Some((axis, best_edge)) = with_edges(a, b, (face, best), margin, edges) else { return };
    patch(&axis, points);
    let lowest = points[first..].iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    if axis.separation > 0.0 {
        // Apart: the patch holds the nearest points only if it reaches down to the separation.
        if lowest > axis.separation + NEAR * size
            && let Some(nearest) = nearest_features::find(a, b, &axis.normal, margin.min(lowest), MERGE * size)
            && nearest.gap + NEAR * size < lowest
        {
            match points[first..].iter_mut().find(|p| p.feature == nearest.feature) {
                Some(same) => *same = nearest,
                None => points.push(nearest),
            }
        }
    } else if points.len() == first
        && let Some((edge, Kind::Edges(i, j))) = best_edge.map(|edge| (edge, edge.kind))
    {
        // They overlap, their opposed faces do not.
        touch_edges(a, b, (i, j), &edge, margin, points);
    }
    if points.len() == first && axis.separation <= 0.0 {
        // Deep and skew: the vertex of A deepest along the axis stands for the patch.
        let (vertex, _) = a.lowest(&axis.normal, 0);
        let point = a.vertex(vertex) - axis.normal * (0.5 * axis.separation);
        points.push(PairPoint { feature: vertex_of_a(vertex), point, normal: axis.normal, gap: axis.separation });
    }
    add_vertices(a, b, &axis, (margin, size), first, points);
}

/// The face axis with the stated preference, and the one of largest separation; `None` when one separates by more than
/// the margin.
fn face_axes(a: &View<'_>, b: &View<'_>, margin: f64) -> Option<(Axis, Axis)> {
    // The line of centres first: most pairs that are apart end here.
    if let Some(n) = (a.centre - b.centre).try_normalize(f64::MIN_POSITIVE)
        && a.lowest(&n, 0).1 + b.lowest(&-n, 0).1 > margin
    {
        return None;
    }
    let (face_a, sa) = best_face(a, b, margin)?;
    let (face_b, sb) = best_face(b, a, margin)?;
    let of_a = Axis { kind: Kind::FaceA(face_a), normal: -a.plane(face_a).normal, separation: sa };
    let of_b = Axis { kind: Kind::FaceB(face_b), normal: b.plane(face_b).normal, separation: sb };
    let size = a.shape.thickness.min(b.shape.thickness);
    let preferred = if wins((&of_b.normal, sb), (&of_a.normal, sa), size) { of_b } else { of_a };
    Some((preferred, if sa > sb { of_a } else { of_b }))
}

/// The axis of largest separation with the stated preference, and the best edge axis whatever the preference; `None`
/// when some axis separates by more than the margin. Edges are left out that cannot matter.
fn with_edges(
    a: &View<'_>,
    b: &View<'_>,
    (face, best): (Axis, Axis),
    margin: f64,
    (edges_a, edges_b): (&mut Vec<u32>, &mut Vec<u32>),
) -> Option<(Axis, Option<Axis>)> {
    // The edges of the axis of least depth cross at that depth at most.
    let reach = if best.separation > 0.0 { f64::INFINITY } else { -best.separation };
    select_edges(a, b, &best, reach, edges_a, edges_b);
    let mut edge = best_edge_pair(a, b, (edges_a, edges_b), margin)?;
    if reach.is_finite() && edge.is_none_or(|e| e.separation <= 0.0) && !overlaps_surely(a, b, &best) {
        // Perhaps they are apart after all, by edges farther off.
        select_edges(a, b, &best, f64::INFINITY, edges_a, edges_b);
        edge = best_edge_pair(a, b, (edges_a, edges_b), margin)?;
    }
    let size = a.shape.thickness.min(b.shape.thickness);
    let axis = match edge {
        Some(edge) if wins((&edge.normal, edge.separation), (&best.normal, best.separation), size) => edge,
        _ => face,
    };
    Some((axis, edge))
}

/// Face of the first that separates most; `None` when it does by more than the margin.
fn best_face(first: &View<'_>, second: &View<'_>, margin: f64) -> Option<(u32, f64)> {
    let mut best = (0, f64::NEG_INFINITY);
    let mut support = 0;
    for (face, plane) in (0..).zip(first.planes) {
        let (vertex, lowest) = second.lowest(&plane.normal, support);
        support = vertex;
        let separation = lowest - plane.offset;
        if separation > best.1 {
            if separation > margin {
                return None;
            }
            best = (face, separation);
        }
    }
    (best.1 <= margin).then_some(best)
}

/// Whether a point of both is found at once: the deepest vertex along the axis, if the other holds it.
fn overlaps_surely(a: &View<'_>, b: &View<'_>, axis: &Axis) -> bool {
    let (va, _) = a.lowest(&axis.normal, 0);
    let (vb, _) = b.lowest(&-axis.normal, 0);
    b.largest_height(a.vertex(va)).1 <= 0.0 || a.largest_height(b.vertex(vb)).1 <= 0.0
}

/// Edges of A and B with points nearer than `reach` to each other, judged by the slab across the axis and by the
/// bounds of both.
fn select_edges(a: &View<'_>, b: &View<'_>, axis: &Axis, reach: f64, edges_a: &mut Vec<u32>, edges_b: &mut Vec<u32>) {
    edges_a.clear();
    edges_b.clear();
    if !reach.is_finite() {
        edges_a.extend(0..a.shape.edges.len() as u32);
        edges_b.extend(0..b.shape.edges.len() as u32);
        return;
    }
    let bounds = |view: &View<'_>| {
        let (mut lower, mut upper) = (view.vertices[0], view.vertices[0]);
        for v in view.vertices {
            lower = lower.inf(v);
            upper = upper.sup(v);
        }
        (lower, upper)
    };
    // Roundings of the reach must not lose an edge that just touches.
    let reach = reach * (1.0 + 1e-9) + 1e-12 * a.shape.thickness.min(b.shape.thickness);
    let ((lower_a, upper_a), (lower_b, upper_b)) = (bounds(a), bounds(b));
    let (lower, upper) = (lower_a.sup(&lower_b).add_scalar(-reach), upper_a.inf(&upper_b).add_scalar(reach));
    let n = &axis.normal;
    let (low_a, high_b) = (a.lowest(n, 0).1 + 2.0 * reach, -b.lowest(&-n, 0).1 - 2.0 * reach);
    let meets = |p: &Vector3<f64>, q: &Vector3<f64>| (0..3).all(|k| p[k].min(q[k]) <= upper[k] && p[k].max(q[k]) >= lower[k]);
    for edge in 0..a.shape.edges.len() as u32 {
        let [p, q] = a.edge(edge);
        if n.dot(p).min(n.dot(q)) <= low_a && meets(p, q) {
            edges_a.push(edge);
        }
    }
    for edge in 0..b.shape.edges.len() as u32 {
        let [p, q] = b.edge(edge);
        if n.dot(p).max(n.dot(q)) >= high_b && meets(p, q) {
            edges_b.push(edge);
        }
    }
}

/// The pair of edges that separates most among those that make a face of the Minkowski difference; the outer `None`
/// when one separates by more than the margin.
#[allow(clippy::option_option)]
fn best_edge_pair(a: &View<'_>, b: &View<'_>, (edges_a, edges_b): (&[u32], &[u32]), margin: f64) -> Option<Option<Axis>> {
    let mut best: Option<Axis> = None;
    for &ea in edges_a {
        let [p, q] = a.edge(ea);
        let along_a = q - p;
        let [n0, n1] = a.shape.edges[ea as usize].faces.map(|f| a.plane(f).normal);
        for &eb in edges_b {
            let faces_b = b.shape.edges[eb as usize].faces;
            // Arcs (−n₀, −n₁) of A and (m₀, m₁) of B cross on the sphere.
            let (c, d) = (b.plane(faces_b[0]).normal.dot(&along_a), b.plane(faces_b[1]).normal.dot(&along_a));
            if c * d >= 0.0 {
                continue;
            }
            let [r, s] = b.edge(eb);
            let along_b = s - r;
            let (e, f) = (n0.dot(&along_b), n1.dot(&along_b));
            if e * f >= 0.0 || c * f >= 0.0 {
                continue;
            }
            let product = along_a.cross(&along_b);
            let length = product.norm();
            if length * length <= PARALLEL * PARALLEL * along_a.norm_squared() * along_b.norm_squared() {
                continue;
            }
            let normal = if product.dot(&(p - a.centre)) > 0.0 { product / -length } else { product / length };
            let separation = normal.dot(&(p - r));
            if separation > margin {
                return None;
            }
            if best.is_none_or(|x| separation > x.separation) {
                best = Some(Axis { kind: Kind::Edges(ea, eb), normal, separation });
            }
        }
    }
    Some(best)
}

/// Number of a point by the feature of A or B that makes it: two bits of kind, thirty of index.
pub(super) fn vertex_of_a(vertex: u32) -> u32 {
    vertex & 0x3fff_ffff
}

pub(super) fn vertex_of_b(vertex: u32) -> u32 {
    1 << 30 | vertex & 0x3fff_ffff
}

pub(super) fn edge_crossing(edge_a: u32, edge_b: u32) -> u32 {
    2 << 30 | (edge_a & 0x7fff) << 15 | edge_b & 0x7fff
}

/// The face of A at an edge that is most across the axis of two edges, when a face of B is across it, too: the faces make a patch with heights
/// along the axis. Of steep faces only the crossing edges and what is near them is within the margin.
fn level_face(a: &View<'_>, b: &View<'_>, (i, j): (u32, u32), axis: &Axis) -> Option<u32> {
    let is_deep = axis.separation < -DEEP * a.shape.thickness.min(b.shape.thickness);
    let least = if is_deep { OBLIQUE } else { LEVEL };
    let level = |view: &View<'_>, edge: u32, n: Vector3<f64>| {
        let [f, g] = view.shape.edges[edge as usize].faces;
        let [of_f, of_g] = [f, g].map(|face| view.plane(face).normal.dot(&n));
        (of_f.max(of_g) > least).then_some(if of_f >= of_g { f } else { g })
    };
    level(b, j, axis.normal)?;
    level(a, i, -axis.normal)
}

/// Adds the vertices of each polyhedron that are over a face of the other: bodies that turn may touch there next, wherever they are nearest now.
/// Looked at are the vertices within the margin of the other along the axis.
fn add_vertices(a: &View<'_>, b: &View<'_>, axis: &Axis, (margin, size): (f64, f64), first: usize, points: &mut Vec<PairPoint>) {
    let sides = [(b, a, axis.normal, -1.0, vertex_of_b as fn(u32) -> u32), (a, b, -axis.normal, 1.0, vertex_of_a)];
    for (owner, other, towards, sign, number) in sides {
        // heights of the owner's vertices above the other along the axis
        let (_, top) = other.lowest(&towards, 0);
        for (vertex, p) in (0..).zip(owner.vertices) {
            let feature = number(vertex);
            if -towards.dot(p) + top > margin || points[first..].iter().any(|point| point.feature == feature) {
                continue;
            }
            for (face, plane) in (0..).zip(other.planes) {
                let height = plane.height(p);
                let faces_owner = plane.normal.dot(&towards) < 0.0;
                if faces_owner && height > EXACT * size && height <= margin && nearest_features::is_well_over(other, face, p, PRISM * size)
                {
                    let point = p - plane.normal * (0.5 * height);
                    points.push(PairPoint { feature, point, normal: plane.normal * sign, gap: height });
                    break;
                }
            }
        }
    }
}

/// Corners of the patch of the reference face with the opposed face of the other, seen along the axis.
fn touch_faces(
    (reference, face): (&View<'_>, u32),
    incident: &View<'_>,
    axis: &Axis,
    reference_is_a: bool,
    (margin, size): (f64, f64),
    clipper: &mut Clipper,
    points: &mut Vec<PairPoint>,
) {
    let plane: &Plane = reference.plane(face);
    let ring = reference.shape.ring(face);
    let (p0, p1) = (reference.vertex(ring[0]), reference.vertex(ring[1]));
    let outward = if reference_is_a { -axis.normal } else { axis.normal };
    let frame = Frame::new(plane, p0, &(p1 - p0)).along(&outward);
    let (deepest, _) = incident.lowest(&outward, 0);
    let opposed = incident.face_at(deepest, &-outward);
    clipper.start(&frame, incident, opposed);
    clipper.clip_to_face(&frame, reference, face, MERGE * size);
    clipper.simplify(MERGE * size);
    let first = points.len();
    for corner in clipper.corners() {
        if corner.height <= margin {
            let feature = feature_of(corner, (reference, incident), &frame, reference_is_a, SNAP * size);
            let point = frame.world(corner.x, corner.y, 0.5 * corner.height);
            points.push(PairPoint { feature, point, normal: axis.normal, gap: corner.height });
        }
    }
    make_features_unique(&mut points[first..]);
}

/// Number of a corner: the vertex that it is or is near to, A's before B's, or the edges that cross there.
fn feature_of(corner: &Corner, (reference, incident): (&View<'_>, &View<'_>), frame: &Frame, reference_is_a: bool, reach: f64) -> u32 {
    let number_reference = |v: u32| if reference_is_a { vertex_of_a(v) } else { vertex_of_b(v) };
    let number_incident = |v: u32| if reference_is_a { vertex_of_b(v) } else { vertex_of_a(v) };
    let near = |view: &View<'_>, edge: u32| {
        view.shape.edges[edge as usize].ends.into_iter().find(|&v| {
            let (x, y, _) = frame.local(view.vertex(v));
            (x - corner.x).hypot(y - corner.y) < reach
        })
    };
    let common = |view: &View<'_>, e: u32, f: u32| {
        let (e, f) = (view.shape.edges[e as usize].ends, view.shape.edges[f as usize].ends);
        e.into_iter().find(|v| f.contains(v))
    };
    match (corner.before, corner.after) {
        (Side::Incident(e), Side::Incident(f)) => match common(incident, e, f) {
            Some(v) => number_incident(v),
            None => edge_crossing(e, f),
        },
        (Side::Reference(e), Side::Reference(f)) => match common(reference, e, f) {
            Some(v) => number_reference(v),
            None => edge_crossing(e, f),
        },
        (Side::Reference(r), Side::Incident(i)) | (Side::Incident(i), Side::Reference(r)) => {
            let (of_reference, of_incident) = (near(reference, r).map(number_reference), near(incident, i).map(number_incident));
            let (of_a, of_b) = if reference_is_a { (of_reference, of_incident) } else { (of_incident, of_reference) };
            let crossing = if reference_is_a { edge_crossing(r, i) } else { edge_crossing(i, r) };
            of_a.or(of_b).unwrap_or(crossing)
        }
    }
}

/// Numbers that repeat within a pair count on until they are free.
pub(super) fn make_features_unique(points: &mut [PairPoint]) {
    for i in 1..points.len() {
        let (before, rest) = points.split_at_mut(i);
        while before.iter().any(|p| p.feature == rest[0].feature) {
            rest[0].feature = rest[0].feature.wrapping_add(3 << 28 | 1);
        }
    }
}

/// The one point where an edge of A crosses an edge of B.
fn touch_edges(a: &View<'_>, b: &View<'_>, (i, j): (u32, u32), axis: &Axis, margin: f64, points: &mut Vec<PairPoint>) {
    let (on_a, on_b) = (nearest_features::segment(a, i), nearest_features::segment(b, j));
    let (s, t) = on_a.nearest_pair(&on_b);
    // Apart and nearest at an end: a vertex is involved, and the distance is more than the separation.
    let at_an_end = s.abs() >= 1.0 || t.abs() >= 1.0;
    if axis.separation > 0.0 && at_an_end {
        return;
    }
    if axis.separation <= margin {
        let point = 0.5 * (on_a.at(s) + on_b.at(t));
        points.push(PairPoint { feature: edge_crossing(i, j), point, normal: axis.normal, gap: axis.separation });
    }
}

#[cfg(test)]
#[path = "convex_convex_tests.rs"]
mod tests;
