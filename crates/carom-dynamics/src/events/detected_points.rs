//! The contact points of a model at a place, shared by the relations of all detected contacts.

use crate::detection::{ContactDetector, ContactKey, ContactPoint, PlanarDetector};
use crate::error::NonFinite;
use crate::model::Model;
use crate::relations::planar_contact::PLANAR_WIDTH;
use crate::systems::{Bodies, Instant, SystemSet};
use nalgebra::Vector3;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Largest displacement of the differences, in units of the arms of the contacts, and largest turn \[rad\]: the error of the fourth-order formula,
/// δ⁴/30, is then below the round-off ε/δ ≈ 1e-13 of its terms.
const DISPLACEMENT: f64 = 1e-3;

/// Where a point is lost within the displacement, it is taken ten times smaller, so often.
const MOST_REDUCTIONS: usize = 3;

/// Linear speed that is given to bodies while they are evaluated \[m/s\]: see [`Detectors::reach`].
const EVALUATION_SPEED: f64 = 1e-3;

/// Runs the detectors of a model for its contact relations; keeps the points of the last places.
pub struct DetectedPoints {
    systems: Arc<SystemSet>,
    state: Mutex<Detectors>,
}

/// The points at one place.
#[derive(Debug, Default)]
struct Snapshot {
    t: f64,
    q: Vec<f64>,
    contacts: Vec<ContactPoint>,
    valid: bool,
}

impl Snapshot {
    fn is_of(&self, t: f64, q: &[f64]) -> bool {
        self.valid && self.t == t && self.q == q
    }

    fn find(&self, key: ContactKey) -> Option<&ContactPoint> {
        self.contacts.binary_search_by(|contact| contact.key.cmp(&key)).ok().map(|i| &self.contacts[i])
    }
}

struct Detectors {
    spatial: Option<Box<dyn ContactDetector>>,
    planar: Option<Box<dyn PlanarDetector>>,
    /// First collider and first law of planar bodies.
    first_planar: (u32, u16),
    /// How far points are found around the place of evaluation: a horizon in seconds with all bodies turning at 1 rad/s, so that it is in units of
    /// the bodies' own sizes; 1 and more, so that contacts stay found while they open and close.
    reach: f64,
    here: Snapshot,
    /// Points at q ⊕ kεv, k = −2, −1, 1, 2.
    beside: [Snapshot; 4],
    /// The motion that the points beside belong to, and ε.
    motion: (f64, Vec<f64>, Vec<f64>, f64),
    /// Velocities of a search; displacement and position beside.
    work: (Vec<f64>, Vec<f64>, Vec<f64>),
}

impl DetectedPoints {
    /// With detectors of its own.
    pub(crate) fn new(model: &Model) -> Self {
        let state = Detectors {
            spatial: model.detector().map(ContactDetector::boxed_clone),
            planar: model.planar_detector().map(PlanarDetector::boxed_clone),
            first_planar: (model.n_spatial_colliders(), model.n_spatial_laws()),
            reach: 1.0,
            here: Snapshot::default(),
            beside: Default::default(),
            motion: (0.0, Vec::new(), Vec::new(), 0.0),
            work: Default::default(),
        };
        DetectedPoints { systems: model.shared_systems(), state: Mutex::new(state) }
    }

    /// There is something to detect.
    pub(crate) fn is_needed(&self) -> bool {
        let state = self.lock();
        state.spatial.is_some() || state.planar.is_some()
    }

    /// Where the bodies lie.
    pub(crate) fn bodies(&self, planar: bool) -> Option<&Bodies> {
        if planar { self.systems.planar_bodies() } else { self.systems.bodies() }
    }

    /// The point with a key at (t, q), if it is found there.
    pub(crate) fn at(&self, t: f64, q: &[f64], key: ContactKey) -> Result<Option<ContactPoint>, NonFinite> {
        let mut state = self.lock();
        state.look(&self.systems, t, q)?;
        Ok(state.here.find(key).copied())
    }

    /// All points that may close within `horizon` at the present velocities, and those about as far as the bodies are large; the reach of
    /// evaluations is widened until it finds them all.
    pub(crate) fn find(&self, at: Instant<'_>, horizon: f64, found: &mut Vec<ContactPoint>) -> Result<(), NonFinite> {
        let mut state = self.lock();
        found.clear();
        state.detect(&self.systems, at, horizon, found)?;
        state.look(&self.systems, at.t, at.q)?;
        // a reach of 2⁶⁰ sizes is everything
        for _ in 0..60 {
            if found.iter().all(|contact| state.here.find(contact.key).is_some()) {
                break;
            }
            state.reach *= 2.0;
            state.here.valid = false;
            state.motion.3 = 0.0;
            state.look(&self.systems, at.t, at.q)?;
        }
        for contact in &state.here.contacts {
            if !found.iter().any(|other| other.key == contact.key) {
                found.push(*contact);
            }
        }
        Ok(())
    }

