//! Contacts that impulses of the step close and that nobody foresaw.
//!
//! Contacts are sought before the step from its free motion. A body that is struck goes elsewhere, and may meet another one within the same step; where the impact is without
//! rebound, the step is then solved again with that contact. Contacts that rebound wait for the next step, which knows the speed at which they meet.

use super::MoreauGap;
use crate::assembly::{counts_restitution, detect_at, normal_displacement};
use crate::detection::ContactPoint;
use crate::error::NonFinite;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::systems::Instant;

/// Times that a step is solved again, at most: one is enough, but for a few steps of piles that collapse. What is left then penetrates and is taken back.
pub(super) const MOST_TIMES: usize = 2;

impl MoreauGap {
    /// (q_k, displacement of the step) => contacts that it closes and that were not among `contacts`, where they now are: whether there are any. `first` says that
    /// the last search was that of the beginning of the step.
    pub(super) fn find_late_contacts(
        &self,
        model: &Model,
        t: f64,
        memory: &mut StepMemory,
        (h, first): (f64, bool),
    ) -> Result<bool, NonFinite> {
        let rebounds = counts_restitution(model, memory);
        let StepMemory { work, detector, contacts, late, many, .. } = &mut *memory;
        let (Some(bodies), Some(finder)) = (model.systems().bodies(), &*detector) else { return Ok(false) };
        // the residual of the solution is no longer needed: room for the mean velocity
        let mean = &mut work.residual;
        mean.clear();
        mean.extend(work.displacement.iter().map(|w| w / h));
        if first && finder.has_foreseen(&mean[bodies.v.clone()], h) {
            return Ok(false);
        }
        detect_at(model, Instant { t, q: &work.q_start, v: mean }, h, detector, late)?;
        let (q, w) = (&work.q_start[bodies.q.clone()], &work.displacement[bodies.v.clone()]);
        let mut known = contacts.iter().peekable();
        late.retain(|contact| {
            while known.next_if(|other| !other.planar && other.key < contact.key).is_some() {}
            if known.peek().is_some_and(|other| !other.planar && other.key == contact.key) {
                return false;
            }
            let of_surface = contact.surface.as_ref().map_or(0.0, |surface| h * contact.normal.dot(&surface.velocity));
            let gap = contact.gap + normal_displacement(contact, q, w) - of_surface;
            let law = model.contact_law(contact);
            gap < -self.params.touch && !(rebounds && law.restitution.at(0.0) > 0.0)
        });
        if late.is_empty() {
            return Ok(false);
        }
        many.keep_pass(contacts);
        merge(contacts, late);
        Ok(true)
    }
}

/// Adds contacts between bodies in space, both sorted by key; planar ones stay at the end.
fn merge(contacts: &mut Vec<ContactPoint>, late: &[ContactPoint]) {
    let mut end = contacts.iter().take_while(|contact| !contact.planar).count();
    let n_planar = contacts.len() - end;
    contacts.extend_from_slice(late);
    contacts[end..].rotate_left(n_planar);
    // from the back: the larger key goes to the last free place
    for (k, contact) in late.iter().enumerate().rev() {
        while end > 0 && contacts[end - 1].key > contact.key {
            contacts[end + k] = contacts[end - 1];
            end -= 1;
        }
        contacts[end + k] = *contact;
    }
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
        merge(&mut contacts, &[contact(1, false), contact(5, false), contact(6, false), contact(9, false)]);
        let keys: Vec<(bool, u32)> = contacts.iter().map(|contact| (contact.planar, contact.key.feature)).collect();
        let in_space = [1, 2, 4, 5, 6, 7, 9].map(|feature| (false, feature));
        assert_eq!(keys, [&in_space[..], &[(true, 1), (true, 2)]].concat());
    }
}
