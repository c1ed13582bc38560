//! The null space form: an orthonormal basis R of the directions that the constraints leave free.
//!
//! ```text
//! G R = 0,     [Rᵀ M]     [Rᵀ F]
//!              [  G ] a = [  r ]
//! ```
//!
//! Haddouni2015 eq. (1.58) (its sign of (dG/dt) v is that of our −r), solved by a = a_p + R z with the shortest a_p for which G a_p = r.
//!
//! By QR: Gᵀ P = Q [R₁ R₂; 0 0] with column pivoting; R is the last columns of Q, a_p = Q₁ R₁⁻ᵀ (Pᵀ r)₁. By SVD: G = U Σ Vᵀ; R is the
//! complement of V, a_p = V Σ⁺ Uᵀ r.
//!
//! When to use it: QR for well-conditioned free directions at about the cost of the KKT system; SVD when rows are redundant or nearly so,
//! since singular values show the rank best, at some ten times the cost of QR. Cost O(n³) both.

use super::row_svd::RowSvd;
use super::{DenseSystem, EliminationError, FreeMotion, RANK_TOLERANCE};
use nalgebra::DVector;

/// R and a_p by QR with column pivoting.
pub(super) fn by_qr(system: &DenseSystem) -> FreeMotion {
    let (m, n) = system.rows.shape();
    // columns of zeros make Q square; pivoting leaves them last
    let size = n.max(m);
    let padded = system.rows.transpose().resize(n, size, 0.0);
    let factors = padded.col_piv_qr();
    let (q, upper) = (factors.q(), factors.r());
    let diagonal = upper.columns(0, n).diagonal().abs();
    let rank = diagonal.iter().take_while(|&&d| d > RANK_TOLERANCE * diagonal[0]).count();
    let mut right = DVector::zeros(size);
    right.rows_mut(0, m).copy_from(&system.right);
    // the permutation acts on columns of Gᵀ, that is on entries of r
    let mut row = right.transpose();
    factors.p().permute_columns(&mut row);
    let mut y = row.columns(0, rank).transpose();
    // R₁ᵀ y = (Pᵀ r)₁; its diagonal is not zero by the choice of the rank
    let leading = upper.view((0, 0), (rank, rank)).transpose();
    leading.solve_lower_triangular_mut(&mut y);
    FreeMotion { basis: q.columns(rank, n - rank).into_owned(), particular: q.columns(0, rank) * y }
}

/// R and a_p by singular values.
pub(super) fn by_svd(system: &DenseSystem) -> Result<FreeMotion, EliminationError> {
    let svd = RowSvd::new(&system.rows).ok_or(EliminationError::Decomposition)?;
    Ok(FreeMotion { basis: svd.null_space(), particular: svd.solve(&system.right) })
}
