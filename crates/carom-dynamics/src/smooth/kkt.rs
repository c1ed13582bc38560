//! The linear system of accelerations and multipliers.

use super::complement::Complement;
use super::row_layout::RowLayout;
use crate::block_diagonal::{BlockFactor, BlockLayout, dot};

/// Solves
///
/// ```text
/// [ M  −Hᵀ ] [a]   [f]
/// [ G   0  ] [λ] = [r]
/// ```
///
/// by the complement W = G M⁻¹ Hᵀ. G and H are values in one [`RowLayout`], equal for the symmetric system of the acceleration form, at different
/// positions in half-explicit methods.
///
/// W is assembled between constraints that share a mass block only; it is dense for few rows or when nearly full (one Lagrangian block), else sparse,
/// with an order of elimination that is kept as long as the layout of the rows is the same. One step of iterative refinement of the whole
/// system (Higham, *Accuracy and Stability of Numerical Algorithms*, chapter 12) follows when G a = r is not satisfied to round-off, as
/// happens near singular positions. Cost: linear in the number of rows for chains and trees of loops; nothing is allocated once warm.
#[derive(Debug, Default)]
pub struct Kkt {
    mass: BlockFactor,
    mass_values: Vec<f64>,
    symmetric: bool,
    constraint_rows: Vec<f64>,
    /// H where it differs from G.
    force_rows: Vec<f64>,
    /// M⁻¹Hᵀ, in the layout of the rows.
    response: Vec<f64>,
    complement: Complement,
    force_residual: Vec<f64>,
    row_residual: Vec<f64>,
    correction: Vec<f64>,
    /// The values above are factorised.
    is_factorised: bool,
}

/// Why a KKT system has no unique solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KktError {
    /// This block of the mass matrix has no inverse.
    Mass(usize),
    /// This row depends on the others; its pivot relative to the diagonal.
    Row(usize, f64),
}

/// G a = r is refined when it is violated by more than this part of the largest |r| + |G||a|: a few roundings (1.8e-15) are left as they are.
const REFINED_ABOVE: f64 = 8.0 * f64::EPSILON;

impl Kkt {
    /// Factorises with the mass values, G and, where it differs, H. What has the values of the last time is not done again; false when that is
    /// everything.
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
    ) -> Result<bool, KktError> {
        let another_layout = self.complement.prepare(layout, rows);
        if self.mass_values != mass {
            self.is_factorised = false;
            // a mass that cannot be factorised must not be taken for a known one the next time
            self.mass_values.clear();
            self.mass.factorise(layout, mass).map_err(|e| KktError::Mass(e.block))?;
            self.mass_values.extend_from_slice(mass);
        }
        let same_rows = self.symmetric == h.is_none() && self.constraint_rows == g && h.is_none_or(|h| self.force_rows == h);
        if self.is_factorised && same_rows && !another_layout {
            return Ok(false);
        }
        self.is_factorised = false;
        self.symmetric = h.is_none();
        copy(&mut self.constraint_rows, g);
        copy(&mut self.force_rows, h.unwrap_or(&[]));
        let forces = h.unwrap_or(g);
        self.response.resize(forces.len(), 0.0);
        for item in rows.items() {
            let (forces, response) = (&forces[item.values()], &mut self.response[item.values()]);
            for &(block, column) in rows.touched(item) {
                let span = column as usize..column as usize + layout.size(block as usize);
                let of_rows = forces.chunks_exact(item.width).zip(response.chunks_exact_mut(item.width));
                for (force, response) in of_rows {
                    self.mass.solve_block(layout, block as usize, &force[span.clone()], &mut response[span.clone()]);
                }
            }
        }
        let factorised = self.complement.factorise(rows, g, &self.response, self.symmetric);
        factorised.map_err(|(row, pivot)| KktError::Row(row, pivot))?;
        self.is_factorised = true;
        Ok(true)
    }

    /// Writes a and λ for the right-hand side (f, r).
    pub fn solve(&mut self, layout: &BlockLayout, rows: &RowLayout, f: &[f64], r: &[f64], a: &mut [f64], lambda: &mut [f64]) {
        // W λ = r − G M⁻¹ f,   a = M⁻¹ f + M⁻¹ Hᵀ λ
        self.mass.solve(layout, f, a);
        if rows.n_rows() == 0 {
            return;
        }
        rows.multiply(&self.constraint_rows, a, lambda);
        lambda.iter_mut().zip(r).for_each(|(x, r)| *x = r - *x);
        self.complement.solve(rows, lambda);
        rows.add_transposed(&self.response, 1.0, lambda, a);
        if self.row_error(rows, r, a) > REFINED_ABOVE {
            self.refine(layout, rows, f, a, lambda);
        }
    }

    /// Writes r − G a and returns its largest entry relative to the largest |r| + |G||a|.
    fn row_error(&mut self, rows: &RowLayout, r: &[f64], a: &[f64]) -> f64 {
        self.row_residual.resize(r.len(), 0.0);
        let (mut largest, mut size) = (0.0_f64, f64::MIN_POSITIVE);
        for item in rows.items() {
            let values = self.constraint_rows[item.values()].chunks_exact(item.width);
            for ((row, values), out) in item.rows.clone().zip(values).zip(&mut self.row_residual[item.rows.clone()]) {
                let (mut sum, mut terms) = (r[row], r[row].abs());
                for span in rows.spans(item) {
                    for (g, a) in span.of_row(values).iter().zip(span.of(a)) {
                        sum -= g * a;
                        terms += (g * a).abs();
                    }
                }
                *out = sum;
                largest = largest.max(sum.abs());
                size = size.max(terms);
            }
        }
        largest / size
    }

    /// Adds the solution for the residuals: one step of iterative refinement.
    fn refine(&mut self, layout: &BlockLayout, rows: &RowLayout, f: &[f64], a: &mut [f64], lambda: &mut [f64]) {
        let forces = if self.symmetric { &self.constraint_rows } else { &self.force_rows };
        self.force_residual.resize(f.len(), 0.0);
        self.correction.resize(f.len(), 0.0);
        // f + Hᵀλ − M a
        layout.multiply(&self.mass_values, a, &mut self.correction);
        for ((x, f), m) in self.force_residual.iter_mut().zip(f).zip(&self.correction) {
            *x = f - m;
        }
        rows.add_transposed(forces, 1.0, lambda, &mut self.force_residual);
        // δλ = W⁻¹ (δr − G M⁻¹ δf)
        self.mass.solve(layout, &self.force_residual, &mut self.correction);
        for item in rows.items() {
            let values = self.constraint_rows[item.values()].chunks_exact(item.width);
            for (residual, values) in self.row_residual[item.rows.clone()].iter_mut().zip(values) {
                *residual -= rows.spans(item).iter().map(|span| dot(span.of_row(values), span.of(&self.correction))).sum::<f64>();
            }
        }
        self.complement.solve(rows, &mut self.row_residual);
        rows.add_transposed(&self.response, 1.0, &self.row_residual, &mut self.correction);
        lambda.iter_mut().zip(&self.row_residual).for_each(|(x, d)| *x += d);
        a.iter_mut().zip(&self.correction).for_each(|(x, d)| *x += d);
    }
}

fn copy(to: &mut Vec<f64>, from: &[f64]) {
    to.clear();
    to.extend_from_slice(from);
}
