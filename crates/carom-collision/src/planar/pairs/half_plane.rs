//! Capsules, polygons and chains against a half-plane: every vertex within the margin, gap = n·(v − o) − r.

use super::super::chain::Chain;
use super::super::placed::PlanarPose;
use super::PlanarPoint;
use super::core::{Core, feature, vertex_code};
use nalgebra::Vector2;

fn touch(v: &Vector2<f64>, radius: f64, i: usize, (origin, normal): (Vector2<f64>, Vector2<f64>), margin: f64) -> Option<PlanarPoint> {
    let gap = normal.dot(&(v - origin)) - radius;
    let point = v - normal * (radius + 0.5 * gap);
    (gap <= margin).then_some(PlanarPoint { feature: feature(vertex_code(i), 0), point, normal, gap })
}

/// Appends the points of a core; the half-plane is given by a point of its line and its outward unit normal.
pub(super) fn collide(a: &Core, plane: (Vector2<f64>, Vector2<f64>), margin: f64, points: &mut Vec<PlanarPoint>) {
    points.extend(a.vertices.iter().enumerate().filter_map(|(i, v)| touch(v, a.radius, i, plane, margin)));
}

/// Appends the points of a chain: its vertices but those on a straight line.
pub(super) fn collide_chain(
    (chain, pose): (&Chain, &PlanarPose),
    plane: (Vector2<f64>, Vector2<f64>),
    margin: f64,
    points: &mut Vec<PlanarPoint>,
) {
    let vertices = chain.vertices().iter().enumerate().filter(|(i, _)| !chain.is_straight(*i));
    points.extend(vertices.filter_map(|(i, v)| touch(&pose.point(v), 0.0, i, plane, margin)));
}
