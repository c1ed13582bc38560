//! All contacts of a model: those by formula and those that detectors find.

use super::detected_points::DetectedPoints;
use crate::detection::{ContactKey, ContactPoint};
use crate::error::{ModelError, NonFinite};
use crate::events::{DetectedContact, FAR};
use crate::interactions::Interaction;
use crate::laws::{Cohesion, ContactLaw, Law};
use crate::model::Model;
use crate::recording::Source;
use crate::relations::Rows;
use crate::smooth::InteractionRef;
use crate::systems::{Instant, Scratch};
use nalgebra::Vector3;
use std::collections::HashMap;
use std::sync::Arc;

/// Below this cosine of the turn of its normal a detected contact gets a new frame: 120°.
const LARGEST_TURN: f64 = -0.5;

/// The contacts of a model by number: those by formula in the model's order, then those detected so far.
///
/// A detected contact keeps its number while it opens and closes; it is found by the key of its point.
pub struct Contacts<'m> {
    model: &'m Model,
    /// Numbers in the model of the contacts by formula.
    by_formula: Vec<usize>,
    detected: Vec<Detected>,
    numbers: HashMap<ContactKey, usize>,
    points: Arc<DetectedPoints>,
    is_detecting: bool,
    found: Vec<ContactPoint>,
    jacobian: Vec<f64>,
    scratch: Scratch,
}

struct Detected {
    key: ContactKey,
    law: ContactLaw,
    interaction: Arc<Interaction>,
    /// Normal at which its frame began.
    normal: Vector3<f64>,
}

impl<'m> Contacts<'m> {
    /// The contacts by formula; those of bodies are found by [`Contacts::find`].
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        let points = Arc::new(DetectedPoints::new(model));
        Contacts {
            model,
            by_formula: model.interactions().iter().enumerate().filter(|(_, x)| x.is_contact()).map(|(i, _)| i).collect(),
            detected: Vec::new(),
            numbers: HashMap::new(),
            is_detecting: points.is_needed(),
            points,
            found: Vec::new(),
            jacobian: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Number of contacts known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_formula.len() + self.detected.len()
    }

    /// No contact is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Looks for contacts of bodies that may close within `horizon` seconds at the velocities of the instant, or are about as near as the bodies are
    /// large; true when new ones were appended. Numbers stay valid. A contact whose normal has turned by more than 120° gets a new frame and
    /// with it another interaction.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula of an obstacle's motion.
    pub fn find(&mut self, at: Instant<'_>, horizon: f64) -> Result<bool, NonFinite> {
        if !self.is_detecting {
            return Ok(false);
        }
        let mut found = std::mem::take(&mut self.found);
        let searched = self.points.find(at, horizon, &mut found);
        let mut grown = false;
        if searched.is_ok() {
            for contact in &found {
                match self.numbers.get(&contact.key).copied() {
                    None => grown |= self.append(contact),
                    Some(k) if self.detected[k].normal.dot(&contact.normal) < LARGEST_TURN => {
                        if let Some(renewed) = self.bind(contact) {
                            self.detected[k] = renewed;
                        }
                    }
                    Some(_) => {}
                }
            }
        }
        self.found = found;
        searched.map(|()| grown)
    }

    /// Appends a contact of a point, unless its bodies are not of this model.
    fn append(&mut self, contact: &ContactPoint) -> bool {
        let Some(detected) = self.bind(contact) else { return false };
        self.numbers.insert(contact.key, self.detected.len());
        self.detected.push(detected);
        true
    }

    fn bind(&self, contact: &ContactPoint) -> Option<Detected> {
        let ContactKey { collider_a, collider_b, .. } = contact.key;
        let name = format!("{}–{}", self.model.collider_name(collider_a), self.model.collider_name(collider_b));
        let law = *self.model.contact_law(contact);
        let relation = DetectedContact::new(Arc::clone(&self.points), name.clone(), contact, &law)?;
        let interaction = Interaction::unchecked(&name, Box::new(relation), Law::Contact(law), self.model.systems().layout());
        Some(Detected { key: contact.key, law, interaction: Arc::new(interaction), normal: contact.normal })
    }

    /// Drops the detected contacts that are not to be kept; those by formula stay. Numbers change: returns the new number of each contact.
    ///
    /// # Panics
    /// If `keep` has fewer entries than there are contacts.
    pub fn forget(&mut self, keep: &[bool]) -> Vec<Option<usize>> {
        let first = self.by_formula.len();
        let mut numbers: Vec<Option<usize>> = (0..first).map(Some).collect();
        let mut next = first;
        for kept in &keep[first..self.len()] {
            numbers.push(kept.then_some(next));
            next += usize::from(*kept);
        }
        let mut place = first;
        self.detected.retain(|_| {
            place += 1;
            keep[place - 1]
        });
        self.numbers = self.detected.iter().enumerate().map(|(k, detected)| (detected.key, k)).collect();
        numbers
    }

