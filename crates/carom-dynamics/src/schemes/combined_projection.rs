//! Moreau–Jean and the projection of the positions, iterated until both agree on the closed contacts: combined projection.
//!
//! The set I of closed contacts is not foreseen from the start of the step but found at its end. From I = ∅,
//!
//! ```text
//! (1) velocities:  a Moreau–Jean step (q̄_{k+1}, v_{k+1}, p_{k+1}) with all constraints and the contacts of I
//! (2) contacts with g(t_{k+1}, q̄_{k+1}) ≤ threshold enter I; if there are new ones, back to (1)
//! (3) positions:   the smallest displacement from q̄_{k+1} with  g = 0 for the constraints,  g = 0 (or g ≥ 0) for the contacts of I,
//!                  g ≥ 0 for all others
//! (4) contacts that (3) pushed apart enter I; if there are new ones, back to (1)
//! ```
//!
//! I only grows, so that this ends. [Acary, Projected event-capturing time-stepping schemes, CMAME 256, 2013, combined projection]; a
//! stabilisation in the manner of Gear, Gupta and Leimkuhler, with one multiplier for the velocities and one for the positions. As in
//! Siconos, I is built up from the empty set with the gaps at the end of the step; unlike there, contacts outside I may not penetrate
//! either and enter I if they would. Of contacts between bodies, the gap in (2) is linearised, g_k + h G_N v_{k+θ}: the point that
//! carries the impulse keeps its identity, while the features nearest at the end of the step may be others. Steps (3) and (4) use the
//! gaps as detected.
//!
//! Conserves: constraints and gaps to `position_tolerance` at the end of every step.
//! Violates: the velocity is that of the unprojected positions, so that G(q_{k+1}) v_{k+1} = 0 holds to the size of the displacement; the
//! displacement does no work and shows as energy error.
//! Order: 1 across impacts and with active constraints; 2 in free motion for θ = 1/2 and constant M.

use super::moreau_jean::{Configuration, MoreauJean, MoreauJeanParams};
use super::position_projection::{Demand, Metric, Place, Projection, Projector};
use super::stages::{Span, displace, finish};
use super::{Orders, Scheme};
use crate::active_set::ActiveSource;
use crate::assembly::{RowsOver, at_time, measure_violations, normal_displacement, select_where};
use crate::checkpoint::WorkOnly;
use crate::error::{ModelError, NonFinite, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::{ProjectionReport, StepReport};
use crate::state::State;
use carom_solvers::Block;
use serde::{Deserialize, Serialize};

/// Settings of [`CombinedProjection`]: those of Moreau–Jean that apply and of the projection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CombinedProjectionParams {
    /// θ of the smooth terms, dimensionless, default 1/2, in [0, 1]: see [`MoreauJeanParams`], also for the next four.
    pub theta: f64,
    /// A contact whose gap at the end of the step is below this counts as closed \[m\], default 1e-9, ≥ 0.
    pub activation_threshold: f64,
    /// Where M and G are evaluated, default the end of the step.
    pub configuration: Configuration,
    /// Relative residual at which Newton's iteration on the equation of motion stops, dimensionless, default 1e-12, in (0, 1).
    pub newton_tolerance: f64,
    /// Largest number of Newton iterations, default 50, ≥ 1.
    pub newton_max_iterations: usize,
    /// Largest |g| of a constraint and penetration of a contact that are left \[m\] (unit of the constraint), default 1e-10, positive,
    /// nominal 1e-12 … 1e-6.
    pub position_tolerance: f64,
    /// Largest number of displacements per projection, default 20, ≥ 1. A step that needs more has not converged.
    pub max_projections: usize,
    /// Metric in which displacements are smallest, default the mass matrix.
    pub metric: Metric,
    /// What is demanded of the gaps of closed contacts, default that they may open.
    pub closed_contacts: ClosedContacts,
}

/// Where the contacts that closed in a step are at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClosedContacts {
    /// g ≥ 0: bodies that rebound may have left already.
    #[default]
    MayOpen,
    /// g = 0: also rebounding bodies are taken back to the touch. The rule of the published runs of Siconos. For few contacts: more of them
    /// than the bodies have degrees of freedom need not have a common solution.
    Touch,
}

impl Default for CombinedProjectionParams {
    fn default() -> Self {
        let motion = MoreauJeanParams::default();
        CombinedProjectionParams {
            theta: motion.theta,
            activation_threshold: motion.activation_threshold,
            configuration: motion.configuration,
            newton_tolerance: motion.newton_tolerance,
            newton_max_iterations: motion.newton_max_iterations,
            position_tolerance: 1e-10,
            max_projections: 20,
            metric: Metric::Mass,
            closed_contacts: ClosedContacts::MayOpen,
        }
    }
}

