//! Maggi's and Kane's form: independent velocities as kinematic variables.
//!
//! ```text
//! G v + g_t = 0   ⇒   v = B e + b,     v̇ = B ė + h,     (Bᵀ M B) ė = Bᵀ (F − M h)
//! ```
//!
//! Haddouni2015 eqs. (1.41)–(1.49): e are velocities themselves, picked by Gauss–Jordan elimination of G with full pivoting, anew at every
//! evaluation; h then is r in the pivot columns of the reduced system and zero elsewhere, without forming Ḃ. Rows that depend on the others
//! drop out of the elimination.
//!
//! When to use it: nonholonomic and closed-loop mechanisms of moderate size; cheaper than a null space by QR or SVD, with a basis that is
//! sparse but not orthogonal. Cost O(n m²) for the elimination.

use super::reduction::eliminate;
use super::{DenseSystem, FreeMotion};
use nalgebra::{DMatrix, DVector};

/// B and h.
pub(super) fn free_motion(system: &DenseSystem) -> FreeMotion {
    let n = system.rows.ncols();
    let mut matrix = system.rows.clone().insert_column(n, 0.0);
    matrix.set_column(n, &system.right);
    let pivots = eliminate(&mut matrix, n);
    let (mut basis, mut particular) = (DMatrix::zeros(n, pivots.independent.len()), DVector::zeros(n));
    for (k, &column) in pivots.independent.iter().enumerate() {
        basis[(column, k)] = 1.0;
    }
    for (&row, &dependent) in pivots.rows.iter().zip(&pivots.dependent) {
        particular[dependent] = matrix[(row, n)];
        for (k, &column) in pivots.independent.iter().enumerate() {
            basis[(dependent, k)] = -matrix[(row, column)];
        }
    }
    FreeMotion { basis, particular }
}
