//! Narrow phase: contact points of one pair of shapes, one file per pair.
//!
//! Every function appends the points with gap ≤ margin; the normal points from the second shape to the first.

mod box_box;
mod box_plane;
mod capsule_capsule;
mod capsule_plane;
mod capsule_sphere;
mod clipping;
mod convex_capsule;
mod convex_convex;
mod convex_plane;
mod convex_sphere;
mod mesh_capsule;
mod mesh_convex;
mod mesh_inside;
mod mesh_mesh;
mod mesh_patch;
mod mesh_sphere;
mod nearest_features;
mod oriented_box;
mod overlap;
mod patch;
mod preference;
mod rim_plane;
mod round;
mod segment;
mod sphere_box;
mod sphere_plane;
mod sphere_revolved;
mod sphere_sphere;
pub(crate) mod time_of_impact;

pub(crate) use overlap::Overlap;

use crate::polyhedron::Polyhedron;
use crate::pose::Pose;
use crate::shape_error::ShapeError;
use crate::shapes::{Shape, hull_of};
use crate::surface::Surface;
use nalgebra::Vector3;
use oriented_box::OrientedBox;
use round::core::Core;
use round::facets::{Facets, box_corners};
use segment::Segment;
use sphere_revolved::Profile;
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
    /// Surface of a mesh or height field.
    pub surface: Option<Arc<Surface>>,
    /// Smallest width of the shape \[m\].
    pub thinnest: f64,
}

impl Geometry {
    /// Checks a shape and derives what belongs to it. O(n log n) for hulls and meshes.
    pub fn new(shape: &Shape) -> Result<Self, ShapeError> {
        let (mut hull, mut surface) = (None, None);
        match shape {
            Shape::Convex { vertices } => hull = Some(Arc::new(hull_of(vertices)?)),
            Shape::Mesh { .. } | Shape::HeightField { .. } => surface = Surface::of(shape)?.map(Arc::new),
            other => other.validate()?,
        }
        let thinnest = shape.thinnest_extent();
        Ok(Self { shape: shape.clone(), thinnest, hull, surface })
    }
}

/// Centres nearer than this fraction of the smaller thickness give no direction.
const SAME_PLACE: f64 = 1e-9;

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

/// Memory that the pairs use; once warm, nothing is allocated.
#[derive(Clone, Default)]
pub(crate) struct Scratch {
    convex: convex_convex::Scratch,
    mesh: mesh_convex::Scratch,
    meshes: mesh_mesh::Scratch,
    /// Boxes as polyhedra.
    cuboids: [Option<Polyhedron>; 2],
}

/// Appends the contact points of A and B with gap ≤ margin, in the order of their features; says how far they overlap.
pub(crate) fn collide(
    (a, pose_a): (&Geometry, &Pose),
    (b, pose_b): (&Geometry, &Pose),
    margin: f64,
    scratch: &mut Scratch,
    points: &mut Vec<PairPoint>,
) -> Overlap {
    let first = points.len();
    let mut overlap = if let (Some(surface_a), Some(surface_b)) = (&a.surface, &b.surface) {
        mesh_mesh::collide((surface_a, pose_a), (surface_b, pose_b), margin, &mut scratch.meshes, points);
        convex_convex::make_features_unique(&mut points[first..]);
        Some(Overlap::Regular)
    } else if let Some(surface) = &b.surface {
        on_surface((a, pose_a), (surface, pose_b), margin, scratch, points)
    } else if let Some(surface) = &a.surface {
        let overlap = on_surface((b, pose_b), (surface, pose_a), margin, scratch, points);
        points[first..].iter_mut().for_each(|p| p.normal = -p.normal);
        overlap
    } else {
        polyhedra((a, pose_a), (b, pose_b), margin, scratch, points)
    };
    overlap = overlap.or_else(|| own_pair((a, pose_a), (b, pose_b), margin, points));
    if overlap.is_none() {
        overlap = own_pair((b, pose_b), (a, pose_a), margin, points);
        points[first..].iter_mut().for_each(|p| p.normal = -p.normal);
    }
    points[first..].sort_unstable_by_key(|p| p.feature);
    let lowest = points[first..].iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    overlap.unwrap_or(Overlap::Regular).or_deep(-lowest, a.thinnest.min(b.thinnest))
}

