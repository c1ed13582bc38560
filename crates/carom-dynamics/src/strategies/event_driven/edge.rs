//! Edges of piecewise constraints and contacts.

use super::motion::Motion;
use super::settle::{Settled, instant};
use crate::error::{EdgeError, IntegrationError, RunError};
use crate::events::{ClosedSet, EdgeMode, Junction, Passage, classify_edge, next_piece, pass_corner};
use crate::relations::Relation;
use crate::report::{Event, EventKind};
use crate::smooth::InteractionRef;
use crate::systems::Scratch;

impl<'m> Motion<'m> {
    /// Goes over to the piece beyond the edge that an interaction has come to, and turns the velocity at a corner whose law says so. Accelerations
    /// and impacts are left to [`Motion::settle`].
    pub(crate) fn cross_edge(&mut self, interaction: usize) -> Result<Settled, RunError> {
        let (mut settled, mut state) = (Settled::default(), self.state());
        let whole = &self.model.interactions()[interaction];
        let (name, relation, bilateral) = (whole.name(), whole.relation(), whole.is_bilateral());
        let from = self.pieces[interaction];
        if !self.is_constrained(interaction) {
            let to = next_piece(self.model, relation, from, instant(&state), &self.settings);
            self.pieces[interaction] = to.map_err(|source| IntegrationError::NonFinite { t: state.t, source })?;
            return Ok(settled);
        }
        let (model, settings, pieces) = (self.model, self.settings, self.pieces.clone());
        let closed: Vec<InteractionRef<'m>> = self.closed.iter().map(|&c| self.contacts.interaction(c)).collect();
        let mut accelerations = |piece: usize| {
            let mut pieces = pieces.clone();
            pieces[interaction] = piece;
            let set = ClosedSet::with_pieces(model, instant(&state), &pieces, &closed)?;
            Ok(set.accelerate(&settings)?.a)
        };
        let crossing = classify_edge(model, (name, relation), bilateral, from, instant(&state), &settings, &mut accelerations)?;
        settled.events.push(Event::new(state.t, EventKind::EdgeCrossed, name).with_note(crossing.note()));
        if let EdgeMode::AttractiveSliding { .. } = crossing.mode {
            let reason = "the motion slides along the edge, which one relation of pieces cannot hold; give the pieces as contacts of their own, \
                          or use strategy = \"time-stepping\"";
            return Err(EdgeError::Corner { name: name.to_owned(), t: state.t, reason }.into());
        }
        self.pieces[interaction] = crossing.to;
        if crossing.junction != Junction::Corner || crossing.to == from {
            return Ok(settled);
        }
        let others = self.other_rows(interaction);
        let passage = pass_corner(model, (name, relation), bilateral, &crossing, instant(&state), &others)?;
        let before = self.kinetic(&state.v, &state)?;
        match passage {
            Passage::Turned(turn) => {
                state.v.copy_from_slice(&turn.velocity);
                self.integration.equations().set_pieces(&self.pieces);
                self.integration.restart(&state)?;
            }
            // the projection on the new piece is an impact without restitution
            Passage::Impact if bilateral => {
                self.integration.equations().set_pieces(&self.pieces);
                self.integration.resume(&state, crate::smooth::Projection::Velocity)?;
            }
            Passage::Impact | Passage::Opens => return Ok(settled),
        }
        let reached = self.state();
        settled.dissipated[0] = before - self.kinetic(&reached.v, &reached)?;
        settled.impacts = 1;
        Ok(settled)
    }

    /// The constraints and closed contacts besides an interaction, with the number of their rows that hold.
    fn other_rows(&self, interaction: usize) -> Vec<(&'m dyn Relation, usize)> {
        let constraints = self.model.interactions().iter().enumerate().filter(|(i, other)| *i != interaction && other.is_bilateral());
        let mut others: Vec<(&'m dyn Relation, usize)> =
            constraints.map(|(_, other)| (other.relation(), other.relation().n_rows())).collect();
        for &c in self.closed.iter().filter(|&&c| self.contacts.of_interaction(interaction) != Some(c)) {
            if let InteractionRef::Model(other) = self.contacts.interaction(c) {
                let rows = if self.modes[c] == crate::report::ContactMode::Sticking { other.relation().n_rows() } else { 1 };
                others.push((other.relation(), rows));
            }
        }
        others
    }

    /// Kinetic energy \[J\] of velocities at a state.
    fn kinetic(&self, v: &[f64], state: &crate::state::State) -> Result<f64, IntegrationError> {
        let energy = self.model.energy(state.t, &state.q, v, &mut Scratch::default());
        Ok(energy.map_err(|source| IntegrationError::NonFinite { t: state.t, source })?.0)
    }
}
