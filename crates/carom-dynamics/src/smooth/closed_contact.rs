//! Closed contacts as rows of the equations of motion.
//!
//! ```text
//! normal      g_N = 0                         force N
//! sticking    g_N = 0, G_T v + b_T = 0        forces N, T
//! sliding     g_N = 0                         forces N, T = −μ N d
//! ```
//!
//! Haddouni2015 §2.1.1: while no event happens the contacts of I₂ are bilateral constraints, those of I_St in their tangents too. Sticking rows
//! are constraints of velocity: a contact may stick anywhere.

use super::efforts::{Effort, EffortRole};
use super::equations::Equations;
use super::known_jacobian::KnownJacobian;
use super::row_layout::RowLayout;
use crate::interactions::Interaction;
use crate::model::Model;
use crate::relations::Relation;
use std::ops::Deref;
use std::sync::Arc;

/// What a closed contact does until the next event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// Without friction: its normal row.
    Normal,
    /// In I_St: its normal and tangents.
    Sticking,
    /// In I_Sl: its normal, with friction against the slip.
    Sliding {
        /// Unit direction of the slip along the tangents, now or about to begin; `[±1, 0]` with one tangent. Kept up to date while an
        /// integration goes on.
        direction: [f64; 2],
    },
}

/// An interaction of the model, or one that was found on the way.
#[derive(Clone)]
pub enum InteractionRef<'m> {
    /// Of the model.
    Model(&'m Interaction),
    /// Found by a detector.
    Own(Arc<Interaction>),
}

impl Deref for InteractionRef<'_> {
    type Target = Interaction;

    fn deref(&self) -> &Interaction {
        match self {
            InteractionRef::Model(interaction) => interaction,
            InteractionRef::Own(interaction) => interaction,
        }
    }
}

/// A closed contact and its role.
#[derive(Clone)]
pub struct ClosedContact<'m> {
    /// The contact.
    pub interaction: InteractionRef<'m>,
    /// What it does.
    pub role: Role,
}

impl ClosedContact<'_> {
    /// Number of tangents: 0, 1 in the plane, 2 in space.
    #[must_use]
    pub fn n_tangents(&self) -> usize {
        self.interaction.relation().n_rows().saturating_sub(1).min(2)
    }

    /// It slides with friction.
    #[must_use]
    pub fn slides(&self) -> bool {
        let friction = || self.interaction.law().contact().is_some_and(|law| !law.friction.is_none());
        matches!(self.role, Role::Sliding { .. }) && self.n_tangents() > 0 && friction()
    }
}

/// The interactions whose rows the equations may hold: those of the model, then the closed contacts.
pub(super) struct Interactions<'m> {
    pub model: &'m Model,
    closed: Vec<ClosedContact<'m>>,
    /// Number in the model of each closed contact that has one.
    in_model: Vec<Option<usize>>,
    /// Piece in use of each interaction of the model; empty: the one that holds where it is evaluated.
    pieces: Vec<usize>,
    slides: bool,
    efforts: Vec<Effort>,
    /// Some effort pushes at a bound; at one that follows the load of a joint; with several rows.
    pushes: bool,
    has_loads: bool,
    has_balls: bool,
}

impl<'m> Interactions<'m> {
    /// Without closed contacts and efforts.
    pub fn new(model: &'m Model) -> Self {
        Interactions {
            model,
            closed: Vec::new(),
            in_model: Vec::new(),
            pieces: Vec::new(),
            slides: false,
            efforts: Vec::new(),
            pushes: false,
            has_loads: false,
            has_balls: false,
        }
    }

