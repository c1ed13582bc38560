//! What happens at an event: impacts, then the modes with which the motion goes on.

use super::motion::Motion;
use crate::error::{IntegrationError, RunError};
use crate::events::{Accumulation, AccumulationWatch, ClosedSet, ContactAfter, EventParams, Impact, ImpactSettings, Location, Verdict};
use crate::impacts::Resolver;
use crate::report::{ContactMode, Event, EventKind};
use crate::smooth::{ClosedContact, InteractionRef, Projection, Role};
use crate::state::State;
use crate::systems::Instant;

/// Impacts at one instant, with and without collision, that may follow each other before modes are found.
const MOST_IMPACTS: usize = 20;

/// What an event did.
#[derive(Clone, Debug, Default)]
pub(in crate::strategies) struct Settled {
    /// What to record.
    pub events: Vec<Event>,
    /// Energy taken by normal and by tangential impulses \[J\].
    pub dissipated: [f64; 2],
    /// Work of moving constraints and obstacles \[J\].
    pub work: f64,
    /// Energy that impacts created \[J\].
    pub gain: f64,
    /// Impact problems solved.
    pub impacts: usize,
    /// Largest residual of the problems solved.
    pub residual: f64,
}

/// What leads to an event.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::strategies) struct Cause<'a> {
    /// Contacts whose gap closed.
    pub hit: &'a [usize],
    /// Contacts whose slip vanished.
    pub stopped: &'a [usize],
    /// Contacts whose force came to the end of its range.
    pub leaving: &'a [usize],
    /// Efforts whose velocity came to their target.
    pub arrived: &'a [usize],
    /// Efforts that came to a bound.
    pub yielding: &'a [usize],
    /// Efforts that held their targets in time-stepping, as exactly as its steps do.
    pub held: &'a [usize],
    /// Contacts that are closed although their gap is not known to be zero: they carried in time-stepping.
    pub carried: &'a [usize],
}

