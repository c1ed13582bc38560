//! A model: what stays constant during a run.

use crate::detection::{ContactDetector, PlanarDetector};
use crate::error::ModelError;
use crate::impacts::ImpactLaw;
use crate::interactions::Interaction;
use crate::laws::{ContactLaw, Law};
use crate::relations::{FormulaRelation, FormulaSource, Joint, JointSource, NonholonomicRelation, Relation};
use crate::state::State;
use crate::system_set::SystemSet;
use crate::systems::{Scratch, System};
use std::collections::HashSet;
use std::sync::Arc;

/// Systems, the interactions between them, and the detectors that find contacts of bodies.
pub struct Model {
    systems: Arc<SystemSet>,
    interactions: Vec<Interaction>,
    names: HashSet<String>,
    detector: Option<Box<dyn ContactDetector>>,
    planar_detector: Option<Box<dyn PlanarDetector>>,
    impact_law: ImpactLaw,
}

impl Model {
    /// A model of these systems, free of interactions.
    ///
    /// # Errors
    /// Two coordinates of one name.
    pub fn new(systems: Vec<Box<dyn System>>) -> Result<Self, ModelError> {
        Ok(Model {
            systems: Arc::new(SystemSet::new(systems)?),
            interactions: Vec::new(),
            names: HashSet::new(),
            detector: None,
            planar_detector: None,
            impact_law: ImpactLaw::default(),
        })
    }

    /// Adds an interaction: a relation and the law that binds its velocity and impulse.
    ///
    /// # Errors
    /// A name that exists, a law's coefficient out of range.
    pub fn add_interaction(&mut self, name: &str, relation: Box<dyn Relation>, law: Law) -> Result<(), ModelError> {
        if self.names.contains(name) {
            return Err(ModelError::DuplicateName { what: "interaction", name: name.to_owned() });
        }
        let interaction = Interaction::new(name, relation, law, self.systems.layout())?;
        self.names.insert(name.to_owned());
        self.interactions.push(interaction);
        Ok(())
    }

    /// Adds an interaction by formula: a constraint with one row per equation, or a contact with its gap and tangents.
    ///
    /// # Errors
    /// As [`Model::add_interaction`]; formulas that cannot be read.
    pub fn add_formula(&mut self, name: &str, source: &FormulaSource, law: Law) -> Result<(), ModelError> {
        let relation = FormulaRelation::new(source, &self.systems)?;
        self.add_interaction(name, Box::new(relation), law)
    }

    /// Adds a constraint on velocities by formula, one row each, affine in the rates: see [`NonholonomicRelation`].
    ///
    /// # Errors
    /// As [`Model::add_interaction`]; formulas that cannot be read, or that are not affine in the rates.
    pub fn add_velocity_formula(&mut self, name: &str, source: &FormulaSource) -> Result<(), ModelError> {
        let relation = NonholonomicRelation::new(source, &self.systems)?;
        self.add_interaction(name, Box::new(relation), Law::Bilateral)
    }

    /// Adds a joint between the frames of two bodies, or of a body and the ground, placed at the coordinates `q`.
    ///
    /// # Errors
    /// As [`Model::add_interaction`]; [`ModelError::Joint`] for bodies that do not exist and placements that make no joint.
    pub fn add_joint(&mut self, name: &str, source: &JointSource, q: &[f64]) -> Result<(), ModelError> {
        let joint = Joint::new(name, source, &self.systems, q)?;
        self.add_interaction(name, Box::new(joint), Law::Bilateral)
    }

    /// Sets the detector of contacts between rigid bodies.
    pub fn set_detector(&mut self, detector: Box<dyn ContactDetector>) {
        self.detector = Some(detector);
    }

    /// Sets the detector of contacts between planar bodies.
    pub fn set_planar_detector(&mut self, detector: Box<dyn PlanarDetector>) {
        self.planar_detector = Some(detector);
    }

    /// Sets the impact law, Newton's by default.
    pub fn set_impact_law(&mut self, law: ImpactLaw) {
        self.impact_law = law;
    }

    /// The impact law.
    #[must_use]
    pub fn impact_law(&self) -> &ImpactLaw {
        &self.impact_law
    }

    /// The systems.
    #[must_use]
    pub fn systems(&self) -> &SystemSet {
        &self.systems
    }

    /// The interactions by formula or closure, in order.
    #[must_use]
    pub fn interactions(&self) -> &[Interaction] {
        &self.interactions
    }

    /// The detector of contacts between rigid bodies.
    #[must_use]
    pub fn detector(&self) -> Option<&dyn ContactDetector> {
        self.detector.as_deref()
    }

    /// The detector of contacts between planar bodies.
    #[must_use]
    pub fn planar_detector(&self) -> Option<&dyn PlanarDetector> {
        self.planar_detector.as_deref()
    }

    /// Number of colliders: those of bodies in space, then those of planar bodies.
    #[must_use]
    pub fn n_colliders(&self) -> u32 {
        self.n_spatial_colliders() + self.planar_detector().map_or(0, PlanarDetector::n_colliders)
    }

    /// Number of colliders of bodies in space: the keys of planar contacts begin there.
    pub(crate) fn n_spatial_colliders(&self) -> u32 {
        self.detector().map_or(0, ContactDetector::n_colliders)
    }

    /// Name of a collider, numbered as in [`Model::n_colliders`] and in the keys of contacts.
    #[must_use]
    pub fn collider_name(&self, collider: u32) -> &str {
        let first_planar = self.n_spatial_colliders();
        if collider < first_planar {
            return self.detector().map_or("?", |detector| detector.collider_name(collider));
        }
        self.planar_detector().map_or("?", |detector| detector.collider_name(collider - first_planar))
    }

    /// The laws of all pairs of colliders that may touch, each at least once.
    #[must_use]
    pub fn collider_laws(&self) -> Vec<ContactLaw> {
        let mut laws = self.detector().map_or_else(Vec::new, ContactDetector::laws);
        laws.extend(self.planar_detector().map_or_else(Vec::new, PlanarDetector::laws));
        laws
    }

    /// Checks an initial state: lengths, finiteness, unit quaternions, mass and forces finite, mass positive definite.
    ///
    /// # Errors
    /// [`ModelError`] naming what is wrong.
    pub fn check_state(&self, state: &State) -> Result<(), ModelError> {
        let systems = &self.systems;
        for (what, names, values) in [("position", systems.coordinates(), &state.q), ("velocity", systems.velocities(), &state.v)] {
            if values.len() != names.len() {
                return Err(ModelError::WrongLength { what: format!("the initial {what}"), expected: names.len(), found: values.len() });
            }
            if let Some((name, &value)) = names.iter().zip(values).find(|(_, x)| !x.is_finite()) {
                return Err(ModelError::OutOfRange {
                    what: format!("initial {what} of {}", name.name),
                    value,
                    expected: "a finite number is needed",
                });
            }
        }
        systems.check_state(&state.q)?;
        let (layout, mut scratch) = (systems.layout(), Scratch::default());
        let mut mass = vec![0.0; layout.n_values()];
        systems.mass(state.t, &state.q, &mut mass, &mut scratch)?;
        systems.force(state.t, &state.q, &state.v, &mut vec![0.0; state.v.len()], &mut scratch)?;
        for b in 0..layout.n_blocks() {
            let n = layout.size(b);
            let block = nalgebra::DMatrix::from_row_slice(n, n, &mass[layout.values[b]..layout.values[b + 1]]);
            if block.cholesky().is_none() {
                return Err(ModelError::MassNotPositive { system: systems.velocities()[layout.rows[b]].name.clone() });
            }
        }
        Ok(())
    }
}
