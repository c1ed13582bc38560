//! Narrow phase in the plane: contact points of one pair of shapes, one file per pair.
//!
//! Every function appends the points with gap ≤ margin; the normal points from the second shape to the first.

mod convex_chain;
mod convex_convex;
mod core;
mod disk_disk;
mod disk_half_plane;
mod disk_segment;
mod half_plane;

use self::core::{Core, exchanged, feature};
use super::chain::Chain;
use super::placed::PlanarPose;
use super::shapes::PlanarShape;
use nalgebra::Vector2;

/// A point deeper than this fraction of the smaller shape's inner radius is deep: its normal may not be that of the way in.
const DEEP_FRACTION: f64 = 0.5;

/// What was doubtful.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub deep_overlaps: usize,
    pub degenerate: usize,
}

/// Room to work: the shapes in the world, the points of a chain's pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    a: Core,
    b: Core,
    found: Vec<PlanarPoint>,
    /// Of all pairs of a search.
    pub counts: Counts,
}

/// A contact point of a pair: normal from B to A, point half way between the surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlanarPoint {
    /// Number of the features that touch, the same from step to step.
    pub feature: u32,
    pub point: Vector2<f64>,
    pub normal: Vector2<f64>,
    pub gap: f64,
}

/// A disk in the world.
#[derive(Clone, Copy)]
struct WorldDisk {
    centre: Vector2<f64>,
    radius: f64,
}

impl WorldDisk {
    /// Appends the contact with a point of another surface, if it is within the margin; a centre on the point separates along `fallback`.
    fn touch(&self, feature: u32, target: &Vector2<f64>, margin: f64, fallback: Vector2<f64>, points: &mut Vec<PlanarPoint>) {
        let offset = self.centre - target;
        let distance = offset.norm();
        let gap = distance - self.radius;
        if gap <= margin {
            let normal = if distance > 0.0 { offset / distance } else { fallback };
            points.push(PlanarPoint { feature, point: target + normal * (0.5 * gap), normal, gap });
        }
    }
}

/// Appends the contact points of A, the shape of a body, and B with gap ≤ margin, in the order of their features.
pub(super) fn collide(
    a: (&PlanarShape, &PlanarPose),
    b: (&PlanarShape, &PlanarPose),
    margin: f64,
    work: &mut Workspace,
    points: &mut Vec<PlanarPoint>,
) {
    let first = points.len();
    find(a, b, margin, work, points);
    points[first..].sort_unstable_by_key(|point| point.feature);
    let deep = -DEEP_FRACTION * a.0.inner_radius().min(b.0.inner_radius());
    work.counts.deep_overlaps += usize::from(points[first..].iter().any(|point| point.gap < deep));
}