impl<'m> Motion<'m> {
    /// Solves the impact problem over I₁ where contacts approach, then the acceleration problem over I₂, and goes on with the modes found.
    pub fn settle(&mut self, cause: Cause<'_>, resolver: &mut Resolver) -> Result<Settled, RunError> {
        let mut settled = Settled::default();
        self.find_contacts(0.0)?;
        self.meet_exactly(cause)?;
        let mut state = self.state();
        let touching = self.touching(&state, cause)?;
        let refs: Vec<InteractionRef<'m>> = touching.iter().map(|&c| self.contacts.interaction(c)).collect();
        let mut impulses = vec![0.0; touching.len()];
        let mut push = None;
        let after = loop {
            let set = ClosedSet::with_pieces(self.model, instant(&state), &self.pieces, &refs)?;
            let normal = |k: usize| set.velocity(k)[0];
            let approaches = push.is_some() || (0..touching.len()).any(|k| normal(k) < -self.settings.velocity);
            if !approaches && set.is_off_target(&self.settings) {
                self.jump(&mut state, &set, &mut impulses, &mut settled)?;
                continue;
            }
            if push.is_some() || (0..touching.len()).any(|k| normal(k) < -self.settings.velocity) {
                if settled.impacts == MOST_IMPACTS {
                    return Err(self.no_end(&state, &touching, &set));
                }
                let inelastic = match settled.impacts {
                    0 => self.accumulating(&state, &touching, &set)?,
                    1 => vec![false; touching.len()],
                    _ => {
                        let note = "approached again after two impacts: without restitution";
                        settled.events.push(Event::new(state.t, EventKind::OutcomeChosen, "").with_note(note));
                        vec![true; touching.len()]
                    }
                };
                let how = ImpactSettings { rest: self.settings.velocity, inelastic: &inelastic, push };
                let impact = set.impact(resolver, self.model.impact_law(), &how)?;
                if impact.outcome.failed {
                    return Err(RunError::NoModes { t: state.t, contacts: self.names(&touching), residual: impact.outcome.residual });
                }
                let exchanged =
                    (0..touching.len()).flat_map(|k| set.velocity(k).iter().zip(impact.impulse[k]).map(|(u, p)| (u * p).abs())).sum();
                let created = |k: &usize| -impact.outcome.dissipated[set.n_constraints() + k].iter().sum::<f64>();
                let giver = (0..touching.len()).max_by(|a, b| created(a).total_cmp(&created(b))).map(|k| touching[k]);
                self.take_impact(&mut state, &impact, (exchanged, giver), &mut settled);
                impulses.iter_mut().zip(&impact.impulse).for_each(|(sum, p)| *sum += p[0]);
                push = None;
                continue;
            }
            // I₂: contacts that do not separate, or only for a hop that is none
            let stays: Vec<usize> = (0..touching.len()).filter(|&k| normal(k) <= self.slowest(&set, k)).collect();
            let refs: Vec<InteractionRef<'m>> = stays.iter().map(|&k| refs[k].clone()).collect();
            let set = ClosedSet::with_pieces(self.model, instant(&state), &self.pieces, &refs)?;
            let velocity = stays.iter().map(|&k| normal(k)).fold(self.settings.velocity, f64::max);
            let thresholds = EventParams { velocity, ..self.settings };
            let mut leaving: Vec<bool> = stays.iter().map(|&k| cause.leaving.contains(&touching[k])).collect();
            leaving.extend((0..set.n_efforts()).map(|e| cause.yielding.contains(&e)));
            let found = set.accelerate_leaving(&thresholds, &leaving)?;
            // efforts are numbered after the contacts
            let name = |k: usize| stays.get(k).map_or_else(|| self.effort_name(k - stays.len()), |&k| self.contacts.name(touching[k]));
            match found.verdict {
                Verdict::Solved { residual } => settled.residual = settled.residual.max(residual),
                Verdict::Inconsistent { contact: k } => {
                    let event = Event::new(state.t, EventKind::ImpactWithoutCollision, name(k)).with_note("no finite force is possible");
                    settled.events.push(event);
                    push = Some(stays[k]);
                    continue;
                }
                Verdict::Ambiguous { contact: k } => {
                    let note = "several motions are possible; the one without a force at the contact is taken";
                    settled.events.push(Event::new(state.t, EventKind::OutcomeChosen, name(k)).with_note(note));
                }
                Verdict::NotConverged { residual } => {
                    return Err(RunError::NoModes { t: state.t, contacts: self.names(&touching), residual });
                }
            }
            let contacts = stays.into_iter().map(|k| touching[k]).zip(found.contacts).collect::<Vec<(usize, ContactAfter)>>();
            break (contacts, found.efforts);
        };
        let (after, efforts) = after;
        self.tell_changes(&state, &touching, &impulses, &after, &mut settled)?;
        self.tell_efforts(&state, &efforts, &mut settled);
        let modes: Vec<_> = after.iter().map(|(c, after)| (*c, after.mode, after.direction)).collect();
        let efforts = self.effort_roles(&efforts);
        self.resume(&state, &modes, efforts)?;
        Ok(settled)
    }

