//! Circuits that cannot be simulated.

use std::fmt;

/// What is wrong with a circuit, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitError {
    /// The element it is about, by its place in the list.
    pub element: Option<usize>,
    /// What is wrong, one sentence.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

impl CircuitError {
    pub(super) fn new(element: impl Into<Option<usize>>, message: impl Into<String>, help: impl Into<String>) -> Self {
        CircuitError { element: element.into(), message: message.into(), help: help.into() }
    }
}

impl fmt::Display for CircuitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.help)
    }
}

impl std::error::Error for CircuitError {}
