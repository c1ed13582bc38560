//! Closed contacts among the rows of smooth motion.

use crate::interactions::Interaction;
use std::ops::Deref;
use std::sync::Arc;

/// An interaction of the model, or one that was made while the motion goes on.
#[derive(Clone)]
pub enum InteractionRef<'m> {
    /// Of the model.
    Model(&'m Interaction),
    /// Of its own: a contact that was detected.
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
