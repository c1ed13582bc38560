//! A model: what stays constant during a run.

mod natural;

use crate::control::{ControlSet, ControlSource, Plant};
use crate::detection::{ContactDetector, ContactPoint, PlanarDetector};
use crate::error::{ModelError, NonFinite};
use crate::first_order::{FirstOrderSet, FirstOrderSource};
use crate::forces::{CompliantContact, CompliantLaw, ForceElement, ForceElements, ForcePart, ForceSource, SpringSource};
use crate::impacts::ImpactLaw;
use crate::interactions::Interaction;
use crate::laws::{Cohesion, ContactLaw, Law};
use crate::relations::{
    ChainSource, FormulaRelation, FormulaSource, Joint, JointAxis, JointCoordinate, JointSource, JointSpin, NonholonomicRelation,
    PiecewiseRelation, PiecewiseSource, Relation,
};
use crate::state::State;
use crate::systems::{Instant, JacobianFactors, Scratch, System, SystemSet};
use crate::user_events::{ModelEvent, TimeEvent, UserEvent};
use std::collections::HashSet;
use std::sync::Arc;

/// Systems, the interactions between them, and the detectors that find contacts of bodies.
pub struct Model {
    systems: Arc<SystemSet>,
    interactions: Vec<Interaction>,
    names: HashSet<String>,
    detector: Option<Box<dyn ContactDetector>>,
    planar_detector: Option<Box<dyn PlanarDetector>>,
    /// Those of bodies in space, then those of planar bodies.
    collider_laws: Vec<ContactLaw>,
    /// Some contact by formula has a cohesive zone; some contact of bodies may have one.
    cohesive_zones: [bool; 2],
    impact_law: ImpactLaw,
    compliant: Vec<CompliantContact>,
    elements: ForceElements,
    events: Vec<ModelEvent>,
    time_events: Vec<TimeEvent>,
    first_order: Option<FirstOrderSet>,
    control: Option<ControlSet>,
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
            collider_laws: Vec::new(),
            cohesive_zones: [false; 2],
            impact_law: ImpactLaw::default(),
            compliant: Vec::new(),
            elements: ForceElements::default(),
            events: Vec::new(),
            time_events: Vec::new(),
            first_order: None,
            control: None,
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
        self.cohesive_zones[0] |= interaction.law().contact().is_some_and(is_cohesive_zone);
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

    /// A relation made of pieces over the coordinates of this model, to be added by [`Model::add_interaction`] or
    /// [`Model::add_compliant_contact`].
    ///
    /// # Errors
    /// As [`PiecewiseRelation::new`].
    pub fn piecewise(&self, source: &PiecewiseSource) -> Result<PiecewiseRelation, ModelError> {
        PiecewiseRelation::new(source, &self.systems)
    }