/// A solid against a mesh or height field; `None` when there is no such pair.
fn on_surface(
    (solid, pose): (&Geometry, &Pose),
    (surface, ground): (&Surface, &Pose),
    margin: f64,
    scratch: &mut Scratch,
    points: &mut Vec<PairPoint>,
) -> Option<Overlap> {
    let first = points.len();
    match &solid.shape {
        Shape::Sphere { radius } => {
            mesh_sphere::collide(&pose.position, *radius, (surface, ground), margin, &mut scratch.mesh.gathered, points);
        }
        Shape::Capsule { radius, half_length } => {
            let core = Segment::new(pose, *half_length);
            mesh_capsule::collide(&core, *radius, (surface, ground), margin, &mut scratch.mesh.gathered, points);
        }
        Shape::Box { .. } | Shape::Convex { .. } => {
            let hull = as_polyhedron(solid, &mut scratch.cuboids[0])?;
            mesh_convex::collide((hull, pose), (surface, ground), margin, &mut scratch.mesh, points);
        }
        Shape::Cylinder { .. } | Shape::Cone { .. } => {
            round::on_surface::collide((solid, pose), (surface, ground), margin, &mut scratch.mesh.gathered, points);
        }
        Shape::Plane { .. } | Shape::Mesh { .. } | Shape::HeightField { .. } => return None,
    }
    if points.len() == first {
        mesh_inside::leave((solid, pose), (surface, ground), points);
    }
    convex_convex::make_features_unique(&mut points[first..]);
    Some(Overlap::Regular)
}

/// The pairs of which at least one is a convex polyhedron and the other a polyhedron or box; `None` for others.
fn polyhedra(
    (a, pose_a): (&Geometry, &Pose),
    (b, pose_b): (&Geometry, &Pose),
    margin: f64,
    scratch: &mut Scratch,
    points: &mut Vec<PairPoint>,
) -> Option<Overlap> {
    if a.hull.is_none() && b.hull.is_none() {
        return None;
    }
    let [cuboid_a, cuboid_b] = &mut scratch.cuboids;
    let (hull_a, hull_b) = (as_polyhedron(a, cuboid_a)?, as_polyhedron(b, cuboid_b)?);
    convex_convex::collide((hull_a, pose_a), (hull_b, pose_b), margin, &mut scratch.convex, points);
    // Centres in one place: which way out is a convention.
    let apart = pose_a.apply(&hull_a.centre) - pose_b.apply(&hull_b.centre);
    Some(Overlap::degenerate_if(apart.norm() <= SAME_PLACE * hull_a.thickness.min(hull_b.thickness)))
}

/// The hull of a convex shape or box.
fn as_polyhedron<'a>(geometry: &'a Geometry, memory: &'a mut Option<Polyhedron>) -> Option<&'a Polyhedron> {
    if let Shape::Box { half_extents } = &geometry.shape {
        let cuboid = memory.get_or_insert_with(|| Polyhedron::cuboid(half_extents));
        cuboid.set_cuboid(half_extents);
        return Some(cuboid);
    }
    geometry.hull.as_deref()
}

