//! Accelerations under constraints without the KKT system: multipliers are eliminated, and recovered afterwards.
//!
//! All forms solve M a = F + Gᵀλ, G a = r and give the same accelerations; they differ in how directions of free motion are found:
//!
//! ```text
//! a = B ė + a_p,     G B = 0,     G a_p = r,     (Bᵀ M B) ė = Bᵀ (F − M a_p)
//! ```
//!
//! | form | B and a_p | source |
//! |---|---|---|
//! | [`udwadia_kalaba`] | none: a pseudo-inverse in the mass metric | Haddouni2015 eq. (1.39) |
//! | [`maggi_kane`] | elimination with full pivoting at each evaluation | Haddouni2015 eqs. (1.41)–(1.49) |
//! | [`null_space`] | orthonormal, by QR or SVD | Haddouni2015 eq. (1.58) |
//! | [`coordinate_partitioning`] | elimination with a partition that is kept | Haddouni2015 eqs. (1.59)–(1.62) |
//!
//! The multipliers follow from the residual force by least squares, Gᵀλ = M a − F: of all solutions, which are many when rows are redundant,
//! the shortest.
//!
//! When to use them: mechanisms of tens of velocities with redundant rows, with massless coordinates (BᵀMB may be regular where M is not; not
//! for Udwadia–Kalaba), or as a check of the multiplier form. All are dense: O(n³) per evaluation, where the multiplier form costs
//! O(n + m³) or less.

pub(super) mod coordinate_partitioning;
mod maggi_kane;
mod null_space;
mod reduction;
mod row_svd;
mod udwadia_kalaba;

use crate::smooth::AccelerationForm;
use coordinate_partitioning::Partition;
use nalgebra::{DMatrix, DVector};
use row_svd::RowSvd;

/// Singular values and pivots below this part of the largest count as zero: rows that repeat others leave 1e-16, and a mechanism within 1e-10
/// of a singular position cannot be told from one in it.
pub(super) const RANK_TOLERANCE: f64 = 1e-10;

/// M a = F + Gᵀλ, G a = r with dense matrices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DenseSystem {
    /// M.
    pub mass: DMatrix<f64>,
    /// F.
    pub force: DVector<f64>,
    /// G.
    pub rows: DMatrix<f64>,
    /// r.
    pub right: DVector<f64>,
}

/// Why there are no accelerations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EliminationError {
    /// M, or BᵀMB, is not positive definite.
    Mass,
    /// The singular value decomposition did not converge: values are not finite.
    Decomposition,
}

/// The free directions B and one acceleration a_p that satisfies the constraints.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FreeMotion {
    /// B.
    pub basis: DMatrix<f64>,
    /// a_p.
    pub particular: DVector<f64>,
}

/// What elimination keeps between evaluations.
#[derive(Clone, Debug, Default)]
pub(super) struct Elimination {
    /// Dependent velocities, of all rows.
    pub velocities: Partition,
    /// Dependent displacements, of the holonomic rows.
    pub positions: Partition,
}

impl Elimination {
    /// Accelerations and multipliers in one of the forms. The rows of the system are scaled to unit length, so that their units do not
    /// matter to the rank.
    pub fn solve(
        &mut self,
        form: AccelerationForm,
        mut system: DenseSystem,
        a: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), EliminationError> {
        if system.right.is_empty() {
            a.copy_from_slice(system.without_rows()?.as_slice());
            return Ok(());
        }
        let lengths = system.scale_rows();
        let found = match form {
            AccelerationForm::UdwadiaKalaba => udwadia_kalaba::accelerate(&system)?,
            AccelerationForm::MaggiKane | AccelerationForm::Multipliers => system.reduce(&maggi_kane::free_motion(&system))?,
            AccelerationForm::NullSpaceQr => system.reduce(&null_space::by_qr(&system))?,
            AccelerationForm::NullSpaceSvd => system.reduce(&null_space::by_svd(&system)?)?,
            AccelerationForm::CoordinatePartitioning => system.reduce(&self.velocities.free_motion(&system.rows, &system.right))?,
        };
        a.copy_from_slice(found.as_slice());
        for ((lambda, scaled), length) in lambda.iter_mut().zip(&system.multipliers(&found)?).zip(lengths) {
            *lambda = scaled / length;
        }
        Ok(())
    }
}

impl DenseSystem {
    /// Scales the rows of (G, r) to unit length; returns the lengths.
    fn scale_rows(&mut self) -> Vec<f64> {
        let lengths: Vec<f64> = self.rows.row_iter().map(|row| row.norm()).map(|x| if x > 0.0 { x } else { 1.0 }).collect();
        for (i, length) in lengths.iter().enumerate() {
            self.rows.row_mut(i).unscale_mut(*length);
            self.right[i] /= length;
        }
        lengths
    }

    /// M a = F.
    fn without_rows(&self) -> Result<DVector<f64>, EliminationError> {
        let factor = self.mass.clone().cholesky().ok_or(EliminationError::Mass)?;
        Ok(factor.solve(&self.force))
    }

    /// The acceleration with these free directions: Haddouni2015 eq. (1.49).
    fn reduce(&self, motion: &FreeMotion) -> Result<DVector<f64>, EliminationError> {
        let FreeMotion { basis, particular } = motion;
        if basis.ncols() == 0 {
            return Ok(particular.clone());
        }
        let reduced = basis.transpose() * &self.mass * basis;
        let right = basis.transpose() * (&self.force - &self.mass * particular);
        let factor = reduced.cholesky().ok_or(EliminationError::Mass)?;
        Ok(basis * factor.solve(&right) + particular)
    }

    /// λ with Gᵀλ = M a − F in the least-squares sense, the shortest of all.
    fn multipliers(&self, a: &DVector<f64>) -> Result<DVector<f64>, EliminationError> {
        let residual = &self.mass * a - &self.force;
        Ok(RowSvd::new(&self.rows).ok_or(EliminationError::Decomposition)?.solve_transposed(&residual))
    }
}
