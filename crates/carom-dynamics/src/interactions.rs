//! Interactions: a relation, its law, and the mass blocks it joins.

use crate::block_diagonal::BlockLayout;
use crate::error::ModelError;
use crate::laws::Law;
use crate::relations::Relation;

/// A constraint or contact of a model.
pub struct Interaction {
    name: String,
    relation: Box<dyn Relation>,
    law: Law,
    /// Mass blocks its rows touch, ascending.
    blocks: Vec<u32>,
    /// Place of each velocity of the relation in the concatenation of those blocks.
    columns: Vec<usize>,
    width: usize,
}

impl Interaction {
    /// Binds a relation and a law.
    ///
    /// # Errors
    /// A coefficient out of range: restitution outside [0, 1], negative friction, values that are not finite. A law for which the relation has no
    /// rows.
    pub fn new(name: &str, relation: Box<dyn Relation>, law: Law, layout: &BlockLayout) -> Result<Self, ModelError> {
        match &law {
            Law::Bilateral => {}
            Law::Contact(contact) => {
                contact.validate(name)?;
                contact.check_rows(name, relation.n_rows())?;
            }
            Law::Bounded(bounded) => bounded.validate(name, relation.n_rows())?,
        }
        Ok(Self::unchecked(name, relation, law, layout))
    }

    /// Binds a relation and a law that fits it.
    pub(crate) fn unchecked(name: &str, relation: Box<dyn Relation>, law: Law, layout: &BlockLayout) -> Self {
        let (mut blocks, mut columns, mut starts, mut width) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for &velocity in relation.velocities() {
            let block = layout.block_of_row(velocity);
            if blocks.last() != Some(&(block as u32)) {
                blocks.push(block as u32);
                starts.push(width);
                width += layout.size(block);
            }
            columns.push(starts[starts.len() - 1] + velocity - layout.rows[block]);
        }
        Interaction { name: name.to_owned(), relation, law, blocks, columns, width }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its relation.
    #[must_use]
    pub fn relation(&self) -> &dyn Relation {
        &*self.relation
    }

    /// Its law.
    #[must_use]
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// It is a constraint, not a contact.
    #[must_use]
    pub fn is_bilateral(&self) -> bool {
        self.law.is_bilateral()
    }

    /// It is a contact: neither a constraint nor a force between bounds.
    #[must_use]
    pub fn is_contact(&self) -> bool {
        self.law.is_contact()
    }

    /// Mass blocks its rows touch.
    #[must_use]
    pub fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    /// Sum of the sizes of those blocks.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Place of each velocity of the relation in the concatenation of the touched blocks.
    #[must_use]
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Spreads rows over the relation's velocities into rows over the touched blocks.
    pub fn spread(&self, from: &[f64], to: &mut [f64]) {
        if self.columns.len() == self.width {
            to.copy_from_slice(from);
            return;
        }
        to.fill(0.0);
        for (from, to) in from.chunks_exact(self.columns.len()).zip(to.chunks_exact_mut(self.width)) {
            for (&column, &value) in self.columns.iter().zip(from) {
                to[column] = value;
            }
        }
    }
}
