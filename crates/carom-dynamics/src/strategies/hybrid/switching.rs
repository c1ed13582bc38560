//! When the hybrid strategy switches, and its steps of time-stepping.

use super::Hybrid;
use crate::active_set::{Active, ActiveSource};
use crate::error::{ModelError, RunError};
use crate::laws::BoundedLaw;
use crate::model::Model;
use crate::report::{Event, EventKind, StepReport};
use crate::schemes::take_step;
use crate::state::State;
use crate::strategies::adaptive::bracket::EventStep;
use crate::strategies::adaptive::phases::{ContactModes, has_impact};
use crate::strategies::event_driven::{Function, Met, Motion, Run};
use crate::strategies::time_stepping::MAX_HALVINGS;
use crate::strategies::{OnFailure, sampling};

/// Steps of time-stepping after which contacts are given back whatever they do.
const MOST_STEPS: usize = 100_000;

/// How steps of time-stepping left the interactions.
#[derive(Clone, Debug, Default)]
pub(in crate::strategies) struct Passed {
    /// Contacts that carry.
    pub carried: Vec<usize>,
    /// Efforts that hold their targets, by their numbers among the efforts.
    pub held: Vec<usize>,
}

/// The rules of switching.
pub(in crate::strategies) struct Switching<'a> {
    hybrid: &'a Hybrid,
    event_step: EventStep,
    /// What h* |u| is compared with \[m\].
    tolerable: f64,
}

impl<'a> Switching<'a> {
    pub fn new(hybrid: &'a Hybrid) -> Self {
        let (integrator, params) = (&hybrid.event_driven.integrator, &hybrid.params);
        let orders = (integrator.kind.entry().orders)(integrator);
        let order = params.event_order.map_or(orders.position.min(orders.velocity), |order| order as f64);
        Switching {
            hybrid,
            event_step: EventStep { order, scale: params.event_scale, smallest: params.min_step },
            tolerable: hybrid.event_driven.events.gap,
        }
    }

    /// Checks the settings.
    pub fn validate(&self, model: &Model, start: f64) -> Result<(), ModelError> {
        self.hybrid.validate(model, start)
    }

    /// h* \[s\] at an event. At an edge it is h_min: the motion before it says nothing about the one after it, and the steps are few whatever their size.
    fn step(&self, met: &Met) -> f64 {
        if met.edges().next().is_some() {
            return self.event_step.smallest;
        }
        let tolerable = self.tolerable / met.approach.max(f64::MIN_POSITIVE);
        self.event_step.size(met.step, tolerable.min(self.hybrid.params.max_step))
    }

    /// Why to go over to time-stepping at an event, if there is a reason.
    pub fn reason(&self, motion: &Motion<'_>, met: &Met) -> Option<String> {
        let on = &self.hybrid.params.switch_on;
        for function in &met.functions {
            match *function {
                Function::Gap { contact } if on.accumulation => {
                    let Some(last) = motion.last_impact(contact) else { continue };
                    let interval = motion.t() - last;
                    if interval <= self.step(met) {
                        let name = motion.contacts.name(contact);
                        return Some(format!("\"{name}\" is hit {interval:.1e} s after its last impact"));
                    }
                }
                Function::Slip { contact, .. } => {
                    let in_space = motion.contacts.n_tangents(contact) == 2;
                    if (in_space && on.sticking_in_space) || (!in_space && on.slip) {
                        return Some(format!("the slip of \"{}\" vanishes", motion.contacts.name(contact)));
                    }
                }
                Function::Cone { contact, .. } if on.sticking_in_space && motion.contacts.n_tangents(contact) == 2 => {
                    return Some(format!("\"{}\" begins to slip", motion.contacts.name(contact)));
                }
                Function::Edge { interaction, .. } if on.edges && motion.is_constrained(interaction) => {
                    return Some(format!("\"{}\" comes to an edge", motion.model.interactions()[interaction].name()));
                }
                _ => {}
            }
        }
        None
    }

