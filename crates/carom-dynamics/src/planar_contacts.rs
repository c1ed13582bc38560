//! Contacts of planar bodies in a step: found by the model's [`crate::detection::PlanarDetector`], taken into the active set.

use crate::active_set::{ActiveSet, ActiveSource, ContactRows};
use crate::block_diagonal::dot;
use crate::detection::{ContactPoint, PlanarDetector, WORLD};
use crate::error::NonFinite;
use crate::laws::Law;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::relations::planar_contact::{PLANAR_WIDTH, planar_normal_velocity, write_planar_bias, write_planar_jacobian};
use crate::state::State;
use crate::systems::Instant;

/// (t, q, v) => contact points of planar bodies, appended; their colliders are numbered after those of bodies in space.
pub(crate) fn detect_planar_contacts(model: &Model, state: &State, memory: &mut StepMemory, horizon: f64) -> Result<(), NonFinite> {
    let StepMemory { planar_detector, contacts, .. } = memory;
    let Some(detector) = planar_detector else { return Ok(()) };
    detect_planar_at(model, Instant { t: state.t, q: &state.q, v: &state.v }, horizon, detector.as_mut(), contacts)
}

/// The same at the coordinates and velocities of all systems.
pub(crate) fn detect_planar_at(
    model: &Model,
    at: Instant<'_>,
    horizon: f64,
    detector: &mut dyn PlanarDetector,
    contacts: &mut Vec<ContactPoint>,
) -> Result<(), NonFinite> {
    let Some(bodies) = model.systems().planar_bodies() else { return Ok(()) };
    let first = contacts.len();
    detector.detect(Instant { t: at.t, q: &at.q[bodies.q.clone()], v: &at.v[bodies.v.clone()] }, horizon, contacts)?;
    let (colliders, laws) = (model.n_spatial_colliders(), model.n_spatial_laws());
    for contact in &mut contacts[first..] {
        contact.key.collider_a += colliders;
        contact.key.collider_b += colliders;
        contact.law += laws;
    }
    Ok(())
}

/// (g, u) of the contacts of planar bodies that are closed by a rule of (source, gap, normal velocity) => active set with G, b and u_k, for a
/// step of size `step`.
pub(crate) fn select_planar_contacts(
    model: &Model,
    state: &State,
    memory: &mut StepMemory,
    (step, with_restitution): (f64, bool),
    closed: &impl Fn(ActiveSource, f64, f64) -> bool,
) {
    let Some(bodies) = model.systems().planar_bodies() else { return };
    let StepMemory { active, contacts, .. } = memory;
    let active: &mut ActiveSet = active;
    let (q, v) = (&state.q[bodies.q.clone()], &state.v[bodies.v.clone()]);
    for (i, contact) in contacts.iter().enumerate() {
        if !contact.planar || !closed(ActiveSource::Contact(i), contact.gap, planar_normal_velocity(contact, q, v)) {
            continue;
        }
        let pair = [contact.body_a, contact.body_b];
        let blocks = pair.into_iter().filter(|&body| body != WORLD).map(|body| bodies.first_block as u32 + body);
        let law = *model.contact_law(contact);
        let dim = if law.is_frictionless() { 1 } else { 2 };
        let item = active.push(ActiveSource::Contact(i), Law::Contact(law), contact.gap, dim, blocks, model.systems().layout());
        let ContactRows { jacobian, bias, bias_change, velocity_start } = active.contact_rows_mut(item);
        write_planar_jacobian(contact, q, dim, jacobian);
        write_planar_bias(contact, step, bias, bias_change);
        let width = jacobian.len() / dim;
        for (k, row) in jacobian.chunks_exact(width).enumerate() {
            let relative: f64 = row
                .chunks_exact(PLANAR_WIDTH)
                .zip(pair)
                .map(|(part, body)| dot(part, &v[PLANAR_WIDTH * body as usize..][..PLANAR_WIDTH]))
                .sum();
            velocity_start[k] = relative + bias[k] - bias_change[k];
        }
        active.bind(item, with_restitution);
    }
}