    /// With the coarse methods of location, and where a slip in space vanishes, the state is not quite at the event: it is put there.
    pub(super) fn meet_exactly(&mut self, cause: Cause<'_>) -> Result<(), RunError> {
        let coarse = self.settings.location != Location::Bracketing;
        let state = self.state();
        let mut off = false;
        for &c in cause.hit.iter().chain(cause.carried) {
            off |= self.gap(c, &state)?.abs() > self.settings.gap;
        }
        let mut stopped = Vec::new();
        for &c in cause.stopped {
            if coarse || self.is_lost(c, &state)? {
                stopped.push(c);
                off |= self.slip(c, &state)? > self.settings.slip;
            }
        }
        let arrived = self.arrived_efforts(cause, coarse, &state)?;
        off |= !arrived.is_empty();
        if !off {
            return Ok(());
        }
        let role_of = |c: usize, here: &Self| match here.modes[c] {
            _ if stopped.contains(&c) => Role::Sticking,
            ContactMode::Sticking => Role::Sticking,
            _ => Role::Normal,
        };
        let mut positions: Vec<usize> = self.closed.clone();
        positions.extend(cause.hit.iter().chain(cause.carried).filter(|c| !self.closed.contains(c)));
        let closed: Vec<ClosedContact<'m>> =
            positions.iter().map(|&c| ClosedContact { interaction: self.contacts.interaction(c), role: role_of(c, self) }).collect();
        self.integration.equations().set_closed(closed);
        let efforts = self.with_arrived(&arrived);
        self.integration.equations().set_efforts(efforts);
        self.integration.resume(&state, Projection::Position)?;
        if stopped.is_empty() && arrived.is_empty() {
            return Ok(());
        }
        let state = self.state();
        let closed: Vec<ClosedContact<'m>> =
            self.closed.iter().map(|&c| ClosedContact { interaction: self.contacts.interaction(c), role: role_of(c, self) }).collect();
        self.integration.equations().set_closed(closed);
        Ok(self.integration.resume(&state, Projection::Velocity)?)
    }

    /// I₁.
    fn touching(&mut self, state: &State, cause: Cause<'_>) -> Result<Vec<usize>, RunError> {
        let mut touching = Vec::new();
        for c in 0..self.contacts.len() {
            let known = self.modes[c].is_closed() || cause.hit.contains(&c) || cause.carried.contains(&c);
            if known || self.gap(c, state)? <= self.settings.gap {
                touching.push(c);
            }
        }
        Ok(touching)
    }

    fn gap(&mut self, c: usize, state: &State) -> Result<f64, IntegrationError> {
        self.contacts.gap(c, state.t, &state.q).map_err(|source| IntegrationError::NonFinite { t: state.t, source })
    }

    pub(super) fn velocity(&mut self, c: usize, state: &State) -> Result<[f64; 3], IntegrationError> {
        self.contacts.velocity(c, instant(state)).map_err(|source| IntegrationError::NonFinite { t: state.t, source })
    }

    /// Speed up to which contact k of a set does not separate [m/s]: τ₁, or what its forces reverse within half the shortest hop.
    fn slowest(&self, set: &ClosedSet, k: usize) -> f64 {
        self.settings.velocity.max(-0.5 * self.settings.accumulation_interval * set.free_acceleration(k))
    }

    /// For each contact whether its impacts have accumulated, so that this one is the last.
    fn accumulating(&mut self, state: &State, touching: &[usize], set: &ClosedSet) -> Result<Vec<bool>, RunError> {
        let mut inelastic = vec![false; touching.len()];
        self.impact_times.resize(self.contacts.len(), AccumulationWatch::default());
        self.predicted_end.resize(self.contacts.len(), None);
        for (k, &c) in touching.iter().enumerate() {
            let approach = -set.velocity(k)[0];
            if approach <= self.settings.velocity {
                continue;
            }
            let last = self.impact_times[c].last();
            let series = self.impact_times[c].impact(state.t, approach);
            let interval = self.settings.accumulation_interval;
            let close = last.is_some_and(|last| state.t - last <= interval);
            let end = series.map(|series| series.end);
            self.predicted_end[c] = end;
            if !close && end.is_none_or(|end| end - state.t > interval) {
                continue;
            }
            let end = end.unwrap_or(state.t);
            if self.settings.accumulation == Accumulation::Stop {
                return Err(RunError::Accumulates { t: state.t, contact: self.contacts.name(c), end });
            }
            inelastic[k] = true;
            self.predicted_end[c] = Some(end);
        }
        Ok(inelastic)
    }