    /// One step of the scheme by the policy for failures, which may halve h. On failure the state is where the step began.
    fn try_step(&self, run: &mut Run<'_, '_>, state: &mut State, h: &mut f64) -> Result<StepReport, RunError> {
        let (t, mut halvings) = (state.t, 0);
        loop {
            let tried = take_step(&*self.hybrid.scheme, run.model, state, run.memory, *h);
            let report = tried.inspect_err(|_| run.memory.restore(state))?;
            run.journal.problem(state, run.memory, &report)?;
            if report.converged() {
                return Ok(report);
            }
            match self.hybrid.on_failure {
                OnFailure::Warn => {
                    run.journal.event(state.t, EventKind::SolveNotConverged)?;
                    return Ok(report);
                }
                OnFailure::HalveStep if halvings < MAX_HALVINGS => {
                    run.memory.restore(state);
                    run.journal.certificate.halved_steps += 1;
                    run.journal.event(t, EventKind::StepHalved)?;
                    *h *= 0.5;
                    halvings += 1;
                }
                OnFailure::Stop | OnFailure::HalveStep => {
                    run.memory.restore(state);
                    return Err(RunError::not_converged(t, run.steps + 1, &report));
                }
            }
        }
    }

    /// Steps of the scheme until contacts are open or have settled; returns what carries and holds then.
    pub fn pass<'m>(
        &self,
        run: &mut Run<'_, 'm>,
        motion: &mut Motion<'m>,
        state: &mut State,
        (met, reason): (&Met, String),
    ) -> Result<Passed, RunError> {
        let (scheme, model, end) = (&*self.hybrid.scheme, run.model, run.settings.end);
        run.tell(Event::new(state.t, EventKind::ToTimeStepping, "").with_note(reason))?;
        let h_star = self.step(met);
        scheme.start(model, state, run.memory)?;
        let (mut before, mut modes, mut calm) = (ContactModes::default(), ContactModes::default(), 0);
        for _ in 0..MOST_STEPS {
            let sample = model.control().and_then(|control| control.next_between(state.t, end));
            let stop = sample.unwrap_or(end);
            let rest = stop - state.t;
            let mut h = if h_star >= rest * (1.0 - 1e-9) { rest } else { h_star };
            let report = self.try_step(run, state, &mut h)?;
            scheme.accept(model, state, run.memory);
            if h == rest {
                state.t = stop;
            }
            sampling::after_step(model, state, run.memory, h)?;
            sampling::tell(run.memory, &mut run.journal)?;
            run.steps += 1;
            run.report.scheme_steps += 1;
            run.report.largest_scheme_step = run.report.largest_scheme_step.max(h);
            run.journal.add_quiet_step(state, run.memory, &report)?;
            std::mem::swap(&mut before, &mut modes);
            modes.read(run.memory);
            let same = modes == before && !has_impact(run.memory, run.settings.events.velocity);
            calm = if same { calm + 1 } else { 0 };
            if calm >= self.hybrid.params.settled_steps || state.t >= end {
                break;
            }
        }
        let settled = calm >= self.hybrid.params.settled_steps || state.t >= end;
        let note = if settled { String::new() } else { format!("contacts have not settled in {MOST_STEPS} steps") };
        run.tell(Event::new(state.t, EventKind::ToEventDriven, "").with_note(note))?;
        let (mut carried, active) = (Vec::new(), &run.memory.active);
        let efforts = active.items().iter().filter(|item| item.law.bounded().is_some()).enumerate();
        let holds = |item: &Active| !BoundedLaw::is_at_bound(item.block, &run.memory.one_step.solution.r[item.rows.clone()]);
        let held = efforts.filter(|(_, item)| holds(item)).map(|(e, _)| e).collect();
        for item in run.memory.active.items().iter().filter(|item| item.law.is_contact()) {
            if run.memory.one_step.solution.r[item.rows.start] > 0.0 {
                let number = match item.source {
                    ActiveSource::Interaction(i) => motion.contacts.of_interaction(i),
                    ActiveSource::Contact(i) => motion.contacts.with_key(&run.memory.contacts[i].key),
                };
                carried.extend(number);
            }
        }
        motion.go_on_from(state)?;
        Ok(Passed { carried, held })
    }
}