    /// d/dε of a local velocity of (point, q) along (t + ε, q ⊕ ε v), if the point is found:
    ///
    /// ```text
    /// (8 (u₁ − u₋₁) − (u₂ − u₋₂)) / 12ε
    /// ```
    pub(crate) fn slope(
        &self,
        at: Instant<'_>,
        key: ContactKey,
        velocity: &dyn Fn(&ContactPoint, &[f64]) -> [f64; 3],
    ) -> Result<Option<[f64; 3]>, NonFinite> {
        let mut state = self.lock();
        state.look(&self.systems, at.t, at.q)?;
        if state.here.find(key).is_none() {
            return Ok(None);
        }
        let Some(mut epsilon) = state.time_scale(&self.systems, at).map(|time| DISPLACEMENT * time) else { return Ok(Some([0.0; 3])) };
        for _ in 0..MOST_REDUCTIONS {
            state.look_beside(&self.systems, at, epsilon)?;
            let found: [Option<[f64; 3]>; 4] = std::array::from_fn(|k| {
                let snapshot = &state.beside[k];
                snapshot.find(key).map(|contact| velocity(contact, &snapshot.q))
            });
            if let [Some(behind_2), Some(behind_1), Some(ahead_1), Some(ahead_2)] = found {
                let slope = |i: usize| (8.0 * (ahead_1[i] - behind_1[i]) - (ahead_2[i] - behind_2[i])) / (12.0 * epsilon);
                return Ok(Some(std::array::from_fn(slope)));
            }
            epsilon *= 0.1;
        }
        Ok(None)
    }

