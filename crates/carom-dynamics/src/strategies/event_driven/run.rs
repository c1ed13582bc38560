//! A run with located events.

use super::EventDriven;
use super::account::Account;
use super::guard::ProgressGuard;
use super::met::Met;
use super::motion::Motion;
use super::settle::{Cause, Settled};
use crate::assembly::at_time;
use crate::error::{IntegrationError, RunError, StepError};
use crate::impacts::Resolver;
use crate::integrators::SmoothReport;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::recording::ContactRecord;
use crate::report::{Event, EventKind, EventReport, StepReport, Violations};
use crate::smooth::{AssemblyReport, DriftMeter, MotionPoint};
use crate::state::State;
use crate::strategies::frame_clock::{FrameClock, same_time};
use crate::strategies::hybrid::{Passed, Switching};
use crate::strategies::journal::Journal;
use crate::strategies::{Continue, Ending, Progress, sampling};
use crate::user_events::EventAction;

/// Modes that controllers may take one after the other at one instant.
const MOST_MODES: usize = 16;

/// What a run has besides its motion.
pub(in crate::strategies) struct Run<'a, 'm> {
    pub settings: &'a EventDriven,
    pub model: &'m Model,
    pub memory: &'a mut StepMemory,
    pub journal: Journal<'a>,
    pub(super) account: Account<'m>,
    drift: DriftMeter<'m>,
    resolver: Option<Resolver>,
    pub guard: ProgressGuard,
    pub report: EventReport,
    smooth: SmoothReport,
    /// Time-stepping where events accumulate; `None`: events only.
    switching: Option<Switching<'a>>,
    start: f64,
    /// Steps taken.
    pub steps: usize,
    /// Steps of the integrator taken.
    smooth_steps: usize,
    pub(super) frames: FrameClock,
    /// Number of steps when the last frame was told.
    pub(super) recorded: usize,
    last_event: Option<f64>,
    pub(super) inside: MotionPoint,
    pub(super) records: Vec<ContactRecord>,
    pub(super) forces: Vec<[f64; 3]>,
    pub(super) effort_forces: Vec<[f64; 3]>,
    /// A controller went over to another mode since contacts were last settled.
    pub(super) mode_changed: bool,
}

impl<'a, 'm> Run<'a, 'm> {
    /// Prepares a run.
    pub fn new(
        settings: &'a EventDriven,
        model: &'m Model,
        start: f64,
        memory: &'a mut StepMemory,
        journal: Journal<'a>,
        switching: Option<Switching<'a>>,
    ) -> Self {
        Run {
            settings,
            model,
            memory,
            journal,
            account: Account::new(model),
            drift: DriftMeter::new(model),
            resolver: None,
            guard: ProgressGuard::new(settings.events.most_events, settings.end - start),
            report: EventReport::default(),
            smooth: SmoothReport::new(settings.integrator.kind, settings.integrator.formulation()),
            switching,
            start,
            steps: 0,
            smooth_steps: 0,
            frames: FrameClock::new(start, settings.record_interval),
            recorded: 0,
            last_event: None,
            inside: MotionPoint::default(),
            records: Vec::new(),
            forces: Vec::new(),
            effort_forces: Vec::new(),
            mode_changed: false,
        }
    }

    /// All steps, with the reports in the certificate afterwards.
    pub fn run(&mut self, state: &mut State, watch: &mut dyn FnMut(&Progress) -> Continue) -> Ending {
        let ending = self.all_steps(state, watch).unwrap_or_else(Ending::Failed);
        let rows = std::mem::take(&mut self.drift.rows);
        let certificate = &mut self.journal.certificate;
        certificate.smooth = Some(SmoothReport { drift: rows, ..self.smooth.clone() });
        certificate.event_driven = Some(self.report.clone());
        ending
    }

    fn validate(&self) -> Result<(), crate::error::ModelError> {
        match &self.switching {
            Some(switching) => switching.validate(self.model, self.start),
            None => self.settings.validate(self.model, self.start),
        }
    }

