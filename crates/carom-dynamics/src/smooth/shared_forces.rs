//! Forces of closed contacts of which some rows are redundant, while some slide.
//!
//! Friction depends on how the normal forces are shared, which redundant rows leave open: a cube that spins on four corners would drift if
//! three of them carried it. Of all forces that satisfy the independent constraints the shortest is taken,
//!
//! ```text
//! M a = F + G_Bᵀλ_B + H_Cᵀλ_C,     G a = r,     min ‖λ_C‖
//! ```
//!
//! where C are all rows of the closed contacts (forces \[N\], all in one unit) and B the independent bilateral rows, which are eliminated first. With
//! W̃ = L Q, the rows of Q orthonormal (Gram–Schmidt, twice), λ_C = Qᵀ L⁻¹ r̃: smooth in time as long as the independent rows stay so.
//!
//! Cost: dense, O(k² m) with k independent rows and m forces. Only where redundant rows and sliding contacts meet.

use super::equations::{Equations, at};
use super::kkt::KktError;
use super::row_layout::{RowItem, RowLayout};
use super::row_selection::SMALLEST_SHARE;
use super::sliding::SlipWork;
use crate::block_diagonal::{BlockFactor, BlockLayout, dot};
use crate::error::IntegrationError;
use crate::relations::Rows;
use crate::systems::Instant;

/// The rows that carry force, and the work arrays of the solution.
#[derive(Debug)]
pub(super) struct SharedForces {
    /// Independent bilateral rows, then all rows of closed contacts.
    rows: RowLayout,
    /// Number of the former.
    n_bilateral: usize,
    /// Place of each row in use among `rows`.
    kept: Vec<usize>,
    mass: BlockFactor,
    force_rows: Vec<f64>,
    explicit: Vec<f64>,
    /// M⁻¹Hᵀ.
    response: Vec<f64>,
    /// (W, r), by rows in use.
    matrix: Vec<f64>,
    lambda: Vec<f64>,
}

impl SharedForces {
    /// For the rows in use and those that carry force; contacts are numbered from `first_contact`.
    pub fn new(in_use: &RowLayout, rows: RowLayout, first_contact: usize) -> Self {
        let place = |item: &RowItem, k: usize| {
            let whole = rows.items().iter().find(|other| other.is_of_same(item));
            whole.and_then(|other| other.selected.iter().position(|&other| other == k).map(|place| other.rows.start + place))
        };
        // rows in use are among those that carry force
        let kept = in_use.items().iter().flat_map(|item| item.selected.iter().filter_map(move |&k| place(item, k))).collect();
        SharedForces {
            n_bilateral: rows.n_rows_before(first_contact),
            kept,
            mass: BlockFactor::default(),
            force_rows: vec![0.0; rows.n_values()],
            explicit: vec![0.0; rows.n_rows()],
            response: vec![0.0; rows.n_values()],
            matrix: Vec::new(),
            lambda: vec![0.0; rows.n_rows()],
            rows,
        }
    }

    /// The rows that carry force, with their forces of the last solution.
    pub fn forces(&self) -> (&RowLayout, &[f64]) {
        (&self.rows, &self.lambda)
    }

    /// Solves for a and the multipliers of the rows in use, with H at the instant and G of the rows in use where they are to hold.
    pub fn solve(
        &mut self,
        equations: &mut Equations<'_>,
        instant: Instant<'_>,
        (mass, force, g, right): (&[f64], &[f64], &[f64], &[f64]),
        a: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), IntegrationError> {
        let (layout, t) = (equations.layout(), instant.t);
        equations.statistics.factorisations += 1;
        self.mass.factorise(layout, mass).map_err(|e| equations.kkt_error(t, KktError::Mass(e.block)))?;
        // (q, v) => H, M⁻¹Hᵀ
        let Equations { interactions, block, scratch, slip_threshold, .. } = &mut *equations;
        for item in self.rows.items() {
            let out = Rows { jacobian: &mut self.force_rows[item.values()], bias: &mut self.explicit[item.rows.clone()] };
            item.jacobian(interactions, (t, instant.q), out, block, scratch).map_err(at(t))?;
        }
        let mut work = SlipWork { block, scratch };
        interactions.add_friction(&self.rows, instant, *slip_threshold, &mut self.force_rows, &mut work).map_err(at(t))?;
        self.respond(layout);
        // W λ = r − G M⁻¹ f,   a = M⁻¹ f + M⁻¹ Hᵀ λ
        self.mass.solve(layout, force, a);
        equations.rows.multiply(g, a, lambda);
        lambda.iter_mut().zip(right).for_each(|(x, r)| *x = r - *x);
        self.assemble(layout, &equations.rows, g, lambda);
        self.shortest(lambda.len()).map_err(|(row, pivot)| equations.kkt_error(t, KktError::Row(row, pivot)))?;
        self.rows.add_transposed(&self.response, 1.0, &self.lambda, a);
        lambda.iter_mut().zip(&self.kept).for_each(|(x, &row)| *x = self.lambda[row]);
        Ok(())
    }

