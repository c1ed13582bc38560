//! Where a collider is at the time of a search, and how fast it may approach others.

use crate::backend::tree::Bounds;
use crate::collider::Collider;
use crate::motion::MotionState;
use crate::pose::Pose;
use crate::shapes::Shape;
use carom_dynamics::detection::WORLD;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// Contacts are also reported within this fraction of the smaller bounding radius, whatever the speeds.
pub(crate) const SKIN_FRACTION: f64 = 1e-6;

/// A collider as of the present search.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    /// Pose and speeds are finite.
    pub valid: bool,
    /// It has become faster since the last search.
    pub faster: bool,
    pub body: u32,
    pub material: u32,
    pub pose: Pose,
    /// Velocity of the body's origin, or of a moving obstacle's own \[m/s\].
    pub velocity: Vector3<f64>,
    /// Bound of the speed relative to that origin \[m/s\]: |ω| R.
    spin_speed: f64,
    /// |ω| of an obstacle \[rad/s\].
    rate: f64,
    /// Bounding radius about the shape's origin \[m\].
    pub radius: f64,
    /// Reach from the body's origin \[m\].
    pub reach: f64,
    /// Smallest width of the shape \[m\].
    pub thinnest: f64,
    /// Its motion within the horizon is followed.
    pub continuous: bool,
    /// Smallest width of those shapes of its body whose motion is not followed \[m\]; NaN but for the first of them, by which bodies are
    /// counted.
    pub body_width: f64,
    /// Contacts are reported within this part of the smaller radius of a pair, whatever the speeds.
    pub skin: f64,
}

impl Placed {
    /// Place of a fixed collider; of a moving one until the first call.
    pub fn at_rest(collider: &Collider, skin: f64) -> Self {
        let radius = collider.shape.bounding_radius();
        let offset = if collider.body.is_some() { collider.translation.norm() } else { 0.0 };
        Self {
            valid: collider.body.is_none(),
            faster: false,
            body: collider.body.unwrap_or(WORLD),
            material: collider.material,
            pose: Pose::new(collider.translation, collider.rotation),
            velocity: Vector3::zeros(),
            spin_speed: 0.0,
            rate: 0.0,
            radius,
            reach: offset + radius,
            thinnest: collider.shape.thinnest_extent(),
            continuous: collider.continuous,
            body_width: f64::NAN,
            skin,
        }
    }

    /// Bounds at its pose, grown by what it may move within the horizon, and by half its skin.
    pub fn bounds(&self, shape: &Shape, horizon: f64, pull_reach: f64) -> Bounds {
        let growth = horizon * (self.velocity.norm() + self.spin_speed) + 0.5 * self.skin * self.radius + pull_reach;
        let (lower, upper) = shape.bounds_by_matrix(&self.pose.position, &self.pose.rotation);
        (lower.add_scalar(-growth), upper.add_scalar(growth))
    }

    /// Moves with the body; becomes invalid when anything is not finite or missing.
    pub fn follow(&mut self, collider: &Collider, q: &[f64], v: &[f64]) {
        self.valid = false;
        let body = self.body as usize;
        let (Some(q), true) = (q.get(7 * body..7 * body + 7), v.len() >= 6 * body + 6) else {
            return;
        };
        let quaternion = Quaternion::new(q[3], q[4], q[5], q[6]);
        let Some(rotation) = UnitQuaternion::try_new(quaternion, f64::MIN_POSITIVE) else {
            return;
        };
        let position = Vector3::new(q[0], q[1], q[2]) + rotation * collider.translation;
        self.pose = Pose::new(position, rotation * collider.rotation);
        self.hasten(v);
        let reached = position.map(f64::abs).sum() + self.velocity.norm() + self.spin_speed;
        self.valid = reached.is_finite() && rotation.coords.iter().all(|x| x.is_finite());
    }

    /// By how much faster than as of the search a point of the collider may move at other velocities of the bodies \[m/s\].
    pub fn gain(&self, v: &[f64]) -> f64 {
        let (velocity, spin_speed) = self.speeds(v);
        (velocity - self.velocity).norm() + (spin_speed - self.spin_speed).max(0.0)
    }

    /// Has other velocities of the bodies from now on.
    pub(crate) fn hasten(&mut self, v: &[f64]) {
        (self.velocity, self.spin_speed) = self.speeds(v);
    }

    fn speeds(&self, v: &[f64]) -> (Vector3<f64>, f64) {
        let v = &v[6 * self.body as usize..6 * self.body as usize + 6];
        (Vector3::new(v[0], v[1], v[2]), Vector3::new(v[3], v[4], v[5]).norm() * self.reach)
    }

    /// Moves an obstacle as prescribed.
    pub fn prescribe(&mut self, collider: &Collider, motion: &MotionState) {
        self.pose = Pose::new(motion.apply(&collider.translation), motion.rotation * collider.rotation);
        self.velocity = motion.velocity_at(&self.pose.position);
        self.rate = motion.rate.norm();
        // of a plane, as far as its partner: see `margin`
        self.spin_speed = if self.radius.is_finite() { self.rate * self.radius } else { 0.0 };
    }

    /// Gap \[m\] within which contacts with another collider are reported whatever the speeds.
    pub(crate) fn skin_with(&self, other: &Placed) -> f64 {
        self.skin * self.radius.min(other.radius)
    }

    /// Largest gap to report against another collider, which may be a plane.
    pub fn margin(&self, other: &Placed, horizon: f64) -> f64 {
        let mut approach = (self.velocity - other.velocity).norm() + self.spin_speed + other.spin_speed;
        if other.rate > 0.0 && !other.radius.is_finite() {
            approach += other.rate * ((self.pose.position - other.pose.position).norm() + self.radius);
        }
        horizon * approach + self.skin_with(other)
    }

    /// The body moves farther than its smallest width within the horizon: what is thinner than the way may be passed unseen.
    pub(crate) fn is_fast(&self, horizon: f64) -> bool {
        horizon * self.velocity.norm() > self.body_width
    }

    /// The body is so far from the origin that rounding its position hides the contacts' skin.
    pub(crate) fn is_far(&self) -> bool {
        !self.body_width.is_nan() && self.pose.position.amax() * f64::EPSILON > SKIN_FRACTION * self.radius
    }
}
