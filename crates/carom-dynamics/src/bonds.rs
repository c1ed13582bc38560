//! Bonds of cohesive zones: what is left of each contact, between steps.

use crate::assembly::{at_time, detect_contacts, evaluate_candidates};
use crate::detection::ContactKey;
use crate::error::StepError;
use crate::laws::{Cohesion, ContactLaw};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;

/// The largest gap of every bonded contact \[m\]. It changes when a step begins, from the state at which it begins: trying the step again with
/// another size finds the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bonds {
    /// Some law of the model has bonds.
    in_use: bool,
    /// The contacts that exist at the start of the run are known.
    begun: bool,
    by_interaction: Vec<f64>,
    /// Sorted by key; contacts that are not here are not bonded.
    by_contact: Vec<(ContactKey, f64)>,
}

impl Bonds {
    pub fn new(model: &Model) -> Self {
        let zone = |law: &ContactLaw| matches!(law.cohesion, Cohesion::Zone { .. });
        let by_formula = model.interactions().iter().filter_map(|interaction| interaction.law().contact()).any(zone);
        let in_use = by_formula || model.collider_laws().iter().any(zone);
        Bonds {
            in_use,
            begun: false,
            by_interaction: vec![0.0; if in_use { model.interactions().len() } else { 0 }],
            by_contact: Vec::new(),
        }
    }

    /// Largest gap of a contact by formula.
    pub fn of_interaction(&self, i: usize) -> Option<f64> {
        self.by_interaction.get(i).copied()
    }

    /// Largest gap of a contact of bodies, where it is bonded.
    pub fn of_contact(&self, key: &ContactKey) -> Option<f64> {
        self.by_contact.binary_search_by(|(other, _)| other.cmp(key)).ok().map(|i| self.by_contact[i].1)
    }
}

/// (t, q) at the start of a step => the largest gaps so far.
pub(crate) fn update_bonds(model: &Model, state: &State, memory: &mut StepMemory) -> Result<(), StepError> {
    if !memory.bonds.in_use {
        return Ok(());
    }
    evaluate_candidates(model, state, memory).map_err(at_time(state.t))?;
    detect_contacts(model, state, memory, 0.0).map_err(at_time(state.t))?;
    let StepMemory { bonds, candidates, contacts, .. } = memory;
    for (largest, &row) in bonds.by_interaction.iter_mut().zip(&candidates.rows) {
        *largest = largest.max(candidates.position[row]);
    }
    if !bonds.begun {
        let zones = contacts.iter().filter(|contact| matches!(model.contact_law(contact).cohesion, Cohesion::Zone { .. }));
        bonds.by_contact.extend(zones.map(|contact| (contact.key, 0.0)));
        bonds.by_contact.sort_unstable_by_key(|(key, _)| *key);
        bonds.begun = true;
    }
    for contact in contacts.iter() {
        if let Ok(i) = bonds.by_contact.binary_search_by(|(key, _)| key.cmp(&contact.key)) {
            let largest = &mut bonds.by_contact[i].1;
            *largest = largest.max(contact.gap);
        }
    }
    Ok(())
}