    /// H => M⁻¹Hᵀ.
    fn respond(&mut self, layout: &BlockLayout) {
        for item in self.rows.items() {
            for first in (0..item.rows.len()).map(|k| item.first + k * item.width) {
                for &(block, column) in self.rows.touched(item) {
                    let span = first + column as usize..first + column as usize + layout.size(block as usize);
                    self.mass.solve_block(layout, block as usize, &self.force_rows[span.clone()], &mut self.response[span]);
                }
            }
        }
    }

    /// (W, r) with W = G M⁻¹Hᵀ between the rows in use and those that carry force.
    fn assemble(&mut self, layout: &BlockLayout, in_use: &RowLayout, g: &[f64], right: &[f64]) {
        let stride = self.rows.n_rows() + 1;
        self.matrix.clear();
        self.matrix.resize(in_use.n_rows() * stride, 0.0);
        for item in in_use.items() {
            for (row, left) in item.rows.clone().zip(g[item.values()].chunks_exact(item.width)) {
                let out = &mut self.matrix[row * stride..(row + 1) * stride];
                out[stride - 1] = right[row];
                for other in self.rows.items() {
                    for &(block, column) in in_use.touched(item) {
                        let Some(&(_, other_column)) = self.rows.touched(other).iter().find(|(b, _)| *b == block) else { continue };
                        let (i, j, n) = (column as usize, other_column as usize, layout.size(block as usize));
                        let responses = self.response[other.values()].chunks_exact(other.width);
                        for (out, response) in out[other.rows.clone()].iter_mut().zip(responses) {
                            *out += dot(&left[i..i + n], &response[j..j + n]);
                        }
                    }
                }
            }
        }
    }

    /// (W, r) with `k` rows => λ. The error names a row that depends on others, and its relative pivot.
    fn shortest(&mut self, k: usize) -> Result<(), (usize, f64)> {
        let (m, b) = (self.rows.n_rows(), self.n_bilateral);
        let stride = m + 1;
        let matrix = &mut self.matrix;
        // λ_B by Gauss–Jordan elimination with pivots among the bilateral rows
        for c in 0..b {
            let pivot = (c..b).fold(c, |best, i| if matrix[i * stride + c].abs() > matrix[best * stride + c].abs() { i } else { best });
            if matrix[pivot * stride + c] == 0.0 {
                return Err((c, 0.0));
            }
            (0..stride).filter(|_| pivot != c).for_each(|j| matrix.swap(pivot * stride + j, c * stride + j));
            let scale = 1.0 / matrix[c * stride + c];
            matrix[c * stride + c..(c + 1) * stride].iter_mut().for_each(|x| *x *= scale);
            for i in (0..k).filter(|&i| i != c) {
                let factor = matrix[i * stride + c];
                for j in (c..stride).filter(|_| factor != 0.0) {
                    matrix[i * stride + j] -= factor * matrix[c * stride + j];
                }
            }
        }
        // the other rows => Q in place and y = L⁻¹ r̃ in the last column
        self.lambda.fill(0.0);
        for i in b..k {
            let (done, rest) = matrix.split_at_mut(i * stride);
            let row = &mut rest[..stride];
            let length = dot(&row[b..m], &row[b..m]).sqrt();
            for _ in 0..2 {
                for other in done.chunks_exact(stride).skip(b) {
                    let factor = dot(&row[b..m], &other[b..m]);
                    (b..stride).for_each(|j| row[j] -= factor * other[j]);
                }
            }
            let left = dot(&row[b..m], &row[b..m]).sqrt();
            // as the square of an angle, like the pivots of symmetric systems
            let pivot = (left / length).powi(2);
            if pivot.is_nan() || pivot <= SMALLEST_SHARE {
                return Err((i, if pivot.is_finite() { pivot } else { 0.0 }));
            }
            row[b..].iter_mut().for_each(|x| *x /= left);
            let y = row[m];
            self.lambda[b..].iter_mut().zip(&row[b..m]).for_each(|(x, q)| *x += y * q);
        }
        for c in 0..b {
            let row = &matrix[c * stride..(c + 1) * stride];
            self.lambda[c] = row[m] - dot(&row[b..m], &self.lambda[b..]);
        }
        Ok(())
    }
}