    /// Takes an impact in which the contacts exchanged this energy \[J\]; `giver` is the one that gave most.
    fn take_impact(&mut self, state: &mut State, impact: &Impact, (exchanged, giver): (f64, Option<usize>), settled: &mut Settled) {
        state.v.copy_from_slice(&impact.velocity);
        let outcome = &impact.outcome;
        let [normal, tangential] = outcome.total_dissipated();
        settled.dissipated[0] += normal;
        settled.dissipated[1] += tangential;
        settled.work += impact.work;
        settled.impacts += 1;
        settled.residual = settled.residual.max(outcome.residual);
        if outcome.gain() > crate::assembly::GAIN_TOLERANCE * exchanged {
            settled.gain += outcome.gain();
            let name = giver.map_or_else(String::new, |c| self.contacts.name(c));
            settled.events.push(Event::new(state.t, EventKind::EnergyCreated, name));
        }
        settled.events.extend(outcome.chosen.iter().map(|&law| Event::new(state.t, EventKind::OutcomeChosen, law)));
    }

    /// Events of the contacts that changed or were hit.
    fn tell_changes(
        &mut self,
        state: &State,
        touching: &[usize],
        impulses: &[f64],
        after: &[(usize, ContactAfter)],
        settled: &mut Settled,
    ) -> Result<(), RunError> {
        for (&c, &impulse) in touching.iter().zip(impulses) {
            let before = self.modes[c];
            let (mode, direction) = after
                .iter()
                .find(|(other, _)| *other == c)
                .map_or((ContactMode::Open, [0.0; 2]), |(_, after)| (after.mode, after.direction));
            let turned = before == ContactMode::Sliding && {
                let d = self.directions[c];
                d[0] * direction[0] + d[1] * direction[1] < 0.0
            };
            let kind = match (before, mode) {
                _ if impulse > 0.0 => EventKind::Impact,
                (ContactMode::Sliding, ContactMode::Sliding) if turned => EventKind::SlipReversed,
                (before, mode) if before == mode => continue,
                (_, ContactMode::Open) => EventKind::ContactOpened,
                (ContactMode::Sliding, ContactMode::Sticking) => EventKind::SlipToStick,
                (ContactMode::Sticking, ContactMode::Sliding) => EventKind::StickToSlip,
                _ => EventKind::ContactClosed,
            };
            settled.events.push(Event::new(state.t, kind, self.contacts.name(c)).with_impulse(impulse).with_modes(before, mode));
            let bounces = self.contacts.law(c).restitution.at(-1.0) > 0.0;
            let ended =
                |end: &f64| mode.is_closed() && !before.is_closed() && (bounces || end - state.t <= self.settings.accumulation_interval);
            if let Some(end) = self.predicted_end.get(c).copied().flatten().filter(ended) {
                if self.settings.accumulation == Accumulation::Stop {
                    return Err(RunError::Accumulates { t: state.t, contact: self.contacts.name(c), end });
                }
                self.predicted_end[c] = None;
                self.impact_times[c].reset();
                let note = format!("after the impact at {:.9e} s", state.t);
                settled.events.push(Event::new(end, EventKind::Accumulation, self.contacts.name(c)).with_note(note));
            }
        }
        Ok(())
    }

    fn no_end(&self, state: &State, touching: &[usize], set: &ClosedSet) -> RunError {
        let worst = (0..touching.len()).map(|k| -set.velocity(k)[0]).fold(0.0, f64::max);
        RunError::NoModes { t: state.t, contacts: self.names(touching), residual: worst }
    }

    pub(super) fn names(&self, contacts: &[usize]) -> String {
        let names: Vec<String> = contacts.iter().take(4).map(|&c| format!("\"{}\"", self.contacts.name(c))).collect();
        if contacts.len() > 4 { format!("{} and {} more", names.join(", "), contacts.len() - 4) } else { names.join(", ") }
    }
}

/// The instant of a state.
pub(super) fn instant(state: &State) -> Instant<'_> {
    Instant { t: state.t, q: &state.q, v: &state.v }
}
