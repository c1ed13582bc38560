//! Box against box: separating axes, then either the overlap polygon of two faces or the crossing of two edges.
//!
//! The fifteen axes are the face normals of both and the products of their edges [Gottschalk1996]. Face contact is
//! preferred to edge contact, and A's face to B's, unless the other is better by a clear margin: otherwise a stack of
//! equal boxes would change its reference face with every rounding; see `preference.rs`. Features are physical, whichever face is the
//! reference: a corner of A, a corner of B, or the crossing of an edge of A with an edge of B.

use super::PairPoint;
use super::clipping::{Corner, Face, Polygon, Side};
use super::oriented_box::OrientedBox;
use super::preference::{bias, wins};
use super::segment::Segment;
use nalgebra::Vector3;

/// Sine of the angle below which two edges count as parallel and give no axis.
const PARALLEL: f64 = 1e-6;
/// Corners of the overlap nearer than this fraction of the smallest half extent are one.
const MERGE: f64 = 1e-9;
/// A corner of the overlap takes the number of a box corner within this fraction of the smallest half extent, so that
/// flush boxes keep their numbers when they slide a little.
const SNAP: f64 = 1e-2;
/// A corner counts as over a face where it is within the face's prism by this fraction of the smallest half extent.
const PRISM: f64 = 1e-3;

/// Which axis separates most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Face of A across this axis.
    FaceA(usize),
    /// Face of B across this axis.
    FaceB(usize),
    /// Edges along these axes of A and B.
    Edges(usize, usize),
}

/// A separating axis: unit normal from B to A, and the separation along it (negative: penetration).
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub kind: Kind,
    pub normal: Vector3<f64>,
    pub separation: f64,
}

/// Appends the contact points: up to eight corners of the overlap of two faces, or one point.
pub(super) fn collide(a: &OrientedBox, b: &OrientedBox, margin: f64, points: &mut Vec<PairPoint>) {
    let Some((axis, best_edge)) = separating_axis(a, b, margin) else {
        return;
    };
    let first = points.len();
    match axis.kind {
        Kind::Edges(i, j) => {
            // the faces beside the edges make a patch with heights along the normal of the edges; the one more across it is the reference
            let (in_a, in_b) = (a.axes.tr_mul(&axis.normal), b.axes.tr_mul(&axis.normal));
            if in_a.amax() >= in_b.amax() {
                touch_faces((a, in_a.iamax()), b, &axis, true, margin, points);
            } else {
                touch_faces((b, in_b.iamax()), a, &axis, false, margin, points);
            }
            if points.len() == first {
                touch_edges(a, b, (i, j), &axis, margin, points);
            }
        }
        Kind::FaceA(k) => touch_faces((a, k), b, &axis, true, margin, points),
        Kind::FaceB(k) => touch_faces((b, k), a, &axis, false, margin, points),
    }
    if axis.separation > 0.0 {
        add_nearest(a, b, &axis, margin, first, points);
    } else if points.len() == first
        && let Some((edge, Kind::Edges(i, j))) = best_edge.map(|edge| (edge, edge.kind))
    {
        // The boxes overlap, their opposed faces do not.
        touch_edges(a, b, (i, j), &edge, margin, points);
    }
    add_corners(a, b, margin, first, points);
}

/// Adds the corners of each box that are over a face of the other: boxes that turn may touch there next, wherever they are nearest now.
///
/// A corner is over a face where it lies within the prism of the face by a clear margin: the edge of a face that others continue stops nothing.
fn add_corners(a: &OrientedBox, b: &OrientedBox, margin: f64, first: usize, points: &mut Vec<PairPoint>) {
    let inner = PRISM * smallest_half(a, b);
    for (owner, other, number, sign) in [(b, a, corner_of_b as fn(u32) -> u32, -1.0), (a, b, corner_of_a, 1.0)] {
        // the corners of the owner in the frame of the other
        let middle = other.axes.tr_mul(&(owner.centre - other.centre));
        let edges = other.axes.tr_mul(&owner.axes) * nalgebra::Matrix3::from_diagonal(&owner.half);
        for corner in 0..8_u32 {
            let side = |k: usize| if corner >> k & 1 == 1 { 1.0 } else { -1.0 };
            let p = middle + edges.column(0) * side(0) + edges.column(1) * side(1) + edges.column(2) * side(2);
            let height = p.abs() - other.half;
            let k = height.imax();
            let beside = height[(k + 1) % 3].max(height[(k + 2) % 3]);
            let feature = number(corner);
            if height[k] > margin || beside > (-inner).min(height[k]) || points[first..].iter().any(|p| p.feature == feature) {
                continue;
            }
            let outward = other.axis(k) * p[k].signum();
            let point = owner.corner(corner) - outward * (0.5 * height[k]);
            points.push(PairPoint { feature, point, normal: outward * sign, gap: height[k] });
        }
    }
}

