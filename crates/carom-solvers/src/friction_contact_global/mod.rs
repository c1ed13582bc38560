//! The friction contact problem in global form.

mod admm;
mod interior_point;
mod nsgs;
mod reduction;

pub use admm::Admm;
pub use interior_point::InteriorPoint;
pub use nsgs::Nsgs;
pub use reduction::Reduction;

use crate::cones::Block;
use crate::error::{SolveError, check_finite, check_size};
use crate::matrix::SparseMatrix;

/// M v = H r + f, u = Hᵀ v + w with a law per block.
#[derive(Clone, Debug, Default)]
pub struct GlobalFrictionContact {
    /// Mass matrix M, n × n.
    pub m: SparseMatrix,
    /// H, n × rows: column j is the direction of impulse j.
    pub h: SparseMatrix,
    /// Forces times the step f, N·s.
    pub f: Vec<f64>,
    /// Prescribed local velocities w, m/s.
    pub w: Vec<f64>,
    /// The law of each block of rows.
    pub blocks: Vec<Block>,
}

impl GlobalFrictionContact {
    /// Checks sizes and numbers.
    ///
    /// # Errors
    /// The [`SolveError`] variant of the first fault found.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_size("w", self.blocks.iter().map(Block::dim).sum(), self.w.len())?;
        check_size("M", self.f.len(), self.m.n_rows())?;
        check_size("H", self.f.len(), self.h.n_rows())?;
        check_finite("f", &self.f)?;
        check_finite("w", &self.w)
    }
}