    /// The contact as an interaction.
    #[must_use]
    pub fn interaction(&self, c: usize) -> InteractionRef<'m> {
        match self.by_formula.get(c) {
            Some(&i) => InteractionRef::Model(&self.model.interactions()[i]),
            None => InteractionRef::Own(Arc::clone(&self.detected[c - self.by_formula.len()].interaction)),
        }
    }

    /// The contact that is an interaction of the model, if it is one.
    #[must_use]
    pub(crate) fn of_interaction(&self, interaction: usize) -> Option<usize> {
        self.by_formula.iter().position(|&i| i == interaction)
    }

    /// The contact with the key of a point, if it is known.
    #[must_use]
    pub(crate) fn with_key(&self, key: &ContactKey) -> Option<usize> {
        self.numbers.get(key).map(|k| self.by_formula.len() + k)
    }

    /// Where it comes from.
    #[must_use]
    pub fn source(&self, c: usize) -> Source {
        match self.by_formula.get(c) {
            Some(&i) => Source::Interaction(i as u32),
            None => {
                let key = self.detected[c - self.by_formula.len()].key;
                Source::Colliders(key.collider_a, key.collider_b)
            }
        }
    }

    /// Its name: that of the interaction, or "a–b" of two colliders.
    #[must_use]
    pub fn name(&self, c: usize) -> String {
        self.interaction(c).name().to_owned()
    }

    /// Its law.
    #[must_use]
    pub fn law(&self, c: usize) -> ContactLaw {
        match self.by_formula.get(c) {
            // contacts by formula have a contact law
            Some(&i) => self.model.interactions()[i].law().contact().copied().unwrap_or_default(),
            None => self.detected[c - self.by_formula.len()].law,
        }
    }

    /// Number of its tangents: 0, 1 in the plane, 2 in space.
    #[must_use]
    pub fn n_tangents(&self, c: usize) -> usize {
        self.interaction(c).relation().n_rows().saturating_sub(1).min(2)
    }

    /// Its gap \[m\]; [`FAR`] for a point that is too far to be found.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn gap(&mut self, c: usize, t: f64, q: &[f64]) -> Result<f64, NonFinite> {
        if let Some(detected) = c.checked_sub(self.by_formula.len()) {
            let point = self.points.at(t, q, self.detected[detected].key)?;
            return Ok(point.map_or(FAR, |contact| contact.gap));
        }
        let relation = self.model.interactions()[self.by_formula[c]].relation();
        let mut g = [0.0; 6];
        relation.position(t, q, &mut g[..relation.n_rows()], &mut self.scratch)?;
        Ok(g[0])
    }

    /// Its local velocity (u_N, u_T1, u_T2) \[m/s\]; zero for a point that is too far to be found.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn velocity(&mut self, c: usize, at: Instant<'_>) -> Result<[f64; 3], NonFinite> {
        if let Some(detected) = c.checked_sub(self.by_formula.len())
            && self.points.at(at.t, at.q, self.detected[detected].key)?.is_none()
        {
            return Ok([0.0; 3]);
        }
        let interaction = self.interaction(c);
        let relation = interaction.relation();
        let (n, velocities, mut u) = (relation.n_rows(), relation.velocities(), [0.0; 6]);
        self.jacobian.clear();
        self.jacobian.resize(n * velocities.len(), 0.0);
        relation.jacobian(at.t, at.q, Rows { jacobian: &mut self.jacobian, bias: &mut u[..n] }, &mut self.scratch)?;
        for (u, row) in u.iter_mut().zip(self.jacobian.chunks_exact(velocities.len())) {
            *u += row.iter().zip(velocities).map(|(g, &i)| g * at.v[i]).sum::<f64>();
        }
        Ok([u[0], u[1], u[2]])
    }

    /// Its point and normal in the world frame; zero for contacts by formula and points that are not found.
    #[must_use]
    pub fn geometry(&self, c: usize, t: f64, q: &[f64]) -> (Vector3<f64>, Vector3<f64>) {
        let detected = c.checked_sub(self.by_formula.len()).map(|k| self.detected[k].key);
        let point = detected.and_then(|key| self.points.at(t, q, key).ok().flatten());
        point.map_or((Vector3::zeros(), Vector3::zeros()), |contact| (contact.point, contact.normal))
    }
}

/// Checks that located events know the laws of all contacts of a model: no rolling or spinning resistance, no cohesion.
///
/// # Errors
/// [`ModelError::StrategyRefuses`] naming the contact.
pub fn check_contacts(model: &Model, strategy: &'static str) -> Result<(), ModelError> {
    let by_formula = model.interactions().iter().filter_map(|x| x.law().contact().map(|law| (format!("\"{}\"", x.name()), *law)));
    let of_bodies = model.collider_laws().iter().map(|law| ("contacts between bodies".to_owned(), *law));
    for (by, law) in by_formula.chain(of_bodies) {
        let feature = match law {
            ContactLaw { rolling, .. } if rolling > 0.0 => "rolling resistance",
            ContactLaw { spinning, .. } if spinning > 0.0 => "spinning resistance",
            ContactLaw { cohesion, .. } if cohesion != Cohesion::None => "cohesion",
            _ => continue,
        };
        return Err(ModelError::StrategyRefuses { strategy, feature, by, alternatives: "time-stepping, adaptive" });
    }
    Ok(())
}
