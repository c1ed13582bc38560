//! Where the rows of G lie: each constraint over the mass blocks it touches.

use super::closed_contact::{Interactions, Role};
use super::efforts::EffortRole;
use crate::block_diagonal::{BlockLayout, dot};
use crate::error::NonFinite;
use crate::interactions::Interaction;
use crate::model::Model;
use crate::relations::Rows;
use crate::systems::Scratch;
use std::ops::Range;

/// A bilateral interaction, an effort that is held, or the normal or the tangents of a closed contact, with the rows of it that are in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowItem {
    /// Number of the interaction in the model; closed contacts are numbered after those.
    pub interaction: usize,
    /// Its rows in use, as numbers within the interaction.
    pub selected: Vec<usize>,
    /// The same rows in the numbering of the equations.
    pub rows: Range<usize>,
    /// Its entries in [`RowLayout::touched`].
    pub touched: Range<usize>,
    /// Its entries in [`RowLayout::spans`].
    pub spans: Range<usize>,
    /// First value of its rows in arrays of G values; each row has `width` values.
    pub first: usize,
    /// Sum of the sizes of the touched blocks; not zero.
    pub width: usize,
    /// It has a position g(t, q).
    pub holonomic: bool,
    /// G and b do not depend on (t, q).
    pub constant: bool,
}

impl RowItem {
    /// Its values in arrays of G values.
    #[must_use]
    pub fn values(&self) -> Range<usize> {
        self.first..self.first + self.rows.len() * self.width
    }

    /// Both are of the same rows: of one constraint, or of the normal or the tangents of one contact.
    pub(super) fn is_of_same(&self, other: &RowItem) -> bool {
        self.interaction == other.interaction && self.holonomic == other.holonomic
    }

    /// Writes its rows in use of G (over the touched blocks) and of b; `block` is a work array.
    ///
    /// # Errors
    /// [`NonFinite`].
    pub(super) fn jacobian(
        &self,
        interactions: &Interactions<'_>,
        at: (f64, &[f64]),
        out: Rows<'_>,
        block: &mut Vec<f64>,
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let (interaction, relation) = (interactions.get(self.interaction), interactions.relation(self.interaction));
        let (n, width) = (relation.n_rows(), relation.velocities().len());
        // a relation whose velocities are all those of its blocks writes in place
        if self.selected.len() == n && width == self.width {
            // closures may write only what is not zero
            out.jacobian.fill(0.0);
            out.bias.fill(0.0);
            return interactions.jacobian(self.interaction, at, out, scratch);
        }
        block.clear();
        block.resize(n * width, 0.0);
        let mut bias = [0.0; 6];
        interactions.jacobian(self.interaction, at, Rows { jacobian: block, bias: &mut bias[..n] }, scratch)?;
        for ((&k, explicit), out) in self.selected.iter().zip(out.bias).zip(out.jacobian.chunks_exact_mut(self.width)) {
            interaction.spread(&block[k * width..(k + 1) * width], out);
            *explicit = bias[k];
        }
        Ok(())
    }
}

/// Velocities next to each other that an item touches: one or more mass blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first velocity.
    pub velocity: usize,
    /// Its column within the item's rows.
    pub column: usize,
    /// Number of velocities.
    pub n: usize,
}

impl Span {
    /// Its part of a vector of velocities.
    #[inline]
    #[must_use]
    pub fn of<'a>(&self, v: &'a [f64]) -> &'a [f64] {
        &v[self.velocity..self.velocity + self.n]
    }

    /// Its part of a row.
    #[inline]
    #[must_use]
    pub(crate) fn of_row<'a>(&self, row: &'a [f64]) -> &'a [f64] {
        &row[self.column..self.column + self.n]
    }
}

/// The layout of G for a selection of constraint rows. Values are stored apart, one array per instant at which G is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowLayout {
    items: Vec<RowItem>,
    /// Per item: (mass block, first column of the block within the item's rows).
    touched: Vec<(u32, u32)>,
    spans: Vec<Span>,
    n_rows: usize,
    n_values: usize,
}

impl RowLayout {
    /// All rows of the bilateral interactions of a model for which `keep(interaction, row)` holds.
    #[must_use]
    pub fn new(model: &Model, keep: impl Fn(usize, usize) -> bool) -> Self {
        Self::with_contacts(&Interactions::new(model), keep)
    }

    /// The same with the rows of efforts that are held and of closed contacts after them. Normals and tangents are items of their own: only normals have positions.
    pub(super) fn with_contacts(interactions: &Interactions<'_>, keep: impl Fn(usize, usize) -> bool) -> Self {
        let (layout, mut rows) = (interactions.model.systems().layout(), RowLayout::default());
        for (i, interaction) in interactions.model.interactions().iter().enumerate().filter(|(_, x)| x.is_bilateral()) {
            let selected = (0..interaction.relation().n_rows()).filter(|&row| keep(i, row)).collect();
            rows.push(layout, interaction, (i, interaction.relation().is_holonomic()), selected);
        }
        for effort in interactions.efforts().iter().filter(|effort| effort.role == EffortRole::Held) {
            let (i, interaction) = (effort.interaction, interactions.get(effort.interaction));
            let selected = (0..interaction.relation().n_rows()).filter(|&row| keep(i, row)).collect();
            rows.push(layout, interaction, (i, false), selected);
        }
        for (k, contact) in interactions.closed().iter().enumerate() {
            let (i, tangents) = (interactions.n_of_model() + k, 1..contact.n_tangents() + 1);
            rows.push(layout, &contact.interaction, (i, true), (0..1).filter(|&row| keep(i, row)).collect());
            if contact.role == Role::Sticking {
                rows.push(layout, &contact.interaction, (i, false), tangents.filter(|&row| keep(i, row)).collect());
            }
        }
        rows
    }

