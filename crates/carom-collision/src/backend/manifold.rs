//! Contact manifolds of general convex pairs through parry.
//!
//! Each call starts from nothing, so that equal poses give equal bits whatever came before. Accuracy is that of GJK and
//! EPA: about 1e-8 of the size, and now and then wrong for deep penetrations.

use super::{from_glam, to_glam};
use crate::pairs::PairPoint;
use crate::pose::Pose;
use crate::shapes::Shape;
use nalgebra::Vector3;
use parry3d_f64::math::{Pose3, Rot3, Vector};
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::{PackedFeatureId, SharedShape};

/// Two points nearer than this fraction of the pair's size are one; also the slack of gaps in that comparison.
const MERGE_FRACTION: f64 = 1e-6;

/// A shape as parry knows it, and the turn from parry's axis (y) to ours (z).
#[derive(Clone)]
pub(crate) struct ConvexShape {
    shape: SharedShape,
    turn: Rot3,
    is_ball: bool,
    size: f64,
}

impl ConvexShape {
    /// The counterpart of a validated shape; `None` for planes and hulls that parry refuses.
    pub fn new(shape: &Shape, hull_vertices: &[Vector3<f64>]) -> Option<Self> {
        let upright = Rot3::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let (parry, turn) = match shape {
            Shape::Plane { .. } | Shape::Mesh { .. } | Shape::HeightField { .. } => return None,
            Shape::Sphere { radius } => (SharedShape::ball(*radius), Rot3::IDENTITY),
            Shape::Box { half_extents: h } => (SharedShape::cuboid(h.x, h.y, h.z), Rot3::IDENTITY),
            Shape::Capsule { radius, half_length } => (SharedShape::capsule_z(*half_length, *radius), Rot3::IDENTITY),
            Shape::Cylinder { radius, half_length } => (SharedShape::cylinder(*half_length, *radius), upright),
            Shape::Cone { radius, half_height } => (SharedShape::cone(*half_height, *radius), upright),
            Shape::Convex { .. } => {
                let points: Vec<_> = hull_vertices.iter().map(to_glam).collect();
                (SharedShape::convex_hull(&points)?, Rot3::IDENTITY)
            }
        };
        let is_ball = matches!(shape, Shape::Sphere { .. });
        Some(Self { shape: parry, turn, is_ball, size: shape.bounding_radius() })
    }

    fn pose(&self, pose: &Pose) -> Pose3 {
        let q = pose.quaternion.coords;
        let rotation = Rot3::from_xyzw(q.x, q.y, q.z, q.w) * self.turn;
        Pose3::from_parts(to_glam(&pose.position), rotation)
    }
}

/// Computes manifolds into memory of its own.
#[derive(Clone, Default)]
pub(crate) struct Manifolds {
    manifold: ContactManifold<(), ()>,
}

impl Manifolds {
    /// Appends the contact points of A and B whose gap is at most `margin`.
    pub fn collide(
        &mut self,
        (a, pose_a): (&ConvexShape, &Pose),
        (b, pose_b): (&ConvexShape, &Pose),
        margin: f64,
        points: &mut Vec<PairPoint>,
    ) {
        let (world_a, world_b) = (a.pose(pose_a), b.pose(pose_b));
        let manifold = &mut self.manifold;
        manifold.points.clear();
        manifold.local_n1 = Vector::ZERO;
        manifold.local_n2 = Vector::ZERO;
        let relative = world_a.inverse() * world_b;
        let (shape_a, shape_b) = (&*a.shape, &*b.shape);
        let answer = DefaultQueryDispatcher.contact_manifold_convex_convex(&relative, shape_a, shape_b, None, None, margin, manifold);
        if answer.is_err() {
            return;
        }
        let outward_a = world_a.rotation * manifold.local_n1;
        let normal = -from_glam(outward_a);
        if (normal.norm_squared() - 1.0).abs() > 1e-6 || !normal.norm_squared().is_finite() {
            return;
        }
        let single = a.is_ball || b.is_ball;
        let size = a.size.min(b.size);
        let first = points.len();
        let mut witness = None;
        for contact in &manifold.points {
            let p1 = world_a * contact.local_p1;
            let p2 = world_b * contact.local_p2;
            let gap = contact.dist;
            if !(gap <= margin && p1.is_finite() && p2.is_finite() && gap.is_finite()) {
                continue;
            }
            let point = from_glam((p1 + p2) * 0.5);
            let unknown = contact.fid1 == PackedFeatureId::UNKNOWN && contact.fid2 == PackedFeatureId::UNKNOWN;
            let feature = if single { 0 } else { pack(contact.fid1, contact.fid2) };
            let found = PairPoint { feature, point, normal, gap };
            if unknown && !single { witness = Some(found) } else { points.push(found) }
        }
        if let Some(witness) = witness
            && !is_redundant(&witness, &points[first..], MERGE_FRACTION * size)
        {
            points.push(witness);
        }
        make_features_unique(&mut points[first..]);
    }
}

