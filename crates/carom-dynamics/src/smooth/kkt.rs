//! The linear system of accelerations and multipliers.

use super::row_layout::RowLayout;
use crate::block_diagonal::{BlockFactor, BlockLayout, factorise_lu, solve_lu};

/// Solves
///
/// ```text
/// [ M  −Hᵀ ] [a]   [f]
/// [ G   0  ] [λ] = [r]
/// ```
///
/// by the complement W = G M⁻¹ Hᵀ. G and H are values in one [`RowLayout`], equal for the symmetric system of the acceleration form, at different
/// positions in half-explicit methods.
#[derive(Clone, Debug, Default)]
pub struct Kkt {
    mass: BlockFactor,
    force_rows: Vec<f64>,
    constraint_rows: Vec<f64>,
    complement: Vec<f64>,
    pivots: Vec<usize>,
    work: Vec<f64>,
    right: Vec<f64>,
}

/// Why a KKT system has no unique solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KktError {
    /// This block of the mass matrix has no inverse.
    Mass(usize),
    /// This row depends on the others; its pivot relative to the diagonal.
    Row(usize, f64),
}

impl Kkt {
    /// Factorises with the mass values, G and, where it differs, H.
    ///
    /// # Errors
    /// [`KktError`].
    pub fn factorise(
        &mut self,
        layout: &BlockLayout,
        rows: &RowLayout,
        mass: &[f64],
        g: &[f64],
        h: Option<&[f64]>,
    ) -> Result<(), KktError> {
        self.mass.factorise(layout, mass).map_err(|e| KktError::Mass(e.block))?;
        let (n, m) = (layout.n_rows(), rows.n_rows());
        self.constraint_rows.clear();
        self.constraint_rows.extend_from_slice(g);
        self.force_rows.clear();
        self.force_rows.extend_from_slice(h.unwrap_or(g));
        self.complement.resize(m * m, 0.0);
        self.pivots.resize(m, 0);
        self.work.resize(n, 0.0);
        self.right.resize(n.max(m), 0.0);
        let (mut unit, mut column) = (vec![0.0; m], vec![0.0; m]);
        for j in 0..m {
            unit.fill(0.0);
            unit[j] = 1.0;
            self.right[..n].fill(0.0);
            rows.add_transposed(layout, &self.force_rows, 1.0, &unit, &mut self.right[..n]);
            self.mass.solve(layout, &self.right[..n], &mut self.work);
            rows.multiply(layout, &self.constraint_rows, &self.work, &mut column);
            for i in 0..m {
                self.complement[i * m + j] = column[i];
            }
        }
        if factorise_lu(&mut self.complement, m, &mut self.pivots) { Ok(()) } else { Err(KktError::Row(0, 0.0)) }
    }

    /// Writes a and λ for the right-hand side (f, r).
    pub fn solve(&mut self, layout: &BlockLayout, rows: &RowLayout, f: &[f64], r: &[f64], a: &mut [f64], lambda: &mut [f64]) {
        let (n, m) = (layout.n_rows(), rows.n_rows());
        // W λ = r − G M⁻¹ f
        self.mass.solve(layout, f, a);
        rows.multiply(layout, &self.constraint_rows, a, &mut self.right[..m]);
        for (x, r) in self.right[..m].iter_mut().zip(r) {
            *x = r - *x;
        }
        solve_lu(&self.complement, m, &self.pivots, &self.right[..m], lambda);
        self.right[..n].copy_from_slice(f);
        rows.add_transposed(layout, &self.force_rows, 1.0, lambda, &mut self.right[..n]);
        self.mass.solve(layout, &self.right[..n], a);
    }
}