    /// Appends an item, unless it has no rows.
    fn push(&mut self, layout: &BlockLayout, interaction: &Interaction, (number, holonomic): (usize, bool), selected: Vec<usize>) {
        if selected.is_empty() {
            return;
        }
        let (start, first_span, mut width) = (self.touched.len(), self.spans.len(), 0);
        for &block in interaction.blocks() {
            let (velocity, n) = (layout.rows[block as usize], layout.size(block as usize));
            self.touched.push((block, width as u32));
            match self.spans[first_span..].last_mut() {
                Some(last) if last.velocity + last.n == velocity => last.n += n,
                _ => self.spans.push(Span { velocity, column: width, n }),
            }
            width += n;
        }
        let (n, first) = (selected.len(), self.n_values);
        self.items.push(RowItem {
            interaction: number,
            selected,
            rows: self.n_rows..self.n_rows + n,
            touched: start..self.touched.len(),
            spans: first_span..self.spans.len(),
            first,
            width,
            holonomic,
            constant: interaction.relation().is_constant()
                && interaction.relation().n_pieces() == 1
                && interaction.law().bounded().is_none_or(|law| law.gain == 0.0),
        });
        self.n_rows += n;
        self.n_values += n * width;
    }

    /// Number of rows of the interactions before the one with this number.
    pub(super) fn n_rows_before(&self, interaction: usize) -> usize {
        self.items.iter().find(|item| item.interaction >= interaction).map_or(self.n_rows, |item| item.rows.start)
    }

    /// Number of rows of the bilateral interactions, which come first.
    pub(super) fn n_bilateral(&self, model: &Model) -> usize {
        let is_other = |item: &&RowItem| model.interactions().get(item.interaction).is_none_or(|x| !x.is_bilateral());
        self.items.iter().find(is_other).map_or(self.n_rows, |item| item.rows.start)
    }

    /// The constraints in the model's order, then the efforts that are held, then the closed contacts.
    #[must_use]
    pub fn items(&self) -> &[RowItem] {
        &self.items
    }

    /// (mass block, first column) pairs of an item.
    #[must_use]
    pub fn touched(&self, item: &RowItem) -> &[(u32, u32)] {
        &self.touched[item.touched.clone()]
    }

    /// The velocities that an item touches.
    #[inline]
    #[must_use]
    pub fn spans(&self, item: &RowItem) -> &[Span] {
        &self.spans[item.spans.clone()]
    }

    /// (mass block, first column) pairs of all items, one after the other.
    #[must_use]
    pub(crate) fn all_touched(&self) -> &[(u32, u32)] {
        &self.touched
    }

    /// Number of rows in use.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of values of G.
    #[must_use]
    pub fn n_values(&self) -> usize {
        self.n_values
    }

    /// Writes g(t, q); zero for nonholonomic rows and tangents.
    pub(super) fn positions(
        &self,
        interactions: &Interactions<'_>,
        at: (f64, &[f64]),
        g: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        for item in &self.items {
            let (relation, out) = (interactions.relation(item.interaction), &mut g[item.rows.clone()]);
            let mut all = [0.0; 6];
            if item.holonomic {
                relation.position(at.0, at.1, &mut all[..relation.n_rows()], scratch)?;
            }
            out.iter_mut().zip(&item.selected).for_each(|(g, &k)| *g = all[k]);
        }
        Ok(())
    }

    /// u = G v.
    pub fn multiply(&self, g: &[f64], v: &[f64], u: &mut [f64]) {
        for item in &self.items {
            let spans = self.spans(item);
            for (u, row) in u[item.rows.clone()].iter_mut().zip(g[item.values()].chunks_exact(item.width)) {
                *u = spans.iter().map(|span| dot(span.of_row(row), span.of(v))).sum();
            }
        }
    }

    /// f += c Gᵀ λ.
    pub fn add_transposed(&self, g: &[f64], factor: f64, lambda: &[f64], f: &mut [f64]) {
        for item in &self.items {
            for span in self.spans(item) {
                let f = &mut f[span.velocity..span.velocity + span.n];
                for (row, lambda) in g[item.values()].chunks_exact(item.width).zip(&lambda[item.rows.clone()]) {
                    let scale = factor * lambda;
                    for (f, g) in f.iter_mut().zip(span.of_row(row)) {
                        *f += scale * g;
                    }
                }
            }
        }
    }
}
