//! Moreau–Jean, then a projection of the positions: direct projection.
//!
//! A step of [`MoreauJean`] gives (q̄_{k+1}, v_{k+1}) and the impulses; then q̄_{k+1} is moved by the smallest displacement that meets
//!
//! ```text
//! constraints:                g(t_{k+1}, q_{k+1}) = 0
//! contacts that are projected: g(t_{k+1}, q_{k+1}) ≥ 0
//! ```
//!
//! to `position_tolerance` (see [`super::position_projection`]); v_{k+1} stays. [Brogliato2002, eq. 59],
//! [Acary, Projected event-capturing time-stepping schemes, CMAME 256, 2013, direct projection]. Which contacts are projected is a choice
//! ([`ProjectedContacts`]): those that were closed in the step, or all. With the former a contact whose closing was not foreseen, or into
//! which the projection of another one turns a body, may penetrate until the next step. With the latter such a contact is put back without
//! an impulse: the body keeps its speed of approach, which gains energy, and an error estimate on positions does not see it.
//!
//! Conserves: as Moreau–Jean; constraints (and, of projected contacts, no penetration) to the tolerance.
//! Violates: the velocity is that of the unprojected positions, so that G(q_{k+1}) v_{k+1} = 0 holds to the size of the displacement; the
//! displacement does no work and shows as energy error. A body at rest under gravity with restitution e > 0 is lifted to g = 0 with the
//! velocity of its approach and rebounds by O(h) again and again: that error is the larger one. Combined projection has neither.
//! Order: as Moreau–Jean, 1 across impacts and with active constraints, 2 in free motion for θ = 1/2 and constant M.

use super::moreau_jean::{Configuration, MoreauJean, MoreauJeanParams};
use super::position_projection::{Demand, Metric, Place, Projection, Projector};
use super::stages::{Span, finish};
use super::{Orders, Scheme};
use crate::active_set::ActiveSource;
use crate::assembly::{Activation, at_time, measure_violations, select_active};
use crate::checkpoint::WorkOnly;
use crate::detection::ContactKey;
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`DirectProjection`]: those of Moreau–Jean and of the projection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DirectProjectionParams {
    /// θ of the smooth terms, dimensionless, default 1/2, in [0, 1]: see [`MoreauJeanParams`], also for the next five.
    pub theta: f64,
    /// γ of the activation rule g + γ h u_N ≤ 0, dimensionless, default 1/2, in [0, 1].
    pub gamma: f64,
    /// A contact whose predicted gap is below this counts as closed \[m\], default 1e-9, ≥ 0.
    pub activation_threshold: f64,
    /// Where M and G are evaluated, default the end of the step.
    pub configuration: Configuration,
    /// Relative residual at which Newton's iteration on the equation of motion stops, dimensionless, default 1e-12, in (0, 1).
    pub newton_tolerance: f64,
    /// Largest number of Newton iterations, default 50, ≥ 1.
    pub newton_max_iterations: usize,
    /// Largest |g| of a constraint and penetration of a projected contact that are left \[m\] (unit of the constraint), default 1e-10,
    /// positive, nominal 1e-12 … 1e-6.
    pub position_tolerance: f64,
    /// Largest number of displacements per step, default 20, ≥ 1. A step that needs more has not converged.
    pub max_projections: usize,
    /// Metric in which displacements are smallest, default the mass matrix.
    pub metric: Metric,
    /// Which contacts are projected, default those closed in the step.
    pub projected_contacts: ProjectedContacts,
}

/// Which contacts a direct projection projects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProjectedContacts {
    /// Those that were closed in the step by the rule g_k + γ h u_N ≤ threshold.
    #[default]
    Closed,
    /// All: no penetration beyond the tolerance at the end of any step, at the price of energy; for inelastic contacts and small steps.
    All,
}

impl Default for DirectProjectionParams {
    fn default() -> Self {
        let motion = MoreauJeanParams::default();
        DirectProjectionParams {
            theta: motion.theta,
            gamma: motion.gamma,
            activation_threshold: motion.activation_threshold,
            configuration: motion.configuration,
            newton_tolerance: motion.newton_tolerance,
            newton_max_iterations: motion.newton_max_iterations,
            position_tolerance: 1e-10,
            max_projections: 20,
            metric: Metric::Mass,
            projected_contacts: ProjectedContacts::Closed,
        }
    }
}

impl DirectProjectionParams {
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
                gamma: self.gamma,
                activation_threshold: self.activation_threshold,
                configuration: self.configuration,
                newton_tolerance: self.newton_tolerance,
                newton_max_iterations: self.newton_max_iterations,
            },
        }
    }

    fn projection(&self) -> Projection {
        Projection { tolerance: self.position_tolerance, max_iterations: self.max_projections, metric: self.metric }
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectProjection {
    /// Its settings.
    pub params: DirectProjectionParams,
}

/// Work arrays, and which contacts are closed in the step.
#[derive(Default)]
struct Own {
    projector: Projector,
    interactions: Vec<bool>,
    /// Sorted.
    contacts: Vec<ContactKey>,
}

impl Scheme for DirectProjection {
    fn name(&self) -> &'static str {
        "direct-projection"
    }

    fn orders(&self) -> Orders {
        self.params.motion().orders()
    }

    fn foresight(&self) -> f64 {
        self.params.gamma
    }

    /// One step. Cost: that of Moreau–Jean, and one frictionless one-step problem per displacement.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let (p, motion) = (&self.params, self.params.motion());
        let mut report = StepReport::default();
        motion.prepare(model, state, memory, p.gamma * h)?;
        report.violations = measure_violations(model, memory);
        select_active(model, state, memory, Activation { horizon: p.gamma * h, step: h, threshold: p.activation_threshold });
        motion.solve_motion(model, state, memory, h, &mut report)?;

        let done = memory.with_own(|memory, WorkOnly(own): &mut WorkOnly<Own>| {
            own.note_closed(model, memory);
            let Own { projector, interactions, contacts } = own;
            let projected = |place: Place| {
                let closed = match place {
                    Place::Interaction(i) => interactions[i],
                    Place::Contact(key) => contacts.binary_search(&key).is_ok(),
                };
                if closed || p.projected_contacts == ProjectedContacts::All { Demand::NoPenetration } else { Demand::Nothing }
            };
            projector.project(model, state, memory, (&p.projection(), h), projected)
        })?;
        report.projection = Some(done);

        finish(model, state, memory, Span { h, theta: p.theta }, &mut report).map_err(at_time(state.t))?;
        Ok(report)
    }
}

impl Own {
    fn note_closed(&mut self, model: &Model, memory: &StepMemory) {
        self.interactions.clear();
        self.interactions.resize(model.interactions().len(), false);
        self.contacts.clear();
        for item in memory.active.items() {
            match item.source {
                ActiveSource::Interaction(i) => self.interactions[i] = true,
                ActiveSource::Contact(i) => self.contacts.push(memory.contacts[i].key),
            }
        }
        self.contacts.sort_unstable();
    }
}
