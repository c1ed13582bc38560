//! What ends a step.

use super::watch::Function;

/// What ended a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::strategies) struct Met {
    /// What happened, all at the time reached.
    pub functions: Vec<Function>,
    /// Contacts that touched without closing, with the times.
    pub grazing: Vec<(usize, f64)>,
    /// Size of the step in which it was found \[s\].
    pub step: f64,
    /// Largest speed at which a contact closes [m/s].
    pub approach: f64,
}

impl Met {
    /// Contacts whose gap closed.
    pub fn hit(&self) -> impl Iterator<Item = usize> {
        self.functions.iter().filter_map(|f| if let Function::Gap { contact } = f { Some(*contact) } else { None })
    }

    /// Contacts whose slip vanished.
    pub fn stopped(&self) -> impl Iterator<Item = usize> {
        self.functions.iter().filter_map(|f| if let Function::Slip { contact, .. } = f { Some(*contact) } else { None })
    }

    /// Contacts whose force came to the end of its range.
    pub fn leaving(&self) -> impl Iterator<Item = usize> {
        self.functions.iter().filter_map(|f| match f {
            Function::Normal { contact, .. } | Function::Cone { contact, .. } => Some(*contact),
            _ => None,
        })
    }

    /// Efforts whose velocity came to their target.
    pub fn arrived(&self) -> impl Iterator<Item = usize> {
        self.functions.iter().filter_map(|f| if let Function::Turn { effort, .. } = f { Some(*effort) } else { None })
    }

    /// Efforts that came to a bound.
    pub(crate) fn yielding(&self) -> impl Iterator<Item = usize> {
        self.functions.iter().filter_map(|f| if let Function::Bound { effort, .. } = f { Some(*effort) } else { None })
    }

    /// Interactions that came to the edge of a piece.
    pub fn edges(&self) -> impl Iterator<Item = usize> {
        self.functions.iter().filter_map(|f| if let Function::Edge { interaction, .. } = f { Some(*interaction) } else { None })
    }

    /// The user's functions that crossed zero.
    pub fn user_events(&self) -> impl Iterator<Item = usize> {
        self.functions.iter().filter_map(|f| if let Function::User { event, .. } = f { Some(*event) } else { None })
    }
}
