//! Gauss–Jordan elimination with full pivoting: which velocities depend on the others.

use super::RANK_TOLERANCE;
use nalgebra::DMatrix;

/// Pivots of the rows of a matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pivots {
    /// Independent rows.
    pub rows: Vec<usize>,
    /// Columns that they determine, in the order of the rows.
    pub dependent: Vec<usize>,
    /// The other columns, ascending.
    pub independent: Vec<usize>,
}

/// Reduces `matrix` in place to the identity in the pivot rows and columns; columns from `n_columns` on are carried along (right-hand sides)
/// and give no pivots. Rows are scaled by their largest entry first, so that their units do not choose the pivots.
pub(super) fn eliminate(matrix: &mut DMatrix<f64>, n_columns: usize) -> Pivots {
    for mut row in matrix.row_iter_mut() {
        let largest = row.columns(0, n_columns).amax();
        if largest > 0.0 {
            row /= largest;
        }
    }
    let mut pivots = Pivots::default();
    while pivots.rows.len() < matrix.nrows().min(n_columns) {
        let mut best = (0.0, 0, 0);
        for j in (0..n_columns).filter(|j| !pivots.dependent.contains(j)) {
            for i in (0..matrix.nrows()).filter(|i| !pivots.rows.contains(i)) {
                if matrix[(i, j)].abs() > best.0 {
                    best = (matrix[(i, j)].abs(), i, j);
                }
            }
        }
        // after scaling the first pivot is 1
        if best.0 <= RANK_TOLERANCE {
            break;
        }
        let (_, row, column) = best;
        pivots.rows.push(row);
        pivots.dependent.push(column);
        let pivot = matrix[(row, column)];
        matrix.row_mut(row).scale_mut(1.0 / pivot);
        let scaled = matrix.row(row).clone_owned();
        for i in (0..matrix.nrows()).filter(|&i| i != row) {
            let factor = matrix[(i, column)];
            if factor != 0.0 {
                let mut reduced = matrix.row_mut(i);
                reduced -= factor * &scaled;
            }
        }
    }
    pivots.independent = (0..n_columns).filter(|j| !pivots.dependent.contains(j)).collect();
    pivots
}
