//! What an integration cost.

use serde::Serialize;

/// Counts of an integration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Steps accepted.
    pub accepted: usize,
    /// Steps refused for their error or drift, or because an iteration did not converge.
    pub rejected: usize,
    /// Evaluations of the force F.
    pub force_evaluations: usize,
    /// Evaluations of the constraint Jacobian G.
    pub jacobian_evaluations: usize,
    /// Factorisations of KKT and iteration matrices.
    pub factorisations: usize,
    /// Solves with them.
    pub solves: usize,
    /// Newton iterations of implicit methods and projections.
    pub newton_iterations: usize,
    /// Times that the set of independent constraint rows was chosen anew.
    pub row_selections: usize,
    /// Times that the independent coordinates of coordinate partitioning were chosen.
    pub partitions: usize,
}
