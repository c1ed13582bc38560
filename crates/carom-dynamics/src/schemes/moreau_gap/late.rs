//! Contacts that impulses of the step close and that nobody foresaw.
//!
//! Contacts are sought before the step from its free motion. A body that is struck goes elsewhere, and may meet another one within the same step; where the impact is without
//! rebound, the step is then solved again with that contact. Contacts that rebound wait for the next step, which knows the speed at which they meet. The same in the plane.

use super::MoreauGap;
use super::remembered::{Context, Remembered};
use crate::assembly::{counts_restitution, normal_displacement};
use crate::detection::ContactPoint;
use crate::error::NonFinite;
use crate::many_contacts::{is_plain, spread};
use crate::memory::StepMemory;
use crate::planar_contacts::detect_planar_at;
use crate::relations::planar_contact::{PLANAR_WIDTH, planar_normal_velocity};
use crate::systems::Instant;

/// Times that a step is solved again, at most: one is enough, but for a few steps of piles that collapse. What is left then penetrates and is taken back.
pub(super) const MOST_TIMES: usize = 2;

/// Contacts of planar bodies are sought from the velocities at the start of the step, for so many times as far as they then go.
pub(super) const PLANAR_REACH: f64 = 2.0;

impl MoreauGap {
    /// (q_k, displacement of the step) => contacts that it closes and that were not among `contacts`, where they now are: whether there are any.
    pub(super) fn find_late_contacts(&self, cx: &mut Context<'_>, t: f64) -> Result<bool, NonFinite> {
        // the residual of the solution is no longer needed: room for the mean velocity
        let (work, h) = (&mut cx.memory.work, cx.h);
        work.residual.clear();
        work.residual.extend(work.displacement.iter().map(|w| w / h));
        let in_space = self.find_late_in_space(cx, t)?;
        let in_plane = self.find_late_in_plane(cx, t)?;
        Ok(in_space || in_plane)
    }

    fn find_late_in_space(&self, cx: &mut Context<'_>, t: f64) -> Result<bool, NonFinite> {
        let Context { model, memory, own: Remembered { late, late_places: places, .. }, h } = cx;
        let (model, h) = (*model, *h);
        let rebounds = counts_restitution(model, memory);
        let StepMemory { work, detector, contacts, many, .. } = &mut **memory;
        let (Some(bodies), Some(detector)) = (model.systems().bodies(), detector) else { return Ok(false) };
        let mean = &work.residual;
        let (q, w) = (&work.q_start[bodies.q.clone()], &work.displacement[bodies.v.clone()]);
        late.clear();
        detector.detect_unforeseen(Instant { t, q, v: &mean[bodies.v.clone()] }, h, late)?;
        let in_space = &contacts[..n_in_space(contacts)];
        late.retain(|contact| {
            let of_surface = contact.surface.as_ref().map_or(0.0, |surface| h * contact.normal.dot(&surface.velocity));
            let gap = contact.gap + normal_displacement(contact, q, w) - of_surface;
            let closes = gap < -self.params.touch && !(rebounds && model.contact_law(contact).restitution.at(0.0) > 0.0);
            closes && in_space.binary_search_by_key(&contact.key, |other| other.key).is_err()
        });
        if late.is_empty() {
            return Ok(false);
        }
        late.sort_unstable_by_key(|contact| contact.key);
        merge(contacts, late, places);
        many.make_room(contacts, places, |contact| is_plain(model.contact_law(contact)));
        Ok(true)
    }

    fn find_late_in_plane(&self, cx: &mut Context<'_>, t: f64) -> Result<bool, NonFinite> {
        let Context { model, memory, own: Remembered { late, .. }, h } = cx;
        let (model, h) = (*model, *h);
        let rebounds = counts_restitution(model, memory);
        let StepMemory { work, planar_detector, contacts, .. } = &mut **memory;
        let (Some(bodies), Some(detector)) = (model.systems().planar_bodies(), planar_detector) else { return Ok(false) };
        let (mean, start) = (&work.residual[bodies.v.clone()], &work.v_start[bodies.v.clone()]);
        let grows = |mean: f64, start: f64| h * mean > self.params.touch && mean > PLANAR_REACH * start;
        let is_faster = |(mean, start): (&[f64], &[f64])| {
            grows(mean[0].hypot(mean[1]), start[0].hypot(start[1])) || grows(mean[2].abs(), start[2].abs())
        };
        if !mean.chunks_exact(PLANAR_WIDTH).zip(start.chunks_exact(PLANAR_WIDTH)).any(is_faster) {
            return Ok(false);
        }
        late.clear();
        detect_planar_at(model, Instant { t, q: &work.q_start, v: &work.residual }, h, detector.as_mut(), late)?;
        let (q, first) = (&work.q_start[bodies.q.clone()], n_in_space(contacts));
        late.retain(|contact| {
            let gap = contact.gap + h * planar_normal_velocity(contact, q, mean);
            let closes = gap < -self.params.touch && !(rebounds && model.contact_law(contact).restitution.at(0.0) > 0.0);
            closes && contacts[first..].iter().all(|other| other.key != contact.key)
        });
        let found = !late.is_empty();
        contacts.append(late);
        Ok(found)
    }
}

/// Number of the contacts between bodies in space; planar ones follow them.
fn n_in_space(contacts: &[ContactPoint]) -> usize {
    contacts.len() - contacts.iter().rev().take_while(|contact| contact.planar).count()
}

/// Adds contacts between bodies in space, both sorted by key, and tells their places; planar ones stay at the end.
fn merge(contacts: &mut Vec<ContactPoint>, late: &[ContactPoint], places: &mut Vec<u32>) {
    let in_space = &contacts[..n_in_space(contacts)];
    places.clear();
    places.extend((0..).zip(late).map(|(k, contact)| k + in_space.partition_point(|other| other.key < contact.key) as u32));
    spread(contacts, places, |k| late[k]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::{ContactKey, WORLD};
    use nalgebra::Vector3;

    #[test]
    fn contacts_stay_sorted_and_planar_ones_last() {
        let contact = |feature: u32, planar: bool| ContactPoint {
            body_a: 0,
            body_b: WORLD,
            key: ContactKey { collider_a: 0, collider_b: 1, feature },
            point: Vector3::zeros(),
            normal: Vector3::z(),
            gap: 0.0,
            turn: 0.0,
            surface: None,
            law: 0,
            planar,
        };
        let mut contacts = vec![contact(2, false), contact(4, false), contact(7, false), contact(1, true), contact(2, true)];
        let mut places = Vec::new();
        merge(&mut contacts, &[contact(1, false), contact(5, false), contact(6, false), contact(9, false)], &mut places);
        assert_eq!(places, [0, 3, 4, 6]);
        let keys: Vec<(bool, u32)> = contacts.iter().map(|contact| (contact.planar, contact.key.feature)).collect();
        let in_space = [1, 2, 4, 5, 6, 7, 9].map(|feature| (false, feature));
        assert_eq!(keys, [&in_space[..], &[(true, 1), (true, 2)]].concat());
    }
}
