//! Where a planar collider is at the time of a search, and how fast it may approach others.

use super::collider::PlanarCollider;
use super::motion::MotionState;
use super::shapes::PlanarShape;
use crate::backend::tree::Bounds;
use carom_dynamics::detection::SurfaceMotion;
use nalgebra::{Rotation2, Vector2, Vector3};

/// Contacts are also reported within this fraction of the smaller radius, whatever the speeds.
const SKIN_FRACTION: f64 = 1e-6;

/// Position and orientation of a shape in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanarPose {
    pub position: Vector2<f64>,
    pub rotation: Rotation2<f64>,
}

impl PlanarPose {
    /// The world's point of a point of the shape.
    pub fn point(&self, local: &Vector2<f64>) -> Vector2<f64> {
        self.position + self.rotation * local
    }

    /// Another pose in this one's frame.
    pub fn frame_of(&self, other: &PlanarPose) -> PlanarPose {
        let back = self.rotation.inverse();
        PlanarPose { position: back * (other.position - self.position), rotation: back * other.rotation }
    }
}

/// A collider as of the present search.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    /// Its pose and speeds are finite.
    pub valid: bool,
    pub pose: PlanarPose,
    /// Grown by what it may move within the horizon and by half its skin; z = 0.
    pub bounds: Bounds,
    /// Velocity and acceleration of its body's or its own origin.
    velocity: Vector2<f64>,
    acceleration: Vector2<f64>,
    /// Angular velocity and acceleration.
    rate: f64,
    angular_acceleration: f64,
    /// The body's origin, or its own.
    origin: Vector2<f64>,
    /// Reach from that origin \[m\].
    reach: f64,
    /// Contacts within this gap always count \[m\]; infinite for half-planes, whose partner's counts.
    skin: f64,
}

impl Placed {
    /// Place of an obstacle that does not move, or of any collider until the first search.
    pub fn at_rest(collider: &PlanarCollider) -> Self {
        let pose = PlanarPose { position: collider.position, rotation: Rotation2::new(collider.angle) };
        let pivot = collider.pivot.unwrap_or(collider.position);
        let offset = if collider.body.is_some() { collider.position.norm() } else { (collider.position - pivot).norm() };
        let mut placed = Placed {
            valid: collider.body.is_none(),
            pose,
            bounds: (Vector3::zeros(), Vector3::zeros()),
            velocity: Vector2::zeros(),
            acceleration: Vector2::zeros(),
            rate: 0.0,
            angular_acceleration: 0.0,
            origin: pivot,
            reach: offset + collider.shape.reach(),
            skin: SKIN_FRACTION * collider.shape.reach(),
        };
        placed.enclose(&collider.shape, 0.0);
        placed
    }

    /// Moves with a body; becomes invalid, and keeps the old bounds, when anything is not finite or missing.
    pub fn follow(&mut self, collider: &PlanarCollider, body: usize, (q, v): (&[f64], &[f64]), horizon: f64) {
        self.valid = false;
        let (Some(q), Some(v)) = (q.get(3 * body..3 * body + 3), v.get(3 * body..3 * body + 3)) else { return };
        if !q.iter().chain(v).all(|x| x.is_finite()) {
            return;
        }
        let origin = Vector2::new(q[0], q[1]);
        // a disk about its body's origin looks the same at all angles
        if collider.position != Vector2::zeros() || !matches!(collider.shape, PlanarShape::Disk { .. }) {
            let rotation = Rotation2::new(q[2]);
            self.pose = PlanarPose { position: origin + rotation * collider.position, rotation: rotation * Rotation2::new(collider.angle) };
        } else {
            self.pose.position = origin;
        }
        (self.valid, self.origin, self.velocity, self.rate) = (true, origin, Vector2::new(v[0], v[1]), v[2]);
        self.enclose(&collider.shape, horizon);
    }

    /// Moves an obstacle as prescribed.
    pub fn prescribe(&mut self, collider: &PlanarCollider, motion: &MotionState, horizon: f64) {
        let pivot = collider.pivot.unwrap_or(collider.position);
        self.origin = pivot + motion.displacement;
        let position = self.origin + Rotation2::new(motion.angle) * (collider.position - pivot);
        self.pose = PlanarPose { position, rotation: Rotation2::new(collider.angle + motion.angle) };
        (self.velocity, self.rate) = (motion.velocity, motion.rate);
        (self.acceleration, self.angular_acceleration) = (motion.acceleration, motion.angular_acceleration);
        self.enclose(&collider.shape, horizon);
    }

    /// Bounds of the shape at its pose, grown.
    fn enclose(&mut self, shape: &PlanarShape, horizon: f64) {
        let around = |points: &[Vector2<f64>]| {
            let first = self.pose.point(&points[0]);
            points[1..].iter().map(|p| self.pose.point(p)).fold((first, first), |(l, u), p| (l.inf(&p), u.sup(&p)))
        };
        let thick = |(lower, upper): (Vector2<f64>, Vector2<f64>), r: f64| (lower.add_scalar(-r), upper.add_scalar(r));
        let (lower, upper) = match shape {
            PlanarShape::Disk { radius } => thick((self.pose.position, self.pose.position), *radius),
            PlanarShape::Capsule { radius, half_length } => {
                thick(around(&[Vector2::new(-half_length, 0.0), Vector2::new(*half_length, 0.0)]), *radius)
            }
            PlanarShape::Polygon(polygon) => around(polygon.vertices()),
            PlanarShape::Chain(chain) => {
                let (l, u) = chain.bounds();
                around(&[l, Vector2::new(u.x, l.y), u, Vector2::new(l.x, u.y)])
            }
            PlanarShape::Segment { ends } => around(ends),
            // never in the tree: every body is looked at
            PlanarShape::HalfPlane { .. } => return,
        };
        let growth = horizon * (self.velocity.norm() + self.rate.abs() * self.reach) + 0.5 * self.skin;
        let (lower, upper) = (lower.add_scalar(-growth), upper.add_scalar(growth));
        self.bounds = (Vector3::new(lower.x, lower.y, 0.0), Vector3::new(upper.x, upper.y, 0.0));
    }

    /// Velocity and acceleration of the material point at `point`: v + ω × r, v̇ + ω̇ × r − ω² r.
    pub fn surface(&self, point: &Vector2<f64>) -> SurfaceMotion {
        let r = point - self.origin;
        let across = Vector2::new(-r.y, r.x);
        SurfaceMotion {
            velocity: spatial(&(self.velocity + across * self.rate)),
            acceleration: spatial(&(self.acceleration + across * self.angular_acceleration - r * (self.rate * self.rate))),
        }
    }

    /// Largest gap to report for a body against another collider, `reach` metres of which can meet it.
    fn margin_within(&self, other: &Placed, reach: f64, horizon: f64) -> f64 {
        let approach = (self.velocity - other.velocity).norm() + self.rate.abs() * self.reach + other.rate.abs() * reach;
        horizon * approach + self.skin.min(other.skin)
    }

    /// Largest gap to report for a pair.
    pub fn margin(&self, other: &Placed, horizon: f64) -> f64 {
        // of what is unbounded, only the part near the body counts
        let near = (self.origin - other.origin).norm() + 2.0 * self.reach;
        self.margin_within(other, other.reach.min(near), horizon)
    }
}

/// A vector of the plane in space.
pub(super) fn spatial(v: &Vector2<f64>) -> Vector3<f64> {
    Vector3::new(v.x, v.y, 0.0)
}