/// Two feature numbers in one: two bits of kind and fourteen of index each.
fn pack(a: PackedFeatureId, b: PackedFeatureId) -> u32 {
    let half = |id: PackedFeatureId| (id.0 >> 30) << 14 | id.0 & 0x3fff;
    half(a) << 16 | half(b)
}

/// Numbers that repeat within a pair count on until they are free.
fn make_features_unique(points: &mut [PairPoint]) {
    for i in 1..points.len() {
        let (before, rest) = points.split_at_mut(i);
        while before.iter().any(|p| p.feature == rest[0].feature) {
            rest[0].feature = rest[0].feature.wrapping_add(1);
        }
    }
}

/// Whether the witness of the distance query adds nothing: it is no deeper than the others and lies within their hull.
fn is_redundant(witness: &PairPoint, others: &[PairPoint], slack: f64) -> bool {
    let deepest = others.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    if witness.gap < deepest - slack {
        return false;
    }
    let n = witness.normal;
    let lateral = |p: &PairPoint| {
        let d = p.point - witness.point;
        d - n * n.dot(&d)
    };
    let turn = |a: &Vector3<f64>, b: &Vector3<f64>| n.dot(&a.cross(b));
    for (i, a) in others.iter().map(lateral).enumerate() {
        if a.norm() <= slack {
            return true;
        }
        for (j, b) in others.iter().map(lateral).enumerate().skip(i + 1) {
            if distance_from_segment(&a, &b) <= slack {
                return true;
            }
            for c in others.iter().map(lateral).skip(j + 1) {
                let (ab, bc, ca) = (turn(&a, &b), turn(&b, &c), turn(&c, &a));
                if (ab > 0.0 && bc > 0.0 && ca > 0.0) || (ab < 0.0 && bc < 0.0 && ca < 0.0) {
                    return true;
                }
            }
        }
    }
    false
}

/// Distance of the origin from the segment ab.
fn distance_from_segment(a: &Vector3<f64>, b: &Vector3<f64>) -> f64 {
    let d = b - a;
    let length = d.norm_squared();
    let t = if length > 0.0 { (-a.dot(&d) / length).clamp(0.0, 1.0) } else { 0.0 };
    (a + d * t).norm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::UnitQuaternion;

    fn collide(a: &Shape, pa: [f64; 3], b: &Shape, pb: [f64; 3], margin: f64) -> Vec<PairPoint> {
        let convex = |shape: &Shape| {
            let vertices = if let Shape::Convex { vertices } = shape { vertices.clone() } else { Vec::new() };
            ConvexShape::new(shape, &vertices).unwrap()
        };
        let pose = |p: [f64; 3]| Pose::new(Vector3::from(p), UnitQuaternion::identity());
        let mut points = Vec::new();
        Manifolds::default().collide((&convex(a), &pose(pa)), (&convex(b), &pose(pb)), margin, &mut points);
        points
    }

    #[test]
    fn the_witness_inside_a_flat_manifold_is_dropped() {
        let tile = Shape::Box { half_extents: Vector3::new(1.0, 1.0, 0.5) };
        let vertices = (0..8)
            .map(|i: u32| {
                let s = |bit: u32| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
                Vector3::new(s(0), s(1), s(2))
            })
            .collect();
        let cube = Shape::Convex { vertices };
        let points = collide(&cube, [0.1, 0.2, 0.999], &tile, [0.0, 0.0, 0.0], 1e-3);
        assert_eq!(points.len(), 4, "{points:?}");
        for p in &points {
            // parry's own accuracy for hulls.
            assert!((p.gap + 1e-3).abs() < 1e-8 && (p.normal - Vector3::z()).norm() < 1e-8);
            assert!((p.point.z - 0.4995).abs() < 1e-8);
        }
        for (i, p) in points.iter().enumerate() {
            assert!(points[..i].iter().all(|q| q.feature != p.feature));
        }
    }

    #[test]
    fn axes_of_cylinders_and_cones_are_z() {
        let ball = Shape::Sphere { radius: 0.5 };
        let cylinder = Shape::Cylinder { radius: 1.0, half_length: 2.0 };
        let top = collide(&ball, [0.0, 0.0, 2.6], &cylinder, [0.0; 3], 0.2);
        assert_eq!(top.len(), 1);
        // Point projection on a cylinder is exact to roundings.
        assert!((top[0].gap - 0.1).abs() < 1e-14 && (top[0].normal - Vector3::z()).norm() < 1e-14);
        let cone = Shape::Cone { radius: 1.0, half_height: 2.0 };
        let apex = collide(&cone, [0.0; 3], &ball, [0.0, 0.0, 2.55], 0.2);
        assert_eq!(apex.len(), 1);
        assert!((apex[0].gap - 0.05).abs() < 1e-14 && (apex[0].normal + Vector3::z()).norm() < 1e-14);
        assert!((apex[0].point.z - 2.025).abs() < 1e-14);
    }
}