    /// Replaces the closed contacts. Directions of slip are brought to unit length; without one it is along the first tangent.
    pub fn set_closed(&mut self, mut closed: Vec<ClosedContact<'m>>) {
        for contact in &mut closed {
            let n_tangents = contact.n_tangents();
            if let Role::Sliding { direction } = &mut contact.role {
                *direction = match (n_tangents, direction[0].hypot(direction[1])) {
                    (2, length) if length > 0.0 && length.is_finite() => direction.map(|d| d / length),
                    (1, _) if direction[0] < 0.0 => [-1.0, 0.0],
                    _ => [1.0, 0.0],
                };
            }
        }
        let place = |contact: &ClosedContact<'_>| match contact.interaction {
            InteractionRef::Model(interaction) => self.model.interactions().iter().position(|other| std::ptr::eq(interaction, other)),
            InteractionRef::Own(_) => None,
        };
        self.in_model = closed.iter().map(place).collect();
        self.slides = closed.iter().any(ClosedContact::slides);
        self.closed = closed;
    }

    /// Replaces the efforts between bounds, which are interactions of the model.
    pub(crate) fn set_efforts(&mut self, efforts: Vec<Effort>) {
        self.efforts = efforts;
        let pushed = |effort: &&Effort| effort.role != EffortRole::Held;
        let has_load = |effort: &Effort| self.bounded(effort.interaction).and_then(|law| law.load).is_some_and(|load| load.factor > 0.0);
        let has_rows = |effort: &Effort| self.get(effort.interaction).relation().n_rows() > 1;
        let efforts = || self.efforts.iter().filter(pushed);
        (self.pushes, self.has_loads, self.has_balls) = (efforts().count() > 0, efforts().any(has_load), efforts().any(has_rows));
    }

    /// The efforts between bounds.
    pub fn efforts(&self) -> &[Effort] {
        &self.efforts
    }

    /// Sets the direction in which an effort pushes.
    pub(crate) fn set_push(&mut self, e: usize, direction: [f64; 3]) {
        self.efforts[e].role = EffortRole::Pushed { direction };
    }

    /// Some effort pushes at a bound.
    pub fn pushes(&self) -> bool {
        self.pushes
    }

    /// Some effort pushes at a bound that follows the load of a joint.
    pub(crate) fn has_loads(&self) -> bool {
        self.has_loads
    }

    /// Some effort of several rows pushes, against the direction of its velocity.
    pub fn has_balls(&self) -> bool {
        self.has_balls
    }

    /// Sets the pieces in use.
    pub fn set_pieces(&mut self, pieces: &[usize]) {
        self.pieces.clear();
        self.pieces.extend_from_slice(pieces);
    }

    /// The closed contacts.
    pub fn closed(&self) -> &[ClosedContact<'m>] {
        &self.closed
    }

    /// The closed contact with this number among the interactions.
    pub(crate) fn closed_at(&self, i: usize) -> Option<&ClosedContact<'m>> {
        i.checked_sub(self.n_of_model()).and_then(|k| self.closed.get(k))
    }

    /// Sets the direction in which a closed contact slides.
    pub(crate) fn set_direction(&mut self, k: usize, direction: [f64; 2]) {
        self.closed[k].role = Role::Sliding { direction };
    }

    /// Some contact slides with friction.
    pub fn slides(&self) -> bool {
        self.slides
    }

    /// Number of interactions of the model: closed contacts are numbered from here.
    pub(crate) fn n_of_model(&self) -> usize {
        self.model.interactions().len()
    }

    /// Number of all.
    pub fn len(&self) -> usize {
        self.n_of_model() + self.closed.len()
    }

    /// An interaction by number.
    pub fn get(&self, i: usize) -> &Interaction {
        let of_model = self.model.interactions();
        if i < of_model.len() { &of_model[i] } else { &self.closed[i - of_model.len()].interaction }
    }

    /// The relation of an interaction; of a piecewise one the piece in use.
    pub fn relation(&self, i: usize) -> &dyn Relation {
        let relation = self.get(i).relation();
        if self.pieces.is_empty() {
            return relation;
        }
        let n = self.n_of_model();
        let place = if i < n { Some(i) } else { self.in_model[i - n] };
        let piece = place.and_then(|i| self.pieces.get(i)).filter(|_| relation.n_pieces() > 1);
        piece.and_then(|&piece| relation.piece(piece)).unwrap_or(relation)
    }
}

impl<'m> Equations<'m> {
    /// Replaces the closed contacts, whose rows follow those of the bilateral interactions. An integration must be restarted or resumed afterwards:
    /// the rows are selected there.
    pub fn set_closed(&mut self, closed: Vec<ClosedContact<'m>>) {
        self.interactions.set_closed(closed);
        self.use_rows(RowLayout::with_contacts(&self.interactions, |_, _| true));
        (self.all_rows, self.shared, self.rows_are_new) = (None, None, true);
    }

    /// The closed contacts.
    #[must_use]
    pub fn closed(&self) -> &[ClosedContact<'m>] {
        self.interactions.closed()
    }

    /// Sets the piece in use of each interaction of the model, for bilateral rows and closed contacts; an empty slice: the piece that holds where
    /// a relation is evaluated. An integration must be restarted or resumed afterwards.
    pub fn set_pieces(&mut self, pieces: &[usize]) {
        self.interactions.set_pieces(pieces);
        self.constant = None;
        self.last_jacobian = KnownJacobian::default();
    }

    /// An interaction by its number in the rows: one of the model, or a closed contact after those.
    #[must_use]
    pub fn interaction(&self, i: usize) -> &Interaction {
        self.interactions.get(i)
    }

    /// The relation of an interaction by its number in the rows; of a piecewise one the piece in use.
    #[must_use]
    pub fn relation(&self, i: usize) -> &dyn Relation {
        self.interactions.relation(i)
    }
}