    fn all_steps(&mut self, state: &mut State, watch: &mut dyn FnMut(&Progress) -> Continue) -> Result<Ending, RunError> {
        self.validate().map_err(IntegrationError::from)?;
        sampling::begin(self.model, state, self.memory)?;
        let mut begun = Motion::new(self.model, state, &self.settings.integrator, &self.settings.events);
        self.journal.forces.resize(self.drift.rows.len(), 0.0);
        if let Ok(motion) = &mut begun {
            self.smooth.assembly = Some(*motion.integration.assembly()).filter(AssemblyReport::is_assembled);
            motion.integration.point().move_state(state);
        }
        // the initial frame tells the modes at the start, unless an impact comes first
        let settled = match &mut begun {
            Ok(motion) => self.settle_once(motion, state, Cause::default()),
            Err(_) => Ok(Settled::default()),
        };
        if let (Ok(motion), Ok(settled)) = (&mut begun, &settled)
            && settled.impacts == 0
        {
            motion.integration.point().move_state(state);
            let point = motion.integration.point().clone();
            self.collect(motion, &point)?;
        }
        self.journal.begin_with(state, self.memory, &self.records)?;
        let mut motion = begun?;
        self.take_violations(&mut motion, state)?;
        self.take_settled(state, &mut motion, settled?)?;
        let end = self.settings.end;
        while state.t < end {
            let t_before = state.t;
            let limit = self.next_time(t_before);
            let met = self.with_motion(&mut motion, state, |run, motion, state| {
                let met = motion.step(limit)?;
                run.take_step(motion, state)?;
                Ok(met)
            })?;
            let at_limit = state.t >= limit && limit < end;
            let ended = if met.is_some() || at_limit {
                let met = met.unwrap_or_default();
                self.with_motion(&mut motion, state, |run, motion, state| run.event(motion, state, &met, at_limit))?
            } else {
                None
            };
            let n_active = motion.closed.len();
            let progress = Progress { step: self.steps, t: state.t, end, n_active };
            let stops = watch(&progress) == Continue::Stop && state.t < end;
            let every = self.settings.record_every;
            let due = self.frames.is_due(state.t);
            if due || stops || ended.is_some() || state.t >= end || (every > 0 && self.steps >= self.recorded + every) {
                self.frame(&mut motion, state)?;
            }
            match ended {
                Some(ending) => return Ok(ending),
                None if stops => return Ok(Ending::Interrupted),
                None => {}
            }
        }
        Ok(Ending::Finished)
    }