    /// The contact of a point or disc with a chain of segments and arcs over the coordinates of this model, to be added by
    /// [`Model::add_interaction`] or [`Model::add_compliant_contact`].
    ///
    /// # Errors
    /// As [`ChainSource::relation`].
    pub fn chain(&self, source: &ChainSource) -> Result<PiecewiseRelation, ModelError> {
        source.relation(&self.systems)
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

    /// The angle or displacement of a joint that lies as `source` says at the coordinates `q`: for motors, friction, springs and limits.
    ///
    /// # Errors
    /// As [`JointCoordinate::new`].
    pub fn joint_coordinate(&self, name: &str, source: &JointSource, axis: JointAxis, q: &[f64]) -> Result<JointCoordinate, ModelError> {
        JointCoordinate::new(name, source, axis, &self.systems, q)
    }

    /// The relative angular velocity of the bodies of a joint that lies as `source` says at the coordinates `q`: for friction in a ball joint.
    ///
    /// # Errors
    /// As [`JointSpin::new`].
    pub fn joint_spin(&self, name: &str, source: &JointSource, q: &[f64]) -> Result<JointSpin, ModelError> {
        JointSpin::new(name, source, &self.systems, q)
    }

    /// Adds a penalised contact: a force of the gap and velocity of a relation.
    ///
    /// # Errors
    /// A name that exists, a coefficient out of range.
    pub fn add_compliant_contact(&mut self, name: &str, relation: Box<dyn Relation>, law: CompliantLaw) -> Result<(), ModelError> {
        if !self.names.insert(name.to_owned()) {
            return Err(ModelError::DuplicateName { what: "interaction", name: name.to_owned() });
        }
        self.compliant.push(CompliantContact::new(name, relation, law)?);
        Ok(())
    }

    /// Adds a penalised contact by formula: its gap and tangents.
    ///
    /// # Errors
    /// As [`Model::add_compliant_contact`]; formulas that cannot be read.
    pub fn add_compliant_formula(&mut self, name: &str, source: &FormulaSource, law: CompliantLaw) -> Result<(), ModelError> {
        let relation = FormulaRelation::new(source, &self.systems)?;
        self.add_compliant_contact(name, Box::new(relation), law)
    }

    /// Adds a force element on bodies; its points and axes are those at the coordinates `q`.
    ///
    /// # Errors
    /// A name that exists, a body that does not, a formula that cannot be read, a number out of range.
    pub fn add_force(&mut self, name: &str, source: &ForceSource, q: &[f64]) -> Result<(), ModelError> {
        self.check_force_name(name)?;
        self.elements.add(name, source, &self.systems, q)?;
        self.names.insert(name.to_owned());
        Ok(())
    }

    /// Adds a spring and damper over a relation of one row, such as the coordinate of a joint: F = −Gᵀ f(g, u, t). Formulas use `coordinate`, `rate`
    /// and `t`; the rest is g at (t, q) unless the spring says.
    ///
    /// # Errors
    /// As [`Model::add_force`]; a relation of more rows.
    pub fn add_relation_spring(
        &mut self,
        name: &str,
        relation: Box<dyn Relation>,
        source: &SpringSource,
        (t, q): (f64, &[f64]),
    ) -> Result<(), ModelError> {
        self.check_force_name(name)?;
        self.elements.add_over_relation(name, relation, source, (t, q))?;
        self.names.insert(name.to_owned());
        Ok(())
    }

    /// Adds a spring and damper over a coordinate of a joint, placed at the coordinates `q`; the joint itself need not exist. An angle is counted
    /// within half a turn of the rest, or of the position at `q`.
    ///
    /// # Errors
    /// As [`Model::add_relation_spring`]; [`ModelError::Joint`] for a joint without that coordinate.
    pub fn add_joint_spring(
        &mut self,
        name: &str,
        source: &JointSource,
        axis: JointAxis,
        spring: &SpringSource,
        q: &[f64],
    ) -> Result<(), ModelError> {
        let coordinate = JointCoordinate::new(name, source, axis, &self.systems, q)?;
        let centre = match spring {
            SpringSource::Linear(spring) => spring.rest,
            SpringSource::Formula { .. } => None,
        };
        let centre = centre.unwrap_or_else(|| coordinate.value(q));
        self.add_relation_spring(name, Box::new(coordinate.with_centre(centre)), spring, (0.0, q))
    }

    /// Adds a force element of one's own.
    ///
    /// # Errors
    /// A name that exists.
    pub fn add_force_element(&mut self, name: &str, element: Box<dyn ForceElement>) -> Result<(), ModelError> {
        self.check_force_name(name)?;
        self.elements.push(name, element);
        self.names.insert(name.to_owned());
        Ok(())
    }

    fn check_force_name(&self, name: &str) -> Result<(), ModelError> {
        if self.names.contains(name) {
            return Err(ModelError::DuplicateName { what: "interaction or force", name: name.to_owned() });
        }
        Ok(())
    }

    /// Sets the first-order part: see [`crate::first_order`].
    ///
    /// # Errors
    /// As [`FirstOrderSet::new`].
    pub fn set_first_order(&mut self, source: &FirstOrderSource) -> Result<(), ModelError> {
        self.first_order = Some(FirstOrderSet::new(source, &self.systems)?);
        Ok(())
    }

    /// The first-order part, if there is one.
    #[must_use]
    pub fn first_order(&self) -> Option<&FirstOrderSet> {
        self.first_order.as_ref()
    }

    /// Sets the control part: see [`crate::control`]. The systems of the model end with [`HeldValues`](crate::control::HeldValues) of the source's
    /// [`held_values`](ControlSource::held_values), and its first-order part was extended by [`ControlSource::extend`].
    ///
    /// # Errors
    /// [`ModelError`] naming the sensor, controller or actuator, and what is wrong with it.
    pub fn set_control(&mut self, source: &ControlSource) -> Result<(), ModelError> {
        let plant = Plant { systems: &self.systems, first_order: self.first_order.as_ref(), interactions: &self.interactions };
        let compiled = crate::control::compile(source, plant)?;
        if let Some(force) = compiled.force {
            self.elements.push("actuators", force);
        }
        self.events.extend(compiled.guards);
        self.control = Some(compiled.set);
        Ok(())
    }

    /// The control part, if there is one.
    #[must_use]
    pub fn control(&self) -> Option<&ControlSet> {
        self.control.as_ref()
    }

    /// Adds an event by formula.
    ///
    /// # Errors
    /// A name that exists, a formula that cannot be read.
    pub fn add_event(&mut self, event: UserEvent) -> Result<(), ModelError> {
        self.check_event_name(&event.name)?;
        self.events.push(ModelEvent::new(event, &self.systems)?);
        Ok(())
    }

    /// Adds a time at which integrators stop and are restarted, because a load changes there at once.
    ///
    /// # Errors
    /// A name that exists, a time that is not finite.
    pub fn add_time_event(&mut self, name: &str, t: f64) -> Result<(), ModelError> {
        self.check_event_name(name)?;
        if !t.is_finite() {
            let expected = "a finite number is needed";
            return Err(ModelError::OutOfRange { what: format!("time of event \"{name}\""), value: t, expected });
        }
        let place = self.time_events.partition_point(|event| event.t <= t);
        self.time_events.insert(place, TimeEvent { name: name.to_owned(), t });
        Ok(())
    }

    fn check_event_name(&self, name: &str) -> Result<(), ModelError> {
        let mut names = self.events.iter().map(|event| &event.source().name).chain(self.time_events.iter().map(|event| &event.name));
        if names.any(|other| other == name) {
            return Err(ModelError::DuplicateName { what: "event", name: name.to_owned() });
        }
        Ok(())
    }

    /// The events by formula, in order.
    #[must_use]
    pub fn events(&self) -> &[ModelEvent] {
        &self.events
    }

    /// The events by time, ascending.
    #[must_use]
    pub fn time_events(&self) -> &[TimeEvent] {
        &self.time_events
    }

    /// The penalised contacts, in order.
    #[must_use]
    pub fn compliant_contacts(&self) -> &[CompliantContact] {
        &self.compliant
    }

    /// The force elements on bodies.
    #[must_use]
    pub fn force_elements(&self) -> &ForceElements {
        &self.elements
    }

    /// F(t, q, v) of the systems, the penalised contacts and the force elements.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.systems.force_of_systems(t, q, v, force, scratch)?;
        let at = Instant { t, q, v };
        self.compliant.iter().try_for_each(|contact| contact.add_force(at, false, force, scratch))?;
        self.elements.add_force(&self.systems, at, ForcePart::All, force, scratch)
    }

