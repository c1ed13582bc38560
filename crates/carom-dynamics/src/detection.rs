//! The doors through which contacts between bodies enter, in space and in the plane: what a collision library must provide.

use crate::error::NonFinite;
use crate::laws::ContactLaw;
use crate::systems::Instant;
use nalgebra::Vector3;

/// Body index of the immovable world (fixed bodies).
pub const WORLD: u32 = u32::MAX;

/// Persistent identity of a contact point: the pair of colliders and the pair of features that make it.
///
/// The same physical corner keeps its key from step to step, so that its impulse can start the next solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactKey {
    /// Index of the pair's first collider in the detector's list.
    pub collider_a: u32,
    /// Index of the pair's second collider.
    pub collider_b: u32,
    /// Number that identifies the point within the pair.
    pub feature: u32,
}

/// One contact point between two bodies, or a body and the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Body A (index into the rigid or the planar bodies of the model); never [`WORLD`].
    pub body_a: u32,
    /// Body B, or [`WORLD`].
    pub body_b: u32,
    /// Identity of the point.
    pub key: ContactKey,
    /// Contact point in the world frame \[m\], half way between the two surfaces along the normal.
    pub point: Vector3<f64>,
    /// Unit normal in the world frame, from B to A.
    pub normal: Vector3<f64>,
    /// Gap \[m\]: > 0 open, < 0 penetrating.
    pub gap: f64,
    /// Angle \[rad\] about the normal from the first of the usual tangents ([`crate::relations::contact::tangents`]) to the first tangent of
    /// this point; zero where any tangent will do.
    pub turn: f64,
    /// How B's surface moves by itself; `None` where B is a body or does not move.
    pub surface: Option<SurfaceMotion>,
    /// Place of its law among [`ContactDetector::laws`] or [`PlanarDetector::laws`]; in the contacts of a step, among
    /// [`crate::Model::collider_laws`].
    pub law: u16,
    /// The bodies are planar ones, and point and normal have z = 0.
    pub planar: bool,
}

/// A detector has at most so many distinct laws: those of two detectors are numbered by 16 bits.
pub const MOST_LAWS: usize = 1 << 15;

/// How the surface of an obstacle moves by itself at a contact point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceMotion {
    /// Velocity of its material point \[m/s\].
    pub velocity: Vector3<f64>,
    /// Acceleration of its material point \[m/s²\].
    pub acceleration: Vector3<f64>,
}

/// Finds contact points between rigid bodies.
///
/// To add a detector: implement this trait; give the points of one pair in a stable order with stable keys; return them
/// sorted by key (equal input must give equal bits); allocate nothing once warm.
pub trait ContactDetector: Send + Sync {
    /// Appends to `contacts` (cleared by the caller) every contact point whose gap may close within `horizon` seconds
    /// at the present velocities, or is within the reach of the pair's cohesion; more points than these are allowed.
    ///
    /// `bodies` holds the time, seven coordinates per moving body (x, y, z, w, i, j, k) and six velocities per moving body (linear
    /// in the world frame, angular in the body frame).
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula of an obstacle's motion.
    fn detect(&mut self, bodies: Instant<'_>, horizon: f64, contacts: &mut Vec<ContactPoint>) -> Result<(), NonFinite>;

    /// The laws of all pairs of colliders that may touch, each at least once; contacts refer to them by their place here. At most
    /// [`MOST_LAWS`].
    fn laws(&self) -> &[ContactLaw];

    /// Number of colliders.
    fn n_colliders(&self) -> u32;

    /// Name of a collider for records and messages.
    fn collider_name(&self, collider: u32) -> &str;

    /// A copy of its own for another run.
    fn boxed_clone(&self) -> Box<dyn ContactDetector>;
}

/// Finds contact points between planar bodies, and between them and obstacles that are fixed or move as prescribed.
///
/// To add a detector: as for [`ContactDetector`].
pub trait PlanarDetector: Send + Sync {
    /// Appends to `contacts` every contact point whose gap may close within `horizon` seconds at the present velocities, sorted by key;
    /// more points than these are allowed. Each is [`ContactPoint::planar`].
    ///
    /// `bodies` holds the time and three coordinates (x, y, angle) and velocities per planar body.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula of an obstacle's motion.
    fn detect(&mut self, bodies: Instant<'_>, horizon: f64, contacts: &mut Vec<ContactPoint>) -> Result<(), NonFinite>;

    /// The laws of all pairs of colliders that may touch, each at least once; contacts refer to them by their place here. At most
    /// [`MOST_LAWS`].
    fn laws(&self) -> &[ContactLaw];

    /// Number of colliders.
    fn n_colliders(&self) -> u32;

    /// Name of a collider for records and messages.
    fn collider_name(&self, collider: u32) -> &str;

    /// A copy of its own for another run.
    fn boxed_clone(&self) -> Box<dyn PlanarDetector>;
}
