//! Bonds of cohesive zones: what is left of each contact, between steps.

use crate::contact_key::ContactKey;

/// The largest gap of every bonded contact \[m\]. It changes when a step begins, from the state at which it begins.
#[derive(Debug, Default, PartialEq)]
pub struct Bonds {
    /// The contacts that exist at the start of the run are known.
    begun: bool,
    by_interaction: Vec<f64>,
    /// Sorted by key; contacts that are not here are not bonded.
    by_contact: Vec<(ContactKey, f64)>,
}

impl Clone for Bonds {
    fn clone(&self) -> Self {
        Bonds { begun: self.begun, by_interaction: self.by_interaction.clone(), by_contact: self.by_contact.clone() }
    }

    /// Storage is reused.
    fn clone_from(&mut self, other: &Self) {
        self.begun = other.begun;
        self.by_interaction.clone_from(&other.by_interaction);
        self.by_contact.clone_from(&other.by_contact);
    }
}

impl Bonds {
    /// Largest gap of a contact by formula, `None` before the first step.
    #[must_use]
    pub(crate) fn of_interaction(&self, i: usize) -> Option<f64> {
        self.by_interaction.get(i).copied()
    }

    /// Largest gap of a contact of bodies, where it is bonded.
    #[must_use]
    pub fn of_contact(&self, key: &ContactKey) -> Option<f64> {
        self.by_contact.binary_search_by(|(other, _)| other.cmp(key)).ok().map(|i| self.by_contact[i].1)
    }

    /// The contacts of bodies that are bonded are those of the start of the run.
    pub(crate) fn begin(&mut self, zones: impl Iterator<Item = ContactKey>) {
        if !self.begun {
            self.by_contact.extend(zones.map(|key| (key, 0.0)));
            self.by_contact.sort_unstable_by_key(|(key, _)| *key);
            self.begun = true;
        }
    }

    /// The gap of an interaction, in their order from 0.
    pub(crate) fn see_interaction(&mut self, i: usize, gap: f64) {
        if self.by_interaction.len() <= i {
            self.by_interaction.resize(i + 1, 0.0);
        }
        self.by_interaction[i] = self.by_interaction[i].max(gap);
    }

    /// The gap of a contact of bodies.
    pub(crate) fn see_contact(&mut self, key: &ContactKey, gap: f64) {
        if let Ok(i) = self.by_contact.binary_search_by(|(other, _)| other.cmp(key)) {
            let largest = &mut self.by_contact[i].1;
            *largest = largest.max(gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bonds_keep_the_largest_gap_of_the_contacts_of_the_start() {
        let key = |feature: u32| ContactKey { collider_a: 0, collider_b: 1, feature };
        let mut bonds = Bonds::default();
        bonds.begin([key(2), key(1)].into_iter());
        bonds.begin([key(3)].into_iter());
        bonds.see_interaction(1, 0.5);
        bonds.see_interaction(1, 0.2);
        for (feature, gap) in [(1, 0.1), (1, 0.05), (3, 0.3)] {
            bonds.see_contact(&key(feature), gap);
        }
        assert_eq!([0, 1, 2].map(|i| bonds.of_interaction(i)), [Some(0.0), Some(0.5), None]);
        assert_eq!([1, 2, 3].map(|feature| bonds.of_contact(&key(feature))), [Some(0.1), Some(0.0), None]);
    }
}