    fn lock(&self) -> MutexGuard<'_, Detectors> {
        // a search that panicked leaves nothing half done: snapshots are marked valid at their end
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Detectors {
    /// Points that may close within `horizon` at the velocities of the instant, sorted by key.
    fn detect(&mut self, systems: &SystemSet, at: Instant<'_>, horizon: f64, contacts: &mut Vec<ContactPoint>) -> Result<(), NonFinite> {
        if let (Some(detector), Some(bodies)) = (&mut self.spatial, systems.bodies()) {
            let instant = Instant { t: at.t, q: &at.q[bodies.q.clone()], v: &at.v[bodies.v.clone()] };
            detector.detect(instant, horizon, contacts)?;
        }
        if let (Some(detector), Some(bodies)) = (&mut self.planar, systems.planar_bodies()) {
            let first = contacts.len();
            let instant = Instant { t: at.t, q: &at.q[bodies.q.clone()], v: &at.v[bodies.v.clone()] };
            detector.detect(instant, horizon, contacts)?;
            for contact in &mut contacts[first..] {
                contact.key.collider_a += self.first_planar.0;
                contact.key.collider_b += self.first_planar.0;
                contact.law += self.first_planar.1;
            }
        }
        contacts.sort_unstable_by_key(|contact| contact.key);
        Ok(())
    }

    /// Fills a snapshot.
    fn take(&mut self, systems: &SystemSet, mut into: Snapshot, t: f64, q: &[f64]) -> Result<Snapshot, NonFinite> {
        into.valid = false;
        into.contacts.clear();
        into.t = t;
        into.q.clear();
        into.q.extend_from_slice(q);
        let mut v = std::mem::take(&mut self.work.0);
        turning(systems, &mut v);
        let reach = self.reach;
        let done = self.detect(systems, Instant { t, q, v: &v }, reach, &mut into.contacts);
        self.work.0 = v;
        done?;
        into.valid = true;
        Ok(into)
    }

    /// Makes the points at (t, q) those at hand.
    fn look(&mut self, systems: &SystemSet, t: f64, q: &[f64]) -> Result<(), NonFinite> {
        if !self.here.is_of(t, q) {
            let here = std::mem::take(&mut self.here);
            self.here = self.take(systems, here, t, q)?;
        }
        Ok(())
    }

    /// Makes the points beside those of this motion and ε.
    fn look_beside(&mut self, systems: &SystemSet, at: Instant<'_>, epsilon: f64) -> Result<(), NonFinite> {
        let (t, q, v, of) = &self.motion;
        if *of == epsilon && *t == at.t && q == at.q && v == at.v {
            return Ok(());
        }
        self.motion.3 = 0.0;
        let (mut w, mut moved) = (std::mem::take(&mut self.work.1), std::mem::take(&mut self.work.2));
        moved.resize(at.q.len(), 0.0);
        for (k, factor) in [-2.0, -1.0, 1.0, 2.0].into_iter().enumerate() {
            w.clear();
            w.extend(at.v.iter().map(|v| factor * epsilon * v));
            systems.advance(at.q, &w, &mut moved);
            let snapshot = std::mem::take(&mut self.beside[k]);
            self.beside[k] = self.take(systems, snapshot, at.t + factor * epsilon, &moved)?;
        }
        (self.work.1, self.work.2) = (w, moved);
        let (t, q, v, of) = &mut self.motion;
        q.clear();
        q.extend_from_slice(at.q);
        v.clear();
        v.extend_from_slice(at.v);
        (*t, *of) = (at.t, epsilon);
        Ok(())
    }

    /// The time in which a contact at hand moves by the length of an arm, or turns by 1 rad; `None` where nothing moves.
    fn time_scale(&self, systems: &SystemSet, at: Instant<'_>) -> Option<f64> {
        let mut rate = 0.0_f64;
        for contact in &self.here.contacts {
            let motion = if contact.planar {
                systems.planar_bodies().map_or(0.0, |bodies| planar_rate(contact, bodies, at))
            } else {
                systems.bodies().map_or(0.0, |bodies| spatial_rate(contact, bodies, at))
            };
            let frequency = contact.surface.map_or(0.0, |surface| {
                let (speed, acceleration) = (surface.velocity.norm(), surface.acceleration.norm());
                // what the obstacle does by itself: its frequency, from below, and its speed against the arm
                if speed > 0.0 { acceleration / speed } else { acceleration.sqrt() }
            });
            rate = rate.max(motion.max(frequency));
        }
        (rate > 0.0 && rate.is_finite()).then(|| 1.0 / rate)
    }
}

/// ‖v_A − v_B‖/ℓ + ‖ω_A‖ + ‖ω_B‖ with the shorter arm ℓ \[1/s\]; v_B of an obstacle is that of its surface.
fn spatial_rate(contact: &ContactPoint, bodies: &Bodies, at: Instant<'_>) -> f64 {
    let (mut arm, mut relative, mut turning) = (f64::INFINITY, Vector3::zeros(), 0.0);
    for (body, sign) in [(contact.body_a, 1.0), (contact.body_b, -1.0)] {
        let body = body as usize;
        let (Some(x), Some(v)) = (at.q[bodies.q.clone()].get(7 * body..7 * body + 3), at.v[bodies.v.clone()].get(6 * body..6 * body + 6))
        else {
            continue;
        };
        arm = arm.min((contact.point - Vector3::from_column_slice(x)).norm());
        relative += sign * Vector3::from_column_slice(&v[..3]);
        turning += Vector3::from_column_slice(&v[3..]).norm();
    }
    if let Some(surface) = &contact.surface {
        relative -= surface.velocity;
    }
    rate_of(relative.norm(), arm, turning)
}

/// The same in the plane, with the velocity of an obstacle's surface.
fn planar_rate(contact: &ContactPoint, bodies: &Bodies, at: Instant<'_>) -> f64 {
    let (mut arm, mut relative, mut turning) = (f64::INFINITY, Vector3::zeros(), 0.0);
    for (body, sign) in [(contact.body_a, 1.0), (contact.body_b, -1.0)] {
        let range = PLANAR_WIDTH * body as usize..PLANAR_WIDTH * (body as usize).saturating_add(1);
        let (Some(x), Some(v)) = (at.q[bodies.q.clone()].get(range.clone()), at.v[bodies.v.clone()].get(range)) else { continue };
        arm = arm.min((contact.point - Vector3::new(x[0], x[1], 0.0)).norm());
        relative += sign * Vector3::new(v[0], v[1], 0.0);
        turning += v[2].abs();
    }
    if let Some(surface) = &contact.surface {
        relative -= surface.velocity;
    }
    rate_of(relative.norm(), arm, turning)
}

fn rate_of(speed: f64, arm: f64, turning: f64) -> f64 {
    // a contact at the centre of a body has no arm: turns alone
    turning + if arm > 0.0 && arm.is_finite() { speed / arm } else { 0.0 }
}

/// All bodies turning at 1 rad/s and moving slowly, no two alike: the horizon of a search is then a length in units of the bodies.
fn turning(systems: &SystemSet, v: &mut Vec<f64>) {
    v.clear();
    v.resize(systems.velocities().len(), 0.0);
    if let Some(bodies) = systems.bodies() {
        for (i, v) in v[bodies.v.clone()].chunks_exact_mut(6).enumerate() {
            let (y, x) = (i as f64).sin_cos();
            v.copy_from_slice(&[EVALUATION_SPEED * x, EVALUATION_SPEED * y, 0.0, 1.0, 0.0, 0.0]);
        }
    }
    if let Some(bodies) = systems.planar_bodies() {
        for (i, v) in v[bodies.v.clone()].chunks_exact_mut(PLANAR_WIDTH).enumerate() {
            let (y, x) = (i as f64).sin_cos();
            v.copy_from_slice(&[EVALUATION_SPEED * x, EVALUATION_SPEED * y, 1.0]);
        }
    }
}
