//! Edges of piecewise constraints and contacts.

use super::motion::Motion;
use super::settle::Settled;
use crate::error::RunError;

impl Motion<'_> {
    /// Goes over to the piece beyond the edge that an interaction has come to.
    pub fn cross_edge(&mut self, _interaction: usize) -> Result<Settled, RunError> {
        todo!()
    }
}