/// The pairs with formulas of our own, in one of the two orders; `None` when there is none.
fn own_pair((a, pose_a): (&Geometry, &Pose), (b, pose_b): (&Geometry, &Pose), margin: f64, points: &mut Vec<PairPoint>) -> Option<Overlap> {
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
        (Shape::Convex { .. } | Shape::Mesh { .. } | Shape::HeightField { .. }, Shape::Plane { normal }) => {
            // A plane touches a mesh where it touches its hull; a flat mesh has no hull, and all its corners count.
            let corners = a.surface.as_ref().map_or(&[][..], |surface| &surface.outermost[..]);
            let vertices = a.hull.as_ref().map_or(corners, |hull| &hull.vertices);
            convex_plane::collide(vertices, pose_a, &plane(normal), margin, points);
        }
        (Shape::Sphere { radius: ra }, Shape::Sphere { radius: rb }) => {
            return Some(sphere_sphere::collide((&pose_a.position, *ra), (&pose_b.position, *rb), margin, points));
        }
        (Shape::Sphere { radius }, Shape::Box { half_extents }) => {
            let target = OrientedBox::new(pose_b, half_extents);
            return Some(sphere_box::collide(&pose_a.position, *radius, &target, margin, points));
        }
        (Shape::Sphere { radius }, Shape::Cylinder { radius: rb, half_length }) => {
            let profile = Profile::cylinder(*rb, *half_length);
            return Some(sphere_revolved::collide((&pose_a.position, *radius), (&profile, pose_b), margin, points));
        }
        (Shape::Sphere { radius }, Shape::Cone { radius: rb, half_height }) => {
            let profile = Profile::cone(*rb, *half_height);
            return Some(sphere_revolved::collide((&pose_a.position, *radius), (&profile, pose_b), margin, points));
        }
        (Shape::Sphere { radius }, Shape::Convex { .. }) => {
            let hull = b.hull.as_ref()?;
            convex_sphere::collide(&pose_a.position, *radius, (hull, pose_b), margin, points);
        }
        (Shape::Capsule { radius, half_length }, Shape::Convex { .. }) => {
            let hull = b.hull.as_ref()?;
            convex_capsule::collide(&Segment::new(pose_a, *half_length), *radius, (hull, pose_b), margin, points);
        }
        (Shape::Capsule { radius, half_length }, Shape::Sphere { radius: ball }) => {
            let segment = Segment::new(pose_a, *half_length);
            return Some(capsule_sphere::collide((&segment, *radius), (&pose_b.position, *ball), margin, points));
        }
        (Shape::Capsule { radius: ra, half_length: la }, Shape::Capsule { radius: rb, half_length: lb }) => {
            let (sa, sb) = (Segment::new(pose_a, *la), Segment::new(pose_b, *lb));
            return Some(capsule_capsule::collide((&sa, *ra), (&sb, *rb), margin, points));
        }
        (Shape::Box { half_extents: ha }, Shape::Box { half_extents: hb }) => {
            box_box::collide(&OrientedBox::new(pose_a, ha), &OrientedBox::new(pose_b, hb), margin, points);
        }
        (Shape::Capsule { .. } | Shape::Cylinder { .. } | Shape::Cone { .. }, Shape::Box { half_extents }) => {
            let corners = box_corners(half_extents);
            let target = Core::polytope(Facets::of_box(half_extents, &corners), pose_b);
            return Some(round::collide(Core::revolved(&a.shape, pose_a)?, target, margin, points));
        }
        (Shape::Cylinder { .. } | Shape::Cone { .. }, Shape::Convex { .. }) => {
            let target = Core::polytope(Facets::of_hull(b.hull.as_ref()?), pose_b);
            return Some(round::collide(Core::revolved(&a.shape, pose_a)?, target, margin, points));
        }
        (Shape::Capsule { .. }, Shape::Cylinder { .. } | Shape::Cone { .. })
        | (Shape::Cylinder { .. }, Shape::Cylinder { .. } | Shape::Cone { .. })
        | (Shape::Cone { .. }, Shape::Cone { .. }) => {
            let (core_a, core_b) = (Core::revolved(&a.shape, pose_a)?, Core::revolved(&b.shape, pose_b)?);
            return Some(round::collide(core_a, core_b, margin, points));
        }
        _ => return None,
    }
    Some(Overlap::Regular)
}