/// Adds the nearest points of boxes that are apart, unless the points found are as near within the bias.
fn add_nearest(a: &OrientedBox, b: &OrientedBox, axis: &Axis, margin: f64, first: usize, points: &mut Vec<PairPoint>) {
    let lowest = points[first..].iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    let bias = |s: f64| bias(true, s, smallest_half(a, b));
    if lowest <= axis.separation + bias(axis.separation) {
        return;
    }
    let nearest = nearest_point(a, b, axis);
    if nearest.gap <= margin && nearest.gap + bias(nearest.gap) < lowest {
        match points[first..].iter_mut().find(|p| p.feature == nearest.feature) {
            Some(same) => *same = nearest,
            None => points.push(nearest),
        }
    }
}

/// The axis of largest separation with the preferences stated above, and the best edge axis whatever the preference;
/// `None` when some axis separates by more than the margin.
pub(super) fn separating_axis(a: &OrientedBox, b: &OrientedBox, margin: f64) -> Option<(Axis, Option<Axis>)> {
    let offset = a.centre - b.centre;
    let toward_a = |axis: Vector3<f64>, distance: f64| if distance < 0.0 { -axis } else { axis };
    let relative = a.axes.tr_mul(&b.axes);
    let absolute = relative.abs();
    let (in_a, in_b) = (a.axes.tr_mul(&offset), b.axes.tr_mul(&offset));

    let separation_a = in_a.abs() - a.half - absolute * b.half;
    let separation_b = in_b.abs() - b.half - absolute.tr_mul(&a.half);
    let (ka, kb) = (separation_a.imax(), separation_b.imax());
    let (sa, sb) = (separation_a[ka], separation_b[kb]);
    if !(sa <= margin && sb <= margin) {
        return None;
    }

    let mut best_edge: Option<(usize, usize, Vector3<f64>, f64)> = None;
    for i in 0..3 {
        let (p, q) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            // e_i × (column j), in A's frame.
            let mut axis = Vector3::zeros();
            axis[p] = -relative[(q, j)];
            axis[q] = relative[(p, j)];
            let length = axis.norm();
            if length < PARALLEL {
                continue;
            }
            let reach_a = a.half[p] * absolute[(q, j)] + a.half[q] * absolute[(p, j)];
            // A triple product with b_j vanishes for j itself.
            let (r, s) = ((j + 1) % 3, (j + 2) % 3);
            let reach_b = b.half[r] * absolute[(i, s)] + b.half[s] * absolute[(i, r)];
            let distance = axis.dot(&in_a);
            let separation = (distance.abs() - reach_a - reach_b) / length;
            if separation > margin {
                return None;
            }
            if best_edge.is_none_or(|(.., best)| separation > best) {
                best_edge = Some((i, j, toward_a(axis / length, distance), separation));
            }
        }
    }

    let size = smallest_half(a, b);
    let best_edge = best_edge.map(|(i, j, axis, separation)| Axis { kind: Kind::Edges(i, j), normal: a.axes * axis, separation });
    let face_a = Axis { kind: Kind::FaceA(ka), normal: toward_a(a.axis(ka), in_a[ka]), separation: sa };
    let face_b = Axis { kind: Kind::FaceB(kb), normal: toward_a(b.axis(kb), in_b[kb]), separation: sb };
    let best_face = if sb > sa { face_b } else { face_a };
    let axis = match best_edge {
        Some(edge) if wins((&edge.normal, edge.separation), (&best_face.normal, best_face.separation), size) => edge,
        _ if wins((&face_b.normal, sb), (&face_a.normal, sa), size) => face_b,
        _ => face_a,
    };
    Some((axis, best_edge))
}

fn smallest_half(a: &OrientedBox, b: &OrientedBox) -> f64 {
    a.half.min().min(b.half.min())
}

/// Number of a point by the feature of A or B that makes it.
fn corner_of_a(corner: u32) -> u32 {
    corner
}

fn corner_of_b(corner: u32) -> u32 {
    8 + corner
}

fn edge_crossing(edge_a: u32, edge_b: u32) -> u32 {
    16 + 12 * edge_a + edge_b
}

/// Corners of the overlap of the reference face with the opposed face of the other box.
fn touch_faces(
    (reference_box, k): (&OrientedBox, usize),
    incident_box: &OrientedBox,
    axis: &Axis,
    reference_is_a: bool,
    margin: f64,
    points: &mut Vec<PairPoint>,
) {
    let outward = if reference_is_a { -axis.normal } else { axis.normal };
    let reference = Face::new(reference_box, k, &outward).along(&outward);
    let opposed = Face::most_opposed_axis(incident_box, &outward);
    let incident = Face::new(incident_box, opposed, &-outward);
    let size = smallest_half(reference_box, incident_box);
    let polygon = Polygon::overlap(&reference, (&incident, incident_box), MERGE * size);

    let features = {
        let (of_reference, of_incident) = ((&reference, reference_box), (&incident, incident_box));
        let (of_a, of_b) = if reference_is_a { (of_reference, of_incident) } else { (of_incident, of_reference) };
        let mut features = [None; 16];
        let snapped = &mut features[..polygon.corners().len()];
        snap(polygon.corners(), &reference, of_a, corner_of_a, SNAP * size, snapped);
        snap(polygon.corners(), &reference, of_b, corner_of_b, SNAP * size, snapped);
        features
    };
    let normal = axis.normal;
    for (index, corner) in polygon.corners().iter().enumerate() {
        if corner.height <= margin {
            let feature = features[index].unwrap_or_else(|| crossing(corner, reference_is_a, index as u32));
            let point = reference.world(corner.x, corner.y, 0.5 * corner.height);
            points.push(PairPoint { feature, point, normal, gap: corner.height });
        }
    }
}

