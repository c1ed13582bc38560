//! Shapes that overlap where they should not: at the start of a run.

use crate::detection::{ContactDetector, ContactPoint, PlanarDetector};
use crate::error::NonFinite;
use crate::model::Model;
use crate::state::State;
use crate::systems::Instant;

/// Two colliders that overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// Names of the two colliders.
    pub names: [String; 2],
    /// How deep \[m\].
    pub depth: f64,
}

/// The pairs of colliders that overlap by more than `tolerance` \[m\] at a state, the deepest first.
///
/// # Errors
/// [`NonFinite`] naming the formula of an obstacle's motion.
pub fn initial_overlaps(model: &Model, state: &State, tolerance: f64) -> Result<Vec<Overlap>, NonFinite> {
    let (systems, mut contacts) = (model.systems(), Vec::<ContactPoint>::new());
    if let (Some(detector), Some(bodies)) = (model.detector().map(ContactDetector::boxed_clone).as_mut(), systems.bodies()) {
        detector.detect(Instant { t: state.t, q: &state.q[bodies.q.clone()], v: &state.v[bodies.v.clone()] }, 0.0, &mut contacts)?;
    }
    let first_planar = contacts.len();
    if let (Some(detector), Some(bodies)) = (model.planar_detector().map(PlanarDetector::boxed_clone).as_mut(), systems.planar_bodies()) {
        detector.detect(Instant { t: state.t, q: &state.q[bodies.q.clone()], v: &state.v[bodies.v.clone()] }, 0.0, &mut contacts)?;
    }
    for contact in &mut contacts[first_planar..] {
        contact.key.collider_a += model.n_spatial_colliders();
        contact.key.collider_b += model.n_spatial_colliders();
    }
    // contacts come sorted by key: those of a pair follow one another
    let pair = |contact: &ContactPoint| (contact.key.collider_a, contact.key.collider_b);
    let mut found: Vec<((u32, u32), f64)> = Vec::new();
    for contacts in contacts.chunk_by(|a, b| pair(a) == pair(b)) {
        let depth = contacts.iter().fold(0.0_f64, |depth, contact| depth.max(-contact.gap));
        if depth > tolerance {
            found.push((pair(&contacts[0]), depth));
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let name = |collider: u32| model.collider_name(collider).to_owned();
    Ok(found.into_iter().map(|((a, b), depth)| Overlap { names: [name(a), name(b)], depth }).collect())
}
