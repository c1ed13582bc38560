//! The doors through which contacts between bodies enter, in space and in the plane: what a collision library must provide.

use crate::error::NonFinite;
use crate::laws::ContactLaw;
use crate::systems::Instant;
use nalgebra::Vector3;
use serde::Serialize;

pub use crate::contact_key::ContactKey;

/// Body index of the immovable world (fixed bodies).
pub const WORLD: u32 = u32::MAX;

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
    /// Rate of change of that velocity over the step \[m/s²\]: at the material point in the plane, at a point that moves with the centre of body A
    /// in space.
    pub acceleration: Vector3<f64>,
}

/// What is doubtful in the contacts that a search has found, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DetectionWarnings {
    /// Pairs that overlap by more than half of the inner radius of the smaller shape: their normals may point to the wrong side.
    pub deep_overlaps: usize,
    /// Pairs whose normal was one of several equally good ones, of which a definite one was taken; contact points left out because their
    /// normal or gap could not be computed.
    pub degenerate: usize,
    /// Bodies that may move farther than their smallest width within the horizon, and so through others unseen.
    pub fast_bodies: usize,
    /// Bodies so far from the origin that the rounding of their coordinates exceeds 1e-6 of their size.
    pub far_bodies: usize,
}

impl DetectionWarnings {
    /// Adds those of another search.
    pub fn add(&mut self, other: &DetectionWarnings) {
        self.deep_overlaps += other.deep_overlaps;
        self.degenerate += other.degenerate;
        self.fast_bodies += other.fast_bodies;
        self.far_bodies += other.far_bodies;
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == DetectionWarnings::default()
    }
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

    /// Points are also given within this part of the smaller bounding radius of a pair, whatever the speeds. Detectors without such a setting
    /// ignore it.
    fn set_skin(&mut self, _fraction: f64) {}

    /// Appends to `contacts` every contact point that bodies which move with the velocities of `bodies` for `time` seconds could close and that the last search need not
    /// have given, because it knew of other velocities; in any order, with others among them that it gave. Time and places of `bodies` are those of that search, and `time` is not
    /// longer than its horizon. Detectors that cannot tell search all.
    ///
    /// # Errors
    /// As [`ContactDetector::detect`].
    fn detect_unforeseen(&mut self, bodies: Instant<'_>, time: f64, contacts: &mut Vec<ContactPoint>) -> Result<(), NonFinite> {
        self.detect(bodies, time, contacts)
    }

    /// The laws of all pairs of colliders that may touch, each at least once; contacts refer to them by their place here. At most
    /// [`MOST_LAWS`].
    fn laws(&self) -> &[ContactLaw];

    /// Number of colliders.
    fn n_colliders(&self) -> u32;

    /// Name of a collider for records and messages.
    fn collider_name(&self, collider: u32) -> &str;

    /// What was doubtful in the last search.
    fn warnings(&self) -> DetectionWarnings {
        DetectionWarnings::default()
    }

    /// Some obstacle moves as prescribed: contacts may have a [`ContactPoint::surface`].
    fn obstacles_move(&self) -> bool {
        false
    }

    /// Angular velocity \[rad/s\] of an obstacle's surface and its rate of change, as of the last search; zero where it does not turn.
    fn surface_rotation(&self, _collider: u32) -> [Vector3<f64>; 2] {
        [Vector3::zeros(); 2]
    }

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

    /// What was doubtful in the last search.
    fn warnings(&self) -> DetectionWarnings {
        DetectionWarnings::default()
    }

    /// A copy of its own for another run.
    fn boxed_clone(&self) -> Box<dyn PlanarDetector>;
}
