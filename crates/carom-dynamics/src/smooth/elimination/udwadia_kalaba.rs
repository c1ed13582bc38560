//! Udwadia and Kalaba's form.
//!
//! ```text
//! a_f = M⁻¹ F,     a = a_f + M^{-1/2} (G M^{-1/2})⁺ (r − G a_f)
//! ```
//!
//! F. E. Udwadia, R. E. Kalaba, *A new perspective on constrained motion*, Proceedings of the Royal Society A 439 (1992), 407–410; Haddouni2015
//! eq. (1.39), which multiplies by M^{-1/2} twice since its K holds one already. Differs in: with M = L Lᵀ the Cholesky factor takes the place of
//! the root, a = a_f + L⁻ᵀ (G L⁻ᵀ)⁺ (r − G a_f); both are the a nearest to a_f in the mass metric.
//!
//! When to use it: redundant rows. Where these contradict each other the accelerations violate them least. Needs a regular M. Cost O(n³).

use super::row_svd::RowSvd;
use super::{DenseSystem, EliminationError};
use nalgebra::DVector;

/// The acceleration.
pub(super) fn accelerate(system: &DenseSystem) -> Result<DVector<f64>, EliminationError> {
    let factor = system.mass.clone().cholesky().ok_or(EliminationError::Mass)?;
    let free = factor.solve(&system.force);
    let missing = &system.right - &system.rows * &free;
    let lower = factor.l();
    // (G L⁻ᵀ)ᵀ = L⁻¹ Gᵀ
    let scaled = lower.solve_lower_triangular(&system.rows.transpose()).ok_or(EliminationError::Mass)?;
    let step = RowSvd::new(&scaled.transpose()).ok_or(EliminationError::Decomposition)?.solve(&missing);
    Ok(free + lower.transpose().solve_upper_triangular(&step).ok_or(EliminationError::Mass)?)
}