    /// Does a part of a run; when it fails the last good state is recorded.
    fn with_motion<R>(
        &mut self,
        motion: &mut Motion<'m>,
        state: &mut State,
        part: impl FnOnce(&mut Self, &mut Motion<'m>, &mut State) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let result = part(self, motion, state);
        self.smooth.statistics = motion.integration.statistics();
        if result.is_err() && self.recorded < self.steps {
            self.recorded = self.steps;
            self.journal.frame_after_failure(self.steps, state, self.memory, None)?;
        }
        result
    }

    /// The end of the run, or the next time that the user named.
    fn next_time(&self, t: f64) -> f64 {
        let named = self.model.time_events().iter().map(|event| event.t).filter(|&time| time > t);
        let sample = self.model.control().and_then(|control| control.next_between(t, self.settings.end));
        named.chain(sample).fold(self.settings.end, f64::min)
    }

    /// Takes a step of the motion into the account.
    fn take_step(&mut self, motion: &mut Motion<'m>, state: &mut State) -> Result<(), RunError> {
        let (from, to) = (state.t, motion.t());
        if to <= from {
            return Ok(());
        }
        self.steps += 1;
        self.smooth_steps += 1;
        let moved = self.drift.moves();
        let reached = motion.state();
        let violations = self.take_violations(motion, &reached)?;
        let taken = StepReport { newton_converged: true, violations, n_active: motion.closed.len(), ..StepReport::default() };
        let exchanged = self.exchange(motion, (from, to), moved || self.drift.moves(), &taken)?;
        motion.integration.point().move_state(state);
        self.follow_control(motion, state)?;
        let taken = StepReport { work: exchanged.work, dissipated_friction: exchanged.friction, ..taken };
        let (kinetic, potential) = self.journal.energy(state, self.memory)?;
        self.journal.certificate.add_step(&taken, kinetic, potential);
        self.smooth.add_step(self.smooth_steps, to - from, to - self.start, to >= self.settings.end);
        self.smooth.max_energy_error = self.smooth.max_energy_error.max(self.journal.certificate.energy_error().abs());
        Ok(())
    }

    /// Violations of a state, taken into the certificate.
    fn take_violations(&mut self, motion: &mut Motion<'m>, state: &State) -> Result<Violations, RunError> {
        let mut violations = self.drift.evaluate(state.t, &state.q, &state.v).map_err(at_time(state.t))?;
        self.drift.keep();
        for c in 0..motion.contacts.len() {
            let gap = motion.contacts.gap(c, state.t, &state.q).map_err(at_time(state.t))?;
            violations.penetration = violations.penetration.max(-gap);
        }
        self.journal.certificate.add_violations(&violations);
        Ok(violations)
    }

    /// Deals with an event.
    fn event(&mut self, motion: &mut Motion<'m>, state: &mut State, met: &Met, at_limit: bool) -> Result<Option<Ending>, RunError> {
        for &(contact, t) in &met.grazing {
            self.tell(Event::new(t, EventKind::Grazing, motion.contacts.name(contact)))?;
        }
        let crossed: Vec<usize> = met.user_events().collect();
        let stops = self.tell_user_events(motion, &crossed)?;
        if at_limit {
            for event in self.model.time_events().iter().filter(|event| same_time(event.t, state.t)) {
                self.tell(Event::new(state.t, EventKind::TimeEvent, event.name.clone()))?;
            }
        }
        if stops {
            return Ok(Some(Ending::Finished));
        }
        self.control_event(motion, state, &crossed)?;
        let changes = at_limit || met.functions.iter().any(|function| motion.restarts(function));
        if !changes {
            return Ok(None);
        }
        if self.guard.is_held_up(state.t) {
            let contacts = motion.describe(met);
            if self.switching.is_none() {
                return Err(self.guard.error(state.t, contacts));
            }
            self.guard.clear();
            return self.step_through(motion, state, met, format!("{} events in a row", self.settings.events.most_events));
        }
        if let Some(last) = self.last_event.replace(state.t).filter(|&last| state.t > last) {
            let interval = state.t - last;
            let shortest = &mut self.report.shortest_interval;
            *shortest = if *shortest == 0.0 { interval } else { shortest.min(interval) };
        }
        if let Some(reason) = self.switching.as_ref().and_then(|switching| switching.reason(motion, met)) {
            return self.step_through(motion, state, met, reason);
        }
        self.cross_edges(motion, state, met)?;
        motion.pass_switches(met)?;
        let (hit, stopped, leaving): (Vec<usize>, Vec<usize>, Vec<usize>) =
            (met.hit().collect(), met.stopped().collect(), met.leaving().collect());
        let (arrived, yielding): (Vec<usize>, Vec<usize>) = (met.arrived().collect(), met.yielding().collect());
        let cause = Cause { hit: &hit, stopped: &stopped, leaving: &leaving, arrived: &arrived, yielding: &yielding, ..Cause::default() };
        self.settle(motion, state, cause)
    }

    fn cross_edges(&mut self, motion: &mut Motion<'m>, state: &mut State, met: &Met) -> Result<(), RunError> {
        let interactions: Vec<usize> = met.edges().collect();
        for interaction in interactions {
            let crossed = motion.cross_edge(interaction)?;
            self.take_settled(state, motion, crossed)?;
        }
        Ok(())
    }

    /// Steps of time-stepping until contacts settle, then back to located events.
    fn step_through(&mut self, motion: &mut Motion<'m>, state: &mut State, met: &Met, reason: String) -> Result<Option<Ending>, RunError> {
        let (stopped, arrived): (Vec<usize>, Vec<usize>) = (met.stopped().collect(), met.arrived().collect());
        motion.meet_exactly(Cause { stopped: &stopped, arrived: &arrived, ..Cause::default() })?;
        motion.integration.point().move_state(state);
        let Some(switching) = self.switching.take() else { return Ok(None) };
        let result = switching.pass(self, motion, state, (met, reason));
        self.switching = Some(switching);
        let Passed { carried, held } = result?;
        self.settle(motion, state, Cause { carried: &carried, held: &held, ..Cause::default() })
    }

    /// Tells functions of the user that changed their sign; true: one of them ends the run.
    fn tell_user_events(&mut self, motion: &Motion<'m>, crossed: &[usize]) -> Result<bool, RunError> {
        let mut stops = false;
        for &i in crossed {
            let event = self.model.events()[i].source();
            if self.model.events()[i].guard().is_none() && event.direction.counts(motion.fell(i)) {
                self.tell(Event::new(motion.t(), EventKind::UserEvent, event.name.clone()))?;
                stops |= event.action == EventAction::Stop;
            }
        }
        Ok(stops)
    }

    /// The resolver of impacts.
    fn resolver(&mut self, t: f64) -> Result<&mut Resolver, RunError> {
        Ok(match &mut self.resolver {
            Some(resolver) => resolver,
            none => none.insert(Resolver::new().map_err(|source| StepError::Solve { t, source })?),
        })
    }

    /// Impacts and modes at the state reached, from the choices that were made by chance so far.
    fn settle_once(&mut self, motion: &mut Motion<'m>, state: &mut State, cause: Cause<'_>) -> Result<Settled, RunError> {
        let resolver = self.resolver(state.t)?;
        resolver.draws = state.draws;
        let settled = motion.settle(cause, resolver);
        state.draws = resolver.draws;
        settled
    }

    /// Finds the modes at the state reached, and tells what changed.
    pub fn settle(&mut self, motion: &mut Motion<'m>, state: &mut State, cause: Cause<'_>) -> Result<Option<Ending>, RunError> {
        self.mode_changed = false;
        let settled = self.settle_once(motion, state, cause)?;
        let mut jumped = settled.impacts > 0;
        self.take_settled(state, motion, settled)?;
        // a mode of a controller that changed changes the forces, and with them the modes of contacts
        for _ in 0..MOST_MODES {
            if !std::mem::take(&mut self.mode_changed) {
                break;
            }
            let settled = self.settle_once(motion, state, Cause::default())?;
            jumped |= settled.impacts > 0;
            self.take_settled(state, motion, settled)?;
        }
        if jumped {
            let crossed = motion.jumped_events()?;
            if self.tell_user_events(motion, &crossed)? {
                return Ok(Some(Ending::Finished));
            }
        }
        Ok(None)
    }

    /// Takes what an event did into the account, and tells it.
    fn take_settled(&mut self, state: &mut State, motion: &mut Motion<'m>, settled: Settled) -> Result<(), RunError> {
        if settled.impacts > 0 && self.settings.record_every > 0 {
            // the state before the impact
            self.journal.frame_of((self.steps, state), self.memory, &self.records, self.journal.certificate.last, None)?;
        }
        self.report.impacts += settled.impacts;
        motion.integration.point().move_state(state);
        let (kinetic, potential) = self.journal.energy(state, self.memory)?;
        let exchanged = StepReport {
            dissipated_impact: settled.dissipated[0],
            dissipated_friction: settled.dissipated[1],
            work: settled.work,
            impact_gain: settled.gain,
            ..StepReport::default()
        };
        self.journal.certificate.add_event(&exchanged, settled.residual, (kinetic, potential));
        for event in settled.events {
            if let (EventKind::Impact, Some(control)) = (event.kind, self.model.control()) {
                control.note_impact(&event.name, state);
            }
            self.tell(event)?;
        }
        self.follow_control(motion, state)?;
        if settled.impacts > 0 && self.settings.record_every > 0 {
            self.frame(motion, state)?;
        }
        Ok(())
    }

    /// Tells and counts an event.
    pub fn tell(&mut self, event: Event) -> Result<(), RunError> {
        self.report.add(&event);
        self.journal.tell(event)
    }
}
