//! Order p between impacts: an integrator of smooth motion while all contacts are open, the scheme across impacts and under closed contacts.

use super::bracket::{Bracket, EventStep};
use super::phases::{ContactModes, CrossingWatch};
use super::scheme_control::SchemeControl;
use super::{Adaptive, Context, Cut};
use crate::assembly::{keep_impulses, measure_violations};
use crate::error::{ModelError, RunError};
use crate::integrators::{Integration, IntegratorParams};
use crate::model::Model;
use crate::report::StepReport;
use crate::smooth::Projection;
use crate::state::State;
use crate::strategies::work::WorkMeter;

/// Places within a step of the integrator at which gaps are looked at; its end is the last.
const INSIDE: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// Steps of the scheme that are tried to pass a change of contact before the integrator goes on: a contact may close one step after it was due.
const STEPS_TO_PASS: usize = 3;

/// Acary, *Higher order event capturing time-stepping schemes for nonsmooth multibody systems with unilateral constraints and impacts*, Applied
/// Numerical Mathematics 62 (2012):
///
/// ```text
/// all contacts open:       steps h of the integrator, order p; a step in which a gap becomes negative is taken back and halved,
///                          down to h*
/// a gap closes within h*:  one step h* of the scheme
/// contacts closed:         the scheme with extrapolation, changes of contact passed with h*
/// ```
///
/// Joints and constraints are part of the integrator's equations. It differs from there in that contacts that stay closed are not: under them the
/// order is that of the extrapolated scheme.
pub(super) struct HighOrder<'m> {
    integrator: IntegratorParams,
    integration: Option<Integration<'m>>,
    /// The integration is where the state is.
    is_running: bool,
    /// Size of the integrator's next step before it was interrupted \[s\].
    planned: Option<f64>,
    event_step: EventStep,
    /// h* of the present change of contact \[s\].
    h_star: f64,
    bracket: Bracket,
    /// Steps of the scheme left to pass a change of contact.
    passing: usize,
    /// Contacts are closed.
    under_contact: bool,
    scheme: SchemeControl,
    modes: ContactModes,
    watch: CrossingWatch,
    /// What h* |u| is compared with \[m\].
    absolute: f64,
    inside: State,
    work: WorkMeter<'m>,
}

impl Adaptive {
    /// Refuses a model that the step control `high-order` cannot follow.
    ///
    /// # Errors
    /// [`ModelError::StrategyRefuses`].
    pub fn refuse_high_order(model: &Model) -> Result<(), ModelError> {
        if let Some(bounded) = model.interactions().iter().find(|x| x.law().bounded().is_some()) {
            return Err(ModelError::StrategyRefuses {
                strategy: "adaptive with control = high-order",
                feature: "motors or friction with bounds on their effort",
                by: format!("\"{}\"", bounded.name()),
                alternatives: "time-stepping, adaptive with control = extrapolation or halving",
            });
        }
        if model.first_order().is_some() {
            return Err(ModelError::StrategyRefuses {
                strategy: "adaptive with control = high-order",
                feature: "first-order systems",
                by: "[first_order]".into(),
                alternatives: "time-stepping, adaptive with control = extrapolation or halving, event-driven",
            });
        }
        Ok(())
    }
}

impl<'m> HighOrder<'m> {
    pub fn new(model: &'m Model, settings: &Adaptive, state: &State) -> Result<Self, ModelError> {
        Adaptive::refuse_high_order(model)?;
        let integrator = settings.params.for_integrator(&settings.integrator);
        let orders = (integrator.kind.entry().orders)(&integrator);
        let order = settings.params.event_order.map_or(orders.position.min(orders.velocity), |order| order as f64);
        Ok(HighOrder {
            integrator,
            integration: None,
            is_running: false,
            planned: None,
            event_step: EventStep { order, scale: settings.params.event_scale, smallest: settings.smallest() },
            h_star: settings.smallest(),
            bracket: Bracket::default(),
            passing: 0,
            under_contact: false,
            scheme: SchemeControl::new(model, settings, state, true)?,
            modes: ContactModes::default(),
            watch: CrossingWatch::default(),
            absolute: settings.params.absolute_tolerance.unwrap_or(settings.params.tolerance),
            inside: state.clone(),
            work: WorkMeter::new(model),
        })
    }

    /// One step that stands, not beyond `limit`. On failure the state is where the step began.
    pub fn step(&mut self, context: &mut Context<'_, 'm>, state: &mut State, limit: f64) -> Result<StepReport, RunError> {
        if self.under_contact {
            let report = self.scheme.step(context, state, limit)?;
            self.under_contact = !self.scheme.doubling.before.is_empty();
            return Ok(report);
        }
        if self.passing > 0 {
            return self.pass(context, state, limit);
        }
        self.begin(context, state)?;
        while self.passing == 0 {
            if let Some(report) = self.integrate(context, state, limit)? {
                return Ok(report);
            }
        }
        self.pass(context, state, limit)
    }