/// Gives to each corner of a box's face the nearest corner of the overlap that has no number yet.
fn snap(
    overlap: &[Corner],
    frame: &Face,
    (face, owner): (&Face, &OrientedBox),
    number: fn(u32) -> u32,
    reach: f64,
    features: &mut [Option<u32>],
) {
    for corner in face.corners() {
        let p = frame.local(&owner.corner(corner));
        let mut nearest = (reach * reach, None);
        for (k, candidate) in overlap.iter().enumerate() {
            let (x, y) = (candidate.x - p.x, candidate.y - p.y);
            let distance = x * x + y * y;
            if distance < nearest.0 && features[k].is_none() {
                nearest = (distance, Some(k));
            }
        }
        if let Some(k) = nearest.1 {
            features[k] = Some(number(corner));
        }
    }
}

/// Number of a corner that two edges make.
fn crossing(corner: &Corner, reference_is_a: bool, index: u32) -> u32 {
    let (reference, incident) = match (corner.before, corner.after) {
        (Side::Reference(r), Side::Incident(i)) | (Side::Incident(i), Side::Reference(r)) => (r, i),
        // Only box corners have two edges of one box, and these were numbered before.
        _ => return edge_crossing(12, index),
    };
    if reference_is_a { edge_crossing(reference, incident) } else { edge_crossing(incident, reference) }
}

/// The one point where an edge of A crosses an edge of B.
fn touch_edges(a: &OrientedBox, b: &OrientedBox, (i, j): (usize, usize), axis: &Axis, margin: f64, points: &mut Vec<PairPoint>) {
    let normal = axis.normal;
    let edge_a = OrientedBox::edge_through(i, a.support_corner(&-normal));
    let edge_b = OrientedBox::edge_through(j, b.support_corner(&normal));
    let (on_a, on_b) = (edge_segment(a, edge_a), edge_segment(b, edge_b));
    let (s, t) = on_a.nearest_pair(&on_b);
    // Apart and nearest at an end: a corner is involved, and the distance is more than the separation.
    let at_an_end = s.abs() >= 1.0 || t.abs() >= 1.0;
    if axis.separation > 0.0 && at_an_end {
        return;
    }
    if axis.separation <= margin {
        let point = 0.5 * (on_a.at(s) + on_b.at(t));
        points.push(PairPoint { feature: edge_crossing(edge_a, edge_b), point, normal, gap: axis.separation });
    }
}

fn edge_segment(owner: &OrientedBox, edge: u32) -> Segment {
    let (middle, half) = owner.edge(edge);
    Segment { middle, half }
}

/// The nearest points of two boxes that are apart: a corner and the other box, or two edges.
fn nearest_point(a: &OrientedBox, b: &OrientedBox, axis: &Axis) -> PairPoint {
    let mut best = (f64::INFINITY, 0, Vector3::zeros(), Vector3::zeros());
    let mut consider = |feature: u32, on_a: Vector3<f64>, on_b: Vector3<f64>| {
        let distance = (on_a - on_b).norm();
        // Corners come first: an equally near pair of edges adds nothing.
        if distance < best.0 * (1.0 - 1e-12) {
            best = (distance, feature, on_a, on_b);
        }
    };
    for corner in 0..8 {
        let p = a.corner(corner);
        consider(corner_of_a(corner), p, b.nearest(&p));
    }
    for corner in 0..8 {
        let p = b.corner(corner);
        consider(corner_of_b(corner), a.nearest(&p), p);
    }
    for edge_a in 0..12 {
        let on_a = edge_segment(a, edge_a);
        for edge_b in 0..12 {
            let on_b = edge_segment(b, edge_b);
            let (s, t) = on_a.nearest_pair(&on_b);
            consider(edge_crossing(edge_a, edge_b), on_a.at(s), on_b.at(t));
        }
    }
    let (gap, feature, on_a, on_b) = best;
    // A difference of nearly equal points has no direction: take the axis then.
    let noise = MERGE * smallest_half(a, b);
    let normal = if gap > noise { (on_a - on_b) / gap } else { axis.normal };
    PairPoint { feature, point: 0.5 * (on_a + on_b), normal, gap }
}

#[cfg(test)]
#[path = "box_box_tests.rs"]
mod tests;