    /// Adds c_v C + c_q K to a block-diagonal matrix, with C = −∂F/∂v and K = −(∂F/∂q) T, for an iteration: what force elements couple between
    /// blocks is left out, and made up for as [`crate::forces`] says.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn add_jacobians(
        &self,
        at: Instant<'_>,
        factors: JacobianFactors,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.add_jacobians_beside(at, factors, (matrix, |_| None), scratch)
    }

    /// As [`Model::add_jacobians`] without the stiff rows of some elements: number => rows and their κ.
    pub(crate) fn add_jacobians_beside<'a>(
        &self,
        at: Instant<'_>,
        factors: JacobianFactors,
        (matrix, stiff): (&mut [f64], impl Fn(usize) -> Option<(&'a [f64], &'a [f64])>),
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.add_jacobians_without_elements(at, factors, matrix, scratch)?;
        self.elements.add_to_iteration(&self.systems, at, factors, (matrix, stiff), scratch)
    }

    /// As [`Model::add_jacobians`], for schemes that are linearised once: elements between bodies are left to F, so that momentum is kept.
    pub(crate) fn add_linear_jacobians(
        &self,
        at: Instant<'_>,
        factors: JacobianFactors,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.add_jacobians_without_elements(at, factors, matrix, scratch)?;
        self.elements.add_uncoupled(&self.systems, at, factors, matrix, scratch)
    }

    /// As [`Model::add_jacobians`], of systems and penalised contacts only.
    pub(crate) fn add_jacobians_without_elements(
        &self,
        at: Instant<'_>,
        factors: JacobianFactors,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.systems.add_jacobians_of_systems(at, factors, matrix, scratch)?;
        let layout = self.systems.layout();
        self.compliant.iter().try_for_each(|contact| contact.add_jacobians(at, factors, layout, matrix, scratch))
    }

    /// Gives c_v C + c_q K of the force elements whole, by row, column and value.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn visit_element_jacobians(
        &self,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<(), NonFinite> {
        self.elements.visit_entries(&self.systems, at, factors, scratch, visit)
    }

    /// M is constant and F = f − K q − C v with constant f, K, C.
    #[must_use]
    pub fn is_affine(&self) -> bool {
        self.systems.systems_are_affine() && self.compliant.is_empty() && self.elements.are_constant()
    }

    /// Energy enters or leaves other than through interactions: see [`System::exchanges_energy`].
    #[must_use]
    pub fn exchanges_energy(&self) -> bool {
        self.systems.systems_exchange_energy() || !self.compliant.is_empty() || self.elements.are_applied()
    }

    /// The forces without potential.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn applied_force(&self, at: Instant<'_>, force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.systems.applied_force_of_systems(at, force, scratch)?;
        self.compliant.iter().try_for_each(|contact| contact.add_force(at, true, force, scratch))?;
        self.elements.add_force(&self.systems, at, ForcePart::Applied, force, scratch)
    }

    /// ∂V/∂t − ∂T/∂t \[W\].
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn explicit_power(&self, at: Instant<'_>, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        let mut power = self.systems.explicit_power_of_systems(at, scratch)?;
        for contact in &self.compliant {
            power += contact.explicit_power(at, scratch)?;
        }
        Ok(power + self.elements.explicit_power(&self.systems, at, scratch)?)
    }

    /// Kinetic and potential energy \[J\], that of penalised contacts and force elements included.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn energy(&self, t: f64, q: &[f64], v: &[f64], scratch: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        let (kinetic, mut potential) = self.systems.energy_of_systems(t, q, v, scratch)?;
        for contact in &self.compliant {
            potential += contact.potential(t, q, scratch)?;
        }
        potential += self.elements.potential(&self.systems, t, q, scratch)?;
        Ok((kinetic, potential))
    }

    /// Sets the detector of contacts between rigid bodies.
    pub fn set_detector(&mut self, detector: Box<dyn ContactDetector>) {
        self.detector = Some(detector);
        self.collect_laws();
    }

    /// Sets the detector of contacts between planar bodies.
    pub fn set_planar_detector(&mut self, detector: Box<dyn PlanarDetector>) {
        self.planar_detector = Some(detector);
        self.collect_laws();
    }

    fn collect_laws(&mut self) {
        self.collider_laws.clear();
        self.collider_laws.extend_from_slice(self.detector.as_ref().map_or(&[], |detector| detector.laws()));
        self.collider_laws.extend_from_slice(self.planar_detector.as_ref().map_or(&[], |detector| detector.laws()));
        self.cohesive_zones[1] = self.collider_laws.iter().any(is_cohesive_zone);
    }

    /// Some contact has a cohesive zone, whose bond is a part of the state.
    #[must_use]
    pub(crate) fn has_cohesive_zones(&self) -> bool {
        self.cohesive_zones != [false; 2]
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

    /// The systems, to be kept by others: by relations, say.
    #[must_use]
    pub fn shared_systems(&self) -> Arc<SystemSet> {
        Arc::clone(&self.systems)
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

    /// The laws of all pairs of colliders that may touch, each at least once: those of bodies in space, then those of planar bodies.
    #[must_use]
    pub fn collider_laws(&self) -> &[ContactLaw] {
        &self.collider_laws
    }

    /// Number of laws of bodies in space: those of planar contacts begin there.
    pub(crate) fn n_spatial_laws(&self) -> u16 {
        self.detector().map_or(0, |detector| detector.laws().len() as u16)
    }

    /// The law of a contact point of a step.
    ///
    /// # Panics
    /// If the point is not of this model.
    #[must_use]
    pub fn contact_law(&self, contact: &ContactPoint) -> &ContactLaw {
        &self.collider_laws[contact.law as usize]
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
            if let Some(i) = values.iter().position(|x| !x.is_finite()) {
                return Err(ModelError::OutOfRange {
                    what: format!("initial {what} of {}", names.name(i)),
                    value: values[i],
                    expected: "a finite number is needed",
                });
            }
        }
        systems.check_state(&state.q)?;
        let states = self.first_order().map_or(&[][..], FirstOrderSet::states);
        if state.x.len() != states.len() {
            return Err(ModelError::WrongLength { what: "the initial states x".into(), expected: states.len(), found: state.x.len() });
        }
        if let Some((name, &value)) = states.iter().zip(&state.x).find(|(_, x)| !x.is_finite()) {
            let expected = "a finite number is needed";
            return Err(ModelError::OutOfRange { what: format!("initial value of {}", name.name), value, expected });
        }
        let (layout, mut scratch) = (systems.layout(), Scratch::default());
        let mut mass = vec![0.0; layout.n_values()];
        systems.mass(state.t, &state.q, &mut mass, &mut scratch)?;
        self.force(state.t, &state.q, &state.v, &mut vec![0.0; state.v.len()], &mut scratch)?;
        for b in 0..layout.n_blocks() {
            let n = layout.size(b);
            let block = nalgebra::DMatrix::from_row_slice(n, n, &mass[layout.values[b]..layout.values[b + 1]]);
            if block.cholesky().is_none() {
                return Err(ModelError::MassNotPositive { system: systems.velocities().name(layout.rows[b]) });
            }
        }
        Ok(())
    }
}

fn is_cohesive_zone(law: &ContactLaw) -> bool {
    matches!(law.cohesion, Cohesion::Zone { .. })
}