fn find(
    (a, pose_a): (&PlanarShape, &PlanarPose),
    (b, pose_b): (&PlanarShape, &PlanarPose),
    margin: f64,
    work: &mut Workspace,
    points: &mut Vec<PlanarPoint>,
) {
    match (a, b) {
        (PlanarShape::Disk { radius }, PlanarShape::Disk { radius: other }) => {
            work.counts.degenerate += usize::from(pose_a.position == pose_b.position);
            let other = WorldDisk { centre: pose_b.position, radius: *other };
            disk_disk::collide(&WorldDisk { centre: pose_a.position, radius: *radius }, &other, margin, points);
        }
        (PlanarShape::Disk { radius }, PlanarShape::Segment { ends }) => {
            let ends = ends.map(|end| pose_b.point(&end));
            disk_segment::collide(&WorldDisk { centre: pose_a.position, radius: *radius }, ends, margin, points);
        }
        (PlanarShape::Disk { radius }, PlanarShape::HalfPlane { normal }) => {
            let plane = (pose_b.position, pose_b.rotation * normal);
            disk_half_plane::collide(&WorldDisk { centre: pose_a.position, radius: *radius }, plane, margin, points);
        }
        // shapes of obstacles only: no body has them
        (PlanarShape::Segment { .. } | PlanarShape::HalfPlane { .. }, _) => {}
        (PlanarShape::Chain(chain), PlanarShape::HalfPlane { normal }) => {
            half_plane::collide_chain((chain, pose_a), (pose_b.position, pose_b.rotation * normal), margin, points);
        }
        (_, PlanarShape::HalfPlane { normal }) => {
            work.a.place(a, pose_a);
            half_plane::collide(&work.a, (pose_b.position, pose_b.rotation * normal), margin, points);
        }
        (PlanarShape::Chain(of_a), PlanarShape::Chain(of_b)) => chains((of_a, pose_a), (of_b, pose_b), margin, work, points),
        (PlanarShape::Chain(chain), _) => {
            let first = points.len();
            work.a.place(b, &pose_a.frame_of(pose_b));
            convex_chain::collide(&work.a, chain, margin, &mut work.counts, points);
            to_world(pose_a, &mut points[first..]);
            exchange(&mut points[first..]);
        }
        (_, PlanarShape::Chain(chain)) => {
            let first = points.len();
            work.a.place(a, &pose_b.frame_of(pose_a));
            convex_chain::collide(&work.a, chain, margin, &mut work.counts, points);
            to_world(pose_b, &mut points[first..]);
        }
        (_, PlanarShape::Disk { .. }) => {
            let first = points.len();
            work.a.place(a, pose_a);
            work.b.place(b, pose_b);
            convex_convex::collide_point(&work.b, &work.a, margin, &mut work.counts, points);
            exchange(&mut points[first..]);
        }
        (PlanarShape::Disk { .. }, _) => {
            work.a.place(a, pose_a);
            work.b.place(b, pose_b);
            convex_convex::collide_point(&work.a, &work.b, margin, &mut work.counts, points);
        }
        (PlanarShape::Capsule { .. } | PlanarShape::Polygon(_), _) => {
            work.a.place(a, pose_a);
            work.b.place(b, pose_b);
            convex_convex::collide(&work.a, &work.b, margin, &mut work.counts, points);
        }
    }
}

/// Chain against chain: each segment of A by itself against B, its vertices with their numbers in A.
fn chains(
    (a, pose_a): (&Chain, &PlanarPose),
    (b, pose_b): (&Chain, &PlanarPose),
    margin: f64,
    work: &mut Workspace,
    points: &mut Vec<PlanarPoint>,
) {
    let (frame, first) = (pose_b.frame_of(pose_a), points.len());
    for segment in 0..a.n_segments() {
        let ends = [segment, a.end(segment)];
        let [from, to] = ends.map(|i| frame.point(&a.vertices()[i]));
        work.a.span(from, to);
        work.found.clear();
        convex_chain::collide(&work.a, b, margin, &mut work.counts, &mut work.found);
        for point in &work.found {
            let (of_a, of_b) = (point.feature >> 16, point.feature & 0xffff);
            let code = match of_a {
                0 => core::vertex_code(ends[0]),
                2 => core::vertex_code(ends[1]),
                _ => core::edge_code(segment),
            };
            let point = PlanarPoint { feature: feature(code, of_b), ..*point };
            match points[first..].iter_mut().find(|other| other.feature == point.feature) {
                Some(other) if other.gap > point.gap => *other = point,
                Some(_) => {}
                None => points.push(point),
            }
        }
    }
    to_world(pose_b, &mut points[first..]);
}

fn to_world(pose: &PlanarPose, points: &mut [PlanarPoint]) {
    for p in points {
        (p.point, p.normal) = (pose.point(&p.point), pose.rotation * p.normal);
    }
}

/// Points of (B, A) as those of (A, B).
fn exchange(points: &mut [PlanarPoint]) {
    for p in points {
        (p.normal, p.feature) = (-p.normal, exchanged(p.feature));
    }
}