    /// Brings the integration to the state, where it is not.
    fn begin(&mut self, context: &mut Context<'_, 'm>, state: &mut State) -> Result<(), RunError> {
        if self.is_running {
            return Ok(());
        }
        match &mut self.integration {
            None => self.integration = Some(Integration::new(context.model, state, &self.integrator)?),
            Some(integration) => {
                // the scheme leaves the constraints by O(h*)
                integration.resume(state, Projection::Both)?;
                if let Some(planned) = self.planned {
                    integration.plan(planned);
                }
            }
        }
        if let Some(integration) = &self.integration {
            state.q.copy_from_slice(&integration.point().q);
            state.v.copy_from_slice(&integration.point().v);
        }
        self.is_running = true;
        self.modes = ContactModes::default();
        Ok(self.watch.begin(context.model, state, context.memory)?)
    }

    /// One step of the integrator; `None` when it was taken back for a change of contact.
    fn integrate(&mut self, context: &mut Context<'_, 'm>, state: &mut State, limit: f64) -> Result<Option<StepReport>, RunError> {
        let Some(integration) = &mut self.integration else { return Ok(None) };
        let (planned, reach) = (integration.next_step(), self.bracket.limit(state.t, self.h_star));
        let to = limit.min(state.t + reach);
        integration.step(to)?;
        let (t_end, h) = (integration.point().t, integration.point().t - state.t);
        let moved = moves(context);
        // gaps within the step and at its end
        let mut seen = None;
        for place in INSIDE {
            let inside = &mut self.inside;
            inside.t = if place == 1.0 { t_end } else { state.t + place * h };
            if place == 1.0 {
                inside.q.copy_from_slice(&integration.point().q);
                inside.v.copy_from_slice(&integration.point().v);
            } else {
                integration.interpolate(inside.t, &mut inside.q, &mut inside.v)?;
            }
            let crossing = self.watch.look(context.model, (inside, place * h), context.memory, &self.modes)?;
            if crossing.is_some() {
                seen = Some((inside.t, crossing.speed));
                break;
            }
        }
        if let Some((seen, speed)) = seen {
            context.report.rejected += 1;
            integration.take_back()?;
            if reach.is_infinite() {
                // the first time that this change is seen
                let size = if t_end == limit { planned.max(h) } else { h };
                self.planned = Some(size);
                self.h_star = self.event_step.size(size, self.absolute / speed);
            }
            self.bracket.see(seen);
            if reach <= self.h_star || h <= self.h_star {
                self.passing = STEPS_TO_PASS;
                self.is_running = false;
            }
            return Ok(None);
        }
        let violations = measure_violations(context.model, context.memory);
        let moving = moved || moves(context);
        let work = self.work.between(integration, state.t, t_end, moving)?;
        state.t = self.inside.t;
        state.q.clone_from(&self.inside.q);
        state.v.clone_from(&self.inside.v);
        self.watch.begin_here(context.model, context.memory);
        // no contact carries
        context.memory.active.clear();
        context.memory.one_step.solution.r.clear();
        context.memory.one_step.solution.u.clear();
        keep_impulses(context.memory);
        let report = StepReport { newton_converged: true, violations, work, ..StepReport::default() };
        context.report.integrated += 1;
        context.report.add_step(h, t_end == limit);
        context.journal.add_step(state, context.memory, &report)?;
        Ok(Some(report))
    }

    /// One step h* of the scheme towards or across a change of contact.
    fn pass(&mut self, context: &mut Context<'_, 'm>, state: &mut State, limit: f64) -> Result<StepReport, RunError> {
        self.bracket.clear();
        let Cut { h, is_cut } = Cut::new(self.h_star, limit - state.t);
        let t = state.t;
        context.forget_past(state)?;
        let taken = context.scheme_step(state, h);
        let report = match taken {
            Ok(report) if report.converged() => report,
            Ok(report) => {
                context.tolerate_failure(t, &report).inspect_err(|_| context.memory.restore(state))?;
                context.report.beyond_tolerance += 1;
                report
            }
            Err(error) => {
                context.memory.restore(state);
                return Err(error);
            }
        };
        if is_cut {
            state.t = limit;
        }
        context.accept(state);
        self.modes.read(context.memory);
        context.report.add_step(h, is_cut);
        context.report.at_min_step += usize::from(h <= self.event_step.smallest);
        self.passing -= 1;
        if !self.modes.is_empty() {
            self.passing = 0;
            self.under_contact = true;
            context.report.nonsmooth += 1;
            self.scheme.doubling.before.copy_from(&self.modes);
            self.scheme.doubling.begun = true;
            self.scheme.restart(self.h_star, self.h_star);
        }
        context.journal.add_step(state, context.memory, &report)?;
        Ok(report)
    }
}

/// Some constraint moves where the interactions were evaluated last.
fn moves(context: &Context<'_, '_>) -> bool {
    let c = &context.memory.candidates;
    let bilateral = context.model.interactions().iter().enumerate().filter(|(_, x)| x.is_bilateral());
    bilateral.into_iter().any(|(i, _)| c.bias[c.rows[i]..c.rows[i + 1]].iter().any(|b| *b != 0.0))
}