impl CombinedProjectionParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        self.motion().params.validate()?;
        self.projection().validate()
    }

    fn motion(&self) -> MoreauJean {
        MoreauJean {
            params: MoreauJeanParams {
                theta: self.theta,
                activation_threshold: self.activation_threshold,
                configuration: self.configuration,
                newton_tolerance: self.newton_tolerance,
                newton_max_iterations: self.newton_max_iterations,
                ..MoreauJeanParams::default()
            },
        }
    }

    fn projection(&self) -> Projection {
        Projection { tolerance: self.position_tolerance, max_iterations: self.max_projections, metric: self.metric }
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct CombinedProjection {
    /// Its settings.
    pub params: CombinedProjectionParams,
}

/// Work arrays, and the set I.
#[derive(Default)]
struct Own {
    projector: Projector,
    closed: Closed,
}

/// Which contacts are closed: interactions of the model by number, contact points of the step by number.
#[derive(Default)]
struct Closed {
    interactions: Vec<bool>,
    contacts: Vec<bool>,
}

impl Scheme for CombinedProjection {
    fn name(&self) -> &'static str {
        "combined-projection"
    }

    fn orders(&self) -> Orders {
        self.params.motion().orders()
    }

    fn foresight(&self) -> f64 {
        1.0
    }

    /// One step. Cost: in free motion that of Moreau–Jean; with contacts at least two solutions of the equation of motion, and one
    /// frictionless one-step problem per displacement.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        self.params.motion().prepare(model, state, memory, h)?;
        report.violations = measure_violations(model, memory);
        report.projection = Some(memory.with_own(|memory, WorkOnly(own)| self.iterate(model, state, memory, (own, h), &mut report))?);
        finish(model, state, memory, Span { h, theta: self.params.theta }, &mut report).map_err(at_time(state.t))?;
        Ok(report)
    }
}

impl CombinedProjection {
    /// Steps (1) to (4) of the header.
    fn iterate(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        own: (&mut Own, f64),
        report: &mut StepReport,
    ) -> Result<ProjectionReport, StepError> {
        let (Own { projector, closed }, h) = own;
        let (p, motion) = (&self.params, self.params.motion());
        closed.clear(model, memory);
        let mut iterations = 0;
        loop {
            state.q.copy_from_slice(&memory.work.q_start);
            state.v.copy_from_slice(&memory.work.v_start);
            select_where(model, state, memory, RowsOver::step(h), |source, _, _| closed.has(source));
            motion.solve_motion(model, state, memory, h, report)?;
            if self.add_closing(model, state, memory, closed, h).map_err(at_time(state.t + h))? {
                continue;
            }
            let contacts = std::mem::take(&mut memory.contacts);
            let demand = |place: Place| {
                let source = match place {
                    Place::Interaction(i) => Some(ActiveSource::Interaction(i)),
                    Place::Contact(key) => contacts.binary_search_by_key(&key, |c| c.key).ok().map(ActiveSource::Contact),
                };
                let touches = p.closed_contacts == ClosedContacts::Touch && source.is_some_and(|source| closed.has(source));
                if touches { Demand::Touch } else { Demand::NoPenetration }
            };
            let done = projector.project(model, state, memory, (&p.projection(), h), demand);
            memory.contacts = contacts;
            let done = done?;
            iterations += done.iterations;
            if !closed.add_pushed(&projector.pushed, memory) {
                return Ok(ProjectionReport { iterations, ..done });
            }
        }
    }

    /// Contacts that are closed at the end of the step enter the set; true if there are new ones.
    fn add_closing(&self, model: &Model, state: &State, memory: &mut StepMemory, closed: &mut Closed, h: f64) -> Result<bool, NonFinite> {
        let (threshold, mut grown) = (self.params.activation_threshold, false);
        let StepMemory { work, scratch, contacts, .. } = memory;
        for (i, interaction) in model.interactions().iter().enumerate() {
            if !interaction.is_contact() || closed.interactions[i] {
                continue;
            }
            let mut g = [0.0; Block::MAX_DIM];
            let relation = interaction.relation();
            relation.position(state.t + h, &state.q, &mut g[..relation.n_rows()], scratch)?;
            closed.interactions[i] = g[0] <= threshold;
            grown |= closed.interactions[i];
        }
        let Some(bodies) = model.systems().bodies() else { return Ok(grown) };
        displace(work, &state.v, h, self.params.theta);
        let (q, displacement) = (&work.q_start[bodies.q.clone()], &work.displacement[bodies.v.clone()]);
        for (contact, closed) in contacts.iter().zip(&mut closed.contacts) {
            if !*closed {
                let of_surface = contact.surface.map_or(0.0, |s| h * contact.normal.dot(&(s.velocity + s.acceleration * (0.5 * h))));
                *closed = contact.gap + normal_displacement(contact, q, displacement) - of_surface <= threshold;
                grown |= *closed;
            }
        }
        Ok(grown)
    }
}

impl Closed {
    fn clear(&mut self, model: &Model, memory: &StepMemory) {
        self.interactions.clear();
        self.interactions.resize(model.interactions().len(), false);
        self.contacts.clear();
        self.contacts.resize(memory.contacts.len(), false);
    }

    fn has(&self, source: ActiveSource) -> bool {
        match source {
            ActiveSource::Interaction(i) => self.interactions[i],
            ActiveSource::Contact(i) => self.contacts[i],
        }
    }

    /// Contacts that the projection pushed apart enter the set; true if there are new ones.
    fn add_pushed(&mut self, pushed: &[Place], memory: &StepMemory) -> bool {
        let mut grown = false;
        for place in pushed {
            let entry = match *place {
                Place::Interaction(i) => Some(&mut self.interactions[i]),
                // a point of features that the start of the step did not know has no rows for its velocity; the next step knows it
                Place::Contact(key) => memory.contacts.binary_search_by_key(&key, |c| c.key).ok().map(|i| &mut self.contacts[i]),
            };
            if let Some(entry) = entry {
                grown |= !std::mem::replace(entry, true);
            }
        }
        grown
    }
}
