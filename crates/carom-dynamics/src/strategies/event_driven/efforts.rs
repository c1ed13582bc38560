//! Efforts between bounds at events.

use super::motion::Motion;
use super::settle::{Cause, Settled, instant};
use super::watch::Function;
use crate::error::{IntegrationError, RunError};
use crate::events::{ClosedSet, EffortAfter};
use crate::interactions::Interaction;
use crate::report::{ContactMode, Event, EventKind};
use crate::smooth::{Effort, EffortRole};
use crate::state::State;

/// Jumps of endless efforts at one instant.
const MOST_JUMPS: usize = 20;

impl<'m> Motion<'m> {
    /// The efforts between bounds of the model, in its order, with their numbers in it.
    fn efforts_of_model(&self) -> impl Iterator<Item = (usize, &'m Interaction)> + use<'m> {
        self.model.interactions().iter().enumerate().filter(|(_, interaction)| interaction.law().bounded().is_some())
    }

    /// Name of effort e.
    pub(super) fn effort_name(&self, e: usize) -> String {
        self.efforts_of_model().nth(e).map_or_else(String::new, |(_, interaction)| interaction.name().to_owned())
    }

    /// Mode of effort e in records: sticking while it holds its target, sliding at a bound.
    pub(super) fn effort_mode(&self, e: usize) -> ContactMode {
        match self.efforts.get(e).map(|effort| effort.role) {
            Some(EffortRole::Pushed { .. }) => ContactMode::Sliding,
            _ => ContactMode::Sticking,
        }
    }

    /// The functions of the efforts that are watched in the next step; forces only where they are `unique`.
    pub(super) fn watch_efforts(&mut self, unique: bool) -> Result<(), RunError> {
        self.load_signs.resize(self.efforts.len(), None);
        for (effort, (Effort { role, interaction: i }, (_, interaction))) in self.efforts.iter().zip(self.efforts_of_model()).enumerate() {
            let Some(law) = interaction.law().bounded() else { continue };
            match *role {
                EffortRole::Pushed { direction } => {
                    self.functions.push(Function::Turn { effort, direction });
                    if law.load.is_some_and(|load| load.rows == 1) {
                        let lambda = self.integration.point().lambda.clone();
                        let load = self.integration.equations().single_load(*i, &lambda)?;
                        let sign = |load: f64| self.load_signs[effort].take().unwrap_or(if load < 0.0 { -1.0 } else { 1.0 });
                        self.functions.extend(load.map(sign).map(|sign| Function::Load { effort, sign }));
                    }
                }
                EffortRole::Held if unique => {
                    let lower = interaction.relation().n_rows() == 1 && law.lower.is_finite();
                    self.functions.extend(lower.then_some(Function::Bound { effort, upper: false }));
                    self.functions.extend(law.upper.is_finite().then_some(Function::Bound { effort, upper: true }));
                }
                EffortRole::Held => {}
            }
        }
        Ok(())
    }

    /// The roles of efforts after an event.
    pub(super) fn effort_roles(&self, after: &[EffortAfter]) -> Vec<Effort> {
        let role = |after: &EffortAfter| match after.mode {
            ContactMode::Sliding => EffortRole::Pushed { direction: after.direction },
            _ => EffortRole::Held,
        };
        self.efforts_of_model().zip(after).map(|((interaction, _), after)| Effort { interaction, role: role(after) }).collect()
    }

    /// Events of the efforts that changed.
    pub(super) fn tell_efforts(&self, state: &State, after: &[EffortAfter], settled: &mut Settled) {
        for (e, (before, after)) in self.efforts.iter().zip(after).enumerate() {
            let turned = |d: [f64; 3]| d.iter().zip(after.direction).map(|(a, b)| a * b).sum::<f64>() < 0.0;
            let kind = match (before.role, after.mode) {
                (EffortRole::Held, ContactMode::Sliding) => EventKind::StickToSlip,
                (EffortRole::Pushed { .. }, ContactMode::Sticking) => EventKind::SlipToStick,
                (EffortRole::Pushed { direction }, ContactMode::Sliding) if turned(direction) => EventKind::SlipReversed,
                _ => continue,
            };
            settled.events.push(Event::new(state.t, kind, self.effort_name(e)).with_modes(self.effort_mode(e), after.mode));
        }
    }

    /// Efforts at their targets that a coarse location, a slip of several components, or time-stepping has left off them.
    pub(super) fn arrived_efforts(&mut self, cause: Cause<'_>, coarse: bool, state: &State) -> Result<Vec<usize>, RunError> {
        let mut off = Vec::new();
        for &e in cause.arrived.iter().chain(cause.held) {
            let is_meant = coarse || cause.held.contains(&e) || self.effort_is_lost(e, state)?;
            if is_meant && self.effort_speed(e, state)? > self.settings.slip {
                off.push(e);
            }
        }
        Ok(off)
    }

    /// ‖u + k g‖ of effort e.
    pub(super) fn effort_speed(&mut self, e: usize, state: &State) -> Result<f64, IntegrationError> {
        let u = self.integration.equations().effort_velocity(e, instant(state));
        Ok(u.map_err(|source| IntegrationError::NonFinite { t: state.t, source })?.iter().map(|u| u * u).sum::<f64>().sqrt())
    }

    /// The efforts with these held.
    pub(super) fn with_arrived(&self, arrived: &[usize]) -> Vec<Effort> {
        let role =
            |(e, effort): (usize, &Effort)| if arrived.contains(&e) { Effort { role: EffortRole::Held, ..*effort } } else { *effort };
        self.efforts.iter().enumerate().map(role).collect()
    }

    /// Brings endless efforts to their targets.
    pub(super) fn jump(&mut self, state: &mut State, set: &ClosedSet, impulses: &mut [f64], settled: &mut Settled) -> Result<(), RunError> {
        let jump = set.jump()?;
        if jump.failed || settled.impacts >= MOST_JUMPS {
            let names: Vec<String> = self.efforts_of_model().map(|(_, effort)| format!("\"{}\"", effort.name())).collect();
            return Err(RunError::NoModes { t: state.t, contacts: names.join(", "), residual: jump.residual });
        }
        state.v.copy_from_slice(&jump.velocity);
        impulses.iter_mut().zip(&jump.contacts).for_each(|(sum, p)| *sum += p);
        settled.dissipated[0] += jump.dissipated[0];
        settled.dissipated[1] += jump.dissipated[1];
        settled.work += jump.work;
        settled.impacts += 1;
        settled.residual = settled.residual.max(jump.residual);
        for (e, &p) in jump.efforts.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let event = Event::new(state.t, EventKind::Impact, self.effort_name(e)).with_impulse(p);
            settled.events.push(event.with_note("an effort without a bound jumps to its target"));
        }
        Ok(())
    }
}
