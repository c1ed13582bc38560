//! Narrow phase: contact points of one pair of shapes, one file per pair.
//!
//! Every function appends the points with gap ≤ margin; the normal points from the second shape to the first.

mod box_box;
mod box_plane;
mod capsule_capsule;
mod capsule_plane;
mod capsule_sphere;
mod clipping;
mod convex_plane;
mod oriented_box;
mod rim_plane;
mod segment;
mod sphere_box;
mod sphere_plane;
mod sphere_sphere;

use crate::backend::manifold::{ConvexShape, Manifolds};
use crate::polyhedron::Polyhedron;
use crate::pose::Pose;
use crate::shapes::{Shape, ShapeError, hull_of};
use nalgebra::Vector3;
use oriented_box::OrientedBox;
use segment::Segment;
use std::sync::Arc;

/// A contact point of a pair: normal from B to A, point half way between the surfaces, all in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairPoint {
    pub feature: u32,
    pub point: Vector3<f64>,
    pub normal: Vector3<f64>,
    pub gap: f64,
}

/// A shape with what the narrow phase derives from it once.
#[derive(Clone)]
pub(crate) struct Geometry {
    pub shape: Shape,
    /// Hull of a convex shape.
    pub hull: Option<Arc<Polyhedron>>,
    pub convex: Option<ConvexShape>,
}

impl Geometry {
    /// Checks a shape and derives what belongs to it. O(n log n) for hulls and meshes.
    pub fn new(shape: &Shape) -> Result<Self, ShapeError> {
        let mut hull = None;
        match shape {
            Shape::Convex { vertices } => hull = Some(Arc::new(hull_of(vertices)?)),
            other => other.validate()?,
        }
        let vertices: &[Vector3<f64>] = hull.as_ref().map_or(&[], |h| &h.vertices);
        Ok(Self { shape: shape.clone(), convex: ConvexShape::new(shape, vertices), hull })
    }
}

/// Upper face of a half-space.
struct WorldPlane {
    origin: Vector3<f64>,
    normal: Vector3<f64>,
}

impl WorldPlane {
    fn height(&self, point: &Vector3<f64>) -> f64 {
        self.normal.dot(&(point - self.origin))
    }

    /// Appends a surface point of a shape against the plane if it is within the margin.
    fn touch(&self, feature: u32, surface: Vector3<f64>, margin: f64, points: &mut Vec<PairPoint>) {
        let gap = self.height(&surface);
        if gap <= margin {
            points.push(PairPoint { feature, point: surface - self.normal * (0.5 * gap), normal: self.normal, gap });
        }
    }
}

/// Appends the contact points of A and B with gap ≤ margin, in the order of their features.
pub(crate) fn collide(
    (a, pose_a): (&Geometry, &Pose),
    (b, pose_b): (&Geometry, &Pose),
    margin: f64,
    manifolds: &mut Manifolds,
    points: &mut Vec<PairPoint>,
) {
    let first = points.len();
    if !own_pair((a, pose_a), (b, pose_b), margin, points) {
        if own_pair((b, pose_b), (a, pose_a), margin, points) {
            points[first..].iter_mut().for_each(|p| p.normal = -p.normal);
        } else if let (Some(convex_a), Some(convex_b)) = (&a.convex, &b.convex) {
            manifolds.collide((convex_a, pose_a), (convex_b, pose_b), margin, points);
        }
    }
    points[first..].sort_unstable_by_key(|p| p.feature);
}

/// The pairs with formulas of our own, in one of the two orders; false when there is none.
fn own_pair((a, pose_a): (&Geometry, &Pose), (b, pose_b): (&Geometry, &Pose), margin: f64, points: &mut Vec<PairPoint>) -> bool {
    let plane = |normal: &Vector3<f64>| WorldPlane { origin: pose_b.position, normal: pose_b.rotation * normal };
    match (&a.shape, &b.shape) {
        (Shape::Sphere { radius }, Shape::Plane { normal }) => {
            sphere_plane::collide(&pose_a.position, *radius, &plane(normal), margin, points);
        }
        (Shape::Box { half_extents }, Shape::Plane { normal }) => {
            box_plane::collide(&OrientedBox::new(pose_a, half_extents), &plane(normal), margin, points);
        }
        (Shape::Capsule { radius, half_length }, Shape::Plane { normal }) => {
            capsule_plane::collide(&Segment::new(pose_a, *half_length), *radius, &plane(normal), margin, points);
        }
        (Shape::Cylinder { radius, half_length }, Shape::Plane { normal }) => {
            rim_plane::collide_cylinder(pose_a, *radius, *half_length, &plane(normal), margin, points);
        }
        (Shape::Cone { radius, half_height }, Shape::Plane { normal }) => {
            rim_plane::collide_cone(pose_a, *radius, *half_height, &plane(normal), margin, points);
        }
        (Shape::Convex { .. }, Shape::Plane { normal }) => {
            let vertices: &[Vector3<f64>] = a.hull.as_ref().map_or(&[], |hull| &hull.vertices);
            convex_plane::collide(vertices, pose_a, &plane(normal), margin, points);
        }
        (Shape::Sphere { radius: ra }, Shape::Sphere { radius: rb }) => {
            sphere_sphere::collide(&pose_a.position, *ra, &pose_b.position, *rb, margin, points);
        }
        (Shape::Sphere { radius }, Shape::Box { half_extents }) => {
            let target = OrientedBox::new(pose_b, half_extents);
            sphere_box::collide(&pose_a.position, *radius, &target, margin, points);
        }
        (Shape::Capsule { radius, half_length }, Shape::Sphere { radius: ball }) => {
            let segment = Segment::new(pose_a, *half_length);
            capsule_sphere::collide(&segment, *radius, &pose_b.position, *ball, margin, points);
        }
        (Shape::Capsule { radius: ra, half_length: la }, Shape::Capsule { radius: rb, half_length: lb }) => {
            let (sa, sb) = (Segment::new(pose_a, *la), Segment::new(pose_b, *lb));
            capsule_capsule::collide((&sa, *ra), (&sb, *rb), margin, points);
        }
        (Shape::Box { half_extents: ha }, Shape::Box { half_extents: hb }) => {
            box_box::collide(&OrientedBox::new(pose_a, ha), &OrientedBox::new(pose_b, hb), margin, points);
        }
        _ => return false,
    }
    true
}
